//! What a competent developer writes on chrono instead of taking an RRULE crate: integers for days and weeks, chrono's
//! calendar for months, no allocation, and a bound of 400 years on the walk.

use chrono::{Datelike, NaiveDate, Weekday};

use super::{Engine, complete};
use crate::naive::{Starts, Walk, step};
use crate::rule::{DAY, Rule, Shape, date_of, day_number, day_of, month_number, week_number};

pub struct OnChrono(pub Rule);

impl Starts for OnChrono {
    fn next(&self, at: i64) -> Option<i64> {
        let rule = &self.0;
        // The first day whose start lies after `at`.
        let day = day_of(at - i64::from(rule.start)) + 1;
        let found = match &rule.shape {
            Shape::Daily { every } => Some(next_multiple(day, i32::from(*every))),
            Shape::Weekly { every, days } => next_weekly(day, i32::from(*every), days),
            Shape::MonthlyByDate { every, dates } => {
                next_month(day, i32::from(*every), 0, |year, month| {
                    by_date(year, month, dates, day)
                })
            }
            Shape::MonthlyByDay { every, days } => {
                next_month(day, i32::from(*every), 0, |year, month| by_day(year, month, days, day))
            }
            Shape::YearlyByDate { month, dates } => {
                next_month(day, 12, i32::from(*month) - 1, |year, month| {
                    by_date(year, month, dates, day)
                })
            }
            Shape::YearlyByDay { month, days } => {
                next_month(day, 12, i32::from(*month) - 1, |year, month| {
                    by_day(year, month, days, day)
                })
            }
        };
        found.map(|day| i64::from(day) * DAY + i64::from(rule.start))
    }

    fn visit(&self, from: i64, see: &mut dyn FnMut(i64) -> Walk) {
        step(|at| self.next(at), from, see);
    }
}

/// The least multiple of `every` at or above `value`.
pub fn next_multiple(value: i32, every: i32) -> i32 {
    value + (-value).rem_euclid(every)
}

/// The first listed weekday of an active week, at or after `day`.
pub fn next_weekly(day: i32, every: i32, days: &[u8]) -> Option<i32> {
    let week = week_number(day);
    let active = next_multiple(week, every);
    if active == week {
        let weekday = (day + 3).rem_euclid(7);
        if let Some(later) = days.iter().find(|listed| i32::from(**listed) >= weekday) {
            return Some(day - weekday + i32::from(*later));
        }
    }
    let active = next_multiple(week + i32::from(active == week), every);
    days.first().map(|first| active * 7 - 3 + i32::from(*first))
}

fn next_month(
    day: i32,
    every: i32,
    phase: i32,
    hit: impl Fn(i32, u32) -> Option<i32>,
) -> Option<i32> {
    let current = month_number(date_of(day));
    let mut month = next_multiple(current - phase, every) + phase;
    while month < current + 4_800 {
        let found = hit(1970 + month.div_euclid(12), month.rem_euclid(12) as u32 + 1);
        if found.is_some() {
            return found;
        }
        month += every;
    }
    None
}

fn by_date(year: i32, month: u32, dates: &[u8], from: i32) -> Option<i32> {
    dates
        .iter()
        .filter_map(|date| NaiveDate::from_ymd_opt(year, month, u32::from(*date)))
        .map(day_number)
        .find(|day| *day >= from)
}

fn by_day(year: i32, month: u32, days: &[(i8, u8)], from: i32) -> Option<i32> {
    days.iter()
        .filter_map(|(ordinal, day)| nth_weekday(year, month, *ordinal, *day))
        .map(day_number)
        .filter(|day| *day >= from)
        .min()
}

fn nth_weekday(year: i32, month: u32, ordinal: i8, day: u8) -> Option<NaiveDate> {
    const WEEKDAYS: [Weekday; 7] = [
        Weekday::Mon,
        Weekday::Tue,
        Weekday::Wed,
        Weekday::Thu,
        Weekday::Fri,
        Weekday::Sat,
        Weekday::Sun,
    ];
    let weekday = WEEKDAYS[usize::from(day)];
    if ordinal > 0 {
        return NaiveDate::from_weekday_of_month_opt(year, month, weekday, ordinal as u8);
    }
    let next_month = if month == 12 { (year + 1, 1) } else { (year, month + 1) };
    let last = NaiveDate::from_ymd_opt(next_month.0, next_month.1, 1)?.pred_opt()?;
    let back = last.weekday().days_since(weekday);
    last.with_day(last.day() - back)
}

pub fn compile(rule: &Rule) -> Option<Box<dyn Engine>> {
    Some(complete(OnChrono(rule.clone()), rule))
}
