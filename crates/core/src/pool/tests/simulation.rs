//! Whole rollouts, with time as a number.

use std::collections::BTreeSet;

use api::machine::names::NodeState;
use serde_json::json;

use super::world::{World, file_source, later, noon, open, shut, touch, window};
use crate::pool::Effect;

/// POOL-3: each window has room for one node, and before each window somebody changes the configuration again.
#[test]
fn three_changes_while_held_do_not_starve_the_last_node() {
    let mut world = World::new("worker", 4);
    let first = world.newest();
    for round in 0..4 {
        for change in 0..3 {
            world.put(&file_source("50-change", "/etc/change", &format!("{round}-{change}")));
            world.settle(&shut(), later(round * 1000 + change));
        }
        world.settle(&open(), later(round * 1000 + 500));
        assert_eq!(world.moving().len(), 1);
        world.finish();
        world.settle(&shut(), later(round * 1000 + 900));
    }
    assert!(world.nodes.iter().all(|node| node.current != first), "everybody has moved once");
}

/// POOL-2, LIVE-1: a thousand nodes, ten at a time, each taking between five and fifteen minutes. The budget stays full: the whole
/// takes no longer than a twentieth more than the work divided by ten.
#[test]
fn thousand_machines_keep_the_budget_full() {
    const MACHINES: usize = 1000;
    const AT_ONCE: i64 = 10;
    let mut world = World::new("worker", MACHINES);
    world.put(&file_source("50-change", "/etc/change", "1"));
    world.settle(&shut(), noon());
    world.set("/spec/maxUnavailable", &json!(AT_ONCE));
    // A fixed sequence that looks random: the same rollout each time.
    let length = |place: usize| 300 + (place as i64 * 7919) % 600;
    let mut ends: BTreeSet<(i64, usize)> = BTreeSet::new();
    let (mut clock, mut finished, mut work) = (0, 0, 0);
    while finished < MACHINES {
        let plan = world.plan(&open(), later(clock));
        for action in &plan.effects {
            world.act(action, later(clock)).unwrap();
            if let Effect::SetDesiredConfig { node, .. } = action {
                let place = node.strip_prefix('n').unwrap().parse().unwrap();
                work += length(place);
                ends.insert((clock + length(place), place));
            }
        }
        assert!(ends.len() as i64 <= AT_ONCE);
        let (end, place) = ends.pop_first().unwrap();
        clock = end;
        let node = &mut world.nodes[place];
        node.current.clone_from(&node.desired);
        node.state = NodeState::Done;
        touch(node);
        finished += 1;
    }
    let ideal = work / AT_ONCE;
    assert!(clock * 95 <= ideal * 100, "{clock} s, and {ideal} s would be ideal");
    world.settle(&open(), later(clock));
    assert_eq!(world.condition("Updated").0, "True");
}

/// POOL-1, LIVE-2: a window of an hour each day moves what it can, and the pool gets there.
#[test]
fn pool_gets_there_window_by_window() {
    let mut world = World::new("worker", 5);
    world.put(&file_source("50-change", "/etc/change", "1"));
    let gate = window(1500);
    world.settle(&gate, later(-60));
    assert_eq!(world.moving(), [""; 0], "not before it opens");
    let mut done = Vec::new();
    for minute in 0..40 {
        world.settle(&gate, later(minute * 60));
        if minute % 10 == 9 {
            world.finish();
        }
        done.push(world.nodes.iter().filter(|node| node.current == world.newest()).count());
    }
    // Begun at minutes 0, 10 and 20; the one of minute 20 finishes after the window has closed.
    assert_eq!((done[9], done[19], done[29], done[39]), (1, 2, 3, 3));
}
