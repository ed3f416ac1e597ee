//! How are clusters held that a topology of Cluster API describes?
//!
//! By the wish: a change of `spec.topology` of a `Cluster` after which its controller rolls out machines, which is another version, another class or
//! other variables. The topology controller writes the control plane first and the workers one after the other, and each of these writes also scales
//! and heals, so nothing but the wish tells the two apart. Whoever holds `KubeadmControlPlanes` and `MachineDeployments` as well holds what other
//! objects bring about, such as another `ClusterClass`.
//!
//! Both versions of the kind are read: the class is a name in the older one and a reference in the newer.

use api::{kinds, reach::What};

use super::{
    super::target::SeenTarget,
    Nudge, Room, SystemNamespaces, Targets, Waits, Write,
    leaving::{leaves, relabels},
};

/// A field of the topology at a place, as a list of one or none.
macro_rules! part {
    ($at:literal, $field:literal) => {
        concat!(
            "(has(",
            $at,
            ".spec) && has(",
            $at,
            ".spec.topology) && has(",
            $at,
            ".spec.topology.",
            $field,
            ") ? [",
            $at,
            ".spec.topology.",
            $field,
            "] : [])"
        )
    };
}

/// Whether a field of the topology differs.
macro_rules! differs {
    ($field:literal) => {
        concat!(part!("object", $field), " != ", part!("oldObject", $field))
    };
}

/// The same of a part of the control plane.
macro_rules! plane_differs {
    ($field:literal) => {
        concat!(
            part!("object", "controlPlane"),
            ".filter(it, has(it.",
            $field,
            ")).map(it, it.",
            $field,
            ") != ",
            part!("oldObject", "controlPlane"),
            ".filter(it, has(it.",
            $field,
            ")).map(it, it.",
            $field,
            ")"
        )
    };
}

/// Sets of workers at a place.
macro_rules! workers {
    ($at:literal, $field:literal) => {
        concat!(
            "(has(",
            $at,
            ".spec) && has(",
            $at,
            ".spec.topology) && has(",
            $at,
            ".spec.topology.workers) && has(",
            $at,
            ".spec.topology.workers.",
            $field,
            ") ? ",
            $at,
            ".spec.topology.workers.",
            $field,
            " : [])"
        )
    };
}

/// Whether a set of workers that stays has another class or other variables, is to be elsewhere, or is told when to roll out.
macro_rules! workers_differ {
    ($field:literal) => {
        concat!(
            workers!("object", $field),
            ".exists(set, ",
            workers!("oldObject", $field),
            ".exists(old, old.name == set.name && ((has(set.class) ? set.class : '') != (has(old.class) ? old.class : '') || \
             (has(set.variables) ? [set.variables] : []) != (has(old.variables) ? [old.variables] : []) || \
             (has(set.failureDomain) ? [set.failureDomain] : []) != (has(old.failureDomain) ? [old.failureDomain] : []) || \
             (has(set.failureDomains) ? [set.failureDomains] : []) != (has(old.failureDomains) ? [old.failureDomains] : []) || \
             (has(set.rollout) ? [set.rollout] : []) != (has(old.rollout) ? [old.rollout] : []))))"
        )
    };
}

/// Whether the write has machines replaced. A topology that is only taken away replaces none.
macro_rules! rolls {
    () => {
        concat!(
            "(has(object.spec) && has(object.spec.topology) && (",
            differs!("version"),
            " || ",
            differs!("class"),
            " || ",
            differs!("classNamespace"),
            " || ",
            differs!("classRef"),
            " || ",
            differs!("variables"),
            " || ",
            plane_differs!("variables"),
            " || ",
            plane_differs!("rollout"),
            " || ",
            workers_differ!("machineDeployments"),
            " || ",
            workers_differ!("machinePools"),
            "))"
        )
    };
}

pub(super) const ROOM: Room = Room {
    what: What::ClusterTopologies,
    slug: "cluster-topologies",
    held: "an upgrade or another rollout of a cluster by its topology: `spec.topology.version` of a Cluster of Cluster API, its class and its variables, those of the control plane and of each set of workers included, and when or where these are to roll out (`rollout`, `failureDomain`)",
    // Its status carries no version, but the labels by which it is chosen.
    writes: &[Write {
        group: "cluster.x-k8s.io",
        resources: &["clusters", "clusters/status"],
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
        "nothing waits: who was refused sends the change again, as GitOps controllers do by themselves",
    ),
    not_held: &[
        "Scaling: `replicas` of the control plane and of workers, and autoscalers.",
        "Sets of workers that are added or taken away.",
        "Healing, and whatever else the topology controller does to keep what was asked for.",
        "An upgrade that has begun: control plane and workers follow one after the other, whatever the window does. Hold `MachineDeployments` to have each step of \
         the workers wait.",
        "The end of what people paused: `spec.paused`, the annotations `cluster.x-k8s.io/paused`, `topology.cluster.x-k8s.io/defer-upgrade` and \
         `topology.cluster.x-k8s.io/hold-upgrade-sequence`. What was written before, in a window, begins then.",
        "A change of a ClusterClass or of the templates that it names, which rolls out every cluster of that class: hold `KubeadmControlPlanes` and \
         `MachineDeployments` too, so that its controller is refused.",
        "The first machines of a new cluster, and the machines of a cluster without a topology.",
        "Labels, annotations, time limits of drains and health checks, which are changed on machines in place.",
        "Some variables replace no machine, and are held with the others.",
        "What a ClusterClass makes of the rest of a Cluster: its `clusterNetwork`, labels and annotations roll machines out only where a patch of the class reads them. Hold \
         `KubeadmControlPlanes` and `MachineDeployments` too.",
        "The deletion of a cluster, which carries no stamp.",
        "A change that only takes fields away, and whose sender forges an entry in `managedFields` dated inside a window: it leaves no stamp of the \
         server. It shows as an entry from the future.",
        "A change by somebody who first plants an entry of their own manager in `managedFields`, dated the second in which they will write, and then \
         forges another dated inside a window.",
    ],
    tried: "the writes that people and GitOps controllers send, in both versions of Cluster API 1.x, played; not yet with its topology controller",
    targets: Some(Targets {
        kind: &kinds::CLUSTER,
        read: SeenTarget::labelled,
        made: None,
        waits: Waits::Never,
    }),
    gated: None,
};
