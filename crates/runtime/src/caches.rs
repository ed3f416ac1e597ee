//! Who knows what is known, and who is told when it changes? The store behind a lock, with a list of what changed.

use std::{
    collections::{BTreeMap, BTreeSet},
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use api::schema::Kind;
use serde_json::Value;
use tidegate_core::{
    cluster::{
        kinds::{Row, TARGETS},
        seen::Seen,
    },
    document::key::Key,
};
use tokio::sync::Notify;

use crate::{
    changes::{Changes, Follower},
    store::{State, Store, Trust},
};

/// What is known, shared by those who learn and those who decide.
#[derive(Debug)]
pub struct Caches {
    observed: Vec<&'static Row>,
    /// What is looked at now and then.
    sometimes: &'static [&'static Row],
    store: Mutex<Store>,
    news: Mutex<BTreeSet<Key>>,
    told: Notify,
    changes: Changes,
    rebuild: Changes,
}

impl Caches {
    /// Caches of these kinds, which nobody has been heard about yet.
    pub fn of(observed: Vec<&'static Row>) -> Self {
        Self::on(None, observed)
    }

    /// The same, for a replica that runs on a node of the cluster.
    pub fn on(host: Option<String>, observed: Vec<&'static Row>) -> Self {
        Self {
            observed,
            sometimes: TARGETS,
            store: Mutex::new(Store::hosted_by(host)),
            news: Mutex::default(),
            told: Notify::new(),
            changes: Changes::default(),
            rebuild: Changes::default(),
        }
    }

    /// The kinds that are kept.
    pub fn observed(&self) -> &[&'static Row] {
        &self.observed
    }

    /// Reads a document of a kind that is kept; nothing of one that is not.
    pub fn read(&self, kind: &Kind, document: &Value) -> Option<Seen> {
        let row = self.observed.iter().chain(self.sometimes).find(|row| row.kind == *kind)?;
        read(row, document).map(|(_, seen)| seen)
    }

    /// The store, for as long as nothing is awaited.
    pub fn store(&self) -> MutexGuard<'_, Store> {
        // Every change of the store is whole before anything that could panic.
        self.store.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What changed since somebody last asked, and whom that concerns.
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
        let concerned = self.store().learn(key, seen);
        self.tell(concerned);
    }

    /// An object was told of, at this version; none if nobody could read it. What it says now nobody can tell then, so what it said
    /// before counts for nothing: a policy that is missing closes (GATE-2).
    pub fn heard(&self, key: &Key, version: &str, read: Option<Seen>) {
        match read {
            Some(seen) => self.learn(key, seen),
            None => self.forget(key, version),
        }
    }

    /// What a request of ours was answered.
    pub fn answered(&self, key: &Key, seen: Seen) {
        // No news: whoever asked knows it.
        drop(self.store().answered(key, seen));
    }

    /// What a request of ours was answered, whose change others decide by.
    pub fn changed_by_us(&self, key: &Key, seen: Seen) {
        let concerned = self.store().answered(key, seen);
        self.tell(concerned);
    }

    /// An object was deleted.
    pub fn forget(&self, key: &Key, version: &str) {
        let concerned = self.store().forget(key, version);
        self.tell(concerned);
    }

    /// An object was read by its name. A read by name is consistent: what it shows is so, and what it does not find is gone. `known` is
    /// the version that was known when it was asked for.
    pub fn looked_up(&self, key: &Key, found: Option<Seen>, known: Option<u64>) {
        let mut store = self.store();
        let concerned = match found {
            Some(seen) => store.learn(key, seen),
            None => store.vanished(key, known),
        };
        drop(store);
        self.tell(concerned);
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
        let first = !store.is_settled(kind);
        let mut changed = store.replace(kind, listed, version, trust);
        if first {
            // Those who waited to hear about this kind can be decided now.
            changed.extend(store.snapshot().all().map(|(key, _)| key.clone()));
        }
        drop(store);
        self.tell_listed(changed);
    }

    /// The server does not have a kind.
    pub fn absent(&self, kind: &'static Kind) {
        let mut store = self.store();
        let first = !store.is_settled(kind);
        let mut changed = store.absent(kind);
        if first {
            changed.extend(store.snapshot().all().map(|(key, _)| key.clone()));
        }
        drop(store);
        self.tell_listed(changed);
    }

    /// The server does not let this account list a kind. Those that would count its objects say so.
    pub fn unreadable(&self, kind: &'static Kind) {
        let mut store = self.store();
        if store.set_unreadable(kind) {
            let changed = store.snapshot().all().map(|(key, _)| key.clone()).collect();
            drop(store);
            self.tell_listed(changed);
        }
    }

    /// Nobody looks at a kind any more.
    pub fn unlist(&self, kind: &'static Kind) {
        let changed = self.store().unlist(kind);
        self.tell_listed(changed);
    }

    /// Something that no version shows is different of an object, and others tell of it.
    pub fn turned(&self, key: &Key) {
        let concerned = self.store().snapshot().concerned(key);
        self.tell(concerned);
    }

    /// The store behind the server went back in time: everything is to be learned anew.
    pub fn went_back(&self) {
        self.store().went_back();
        self.rebuild.tell();
    }

    /// Tells whenever everything is to be learned anew.
    pub fn rebuilds(&self) -> Follower {
        self.rebuild.follow()
    }

    /// How old the knowledge of a kind is; none while there is nothing to be old.
    pub fn age(&self, kind: &Kind) -> Option<Duration> {
        self.store().age(kind)
    }

    /// What is missing before the caches can be relied on, in words; none if nothing is.
    pub fn doubt(&self, stale: Duration) -> Option<String> {
        self.observed.iter().find_map(|kind| {
            let name = kind.name;
            let Some(about) = self.store().on(kind) else {
                return Some(format!("{name} has not been listed yet"));
            };
            let age = about.confirmed.elapsed();
            let old = about.state == State::Known && age > stale;
            old.then(|| format!("{name} was last confirmed {} s ago", age.as_secs()))
        })
    }

    /// Wakes those who look at the store, without any news: who leads is different now.
    pub fn stir(&self) {
        self.changes.tell();
    }

    /// Wakes whoever takes the news, without any: something else that they look at is different now.
    pub fn nudge(&self) {
        self.told.notify_one();
    }

    /// Tells of a list too in which nothing is new: whoever waits to hear about its kind has heard.
    fn tell_listed(&self, changed: BTreeSet<Key>) {
        self.news.lock().unwrap_or_else(PoisonError::into_inner).extend(changed);
        self.told.notify_one();
        self.changes.tell();
    }

    fn tell(&self, changed: BTreeSet<Key>) {
        if !changed.is_empty() {
            self.tell_listed(changed);
        }
    }
}

/// Reads a document. One that makes the reader panic is left out and logged: it must not take the others with it (LIVE-3).
pub fn read(row: &'static Row, document: &Value) -> Option<(Key, Seen)> {
    read_by(Row::see, row, document)
}

fn read_by(
    reader: fn(&'static Row, &Value) -> Seen,
    row: &'static Row,
    document: &Value,
) -> Option<(Key, Seen)> {
    let seen = catch_unwind(AssertUnwindSafe(|| reader(row, document)));
    let Ok(seen) = seen else {
        let name = document.pointer("/metadata/name").and_then(Value::as_str);
        tracing::error!(kind = row.name, name, "an object could not be read: the reader panicked");
        return None;
    };
    let key = seen.identity().key.clone();
    (!key.name.is_empty()).then_some((key, seen))
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tidegate_core::cluster::kinds;

    use super::*;

    /// GATE-2, LIVE-3: an object whose new version makes the reader panic loses its old meaning, and takes no other with it.
    #[test]
    fn what_cannot_be_read_any_more_means_nothing_any_more() {
        fn buggy(row: &'static Row, document: &Value) -> Seen {
            assert_eq!(document["spec"]["odd"], Value::Null, "as a bug would");
            row.see(document)
        }
        let document = |name: &str, version: &str, odd: Value| {
            let kind = &kinds::CHANGE_MANAGEMENT_POLICY;
            json!({"apiVersion": kind.api_version, "kind": kind.name,
                "metadata": {"name": name, "resourceVersion": version},
                "spec": {"strategy": "Permissive", "odd": odd}})
        };
        let caches = Caches::of(vec![&kinds::CHANGE_MANAGEMENT_POLICY]);
        let key = |name: &str| Key::new(&kinds::CHANGE_MANAGEMENT_POLICY, None, name);
        let hear = |name: &str, version: &str, odd: Value| {
            let read =
                read_by(buggy, &kinds::CHANGE_MANAGEMENT_POLICY, &document(name, version, odd));
            caches.heard(&key(name), version, read.map(|(_, seen)| seen));
        };
        let quiet = std::panic::take_hook();
        std::panic::set_hook(Box::new(|_| {}));
        hear("a", "5", Value::Null);
        hear("b", "6", Value::Null);
        caches.news();
        hear("a", "7", json!(true));
        std::panic::set_hook(quiet);
        assert!(caches.store().snapshot().get(&key("a")).is_none());
        assert!(caches.store().snapshot().get(&key("b")).is_some());
        assert_eq!(caches.news(), [key("a")].into(), "whoever names it is decided anew");
    }
}
