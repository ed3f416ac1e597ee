//! How is a rule written in the other form? Structured recurrences and RFC 5545 rules.
//!
//! Each way says what cannot be said in the other form, and never drops it in silence: an RRULE that a structured recurrence cannot
//! hold is refused with the reason, and what an RRULE lacks by nature (a length, exclusions) comes as a note beside it.

pub mod version;

use api::policy;
use schedule::{Date, Form, Length, Ordinal, Recurrence, Rrule, TimeOfDay, Weekday, Zone};

use crate::policy::{
    explain::length_text,
    part::{Days, Part, Recurring},
};

/// A schedule as an RFC 5545 rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// The `DTSTART` line: the first window since 1970, in the zone of the schedule.
    pub start: String,
    /// The `RRULE` line.
    pub rule: String,
    /// What the rule cannot say.
    pub notes: Vec<String>,
}

/// Writes a schedule as a rule. None if it has no windows of its own, or several kinds of them.
pub fn to_rule(schedule: &Part) -> Option<Rule> {
    let mut recurring = schedule.recurring();
    let (Some(only), None) = (recurring.next(), recurring.next()) else { return None };
    let Recurring { days: Days::Recurrence(recurrence), start, length, zone } = only else {
        return None;
    };
    let eve = Date::from_days_since_epoch(-1).ok()?;
    // The first window itself, so that readers who count DTSTART as a window count no false one. It has the phase of the rule,
    // which is anchored at 1970-01-01 (TIME-3).
    let first = recurrence.next_date(eve);
    let mut notes = vec![match *length {
        Length::RestOfDay if *start == TimeOfDay::MIDNIGHT => {
            "an RRULE has no length: each window goes on the whole day".into()
        }
        length => format!("an RRULE has no length: each window goes on {}", length_text(length)),
    }];
    match schedule.exclusions().count() {
        0 => {}
        1 => notes.push("an RRULE has no exclusions: 1 is left out".into()),
        count => notes.push(format!("an RRULE has no exclusions: {count} are left out")),
    }
    if first.is_none() {
        notes.push("the rule never fires".into());
    }
    let date = first.unwrap_or(eve.tomorrow()).to_string().replace('-', "");
    let seconds = start.seconds();
    let time = format!("{:02}{:02}{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
    let start = if zone.is_utc() {
        format!("DTSTART:{date}T{time}Z")
    } else {
        format!("DTSTART;TZID={}:{date}T{time}", zone.name())
    };
    Some(Rule { start, rule: format!("RRULE:{}", Rrule::from_recurrence(recurrence)), notes })
}

/// What a rule says in the structured form.
#[derive(Clone, Debug)]
pub struct Structured {
    /// The days on which windows open.
    pub recurrence: Recurrence,
    /// The time at which they open, if the rule says so.
    pub start: Option<TimeOfDay>,
    /// The zone, if the rule names one.
    pub zone: Option<Zone>,
    /// What is not quite the same.
    pub notes: Vec<String>,
}

/// Reads a rule into the structured form; the error says which part has none, at its place in the rule as it prints.
pub fn structured(rule: &Rrule) -> Result<Structured, schedule::Error> {
    let schedule::Lowered { recurrence, begins } = rule.recurrence()?;
    let mut notes = Vec::new();
    if let Some(begins) = begins {
        notes.push(format!(
            "DTSTART: a recurrence has no first day, so there are windows before {begins} too"
        ));
    }
    let mut start = rule.start_time();
    if let Some(said) = start.filter(|start| start.seconds() % 60 != 0) {
        let minute = TimeOfDay::from_seconds(said.seconds() / 60 * 60).unwrap_or(said);
        notes.push(format!("DTSTART: windows open on a full minute, so {said} becomes {minute}"));
        start = Some(minute);
    }
    Ok(Structured { recurrence, start, zone: rule.zone(), notes })
}

/// The wire form of a structured recurrence.
pub fn on_the_wire(recurrence: &Recurrence) -> policy::Recurrence {
    let mut wire = policy::Recurrence {
        frequency: policy::Frequency::Daily,
        daily: None,
        weekly: None,
        monthly: None,
        yearly: None,
    };
    let interval = |interval: &u16| Some(i32::from(*interval));
    let dates = |dates: &[u8]| dates.iter().map(|date| i32::from(*date)).collect();
    let days = |days: &[(Ordinal, Weekday)]| days.iter().copied().map(weekday_of_month).collect();
    match recurrence.form() {
        Form::Daily { interval: n } => wire.daily = Some(policy::Daily { interval: interval(n) }),
        Form::Weekly { interval: n, days } => {
            wire.frequency = policy::Frequency::Weekly;
            wire.weekly = Some(policy::Weekly {
                days_of_week: days.iter().copied().map(day_of_week).collect(),
                interval: interval(n),
            });
        }
        Form::MonthlyByDate { interval: n, dates: given } => {
            wire.frequency = policy::Frequency::Monthly;
            let date = policy::MonthlyDate { dates_of_month: dates(given), interval: interval(n) };
            wire.monthly =
                Some(policy::Monthly { by: policy::By::Date, date: Some(date), day: None });
        }
        Form::MonthlyByDay { interval: n, days: given } => {
            wire.frequency = policy::Frequency::Monthly;
            let day = policy::MonthlyDay { days: days(given), interval: interval(n) };
            wire.monthly =
                Some(policy::Monthly { by: policy::By::Day, date: None, day: Some(day) });
        }
        Form::YearlyByDate { month: given, dates: dates_given } => {
            wire.frequency = policy::Frequency::Yearly;
            let date =
                policy::YearlyDate { dates_of_month: dates(dates_given), month: month(*given) };
            wire.yearly =
                Some(policy::Yearly { by: policy::By::Date, date: Some(date), day: None });
        }
        Form::YearlyByDay { month: given, days: days_given } => {
            wire.frequency = policy::Frequency::Yearly;
            let day = policy::YearlyDay { days: days(days_given), month: month(*given) };
            wire.yearly = Some(policy::Yearly { by: policy::By::Day, date: None, day: Some(day) });
        }
    }
    wire
}

fn weekday_of_month((ordinal, day): (Ordinal, Weekday)) -> policy::WeekdayOfMonth {
    let week_of_month = match ordinal {
        Ordinal::First => policy::WeekOfMonth::First,
        Ordinal::Second => policy::WeekOfMonth::Second,
        Ordinal::Third => policy::WeekOfMonth::Third,
        Ordinal::Fourth => policy::WeekOfMonth::Fourth,
        Ordinal::Fifth => policy::WeekOfMonth::Fifth,
        Ordinal::Last => policy::WeekOfMonth::Last,
    };
    policy::WeekdayOfMonth { week_of_month, day_of_week: day_of_week(day) }
}

fn day_of_week(day: Weekday) -> policy::DayOfWeek {
    match day {
        Weekday::Monday => policy::DayOfWeek::Monday,
        Weekday::Tuesday => policy::DayOfWeek::Tuesday,
        Weekday::Wednesday => policy::DayOfWeek::Wednesday,
        Weekday::Thursday => policy::DayOfWeek::Thursday,
        Weekday::Friday => policy::DayOfWeek::Friday,
        Weekday::Saturday => policy::DayOfWeek::Saturday,
        Weekday::Sunday => policy::DayOfWeek::Sunday,
    }
}

fn month(month: schedule::Month) -> policy::Month {
    use schedule::Month as M;
    match month {
        M::January => policy::Month::January,
        M::February => policy::Month::February,
        M::March => policy::Month::March,
        M::April => policy::Month::April,
        M::May => policy::Month::May,
        M::June => policy::Month::June,
        M::July => policy::Month::July,
        M::August => policy::Month::August,
        M::September => policy::Month::September,
        M::October => policy::Month::October,
        M::November => policy::Month::November,
        M::December => policy::Month::December,
    }
}

#[cfg(test)]
mod tests;
