//! The `dateutil` crate, a Rust port of python-dateutil, with DTSTART in 1970.

use chrono::{DateTime, NaiveDateTime};
use dateutil::rrule::parse::{RRuleStrResult, rrulestr};
use dateutil::rrule::{RRule, Recurrence};

use super::{Engine, complete};
use crate::naive::{Starts, Walk, step};
use crate::rule::Rule;

fn naive(at: i64) -> NaiveDateTime {
    DateTime::from_timestamp(at, 0)
        .expect("benchmark instants are within chrono's range")
        .naive_utc()
}

struct AsIs(RRule);

impl Starts for AsIs {
    fn next(&self, at: i64) -> Option<i64> {
        self.0.after(naive(at), false).map(|start| start.and_utc().timestamp())
    }

    fn between(&self, from: i64, until: i64) -> Vec<i64> {
        let found = self.0.between(naive(from - 1), naive(until), false);
        found.iter().map(|start| start.and_utc().timestamp()).collect()
    }

    fn visit(&self, from: i64, see: &mut dyn FnMut(i64) -> Walk) {
        step(|at| self.next(at), from, see);
    }
}

pub fn compile(rule: &Rule) -> Option<Box<dyn Engine>> {
    let start = Some(naive(rule.epoch_start()));
    match rrulestr(&rule.rrule(), start, false, false, false) {
        Ok(RRuleStrResult::Single(parsed)) => Some(complete(AsIs(*parsed), rule)),
        _ => None,
    }
}
