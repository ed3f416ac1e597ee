//! On which civil days does a rule fire?
//!
//! A rule is a set of day numbers, asked for the nearest member on either side of a day. Every answer is closed-form: no rule walks
//! from the epoch (TIME-14), and a rule extends in both directions from its anchor, which gives the phase and not a beginning
//! (TIME-3).

mod monthly;
mod weekly;

use std::sync::Arc;

pub(crate) use monthly::Monthly;
pub(crate) use weekly::Weekly;

use crate::civil;
use crate::rrule::Seek;

/// The set of civil days on which windows start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Days {
    /// No day at all: 30 February (TIME-7). Decided when the rule is built.
    Never,
    /// Every day is covered by windows: asked by nobody, because the windows are one.
    Always,
    /// Days whose distance from `phase` is divisible by `every` (TIME-4).
    Daily { every: u16, phase: u16 },
    /// Weekdays of every n-th week (TIME-5).
    Weekly(Weekly),
    /// Days of every n-th month (TIME-6), and of a month of the year as every twelfth month (TIME-7).
    Monthly(Monthly),
    /// What only RFC 5545 can say (TIME-13).
    General(Arc<Seek>),
    /// A rule with a first or a last day.
    Bounded(Arc<Bounded>),
}

/// A rule cut to a range of days.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Bounded {
    pub(crate) days: Days,
    /// The first day that counts, itself a day of the rule.
    pub(crate) first: i32,
    /// The last day that counts, itself a day of the rule.
    pub(crate) last: i32,
    /// Whether the windows of all these days touch, so that they are one stretch. Known once the windows' length is.
    pub(crate) solid: bool,
}

/// The nearest days of a rule around one day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Around {
    /// The last one at or before the day.
    pub(crate) before: Option<i32>,
    /// The first one after it.
    pub(crate) after: Option<i32>,
}

impl Days {
    /// The last day of the rule at or before `day` and the first one after it, from one conversion of `day`.
    #[inline]
    pub(crate) fn around(&self, day: i32) -> Around {
        match self {
            Self::Never | Self::Always => Around { before: None, after: None },
            Self::Daily { every, phase } => {
                let every = i32::from(*every);
                let before = day - (day - i32::from(*phase)).rem_euclid(every);
                Around { before: Some(before), after: Some(before + every) }
            }
            Self::Weekly(rule) => rule.around(day),
            Self::Monthly(rule) => rule.around(day),
            Self::General(rule) => Around {
                before: rule.prev_on_or_before(day),
                after: rule.next_on_or_after(day.saturating_add(1)),
            },
            Self::Bounded(rule) => {
                Around { before: rule.at_or_before(day), after: rule.after(day) }
            }
        }
    }

    /// The first day of the rule after `day`.
    #[inline]
    pub(crate) fn after(&self, day: i32) -> Option<i32> {
        match self {
            Self::Never | Self::Always => None,
            Self::Daily { every, phase } => {
                let every = i32::from(*every);
                Some(day + every - (day - i32::from(*phase)).rem_euclid(every))
            }
            Self::Weekly(rule) => Some(rule.after(day)),
            Self::Monthly(rule) => Some(rule.after(day)),
            Self::General(_) | Self::Bounded(_) => self.after_of_others(day),
        }
    }

    /// Apart from the rules that policies write, which need the registers.
    #[inline(never)]
    fn after_of_others(&self, day: i32) -> Option<i32> {
        match self {
            Self::General(rule) => rule.next_on_or_after(day.saturating_add(1)),
            Self::Bounded(rule) => rule.after(day),
            _ => None,
        }
    }

    /// The last day of the rule at or before `day`.
    #[inline]
    pub(crate) fn at_or_before(&self, day: i32) -> Option<i32> {
        match self {
            Self::Monthly(rule) => Some(rule.at_or_before(day)),
            Self::General(rule) => rule.prev_on_or_before(day),
            Self::Bounded(rule) => rule.at_or_before(day),
            Self::Never | Self::Always | Self::Daily { .. } | Self::Weekly(_) => {
                self.around(day).before
            }
        }
    }

    /// After how many days the rule repeats. None if it does not: then it is empty, or has a beginning or an end.
    pub(crate) fn period(&self) -> Option<i64> {
        match self {
            Self::Never | Self::Always | Self::Bounded(_) => None,
            Self::Daily { every, .. } => Some(i64::from(*every)),
            Self::Weekly(rule) => Some(rule.period()),
            Self::Monthly(rule) => Some(rule.period()),
            Self::General(rule) => Some(rule.period_days()),
        }
    }

    /// At most how many days of a period of so many days fire: a cheap bound that spares most rules the exact walk for "covers
    /// all time".
    pub(crate) fn mean_gap(&self) -> f64 {
        match self {
            Self::Never | Self::Always => f64::INFINITY,
            Self::Daily { every, .. } => f64::from(*every),
            Self::Weekly(rule) => rule.mean_gap(),
            Self::Monthly(rule) => rule.mean_gap(),
            // No rule fires more than once a day; the walk that this does not spare ends at the first gap.
            Self::General(_) => 1.0,
            Self::Bounded(rule) => rule.days.mean_gap(),
        }
    }

    /// The days of the rule after `day`, in order, each cheaper than a query.
    pub(crate) fn cursor(&self, day: i32) -> Cursor<'_> {
        match self {
            Self::Bounded(rule) => {
                let days = rule.days.cursor(day.max(rule.first - 1));
                Cursor { last: rule.last.min(days.last), ..days }
            }
            days => Cursor { steps: days.steps(day), last: LAST },
        }
    }

    fn steps(&self, day: i32) -> Steps<'_> {
        match self {
            Self::Never | Self::Always | Self::Bounded(_) => Steps::Ended,
            Self::Daily { every, .. } => match self.after(day) {
                Some(next) => Steps::Daily { every: i32::from(*every), next },
                None => Steps::Ended,
            },
            Self::Weekly(rule) => Steps::Weekly(rule.cursor(day)),
            Self::Monthly(rule) => Steps::Monthly(rule.cursor(day)),
            Self::General(rule) => Steps::General { rule, from: day.saturating_add(1) },
        }
    }
}

impl Bounded {
    fn at_or_before(&self, day: i32) -> Option<i32> {
        (day >= self.first).then(|| self.days.at_or_before(day.min(self.last))).flatten()
    }

    fn after(&self, day: i32) -> Option<i32> {
        (day < self.last).then(|| self.days.after(day.max(self.first - 1))).flatten()
    }
}

/// The last day a walk visits: in a zone ahead of UTC, the windows of this one may still start by the last instant.
const LAST: i32 = civil::day_of(10_000, 1, 1);

/// A place in a rule that moves forward day by day.
#[derive(Debug)]
pub(crate) struct Cursor<'a> {
    steps: Steps<'a>,
    /// The last day that counts.
    last: i32,
}

#[derive(Debug)]
enum Steps<'a> {
    Ended,
    Daily { every: i32, next: i32 },
    Weekly(weekly::Cursor<'a>),
    Monthly(monthly::Cursor<'a>),
    General { rule: &'a Seek, from: i32 },
}

impl Cursor<'_> {
    /// Behind the last day.
    pub(crate) const ENDED: Self = Self { steps: Steps::Ended, last: i32::MIN };

    /// The next day of the rule. Beyond the last representable day there is none.
    #[inline]
    pub(crate) fn next(&mut self) -> Option<i32> {
        let day = match &mut self.steps {
            Steps::Daily { every, next } => {
                let day = *next;
                *next += *every;
                day
            }
            others => others.next_of_others()?,
        };
        (day <= self.last).then_some(day)
    }
}

impl Steps<'_> {
    /// Apart from the daily rules, which have the most days by far.
    #[inline(never)]
    fn next_of_others(&mut self) -> Option<i32> {
        match self {
            Self::Ended | Self::Daily { .. } => None,
            Self::Weekly(cursor) => Some(cursor.next()),
            Self::Monthly(cursor) => Some(cursor.next()),
            Self::General { rule, from } => {
                let day = rule.next_on_or_after(*from)?;
                *from = day + 1;
                Some(day)
            }
        }
    }
}

/// The bits of a mask up to and including this one.
#[inline]
const fn through(bit: u32) -> u32 {
    u32::MAX >> (31 - bit)
}

/// The greatest common divisor.
pub(crate) const fn gcd(mut a: i64, mut b: i64) -> i64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// The least common multiple, or a number larger than any range of days if it does not fit.
pub(crate) const fn lcm(a: i64, b: i64) -> i64 {
    (a / gcd(a, b)).saturating_mul(b)
}

/// Days after which both a rule of months and the weekdays repeat, when every `every`-th month counts.
pub(crate) const fn months_period(every: u32) -> i64 {
    let cycles = every as i64 / gcd(every as i64, civil::CYCLE_MONTHS as i64);
    cycles.saturating_mul(civil::CYCLE_DAYS as i64)
}

#[cfg(test)]
mod tests;
