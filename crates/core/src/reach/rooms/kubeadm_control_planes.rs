//! How are control planes held that Cluster API rolls out?
//!
//! By the wish: a change of the version of a `KubeadmControlPlane`, or of whatever else its controller replaces machines for. Its own writes begin with
//! a new `Machine`, and the same write heals and scales a control plane, so nothing but the wish tells the two apart.
//!
//! Both versions of the kind are read: `rolloutAfter` and `machineTemplate.infrastructureRef` of the older one stand elsewhere in the newer.

use api::{kinds, reach::What};

use super::{
    super::target::SeenTarget,
    Nudge, Room, SystemNamespaces, Targets, Waits, Write,
    leaving::{leaves, relabels},
};

/// Whether a field of the specification differs.
macro_rules! differs {
    ($field:literal) => {
        concat!(
            "(has(object.spec.",
            $field,
            ") ? [object.spec.",
            $field,
            "] : []) != (has(oldObject.spec.",
            $field,
            ") ? [oldObject.spec.",
            $field,
            "] : [])"
        )
    };
}

/// The template of its machines at a place, as a list of one or none.
macro_rules! machines {
    ($at:literal) => {
        concat!(
            "(!has(",
            $at,
            ".spec.machineTemplate) ? [] : \
             has(",
            $at,
            ".spec.machineTemplate.infrastructureRef) ? [",
            $at,
            ".spec.machineTemplate.infrastructureRef] : \
             has(",
            $at,
            ".spec.machineTemplate.spec) && has(",
            $at,
            ".spec.machineTemplate.spec.infrastructureRef) ? \
             [",
            $at,
            ".spec.machineTemplate.spec.infrastructureRef] : [])"
        )
    };
}

/// When everything is to be replaced once, at a place, as a list of one or none.
macro_rules! after {
    ($at:literal) => {
        concat!(
            "(has(",
            $at,
            ".spec.rolloutAfter) ? [",
            $at,
            ".spec.rolloutAfter] : \
             has(",
            $at,
            ".spec.rollout) && has(",
            $at,
            ".spec.rollout.after) ? [",
            $at,
            ".spec.rollout.after] : [])"
        )
    };
}

/// How many days before its certificates expire a machine is replaced, at a place, in whichever version that stands; 0 is for never.
macro_rules! before {
    ($at:literal) => {
        concat!(
            "((has(",
            $at,
            ".spec.rolloutBefore) && has(",
            $at,
            ".spec.rolloutBefore.certificatesExpiryDays) ? ",
            $at,
            ".spec.rolloutBefore.certificatesExpiryDays : 0) + \
             (has(",
            $at,
            ".spec.rollout) && has(",
            $at,
            ".spec.rollout.before) && has(",
            $at,
            ".spec.rollout.before.certificatesExpiryDays) ? ",
            $at,
            ".spec.rollout.before.certificatesExpiryDays : 0))"
        )
    };
}

/// Whether the write has machines replaced.
macro_rules! rolls {
    () => {
        concat!(
            "(has(object.spec) && has(oldObject.spec) && (",
            differs!("version"),
            " || ",
            differs!("kubeadmConfigSpec"),
            " || ",
            machines!("object"),
            " != ",
            machines!("oldObject"),
            " || \
             (",
            after!("object"),
            ".size() > 0 && ",
            after!("object"),
            " != ",
            after!("oldObject"),
            ") || ",
            before!("object"),
            " > ",
            before!("oldObject"),
            "))"
        )
    };
}

pub(super) const ROOM: Room = Room {
    what: What::KubeadmControlPlanes,
    slug: "kubeadm-control-planes",
    held: "a rollout of a control plane by Cluster API: `spec.version` of a KubeadmControlPlane, its `kubeadmConfigSpec`, the template of its machines, when all are to be replaced, or how long before their certificates expire",
    // Its status carries no version, but the labels by which it is chosen.
    writes: &[Write {
        group: "controlplane.cluster.x-k8s.io",
        resources: &["kubeadmcontrolplanes", "kubeadmcontrolplanes/status"],
        operations: &["UPDATE"],
    }],
    marked: None,
    rendered: None,
    begins: concat!(rolls!(), " || ", relabels!()),
    name: "object.metadata.name",
    labels: "[object.metadata, oldObject.metadata]",
    holds: concat!(rolls!(), " || ", leaves!()),
    adds: "'; send it again then'",
    // A cluster that manages others has them in namespaces of any name.
    system: SystemNamespaces::Held,
    nudge: Nudge::None(
        "nothing waits: who was refused sends the change again, as the topology controller of Cluster API and GitOps controllers do by themselves",
    ),
    not_held: &[
        "Scaling, by hand or by the subresource `scale`.",
        "Healing: machines that a MachineHealthCheck or somebody marked are replaced.",
        "A rollout that has begun: it ends, one machine after the other, whatever the window does. Taking it back is a change, and is held.",
        "The first machines of a new control plane.",
        "Machines whose certificates are about to expire (`rolloutBefore`): a control plane without certificates would be worse. Asking for more days than before is a rollout, and is held.",
        "The instant that `rolloutAfter` names: the write is judged, and its controller acts when that instant comes.",
        "Labels, time limits of drains and whatever else is changed on machines in place.",
        "Workers of the same cluster: hold `MachineDeployments`. With a topology both follow `spec.topology.version` of the Cluster: hold `ClusterTopologies`, or its controller is refused here, and tries again.",
        "Control planes of other providers, such as those of hosted clusters, and Machines that people make or delete themselves.",
        "Some changes of `kubeadmConfigSpec` that replace no machine are held with the others.",
        "A change that only takes fields away, and whose sender forges an entry in `managedFields` dated inside a window: it leaves no stamp of the \
         server. It shows as an entry from the future.",
        "A change by somebody who first plants an entry of their own manager in `managedFields`, dated the second in which they will write, and then \
         forges another dated inside a window.",
    ],
    tried: "the writes that people and the topology controller of Cluster API 1.x send, read in its source and played; not yet with its controllers",
    targets: Some(Targets {
        kind: &kinds::KUBEADM_CONTROL_PLANE,
        read: SeenTarget::labelled,
        made: None,
        waits: Waits::Never,
    }),
    gated: None,
};
