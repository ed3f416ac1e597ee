//! Does one replica write, and does another take over when it is gone?

use std::time::Duration;

use operator::{Election, Settings};
use serde_json::json;
use tokio::time::Instant;

use super::common::{
    POLICIES, POOLS, Running, World, by_policy, pass, pool, settle, state, weekend,
};

const LEASE: &str = "/apis/coordination.k8s.io/v1/namespaces/default/leases/tidegate-operator";

fn replica(world: &World, identity: &str) -> Running {
    let election =
        Election::Lease { namespace: "default".into(), name: "tidegate-operator".into() };
    world.start_with(Settings { election, ..Settings::alone(identity) })
}

fn ordinary() -> World {
    let world = World::new();
    world.create(POLICIES, &weekend("weekend"));
    world.create(POOLS, &pool("worker", &by_policy("weekend")));
    // Two minutes before midnight: a lease is looked at every two seconds, and nobody wants to wait for hours of that.
    world.clock.step(58 * 60);
    world
}

/// The moment at which a replica leads.
async fn leads(replica: &Running) -> Instant {
    while !replica.view.leads() {
        pass(Duration::from_millis(100)).await;
    }
    Instant::now()
}

#[tokio::test(start_paused = true)]
async fn of_two_replicas_one_writes() {
    let world = ordinary();
    let (one, two) = (replica(&world, "one"), replica(&world, "two"));
    pass(Duration::from_mins(5)).await;
    assert_ne!(one.view.leads(), two.view.leads());
    assert_eq!((one.view.ready(), two.view.ready()), (Ok(()), Ok(())), "both know everything");
    assert_eq!(world.status_writes().len(), 4, "at the start and at the edge, once each");
}

/// Virtual time stands still while anybody spins, so with a follower that does this test would never end.
#[tokio::test(start_paused = true)]
async fn a_follower_rests_for_longer_than_a_leader_recomputes() {
    let world = ordinary();
    let one = replica(&world, "one");
    leads(&one).await;
    let two = replica(&world, "two");
    pass(Duration::from_mins(20)).await;
    assert!(!two.view.leads());
    assert_eq!(two.view.health(), Ok(()));
}

#[tokio::test(start_paused = true)]
async fn another_takes_over_within_twenty_seconds_when_the_leader_is_killed() {
    for moment in 0..8 {
        let world = ordinary();
        let one = replica(&world, "one");
        leads(&one).await;
        let two = replica(&world, "two");
        // Killed at different moments between two renewals, and the second one looks at its own.
        pass(Duration::from_millis(20_000 + 313 * moment)).await;
        assert!(!two.view.leads());
        let killed = Instant::now();
        drop(one);
        let took = leads(&two).await - killed;
        assert!(took < Duration::from_secs(20), "{took:?}");
        assert!(took > Duration::from_secs(10), "and not while the lease runs: {took:?}");
        assert_eq!(world.get(LEASE)["spec"]["leaseTransitions"], 1, "a new epoch");
        world.writes();
        pass(Duration::from_mins(2)).await;
        assert_eq!(state(&world.get(&format!("{POOLS}/worker"))), "ChangesUnpaused");
        assert_eq!(world.status_writes().len(), 2, "nothing is done twice");
    }
}

#[tokio::test(start_paused = true)]
async fn a_leader_that_ends_gives_the_lease_back() {
    let world = ordinary();
    let (end, ended) = tokio::sync::oneshot::channel::<()>();
    let settings = Settings {
        election: Election::Lease { namespace: "default".into(), name: "tidegate-operator".into() },
        ..Settings::alone("one")
    };
    let operator =
        operator::Operator::new(world.client(), std::sync::Arc::new(world.clock.clone()), settings);
    let one = tokio::spawn(operator.run(async {
        let _ = ended.await;
    }));
    settle().await;
    let two = replica(&world, "two");
    settle().await;
    let began = Instant::now();
    end.send(()).unwrap();
    one.await.unwrap().unwrap();
    leads(&two).await;
    assert!(began.elapsed() < Duration::from_secs(4), "{:?}", began.elapsed());
}

#[tokio::test(start_paused = true)]
async fn two_who_find_a_free_lease_at_once_do_not_both_get_it() {
    for seed in 0..10 {
        let world = ordinary();
        // The same delays for both, more or less, and the lease is somebody's who is gone.
        let latency = Duration::from_millis(50);
        world.server.draw_faults(apiserver::Profile { latency, ..Default::default() }, seed);
        let replicas: Vec<Running> =
            (0..5).map(|number| replica(&world, &format!("replica-{number}"))).collect();
        for _ in 0..40 {
            pass(Duration::from_millis(250)).await;
            let leaders = replicas.iter().filter(|replica| replica.view.leads()).count();
            assert!(leaders <= 1, "seed {seed}: {leaders} lead");
        }
        assert_eq!(replicas.iter().filter(|replica| replica.view.leads()).count(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn a_leader_that_cannot_renew_stops_before_another_starts() {
    let world = ordinary();
    let one = replica(&world, "one");
    leads(&one).await;
    let down = apiserver::Profile { server_error: 1.0, ..Default::default() };
    world.server.draw_faults(down, 1);
    pass(Duration::from_secs(13)).await;
    assert!(!one.view.leads(), "ten seconds without a renewal are enough");
    world.server.heal();
    pass(Duration::from_secs(20)).await;
    assert!(one.view.leads());
}

#[tokio::test(start_paused = true)]
async fn a_lease_that_somebody_deletes_or_takes_is_dealt_with() {
    let world = ordinary();
    let one = replica(&world, "one");
    leads(&one).await;
    world.delete(LEASE);
    pass(Duration::from_secs(20)).await;
    assert!(one.view.leads(), "a lease of its own again");
    world.merge(LEASE, &json!({"spec": {"holderIdentity": "somebody-else"}}));
    pass(Duration::from_secs(5)).await;
    assert!(!one.view.leads(), "whoever it is, the lease is theirs");
    pass(Duration::from_secs(20)).await;
    assert!(one.view.leads(), "until it runs out");
}
