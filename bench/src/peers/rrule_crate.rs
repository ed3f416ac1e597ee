//! The `rrule` crate: as people use it (DTSTART in 1970), and with a DTSTART aligned by hand near the question.

use chrono::{DateTime, TimeZone};
use rrule::{RRule, RRuleSet, Tz, Unvalidated};

use super::{Engine, complete};
use crate::naive::{Starts, Walk, step};
use crate::rule::Rule;

fn utc(at: i64) -> DateTime<Tz> {
    Tz::UTC.timestamp_opt(at, 0).single().expect("benchmark instants are within chrono's range")
}

fn parsed(rule: &Rule) -> RRule {
    let unvalidated: RRule<Unvalidated> = rule.rrule().parse().expect("our own rule text is valid");
    unvalidated.validate(utc(rule.epoch_start())).expect("our own rule text is valid")
}

/// The library's own `after` and `before`, both inclusive.
fn after(set: RRuleSet, at: i64) -> Option<i64> {
    set.after(utc(at + 1)).all(1).dates.first().map(DateTime::timestamp)
}

fn between(set: RRuleSet, from: i64, until: i64) -> Vec<i64> {
    let found = set.after(utc(from)).before(utc(until - 1)).all_unchecked();
    found.iter().map(DateTime::timestamp).collect()
}

struct AsIs(RRuleSet);

impl Starts for AsIs {
    fn next(&self, at: i64) -> Option<i64> {
        after(self.0.clone(), at)
    }

    fn between(&self, from: i64, until: i64) -> Vec<i64> {
        between(self.0.clone(), from, until)
    }

    fn visit(&self, from: i64, see: &mut dyn FnMut(i64) -> Walk) {
        step(|at| self.next(at), from, see);
    }
}

pub fn as_is(rule: &Rule) -> Option<Box<dyn Engine>> {
    let set = RRuleSet::new(utc(rule.epoch_start())).rrule(parsed(rule));
    Some(complete(AsIs(set), rule))
}

struct Aligned {
    rrule: RRule,
    rule: Rule,
}

impl Aligned {
    fn near(&self, at: i64) -> RRuleSet {
        RRuleSet::new(utc(self.rule.aligned_start(at))).rrule(self.rrule.clone())
    }
}

impl Starts for Aligned {
    fn next(&self, at: i64) -> Option<i64> {
        after(self.near(at), at)
    }

    fn between(&self, from: i64, until: i64) -> Vec<i64> {
        between(self.near(from), from, until)
    }

    fn visit(&self, from: i64, see: &mut dyn FnMut(i64) -> Walk) {
        for start in &self.near(from) {
            let start = start.timestamp();
            if start >= from && see(start) == Walk::Stop {
                return;
            }
        }
    }
}

pub fn aligned(rule: &Rule) -> Option<Box<dyn Engine>> {
    Some(complete(Aligned { rrule: parsed(rule), rule: rule.clone() }, rule))
}

/// Every start in `[from, until)`, as the reference for the correctness check.
pub fn starts(rule: &Rule, from: i64, until: i64) -> Vec<i64> {
    between(RRuleSet::new(utc(rule.epoch_start())).rrule(parsed(rule)), from, until)
}
