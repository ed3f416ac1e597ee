//! What is known of the cluster, and how well? A [`Snapshot`] of what decisions read, and what is known about knowing it: versions, age,
//! refusals, what holds changes back.
//!
//! - What a write answered counts at once, and an older event does not undo it: versions only grow, unless the store behind the server
//!   went back in time, and then everything of that kind is learned anew ([`Store::replace`] with [`Trust::Nothing`]).
//! - Answers to our own requests change what is there and never add: an object that was deleted meanwhile stays gone.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use api::{
    meta::ConditionStatus,
    schema::{Kind, Role},
};
use tidegate_core::{
    cluster::{
        kinds::{self, Listed, Surroundings},
        seen::Seen,
        snapshot::Snapshot,
    },
    document::key::Key,
    gate::{
        enforced::Enforcement,
        proof::Proofs,
        refusal::{Refusal, Refusals},
    },
    pool::{merge::Base, render::Rendering, seen::SeenPool},
    reach::policies::freezes::NODES,
};
use tokio::time::Instant;

mod foresight;
mod renderings;

use foresight::Forecasts;
use renderings::Renderings;

/// Everything known.
#[derive(Debug, Default)]
pub struct Store {
    snapshot: Snapshot,
    about: BTreeMap<&'static Kind, Knowledge>,
    renderings: Renderings,
    foresight: Forecasts,
    host: Option<String>,
    refusals: Refusals,
    seconds_ahead: i64,
    held_back: BTreeMap<Key, String>,
    unread: BTreeMap<Key, String>,
    enforcement: Option<Enforcement>,
    proofs: Option<Proofs>,
    newest: u64,
    home: Option<String>,
    /// The kinds that the server does not let this account list.
    unreadable: BTreeSet<&'static Kind>,
}

/// What is known about a kind as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Knowledge {
    /// Whether its objects are known.
    pub state: State,
    /// When the server last showed that nothing was missed.
    pub confirmed: Instant,
}

/// Whether the objects of a kind are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// The server has not been heard about it yet.
    Unknown,
    /// All are known.
    Known,
    /// The server does not have the kind.
    Absent,
}

/// What of the known objects still counts when a list arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    /// What is newer than the list.
    Newer,
    /// Nothing: versions have gone back.
    Nothing,
}

impl Store {
    /// What was seen.
    pub fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    /// What is known before anything was seen: the node that this replica runs on.
    pub fn hosted_by(host: Option<String>) -> Self {
        Self { host, ..Self::default() }
    }

    /// The namespace of the operator is this.
    pub fn set_home(&mut self, namespace: &str) {
        self.home = Some(namespace.to_owned());
    }

    fn host(&self) -> Option<&str> {
        self.host.as_deref()
    }

    /// How many whole seconds the clock of this replica is ahead of the server's, as last measured; less than nothing if it is behind.
    pub fn seconds_ahead(&self) -> i64 {
        self.seconds_ahead
    }

    /// The clock of this replica was compared with the server's.
    pub fn set_seconds_ahead(&mut self, seconds: i64) {
        self.seconds_ahead = seconds;
    }

    /// Why nothing is initiated about an object, whatever is decided; none if nothing is in the way. Without words if that is over in
    /// a moment (GATE-11).
    pub fn held_back(&self, key: &Key) -> Option<&str> {
        self.held_back.get(key).map(String::as_str)
    }

    /// Everything about which nothing is initiated.
    pub fn all_held_back(&self) -> impl Iterator<Item = (&Key, &str)> {
        self.held_back.iter().map(|(key, why)| (key, why.as_str()))
    }

    /// Something is in the way of initiating anything about an object, or nothing is any more.
    pub fn hold_back(&mut self, key: &Key, why: Option<String>) {
        match why {
            Some(why) => self.held_back.insert(key.clone(), why),
            None => self.held_back.remove(key),
        };
    }

    /// What could not be read right before a change about an object, and why; none if nothing is missing.
    pub fn unread(&self, key: &Key) -> Option<&str> {
        self.unread.get(key).map(String::as_str)
    }

    /// Something could not be read right before a change about an object. What was said first stays: a status must not change with
    /// every way in which one server fails (STAT-3).
    pub fn set_unread(&mut self, key: &Key, what: String) {
        self.unread.entry(key.clone()).or_insert(what);
    }

    /// It could be read.
    pub fn set_read(&mut self, key: &Key) {
        self.unread.remove(key);
    }

    /// Whether the server refuses a change that nobody permitted, as far as anybody tried (GATE-13).
    pub fn enforcement(&self) -> Enforcement {
        self.enforcement_tried().unwrap_or_default()
    }

    /// The same; none if nobody has tried since this program started.
    pub fn enforcement_tried(&self) -> Option<Enforcement> {
        // Where the freeze of nodes was found not to be kept, permits alone are not enough: nothing would stop at once (OVR-5).
        let freezes = self.proofs.as_ref().and_then(|proofs| proofs.get(NODES));
        let open = freezes.filter(|tried| tried.verdict.status() == ConditionStatus::False);
        match (self.enforcement, open) {
            (Some(Enforcement::Proven), Some(open)) => Some(open.verdict),
            (tried, _) => tried,
        }
    }

    /// Which admission policies of gates and freezes were seen refusing; none if nobody has tried since this program started.
    pub fn proofs(&self) -> Option<&Proofs> {
        self.proofs.as_ref()
    }

    /// Somebody tried them. Whether that is news.
    pub fn set_proofs(&mut self, proofs: Proofs) -> bool {
        let news = self.proofs.as_ref() != Some(&proofs);
        self.proofs = Some(proofs);
        news
    }

    /// Somebody tried.
    pub fn set_enforcement(&mut self, enforcement: Enforcement) {
        self.enforcement = Some(enforcement);
    }

    /// What the server refused to let start.
    pub fn refusals(&self) -> &Refusals {
        &self.refusals
    }

    /// The server refused to let an object change. Whether that was news.
    pub fn refuse(&mut self, object: &Key, refusal: Refusal) -> bool {
        let known = self.refusals.get(object);
        let news = known.is_none_or(|known| known.change != refusal.change);
        if news {
            self.refusals.insert(object.clone(), refusal);
        }
        news
    }

    /// The server let an object change. Whether it had refused before.
    pub fn accept(&mut self, object: &Key) -> bool {
        self.refusals.remove(object).is_some()
    }

    /// What a decision about an object looks at.
    pub fn around<T>(&self, key: &Key, look: impl FnOnce(&Surroundings<'_>) -> T) -> T {
        let remembered = |pool: &SeenPool, base: &Base| self.rendering(pool, base);
        let listed = |kind: &Kind| self.listed(kind);
        let foreseen = |now| self.foresight.at(&self.snapshot, now);
        look(&Surroundings {
            snapshot: &self.snapshot,
            remembered: Some(&remembered),
            host: self.host(),
            refusals: &self.refusals,
            held_back: self.held_back(key),
            seconds_ahead: self.seconds_ahead,
            enforcement: self.enforcement_tried(),
            proofs: self.proofs.as_ref(),
            listed: Some(&listed),
            foreseen: Some(&foreseen),
            home: self.home.as_deref(),
        })
    }

    /// How many forecasts were made for decisions: one for each change of what they rest on and each edge of a gate (CV-3).
    pub fn forecasts(&self) -> u64 {
        self.foresight.made()
    }

    /// What the sources of a pool come to, made anew only when one of them or the pool changed.
    fn rendering(&self, pool: &SeenPool, base: &Base) -> Arc<Rendering> {
        self.renderings.of(pool, base, &self.snapshot)
    }

    /// The newest version that the server told of, whatever it was about: one counter for its whole store.
    pub fn newest(&self) -> u64 {
        self.newest
    }

    /// The server told of a version.
    pub fn heard_of(&mut self, version: &str) {
        self.newest = self.newest.max(version.parse().unwrap_or(0));
    }

    /// The store behind the server went back in time: versions are counted anew.
    pub fn went_back(&mut self) {
        self.newest = 0;
    }

    /// The object that was written last of all that are known, and its version. Of what is only counted nobody may read single ones.
    pub fn last_written(&self) -> Option<(&Key, u64)> {
        let all = self.snapshot.all().filter(|(key, _)| kinds::target(key.kind()).is_none());
        let versions = all.filter_map(|(key, seen)| Some((key, version_of(seen)?)));
        versions.max_by_key(|(_, version)| *version)
    }

    /// What is missing before knowledge of these kinds can be relied on, in words that stay the same for as long as it is; none if
    /// nothing is.
    pub fn doubt(
        &self,
        kinds: impl IntoIterator<Item = &'static Kind>,
        stale: Duration,
    ) -> Option<String> {
        kinds.into_iter().find_map(|kind| {
            let name = kind.name;
            let Some(about) = self.on(kind) else {
                return Some(format!("{name} has not been listed yet"));
            };
            let old = about.state == State::Known && about.confirmed.elapsed() > stale;
            old.then(|| {
                format!(
                    "the server has not confirmed what is known of {name} for {} s",
                    stale.as_secs()
                )
            })
        })
    }

    /// What is known about a kind.
    pub fn on(&self, kind: &Kind) -> Option<Knowledge> {
        self.about.get(kind).copied()
    }

    /// How much is known of a kind that is not always looked at.
    pub fn listed(&self, kind: &Kind) -> Listed {
        match self.on(kind).map(|about| about.state) {
            _ if self.unreadable.contains(kind) => Listed::Refused,
            None | Some(State::Unknown) => Listed::Unknown,
            Some(State::Known) => Listed::Known,
            Some(State::Absent) => Listed::Absent,
        }
    }

    /// The server does not let this account list a kind. Whether that is news.
    pub fn set_unreadable(&mut self, kind: &'static Kind) -> bool {
        self.unreadable.insert(kind)
    }

    /// Nobody looks at a kind any more: nothing is known of it. Whom that concerns.
    pub fn unlist(&mut self, kind: &'static Kind) -> BTreeSet<Key> {
        let changed = self.absent(kind);
        self.about.remove(kind);
        changed
    }

    /// How old the knowledge of a kind is; none while there is nothing to be old.
    pub fn age(&self, kind: &Kind) -> Option<Duration> {
        let about = self.on(kind)?;
        (about.state == State::Known).then(|| about.confirmed.elapsed())
    }

    /// Whether the objects of a kind are known, which is also so if there is no such kind.
    pub fn is_settled(&self, kind: &Kind) -> bool {
        self.on(kind).is_some_and(|about| about.state != State::Unknown)
    }

    /// Whether something as new as this version of an object is known.
    pub fn has(&self, key: &Key, version: &str) -> bool {
        let known = self.snapshot.get(key).and_then(version_of);
        known.zip(version.parse().ok()).is_some_and(|(known, offered): (u64, u64)| known >= offered)
    }

    /// An object was added or changed. Whom that concerns, the object first of all; nobody if it is no news.
    pub fn learn(&mut self, key: &Key, seen: Seen) -> BTreeSet<Key> {
        if self.has(key, &seen.identity().resource_version) {
            return BTreeSet::new();
        }
        self.heard_of(&seen.identity().resource_version);
        self.renderings.forget(&seen);
        if self.snapshot.get(key).is_some_and(|before| seen.repeats(before)) {
            self.snapshot.put(seen);
            return BTreeSet::new();
        }
        let mut concerned = self.snapshot.learn(seen);
        concerned.insert(key.clone());
        concerned
    }

    /// What a request of ours was answered. Whom that concerns.
    pub fn answered(&mut self, key: &Key, seen: Seen) -> BTreeSet<Key> {
        match self.snapshot.get(key) {
            Some(_) => self.learn(key, seen),
            None => BTreeSet::new(),
        }
    }

    /// An object was deleted, at this version. Whom that concerns; nobody if it is no news.
    pub fn forget(&mut self, key: &Key, version: &str) -> BTreeSet<Key> {
        self.heard_of(version);
        let known = self.snapshot.get(key).and_then(version_of);
        let newer = known.zip(version.parse().ok()).is_some_and(|(known, gone)| known > gone);
        if newer { BTreeSet::new() } else { self.remove(key) }
    }

    /// An object of which this version was known is not there any more. Whom that concerns; nobody if it is no news.
    pub fn vanished(&mut self, key: &Key, known: Option<u64>) -> BTreeSet<Key> {
        // Another version came meanwhile: it is there again.
        if self.version(key) == known { self.remove(key) } else { BTreeSet::new() }
    }

    /// The version of an object that is known.
    pub fn version(&self, key: &Key) -> Option<u64> {
        self.snapshot.get(key).and_then(version_of)
    }

    /// All objects of a kind, as a list of this version has them. Whom what changed concerns.
    pub fn replace(
        &mut self,
        kind: &'static Kind,
        listed: BTreeMap<Key, Seen>,
        version: &str,
        trust: Trust,
    ) -> BTreeSet<Key> {
        self.heard_of(version);
        let mut changed = BTreeSet::new();
        let listed_at: Option<u64> = version.parse().ok();
        let gone: Vec<Key> = self
            .snapshot
            .of_kind(kind)
            .filter(|(key, seen)| {
                let newer = listed_at.zip(version_of(seen)).is_some_and(|(at, known)| known > at);
                !listed.contains_key(key) && (trust == Trust::Nothing || !newer)
            })
            .map(|(key, _)| key.clone())
            .collect();
        for key in gone {
            changed.extend(self.remove(&key));
        }
        for (key, seen) in listed {
            let same = self.snapshot.get(&key).is_some_and(|known| {
                known.identity().resource_version == seen.identity().resource_version
            });
            if !same && trust == Trust::Nothing {
                changed.extend(self.remove(&key));
            }
            changed.extend(self.learn(&key, seen));
        }
        self.settle(kind, State::Known);
        changed
    }

    /// The server does not have a kind. Whom it concerns that its objects are gone.
    pub fn absent(&mut self, kind: &'static Kind) -> BTreeSet<Key> {
        let gone: Vec<Key> = self.snapshot.of_kind(kind).map(|(key, _)| key.clone()).collect();
        let changed = gone.iter().flat_map(|key| self.remove(key)).collect();
        self.settle(kind, State::Absent);
        changed
    }

    /// The server was heard about a kind, and nothing was missed.
    pub fn confirm(&mut self, kind: &'static Kind) {
        if let Some(about) = self.about.get_mut(kind) {
            about.confirmed = Instant::now();
        }
    }

    fn settle(&mut self, kind: &'static Kind, state: State) {
        self.unreadable.remove(kind);
        self.about.insert(kind, Knowledge { state, confirmed: Instant::now() });
    }

    fn remove(&mut self, key: &Key) -> BTreeSet<Key> {
        let Some((before, mut concerned)) = self.snapshot.forget(key) else {
            return BTreeSet::new();
        };
        self.renderings.forget(&before);
        self.held_back.remove(key);
        self.unread.remove(key);
        self.refusals.remove(key);
        concerned.insert(key.clone());
        concerned
    }
}

/// The kind of policy that a kind asks; none for policies themselves.
pub fn asked_by(kind: &Kind) -> Option<&'static Kind> {
    match kind.role {
        Role::Policy | Role::Part | Role::Freeze | Role::Override | Role::Guardrail => None,
        Role::Gated { policy, .. } => Some(policy),
    }
}

fn version_of(seen: &Seen) -> Option<u64> {
    seen.identity().resource_version.parse().ok()
}

#[cfg(test)]
mod tests;
