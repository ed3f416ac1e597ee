//! How much time will there be? Hours per month, the longest wait, and what an edit gains and loses.
//!
//! Everything is read off the spans of a set (TIME-2), so it agrees with the gate by construction.

use std::ops::Range;

use schedule::{Date, Instant, Span, TimeOfDay, TimeSet, Zone};

/// The permitted time of one civil month of a zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MonthTotal {
    /// The first day of the month.
    pub month: Date,
    /// Permitted seconds, within the range that was asked for.
    pub permitted: i64,
    /// Seconds of the month within that range.
    pub total: i64,
}

/// The permitted time of each civil month that meets a range, counting the range alone.
pub fn months(set: &TimeSet, range: Range<Instant>, zone: &Zone) -> Vec<MonthTotal> {
    let mut totals = Vec::new();
    let mut month = first_of_month(zone.date_of(range.start));
    while let Some(next) = next_month(month) {
        let begins = midnight(month, zone);
        if begins >= range.end {
            break;
        }
        let part = begins.max(range.start)..midnight(next, zone).min(range.end);
        if part.start < part.end {
            let total = part.end.unix() - part.start.unix();
            totals.push(MonthTotal { month, permitted: seconds(set, part), total });
        }
        month = next;
    }
    totals
}

/// The whole civil months that meet a range.
pub fn whole_months(range: &Range<Instant>, zone: &Zone) -> Range<Instant> {
    let last = zone.date_of(range.end.saturating_add(-1).max(range.start));
    let end = next_month(first_of_month(last)).map_or(Instant::MAX, |date| midnight(date, zone));
    midnight(first_of_month(zone.date_of(range.start)), zone)..end
}

/// Permitted seconds within a range.
pub fn seconds(set: &TimeSet, range: Range<Instant>) -> i64 {
    set.spans(range.clone()).map(|span| length(&clipped(&span, &range))).sum()
}

/// The longest time without permission within a range; the first of several; none if there is no such time.
pub fn longest_gap(set: &TimeSet, range: &Range<Instant>) -> Option<Range<Instant>> {
    let closed = set.clone().complement();
    let mut longest: Option<Range<Instant>> = None;
    for span in closed.spans(range.clone()) {
        let gap = clipped(&span, range);
        if longest.as_ref().is_none_or(|longest| length(&gap) > length(longest)) {
            longest = Some(gap);
        }
    }
    longest
}

/// What an edit gains and loses within a range.
#[derive(Clone, Debug)]
pub struct GainAndLoss {
    /// What is permitted now and was not.
    pub gained: Vec<Span>,
    /// What was permitted and is not now.
    pub lost: Vec<Span>,
}

/// Compares two sets within a range.
pub fn change(old: &TimeSet, new: &TimeSet, range: &Range<Instant>) -> GainAndLoss {
    let beyond =
        |a: &TimeSet, b: &TimeSet| a.clone().difference(b.clone()).spans(range.clone()).collect();
    GainAndLoss { gained: beyond(new, old), lost: beyond(old, new) }
}

/// The part of a span within a range.
pub fn clipped(span: &Span, range: &Range<Instant>) -> Range<Instant> {
    let start = span.start.map_or(range.start, |start| start.max(range.start));
    let end = span.end.map_or(range.end, |end| end.min(range.end));
    start..end.max(start)
}

/// How many seconds a range lasts.
pub fn length(range: &Range<Instant>) -> i64 {
    range.end.unix() - range.start.unix()
}

/// The first instant of a day.
pub fn midnight(date: Date, zone: &Zone) -> Instant {
    zone.first_instant_of(date, TimeOfDay::MIDNIGHT)
}

/// The first day of the month of a date.
pub fn first_of_month(date: Date) -> Date {
    Date::new(date.year(), date.month(), 1).unwrap_or(date)
}

/// The first day of the month after that of a date; none at the end of the calendar.
pub fn next_month(date: Date) -> Option<Date> {
    let (year, month) =
        if date.month() == 12 { (date.year() + 1, 1) } else { (date.year(), date.month() + 1) };
    Date::new(year, month, 1).ok()
}

#[cfg(test)]
mod tests;
