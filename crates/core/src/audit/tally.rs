//! What came of a log? Counts, and for each writer, room and holder how often, when, and a few examples.

use std::collections::BTreeMap;

use schedule::Instant;

use super::event::Passed;
use crate::document::key::Key;

/// How many examples are kept of anything.
const MOST_EXAMPLES: usize = 3;

/// How many groups of an outcome are kept apart. A log names whom it likes, so memory is bounded; the totals count everything all the same.
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
    /// Those of them that were made while something that selects them was shut: all of them, by room and outcome.
    pub totals: BTreeMap<(&'static str, Outcome), u64>,
    /// The largest groups of those.
    pub outside: BTreeMap<Outside, Group>,
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
    /// What that means.
    pub outcome: Outcome,
}

/// What it means that something was written while a holder was shut to it, the worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// The holder stood then: something started outside it.
    Outside,
    /// It did not stand, or nobody knows: it would have refused.
    WouldRefuse,
    /// Its mode is `Warn`: it lets the write pass, with a warning.
    WouldWarn,
    /// Its mode is `Audit`: it lets the write pass, with a note in the audit log.
    WouldNote,
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
    /// How many, since the group was listed.
    pub count: u64,
    /// How many of it may have been seen before it was listed, at most: so many had the group whose place it took.
    pub missed: u64,
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
        *self.totals.entry((key.room, key.outcome)).or_default() += 1;
        if let Some(group) = self.outside.get_mut(&key) {
            return group.add(example);
        }
        let missed = self.make_room(key.outcome);
        self.outside.insert(key, Group { missed, ..Group::of(example) });
    }

    /// Puts out the smallest group of an outcome if there are too many, and says how large it may have been. Whoever takes its place inherits
    /// that ("space saving"), so a writer of more than a thousandth of all writes is listed in the end, whoever came first.
    fn make_room(&mut self, outcome: Outcome) -> u64 {
        let alike = || self.outside.iter().filter(|(key, _)| key.outcome == outcome);
        if alike().count() < MOST_GROUPS {
            return 0;
        }
        let smallest = alike().min_by_key(|(_, group)| group.weight());
        let smallest = smallest.map(|(key, group)| (key.clone(), group.weight()));
        smallest.map_or(0, |(key, weight)| {
            self.outside.remove(&key);
            weight
        })
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

    /// How many first writes had an outcome.
    pub fn total(&self, outcome: Outcome) -> u64 {
        let of_it = self.totals.iter().filter(|((_, one), _)| *one == outcome);
        of_it.map(|(_, count)| count).sum()
    }

    /// How many more first writes there are than the listed groups count.
    pub fn others(&self) -> u64 {
        let listed: u64 = self.outside.values().map(|group| group.count).sum();
        self.totals.values().sum::<u64>().saturating_sub(listed)
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
        Self { count: 1, missed: 0, first: example.at, last: example.at, examples: vec![example] }
    }

    /// How many there may be.
    fn weight(&self) -> u64 {
        self.missed + self.count
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::kinds;

    fn wrote(tally: &mut Tally, user: &str, outcome: Outcome) {
        let document = serde_json::json!({"metadata": {"namespace": "shop", "name": "rollouts"}});
        let by = crate::document::identity::Identity::new(&kinds::CHANGE_GATE.kind, &document).key;
        let at = Instant::parse("2026-11-10T10:00:00Z").unwrap();
        let example = Example {
            at,
            user: user.to_owned(),
            object: "replicasets shop/web".to_owned(),
            name: None,
            id: String::new(),
            by: vec![by.clone()],
            opens: None,
        };
        let room = if user == "late" { "StatefulSets" } else { "Deployments" };
        tally.add_outside(Outside { user: user.to_owned(), room, by, outcome }, example);
    }

    fn count(tally: &Tally, user: &str) -> Option<(u64, u64)> {
        let mut groups = tally.outside.iter().filter(|(key, _)| key.user == user);
        groups.next().map(|(_, group)| (group.count, group.missed))
    }

    /// Whoever writes much is listed, however many came before and after, and the totals leave out nothing.
    #[test]
    fn many_writers_hide_nobody_who_writes_much() {
        let mut tally = Tally::default();
        for number in 0..1_000 {
            wrote(&mut tally, &format!("ci-{number}"), Outcome::Outside);
        }
        for number in 0..3_000 {
            wrote(&mut tally, "mallory", Outcome::Outside);
            wrote(&mut tally, &format!("job-{number}"), Outcome::Outside);
        }
        wrote(&mut tally, "late", Outcome::Outside);
        assert_eq!(tally.outside.len(), 1_000);
        assert_eq!(count(&tally, "mallory"), Some((3_000, 1)));
        assert!(count(&tally, "late").is_some_and(|(count, missed)| count == 1 && missed > 0));
        assert_eq!(tally.total(Outcome::Outside), 7_001);
        assert_eq!(tally.totals[&("StatefulSets", Outcome::Outside)], 1);
        let listed: u64 = tally.outside.values().map(|group| group.count).sum();
        assert_eq!(tally.others(), 7_001 - listed);
    }

    /// What gates let pass takes no place from what started outside.
    #[test]
    fn each_outcome_has_its_own_places() {
        let mut tally = Tally::default();
        wrote(&mut tally, "mallory", Outcome::Outside);
        for number in 0..2_000 {
            wrote(&mut tally, &format!("ci-{number}"), Outcome::WouldNote);
        }
        assert_eq!(count(&tally, "mallory"), Some((1, 0)));
        assert_eq!((tally.outside.len(), tally.others()), (1_001, 1_000));
        assert_eq!(tally.total(Outcome::WouldNote), 2_000);
    }
}
