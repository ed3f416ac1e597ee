//! What happens next? The virtual clock: it jumps to the next event of any pool or of the control plane, and every pool that the event
//! concerns is decided anew.

use api::machine::names::{ARBITER, MASTER};

use super::{Settings, pool::Pool};
use crate::pool::{master, seen::SeenNode};

mod block;
pub mod foresight;
pub mod plane;

use plane::Plane;

/// Lets the period go by. Pools come back in the order they were given.
pub(super) fn run<'a>(
    mut pools: Vec<Pool<'a>>,
    mut plane: Option<Plane>,
    settings: &Settings,
) -> (Vec<Pool<'a>>, Option<Plane>) {
    let mut now = settings.range.start;
    while now < settings.range.end {
        let mut voters_moved = false;
        for pool in &mut pools {
            let moved = pool.deliver(now, settings);
            voters_moved |= moved && is_voter(pool);
        }
        if let Some(plane) = &mut plane {
            plane.step(&mut pools, now, settings);
        }
        for place in 0..pools.len() {
            let waits_for = pools.get(place).and_then(|pool| waits_for(pool, &pools));
            let Some(pool) = pools.get_mut(place) else { continue };
            // Voters of two kinds wait for each other, so what one does concerns the other.
            if pool.is_due(now) || voters_moved && is_voter(pool) {
                pool.settle(waits_for, now, settings);
            }
        }
        let own = plane.as_ref().and_then(|plane| plane.next(now));
        let next = pools.iter().filter_map(|pool| pool.next(now)).chain(own).min();
        let Some(next) = next else { break };
        now = next;
    }
    for pool in &mut pools {
        pool.let_finish();
    }
    (pools, plane)
}

fn is_voter(pool: &Pool<'_>) -> bool {
    [MASTER, ARBITER].contains(&pool.seen.name.as_str())
}

/// The pool that a pool must wait for, if any.
fn waits_for(pool: &Pool<'_>, pools: &[Pool<'_>]) -> Option<&'static str> {
    if !is_voter(pool) {
        return None;
    }
    let named = |name: &str| pools.iter().find(|pool| pool.seen.name == name);
    let members = |name: &str| -> Vec<&SeenNode> {
        named(name).into_iter().flat_map(|pool| &pool.nodes).collect()
    };
    let target = named(MASTER).and_then(|pool| pool.seen.goal());
    master::waits_for(&pool.seen.name, &members(MASTER), &members(ARBITER), target)
}
