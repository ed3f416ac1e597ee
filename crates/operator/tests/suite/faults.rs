//! Do the statuses come right again when the server and the network do not?

use std::time::Duration;

use api::{
    kinds,
    machine::names::{API_VERSION, ROLE},
};
use apiserver::{Fault, RequestMatch, Scripted};
use serde_json::json;

use super::{
    common::{
        POLICIES, POOLS, World, by_policy, condition, managing, pass, pool, settle, state,
        strike_each, weekend,
    },
    rollout::{CONFIGS, WORKER, config, newest, waiting},
};

fn of(verb: &str, resource: &str) -> RequestMatch {
    RequestMatch {
        verb: Some(verb.into()),
        resource: Some(resource.into()),
        ..RequestMatch::default()
    }
}

fn strike(world: &World, matching: RequestMatch, nth: u32, fault: Fault) {
    world.server.script_fault(Scripted { matching, nth, fault });
}

fn ordinary() -> World {
    let world = World::new();
    world.create(POLICIES, &weekend("weekend"));
    world.create(POOLS, &pool("worker", &by_policy("weekend")));
    world
}

fn worker(world: &World) -> String {
    state(&world.get(&format!("{POOLS}/worker"))).to_owned()
}

/// EXEC-4
#[tokio::test(start_paused = true)]
async fn an_answer_that_is_lost_is_read_back_and_nothing_is_sent_twice() {
    let world = ordinary();
    let _operator = world.start();
    settle().await;
    world.writes();
    strike(&world, of("patch", "machineconfigpools"), 1, Fault::LoseAnswer);
    pass(Duration::from_mins(61)).await;
    assert_eq!(worker(&world), "ChangesUnpaused");
    let writes = world.status_writes();
    let pools = writes.iter().filter(|line| line.contains("machineconfigpools")).count();
    assert_eq!(pools, 1, "the write was carried out, and nobody repeats it: {writes:#?}");
    let events = world.events();
    let said = events.iter().filter(|event| event.starts_with("worker ChangesUnpaused")).count();
    assert_eq!(said, 1, "and people are told all the same: {events:#?}");
}

/// EXEC-4
#[tokio::test(start_paused = true)]
async fn an_answer_that_never_comes_holds_up_its_own_object_alone() {
    let world = ordinary();
    world.create(POOLS, &pool("other", &by_policy("weekend")));
    let _operator = world.start();
    settle().await;
    let matching =
        RequestMatch { name: Some("worker".into()), ..of("patch", "machineconfigpools") };
    strike(&world, matching, 1, Fault::Latency(Duration::from_hours(24)));
    pass(Duration::from_hours(1)).await;
    assert_eq!(state(&world.get(&format!("{POOLS}/other"))), "ChangesUnpaused");
    assert_eq!(worker(&world), "ChangesPaused", "its request is on its way");
    pass(Duration::from_secs(15)).await;
    assert_eq!(worker(&world), "ChangesUnpaused", "given up, read back, and sent anew");
}

/// EXEC-1: most conflicts are over at once, so the first costs no pause.
#[tokio::test(start_paused = true)]
async fn one_conflict_costs_no_time() {
    let world = ordinary();
    let _operator = world.start();
    settle().await;
    strike(&world, of("patch", "machineconfigpools"), 1, Fault::Conflict);
    pass(Duration::from_millis(3_600_100)).await;
    assert_eq!(worker(&world), "ChangesUnpaused");
}

/// EXEC-1: who waits out a refusal waits for news of the object too, but not when somebody has edited it.
#[tokio::test(start_paused = true)]
async fn an_edit_ends_the_wait_after_a_refusal() {
    let world = ordinary();
    let _operator = world.start();
    settle().await;
    strike(&world, of("patch", "machineconfigpools"), 1, Fault::TooManyRequests(3600));
    pass(Duration::from_secs(3_601)).await;
    assert_eq!(worker(&world), "ChangesPaused");
    let path = format!("{POOLS}/worker");
    world.merge(&path, &json!({"metadata": {"annotations": {"team": "one"}}}));
    pass(Duration::from_secs(1)).await;
    assert_eq!(worker(&world), "ChangesPaused", "nobody has changed what was refused");
    world.merge(&path, &json!({"spec": {"maxUnavailable": 2}}));
    pass(Duration::from_secs(1)).await;
    assert_eq!(worker(&world), "ChangesUnpaused");
}

/// Statuses come first: what people are told waits until none is on its way.
#[tokio::test(start_paused = true)]
async fn events_wait_for_statuses() {
    let world = ordinary();
    world.create(POOLS, &pool("other", &by_policy("weekend")));
    let _operator = world.start();
    settle().await;
    let matching = RequestMatch { name: Some("other".into()), ..of("patch", "machineconfigpools") };
    strike(&world, matching, 1, Fault::Latency(Duration::from_secs(5)));
    let told = || world.events().iter().any(|event| event.starts_with("worker ChangesUnpaused"));
    pass(Duration::from_secs(3_603)).await;
    assert_eq!((worker(&world), told()), ("ChangesUnpaused".to_owned(), false));
    pass(Duration::from_secs(5)).await;
    assert!(told());
}

/// So many writes travel at once, and no more.
#[tokio::test(start_paused = true)]
async fn a_server_that_is_slow_is_asked_sixteen_times_at_once() {
    let world = ordinary();
    for number in 0..40 {
        world.create(POOLS, &pool(&format!("pool-{number}"), &by_policy("weekend")));
    }
    let _operator = world.start();
    settle().await;
    world.requests();
    strike_each(&world, "patch", "machineconfigpools", &Fault::Latency(Duration::from_secs(3)));
    let pools = || {
        let writes = world.status_writes();
        writes.iter().filter(|line| line.contains("machineconfigpools")).count()
    };
    pass(Duration::from_secs(3_602)).await;
    assert_eq!(pools(), 16);
    pass(Duration::from_secs(3)).await;
    assert_eq!(pools(), 16, "when the first have been answered");
}

/// EXEC-1
#[tokio::test(start_paused = true)]
async fn conflicts_and_refusals_are_overcome() {
    for fault in [
        Fault::Conflict,
        Fault::TooManyRequests(7),
        Fault::TooManyRequests(3600),
        Fault::ServerError(500),
        Fault::ServerError(503),
        Fault::ServerError(504),
    ] {
        let world = ordinary();
        let _operator = world.start();
        settle().await;
        for nth in 1..=3 {
            strike(&world, of("patch", "machineconfigpools"), nth, fault.clone());
        }
        pass(Duration::from_hours(1)).await;
        pass(Duration::from_mins(4)).await;
        assert_eq!(worker(&world), "ChangesUnpaused", "{fault:?}");
        let writes = world.status_writes();
        let pools = writes.iter().filter(|line| line.contains("machineconfigpools")).count();
        assert_eq!(pools, 1 + 4, "{fault:?}: at the start, and each attempt once: {writes:#?}");
    }
}

/// A watch that says nothing, one that breaks, and history that is forgotten.
#[tokio::test(start_paused = true)]
async fn a_watch_that_fails_costs_a_minute_at_most() {
    for fault in
        [Fault::SilenceWatch(0), Fault::CutWatch(0), Fault::Compact, Fault::ServerError(500)]
    {
        let world = ordinary();
        for nth in 1..=2 {
            strike(&world, of("watch", "machineconfigpools"), nth, fault.clone());
        }
        let operator = world.start();
        settle().await;
        world.merge(
            &format!("{POOLS}/worker"),
            &json!({"spec": {"changeManagement": {"strategy": "Permissive"}}}),
        );
        pass(Duration::from_secs(140)).await;
        assert_eq!(worker(&world), "ChangesUnpaused", "{fault:?}");
        assert_eq!(operator.view.ready(), Ok(()), "{fault:?}");
    }
}

/// Finding 4: a store that was restored from a backup keeps watches open and says nothing.
#[tokio::test(start_paused = true)]
async fn a_store_that_went_back_in_time_is_noticed() {
    let world = ordinary();
    let _operator = world.start();
    settle().await;
    let backup = world.server.backup();
    world.merge(
        &format!("{POOLS}/worker"),
        &json!({"spec": {"changeManagement": {"strategy": "Permissive"}}}),
    );
    for number in 0..50 {
        world.create(POOLS, &pool(&format!("later-{number}"), &json!({"strategy": "Permissive"})));
    }
    settle().await;
    assert_eq!(worker(&world), "ChangesUnpaused");
    world.server.rewind(&backup);
    // Whoever believes its old cache would hold the gate open in its metrics, and would never hear of this:
    world.merge(
        &format!("{POOLS}/worker"),
        &json!({"spec": {"changeManagement": {"strategy": "Restrictive"}}}),
    );
    pass(Duration::from_secs(45)).await;
    assert_eq!(
        condition(&world.get(&format!("{POOLS}/worker")), "ChangesPaused"),
        "True Restrictive"
    );
}

#[tokio::test(start_paused = true)]
async fn a_server_that_is_down_makes_the_operator_unready_and_nothing_else() {
    let world = ordinary();
    let operator = world.start();
    settle().await;
    let down = apiserver::Profile { server_error: 1.0, ..apiserver::Profile::default() };
    world.server.draw_faults(down, 7);
    pass(Duration::from_mins(10)).await;
    assert!(
        operator.view.ready().unwrap_err().contains("last confirmed"),
        "{:?}",
        operator.view.ready()
    );
    assert_eq!(operator.view.health(), Ok(()), "it moves, it only cannot know");
    world.server.heal();
    pass(Duration::from_mins(2)).await;
    assert_eq!(operator.view.ready(), Ok(()));
    pass(Duration::from_hours(1)).await;
    assert_eq!(worker(&world), "ChangesUnpaused");
}

/// Everything at once, many times over; then it heals, and the statuses are true (LIVE-1).
#[tokio::test(start_paused = true)]
async fn statuses_come_right_after_any_faults() {
    for seed in 0..8 {
        let world = World::new();
        for number in 0..4 {
            world.create(POLICIES, &weekend(&format!("weekend-{number}")));
            for pool_number in 0..4 {
                let name = format!("pool-{number}-{pool_number}");
                world.create(POOLS, &pool(&name, &by_policy(&format!("weekend-{number}"))));
            }
        }
        let profile = apiserver::Profile {
            latency: Duration::from_secs(3),
            lose_answer: 0.1,
            conflict: 0.1,
            too_many_requests: 0.1,
            server_error: 0.1,
            cut_watch: 0.2,
            silence_watch: 0.2,
            stale_list: 0.1,
            compact: 0.02,
        };
        world.server.draw_faults(profile, seed);
        let _operator = world.start();
        world.clock.step(55 * 60);
        pass(Duration::from_mins(15)).await;
        for number in 0..4 {
            world.merge(
                &format!("{POLICIES}/weekend-{number}"),
                &json!({"spec": {"strategy": "Restrictive", "maintenanceSchedule": null}}),
            );
        }
        pass(Duration::from_mins(2)).await;
        world.server.heal();
        pass(Duration::from_mins(6)).await;
        for number in 0..4 {
            let name = format!("{POOLS}/pool-{number}-{number}");
            let paused = condition(&world.get(&name), "ChangesPaused");
            assert_eq!(paused, "True Restrictive", "seed {seed}, {name}");
        }
        world.writes();
        pass(Duration::from_hours(1)).await;
        assert_eq!(world.writes(), [""; 0], "seed {seed}: and then it is quiet");
    }
}

/// EXEC-4, POOL-1: what could not be created is created later, and no pool is led to what is not there.
#[tokio::test(start_paused = true)]
async fn a_pool_is_not_led_to_a_configuration_that_could_not_be_created() {
    let (world, _operator) = waiting().await;
    let before = newest(&world);
    for nth in 1..=20 {
        strike(&world, of("create", "machineconfigs"), nth, Fault::ServerError(503));
    }
    world.merge(&format!("{CONFIGS}/50-motd"), &config("three"));
    pass(Duration::from_mins(2)).await;
    assert_eq!(newest(&world), before);
    pass(Duration::from_mins(30)).await;
    assert_ne!(newest(&world), before);
    world.get(&format!("{CONFIGS}/{}", newest(&world)));
}

/// EXEC-4: what was created, by an answer that was lost and by news that nobody hears, is there: its name tells its content.
#[tokio::test(start_paused = true)]
async fn a_configuration_that_exists_already_counts_as_created() {
    let world = World::new();
    world.define(&kinds::MACHINE_CONFIG);
    world.create(CONFIGS, &config("one"));
    let worker = json!({"machineConfigSelector": {"matchLabels": {ROLE: "worker"}},
        "nodeSelector": {"matchLabels": {WORKER: ""}}});
    world.create(
        POOLS,
        &json!({"apiVersion": API_VERSION, "kind": "MachineConfigPool",
            "metadata": {"name": "worker"}, "spec": worker}),
    );
    for nth in 1..=500 {
        strike(&world, of("watch", "machineconfigs"), nth, Fault::SilenceWatch(0));
    }
    strike(&world, of("create", "machineconfigs"), 1, Fault::LoseAnswer);
    let _operator = world.start_with(managing("one"));
    pass(Duration::from_secs(15)).await;
    let pool = world.get(&format!("{POOLS}/worker"));
    let newest = pool["spec"]["configuration"]["name"].as_str().unwrap_or_default();
    assert!(newest.starts_with("rendered-worker-"), "{pool}");
}
