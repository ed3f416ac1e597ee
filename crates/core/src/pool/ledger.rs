//! Which nodes has a pool begun? A small list on the pool itself, written by compare-and-swap before a node is touched (POOL-2).
//!
//! Two planners that have seen different worlds may each find room for one more node. Both must write the list first, from the
//! version of the pool they planned from, so only one of them succeeds; the other plans again and sees the room taken.
//!
//! An entry ends with a permit's end: until then somebody may still mark the node, from then on the server refuses the mark
//! (GATE-7). So an entry whose node was never marked is kept until that instant, by the clock of the server, and not given back
//! earlier; except one that ends later than any permit can, which a wrong clock wrote and no server lets anybody use.
//!
//! GATE-10: on the pool of the control plane the same write that reserves the first node under a permit of the gate also names the
//! change. That is the record from which it is read that a change was begun.

use std::collections::BTreeMap;

use api::machine::names;
use schedule::Instant;
use serde::{Deserialize, Serialize};

use crate::document::problem::{Code, FieldPath, Problem};

/// The nodes that a pool has begun, by name, and the change that they belong to, where that is recorded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ledger {
    entries: BTreeMap<String, Entry>,
    change: Option<Change>,
}

/// One node that a pool has begun.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The configuration it goes to.
    pub config: String,
    /// Until when its mark may still be written.
    pub until: Instant,
}

/// The change that the gate let begin (GATE-10).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The configuration that nodes go to.
    pub config: String,
    /// What the permit rested on, in words.
    pub basis: String,
    /// When the first node was reserved for it.
    pub at: Instant,
}

/// The longest that a permit is good for, in seconds, as the server has it: a mark whose permit ends later is refused.
const LONGEST: i64 = 900;

/// The time that the server may have. What is measured is cut to the second and somewhere between question and answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ServerTime {
    earliest: Instant,
    latest: Instant,
}

impl ServerTime {
    /// How far a measured difference may be off, in seconds: stamps are cut to the second at both ends.
    const SLACK: i64 = 2;

    /// The time of a server that our clock is so many seconds ahead of. Our own time counts too: whoever wrote an entry had a clock of
    /// their own, and a measurement may be old.
    pub(crate) fn new(now: Instant, seconds_ahead: i64) -> Self {
        let there = now.saturating_add(seconds_ahead.saturating_neg());
        Self {
            earliest: now.min(there).saturating_add(-Self::SLACK),
            latest: now.max(there).saturating_add(Self::SLACK),
        }
    }

    /// When, by our clock, the server is certainly past an instant.
    fn past(self, until: Instant, now: Instant) -> Instant {
        until.saturating_add(now.unix().saturating_sub(self.earliest.unix()))
    }
}

impl Entry {
    /// Whether somebody may still mark the node. What a clock that was hours ahead reserved must not keep the room for hours after
    /// that clock was set right (LIVE-1).
    pub(crate) fn may_be_marked(&self, server: ServerTime) -> bool {
        server.earliest < self.until && self.until <= server.latest.saturating_add(LONGEST)
    }
}

/// A ledger that names a change, as it is written. Without one it is the list alone, which 0.1.0 wrote and reads.
#[derive(Serialize, Deserialize)]
struct Whole {
    change: WrittenChange,
    nodes: Vec<Written>,
}

#[derive(Serialize, Deserialize)]
struct WrittenChange {
    config: String,
    basis: String,
    at: String,
}

#[derive(Serialize, Deserialize)]
struct Written {
    node: String,
    config: String,
    until: String,
}

impl Ledger {
    /// Reads the annotation. A ledger that cannot be read is a problem and stops the pool: what it held is not known.
    pub(crate) fn read(text: &str) -> Result<Self, Box<Problem>> {
        if text.is_empty() {
            return Ok(Self::default());
        }
        let refused = |detail: String| {
            let path = FieldPath::of("metadata.annotations").key(names::LEDGER);
            let problem = Problem::new(&path, Code::BadFormat, detail);
            Box::new(problem.hint("remove the annotation once no node of the pool is on its way"))
        };
        let wrong =
            |error: &dyn std::fmt::Display| refused(format!("the ledger cannot be read: {error}"));
        let instant = |text: &str| Instant::parse(text).map_err(|error| wrong(&error));
        let (change, nodes) = if text.trim_start().starts_with('{') {
            let Whole { change, nodes } =
                serde_json::from_str(text).map_err(|error| wrong(&error))?;
            let WrittenChange { config, basis, at } = change;
            (Some(Change { config, basis, at: instant(&at)? }), nodes)
        } else {
            (None, serde_json::from_str(text).map_err(|error| wrong(&error))?)
        };
        let entries = nodes.into_iter().map(|Written { node, config, until }| {
            Ok((node, Entry { config, until: instant(&until)? }))
        });
        Ok(Self { entries: entries.collect::<Result<_, Box<Problem>>>()?, change })
    }

    /// The text of the annotation.
    pub fn text(&self) -> String {
        let nodes: Vec<Written> = self
            .entries
            .iter()
            .map(|(node, Entry { config, until })| Written {
                node: node.clone(),
                config: config.clone(),
                until: until.to_string(),
            })
            .collect();
        match &self.change {
            None => serde_json::json!(nodes).to_string(),
            Some(Change { config, basis, at }) => {
                let change = WrittenChange {
                    config: config.clone(),
                    basis: basis.clone(),
                    at: at.to_string(),
                };
                serde_json::json!(Whole { change, nodes }).to_string()
            }
        }
    }

    /// The entry of a node.
    pub fn get(&self, node: &str) -> Option<&Entry> {
        self.entries.get(node)
    }

    /// Every entry, by the node's name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Entry)> {
        self.entries.iter().map(|(node, entry)| (node.as_str(), entry))
    }

    /// Whether no node has been begun.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The change that the gate let begin, as it is recorded.
    pub fn change(&self) -> Option<&Change> {
        self.change.as_ref()
    }

    /// When, by our clock, the next entry lapses that nobody has marked.
    pub(crate) fn next_lapse(&self, server: ServerTime, now: Instant) -> Option<Instant> {
        let lapses = self.entries.values().map(|entry| server.past(entry.until, now));
        lapses.filter(|at| *at > now).min()
    }

    pub(crate) fn reserve(&mut self, node: &str, entry: Entry) {
        self.entries.insert(node.to_owned(), entry);
    }

    pub(crate) fn release(&mut self, node: &str) {
        self.entries.remove(node);
    }

    /// Records a change, unless it is the one that is recorded already.
    pub(crate) fn record(&mut self, change: Change) {
        if self.change.as_ref().is_none_or(|known| known.config != change.config) {
            self.change = Some(change);
        }
    }

    pub(crate) fn end_change(&mut self) {
        self.change = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Instant {
        Instant::parse(&format!("2026-11-15T{text}Z")).unwrap()
    }

    fn of_two() -> Ledger {
        let mut ledger = Ledger::default();
        let until = at("22:00:00");
        ledger.reserve("b", Entry { config: "rendered-worker-2".into(), until });
        ledger.reserve("a", Entry { config: "rendered-worker-1".into(), until });
        ledger
    }

    /// POOL-2
    #[test]
    fn ledger_is_read_as_it_was_written() {
        let ledger = of_two();
        let text = ledger.text();
        assert_eq!(
            text,
            r#"[{"node":"a","config":"rendered-worker-1","until":"2026-11-15T22:00:00Z"},{"node":"b","config":"rendered-worker-2","until":"2026-11-15T22:00:00Z"}]"#
        );
        assert_eq!(Ledger::read(&text).unwrap(), ledger);
        assert!(Ledger::read("").unwrap().is_empty());
    }

    /// GATE-10: a change stands beside the entries; without one the text is what 0.1.0 wrote.
    #[test]
    fn change_is_read_as_it_was_written() {
        let mut ledger = Ledger::default();
        ledger.reserve("m1", Entry { config: "b".into(), until: at("22:05:00") });
        let change = Change { config: "b".into(), basis: "window".into(), at: at("22:00:00") };
        ledger.record(change.clone());
        let text = ledger.text();
        assert_eq!(
            text,
            r#"{"change":{"config":"b","basis":"window","at":"2026-11-15T22:00:00Z"},"nodes":[{"node":"m1","config":"b","until":"2026-11-15T22:05:00Z"}]}"#
        );
        assert_eq!(Ledger::read(&text).unwrap(), ledger);
        assert_eq!(
            Ledger::read(&format!("\n {text}")).unwrap(),
            ledger,
            "as a person may leave it"
        );
        ledger.record(Change { at: at("23:00:00"), ..change.clone() });
        assert_eq!(ledger.change(), Some(&change), "the same change began once");
        let other = Change { config: "c".into(), ..change };
        ledger.record(other.clone());
        assert_eq!(ledger.change(), Some(&other));
        ledger.end_change();
        assert!(ledger.text().starts_with('['));
    }

    /// POOL-2
    #[test]
    fn a_ledger_that_cannot_be_read_is_a_problem() {
        for text in [
            "{}",
            "[1]",
            r#"[{"node":"a","config":"c","until":"soon"}]"#,
            r#"{"nodes":[]}"#,
            r#"{"change":{"config":"c","basis":"window","at":"soon"},"nodes":[]}"#,
        ] {
            let problem = Ledger::read(text).unwrap_err();
            let field = r#"metadata.annotations["changemanagement.openshift.io/begun"]"#;
            assert_eq!(problem.field.to_string(), field, "{text}");
        }
    }

    /// POOL-2, GATE-11: whatever our own clock says, an entry counts while the server would take its mark.
    #[test]
    fn entries_end_by_the_time_of_the_server() {
        let entry = Entry { config: "b".into(), until: at("12:05:00") };
        let check = |now: &str, ahead: i64, expected: bool| {
            let found = entry.may_be_marked(ServerTime::new(at(now), ahead));
            assert_eq!(found, expected, "at {now}, {ahead} s ahead");
        };
        check("12:05:01", 0, true);
        check("12:05:02", 0, false);
        check("12:05:02", 400, true);
        check("12:11:41", 400, true);
        check("12:11:42", 400, false);
        // Behind: the server is past it already, and waiting for our own clock costs minutes at most.
        check("12:05:01", -400, true);
        check("12:05:02", -400, false);
        // Ends later than any permit can, by either clock.
        check("11:49:58", 0, true);
        check("11:49:57", 0, false);
        check("11:49:57", -100, true);
        check("11:48:18", -100, true);
        check("11:48:17", -100, false);
    }

    #[test]
    fn planner_looks_again_when_the_server_lets_nobody_mark_any_more() {
        let mut ledger = Ledger::default();
        ledger.reserve("a", Entry { config: "b".into(), until: at("12:05:00") });
        ledger.reserve("b", Entry { config: "b".into(), until: at("12:09:00") });
        let next = |now: &str, ahead| ledger.next_lapse(ServerTime::new(at(now), ahead), at(now));
        assert_eq!(next("12:00:00", 0), Some(at("12:05:02")));
        assert_eq!(next("12:05:01", 0), Some(at("12:05:02")));
        assert_eq!(next("12:05:02", 0), Some(at("12:09:02")));
        assert_eq!(next("12:09:02", 0), None);
        assert_eq!(next("12:05:00", 400), Some(at("12:11:42")));
    }
}
