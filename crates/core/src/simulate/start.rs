//! How does a cluster stand when the period begins? Each pool with its nodes, what is pending in it, and what is to come.
//!
//! Files rarely hold everything, so what is missing is assumed to be well: a node whose agent has not said runs what its pool last
//! converged to, a configuration that is named exists, and a pool that was never rendered is at what its sources come to.

use std::collections::{BTreeMap, BTreeSet};

use api::machine::names::{self, NodeState};
use schedule::Instant;

use super::{
    Settings,
    course::{Arrival, PoolChange},
    path,
    pool::{Look, Pool, Releases, as_rendered},
};
use crate::{
    cluster::{seen::SeenGated, snapshot::Snapshot},
    pool::{
        merge::Base,
        render::{Rendering, chosen, render},
        seen::{Cordon, Health, Order, SeenNode, SeenPool},
        source::{Rendered, Source},
    },
};

/// Every pool, by name, when the period begins.
pub(super) fn pools<'a>(cluster: &'a Snapshot, settings: &Settings) -> Vec<Pool<'a>> {
    let base = base(cluster);
    let gated = cluster.gated();
    let pools = gated.filter_map(|gated| Some((&**gated, gated.pool.as_deref()?)));
    pools
        .map(|(gated, seen)| {
            let nodes = match settings.machines.get(&seen.name) {
                Some(count) => (1..=*count).map(|place| made_up(&seen.name, place)).collect(),
                None => cluster.members(&seen.name).into_iter().cloned().collect(),
            };
            pool(cluster, (gated, seen), nodes, &base, settings)
        })
        .collect()
}

fn pool<'a>(
    cluster: &'a Snapshot,
    (gated, seen): (&SeenGated, &SeenPool),
    nodes: Vec<SeenNode>,
    base: &Base,
    settings: &Settings,
) -> Pool<'a> {
    let mut seen = seen.clone();
    let mut rendered: Vec<Rendered> =
        cluster.rendered().filter(|config| config.pool == seen.name).cloned().collect();
    let sources = chosen(&seen, cluster.sources());
    let rendering = rendering(&mut seen, &mut rendered, (&sources, base));
    let named = |(place, node): (usize, &SeenNode)| (node.name.clone(), place);
    let mut pool = Pool {
        places: nodes.iter().enumerate().map(named).collect(),
        resting: BTreeMap::new(),
        releases: Releases::default(),
        line: None,
        look: Look::AtLine,
        gate: cluster.gate(gated).suppose(),
        nodes,
        rendered,
        sources,
        rendering,
        base: base.clone(),
        update: cluster.control_plane_update().filter(|_| gated.is_the_master_pool()).cloned(),
        changes: Vec::new(),
        arrivals: Vec::new(),
        arrived: 0,
        ends: BTreeSet::new(),
        wake: None,
        problems: Vec::new(),
        waits_for: None,
        seen,
    };
    pool.believe_the_silent();
    pool.count_resting();
    pool.count_releases(path::current(cluster).ok(), settings.range.start);
    pool.take_over(settings);
    let wanted = settings.pools.is_empty() || settings.pools.contains(&pool.seen.name);
    if wanted && !pool.nodes.is_empty() {
        // What is pending is the first change already.
        let pending = !pool.changes.is_empty();
        let later = |at: &&Instant| !pending || **at > settings.range.start;
        pool.arrivals = settings.arrivals.iter().filter(later).rev().copied().collect();
    }
    pool
}

impl Pool<'_> {
    /// A node whose agent has not said is where its pool was last seen to be.
    fn believe_the_silent(&mut self) {
        let Some(known) = self.seen.converged.clone().or_else(|| self.seen.newest.clone()) else {
            return;
        };
        for node in &mut self.nodes {
            if node.current.is_empty() && node.desired.is_empty() {
                node.current.clone_from(&known);
                node.desired.clone_from(&known);
            }
            if node.current == node.desired && node.state == NodeState::Unknown {
                node.state = NodeState::Done;
            }
        }
    }

    /// What is pending is a change; nodes on their way finish.
    fn take_over(&mut self, settings: &Settings) {
        let Some(goal) = self.seen.goal().map(str::to_owned) else { return };
        let behind = |node: &SeenNode| node.current != goal || node.desired != goal;
        if self.nodes.iter().any(behind) {
            self.changes.push(PoolChange::new(&goal, Arrival::Pending));
        }
        for place in 0..self.nodes.len() {
            let Some(node) = self.nodes.get(place) else { continue };
            let stuck = matches!(node.state, NodeState::Degraded | NodeState::Unreconcilable);
            let moving = !node.is_done() && !stuck;
            if moving && !node.desired.is_empty() {
                let config = node.desired.clone();
                self.begin(place, &config, (settings.range.start, None), settings);
            }
        }
    }
}

/// What a pool's sources come to. What is stored is taken as it is, unless sources have changed since: other programs render too, and
/// give other names to the same.
fn rendering(
    seen: &mut SeenPool,
    rendered: &mut Vec<Rendered>,
    (sources, base): (&[&Source], &Base),
) -> Rendering {
    let find = |name: &str| rendered.iter().position(|config| config.name == name);
    let newest = seen.newest.as_deref().and_then(find);
    let stored = newest.and_then(|place| rendered.get(place));
    let fresh = || render(seen, sources.iter().copied(), base, stored);
    match (stored, seen.newest.as_deref()) {
        (Some(stored), _) => {
            let recorded = stored.digests.len() == sources.len()
                && sources.iter().all(|source| stored.contains(source));
            if sources.is_empty() || stored.digests.is_empty() || recorded {
                return Rendering { config: Some(as_rendered(stored)), problems: Vec::new() };
            }
            fresh()
        }
        (None, name) => {
            let made = match name {
                None if !sources.is_empty() => fresh(),
                _ => Rendering { config: None, problems: Vec::new() },
            };
            let name = name.map_or_else(|| format!("rendered-{}", seen.name), str::to_owned);
            let config = made.config.as_ref();
            rendered.push(Rendered {
                name: config.map_or(name, |config| config.name.clone()),
                resource_version: String::new(),
                pool: seen.name.clone(),
                created: None,
                digests: config
                    .map_or_else(BTreeMap::new, |config| config.sources.iter().cloned().collect()),
                spec: config.map(|config| config.spec.clone()).unwrap_or_default(),
            });
            let stored = rendered.last();
            seen.newest = stored.map(|stored| stored.name.clone());
            let config = stored.map(as_rendered);
            Rendering { config, problems: made.problems }
        }
    }
}

/// What the release of the cluster brings, as far as it can be told: generated sources are of the controller that generated them.
fn base(cluster: &Snapshot) -> Base {
    let generated = cluster.sources().find_map(|source| source.generated_by.clone());
    Base { controller_version: generated.unwrap_or_default(), ..Base::default() }
}

/// A node that somebody asked to make believe.
fn made_up(pool: &str, place: usize) -> SeenNode {
    let zone = ["a", "b", "c"].get(place % 3).copied().unwrap_or_default();
    SeenNode {
        name: format!("{pool}-{place}"),
        uid: String::new(),
        resource_version: String::new(),
        labels: [(names::ZONE.to_owned(), zone.to_owned())].into(),
        created: None,
        kubelet: String::new(),
        health: Health::Healthy,
        cordon: Cordon::Open,
        current: String::new(),
        desired: String::new(),
        state: NodeState::Done,
        reason: String::new(),
        allowed: None,
        order: Order::NotGiven,
        permit_until: None,
        permit_change: None,
        permit_basis: None,
        permit_at: None,
        permit_from: None,
        begun_release: None,
        topology: None,
    }
}
