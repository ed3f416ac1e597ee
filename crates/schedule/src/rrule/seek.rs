//! On which days does the rule fire, seen from any day?
//!
//! A query jumps to the period that holds its day, reads that period's days from a table made when the rule was built, and steps
//! whole periods from there. Nothing walks from DTSTART and nothing is allocated (TIME-14). There is no cap after which a query
//! gives up: it ends at the rule's last day, which for a rule without an end lies behind the year 9999.
//!
//! First and last day are resolved when the rule is built, COUNT and UNTIL included, and so is the question whether the rule fires
//! at all (TIME-7). A DTSTART that does not fit its own rule is not an occurrence.

mod pattern;
mod selection;

pub(super) use pattern::{ALL_MONTHS, Pattern};
use selection::Selection;

use super::{End, Rrule};
use crate::civil;
use crate::date::TimeOfDay;
use crate::zone::Zone;

/// Windows of days before and after these do not meet the range of [`Instant`](crate::Instant): they last at most 366 days, and no
/// zone is further from UTC than a day.
const FLOOR: i32 = civil::day_of(-1, 1, 1);
const CEILING: i32 = civil::day_of(10_000, 1, 2);

/// The days of a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Seek {
    pattern: Pattern,
    /// The first and the last day that count, `FLOOR` and `CEILING` where the rule has no beginning or end.
    first: i32,
    last: i32,
    /// The periods that hold them.
    first_period: i32,
    last_period: i32,
}

impl Seek {
    /// The days of the rule, for windows that start at this time in this zone: the two decide which start UNTIL is the last to
    /// permit.
    pub(crate) fn new(rule: &Rrule, time: TimeOfDay, zone: &Zone) -> Self {
        let counted = match rule.end {
            Some(End::Count(count)) => Some(count),
            Some(End::Until(_)) | None => None,
        };
        // COUNT has to count from somewhere, DTSTART or not.
        let begins = rule.start.is_some() || counted.is_some();
        let first = if begins { rule.anchor().max(FLOOR) } else { FLOOR };
        let last = rule.until_day(time, zone).unwrap_or(CEILING).min(CEILING);
        let seek = Self::within(Selection::of(rule).pattern(), first, last);
        // What does not fire within one period never does, which spares the walk to the end of time (TIME-7).
        let period_ends = i64::from(first).saturating_add(seek.period_days());
        let seek = seek.cut(first, period_ends.min(i64::from(last)) as i32);
        let Some(head) = seek.next_on_or_after(first) else {
            return seek.cut(0, -1);
        };
        let seek = seek.cut(first, last);
        let tail =
            counted.and_then(|count| seek.nth(count)).or_else(|| seek.prev_on_or_before(last));
        // Bounds that are days of the rule themselves, so that nobody has to search at the rim.
        let first = if begins { head } else { first };
        let last = if rule.end.is_some() { tail.unwrap_or(last) } else { last };
        seek.cut(first, last)
    }

    /// The days of the rule from `start` to before `end`, as if it had neither beginning nor end itself.
    pub(super) fn sample(rule: &Rrule, start: i32, end: i32) -> Self {
        Self::within(Selection::of(rule).pattern(), start, end - 1)
    }

    fn within(pattern: Pattern, first: i32, last: i32) -> Self {
        let (first_period, last_period) = (pattern.holding(first), pattern.holding(last));
        Self { pattern, first, last, first_period, last_period }
    }

    /// The same days within other bounds.
    fn cut(self, first: i32, last: i32) -> Self {
        Self::within(self.pattern, first, last)
    }

    /// The first and the last day that fire. None if the rule never fires (TIME-7).
    pub(crate) fn hull(&self) -> Option<(i32, i32)> {
        self.next_on_or_after(self.first).zip(self.prev_on_or_before(self.last))
    }

    /// After how many days the days of the rule repeat, between its beginning and its end.
    pub(crate) fn period_days(&self) -> i64 {
        self.pattern.period_days()
    }

    /// The days between beginning and end, as the pattern they are.
    pub(crate) fn pattern(&self) -> &Pattern {
        &self.pattern
    }

    /// The first day at or after `day` that fires.
    pub(crate) fn next_on_or_after(&self, day: i32) -> Option<i32> {
        if day > self.last {
            return None;
        }
        let day = day.max(self.first);
        let holding = self.pattern.holding(day);
        let mut period = self.pattern.counting_from(holding);
        // A period that begins before the day counts from the day on.
        let mut from =
            if period == holding { (day - self.pattern.first_day(period)) as u32 } else { 0 };
        while period <= self.last_period {
            if let Some(place) = self.pattern.days_in(period).lowest_from(from) {
                let found = self.pattern.first_day(period) + place as i32;
                return (found <= self.last).then_some(found);
            }
            from = 0;
            period = self.pattern.following(period);
        }
        None
    }

    /// The last day at or before `day` that fires.
    pub(crate) fn prev_on_or_before(&self, day: i32) -> Option<i32> {
        if day < self.first {
            return None;
        }
        let day = day.min(self.last);
        let holding = self.pattern.holding(day);
        let mut period = self.pattern.counting_until(holding);
        let mut until = if period == holding {
            (day - self.pattern.first_day(period)) as u32
        } else {
            u32::MAX
        };
        while period >= self.first_period {
            if let Some(place) = self.pattern.days_in(period).highest_until(until) {
                let found = self.pattern.first_day(period) + place as i32;
                return (found >= self.first).then_some(found);
            }
            until = u32::MAX;
            period = self.pattern.preceding(period);
        }
        None
    }

    /// The days that fire from `start` to before `end`, in order.
    pub(super) fn days_of(&self, start: i32, end: i32) -> impl Iterator<Item = i32> {
        let next = move |from: i32| self.next_on_or_after(from).filter(|day| *day < end);
        std::iter::successors(next(start), move |day| next(day + 1))
    }

    /// The day of the `count`-th occurrence, if there are so many.
    fn nth(&self, count: u32) -> Option<i32> {
        let mut day = self.next_on_or_after(self.first)?;
        let mut left = count - 1;
        if let Some(every) = self.pattern.is_daily() {
            let found = i64::from(day) + i64::from(left) * i64::from(every);
            return i32::try_from(found).ok().filter(|found| *found <= self.last);
        }
        // Whole periods by their number of days, then the last one day by day.
        let mut period = self.pattern.holding(day);
        let place = (day - self.pattern.first_day(period)) as u32;
        let mut rest = self.pattern.days_in(period).count_from(place) - 1;
        while left > rest {
            left -= rest;
            rest = 0;
            while rest == 0 {
                period = self.pattern.following(period);
                if period > self.last_period {
                    return None;
                }
                rest = self.pattern.days_in(period).count_from(0);
            }
            day = self.pattern.first_day(period) - 1;
        }
        for _ in 0..left {
            day = self.next_on_or_after(day + 1)?;
        }
        Some(day)
    }
}

#[cfg(test)]
mod tests;
