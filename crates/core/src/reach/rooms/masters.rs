//! How are the nodes of the control plane of a stock OpenShift held? (CV-2, GATE-10)
//!
//! By the same annotation as those of other pools, and by whatever holds `ClusterVersion`: what people write for masters waits for its gate. An
//! update that has begun takes them along, whatever the window does (CV-1): the operator notes on them that it began, and a node that
//! carries the note passes. So these policies are rendered only where somebody writes that note; elsewhere an update that began in its window
//! could not finish outside.
//!
//! It is no room that people name: it follows another, and its policies stand beside those of that.

use api::{kinds, reach::What};

use super::{
    Nudge, Room, SystemNamespaces, Write,
    ordered::{begun, note, note_before, orders, pool, pools},
};

pub(super) const ROOM: Room = Room {
    what: What::ClusterVersion,
    slug: "control-plane-nodes",
    held: "a change of a node of the control plane by the machine-config-operator: the annotation `machineconfiguration.openshift.io/desiredConfig`, or \
           `desiredImage`, of a Node that is told a configuration of the pool `master`",
    writes: &[Write {
        group: "\"\"",
        resources: &["nodes", "nodes/status"],
        operations: &["CREATE", "UPDATE"],
    }],
    marked: None,
    rendered: Some("and .Values.manageUpdates (not .Values.managePools)"),
    begins: orders!(),
    name: pool!(),
    labels: "[]",
    // Whatever a master is told instead of a configuration of its own pool, it is a master that changes.
    holds: concat!("'master' in ", pools!(), " && !", begun!()),
    adds: "'; nodes of the control plane wait for what holds ClusterVersion'",
    system: SystemNamespaces::Held,
    nudge: Nudge::None(
        "nobody has to touch anything: the machine-config-controller tries again by itself, at most a minute later",
    ),
    not_held: &["A node that carries `changemanagement.openshift.io/begun-release`."],
    tried: "the writes that the machine-config-controller of OpenShift 4 sends, played on its own definitions; not yet with the controller itself",
    targets: None,
    gated: Some(&kinds::MACHINE_CONFIG_POOL),
};
