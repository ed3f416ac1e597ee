//! How is an object decided about? From the caches alone, by the loop and once more right before a change is initiated; either way what is
//! in the way of all changes is known first, so that the status tells it (GATE-11).

use std::panic::{AssertUnwindSafe, catch_unwind};

use schedule::Instant;
use tidegate_core::{cluster::seen::Seen, document::key::Key, gate::plan::Plan};

use super::{Duty, hold::Terms};
use crate::{call::Cluster, store::Store};

/// A decision that ended badly. What it panicked with has been printed.
#[derive(Debug)]
pub(super) struct Panicked;

/// An object as it is known, once the store knows what is in the way of changes about it; none if it is gone.
pub(super) fn known(
    key: &Key,
    duty: &Duty,
    (terms, cluster): (Terms, &Cluster),
    store: &mut Store,
) -> Option<Seen> {
    let seen = store.snapshot().get(key)?.clone();
    store.set_seconds_ahead(cluster.seconds_ahead());
    let held = terms.held_back(duty, &seen, store, cluster.skew());
    store.hold_back(key, held);
    Some(seen)
}

/// What is to be done about an object. A panic concerns that object alone (LIVE-3).
pub(super) fn plan(
    duty: &Duty,
    seen: &Seen,
    store: &Store,
    now: Instant,
) -> Result<Plan, Panicked> {
    let decide = || store.around(&seen.identity().key, |around| (duty.decide)(seen, around, now));
    catch_unwind(AssertUnwindSafe(decide)).map_err(|_| Panicked)
}
