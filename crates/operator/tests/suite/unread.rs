//! What happens when something cannot be read that has to be read right before a change? (GATE-11)

use std::time::Duration;

use apiserver::{Fault, RequestMatch, Scripted};
use serde_json::json;

use super::{
    common::{POLICIES, POOLS, World, pass},
    rollout::{blocked, marked, waiting},
};

/// Every read of one object fails, so many times.
fn fail_reads(world: &World, resource: &str, name: &str, times: u32) {
    for nth in 1..=times {
        let matching = RequestMatch {
            verb: Some("get".into()),
            resource: Some(resource.into()),
            name: Some(name.into()),
            ..RequestMatch::default()
        };
        // In one way or another: what is told does not change with it.
        let fault = if nth % 2 == 0 { Fault::LoseAnswer } else { Fault::ServerError(503) };
        world.server.script_fault(Scripted { matching, nth, fault });
    }
}

/// What could not be read is told, tried again after ever longer pauses, and when it can be read the change begins.
#[tokio::test(start_paused = true)]
async fn what_cannot_be_read_before_a_change_is_told_and_tried_again() {
    for (resource, name, path) in [
        ("changemanagementpolicies", "weekend", format!("{POLICIES}/weekend")),
        ("machineconfigpools", "worker", format!("{POOLS}/worker")),
    ] {
        let (world, operator) = waiting().await;
        fail_reads(&world, resource, name, 30);
        pass(Duration::from_mins(61)).await;
        assert!(marked(&world).is_empty(), "{name}");
        let why = blocked(&world.get(&format!("{POOLS}/worker")));
        assert_eq!(why[0]["status"], "True", "{name}: {why:?}");
        let message = why[0]["message"].as_str().unwrap();
        assert!(message.contains(&format!("/{name} cannot be read: ")), "{message}");
        assert!(message.ends_with("so nothing is initiated"), "{message}");

        world.requests();
        pass(Duration::from_mins(5)).await;
        let requests = world.requests();
        let tries = requests.iter().filter(|line| **line == format!("GET {path}")).count();
        assert!((9..=12).contains(&tries), "{name}: every half minute, and not {tries} times");
        let writes = requests.iter().filter(|line| !line.starts_with("GET "));
        assert_eq!(writes.count(), 0, "what is told stays the same: {requests:#?}");

        pass(Duration::from_mins(15)).await;
        assert_eq!(marked(&world), ["n1"], "{name}");
        assert_eq!(blocked(&world.get(&format!("{POOLS}/worker")))[0]["status"], "False");
        assert_eq!(operator.view.ready(), Ok(()));
    }
}

/// LIVE-1: what cannot be read holds up a pool only for as long as its gate rests on it.
#[tokio::test(start_paused = true)]
async fn who_names_another_policy_does_not_wait_for_the_one_that_cannot_be_read() {
    // Who keeps its name, and only sets it aside, does not wait either (GATE-3).
    for named in [json!(null), json!({"name": "weekend"})] {
        let (world, _operator) = waiting().await;
        fail_reads(&world, "changemanagementpolicies", "weekend", 2_000);
        pass(Duration::from_mins(65)).await;
        assert!(marked(&world).is_empty());
        let another =
            json!({"spec": {"changeManagement": {"strategy": "Permissive", "byPolicy": named}}});
        world.merge(&format!("{POOLS}/worker"), &another);
        pass(Duration::from_mins(2)).await;
        let why = blocked(&world.get(&format!("{POOLS}/worker")));
        assert_eq!(marked(&world), ["n1"], "{named}: {why:?}");
        assert_eq!(why[0]["status"], "False", "{named}: {why:?}");
    }
}

/// Once is nothing: it is read again at once, and nobody has to know.
#[tokio::test(start_paused = true)]
async fn one_read_that_fails_is_tried_again_at_once() {
    let (world, _operator) = waiting().await;
    fail_reads(&world, "changemanagementpolicies", "weekend", 1);
    pass(Duration::from_secs(3_602)).await;
    assert_eq!(marked(&world), ["n1"]);
    assert!(blocked(&world.get(&format!("{POOLS}/worker"))).is_empty(), "nobody was told");
}
