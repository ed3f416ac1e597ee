//! Rows for the status of gates: a gate, its policy, and a clock.

use std::sync::Arc;

use super::*;
use crate::{
    cluster::{
        decide,
        kinds::{self, tests::gated},
        snapshot::Judgement,
    },
    gate::{enforced::Enforcement, gate, plan::Plan},
    policy::seen::SeenPolicy,
};

const WINDOW: &str = "2026-11-21T00:00:00Z";

fn at(text: &str) -> Instant {
    Instant::parse(text).unwrap()
}

fn policy(strategy: &str, now: &str) -> Arc<SeenPolicy> {
    let mut document = json!({
        "apiVersion": names::API_VERSION, "kind": names::CHANGE_MANAGEMENT_POLICY,
        "metadata": {"name": "saturday", "generation": 1, "resourceVersion": "1"},
        "spec": {"strategy": strategy, "maintenanceSchedule": {"permit": {"recurrence":
            {"frequency": "Weekly", "weekly": {"daysOfWeek": ["Saturday"]}}}}},
    });
    let kind = &kinds::CHANGE_MANAGEMENT_POLICY;
    let plan = decide::policy(&SeenPolicy::new(kind, &document), &Judgement::default(), at(now));
    document["status"] = plan.status.unwrap().operations[1]["value"].clone();
    Arc::new(SeenPolicy::new(kind, &document))
}

struct World {
    document: Value,
    policy: Option<Arc<SeenPolicy>>,
}

impl World {
    fn new(stanza: &Value) -> Self {
        let document = json!({
            "apiVersion": names::API_VERSION, "kind": names::CHANGE_GATE,
            "metadata": {"name": "rollouts", "namespace": "shop", "generation": 1, "resourceVersion": "1"},
            "spec": {"changeManagement": stanza, "holds": [{"what": "Deployments"}], "mode": "Enforce", "nudge": true},
        });
        Self { document, policy: None }
    }

    fn by_policy(strategy: &str) -> Self {
        let stanza = json!({"strategy": "ByPolicy", "byPolicy": {"name": "saturday"}});
        Self { policy: Some(policy(strategy, "2026-11-16T00:00:00Z")), ..Self::new(&stanza) }
    }

    fn decide(&self, now: &str) -> Plan {
        let seen = gated(&kinds::CHANGE_GATE, &self.document);
        decide::gated(
            &seen,
            &gate(&seen.stanza, self.policy.as_ref()),
            Enforcement::NotTried,
            at(now),
        )
    }

    /// Decides and executes; then there is nothing left to do (STAT-3).
    fn settle(&mut self, now: &str) -> Plan {
        let plan = self.decide(now);
        for operation in plan.status.iter().flat_map(|patch| &patch.operations) {
            apply(&mut self.document, operation);
        }
        let again = self.decide(now);
        assert_eq!(again.status, None, "deciding twice is deciding once");
        assert_eq!(again.wake, plan.wake);
        plan
    }

    fn status(&self, pointer: &str) -> Value {
        self.document.pointer(&format!("/status{pointer}")).cloned().unwrap_or_default()
    }

    fn condition(&self, kind: &str) -> String {
        let conditions = self.status("/conditions");
        let found = conditions.as_array().unwrap().iter().find(|it| it["type"] == kind).unwrap();
        format!("{} {}", found["status"].as_str().unwrap(), found["reason"].as_str().unwrap())
    }
}

/// As much of a JSON patch as plans use.
fn apply(document: &mut Value, operation: &Value) {
    let path = operation["path"].as_str().unwrap();
    let (parent, key) = path.rsplit_once('/').unwrap();
    match operation["op"].as_str().unwrap() {
        "test" => assert_eq!(document.pointer(path), Some(&operation["value"])),
        "remove" => {
            document.pointer_mut(parent).unwrap().as_object_mut().unwrap().remove(key).unwrap();
        }
        "replace" => *document.pointer_mut(path).unwrap() = operation["value"].clone(),
        _ => match document.pointer_mut(parent).unwrap() {
            Value::Array(items) => items.push(operation["value"].clone()),
            object => object[key] = operation["value"].clone(),
        },
    }
}

/// RCH-14
#[test]
fn the_status_has_the_windows_and_what_they_are_for() {
    let mut world = World::by_policy("MaintenanceSchedule");
    let plan = world.settle("2026-11-16T12:00:00Z");
    let first = json!({"startTime": WINDOW, "endTime": "2026-11-22T00:00:00Z"});
    assert_eq!(world.status("/windows/0"), first);
    assert_eq!(world.status("/observedGeneration"), 1);
    assert_eq!(world.status("/windows").as_array().unwrap().len(), 57, "400 days of Saturdays");
    assert_eq!(world.status("/behavior/current/endTime"), WINDOW);
    assert_eq!(world.condition("Ready"), "True AsExpected");
    assert_eq!(world.condition("ChangesPaused"), "True MaintenanceSchedule");
    assert_eq!(world.condition("Enforced"), "Unknown NotTried");
    assert_eq!(plan.wake, Some(at(WINDOW)));

    // It opens, and only its behaviour is news; it closes, and the window is no more ahead.
    world.settle(WINDOW);
    assert_eq!(world.status("/windows/0"), first);
    assert_eq!(world.condition("ChangesPaused"), "False MaintenanceSchedule");
    let plan = world.settle("2026-11-22T00:00:00Z");
    assert_eq!(world.status("/windows/0/startTime"), "2026-11-28T00:00:00Z");
    assert_eq!(plan.wake, Some(at("2026-11-28T00:00:00Z")));
}

/// RCH-2, RCH-10: what is known for all time has no end of knowledge, and doubt has no window.
#[test]
fn plain_strategies_are_known_for_all_time_and_doubt_is_not_ready() {
    #[track_caller]
    fn check(world: &mut World, windows: &Value, ready: &str) {
        world.settle("2026-11-16T12:00:00Z");
        assert_eq!(
            (&world.status("/windows"), world.condition("Ready").as_str()),
            (windows, ready)
        );
        assert_eq!(world.status("/computedUntil"), Value::Null);
    }

    let always = json!([{}]);
    let never = json!([]);
    check(&mut World::new(&json!({"strategy": "Permissive"})), &always, "True AsExpected");
    check(&mut World::new(&json!({"strategy": "Restrictive"})), &never, "True AsExpected");
    check(&mut World::by_policy("Permissive"), &always, "True AsExpected");
    let until = json!({"strategy": "RestrictiveUntil", "restrictiveUntil": "2026-12-01T06:00:00Z"});
    check(
        &mut World::new(&until),
        &json!([{"startTime": "2026-12-01T06:00:00Z"}]),
        "True AsExpected",
    );
    let unnamed = json!({"strategy": "ByPolicy", "byPolicy": {"name": "gone"}});
    check(&mut World::new(&unnamed), &never, "False PolicyNotFound");
    // GATE-14: a field that nobody knows closes the gate, wherever it stands.
    let mut mistyped = World::new(&json!({"strategy": "Permissive"}));
    mistyped.document["spec"]["holds"][0]["selektor"] = json!({});
    check(&mut mistyped, &never, "False InvalidSpec");
    // What was known to end is taken away when it no longer is.
    let mut world = World::by_policy("MaintenanceSchedule");
    world.settle("2026-11-16T12:00:00Z");
    assert!(world.status("/computedUntil").is_string());
    world.document["spec"]["changeManagement"]["strategy"] = json!("Permissive");
    world.document["metadata"]["generation"] = json!(2);
    check(&mut world, &always, "True AsExpected");
    assert_eq!(world.status("/observedGeneration"), 2);
}

/// RCH-11: which policy is meant.
#[test]
fn a_gate_names_a_policy_of_the_cluster_or_of_its_namespace() {
    #[track_caller]
    fn check(kind: Option<&str>, expected: &str) {
        let mut stanza = json!({"strategy": "ByPolicy", "byPolicy": {"name": "saturday"}});
        if let Some(kind) = kind {
            stanza["byPolicy"]["kind"] = json!(kind);
        }
        let world = World::new(&stanza);
        let seen = gated(&kinds::CHANGE_GATE, &world.document);
        assert_eq!(seen.policy().unwrap().to_string(), expected);
    }

    check(None, "ChangeManagementPolicy/saturday");
    check(Some("ChangeManagementPolicy"), "ChangeManagementPolicy/saturday");
    check(Some("HostedChangeManagementPolicy"), "HostedChangeManagementPolicy/shop/saturday");
}

/// A thousand rollouts that begin at once are not a thousand writes; what the server goes by waits for nothing.
#[test]
fn what_is_only_counted_is_written_at_most_once_a_second() {
    let mut world = World::by_policy("MaintenanceSchedule");
    world.settle("2026-11-16T12:00:00Z");
    let seen = gated(&kinds::CHANGE_GATE, &world.document);
    let said: Vec<Condition> = seen.conditions.ours().cloned().collect();
    let with = |kind: &str| {
        let mut said = said.clone();
        said.iter_mut().find(|one| one.kind == kind).unwrap().reason = "Other".to_owned();
        said
    };
    let check = |fields: &[&'static str], said: &[Condition], expected: Option<Duration>| {
        let fields: Vec<(&'static str, Value)> =
            fields.iter().map(|field| (*field, json!(1))).collect();
        assert_eq!(apart(&fields, &seen.conditions, said), expected, "{fields:?}");
    };
    check(&["/status/pendingCount", "/status/pending", "/status/holds"], &said, Some(APART));
    check(&["/status/pending"], &with(names::CHANGES_PENDING), Some(APART));
    check(&["/status/pending"], &with(names::CHANGES_PAUSED), None);
    check(&["/status/pending"], &with(names::READY), None);
    check(&["/status/pending", "/status/windows"], &said, None);
    check(&["/status/observedGeneration"], &said, None);
    check(&[], &with(names::CHANGES_PENDING), None);
}
