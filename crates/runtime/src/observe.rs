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
use serde::Deserialize;
use serde_json::Value;
use tidegate_core::key::Key;
use tokio::time::{Instant, sleep, timeout_at};

use crate::{
    backoff::Backoff,
    caches::{Caches, read},
    call::{Ask, CallError, Cluster, Verb},
    key::collection,
    store::{State, Trust},
    tempo::Tempo,
};

pub mod lines;

use lines::Lines;

/// The observer of one kind.
#[derive(Debug)]
pub struct Observer {
    kind: &'static Kind,
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
    pub fn new(kind: &'static Kind, cluster: Cluster, caches: Arc<Caches>, tempo: Tempo) -> Self {
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
                    let known = self.caches.store().on(self.kind.id);
                    let known = known.is_some_and(|about| about.state == State::Known);
                    if !known || missed > 1 {
                        self.caches.absent(self.kind);
                    }
                    sleep(self.tempo.absent).await;
                    continue;
                }
                Err(error) => {
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

    /// Reads all objects of the kind, a page at a time, and returns the version they were read at. No version is asked for: that is a
    /// consistent read, which cannot go back behind what was seen before.
    async fn list(&self, trust: Trust) -> Result<String, CallError> {
        let mut listed = BTreeMap::new();
        let mut more = String::new();
        let known = self.caches.store().newest();
        loop {
            let page: Page<Value> = self.cluster.call(Verb::List, self.page(&more)).await?;
            for mut document in page.items {
                name_kind(self.kind, &mut document);
                listed.extend(read(self.kind, &document));
            }
            let Some(token) = page.metadata.continues.filter(|token| !token.is_empty()) else {
                let version = page.metadata.resource_version;
                if trust == Trust::Newer {
                    refuse_old(&version, known)?;
                }
                self.caches.replace(self.kind, listed, &version, trust);
                return Ok(version);
            };
            more = format!("&continue={}", percent_encoded(&token));
        }
    }

    /// Asks which versions there are, and confirms what is known if they are the known ones. Otherwise something was missed.
    async fn look(&self, version: &mut String) -> Result<Next, CallError> {
        let mut listed = BTreeMap::new();
        let mut more = String::new();
        let known = self.caches.store().newest();
        loop {
            let page: Page<GlimpseObject> = match self.cluster.list_metadata(self.page(&more)).await
            {
                Ok(page) => page,
                // A server that tells less than everything only as a whole.
                Err(error) if error.code() == Some(406) => return Ok(Next::List),
                Err(error) => return Err(error),
            };
            for GlimpseObject { metadata: Metadata { name, namespace, resource_version } } in
                page.items
            {
                let name = name.unwrap_or_default();
                let key = Key::new(self.kind, namespace.as_deref(), &name);
                listed.insert(key, resource_version);
            }
            let Some(token) = page.metadata.continues.filter(|token| !token.is_empty()) else {
                let listed_at = page.metadata.resource_version;
                refuse_old(&listed_at, known)?;
                return Ok(self.compare(&listed, listed_at, version));
            };
            more = format!("&continue={}", percent_encoded(&token));
        }
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

    fn page(&self, more: &str) -> Ask {
        Ask::path(format!("{}?limit={}{more}", collection(self.kind, None), self.tempo.page))
    }

    /// When the silence has lasted too long.
    fn silent_at(&self) -> Instant {
        let silence = match self.kind.role {
            Role::Policy | Role::Gated { .. } => self.tempo.silence,
            Role::Part => self.tempo.silence_of_parts,
        };
        let about = self.caches.store().on(self.kind.id);
        about.map_or_else(Instant::now, |about| about.confirmed) + silence
    }

    /// Follows what happens from a version on, until the watch ends one way or another.
    async fn watch(&self, version: &mut String) -> Result<Next, CallError> {
        let Tempo { watch, grace, .. } = self.tempo;
        let deadline = Instant::now() + watch + grace;
        let path = format!(
            "{}?watch=true&allowWatchBookmarks=true&timeoutSeconds={}&resourceVersion={version}",
            collection(self.kind, None),
            watch.as_secs(),
        );
        let mut lines = Lines::new(self.cluster.stream(Ask::path(path)).await?);
        loop {
            let silent_at = self.silent_at();
            let Ok(line) = timeout_at(deadline.min(silent_at), lines.next()).await else {
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
            let Some(line) = line.map_err(|error| CallError::Lost(error.into()))? else {
                return Ok(Next::Watch);
            };
            if let Next::List = self.event(&line, version) {
                return Ok(Next::List);
            }
        }
    }

    fn event(&self, line: &[u8], version: &mut String) -> Next {
        let Ok(event) = serde_json::from_slice::<Glimpse>(line) else {
            tracing::warn!(kind = self.kind.name, "an event cannot be read: listing anew");
            return Next::List;
        };
        let Metadata { name, namespace, resource_version } = event.object.metadata;
        match &*event.kind {
            // 410 is the usual one: history was forgotten. Any other is no reason to trust the stream.
            "ERROR" => return Next::List,
            "BOOKMARK" => {}
            happening => {
                let name = name.unwrap_or_default();
                let key = Key::new(self.kind, namespace.as_deref(), &name);
                if happening == "DELETED" {
                    self.caches.forget(&key, &resource_version);
                } else if !self.caches.store().has(&key, &resource_version) {
                    // Only what is news is read whole: our own writes come back here, and are known.
                    let whole = serde_json::from_slice::<Whole>(line).ok();
                    let read = whole.and_then(|whole| read(self.kind, &whole.object));
                    self.caches.heard(&key, &resource_version, read.map(|(_, seen)| seen));
                }
            }
        }
        let mut store = self.caches.store();
        store.heard_of(&resource_version);
        store.confirm(self.kind);
        drop(store);
        if !resource_version.is_empty() {
            *version = resource_version;
        }
        Next::Watch
    }
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

/// Tokens of lists are opaque, and not always fit for a query.
fn percent_encoded(token: &str) -> String {
    let mut text = String::with_capacity(token.len());
    for byte in token.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~') {
            text.push(char::from(byte));
        } else {
            use std::fmt::Write as _;
            // Writing to a string cannot fail.
            let _ = write!(text, "%{byte:02X}");
        }
    }
    text
}

#[derive(Deserialize)]
struct Page<T> {
    metadata: PageMetadata,
    #[serde(default = "Vec::new")]
    items: Vec<T>,
}

#[derive(Deserialize)]
struct PageMetadata {
    #[serde(rename = "resourceVersion", default)]
    resource_version: String,
    #[serde(rename = "continue")]
    continues: Option<String>,
}

/// What of an event is read first: enough to see whether it is news.
#[derive(Deserialize)]
struct Glimpse {
    #[serde(rename = "type")]
    kind: String,
    object: GlimpseObject,
}

#[derive(Deserialize)]
struct GlimpseObject {
    #[serde(default)]
    metadata: Metadata,
}

#[derive(Default, Deserialize)]
struct Metadata {
    name: Option<String>,
    namespace: Option<String>,
    #[serde(rename = "resourceVersion", default)]
    resource_version: String,
}

#[derive(Deserialize)]
struct Whole {
    object: Value,
}
