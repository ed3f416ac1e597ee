//! How does somebody get into a hosted cluster of a sandbox? Each has a port and a kubeconfig of its own, which go away with the sandbox.

use std::path::PathBuf;

use api::kinds;
use apiserver::{Listener, Server};
use runtime::path::Resource;
use sim::hosting::listed;
use tokio::task::JoinSet;

use super::{
    Door,
    kubeconfig::{Kubeconfig, Wanted},
};

/// A hosted cluster, as those see it who come in.
pub(super) struct Inside {
    /// The namespace and the name of its `HostedCluster`.
    pub(super) namespace: String,
    pub(super) name: String,
    /// The kubeconfig that leads there.
    pub(super) kubeconfig: PathBuf,
    server: Server,
}

impl Inside {
    /// Its nodes, each with the release that it has.
    pub(super) fn nodes(&self) -> Vec<(String, String)> {
        let text = |node: &serde_json::Value, path: &str| {
            node.pointer(path).and_then(serde_json::Value::as_str).unwrap_or_default().to_owned()
        };
        let release = "/metadata/annotations/hypershift.openshift.io~1release-version";
        let nodes = listed(&self.server, &Resource::of(&kinds::NODE).collection(None));
        nodes.iter().map(|node| (text(node, "/metadata/name"), text(node, release))).collect()
    }
}

/// The doors of all of them. They close when this is dropped.
#[derive(Default)]
pub(super) struct Doors {
    listening: JoinSet<std::io::Result<()>>,
    kubeconfigs: Vec<Kubeconfig>,
}

impl Doors {
    /// Opens one for each hosted cluster.
    pub(super) async fn open(
        guests: &sim::guest::Guests,
        wanted: &Wanted,
    ) -> anyhow::Result<(Self, Vec<Inside>)> {
        let mut doors = Self::default();
        let mut found = Vec::new();
        for ((namespace, name), server) in guests.all() {
            let wanted = wanted.inside(&format!("{namespace}-{name}"));
            let Door { listener, kubeconfig } = Door::open(&server, 0, &wanted).await?;
            doors.listening.spawn(Listener::run(listener));
            let path = kubeconfig.path().to_owned();
            doors.kubeconfigs.push(kubeconfig);
            found.push(Inside { namespace, name, kubeconfig: path, server });
        }
        Ok((doors, found))
    }
}
