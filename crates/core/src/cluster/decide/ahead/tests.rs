use serde_json::{Value, json};

use super::*;
use crate::{
    cluster::{decide, kinds::CLUSTER_VERSION, snapshot::Snapshot},
    gate::{enforced::Enforcement, plan::Plan},
};

const NOW: &str = "2026-11-18T12:00:00Z";

fn at(text: &str) -> Instant {
    Instant::parse(text).unwrap()
}

fn blocked(day: &str) -> Foreseen {
    Foreseen::Blocked(Ahead { at: at(day), said: format!("worker is late on {day}") })
}

/// What is planned about a control plane that says this of itself.
fn plan(conditions: &Value, foreseen: Foreseen) -> Plan {
    let mut snapshot = Snapshot::default();
    let document = json!({"metadata": {"name": "version"},
        "spec": {"changeManagement": {"strategy": "Restrictive"}}, "status": {"conditions": conditions}});
    snapshot.add(&CLUSTER_VERSION, &document);
    let mut version = (**snapshot.control_plane().unwrap()).clone();
    version.pending.foreseen = foreseen;
    decide::gated(&version, &snapshot.gate(&version), Enforcement::Advisory, at(NOW))
}

/// The condition that a plan writes.
fn written(plan: &Plan) -> Option<Value> {
    let operations = &plan.status.as_ref()?.operations;
    let values = operations.iter().map(|operation| &operation["value"]);
    values.into_iter().find(|value| value["type"] == names::SKEW_AHEAD).cloned()
}

fn told(plan: &Plan) -> usize {
    plan.notes.iter().filter(|note| note.reason == names::SKEW_AHEAD).count()
}

/// CV-3: once it appears and once it moves by more than a day; never for the same, and never for nothing.
#[test]
fn a_block_is_told_once_it_appears_and_when_it_moves_by_more_than_a_day() {
    let saturday = "2027-03-06T00:00:00Z";
    let first = plan(&json!([]), blocked(saturday));
    let condition = written(&first).unwrap();
    assert_eq!(condition["status"], "True");
    assert_eq!(condition["reason"], names::KUBELETS_TOO_OLD);
    assert_eq!(
        condition["message"],
        "2027-03-06T00:00:00Z is the day: worker is late on 2027-03-06T00:00:00Z"
    );
    assert_eq!(told(&first), 1);
    let known = json!([condition]);
    let check = |foreseen: Foreseen, status: Option<&str>, notes: usize| {
        let next = plan(&known, foreseen.clone());
        let found = written(&next).map(|condition| condition["status"].clone());
        assert_eq!(found, status.map(|status| json!(status)), "{foreseen:?}");
        assert_eq!(told(&next), notes, "{foreseen:?}");
    };
    // POL-7: what stays as it was is not written.
    check(blocked(saturday), None, 0);
    check(blocked("2027-03-06T09:00:00Z"), Some("True"), 0);
    check(blocked("2027-03-07T00:00:00Z"), Some("True"), 0);
    check(blocked("2027-03-07T00:00:01Z"), Some("True"), 1);
    check(blocked("2027-02-20T00:00:00Z"), Some("True"), 1);
    check(Foreseen::Clear, Some("False"), 0);
    // Where the gate is open the day is whenever somebody looks: what was told first stays.
    let open = plan(&json!([]), blocked("2026-11-10T00:00:00Z"));
    let since = json!([written(&open).unwrap()]);
    let later = plan(&since, blocked(NOW));
    assert_eq!((written(&later), told(&later)), (None, 0));
    // Who does not look says nothing, and takes nothing back.
    check(Foreseen::NotAsked, None, 0);
    assert_eq!(written(&plan(&json!([]), Foreseen::Clear)), None, "a healthy one stays as it is");
}

/// CV-3: the metric reads what the condition says, and needs no forecast.
#[test]
fn what_was_told_is_read_back() {
    let check = |conditions: Value, expected: Option<Option<&str>>| {
        let document =
            json!({"metadata": {"name": "version"}, "status": {"conditions": conditions}});
        let mut snapshot = Snapshot::default();
        snapshot.add(&CLUSTER_VERSION, &document);
        let found = recorded(snapshot.control_plane().unwrap());
        assert_eq!(found, expected.map(|at_day| at_day.map(at)), "{document}");
    };
    let told = |status: &str, message: &str| {
        json!([{"type": names::SKEW_AHEAD, "status": status, "reason": "x", "message": message,
            "lastTransitionTime": NOW}])
    };
    check(json!([]), None);
    check(told("True", "2027-03-06T00:00:00Z is the day: x"), Some(Some("2027-03-06T00:00:00Z")));
    check(told("False", "no pool"), Some(None));
    check(told("False", "2027-03-06T00:00:00Z is the day: x"), Some(None));
    check(told("True", "somebody wrote this"), Some(None));
}
