//! What is read from objects?

use crate::{
    cluster::{
        kinds::{self, Pools},
        snapshot::Snapshot,
    },
    history::facts::{facts, is_gone},
};
use api::{
    machine::names as machines,
    names,
    record::{Subject, What},
};
use serde_json::{Value, json};

use super::at;

fn cluster(documents: &[(&'static kinds::Row, Value)]) -> Snapshot {
    let mut cluster = Snapshot::default();
    for (row, document) in documents {
        cluster.add(row, document);
    }
    cluster
}

/// What is told of a cluster at the second hour, in a line for each.
fn told(documents: &[(&'static kinds::Row, Value)]) -> Vec<String> {
    told_where(Pools::Watched, documents)
}

/// The same where pools are rolled out by this operator, or by others.
fn told_where(pools: Pools, documents: &[(&'static kinds::Row, Value)]) -> Vec<String> {
    let (cluster, now) = (cluster(documents), at(7200));
    let facts = cluster.all().flat_map(|(_, seen)| facts(seen, pools, now));
    // What an object says is told again and again, and recorded when it differs (tests of what is due).
    let facts: Vec<_> = facts.filter(|fact| fact.at <= now && fact.what != What::Changed).collect();
    let line = |text: Option<String>| text.map_or_else(String::new, |text| format!(" {text};"));
    let told = facts.into_iter().map(|fact| {
        let Subject { kind, name, uid, .. } = fact.subject;
        assert_eq!(uid, Some("u1".to_owned()));
        let at = fact.at.to_string();
        let at = at.get(11..19).unwrap();
        let (change, basis, by) = (line(fact.change), line(fact.basis), line(fact.by));
        format!("{at} {} {kind}/{name}:{change}{basis}{by} {}", fact.what.as_str(), fact.outcome)
    });
    told.collect()
}

fn stretch(state: &str, start: Option<&str>, end: Option<&str>) -> Value {
    json!({"state": state, "startTime": start, "endTime": end, "reason": "why", "strategy": "MaintenanceSchedule"})
}

const MIDNIGHT: &str = "2026-11-14T00:00:00Z";
const ONE: &str = "2026-11-14T01:00:00Z";
const TWO: &str = "2026-11-14T02:00:00Z";
const THREE: &str = "2026-11-14T03:00:00Z";

/// HIST-1: what its gate decided is read from its stretches, those that ended among them.
#[test]
fn decisions_are_the_stretches_of_a_status() {
    let mut past = stretch("ChangesPaused", Some(MIDNIGHT), Some(ONE));
    past.as_object_mut().unwrap().remove("reason");
    let always = json!({"state": "ChangesUnpaused", "startTime": null, "endTime": MIDNIGHT, "strategy": "Permissive"});
    let mut current = stretch("ChangesUnpaused", Some(ONE), Some(THREE));
    current.as_object_mut().unwrap().remove("strategy");
    let mut next = stretch("ChangesPaused", Some(THREE), None);
    next.as_object_mut().unwrap().remove("strategy");
    let behavior = json!({"current": current, "next": next, "history": [past, always]});
    let pool = json!({"metadata": {"name": "worker", "uid": "u1"},
        "status": {"changeManagement": {"behavior": behavior}}});
    assert_eq!(
        told(&[(&kinds::MACHINE_CONFIG_POOL, pool)]),
        [
            "00:00:00 Held MachineConfigPool/worker: strategy MaintenanceSchedule; no change starts",
            "01:00:00 Permitted MachineConfigPool/worker: why; changes may start",
        ]
    );
    // Without a status nothing was decided.
    let pool = json!({"metadata": {"name": "worker", "uid": "u1"}});
    assert_eq!(told(&[(&kinds::MACHINE_CONFIG_POOL, pool)]), [""; 0]);
}

/// HIST-1, GATE-10: what began is read from the permit on the node, and from when the server took it; that it ended, from the node.
#[test]
fn initiations_are_the_permits_on_nodes() {
    let node = |current: &str, permit: Option<&str>, owner: &str| {
        let mut annotations = json!({machines::CURRENT_CONFIG: current, machines::DESIRED_CONFIG: "rendered-b",
            machines::STATE: "Done"});
        if let Some(change) = permit {
            annotations[machines::PERMIT_CHANGE] = change.into();
            annotations[machines::PERMIT_BASIS] = "window".into();
        }
        let owned = |annotation: &str| json!({"f:metadata": {"f:annotations": {format!("f:{annotation}"): {}}}});
        let managed = json!([
            {"manager": owner, "operation": "Apply", "time": ONE, "fieldsV1": owned(machines::PERMIT_CHANGE)},
            {"manager": owner, "operation": "Apply", "time": TWO, "fieldsV1": owned(machines::STATE)},
            {"manager": owner, "operation": "Update", "time": TWO, "fieldsV1": owned(machines::PERMIT_CHANGE)},
            {"manager": owner, "operation": "Update", "subresource": "status", "time": TWO},
            {"manager": "kubelet", "operation": "Update", "time": TWO},
        ]);
        json!({"metadata": {"name": "n1", "uid": "u1", "annotations": annotations, "managedFields": managed}})
    };
    let begun = "01:00:00 Initiated Node/n1: rendered-b; window; begun by the operator";
    let done = "02:00:00 Finished Node/n1: rendered-b; begun at 2026-11-14T01:00:00Z; done";
    let check =
        |node: Value, expected: &[&str]| assert_eq!(told(&[(&kinds::NODE, node)]), expected);
    let ours = "tidegate-rollout";
    check(node("rendered-a", Some("rendered-b"), ours), &[begun]);
    check(node("rendered-b", Some("rendered-b"), ours), &[begun, done]);
    // Without a record nothing is inferred, and without the server's stamp it is told when it is noticed.
    check(node("rendered-b", None, ours), &[]);
    let noticed = "02:00:00 Initiated Node/n1: rendered-b; window; begun by the operator";
    check(node("rendered-a", Some("rendered-b"), "somebody"), &[noticed]);
}

/// HIST-1: where others roll a pool out its condition tells since when; where this operator does, its nodes tell, and nobody else began anything.
#[test]
fn a_pool_that_is_rolled_out_here_was_not_begun_by_others() {
    let pool = json!({"metadata": {"name": "worker", "uid": "u1"}, "spec": {"configuration": {"name": "rendered-b"}},
        "status": {"conditions": [{"type": "Updating", "status": "True", "reason": "x", "lastTransitionTime": ONE}]}});
    let pool = [(&kinds::MACHINE_CONFIG_POOL, pool)];
    let others = "01:00:00 Initiated MachineConfigPool/worker: rendered-b; begun by others";
    assert_eq!(told_where(Pools::Watched, &pool), [others]);
    assert_eq!(told_where(Pools::Managed, &pool), [""; 0]);
}

/// HIST-1, CV-4, GATE-13: a mark is an initiation; what others began is told by their own record.
#[test]
fn initiations_are_the_marks_of_control_planes_and_what_others_recorded() {
    let image = |digit: &str| format!("registry/release@sha256:{}", digit.repeat(64));
    let release = |version: &str, digit: &str| json!({"version": version, "image": image(digit)});
    let history = |version: &str, digit: &str, started: &str, state: &str| {
        let mut entry = release(version, digit);
        entry["startedTime"] = started.into();
        entry["state"] = state.into();
        entry
    };
    let first = history("4.1.0", "1", "2026-01-01T00:00:00Z", "Completed");
    let version = |annotations: Value, history: Value, conditions: Value| {
        json!({"metadata": {"name": "version", "uid": "u1", "annotations": annotations},
            "status": {"desired": history[0], "history": history, "conditions": conditions}})
    };
    let mut mark = release("4.2.0", "2");
    for (key, value) in
        [("uid", "u1"), ("at", MIDNIGHT), ("after", "2026-01-01T00:00:00Z"), ("until", ONE)]
    {
        mark[key] = value.into();
    }
    let mark = mark.to_string();
    let noted = json!({names::ACCEPTED_RELEASE: mark, machines::PERMIT_CHANGE: mark,
        machines::PERMIT_BASIS: "window", machines::PERMIT_UNTIL: ONE});
    let check = |document: Value, expected: &[&str]| {
        assert_eq!(told(&[(&kinds::CLUSTER_VERSION, document)]), expected);
    };
    let begun =
        "00:00:00 Initiated ClusterVersion/version: release 4.2.0; window; begun by the operator";
    let done = "02:00:00 Finished ClusterVersion/version: release 4.2.0; begun at 2026-11-14T00:00:00Z; done";
    check(version(noted.clone(), json!([first]), json!([])), &[begun]);
    let partial = history("4.2.0", "2", ONE, "Partial");
    check(version(noted.clone(), json!([partial, first]), json!([])), &[begun]);
    let completed = history("4.2.0", "2", ONE, "Completed");
    check(version(noted, json!([completed, first]), json!([])), &[begun, done]);
    // Without a mark somebody else began it; whether the gate was shut then, the condition tells.
    let by_others = |what: &str, words: &str| {
        format!("01:00:00 {what} ClusterVersion/version: release 4.2.0; begun by others{words}")
    };
    let others = |conditions: Value| version(json!({}), json!([partial, first]), conditions);
    check(others(json!([])), &[&by_others("Initiated", "")]);
    let outside = json!([{"type": names::INITIATED_OUTSIDE_WINDOW, "status": "True", "reason": "GateShut",
        "message": "it began", "lastTransitionTime": ONE}]);
    check(others(outside), &[&by_others("InitiatedOutside", " while changes were held")]);
}

/// HIST-1, OVR-1 to OVR-3: freezes and overrides are told with who signed them, and their end when it comes.
#[test]
fn freezes_and_overrides_are_told_with_who_signed_them() {
    let freeze = |spec: Value| {
        json!({"apiVersion": names::API_VERSION, "kind": names::CLUSTER_CHANGE_FREEZE,
            "metadata": {"name": "storm", "uid": "u1", "creationTimestamp": MIDNIGHT}, "spec": spec})
    };
    let check = |spec: Value, expected: &[&str]| {
        assert_eq!(told(&[(&kinds::CLUSTER_CHANGE_FREEZE, freeze(spec))]), expected);
    };
    check(
        json!({"reason": "a storm", "by": "ann"}),
        &[
            "00:00:00 Frozen ClusterChangeFreeze/storm: a storm; ann; nothing that it selects starts until further notice",
        ],
    );
    check(
        json!({"reason": "a storm", "until": ONE}),
        &[
            "00:00:00 Frozen ClusterChangeFreeze/storm: a storm; nothing that it selects starts until 2026-11-14T01:00:00Z",
            "01:00:00 FreezeEnded ClusterChangeFreeze/storm: a storm; it ended by itself",
        ],
    );
    check(json!({"reason": "a storm", "from": THREE}), &[]);
    // Nothing was frozen before somebody froze it, whatever they wrote; and what cannot be read holds since then.
    let row = |words: &str| format!("00:00:00 Frozen ClusterChangeFreeze/storm: a storm; {words}");
    let alibi = "nothing that it selects starts from 2020-01-01T00:00:00Z until further notice";
    check(json!({"reason": "a storm", "from": "2020-01-01T00:00:00Z"}), &[&row(alibi)]);
    let found = told(&[(
        &kinds::CLUSTER_CHANGE_FREEZE,
        freeze(json!({"reason": "a storm", "from": "soon"})),
    )]);
    assert!(found[0].starts_with(&row("it holds until somebody mends it: ")), "{found:?}");
    let opening = json!({"apiVersion": names::API_VERSION, "kind": names::CLUSTER_CHANGE_OVERRIDE,
        "metadata": {"name": "fix", "uid": "u1", "creationTimestamp": MIDNIGHT},
        "spec": {"target": {"kind": "MachineConfigPool", "name": "worker"}, "until": ONE, "reason": "a hole",
            "ticket": "OPS-1", "by": "ann", "approvedBy": "bob"}});
    assert_eq!(
        told(&[(&kinds::CLUSTER_CHANGE_OVERRIDE, opening)]),
        [
            "00:00:00 Overridden ClusterChangeOverride/fix: MachineConfigPool/worker; a hole (OPS-1); ann; open until 2026-11-14T01:00:00Z",
            "02:00:00 Approved ClusterChangeOverride/fix: MachineConfigPool/worker; a hole (OPS-1); bob; somebody else approved it",
            "01:00:00 OverrideEnded ClusterChangeOverride/fix: MachineConfigPool/worker; a hole (OPS-1); ann; it ended by itself",
        ]
    );
}

/// GATE-13: by these the operator tries, and nothing is told of them.
#[test]
fn what_the_operator_tries_with_is_no_history() {
    let freeze = json!({"metadata": {"name": names::PROBE, "uid": "u1", "creationTimestamp": MIDNIGHT},
        "spec": {"reason": "to see whether the server refuses"}});
    assert_eq!(told(&[(&kinds::CLUSTER_CHANGE_FREEZE, freeze)]), [""; 0]);
    // Anybody may call an override so, and it opens a gate all the same.
    let opening = json!({"metadata": {"name": names::PROBE, "uid": "u1", "creationTimestamp": MIDNIGHT},
        "spec": {"target": {"kind": "MachineConfigPool", "name": "worker"}, "until": THREE, "reason": "a hole"}});
    assert_eq!(told(&[(&kinds::CLUSTER_CHANGE_OVERRIDE, opening)]).len(), 1);
}

#[test]
fn only_what_was_looked_for_and_not_found_is_gone() {
    let pool = json!({"metadata": {"name": "worker", "uid": "u1"}});
    let cluster = cluster(&[(&kinds::MACHINE_CONFIG_POOL, pool)]);
    let check = |kind: &str, name: &str, uid: &str, settled: bool, expected: bool| {
        let subject = Subject {
            kind: kind.into(),
            namespace: None,
            name: name.into(),
            uid: Some(uid.into()),
        };
        assert_eq!(
            is_gone(&cluster, |_| settled, &subject),
            expected,
            "{kind}/{name} {uid} {settled}"
        );
    };
    check("MachineConfigPool", "worker", "u1", true, false);
    check("MachineConfigPool", "infra", "u1", true, true);
    check("MachineConfigPool", "worker", "u2", true, true);
    check("MachineConfigPool", "infra", "u1", false, false);
    check("Pod", "infra", "u1", true, false);
    assert_eq!(What::Removed.as_str(), "Removed");
}
