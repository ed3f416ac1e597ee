//! Does the loop turn, and what sticks? Signs of life for health checks and for the lease, and objects whose status does not stay.

use std::{
    collections::BTreeSet,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::time::Instant;

use tidegate_core::document::key::Key;

/// Signs of life.
#[derive(Debug)]
pub struct Progress {
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    beat: Instant,
    pruned: BTreeSet<Key>,
}

impl Default for Progress {
    fn default() -> Self {
        Self { state: Mutex::new(State { beat: Instant::now(), pruned: BTreeSet::new() }) }
    }
}

impl Progress {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The loop turned.
    pub fn beat(&self) {
        self.lock().beat = Instant::now();
    }

    /// How long ago the loop turned.
    pub fn silence(&self) -> Duration {
        self.lock().beat.elapsed()
    }

    /// Notes whether the server drops a status that was written.
    pub(crate) fn pruned(&self, key: &Key, is: bool) {
        let mut state = self.lock();
        if is {
            state.pruned.insert(key.clone());
        } else {
            state.pruned.remove(key);
        }
    }

    /// Objects whose status the server drops.
    pub fn all_pruned(&self) -> BTreeSet<Key> {
        self.lock().pruned.clone()
    }
}
