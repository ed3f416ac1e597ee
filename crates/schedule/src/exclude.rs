//! Which days are taken out, and why?

use std::sync::Arc;

use crate::civil::{self, DAY};
use crate::date::Date;
use crate::error::Error;
use crate::window::{HIGH, LOW};
use crate::zone::Zone;

/// Whole days on which nothing is permitted (TIME-10).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exclusion {
    /// The first day taken out.
    pub from: Date,
    /// The day after the last one taken out.
    pub until: Date,
    /// Why, in words for people.
    pub reason: Option<Arc<str>>,
}

impl Exclusion {
    /// The days from `from` until before `until`, or that one day. An `until` that is not later is refused (TIME-10).
    pub fn new(from: Date, until: Option<Date>, reason: Option<&str>) -> Result<Self, Error> {
        let until = until.unwrap_or_else(|| from.tomorrow());
        if until <= from {
            let message = format!(
                "an exclusion from {from} until {until} is empty: the end is not after the start"
            );
            return Err(Error::range(message));
        }
        Ok(Self { from, until, reason: reason.map(Arc::from) })
    }
}

/// Excluded days as sorted ranges of day numbers, merged where they touch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ExcludedDays(Box<[(i32, i32)]>);

impl ExcludedDays {
    /// Judged by instants: a zone may lack a day, and then two ranges touch that have a date between them.
    pub(crate) fn new(exclusions: &[Exclusion], zone: &Zone) -> Self {
        let edge = |day: i32| zone.instant_of(i64::from(day) * DAY);
        let mut days: Vec<(i32, i32)> = exclusions
            .iter()
            .map(|exclusion| {
                (exclusion.from.days_since_epoch(), exclusion.until.days_since_epoch())
            })
            .filter(|(from, until)| edge(*from) < edge(*until))
            .collect();
        days.sort_unstable();
        days.dedup_by(|next, merged| {
            let touches = edge(next.0) <= edge(merged.1);
            if touches {
                merged.1 = merged.1.max(next.1);
            }
            touches
        });
        Self(days.into())
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Where the range with this index starts and ends; beyond the last, never.
    #[inline]
    fn span(&self, index: usize, zone: &Zone) -> (i64, i64) {
        let edge = |day: i32| zone.instant_of(i64::from(day) * DAY);
        self.0.get(index).map_or((HIGH, HIGH), |(from, until)| (edge(*from), edge(*until)))
    }

    /// The index of the first range that ends after an instant.
    #[inline]
    fn first_after(&self, at: i64, zone: &Zone) -> usize {
        // An instant of UTC shows its day; a zone must be asked for the edges.
        if zone.is_utc() {
            let day = civil::day_at(at);
            self.0.partition_point(|(_, until)| *until <= day)
        } else {
            self.0.partition_point(|(_, until)| zone.instant_of(i64::from(*until) * DAY) <= at)
        }
    }

    /// The first excluded span that ends after an instant; `(HIGH, HIGH)` if there is none.
    #[inline]
    pub(crate) fn upcoming(&self, at: i64, zone: &Zone) -> (i64, i64) {
        if self.is_empty() { (HIGH, HIGH) } else { self.span(self.first_after(at, zone), zone) }
    }

    /// The last excluded span that starts at or before an instant; `(LOW, LOW)` if there is none.
    pub(crate) fn latest(&self, at: i64, zone: &Zone) -> (i64, i64) {
        let index =
            self.0.partition_point(|(from, _)| zone.instant_of(i64::from(*from) * DAY) <= at);
        index.checked_sub(1).map_or((LOW, LOW), |index| self.span(index, zone))
    }

    /// The spans from the first one that ends after an instant.
    pub(crate) fn from<'a>(&'a self, at: i64, zone: &'a Zone) -> Upcoming<'a> {
        let index = self.first_after(at, zone);
        Upcoming { days: self, zone, index, span: self.span(index, zone) }
    }

    /// Where each of them starts and ends.
    pub(crate) fn edges(&self, zone: &Zone) -> impl Iterator<Item = i64> {
        self.0.iter().flat_map(|(from, until)| {
            [*from, *until].map(|day| zone.instant_of(i64::from(day) * DAY))
        })
    }

    /// The first and the last instant of all of them.
    pub(crate) fn hull(&self, zone: &Zone) -> Option<(i64, i64)> {
        let last = self.0.len().checked_sub(1)?;
        Some((self.span(0, zone).0, self.span(last, zone).1))
    }
}

/// A place among the excluded spans that moves forward.
#[derive(Debug)]
pub(crate) struct Upcoming<'a> {
    days: &'a ExcludedDays,
    zone: &'a Zone,
    index: usize,
    span: (i64, i64),
}

impl Upcoming<'_> {
    /// Where the span starts that was found last.
    #[inline]
    pub(crate) fn start(&self) -> i64 {
        self.span.0
    }

    /// The first span that ends after an instant, which must not lie before an earlier one asked for.
    #[inline]
    pub(crate) fn ending_after(&mut self, at: i64) -> (i64, i64) {
        while self.span.1 <= at {
            self.index += 1;
            self.span = self.days.span(self.index, self.zone);
        }
        self.span
    }
}
