//! The `recurring` crate: jiff-based patterns. Its month interval clamps and drifts, so monthly rules use its cron pattern.

use jiff::ToSpan;
use jiff::civil::{DateTime, Weekday};
use jiff::tz::Offset;
use recurring::pattern::{cron, daily, interval};
use recurring::{Combine, Pattern, Series};

use super::{Engine, complete};
use crate::naive::{Starts, Walk, step};
use crate::rule::{DAY, Rule, Shape};

fn civil(at: i64) -> DateTime {
    let stamp =
        jiff::Timestamp::from_second(at).expect("benchmark instants are within jiff's range");
    Offset::UTC.to_datetime(stamp)
}

struct Recurring<P: Pattern>(Series<P>);

impl<P: Pattern> Starts for Recurring<P> {
    fn next(&self, at: i64) -> Option<i64> {
        let event = self.0.get_next_after(civil(at))?;
        Some(
            Offset::UTC
                .to_timestamp(event.start())
                .expect("an occurrence is a valid instant")
                .as_second(),
        )
    }

    fn visit(&self, from: i64, see: &mut dyn FnMut(i64) -> Walk) {
        step(|at| self.next(at), from, see);
    }
}

fn series<P: Pattern + 'static>(from: i64, pattern: P, rule: &Rule) -> Option<Box<dyn Engine>> {
    Some(complete(Recurring(Series::new(civil(from).., pattern)), rule))
}

pub fn compile(rule: &Rule) -> Option<Box<dyn Engine>> {
    let epoch = rule.epoch_start();
    let (hour, minute) = ((rule.start / 3_600) as i8, (rule.start / 60 % 60) as i8);
    let at_start = || cron().hour(hour).minute(minute).second(0);
    let dates = |dates: &[u8]| dates.iter().map(|date| *date as i8).collect::<Vec<_>>();
    match &rule.shape {
        Shape::Daily { every } => series(epoch, daily(i64::from(*every)), rule),
        Shape::Weekly { every: 1, days } => {
            let days: Vec<_> = days
                .iter()
                .map(|day| {
                    Weekday::from_monday_zero_offset(*day as i8).expect("a day is below seven")
                })
                .collect();
            series(epoch, at_start().weekdays(days), rule)
        }
        Shape::Weekly { every, days } => {
            // Relative to the Monday that begins week 0.
            let monday = epoch - 3 * DAY;
            let nth =
                |day: u8| interval((i64::from(*every) * 7).days()).offset(i64::from(day).days());
            match days.as_slice() {
                [a] => series(monday, nth(*a), rule),
                [a, b] => series(monday, nth(*a).and(nth(*b)), rule),
                [a, b, c] => series(monday, nth(*a).and(nth(*b)).and(nth(*c)), rule),
                _ => None,
            }
        }
        Shape::MonthlyByDate { every, dates: listed } if 12 % every == 0 => {
            let months = (1..=12i8).step_by(usize::from(*every));
            series(epoch, at_start().days(dates(listed)).months(months), rule)
        }
        Shape::YearlyByDate { month, dates: listed } => {
            series(epoch, at_start().days(dates(listed)).month(*month as i8), rule)
        }
        _ => None,
    }
}
