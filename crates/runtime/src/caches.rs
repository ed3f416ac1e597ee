//! Who knows what is known, and who is told when it changes? The store behind a lock, with a list of what changed.

use std::{
    collections::{BTreeMap, BTreeSet},
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use api::schema::Kind;
use schedule::Instant;
use serde_json::Value;
use tidegate_core::{
    gate::{self, Hold, Permit},
    seen::Seen,
};
use tokio::sync::Notify;

use crate::{
    changes::{Changes, Follower},
    key::Key,
    store::{State, Store, Trust, policy_of},
};

/// What is known, shared by those who learn and those who decide.
#[derive(Debug)]
pub struct Caches {
    observed: Vec<&'static Kind>,
    store: Mutex<Store>,
    news: Mutex<BTreeSet<Key>>,
    told: Notify,
    changes: Changes,
    rebuild: Changes,
}

/// The reason of a hold that rests on knowledge too old to rely on.
pub const STALE: &str = "StaleCache";

impl Caches {
    /// Caches of these kinds, which nobody has been heard about yet.
    pub fn of(observed: Vec<&'static Kind>) -> Self {
        Self::on(None, observed)
    }

    /// The same, for a replica that runs on a machine of the cluster.
    pub fn on(host: Option<String>, observed: Vec<&'static Kind>) -> Self {
        Self {
            observed,
            store: Mutex::new(Store::hosted_by(host)),
            news: Mutex::default(),
            told: Notify::new(),
            changes: Changes::default(),
            rebuild: Changes::default(),
        }
    }

    /// The kinds that are kept.
    pub fn observed(&self) -> &[&'static Kind] {
        &self.observed
    }

    /// The store, for as long as nothing is awaited.
    pub fn store(&self) -> MutexGuard<'_, Store> {
        // Every change of the store is whole before anything that could panic.
        self.store.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What changed since somebody last asked.
    pub fn news(&self) -> BTreeSet<Key> {
        std::mem::take(&mut *self.news.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Waits until something changes: for the one who takes the news.
    pub async fn changed(&self) {
        self.told.notified().await;
    }

    /// Tells whenever something changes: for those who look at the store and leave the news to others.
    pub fn changes(&self) -> Follower {
        self.changes.follow()
    }

    /// An object was added or changed.
    pub fn learn(&self, key: &Key, seen: Seen) {
        if self.store().learn(key, seen) {
            self.tell([key.clone()]);
        }
    }

    /// What a request of ours was answered.
    pub fn answered(&self, key: &Key, seen: Seen) {
        // No news: whoever asked knows it.
        self.store().answered(key, seen);
    }

    /// What a request of ours was answered, whose change others decide by.
    pub fn changed_by_us(&self, key: &Key, seen: Seen) {
        if self.store().answered(key, seen) {
            self.tell([key.clone()]);
        }
    }

    /// An object was deleted.
    pub fn forget(&self, key: &Key, version: &str) {
        if self.store().forget(key, version) {
            self.tell([key.clone()]);
        }
    }

    /// All objects of a kind, as a list has them.
    pub fn replace(
        &self,
        kind: &'static Kind,
        listed: BTreeMap<Key, Seen>,
        version: &str,
        trust: Trust,
    ) {
        let mut store = self.store();
        let first = !store.is_settled(kind.name);
        let mut changed = store.replace(kind, listed, version, trust);
        if first {
            // Those who waited to hear about this kind can be decided now.
            changed.extend(store.all().map(|(key, _)| key.clone()));
        }
        drop(store);
        self.tell(changed);
    }

    /// The server does not have a kind.
    pub fn absent(&self, kind: &'static Kind) {
        let mut store = self.store();
        let first = !store.is_settled(kind.name);
        let mut changed = store.absent(kind);
        if first {
            changed.extend(store.all().map(|(key, _)| key.clone()));
        }
        drop(store);
        self.tell(changed);
    }

    /// The store behind the server went back in time: everything is to be learned anew.
    pub fn went_back(&self) {
        self.rebuild.tell();
    }

    /// Tells whenever everything is to be learned anew.
    pub fn rebuilds(&self) -> Follower {
        self.rebuild.follow()
    }

    /// How old the knowledge of a kind is; none while there is nothing to be old.
    pub fn age(&self, kind: &str) -> Option<Duration> {
        self.store().age(kind)
    }

    /// What is missing before the caches can be relied on, in words; none if nothing is.
    pub fn doubt(&self, stale: Duration) -> Option<String> {
        self.observed.iter().find_map(|kind| {
            let name = kind.name;
            let Some(about) = self.store().on(name) else {
                return Some(format!("{name} has not been listed yet"));
            };
            let age = about.confirmed.elapsed();
            let old = about.state == State::Known && age > stale;
            old.then(|| format!("{name} was last confirmed {} s ago", age.as_secs()))
        })
    }

    /// Asks the gate of a resource. Knowledge that is too old to rely on mints no permits, whatever it says (GATE-7).
    pub fn permit(&self, key: &Key, now: Instant, stale: Duration) -> Result<Permit, Hold> {
        let fresh = |kind: &str| self.age(kind).is_none_or(|age| age <= stale);
        let unsure = Hold { reason: STALE, until: None };
        let store = self.store();
        let Some(seen @ Seen::Gated(gated)) = store.get(key) else { return Err(unsure) };
        let policy = policy_of(seen);
        let asked = policy.as_ref().map(|policy| policy.kind().name);
        let (gate, settled) = (
            gate::gate(gated, policy.as_ref().and_then(|policy| store.policy(policy))),
            asked.is_none_or(|kind| store.is_settled(kind)),
        );
        drop(store);
        if !settled || !fresh(key.kind().name) || !asked.is_none_or(fresh) {
            return Err(unsure);
        }
        gate.permit(now)
    }

    fn tell(&self, changed: impl IntoIterator<Item = Key>) {
        self.news.lock().unwrap_or_else(PoisonError::into_inner).extend(changed);
        self.told.notify_one();
        self.changes.tell();
    }
}

/// Reads a document. One that makes the reader panic is left out and logged: it must not take the others with it (LIVE-3).
pub fn read(kind: &'static Kind, document: &Value) -> Option<(Key, Seen)> {
    let seen = catch_unwind(AssertUnwindSafe(|| Seen::new(kind, document)));
    let Ok(seen) = seen else {
        let name = document.pointer("/metadata/name").and_then(Value::as_str);
        tracing::error!(kind = kind.name, name, "an object could not be read: the reader panicked");
        return None;
    };
    let key = Key::of(&seen.identity().object)?;
    Some((key, seen))
}
