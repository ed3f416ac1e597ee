//! What does every peer answer about? A neutral description of one rule, with no engine's types in it.
//!
//! The reading is TIME-3 to TIME-7: anchored at 1970, weeks from Monday, a missing date is skipped.

use std::fmt::Write as _;

use chrono::{Datelike, Days, NaiveDate};

/// Seconds in a civil day of UTC.
pub const DAY: i64 = 86_400;

/// Which days a rule names. Weekdays count from Monday = 0; the ordinal -1 is the last.
#[derive(Clone, Debug)]
pub enum Shape {
    Daily { every: u16 },
    Weekly { every: u8, days: Vec<u8> },
    MonthlyByDate { every: u8, dates: Vec<u8> },
    MonthlyByDay { every: u8, days: Vec<(i8, u8)> },
    YearlyByDate { month: u8, dates: Vec<u8> },
    YearlyByDay { month: u8, days: Vec<(i8, u8)> },
}

/// One policy: a shape, a start in the day, an elapsed length, and excluded civil days.
#[derive(Clone, Debug)]
pub struct Rule {
    pub id: String,
    pub shape: Shape,
    /// Seconds after midnight.
    pub start: u32,
    /// Seconds a window lasts.
    pub length: u32,
    /// Half-open ranges of days since 1970, sorted and apart.
    pub exclusions: Vec<(i32, i32)>,
    /// Handed to peers for nothing: none of them can find it out by itself.
    pub cover: Cover,
}

/// Facts that a library cannot tell without walking for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cover {
    Always,
    Never,
    Sometimes,
}

/// The day number of a civil date.
pub fn day_number(date: NaiveDate) -> i32 {
    date.num_days_from_ce() - 719_163
}

/// The civil date of a day number.
pub fn date_of(day: i32) -> NaiveDate {
    NaiveDate::from_num_days_from_ce_opt(day + 719_163)
        .expect("benchmark days are within chrono's range")
}

/// The day that holds an instant.
pub fn day_of(at: i64) -> i32 {
    at.div_euclid(DAY) as i32
}

/// Months since January 1970.
pub fn month_number(date: NaiveDate) -> i32 {
    (date.year() - 1970) * 12 + date.month0() as i32
}

impl Rule {
    /// A rule whose cover is worked out from its days.
    pub fn new(id: &str, shape: Shape, start: u32, length: u32) -> Self {
        let mut rule = Self {
            id: id.to_owned(),
            shape,
            start,
            length,
            exclusions: Vec::new(),
            cover: Cover::Sometimes,
        };
        rule.cover = rule.find_cover();
        rule
    }

    /// The instant a window of this day opens.
    pub fn opens(&self, day: i32) -> i64 {
        i64::from(day) * DAY + i64::from(self.start)
    }

    /// Does the rule name this day? Read off the specification, as slowly as it is written.
    pub fn names_day(&self, day: i32) -> bool {
        let date = date_of(day);
        let weekday = date.weekday().num_days_from_monday() as u8;
        match &self.shape {
            Shape::Daily { every } => day.rem_euclid(i32::from(*every)) == 0,
            Shape::Weekly { every, days } => {
                week_number(day).rem_euclid(i32::from(*every)) == 0 && days.contains(&weekday)
            }
            Shape::MonthlyByDate { every, dates } => {
                month_number(date).rem_euclid(i32::from(*every)) == 0
                    && dates.contains(&(date.day() as u8))
            }
            Shape::MonthlyByDay { every, days } => {
                month_number(date).rem_euclid(i32::from(*every)) == 0 && holds(date, weekday, days)
            }
            Shape::YearlyByDate { month, dates } => {
                date.month() == u32::from(*month) && dates.contains(&(date.day() as u8))
            }
            Shape::YearlyByDay { month, days } => {
                date.month() == u32::from(*month) && holds(date, weekday, days)
            }
        }
    }

    /// Scans 28 years for the first gap longer than a window; nearly every rule shows one within days.
    fn find_cover(&self) -> Cover {
        if let Shape::YearlyByDate { month, dates } = &self.shape {
            let longest = if *month == 2 {
                29
            } else {
                30 + u8::from([1, 3, 5, 7, 8, 10, 12].contains(month))
            };
            if dates.iter().all(|date| *date > longest) {
                return Cover::Never;
            }
        }
        let first = 10_957;
        let mut covered = i64::from(first) * DAY + i64::from(self.length);
        for day in first..first + 28 * 366 {
            let named = self.names_day(day);
            let gap_before = if named { self.opens(day) } else { i64::from(day) * DAY };
            if covered < gap_before {
                return Cover::Sometimes;
            }
            if named {
                covered = self.opens(day) + i64::from(self.length);
            }
        }
        Cover::Always
    }

    /// The RFC 5545 spelling, without DTSTART.
    pub fn rrule(&self) -> String {
        let mut text = String::new();
        let head = |text: &mut String, freq: &str, every: u16| {
            write!(text, "FREQ={freq}").expect("writing to a String cannot fail");
            if every != 1 {
                write!(text, ";INTERVAL={every}").expect("writing to a String cannot fail");
            }
        };
        match &self.shape {
            Shape::Daily { every } => head(&mut text, "DAILY", *every),
            Shape::Weekly { every, days } => {
                head(&mut text, "WEEKLY", u16::from(*every));
                let plain: Vec<_> = days.iter().map(|day| (0, *day)).collect();
                text += &by_day(&plain);
            }
            Shape::MonthlyByDate { every, dates } => {
                head(&mut text, "MONTHLY", u16::from(*every));
                text += &by_month_day(dates);
            }
            Shape::MonthlyByDay { every, days } => {
                head(&mut text, "MONTHLY", u16::from(*every));
                text += &by_day(days);
            }
            Shape::YearlyByDate { month, dates } => {
                head(&mut text, "YEARLY", 1);
                write!(text, ";BYMONTH={month}").expect("writing to a String cannot fail");
                text += &by_month_day(dates);
            }
            Shape::YearlyByDay { month, days } => {
                head(&mut text, "YEARLY", 1);
                write!(text, ";BYMONTH={month}").expect("writing to a String cannot fail");
                text += &by_day(days);
            }
        }
        text
    }

    /// The half of an engine that a user must write to make an RRULE library seek: the first day of the rule's
    /// own period at or before `at`, to serve as DTSTART.
    pub fn aligned_start(&self, at: i64) -> i64 {
        let day = day_of(at);
        let first = match &self.shape {
            Shape::Daily { every } => day - day.rem_euclid(i32::from(*every)),
            Shape::Weekly { every, .. } => {
                let week = week_number(day);
                (week - week.rem_euclid(i32::from(*every))) * 7 - 3
            }
            Shape::MonthlyByDate { every, .. } | Shape::MonthlyByDay { every, .. } => {
                let month = month_number(date_of(day));
                first_of_month(month - month.rem_euclid(i32::from(*every)))
            }
            Shape::YearlyByDate { .. } | Shape::YearlyByDay { .. } => {
                let month = month_number(date_of(day));
                first_of_month(month - month.rem_euclid(12))
            }
        };
        self.opens(first)
    }

    /// DTSTART as people write it: 1970-01-01 at the window's start.
    pub fn epoch_start(&self) -> i64 {
        i64::from(self.start)
    }
}

/// Weeks that begin on Monday; week 0 holds 1970-01-01, a Thursday.
pub fn week_number(day: i32) -> i32 {
    (day + 3).div_euclid(7)
}

/// The day number of the first of a month, months counted from January 1970.
pub fn first_of_month(month: i32) -> i32 {
    let year = 1970 + month.div_euclid(12);
    let date = NaiveDate::from_ymd_opt(year, month.rem_euclid(12) as u32 + 1, 1);
    day_number(date.expect("the first of a month always exists"))
}

fn holds(date: NaiveDate, weekday: u8, days: &[(i8, u8)]) -> bool {
    days.iter().any(|(ordinal, day)| {
        *day == weekday
            && if *ordinal < 0 {
                (date + Days::new(7)).month() != date.month()
            } else {
                date.day0() / 7 + 1 == u32::from(ordinal.unsigned_abs())
            }
    })
}

/// RFC 5545 names, Monday first.
pub const WEEKDAYS: [&str; 7] = ["MO", "TU", "WE", "TH", "FR", "SA", "SU"];

fn by_day(days: &[(i8, u8)]) -> String {
    let names: Vec<_> = days
        .iter()
        .map(|(ordinal, day)| {
            let name = WEEKDAYS[usize::from(*day)];
            if *ordinal == 0 { name.to_owned() } else { format!("{ordinal}{name}") }
        })
        .collect();
    format!(";BYDAY={}", names.join(","))
}

fn by_month_day(dates: &[u8]) -> String {
    let names: Vec<_> = dates.iter().map(u8::to_string).collect();
    format!(";BYMONTHDAY={}", names.join(","))
}
