//! What does a schedule's rule say in plain words?

use schedule::{Form, Length, Ordinal, Recurrence, TimeOfDay, Weekday};

use super::length_text;
use crate::policy::part::{Days, Part, Recurring};

/// The rule of the windows: days, time, length, zone.
pub fn sentence(recurring: &Recurring) -> String {
    let Recurring { zone, days, start, length } = recurring;
    let days = match days {
        Days::Recurrence(recurrence) => self::days(recurrence),
        // Its first line is where it starts, if it says so.
        Days::Rrule(rule) => format!("by the rule {}", rule.to_string().replace('\n', " ")),
    };
    let whole_day = *start == TimeOfDay::MIDNIGHT && *length == Length::RestOfDay;
    let hours =
        if whole_day { "all day".into() } else { format!("from {start} {}", length_text(*length)) };
    format!("{days}, {hours}, {}", zone.name())
}

/// The rules of all windows of a policy; none if it has none.
pub fn sentences(parts: &Part) -> Option<String> {
    let rules: Vec<String> = parts.recurring().map(sentence).collect();
    (!rules.is_empty()).then(|| rules.join("; "))
}

/// The days of a recurrence, such as "every second week on Saturday and Sunday".
pub fn days(recurrence: &Recurrence) -> String {
    match recurrence.form() {
        Form::Daily { interval: 1 } => "every day".into(),
        Form::Daily { interval } => format!("every {} day", nth(*interval)),
        Form::Weekly { interval: 1, days } => format!("every {}", weekdays(days)),
        Form::Weekly { interval, days } => {
            format!("every {} week on {}", nth(*interval), weekdays(days))
        }
        Form::MonthlyByDate { interval, dates } => {
            format!("on the {} of {}", dates_text(dates), months(*interval))
        }
        Form::MonthlyByDay { interval, days } => {
            format!("on the {} of {}", ordinals(days), months(*interval))
        }
        Form::YearlyByDate { month, dates } => format!("on the {} of {month}", dates_text(dates)),
        Form::YearlyByDay { month, days } => format!("on the {} of {month}", ordinals(days)),
    }
}

fn months(interval: u16) -> String {
    if interval == 1 { "every month".into() } else { format!("every {} month", nth(interval)) }
}

fn weekdays(days: &[Weekday]) -> String {
    list(days.iter().map(ToString::to_string))
}

fn dates_text(dates: &[u8]) -> String {
    list(dates.iter().map(|date| nth(u16::from(*date))))
}

fn ordinals(days: &[(Ordinal, Weekday)]) -> String {
    list(days.iter().map(|(ordinal, day)| format!("{} {day}", ordinal.name().to_lowercase())))
}

fn nth(number: u16) -> String {
    let suffix = match (number % 100, number % 10) {
        (11..=13, _) => "th",
        (_, 1) => "st",
        (_, 2) => "nd",
        (_, 3) => "rd",
        _ => "th",
    };
    format!("{number}{suffix}")
}

fn list(words: impl Iterator<Item = String>) -> String {
    let words: Vec<String> = words.collect();
    match words.as_slice() {
        [rest @ .., last] if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        words => words.concat(),
    }
}
