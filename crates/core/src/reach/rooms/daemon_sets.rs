//! How are rollouts of `DaemonSets` held?
//!
//! By the wish: the change of the template is refused. The first write of their controller would be a new `ControllerRevision`, and a
//! controller that is refused it leaves nodes that join without their pods.
//!
//! With `OnDelete` a template can wait by itself, and leaving that begins the rollout. `status` tells whether something waits; nobody but its
//! controller should write that.

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
         (has(oldObject.spec.updateStrategy) && has(oldObject.spec.updateStrategy.type) && oldObject.spec.updateStrategy.type == 'OnDelete' && \
         !(has(object.spec.updateStrategy) && has(object.spec.updateStrategy.type) && object.spec.updateStrategy.type == 'OnDelete') && \
         !(has(oldObject.status) && has(oldObject.status.observedGeneration) && oldObject.status.observedGeneration == oldObject.metadata.generation && \
         (has(oldObject.status.updatedNumberScheduled) ? oldObject.status.updatedNumberScheduled : 0) == \
         (has(oldObject.status.desiredNumberScheduled) ? oldObject.status.desiredNumberScheduled : 0)))"
    };
}

pub(super) const ROOM: Room = Room {
    what: What::DaemonSets,
    slug: "daemonsets",
    held: "a rollout: the change of the template of a DaemonSet, or of what keeps its pods from following it",
    // Its status carries no template, but the labels by which it is chosen.
    writes: &[Write {
        group: "apps",
        resources: &["daemonsets", "daemonsets/status"],
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
        "Nodes that join, leave or change their labels: pods come and go with them.",
        "Healing: pods that were lost, evicted or deleted come back as they were.",
        "The first rollout of a new DaemonSet, so also one that was deleted, with its pods or without, and created again.",
        "A rollout that has begun: it ends, whatever the window does. Taking it back is a change of the template, and is held.",
        "Where a template waits with `OnDelete`: pods that somebody deletes, and those of nodes that join, get it. Leaving `OnDelete` is held while \
         something waits.",
        "Pods that people make, change or delete themselves.",
        "A change that only takes fields away, and whose sender forges an entry in `managedFields` dated inside a window: it leaves no stamp of the \
         server. It shows as an entry from the future.",
        "A change by somebody who first plants an entry of their own manager in `managedFields`, dated the second in which they will write, and then \
         forges another dated inside a window.",
        "The end of `OnDelete`, by somebody who first writes into the status that nothing waits.",
    ],
    tried: "kube-controller-manager 1.36",
    targets: Some(Targets {
        kind: &kinds::DAEMON_SET,
        read: SeenTarget::labelled,
        made: None,
        waits: Waits::Never,
    }),
    gated: None,
};
