//! What does a new node of a pool get? What the plan of its pool says.

use runtime::store::Store;
use schedule::Instant;
use tidegate_core::{
    cluster::kinds::{MACHINE_CONFIG_POOL, machine_config_pool::planned},
    document::key::Key,
    pool::{
        source::Rendered,
        target::{Served, Why},
    },
};

/// What a new node of a pool gets (POOL-4).
#[derive(Debug)]
pub enum Given<'a> {
    /// This, and why.
    Config(&'a Rendered, Why),
    /// Nothing yet: the pool has not been rendered.
    NothingYet,
    /// There is no such pool.
    NoPool,
}

/// What a new node of the pool of this name gets.
pub fn given<'a>(pool: &str, store: &'a Store, now: Instant) -> Given<'a> {
    let snapshot = store.snapshot();
    let key = Key::new(&MACHINE_CONFIG_POOL, None, pool);
    let Some(gated) = snapshot.resource(&key) else {
        return Given::NoPool;
    };
    let gate = snapshot.gate(gated);
    let planned = store.around(&key, |around| planned(gated, &gate, around, now));
    let found = planned.and_then(|planned| planned.served).and_then(|Served { config, why }| {
        Some((snapshot.rendered().find(|rendered| rendered.name == config)?, why))
    });
    found.map_or(Given::NothingYet, |(config, why)| Given::Config(config, why))
}
