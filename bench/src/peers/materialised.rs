//! Ten years of windows in a sorted list, found by binary search: unbeatable for one hot rule, and heavy for a fleet.

use super::{Engine, on_chrono};
use crate::naive::{self, Starts, State, Walk};
use crate::rule::{Cover, DAY, Rule};
use crate::seed::{FROM, UNTIL_10};

struct Materialised {
    starts: Vec<i64>,
    /// Merged and clipped.
    windows: Vec<(i64, i64)>,
    rule: Rule,
}

/// A list needs a horizon: ten years, and further only until a rare rule has its next two windows.
fn starts(rule: &Rule) -> Vec<i64> {
    let mut list = Vec::new();
    if rule.cover == Cover::Never {
        return list;
    }
    let mut beyond = 0;
    on_chrono::OnChrono(rule.clone()).visit(FROM - 30 * DAY, &mut |start| {
        list.push(start);
        beyond += i32::from(start >= UNTIL_10);
        if beyond == 2 { Walk::Stop } else { Walk::On }
    });
    list
}

struct Listed<'a>(&'a [i64]);

impl Starts for Listed<'_> {
    fn visit(&self, from: i64, see: &mut dyn FnMut(i64) -> Walk) {
        let first = self.0.partition_point(|start| *start < from);
        for start in &self.0[first..] {
            if see(*start) == Walk::Stop {
                return;
            }
        }
    }
}

impl Engine for Materialised {
    fn next(&self, at: i64) -> Option<i64> {
        let index = self.starts.partition_point(|start| *start <= at);
        self.starts.get(index).copied()
    }

    fn windows(&self, from: i64, until: i64) -> Vec<(i64, i64)> {
        naive::clip(
            &naive::windows(&Listed(&self.starts), self.rule.length, from, until),
            &self.rule.exclusions,
        )
    }

    fn state(&self, at: i64) -> State {
        if self.rule.cover != Cover::Sometimes {
            return naive::state(&Listed(&self.starts), &self.rule, at);
        }
        let index = self.windows.partition_point(|window| window.1 <= at);
        let following = self.windows.get(index + 1).map(|window| window.0);
        match self.windows.get(index) {
            None => State { open: false, until: None, next: None },
            Some((start, end)) if *start <= at => {
                State { open: true, until: Some(*end), next: following }
            }
            Some((start, _)) => State { open: false, until: Some(*start), next: Some(*start) },
        }
    }
}

pub fn compile(rule: &Rule) -> Option<Box<dyn Engine>> {
    let starts = starts(rule);
    let merged = match (starts.first(), starts.last()) {
        (Some(first), Some(last)) if rule.cover == Cover::Sometimes => {
            naive::windows(&Listed(&starts), rule.length, *first, last + i64::from(rule.length))
        }
        _ => Vec::new(),
    };
    let mut windows = naive::clip(&merged, &rule.exclusions);
    windows.shrink_to_fit();
    Some(Box::new(Materialised { starts, windows, rule: rule.clone() }))
}
