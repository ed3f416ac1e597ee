//! How are rollouts of Deployments held?
//!
//! By their new `ReplicaSet`: the deployment controller creates it before it takes any pod away, so that refusing it holds a rolling update
//! whole, while the sets that are there go on to be scaled and healed (RCH-3).
//!
//! Not with strategy `Recreate`: there the controller first takes every pod away and then creates the set, so refusing the set would leave
//! nothing running. So the set of a `Recreate` is let pass, however long its old pods took to end (RCH-5), and the wish is judged instead: the
//! change of the template, the change to `Recreate` while a template waits, and the end of a pause. Of a Deployment without pods nobody can
//! tell whether a template waits. A set tells by itself that it is one:
//! its controller notes how many pods are wanted and how many there may be at most, and only with nothing running, and no more allowed than
//! wanted, does it create the set with all of them.

use api::reach::{PendingChange, What};
use serde_json::Value;

use super::{Documents, Nudge, Room, SystemNamespaces, Write};

pub(super) const ROOM: Room = Room {
    what: What::Deployments,
    slug: "deployments",
    held: "a rollout: the new ReplicaSet of a Deployment",
    writes: &[
        Write { group: "apps", resources: &["replicasets"], operations: &["CREATE"] },
        Write { group: "apps", resources: &["deployments"], operations: &["UPDATE"] },
    ],
    marked: None,
    begins: "request.resource.resource == 'replicasets' ? \
             has(object.metadata.ownerReferences) && object.metadata.ownerReferences.exists(owner, owner.kind == 'Deployment' && has(owner.controller) && owner.controller) && \
             !(has(object.metadata.annotations) && 'deployment.kubernetes.io/revision' in object.metadata.annotations && \
             (object.metadata.annotations['deployment.kubernetes.io/revision'] == '1' || \
             ('deployment.kubernetes.io/desired-replicas' in object.metadata.annotations && 'deployment.kubernetes.io/max-replicas' in object.metadata.annotations && \
             object.metadata.annotations['deployment.kubernetes.io/desired-replicas'] != '0' && \
             object.metadata.annotations['deployment.kubernetes.io/desired-replicas'] == object.metadata.annotations['deployment.kubernetes.io/max-replicas'] && \
             object.metadata.annotations['deployment.kubernetes.io/desired-replicas'] == string(object.spec.replicas)))) : \
             object.spec.template != oldObject.spec.template || \
             (((object.spec.strategy.type == 'Recreate' && oldObject.spec.strategy.type != 'Recreate') || \
             (has(oldObject.spec.paused) && oldObject.spec.paused && !(has(object.spec.paused) && object.spec.paused))) && \
             !(oldObject.spec.replicas > 0 && has(oldObject.status) && has(oldObject.status.observedGeneration) && oldObject.status.observedGeneration == oldObject.metadata.generation && \
             (has(oldObject.status.updatedReplicas) ? oldObject.status.updatedReplicas : 0) == oldObject.spec.replicas))",
    name: "request.resource.resource == 'replicasets' ? object.metadata.ownerReferences.filter(owner, owner.kind == 'Deployment')[0].name : object.metadata.name",
    // RCH-12: by the labels of its pods. A change that takes the label away by which a Deployment is held is a change of what is held.
    labels: "[object.spec.template.metadata] + (oldObject == null ? [] : [oldObject.spec.template.metadata])",
    holds: "request.resource.resource == 'replicasets' ? {way} == 'Queue' : \
            {way} == 'Refuse' || object.spec.strategy.type == 'Recreate' || \
            (has(hold.selector) && !({selects:object.spec.template.metadata}) && !(has(hold.names) && object.metadata.name in hold.names))",
    adds: "request.resource.resource == 'replicasets' ? '' : \
           object.spec.strategy.type == 'Recreate' ? '; with strategy Recreate a change cannot wait, because all pods would be gone meanwhile: send it again then' : \
           '; send it again then'",
    system: SystemNamespaces::LeftAlone,
    nudge: Nudge::Touch {
        group: "apps",
        resource: "deployments",
        annotation: "changemanagement.openshift.io/nudged-at",
    },
    not_held: &[
        "Scaling, by hand, by the subresource `scale` or by an autoscaler.",
        "Healing: pods that were lost, evicted or deleted come back as they were.",
        "The first rollout of a new Deployment, so also one that was deleted and created again.",
        "A return to a revision whose ReplicaSet is still there, as `kubectl rollout undo` does; with `Refuse` or strategy `Recreate` it is held.",
        "A rollout that has begun: it ends, whatever the window does.",
        "ReplicaSets and pods that people make, change or delete themselves.",
        "A change that is refused as a wish, that only takes fields away, and whose sender forges an entry in `managedFields` dated inside a window: it \
         leaves no stamp of the server. It shows as an entry from the future.",
        "A change that is refused as a wish, by somebody who first plants an entry of their own manager in `managedFields`, dated the second in \
         which they will write, and then forges another dated inside a window.",
        "With strategy `Recreate` the change of the template is refused instead of queued, because a held rollout would leave no pod running. So is a \
         change to `Recreate`, and the end of a pause, while a template waits.",
        "A Deployment at zero replicas whose template waits gets no pod when it is scaled up before the gate opens; take the change back to have \
         the pods of before. Without surge (`maxSurge: 0`) it starts with the new template.",
    ],
    tried: "kube-controller-manager 1.36",
    pending,
};

/// A template that no `ReplicaSet` of the Deployment has waits, unless the Deployment is paused or was never rolled out.
fn pending(documents: &Documents<'_>) -> Option<PendingChange> {
    let Documents { target, made } = documents;
    let text = |path: &str| target.pointer(path).and_then(Value::as_str).map(str::to_owned);
    if target.pointer("/spec/paused").and_then(Value::as_bool) == Some(true) {
        return None;
    }
    let uid = target.pointer("/metadata/uid")?;
    let owned: Vec<&Value> = made.iter().filter(|set| is_owned(set, uid)).collect();
    let wanted = target.pointer("/spec/template")?;
    if owned.iter().any(|set| template_of(set).as_ref() == Some(wanted)) {
        return None;
    }
    let newest = owned.iter().max_by_key(|set| revision(set))?;
    Some(PendingChange {
        kind: "Deployment".to_owned(),
        namespace: text("/metadata/namespace"),
        name: text("/metadata/name")?,
        since: refused_since(target),
        change: Some(change(newest.pointer("/spec/template").unwrap_or(&Value::Null), wanted)),
    })
}

fn is_owned(set: &Value, uid: &Value) -> bool {
    let owners = set.pointer("/metadata/ownerReferences").and_then(Value::as_array);
    owners.into_iter().flatten().any(|owner| owner["controller"] == true && owner["uid"] == *uid)
}

/// The template as the Deployment had it: its controller adds a label.
fn template_of(set: &Value) -> Option<Value> {
    let mut template = set.pointer("/spec/template")?.clone();
    if let Some(labels) = template.pointer_mut("/metadata/labels").and_then(Value::as_object_mut) {
        labels.remove("pod-template-hash");
    }
    Some(template)
}

fn revision(set: &Value) -> u64 {
    let noted = set.pointer("/metadata/annotations/deployment.kubernetes.io~1revision");
    noted.and_then(Value::as_str).and_then(|text| text.parse().ok()).unwrap_or_default()
}

/// Since when its controller says that it could not create the set.
fn refused_since(deployment: &Value) -> Option<String> {
    let conditions = deployment.pointer("/status/conditions").and_then(Value::as_array);
    let refused = conditions.into_iter().flatten().find(|condition| {
        condition["type"] == "Progressing" && condition["reason"] == "ReplicaSetCreateError"
    })?;
    refused["lastTransitionTime"].as_str().map(str::to_owned)
}

/// Which images change, or that something else does.
fn change(from: &Value, to: &Value) -> String {
    let images = |template: &Value| -> Vec<(String, String)> {
        let parts = ["/spec/initContainers", "/spec/containers"];
        let containers = parts.iter().filter_map(|part| template.pointer(part)?.as_array());
        let image = |container: &Value| {
            let text = |key: &str| container[key].as_str().unwrap_or_default().to_owned();
            (text("name"), text("image"))
        };
        containers.flatten().map(image).collect()
    };
    let before = images(from);
    let differs = |(name, image): &(String, String)| {
        let old = before.iter().find(|(known, _)| known == name).map(|(_, image)| image.as_str());
        (old != Some(image)).then(|| format!("{} -> {image}", old.unwrap_or("none")))
    };
    let changed: Vec<String> = images(to).iter().filter_map(differs).collect();
    if changed.is_empty() {
        return "the pod template, with the same images".to_owned();
    }
    changed.join(", ").chars().take(1024).collect()
}
