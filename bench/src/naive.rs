//! What must a user of a recurrence library still write? Merging, clipping and the state of a policy, from bare starts.
//!
//! Every peer is given this same code, so that the tables compare answers to the same question.

use crate::rule::{Cover, DAY, Rule};

/// An open stretch; no end means for ever.
pub type Stretch = (i64, Option<i64>);

/// What a fleet view asks of one policy at one instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct State {
    pub open: bool,
    /// When that ends; `None` is never.
    pub until: Option<i64>,
    /// When the next stretch begins; `None` is never.
    pub next: Option<i64>,
}

/// Starts of a rule, in order, from an instant on; the visitor says when to stop.
pub trait Starts {
    /// From `from` on, `from` included.
    fn visit(&self, from: i64, see: &mut dyn FnMut(i64) -> Walk);

    /// The first start strictly after `at`.
    fn next(&self, at: i64) -> Option<i64> {
        let mut first = None;
        self.visit(at + 1, &mut |start| {
            first = Some(start);
            Walk::Stop
        });
        first
    }

    /// Every start in `[from, until)`.
    fn between(&self, from: i64, until: i64) -> Vec<i64> {
        let mut list = Vec::new();
        self.visit(from, &mut |start| {
            if start >= until {
                return Walk::Stop;
            }
            list.push(start);
            Walk::On
        });
        list
    }
}

/// Visits by asking for the next start again and again: for engines that seek and do not iterate.
pub fn step(next: impl Fn(i64) -> Option<i64>, from: i64, see: &mut dyn FnMut(i64) -> Walk) {
    let mut at = from - 1;
    while let Some(start) = next(at) {
        if see(start) == Walk::Stop {
            return;
        }
        at = start;
    }
}

/// Whether a visitor wants more.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Walk {
    On,
    Stop,
}

/// All windows that meet `[from, until)`, merged and clipped to it.
pub fn windows(
    starts: &(impl Starts + ?Sized),
    length: u32,
    from: i64,
    until: i64,
) -> Vec<(i64, i64)> {
    let length = i64::from(length);
    let mut merged: Vec<(i64, i64)> = Vec::new();
    for start in starts.between(from - length + 1, until) {
        let end = (start + length).min(until);
        match merged.last_mut() {
            Some(last) if start <= last.1 => last.1 = end,
            _ => merged.push((start.max(from), end)),
        }
    }
    merged
}

/// `windows` without the excluded days.
pub fn clip(windows: &[(i64, i64)], exclusions: &[(i32, i32)]) -> Vec<(i64, i64)> {
    let mut kept = Vec::with_capacity(windows.len());
    let mut skip = 0;
    for &(start, end) in windows {
        let mut start = start;
        while skip < exclusions.len() && i64::from(exclusions[skip].1) * DAY <= start {
            skip += 1;
        }
        for &(from, until) in &exclusions[skip..] {
            let (from, until) = (i64::from(from) * DAY, i64::from(until) * DAY);
            if from >= end {
                break;
            }
            if from > start {
                kept.push((start, from));
            }
            start = start.max(until);
        }
        if start < end {
            kept.push((start, end));
        }
    }
    kept
}

/// What two sorted lists share.
pub fn intersect(left: &[(i64, i64)], right: &[(i64, i64)]) -> Vec<(i64, i64)> {
    let mut shared = Vec::new();
    let (mut i, mut j) = (0, 0);
    while i < left.len() && j < right.len() {
        let start = left[i].0.max(right[j].0);
        let end = left[i].1.min(right[j].1);
        if start < end {
            shared.push((start, end));
        }
        if left[i].1 < right[j].1 { i += 1 } else { j += 1 }
    }
    shared
}

/// The state of a policy at an instant, by walking its starts.
pub fn state(starts: &(impl Starts + ?Sized), rule: &Rule, at: i64) -> State {
    let mut found = Earliest { at, first: None, second: None };
    match rule.cover {
        Cover::Never => {}
        Cover::Always => found.window((at, None), &rule.exclusions),
        Cover::Sometimes => {
            let length = i64::from(rule.length);
            let mut pending: Option<(i64, i64)> = None;
            starts.visit(at - length + 1, &mut |start| match pending {
                Some((first, end)) if start <= end => {
                    pending = Some((first, start + length));
                    Walk::On
                }
                Some((first, end)) => {
                    found.window((first, Some(end)), &rule.exclusions);
                    pending = Some((start, start + length));
                    if found.second.is_some() { Walk::Stop } else { Walk::On }
                }
                None => {
                    pending = Some((start, start + length));
                    Walk::On
                }
            });
            if let (Some((first, end)), None) = (pending, found.second) {
                found.window((first, Some(end)), &rule.exclusions);
            }
        }
    }
    found.state()
}

/// The first two stretches that end after an instant: all that a state needs.
struct Earliest {
    at: i64,
    first: Option<Stretch>,
    second: Option<Stretch>,
}

impl Earliest {
    /// Adds what the exclusions leave of a window.
    fn window(&mut self, (mut start, end): Stretch, exclusions: &[(i32, i32)]) {
        for &(from, until) in exclusions {
            let (from, until) = (i64::from(from) * DAY, i64::from(until) * DAY);
            if end.is_some_and(|end| from >= end) {
                break;
            }
            if until <= start {
                continue;
            }
            if from > start {
                self.stretch((start, Some(from)));
            }
            start = until;
        }
        if end.is_none_or(|end| start < end) {
            self.stretch((start, end));
        }
    }

    fn stretch(&mut self, stretch: Stretch) {
        if stretch.1.is_some_and(|end| end <= self.at) {
            return;
        }
        if self.first.is_none() {
            self.first = Some(stretch);
        } else if self.second.is_none() {
            self.second = Some(stretch);
        }
    }

    fn state(self) -> State {
        match self.first {
            None => State { open: false, until: None, next: None },
            Some((start, end)) if start <= self.at => {
                State { open: true, until: end, next: self.second.map(|second| second.0) }
            }
            Some((start, _)) => State { open: false, until: Some(start), next: Some(start) },
        }
    }
}

/// One number for many answers, computable alike in every language: no product leaves 53 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checksum(i64);

impl Checksum {
    pub fn new() -> Self {
        Self(7)
    }

    pub fn add(&mut self, answer: Option<i64>) {
        self.0 = (self.0 * 31 + answer.unwrap_or(-1)).rem_euclid(2_147_483_647);
    }

    pub fn value(self) -> i64 {
        self.0
    }

    /// Of a list of windows.
    pub fn of_windows(windows: &[(i64, i64)]) -> Self {
        let mut sum = Self::new();
        for (start, end) in windows {
            sum.add(Some(*start));
            sum.add(Some(*end));
        }
        sum
    }

    pub fn add_state(&mut self, state: State) {
        self.add(Some(i64::from(state.open)));
        self.add(state.until);
        self.add(state.next);
    }
}
