//! Which RFC 5545 rule is meant, and on which days does it fire?
//!
//! A rule is a plain value: what was written, part by part and in the order it was written, so that it prints losslessly
//! (TIME-13). Its meaning is made of it by [`seek`]: a set of civil days that can be asked from any day in either direction
//! (TIME-14). Without DTSTART a rule is anchored at 1970-01-01 and has no beginning (TIME-3).

mod days;
mod parse;
mod print;
mod seek;
mod structured;

pub(crate) use seek::Seek;
pub use structured::Lowered;

use crate::civil::DAY;
use crate::date::{Date, TimeOfDay};
use crate::error::Error;
use crate::names::Weekday;
use crate::zone::Zone;

/// A recurrence rule of RFC 5545, with the DTSTART it counts from if there is one.
///
/// Understood are FREQ (YEARLY, MONTHLY, WEEKLY, DAILY), INTERVAL, COUNT, UNTIL, WKST, BYMONTH, BYDAY, BYMONTHDAY, BYSETPOS and
/// DTSTART with TZID. Everything else is refused by name, with its position (TIME-13).
///
/// ```
/// use schedule::Rrule;
///
/// let rule = Rrule::parse("RRULE:FREQ=MONTHLY;BYDAY=-1MO")?;
/// assert_eq!(rule.to_string(), "FREQ=MONTHLY;BYDAY=-1MO");
///
/// let error = Rrule::parse("FREQ=DAILY;BYHOUR=9").unwrap_err();
/// assert!(error.is_unsupported());
/// assert_eq!(error.position(), Some(11));
/// # Ok::<(), schedule::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rrule {
    start: Option<Moment>,
    frequency: Frequency,
    /// None where it was not written; then it is 1.
    interval: Option<u16>,
    end: Option<End>,
    /// None where it was not written; then it is Monday.
    week_start: Option<Weekday>,
    /// 1 to 12.
    by_month: Vec<u8>,
    by_day: Vec<ByDay>,
    /// 1 to 31, or -1 to -31 from the end of the month.
    by_month_day: Vec<i8>,
    /// 1 to 366, or -1 to -366 from the end of the period.
    by_set_pos: Vec<i16>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Frequency {
    Yearly,
    Monthly,
    Weekly,
    Daily,
}

impl Frequency {
    const ALL: [Self; 4] = [Self::Yearly, Self::Monthly, Self::Weekly, Self::Daily];

    const fn name(self) -> &'static str {
        match self {
            Self::Yearly => "YEARLY",
            Self::Monthly => "MONTHLY",
            Self::Weekly => "WEEKLY",
            Self::Daily => "DAILY",
        }
    }
}

/// A weekday: all of them in the period, or the n-th from its beginning or its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ByDay {
    /// 0 for all of them; otherwise 1 to 53 or -1 to -53.
    ordinal: i8,
    weekday: Weekday,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum End {
    Count(u32),
    Until(Moment),
}

/// A DATE or DATE-TIME value of RFC 5545.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Moment {
    date: Date,
    clock: Clock,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Clock {
    /// A DATE: the whole day.
    WholeDay,
    /// Local time of wherever the reader is: here, of the schedule's zone.
    Floating(TimeOfDay),
    Utc(TimeOfDay),
    Zoned(TimeOfDay, Zone),
}

impl Rrule {
    /// Reads `FREQ=…;…`, `RRULE:FREQ=…;…`, or a block of lines `DTSTART…` and `RRULE:…` with LF or CRLF, folded or not.
    ///
    /// An error's position is a byte of `text` as it was given.
    pub fn parse(text: &str) -> Result<Self, Error> {
        parse::parse(text)
    }

    /// The date of DTSTART, in its own zone: the first day that can fire. None without DTSTART: then the rule has no beginning.
    pub fn start_date(&self) -> Option<Date> {
        self.start.as_ref().map(|start| start.date)
    }

    /// The time of day of DTSTART. None without DTSTART, and for one that is a whole day.
    pub fn start_time(&self) -> Option<TimeOfDay> {
        match self.start.as_ref()?.clock {
            Clock::WholeDay => None,
            Clock::Floating(time) | Clock::Utc(time) | Clock::Zoned(time, _) => Some(time),
        }
    }

    /// The zone of DTSTART. None without DTSTART, and for one that leaves the zone open.
    pub fn zone(&self) -> Option<Zone> {
        match &self.start.as_ref()?.clock {
            Clock::WholeDay | Clock::Floating(_) => None,
            Clock::Utc(_) => Some(Zone::utc()),
            Clock::Zoned(_, zone) => Some(zone.clone()),
        }
    }

    /// The same rule counted from 1970-01-01 at this time in this zone, which is where a rule without DTSTART has its phase
    /// from (TIME-3): what other calendars need to be told.
    #[must_use]
    pub fn anchored(self, time: TimeOfDay, zone: &Zone) -> Self {
        let clock = if zone.is_utc() { Clock::Utc(time) } else { Clock::Zoned(time, zone.clone()) };
        let start = Some(Moment { date: Date::nearest(0), clock });
        Self { start, ..self }
    }

    fn interval(&self) -> i32 {
        self.interval.map_or(1, i32::from)
    }

    fn week_start(&self) -> Weekday {
        self.week_start.unwrap_or(Weekday::Monday)
    }

    /// The day that gives the rule its phase.
    fn anchor(&self) -> i32 {
        self.start_date().map_or(0, Date::days_since_epoch)
    }

    /// The last day that UNTIL lets fire, for windows that start at this time in this zone.
    fn until_day(&self, time: TimeOfDay, zone: &Zone) -> Option<i32> {
        let Some(End::Until(Moment { date, clock })) = &self.end else {
            return None;
        };
        let date = date.days_since_epoch();
        // The last day whose start is at or before a civil second.
        let started_by = |civil: i64| (civil - i64::from(time.seconds())).div_euclid(DAY) as i32;
        let second = |at: &TimeOfDay| i64::from(date) * DAY + i64::from(at.seconds());
        Some(match clock {
            Clock::WholeDay => date,
            Clock::Floating(at) | Clock::Zoned(at, _) => started_by(second(at)),
            Clock::Utc(at) => started_by(zone.reached(second(at))),
        })
    }
}

impl std::str::FromStr for Rrule {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Self::parse(text)
    }
}

#[cfg(test)]
mod tests;
