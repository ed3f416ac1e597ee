//! How are nodes held that Karpenter replaces or removes?
//!
//! By the taint `karpenter.sh/disrupted` of a node: before Karpenter launches a replacement, or drains anything, it writes that taint, and a refusal ends
//! its command. It looks again within ten seconds.
//!
//! A node that is being deleted gets the same taint before it is drained, so the drain of an expired node waits too, although nobody holds its deletion:
//! deletions carry no stamp (RCH-9). What must not wait is let pass: a machine of the spot market, which goes in minutes whatever anybody says, and a
//! machine that is not ready, whose pods are better off elsewhere.

use api::reach::What;

use super::{Nudge, Room, SystemNamespaces, Write};

/// Whether Karpenter has marked the node at a place.
macro_rules! disrupted {
    ($at:literal) => {
        concat!(
            "(has(",
            $at,
            ".spec) && has(",
            $at,
            ".spec.taints) && ",
            $at,
            ".spec.taints.exists(taint, taint.key == 'karpenter.sh/disrupted'))"
        )
    };
}

pub(super) const ROOM: Room = Room {
    what: What::KarpenterDisruption,
    slug: "karpenter-disruption",
    held: "a disruption by Karpenter (consolidation, drift, and the drain of an expired node): the taint `karpenter.sh/disrupted` of a Node",
    writes: &[Write { group: "\"\"", resources: &["nodes"], operations: &["UPDATE"] }],
    marked: None,
    rendered: None,
    begins: concat!(disrupted!("object"), " && !", disrupted!("oldObject")),
    // RCH-12: by the NodePool.
    name: "has(object.metadata.labels) && 'karpenter.sh/nodepool' in object.metadata.labels ? object.metadata.labels['karpenter.sh/nodepool'] : ''",
    labels: "[]",
    holds: "!(has(object.metadata.deletionTimestamp) && \
            ((has(object.metadata.labels) && 'karpenter.sh/capacity-type' in object.metadata.labels && object.metadata.labels['karpenter.sh/capacity-type'] == 'spot') || \
            !(has(object.status) && has(object.status.conditions) && object.status.conditions.exists(condition, condition.type == 'Ready' && condition.status == 'True'))))",
    adds: "''",
    system: SystemNamespaces::Held,
    nudge: Nudge::None(
        "nobody has to touch anything: Karpenter looks again by itself, at most ten seconds later",
    ),
    not_held: &[
        "The deletion of a NodeClaim that has expired, which no server can date: Karpenter asks for it at any time, `disruption.budgets` or not. Its drain waits: the \
         machine stays and its pods run, until the gate opens.",
        "A node that bears the taint: it is drained and removed, whatever the window does.",
        "The drain of a spot machine that is being deleted, because its provider takes it back or because it has expired: nothing tells the two apart, and the \
         first cannot wait. Consolidation and drift of spot machines are held.",
        "The drain of a node that is being deleted and is not `Ready`, as node repair does.",
        "Provisioning: nodes that are launched for pods.",
        "Which reason Karpenter has: the node does not bear it when the taint is written, so all of them wait alike.",
        "Held with it, because the write is the same: the drain of a node that people delete, and of an on-demand machine whose end the provider announced. A member of \
         `tidegate:initiators` writes the taint by hand and has Karpenter go on.",
        "A node whose label `karpenter.sh/nodepool` somebody changes first, by a gate that chooses `names`.",
        "Machines that the provider stops or takes away, and pods that are evicted without Karpenter.",
    ],
    tried: "the writes that Karpenter 1.x sends, read in its source and played; not yet with Karpenter itself",
    targets: None,
    gated: None,
};
