//! Does one bad object stay alone with its troubles? (LIVE-3)

use std::time::Duration;

use operator::{Pools, Settings};
use runtime::telemetry::ReconcileOutcome;
use schedule::Instant;
use serde_json::{Value, json};
use tidegate_core::{
    cluster::{
        kinds::{self, CHANGE_MANAGEMENT_POLICY, MACHINE_CONFIG_POOL, Surroundings},
        seen::Seen,
    },
    gate::plan::Plan,
};

use super::common::{
    CRDS, POLICIES, POOLS, World, by_policy, condition, loose, pass, pool, settle, state, weekend,
};

/// Finding 6: a panic in one reconcile ended the whole controller.
#[tokio::test(start_paused = true)]
async fn a_panic_is_the_trouble_of_its_own_object() {
    fn poisoned(seen: &Seen, around: &Surroundings<'_>, now: Instant) -> Plan {
        assert_ne!(&*seen.identity().key.name, "poison", "as a bug would");
        kinds::advisory(seen, around, now)
    }
    let policies = CHANGE_MANAGEMENT_POLICY.controller(Pools::Watched).unwrap();
    let mut pools = MACHINE_CONFIG_POOL.controller(Pools::Watched).unwrap();
    pools.duty.decide = poisoned;
    let controllers = vec![policies, pools];
    let world = World::new();
    world.create(POLICIES, &weekend("weekend"));
    for name in ["a", "poison", "z"] {
        world.create(POOLS, &pool(name, &by_policy("weekend")));
    }
    let quiet = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let operator = world.start_with(Settings { controllers, ..Settings::alone("one") });
    pass(Duration::from_hours(2)).await;
    std::panic::set_hook(quiet);
    for name in ["a", "z"] {
        assert_eq!(state(&world.get(&format!("{POOLS}/{name}"))), "ChangesUnpaused", "{name}");
    }
    assert_eq!(operator.view.health(), Ok(()));
    let panics = operator.view.telemetry.reconciles(ReconcileOutcome::Panicked);
    assert!((2..50).contains(&panics), "tried again, and not in a circle: {panics}");
}

/// POL-8, GATE-2
#[tokio::test(start_paused = true)]
async fn objects_that_cannot_be_used_say_so_and_delay_nobody() {
    let world = World::new();
    world.create(POLICIES, &weekend("weekend"));
    // The server takes these: their definition lacks the rules.
    let stanzas = [
        ("number", json!(7)),
        ("unknown", json!({"strategy": "Sometimes"})),
        ("contradictory", json!({"strategy": "ByPolicy"})),
        ("until-when", json!({"strategy": "PermissiveUntil", "permissiveUntil": "soon"})),
        ("enormous", json!({"strategy": "Restrictive", "byPolicy": {"name": "x".repeat(1 << 20)}})),
        ("deep", deep(100)),
    ];
    for (name, stanza) in &stanzas {
        world.create(POOLS, &pool(name, stanza));
    }
    world.create(POOLS, &pool("worker", &by_policy("weekend")));
    let _operator = world.start();
    settle().await;
    for (name, _) in &stanzas {
        let paused = condition(&world.get(&format!("{POOLS}/{name}")), "ChangesPaused");
        assert!(paused.starts_with("True "), "{name}: {paused}");
    }
    assert_eq!(
        condition(&world.get(&format!("{POOLS}/number")), "ChangesPaused"),
        "True InvalidStanza"
    );
    pass(Duration::from_hours(1)).await;
    assert_eq!(state(&world.get(&format!("{POOLS}/worker"))), "ChangesUnpaused");
    world.writes();
    pass(Duration::from_hours(1)).await;
    assert_eq!(world.writes(), [""; 0], "and nobody tries in a circle");
}

fn deep(levels: usize) -> Value {
    (0..levels).fold(json!("ByPolicy"), |inner, _| json!({"strategy": inner}))
}

/// A definition older than this build: the server takes the status and keeps nothing of it.
#[tokio::test(start_paused = true)]
async fn a_status_that_is_pruned_is_reported_and_not_written_in_a_circle() {
    let world = World::empty();
    for kind in api::schema::KINDS {
        world.define(kind);
    }
    let schema = json!({"type": "object", "properties": {
        "spec": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
        "status": {"type": "object", "properties": {"replicas": {"type": "integer"}}},
    }});
    world.create(CRDS, &loose(&kinds::MACHINE_CONFIG_POOL, &schema));
    world.create(POLICIES, &weekend("weekend"));
    world.create(POOLS, &pool("worker", &by_policy("weekend")));
    let operator = world.start();
    pass(Duration::from_hours(1)).await;
    let writes = world.status_writes();
    let pools = writes.iter().filter(|line| line.contains("machineconfigpools")).count();
    assert!((2..=25).contains(&pools), "every few minutes: {pools}");
    let page = operator::metrics::page(&operator.view);
    let line = "tidegate_status_pruned{kind=\"MachineConfigPool\",object=\"worker\"} 1\n";
    assert!(page.contains(line), "{page}");
}
