//! GATE-12: every form of a stanza, every condition of a policy, every surface, one verdict.

use serde_json::{Value, json};
use std::sync::Arc;

use super::*;
use crate::{
    cluster::{decide, gauge::gauges, kinds, overview, seen::SeenGated, snapshot::Snapshot},
    gate::{Gate, enforced::Enforcement},
    policy::{explain::Reason, seen::SeenPolicy},
};

// A Sunday.
const NOW: &str = "2026-11-15T12:00:00Z";

fn schedule(recurrence: &Value) -> Value {
    json!({"strategy": "MaintenanceSchedule", "maintenanceSchedule": {"permit": {"recurrence": recurrence}}})
}

fn weekly(day: &str) -> Value {
    schedule(&json!({"frequency": "Weekly", "weekly": {"daysOfWeek": [day]}}))
}

fn policy(spec: &Value, ready: &str, observed: i64) -> Value {
    json!({
        "apiVersion": api::names::API_VERSION, "kind": "ChangeManagementPolicy",
        "metadata": {"name": "p", "generation": 2}, "spec": spec,
        "status": {"conditions": [{"type": "Ready", "status": ready, "reason": "AsExpected", "observedGeneration": observed}]},
    })
}

/// What a policy is to those who name it.
#[derive(Clone, Copy, Debug)]
enum Class {
    Doubtful,
    Shut,
    Open,
}

fn policies() -> Vec<(&'static str, Option<Value>, Class)> {
    let open = weekly("Sunday");
    let mut unread = policy(&open, "True", 2);
    unread.as_object_mut().unwrap().remove("status");
    let never = schedule(&json!({"frequency": "Yearly", "yearly": {"by": "Date",
        "date": {"datesOfMonth": [30], "month": "February"}}}));
    let unusable = json!({"strategy": "Sometimes"});
    vec![
        ("missing", None, Class::Doubtful),
        ("unread", Some(unread), Class::Doubtful),
        ("unready", Some(policy(&open, "False", 2)), Class::Doubtful),
        ("lagging", Some(policy(&open, "True", 1)), Class::Doubtful),
        ("unusable", Some(policy(&unusable, "True", 2)), Class::Doubtful),
        ("never fires", Some(policy(&never, "True", 2)), Class::Shut),
        ("never", Some(policy(&json!({"strategy": "Restrictive"}), "True", 2)), Class::Shut),
        ("closed", Some(policy(&weekly("Monday"), "True", 2)), Class::Shut),
        ("open", Some(policy(&open, "True", 2)), Class::Open),
        ("always", Some(policy(&json!({"strategy": "Permissive"}), "True", 2)), Class::Open),
    ]
}

/// Stanzas with what they come to, if the policy is doubtful, shut, open.
fn stanzas() -> Vec<(Value, [Verdict; 3])> {
    use Verdict::{CannotTell as C, Held as H, Permitted as P};
    let until = |strategy: &str, field: &str, at: &str| json!({"strategy": strategy, field: at, "byPolicy": {"name": "p"}});
    let (past, ahead) = ("2026-11-15T11:00:00Z", "2026-11-15T13:00:00Z");
    vec![
        (Value::Null, [P, P, P]),
        (json!({"strategy": "Permissive", "byPolicy": {"name": "p"}}), [P, P, P]),
        (json!({"strategy": "Restrictive", "byPolicy": {"name": "p"}}), [H, H, H]),
        (json!({"strategy": "ByPolicy", "byPolicy": {"name": "p"}}), [C, H, P]),
        (until("PermissiveUntil", "permissiveUntil", ahead), [P, P, P]),
        (until("PermissiveUntil", "permissiveUntil", past), [C, H, P]),
        // Held for an hour at least; but until when, nobody can tell.
        (until("RestrictiveUntil", "restrictiveUntil", ahead), [C, H, H]),
        (until("RestrictiveUntil", "restrictiveUntil", past), [C, H, P]),
        (json!({"strategy": "PermissiveUntil", "permissiveUntil": past}), [H, H, H]),
        (json!({"strategy": "RestrictiveUntil", "restrictiveUntil": past}), [P, P, P]),
        (json!({"strategy": "ByPolicy"}), [C, C, C]),
        (json!({"strategy": "PermissiveUntil"}), [C, C, C]),
        (json!({"strategy": "Sometimes"}), [C, C, C]),
    ]
}

/// GATE-12
#[test]
fn every_surface_gives_the_same_verdict() {
    let now = Instant::parse(NOW).unwrap();
    for (name, document, class) in policies() {
        for (stanza, expected) in stanzas() {
            let expected = expected[class as usize];
            let row = format!("{stanza} with a policy that is {name}");
            let mut world = Snapshot::default();
            if let Some(document) = &document {
                world.add(&kinds::CHANGE_MANAGEMENT_POLICY, document);
            }
            world.add(
                &kinds::CLUSTER_VERSION,
                &json!({"metadata": {"name": "version"},
                "spec": {"changeManagement": stanza, "desiredUpdate": {"version": "4.21.3"}}}),
            );
            let seen = Arc::clone(world.gated().next().unwrap());
            let gate = world.gate(&seen);
            assert_eq!(gate.verdict(now), expected, "{row}");
            assert_eq!(gate.permit(now).is_ok(), expected == Verdict::Permitted, "permit: {row}");
            assert_eq!(of_metrics(&seen, &gate, now), expected, "metrics: {row}");
            assert_eq!(overview::resource(&world, &seen, now).verdict, expected, "status: {row}");
            check_tree(&world.explain(&seen, now), expected, &row);
            if !stanza.is_null() {
                check_status(&seen, &gate, now, expected, &row);
            }
        }
        if let Some(document) = &document {
            let seen = SeenPolicy::new(&kinds::CHANGE_MANAGEMENT_POLICY, document);
            let expected = match class {
                Class::Doubtful => Verdict::CannotTell,
                Class::Shut => Verdict::Held,
                Class::Open => Verdict::Permitted,
            };
            assert_eq!(seen.verdict(now), expected, "{name}");
            assert_eq!(overview::policy(&seen, now).verdict, expected, "{name}");
        }
    }
}

fn of_metrics(seen: &SeenGated, gate: &Gate, now: Instant) -> Verdict {
    let found = gauges(seen, gate, now);
    let said = match (found.next_change_eta, found.permissive_remaining) {
        (-2, -2) => Verdict::CannotTell,
        (0, _) => Verdict::Permitted,
        (_, 0) => Verdict::Held,
        other => panic!("{other:?}"),
    };
    assert_eq!(found.last_change == 0, said == Verdict::Permitted);
    assert_eq!(found.change_pending, if said == Verdict::Permitted { 1 } else { 2 });
    said
}

/// The tree says it at its root and at the stanza, and a verdict that nobody can tell has no end.
fn check_tree(tree: &Reason, expected: Verdict, row: &str) {
    let [stanza] = tree.because.as_slice() else { panic!("{tree:#?}") };
    assert_eq!((tree.verdict, stanza.verdict), (expected, expected), "explain: {row}");
    if expected == Verdict::CannotTell {
        assert_eq!(tree.until, None, "{row}");
        let [doubt] = stanza.because.as_slice() else { panic!("{tree:#?}") };
        assert_eq!(doubt.verdict, Verdict::CannotTell, "{row}");
    }
}

fn check_status(seen: &SeenGated, gate: &Gate, now: Instant, expected: Verdict, row: &str) {
    const DOUBT: &[&str] = &["PolicyNotFound", "PolicyNotReady", "InvalidStanza"];
    let plan = decide::gated(seen, gate, Enforcement::Advisory, now);
    let operations = plan.status.unwrap().operations;
    let condition = |kind: &str| {
        let mut all = operations.iter().map(|operation| &operation["value"]);
        all.rfind(|value| value["type"] == kind).unwrap_or_else(|| panic!("{kind}")).clone()
    };
    let (paused, pending) = (condition("ChangesPaused"), condition("ChangesPending"));
    let said = match (paused["status"].as_str().unwrap(), paused["reason"].as_str().unwrap()) {
        ("False", _) => Verdict::Permitted,
        ("True", reason) if DOUBT.contains(&reason) => Verdict::CannotTell,
        ("True", _) => Verdict::Held,
        other => panic!("{other:?}"),
    };
    assert_eq!(said, expected, "status: {row}");
    let message = pending["message"].as_str().unwrap();
    assert_eq!(
        message.contains("nobody can tell"),
        expected == Verdict::CannotTell,
        "{message}: {row}"
    );
    assert_eq!(message.starts_with("held"), expected != Verdict::Permitted, "{message}: {row}");
    let endless = message.contains("no end in sight");
    assert!(!(endless && expected == Verdict::CannotTell), "{message}: {row}");
}

#[test]
fn each_verdict_has_its_own_words() {
    assert_eq!(Verdict::ALL.map(Verdict::as_str), ["permitted", "held", "cannot tell"]);
    assert_eq!(Verdict::ALL.map(Verdict::state), ["open", "held", "unknown"]);
}
