//! Does the operator serve what is there, and pick up the rest when it comes?

use std::time::Duration;

use api::kinds;
use serde_json::json;

use super::common::{
    CRDS, POLICIES, POOLS, World, by_policy, condition, pass, pool, settle, state, weekend,
};

#[tokio::test(start_paused = true)]
async fn kinds_that_are_missing_are_no_error_and_are_picked_up_when_they_come() {
    let world = World::empty();
    let operator = world.start();
    settle().await;
    assert_eq!(operator.view.ready(), Ok(()), "nothing to do is something that can be done");

    world.define(&kinds::CHANGE_MANAGEMENT_POLICY);
    world.create(POLICIES, &weekend("weekend"));
    pass(Duration::from_secs(20)).await;
    assert_eq!(condition(&world.get(&format!("{POLICIES}/weekend")), "Ready"), "True AsExpected");

    world.define(&kinds::MACHINE_CONFIG_POOL);
    world.create(POOLS, &pool("worker", &by_policy("weekend")));
    pass(Duration::from_secs(20)).await;
    assert_eq!(state(&world.get(&format!("{POOLS}/worker"))), "ChangesPaused");
    let definitions = world.writes().into_iter().filter(|line| line.contains("customresource"));
    assert_eq!(definitions.count(), 0, "definitions belong to others");
}

/// GATE-2
#[tokio::test(start_paused = true)]
async fn a_definition_that_is_deleted_takes_its_objects_along() {
    let world = World::new();
    let mut policy = weekend("always");
    policy["spec"] = json!({"strategy": "Permissive"});
    world.create(POLICIES, &policy);
    world.create(POOLS, &pool("worker", &by_policy("always")));
    let operator = world.start();
    settle().await;
    let paused = || condition(&world.get(&format!("{POOLS}/worker")), "ChangesPaused");
    assert_eq!(paused(), "False Permissive");
    world.delete(&format!("{CRDS}/changemanagementpolicies.changemanagement.openshift.io"));
    pass(Duration::from_mins(2)).await;
    assert_eq!(paused(), "True PolicyNotFound", "what is gone permits nothing");
    assert_eq!(operator.view.ready(), Ok(()));

    world.define(&kinds::CHANGE_MANAGEMENT_POLICY);
    world.create(POLICIES, &policy);
    pass(Duration::from_mins(1)).await;
    assert_eq!(paused(), "False Permissive");
}

/// A kind that may not be read is not known to be empty: nobody is decided on a guess.
#[tokio::test(start_paused = true)]
async fn until_policies_could_be_read_nothing_is_decided_about_their_gates() {
    let world = World::new();
    let mut policy = weekend("always");
    policy["spec"] = json!({"strategy": "Permissive"});
    world.create(POLICIES, &policy);
    world.create(POOLS, &pool("worker", &by_policy("always")));
    for nth in 1..=5 {
        world.server.script_fault(apiserver::Scripted {
            matching: apiserver::RequestMatch {
                verb: Some("list".into()),
                resource: Some("changemanagementpolicies".into()),
                ..apiserver::RequestMatch::default()
            },
            nth,
            fault: apiserver::Fault::ServerError(503),
        });
    }
    let operator = world.start();
    settle().await;
    assert!(operator.view.ready().is_err());
    assert_eq!(world.writes(), [""; 0]);
    pass(Duration::from_mins(2)).await;
    assert_eq!(
        condition(&world.get(&format!("{POOLS}/worker")), "ChangesPaused"),
        "False Permissive"
    );
    let events = world.events();
    assert!(!events.iter().any(|event| event.contains("PolicyNotFound")), "{events:#?}");
}
