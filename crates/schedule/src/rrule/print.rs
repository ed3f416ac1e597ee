//! How is a rule written?
//!
//! Canonically: DTSTART on its own line if there is one, then FREQ, INTERVAL, COUNT or UNTIL, WKST, BYMONTH, BYDAY, BYMONTHDAY and
//! BYSETPOS in this order, each only if it was written, lists in the order they were written. Reading it back gives the same rule.

use std::fmt;

use super::{ByDay, Clock, End, Moment, Rrule};
use crate::date::TimeOfDay;
use crate::names::Weekday;

impl fmt::Display for Rrule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(start) = &self.start {
            write!(f, "DTSTART")?;
            match &start.clock {
                Clock::WholeDay => write!(f, ";VALUE=DATE")?,
                Clock::Zoned(_, zone) => write!(f, ";TZID={}", zone.name())?,
                Clock::Floating(_) | Clock::Utc(_) => {}
            }
            write!(f, ":{start}\nRRULE:")?;
        }
        write!(f, "FREQ={}", self.frequency.name())?;
        if let Some(interval) = self.interval {
            write!(f, ";INTERVAL={interval}")?;
        }
        match &self.end {
            Some(End::Count(count)) => write!(f, ";COUNT={count}")?,
            Some(End::Until(until)) => write!(f, ";UNTIL={until}")?,
            None => {}
        }
        if let Some(weekday) = self.week_start {
            write!(f, ";WKST={}", short_name(weekday))?;
        }
        list(f, "BYMONTH", &self.by_month)?;
        list(f, "BYDAY", &self.by_day)?;
        list(f, "BYMONTHDAY", &self.by_month_day)?;
        list(f, "BYSETPOS", &self.by_set_pos)
    }
}

/// The two letters RFC 5545 gives a weekday.
pub(super) const fn short_name(weekday: Weekday) -> &'static str {
    match weekday {
        Weekday::Monday => "MO",
        Weekday::Tuesday => "TU",
        Weekday::Wednesday => "WE",
        Weekday::Thursday => "TH",
        Weekday::Friday => "FR",
        Weekday::Saturday => "SA",
        Weekday::Sunday => "SU",
    }
}

fn list(f: &mut fmt::Formatter<'_>, name: &str, values: &[impl fmt::Display]) -> fmt::Result {
    for (index, value) in values.iter().enumerate() {
        if index == 0 {
            write!(f, ";{name}={value}")?;
        } else {
            write!(f, ",{value}")?;
        }
    }
    Ok(())
}

impl fmt::Display for ByDay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.ordinal != 0 {
            write!(f, "{}", self.ordinal)?;
        }
        f.write_str(short_name(self.weekday))
    }
}

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day) = (self.date.year(), self.date.month(), self.date.day());
        write!(f, "{year:04}{month:02}{day:02}")?;
        match &self.clock {
            Clock::WholeDay => Ok(()),
            Clock::Floating(time) | Clock::Zoned(time, _) => clock(f, *time),
            Clock::Utc(time) => {
                clock(f, *time)?;
                f.write_str("Z")
            }
        }
    }
}

fn clock(f: &mut fmt::Formatter<'_>, time: TimeOfDay) -> fmt::Result {
    let seconds = time.seconds();
    let (hour, minute, second) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
    write!(f, "T{hour:02}{minute:02}{second:02}")
}
