//! The `croner` crate: cron syntax with `#` and `L`.

use std::str::FromStr;

use chrono::{DateTime, Utc};
use croner::Cron;

use super::{Engine, complete, cron_crate};
use crate::naive::{Starts, Walk, step};
use crate::rule::{Rule, Shape};

fn utc(at: i64) -> DateTime<Utc> {
    DateTime::from_timestamp(at, 0).expect("benchmark instants are within chrono's range")
}

struct Croner(Cron);

impl Starts for Croner {
    fn next(&self, at: i64) -> Option<i64> {
        self.0.find_next_occurrence(&utc(at), false).ok().map(|start| start.timestamp())
    }

    fn visit(&self, from: i64, see: &mut dyn FnMut(i64) -> Walk) {
        step(|at| self.next(at), from, see);
    }
}

fn nth(days: &[(i8, u8)]) -> String {
    let names: Vec<_> = days
        .iter()
        .map(|(ordinal, day)| {
            let day = (day + 1) % 7;
            if *ordinal < 0 { format!("{day}#L") } else { format!("{day}#{ordinal}") }
        })
        .collect();
    names.join(",")
}

pub fn compile(rule: &Rule) -> Option<Box<dyn Engine>> {
    let [dates, months, weekdays] = match &rule.shape {
        Shape::MonthlyByDay { every, days } if 12 % every == 0 => {
            ["*".to_owned(), cron_crate::months(*every), nth(days)]
        }
        Shape::YearlyByDay { month, days } => ["*".to_owned(), month.to_string(), nth(days)],
        _ => cron_crate::fields(rule)?,
    };
    let (hour, minute) = (rule.start / 3_600, rule.start / 60 % 60);
    let text = format!("{minute} {hour} {dates} {months} {weekdays}");
    Some(complete(Croner(Cron::from_str(&text).expect("our own cron text is valid")), rule))
}
