//! The windows of a range, one after the other, each cheaper than a query.

use super::repeat::Repeated;
use super::{HIGH, Windows};
use crate::civil::DAY;
use crate::days::{Cursor, Days};

/// What a walk gives once there is no further stretch. Not an `Option`: a pair of words travels in registers, and listing ten years
/// of windows is little else than handing them on.
pub(crate) const END: (i64, i64) = (HIGH, HIGH);

/// Merged windows in order. Edges outside the range asked for are not searched: whoever shows the first and the last one asks for
/// their true edges.
#[derive(Debug)]
pub(crate) struct Openings<'a> {
    /// The window to look at next, or [`END`].
    pub(crate) ahead: (i64, i64),
    following: Source<'a>,
}

/// Where the windows after the next one come from.
#[derive(Debug)]
enum Source<'a> {
    Repeated(Repeated),
    Walked(Walked<'a>),
}

/// Windows found by walking the days of their rule.
#[derive(Debug)]
pub(super) struct Walked<'a> {
    windows: &'a Windows,
    days: Cursor<'a>,
    /// The window of the next day, or [`END`]. Those of the days after it may touch it.
    ahead: (i64, i64),
    /// The end of the range.
    until: i64,
}

impl Windows {
    /// The merged windows that meet a range. The first may start later than it truly does, the last may end earlier.
    pub(crate) fn openings(&self, from: i64, until: i64) -> Openings<'_> {
        let period = self.days.period().filter(|_| self.zone.is_utc());
        let period = period.unwrap_or(i64::MAX).saturating_mul(DAY);
        // To learn the windows of a period takes walking it, which pays if there are several.
        let long = period < (until - from) / 3;
        let repeated = long.then(|| Repeated::new(&mut self.walk(from, until), period)).flatten();
        let following = match repeated {
            Some(repeated) => Source::Repeated(repeated),
            None => Source::Walked(self.walk(from, until)),
        };
        let mut openings = Openings { ahead: END, following };
        openings.advance();
        openings
    }

    /// The same, always found by walking.
    pub(super) fn walk(&self, from: i64, until: i64) -> Walked<'_> {
        let ended = |ahead| Walked { windows: self, days: Cursor::ENDED, ahead, until };
        match &self.days {
            Days::Never => ended(END),
            Days::Always => ended((from, HIGH)),
            Days::Bounded(rule) if rule.solid => {
                let first = self.start_on(rule.first);
                let end = self.end_of(rule.last, self.start_on(rule.last));
                ended(if end > from { (first, end) } else { END })
            }
            days => {
                let last = self.last_started(from);
                let open = days.at_or_before(last).map(|day| {
                    let start = self.start_on(day);
                    (start, self.end_of(day, start))
                });
                let mut walk = Walked { windows: self, days: days.cursor(last), ahead: END, until };
                walk.ahead = match open {
                    Some((start, end)) if end > from => (start, end),
                    _ => walk.following(),
                };
                walk
            }
        }
    }
}

impl Openings<'_> {
    /// Moves on to the next window.
    #[inline]
    pub(crate) fn advance(&mut self) {
        self.ahead = match &mut self.following {
            Source::Repeated(windows) => windows.next(),
            Source::Walked(windows) => windows.next(),
        };
    }

    /// Passes over windows that end at or before an instant. The next may start later than it truly does, but not after the instant.
    #[inline]
    pub(crate) fn skip(&mut self, at: i64) {
        if self.ahead.1 <= at {
            match &mut self.following {
                Source::Repeated(windows) => windows.skip(at),
                Source::Walked(windows) => windows.skip(at),
            }
            self.advance();
        }
    }
}

impl Walked<'_> {
    /// The window of the next day of the rule.
    #[inline]
    fn following(&mut self) -> (i64, i64) {
        let Some(day) = self.days.next() else { return END };
        let start = self.windows.start_on(day);
        (start, self.windows.end_of(day, start))
    }

    #[inline(never)]
    pub(super) fn next(&mut self) -> (i64, i64) {
        let window = self.ahead;
        self.ahead = self.following();
        if window.0 < window.1 && window.1 < self.ahead.0 { window } else { self.merge(window) }
    }

    #[inline]
    pub(super) fn skip(&mut self, at: i64) {
        if self.ahead.1 <= at {
            self.leap(at);
        }
    }

    /// A few windows are walked faster than the calendar is asked; many are leaped over.
    #[inline(never)]
    fn leap(&mut self, at: i64) {
        for _ in 0..8 {
            self.ahead = self.following();
            if self.ahead.1 > at {
                return;
            }
        }
        *self = self.windows.walk(at, self.until);
    }

    /// A window that touches the next one, or is the last, or was swallowed whole by a gap of the zone.
    #[inline(never)]
    fn merge(&mut self, (mut start, mut end): (i64, i64)) -> (i64, i64) {
        while start != HIGH {
            if self.ahead.0 <= end && self.ahead.0 != HIGH {
                // Beyond the range nobody looks, and there windows may touch to the end of time (TIME-14).
                if end >= self.until && start < end {
                    (self.days, self.ahead) = (Cursor::ENDED, END);
                    return (start, end);
                }
                end = self.ahead.1;
            } else if start < end {
                return (start, end);
            } else {
                (start, end) = self.ahead;
            }
            self.ahead = self.following();
        }
        END
    }
}
