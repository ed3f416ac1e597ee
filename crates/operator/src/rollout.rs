//! What is to be done about the nodes of a pool, and what does a new one get? The view that a [`Snapshot`] gives, with what this replica
//! knows of itself.
//!
//! LIVE-2: a plan wakes when its gate next changes, so that what waits starts when its window opens.
//!
//! [`Snapshot`]: tidegate_core::snapshot::Snapshot

use api::kinds;
use runtime::store::Store;
use schedule::Instant;
use tidegate_core::{
    gate::Gate,
    key::Key,
    pool::{
        self, PoolPlan, PoolView,
        merge::Base,
        source::Rendered,
        target::{Served, Why},
    },
    seen::SeenGated,
};

/// What is to be done about the nodes of a pool; none if the resource is no pool.
pub fn planned(gated: &SeenGated, gate: &Gate, store: &Store, now: Instant) -> Option<PoolPlan> {
    let pool = gated.pool.as_deref()?;
    let base = base();
    let rendering = store.rendering(pool, &base);
    let view = PoolView {
        operator_node: store.host(),
        refusals: store.refusals(),
        held_back: store.held_back(&gated.identity.key),
        seconds_ahead: store.seconds_ahead(),
        ..store.snapshot().view(pool, &rendering, &base)
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
    let snapshot = store.snapshot();
    let Some(gated) = snapshot.resource(&Key::new(&kinds::MACHINE_CONFIG_POOL, None, pool)) else {
        return Given::NoPool;
    };
    let planned = planned(gated, &snapshot.gate(gated), store, now);
    let found = planned.and_then(|planned| planned.served).and_then(|Served { config, why }| {
        Some((snapshot.rendered().find(|rendered| rendered.name == config)?, why))
    });
    found.map_or(Given::NothingYet, |(config, why)| Given::Config(config, why))
}

/// There is no release here: what machines hold is what people configured, and nothing below it.
fn base() -> Base {
    Base { controller_version: env!("CARGO_PKG_VERSION").into(), ..Base::default() }
}
