//! Which civil day, and what time of it?

use std::fmt;

use crate::civil;
use crate::error::Error;
use crate::names::Weekday;

/// A civil date, from 0001-01-01 to 9999-12-31.
///
/// ```
/// use schedule::Date;
///
/// assert_eq!(Date::parse("2024-02-29")?.weekday(), schedule::Weekday::Thursday);
/// assert!(Date::parse("2025-02-30").unwrap_err().is_range());
/// # Ok::<(), schedule::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Date(i32);

impl Date {
    const FIRST: i32 = civil::day_of(1, 1, 1);
    const LAST: i32 = civil::day_of(9999, 12, 31);

    /// The date with this year, month (1 to 12) and day, if there is one.
    pub fn new(year: i32, month: u8, day: u8) -> Result<Self, Error> {
        if !(1..=9999).contains(&year) {
            return Err(Error::range(format!("the year {year} is not between 1 and 9999")));
        }
        if !(1..=12).contains(&month) {
            return Err(Error::range(format!("{month} is not a month: expected 01 to 12")));
        }
        let days = civil::days_in((year - 1970) * 12 + i32::from(month) - 1);
        if day == 0 || u32::from(day) > days {
            return Err(Error::range(format!(
                "{year:04}-{month:02} has no day {day}: it has {days} days"
            )));
        }
        Ok(Self(civil::day_of(year, month, day)))
    }

    /// Reads `YYYY-MM-DD`.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let malformed = || {
            Error::syntax(format!("`{text}` is not a date: expected YYYY-MM-DD such as 2026-12-24"))
                .at(0)
        };
        let bytes = text.as_bytes();
        let digits = |range: std::ops::Range<usize>| {
            let part = bytes.get(range)?;
            part.iter().all(u8::is_ascii_digit).then(|| {
                part.iter().fold(0_i32, |number, digit| number * 10 + i32::from(digit - b'0'))
            })
        };
        if bytes.len() != 10 || bytes.get(4) != Some(&b'-') || bytes.get(7) != Some(&b'-') {
            return Err(malformed());
        }
        let (year, month, day) = (
            digits(0..4).ok_or_else(malformed)?,
            digits(5..7).ok_or_else(malformed)?,
            digits(8..10).ok_or_else(malformed)?,
        );
        Self::new(year, month as u8, day as u8).map_err(|error| error.at(0))
    }

    /// The date so many days after 1970-01-01.
    pub fn from_days_since_epoch(day: i32) -> Result<Self, Error> {
        (Self::FIRST..=Self::LAST)
            .contains(&day)
            .then_some(Self(day))
            .ok_or_else(|| Error::range(format!("day {day} is outside the years 1 to 9999")))
    }

    /// The nearest date to a day number that may lie outside the range.
    pub(crate) fn nearest(day: i32) -> Self {
        Self(day.clamp(Self::FIRST, Self::LAST))
    }

    /// Days since 1970-01-01.
    pub const fn days_since_epoch(self) -> i32 {
        self.0
    }

    /// The next day; the last date is its own.
    #[must_use]
    pub fn tomorrow(self) -> Self {
        Self::nearest(self.0 + 1)
    }

    /// The year.
    pub const fn year(self) -> i32 {
        civil::date_of(self.0).0
    }

    /// The month, 1 to 12.
    pub const fn month(self) -> u8 {
        civil::date_of(self.0).1
    }

    /// The day of the month, 1 to 31.
    pub const fn day(self) -> u8 {
        civil::date_of(self.0).2
    }

    /// The day of the week.
    pub fn weekday(self) -> Weekday {
        Weekday::ALL.get(civil::weekday_of(self.0) as usize).copied().unwrap_or(Weekday::Monday)
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day) = civil::date_of(self.0);
        write!(f, "{year:04}-{month:02}-{day:02}")
    }
}

impl fmt::Debug for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A time of day on the wall clock.
///
/// ```
/// assert_eq!(schedule::TimeOfDay::parse("20:30")?.seconds(), 73_800);
/// # Ok::<(), schedule::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct TimeOfDay(u32);

impl TimeOfDay {
    /// 00:00, the default start of a window (TIME-8).
    pub const MIDNIGHT: Self = Self(0);

    /// The time so many seconds after midnight, below 86 400.
    pub fn from_seconds(seconds: u32) -> Result<Self, Error> {
        (i64::from(seconds) < civil::DAY).then_some(Self(seconds)).ok_or_else(|| {
            Error::range(format!("{seconds} seconds is not a time of day: a day has 86400"))
        })
    }

    /// Reads `HH:MM`, from 00:00 to 23:59 (TIME-8).
    pub fn parse(text: &str) -> Result<Self, Error> {
        let (hour, minute) = match text.as_bytes() {
            [a, b, b':', c, d] if [a, b, c, d].iter().all(|digit| digit.is_ascii_digit()) => (
                u32::from(a - b'0') * 10 + u32::from(b - b'0'),
                u32::from(c - b'0') * 10 + u32::from(d - b'0'),
            ),
            _ => {
                let message =
                    format!("`{text}` is not a time of day: expected HH:MM such as 20:00");
                return Err(Error::syntax(message).at(0));
            }
        };
        if hour > 23 || minute > 59 {
            let message =
                format!("`{text}` is not a time of day: hours go to 23 and minutes to 59");
            return Err(Error::range(message).at(0));
        }
        Ok(Self(hour * 3_600 + minute * 60))
    }

    /// Seconds after midnight.
    pub const fn seconds(self) -> u32 {
        self.0
    }
}

impl fmt::Display for TimeOfDay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (hour, minute, second) = (self.0 / 3_600, self.0 / 60 % 60, self.0 % 60);
        write!(f, "{hour:02}:{minute:02}")?;
        if second == 0 { Ok(()) } else { write!(f, ":{second:02}") }
    }
}

impl fmt::Debug for TimeOfDay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_that_exist_round_trip_and_others_are_refused() {
        for text in ["0001-01-01", "1970-01-01", "2000-02-29", "2024-02-29", "9999-12-31"] {
            assert_eq!(Date::parse(text).unwrap().to_string(), text);
        }
        for text in [
            "2025-02-30",
            "2025-02-29",
            "1900-02-29",
            "2025-13-01",
            "2025-00-10",
            "0000-01-01",
            "2025-01-00",
        ] {
            assert!(Date::parse(text).unwrap_err().is_range(), "{text}");
        }
        for text in [
            "",
            "2025-1-1",
            "2025/01/01",
            "25-01-01",
            "2025-01-01T00:00",
            "２０２５-01-01",
            "+025-01-01",
        ] {
            assert!(Date::parse(text).unwrap_err().is_syntax(), "{text}");
        }
    }

    #[test]
    fn times_of_day_are_hours_and_minutes() {
        for (text, seconds) in [("00:00", 0), ("08:30", 30_600), ("23:59", 86_340)] {
            let time = TimeOfDay::parse(text).unwrap();
            assert_eq!((time.seconds(), time.to_string().as_str()), (seconds, text));
        }
        for text in ["24:00", "12:60", "99:99"] {
            assert!(TimeOfDay::parse(text).unwrap_err().is_range(), "{text}");
        }
        for text in ["", "8:30", "08:30:00", "0830", "ab:cd", "-1:00"] {
            assert!(TimeOfDay::parse(text).unwrap_err().is_syntax(), "{text}");
        }
        assert_eq!(TimeOfDay::from_seconds(61).unwrap().to_string(), "00:01:01");
        assert!(TimeOfDay::from_seconds(86_400).unwrap_err().is_range());
    }
}
