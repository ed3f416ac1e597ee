//! Does the operator tell what guardrails say, shut what was edited past one, and leave alone what stood before? (GRD-5, GRD-6)
//!
//! No admission policy stands here: what the server refuses by itself is shown elsewhere.

use std::time::Duration;

use serde_json::{Value, json};

use super::common::{POOLS, World, condition, pass, pool, settle};

const GROUP: &str = "/apis/changemanagement.openshift.io/v1alpha1";
const API: &str = "changemanagement.openshift.io/v1alpha1";

fn policy(name: &str, day: &str, duration: &str) -> Value {
    let weekly = json!({"frequency": "Weekly", "weekly": {"daysOfWeek": [day]}});
    json!({"apiVersion": API, "kind": "ChangeManagementPolicy", "metadata": {"name": name},
        "spec": {"strategy": "MaintenanceSchedule", "maintenanceSchedule": {"permit": {"recurrence": weekly, "duration": duration}}}})
}

fn guardrail(spec: &Value) -> Value {
    json!({"apiVersion": API, "kind": "ChangeGuardrail", "metadata": {"name": "platform"}, "spec": spec})
}

fn says(world: &World, name: &str, kind: &str) -> String {
    condition(&world.get(&format!("{GROUP}/changemanagementpolicies/{name}")), kind)
}

/// GRD-5, end to end: what stood goes on, an edit past it closes the gates that go by it, and a better one opens them.
#[tokio::test(start_paused = true)]
async fn a_policy_that_is_edited_past_a_guardrail_shuts_its_gates() {
    let world = World::new();
    let policies = format!("{GROUP}/changemanagementpolicies");
    world.create(&policies, &policy("weekend", "Saturday", "4h"));
    world.create(
        POOLS,
        &pool("worker", &json!({"strategy": "ByPolicy", "byPolicy": {"name": "weekend"}})),
    );
    let _operator = world.start();
    settle().await;
    let demands =
        json!({"mode": "Enforce", "minimumHours": [{"hours": 48, "inDays": 32, "stretch": "4h"}]});
    world.create(&format!("{GROUP}/changeguardrails"), &guardrail(&demands));
    settle().await;
    assert_eq!(
        condition(&world.get(&format!("{GROUP}/changeguardrails/platform")), "Ready"),
        "True AsExpected"
    );
    assert_eq!(
        (says(&world, "weekend", "Ready"), says(&world, "weekend", "GuardrailsMet")),
        ("True AsExpected".into(), "False TooFewHours".into())
    );
    let paused = || condition(&world.get(&format!("{POOLS}/worker")), "ChangesPaused");
    assert_eq!(paused(), "True MaintenanceSchedule");
    world.writes();
    pass(Duration::from_mins(30)).await;
    assert_eq!(world.writes(), [""; 0], "an idle cluster is not written");
    let edited = |duration: &str| json!({"spec": {"maintenanceSchedule": {"permit": {"duration": duration}}}});
    world.merge(&format!("{policies}/weekend"), &edited("5h"));
    settle().await;
    assert_eq!(
        (says(&world, "weekend", "Ready"), paused()),
        ("False GuardrailsNotMet".into(), "True PolicyNotReady".into())
    );
    // Saturday comes, and nothing opens.
    pass(Duration::from_hours(2)).await;
    assert_eq!(paused(), "True PolicyNotReady");
    world.merge(&format!("{policies}/weekend"), &edited("24h"));
    settle().await;
    assert_eq!(
        (says(&world, "weekend", "Ready"), says(&world, "weekend", "GuardrailsMet")),
        ("True AsExpected".into(), "True AsExpected".into())
    );
    assert_eq!(paused(), "False MaintenanceSchedule");
}

/// GRD-3: whoever must stay within another policy is judged anew when that is edited, and a guardrail without it says so.
#[tokio::test(start_paused = true)]
async fn windows_are_judged_anew_when_those_around_them_change() {
    let world = World::new();
    let policies = format!("{GROUP}/changemanagementpolicies");
    world.create(&policies, &policy("workers", "Saturday", "4h"));
    world.create(
        &format!("{GROUP}/changeguardrails"),
        &guardrail(&json!({"within": {"name": "plane"}})),
    );
    let _operator = world.start();
    settle().await;
    let ready = || condition(&world.get(&format!("{GROUP}/changeguardrails/platform")), "Ready");
    assert_eq!(
        (ready(), says(&world, "workers", "GuardrailsMet")),
        ("False PolicyNotFound".into(), "Unknown GuardrailUnclear".into())
    );
    world.create(&policies, &policy("plane", "Saturday", "8h"));
    settle().await;
    assert_eq!(
        (ready(), says(&world, "workers", "GuardrailsMet")),
        ("True AsExpected".into(), "True AsExpected".into())
    );
    world.merge(
        &format!("{policies}/plane"),
        &json!({"spec": {"maintenanceSchedule": {"permit": {"duration": "2h"}}}}),
    );
    settle().await;
    assert_eq!(says(&world, "workers", "GuardrailsMet"), "False NotWithin");
    assert_eq!(says(&world, "workers", "Ready"), "True AsExpected", "it warns");
}

/// GRD-3: an override that nobody has approved opens nothing where that is demanded.
#[tokio::test(start_paused = true)]
async fn an_override_opens_when_it_is_approved() {
    let world = World::new();
    world.create(
        &format!("{GROUP}/changeguardrails"),
        &guardrail(&json!({"mode": "Enforce", "approvals": 1})),
    );
    world.create(POOLS, &pool("worker", &json!({"strategy": "Restrictive"})));
    let overrides = format!("{GROUP}/clusterchangeoverrides");
    let spec = json!({"target": {"kind": "MachineConfigPool", "name": "worker"}, "until": "2026-11-14T02:00:00Z", "reason": "CVE", "by": "ann"});
    world.create(&overrides, &json!({"apiVersion": API, "kind": "ClusterChangeOverride", "metadata": {"name": "now"}, "spec": spec}));
    let _operator = world.start();
    settle().await;
    let ready = || condition(&world.get(&format!("{overrides}/now")), "Ready");
    let paused = || condition(&world.get(&format!("{POOLS}/worker")), "ChangesPaused");
    assert_eq!((ready(), paused()), ("False NotApproved".into(), "True Restrictive".into()));
    world.merge(&format!("{overrides}/now"), &json!({"spec": {"approvedBy": "bob"}}));
    settle().await;
    assert_eq!((ready(), paused()), ("True AsExpected".into(), "False Overridden".into()));
}

/// Ten thousand policies are judged as fast as they are decided: what that takes is counted by the benchmark of the engine, and here that nobody is
/// forgotten.
#[tokio::test(start_paused = true)]
async fn a_guardrail_that_comes_is_told_on_every_policy() {
    let world = World::new();
    let policies = format!("{GROUP}/changemanagementpolicies");
    for place in 0..50 {
        world.create(&policies, &policy(&format!("p{place}"), "Tuesday", "4h"));
    }
    let _operator = world.start();
    settle().await;
    world.create(
        &format!("{GROUP}/changeguardrails"),
        &guardrail(&json!({"minimumHours": [{"hours": 17, "inDays": 32}]})),
    );
    settle().await;
    pass(Duration::from_secs(5)).await;
    for place in 0..50 {
        assert_eq!(
            says(&world, &format!("p{place}"), "GuardrailsMet"),
            "False TooFewHours",
            "p{place}"
        );
    }
    world.delete(&format!("{GROUP}/changeguardrails/platform"));
    settle().await;
    pass(Duration::from_secs(5)).await;
    for place in 0..50 {
        let policy = world.get(&format!("{policies}/p{place}"));
        let conditions = policy["status"]["conditions"].as_array().unwrap();
        assert!(conditions.iter().all(|one| one["type"] != "GuardrailsMet"), "p{place}");
    }
}
