//! How does the runtime learn what the cluster holds? A list, then a watch, for each kind, for ever.
//!
//! Ours and not the watcher of `kube-runtime`, because three of its habits end in a cache that is wrong and quiet: 410 as the status
//! of a watch is tried again for ever, a store that went back in time is not noticed, and one object that cannot be decoded fails
//! a whole list (docs/design/0009).
//!
//! - GATE-11: opening a watch confirms nothing. An event, a bookmark or a consistent list does; a watch that says nothing for a while
//!   ([`Tempo::silence`]) is not believed, and the server is asked which versions there are.
//! - A list that is older than what was known when it was asked for takes nothing back and confirms nothing.
//! - A watch that says nothing for longer than its server should keep it open is given up ([`Tempo::watch`], [`Tempo::grace`]).
//! - 410, as an event or as a status, and versions that go back lead to a new list.
//! - A kind that the server does not have is no error: it is asked for again, by itself and with no further rights.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use api::schema::{Kind, Role};
use futures_util::FutureExt as _;
use serde_json::Value;
use tidegate_core::{cluster::kinds::Row, document::key::Key};
use tokio::time::{Instant, sleep, timeout_at};

use crate::{
    backoff::Backoff,
    caches::{Caches, read},
    call::{CallError, Cluster, Collection, Event, What, follow::GlimpseObject},
    key::collection,
    store::{State, Trust},
    tempo::Tempo,
};

/// The observer of one kind.
#[derive(Debug)]
pub struct Observer {
    kind: &'static Row,
    cluster: Cluster,
    caches: Arc<Caches>,
    tempo: Tempo,
}

/// Where an observer goes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    /// On from the version it has.
    Watch,
    /// Back to a list.
    List,
    /// Back to a list, and what was known counts for nothing.
    Rebuild,
}

impl Observer {
    /// An observer of a kind.
    pub fn new(kind: &'static Row, cluster: Cluster, caches: Arc<Caches>, tempo: Tempo) -> Self {
        Self { kind, cluster, caches, tempo }
    }

    /// Keeps the cache of its kind true, for ever.
    pub async fn run(self) {
        let mut trust = Trust::Newer;
        let mut backoff = Backoff::new(self.tempo.retry, self.tempo.retry_at_most, self.kind.name);
        let mut missed = 0;
        let mut rebuilds = self.caches.rebuilds();
        loop {
            // Said while nobody watched: between two tries of a list.
            if rebuilds.changed().now_or_never().is_some() {
                trust = Trust::Nothing;
            }
            let mut version = match self.list(trust).await {
                Ok(version) => {
                    missed = 0;
                    trust = Trust::Newer;
                    version
                }
                Err(error) if error.code() == Some(404) => {
                    // A server that starts may not know the kind yet: what was known is dropped only when it says so twice.
                    missed += 1;
                    let known = self.caches.store().on(self.kind);
                    let known = known.is_some_and(|about| about.state == State::Known);
                    if !known || missed > 1 {
                        self.caches.absent(self.kind);
                    }
                    sleep(self.tempo.absent).await;
                    continue;
                }
                Err(error) => {
                    if error.code() == Some(403) {
                        self.caches.unreadable(self.kind);
                    }
                    tracing::warn!(kind = self.kind.name, %error, cause = ?error, "cannot list");
                    sleep(backoff.lengthen().max(error.retry_after())).await;
                    continue;
                }
            };
            loop {
                let began = Instant::now();
                let watched = tokio::select! {
                    biased;
                    () = rebuilds.changed() => Ok(Next::Rebuild),
                    watched = self.watch(&mut version) => watched,
                };
                let pause = match &watched {
                    // A server that ends every watch at once must not be asked in a circle.
                    Ok(_) if began.elapsed() > Duration::from_secs(1) => {
                        backoff.reset();
                        Duration::ZERO
                    }
                    Ok(Next::Rebuild) => Duration::ZERO,
                    Ok(_) => backoff.lengthen(),
                    Err(error) => backoff.lengthen().max(error.retry_after()),
                };
                let next = watched.unwrap_or_else(|error| {
                    tracing::debug!(kind = self.kind.name, %error, cause = ?error, "cannot watch");
                    // 410 as a status is as good as in the stream; 404 is for the list to judge.
                    match error.code() {
                        Some(404 | 410) => Next::List,
                        // Where watches fail and lists do not, lists have to do.
                        _ if self.silent_at() <= Instant::now() => Next::List,
                        _ => Next::Watch,
                    }
                });
                if next == Next::Rebuild {
                    trust = Trust::Nothing;
                }
                sleep(pause).await;
                if next != Next::Watch {
                    break;
                }
            }
        }
    }

    /// Reads all objects of the kind, and returns the version they were read at.
    async fn list(&self, trust: Trust) -> Result<String, CallError> {
        list(self.kind, (&self.cluster, &self.caches), &self.collection(), trust).await
    }

    /// Asks which versions there are, and confirms what is known if they are the known ones. Otherwise something was missed.
    async fn look(&self, version: &mut String) -> Result<Next, CallError> {
        let mut listed = BTreeMap::new();
        let known = self.caches.store().newest();
        let each = |GlimpseObject { metadata }: GlimpseObject| {
            let name = metadata.name.unwrap_or_default();
            let key = Key::new(self.kind, metadata.namespace.as_deref(), &name);
            listed.insert(key, metadata.resource_version);
        };
        let listed_at = match self.cluster.list_metadata(&self.collection(), each).await {
            Ok(listed_at) => listed_at,
            // A server that tells less than everything only as a whole.
            Err(error) if error.code() == Some(406) => return Ok(Next::List),
            Err(error) => return Err(error),
        };
        refuse_old(&listed_at, known)?;
        Ok(self.compare(&listed, listed_at, version))
    }

    fn compare(&self, listed: &BTreeMap<Key, String>, at: String, version: &mut String) -> Next {
        let mut store = self.caches.store();
        let listed_at: Option<u64> = at.parse().ok();
        let all = listed.iter().all(|(key, version)| store.has(key, version));
        let gone = store
            .snapshot()
            .of_kind(self.kind)
            .any(|(key, _)| !listed.contains_key(key) && store.version(key) <= listed_at);
        if !all || gone {
            return Next::List;
        }
        store.heard_of(&at);
        store.confirm(self.kind);
        *version = at;
        Next::Watch
    }

    fn collection(&self) -> Collection {
        Collection::of(collection(self.kind, None)).in_pages_of(self.tempo.page)
    }

    /// When the silence has lasted too long.
    fn silent_at(&self) -> Instant {
        let silence = match self.kind.role {
            Role::Policy | Role::Gated { .. } | Role::Freeze | Role::Override | Role::Guardrail => {
                self.tempo.silence
            }
            Role::Part => self.tempo.silence_of_parts,
        };
        let about = self.caches.store().on(self.kind);
        about.map_or_else(Instant::now, |about| about.confirmed) + silence
    }

    /// Follows what happens from a version on, until the watch ends one way or another.
    async fn watch(&self, version: &mut String) -> Result<Next, CallError> {
        let Tempo { watch, grace, .. } = self.tempo;
        let deadline = Instant::now() + watch + grace;
        let mut follow = self.cluster.follow(&self.collection(), version, Some(watch)).await?;
        loop {
            let silent_at = self.silent_at();
            let Ok(told) = timeout_at(deadline.min(silent_at), follow.next()).await else {
                if deadline <= silent_at {
                    // The connection is dead, whatever it looks like: on from the version that is known.
                    return Ok(Next::Watch);
                }
                match self.look(version).await? {
                    // Nothing was missed: the silence means that nothing happened.
                    Next::Watch => continue,
                    next => return Ok(next),
                }
            };
            let event = match told {
                Ok(Some(event)) => event,
                Ok(None) => return Ok(Next::Watch),
                Err(error @ CallError::Lost(_)) => return Err(error),
                Err(error) => {
                    // 410 is the usual one: history was forgotten. Any other is no reason to trust the stream.
                    tracing::debug!(kind = self.kind.name, %error, "a watch ended: listing anew");
                    return Ok(Next::List);
                }
            };
            if let Next::List = self.event(&event, version) {
                return Ok(Next::List);
            }
        }
    }

    fn event(&self, event: &Event, version: &mut String) -> Next {
        if event.what != What::Bookmark {
            let name = event.name.as_deref().unwrap_or_default();
            let key = Key::new(self.kind, event.namespace.as_deref(), name);
            if event.what == What::Deleted {
                self.caches.forget(&key, &event.version);
            } else if !self.caches.store().has(&key, &event.version) {
                // Only what is news is read whole: our own writes come back here, and are known.
                let read = event.object().ok().and_then(|object| read(self.kind, &object));
                self.caches.heard(&key, &event.version, read.map(|(_, seen)| seen));
            }
        }
        let mut store = self.caches.store();
        store.heard_of(&event.version);
        store.confirm(self.kind);
        drop(store);
        if !event.version.is_empty() {
            version.clone_from(&event.version);
        }
        Next::Watch
    }
}

/// Reads all objects of a kind into the caches, and returns the version they were read at.
pub(crate) async fn list(
    kind: &'static Row,
    (cluster, caches): (&Cluster, &Caches),
    collection: &Collection,
    trust: Trust,
) -> Result<String, CallError> {
    let mut listed = BTreeMap::new();
    let known = caches.store().newest();
    let each = |mut document: Value| {
        name_kind(kind, &mut document);
        listed.extend(read(kind, &document));
    };
    let version = cluster.list(collection, each).await?;
    if trust == Trust::Newer {
        refuse_old(&version, known)?;
    }
    caches.replace(kind, listed, &version, trust);
    Ok(version)
}

/// A list that is older than what was known when it was asked for shows a cluster that is no more.
fn refuse_old(version: &str, known: u64) -> Result<(), CallError> {
    match version.parse() {
        Ok(found) if found < known => Err(CallError::Stale { found, known }),
        Ok(_) | Err(_) => Ok(()),
    }
}

/// The items of a list say neither kind nor version; those who judge documents want both.
fn name_kind(kind: &Kind, document: &mut Value) {
    if let Some(fields) = document.as_object_mut() {
        fields.entry("apiVersion").or_insert_with(|| kind.api_version.into());
        fields.entry("kind").or_insert_with(|| kind.name.into());
    }
}
