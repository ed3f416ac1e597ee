//! What do the controllers of Deployments and `ReplicaSets` do next? Decided from what the cluster holds, and from nothing else.
//!
//! The rolling update as kube-controller-manager has it: its first write creates the set of the new template, with the number of the
//! revision, the counts and the label that tells its pods from those of others. Then the new set grows up to what may be there and the old
//! ones shrink down to what must be there, the oldest first. It is a model: pods that are not ready are no reason to give up, and whoever
//! scales in the middle of a rollout gets no shares. What it is to be compared with is kube-controller-manager itself.

use std::collections::BTreeSet;

use runtime::backoff::spread;
use schedule::Instant;
use serde_json::{Value, json};

use crate::{
    counts::{count, limits},
    machine::condition,
    mirror::text,
};

/// Which revision of its Deployment a set is.
pub const REVISION: &str = "deployment.kubernetes.io/revision";
/// How many pods were wanted when its set was last scaled.
pub const DESIRED: &str = "deployment.kubernetes.io/desired-replicas";
/// How many there might be then.
pub const MOST: &str = "deployment.kubernetes.io/max-replicas";
/// What tells the pods of one set from those of another.
pub const HASH: &str = "pod-template-hash";
/// What a set does not take over from its Deployment.
const NOT_TAKEN_OVER: &[&str] =
    &[REVISION, DESIRED, MOST, "kubectl.kubernetes.io/last-applied-configuration"];

/// One write.
#[derive(Clone, Debug, PartialEq)]
pub enum Deed {
    /// The set of a new template: the first write of a rollout.
    CreateSet(Value),
    /// A set gets so many pods, or another revision, as a merge patch under the version that was seen.
    ChangeSet(String, Value),
    /// A set that nobody would return to goes.
    DeleteSet(String),
    /// The Deployment says which revision it has.
    Note(Value),
    /// A new pod.
    CreatePod(Value),
    /// A pod goes, and its identity.
    DeletePod(String, String),
    /// What is told of a set.
    SetStatus(String, Value),
}

/// What it looks at: a Deployment, its sets and their pods.
#[derive(Clone, Copy, Debug)]
pub struct Seen<'a> {
    /// The Deployment.
    pub deployment: &'a Value,
    /// Its sets.
    pub sets: &'a [Value],
    /// Their pods, also those that are about to go.
    pub pods: &'a [Value],
}

impl<'a> Seen<'a> {
    /// The set that has the template of the Deployment, and the others, the oldest first.
    fn split(self) -> (Option<&'a Value>, Vec<&'a Value>) {
        let mut others: Vec<&Value> = self.sets.iter().collect();
        others.sort_by_key(|set| revision(set));
        let wanted = &self.deployment["spec"]["template"];
        let new = others.iter().rposition(|set| template(set) == *wanted);
        (new.map(|at| others.remove(at)), others)
    }
}

/// The template as the Deployment had it: its controller adds a label.
fn template(set: &Value) -> Value {
    let mut template = set.pointer("/spec/template").cloned().unwrap_or_default();
    if let Some(labels) = template.pointer_mut("/metadata/labels").and_then(Value::as_object_mut) {
        labels.remove(HASH);
    }
    template
}

fn noted<'a>(object: &'a Value, key: &str) -> Option<&'a str> {
    object.pointer("/metadata/annotations")?.get(key)?.as_str()
}

fn revision(set: &Value) -> i64 {
    noted(set, REVISION).and_then(|text| text.parse().ok()).unwrap_or_default()
}

/// What the controller of Deployments does now: at most one step, then it looks again.
pub fn deployment(seen: Seen<'_>) -> Vec<Deed> {
    let (new, old) = seen.split();
    let recreates = text(seen.deployment, "/spec/strategy/type") == "Recreate";
    let wanted = count(seen.deployment, "/spec/replicas");
    let (surge, missing) = if recreates { (0, wanted) } else { limits(seen.deployment) };
    let counts = Counts { wanted, most: wanted + surge };
    if let Some(scaled) = scaled(seen, new, counts) {
        return vec![scaled];
    }
    if seen.deployment.pointer("/spec/paused") == Some(&Value::Bool(true)) {
        return Vec::new();
    }
    if recreates {
        let shrunk: Vec<Deed> = old.iter().filter_map(|set| change(set, 0, None, counts)).collect();
        let is_old = |pod: &&Value| new.is_none_or(|new| owner(pod) != text(new, "/metadata/uid"));
        if !shrunk.is_empty() || seen.pods.iter().any(|pod| is_old(&pod)) {
            return shrunk;
        }
    }
    let total: i64 = seen.sets.iter().map(|set| count(set, "/spec/replicas")).sum();
    let has = new.map_or(0, |set| count(set, "/spec/replicas"));
    let grown = wanted.min(has + (counts.most - total).max(0));
    let number = old.last().map_or(0, |set| revision(set)) + 1;
    let Some(new) = new else {
        return vec![Deed::CreateSet(set_of(seen.deployment, number, grown, counts))];
    };
    let number = number.max(revision(new));
    let mut deeds: Vec<Deed> = change(new, grown, Some(number), counts).into_iter().collect();
    if noted(seen.deployment, REVISION) != Some(&*number.to_string()) {
        let name = &seen.deployment["metadata"]["name"];
        deeds.push(Deed::Note(
            json!({"metadata": {"name": name, "annotations": {REVISION: number.to_string()}}}),
        ));
    }
    if deeds.is_empty() {
        deeds = shrunk(&old, new, total, wanted - missing, counts);
    }
    if deeds.is_empty() {
        deeds = forgotten(seen.deployment, &old);
    }
    deeds
}

/// How many pods are wanted, and how many there may be.
#[derive(Clone, Copy, Debug)]
struct Counts {
    wanted: i64,
    most: i64,
}

/// Scaling comes before rollouts, and goes on while one is held: the only set that runs gets what is wanted.
fn scaled(seen: Seen<'_>, new: Option<&Value>, counts: Counts) -> Option<Deed> {
    let mut running = seen.sets.iter().filter(|set| count(set, "/spec/replicas") > 0);
    let only = running.next().or(new)?;
    let rolls = running.next().is_some();
    let known = noted(only, DESIRED) == Some(&*counts.wanted.to_string());
    if rolls || known { None } else { change(only, counts.wanted, None, counts) }
}

/// Nothing if the set is as it should be.
fn change(set: &Value, replicas: i64, number: Option<i64>, counts: Counts) -> Option<Deed> {
    let mut notes = json!({DESIRED: counts.wanted.to_string(), MOST: counts.most.to_string()});
    if let Some(number) = number {
        notes[REVISION] = json!(number.to_string());
    }
    let is_noted = |(key, value): (&String, &Value)| noted(set, key) == value.as_str();
    let same = count(set, "/spec/replicas") == replicas
        && notes.as_object().into_iter().flatten().all(is_noted);
    (!same).then(|| {
        let change = json!({"metadata": {"resourceVersion": set["metadata"]["resourceVersion"],
            "annotations": notes}, "spec": {"replicas": replicas}});
        Deed::ChangeSet(text(set, "/metadata/name").to_owned(), change)
    })
}

/// The old sets give up what need not be there: first pods that serve nobody, then those that the new ones make up for.
fn shrunk(old: &[&Value], new: &Value, total: i64, least: i64, counts: Counts) -> Vec<Deed> {
    let available =
        |set: &Value| count(set, "/status/availableReplicas").min(count(set, "/spec/replicas"));
    let not_there = count(new, "/spec/replicas") - available(new);
    let mut idle = total - least - not_there;
    let mut spare = old.iter().map(|set| available(set)).sum::<i64>() + available(new) - least;
    let mut deeds = Vec::new();
    for set in old {
        let has = count(set, "/spec/replicas");
        let unready = (has - available(set)).min(idle.max(0));
        idle -= unready;
        let ready = available(set).min(spare.max(0)).min(idle.max(0));
        idle -= ready;
        spare -= ready;
        if unready + ready > 0 {
            deeds.extend(change(set, has - unready - ready, None, counts));
        }
    }
    deeds
}

/// Sets without pods, beyond those that are kept to return to.
fn forgotten(deployment: &Value, old: &[&Value]) -> Vec<Deed> {
    let limit = deployment.pointer("/spec/revisionHistoryLimit").and_then(Value::as_u64);
    let kept = limit.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(usize::MAX);
    let is_idle =
        |set: &&&Value| count(set, "/spec/replicas") + count(set, "/status/replicas") == 0;
    let idle: Vec<&&Value> = old.iter().filter(is_idle).collect();
    let name = |set: &&&Value| Deed::DeleteSet(text(set, "/metadata/name").to_owned());
    idle.iter().take(idle.len().saturating_sub(kept)).map(name).collect()
}

/// The set of a template, as it is created.
fn set_of(deployment: &Value, number: i64, replicas: i64, counts: Counts) -> Value {
    let name = text(deployment, "/metadata/name");
    let hash = hash(&deployment["spec"]["template"].to_string());
    let taken_over = deployment.pointer("/metadata/annotations").and_then(Value::as_object);
    let mut annotations = json!({});
    for (key, value) in taken_over.into_iter().flatten() {
        if !NOT_TAKEN_OVER.contains(&&**key) {
            annotations[key] = value.clone();
        }
    }
    annotations[REVISION] = json!(number.to_string());
    annotations[DESIRED] = json!(counts.wanted.to_string());
    annotations[MOST] = json!(counts.most.to_string());
    let mut template = deployment["spec"]["template"].clone();
    template["metadata"]["labels"][HASH] = json!(hash);
    let mut selector = deployment["spec"]["selector"].clone();
    selector["matchLabels"][HASH] = json!(hash);
    json!({"apiVersion": "apps/v1", "kind": "ReplicaSet",
        "metadata": {"name": format!("{name}-{hash}"), "namespace": deployment["metadata"]["namespace"],
            "labels": template["metadata"]["labels"], "annotations": annotations,
            "ownerReferences": [{"apiVersion": "apps/v1", "kind": "Deployment", "name": name,
                "uid": deployment["metadata"]["uid"], "controller": true, "blockOwnerDeletion": true}]},
        "spec": {"replicas": replicas, "selector": selector, "template": template}})
}

/// Ten letters and digits that look as if they were drawn, and are the same for the same text: none of them makes a word.
pub(crate) fn hash(text: &str) -> String {
    const LETTERS: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
    let mut left = spread(text.as_bytes());
    let letter = |_| {
        let letter = LETTERS[(left % LETTERS.len() as u64) as usize];
        left /= LETTERS.len() as u64;
        char::from(letter)
    };
    (0..10).map(letter).collect()
}

/// What the controller of `ReplicaSets` does: pods are made, and go, those that are not ready first. Which are made, and which go, follows from
/// what is there: whoever looks again before the news of it arrived does the same once more, and nothing comes of that.
pub fn set(set: &Value, pods: &[Value]) -> Vec<Deed> {
    let name = text(set, "/metadata/name");
    let own: Vec<&Value> =
        pods.iter().filter(|pod| owner(pod) == text(set, "/metadata/uid")).collect();
    let taken: BTreeSet<&str> = own.iter().map(|pod| text(pod, "/metadata/name")).collect();
    let is_active = |pod: &&&Value| {
        pod.pointer("/metadata/deletionTimestamp").is_none()
            && !matches!(text(pod, "/status/phase"), "Succeeded" | "Failed")
    };
    let mut active: Vec<&&Value> = own.iter().filter(is_active).collect();
    let (wanted, has) = (count(set, "/spec/replicas"), active.len());
    let wanted = usize::try_from(wanted).unwrap_or_default();
    let free = (0..).map(|place| format!("{name}-{}", &hash(&format!("{name} {place}"))[..5]));
    let free = free.filter(|free| !taken.contains(&**free)).take(wanted.saturating_sub(has));
    let mut deeds: Vec<Deed> = free.map(|free| Deed::CreatePod(pod_of(set, &free))).collect();
    let ready = |pod: &Value| condition(pod) == Some("True");
    active.sort_by_key(|pod| (ready(pod), text(pod, "/metadata/name").to_owned()));
    deeds.extend(active.iter().take(has.saturating_sub(wanted)).map(|pod| {
        let part = |pointer: &str| text(pod, pointer).to_owned();
        Deed::DeletePod(part("/metadata/name"), part("/metadata/uid"))
    }));
    let there = active.iter().filter(|pod| ready(pod)).count();
    let status = json!({"replicas": has, "fullyLabeledReplicas": has, "readyReplicas": there,
        "availableReplicas": there, "observedGeneration": set["metadata"]["generation"]});
    if !is_told(set, &status) {
        deeds.push(Deed::SetStatus(name.to_owned(), json!({"status": status})));
    }
    deeds
}

/// Who looks after a pod, or after a set, by identity.
pub(crate) fn owner(object: &Value) -> &str {
    let owners = object.pointer("/metadata/ownerReferences").and_then(Value::as_array);
    let mut owners = owners.into_iter().flatten();
    let owner = owners.find(|owner| owner.get("controller") == Some(&Value::Bool(true)));
    owner.map(|owner| text(owner, "/uid")).unwrap_or_default()
}

fn pod_of(set: &Value, name: &str) -> Value {
    let mut metadata = set.pointer("/spec/template/metadata").cloned().unwrap_or_default();
    metadata["name"] = json!(name);
    metadata["namespace"] = set["metadata"]["namespace"].clone();
    metadata["ownerReferences"] = json!([{"apiVersion": "apps/v1", "kind": "ReplicaSet",
        "name": set["metadata"]["name"], "uid": set["metadata"]["uid"],
        "controller": true, "blockOwnerDeletion": true}]);
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata,
        "spec": set.pointer("/spec/template/spec")})
}

fn is_told(object: &Value, status: &Value) -> bool {
    let known = object.get("status").unwrap_or(&Value::Null);
    status.as_object().into_iter().flatten().all(|(key, value)| known.get(key) == Some(value))
}

/// What is told of a Deployment; nothing if it reads so. `refused` is what the server said to the set that could not be created.
pub fn status(seen: Seen<'_>, refused: Option<&str>, now: Instant) -> Option<Value> {
    let (new, _) = seen.split();
    let sum = |pointer: &str| seen.sets.iter().map(|set| count(set, pointer)).sum::<i64>();
    let wanted = count(seen.deployment, "/spec/replicas");
    let (replicas, available) = (sum("/status/replicas"), sum("/status/availableReplicas"));
    let updated = new.map_or(0, |set| count(set, "/status/replicas"));
    let (_, missing) = limits(seen.deployment);
    let has_least = available >= wanted - missing;
    let said = |kind: &str, (status, reason, message): (bool, &str, String)| {
        told(seen.deployment, kind, status, reason, &message, now)
    };
    let availability = if has_least {
        (true, "MinimumReplicasAvailable", "Deployment has minimum availability.".to_owned())
    } else {
        let message = "Deployment does not have minimum availability.";
        (false, "MinimumReplicasUnavailable", message.to_owned())
    };
    let progress = match (new, refused) {
        (None, Some(refused)) => Some((false, "ReplicaSetCreateError", refused.to_owned())),
        (None, None) => None,
        (Some(new), _) => {
            let name = text(new, "/metadata/name");
            let complete = updated == wanted && replicas == wanted && available == wanted;
            Some(if complete {
                let message = format!("ReplicaSet \"{name}\" has successfully progressed.");
                (true, "NewReplicaSetAvailable", message)
            } else {
                let message = format!("ReplicaSet \"{name}\" is progressing.");
                (true, "ReplicaSetUpdated", message)
            })
        }
    };
    let before = known(seen.deployment, "Progressing").cloned();
    let progress = progress.map(|progress| said("Progressing", progress)).or(before);
    let conditions: Vec<Value> =
        [Some(said("Available", availability)), progress].into_iter().flatten().collect();
    let status = json!({"observedGeneration": seen.deployment["metadata"]["generation"],
        "replicas": replicas, "updatedReplicas": updated, "readyReplicas": sum("/status/readyReplicas"),
        "availableReplicas": available, "unavailableReplicas": (wanted.max(replicas) - available).max(0),
        "conditions": conditions});
    (!is_told(seen.deployment, &status)).then(|| json!({"status": status}))
}

fn known<'a>(deployment: &'a Value, kind: &str) -> Option<&'a Value> {
    let conditions = deployment.pointer("/status/conditions").and_then(Value::as_array);
    conditions.into_iter().flatten().find(|condition| text(condition, "/type") == kind)
}

/// A condition; its instants are those of before as long as it says the same.
fn told(
    deployment: &Value,
    kind: &str,
    status: bool,
    reason: &str,
    message: &str,
    now: Instant,
) -> Value {
    let status = if status { "True" } else { "False" };
    let before = known(deployment, kind);
    let same = |pointer: &str, text_now: &str| {
        before.is_some_and(|before| text(before, pointer) == text_now)
    };
    let says_the_same =
        same("/status", status) && same("/reason", reason) && same("/message", message);
    let instant = |kept: bool, pointer: &str| match before.filter(|_| kept) {
        Some(before) => text(before, pointer).to_owned(),
        None => now.to_string(),
    };
    json!({"type": kind, "status": status, "reason": reason, "message": message,
        "lastUpdateTime": instant(says_the_same, "/lastUpdateTime"),
        "lastTransitionTime": instant(same("/status", status), "/lastTransitionTime")})
}

#[cfg(test)]
mod tests;
