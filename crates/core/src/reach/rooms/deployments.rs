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

use api::{kinds, reach::What};
use serde_json::Value;

use super::{
    super::target::{Begins, SeenTarget, Tells, Template},
    Nudge, Room, SystemNamespaces, Targets, Waits, Write,
};

pub(super) const ROOM: Room = Room {
    what: What::Deployments,
    slug: "deployments",
    held: "a rollout: the new ReplicaSet of a Deployment",
    writes: &[
        Write { group: "apps", resources: &["replicasets"], operations: &["CREATE"] },
        Write { group: "apps", resources: &["deployments"], operations: &["UPDATE"] },
    ],
    marked: None,
    rendered: None,
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
    nudge: Nudge::Touch { group: "apps", resource: "deployments", asks: None },
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
    targets: Some(Targets {
        kind: &kinds::DEPLOYMENT,
        read: deployment,
        made: Some((&kinds::REPLICA_SET, set)),
        waits: Waits::Told,
    }),
    gated: None,
};

/// A template that no `ReplicaSet` of the Deployment has waits, unless the Deployment is paused or was never rolled out.
fn deployment(document: &Value) -> SeenTarget {
    let template = document.pointer("/spec/template").unwrap_or(&Value::Null);
    let paused = document.pointer("/spec/paused").and_then(Value::as_bool) == Some(true);
    let tells = Tells::Wants {
        template: Template::new(template),
        begins: if paused { Begins::WhenResumed } else { Begins::WhenPermitted },
        since: refused_since(document),
    };
    SeenTarget::new(document, template.pointer("/metadata/labels"), tells)
}

/// The template as the Deployment had it: its controller adds a label.
fn set(document: &Value) -> SeenTarget {
    let mut template = document.pointer("/spec/template").cloned().unwrap_or_default();
    if let Some(labels) = template.pointer_mut("/metadata/labels").and_then(Value::as_object_mut) {
        labels.remove("pod-template-hash");
    }
    let owners = document.pointer("/metadata/ownerReferences").and_then(Value::as_array);
    let mut owners = owners.into_iter().flatten();
    let owner = owners.find(|owner| owner["controller"] == true && owner["kind"] == "Deployment");
    let owner = owner.and_then(|owner| owner["uid"].as_str()).unwrap_or_default().to_owned();
    let noted = document.pointer("/metadata/annotations/deployment.kubernetes.io~1revision");
    let revision = noted.and_then(Value::as_str).and_then(|text| text.parse().ok());
    let (template, revision) = (Template::new(&template), revision.unwrap_or_default());
    SeenTarget::new(document, None, Tells::Made { owner, template, revision })
}

/// Since when its controller says that it could not create the set.
fn refused_since(deployment: &Value) -> Option<String> {
    let conditions = deployment.pointer("/status/conditions").and_then(Value::as_array);
    let refused = conditions.into_iter().flatten().find(|condition| {
        condition["type"] == "Progressing" && condition["reason"] == "ReplicaSetCreateError"
    })?;
    refused["lastTransitionTime"].as_str().map(str::to_owned)
}
