//! What is inside a hosted cluster? A server of its own, with a node for each machine that is there and the `ClusterVersion` that is projected into it (HOST-2).
//!
//! One loop, as the config operator of a hosted cluster has it: what is inside is put right whenever it differs from what stands outside, and
//! nothing that is inside is ever read for a decision.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use api::{
    crds,
    kinds::{self, CLUSTER_VERSION},
    names::{PROJECTED, THE_CLUSTER},
};
use apiserver::Server;
use http::Method;
use kube::Client;
use runtime::{
    call::{Cluster, Collection},
    clock::SetClock,
    path::{self, DEFINITION, Resource},
};
use serde_json::{Value, json};
use tidegate_core::hosted::project::project;
use tokio::task::JoinSet;

use crate::{
    machine_api::plan::{DEPLOYMENT, is_ready},
    mirror::{Mirror, Objects, Place, text},
    server_clock::ServerClock,
};

/// How long one of them waits for an answer.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// The servers of hosted clusters, by namespace and name. Clones are one.
#[derive(Clone, Debug, Default)]
pub struct Guests(Arc<Mutex<BTreeMap<Place, Server>>>);

impl Guests {
    /// The server of a hosted cluster, if it is there.
    pub fn get(&self, namespace: &str, name: &str) -> Option<Server> {
        self.all().remove(&(namespace.to_owned(), name.to_owned()))
    }

    /// All of them.
    pub fn all(&self) -> BTreeMap<(String, String), Server> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn put(&self, place: Place, server: Server) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(place, server);
    }

    fn keep(&self, places: &Objects) {
        let mut servers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        servers.retain(|place, _| places.contains_key(place));
    }
}

/// Whoever keeps guests as they should be.
#[derive(Debug)]
pub(crate) struct Insides {
    pub(crate) guests: Guests,
    pub(crate) clock: SetClock,
    pub(crate) clusters: Mirror,
    pub(crate) pools: Mirror,
    pub(crate) machines: Mirror,
}

impl Insides {
    /// Keeps them, for ever.
    pub(crate) async fn run(self) {
        let [mut clusters, mut pools, mut machines] =
            [&self.clusters, &self.pools, &self.machines].map(Mirror::changes);
        let inside = Mirror::default();
        let mut edited = inside.changes();
        // They end with this.
        let mut watches = JoinSet::new();
        loop {
            for changes in [&mut clusters, &mut pools, &mut machines, &mut edited] {
                changes.mark_seen();
            }
            let hosts = self.clusters.objects();
            let (pools_now, machines_now) = (self.pools.objects(), self.machines.objects());
            self.guests.keep(&hosts);
            for (place, host) in &hosts {
                let guest = self.guests.get(&place.0, &place.1).unwrap_or_else(|| {
                    let guest = self.made();
                    watches.spawn(self.watched(&guest, &inside));
                    self.guests.put(place.clone(), guest.clone());
                    guest
                });
                put_right(&guest, &project(host, pools_now.values().map(|pool| &**pool)));
                join(&guest, place, &machines_now);
            }
            tokio::select! {
                biased;
                () = clusters.changed() => {}
                () = pools.changed() => {}
                () = machines.changed() => {}
                () = edited.changed() => {}
            }
        }
    }

    /// A server that knows of nothing but its version and nodes.
    fn made(&self) -> Server {
        let server = Server::new(ServerClock(self.clock.clone()), apiserver::Settings::default());
        let definition = crds::definition(&CLUSTER_VERSION);
        ask(&server, Method::POST, &DEFINITION.collection(None), &definition);
        server
    }

    /// Tells whenever somebody edits it.
    fn watched(&self, guest: &Server, inside: &Mirror) -> impl Future<Output = ()> + use<> {
        let client = Client::new(guest.service(), "default");
        let cluster = Cluster::new(client, Arc::new(self.clock.clone()), Arc::default(), PATIENCE);
        inside.beside().keep(cluster, Collection::of(versions().collection(None)))
    }
}

fn versions() -> Resource<'static> {
    Resource::of(&CLUSTER_VERSION)
}

/// One request to a server in this process. What it answers, if it does as it is told.
fn ask(server: &Server, method: Method, at: &str, body: &Value) -> Option<Value> {
    let body = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
    let (code, answer) = server.ask(method, at, "application/json", &body);
    let answer = serde_json::from_slice(&answer).ok();
    if code >= 300 && code != 404 {
        tracing::debug!(code, at, ?answer, "a guest is not as it was");
    }
    answer.filter(|_| code < 300)
}

/// Writes a projection, if the guest does not read so already: as a whole, so that nothing of an edit stays.
fn put_right(guest: &Server, wanted: &Value) {
    let at = versions().object(None, THE_CLUSTER);
    let there = ask(guest, Method::GET, &at, &Value::Null);
    let noted = |document: &Value| document["metadata"]["annotations"][PROJECTED].clone();
    let same = |there: &Value| there["spec"] == wanted["spec"] && noted(there) == noted(wanted);
    let written = match there {
        None => ask(guest, Method::POST, &versions().collection(None), wanted),
        Some(there) if same(&there) => Some(there),
        Some(there) => {
            let mut whole = wanted.clone();
            whole["metadata"]["resourceVersion"] = there["metadata"]["resourceVersion"].clone();
            ask(guest, Method::PUT, &at, &whole)
        }
    };
    let Some(written) = written.filter(|written| written["status"] != wanted["status"]) else {
        return;
    };
    let mut whole = wanted.clone();
    whole["metadata"]["resourceVersion"] = written["metadata"]["resourceVersion"].clone();
    ask(guest, Method::PUT, &path::status(&at), &whole);
}

/// A node for each machine that has one, and no others.
fn join(guest: &Server, (namespace, name): &Place, machines: &Objects) {
    let below = format!("{namespace}-{}", name.replace('.', "-"));
    let nodes = Resource::of(&kinds::NODE);
    let there: BTreeSet<String> = listed(guest, &nodes.collection(None))
        .iter()
        .map(|node| text(node, "/metadata/name").to_owned())
        .collect();
    let ready: BTreeMap<&str, &Value> = machines
        .iter()
        .filter(|((place, _), machine)| *place == below && is_ready(machine))
        .map(|((_, name), machine)| (name.as_str(), &**machine))
        .collect();
    for (name, machine) in ready.iter().filter(|(name, _)| !there.contains(**name)) {
        let node = node(name, machine);
        ask(guest, Method::POST, &nodes.collection(None), &node);
        let at = path::status(&nodes.object(None, name));
        ask(guest, Method::PUT, &at, &node);
    }
    for gone in there.iter().filter(|name| !ready.contains_key(name.as_str())) {
        ask(guest, Method::DELETE, &nodes.object(None, gone), &Value::Null);
    }
}

fn node(name: &str, machine: &Value) -> Value {
    let pool = machine.pointer("/metadata/labels").and_then(|labels| labels.get(DEPLOYMENT));
    let release = text(machine, "/spec/version");
    json!({"apiVersion": "v1", "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, "node-role.kubernetes.io/worker": "",
            "hypershift.openshift.io/nodePool": pool}, "annotations": {"hypershift.openshift.io/release-version": release}},
        "spec": {"providerID": format!("sandbox:///{name}")},
        "status": {"nodeInfo": {"osImage": format!("Red Hat Enterprise Linux CoreOS of {release}"), "kubeletVersion": "",
                "kernelVersion": "", "containerRuntimeVersion": "", "operatingSystem": "linux", "architecture": "amd64",
                "machineID": name, "systemUUID": name, "bootID": name, "kubeProxyVersion": ""},
            "conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady"}]}})
}

/// The objects of a collection, as a server has them: for whoever looks at it from outside.
pub fn listed(server: &Server, path: &str) -> Vec<Value> {
    let (_, answer) = server.ask(Method::GET, path, "", &[]);
    let list: Value = serde_json::from_slice(&answer).unwrap_or_default();
    list.get("items").and_then(Value::as_array).cloned().unwrap_or_default()
}
