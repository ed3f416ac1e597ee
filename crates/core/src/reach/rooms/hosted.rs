//! How are hosted clusters held that a stock HyperShift runs?
//!
//! By the wish: `spec.release` of a `HostedCluster`, and what of a `NodePool` makes its nodes other nodes. HyperShift acts on both at once. Its own first
//! write of a release is the whole `HostedControlPlane`, with every other change of it, and holding that for days would stop them all; `pausedUntil`
//! stops scaling and, after hours, replacement. So neither is used.
//!
//! Where Tidegate manages hosted clusters (`manageHosted`), a release is a wish, and whoever runs hosted clusters follows marks, which the stanza
//! holds (HOST-1): these rooms are not there.

use api::reach::What;

use super::{
    Nudge, Room, SystemNamespaces, Write,
    leaving::{leaves, relabels},
};

/// A field of the specification at a place, as a list of one or none.
macro_rules! part {
    ($at:literal, $field:literal) => {
        concat!(
            "(has(",
            $at,
            ".spec) && has(",
            $at,
            ".spec.",
            $field,
            ") ? [",
            $at,
            ".spec.",
            $field,
            "] : [])"
        )
    };
}

/// Whether a field of the specification differs.
macro_rules! differs {
    ($field:literal) => {
        concat!(part!("object", $field), " != ", part!("oldObject", $field))
    };
}

/// An annotation by which a control plane gets other images, or passes checks of an update, at a place, as a list of one or none.
macro_rules! noted {
    ($at:literal, $key:literal) => {
        concat!(
            "(has(",
            $at,
            ".metadata.annotations) && 'hypershift.openshift.io/",
            $key,
            "' in ",
            $at,
            ".metadata.annotations ? [",
            $at,
            ".metadata.annotations['hypershift.openshift.io/",
            $key,
            "']] : [])"
        )
    };
}

/// Whether such an annotation is another one than before. Taking it away is one too, but for the one that only sets checks aside.
macro_rules! renoted {
    ($key:literal) => {
        concat!(noted!("object", $key), " != ", noted!("oldObject", $key))
    };
}

/// Whether the write has a control plane updated.
macro_rules! updates {
    () => {
        concat!(
            "(",
            differs!("release"),
            " || ",
            differs!("controlPlaneRelease"),
            " || ",
            renoted!("control-plane-operator-image"),
            " || ",
            renoted!("image-overrides"),
            " || (",
            noted!("object", "force-upgrade-to"),
            ".size() > 0 && ",
            renoted!("force-upgrade-to"),
            "))"
        )
    };
}

/// Whether the write has nodes replaced or changed.
macro_rules! rolls {
    () => {
        concat!(
            "(",
            differs!("release"),
            " || ",
            differs!("config"),
            " || ",
            differs!("tuningConfig"),
            " || ",
            differs!("platform"),
            " || ",
            differs!("management"),
            ")"
        )
    };
}

const PAUSED: &str = "The end of a pause (`spec.pausedUntil`): what was written before, in a window, begins then. Tidegate never writes it.";
const OPERATOR: &str = "An upgrade of the HyperShift operator itself, after which it may roll out nodes that nobody changed.";
const FORGED: &str = "A change that only takes fields away, and whose sender forges an entry in `managedFields` dated inside a window: it leaves no stamp of \
                      the server. It shows as an entry from the future.";
const PLANTED: &str = "A change by somebody who first plants an entry of their own manager in `managedFields`, dated the second in which they will write, and \
                       then forges another dated inside a window.";
const MANAGED: &str = "A cluster on which Tidegate manages hosted clusters (`manageHosted`): there a release is a wish, and stanza and freezes hold its mark.";

pub(super) const CLUSTERS: Room = Room {
    what: What::HostedClusters,
    slug: "hosted-clusters",
    held: "an update of a hosted control plane by a stock HyperShift: `spec.release` or `spec.controlPlaneRelease` of a HostedCluster, and the annotations that set checks of an update aside or give it other images",
    writes: &[Write {
        group: "hypershift.openshift.io",
        resources: &["hostedclusters", "hostedclusters/status"],
        operations: &["UPDATE"],
    }],
    marked: None,
    rendered: None,
    begins: concat!(updates!(), " || ", relabels!()),
    name: "object.metadata.name",
    labels: "[object.metadata, oldObject.metadata]",
    holds: concat!(updates!(), " || ", leaves!()),
    adds: "'; send it again then'",
    // Whoever hosts clusters has them in namespaces of any name.
    system: SystemNamespaces::Held,
    nudge: Nudge::None("nothing waits: who was refused sends the release again"),
    not_held: &[
        "An update that has begun: it ends, whatever the window does. Taking it back is a change, and is held.",
        "Nodes: hold `NodePools`, and `MachineDeployments` in the namespace of the hosted control plane.",
        "`spec.configuration` and whatever else all nodes of the cluster share, such as proxies and trusted certificates: it rolls out nodes without another \
         release. `MachineDeployments` holds each of their steps.",
        OPERATOR,
        PAUSED,
        "A restart of the control plane by the annotation `hypershift.openshift.io/restart-date`, its size and its certificates.",
        "A new hosted cluster.",
        MANAGED,
        FORGED,
        PLANTED,
    ],
    tried: "the writes that people and GitOps controllers send, played; not yet with HyperShift",
    targets: None,
    gated: None,
};

pub(super) const NODE_POOLS: Room = Room {
    what: What::NodePools,
    slug: "node-pools",
    held: "a rollout of hosted nodes by a stock HyperShift: `spec.release` of a NodePool, the ConfigMaps that its `config` and `tuningConfig` name, its `platform`, and its `management`, which says when nodes go",
    writes: &[Write {
        group: "hypershift.openshift.io",
        resources: &["nodepools", "nodepools/status"],
        operations: &["UPDATE"],
    }],
    marked: None,
    rendered: None,
    begins: concat!(rolls!(), " || ", relabels!()),
    name: "object.metadata.name",
    labels: "[object.metadata, oldObject.metadata]",
    holds: concat!(rolls!(), " || ", leaves!()),
    adds: "'; send it again then'",
    system: SystemNamespaces::Held,
    nudge: Nudge::None("nothing waits: who was refused sends the change again"),
    not_held: &[
        "Scaling, by hand or by an autoscaler, healing, labels, taints and time limits of drains.",
        "The content of the ConfigMaps that a pool names: whoever edits one rolls out its nodes. `MachineDeployments` in the namespace of the hosted control \
         plane holds each step of a pool that replaces its nodes; nothing here holds one that changes them in place.",
        "What all nodes of a hosted cluster share (`spec.configuration` of the HostedCluster).",
        OPERATOR,
        "A rollout that has begun: it ends, whatever the window does.",
        PAUSED,
        "The first nodes of a new pool, and nodes that people delete.",
        "Some changes of `platform` that replace no node are held with the others.",
        "NodePools of Karpenter, which are another kind: hold `KarpenterDisruption`.",
        MANAGED,
        FORGED,
        PLANTED,
    ],
    tried: "the writes that people and GitOps controllers send, played; not yet with HyperShift",
    targets: None,
    gated: None,
};
