//! What exists, and what happened lately?
//!
//! - STORE-1 bytes are the truth: an object at rest is its JSON, shared by every reader.
//! - STORE-2 there is one write path, [`Store::commit`]; each commit takes the next resource version.
//! - STORE-3 each shelf keeps a bounded history; what fell out of it is answered with 410, never guessed.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    sync::{Arc, OnceLock},
    task::Waker,
};

use bytes::Bytes;
use serde_json::Value;

use crate::meta;

/// Namespace and name; cluster-scoped objects have an empty namespace.
pub(crate) type Key = (String, String);

/// What happened to an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Happening {
    Added,
    Modified,
    Deleted,
}

/// One entry of a shelf's history.
#[derive(Debug, Clone)]
pub(crate) struct Event {
    pub(crate) version: u64,
    pub(crate) happening: Happening,
    pub(crate) key: Key,
    /// The object after the event; for a deletion its last state, with the version of the deletion.
    pub(crate) object: Bytes,
    pub(crate) before: Option<Bytes>,
}

/// An object at rest.
#[derive(Debug, Clone)]
pub(crate) struct Stored {
    pub(crate) version: u64,
    pub(crate) bytes: Bytes,
    pub(crate) excerpts: Arc<Excerpts>,
}

/// What lists tell of an object at rest, once somebody has asked: those who watch ask again and again.
#[derive(Debug, Default)]
pub(crate) struct Excerpts {
    /// The metadata alone.
    pub(crate) metadata: OnceLock<Bytes>,
    /// Without its type.
    pub(crate) item: OnceLock<Bytes>,
}

impl Stored {
    pub(crate) fn new(version: u64, bytes: Bytes) -> Self {
        Self { version, bytes, excerpts: Arc::default() }
    }

    pub(crate) fn value(&self) -> Value {
        parse(&self.bytes)
    }
}

/// Stored bytes were written by this process from a JSON value.
pub(crate) fn parse(bytes: &Bytes) -> Value {
    serde_json::from_slice(bytes).unwrap_or_default()
}

/// Whether the text may name owners; a look that is much cheaper than parsing.
fn names_owners(bytes: &[u8]) -> bool {
    let word = b"\"ownerReferences\"";
    bytes.windows(word.len()).any(|part| part == word)
}

/// All objects of one kind, with their recent history.
#[derive(Debug, Default)]
pub(crate) struct Shelf {
    pub(crate) objects: BTreeMap<Key, Stored>,
    /// The version of the last commit on it.
    pub(crate) changed: u64,
    history: VecDeque<Event>,
    /// Events at or below this version are gone.
    floor: u64,
    wakers: BTreeMap<u64, Waker>,
}

impl Shelf {
    /// The events after `version`, or nothing if some of them are no longer kept.
    pub(crate) fn events_after(&self, version: u64) -> Option<impl Iterator<Item = &Event>> {
        if version < self.floor {
            return None;
        }
        let start = self.history.partition_point(|e| e.version <= version);
        Some(self.history.range(start..))
    }

    pub(crate) fn floor(&self) -> u64 {
        self.floor
    }

    /// The objects as they were at `version`, or nothing if that is no longer known.
    pub(crate) fn at_version(&self, version: u64) -> Option<BTreeMap<Key, Stored>> {
        let mut first: BTreeMap<&Key, Option<&Bytes>> = BTreeMap::new();
        for event in self.events_after(version)? {
            first.entry(&event.key).or_insert(event.before.as_ref());
        }
        let mut objects = self.objects.clone();
        for (key, before) in first {
            match before {
                None => objects.remove(key),
                Some(bytes) => {
                    let version =
                        meta::text(&parse(bytes), "resourceVersion").parse().unwrap_or_default();
                    objects.insert(key.clone(), Stored::new(version, bytes.clone()))
                }
            };
        }
        Some(objects)
    }

    /// Wakes `waker` at the next commit on this shelf.
    pub(crate) fn wake_later(&mut self, watcher: u64, waker: &Waker) {
        self.wakers.insert(watcher, waker.clone());
    }

    pub(crate) fn forget(&mut self, watcher: u64) {
        self.wakers.remove(&watcher);
    }

    pub(crate) fn wake_all(&mut self) {
        for (_, waker) in std::mem::take(&mut self.wakers) {
            waker.wake();
        }
    }

    /// Drops all history up to `version`.
    pub(crate) fn compact(&mut self, version: u64) {
        self.floor = self.floor.max(version);
        while self.history.front().is_some_and(|e| e.version <= version) {
            self.history.pop_front();
        }
        self.wake_all();
    }
}

/// Where an object lies.
pub(crate) type Place = (Arc<str>, Key);

/// Everything at rest.
#[derive(Debug)]
pub(crate) struct Store {
    version: u64,
    shelves: BTreeMap<Arc<str>, Shelf>,
    /// uid to place, for owner lookups.
    uids: BTreeMap<String, Place>,
    /// Owner uid to the places of its dependents.
    dependents: BTreeMap<String, BTreeSet<Place>>,
    history_limit: usize,
}

/// A copy of the whole store, to which it can be rewound.
#[derive(Debug, Clone)]
pub struct Backup {
    version: u64,
    objects: Vec<(Arc<str>, BTreeMap<Key, Stored>)>,
}

impl Store {
    pub(crate) fn new(history_limit: usize) -> Self {
        Self {
            version: 1,
            shelves: BTreeMap::new(),
            uids: BTreeMap::new(),
            dependents: BTreeMap::new(),
            history_limit,
        }
    }

    /// The latest resource version.
    pub(crate) fn version(&self) -> u64 {
        self.version
    }

    pub(crate) fn shelf(&self, shelf: &str) -> Option<&Shelf> {
        self.shelves.get(shelf)
    }

    pub(crate) fn shelf_mut(&mut self, shelf: &Arc<str>) -> &mut Shelf {
        self.shelves.entry(Arc::clone(shelf)).or_default()
    }

    pub(crate) fn shelves(&self) -> impl Iterator<Item = (&Arc<str>, &Shelf)> {
        self.shelves.iter()
    }

    pub(crate) fn get(&self, shelf: &str, key: &Key) -> Option<&Stored> {
        self.shelves.get(shelf)?.objects.get(key)
    }

    pub(crate) fn place_of(&self, uid: &str) -> Option<&Place> {
        self.uids.get(uid)
    }

    pub(crate) fn dependents_of(&self, uid: &str) -> Vec<Place> {
        self.dependents.get(uid).map(|d| d.iter().cloned().collect()).unwrap_or_default()
    }

    /// The one write path: stamps the next resource version, keeps the indexes, records the event, wakes the watchers.
    pub(crate) fn commit(
        &mut self,
        shelf: &Arc<str>,
        happening: Happening,
        object: &mut Value,
    ) -> Stored {
        self.version += 1;
        meta::set(object, "resourceVersion", self.version.to_string());
        let key = (meta::namespace(object).to_owned(), meta::name(object).to_owned());
        // Canonical order: the same object is the same bytes, whatever order its author wrote.
        object.sort_all_objects();
        let bytes = Bytes::from(object.to_string());
        let stored = Stored::new(self.version, bytes.clone());
        let place = (Arc::clone(shelf), key.clone());
        let before = self.get(shelf, &key).cloned();
        // An object that changes keeps its uid; only where owners are named is there anything to look up again.
        let named = before.as_ref().is_some_and(|b| names_owners(&b.bytes)) || names_owners(&bytes);
        if happening != Happening::Modified || before.is_none() || named {
            if let Some(before) = &before {
                self.unindex(&before.value(), &place);
            }
            if happening != Happening::Deleted {
                self.index(object, &place);
            }
        }
        let limit = self.history_limit;
        let version = self.version;
        let shelf = self.shelf_mut(shelf);
        shelf.changed = version;
        if happening == Happening::Deleted {
            shelf.objects.remove(&key);
        } else {
            shelf.objects.insert(key.clone(), stored.clone());
        }
        let before = before.map(|s| s.bytes);
        shelf.history.push_back(Event { version, happening, key, object: bytes, before });
        while shelf.history.len() > limit {
            if let Some(old) = shelf.history.pop_front() {
                shelf.floor = old.version;
            }
        }
        shelf.wake_all();
        stored
    }

    fn index(&mut self, object: &Value, place: &Place) {
        self.uids.insert(meta::uid(object).to_owned(), place.clone());
        for owner in meta::owner_uids(object) {
            self.dependents.entry(owner.to_owned()).or_default().insert(place.clone());
        }
    }

    fn unindex(&mut self, object: &Value, place: &Place) {
        self.uids.remove(meta::uid(object));
        for owner in meta::owner_uids(object) {
            if let Some(set) = self.dependents.get_mut(owner) {
                set.remove(place);
                if set.is_empty() {
                    self.dependents.remove(owner);
                }
            }
        }
    }

    /// Forgets all history: every watch and page that is behind gets 410.
    pub(crate) fn compact(&mut self) {
        let version = self.version;
        self.shelves.values_mut().for_each(|s| s.compact(version));
    }

    pub(crate) fn backup(&self) -> Backup {
        let objects = self.shelves.iter().map(|(k, s)| (Arc::clone(k), s.objects.clone()));
        Backup { version: self.version, objects: objects.collect() }
    }

    /// Goes back to an earlier state, as a restored etcd does: versions count on from there, and no event is told.
    pub(crate) fn rewind(&mut self, backup: &Backup) {
        self.version = backup.version;
        self.uids.clear();
        self.dependents.clear();
        for shelf in self.shelves.values_mut() {
            shelf.objects.clear();
            shelf.history.clear();
            shelf.floor = backup.version;
        }
        for (name, objects) in &backup.objects {
            for (key, stored) in objects {
                self.index(&stored.value(), &(Arc::clone(name), key.clone()));
            }
            self.shelf_mut(name).objects = objects.clone();
        }
    }
}
