//! The windows of a range, one after the other, each cheaper than a query.

use super::{HIGH, Windows};
use crate::days::{Cursor, Days};
use crate::instant::Instant;

/// Merged windows in order. Edges outside the range asked for are not searched: whoever shows the first and the last one asks for
/// their true edges.
#[derive(Debug)]
pub(crate) struct Openings<'a> {
    windows: &'a Windows,
    days: Cursor<'a>,
    /// The window after the one given last.
    ahead: Option<(i64, i64)>,
}

impl Windows {
    /// The merged windows that meet the range from `from` on. The first may start later than it truly does.
    pub(crate) fn openings(&self, from: i64) -> Openings<'_> {
        match &self.days {
            Days::Never => Openings { windows: self, days: Cursor::ENDED, ahead: None },
            Days::Always => {
                Openings { windows: self, days: Cursor::ENDED, ahead: Some((from, HIGH)) }
            }
            Days::Bounded(rule) if rule.solid => {
                let first = self.start_on(rule.first);
                let end = self.end_of(rule.last, self.start_on(rule.last));
                Openings {
                    windows: self,
                    days: Cursor::ENDED,
                    ahead: (end > from).then_some((first, end)),
                }
            }
            days => {
                let last = self.last_started(from);
                let open = days.at_or_before(last).map(|day| {
                    let start = self.start_on(day);
                    (start, self.end_of(day, start))
                });
                let mut openings = Openings { windows: self, days: days.cursor(last), ahead: None };
                openings.ahead =
                    open.filter(|(_, end)| *end > from).or_else(|| openings.following());
                openings
            }
        }
    }
}

impl Openings<'_> {
    /// The window of the next day of the rule.
    #[inline]
    fn following(&mut self) -> Option<(i64, i64)> {
        let day = self.days.next()?;
        let start = self.windows.start_on(day);
        (start <= Instant::MAX.unix()).then(|| (start, self.windows.end_of(day, start)))
    }

    /// The next merged window.
    #[inline]
    pub(crate) fn next(&mut self) -> Option<(i64, i64)> {
        loop {
            let (start, mut end) = self.ahead.take()?;
            self.ahead = self.following();
            while let Some((next, until)) = self.ahead
                && next <= end
            {
                end = until;
                self.ahead = self.following();
            }
            // Otherwise a gap of the zone swallowed it whole.
            if start < end {
                return Some((start, end));
            }
        }
    }
}
