//! Do statuses tell the truth, at every edge and in between?

use std::time::Duration;

use serde_json::{Value, json};

use super::common::{
    POLICIES, POOLS, World, by_policy, condition, pass, pool, settle, state, weekend,
};

const HOUR: Duration = Duration::from_hours(1);

/// POL-3, POL-6, GATE-6, STAT-3
#[tokio::test(start_paused = true)]
async fn statuses_follow_the_windows_and_nothing_is_written_in_between() {
    let world = World::new();
    world.create(POLICIES, &weekend("weekend"));
    world.create(POOLS, &pool("worker", &by_policy("weekend")));
    let operator = world.start();
    settle().await;
    operator.view.ready().unwrap();

    let look = || {
        let policy = world.get(&format!("{POLICIES}/weekend"));
        let worker = world.get(&format!("{POOLS}/worker"));
        let pair = (state(&policy).to_owned(), state(&worker).to_owned());
        let conditions = [
            condition(&policy, "Ready"),
            condition(&policy, "ChangesRestricted"),
            condition(&worker, "ChangesPaused"),
        ];
        (pair, conditions)
    };
    let (states, conditions) = look();
    assert_eq!(states, ("ChangesPaused".into(), "ChangesPaused".into()));
    assert_eq!(
        conditions,
        ["True AsExpected", "True MaintenanceSchedule", "True MaintenanceSchedule"]
    );
    assert_eq!(world.status_writes().len(), 2, "one for each object");

    pass(Duration::from_secs(3598)).await;
    assert_eq!(world.writes(), [""; 0], "nothing changes before midnight");
    pass(Duration::from_secs(2)).await;
    let (states, conditions) = look();
    assert_eq!(states, ("ChangesUnpaused".into(), "ChangesUnpaused".into()));
    assert_eq!(
        conditions,
        ["True AsExpected", "False MaintenanceSchedule", "False MaintenanceSchedule"]
    );
    assert_eq!(world.status_writes().len(), 2, "one for each object");

    pass(47 * HOUR).await;
    assert_eq!(world.writes(), [""; 0], "nothing changes over the weekend");
    pass(2 * HOUR).await;
    assert_eq!(look().0, ("ChangesPaused".into(), "ChangesPaused".into()));
    assert_eq!(world.status_writes().len(), 2, "one for each object");

    let events = world.events();
    let said = |name: &str, reason: &str| {
        events.iter().filter(|event| event.starts_with(&format!("{name} {reason}: "))).count()
    };
    assert_eq!(said("worker", "ChangesUnpaused"), 1, "{events:#?}");
    assert_eq!(said("worker", "ChangesPaused"), 1, "{events:#?}");
    assert_eq!(said("weekend", "ChangesUnpaused"), 1, "{events:#?}");
}

/// GATE-2
#[tokio::test(start_paused = true)]
async fn editing_a_policy_writes_each_status_once_and_never_flaps() {
    let world = World::new();
    world.create(POLICIES, &weekend("weekend"));
    for number in 0..20 {
        world.create(POOLS, &pool(&format!("pool-{number}"), &by_policy("weekend")));
    }
    let _operator = world.start();
    settle().await;
    assert_eq!(world.status_writes().len(), 21);

    world.merge(
        &format!("{POLICIES}/weekend"),
        &json!({"spec": {"strategy": "Permissive", "maintenanceSchedule": null}}),
    );
    settle().await;
    let writes = world.status_writes();
    assert_eq!(writes.len(), 21, "{writes:#?}");
    assert!(writes[0].contains("changemanagementpolicies"), "the policy first: {}", writes[0]);
    assert_eq!(
        condition(&world.get(&format!("{POOLS}/pool-7")), "ChangesPaused"),
        "False Permissive"
    );
    pass(24 * HOUR).await;
    assert_eq!(world.writes(), [""; 0]);
}

/// GATE-2
#[tokio::test(start_paused = true)]
async fn a_policy_that_comes_and_goes_closes_and_opens_its_gates() {
    let world = World::new();
    world.create(POOLS, &pool("worker", &by_policy("always")));
    let _operator = world.start();
    settle().await;
    let paused = || condition(&world.get(&format!("{POOLS}/worker")), "ChangesPaused");
    assert_eq!(paused(), "True PolicyNotFound");

    let mut policy = weekend("always");
    policy["spec"] = json!({"strategy": "Permissive"});
    world.create(POLICIES, &policy);
    settle().await;
    assert_eq!(paused(), "False Permissive");

    world.delete(&format!("{POLICIES}/always"));
    settle().await;
    assert_eq!(paused(), "True PolicyNotFound");
    let events = world.events();
    assert!(events.iter().any(|event| event.starts_with("worker PolicyNotFound")), "{events:#?}");
}

/// GATE-4
#[tokio::test(start_paused = true)]
async fn an_override_ends_by_itself() {
    let world = World::new();
    world.create(POLICIES, &weekend("weekend"));
    let mut stanza = by_policy("weekend");
    stanza["strategy"] = json!("PermissiveUntil");
    stanza["permissiveUntil"] = json!("2026-11-13T23:30:00Z");
    world.create(POOLS, &pool("worker", &stanza));
    let operator = world.start();
    settle().await;
    let paused = || condition(&world.get(&format!("{POOLS}/worker")), "ChangesPaused");
    let overridden = |value: &str| {
        let line = format!(
            "tidegate_override_in_force{{kind=\"MachineConfigPool\",object=\"worker\"}} {value}\n"
        );
        operator::metrics::page(&operator.view).contains(&line)
    };
    assert_eq!(paused(), "False PermissiveUntil");
    assert!(overridden("1"));
    pass(Duration::from_mins(30)).await;
    assert_eq!(paused(), "True MaintenanceSchedule");
    assert!(overridden("0"));
}

/// GATE-1
#[tokio::test(start_paused = true)]
async fn a_stanza_that_disappears_is_noticed() {
    let world = World::new();
    world.create(POLICIES, &weekend("weekend"));
    world.create(POOLS, &pool("worker", &by_policy("weekend")));
    world.create(POOLS, &pool("plain", &Value::Null));
    let operator = world.start();
    settle().await;
    assert_eq!(
        world.get(&format!("{POOLS}/plain")).get("status"),
        None,
        "never under change management"
    );

    world.merge(&format!("{POOLS}/worker"), &json!({"spec": {"changeManagement": null}}));
    settle().await;
    assert_eq!(
        condition(&world.get(&format!("{POOLS}/worker")), "ChangesPaused"),
        "False StanzaRemoved"
    );
    let events = world.events();
    assert!(events.iter().any(|event| event.starts_with("worker StanzaRemoved")), "{events:#?}");
    let page = operator::metrics::page(&operator.view);
    let line = "tidegate_stanza_removed{kind=\"MachineConfigPool\",object=\"worker\"} 1\n";
    assert!(page.contains(line), "{page}");
}

#[tokio::test(start_paused = true)]
async fn setting_the_clock_is_noticed_forwards_and_backwards() {
    let world = World::new();
    world.create(POLICIES, &weekend("weekend"));
    world.create(POOLS, &pool("worker", &by_policy("weekend")));
    let _operator = world.start();
    settle().await;
    let worker = || state(&world.get(&format!("{POOLS}/worker"))).to_owned();
    assert_eq!(worker(), "ChangesPaused");
    world.clock.step(2 * 3600);
    settle().await;
    assert_eq!(worker(), "ChangesUnpaused", "forwards over midnight");
    world.clock.step(-2 * 3600);
    settle().await;
    assert_eq!(worker(), "ChangesPaused", "and back");
}
