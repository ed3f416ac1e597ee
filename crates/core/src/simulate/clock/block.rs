//! Which pools would an update of the control plane find too far behind, and which window is the last that still helps? (CV-3)

use std::collections::BTreeSet;

use api::machine::names::NodeState;
use schedule::Instant;

use crate::{
    document::problem::Object,
    gate::WhatIf,
    policy::forecast::length,
    pool::{
        ledger::Ledger,
        render::Rendering,
        seen::{Cordon, Health, Pause},
    },
    simulate::{
        Settings,
        course::{Arrival, PoolChange},
        pool::{Offer, Pool, as_rendered},
    },
    skew::{Kubernetes, Plane},
};

/// A pool that stands in the way of an update of the control plane.
#[derive(Clone, Debug)]
pub struct Block {
    /// The pool.
    pub pool: Object,
    /// The nodes that are too far behind.
    pub nodes: Vec<String>,
    /// How many nodes the pool has.
    pub of: usize,
    /// The oldest kubelet of them; none if none of them reports a version that can be read.
    pub kubelet: Option<Kubernetes>,
    /// How many of them report a version that cannot be read.
    pub unreadable: usize,
    /// The oldest kubelet that the update supports: all nodes must have it, or a later one, by then.
    pub needs: Kubernetes,
    /// When the update would start.
    pub at: Instant,
    /// The gate of the pool.
    pub gate: WhatIf,
    /// What else keeps the pool, whatever its gate says.
    pub stopped: Option<&'static str>,
    /// The last window that still helps.
    pub rescue: Rescue,
}

/// The last window of a pool that still brings its nodes far enough in time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rescue {
    /// This one: nodes must begin in it, by then at the latest.
    Window {
        /// When it opens.
        start: Instant,
        /// When the first node must have been begun.
        begin_by: Instant,
        /// How long the pool takes, in seconds.
        takes: i64,
    },
    /// All windows together are too short.
    TooShort {
        /// How long they are open in all, in seconds.
        open: i64,
        /// How long the pool takes, in seconds.
        takes: i64,
    },
    /// There is no window before it.
    NoWindow {
        /// How long the pool takes, in seconds.
        takes: i64,
        /// When a window would have to open at the latest.
        open_by: Instant,
    },
}

/// The pools that a control plane would find too far behind.
pub(super) fn blocks(
    plane: Plane,
    pools: &[Pool<'_>],
    (now, settings): (Instant, &Settings),
) -> Vec<Block> {
    pools.iter().filter_map(|pool| block(pool, plane, (now, settings))).collect()
}

fn block(pool: &Pool<'_>, plane: Plane, (at, settings): (Instant, &Settings)) -> Option<Block> {
    let behind = pool.behind(plane);
    if behind.is_empty() {
        return None;
    }
    let kubelet = behind.iter().filter_map(|(_, kubelet)| *kubelet).min();
    let unreadable = behind.iter().filter(|(_, kubelet)| kubelet.is_none()).count();
    let needs = plane.oldest();
    let enough = |offer: &&Offer| offer.brought.kubelet.is_some_and(|kubelet| kubelet >= needs);
    let since = pool.releases.offered.iter().find(enough).map_or(at, |offer| offer.at);
    Some(Block {
        pool: pool.seen.object(),
        nodes: behind.into_iter().map(|(node, _)| node).collect(),
        of: pool.nodes.len(),
        kubelet,
        unreadable,
        needs,
        at,
        gate: pool.gate.clone(),
        stopped: if pool.seen.paused == Pause::Paused {
            Some("spec.paused is true")
        } else if pool.seen.pin.is_some() {
            Some("spec.machineConfig.name holds it at another configuration")
        } else {
            None
        },
        rescue: rescue(pool, (since, at), settings),
    })
}

/// Walks the windows of a pool back from an instant, until they are as long as the pool takes.
fn rescue(pool: &Pool<'_>, (since, at): (Instant, Instant), settings: &Settings) -> Rescue {
    let takes = takes(pool, settings);
    let windows: Vec<_> = pool.gate.set().spans(since..at).collect();
    let mut open = 0;
    for window in windows.iter().rev() {
        let (start, end) =
            (window.start.unwrap_or(since).max(since), window.end.unwrap_or(at).min(at));
        let long = length(&(start..end));
        if open + long >= takes {
            let begin_by = end.saturating_add(open - takes);
            return Rescue::Window { start, begin_by, takes };
        }
        open += long;
    }
    if windows.is_empty() {
        Rescue::NoWindow { takes, open_by: at.saturating_add(-takes) }
    } else {
        Rescue::TooShort { open, takes }
    }
}

/// How long the pool takes for the configuration that it would get, if nothing holds it: the same nodes take the same time whenever they
/// get the same configuration.
fn takes(pool: &Pool<'_>, settings: &Settings) -> i64 {
    let start = settings.range.start;
    let Some(newest) = pool.seen.newest.clone() else { return 0 };
    let mut pool = pool.clone();
    pool.gate = WhatIf::open();
    pool.seen.paused = Pause::Running;
    pool.seen.pin = None;
    pool.seen.problems.clear();
    pool.seen.ledger = Ledger::default();
    pool.ends.clear();
    pool.arrivals.clear();
    pool.releases.planned.clear();
    pool.line = None;
    pool.waits_for = None;
    pool.wake = None;
    let known = pool.rendered.iter().find(|config| config.name == newest);
    let config = known.map(as_rendered);
    pool.rendering = Rendering { config, problems: Vec::new() };
    for node in &mut pool.nodes {
        node.current = "before".into();
        node.desired = "before".into();
        node.state = NodeState::Done;
        node.health = Health::Healthy;
        node.cordon = Cordon::Open;
    }
    pool.count_resting();
    pool.changes = vec![PoolChange::new(&newest, Arrival::At(start))];
    let settings = Settings {
        range: start..Instant::MAX,
        arrivals: Vec::new(),
        updates: Vec::new(),
        pools: BTreeSet::new(),
        ..settings.clone()
    };
    let (ended, _) = super::run(vec![pool], None, &settings);
    let runs = ended.iter().flat_map(|pool| &pool.changes).flat_map(|change| &change.runs);
    let end = runs.map(|run| run.end).max();
    end.map_or(0, |end| length(&(start..end)))
}
