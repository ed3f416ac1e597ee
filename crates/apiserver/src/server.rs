//! The server: its parts, its settings, and the way of a request through them.
//!
//! One lock guards everything; a request is answered in one step, so that what a client sees is always one moment.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use jiff::Timestamp;
use serde_json::Value;

use crate::{
    admission::Hooks,
    clock::Clock,
    controllers::Concern,
    fault::Faults,
    ids::Ids,
    registry::{Nature, Registry, Workloads},
    store::{Backup, Happening, Store, Stored},
    trace::Trace,
};

/// Whether the server also does what a cluster's controllers do: garbage collection, namespace deletion, budgets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Controllers {
    /// Everything settles within the request that caused it.
    Prompt,
    /// A bare API server: nothing happens by itself.
    Absent,
}

/// How the server behaves; every value is an argument, none is read from the environment.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The seed of uids, generated names and random faults.
    pub seed: u64,
    /// How many events each kind remembers for watches that resume.
    pub history: usize,
    /// How often watches that allow it get a bookmark; `None` for long simulations.
    pub bookmarks: Option<Duration>,
    /// The longest that a watch lives, whatever it asked for; `None` lets it live, and ignores the client's own limit.
    pub watch_limit: Option<Duration>,
    /// Garbage collection and the like.
    pub controllers: Controllers,
    /// The kinds of `apps/v1`.
    pub workloads: Workloads,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            seed: 1,
            history: 1_000,
            bookmarks: Some(Duration::from_mins(1)),
            watch_limit: Some(Duration::from_hours(1)),
            controllers: Controllers::Prompt,
            workloads: Workloads::Absent,
        }
    }
}

/// An embedded API server. Clones are handles on the same server.
#[derive(Clone)]
pub struct Server {
    pub(crate) inner: Arc<Inner>,
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server").field("settings", &self.inner.settings).finish_non_exhaustive()
    }
}

pub(crate) struct Inner {
    pub(crate) settings: Settings,
    pub(crate) clock: Box<dyn Clock>,
    state: Mutex<State>,
}

/// Everything that changes.
pub(crate) struct State {
    pub(crate) store: Store,
    pub(crate) registry: Registry,
    pub(crate) ids: Ids,
    pub(crate) hooks: Hooks,
    pub(crate) policies: crate::admission::Cache,
    pub(crate) faults: Faults,
    pub(crate) trace: Trace,
    pub(crate) concerns: VecDeque<Concern>,
    /// What the controllers wished and admission refused: they try again with the next request.
    pub(crate) refused_concerns: Vec<Concern>,
    pub(crate) watchers: u64,
}

impl Inner {
    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        // A panic while the lock was held is a bug, but the store is consistent between commits: carry on.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }
}

impl Server {
    /// A server with the built-in kinds and the usual namespaces.
    pub fn new(clock: impl Clock, settings: Settings) -> Self {
        let now = clock.now();
        let mut state = State {
            store: Store::new(settings.history),
            registry: Registry::built_in(settings.workloads),
            ids: Ids::seeded(settings.seed),
            hooks: Hooks::default(),
            policies: crate::admission::Cache::default(),
            faults: Faults::none(settings.seed),
            trace: Trace::default(),
            concerns: VecDeque::new(),
            refused_concerns: Vec::new(),
            watchers: 0,
        };
        for name in ["default", "kube-node-lease", "kube-public", "kube-system"] {
            let mut namespace = crate::strategy::initial_namespace(name);
            crate::meta::set(&mut namespace, "uid", state.ids.uid());
            crate::meta::set(
                &mut namespace,
                "creationTimestamp",
                crate::clock::rfc3339_seconds(now),
            );
            state.commit(&"namespaces".into(), Happening::Added, &mut namespace);
        }
        state.concerns.clear();
        Self {
            inner: Arc::new(Inner { settings, clock: Box::new(clock), state: Mutex::new(state) }),
        }
    }

    /// The server's own time.
    pub fn now(&self) -> Timestamp {
        self.inner.now()
    }

    /// The latest resource version.
    pub fn resource_version(&self) -> u64 {
        self.inner.lock().store.version()
    }

    /// Forgets all history, as etcd does when it compacts: watches that are behind get 410.
    pub fn compact(&self) {
        self.inner.lock().store.compact();
    }

    /// A copy of everything stored.
    pub fn backup(&self) -> Backup {
        self.inner.lock().store.backup()
    }

    /// Rewinds the store to a backup. Watches are not told, exactly as after a restored etcd.
    pub fn rewind(&self, backup: &Backup) {
        let mut state = self.inner.lock();
        state.store.rewind(backup);
        // Versions count on from the backup: the same number may stand for something else now.
        state.policies = crate::admission::Cache::default();
        state.reload_definitions();
    }

    /// Every stored object, by kind, namespace and name; for checks that look at the whole state.
    pub fn objects(&self) -> Vec<Value> {
        let state = self.inner.lock();
        state.store.shelves().flat_map(|(_, s)| s.objects.values().map(Stored::value)).collect()
    }

    /// A hash over every request, commit and fault so far: the same seed and the same requests give the same hash.
    pub fn trace_hash(&self) -> u64 {
        self.inner.lock().trace.hash()
    }

    /// The last lines of the trace, oldest first.
    pub fn trace_tail(&self) -> Vec<String> {
        self.inner.lock().trace.tail()
    }
}

impl State {
    /// Commits, and notes what the controllers have to look at afterwards.
    pub(crate) fn commit(
        &mut self,
        shelf: &Arc<str>,
        happening: Happening,
        object: &mut Value,
    ) -> Stored {
        let stored = self.store.commit(shelf, happening, object);
        self.trace.commit(shelf, happening, &stored);
        self.note(shelf, happening, object);
        stored
    }

    fn note(&mut self, shelf: &Arc<str>, happening: Happening, object: &Value) {
        use crate::meta;
        let namespace = meta::namespace(object).to_owned();
        if happening == Happening::Deleted {
            self.concerns.push_back(Concern::OwnerGone(meta::uid(object).to_owned()));
            for owner in meta::owner_uids(object) {
                if let Some(place) = self.store.place_of(owner) {
                    self.concerns.push_back(Concern::Deleting(place.clone()));
                }
            }
            if !namespace.is_empty() {
                self.concerns.push_back(Concern::Namespace(namespace.clone()));
            }
            if let Some(ty) = self.registry.by_shelf(shelf)
                && ty.nature == Nature::Custom
            {
                self.concerns.push_back(Concern::Definition(ty.qualified()));
            }
        } else if meta::is_deleting(object) {
            let key = (namespace.clone(), meta::name(object).to_owned());
            self.concerns.push_back(Concern::Deleting((Arc::clone(shelf), key)));
        } else if meta::field(object, "ownerReferences").is_some() {
            let key = (namespace.clone(), meta::name(object).to_owned());
            self.concerns.push_back(Concern::Owned((Arc::clone(shelf), key)));
        }
        match &**shelf {
            "namespaces" => {
                self.concerns.push_back(Concern::Namespace(meta::name(object).to_owned()));
            }
            "pods" | "poddisruptionbudgets" => self.concerns.push_back(Concern::Budgets(namespace)),
            "customresourcedefinitions" => {
                if happening == Happening::Deleted {
                    let (group, plural) = crate::controllers::definition_names(object);
                    self.registry.remove(&group, &plural);
                } else {
                    self.concerns.push_back(Concern::Definition(meta::name(object).to_owned()));
                }
            }
            _ => {}
        }
    }

    /// Reads every definition again, after the store was replaced.
    fn reload_definitions(&mut self) {
        self.registry = self.registry.emptied();
        let definitions: Vec<Value> = self
            .store
            .shelf("customresourcedefinitions")
            .map(|s| s.objects.values().map(Stored::value).collect())
            .unwrap_or_default();
        for definition in definitions {
            self.registry.install(crate::registry::crd::read(&definition));
        }
    }
}
