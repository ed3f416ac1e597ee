//! Which simulated hosts are there? One for every node, for as long as the node is there.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use apiserver::{Server, Service};
use kube::Client;
use operator::View;
use runtime::{call::Cluster, clock::Clock, telemetry::Telemetry};
use tokio::task::{AbortHandle, JoinSet};

use crate::{
    lengths::Lengths,
    machine::Machine,
    mirror::{Mirror, text},
    shipped::{ACCOUNTS, AGENT},
};

/// Where nodes stand.
#[derive(Clone, Debug)]
pub(crate) struct Site {
    pub(crate) server: Server,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) lengths: Arc<Lengths>,
    pub(crate) nodes: Mirror,
    pub(crate) pools: Mirror,
    /// The operator, which says what a new node gets.
    pub(crate) operator: View,
}

/// How long one request may take.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

impl Site {
    /// The cluster as somebody reaches it.
    pub(crate) fn cluster(&self, user: &str, groups: &[&str]) -> Cluster {
        self.reached(self.server.service_as(user, groups))
    }

    fn reached(&self, service: Service) -> Cluster {
        let client = Client::new(service, "default");
        Cluster::new(client, Arc::clone(&self.clock), Arc::new(Telemetry::default()), PATIENCE)
    }

    /// Runs a host for every node, for ever.
    pub(crate) async fn run(self) {
        let mut changes = self.nodes.changes();
        let mut running: BTreeMap<String, AbortHandle> = BTreeMap::new();
        let mut tasks = JoinSet::new();
        loop {
            changes.mark_seen();
            let nodes = self.nodes.objects();
            // By identity: a node of the same name that is made later is another node.
            let there: BTreeMap<&str, &str> = nodes
                .values()
                .map(|node| (text(node, "/metadata/uid"), text(node, "/metadata/name")))
                .collect();
            running.retain(|uid, machine| {
                let stays = there.contains_key(&**uid);
                if !stays {
                    machine.abort();
                }
                stays
            });
            for (uid, name) in there {
                if !running.contains_key(uid) {
                    let machine = self.machine(name);
                    running.insert(uid.to_owned(), tasks.spawn(machine.live()));
                }
            }
            tokio::select! {
                biased;
                () = changes.changed() => {}
                // A simulated node ends only with its object.
                Some(_) = tasks.join_next() => {}
            }
        }
    }

    fn machine(&self, name: &str) -> Machine {
        let user = format!("system:node:{name}");
        Machine {
            name: name.to_owned(),
            kubelet: self.cluster(&user, &["system:nodes", "system:authenticated"]),
            agent: self.reached(self.server.service_as(AGENT, ACCOUNTS).on_node(name)),
            lengths: Arc::clone(&self.lengths),
            nodes: self.nodes.clone(),
            pools: self.pools.clone(),
            operator: self.operator.clone(),
        }
    }
}
