//! What happens to pods next, and when? What kubelets, a scheduler and the controllers of workloads would do, as values.
//!
//! Almost everything follows from the objects: when a pod was made, when it was told to end, since when its node is ready. What does
//! not is in [`Memory`].

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use schedule::Instant;
use serde_json::{Value, json};

use crate::{
    lengths::Lengths,
    machine::condition,
    mirror::{Objects, Place, text},
};

/// What is done to a pod, or for its workload.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Deed {
    /// It is placed on a node.
    Bind(String),
    /// It runs.
    Start,
    /// It is ready again.
    Ready,
    /// Its node is away.
    Unready,
    /// It has ended.
    Remove,
    /// Its workload makes another.
    Replace(Box<Value>),
}

/// What is remembered, because objects do not say it.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    /// The pods of workloads, by identity, as they were last seen.
    known: BTreeMap<String, Arc<Value>>,
    /// Those that have been replaced.
    replaced: BTreeSet<String>,
    /// At which version something was last done to a pod: what comes of it has to be seen before anything else.
    touched: BTreeMap<String, String>,
    /// When a pod was placed.
    placed: BTreeMap<String, Instant>,
}

/// What is to be done now, and when the next thing is.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    pub(crate) deeds: Vec<(Arc<Value>, Deed)>,
    pub(crate) next: Option<Instant>,
}

/// Plans.
pub(crate) fn plan(
    pods: &Objects,
    nodes: &Objects,
    memory: &mut Memory,
    lengths: &Lengths,
    now: Instant,
) -> Plan {
    let mut plan = Plan::default();
    let mut scheduler = Scheduler::new(pods, nodes);
    for pod in pods.values() {
        let uid = text(pod, "/metadata/uid");
        if memory.touched.get(uid).is_some_and(|at| at == text(pod, "/metadata/resourceVersion")) {
            continue;
        }
        let Some((at, deed)) = due(pod, nodes, &mut scheduler, memory, lengths, now) else {
            continue;
        };
        if at <= now {
            memory.touched.insert(uid.to_owned(), text(pod, "/metadata/resourceVersion").into());
            if let Deed::Bind(_) = deed {
                memory.placed.insert(uid.to_owned(), now);
            }
            plan.deeds.push((Arc::clone(pod), deed));
        } else {
            plan.next = Some(plan.next.map_or(at, |next| next.min(at)));
        }
    }
    plan.deeds.extend(replacements(pods, nodes, memory));
    plan
}

/// What happens to a pod next, and when.
fn due(
    pod: &Value,
    nodes: &Objects,
    scheduler: &mut Scheduler<'_>,
    memory: &Memory,
    lengths: &Lengths,
    now: Instant,
) -> Option<(Instant, Deed)> {
    let uid = text(pod, "/metadata/uid");
    let stamp = |pointer: &str| Instant::parse(text(pod, pointer)).ok();
    let draw = |range, what: &str| lengths.draw(range, &format!("{what} {}", name(pod)));
    let placed = text(pod, "/spec/nodeName");
    let node = nodes.get(&(String::new(), placed.to_owned()));
    let up = node.is_some_and(|node| condition(node) == Some("True"));
    if let Some(end) = stamp("/metadata/deletionTimestamp") {
        let grace = pod.pointer("/metadata/deletionGracePeriodSeconds").and_then(Value::as_i64);
        let grace = grace.unwrap_or(0);
        // Without grace it has ended, and somebody's finalizer holds it.
        let ending = grace > 0 && (up || node.is_none());
        let asked = end.saturating_add(-grace);
        let length = draw(&lengths.pod_end, "end").min(grace);
        return ending.then(|| (asked.saturating_add(length), Deed::Remove));
    }
    match text(pod, "/status/phase") {
        "Succeeded" | "Failed" => None,
        "Running" => {
            let ready = condition(pod) == Some("True");
            match (ready, up) {
                (true, false) if node.is_some() => Some((now, Deed::Unready)),
                (false, true) => {
                    let since = node.map(|node| ready_since(node)).unwrap_or_default();
                    let length = draw(&lengths.pod_return, "return");
                    Some((since.map_or(now, |since| since.saturating_add(length)), Deed::Ready))
                }
                _ => None,
            }
        }
        _ if placed.is_empty() => Some((now, Deed::Bind(scheduler.place(pod)?))),
        _ if up => {
            let placed = memory.placed.get(uid).copied();
            let since = placed.or_else(|| stamp("/metadata/creationTimestamp")).unwrap_or(now);
            let length = draw(&lengths.pod_start, "start");
            // A clock that was set back must not keep a pod waiting for a day that has been.
            Some((since.min(now).saturating_add(length), Deed::Start))
        }
        _ => None,
    }
}

fn ready_since(node: &Value) -> Option<Instant> {
    let conditions = node.pointer("/status/conditions").and_then(Value::as_array)?;
    let ready = conditions.iter().find(|one| text(one, "/type") == "Ready")?;
    Instant::parse(text(ready, "/lastTransitionTime")).ok()
}

fn name(pod: &Value) -> String {
    format!("{}/{}", text(pod, "/metadata/namespace"), text(pod, "/metadata/name"))
}

/// What workloads make anew: a set of replicas at once, one with names of its own when the old one is gone.
fn replacements(pods: &Objects, nodes: &Objects, memory: &mut Memory) -> Vec<(Arc<Value>, Deed)> {
    let there: BTreeMap<&str, &Arc<Value>> =
        pods.values().map(|pod| (text(pod, "/metadata/uid"), pod)).collect();
    for (uid, pod) in &there {
        if controller(pod).is_some() {
            memory.known.insert((*uid).to_owned(), Arc::clone(pod));
        }
    }
    let mut deeds = Vec::new();
    for (uid, pod) in &memory.known {
        let left = match there.get(&**uid) {
            None => Left::Gone,
            Some(pod) if !text(pod, "/metadata/deletionTimestamp").is_empty() => Left::Going,
            Some(_) => continue,
        };
        if !memory.replaced.contains(uid)
            && let Some(another) = another(pod, left, nodes)
        {
            deeds.push((Arc::clone(pod), Deed::Replace(Box::new(another))));
        }
    }
    memory.replaced.extend(deeds.iter().map(|(pod, _)| text(pod, "/metadata/uid").to_owned()));
    let Memory { known, replaced, touched, placed } = memory;
    known.retain(|uid, _| there.contains_key(&**uid));
    replaced.retain(|uid| there.contains_key(&**uid));
    touched.retain(|uid, _| there.contains_key(&**uid));
    placed.retain(|uid, _| there.contains_key(&**uid));
    deeds
}

/// How far a pod is from being no more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Left {
    Going,
    Gone,
}

/// The pod that a workload makes in place of another, if it makes one now.
fn another(pod: &Value, left: Left, nodes: &Objects) -> Option<Value> {
    let owner = controller(pod)?;
    let mut metadata = json!({"namespace": text(pod, "/metadata/namespace")});
    for key in ["labels", "annotations", "ownerReferences"] {
        if let Some(given) = pod.pointer("/metadata").and_then(|metadata| metadata.get(key)) {
            metadata[key] = given.clone();
        }
    }
    let mut spec = pod.get("spec").cloned().unwrap_or_default();
    let stem = format!("{}-", text(owner, "/name"));
    match (text(owner, "/kind"), left) {
        ("ReplicaSet" | "ReplicationController", _) => {
            metadata["generateName"] = json!(stem);
            spec.as_object_mut()?.remove("nodeName");
        }
        ("StatefulSet", Left::Gone) => {
            metadata["name"] = json!(text(pod, "/metadata/name"));
            spec.as_object_mut()?.remove("nodeName");
        }
        ("DaemonSet", Left::Gone) => {
            let place: Place = (String::new(), text(pod, "/spec/nodeName").to_owned());
            nodes.get(&place)?;
            metadata["generateName"] = json!(stem);
        }
        _ => return None,
    }
    Some(json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}))
}

/// Who looks after a pod.
pub(super) fn controller(pod: &Value) -> Option<&Value> {
    let owners = pod.pointer("/metadata/ownerReferences").and_then(Value::as_array);
    owners.into_iter().flatten().find(|owner| owner.get("controller") == Some(&Value::Bool(true)))
}

/// Who finds a node for a pod: among those that take it, the one with the fewest of its siblings, then with the fewest pods.
struct Scheduler<'a> {
    nodes: &'a Objects,
    /// How many pods are on a node, and how many of each owner.
    load: BTreeMap<String, (usize, BTreeMap<String, usize>)>,
}

impl<'a> Scheduler<'a> {
    fn new(pods: &Objects, nodes: &'a Objects) -> Self {
        let mut scheduler = Self { nodes, load: BTreeMap::new() };
        for pod in pods.values().filter(|pod| !text(pod, "/spec/nodeName").is_empty()) {
            scheduler.count(pod, text(pod, "/spec/nodeName"));
        }
        scheduler
    }

    fn count(&mut self, pod: &Value, node: &str) {
        let load = self.load.entry(node.to_owned()).or_default();
        load.0 += 1;
        *load.1.entry(family(pod)).or_default() += 1;
    }

    fn place(&mut self, pod: &Value) -> Option<String> {
        let fits = |node: &&Arc<Value>| {
            node.pointer("/spec/unschedulable") != Some(&Value::Bool(true))
                && condition(node) == Some("True")
                && selected(pod, node)
                && tolerated(pod, node)
        };
        let load = |node: &Value| {
            let load = self.load.get(text(node, "/metadata/name"));
            let (all, own) = load.map_or((0, 0), |(all, families)| {
                (*all, families.get(&family(pod)).copied().unwrap_or(0))
            });
            (own, all)
        };
        let chosen = self.nodes.values().filter(fits).min_by_key(|node| load(node))?;
        let name = text(chosen, "/metadata/name").to_owned();
        self.count(pod, &name);
        Some(name)
    }
}

fn family(pod: &Value) -> String {
    let owner = controller(pod).map(|owner| text(owner, "/name")).unwrap_or_default();
    format!("{}/{owner}", text(pod, "/metadata/namespace"))
}

fn selected(pod: &Value, node: &Value) -> bool {
    let wanted = pod.pointer("/spec/nodeSelector").and_then(Value::as_object);
    let labels = node.pointer("/metadata/labels");
    wanted.into_iter().flatten().all(|(key, value)| {
        labels.and_then(|labels| labels.get(key)).is_some_and(|label| label == value)
    })
}

fn tolerated(pod: &Value, node: &Value) -> bool {
    let list = |object: &Value, pointer: &str| {
        object.pointer(pointer).and_then(Value::as_array).cloned().unwrap_or_default()
    };
    let tolerations = list(pod, "/spec/tolerations");
    let keeps_away = |taint: &&Value| text(taint, "/effect") != "PreferNoSchedule";
    list(node, "/spec/taints").iter().filter(keeps_away).all(|taint| {
        tolerations.iter().any(|toleration| {
            let key = text(toleration, "/key");
            let effect = text(toleration, "/effect");
            (key.is_empty() || key == text(taint, "/key"))
                && (effect.is_empty() || effect == text(taint, "/effect"))
        })
    })
}

#[cfg(test)]
mod tests;
