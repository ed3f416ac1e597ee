//! What does the specification say, read day by day?
//!
//! The brute-force oracle of SCHED-1 and SCHED-2: it walks the days of a century and a half one after the other, asks of each
//! whether the rule names it (TIME-4 to TIME-8), writes down every window, sorts, merges (TIME-9) and cuts exclusions out
//! (TIME-10). It knows jiff's civil dates and nothing of the engine. A [`Reading`] other than [`Reading::Specified`] is a
//! plausible misreading; the vectors must tell each of them from the specification.

use std::sync::LazyLock;

use jiff::Timestamp;
use jiff::civil::{Date, date};
use jiff::tz::{AmbiguousOffset, TimeZone};

/// How the specification is read. All but the first are mistakes somebody has made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reading {
    Specified,
    WeekFromSunday,
    SevenDayBlocks,
    FifthIsLast,
    ClampedDates,
    InclusiveEnd,
    ExclusionDropsWindow,
}

/// Which days a rule names. Weekdays are 0 for Monday to 6 for Sunday; an ordinal is 1 to 5, or -1 for the last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    Daily(i64),
    Weekly(i64, Vec<u8>),
    MonthlyByDate(i64, Vec<i8>),
    MonthlyByDay(i64, Vec<(i8, u8)>),
    YearlyByDate(i8, Vec<i8>),
    YearlyByDay(i8, Vec<(i8, u8)>),
}

/// How long a window is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lasts {
    RestOfDay,
    Seconds(i64),
    UntilSecondOfDay(i64),
}

/// A structured schedule as a person writes it.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) shape: Shape,
    /// Seconds after midnight.
    pub(crate) start: i64,
    pub(crate) lasts: Lasts,
    pub(crate) zone: TimeZone,
    /// `[from, until)`.
    pub(crate) excluded: Vec<(Date, Date)>,
}

/// One day, with what the rules ask of it.
#[derive(Clone, Copy)]
struct Day {
    date: Date,
    since_epoch: i64,
    /// 0 for Monday.
    weekday: u8,
    days_in_month: i8,
}

/// The first and the day after the last that are walked.
const FIRST: Date = date(1958, 1, 1);
const LAST: Date = date(2112, 1, 1);

/// Answers are sound between these: windows last at most 366 days, so none begun outside the walk reaches them.
pub(crate) const LOW: Date = date(1960, 1, 1);
pub(crate) const HIGH: Date = date(2110, 1, 1);

static DAYS: LazyLock<Vec<Day>> = LazyLock::new(|| {
    let epoch = date(1970, 1, 1);
    let mut days = Vec::new();
    let mut date = FIRST;
    let mut since_epoch = i64::from((FIRST - epoch).get_days());
    while date < LAST {
        let weekday = date.weekday().to_monday_zero_offset() as u8;
        days.push(Day { date, since_epoch, weekday, days_in_month: date.days_in_month() });
        date = date.tomorrow().expect("the walk ends long before jiff's last day");
        since_epoch += 1;
    }
    days
});

impl Shape {
    /// Does the rule name this day?
    fn names(&self, day: &Day, reading: Reading) -> bool {
        let date = day.date;
        let month = (i64::from(date.year()) - 1970) * 12 + i64::from(date.month()) - 1;
        match self {
            Shape::Daily(n) => day.since_epoch.rem_euclid(*n) == 0,
            Shape::Weekly(n, weekdays) => {
                // Days from the first day of week 0 to the epoch, a Thursday.
                let before_epoch = match reading {
                    Reading::WeekFromSunday => 4,
                    Reading::SevenDayBlocks => 0,
                    _ => 3,
                };
                let week = (day.since_epoch + before_epoch).div_euclid(7);
                week.rem_euclid(*n) == 0 && weekdays.contains(&day.weekday)
            }
            Shape::MonthlyByDate(n, dates) => {
                month.rem_euclid(*n) == 0 && day.is_among(dates, reading)
            }
            Shape::MonthlyByDay(n, days) => month.rem_euclid(*n) == 0 && day.is_nth(days, reading),
            Shape::YearlyByDate(month, dates) => {
                date.month() == *month && day.is_among(dates, reading)
            }
            Shape::YearlyByDay(month, days) => date.month() == *month && day.is_nth(days, reading),
        }
    }
}

impl Day {
    fn is_among(&self, dates: &[i8], reading: Reading) -> bool {
        let clamped = reading == Reading::ClampedDates
            && self.date.day() == self.days_in_month
            && dates.iter().any(|&d| d > self.days_in_month);
        clamped || dates.contains(&self.date.day())
    }

    fn is_nth(&self, days: &[(i8, u8)], reading: Reading) -> bool {
        let ordinal = (self.date.day() - 1) / 7 + 1;
        let last = self.date.day() + 7 > self.days_in_month;
        days.iter().any(|&(wanted, weekday)| {
            weekday == self.weekday
                && match wanted {
                    5 if reading == Reading::FifthIsLast => last,
                    -1 => last,
                    _ => wanted == ordinal,
                }
        })
    }
}

/// The instant at which a civil time begins in a zone (TIME-12): the first of two in an overlap, the end of the gap in a gap.
pub(crate) fn instant_of(zone: &TimeZone, date: Date, second_of_day: i64) -> i64 {
    let time = jiff::civil::Time::midnight() + jiff::Span::new().seconds(second_of_day);
    let civil = date.to_datetime(time);
    match zone.to_ambiguous_timestamp(civil).offset() {
        AmbiguousOffset::Unambiguous { offset } | AmbiguousOffset::Fold { before: offset, .. } => {
            offset.to_timestamp(civil).expect("the walk is within jiff's range").as_second()
        }
        AmbiguousOffset::Gap { after, .. } => {
            // Read with the later offset, a skipped time falls before the transition; the next transition ends the gap.
            let early = after.to_timestamp(civil).expect("the walk is within jiff's range");
            let gap = zone.following(early).next().expect("a gap is made by a transition");
            gap.timestamp().as_second()
        }
    }
}

/// A schedule written out: every stretch inside, and every bare start, between the horizons.
pub(crate) struct WrittenOut {
    pub(crate) spans: Vec<(i64, i64)>,
    pub(crate) starts: Vec<i64>,
}

impl Plan {
    /// Walks the days and writes everything down.
    pub(crate) fn write_out(&self, reading: Reading) -> WrittenOut {
        let mut windows: Vec<(i64, i64)> = DAYS
            .iter()
            .filter(|day| self.shape.names(day, reading))
            .map(|day| self.window_of(day, reading))
            .collect();
        windows.sort_unstable();
        let starts = windows.iter().map(|window| window.0).collect();
        let mut holes: Vec<(i64, i64)> = self
            .excluded
            .iter()
            .map(|&(from, until)| {
                (instant_of(&self.zone, from, 0), instant_of(&self.zone, until, 0))
            })
            .collect();
        holes.sort_unstable();
        if reading == Reading::ExclusionDropsWindow {
            windows.retain(|w| !holes.iter().any(|h| h.0 < w.1 && w.0 < h.1));
        }
        WrittenOut { spans: minus(&merged(&windows), &holes), starts }
    }

    fn window_of(&self, day: &Day, reading: Reading) -> (i64, i64) {
        let tomorrow = || day.date.tomorrow().expect("the walk ends long before jiff's last day");
        let start = instant_of(&self.zone, day.date, self.start);
        let end = match self.lasts {
            Lasts::Seconds(seconds) => start + seconds,
            Lasts::RestOfDay => instant_of(&self.zone, tomorrow(), 0),
            Lasts::UntilSecondOfDay(end) if end > self.start => {
                instant_of(&self.zone, day.date, end)
            }
            Lasts::UntilSecondOfDay(end) => instant_of(&self.zone, tomorrow(), end),
        };
        (start, if reading == Reading::InclusiveEnd { end + 1 } else { end.max(start) })
    }
}

fn merged(sorted: &[(i64, i64)]) -> Vec<(i64, i64)> {
    let mut out: Vec<(i64, i64)> = Vec::new();
    for &(start, end) in sorted.iter().filter(|w| w.0 < w.1) {
        match out.last_mut() {
            Some(last) if start <= last.1 => last.1 = last.1.max(end),
            _ => out.push((start, end)),
        }
    }
    out
}

fn minus(spans: &[(i64, i64)], sorted_holes: &[(i64, i64)]) -> Vec<(i64, i64)> {
    let mut out = Vec::new();
    for &(mut start, end) in spans {
        for &(hole_start, hole_end) in sorted_holes {
            if hole_end <= start || hole_start >= end || hole_start >= hole_end {
                continue;
            }
            if hole_start > start {
                out.push((start, hole_start));
            }
            start = hole_end;
        }
        if start < end {
            out.push((start, end));
        }
    }
    out
}

/// What is asked of a schedule at an instant. `None`: nothing between the horizons [`LOW`] and [`HIGH`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) inside: bool,
    pub(crate) stretch_start: Option<i64>,
    pub(crate) next_change: Option<i64>,
    pub(crate) next_start: Option<i64>,
}

/// The horizons in Unix seconds.
pub(crate) fn horizons() -> (i64, i64) {
    (instant_of(&TimeZone::UTC, LOW, 0), instant_of(&TimeZone::UTC, HIGH, 0))
}

impl Answer {
    /// Forgets what lies beyond the horizons.
    pub(crate) fn between(self, (low, high): (i64, i64)) -> Self {
        Answer {
            stretch_start: self.stretch_start.filter(|&t| t > low),
            next_change: self.next_change.filter(|&t| t < high),
            next_start: self.next_start.filter(|&t| t < high),
            ..self
        }
    }
}

impl WrittenOut {
    /// The answer at an instant.
    pub(crate) fn at(&self, at: i64) -> Answer {
        let begun = self.spans.partition_point(|span| span.0 <= at);
        let current = begun.checked_sub(1).map(|index| self.spans[index]);
        let following = self.spans.get(begun).map(|span| span.0);
        let next_start = self.starts.get(self.starts.partition_point(|&s| s <= at)).copied();
        match current {
            Some((start, end)) if at < end => Answer {
                inside: true,
                stretch_start: Some(start),
                next_change: Some(end),
                next_start,
            },
            _ => Answer {
                inside: false,
                stretch_start: current.map(|span| span.1),
                next_change: following,
                next_start,
            },
        }
        .between(horizons())
    }
}

/// The civil date of an instant in UTC, for messages.
pub(crate) fn shown(at: i64) -> String {
    Timestamp::from_second(at).map_or_else(|_| at.to_string(), |t| t.to_string())
}
