//! How are the nodes of a stock OpenShift held?
//!
//! By the annotation `desiredConfig` of a node: the machine-config-controller writes it for one node after the other, and only then the daemon of
//! that node drains, changes and reboots it. So a gate that shuts holds the next node, and nothing else of the pool stops: configurations are
//! rendered, certificates renewed, nodes join. `spec.paused` is never written (RCH-3).
//!
//! The pool is the one in the name of the rendered configuration (RCH-12). The masters follow `ClusterVersion` (CV-2).

use api::{kinds, reach::What};

use super::{
    Nudge, Room, SystemNamespaces, Write,
    ordered::{begun, note, note_before, orders, pool, pools},
};

pub(super) const ROOM: Room = Room {
    what: What::MachineConfigPools,
    slug: "machine-config-pools",
    held: "a change of a node by the machine-config-operator: the annotation `machineconfiguration.openshift.io/desiredConfig`, or `desiredImage`, of a Node",
    writes: &[Write {
        group: "\"\"",
        resources: &["nodes", "nodes/status"],
        operations: &["CREATE", "UPDATE"],
    }],
    marked: None,
    rendered: None,
    begins: orders!(),
    name: pool!(),
    labels: "[]",
    holds: concat!("variables.name != 'master' && !", begun!()),
    adds: "''",
    system: SystemNamespaces::Held,
    nudge: Nudge::None(
        "nobody has to touch anything: the machine-config-controller tries again by itself, at most a minute later",
    ),
    not_held: &[
        "Rendering: the pool gets its new rendered configuration at once, and its nodes wait.",
        "Certificates, which the daemon of a node writes by itself, and everything else that kubelets and controllers write to nodes.",
        "A node that was told to change: it drains, changes and reboots, whatever the window does.",
        "A node that joins: it comes with the configuration that its ignition had.",
        "The masters, which follow `ClusterVersion`: hold that.",
        "A node that carries `changemanagement.openshift.io/begun-release`: it finishes an update of the control plane that has begun.",
        "The arbiter of a cluster that has one is a pool like others here, and an update of the control plane ends when it has its configuration too.",
        "An image that is only taken away (`desiredImage`), when a pool goes back from images to packages: the write leaves no stamp to judge by.",
        "A pool that somebody means by another name: what counts is the pool in the name of the rendered configuration, as in `rendered-worker-0123`.",
        "A node that is deleted and comes back with other annotations, or whose `currentConfig` somebody else than its daemon writes.",
        "An order by somebody who first plants an entry of their own manager in `managedFields`, dated the second in which they will write, and then \
         forges another dated inside a window.",
    ],
    tried: "the writes that the machine-config-controller of OpenShift 4 sends, played on its own definitions; not yet with the controller itself",
    targets: None,
    gated: Some(&kinds::MACHINE_CONFIG_POOL),
};
