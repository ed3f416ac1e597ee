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
        "Healing: a machine that failed or was deleted comes back as its set makes it. In the middle of a rollout Cluster API itself does not replace \
         machines of older sets that a MachineHealthCheck finds unhealthy: it leaves them to the rollout, and so to the next window. Whoever deletes \
         such a machine gets another.",
        "The first MachineSet of a MachineDeployment.",
        "The machine that is under way: its set was told before, and it ends.",
        "MachineSets that no MachineDeployment owns, and Machines that people make or delete themselves.",
        "The subresource `scale` of a MachineSet: it carries no stamp.",
        "While the first step is held scaling waits too, because the controller creates the new MachineSet before anything else. Below a NodePool \
         nothing is handed over outside a window, so that this does not happen.",
    ],
    tried: "Cluster API 1.13.4, its core built from its modules, with the objects that HyperShift makes: rollouts, scaling, healing",
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

/// Cluster API counts the machines that have the template by looking at each, since 1.9, and a condition tells when that is not all of them. What it
/// counted before, by its newest set, stays as it was while the creation of that set is refused.
fn waits(document: &Value) -> Option<PendingChange> {
    let count = |path: &str| document.pointer(path).and_then(Value::as_i64);
    let text = |path: &str| document.pointer(path).and_then(Value::as_str);
    let conditions = ["/status/v1beta2/conditions", "/status/conditions"]
        .iter()
        .filter_map(|path| document.pointer(path)?.as_array());
    let told = conditions.flatten().find(|one| one["type"] == "MachinesUpToDate");
    if told.is_some_and(|told| told["status"] != "False") {
        return None;
    }
    let updated =
        ["/status/v1beta2/upToDateReplicas", "/status/upToDateReplicas", "/status/updatedReplicas"]
            .iter()
            .find_map(|path| count(path));
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn machines_that_lack_the_template_wait_by_whatever_count_is_told() {
        let check = |status: Value, expected: Option<&str>| {
            let document = json!({"metadata": {"name": "workers"},
                "spec": {"template": {"spec": {"version": "4.20.7"}}}, "status": status});
            let waits = waits(&document).and_then(|waits| waits.change);
            assert_eq!(waits.as_deref(), expected, "{document}");
        };
        let up_to_date = |status: &str| json!([{"type": "MachinesUpToDate", "status": status}]);
        check(json!({}), None);
        check(json!({"replicas": 3, "updatedReplicas": 3}), None);
        check(json!({"replicas": 3, "updatedReplicas": 1}), Some("2 machines to 4.20.7"));
        check(json!({"replicas": 3}), Some("3 machines to 4.20.7"));
        // Its newest set is refused, and the older count knows nothing of it.
        let refused = json!({"replicas": 3, "updatedReplicas": 3,
            "v1beta2": {"upToDateReplicas": 0, "conditions": up_to_date("False")}});
        check(refused, Some("3 machines to 4.20.7"));
        check(json!({"replicas": 3, "upToDateReplicas": 2}), Some("1 machines to 4.20.7"));
        // A machine that was only just made is not counted yet, and nothing waits.
        let scaled = json!({"replicas": 4, "updatedReplicas": 4,
            "v1beta2": {"upToDateReplicas": 3, "conditions": up_to_date("True")}});
        check(scaled, None);
    }
}
