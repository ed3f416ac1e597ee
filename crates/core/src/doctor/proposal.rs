//! What would somebody write who holds nothing yet? For each mover that was found a gate over what nothing holds of it, and a policy that says
//! when, if there is none (RCH-6).
//!
//! Nothing is written here: a person reads it, changes it and applies it. The mode is theirs to choose, and best one that only tells, until warnings
//! or an audit log show what would have been refused.

use api::{
    names,
    reach::{Mode, What},
};
use serde_json::{Value, json};

use super::movers::{Extent, Found, HeldRoom};
use crate::held::Holder;

/// The name of the policy that is proposed where there is none.
pub const POLICY: &str = "maintenance";

/// Objects that are proposed, and what was found beside them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Proposals {
    /// The objects, the policy first.
    pub objects: Vec<Proposal>,
    /// What nobody can propose anything for, one sentence each.
    pub remarks: Vec<String>,
}

/// An object that is proposed.
#[derive(Clone, Debug, PartialEq)]
pub struct Proposal {
    /// Why, one sentence each.
    pub why: Vec<String>,
    /// The object.
    pub document: Value,
}

/// What somebody could write about the movers that were found, by a policy of this name; one is proposed if none is named.
pub fn proposed(
    found: &[Found],
    holders: &[Holder],
    policy: Option<&str>,
    mode: Mode,
) -> Proposals {
    let mut proposals = Proposals::default();
    let mut taken: Vec<String> = holders
        .iter()
        .filter(|holder| holder.gate().is_some() && holder.key.namespace.is_none())
        .map(|holder| holder.key.name.to_string())
        .collect();
    for one in found {
        if one.held.is_empty() {
            let beyond = one.mover.beyond.unwrap_or("no room knows its first write");
            proposals.remarks.push(format!("{}: {beyond}", one.mover.name));
            continue;
        }
        let (watched, open): (Vec<&HeldRoom>, Vec<&HeldRoom>) = one
            .held
            .iter()
            .filter(|room| room.extent != Extent::Everywhere)
            // Who watches some of it, as a team does with its own namespace, proposes nothing for the rest.
            .partition(|room| room.watched == Extent::Everywhere);
        for room in watched {
            let gates: Vec<String> = room.watched_by.iter().map(ToString::to_string).collect();
            proposals.remarks.push(format!(
                "{}: {} is watched by {}, which refuses nothing; hint: set its mode to Enforce",
                one.mover.name,
                room.room.name_of(),
                gates.join(", ")
            ));
        }
        if open.is_empty() {
            continue;
        }
        let name = free(&open, &taken);
        let document = gate(&name, &open, policy.unwrap_or(POLICY), mode);
        taken.push(name);
        proposals.objects.push(Proposal { why: why(one, &open), document });
    }
    if policy.is_none() && !proposals.objects.is_empty() {
        proposals.objects.insert(0, schedule());
    }
    proposals
}

fn why(found: &Found, open: &[&HeldRoom]) -> Vec<String> {
    let mut why = vec![
        format!("{}: {}", found.mover.name, found.mover.changes),
        format!("found by {}", found.by.join(", ")),
    ];
    for room in open {
        for (gates, what) in [(&room.by, "held"), (&room.watched_by, "watched")] {
            if !gates.is_empty() {
                let gates: Vec<String> = gates.iter().map(ToString::to_string).collect();
                let (name, gates) = (room.room.name_of(), gates.join(", "));
                why.push(format!("{name} is {what} in part already, by {gates}"));
            }
        }
    }
    why.extend(found.mover.beyond.map(|beyond| format!("not held by it: {beyond}")));
    why
}

/// What people call workloads.
const WORKLOADS: [What; 3] = [What::Deployments, What::StatefulSets, What::DaemonSets];

/// A name that no gate of the platform has.
fn free(open: &[&HeldRoom], taken: &[String]) -> String {
    let own = match open {
        [first, _, ..] if WORKLOADS.contains(&first.room.what) => "workloads",
        [first, ..] => first.room.slug,
        [] => "changes",
    };
    let is_free = |name: &String| !taken.contains(name);
    let numbered = (2..).map(|number: u32| format!("{own}-{number}"));
    let mut names = std::iter::once(own.to_owned()).chain(numbered);
    names.find(is_free).unwrap_or_else(|| own.to_owned())
}

fn gate(name: &str, open: &[&HeldRoom], policy: &str, mode: Mode) -> Value {
    let holds: Vec<Value> = open.iter().map(|room| json!({"what": room.room.name_of()})).collect();
    json!({"apiVersion": names::API_VERSION, "kind": names::CLUSTER_CHANGE_GATE,
        "metadata": {"name": name},
        "spec": {"changeManagement": {"strategy": "ByPolicy", "byPolicy": {"name": policy}},
            "holds": holds, "mode": mode}})
}

/// Three nights a week, in UTC: whoever reads it writes their own.
fn schedule() -> Proposal {
    let document = json!({"apiVersion": names::API_VERSION, "kind": names::CHANGE_MANAGEMENT_POLICY,
        "metadata": {"name": POLICY},
        "spec": {"strategy": "MaintenanceSchedule", "maintenanceSchedule": {"permit": {
            "recurrence": {"frequency": "Weekly", "weekly": {"daysOfWeek": ["Tuesday", "Wednesday", "Thursday"]}},
            "startTime": "01:00", "endTime": "05:00"}}}});
    let why =
        ["there is no policy yet", "write your own days, hours and time zone before you apply it"];
    Proposal { why: why.map(str::to_owned).into(), document }
}

#[cfg(test)]
mod tests {
    use std::slice;

    use super::*;
    use crate::{
        cluster::{kinds, snapshot::Snapshot},
        doctor::movers,
        document::problem::Problem,
        held,
        policy::read,
    };

    fn holders(gates: &[Value]) -> Vec<Holder> {
        let mut snapshot = Snapshot::default();
        for gate in gates {
            snapshot.add(&kinds::CLUSTER_CHANGE_GATE, gate);
        }
        held::holders(&snapshot, gates.iter().map(|gate| (&kinds::CLUSTER_CHANGE_GATE, gate)))
    }

    fn proposals(documents: &[Value], gates: &[Value], policy: Option<&str>) -> Proposals {
        let holders = holders(gates);
        proposed(&movers::found(documents, &holders), &holders, policy, Mode::Audit)
    }

    fn named(proposals: &Proposals) -> Vec<String> {
        let name = |one: &Proposal| {
            format!(
                "{}/{} {}",
                one.document["kind"].as_str().unwrap(),
                one.document["metadata"]["name"].as_str().unwrap(),
                one.document["spec"]["holds"]
            )
        };
        proposals.objects.iter().map(name).collect()
    }

    fn definition(name: &str) -> Value {
        json!({"kind": "CustomResourceDefinition", "metadata": {"name": name}})
    }

    fn over(name: &str, mode: &str, rooms: &[&str]) -> Value {
        let holds: Vec<Value> = rooms.iter().map(|what| json!({"what": what})).collect();
        json!({"metadata": {"name": name}, "spec": {"changeManagement": {"strategy": "Restrictive"}, "holds": holds, "mode": mode}})
    }

    /// RCH-6, RCH-11: what is proposed can be applied as it is.
    #[test]
    fn every_mover_that_nothing_holds_gets_a_gate_that_can_be_applied() {
        let definitions: Vec<Value> = movers::MOVERS
            .iter()
            .flat_map(|mover| mover.marks)
            .filter_map(|mark| match mark {
                movers::Mark::Definition(name) => Some(definition(name)),
                _ => None,
            })
            .collect();
        let all = proposals(&definitions, &[], None);
        assert!(all.objects.len() > 8, "{:?}", named(&all));
        for one in &all.objects {
            let problems = read::document(&one.document).problems;
            assert!(!problems.iter().any(Problem::is_error), "{problems:?}");
            assert!(!one.why.is_empty());
        }
        let workloads = r#"ClusterChangeGate/workloads [{"what":"Deployments"},{"what":"StatefulSets"},{"what":"DaemonSets"}]"#;
        assert_eq!(named(&all)[..2], ["ChangeManagementPolicy/maintenance null", workloads]);
        assert!(all.remarks.iter().any(|said| said.starts_with("Argo Rollouts: ")), "{all:?}");
    }

    #[test]
    fn what_is_held_is_not_proposed_again_and_what_is_watched_is_told() {
        let argo = [definition("applications.argoproj.io")];
        let all = ["Deployments", "StatefulSets", "DaemonSets"];
        let workloads = over("all", "Enforce", &all);
        let check = |gates: &[Value], policy: Option<&str>, expected: &[&str], remarks: usize| {
            let found = proposals(&argo, gates, policy);
            assert_eq!(named(&found), expected);
            assert_eq!(found.remarks.len(), remarks, "{found:?}");
        };
        let syncs = r#"ClusterChangeGate/applications [{"what":"Applications"}]"#;
        check(slice::from_ref(&workloads), Some("nights"), &[syncs], 0);
        let held = over("syncs", "Enforce", &["Applications"]);
        check(&[workloads.clone(), held], None, &[], 0);
        let watched = over("syncs", "Audit", &["Applications"]);
        check(&[workloads.clone(), watched], Some("nights"), &[], 1);
        // One who watches a part of it leaves the rest to be proposed.
        let mut some = over("some", "Audit", &["Applications"]);
        some["spec"]["holds"][0]["names"] = json!(["nobody"]);
        check(&[workloads.clone(), some], Some("nights"), &[syncs], 0);
        // A name that is taken is left to whoever has it.
        let other = over("applications", "Enforce", &["KuredLock"]);
        let second = r#"ClusterChangeGate/applications-2 [{"what":"Applications"}]"#;
        check(&[workloads, other], Some("nights"), &[second], 0);
    }
}
