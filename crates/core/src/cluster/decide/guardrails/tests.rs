//! Rows for GRD-4 to GRD-6: a policy, guardrails that come and go, and a clock.

use serde_json::{Value, json};

use super::*;
use crate::{
    cluster::{
        decide,
        kinds::{CHANGE_GUARDRAIL, CHANGE_MANAGEMENT_POLICY},
        snapshot::Snapshot,
    },
    gate::plan::Plan,
};

/// A policy that permits four hours every Tuesday, and what guards it.
struct World {
    policy: Value,
    guardrails: Vec<Value>,
}

const BEFORE: &str = "2026-10-01T00:00:00Z";
const NOW: &str = "2026-11-18T00:00:00Z";

fn at(text: &str) -> Instant {
    Instant::parse(text).unwrap()
}

fn guardrail(mode: &str, hours: i64, created: &str) -> Value {
    json!({"apiVersion": names::API_VERSION, "kind": "ChangeGuardrail",
        "metadata": {"name": "platform", "creationTimestamp": created},
        "spec": {"mode": mode, "minimumHours": [{"hours": hours, "inDays": 32, "stretch": "4h"}]}})
}

impl World {
    fn new() -> Self {
        let weekly = json!({"frequency": "Weekly", "weekly": {"daysOfWeek": ["Tuesday"]}});
        let policy = json!({"apiVersion": names::API_VERSION, "kind": "ChangeManagementPolicy",
            "metadata": {"name": "tuesday", "generation": 1, "resourceVersion": "1", "creationTimestamp": BEFORE},
            "spec": {"strategy": "MaintenanceSchedule", "maintenanceSchedule": {
                "permit": {"recurrence": weekly, "startTime": "02:00", "duration": "4h"}}}});
        Self { policy, guardrails: Vec::new() }
    }

    fn decide(&self, now: &str) -> Plan {
        let mut snapshot = Snapshot::default();
        self.guardrails.iter().for_each(|one| snapshot.add(&CHANGE_GUARDRAIL, one));
        let seen = SeenPolicy::new(&CHANGE_MANAGEMENT_POLICY, &self.policy);
        decide::policy(&seen, &snapshot.judge_policy(&seen, at(now)), at(now))
    }

    /// Decides and writes; then there is nothing left to do (STAT-3).
    fn settle(&mut self, now: &str) -> Plan {
        let plan = self.decide(now);
        if let Some(patch) = &plan.status {
            self.policy["status"] = patch.operations[1]["value"].clone();
        }
        let again = self.decide(now);
        assert_eq!(
            (&again.status, &again.notes),
            (&None, &Vec::new()),
            "deciding twice is deciding once"
        );
        plan
    }

    fn edit(&mut self, duration: &str) {
        self.policy["spec"]["maintenanceSchedule"]["permit"]["duration"] = json!(duration);
        let generation = self.policy["metadata"]["generation"].as_i64().unwrap() + 1;
        self.policy["metadata"]["generation"] = json!(generation);
    }

    /// The condition of a type, as status and reason.
    fn says(&self, kind: &str) -> String {
        let conditions = self.policy.pointer("/status/conditions").and_then(Value::as_array);
        let found = conditions.into_iter().flatten().find(|one| one["type"] == kind);
        found.map_or_else(
            || "none".into(),
            |one| {
                format!("{} {}", one["status"].as_str().unwrap(), one["reason"].as_str().unwrap())
            },
        )
    }

    fn state(&self) -> &Value {
        &self.policy["status"]["behavior"]["current"]["state"]
    }
}

/// Who has no guardrail is told of none, and nothing of a status changes.
#[test]
fn without_a_guardrail_there_is_no_condition() {
    let mut world = World::new();
    world.settle(NOW);
    assert_eq!(
        (world.says("Ready"), world.says("GuardrailsMet")),
        ("True AsExpected".into(), "none".into())
    );
    world.guardrails = vec![guardrail("Enforce", 16, NOW)];
    world.settle(NOW);
    assert_eq!(world.says("GuardrailsMet"), "True AsExpected");
    world.guardrails.clear();
    world.settle(NOW);
    assert_eq!(world.says("GuardrailsMet"), "none");
}

/// GRD-5: what was there is told of and goes on; an edit that does not meet it closes; one that does opens again.
#[test]
fn what_was_there_before_goes_on_and_an_edit_after_it_closes() {
    let mut world = World::new();
    world.settle("2026-11-17T00:00:00Z");
    world.guardrails = vec![guardrail("Enforce", 48, NOW)];
    let plan = world.settle("2026-11-18T01:00:00Z");
    assert_eq!(
        (world.says("Ready"), world.says("GuardrailsMet")),
        ("True AsExpected".into(), "False TooFewHours".into())
    );
    assert_eq!(
        plan.notes.iter().map(|note| note.reason).collect::<Vec<_>>(),
        [names::GUARDRAILS_NOT_MET]
    );
    // A tightened guardrail touches nobody who stood before it.
    world.guardrails = vec![guardrail("Enforce", 100, NOW)];
    world.settle("2026-11-18T02:00:00Z");
    assert_eq!(world.says("Ready"), "True AsExpected");
    world.edit("5h");
    let plan = world.settle("2026-11-18T03:00:00Z");
    assert_eq!(
        (world.says("Ready"), world.says("ChangesRestricted")),
        ("False GuardrailsNotMet".into(), "True PolicyNotReady".into())
    );
    assert_eq!(world.state(), "ChangesPaused");
    assert_eq!(
        world.policy["status"]["behavior"]["next"],
        Value::Null,
        "nobody can tell when that ends"
    );
    assert!(plan.notes.iter().any(|note| note.reason == names::POLICY_NOT_READY));
    let message = world.policy["status"]["conditions"][0]["message"].as_str().unwrap();
    for part in [
        "ChangeGuardrail/platform (minimumHours[0])",
        "requires 100h",
        "finds 20h",
        "every gate that goes by this policy is shut",
    ] {
        assert!(message.contains(part), "{message}");
    }
    // It stays shut through the edges of its own windows.
    world.settle("2026-11-24T03:00:00Z");
    assert_eq!(
        (world.says("Ready"), world.state()),
        ("False GuardrailsNotMet".into(), &json!("ChangesPaused"))
    );
    world.edit("26h");
    world.settle("2026-11-24T04:00:00Z");
    assert_eq!(
        (world.says("Ready"), world.says("GuardrailsMet")),
        ("True AsExpected".into(), "True AsExpected".into())
    );
    assert_eq!(world.state(), "ChangesUnpaused");
}

/// Whoever takes the guardrail away takes its hold away.
#[test]
fn without_its_guardrail_a_refused_policy_is_ready_again() {
    let mut world = World::new();
    world.guardrails = vec![guardrail("Enforce", 48, BEFORE)];
    world.settle(NOW);
    assert_eq!(
        world.says("Ready"),
        "False GuardrailsNotMet",
        "created in the same second is not before"
    );
    world.guardrails[0]["spec"]["mode"] = json!("Warn");
    world.settle(NOW);
    assert_eq!(
        (world.says("Ready"), world.says("GuardrailsMet")),
        ("True AsExpected".into(), "False TooFewHours".into())
    );
}

/// Warn and Audit tell, and shut nothing.
#[test]
fn only_what_is_enforced_closes() {
    for mode in ["Warn", "Audit"] {
        let mut world = World::new();
        world.guardrails = vec![guardrail(mode, 48, BEFORE)];
        world.settle(NOW);
        assert_eq!(
            (world.says("Ready"), world.says("GuardrailsMet")),
            ("True AsExpected".into(), "False TooFewHours".into()),
            "{mode}"
        );
    }
}

/// A policy that nobody has looked at yet was there before only if it was never edited and the server made it before the guardrail.
#[test]
fn a_policy_that_nobody_knows_is_judged_by_what_nobody_can_forge() {
    for (generation, created, ready) in [
        (1, "2026-11-01T00:00:00Z", "True AsExpected"),
        (2, "2026-11-01T00:00:00Z", "False GuardrailsNotMet"),
        (1, "2026-11-17T00:00:00Z", "False GuardrailsNotMet"),
    ] {
        let mut world = World::new();
        world.policy["metadata"]["generation"] = json!(generation);
        world.policy["metadata"]["creationTimestamp"] = json!(created);
        // Whoever edits may have these say what they like.
        world.policy["metadata"]["managedFields"] =
            json!([{"manager": "x", "operation": "Update", "time": "2026-01-01T00:00:00Z"}]);
        world.guardrails = vec![guardrail("Enforce", 48, "2026-11-10T00:00:00Z")];
        world.settle(NOW);
        assert_eq!(world.says("Ready"), ready, "{generation} {created}");
    }
}

/// One that cannot be used holds edits: doubt closes.
#[test]
fn a_guardrail_that_cannot_be_used_holds_edits_and_nothing_else() {
    let mut world = World::new();
    world.settle(NOW);
    world.guardrails = vec![guardrail("Enforce", 48, NOW)];
    world.guardrails[0]["spec"]["minimunHours"] = json!([]);
    world.settle(NOW);
    assert_eq!(
        (world.says("Ready"), world.says("GuardrailsMet")),
        ("True AsExpected".into(), "Unknown GuardrailUnclear".into())
    );
    world.edit("20h");
    world.settle(NOW);
    assert_eq!(world.says("Ready"), "False GuardrailsNotMet");
}

/// POL-7: an idle cluster is written at edges alone, also while a guardrail is not met.
#[test]
fn what_is_not_met_is_written_at_edges_only() {
    let mut world = World::new();
    world.guardrails = vec![guardrail("Warn", 48, BEFORE)];
    world.settle(NOW);
    for now in ["2026-11-18T00:00:01Z", "2026-11-20T12:00:00Z", "2026-11-24T01:59:59Z"] {
        assert_eq!(world.decide(now).status, None, "{now}");
    }
    assert!(world.decide("2026-11-24T02:00:00Z").status.is_some());
}
