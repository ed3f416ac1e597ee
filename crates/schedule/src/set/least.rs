//! How little of any span of time does a set hold, and where is that? (GRD-2)
//!
//! A span of one length is moved over all time from an instant on. What the set holds of it is cut at its rims, and of what is left only
//! stretches of at least a given length count: four hours at the end of a month and an hour of the same window in the next are no window of
//! five hours to whoever looks at one of the months. The answer is exact: [`variety`](super::variety) tells which ranges show everything that
//! the set ever does, and within one of them what counts can only be least where a stretch has just become too short to count, or is about to
//! be long enough.

use super::spans::Walk;
use super::{Kind, Span, TimeSet};
use crate::civil::DAY;
use crate::error::Error;
use crate::instant::Instant;
use crate::window::HIGH;

/// The longest span that is moved: what a year may hold can be asked, and what decides about it lies within five years.
const LONGEST: i64 = 366 * DAY;

/// A span of one length that is moved over all time, and what counts of the set within it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rolling {
    span: i64,
    stretch: i64,
}

impl Rolling {
    /// A span of so many seconds, of which only stretches of at least so many seconds count. A span is at most 366 days long, and no shorter
    /// than what counts in it.
    pub fn new(span: i64, stretch: i64) -> Result<Self, Error> {
        if !(1..=LONGEST).contains(&span) {
            return Err(Error::range(format!(
                "a span of {span} seconds is not from 1 second to 366 days long"
            )));
        }
        if !(0..=span).contains(&stretch) {
            let message = format!(
                "stretches of {stretch} seconds are not at most as long as the span of {span} seconds"
            );
            return Err(Error::range(message));
        }
        Ok(Self { span, stretch })
    }

    /// How long the span is, in seconds.
    pub fn span(self) -> i64 {
        self.span
    }
}

/// The least that a set holds of a span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Least {
    /// How much of it counts, in seconds.
    pub seconds: i64,
    /// Where the first such span starts.
    pub start: Instant,
}

impl TimeSet {
    /// The least that counts of any span that starts at an instant or later, to the end of time.
    ///
    /// ```
    /// use schedule::{Instant, Length, Recurrence, Rolling, Schedule, TimeOfDay, TimeSet, Weekday, Windows, Zone};
    ///
    /// // Four hours on Tuesdays: in some 32 days there are only four of them.
    /// let tuesdays = Recurrence::weekly(1, &[Weekday::Tuesday])?;
    /// let windows = Windows::new(&tuesdays, TimeOfDay::parse("02:00")?, Length::Elapsed(4 * 3_600), Zone::utc())?;
    /// let set = TimeSet::from(Schedule::new(Some(windows), &[], &Zone::utc())?);
    /// let rolling = Rolling::new(32 * 86_400, 4 * 3_600)?;
    /// assert_eq!(set.least(rolling, Instant::EPOCH).seconds, 16 * 3_600);
    /// # Ok::<(), schedule::Error>(())
    /// ```
    pub fn least(&self, rolling: Rolling, from: Instant) -> Least {
        let mut best = (HIGH, from.unix());
        let mut sweep = Sweep::new(rolling);
        for range in self.variety(from.unix(), rolling.span) {
            let until = range.end.saturating_add(rolling.span);
            sweep.read(self, range.start, until);
            best = best.min_by_count(sweep.least(range.start, range.end));
            if best.0 == 0 {
                break;
            }
        }
        Least { seconds: best.0, start: Instant::of_edge(best.1).unwrap_or(from) }
    }

    /// The first span from an instant on that is inside this set and outside another, as far as it lies in what is looked at; none if the
    /// other contains everything of this one from then on, to the end of time.
    ///
    /// ```
    /// use schedule::{Instant, TimeSet};
    ///
    /// let noon = Instant::parse("2026-11-15T12:00:00Z")?;
    /// assert_eq!(TimeSet::before(noon).first_outside(&TimeSet::always(), Instant::EPOCH), None);
    /// let rest = TimeSet::always().first_outside(&TimeSet::before(noon), Instant::EPOCH);
    /// assert_eq!(rest.and_then(|span| span.start), Some(noon));
    /// # Ok::<(), schedule::Error>(())
    /// ```
    pub fn first_outside(&self, other: &Self, from: Instant) -> Option<Span> {
        // Nothing is proved about the difference: one look at what there is to see is all the proof that is needed.
        let outside = Self::leaf(Kind::Intersection(
            self.clone(),
            Self::leaf(Kind::Complement(other.clone())),
        ));
        outside.variety(from.unix(), 1).find_map(|range| {
            let (start, _) = Walk::new(&outside, &range).next();
            let start = Instant::of_edge(start.max(range.start))
                .filter(|start| start.unix() < range.end)?;
            let end = outside.forward(start.unix(), start.unix().saturating_add(LONGEST)).1;
            Some(Span { start: Some(start), end: Instant::of_edge(end) })
        })
    }
}

/// The smaller count, and the earlier of two that are equal.
trait MinByCount {
    fn min_by_count(self, other: Self) -> Self;
}

impl MinByCount for (i64, i64) {
    fn min_by_count(self, other: Self) -> Self {
        if (other.0, other.1) < (self.0, self.1) { other } else { self }
    }
}

/// A span that moves over the stretches of a range.
struct Sweep {
    span: i64,
    /// The shortest stretch that counts; at least a second.
    shortest: i64,
    /// The stretches of the range that are long enough to count.
    stretches: Vec<(i64, i64)>,
    /// How much all of them before one add up to: one more entry than there are stretches.
    sums: Vec<i64>,
}

impl Sweep {
    fn new(rolling: Rolling) -> Self {
        let Rolling { span, stretch } = rolling;
        Self { span, shortest: stretch.max(1), stretches: Vec::new(), sums: Vec::new() }
    }

    /// Reads what of a set lies in a range. A stretch that is too short to count as a whole never counts.
    fn read(&mut self, set: &TimeSet, from: i64, until: i64) {
        self.stretches.clear();
        self.sums.clear();
        self.sums.push(0);
        let mut walk = Walk::new(set, &(from..until));
        let mut sum = 0;
        loop {
            let (start, end) = walk.next();
            if start >= until {
                return;
            }
            let stretch = (start.max(from), end.min(until));
            if stretch.1 - stretch.0 >= self.shortest {
                sum += stretch.1 - stretch.0;
                self.stretches.push(stretch);
                self.sums.push(sum);
            }
        }
    }

    /// The least of all spans that start from `first` until before `last`, and the first start of one.
    fn least(&self, first: i64, last: i64) -> (i64, i64) {
        let mut place = (0, 0);
        let mut best = (HIGH, first);
        let mut ask =
            |start: i64| best = best.min_by_count((self.counted(start, &mut place), start));
        ask(first);
        // Each stretch has just ceased to count on the left at one start, and is about to count on the right at another.
        let short = self.shortest - 1;
        let (mut ceasing, mut coming) = (self.stretches.iter(), self.stretches.iter());
        let mut left = ceasing.next().map_or(HIGH, |(_, end)| end - short);
        let mut right = coming.next().map_or(HIGH, |(start, _)| start + short - self.span);
        loop {
            let start = left.min(right);
            if start >= last {
                break;
            }
            if start == left {
                left = ceasing.next().map_or(HIGH, |(_, end)| end - short);
            } else {
                right = coming.next().map_or(HIGH, |(start, _)| start + short - self.span);
            }
            if start > first {
                ask(start);
            }
        }
        ask(last - 1);
        best
    }

    /// How much counts of the span that starts at an instant. `place` is the first stretch that ends after it and the first that starts after
    /// the span; both only move on.
    fn counted(&self, start: i64, (first, after): &mut (usize, usize)) -> i64 {
        let end = start + self.span;
        while self.stretches.get(*first).is_some_and(|stretch| stretch.1 <= start) {
            *first += 1;
        }
        while self.stretches.get(*after).is_some_and(|stretch| stretch.0 < end) {
            *after += 1;
        }
        let sum = |place: usize| self.sums.get(place).copied().unwrap_or_default();
        let mut counted = sum(*after) - sum(*first);
        let last = after.saturating_sub(1);
        // Only the first and the last of them can be cut; where they are one it is cut twice.
        for place in [*first, last].into_iter().take(if *first < last {
            2
        } else {
            usize::from(*first < *after)
        }) {
            let Some(&(from, until)) = self.stretches.get(place) else { continue };
            let left = until.min(end) - from.max(start);
            counted -= until - from - if left >= self.shortest { left } else { 0 };
        }
        counted
    }
}

#[cfg(test)]
mod tests;
