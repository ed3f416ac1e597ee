//! Rows for the five metrics, METR-1 and METR-2.

#![expect(clippy::needless_pass_by_value, reason = "rows are written in place")]

use serde_json::{Value, json};
use std::sync::Arc;

use super::*;
use crate::{
    cluster::{
        decide,
        kinds::{self, tests::gated},
    },
    gate::{
        Basis,
        change::ChangeId,
        enforced::Enforcement,
        gate,
        pending::{Course, Differences, Machines, Pending, Stop, UnderWay, Waiting},
    },
    policy::seen::SeenPolicy,
};

// A Sunday; windows are Saturdays.
const NOW: &str = "2026-11-15T12:00:00Z";
const HALF_A_DAY: i64 = 43_200;
const UNTIL_SATURDAY: i64 = 5 * 86_400 + HALF_A_DAY;

fn policy(ready: &str) -> Arc<SeenPolicy> {
    Arc::new(SeenPolicy::new(
        &kinds::CHANGE_MANAGEMENT_POLICY,
        &json!({
            "apiVersion": api::names::API_VERSION, "kind": "ChangeManagementPolicy",
            "metadata": {"name": "saturday", "generation": 1},
            "spec": {"strategy": "MaintenanceSchedule", "maintenanceSchedule": {"permit": {"recurrence":
                {"frequency": "Weekly", "weekly": {"daysOfWeek": ["Saturday"]}}}}},
            "status": {"conditions": [{"type": "Ready", "status": ready, "reason": "AsExpected", "observedGeneration": 1}]},
        }),
    ))
}

fn lacking() -> Waiting {
    Waiting::Machines {
        to: ChangeId::rendered("rendered-worker-b"),
        machines: Machines { count: 1, of: 2 },
        differences: Differences::default(),
    }
}

fn of(stanza: Value, pending: bool, policy: Option<Arc<SeenPolicy>>, at: &str) -> Gauges {
    let mut document =
        json!({"metadata": {"name": "version"}, "spec": {"changeManagement": stanza}});
    if pending {
        document["spec"]["desiredUpdate"] = json!({"version": "4.21.3"});
    }
    let seen = gated(&kinds::CLUSTER_VERSION, &document);
    let found = gauges(&seen, &gate(&seen.stanza, policy.as_ref()), Instant::parse(at).unwrap());
    // METR-1, METR-2: laws of every row.
    let Gauges { next_change_eta: eta, permissive_remaining: remaining, .. } = found;
    if eta == CANNOT_TELL || remaining == CANNOT_TELL {
        assert_eq!((eta, remaining), (CANNOT_TELL, CANNOT_TELL));
    } else {
        assert_eq!(eta == 0, remaining != 0);
    }
    assert!(found.strategies().map(|(_, value)| value).sum::<i64>() <= 1);
    found
}

#[test]
fn each_state_has_its_figures() {
    let check = |stanza: Value, at: &str, expected: (i64, i64, i64, i64), strategy: &str| {
        let found = of(stanza.clone(), true, Some(policy("True")), at);
        let Gauges { change_pending, next_change_eta, permissive_remaining, last_change, .. } =
            found;
        assert_eq!(
            (change_pending, next_change_eta, permissive_remaining, last_change),
            expected,
            "{stanza} at {at}"
        );
        let enabled: Vec<_> =
            found.strategies().filter(|(_, on)| *on == 1).map(|(name, _)| name).collect();
        assert_eq!(enabled.join(","), strategy, "{stanza} at {at}");
    };
    let by_policy = json!({"strategy": "ByPolicy", "byPolicy": {"name": "saturday"}});
    check(Value::Null, NOW, (1, 0, -1, 0), "");
    check(json!({"strategy": "Permissive"}), NOW, (1, 0, -1, 0), "Permissive");
    check(json!({"strategy": "Restrictive"}), NOW, (2, -1, 0, -1), "Restrictive");
    check(by_policy.clone(), NOW, (2, UNTIL_SATURDAY, 0, HALF_A_DAY), "MaintenanceSchedule");
    check(by_policy.clone(), "2026-11-21T00:00:00Z", (1, 0, 86_400, 0), "MaintenanceSchedule");
    check(by_policy.clone(), "2026-11-21T23:59:59Z", (1, 0, 1, 0), "MaintenanceSchedule");
    // 0 would say "permitted now".
    check(by_policy, "2026-11-22T00:00:00Z", (2, 6 * 86_400, 0, 1), "MaintenanceSchedule");
    let until = json!({"strategy": "PermissiveUntil", "permissiveUntil": "2026-11-15T13:00:00Z", "byPolicy": {"name": "saturday"}});
    check(until.clone(), NOW, (1, 0, 3600, 0), "Permissive");
    check(until, "2026-11-15T13:00:00Z", (2, UNTIL_SATURDAY - 3600, 0, 1), "MaintenanceSchedule");
    let until = json!({"strategy": "RestrictiveUntil", "restrictiveUntil": "2026-11-15T13:00:00Z"});
    check(until.clone(), NOW, (2, 3600, 0, -1), "Restrictive");
    check(until, "2026-11-15T13:00:00Z", (1, 0, -1, 0), "Permissive");
}

#[test]
fn doubt_is_told_from_a_pause() {
    let by_policy = json!({"strategy": "ByPolicy", "byPolicy": {"name": "saturday"}});
    for policy in [None, Some(policy("False"))] {
        let found = of(by_policy.clone(), true, policy, NOW);
        assert_eq!(
            (found.change_pending, found.next_change_eta, found.permissive_remaining),
            (2, -2, -2)
        );
    }
}

#[test]
fn nothing_pending_is_zero_and_what_has_begun_is_one() {
    let restrictive = json!({"strategy": "Restrictive"});
    assert_eq!(of(restrictive.clone(), false, None, NOW).change_pending, 0);
    let document = json!({"metadata": {"name": "version"}, "spec": {"changeManagement": restrictive},
        "status": {"desired": {"version": "4.21.3"}, "history": [{"state": "Partial"}]}});
    let seen = gated(&kinds::CLUSTER_VERSION, &document);
    let found = gauges(&seen, &gate(&seen.stanza, None), Instant::parse(NOW).unwrap());
    assert_eq!(found.change_pending, 1, "a closing gate does not stop what has begun (CV-1)");
}

/// POOL-5, POOL-7, CV-2
#[test]
fn what_goes_on_while_the_gate_is_shut_is_being_initiated_and_counts_as_the_last_change() {
    let check = |stanza: Value, pending: Pending, expected: (i64, i64)| {
        let document =
            json!({"metadata": {"name": "worker"}, "spec": {"changeManagement": stanza}});
        let seen = SeenGated { pending, ..gated(&kinds::MACHINE_CONFIG_POOL, &document) };
        let policy = policy("True");
        let now = Instant::parse(NOW).unwrap();
        let found = gauges(&seen, &gate(&seen.stanza, Some(&policy)), now);
        assert_eq!((found.change_pending, found.last_change), expected, "{stanza}");
    };
    let waiting = |course: Course, initiated: Option<&str>| Pending {
        waiting: vec![lacking()],
        course,
        initiated: initiated.map(|at| Instant::parse(at).unwrap()),
        ..Pending::default()
    };
    let anyway = || Course::Anyway([Basis::Consent("n1".into())].into());
    let restrictive = json!({"strategy": "Restrictive"});
    check(restrictive.clone(), waiting(Course::Gate, None), (2, -1));
    check(restrictive.clone(), waiting(anyway(), None), (1, -1));
    check(restrictive.clone(), waiting(Course::Gate, Some("2026-11-15T11:59:00Z")), (2, 60));
    check(restrictive, waiting(Course::Stopped(Stop::Paused), None), (2, -1));
    // The window ended at midnight; what was initiated after it is later, and what was initiated in it is not.
    let by_policy = json!({"strategy": "ByPolicy", "byPolicy": {"name": "saturday"}});
    check(by_policy.clone(), waiting(Course::Gate, Some("2026-11-15T11:59:00Z")), (2, 60));
    check(by_policy, waiting(Course::Gate, Some("2026-11-14T11:59:00Z")), (2, HALF_A_DAY));
}

/// GATE-6: one predicate behind both.
#[test]
fn the_condition_and_the_metric_agree_on_what_is_pending() {
    let now = Instant::parse(NOW).unwrap();
    let courses = [
        Course::Gate,
        Course::Anyway([Basis::Consent("n1".into())].into()),
        Course::Stopped(Stop::Paused),
    ];
    let going = UnderWay { change: ChangeId::rendered("rendered-worker-b"), machines: None };
    let mut rows = Vec::new();
    for strategy in ["Permissive", "Restrictive", "ByPolicy"] {
        let stanza = json!({"strategy": strategy, "byPolicy": {"name": "gone"}});
        for course in &courses {
            for (waits, goes) in [(false, false), (false, true), (true, false), (true, true)] {
                let document =
                    json!({"metadata": {"name": "worker"}, "spec": {"changeManagement": stanza}});
                let pending = Pending {
                    waiting: waits.then(lacking).into_iter().collect(),
                    begun: goes.then(|| going.clone()).into_iter().collect(),
                    course: course.clone(),
                    ..Pending::default()
                };
                let seen = SeenGated { pending, ..gated(&kinds::MACHINE_CONFIG_POOL, &document) };
                let gate = gate(&seen.stanza, None);
                let figure = gauges(&seen, &gate, now).change_pending;
                let plan = decide::gated(&seen, &gate, Enforcement::Proven, now);
                let operations = plan.status.unwrap().operations;
                let mut values = operations.iter().map(|operation| &operation["value"]);
                let condition = values.find(|value| value["type"] == "ChangesPending").unwrap();
                let reason = condition["reason"].as_str().unwrap().to_owned();
                let row = format!("{strategy} {course:?} waits {waits} goes {goes}: {condition}");
                assert_eq!(condition["status"] == "True", figure != 0, "{row}");
                let expected = match reason.as_str() {
                    "NothingPending" => 0,
                    "UnderWay" | "Initiating" => 1,
                    "Held" | "Stopped" => 2,
                    _ => panic!("{row}"),
                };
                assert_eq!(figure, expected, "{row}");
                rows.push(reason);
            }
        }
    }
    rows.sort();
    rows.dedup();
    assert_eq!(rows, ["Held", "Initiating", "NothingPending", "Stopped", "UnderWay"]);
}

/// A pool that is paused, pinned or blocked initiates nothing in an open window.
#[test]
fn what_is_stopped_is_not_being_initiated() {
    let document = json!({"metadata": {"name": "worker"}});
    let pending = Pending {
        waiting: vec![lacking()],
        course: Course::Stopped(Stop::Paused),
        ..Pending::default()
    };
    let seen = SeenGated { pending, ..gated(&kinds::MACHINE_CONFIG_POOL, &document) };
    let found = gauges(&seen, &gate(&seen.stanza, None), Instant::parse(NOW).unwrap());
    assert_eq!(found.change_pending, 2);
}
