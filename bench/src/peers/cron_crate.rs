//! The `cron` crate: what its syntax can say, which leaves out day and week intervals and nth weekdays.

use std::str::FromStr;

use chrono::{DateTime, Utc};
use cron::Schedule;

use super::{Engine, complete};
use crate::naive::{Starts, Walk, step};
use crate::rule::{Rule, Shape};

fn utc(at: i64) -> DateTime<Utc> {
    DateTime::from_timestamp(at, 0).expect("benchmark instants are within chrono's range")
}

struct Cron(Schedule);

impl Starts for Cron {
    fn next(&self, at: i64) -> Option<i64> {
        self.0.after(&utc(at)).next().map(|start| start.timestamp())
    }

    fn visit(&self, from: i64, see: &mut dyn FnMut(i64) -> Walk) {
        step(|at| self.next(at), from, see);
    }
}

/// Day of month, month and weekday fields, if cron can say them.
pub fn fields(rule: &Rule) -> Option<[String; 3]> {
    const NAMES: [&str; 7] = ["MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN"];
    let any = || "*".to_owned();
    let list = |numbers: &[u8]| numbers.iter().map(u8::to_string).collect::<Vec<_>>().join(",");
    match &rule.shape {
        Shape::Daily { every: 1 } => Some([any(), any(), any()]),
        Shape::Weekly { every: 1, days } => {
            let names: Vec<_> = days.iter().map(|day| NAMES[usize::from(*day)]).collect();
            Some([any(), any(), names.join(",")])
        }
        Shape::MonthlyByDate { every, dates } if 12 % every == 0 => {
            Some([list(dates), months(*every), any()])
        }
        Shape::YearlyByDate { month, dates } => Some([list(dates), month.to_string(), any()]),
        _ => None,
    }
}

/// Every nth month from January, which cron can say only if n divides twelve.
pub fn months(every: u8) -> String {
    if every == 1 {
        return "*".to_owned();
    }
    let months: Vec<_> =
        (1..=12u8).step_by(usize::from(every)).map(|month| month.to_string()).collect();
    months.join(",")
}

pub fn compile(rule: &Rule) -> Option<Box<dyn Engine>> {
    let [dates, months, weekdays] = fields(rule)?;
    let (hour, minute) = (rule.start / 3_600, rule.start / 60 % 60);
    let text = format!("0 {minute} {hour} {dates} {months} {weekdays}");
    Some(complete(Cron(Schedule::from_str(&text).expect("our own cron text is valid")), rule))
}
