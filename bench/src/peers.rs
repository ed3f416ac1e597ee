//! Who is measured? Ours, and every Rust rival behind the same three questions.

pub mod cron_crate;
pub mod croner_crate;
pub mod dateutil_crate;
pub mod materialised;
pub mod on_chrono;
pub mod on_jiff;
pub mod ours;
pub mod recurring_crate;
pub mod rrule_crate;

use crate::naive::{self, Starts, State};
use crate::rule::Rule;

/// One rule, compiled by one peer.
pub trait Engine {
    /// W1: the first window start strictly after `at`.
    fn next(&self, at: i64) -> Option<i64>;

    /// W2: the merged windows of a range, clipped to it.
    fn windows(&self, from: i64, until: i64) -> Vec<(i64, i64)>;

    /// W2, as it is timed: the seconds that are open, so that every edge is looked at.
    fn open_seconds(&self, from: i64, until: i64) -> i64 {
        self.windows(from, until).iter().map(|(start, end)| end - start).sum()
    }

    /// W4: the state with exclusions.
    fn state(&self, at: i64) -> State;
}

/// A peer: a name, how it was used, and how it compiles a rule (`None` if it cannot express it).
#[derive(Clone, Copy)]
pub struct Peer {
    pub name: &'static str,
    pub compile: fn(&Rule) -> Option<Box<dyn Engine>>,
}

/// A library that yields starts, completed by [`naive`].
struct Completed<S> {
    starts: S,
    rule: Rule,
}

impl<S: Starts> Engine for Completed<S> {
    fn next(&self, at: i64) -> Option<i64> {
        self.starts.next(at)
    }

    fn windows(&self, from: i64, until: i64) -> Vec<(i64, i64)> {
        let merged = naive::windows(&self.starts, self.rule.length, from, until);
        if self.rule.exclusions.is_empty() {
            merged
        } else {
            naive::clip(&merged, &self.rule.exclusions)
        }
    }

    fn state(&self, at: i64) -> State {
        naive::state(&self.starts, &self.rule, at)
    }
}

fn complete<S: Starts + 'static>(starts: S, rule: &Rule) -> Box<dyn Engine> {
    Box::new(Completed { starts, rule: rule.clone() })
}

/// The engine under test.
pub const OURS: Peer = Peer { name: "tidegate", compile: ours::compile };

pub const MATERIALISED: &str = "materialised 10 y";
pub const ON_CHRONO: &str = "hand-written on chrono";
pub const RRULE_ALIGNED: &str = "rrule, aligned";
pub const RRULE_AS_IS: &str = "rrule, as-is";

/// The rivals, fastest first.
pub const RIVALS: [Peer; 9] = [
    Peer { name: MATERIALISED, compile: materialised::compile },
    Peer { name: ON_CHRONO, compile: on_chrono::compile },
    Peer { name: "hand-written on jiff", compile: on_jiff::compile },
    Peer { name: "cron", compile: cron_crate::compile },
    Peer { name: "recurring", compile: recurring_crate::compile },
    Peer { name: "croner", compile: croner_crate::compile },
    Peer { name: RRULE_ALIGNED, compile: rrule_crate::aligned },
    Peer { name: "dateutil crate, as-is", compile: dateutil_crate::compile },
    Peer { name: RRULE_AS_IS, compile: rrule_crate::as_is },
];

/// A peer by its name.
pub fn named(name: &str) -> Option<Peer> {
    std::iter::once(OURS).chain(RIVALS).find(|peer| peer.name == name)
}
