//! What holds for every pool, however its nodes stand and whoever plans.

use api::machine::names::NodeState;
use proptest::{prelude::*, test_runner::RngSeed};
use serde_json::json;

use super::world::{World, file_source, later, noon, open, shut, touch, window};
use crate::{
    gate::{Basis, Gate},
    pool::{
        Effect, PoolPlan,
        seen::{Cordon, Health},
    },
};

/// How a node stands at first.
#[derive(Clone, Copy, Debug)]
enum Start {
    Fine,
    Updated,
    Cordoned,
    Unhealthy,
    Working,
    Failing,
    Silent,
}

/// What happens next.
#[derive(Clone, Copy, Debug)]
enum Event {
    /// A planner looks at the world and plans.
    Plan { planner: usize },
    /// A planner looks at the pool alone; what it knows of nodes is from its last look.
    PlanFromOldNodes { planner: usize },
    /// A planner does so many of the effects it has left.
    Execute { planner: usize, effects: usize },
    /// A node finishes.
    Finish { node: usize },
    /// Time passes.
    Wait { seconds: i64 },
    /// Somebody changes a source.
    Change,
}

fn start() -> impl Strategy<Value = Start> {
    prop_oneof![
        6 => Just(Start::Fine),
        1 => Just(Start::Updated),
        1 => Just(Start::Cordoned),
        1 => Just(Start::Unhealthy),
        1 => Just(Start::Working),
        1 => Just(Start::Failing),
        1 => Just(Start::Silent),
    ]
}

fn step() -> impl Strategy<Value = Event> {
    let planner = 0..2_usize;
    prop_oneof![
        3 => planner.clone().prop_map(|planner| Event::Plan { planner }),
        3 => planner.clone().prop_map(|planner| Event::PlanFromOldNodes { planner }),
        6 => (planner, 0..4_usize).prop_map(|(planner, effects)| Event::Execute { planner, effects }),
        3 => (0..6_usize).prop_map(|node| Event::Finish { node }),
        1 => (1..400_i64).prop_map(|seconds| Event::Wait { seconds }),
        1 => Just(Event::Change),
    ]
}

fn world(starts: &[Start], limit: &serde_json::Value) -> World {
    let mut world = World::new("worker", starts.len());
    world.put(&file_source("50-change", "/etc/change", "0"));
    world.settle(&shut(), later(-10));
    world.set("/spec/maxUnavailable", limit);
    let newest = world.newest();
    for (node, start) in world.nodes.iter_mut().zip(starts) {
        match start {
            Start::Fine => {}
            Start::Updated => {
                node.current.clone_from(&newest);
                node.desired.clone_from(&newest);
            }
            Start::Cordoned => node.cordon = Cordon::Cordoned,
            Start::Unhealthy => node.health = Health::Unhealthy,
            Start::Working => node.state = NodeState::Working,
            Start::Failing => {
                node.desired.clone_from(&newest);
                node.state = NodeState::Degraded;
            }
            Start::Silent => {
                node.current.clear();
                node.desired.clear();
                node.state = NodeState::Unknown;
            }
        }
    }
    world
}

fn unavailable(world: &World) -> usize {
    world.nodes.iter().filter(|node| node.is_unavailable()).count()
}

fn marks(plan: &PoolPlan) -> impl Iterator<Item = &Effect> {
    plan.effects.iter().filter(|action| matches!(action, Effect::SetDesiredConfig { .. }))
}

fn limits() -> impl Strategy<Value = serde_json::Value> {
    prop_oneof![
        (0..5_i64).prop_map(|count| json!(count)),
        (0..60_u32).prop_map(|percent| json!(format!("{percent}%"))),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, rng_seed: RngSeed::Fixed(20261115), ..ProptestConfig::default() })]

    /// POOL-2, EXEC-1: two planners, either of them stale, either of them stopped anywhere, never exceed the budget together.
    #[test]
    fn budget_is_never_exceeded(
        starts in prop::collection::vec(start(), 2..6),
        limit in limits(),
        steps in prop::collection::vec(step(), 20..60),
    ) {
        let mut world = world(&starts, &limit);
        let allowed = world.seen().limit.unwrap().of(starts.len()).max(unavailable(&world));
        let mut now = noon();
        let gate = window(3000);
        let mut plans = [PoolPlan::default(), PoolPlan::default()];
        let mut looks = [world.nodes.clone(), world.nodes.clone()];
        for (place, step) in steps.iter().enumerate() {
            match step {
                Event::Plan { planner } => {
                    looks[*planner].clone_from(&world.nodes);
                    plans[*planner] = world.plan(&gate, now);
                }
                Event::PlanFromOldNodes { planner } => {
                    let old = World { nodes: looks[*planner].clone(), ..world.clone() };
                    plans[*planner] = old.plan(&gate, now);
                }
                Event::Execute { planner, effects } => {
                    let planned = &mut plans[*planner].effects;
                    for action in planned.drain(..(*effects).min(planned.len())).collect::<Vec<_>>() {
                        if world.act(&action, now).is_err() {
                            plans[*planner] = PoolPlan::default();
                            break;
                        }
                    }
                }
                Event::Finish { node } => {
                    if let Some(node) = world.nodes.get_mut(*node).filter(|node| node.current != node.desired) {
                        node.current.clone_from(&node.desired);
                        node.state = NodeState::Done;
                        touch(node);
                    }
                }
                Event::Wait { seconds } => now = now.saturating_add(*seconds),
                Event::Change => world.put(&file_source("50-change", "/etc/change", &place.to_string())),
            }
            prop_assert!(unavailable(&world) <= allowed, "{} of {allowed} after {step:?}", unavailable(&world));
        }
    }

    /// GATE-7, POOL-1: while the gate is shut, nobody begins without a proof of its own.
    #[test]
    fn shut_gate_begins_nobody(starts in prop::collection::vec(start(), 1..12), limit in limits()) {
        let world = world(&starts, &limit);
        let plan = world.plan(&shut(), noon());
        prop_assert_eq!(marks(&plan).count(), 0);
    }

    /// GATE-7: every mark has a permit that is live, ends no later than it, and stands in the ledger that is written first.
    #[test]
    fn every_mark_is_permitted_and_in_the_ledger(
        starts in prop::collection::vec(start(), 1..12),
        limit in limits(),
        seconds in 1..1000_i64,
    ) {
        let world = world(&starts, &limit);
        let plan = world.plan(&window(seconds), noon());
        let ledger = plan.effects.iter().find_map(|action| match action {
            Effect::WriteLedger { ledger, .. } => Some(ledger),
            _ => None,
        });
        for action in marks(&plan) {
            let Effect::SetDesiredConfig { node, config, until, permit, .. } = action else { continue };
            prop_assert!(permit.is_live(noon()));
            prop_assert!(*until <= permit.expires().unwrap() && noon() < *until);
            prop_assert_eq!(permit.basis(), &Basis::Window);
            let entry = ledger.unwrap().get(node).unwrap();
            prop_assert_eq!((&entry.config, entry.until), (config, *until));
        }
    }

    /// STAT-3: a plan that has been executed leaves nothing to do, and the same world gives the same plan.
    #[test]
    fn deciding_twice_is_deciding_once(starts in prop::collection::vec(start(), 1..12), limit in limits()) {
        let mut world = world(&starts, &limit);
        let gates: [Gate; 2] = [open(), shut()];
        for gate in gates {
            prop_assert_eq!(format!("{:?}", world.plan(&gate, noon())), format!("{:?}", world.plan(&gate, noon())));
            world.settle(&gate, noon());
            let plan = world.plan(&gate, noon());
            prop_assert!(plan.effects.is_empty() && plan.status.is_none() && plan.notes.is_empty());
        }
    }
}
