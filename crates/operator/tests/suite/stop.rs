//! Does a hold stop what has been decided and not been sent? (GATE-11)

use std::time::Duration;

use apiserver::Fault;
use operator::{Election, Settings};
use serde_json::{Value, json};

use super::{
    common::{POLICIES, POOLS, Running, World, managing, pass, settle, state, strike_each},
    rollout::{NODES, marked, newest, waiting_machines},
};

const MACHINES: usize = 20;
const LEASE: &str = "/apis/coordination.k8s.io/v1/namespaces/default/leases/tidegate";

/// Twenty nodes that may all go at once, on a server that takes a second for each; a few have been told.
async fn rolling(watches: Watches) -> (World, Running) {
    let (world, operator) = waiting_machines(MACHINES).await;
    world.merge(&format!("{POOLS}/worker"), &json!({"spec": {"maxUnavailable": MACHINES}}));
    if watches == Watches::Silent {
        for resource in ["machineconfigpools", "changemanagementpolicies"] {
            strike_each(&world, "watch", resource, &Fault::SilenceWatch(0));
        }
    }
    strike_each(&world, "patch", "nodes", &Fault::Latency(Duration::from_secs(1)));
    pass(Duration::from_millis(3_602_500)).await;
    let begun = marked(&world).len();
    assert!((2..6).contains(&begun), "{begun}");
    (world, operator)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Watches {
    Healthy,
    Silent,
}

/// What people do to stop, as changes of an object.
fn holds(world: &World) -> Vec<(&'static str, String, Value)> {
    let (pool, policy) = (format!("{POOLS}/worker"), format!("{POLICIES}/weekend"));
    let before = world.get(&format!("{NODES}/n20"));
    let before = &before["metadata"]["annotations"][api::machine::names::CURRENT_CONFIG];
    vec![
        (
            "stanza",
            pool.clone(),
            json!({"spec": {"changeManagement": {"strategy": "Restrictive"}}}),
        ),
        ("policy", policy, json!({"spec": {"strategy": "Restrictive"}})),
        ("pause", pool.clone(), json!({"spec": {"paused": true}})),
        ("pin", pool, json!({"spec": {"machineConfig": {"name": before}}})),
    ]
}

#[tokio::test(start_paused = true)]
async fn after_a_hold_at_most_the_one_write_follows_that_was_on_its_way() {
    for watches in [Watches::Healthy, Watches::Silent] {
        for place in 0..4 {
            let (world, _operator) = rolling(watches).await;
            let (what, path, change) = holds(&world).swap_remove(place);
            let begun = marked(&world).len();
            world.merge(&path, &change);
            pass(Duration::from_secs(40)).await;
            let after = marked(&world).len();
            assert!(after <= begun + 1, "{what}, {watches:?}: {begun} and then {after}");
        }
    }
}

/// LIVE-1: who stopped goes on when the hold is taken away.
#[tokio::test(start_paused = true)]
async fn what_was_stopped_goes_on_when_it_may() {
    let (world, _operator) = rolling(Watches::Healthy).await;
    let pause = |paused: bool| {
        world.merge(&format!("{POOLS}/worker"), &json!({"spec": {"paused": paused}}));
    };
    pause(true);
    pass(Duration::from_mins(10)).await;
    assert!(marked(&world).len() < 7);
    pause(false);
    pass(Duration::from_mins(1)).await;
    assert_eq!(marked(&world).len(), MACHINES);
}

/// GATE-11: the rest of a plan that was stopped is dropped, and the API server is not asked about each of its marks.
#[tokio::test(start_paused = true)]
async fn nothing_is_asked_about_the_rest_of_a_plan_that_was_stopped() {
    let (world, _operator) = rolling(Watches::Healthy).await;
    world.merge(&format!("{POOLS}/worker"), &json!({"spec": {"paused": true}}));
    world.requests();
    pass(Duration::from_secs(30)).await;
    let left = MACHINES - marked(&world).len();
    let read = world.requests().into_iter().filter(|line| line.starts_with("GET "));
    let read = read.filter(|line| line.contains("/machineconfigpools/worker")).count();
    assert!(read < 5 && read < left, "{read} reads, {left} nodes are left");
}

/// A leader that is none any more sends nothing that it decided as one.
#[tokio::test(start_paused = true)]
async fn who_loses_the_lease_stops_in_the_middle_of_a_plan() {
    let (world, alone) = waiting_machines(MACHINES).await;
    drop(alone);
    world.merge(&format!("{POOLS}/worker"), &json!({"spec": {"maxUnavailable": MACHINES}}));
    let election = Election::Lease { namespace: "default".into(), name: "tidegate".into() };
    let operator = world.start_with(Settings { election, ..managing("two") });
    settle().await;
    strike_each(&world, "patch", "nodes", &Fault::Latency(Duration::from_secs(1)));
    world.clock.step(3600);
    pass(Duration::from_millis(2_500)).await;
    assert!(operator.view.leads());
    world.merge(LEASE, &json!({"spec": {"holderIdentity": "somebody-else"}}));
    while operator.view.leads() {
        pass(Duration::from_millis(100)).await;
    }
    let begun = marked(&world).len();
    assert!(begun < 8, "{begun}");
    // Until the other's lease runs out.
    pass(Duration::from_secs(10)).await;
    let after = marked(&world).len();
    assert!(after <= begun + 1, "{begun} and then {after}");
}

/// GATE-11: who does not lead any more tells nobody what it could not read.
#[tokio::test(start_paused = true)]
async fn who_loses_the_lease_tells_nothing_of_what_it_cannot_read() {
    let (world, alone) = waiting_machines(1).await;
    drop(alone);
    let election = Election::Lease { namespace: "default".into(), name: "tidegate".into() };
    let operator = world.start_with(Settings { election, ..managing("two") });
    settle().await;
    // Each read is given up after a while, and is tried once more before anybody is told.
    strike_each(
        &world,
        "get",
        "changemanagementpolicies",
        &Fault::Latency(Duration::from_hours(9)),
    );
    world.clock.step(3600);
    let reads = || world.requests().into_iter().filter(|line| line.ends_with("/weekend")).count();
    let mut read = 0;
    while read < 2 {
        pass(Duration::from_millis(100)).await;
        read += reads();
    }
    assert!(operator.view.leads());
    world.merge(LEASE, &json!({"spec": {"holderIdentity": "somebody-else"}}));
    while operator.view.leads() {
        pass(Duration::from_millis(100)).await;
    }
    world.writes();
    // Until the other's lease runs out.
    pass(Duration::from_secs(10)).await;
    assert!(!operator.view.leads());
    assert_eq!(world.status_writes(), [""; 0]);
}

/// What it costs: before each mark the pool, its policy and the cluster within whose windows it may lie (D4-1) are read, and freezes are listed, and
/// nothing else.
#[tokio::test(start_paused = true)]
async fn before_each_mark_three_objects_are_read_and_freezes_listed() {
    let (world, _operator) = waiting_machines(MACHINES).await;
    world.merge(&format!("{POOLS}/worker"), &json!({"spec": {"maxUnavailable": MACHINES}}));
    pass(Duration::from_secs(3_590)).await;
    world.requests();
    pass(Duration::from_secs(15)).await;
    assert_eq!(marked(&world).len(), MACHINES);
    assert_eq!(state(&world.get(&format!("{POOLS}/worker"))), "ChangesUnpaused");
    let requests = world.requests();
    let count = |line: &str| requests.iter().filter(|request| *request == line).count();
    assert_eq!(count(&format!("GET {POOLS}/worker")), MACHINES);
    assert_eq!(count(&format!("GET {POLICIES}/weekend")), MACHINES);
    let reads = requests.iter().filter(|line| line.starts_with("GET /") && !line.contains('?'));
    assert_eq!(reads.count(), 3 * MACHINES, "{requests:#?}");
    let lists = requests
        .iter()
        .filter(|line| line.contains("/clusterchangefreezes?limit=") && line.starts_with("GET /"));
    // One more where the silence of its watch was looked into.
    assert!((MACHINES..=MACHINES + 2).contains(&lists.count()), "{requests:#?}");
    assert_ne!(newest(&world), "");
}

/// What it costs in time: the reads travel together, so a mark takes two round trips, one for them and one for itself.
#[tokio::test(start_paused = true)]
async fn a_mark_takes_two_round_trips() {
    const TRIP: Duration = Duration::from_millis(100);
    let (world, _operator) = waiting_machines(MACHINES).await;
    world.merge(&format!("{POOLS}/worker"), &json!({"spec": {"maxUnavailable": MACHINES}}));
    pass(Duration::from_secs(3_590)).await;
    for (verb, resource) in [
        ("get", "machineconfigpools"),
        ("get", "changemanagementpolicies"),
        ("list", "clusterchangefreezes"),
        ("patch", "nodes"),
    ] {
        strike_each(&world, verb, resource, &Fault::Latency(TRIP));
    }
    let reached = async |count: usize| {
        while marked(&world).len() < count {
            pass(Duration::from_millis(10)).await;
        }
        tokio::time::Instant::now()
    };
    let first = reached(1).await;
    let took = reached(MACHINES).await - first;
    let trips = took.as_secs_f64() / TRIP.as_secs_f64() / (MACHINES - 1) as f64;
    assert!((1.9..2.1).contains(&trips), "{trips} round trips a mark");
}
