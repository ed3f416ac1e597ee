//! What came of a log? Counts, and for each writer, room and holder how often, when, and a few examples.

use std::collections::BTreeMap;

use schedule::Instant;

use super::event::Passed;
use crate::document::key::Key;

/// How many examples are kept of anything.
const MOST_EXAMPLES: usize = 3;

/// How many groups are kept apart; what comes later is counted together. A log names whom it likes.
const MOST_GROUPS: usize = 1_000;

/// What was found in a log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// How many lines were read.
    pub lines: u64,
    /// How many events they held.
    pub events: u64,
    /// The first and the last instant of a write.
    pub span: Option<(Instant, Instant)>,
    /// What could have started nothing.
    pub passed: BTreeMap<Passed, u64>,
    /// First writes of rooms that somebody holds there, as far as they could be told.
    pub first_writes: u64,
    /// Those of them that nothing held then.
    pub permitted: u64,
    /// Those of them by members of `tidegate:initiators`, who pass everything.
    pub by_hand: BTreeMap<String, u64>,
    /// Those of them that were made while something that selects them was shut.
    pub outside: BTreeMap<Outside, Group>,
    /// How many more of those there are, by others than are listed.
    pub others: u64,
    /// Writes about which nobody can tell, by the room and why.
    pub untold: BTreeMap<(&'static str, Untold), Group>,
    /// Lines that are no events: how many, and the first of them with what is wrong.
    pub broken: (u64, Vec<(u64, String)>),
    /// How many objects were forgotten for want of room.
    pub forgotten: u64,
}

/// Who made a first write outside, of what, and who held it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Outside {
    /// Who.
    pub user: String,
    /// The room.
    pub room: &'static str,
    /// The first that held it, in the order of GATE-15.
    pub by: Key,
    /// Whether that stood then.
    pub stood: Stood,
}

/// Whether a holder stood when something was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stood {
    /// It did: something started outside it.
    Then,
    /// It did not, or nobody knows: it would have refused.
    NotYet,
}

/// Why nobody can tell about a write.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Untold {
    /// The event does not hold what was written: its level.
    NoContent(String),
    /// The log does not tell what the object was before.
    NoBefore,
    /// The labels of its namespace are not known.
    NoNamespace,
    /// Whoever may hold it does not know when: which, and why.
    NoTime(String),
    /// An expression of the room fails on it.
    Failed(String),
}

/// Some writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// How many.
    pub count: u64,
    /// The first of them.
    pub first: Instant,
    /// The last of them.
    pub last: Instant,
    /// A few of them.
    pub examples: Vec<Example>,
}

/// One write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Example {
    /// When.
    pub at: Instant,
    /// Who.
    pub user: String,
    /// What was written, such as `replicasets shop/web-5d8c7`.
    pub object: String,
    /// What people name, if it can be told.
    pub name: Option<String>,
    /// The number of the request.
    pub id: String,
    /// Everybody who held it, in the order of GATE-15.
    pub by: Vec<Key>,
    /// When the first of them opens after it.
    pub opens: Option<Instant>,
}

impl Tally {
    pub(super) fn pass(&mut self, passed: Passed) {
        *self.passed.entry(passed).or_default() += 1;
    }

    pub(super) fn wrote(&mut self, at: Instant) {
        let (first, last) = self.span.unwrap_or((at, at));
        self.span = Some((first.min(at), last.max(at)));
    }

    pub(super) fn add_outside(&mut self, key: Outside, example: Example) {
        if !add(&mut self.outside, key, example) {
            self.others += 1;
        }
    }

    pub(super) fn add_untold(&mut self, room: &'static str, why: Untold, example: Example) {
        if add(&mut self.untold, (room, why), example.clone()) {
            return;
        }
        let more = (room, Untold::Failed("for other reasons".to_owned()));
        match self.untold.get_mut(&more) {
            Some(group) => group.add(example),
            None => drop(self.untold.insert(more, Group::of(example))),
        }
    }

    pub(super) fn add_by_hand(&mut self, user: &str) {
        let known = self.by_hand.len() < MOST_GROUPS || self.by_hand.contains_key(user);
        let user = if known { user } else { "others" };
        *self.by_hand.entry(user.to_owned()).or_default() += 1;
    }

    pub(super) fn add_broken(&mut self, line: u64, what: String) {
        self.broken.0 += 1;
        if self.broken.1.len() < MOST_BROKEN {
            self.broken.1.push((line, what));
        }
    }

    /// How many first writes were made while something that selects them was shut.
    pub fn outside(&self, stood: Stood) -> u64 {
        let of_it = self.outside.iter().filter(|(key, _)| key.stood == stood);
        of_it.map(|(_, group)| group.count).sum()
    }

    /// How many writes nobody can tell about.
    pub fn untold(&self) -> u64 {
        self.untold.values().map(|group| group.count).sum()
    }
}

/// How many broken lines are named.
const MOST_BROKEN: usize = 20;

fn add<K: Ord>(groups: &mut BTreeMap<K, Group>, key: K, example: Example) -> bool {
    if let Some(group) = groups.get_mut(&key) {
        group.add(example);
        return true;
    }
    let has_room = groups.len() < MOST_GROUPS;
    if has_room {
        groups.insert(key, Group::of(example));
    }
    has_room
}

impl Group {
    fn of(example: Example) -> Self {
        Self { count: 1, first: example.at, last: example.at, examples: vec![example] }
    }

    fn add(&mut self, example: Example) {
        self.count += 1;
        self.first = self.first.min(example.at);
        self.last = self.last.max(example.at);
        if self.examples.len() < MOST_EXAMPLES {
            self.examples.push(example);
        }
    }
}
