//! How is the engine asked? The bridge from the oracle's words to the engine's public surface, and short spellings for rows.

use jiff::civil;
use jiff::tz::TimeZone;
use schedule::{
    Date, Exclusion, Instant, Length, Month, Ordinal, Recurrence, Rrule, Schedule, TimeOfDay,
    TimeSet, Weekday, Windows, Zone,
};

use crate::reading::{Answer, Lasts, Plan, Shape};

/// An instant from RFC 3339.
pub(crate) fn at(text: &str) -> Instant {
    Instant::parse(text).unwrap()
}

/// An instant from Unix seconds.
pub(crate) fn unix(seconds: i64) -> Instant {
    Instant::from_unix(seconds).unwrap()
}

/// A time of day from `HH:MM`.
pub(crate) fn time(text: &str) -> TimeOfDay {
    TimeOfDay::parse(text).unwrap()
}

/// A zone that exists.
pub(crate) fn zone(name: &str) -> Zone {
    Zone::named(name).unwrap()
}

/// The set of windows alone.
pub(crate) fn permitted(windows: Windows, zone: &Zone) -> TimeSet {
    TimeSet::from(Schedule::new(Some(windows), &[], zone).unwrap())
}

/// The set of windows in UTC alone.
pub(crate) fn windows_in_utc(recurrence: &Recurrence, start: &str, length: Length) -> TimeSet {
    permitted(Windows::new(recurrence, time(start), length, Zone::utc()).unwrap(), &Zone::utc())
}

/// The windows of an RFC 5545 rule that has a DTSTART.
pub(crate) fn windows_of_rrule(rule: &Rrule, seconds: i64) -> Windows {
    let length = Length::Elapsed(seconds as u32);
    Windows::from_rrule(rule, TimeOfDay::MIDNIGHT, length, Zone::utc()).unwrap()
}

/// A civil date of the oracle as one of the engine.
pub(crate) fn date_of(date: civil::Date) -> Date {
    Date::new(i32::from(date.year()), date.month() as u8, date.day() as u8).unwrap()
}

fn weekday_of(weekday: u8) -> Weekday {
    Weekday::ALL[usize::from(weekday)]
}

fn nth_of((ordinal, weekday): (i8, u8)) -> (Ordinal, Weekday) {
    let ordinal = if ordinal == -1 { Ordinal::Last } else { Ordinal::ALL[ordinal as usize - 1] };
    (ordinal, weekday_of(weekday))
}

/// The recurrence of a shape.
pub(crate) fn recurrence_of(shape: &Shape) -> Recurrence {
    let dates = |dates: &[i8]| dates.iter().map(|&d| d as u8).collect::<Vec<_>>();
    let nths = |days: &[(i8, u8)]| days.iter().copied().map(nth_of).collect::<Vec<_>>();
    let month = |month: i8| Month::ALL[month as usize - 1];
    match shape {
        Shape::Daily(n) => Recurrence::daily(*n as u16),
        Shape::Weekly(n, days) => {
            let days: Vec<_> = days.iter().copied().map(weekday_of).collect();
            Recurrence::weekly(*n as u16, &days)
        }
        Shape::MonthlyByDate(n, days) => Recurrence::monthly_by_date(*n as u16, &dates(days)),
        Shape::MonthlyByDay(n, days) => Recurrence::monthly_by_day(*n as u16, &nths(days)),
        Shape::YearlyByDate(m, days) => Recurrence::yearly_by_date(month(*m), &dates(days)),
        Shape::YearlyByDay(m, days) => Recurrence::yearly_by_day(month(*m), &nths(days)),
    }
    .unwrap()
}

/// The engine's zone of a jiff zone.
pub(crate) fn zone_of(tz: &TimeZone) -> Zone {
    match tz.iana_name() {
        None | Some("UTC") => Zone::utc(),
        Some(name) => zone(name),
    }
}

/// Exclusions without reasons.
pub(crate) fn exclusions_of(ranges: &[(civil::Date, civil::Date)]) -> Vec<Exclusion> {
    let exclusion = |&(from, until): &(civil::Date, civil::Date)| {
        Exclusion::new(date_of(from), Some(date_of(until)), None).unwrap()
    };
    ranges.iter().map(exclusion).collect()
}

/// One schedule, both as bare windows and as the set they make.
pub(crate) struct Asked {
    pub(crate) windows: Windows,
    pub(crate) set: TimeSet,
}

impl Asked {
    /// What the engine makes of a plan.
    pub(crate) fn plan(plan: &Plan) -> Self {
        let length = match plan.lasts {
            Lasts::RestOfDay => Length::RestOfDay,
            Lasts::Seconds(seconds) => Length::Elapsed(seconds as u32),
            Lasts::UntilSecondOfDay(end) => {
                Length::Until(TimeOfDay::from_seconds(end as u32).unwrap())
            }
        };
        let start = TimeOfDay::from_seconds(plan.start as u32).unwrap();
        let windows =
            Windows::new(&recurrence_of(&plan.shape), start, length, zone_of(&plan.zone)).unwrap();
        Self::windows(windows, &plan.excluded, &zone_of(&plan.zone))
    }

    /// What the engine makes of windows and exclusions.
    pub(crate) fn windows(
        windows: Windows,
        excluded: &[(civil::Date, civil::Date)],
        zone: &Zone,
    ) -> Self {
        let schedule =
            Schedule::new(Some(windows.clone()), &exclusions_of(excluded), zone).unwrap();
        Self { windows, set: TimeSet::from(schedule) }
    }

    /// All queries at one instant; they must not contradict one another.
    pub(crate) fn answer(&self, seconds: i64) -> Answer {
        let at = unix(seconds);
        let stretch = self.set.stretch(at);
        let (inside, start) = (self.set.contains(at), self.set.previous_change(at));
        let next = self.set.next_change(at);
        assert_eq!(
            (stretch.inside, stretch.start, stretch.end),
            (inside, start, next),
            "stretch at {at}"
        );
        Answer {
            inside,
            stretch_start: start.map(Instant::unix),
            next_change: next.map(Instant::unix),
            next_start: self.windows.next_start(at).map(Instant::unix),
        }
    }
}
