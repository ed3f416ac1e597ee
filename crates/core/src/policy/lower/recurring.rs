//! What does a recurrence mean, with its time of day and its length? The same for what opens windows and for what excludes from them.

use api::policy;
use schedule::{Length, Month, Ordinal, Recurrence, TimeOfDay, Weekday, Zone};

use super::keep;
use crate::{
    document::{
        format,
        problem::{Code, FieldPath, Problem},
    },
    policy::part::{Days, Recurring},
};

/// What somebody wrote: days, time and length.
#[derive(Clone, Copy)]
pub(super) struct Written<'a> {
    pub(super) recurrence: Option<&'a policy::Recurrence>,
    pub(super) start_time: Option<&'a str>,
    pub(super) duration: Option<&'a str>,
    pub(super) end_time: Option<&'a str>,
    /// What follows if it never comes.
    pub(super) never: &'static str,
}

impl Written<'_> {
    /// Reads it; none if anything of it cannot be read.
    pub(super) fn lower(
        self,
        zone: &Zone,
        path: &FieldPath,
        problems: &mut Vec<Problem>,
    ) -> Option<Recurring> {
        let before = problems.len();
        let (mut start, mut length) = (TimeOfDay::MIDNIGHT, Length::RestOfDay);
        if let Some(text) = self.start_time {
            let read = keep(format::time_of_day(text), &path.key("startTime"), problems);
            start = read.unwrap_or(start);
        }
        if let Some(text) = self.duration {
            let seconds = keep(format::duration(text), &path.key("duration"), problems);
            length = seconds.map_or(length, Length::Elapsed);
        }
        if let Some(text) = self.end_time {
            let end = keep(format::time_of_day(text), &path.key("endTime"), problems);
            length = end.map_or(Length::RestOfDay, Length::Until);
        }
        if self.duration.is_some() && self.end_time.is_some() {
            let detail = "duration and endTime are both given";
            let problem = Problem::new(&path.key("endTime"), Code::Conflict, detail);
            problems.push(problem.hint("keep one of them: duration or endTime"));
        }
        let path = path.key("recurrence");
        let recurrence =
            match self.recurrence.map_or_else(|| Ok(Recurrence::every_day()), recurrence_of) {
                Ok(recurrence) => recurrence,
                Err(detail) => {
                    problems.push(Problem::new(&path, Code::NotAllowed, detail));
                    return None;
                }
            };
        if recurrence.never_fires() {
            let detail = format!("never fires: {}", never(&recurrence));
            let hint = format!("{}; check the dates against the month", self.never);
            problems.push(Problem::new(&path, Code::NeverFires, detail).hint(hint));
        }
        let whole = problems.iter().skip(before).all(|problem| !problem.is_error());
        let days = Days::Recurrence(recurrence);
        whole.then(|| Recurring { days, start, length, zone: zone.clone() })
    }
}

fn never(recurrence: &Recurrence) -> &'static str {
    match recurrence.form() {
        schedule::Form::YearlyByDate { .. } => "that month never has any of these dates",
        _ => "no day meets this rule",
    }
}

/// The union of POL-2, read by its discriminators. The shape check has said what is wrong with it in the author's words; the
/// messages here are for objects that reach the controller past it.
fn recurrence_of(given: &policy::Recurrence) -> Result<Recurrence, String> {
    use policy::{By, Frequency};
    let missing = |arm: &str| format!("the stanza {arm} is missing");
    let lowered = match given.frequency {
        Frequency::Daily => {
            let daily = given.daily.as_ref().ok_or_else(|| missing("daily"))?;
            Recurrence::daily(interval(daily.interval)?)
        }
        Frequency::Weekly => {
            let weekly = given.weekly.as_ref().ok_or_else(|| missing("weekly"))?;
            let days: Result<Vec<_>, _> =
                weekly.days_of_week.iter().copied().map(weekday).collect();
            Recurrence::weekly(interval(weekly.interval)?, &days?)
        }
        Frequency::Monthly => {
            let monthly = given.monthly.as_ref().ok_or_else(|| missing("monthly"))?;
            match (monthly.by, &monthly.date, &monthly.day) {
                (By::Date, Some(by), _) => {
                    Recurrence::monthly_by_date(interval(by.interval)?, &dates(&by.dates_of_month)?)
                }
                (By::Day, _, Some(by)) => {
                    Recurrence::monthly_by_day(interval(by.interval)?, &weekdays(&by.days)?)
                }
                (By::Date, None, _) => return Err(missing("monthly.date")),
                (By::Day, _, None) => return Err(missing("monthly.day")),
                (By::Unknown, ..) => return Err("monthly.by is not known".into()),
            }
        }
        Frequency::Yearly => {
            let yearly = given.yearly.as_ref().ok_or_else(|| missing("yearly"))?;
            match (yearly.by, &yearly.date, &yearly.day) {
                (By::Date, Some(by), _) => {
                    Recurrence::yearly_by_date(month(by.month)?, &dates(&by.dates_of_month)?)
                }
                (By::Day, _, Some(by)) => {
                    Recurrence::yearly_by_day(month(by.month)?, &weekdays(&by.days)?)
                }
                (By::Date, None, _) => return Err(missing("yearly.date")),
                (By::Day, _, None) => return Err(missing("yearly.day")),
                (By::Unknown, ..) => return Err("yearly.by is not known".into()),
            }
        }
        Frequency::Unknown => return Err("the frequency is not one that this build knows".into()),
    };
    lowered.map_err(|error| error.to_string())
}

fn interval(given: Option<i32>) -> Result<u16, String> {
    u16::try_from(given.unwrap_or(1)).map_err(|_| "the interval is out of range".into())
}

fn dates(given: &[i32]) -> Result<Vec<u8>, String> {
    let date = |date: &i32| u8::try_from(*date).map_err(|_| format!("there is no date {date}"));
    given.iter().map(date).collect()
}

fn weekdays(given: &[policy::WeekdayOfMonth]) -> Result<Vec<(Ordinal, Weekday)>, String> {
    given.iter().map(|day| Ok((ordinal(day.week_of_month)?, weekday(day.day_of_week)?))).collect()
}

fn ordinal(given: policy::WeekOfMonth) -> Result<Ordinal, String> {
    Ok(match given {
        policy::WeekOfMonth::First => Ordinal::First,
        policy::WeekOfMonth::Second => Ordinal::Second,
        policy::WeekOfMonth::Third => Ordinal::Third,
        policy::WeekOfMonth::Fourth => Ordinal::Fourth,
        policy::WeekOfMonth::Fifth => Ordinal::Fifth,
        policy::WeekOfMonth::Last => Ordinal::Last,
        policy::WeekOfMonth::Unknown => return Err("weekOfMonth is not known".into()),
    })
}

fn weekday(given: policy::DayOfWeek) -> Result<Weekday, String> {
    Ok(match given {
        policy::DayOfWeek::Monday => Weekday::Monday,
        policy::DayOfWeek::Tuesday => Weekday::Tuesday,
        policy::DayOfWeek::Wednesday => Weekday::Wednesday,
        policy::DayOfWeek::Thursday => Weekday::Thursday,
        policy::DayOfWeek::Friday => Weekday::Friday,
        policy::DayOfWeek::Saturday => Weekday::Saturday,
        policy::DayOfWeek::Sunday => Weekday::Sunday,
        policy::DayOfWeek::Unknown => return Err("the day of the week is not known".into()),
    })
}

fn month(given: policy::Month) -> Result<Month, String> {
    Ok(match given {
        policy::Month::January => Month::January,
        policy::Month::February => Month::February,
        policy::Month::March => Month::March,
        policy::Month::April => Month::April,
        policy::Month::May => Month::May,
        policy::Month::June => Month::June,
        policy::Month::July => Month::July,
        policy::Month::August => Month::August,
        policy::Month::September => Month::September,
        policy::Month::October => Month::October,
        policy::Month::November => Month::November,
        policy::Month::December => Month::December,
        policy::Month::Unknown => return Err("the month is not known".into()),
    })
}
