//! What the status of a pool reads, and what pending means.

use api::{
    kinds,
    machine::names::{self, NodeState},
};
use serde_json::json;

use super::world::{World, file_source, later, noon, open, shut, touch, window};
use crate::{
    document::key::Key,
    gate::{
        Basis,
        change::ChangeId,
        pending::{Course, Stop},
        refusal::Refusal,
        words::each,
    },
    pool::{Effect, prune::Reason, seen_status::ROLLOUT_BLOCKED, source::Rendered},
};

fn counts(world: &World) -> [i64; 5] {
    let count = |key: &str| world.pool["status"][key].as_i64().unwrap();
    [
        count("machineCount"),
        count("updatedMachineCount"),
        count("readyMachineCount"),
        count("unavailableMachineCount"),
        count("degradedMachineCount"),
    ]
}

fn holds(world: &World, kind: &str) -> String {
    world.condition(kind).0
}

/// STAT-3
#[test]
fn status_follows_a_rollout_as_upstream_writes_it() {
    let mut world = World::new("worker", 3);
    let first = world.newest();
    assert_eq!(counts(&world), [3, 3, 3, 0, 0]);
    assert_eq!(
        world.condition("Updated"),
        ("True".into(), format!("All nodes are updated with {first}"))
    );
    assert_eq!(holds(&world, "Updating"), "False");
    assert_eq!(world.pool["status"]["configuration"]["name"], first.as_str());
    world.put(&file_source("50-change", "/etc/change", "1"));
    world.settle(&open(), noon());
    let second = world.newest();
    assert_eq!(counts(&world), [3, 0, 0, 1, 0]);
    assert_eq!(holds(&world, "Updated"), "False");
    assert_eq!(
        world.condition("Updating"),
        ("True".into(), format!("All nodes are updating to {second}"))
    );
    assert_eq!(world.pool["status"]["configuration"]["name"], first.as_str());
    for round in 0..3 {
        world.finish();
        world.settle(&open(), later(round));
    }
    assert_eq!(counts(&world), [3, 3, 3, 0, 0]);
    assert_eq!(world.pool["status"]["configuration"]["name"], second.as_str());
    let before = world.pool.clone();
    world.settle(&open(), later(99_999));
    assert_eq!(world.pool, before, "an idle pool is not written");
}

#[test]
fn pool_that_goes_is_left_in_peace() {
    let mut world = World::new("worker", 2);
    world.put(&file_source("50-change", "/etc/change", "1"));
    world.set("/metadata/deletionTimestamp", &json!("2026-11-15T11:00:00Z"));
    assert!(world.plan(&open(), noon()).effects.is_empty());
}

#[test]
fn stuck_machines_are_named_with_what_they_say() {
    let mut world = World::new("worker", 2);
    world.put(&file_source("50-change", "/etc/change", "1"));
    world.settle(&open(), noon());
    let node = world.node("n0");
    node.state = NodeState::Degraded;
    node.reason = "disk full".into();
    touch(node);
    world.settle(&open(), later(60));
    assert_eq!(counts(&world), [2, 0, 0, 1, 1]);
    let (status, message) = world.condition("NodeDegraded");
    assert_eq!((status.as_str(), message.as_str()), ("True", "Node n0 is Degraded: \"disk full\""));
    let seen = world.seen();
    let reason = &seen.status.condition("NodeDegraded").unwrap().reason;
    assert_eq!(reason, "1 nodes are reporting degraded status on sync");
    assert_eq!(holds(&world, "Degraded"), "True");
}

#[test]
fn pool_without_machines_has_nothing_left_to_do() {
    let world = World::new("worker", 0);
    assert_eq!(counts(&world), [0, 0, 0, 0, 0]);
    assert_eq!(holds(&world, "Updated"), "True");
}

/// GATE-6
#[test]
fn held_pool_says_until_when() {
    let mut world = World::new("worker", 3);
    world.put(&file_source("50-change", "/etc/change", "1"));
    let gate = window(600);
    world.settle(&gate, later(-3600));
    let (status, message) = world.condition("Updating");
    assert_eq!(status, "False");
    assert!(message.contains("3 of 3 nodes lack"), "{message}");
    assert!(
        message.contains("changes are held (Restrictive) until 2026-11-15T12:00:00Z"),
        "{message}"
    );
}

/// POOL-6
#[test]
fn pending_is_judged_against_the_newest_and_names_sources_and_fields() {
    let mut world = World::new("worker", 3);
    let pending = |world: &World| world.plan(&shut(), noon()).pending;
    assert!(pending(&world).is_empty());
    let first = world.newest();
    world.set("/spec/machineConfig", &json!({"name": first}));
    let mut change = file_source("50-change", "/etc/change", "1");
    change["spec"]["kernelArguments"] = json!(["nosmt"]);
    world.put(&change);
    world.put(&file_source("00-base", "/etc/base", "new"));
    world.settle(&open(), noon());
    let newest = world.newest();
    assert_eq!(world.moving(), [""; 0], "pinned to what it has");
    assert_eq!(
        each(&pending(&world).waiting),
        [format!(
            "{newest} on 3 of 3 nodes: 00-base changed, 50-change added (file /etc/base, file /etc/change, kernelArguments)"
        )]
    );
    world.set("/spec/machineConfig", &serde_json::Value::Null);
    world.settle(&open(), noon());
    assert_eq!(each(&pending(&world).begun), [format!("{newest} on 1 of 3 nodes")]);
    assert!(
        pending(&world).waiting[0].to_string().starts_with(&format!("{newest} on 2 of 3 nodes"))
    );
}

/// GATE-6
#[test]
fn status_waits_until_the_newest_configuration_was_seen() {
    let mut world = World::new("worker", 3);
    world.put(&file_source("50-change", "/etc/change", "1"));
    world.settle(&shut(), noon());
    let newest = world.newest();
    world.put(&file_source("50-change", "/etc/change", "2"));
    let unseen = |config: &Rendered| config.name != newest;
    world.settle(&shut(), later(60));
    world.set("/spec/configuration", &json!({"name": newest}));
    world.put(&file_source("50-change", "/etc/change", "1"));
    world.rendered.retain(unseen);
    let plan = world.plan(&shut(), later(120));
    assert!(matches!(plan.effects.as_slice(), [Effect::CreateRendered(_)]), "{:?}", plan.effects);
    assert_eq!(plan.status, None, "a status would say that something waits, and not what");
}

/// POOL-5, POOL-7, CV-2
#[test]
fn what_goes_on_while_the_gate_is_shut_is_not_held() {
    let course = |world: &World| world.plan(&shut(), later(5)).pending.course;
    let mut masters = World::new("master", 3);
    masters.put(&file_source("50-change", "/etc/change", "1"));
    masters.settle(&window(600), noon());
    let begun = masters.newest();
    assert_eq!(
        course(&masters),
        Course::Anyway([Basis::AlreadyInitiated(ChangeId::rendered(&begun))].into())
    );
    masters.settle(&shut(), later(5));
    let (_, message) = masters.condition("Updating");
    assert!(!message.contains("held"), "{message}");
    masters.put(&file_source("50-change", "/etc/change", "of a user"));
    masters.settle(&shut(), later(6));
    assert_eq!(course(&masters), Course::Gate, "another change waits for the gate");
    let (_, message) = masters.condition("Updating");
    assert!(message.contains(&format!("{begun} has begun and goes on")), "{message}");

    let mut workers = World::new("worker", 3);
    workers.put(&file_source("50-change", "/etc/change", "1"));
    workers.settle(&shut(), noon());
    assert_eq!(course(&workers), Course::Gate);
    let newest = workers.newest();
    workers.node("n0").allowed = Some(newest);
    assert_eq!(course(&workers), Course::Gate, "the others wait");
    let mut urgent = file_source("90-urgent", "/etc/urgent", "1");
    urgent["metadata"]["annotations"] = json!({names::BYPASS: "yes"});
    workers.put(&urgent);
    workers.settle(&shut(), later(1));
    assert_eq!(course(&workers), Course::Anyway([Basis::Bypass("90-urgent".into())].into()));
}

/// POOL-6
#[test]
fn what_the_pool_itself_stops_is_told_apart() {
    let course = |world: &World| world.plan(&open(), noon()).pending.course;
    let mut world = World::new("worker", 3);
    let first = world.newest();
    world.set("/spec/machineConfig", &json!({"name": first}));
    world.put(&file_source("50-change", "/etc/change", "1"));
    world.settle(&open(), noon());
    assert_eq!(course(&world), Course::Stopped(Stop::Pinned(first)));
    world.set("/spec/paused", &json!(true));
    assert_eq!(course(&world), Course::Stopped(Stop::Paused));
    world.set("/spec/paused", &json!(false));
    world.set("/spec/machineConfig", &serde_json::Value::Null);
    assert_eq!(course(&world), Course::Gate);
}

/// POOL-9, POOL-4, POOL-8
#[test]
fn what_anything_names_is_never_pruned() {
    let mut world = World::new("worker", 2);
    let mut configs = vec![world.newest()];
    for round in 1..8 {
        world.put(&file_source("50-change", "/etc/change", &round.to_string()));
        world.settle(&shut(), later(round));
        configs.push(world.newest());
    }
    world.nodes[1].current.clone_from(&configs[1]);
    world.nodes[1].desired.clone_from(&configs[2]);
    world.nodes[0].allowed = Some(configs[6].clone());
    world.set("/spec/machineConfig", &json!({"name": configs[3]}));
    world.set(
        "/metadata/annotations",
        &json!({
            api::machine::names::PREVIOUS_CONFIG: configs[4],
        }),
    );
    let pool = world.seen();
    let verdicts = world.prune(&pool, None);
    let reasons = |name: &str| {
        let verdict = verdicts.iter().find(|verdict| verdict.config == name).unwrap();
        verdict.kept_by.clone()
    };
    assert_eq!(
        reasons(&configs[0]),
        [Reason::Converged("worker"), Reason::Current(1), Reason::Desired(1)]
    );
    assert_eq!(reasons(&configs[1]), [Reason::Current(1)]);
    assert_eq!(reasons(&configs[2]), [Reason::Desired(1)]);
    assert_eq!(reasons(&configs[3]), [Reason::Pinned("worker")]);
    assert_eq!(reasons(&configs[4]), [Reason::Previous("worker")]);
    assert_eq!(reasons(&configs[6]), [Reason::Allowed(1)]);
    assert_eq!(reasons(&configs[7]), [Reason::Newest("worker")]);
    let gone: Vec<&str> = verdicts
        .iter()
        .filter(|verdict| verdict.may_be_deleted())
        .map(|verdict| verdict.config)
        .collect();
    assert_eq!(gone, [configs[5].as_str()]);
    assert_eq!(Reason::Current(1).to_string(), "1 node runs it");
}

/// LIVE-3
#[test]
fn a_machine_that_the_server_refuses_is_told_of_while_it_is_wanted_there() {
    let mut world = World::new("worker", 3);
    world.put(&file_source("50-change", "/etc/change", "1"));
    world.settle(&shut(), noon());
    let target = world.newest();
    let node = |name| Key::new(&kinds::NODE, None, name);
    let refusal = |config: &str| Refusal {
        change: Some(ChangeId::rendered(config)),
        said: "not this one".into(),
    };
    let blocked = |world: &mut World| {
        world.settle(&shut(), noon());
        world
            .seen()
            .status
            .condition(ROLLOUT_BLOCKED)
            .map(|it| (it.status.clone(), it.message.clone()))
    };
    world.refusals.insert(node("n0"), refusal("rendered-worker-older"));
    world.refusals.insert(node("n9"), refusal(&target));
    assert_eq!(blocked(&mut world), None, "of another target, and of another pool");
    world.refusals.insert(node("n0"), refusal(&target));
    let message = format!("the server refuses to let Node/n0 go to {target}: not this one");
    assert_eq!(blocked(&mut world), Some(("True".into(), message)));
    world.node("n0").desired = target;
    assert_eq!(blocked(&mut world), Some(("False".into(), String::new())), "it got there");
}

/// GATE-11: what is held back for a reason that is not the pool's own begins nothing, and the pool says why while something waits.
#[test]
fn what_is_held_back_is_told_while_a_machine_waits_and_begins_nothing() {
    let mut world = World::new("worker", 2);
    world.put(&file_source("50-change", "/etc/change", "1"));
    world.settle(&shut(), noon());
    let target = world.newest();
    let old = world.node("n0").desired.clone();
    let blocked = |world: &World| {
        let seen = world.seen();
        seen.status.condition(ROLLOUT_BLOCKED).map(|it| (it.status.clone(), it.message.clone()))
    };
    for why in ["the clock is off", ""] {
        world.held_back = Some(why);
        world.settle(&open(), noon());
        assert_eq!(world.node("n0").desired, old, "{why}");
        let told = Some((if why.is_empty() { "False" } else { "True" }.into(), why.into()));
        assert_eq!(blocked(&world), told, "a reason without words is not told");
    }
    world.held_back = None;
    world.settle(&open(), noon());
    assert_eq!(world.node("n0").desired, target);
}
