//! Rows for POL-3 to POL-8, GATE-1, GATE-6 and STAT-1 to STAT-4: a world of one document and a clock.

#![expect(clippy::needless_pass_by_value, reason = "rows are written in place")]

use serde_json::Value;
use std::sync::Arc;

use super::*;
use crate::{
    cluster::kinds::{self, tests::gated},
    gate::{enforced::Enforcement, gate, note::Weight},
};

fn at(text: &str) -> Instant {
    Instant::parse(text).unwrap()
}

/// A document that a controller looks after.
struct World {
    document: Value,
    policy: Option<Arc<SeenPolicy>>,
    kept: Enforcement,
}

impl World {
    fn policy(strategy: &str) -> Self {
        let document = json!({
            "apiVersion": api::names::API_VERSION, "kind": "ChangeManagementPolicy",
            "metadata": {"name": "saturday", "generation": 1, "resourceVersion": "1"},
            "spec": {"strategy": strategy, "maintenanceSchedule": {"permit": {"recurrence":
                {"frequency": "Weekly", "weekly": {"daysOfWeek": ["Saturday"]}}}}},
        });
        Self { document, policy: None, kept: Enforcement::default() }
    }

    fn pool(stanza: Value) -> Self {
        let document = json!({
            "apiVersion": "machineconfiguration.openshift.io/v1", "kind": "MachineConfigPool",
            "metadata": {"name": "worker", "generation": 1, "resourceVersion": "1"},
            "spec": {"changeManagement": stanza, "configuration": {"name": "rendered-worker-b"}},
            "status": {"machineCount": 3, "updatedMachineCount": 3, "configuration": {"name": "rendered-worker-b"},
                "conditions": [{"type": "Updated", "status": "True", "reason": "", "message": "", "lastTransitionTime": null}]},
        });
        let mut policy = Self::policy("MaintenanceSchedule");
        policy.settle("2026-11-02T00:00:00Z");
        let policy =
            Some(Arc::new(SeenPolicy::new(&kinds::CHANGE_MANAGEMENT_POLICY, &policy.document)));
        Self { document, policy, kept: Enforcement::default() }
    }

    fn decide(&self, now: &str) -> Plan {
        if self.document["kind"] == "ChangeManagementPolicy" {
            return super::policy(
                &SeenPolicy::new(&kinds::CHANGE_MANAGEMENT_POLICY, &self.document),
                &Judgement::default(),
                at(now),
            );
        }
        let seen = gated(&kinds::MACHINE_CONFIG_POOL, &self.document);
        super::gated(&seen, &gate(&seen.stanza, self.policy.as_ref()), self.kept, at(now))
    }

    /// Decides and executes; then there is nothing left to do (STAT-3).
    fn settle(&mut self, now: &str) -> Plan {
        let plan = self.decide(now);
        for operation in plan.status.iter().flat_map(|patch| &patch.operations) {
            apply(&mut self.document, operation);
        }
        let again = self.decide(now);
        assert_eq!(
            (&again.status, &again.notes),
            (&None, &Vec::new()),
            "deciding twice is deciding once"
        );
        assert_eq!(again.wake, plan.wake);
        self.check_laws(now);
        plan
    }

    /// Changes the specification.
    fn edit(&mut self, path: &str, value: Value) {
        *self.document.pointer_mut(path).unwrap() = value;
        let generation = self.document["metadata"]["generation"].as_i64().unwrap();
        self.document["metadata"]["generation"] = json!(generation + 1);
    }

    fn behavior(&self) -> &Value {
        self.document
            .pointer("/status/behavior")
            .or_else(|| self.document.pointer("/status/changeManagement/behavior"))
            .unwrap()
    }

    fn current(&self) -> (&str, &str, Option<&str>) {
        let current = &self.behavior()["current"];
        (
            current["state"].as_str().unwrap(),
            current["startTime"].as_str().unwrap(),
            current["endTime"].as_str(),
        )
    }

    /// State, start and end of each ended stretch, newest first.
    fn history(&self) -> Vec<String> {
        let history = self.behavior()["history"].as_array().cloned().unwrap_or_default();
        history
            .iter()
            .map(|past| {
                format!(
                    "{} {} {} {}",
                    text(past, "strategy"),
                    text(past, "state"),
                    text(past, "startTime"),
                    text(past, "endTime")
                )
            })
            .collect()
    }

    fn condition(&self, kind: &str) -> (String, String, String) {
        let conditions = self.document["status"]["conditions"].as_array().unwrap();
        let mut found = conditions.iter().filter(|condition| condition["type"] == kind);
        let condition = found.next().unwrap_or_else(|| panic!("no {kind}: {conditions:?}"));
        assert!(found.next().is_none(), "{kind} stands there once");
        (text(condition, "status"), text(condition, "reason"), text(condition, "message"))
    }

    /// STAT-1, STAT-2, STAT-4
    fn check_laws(&self, now: &str) {
        let Some(status) = self.document.get("status") else { return };
        let Some(behavior) =
            status.get("behavior").or_else(|| status.pointer("/changeManagement/behavior"))
        else {
            return;
        };
        let end = &behavior["current"]["endTime"];
        assert_eq!(end.is_null(), behavior.get("next").is_none_or(Value::is_null), "{behavior:#}");
        assert!(end.is_null() || behavior["next"]["startTime"] == *end, "{behavior:#}");
        let mut edge = text(&behavior["current"], "startTime");
        assert!(at(&edge) <= at(now), "{behavior:#}");
        let history = behavior["history"].as_array().cloned().unwrap_or_default();
        assert!(history.len() <= 5);
        for past in &history {
            assert_eq!(text(past, "endTime"), edge, "contiguous: {behavior:#}");
            edge = text(past, "startTime");
        }
    }
}

fn text(value: &Value, field: &str) -> String {
    value[field].as_str().unwrap_or_default().to_owned()
}

/// Enough of RFC 6902 for what plans contain; servers do the rest.
pub(crate) fn apply(document: &mut Value, operation: &Value) {
    let path = operation["path"].as_str().unwrap();
    let (parent, last) = path.rsplit_once('/').unwrap();
    let value = operation["value"].clone();
    match document.pointer_mut(parent).unwrap_or_else(|| panic!("no {parent}")) {
        Value::Array(items) if last == "-" => items.push(value),
        Value::Array(items) => items[last.parse::<usize>().unwrap()] = value,
        Value::Object(fields) => drop(fields.insert(last.into(), value)),
        other => panic!("{other}"),
    }
}

/// POL-3, POL-4, POL-6
#[test]
fn a_new_policy_is_ready_and_says_what_holds_since_it_was_written() {
    let mut world = World::policy("MaintenanceSchedule");
    world.document["metadata"]["creationTimestamp"] = json!("2026-11-16T09:00:00Z");
    let plan = world.settle("2026-11-16T09:00:01Z");
    assert_eq!(plan.wake, Some(at("2026-11-21T00:00:00Z")));
    assert_eq!(plan.notes, [], "nothing has changed: it is new");
    assert_eq!(
        world.current(),
        ("ChangesPaused", "2026-11-16T09:00:00Z", Some("2026-11-21T00:00:00Z"))
    );
    assert_eq!(world.condition("Ready").0, "True");
    let (status, reason, message) = world.condition("ChangesRestricted");
    assert_eq!((status.as_str(), reason.as_str()), ("True", "MaintenanceSchedule"));
    assert!(message.contains("2026-11-21T00:00:00Z"), "{message}");
    assert_eq!(world.document["status"]["conditions"][0]["observedGeneration"], 1);
}

/// POL-4, POL-5
#[test]
fn edges_move_the_current_stretch_into_the_history() {
    let mut world = World::policy("MaintenanceSchedule");
    world.document["metadata"]["creationTimestamp"] = json!("2026-11-16T09:00:00Z");
    world.settle("2026-11-16T09:00:01Z");
    let plan = world.settle("2026-11-21T00:00:00Z");
    assert_eq!(
        world.current(),
        ("ChangesUnpaused", "2026-11-21T00:00:00Z", Some("2026-11-22T00:00:00Z"))
    );
    assert_eq!(
        world.history(),
        ["MaintenanceSchedule ChangesPaused 2026-11-16T09:00:00Z 2026-11-21T00:00:00Z"]
    );
    let [note] = plan.notes.as_slice() else { panic!("{plan:?}") };
    assert_eq!((note.weight, note.reason), (Weight::Normal, "ChangesUnpaused"));
    // Looked at late, the edge is still where it was.
    world.settle("2026-11-22T00:00:37Z");
    assert_eq!(
        world.current(),
        ("ChangesPaused", "2026-11-22T00:00:00Z", Some("2026-11-28T00:00:00Z"))
    );
    assert_eq!(world.condition("ChangesRestricted").0, "True");
}

/// POL-5
#[test]
fn what_came_and_went_while_nobody_looked_is_remembered() {
    let mut world = World::policy("MaintenanceSchedule");
    world.document["metadata"]["creationTimestamp"] = json!("2026-11-16T00:00:00Z");
    world.settle("2026-11-16T00:00:00Z");
    // Two windows later.
    world.settle("2026-12-01T00:00:00Z");
    assert_eq!(
        world.history(),
        [
            "MaintenanceSchedule ChangesUnpaused 2026-11-28T00:00:00Z 2026-11-29T00:00:00Z",
            "MaintenanceSchedule ChangesPaused 2026-11-22T00:00:00Z 2026-11-28T00:00:00Z",
            "MaintenanceSchedule ChangesUnpaused 2026-11-21T00:00:00Z 2026-11-22T00:00:00Z",
            "MaintenanceSchedule ChangesPaused 2026-11-16T00:00:00Z 2026-11-21T00:00:00Z",
        ]
    );
    // Ten years later: the newest five, and no walk through all of them.
    world.settle("2036-12-01T00:00:00Z");
    assert_eq!(world.history().len(), 5);
    assert_eq!(
        world.history()[0],
        "MaintenanceSchedule ChangesUnpaused 2036-11-29T00:00:00Z 2036-11-30T00:00:00Z"
    );
}

/// POL-4: an edit takes effect when it is written, and an edit that changes nothing moves nothing.
#[test]
fn an_edit_takes_effect_when_it_is_written() {
    let mut world = World::policy("MaintenanceSchedule");
    world.document["metadata"]["creationTimestamp"] = json!("2026-11-16T00:00:00Z");
    world.settle("2026-11-16T00:00:00Z");
    world.edit("/spec/strategy", json!("Permissive"));
    world.document["metadata"]["managedFields"] = json!([
        {"manager": "kubectl", "time": "2026-11-17T10:00:00Z"},
        {"manager": "tidegate", "subresource": "status", "time": "2026-11-17T11:00:00Z"},
    ]);
    world.settle("2026-11-17T10:00:02Z");
    assert_eq!(world.current(), ("ChangesUnpaused", "2026-11-17T10:00:00Z", None));
    assert_eq!(
        world.history(),
        ["MaintenanceSchedule ChangesPaused 2026-11-16T00:00:00Z 2026-11-17T10:00:00Z"]
    );
    world.edit("/spec/strategy", json!("Restrictive"));
    world.settle("2026-11-18T00:00:00Z");
    assert_eq!(
        world.history()[0],
        "Permissive ChangesUnpaused 2026-11-17T10:00:00Z 2026-11-18T00:00:00Z",
        "no stamp is newer: it is known since now"
    );
    world.edit("/spec/strategy", json!("MaintenanceSchedule"));
    let since = world.current().1.to_owned();
    world.settle("2026-11-19T00:00:00Z");
    assert_eq!(
        world.current(),
        ("ChangesPaused", since.as_str(), Some("2026-11-21T00:00:00Z")),
        "paused before and after"
    );
}

/// POL-4, GATE-6: for the gates that name it, an edit of a policy takes effect when it is written too.
#[test]
fn an_edit_of_a_policy_takes_effect_on_its_gates_when_it_is_written() {
    let mut world = World::pool(json!({"strategy": "ByPolicy", "byPolicy": {"name": "saturday"}}));
    world.settle("2026-11-16T00:00:00Z");
    let mut policy = World::policy("Permissive");
    policy.document["metadata"]["managedFields"] =
        json!([{"manager": "kubectl", "time": "2026-11-17T10:00:00Z"}]);
    policy.settle("2026-11-17T10:00:01Z");
    let policy = SeenPolicy::new(&kinds::CHANGE_MANAGEMENT_POLICY, &policy.document);
    world.policy = Some(Arc::new(policy));
    world.settle("2026-11-17T10:00:02Z");
    assert_eq!(world.current(), ("ChangesUnpaused", "2026-11-17T10:00:00Z", None));
}

#[test]
fn a_clock_that_was_set_back_forgets_what_has_not_happened() {
    let mut world = World::policy("MaintenanceSchedule");
    world.document["metadata"]["creationTimestamp"] = json!("2026-11-16T00:00:00Z");
    world.settle("2026-11-16T00:00:00Z");
    world.settle("2026-11-21T00:00:10Z");
    world.settle("2026-11-20T23:59:50Z");
    assert_eq!(world.current().0, "ChangesPaused");
    assert_eq!(world.history(), [""; 0]);
    world.settle("2026-11-21T00:00:10Z");
    assert_eq!(world.current().0, "ChangesUnpaused");
}

/// POL-7, STAT-3
#[test]
fn within_a_stretch_nothing_is_ever_written() {
    for mut world in [
        World::policy("MaintenanceSchedule"),
        World::pool(json!({"strategy": "ByPolicy", "byPolicy": {"name": "saturday"}})),
    ] {
        world.settle("2026-11-15T00:00:00Z");
        let bytes = world.document.to_string();
        let mut now = at("2026-11-15T00:00:00Z");
        while now < at("2026-11-21T00:00:00Z") {
            let plan = world.decide(&now.to_string());
            assert_eq!((&plan.status, plan.notes.len()), (&None, 0), "{now}");
            now = now.saturating_add(1801);
        }
        assert_eq!(world.document.to_string(), bytes);
    }
}

/// GATE-9: a status says the reason that holds, and wakes when another one does.
#[test]
fn a_freeze_inside_a_pause_is_named_while_it_lasts() {
    let mut world = World::policy("MaintenanceSchedule");
    world.edit("/spec/maintenanceSchedule", json!({
        "permit": {"recurrence": {"frequency": "Weekly", "weekly": {"daysOfWeek": ["Saturday"]}}},
        "exclude": [{"fromDate": "2026-11-20", "untilDate": "2026-11-23", "reason": "audit"}],
    }));
    let mut reasons = Vec::new();
    let mut now = at("2026-11-16T00:00:00Z");
    while now < at("2026-11-29T00:00:00Z") {
        let plan = world.settle(&now.to_string());
        if plan.status.is_some() {
            reasons.push(format!("{now} {}", text(&world.behavior()["current"], "reason")));
        }
        now = plan.wake.unwrap();
    }
    assert_eq!(
        reasons,
        [
            "2026-11-16T00:00:00Z no maintenance window is open: every Saturday, all day, UTC",
            "2026-11-20T00:00:00Z the days from 2026-11-20 until before 2026-11-23 are excluded: audit",
            "2026-11-23T00:00:00Z no maintenance window is open: every Saturday, all day, UTC",
            "2026-11-28T00:00:00Z a maintenance window is open: every Saturday, all day, UTC",
        ]
    );
}

/// GATE-9: the end of a stanza's own span changes the reason, also within a window that is open before and after it.
#[test]
fn a_stanza_that_hands_over_inside_a_window_is_told_on_its_second() {
    let until = "2026-11-21T12:00:00Z";
    let stanza = json!({"strategy": "PermissiveUntil", "permissiveUntil": until, "byPolicy": {"name": "saturday"}});
    let mut world = World::pool(stanza);
    let plan = world.settle("2026-11-21T01:00:00Z");
    assert_eq!(plan.wake, Some(at(until)));
    assert_eq!(world.settle(until).wake, Some(at("2026-11-22T00:00:00Z")));
    assert_eq!(world.condition("ChangesPaused").1, "MaintenanceSchedule");
}

/// POL-6, POL-8, STAT-4
#[test]
fn a_policy_that_cannot_be_used_names_the_field_and_is_restrictive() {
    let mut world = World::policy("Permissive");
    world.settle("2026-11-16T00:00:00Z");
    world.edit("/spec/maintenanceSchedule/permit/recurrence/weekly/daysOfWeek", json!(["Someday"]));
    let plan = world.settle("2026-11-17T00:00:00Z");
    let (status, reason, message) = world.condition("Ready");
    assert_eq!((status.as_str(), reason.as_str()), ("False", "InvalidSpec"));
    assert!(
        message.contains("spec.maintenanceSchedule.permit.recurrence.weekly.daysOfWeek[0]"),
        "{message}"
    );
    let (status, reason, _) = world.condition("ChangesRestricted");
    assert_eq!((status.as_str(), reason.as_str()), ("True", "PolicyNotReady"));
    assert_eq!(world.current().0, "ChangesPaused");
    assert_eq!(plan.notes[0].weight, Weight::Warning);
    assert_eq!(plan.wake, None);
    world.edit("/spec/maintenanceSchedule", json!({}));
    let plan = world.settle("2026-11-18T00:00:00Z");
    assert_eq!(world.condition("Ready").0, "True");
    assert!(plan.notes.iter().any(|note| note.reason == "Ready"), "{plan:?}");
}

#[test]
fn a_policy_of_any_shape_gets_a_plan() {
    for spec in [
        json!(null),
        json!([]),
        json!("x"),
        json!({}),
        json!({"strategy": 7}),
        json!({"strategy": "MaintenanceSchedule", "maintenanceSchedule": []}),
    ] {
        let mut world = World::policy("Permissive");
        world.document["spec"] = spec;
        world.document["status"] = json!({"behavior": "nonsense", "conditions": 7});
        world.settle("2026-11-16T00:00:00Z");
        assert_eq!(world.condition("Ready").0, "False");
    }
}

/// GATE-1
#[test]
fn a_resource_without_a_stanza_is_left_alone() {
    let world = World::pool(Value::Null);
    assert_eq!(world.decide("2026-11-16T00:00:00Z"), Plan::default());
}

/// GATE-6
#[test]
fn a_held_resource_says_what_waits_why_and_until_when() {
    let mut world = World::pool(json!({"strategy": "ByPolicy", "byPolicy": {"name": "saturday"}}));
    world.settle("2026-11-15T00:00:00Z");
    assert_eq!(world.condition("ChangesPending").1, "NothingPending");
    world.edit("/spec/configuration/name", json!("rendered-worker-c"));
    world.document["status"]["updatedMachineCount"] = json!(0);
    let plan = world.settle("2026-11-16T00:00:00Z");
    let (status, reason, message) = world.condition("ChangesPaused");
    assert_eq!((status.as_str(), reason.as_str()), ("True", "MaintenanceSchedule"));
    assert!(message.contains("saturday") && message.contains("2026-11-21T00:00:00Z"), "{message}");
    let (status, reason, message) = world.condition("ChangesPending");
    assert_eq!((status.as_str(), reason.as_str()), ("True", "Held"));
    for part in ["rendered-worker-c on 3 of 3 nodes", "2026-11-21T00:00:00Z", "saturday"] {
        assert!(message.contains(part), "{message}");
    }
    assert_eq!(plan.notes.iter().map(|note| note.reason).collect::<Vec<_>>(), ["ChangesHeld"]);
    assert_eq!(plan.wake, Some(at("2026-11-21T00:00:00Z")));
    world.settle("2026-11-21T00:00:00Z");
    assert_eq!(world.condition("ChangesPending").1, "Initiating");
    assert_eq!(world.condition("ChangesPaused").0, "False");
    assert_eq!(world.condition("Updated").0, "True", "what others wrote is still there");
}

/// GATE-9: an override is understood by the words of who made it, and by what it sets aside.
#[test]
fn an_override_gives_its_reason() {
    let mut world = World::pool(
        json!({"strategy": "PermissiveUntil", "permissiveUntil": "2026-11-17T00:00:00Z", "byPolicy": {"name": "saturday"}}),
    );
    world.document["metadata"]["annotations"] = json!({names::OVERRIDE_REASON: "CVE-2026-1"});
    world.settle("2026-11-16T00:00:00Z");
    assert_eq!(world.current().2, Some("2026-11-17T00:00:00Z"));
    let (status, reason, message) = world.condition("ChangesPaused");
    assert_eq!((status.as_str(), reason.as_str()), ("False", "PermissiveUntil"));
    assert!(message.contains("CVE-2026-1"), "{message}");
    world.settle("2026-11-17T00:00:00Z");
    assert_eq!(world.condition("ChangesPaused").1, "MaintenanceSchedule");
    assert_eq!(
        world.history(),
        ["Permissive ChangesUnpaused 2026-11-16T00:00:00Z 2026-11-17T00:00:00Z"]
    );
}

#[test]
fn a_stanza_that_disappears_is_noticed_once() {
    let mut world = World::pool(json!({"strategy": "Restrictive"}));
    world.settle("2026-11-16T00:00:00Z");
    world.edit("/spec/changeManagement", Value::Null);
    let plan = world.settle("2026-11-17T00:00:00Z");
    let [note] = plan.notes.as_slice() else { panic!("{plan:?}") };
    assert_eq!((note.weight, note.reason), (Weight::Warning, names::STANZA_REMOVED));
    assert_eq!(world.condition("ChangesPaused").1, names::STANZA_REMOVED);
    assert_eq!(world.current().0, "ChangesUnpaused");
    // The controllers of others drop status fields that they do not know and keep conditions (both were ours).
    world.document["status"].as_object_mut().unwrap().remove("changeManagement");
    assert!(world.decide("2026-11-18T00:00:00Z").notes.is_empty());
    world.edit("/spec/changeManagement", json!({"strategy": "Restrictive"}));
    world.settle("2026-11-19T00:00:00Z");
    assert_eq!(world.condition("ChangesPaused").1, "Restrictive");
}

/// GATE-2
#[test]
fn a_missing_policy_is_told_once_as_a_warning() {
    let mut world = World::pool(json!({"strategy": "ByPolicy", "byPolicy": {"name": "saturday"}}));
    let policy = world.policy.take();
    let plan = world.settle("2026-11-16T00:00:00Z");
    assert_eq!(
        plan.notes.iter().map(|note| (note.weight, note.reason)).collect::<Vec<_>>(),
        [(Weight::Warning, names::POLICY_NOT_FOUND)]
    );
    assert!(
        world.condition("ChangesPaused").2.contains("ChangeManagementPolicy/saturday"),
        "{:?}",
        world.condition("ChangesPaused")
    );
    world.policy = policy;
    world.settle("2026-11-17T00:00:00Z");
    assert_eq!(world.condition("ChangesPaused").1, "MaintenanceSchedule");
}

#[test]
fn a_bare_document_gets_its_status_from_nothing() {
    let mut world = World::pool(json!({"strategy": "Restrictive"}));
    world.document.as_object_mut().unwrap().remove("status");
    let plan = world.settle("2026-11-16T00:00:00Z");
    let operations = plan.status.unwrap().operations;
    assert_eq!(
        operations[0],
        json!({"op": "replace", "path": "/metadata/resourceVersion", "value": "1"}),
        "EXEC-1"
    );
    assert_eq!(world.condition("ChangesPaused").0, "True");
}

/// TIME-7
#[test]
fn a_policy_whose_windows_never_come_says_so_in_the_cluster() {
    let mut world = World::policy("MaintenanceSchedule");
    world.edit(
        "/spec/maintenanceSchedule/permit/recurrence",
        json!({"frequency": "Yearly", "yearly": {"by": "Date", "date": {"datesOfMonth": [30], "month": "February"}}}),
    );
    world.settle("2026-11-16T00:00:00Z");
    let (status, reason, message) = world.condition("Ready");
    assert_eq!((status.as_str(), reason.as_str()), ("True", names::NEVER_FIRES));
    assert!(
        message.contains("spec.maintenanceSchedule.permit.recurrence: never fires"),
        "{message}"
    );
    let (status, _, message) = world.condition("ChangesRestricted");
    assert_eq!(status, "True");
    assert!(message.contains("no window ever opens"), "{message}");
    // Under another strategy the schedule decides nothing.
    world.edit("/spec/strategy", json!("Permissive"));
    world.settle("2026-11-17T00:00:00Z");
    assert_eq!(world.condition("Ready").1, names::AS_EXPECTED);
    assert!(!world.condition("ChangesRestricted").2.contains("never"));
}

/// GATE-13
#[test]
fn a_gate_that_nothing_keeps_says_so_and_a_restart_writes_nothing() {
    let mut world = World::pool(json!({"strategy": "Restrictive"}));
    for kept in Enforcement::ALL {
        world.kept = kept;
        world.settle("2026-11-16T00:00:00Z");
        let (status, reason, message) = world.condition("Enforced");
        assert_eq!(status, format!("{:?}", kept.status()));
        let about = kept.about(&kinds::MACHINE_CONFIG_POOL);
        assert_eq!((reason.as_str(), message), (kept.reason(), about));
        // Nobody has tried since the program started: what was seen before stands, and then what was tried.
        let seen = gated(&kinds::MACHINE_CONFIG_POOL, &world.document);
        assert_eq!(seen.kept(None), kept);
        assert_eq!(seen.kept(Some(Enforcement::NotTried)), Enforcement::NotTried);
    }
    // Without a gate there is nothing that anybody could keep.
    world.edit("/spec/changeManagement", Value::Null);
    world.settle("2026-11-17T00:00:00Z");
    assert_eq!(world.condition("Enforced").1, names::STANZA_REMOVED);
    let mut fresh = World::pool(json!({"strategy": "Restrictive"}));
    fresh.settle("2026-11-16T00:00:00Z");
    assert_eq!(fresh.condition("Enforced").0, "Unknown", "nothing is claimed unseen");
}
