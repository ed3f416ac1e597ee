//! Does a freeze stop the operator itself, and is it told? (OVR-1, OVR-5, GATE-11)
//!
//! No admission policy stands here, so what holds is the operator's own decision: the server's refusal is shown elsewhere.

use std::time::Duration;

use api::{
    kinds,
    machine::names::{ALLOWED_CONFIG, CURRENT_CONFIG, DESIRED_CONFIG, STATE},
};
use apiserver::{Fault, RequestMatch, Scripted};
use operator::{Election, Settings};
use runtime::clock::{Clock as _, SetClock};
use schedule::Instant;
use serde_json::{Value, json};

use super::{
    common::{POOLS, Running, World, condition, managing, pass, pool, settle, state, strike_each},
    rollout::{NODES, marked, newest, waiting_machines},
};

const FREEZES: &str = "/apis/changemanagement.openshift.io/v1alpha1/clusterchangefreezes";
const HOSTED: &str = "/apis/hypershift.openshift.io/v1beta1/namespaces/a/hostedclusters";
const MACHINES: usize = 20;

fn freeze(name: &str, mut spec: Value) -> Value {
    spec["reason"] = json!("a storm");
    json!({"apiVersion": "changemanagement.openshift.io/v1alpha1", "kind": "ClusterChangeFreeze",
        "metadata": {"name": name}, "spec": spec})
}

/// Twenty nodes that may all go at once, on a server that takes a second for each.
async fn about_to_roll() -> (World, Running) {
    let (world, operator) = waiting_machines(MACHINES).await;
    world.merge(&format!("{POOLS}/worker"), &json!({"spec": {"maxUnavailable": MACHINES}}));
    strike_each(&world, "patch", "nodes", &Fault::Latency(Duration::from_secs(1)));
    (world, operator)
}

/// The same, when a few of them have been told.
async fn rolling() -> (World, Running) {
    let (world, operator) = about_to_roll().await;
    pass(Duration::from_millis(3_602_500)).await;
    let begun = marked(&world).len();
    assert!((2..6).contains(&begun), "{begun}");
    (world, operator)
}

/// In the middle of a plan, and it goes on when the freeze is gone. What was told to go stays told.
#[tokio::test(start_paused = true)]
async fn a_freeze_stops_a_rollout_and_its_end_lets_it_go_on() {
    let (world, _operator) = rolling().await;
    let begun = marked(&world).len();
    // Another pool's is nobody's business here.
    let infra = json!([{"what": "MachineConfigPools", "names": ["infra"]}]);
    world.create(FREEZES, &freeze("infra", json!({"holds": infra})));
    pass(Duration::from_secs(2)).await;
    assert!(marked(&world).len() > begun);
    let begun = marked(&world).len();
    world.create(FREEZES, &freeze("stop", json!({})));
    pass(Duration::from_mins(10)).await;
    let after = marked(&world).len();
    assert!((begun..=begun + 1).contains(&after), "{begun} and then {after}");
    let held = world.get(&format!("{POOLS}/worker"));
    assert_eq!(condition(&held, "ChangesPaused"), "True Frozen");
    assert_eq!(condition(&held, "ChangesPending"), "True Held");
    let told = held["status"]["changeManagement"]["behavior"]["current"]["reason"].clone();
    assert_eq!(told, "frozen by ClusterChangeFreeze/stop until further notice, unsigned: a storm");
    world.delete(&format!("{FREEZES}/stop"));
    pass(Duration::from_mins(1)).await;
    assert_eq!(marked(&world).len(), MACHINES);
}

/// GATE-11: a freeze that no watch tells of is found before the next mark, although nobody knows its name; also if all that is heard of
/// the watch is silence from the beginning.
#[tokio::test(start_paused = true)]
async fn a_freeze_behind_a_silent_watch_stops_the_next_mark() {
    let (world, _operator) = about_to_roll().await;
    strike_each(&world, "watch", "clusterchangefreezes", &Fault::SilenceWatch(0));
    pass(Duration::from_millis(3_602_500)).await;
    let begun = marked(&world).len();
    assert!((2..6).contains(&begun), "{begun}");
    world.create(FREEZES, &freeze("stop", json!({})));
    pass(Duration::from_secs(5)).await;
    let after = marked(&world).len();
    assert!((begun..=begun + 1).contains(&after), "{begun} and then {after}");
}

/// GATE-12: where freezes cannot be listed nobody can tell whether there is one, and nothing is initiated.
#[tokio::test(start_paused = true)]
async fn where_freezes_cannot_be_listed_nothing_is_begun() {
    let long = "has not confirmed what is known of ClusterChangeFreeze for 90 s";
    for (since, expected) in [(0, long), (3_590, "ClusterChangeFreeze cannot be read")] {
        let (world, _operator) = about_to_roll().await;
        pass(Duration::from_secs(since)).await;
        strike_each(&world, "list", "clusterchangefreezes", &Fault::ServerError(500));
        strike_each(&world, "watch", "clusterchangefreezes", &Fault::SilenceWatch(0));
        pass(Duration::from_secs(3_630 - since)).await;
        assert!(marked(&world).is_empty());
        let held = world.get(&format!("{POOLS}/worker"));
        let told = held.pointer("/status/conditions").unwrap().to_string();
        assert!(told.contains(expected), "{told}");
    }
}

/// Whatever has no stanza is frozen too, is woken at the end, and reads as before afterwards.
#[tokio::test(start_paused = true)]
async fn a_freeze_begins_and_ends_by_itself() {
    let world = World::new();
    world.create(POOLS, &pool("plain", &Value::Null));
    world.create(POOLS, &pool("open", &json!({"strategy": "Permissive"})));
    let span = json!({"from": "2026-11-14T00:00:00Z", "until": "2026-11-14T02:00:00Z"});
    world.create(FREEZES, &freeze("night", span));
    let _operator = world.start();
    let says = |name: &str| condition(&world.get(&format!("{POOLS}/{name}")), "ChangesPaused");
    let both = || (says("plain"), says("open"));
    let before = ("False NoStanza".to_owned(), "False Permissive".to_owned());
    settle().await;
    assert_eq!(both(), before);
    pass(Duration::from_secs(3_601)).await;
    assert_eq!(both(), ("True Frozen".into(), "True Frozen".into()));
    assert_eq!(state(&world.get(&format!("{POOLS}/open"))), "ChangesPaused");
    pass(Duration::from_hours(2)).await;
    assert_eq!(both(), before);
    world.delete(&format!("{FREEZES}/night"));
    settle().await;
    assert_eq!(both(), before);
    world.writes();
    pass(Duration::from_mins(30)).await;
    assert_eq!(world.writes(), [""; 0], "an idle cluster is not written");
}

/// A stanza that went is told of, whether it went during a freeze or before one: its gate is open from then on.
#[tokio::test(start_paused = true)]
async fn a_freeze_hides_no_stanza_that_went() {
    let world = World::new();
    world.create(POOLS, &pool("worker", &json!({"strategy": "Restrictive"})));
    let _operator = world.start();
    settle().await;
    let says = || condition(&world.get(&format!("{POOLS}/worker")), "ChangesPaused");
    let gone = "False StanzaRemoved";
    for round in ["during", "before"] {
        world.create(FREEZES, &freeze("stop", json!({})));
        settle().await;
        assert_eq!(says(), "True Frozen", "{round}");
        world.merge(&format!("{POOLS}/worker"), &json!({"spec": {"changeManagement": null}}));
        settle().await;
        assert_eq!(says(), "True Frozen", "{round}");
        world.delete(&format!("{FREEZES}/stop"));
        settle().await;
        assert_eq!(says(), gone, "{round}");
    }
}

/// GATE-11: behind a watch that says nothing a status tells of it too.
#[tokio::test(start_paused = true)]
async fn a_freeze_that_nobody_tells_of_is_told_within_65_seconds() {
    let world = World::new();
    world.create(POOLS, &pool("open", &json!({"strategy": "Permissive"})));
    let _operator = world.start();
    settle().await;
    strike_each(&world, "watch", "clusterchangefreezes", &Fault::SilenceWatch(0));
    pass(Duration::from_secs(130)).await;
    world.create(FREEZES, &freeze("stop", json!({})));
    pass(Duration::from_secs(65)).await;
    let pool = world.get(&format!("{POOLS}/open"));
    assert_eq!(condition(&pool, "ChangesPaused"), "True Frozen");
}

/// OVR-1: whoever leads, and whoever takes over: a freeze is nobody's memory.
#[tokio::test(start_paused = true)]
async fn a_replica_that_takes_over_is_frozen_too() {
    let (world, alone) = about_to_roll().await;
    drop(alone);
    let election = || Election::Lease { namespace: "default".into(), name: "tidegate".into() };
    let replica =
        |name: &str| world.start_with(Settings { election: election(), ..managing(name) });
    let one = replica("one");
    settle().await;
    let two = replica("two");
    world.clock.step(3_600);
    pass(Duration::from_millis(3_500)).await;
    assert!(one.view.leads());
    let begun = marked(&world).len();
    assert!((1..6).contains(&begun), "{begun}");
    world.create(FREEZES, &freeze("stop", json!({})));
    drop(one);
    while !two.view.leads() {
        pass(Duration::from_millis(100)).await;
    }
    pass(Duration::from_mins(10)).await;
    let after = marked(&world).len();
    assert!(after <= begun + 1, "{begun} and then {after}");
    world.delete(&format!("{FREEZES}/stop"));
    pass(Duration::from_mins(1)).await;
    assert_eq!(marked(&world).len(), MACHINES);
}

/// GATE-15: consent passes no freeze, and neither does a clock that is behind the server's.
#[tokio::test(start_paused = true)]
async fn neither_consent_nor_a_late_clock_passes_a_freeze() {
    let (world, alone) = waiting_machines(2).await;
    drop(alone);
    world.create(FREEZES, &freeze("stop", json!({})));
    let allowed = json!({"metadata": {"annotations": {ALLOWED_CONFIG: newest(&world)}}});
    world.merge(&format!("{NODES}/n1"), &allowed);
    world.clock.step(3_600);
    let late = SetClock::starting_at(Instant::parse("2026-11-13T23:59:58Z").unwrap());
    let _operator = world.start_by(&late, managing("late"));
    pass(Duration::from_mins(2)).await;
    assert!(marked(&world).is_empty());
    world.delete(&format!("{FREEZES}/stop"));
    pass(Duration::from_mins(2)).await;
    assert_eq!(marked(&world), ["n1"]);
}

/// A server without our definitions of freezes is as before; one that gets them, and a freeze with them, is asked again soon enough.
#[tokio::test(start_paused = true)]
async fn freezes_that_the_server_learns_later_are_honoured() {
    let world = World::empty();
    for kind in [&kinds::CHANGE_MANAGEMENT_POLICY, &kinds::MACHINE_CONFIG_POOL] {
        world.define(kind);
    }
    world.create(POOLS, &pool("open", &json!({"strategy": "Permissive"})));
    let operator = world.start();
    settle().await;
    assert_eq!(operator.view.ready(), Ok(()));
    let says = || condition(&world.get(&format!("{POOLS}/open")), "ChangesPaused");
    assert_eq!(says(), "False Permissive");
    world.define(&kinds::CLUSTER_CHANGE_FREEZE);
    world.create(FREEZES, &freeze("stop", json!({})));
    pass(Duration::from_secs(65)).await;
    assert_eq!(says(), "True Frozen");
}

/// RCH-13: which namespaces a freeze of the platform chooses is told by their labels, as they are now.
#[tokio::test(start_paused = true)]
async fn a_freeze_follows_the_labels_of_namespaces() {
    let world = World::new();
    let namespace = |labels: &Value| json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "a", "labels": labels}});
    world.create("/api/v1/namespaces", &namespace(&json!({"env": "test"})));
    world.create(
        HOSTED,
        &json!({"apiVersion": "hypershift.openshift.io/v1beta1", "kind": "HostedCluster",
            "metadata": {"name": "one"}, "spec": {"changeManagement": {"strategy": "Permissive"}}}),
    );
    let prod = json!({"namespaceSelector": {"matchLabels": {"env": "prod"}}});
    world.create(FREEZES, &freeze("prod", prod));
    let _operator = world.start();
    settle().await;
    let says = || condition(&world.get(&format!("{HOSTED}/one")), "ChangesPaused");
    assert_eq!(says(), "False Permissive");
    world.merge("/api/v1/namespaces/a", &json!({"metadata": {"labels": {"env": "prod"}}}));
    settle().await;
    assert_eq!(says(), "True Frozen");
    // What others write of a namespace is no news.
    world.writes();
    world.merge("/api/v1/namespaces/a", &json!({"metadata": {"annotations": {"x": "y"}}}));
    settle().await;
    assert_eq!(world.writes(), [""; 0]);
}

/// OVR-6: a day after its end, and not before; one without an end stays.
#[tokio::test(start_paused = true)]
async fn a_freeze_goes_a_day_after_its_end() {
    let world = World::new();
    for (name, until) in [("night", json!("2026-11-14T02:00:00Z")), ("lasting", Value::Null)] {
        world.create(FREEZES, &freeze(name, json!({"until": until})));
    }
    let _operator = world.start();
    settle().await;
    let left = || {
        let found = world.get(FREEZES);
        let items = found["items"].as_array().unwrap().iter();
        items.map(|item| item["metadata"]["name"].clone()).collect::<Vec<_>>()
    };
    // Friday 23:00 to Sunday 02:00.
    pass(Duration::from_secs(27 * 3_600 - 10)).await;
    assert_eq!(left(), ["lasting", "night"]);
    pass(Duration::from_secs(20)).await;
    assert_eq!(left(), ["lasting"]);
    let deletes = world.writes().into_iter().filter(|line| line.starts_with("DELETE "));
    assert_eq!(deletes.count(), 1);
}

/// OVR-6, EXEC-4: a deletion that failed is tried again at once, and one that somebody else was faster with is no failure.
#[tokio::test(start_paused = true)]
async fn a_deletion_that_fails_is_tried_again_and_one_that_comes_late_is_not() {
    // Half a minute off the instants at which everything is decided anyway.
    let night = || freeze("night", json!({"until": "2026-11-14T02:00:30Z"}));
    let due = Duration::from_secs(27 * 3_600 + 30);
    let strike = |world: &World, fault: Fault| {
        let matching = RequestMatch { verb: Some("delete".into()), ..RequestMatch::default() };
        world.server.script_fault(Scripted { matching, nth: 1, fault });
    };
    let failing = World::new();
    failing.create(FREEZES, &night());
    strike(&failing, Fault::ServerError(500));
    let _operator = failing.start();
    pass(due + Duration::from_secs(10)).await;
    assert_eq!(failing.get(FREEZES)["items"], json!([]));

    let late = World::new();
    late.create(FREEZES, &night());
    strike(&late, Fault::Latency(Duration::from_secs(5)));
    let operator = late.start();
    pass(due + Duration::from_secs(1)).await;
    late.delete(&format!("{FREEZES}/night"));
    pass(Duration::from_secs(10)).await;
    let page = operator::metrics::page(&operator.view);
    let of_freezes = page.lines().filter(|line| line.contains("kind=\"ClusterChangeFreeze\""));
    let refused: Vec<&str> = of_freezes.filter(|line| line.contains("\"refused\"")).collect();
    assert_eq!(refused, [""; 0], "whoever was faster did what was wanted");
}

/// OVR-6, GATE-11: who does not know the server's time deletes nothing by its own.
#[tokio::test(start_paused = true)]
async fn a_clock_that_is_ahead_deletes_no_freeze() {
    let world = World::new();
    world.create(FREEZES, &freeze("night", json!({"until": "2026-11-16T02:00:00Z"})));
    let ahead = SetClock::starting_at(world.clock.now().saturating_add(30 * 24 * 3_600));
    let _operator = world.start_by(&ahead, managing("one"));
    pass(Duration::from_mins(30)).await;
    assert_eq!(world.get(FREEZES)["items"].as_array().unwrap().len(), 1);
}

/// OVR-1: what was told to go arrives, and is told so, while everything is frozen.
#[tokio::test(start_paused = true)]
async fn what_has_begun_finishes_while_it_is_frozen() {
    let (world, _operator) = rolling().await;
    world.create(FREEZES, &freeze("stop", json!({})));
    pass(Duration::from_secs(5)).await;
    let (begun, target) = (marked(&world), newest(&world));
    for name in &begun {
        let arrived = json!({CURRENT_CONFIG: target, DESIRED_CONFIG: target, STATE: "Done"});
        world.merge(&format!("{NODES}/{name}"), &json!({"metadata": {"annotations": arrived}}));
    }
    pass(Duration::from_secs(5)).await;
    let pool = world.get(&format!("{POOLS}/worker"));
    assert_eq!(pool["status"]["updatedMachineCount"], begun.len());
    assert_eq!(marked(&world), begun);
}
