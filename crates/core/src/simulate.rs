//! When would each change start and finish, and which pool never gets there? A cluster under a virtual clock.
//!
//! The clock jumps from event to event: an edge of a gate, a node that is back, a change that arrives. What happens at each of them
//! is decided by [`pool::decide`](crate::pool::decide), which is what the operator asks too; only the nodes are make-believe. Time
//! and seed are arguments, so the same cluster and the same settings give the same forecast (DET-1).
//!
//! - POOL-1: a node that was begun finishes, whatever the window does, even after the period.
//! - CV-1: an update of the control plane starts with its gate, goes on to its masters whatever the window does, and workers follow.
//! - CV-3: pools that will be too far behind for one are told, with the day.
//! - HOST-1: of hosted nodes only the start is told; nobody here knows how long they take. Nodes that a release of their control plane would leave too
//!   far behind, or that are ahead of it, are told with it.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
};

use schedule::Instant;

use crate::{
    cluster::{seen::SeenGated, snapshot::Snapshot},
    document::problem::Object,
    gate::{self, Gate, WhatIf},
    skew::Verdict,
};

pub mod chance;
mod clock;
mod course;
mod hosted;
pub mod path;
mod pool;
mod start;
pub mod verdict;

pub use clock::{foresight, plane};
pub use course::{Arrival, PoolChange, Run};
pub use foresight::foresee;
use path::Update;
use plane::{Plane, Updates};
use verdict::Outlook;

/// What a person may choose.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The period.
    pub range: Range<Instant>,
    /// The random seed.
    pub seed: u64,
    /// How long nodes take.
    pub lengths: Lengths,
    /// Pools that have so many make-believe nodes, instead of those that were seen.
    pub machines: BTreeMap<String, usize>,
    /// When changes arrive that nobody has made yet, in order.
    pub arrivals: Vec<Instant>,
    /// The pools in which they arrive; all, if none is named.
    pub pools: BTreeSet<String>,
    /// The updates of the control plane that are asked for, in order (see [`path`]).
    pub updates: Vec<Update>,
}

/// How long a node and a control plane usually take, in seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lengths {
    /// Until its workloads have left.
    pub drain: i64,
    /// From then on, until it is back with its new configuration.
    pub reboot: i64,
    /// From the start of an update of the control plane until it has been applied and the masters follow.
    pub payload: i64,
}

impl Settings {
    /// A period with nothing to come, and the times that a node and a control plane usually take.
    pub fn usual(range: Range<Instant>) -> Self {
        Self {
            range,
            seed: 1,
            lengths: Lengths { drain: 300, reboot: 480, payload: 3600 },
            machines: BTreeMap::new(),
            arrivals: Vec::new(),
            pools: BTreeSet::new(),
            updates: Vec::new(),
        }
    }
}

/// What would happen.
#[derive(Clone, Debug)]
pub struct Forecast {
    /// Each pool, by name.
    pub pools: Vec<Course>,
    /// Each other resource that has something pending, in the order of the kinds.
    pub others: Vec<Single>,
    /// The control plane, if updates are asked for and it is known which release it has.
    pub updates: Option<Updates>,
    /// The update of the control plane that has begun before the period, in words. How long it takes nobody can tell from outside.
    pub under_way: Option<String>,
    /// How kubelets stand with the control plane when the period begins, where that is known (CV-3).
    pub skew: Option<Verdict>,
}

/// What would happen to a pool.
#[derive(Clone, Debug)]
pub struct Course {
    /// The pool.
    pub object: Object,
    /// Its gate.
    pub gate: WhatIf,
    /// Its nodes, by name, with their zones.
    pub machines: Vec<(String, Option<String>)>,
    /// How many of them may be away at once (POOL-2).
    pub at_once: usize,
    /// Its changes, in the order they arrived.
    pub changes: Vec<PoolChange>,
    /// How long its gate is open within the period, in seconds.
    pub open: i64,
    /// In how many stretches.
    pub windows: usize,
    /// How much open time one change needs, in seconds.
    pub need: i64,
    /// Whether it gets there.
    pub verdict: Outlook,
}

/// A change that is one step to us: an update of a control plane, or of hosted nodes.
#[derive(Clone, Debug)]
pub struct Single {
    /// What it is about.
    pub object: Object,
    /// What waits, in a few words.
    pub waiting: Vec<String>,
    /// When it would start; none if not within the period.
    pub starts: Option<Instant>,
    /// Why it does not start at once, or at all; why it may, if it does.
    pub reason: String,
    /// Whether something else than its gate keeps it from starting (HOST-1).
    pub is_stopped: bool,
}

/// What would happen to a cluster.
pub fn simulate(cluster: &Snapshot, settings: &Settings) -> Forecast {
    let pools = start::pools(cluster, settings);
    let plane = Plane::new(cluster, settings);
    let (ended, plane) = clock::run(pools.clone(), plane, settings);
    let pools =
        pools.iter().zip(&ended).map(|(before, after)| verdict::course(before, after, settings));
    let pools = pools.collect();
    let updates = plane.map(Plane::updates);
    let others = cluster
        .gated()
        .filter(|gated| gated.pool.is_none() && !gated.pending.is_empty())
        .map(|gated| single((cluster, gated), &cluster.gate(gated), (updates.as_ref(), settings)));
    let begun = cluster.control_plane().and_then(|version| version.pending.begun.first());
    Forecast {
        others: others.collect(),
        under_way: begun.map(ToString::to_string),
        skew: cluster.skew(),
        pools,
        updates,
    }
}

/// When a gate lets something begin; none if not in the period.
fn opens(gate: &Gate, settings: &Settings) -> Option<Instant> {
    let start = settings.range.start;
    let open = gate.set().state(start);
    let opens = if open.inside { Some(start) } else { open.until };
    opens.filter(|opens| *opens < settings.range.end)
}

fn single(
    (cluster, gated): (&Snapshot, &SeenGated),
    gate: &Gate,
    (updates, settings): (Option<&Updates>, &Settings),
) -> Single {
    let start = settings.range.start;
    let object = gated.identity.key.object();
    let hop = updates.filter(|updates| updates.object == object).and_then(|all| all.hops.first());
    let starts = match hop {
        // More than its gate is in the way of an update.
        Some(hop) => hop.started.filter(|started| *started < settings.range.end),
        None => opens(gate, settings),
    };
    let in_the_way = hosted::in_the_way(cluster, gated, settings);
    let is_stopped = !in_the_way.is_empty();
    let sentence = gate::explain::sentence(gate, start);
    let why = in_the_way.join("; ");
    let reason = match starts {
        _ if !is_stopped => sentence,
        Some(due) if due > start => {
            format!("its gate opens at {due}, and it does not start then: {why}")
        }
        Some(_) => format!("its gate is open, and it does not start: {why}"),
        None => format!("{sentence}; and it would not start if it were open: {why}"),
    };
    let starts = starts.filter(|_| !is_stopped);
    let waiting = gate::words::each(&gated.pending.waiting);
    Single { object, waiting, starts, reason, is_stopped }
}

#[cfg(test)]
mod tests;
