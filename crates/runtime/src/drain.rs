//! How is a node emptied? One pass at a time: whoever notices that a node asks for it, or that a few seconds have gone by, calls
//! [`Drainer::pass`]; who leaves and who cannot is decided in `core::drain` (DRAIN-1).
//!
//! Nothing is lost with this program but the time since when a pod is blocked: the request, the cordon and what was before it stand on
//! the node. EXEC-4: an eviction is sent once a pass, for one very pod, and the next pass begins with reading.

use std::collections::BTreeMap;

use schedule::Instant;
use serde::Deserialize;
use serde_json::{Value, json};
use tidegate_core::drain::{
    self, Leaver, Memory, Move, Outcome, Settings,
    node::{Node, Request},
    pod::Pod,
};

use crate::call::{Ask, CallError, Cluster, Verb};

/// Whoever empties nodes.
#[derive(Debug)]
pub struct Drainer {
    cluster: Cluster,
    settings: Settings,
    memory: BTreeMap<String, Memory>,
}

/// What came of a pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Passed {
    /// Nothing is asked of this node.
    Nothing,
    /// Not everybody has left; this is what is waited for, and a pass is due again after [`drain::RETRY`] seconds.
    Draining(drain::Pass),
    /// Everybody has left, and the node says so.
    Drained,
    /// Workloads may come back, and the node says so.
    Uncordoned,
    /// The node asks for something that nobody understands.
    Unknown(String),
}

/// How many pods one page holds.
const PAGE: usize = 250;

impl Drainer {
    /// A drainer of the nodes of a cluster.
    pub fn new(cluster: Cluster, settings: Settings) -> Self {
        Self { cluster, settings, memory: BTreeMap::new() }
    }

    /// Takes one node a step further.
    pub async fn pass(&mut self, name: &str, now: Instant) -> Result<Passed, CallError> {
        let path = format!("/api/v1/nodes/{name}");
        let found: Value = self.cluster.call(Verb::Get, Ask::path(&*path)).await?;
        let node = Node::of(&found);
        match node.request() {
            Request::Nothing => {
                self.memory.remove(name);
                Ok(Passed::Nothing)
            }
            Request::Unknown(asked) => Ok(Passed::Unknown(asked)),
            Request::Uncordon => {
                self.memory.remove(name);
                self.patch(&path, &node.uncordoned()).await?;
                Ok(Passed::Uncordoned)
            }
            Request::Drain => self.drain(&path, node, now).await,
        }
    }

    async fn drain(&mut self, path: &str, node: Node, now: Instant) -> Result<Passed, CallError> {
        let node = match node.cordon(now) {
            // The pods are read after the cordon: whoever was placed before is among them.
            Some(change) => self.patch(path, &change).await?,
            None => node,
        };
        let pods = self.pods(&node.name).await?;
        let mut memory = self.memory.remove(&node.name).unwrap_or_default();
        memory.retain(|uid, _| pods.iter().any(|pod| pod.uid == *uid));
        let mut pass = drain::pass(&pods, &node, &memory, &self.settings, now);
        if pass.is_done() {
            self.patch(path, &node.drained()).await?;
            return Ok(Passed::Drained);
        }
        if !pass.moves.is_empty() {
            for one in &pass.moves {
                let (leaver, outcome) = self.send_away(one).await?;
                drain::remember(&mut memory, &leaver.uid, outcome, now);
            }
            // What the server answered is told at once.
            let told = drain::pass(&pods, &node, &memory, &self.settings, now);
            pass.waiting = told.waiting;
        }
        self.memory.insert(node.name.clone(), memory);
        if let Some(change) = node.blocked(&drain::told(&pass.waiting)) {
            self.patch(path, &change).await?;
        }
        Ok(Passed::Draining(pass))
    }

    async fn send_away<'a>(&self, one: &'a Move) -> Result<(&'a Leaver, Outcome), CallError> {
        let (verb, leaver, end) = match one {
            Move::Evict(leaver) => (Verb::Create, leaver, "/eviction"),
            Move::Delete(leaver) => (Verb::Delete, leaver, ""),
        };
        let Leaver { pod, uid } = leaver;
        let path = format!("/api/v1/namespaces/{}/pods/{}{end}", pod.namespace, pod.name);
        let options = json!({"preconditions": {"uid": uid}});
        let body = match one {
            Move::Evict(_) => json!({"apiVersion": "policy/v1", "kind": "Eviction",
                "metadata": {"namespace": pod.namespace, "name": pod.name}, "deleteOptions": options}),
            Move::Delete(_) => json!({"apiVersion": "v1", "kind": "DeleteOptions",
                "preconditions": {"uid": uid}}),
        };
        let answered: Result<Value, CallError> =
            self.cluster.call(verb, Ask::json(path, &body)).await;
        let outcome = match answered {
            // 409: a namesake has taken its place, so this one has left.
            Ok(_) | Err(CallError::Refused { code: 409, .. }) => Outcome::Accepted,
            Err(CallError::Refused { code, reason, message, .. }) => {
                drain::outcome(code, &reason, &message)
            }
            Err(error) => return Err(error),
        };
        Ok((leaver, outcome))
    }

    async fn pods(&self, node: &str) -> Result<Vec<Pod>, CallError> {
        let mut pods = Vec::new();
        let mut more = String::new();
        loop {
            let path =
                format!("/api/v1/pods?fieldSelector=spec.nodeName%3D{node}&limit={PAGE}{more}");
            let page: Page = self.cluster.call(Verb::List, Ask::path(path)).await?;
            pods.extend(page.items.iter().map(Pod::of));
            match page.metadata.continues.filter(|token| !token.is_empty()) {
                Some(token) => more = format!("&continue={token}"),
                None => return Ok(pods),
            }
        }
    }

    /// Changes the node at the version it was read at, and reads it anew.
    async fn patch(&self, path: &str, change: &Value) -> Result<Node, CallError> {
        let ask = Ask {
            path: format!("{path}?fieldManager=tidegate-drain"),
            content_type: "application/merge-patch+json",
            body: change.to_string().into_bytes(),
        };
        let node: Value = self.cluster.call(Verb::Patch, ask).await?;
        Ok(Node::of(&node))
    }
}

#[derive(Deserialize)]
struct Page {
    #[serde(default)]
    metadata: PageMetadata,
    #[serde(default)]
    items: Vec<Value>,
}

#[derive(Default, Deserialize)]
struct PageMetadata {
    #[serde(rename = "continue")]
    continues: Option<String>,
}
