//! What does Cluster API do next about the machines of a deployment? Decided from what the cluster holds and an instant, and from nothing else.
//!
//! The rolling update of `MachineDeployments` as its controller has it, without its pause: grow the new set up to what may be there, shrink the
//! old ones down to what must be there, the oldest first. How many are wanted is noted on each set by the same write that scales it.
//!
//! It is a model, and a suite compares its steps with those of Cluster API 1.13.4. What differs on purpose: which of several machines that are alike goes
//! is chance there and the order of their names here; sets that a finished rollout has emptied are deleted there and stay here; a set that becomes the
//! newest again gets another revision there and keeps its own here; and a template that two sets have is the larger one's there, the later one's here.

use std::{collections::BTreeSet, ops::Range};

use schedule::Instant;
use serde_json::{Value, json};

use crate::{
    counts::{count, limits},
    lengths::Lengths,
    mirror::text,
};

/// What the controller notes on each set.
pub const REVISION: &str = "machinedeployment.clusters.x-k8s.io/revision";
/// How many machines were wanted when it last scaled the set.
pub const DESIRED: &str = "machinedeployment.clusters.x-k8s.io/desired-replicas";
/// How many there might be then.
pub const MOST: &str = "machinedeployment.clusters.x-k8s.io/max-replicas";
/// Which deployment a set or a machine is of.
pub const DEPLOYMENT: &str = "cluster.x-k8s.io/deployment-name";
/// Which set a machine is of.
pub const SET: &str = "cluster.x-k8s.io/set-name";

/// How long a machine takes until its node is there.
const BOOT: Range<i64> = 180..420;

/// One write, or several to one object.
#[derive(Clone, Debug, PartialEq)]
pub enum Deed {
    /// A new set.
    CreateSet(Value),
    /// A set gets so many machines, as a merge patch under the version that was seen.
    ScaleSet(String, Value),
    /// A new machine.
    CreateMachine(Value),
    /// A machine goes.
    DeleteMachine(String),
    /// What is told of a set.
    SetStatus(String, Value),
    /// What is told of a machine.
    MachineStatus(String, Value),
    /// What is told of the deployment.
    Status(Value),
}

/// What it looks at: a deployment, its sets and their machines.
#[derive(Clone, Copy, Debug)]
pub struct Seen<'a> {
    /// The deployment.
    pub deployment: &'a Value,
    /// Its sets.
    pub sets: &'a [Value],
    /// Their machines.
    pub machines: &'a [Value],
}

/// What a rollout compares of templates.
fn template(of: &Value) -> [&Value; 3] {
    ["version", "bootstrap", "infrastructureRef"]
        .map(|field| of.pointer(&format!("/spec/template/spec/{field}")).unwrap_or(&Value::Null))
}

fn revision(set: &Value) -> i64 {
    let noted = set.pointer("/metadata/annotations").and_then(|noted| noted.get(REVISION));
    noted.and_then(Value::as_str).and_then(|text| text.parse().ok()).unwrap_or_default()
}

/// Whether machines stay until somebody deletes them.
pub fn is_on_delete(deployment: &Value) -> bool {
    text(deployment, "/spec/strategy/type") == "OnDelete"
}

/// What the controller of deployments does: at most one look at all sets, then again.
pub fn deployment(seen: Seen<'_>) -> Vec<Deed> {
    let Seen { deployment, sets, machines } = seen;
    let wanted = count(deployment, "/spec/replicas");
    let (surge, missing) = limits(deployment);
    let on_delete = is_on_delete(deployment);
    let name = text(deployment, "/metadata/name");
    let mut old: Vec<&Value> = sets.iter().collect();
    old.sort_by_key(|set| (text(set, "/metadata/creationTimestamp"), revision(set)));
    let new =
        old.iter().rposition(|set| template(set) == template(deployment)).map(|at| old.remove(at));
    let total: i64 = sets
        .iter()
        .map(|set| count(set, "/spec/replicas").max(count(set, "/status/replicas")))
        .sum();
    let newest = sets.iter().map(revision).max().unwrap_or_default();
    let has = new.map_or(0, |set| count(set, "/spec/replicas"));
    let most = if on_delete { wanted } else { wanted + surge };
    let grown = if has > wanted { wanted } else { has + (wanted - has).min(most - total).max(0) };
    let Some(new) = new else {
        let noted = json!({REVISION: (newest + 1).to_string(), DESIRED: wanted.to_string(), MOST: most.to_string()});
        let mut spec = deployment["spec"]["template"]["spec"].clone();
        spec["clusterName"] = deployment["spec"]["clusterName"].clone();
        return vec![Deed::CreateSet(json!({
            "apiVersion": "cluster.x-k8s.io/v1beta1", "kind": "MachineSet",
            "metadata": {"name": format!("{name}-{}", newest + 1), "namespace": deployment["metadata"]["namespace"],
                "labels": {DEPLOYMENT: name}, "annotations": noted,
                "ownerReferences": [{"apiVersion": "cluster.x-k8s.io/v1beta1", "kind": "MachineDeployment", "name": name,
                    "uid": deployment["metadata"]["uid"], "controller": true}]},
            "spec": {"clusterName": deployment["spec"]["clusterName"], "replicas": grown, "template": {"spec": spec}}}))];
    };
    let mut deeds: Vec<Deed> = scale(new, grown, wanted, most).into_iter().collect();
    let kept = if on_delete {
        keep_on_delete(&old, machines, grown - wanted)
    } else {
        keep(Rollout { new, old: &old, grown, least: (wanted - missing).max(0) })
    };
    deeds.extend(old.iter().zip(kept).filter_map(|(set, kept)| scale(set, kept, wanted, most)));
    deeds
}

/// A rolling update in the middle: what the new set grows to, and how many machines must be available.
#[derive(Clone, Copy)]
struct Rollout<'a> {
    new: &'a Value,
    /// The oldest first.
    old: &'a [&'a Value],
    grown: i64,
    least: i64,
}

/// How many machines a set wants, has and has available.
fn counts(set: &Value) -> (i64, i64, i64) {
    let [wants, there, available] =
        ["/spec/replicas", "/status/replicas", "/status/availableReplicas"]
            .map(|pointer| count(set, pointer));
    (wants, there, available)
}

/// How many machines each old set keeps. What leaves counts as available until it is known not to be, so that a set with a machine that is not
/// available is not made smaller while nothing can be spared; and new machines that do not come up stop all of it.
fn keep(rollout: Rollout<'_>) -> Vec<i64> {
    let Rollout { new, old, grown, least } = rollout;
    let all = || old.iter().copied().chain([new]);
    let (has, _, up) = counts(new);
    let wants: i64 = all().map(|set| counts(set).0).sum();
    let leaving: i64 = all()
        .map(|set| {
            let (wants, there, _) = counts(set);
            let shall = if std::ptr::eq(set, new) { wants.min(grown) } else { wants };
            (there - shall).max(0)
        })
        .sum();
    let mut available: i64 = all().map(|set| counts(set).2).sum();
    let mut budget = (wants - leaving - least - (has - up).max(0)).max(0);
    let mut kept: Vec<i64> = old.iter().map(|set| counts(set).0).collect();
    let before = kept.clone();
    // First what is not available, then the rest.
    for spares_available in [true, false] {
        for (set, keeps) in old.iter().zip(&mut kept) {
            let (_, there, up) = counts(set);
            let most = if spares_available { (*keeps - up).max(0) } else { *keeps };
            let mut goes = most.min(budget);
            if goes > 0 && up > 0 {
                let mut shall = *keeps - goes;
                let spare = (available - least).max(0);
                if there - shall > spare {
                    shall = (there - spare).min(*keeps);
                    goes = (*keeps - shall).max(0);
                }
                available -= up.min((there - shall).max(0));
            }
            *keeps -= goes;
            budget -= goes;
        }
    }
    if kept == before && grown == has {
        break_deadlock(new, old, &mut kept);
    }
    kept
}

/// Nothing moves, everything wanted is there, and an old set has a machine that is not available: one goes, though it might be another.
fn break_deadlock(new: &Value, old: &[&Value], kept: &mut [i64]) {
    let moves = |set: &Value| counts(set).0 != counts(set).1;
    let lacks = |set: &Value| counts(set).2 != counts(set).1;
    if moves(new) || lacks(new) || old.iter().any(|set| moves(set)) {
        return;
    }
    if let Some(at) = old.iter().position(|set| lacks(set) && counts(set).0 > 0) {
        kept[at] -= 1;
    }
}

/// A person's deletion is the consent: what is gone is not made again here. Scaling in takes the oldest; nothing else does.
/// Machines are counted themselves: the status of their set tells of a deletion only after the set has made another.
fn keep_on_delete(old: &[&Value], machines: &[Value], beyond: i64) -> Vec<i64> {
    let there = |set: &&Value| {
        let own = |machine: &&Value| machine["metadata"]["labels"][SET] == set["metadata"]["name"];
        let has = machines.iter().filter(own).count();
        counts(set).0.min(i64::try_from(has).unwrap_or(i64::MAX))
    };
    let there: Vec<i64> = old.iter().map(there).collect();
    let mut budget = there.iter().sum::<i64>() + beyond;
    let keeps = |there: i64| {
        let goes = there.min(budget.max(0));
        budget -= goes;
        there - goes
    };
    there.into_iter().map(keeps).collect()
}

/// Nothing if the set is as it should be.
fn scale(set: &Value, replicas: i64, wanted: i64, most: i64) -> Option<Deed> {
    let noted = |key: &str| {
        set.pointer("/metadata/annotations")
            .and_then(|noted| noted.get(key))
            .and_then(Value::as_str)
    };
    let (wanted, most) = (wanted.to_string(), most.to_string());
    let same = count(set, "/spec/replicas") == replicas
        && noted(DESIRED) == Some(&wanted)
        && noted(MOST) == Some(&most);
    (!same).then(|| {
        let change = json!({"metadata": {"resourceVersion": set["metadata"]["resourceVersion"],
            "annotations": {DESIRED: wanted, MOST: most}}, "spec": {"replicas": replicas}});
        Deed::ScaleSet(text(set, "/metadata/name").to_owned(), change)
    })
}

/// What the controller of sets does: machines are made, and go, those that are not ready first. Which are made, and which go, follows from
/// what is there: whoever looks again before the news of it arrived does the same once more, and nothing comes of that.
pub fn set(set: &Value, machines: &[&Value]) -> Vec<Deed> {
    let name = text(set, "/metadata/name");
    let wanted = count(set, "/spec/replicas");
    let has = i64::try_from(machines.len()).unwrap_or(i64::MAX);
    let mut deeds = Vec::new();
    let taken: BTreeSet<&str> =
        machines.iter().map(|machine| text(machine, "/metadata/name")).collect();
    let free = (0..).map(|place| format!("{name}-m{place}"));
    let missing = usize::try_from(wanted - has).unwrap_or_default();
    for free in free.filter(|free| !taken.contains(free.as_str())).take(missing) {
        let mut labels = set["metadata"]["labels"].clone();
        labels[SET] = json!(name);
        deeds.push(Deed::CreateMachine(json!({
            "apiVersion": "cluster.x-k8s.io/v1beta1", "kind": "Machine",
            "metadata": {"name": free, "namespace": set["metadata"]["namespace"], "labels": labels},
            "spec": set["spec"]["template"]["spec"]})));
    }
    let mut leaving: Vec<&&Value> = machines.iter().collect();
    leaving.sort_by_key(|machine| (is_ready(machine), text(machine, "/metadata/name").to_owned()));
    let goes = usize::try_from(has - wanted).unwrap_or_default();
    deeds.extend(
        leaving
            .into_iter()
            .take(goes)
            .map(|machine| Deed::DeleteMachine(text(machine, "/metadata/name").to_owned())),
    );
    let ready = machines.iter().filter(|machine| is_ready(machine)).count();
    if count(set, "/status/replicas") != has
        || count(set, "/status/availableReplicas") != i64::try_from(ready).unwrap_or(i64::MAX)
    {
        let status = json!({"status": {"replicas": has, "availableReplicas": ready, "readyReplicas": ready}});
        deeds.push(Deed::SetStatus(name.to_owned(), status));
    }
    deeds
}

/// Whether a machine has its node.
pub fn is_ready(machine: &Value) -> bool {
    text(machine, "/status/phase") == "Running"
}

/// What becomes of a machine: its node is there after some minutes, if somebody still has what it starts from.
pub fn machine(
    machine: &Value,
    has_user_data: bool,
    now: Instant,
    lengths: &Lengths,
) -> (Option<Deed>, Option<Instant>) {
    let name = text(machine, "/metadata/name");
    if is_ready(machine) || text(machine, "/status/phase") == "Failed" || !has_user_data {
        return (None, None);
    }
    let Ok(made) = Instant::parse(text(machine, "/metadata/creationTimestamp")) else {
        return (None, None);
    };
    let due = made.saturating_add(lengths.draw(&BOOT, name));
    if now < due {
        return (None, Some(due));
    }
    let status = json!({"status": {"phase": "Running", "nodeRef": {"name": name}}});
    (Some(Deed::MachineStatus(name.to_owned(), status)), None)
}

/// What is told of a deployment; nothing if it reads so. Before the newest set is there, which may be refused, the counts of its machines and the
/// observed generation stay as they were; how many machines have the template is told apart from that, and at once.
pub fn status(seen: Seen<'_>) -> Option<Deed> {
    let Seen { deployment, sets, .. } = seen;
    let of = |set: &&Value| template(set) == template(deployment);
    let sum = |pointer: &str, new: bool| -> i64 {
        sets.iter().filter(|set| !new || of(set)).map(|set| count(set, pointer)).sum()
    };
    let known = deployment.get("status").cloned().unwrap_or_default();
    let (replicas, updated) = (sum("/status/replicas", false), sum("/status/replicas", true));
    let mut status = json!({"replicas": replicas, "availableReplicas": sum("/status/availableReplicas", false),
        "updatedReplicas": known["updatedReplicas"], "observedGeneration": known["observedGeneration"],
        "v1beta2": {"upToDateReplicas": updated, "conditions": [{"type": "MachinesUpToDate",
            "status": if updated < replicas { "False" } else { "True" }}]}});
    if sets.iter().any(|set| of(&set)) {
        status["updatedReplicas"] = json!(updated);
        status["observedGeneration"] = deployment["metadata"]["generation"].clone();
    }
    let fields = status.as_object().into_iter().flatten();
    let mut fields = fields.filter(|(field, value)| known[field.as_str()] != **value);
    fields.next().is_some().then(|| Deed::Status(json!({"status": status})))
}

/// Whether every machine of a deployment has its template and is there.
pub fn is_complete(deployment: &Value) -> bool {
    let wanted = count(deployment, "/spec/replicas");
    let all = ["/status/replicas", "/status/updatedReplicas", "/status/availableReplicas"];
    all.iter().all(|pointer| deployment.pointer(pointer).and_then(Value::as_i64) == Some(wanted))
        && deployment.pointer("/status/observedGeneration")
            == deployment.pointer("/metadata/generation")
}

#[cfg(test)]
mod tests;
