//! How does one node live? It is installed, its kubelet says that it is ready, its agent works, and now and then it starts anew.
//!
//! The agent is the real one, on a host that writes down what is done to it and survives restarts (NODE-1). A node that starts anew
//! is away for some minutes of the clock, and says so while it goes down. Its kubelet is that of the release on its disk.

use std::{sync::Arc, time::Duration};

use agent::{
    accounts::Accounts,
    host::{Entry, File, Host as _, recording::Recording},
    layout::Layout,
    path::HostPath,
    run::Agent,
};
use api::{
    kinds,
    machine::{
        MachineConfig,
        names::{CURRENT_CONFIG, DESIRED_CONFIG, NodeState, STATE},
    },
};
use operator::{
    View,
    rollout::{self, Given},
};
use runtime::{
    call::{CallError, Cluster, Patch},
    clock::Clock,
    path::{self, Resource},
};
use serde_json::{Value, json};
use tidegate_core::{
    node::membership::Membership,
    pool::{
        membership::membership,
        seen::{SeenNode, SeenPool},
        serve::ANNOTATIONS_FILE,
    },
};

use crate::{
    control_plane::plan::{RELEASE_FILE, kubelet},
    lengths::Lengths,
    mirror::{Mirror, text},
};

/// A node that has not been installed yet.
#[derive(Debug)]
pub(crate) struct Machine {
    /// The name of its node.
    pub(crate) name: String,
    /// The cluster, as the node's kubelet reaches it.
    pub(crate) kubelet: Cluster,
    /// The cluster, as the node's agent reaches it.
    pub(crate) agent: Cluster,
    /// How long things take.
    pub(crate) lengths: Arc<Lengths>,
    /// The nodes, its own among them.
    pub(crate) nodes: Mirror,
    /// The pools, one of which it belongs to.
    pub(crate) pools: Mirror,
    /// The operator, which says what a new node gets.
    pub(crate) operator: View,
}

/// The users that every host has.
const USERS: &str =
    "root:x:0:0:root:/root:/bin/bash\ncore:x:1000:1000:CoreOS Admin:/var/core:/bin/bash\n";
const GROUPS: &str = "root:x:0:\nwheel:x:10:core\ncore:x:1000:\n";

/// What the kubelet says of its node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ready {
    Up,
    ShuttingDown,
}

impl Machine {
    /// Lives for ever, or until the future is dropped, which is the end of the node.
    pub(crate) async fn live(self) {
        let mut host = self.installed().await;
        for boot in 1.. {
            self.insist(Ready::Up, installed_kubelet(&host).as_deref()).await;
            let mut agent = Agent::new(host, self.agent.clone(), &self.name);
            Box::pin(agent.run_until_restart()).await;
            host = std::mem::take(agent.host());
            self.insist(Ready::ShuttingDown, None).await;
            let length = self.lengths.draw(&self.lengths.boot, &format!("{} {boot}", self.name));
            pass(&**self.kubelet.clock(), length).await;
            host.restart();
        }
    }

    /// A host as an installer leaves it: with the files of its first configuration, and a note of which one that is. A node that is
    /// down waits until somebody brings it up.
    async fn installed(&self) -> Recording {
        let (mut nodes, mut pools) = (self.nodes.changes(), self.pools.changes());
        let mut known = self.operator.caches.changes();
        loop {
            nodes.mark_seen();
            pools.mark_seen();
            known.mark_seen();
            if let Some(name) = self.first_configuration() {
                match self.install(&name).await {
                    Ok(host) => return host,
                    Err(error) => {
                        tracing::warn!(node = self.name, %error, "a node cannot be installed");
                        pass(&**self.kubelet.clock(), 5).await;
                        continue;
                    }
                }
            }
            tokio::select! {
                biased;
                () = nodes.changed() => {}
                () = pools.changed() => {}
                () = known.changed() => {}
            }
        }
    }

    /// The configuration that the node runs, as it says, or that the operator gives to new ones of its pool (POOL-4). None while
    /// that is unknown, or while the node is down.
    fn first_configuration(&self) -> Option<String> {
        let nodes = self.nodes.objects();
        let node = nodes.get(&(String::new(), self.name.clone()))?;
        if condition(node).is_some_and(|ready| ready != "True") {
            return None;
        }
        let node = SeenNode::new(node);
        if !node.current.is_empty() {
            return Some(node.current);
        }
        let pools: Vec<SeenPool> =
            self.pools.objects().values().map(|pool| SeenPool::new(pool)).collect();
        let Membership::Of(name) = membership(&node, &pools) else { return None };
        let store = self.operator.caches.store();
        match rollout::given(name, &store, self.kubelet.clock().now()) {
            Given::Config(config, _) => Some(config.name.clone()),
            Given::NothingYet | Given::NoPool => None,
        }
    }

    async fn install(&self, config: &str) -> Result<Recording, CallError> {
        let mut host = Recording::default();
        let note = json!({CURRENT_CONFIG: config, DESIRED_CONFIG: config,
            STATE: NodeState::Done.as_str()});
        put(&mut host, "/etc/passwd", USERS);
        put(&mut host, "/etc/group", GROUPS);
        put(&mut host, ANNOTATIONS_FILE, &note.to_string());
        let path = Resource::of(&kinds::MACHINE_CONFIG).object(None, config);
        let spec = match self.kubelet.get::<MachineConfig>(&path).await {
            Ok(config) => config.spec,
            // Nobody knows what it runs; the agent says so better than anybody here could.
            Err(CallError::Refused { code: 404, .. } | CallError::Garbled(_)) => return Ok(host),
            Err(error) => return Err(error),
        };
        let accounts = Accounts::of(&host).unwrap_or_default();
        // What a host cannot take is the agent's to tell too.
        for (path, entry) in Layout::of(&spec, &accounts).unwrap_or_default().entries {
            host.meddle(&path, entry);
        }
        Ok(host)
    }

    /// Says so until it is heard.
    async fn insist(&self, ready: Ready, kubelet: Option<&str>) {
        while let Err(error) = self.say(ready, kubelet).await {
            if error.code() == Some(404) {
                return;
            }
            tracing::debug!(node = self.name, %error, "a kubelet is not heard");
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    }

    async fn say(&self, ready: Ready, kubelet: Option<&str>) -> Result<(), CallError> {
        let path = Resource::of(&kinds::NODE).object(None, &self.name);
        let node: Value = self.kubelet.get(&path).await?;
        let (status, reason, message) = match ready {
            Ready::Up => ("True", "KubeletReady", "kubelet is posting ready status"),
            Ready::ShuttingDown => ("False", "KubeletNotReady", "node is shutting down"),
        };
        let reported = text(&node, "/status/nodeInfo/kubeletVersion");
        let kubelet = kubelet.unwrap_or(reported);
        if condition(&node) == Some(status) && kubelet == reported {
            return Ok(());
        }
        let now = self.kubelet.clock().now().to_string();
        let ready = json!({"type": "Ready", "status": status, "reason": reason, "message": message,
            "lastHeartbeatTime": now, "lastTransitionTime": now});
        let known = node.pointer("/status/conditions").and_then(Value::as_array);
        let others = known.into_iter().flatten().filter(|one| text(one, "/type") != "Ready");
        let conditions: Vec<Value> = others.cloned().chain([ready]).collect();
        let version = text(&node, "/metadata/resourceVersion");
        let mut change = json!({"metadata": {"resourceVersion": version},
            "status": {"conditions": conditions}});
        if kubelet != reported {
            change["status"]["nodeInfo"] = json!({"kubeletVersion": kubelet});
        }
        let change = Patch::merge("kubelet", &change);
        self.kubelet.patch(&path::status(&path), change).await.map(drop)
    }
}

/// The version of the kubelet that came with the release on a disk; none if nothing there says which release it is.
fn installed_kubelet(host: &Recording) -> Option<String> {
    let Ok(Entry::File(file)) = host.read(&HostPath::parse(RELEASE_FILE).ok()?) else {
        return None;
    };
    kubelet(std::str::from_utf8(&file.content).ok()?)
}

/// What a node says of its kubelet, if anything.
pub(crate) fn condition(node: &Value) -> Option<&str> {
    let conditions = node.pointer("/status/conditions").and_then(Value::as_array);
    let ready = conditions.into_iter().flatten().find(|one| text(one, "/type") == "Ready")?;
    Some(text(ready, "/status"))
}

fn put(host: &mut Recording, path: &str, content: &str) {
    let path = HostPath::parse(path).expect("the paths here are absolute and plain");
    let file = File { content: content.into(), mode: 0o644, uid: 0, gid: 0 };
    host.meddle(&path, Entry::File(file));
}

/// Waits for so many seconds of a clock. If the clock is set back, it begins anew: nobody waits for a day that comes again.
async fn pass(clock: &dyn Clock, seconds: i64) {
    let mut began = clock.now();
    loop {
        let now = clock.now();
        began = began.min(now);
        let until = began.saturating_add(seconds);
        if now >= until {
            return;
        }
        clock.wait(until).await;
    }
}
