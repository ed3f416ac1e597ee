//! What do gates hold of what others own? (RCH-12) These kinds are looked at only where some gate or freeze holds them, so none of them is
//! among [`ALL`](super::ALL).

use std::sync::Arc;

use api::schema::Kind;

use super::{
    CHANGE_FREEZE, CHANGE_GATE, CLUSTER_CHANGE_FREEZE, CLUSTER_CHANGE_GATE, Concerns, Controller,
    Duty, NAMESPACE, Pools, Row,
};
use crate::{
    cluster::{
        decide::nudge,
        seen::{Part, Seen},
    },
    gate::plan::Plan,
    reach::{rooms, target::SeenTarget},
};

/// What people roll out.
pub static DEPLOYMENT: Row = touched(api::kinds::DEPLOYMENT, |document| {
    part(rooms::read(&api::kinds::DEPLOYMENT, document))
});

/// What a Deployment is made of.
pub static REPLICA_SET: Row = Row::part(api::kinds::REPLICA_SET, |document| {
    part(rooms::read(&api::kinds::REPLICA_SET, document))
});

/// Pods with names of their own.
pub static STATEFUL_SET: Row = Row::part(api::kinds::STATEFUL_SET, |document| {
    part(rooms::read(&api::kinds::STATEFUL_SET, document))
});

/// A pod on each node.
pub static DAEMON_SET: Row = Row::part(api::kinds::DAEMON_SET, |document| {
    part(rooms::read(&api::kinds::DAEMON_SET, document))
});

/// What Argo CD syncs.
pub static APPLICATION: Row = touched(api::kinds::APPLICATION, |document| {
    part(rooms::read(&api::kinds::APPLICATION, document))
});

/// Machines of Cluster API with one template.
pub static MACHINE_DEPLOYMENT: Row = touched(api::kinds::MACHINE_DEPLOYMENT, |document| {
    part(rooms::read(&api::kinds::MACHINE_DEPLOYMENT, document))
});

/// What the system-upgrade-controller does to nodes. Nobody touches one.
pub static UPGRADE_PLAN: Row = Row::part(api::kinds::UPGRADE_PLAN, |document| {
    part(rooms::read(&api::kinds::UPGRADE_PLAN, document))
});

/// Control planes of Cluster API.
pub static KUBEADM_CONTROL_PLANE: Row = Row::part(api::kinds::KUBEADM_CONTROL_PLANE, |document| {
    part(rooms::read(&api::kinds::KUBEADM_CONTROL_PLANE, document))
});

/// Clusters of Cluster API.
pub static CLUSTER: Row =
    Row::part(api::kinds::CLUSTER, |document| part(rooms::read(&api::kinds::CLUSTER, document)));

/// Every kind that gates hold, and what their controllers make of it.
pub static TARGETS: &[&Row] = &[
    &DEPLOYMENT,
    &REPLICA_SET,
    &STATEFUL_SET,
    &DAEMON_SET,
    &APPLICATION,
    &MACHINE_DEPLOYMENT,
    &UPGRADE_PLAN,
    &KUBEADM_CONTROL_PLANE,
    &CLUSTER,
];

/// The row of a kind that some room reads.
pub fn target(kind: &Kind) -> Option<&'static Row> {
    TARGETS.iter().copied().find(|row| row.kind == *kind)
}

/// What is decided about them: whether they are touched because they wait (RCH-4).
pub fn touching() -> impl Iterator<Item = Controller> {
    TARGETS.iter().filter_map(|row| row.controller(Pools::Watched))
}

/// A row of a kind that is touched where something waits.
const fn touched(kind: Kind, read: fn(&serde_json::Value) -> Part) -> Row {
    let duty = Duty {
        reads: &READS,
        concerns: Concerns::Told,
        ..Duty::to(|seen, around, now| match seen {
            Seen::Part(part) => nudge::nudge(part, around, now),
            Seen::Policy(_) | Seen::Gated(_) => Plan::default(),
        })
    };
    Row { watched: Some(duty), managed: Some(duty), ..Row::part(kind, read) }
}

static READS: [&Row; 5] =
    [&CHANGE_GATE, &CLUSTER_CHANGE_GATE, &CHANGE_FREEZE, &CLUSTER_CHANGE_FREEZE, &NAMESPACE];

fn part(read: Option<SeenTarget>) -> Part {
    Part::Target(Arc::new(read.unwrap_or_else(|| SeenTarget::labelled(&serde_json::Value::Null))))
}
