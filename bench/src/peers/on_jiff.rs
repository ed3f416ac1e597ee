//! The same engine as [`super::on_chrono`], on jiff's civil dates.

use jiff::civil::{Date, Weekday, date};

use super::on_chrono::{next_multiple, next_weekly};
use super::{Engine, complete};
use crate::naive::{Starts, Walk, step};
use crate::rule::{DAY, Rule, Shape, day_of};

struct OnJiff(Rule);

impl Starts for OnJiff {
    fn next(&self, at: i64) -> Option<i64> {
        let rule = &self.0;
        let day = day_of(at - i64::from(rule.start)) + 1;
        let found = match &rule.shape {
            Shape::Daily { every } => Some(next_multiple(day, i32::from(*every))),
            Shape::Weekly { every, days } => next_weekly(day, i32::from(*every), days),
            Shape::MonthlyByDate { every, dates } => {
                next_month(day, i32::from(*every), 0, |first| by_date(first, dates, day))
            }
            Shape::MonthlyByDay { every, days } => {
                next_month(day, i32::from(*every), 0, |first| by_day(first, days, day))
            }
            Shape::YearlyByDate { month, dates } => {
                next_month(day, 12, i32::from(*month) - 1, |first| by_date(first, dates, day))
            }
            Shape::YearlyByDay { month, days } => {
                next_month(day, 12, i32::from(*month) - 1, |first| by_day(first, days, day))
            }
        };
        found.map(|day| i64::from(day) * DAY + i64::from(rule.start))
    }

    fn visit(&self, from: i64, see: &mut dyn FnMut(i64) -> Walk) {
        step(|at| self.next(at), from, see);
    }
}

fn civil(day: i32) -> Date {
    let at = i64::from(day) * DAY;
    let stamp = jiff::Timestamp::from_second(at).expect("benchmark days are within jiff's range");
    jiff::tz::Offset::UTC.to_datetime(stamp).date()
}

fn number(date: Date) -> i32 {
    let stamp = jiff::tz::Offset::UTC.to_timestamp(date.to_datetime(jiff::civil::Time::midnight()));
    day_of(stamp.expect("a benchmark date is a valid instant").as_second())
}

fn next_month(day: i32, every: i32, phase: i32, hit: impl Fn(Date) -> Option<i32>) -> Option<i32> {
    let today = civil(day);
    let current = (i32::from(today.year()) - 1970) * 12 + i32::from(today.month()) - 1;
    let mut month = next_multiple(current - phase, every) + phase;
    while month < current + 4_800 {
        let found =
            hit(date((1970 + month.div_euclid(12)) as i16, month.rem_euclid(12) as i8 + 1, 1));
        if found.is_some() {
            return found;
        }
        month += every;
    }
    None
}

fn by_date(first: Date, dates: &[u8], from: i32) -> Option<i32> {
    dates
        .iter()
        .filter_map(|listed| Date::new(first.year(), first.month(), *listed as i8).ok())
        .map(number)
        .find(|day| *day >= from)
}

fn by_day(first: Date, days: &[(i8, u8)], from: i32) -> Option<i32> {
    days.iter()
        .filter_map(|(ordinal, day)| {
            let weekday = Weekday::from_monday_zero_offset(*day as i8).ok()?;
            first.nth_weekday_of_month(*ordinal, weekday).ok()
        })
        .map(number)
        .filter(|day| *day >= from)
        .min()
}

pub fn compile(rule: &Rule) -> Option<Box<dyn Engine>> {
    Some(complete(OnJiff(rule.clone()), rule))
}
