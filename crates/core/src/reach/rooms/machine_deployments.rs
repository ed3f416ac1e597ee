//! How are rollouts of `MachineDeployments` held, by themselves or below a `NodePool`? (HOST-3)
//!
//! By their steps: the new `MachineSet`, and each later write that moves machines from one set to another. A step is told from scaling by
//! what the controller notes on each set: who scales changes how many are wanted, and a rollout moves machines while that stays. So scaling in
//! and out, and the replacement of a machine that failed, go on while a rollout is held, and a hold adds no machine: `spec.paused` would.
//!
//! A refused controller backs off and says nothing of it in a status, so at an opening the `MachineDeployment` is touched, once.

use api::{
    kinds,
    reach::{PendingChange, What},
};
use serde_json::Value;

use super::{
    super::target::{SeenTarget, Tells},
    Nudge, Room, SystemNamespaces, Targets, Waits, Write,
};

pub(super) const ROOM: Room = Room {
    what: What::MachineDeployments,
    slug: "machinedeployments",
    held: "a rollout: the new MachineSet of a MachineDeployment, and each step that moves machines from one set to another",
    writes: &[Write {
        group: "cluster.x-k8s.io",
        resources: &["machinesets"],
        operations: &["CREATE", "UPDATE"],
    }],
    marked: None,
    begins: "has(object.metadata.ownerReferences) && object.metadata.ownerReferences.exists(owner, owner.kind == 'MachineDeployment' && has(owner.controller) && owner.controller) && \
             (oldObject == null ? \
             has(object.metadata.annotations) && 'machinedeployment.clusters.x-k8s.io/revision' in object.metadata.annotations && \
             object.metadata.annotations['machinedeployment.clusters.x-k8s.io/revision'] != '1' : \
             (has(object.spec.replicas) ? object.spec.replicas : 0) != (has(oldObject.spec.replicas) ? oldObject.spec.replicas : 0) && \
             (has(object.metadata.annotations) && 'machinedeployment.clusters.x-k8s.io/desired-replicas' in object.metadata.annotations ? \
             object.metadata.annotations['machinedeployment.clusters.x-k8s.io/desired-replicas'] : '') == \
             (has(oldObject.metadata.annotations) && 'machinedeployment.clusters.x-k8s.io/desired-replicas' in oldObject.metadata.annotations ? \
             oldObject.metadata.annotations['machinedeployment.clusters.x-k8s.io/desired-replicas'] : ''))",
    name: "object.metadata.ownerReferences.filter(owner, owner.kind == 'MachineDeployment')[0].name",
    labels: "[object.metadata] + (oldObject == null ? [] : [oldObject.metadata])",
    holds: "true",
    adds: "''",
    // A cluster that hosts others has them in namespaces of any name.
    system: SystemNamespaces::Held,
    nudge: Nudge::Touch { group: "cluster.x-k8s.io", resource: "machinedeployments", asks: None },
    not_held: &[
        "Scaling, by hand or by an autoscaler, in the middle of a rollout too: what is added has the newest template, what goes is the oldest first.",
        "Healing: a machine that failed or was deleted comes back as its set makes it.",
        "The first MachineSet of a MachineDeployment.",
        "The machine that is under way: its set was told before, and it ends.",
        "MachineSets that no MachineDeployment owns, and Machines that people make or delete themselves.",
        "The subresource `scale` of a MachineSet: it carries no stamp.",
        "While the first step is held scaling waits too, because the controller creates the new MachineSet before anything else. Below a NodePool \
         nothing is handed over outside a window, so that this does not happen.",
    ],
    tried: "the writes of Cluster API 1.13.4, played",
    rendered: None,
    gated: None,
    targets: Some(Targets {
        kind: &kinds::MACHINE_DEPLOYMENT,
        read: deployment,
        made: None,
        waits: Waits::Told,
    }),
};

/// A `MachineDeployment` with machines that do not have its template waits, or is under way: its controller tells no more.
fn deployment(document: &Value) -> SeenTarget {
    let labels = document.pointer("/metadata/labels");
    SeenTarget::new(document, labels, Tells::Quietly(waits(document).map(Box::new)))
}

fn waits(document: &Value) -> Option<PendingChange> {
    let count = |path: &str| document.pointer(path).and_then(Value::as_i64);
    let text = |path: &str| document.pointer(path).and_then(Value::as_str);
    let updated =
        ["/status/updatedReplicas", "/status/upToDateReplicas"].iter().find_map(|path| count(path));
    let behind = count("/status/replicas")? - updated.unwrap_or_default();
    (behind > 0).then(|| PendingChange {
        kind: kinds::MACHINE_DEPLOYMENT.name.to_owned(),
        namespace: text("/metadata/namespace").map(str::to_owned),
        name: text("/metadata/name").unwrap_or_default().to_owned(),
        since: None,
        change: Some(match text("/spec/template/spec/version") {
            Some(version) => format!("{behind} machines to {version}"),
            None => format!("{behind} machines to the newest template"),
        }),
    })
}
