//! How are rollouts of `StatefulSets` held?
//!
//! By the wish: the change of the template is refused. The first write of their controller would be a new `ControllerRevision`, and a
//! controller that is refused it stops scaling and healing too, because it looks for its revisions before anything else.
//!
//! A template can also wait by itself, behind a `partition` or with `OnDelete`. Then lowering the one and leaving the other begins the rollout.
//! `status` tells whether something waits, by its revisions: its counts do not, because while a set is scaled down they count pods that are
//! about to go. Nobody but its controller should write it.

use api::{kinds, reach::What};

use super::{
    super::target::SeenTarget,
    Nudge, Room, SystemNamespaces, Targets, Waits, Write,
    leaving::{leaves, relabels},
};

/// Whether the write lets pods be replaced that would stay as they are without it.
macro_rules! rolls {
    () => {
        "object.spec.template != oldObject.spec.template || \
         ((has(object.spec.updateStrategy) && has(object.spec.updateStrategy.type) && object.spec.updateStrategy.type == 'OnDelete' ? 2147483647 : \
         has(object.spec.updateStrategy) && has(object.spec.updateStrategy.rollingUpdate) && has(object.spec.updateStrategy.rollingUpdate.partition) ? object.spec.updateStrategy.rollingUpdate.partition : 0) < \
         (has(oldObject.spec.updateStrategy) && has(oldObject.spec.updateStrategy.type) && oldObject.spec.updateStrategy.type == 'OnDelete' ? 2147483647 : \
         has(oldObject.spec.updateStrategy) && has(oldObject.spec.updateStrategy.rollingUpdate) && has(oldObject.spec.updateStrategy.rollingUpdate.partition) ? oldObject.spec.updateStrategy.rollingUpdate.partition : 0) && \
         !(has(oldObject.status) && has(oldObject.status.observedGeneration) && oldObject.status.observedGeneration == oldObject.metadata.generation && \
         has(oldObject.status.currentRevision) && has(oldObject.status.updateRevision) && oldObject.status.currentRevision == oldObject.status.updateRevision))"
    };
}

pub(super) const ROOM: Room = Room {
    what: What::StatefulSets,
    slug: "statefulsets",
    held: "a rollout: the change of the template of a StatefulSet, or of what keeps its pods from following it",
    // Its status carries no template, but the labels by which it is chosen.
    writes: &[Write {
        group: "apps",
        resources: &["statefulsets", "statefulsets/status"],
        operations: &["UPDATE"],
    }],
    marked: None,
    rendered: None,
    begins: concat!(relabels!(), " || ", rolls!()),
    name: "object.metadata.name",
    labels: "[object.metadata, oldObject.metadata]",
    holds: concat!(rolls!(), " || ", leaves!()),
    adds: "'; send it again then'",
    system: SystemNamespaces::LeftAlone,
    nudge: Nudge::None(
        "nothing waits: who was refused sends the change again, as pipelines and GitOps controllers do by themselves",
    ),
    not_held: &[
        "Scaling, by hand, by the subresource `scale` or by an autoscaler; `spec.ordinals` too.",
        "Healing: pods that were lost, evicted or deleted come back as they were.",
        "The first rollout of a new StatefulSet, so also one that was deleted, with its pods or without, and created again.",
        "A rollout that has begun: it ends, whatever the window does. Taking it back is a change of the template, and is held.",
        "Where a template waits behind `partition` or with `OnDelete`: pods that somebody deletes, or that scaling adds, get it. Lowering the partition and \
         leaving `OnDelete` are held while something waits.",
        "Claims, their retention and whatever else is not in the template.",
        "Pods that people make, change or delete themselves.",
        "A change that only takes fields away, and whose sender forges an entry in `managedFields` dated inside a window: it leaves no stamp of the \
         server. It shows as an entry from the future.",
        "A change by somebody who first plants an entry of their own manager in `managedFields`, dated the second in which they will write, and then \
         forges another dated inside a window.",
        "A partition that is lowered, by somebody who first writes into the status that nothing waits.",
    ],
    tried: "kube-controller-manager 1.36",
    targets: Some(Targets {
        kind: &kinds::STATEFUL_SET,
        read: SeenTarget::labelled,
        made: None,
        waits: Waits::Never,
    }),
    gated: None,
};
