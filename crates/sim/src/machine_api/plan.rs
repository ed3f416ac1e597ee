//! What does Cluster API do next about the machines of a deployment? Decided from what the cluster holds and an instant, and from nothing else.
//!
//! The rolling update of `MachineDeployments` as its controller has it, without its pause: grow the new set up to what may be there, shrink the
//! old ones down to what must be there, the oldest first. How many are wanted is noted on each set by the same write that scales it. It is a
//! model: what it is to be compared with is Cluster API itself.

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

/// What the controller of deployments does: at most one look at all sets, then again.
pub fn deployment(seen: Seen<'_>) -> Vec<Deed> {
    let Seen { deployment, sets, .. } = seen;
    let wanted = count(deployment, "/spec/replicas");
    let (surge, missing) = limits(deployment);
    let on_delete = text(deployment, "/spec/strategy/type") == "OnDelete";
    let name = text(deployment, "/metadata/name");
    let mut old: Vec<&Value> = sets.iter().collect();
    old.sort_by_key(|set| revision(set));
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
    // What must be there counts machines that are, and the new ones that are not yet.
    let unavailable = has - count(new, "/status/availableReplicas").min(has);
    let leaving: i64 = sets
        .iter()
        .map(|set| (count(set, "/status/replicas") - count(set, "/spec/replicas")).max(0))
        .sum();
    let spared: i64 =
        sets.iter().map(|set| count(set, "/spec/replicas")).sum::<i64>() + (grown - has) - leaving;
    let mut budget = if on_delete {
        // Scaling in takes the oldest; nothing else does.
        spared - wanted
    } else {
        spared - (wanted - missing) - unavailable - (grown - has)
    };
    for set in old {
        let mut keeps = count(set, "/spec/replicas");
        if on_delete {
            // A person's deletion is the consent: what is gone is not made again here.
            keeps = keeps.min(count(set, "/status/replicas"));
        }
        let goes = keeps.min(budget.max(0));
        budget -= goes;
        deeds.extend(scale(set, keeps - goes, wanted, most));
    }
    deeds
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

/// What is told of a deployment; nothing if it reads so.
pub fn status(seen: Seen<'_>) -> Option<Deed> {
    let Seen { deployment, sets, .. } = seen;
    let of = |set: &&Value| template(set) == template(deployment);
    let sum = |pointer: &str, new: bool| -> i64 {
        sets.iter().filter(|set| !new || of(set)).map(|set| count(set, pointer)).sum()
    };
    let status = json!({"replicas": sum("/status/replicas", false), "updatedReplicas": sum("/status/replicas", true),
        "availableReplicas": sum("/status/availableReplicas", false),
        "observedGeneration": deployment["metadata"]["generation"]});
    let known = deployment.get("status").cloned().unwrap_or_default();
    let same = ["replicas", "updatedReplicas", "availableReplicas", "observedGeneration"]
        .iter()
        .all(|field| known[*field] == status[*field]);
    (!same).then(|| Deed::Status(json!({"status": status})))
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
