//! Which machines has a pool begun? A small list on the pool itself, written by compare-and-swap before a machine is touched (POOL-2).
//!
//! Two planners that have seen different worlds may each find room for one more machine. Both must write the list first, from the
//! version of the pool they planned from, so only one of them succeeds; the other plans again and sees the room taken.
//!
//! An entry ends with a permit's end: until then somebody may still mark the machine, from then on the server refuses the mark
//! (GATE-7). So an entry whose machine was never marked is kept until that instant and not given back earlier; except one that ends later
//! than any permit can, which a wrong clock wrote and no server lets anybody use.

use std::collections::BTreeMap;

use api::machine::names;
use schedule::Instant;
use serde::{Deserialize, Serialize};

use crate::problem::{Code, FieldPath, Problem};

/// The machines that a pool has begun, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ledger(BTreeMap<String, Entry>);

/// One machine that a pool has begun.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The configuration it goes to.
    pub config: String,
    /// Until when its mark may still be written.
    pub until: Instant,
}

/// The longest that a permit is good for, in seconds, as the server has it: a mark whose permit ends later is refused.
const LONGEST: i64 = 900;

impl Entry {
    /// Whether somebody may still mark the machine. What a clock that was hours ahead reserved must not keep the room for hours after
    /// that clock was set right (LIVE-1).
    pub(crate) fn may_be_marked(&self, now: Instant) -> bool {
        now < self.until && self.until <= now.saturating_add(LONGEST)
    }
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
            Box::new(
                problem.hint("remove the annotation once no machine of the pool is on its way"),
            )
        };
        let written: Vec<Written> = serde_json::from_str(text)
            .map_err(|error| refused(format!("the ledger cannot be read: {error}")))?;
        let entries = written.into_iter().map(|Written { node, config, until }| {
            let until = Instant::parse(&until)
                .map_err(|error| refused(format!("the ledger cannot be read: {error}")))?;
            Ok((node, Entry { config, until }))
        });
        Ok(Self(entries.collect::<Result<_, Box<Problem>>>()?))
    }

    /// The text of the annotation.
    pub fn text(&self) -> String {
        let written: Vec<Written> = self
            .0
            .iter()
            .map(|(node, Entry { config, until })| Written {
                node: node.clone(),
                config: config.clone(),
                until: until.to_string(),
            })
            .collect();
        serde_json::json!(written).to_string()
    }

    /// The entry of a machine.
    pub fn get(&self, node: &str) -> Option<&Entry> {
        self.0.get(node)
    }

    /// Every entry, by the machine's name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Entry)> {
        self.0.iter().map(|(node, entry)| (node.as_str(), entry))
    }

    /// Whether no machine has been begun.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn reserve(&mut self, node: &str, entry: Entry) {
        self.0.insert(node.to_owned(), entry);
    }

    pub(crate) fn release(&mut self, node: &str) {
        self.0.remove(node);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// POOL-2
    #[test]
    fn ledger_is_read_as_it_was_written() {
        let mut ledger = Ledger::default();
        let until = Instant::parse("2026-11-15T22:00:00Z").unwrap();
        ledger.reserve("b", Entry { config: "rendered-worker-2".into(), until });
        ledger.reserve("a", Entry { config: "rendered-worker-1".into(), until });
        let text = ledger.text();
        assert_eq!(
            text,
            r#"[{"node":"a","config":"rendered-worker-1","until":"2026-11-15T22:00:00Z"},{"node":"b","config":"rendered-worker-2","until":"2026-11-15T22:00:00Z"}]"#
        );
        assert_eq!(Ledger::read(&text).unwrap(), ledger);
        assert!(Ledger::read("").unwrap().is_empty());
    }

    /// POOL-2
    #[test]
    fn a_ledger_that_cannot_be_read_is_a_problem() {
        for text in ["{}", "[1]", r#"[{"node":"a","config":"c","until":"soon"}]"#] {
            let problem = Ledger::read(text).unwrap_err();
            let field = r#"metadata.annotations["changemanagement.openshift.io/begun"]"#;
            assert_eq!(problem.field.to_string(), field, "{text}");
        }
    }
}
