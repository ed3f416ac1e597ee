//! What does a decision about a pool look at? The pool, its machines, its sources and what was rendered, as the caches have them.
//!
//! LIVE-2: a plan wakes when its gate next changes, so that what waits starts when its window opens.
//!
//! CV-2: the master pool follows `ClusterVersion`; until its stanza does, its gate is that of `ClusterVersion` all the same.

use api::{
    kinds,
    machine::names::{ARBITER, MASTER},
    names,
};
use runtime::store::{Store, policy_of};
use schedule::Instant;
use serde_json::{Value, json};
use tidegate_core::{
    action::{Action, Write},
    decide::outside,
    gate::{self, Gate},
    key::Key,
    pool::{
        self, PoolPlan, PoolView, Topology, master, membership,
        merge::Base,
        render::chosen,
        seen::{SeenNode, SeenPool},
        source::{Rendered, SeenConfig, Source},
        target::{Served, Why},
    },
    seen::{Seen, SeenGated, StanzaReading},
};

/// What is to be done about the machines of a pool; none if the resource is no pool.
pub fn planned(gated: &SeenGated, gate: &Gate, store: &Store, now: Instant) -> Option<PoolPlan> {
    let pool = gated.pool.as_deref()?;
    let base = base();
    let rendering = store.rendering(pool, &base);
    let nodes = members(&pool.name, store);
    let (sources, rendered) = configs(store);
    let update = control_plane(store).and_then(|(_, version)| version.update.as_deref());
    let view = PoolView {
        pool,
        nodes: &nodes,
        rendered: &rendered,
        sources: &chosen(pool, sources),
        rendering: &rendering,
        base: &base,
        operator_node: store.host(),
        refusals: store.refusals(),
        held_back: store.held_back(&gated.identity.key),
        waits_for: waits_for(pool, store),
        control_plane_update: update,
        seconds_ahead: store.seconds_ahead(),
        topology: match store.machines().nth(1) {
            None => Topology::Single,
            Some(_) => Topology::Several,
        },
    };
    Some(pool::decide(&view, gate, now))
}

/// What a new machine of a pool gets (POOL-4).
#[derive(Debug)]
pub enum Given<'a> {
    /// This, and why.
    Config(&'a Rendered, Why),
    /// Nothing yet: the pool has not been rendered.
    NothingYet,
    /// There is no such pool.
    NoPool,
}

/// What a new machine of the pool of this name gets.
pub fn given<'a>(pool: &str, store: &'a Store, now: Instant) -> Given<'a> {
    let key = Key::new(&kinds::MACHINE_CONFIG_POOL, None, pool);
    let Some(seen @ Seen::Gated(gated)) = store.get(&key) else {
        return Given::NoPool;
    };
    let gate = gate_of_pool(seen, gated, store);
    let served = planned(gated, &gate, store, now).and_then(|planned| planned.served);
    let found = served.and_then(|Served { config, why }| {
        let (_, rendered) = configs(store);
        Some((rendered.into_iter().find(|rendered| rendered.name == config)?, why))
    });
    found.map_or(Given::NothingYet, |(config, why)| Given::Config(config, why))
}

/// The gate of a resource, from what is known.
pub fn gate_of(seen: &Seen, gated: &SeenGated, store: &Store) -> Gate {
    let policy = policy_of(seen);
    gate::gate(gated, policy.as_ref().and_then(|policy| store.policy(policy)))
}

/// The gate of a pool.
pub fn gate_of_pool(seen: &Seen, gated: &SeenGated, store: &Store) -> Gate {
    let master = gated.pool.as_ref().is_some_and(|pool| pool.name == MASTER);
    match control_plane(store).filter(|_| master) {
        Some((seen, version)) => gate_of(seen, version, store),
        None => gate_of(seen, gated, store),
    }
}

/// The objects that the gate of a pool rests on: the pool, what decides in its stead if it is that of the masters, and the policy that is
/// named (GATE-11). What decides about masters is one of them even where it is not known: it may have come since.
pub fn rests_on(seen: &Seen, store: &Store) -> Vec<Key> {
    let Seen::Gated(gated) = seen else { return Vec::new() };
    let master = gated.pool.as_ref().is_some_and(|pool| pool.name == MASTER);
    let version = control_plane(store).filter(|_| master).map(|(seen, _)| seen);
    let policy = policy_of(version.unwrap_or(seen));
    let own = seen.identity().key.clone();
    [own].into_iter().chain(master.then(control_plane_key)).chain(policy).collect()
}

/// The change that lets the master pool follow `ClusterVersion`; none if it does, or if nobody can read what it should follow.
pub fn follow(gated: &SeenGated, store: &Store) -> Option<Action> {
    let pool = gated.pool.as_deref().filter(|pool| pool.name == MASTER)?;
    let (_, version) = control_plane(store)?;
    let stanza = |reading: &StanzaReading| match reading {
        StanzaReading::Absent => Some(Value::Null),
        StanzaReading::Usable(stanza) => Some(json!(stanza)),
        StanzaReading::Unusable(_) => None,
    };
    let wanted = json!({"spec": {"changeManagement": stanza(&version.stanza)?}});
    // One that cannot be read is as different as can be.
    let found = stanza(&gated.stanza).unwrap_or(Value::Bool(false));
    let found = json!({
        "metadata": {"resourceVersion": pool.resource_version},
        "spec": {"changeManagement": found},
    });
    let operations = master::follow(&wanted, &found)?;
    Some(Action::upkeep(gated.identity.key.clone(), Write::JsonPatch(operations)))
}

/// There is no release here: what machines hold is what people configured, and nothing below it.
fn base() -> Base {
    Base { controller_version: env!("CARGO_PKG_VERSION").into(), ..Base::default() }
}

fn members<'a>(pool: &str, store: &'a Store) -> Vec<&'a SeenNode> {
    let pools: Vec<&SeenPool> = store.pools().collect();
    membership::members(pool, &pools, store.machines().map(|machine| &machine.node))
}

fn configs(store: &Store) -> (Vec<&Source>, Vec<&Rendered>) {
    let (mut sources, mut rendered) = (Vec::new(), Vec::new());
    for config in store.configs() {
        match config {
            SeenConfig::Source(source) => sources.push(source),
            SeenConfig::Rendered(config) => rendered.push(config),
        }
    }
    (sources, rendered)
}

/// The machines of a pool that somebody told to go without asking (GATE-13).
pub fn unrecorded(gated: &SeenGated, store: &Store) -> Vec<String> {
    let Some(pool) = gated.pool.as_deref() else { return Vec::new() };
    let names: Vec<&str> =
        members(&pool.name, store).iter().map(|node| node.name.as_str()).collect();
    let machines = store.machines().filter(|machine| names.contains(&machine.node.name.as_str()));
    outside::unrecorded(pool, machines)
}

/// Voters of two kinds are never away together.
fn waits_for(pool: &SeenPool, store: &Store) -> Option<&'static str> {
    if ![MASTER, ARBITER].contains(&pool.name.as_str()) {
        return None;
    }
    let target = store.pools().find(|pool| pool.name == MASTER).and_then(SeenPool::goal);
    master::waits_for(&pool.name, &members(MASTER, store), &members(ARBITER, store), target)
}

/// What decides about the masters.
fn control_plane_key() -> Key {
    Key::new(&kinds::CLUSTER_VERSION, None, names::THE_CLUSTER)
}

fn control_plane(store: &Store) -> Option<(&Seen, &SeenGated)> {
    match store.get(&control_plane_key())? {
        seen @ Seen::Gated(gated) => Some((seen, &**gated)),
        Seen::Policy(_) | Seen::Part(_) => None,
    }
}
