//! What does each day look like? The days of civil months with their permitted hours and their exclusions, for anyone who draws.
//!
//! Hours are read off the policy's set (TIME-2). Days are those of the policy's zone, so a day may last 23 or 25 hours.

use std::ops::Range;

use schedule::{Date, Instant, Span};

use crate::policy::{
    forecast::{clipped, first_of_month, length, midnight, next_month},
    lower::Lowered,
};

/// A civil month.
#[derive(Clone, Debug)]
pub struct Month {
    /// Its first day.
    pub first: Date,
    /// Its instants.
    pub range: Range<Instant>,
    /// Its days.
    pub days: Vec<Day>,
    /// The permitted spans that meet it, merged, with their true edges.
    pub spans: Vec<Span>,
}

impl Month {
    /// Permitted seconds.
    pub fn permitted(&self) -> i64 {
        self.days.iter().map(Day::permitted).sum()
    }
}

/// A civil day.
#[derive(Clone, Debug)]
pub struct Day {
    /// Its date.
    pub date: Date,
    /// Its instants.
    pub range: Range<Instant>,
    /// The permitted parts of it.
    pub open: Vec<Range<Instant>>,
    /// The exclusion that takes all of it out, by its place in the list, if one does.
    pub excluded: Option<usize>,
}

/// How much of a day is permitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cover {
    /// None of it.
    Closed,
    /// Some of it.
    Part,
    /// All of it.
    Open,
}

impl Day {
    /// Permitted seconds.
    pub fn permitted(&self) -> i64 {
        self.open.iter().map(length).sum()
    }

    /// How much of it is permitted.
    pub fn cover(&self) -> Cover {
        match self.permitted() {
            0 => Cover::Closed,
            seconds if seconds >= length(&self.range) => Cover::Open,
            _ => Cover::Part,
        }
    }
}

/// The months of a policy, from that of one date to that of another.
pub fn months(lowered: &Lowered, from: Date, to: Date) -> Vec<Month> {
    let mut months = Vec::new();
    let mut next = Some(first_of_month(from));
    while let Some(first) = next.filter(|first| *first <= to) {
        months.push(month(lowered, first));
        next = next_month(first);
    }
    months
}

fn month(lowered: &Lowered, first: Date) -> Month {
    let zone = &lowered.zone;
    let end = next_month(first).map_or(Instant::MAX, |next| midnight(next, zone));
    let range = midnight(first, zone)..end;
    let spans: Vec<Span> = lowered.set.spans(range.clone()).collect();
    let mut days = Vec::new();
    let mut date = first;
    while (date.year(), date.month()) == (first.year(), first.month()) {
        let day = midnight(date, zone)..midnight(date.tomorrow(), zone);
        let open = spans
            .iter()
            .map(|span| clipped(span, &day))
            .filter(|part| part.start < part.end)
            .collect();
        days.push(Day { date, open, excluded: exclusion_of(lowered, &day), range: day });
        if date.tomorrow() == date {
            break;
        }
        date = date.tomorrow();
    }
    Month { first, range, days, spans }
}

/// A day of which some hours are left is not an excluded day: what is left of it is drawn.
fn exclusion_of(lowered: &Lowered, day: &Range<Instant>) -> Option<usize> {
    lowered.parts.exclusions().position(|exclusion| exclusion.covers(day))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::lower::lower;

    fn lowered(strategy: &str) -> Lowered {
        let spec = serde_json::json!({"strategy": strategy, "maintenanceSchedule": {
            "timeZone": "Europe/Berlin",
            "permit": {"recurrence": {"frequency": "Weekly", "weekly": {"daysOfWeek": ["Saturday"]}},
                "startTime": "20:00", "duration": "8h"},
            "exclude": [{"fromDate": "2026-10-25", "untilDate": "2026-10-26"}]}});
        lower(&serde_json::from_value(spec).unwrap())
    }

    fn date(text: &str) -> Date {
        Date::parse(text).unwrap()
    }

    #[test]
    fn days_are_those_of_the_zone_and_exclusions_cut_them() {
        let [month] =
            &months(&lowered("MaintenanceSchedule"), date("2026-10-07"), date("2026-10-31"))[..]
        else {
            panic!("one month");
        };
        assert_eq!(month.days.len(), 31);
        let hours = |day: usize| month.days[day - 1].permitted() / 3600;
        assert_eq!((hours(3), hours(4), hours(24), hours(25), hours(31)), (4, 4, 4, 0, 4));
        assert_eq!(length(&month.days[24].range), 25 * 3600, "the clocks go back");
        assert_eq!(month.days[24].excluded, Some(0));
        assert_eq!(month.days[2].cover(), Cover::Part);
        assert_eq!(month.permitted(), (3 * 8 + 4 + 4) * 3600);
    }

    #[test]
    fn other_strategies_heed_no_exclusion() {
        let months = months(&lowered("Permissive"), date("2026-10-01"), date("2026-11-30"));
        assert_eq!(months.len(), 2);
        assert!(
            months[0].days.iter().all(|day| day.cover() == Cover::Open && day.excluded.is_none())
        );
    }
}
