//! A kind that nobody here has heard of: the only line about it is its row.

use api::{
    meta::ConditionStatus,
    schema::{Scope, System},
};
use serde_json::json;

use super::super::*;
use crate::{
    cluster::{
        decide::tests::apply,
        overriding::{self, WantedStanza},
        overview,
    },
    gate::{change::ChangeId, pending::Waiting},
    policy::{stanza::Ours, verdict::Verdict},
};

fn at(text: &str) -> Instant {
    Instant::parse(text).unwrap()
}

/// Harbours of somebody else's, with a stanza and an answer in places of their own.
fn harbours() -> &'static Row {
    let role = Role::Gated {
        policy: &CHANGE_MANAGEMENT_POLICY,
        system: System::Workloads,
        begins: "the harbour master begins dredging",
    };
    let version = "boats.example.com/v1".to_owned();
    let kind = Kind::foreign(version, "Harbour".to_owned(), Scope::Namespaced, role);
    let gating =
        Gating { stanza: "/spec/upkeep/changes", answer: "/status/upkeep", ours: Ours::Stanza };
    let pending = |document: &Value| {
        let depth = |path: &str| document.pointer(path).and_then(Value::as_i64).unwrap_or(0);
        let dredge = depth("/spec/depth") > depth("/status/depth");
        let waiting = dredge.then_some(Waiting::Hosted { to: ChangeId::Revision, said: None });
        Pending { waiting: waiting.into_iter().collect(), ..Pending::default() }
    };
    let gated = Gated { gating, pending, ..Gated::PLAIN };
    Row::gated(kind, gated, Duty::to(advisory)).kept()
}

/// GATE-1, GATE-2, GATE-6, GATE-12
#[test]
fn a_row_that_is_made_at_run_time_has_gate_pending_and_status() {
    let row = harbours();
    let now = at("2026-11-18T12:00:00Z");
    let mut harbour = json!({
        "apiVersion": row.api_version, "kind": row.name,
        "metadata": {"namespace": "kent", "name": "dover", "resourceVersion": "7", "generation": 1},
        "spec": {"depth": 9, "upkeep": {"changes": {
            "strategy": "ByPolicy", "byPolicy": {"name": "weekend"}}}},
        "status": {"depth": 8},
    });
    let policy = json!({
        "apiVersion": api::names::API_VERSION, "kind": "ChangeManagementPolicy",
        "metadata": {"name": "weekend"},
        "spec": {"strategy": "MaintenanceSchedule", "maintenanceSchedule": {"permit": {
            "recurrence": {"frequency": "Weekly", "weekly": {"daysOfWeek": ["Saturday"]}}}}},
    });
    let key = Key::new(row, Some("kent"), "dover");
    let cluster = |harbour: &Value| {
        let mut cluster = Snapshot::default();
        cluster.add_written(&CHANGE_MANAGEMENT_POLICY, &policy, now);
        // One of the same name and another kind is another object.
        cluster.add(&NODE_POOL, harbour);
        cluster.add(row, harbour);
        cluster
    };
    let decide = |cluster: &Snapshot, now| {
        let found = row.controller(Pools::Watched).unwrap();
        (found.duty.decide)(cluster.get(&key).unwrap(), &Surroundings::of(cluster), now)
    };

    // Its gate is that of its policy, which knows that it is named.
    let first = cluster(&harbour);
    let seen = first.resource(&key).unwrap();
    assert_eq!(first.gate(seen).verdict(now), Verdict::Held);
    assert_eq!(first.gate(seen).verdict(at("2026-11-21T12:00:00Z")), Verdict::Permitted);
    let named = seen.policy().unwrap();
    assert_eq!(first.naming(&named).collect::<Vec<_>>(), [&key]);
    assert_eq!(overview::resource(&first, seen, now).object, key);

    // What is pending is what its row says, and the status tells so where its row says.
    assert_eq!(seen.pending.waiting.len(), 1);
    let plan = decide(&first, now);
    let patch = plan.status.unwrap();
    assert_eq!(patch.operations[0]["value"], "7", "EXEC-1");
    patch.operations.iter().for_each(|operation| apply(&mut harbour, operation));
    assert_eq!(harbour["status"]["upkeep"]["behavior"]["current"]["state"], "ChangesPaused");
    assert_eq!(harbour["status"]["depth"], 8, "what is others' stays");
    let second = cluster(&harbour);
    let seen = second.resource(&key).unwrap();
    let condition = |kind: &str| seen.conditions.get(kind).unwrap();
    assert_eq!(condition(api::names::CHANGES_PENDING).reason, api::names::HELD);
    let enforced = condition(api::names::ENFORCED);
    assert_eq!(enforced.status, ConditionStatus::False);
    let message = enforced.message.as_deref().unwrap();
    assert!(message.contains("the harbour master begins dredging"), "{message}");
    assert_eq!(decide(&second, now).status, None, "STAT-3");
    assert_eq!(decide(&second, now).wake, Some(at("2026-11-21T00:00:00Z")), "LIVE-2");

    // Whoever overrides it writes into its own stanza, and what is told names that field.
    let wanted = WantedStanza::Restrictive;
    let change = overriding::change(seen, second.policy(&named), wanted, None, now).unwrap();
    assert_eq!(change.patch["spec"]["upkeep"]["changes"]["strategy"], "Restrictive");
    harbour["spec"]["upkeep"]["changes"]["strategy"] = json!("Restrictive");
    let third = cluster(&harbour);
    let behavior = third.behavior(third.resource(&key).unwrap(), now);
    assert_eq!(behavior.current.reason, "spec.upkeep.changes is Restrictive");
    // A stanza that cannot be read closes, and names its field (GATE-14).
    harbour["spec"]["upkeep"]["changes"]["strategie"] = json!("Permissive");
    let fourth = cluster(&harbour);
    let gate = fourth.gate(fourth.resource(&key).unwrap());
    assert_eq!(gate.verdict(now), Verdict::CannotTell);
    let said = &gate.doubt().unwrap().message;
    assert!(said.contains("spec.upkeep.changes"), "{said}");
}
