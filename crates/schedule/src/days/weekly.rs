//! Weekdays of every n-th week.

use super::Around;
use crate::civil::SHIFT;

/// Weekdays of the weeks whose number is `phase` more than a multiple of `every` (TIME-5).
///
/// Week 0 is the one that contains 1970-01-01; it begins on its `starts_on`, a Monday unless an RFC 5545 rule says otherwise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Weekly {
    every: u16,
    phase: u16,
    /// Bit i: the i-th day of the week counts, 0 being the day it starts on. Never empty.
    days: u8,
    /// The weekday that weeks start on, 0 for Monday.
    starts_on: u8,
}

impl Weekly {
    /// Every `every`-th Monday-started week, on these weekdays (bit 0 for Monday), counted from week 0.
    pub(crate) fn new(every: u16, days: u8) -> Self {
        Self::phased(every, 0, days, 0)
    }

    /// The same with weeks that start on another weekday, counted from the week that holds `anchor`.
    pub(crate) fn phased(every: u16, anchor: i32, days: u8, starts_on: u8) -> Self {
        let rotated = (days >> starts_on | days << (7 - starts_on)) & 0x7f;
        let mut rule = Self { every, phase: 0, days: rotated, starts_on };
        rule.phase = rule.week_of(anchor).0.rem_euclid(i32::from(every)) as u16;
        rule
    }

    /// The number of the week that holds a day, and the day's place in it.
    #[inline]
    fn week_of(&self, day: i32) -> (i32, u32) {
        // Thursday 1970-01-01 is day 0, so Monday-started weeks begin three days before a multiple of seven.
        let shifted = (day + 3 - i32::from(self.starts_on) + SHIFT) as u32;
        ((shifted / 7) as i32 - SHIFT / 7, shifted % 7)
    }

    /// How many weeks ago the last counting week was; 0 for a counting week.
    #[inline]
    fn weeks_since(&self, week: i32) -> i32 {
        (week - i32::from(self.phase)).rem_euclid(i32::from(self.every))
    }

    #[inline]
    pub(super) fn around(&self, day: i32) -> Around {
        let (week, place) = self.week_of(day);
        let since = self.weeks_since(week);
        let begins = day - place as i32;
        let every = i32::from(self.every);
        let days = u32::from(self.days);
        // The days of this week up to today and after it, if this week counts.
        let (past, coming) = if since == 0 {
            (days & super::through(place), days & !super::through(place))
        } else {
            (0, 0)
        };
        let before = if past != 0 {
            begins + past.ilog2() as i32
        } else {
            let back = if since == 0 { every } else { since };
            begins - 7 * back + days.ilog2() as i32
        };
        let after = if coming != 0 {
            begins + coming.trailing_zeros() as i32
        } else {
            begins + 7 * (every - since) + days.trailing_zeros() as i32
        };
        Around { before: Some(before), after: Some(after) }
    }

    #[inline]
    pub(super) fn after(&self, day: i32) -> i32 {
        let (week, place) = self.week_of(day);
        let since = self.weeks_since(week);
        let begins = day - place as i32;
        let days = u32::from(self.days);
        let coming = days & !super::through(place);
        if since == 0 && coming != 0 {
            begins + coming.trailing_zeros() as i32
        } else {
            begins + 7 * (i32::from(self.every) - since) + days.trailing_zeros() as i32
        }
    }

    pub(super) fn period(&self) -> i64 {
        7 * i64::from(self.every)
    }

    pub(super) fn mean_gap(&self) -> f64 {
        7.0 * f64::from(self.every) / f64::from(self.days.count_ones())
    }

    pub(super) fn cursor(&self, day: i32) -> Cursor<'_> {
        let next = self.after(day);
        let place = self.week_of(next).1;
        Cursor {
            rule: self,
            begins: next - place as i32,
            left: u32::from(self.days) >> place << place,
        }
    }
}

/// A place in a weekly rule.
#[derive(Debug)]
pub(crate) struct Cursor<'a> {
    rule: &'a Weekly,
    begins: i32,
    left: u32,
}

impl Cursor<'_> {
    #[inline]
    pub(super) fn next(&mut self) -> i32 {
        if self.left == 0 {
            self.begins += 7 * i32::from(self.rule.every);
            self.left = u32::from(self.rule.days);
        }
        let day = self.begins + self.left.trailing_zeros() as i32;
        self.left &= self.left - 1;
        day
    }
}
