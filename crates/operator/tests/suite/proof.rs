//! Is anything initiated where nobody saw the server refuse? (GATE-13)

use std::time::Duration;

use operator::{Proof, Settings};
use serde_json::json;

use super::{
    budget::{SHIPPED, install, refuse_late_marks},
    common::{POOLS, Running, World, managing, pass, settle},
    rollout::{blocked, marked, waiting_machines},
};

async fn unproven() -> (World, Running) {
    let (world, waived) = waiting_machines(3).await;
    drop(waived);
    let operator = world.start_with(Settings { proof: Proof::Required, ..managing("two") });
    (world, operator)
}

fn told(world: &World) -> (String, String) {
    let condition = blocked(&world.get(&format!("{POOLS}/worker")));
    let text = |field: &str| {
        let first = condition.first().and_then(|it| it[field].as_str());
        first.unwrap_or_default().to_owned()
    };
    (text("status"), text("message"))
}

#[tokio::test(start_paused = true)]
async fn without_a_policy_that_refuses_nothing_is_initiated_and_everybody_is_told() {
    let (world, operator) = unproven().await;
    pass(Duration::from_mins(70)).await;
    assert!(marked(&world).is_empty());
    let (status, message) = told(&world);
    assert!(status == "True" && message.contains("(PolicyMissing)"), "{status} {message}");
    let why = operator.view.ready().unwrap_err();
    assert!(why.starts_with("nothing is rolled out: "), "{why}");
    assert_eq!(operator.view.health(), Ok(()));
    assert_eq!(operator.view.knows(), Ok(()));

    // It comes, and what waits starts by itself.
    refuse_late_marks(&world);
    pass(Duration::from_secs(35)).await;
    assert_eq!(operator.view.ready(), Ok(()));
    assert_eq!(marked(&world), ["n1"]);
    assert_eq!(told(&world).0, "False");

    // It goes, and within five minutes nothing is initiated any more.
    let bindings = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings";
    let binding = world.get(bindings)["items"][0]["metadata"]["name"].clone();
    world.delete(&format!("{bindings}/{}", binding.as_str().unwrap()));
    pass(Duration::from_secs(305)).await;
    world.merge(&format!("{POOLS}/worker"), &json!({"spec": {"maxUnavailable": 3}}));
    pass(Duration::from_mins(10)).await;
    assert_eq!(marked(&world), ["n1"]);
    let (status, message) = told(&world);
    assert!(status == "True" && message.contains("(PolicyMissing)"), "{status} {message}");
}

/// A proof is a dry run: nothing is stored, and nobody is told of a machine that goes nowhere.
#[tokio::test(start_paused = true)]
async fn trying_leaves_no_trace() {
    let (world, waived) = waiting_machines(1).await;
    drop(waived);
    refuse_late_marks(&world);
    let before = world.get("/api/v1/nodes/n1");
    let _operator = world.start_with(Settings { proof: Proof::Required, ..managing("two") });
    settle().await;
    world.writes();
    pass(Duration::from_mins(20)).await;
    assert_eq!(world.get("/api/v1/nodes/n1"), before);
    let writes = world.writes();
    assert_eq!(writes.len(), 8, "two every five minutes: {writes:?}");
    assert!(writes.iter().all(|line| line.contains("dryRun=All")), "{writes:?}");
}

/// While there is no machine there is nothing to try it on, and nothing to begin.
#[tokio::test(start_paused = true)]
async fn without_machines_nothing_has_to_be_proven() {
    let world = World::new();
    let operator = world.start_with(Settings { proof: Proof::Required, ..managing("one") });
    settle().await;
    assert_eq!(operator.view.ready(), Ok(()));
}

/// What the server refuses is tried with what this build ships: that of 0.1.0 left doors open (it knew neither `nodes/status` nor records).
#[tokio::test(start_paused = true)]
async fn a_policy_of_an_older_release_proves_nothing() {
    let (world, waived) = waiting_machines(1).await;
    drop(waived);
    let old = include_str!("../../../tests/tests/seeds/permits-0.1.0.yaml");
    install(&world, old, |_| true);
    world.create(
        "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings",
        &json!({"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicyBinding",
            "metadata": {"name": "tidegate-permits"},
            "spec": {"policyName": "tidegate-permits", "validationActions": ["Deny"]}}),
    );
    let _operator = world.start_with(Settings { proof: Proof::Required, ..managing("two") });
    world.clock.step(3600);
    pass(Duration::from_mins(6)).await;
    assert!(marked(&world).is_empty());
    let (status, message) = told(&world);
    assert!(status == "True" && message.contains("(NotRefused)"), "{status} {message}");
}

/// Records that anybody can write prove nothing, so where nothing keeps them nothing is initiated either (GATE-10).
#[tokio::test(start_paused = true)]
async fn without_the_policy_that_keeps_records_nothing_is_initiated() {
    let (world, waived) = waiting_machines(1).await;
    drop(waived);
    install(&world, SHIPPED, |name| !name.ends_with("-records"));
    let _operator = world.start_with(Settings { proof: Proof::Required, ..managing("two") });
    world.clock.step(3600);
    pass(Duration::from_mins(6)).await;
    assert!(marked(&world).is_empty());
    let (status, message) = told(&world);
    assert!(status == "True" && message.contains("(PolicyMissing)"), "{status} {message}");

    install(&world, SHIPPED, |name| name.ends_with("-records"));
    pass(Duration::from_secs(35)).await;
    assert_eq!(marked(&world), ["n1"]);
}
