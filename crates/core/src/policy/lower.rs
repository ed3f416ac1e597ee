//! What does a policy mean? The single bridge from the wire to a set of instants.
//!
//! Total: whatever is wrong becomes a problem, and a policy with an error denotes the empty set, so that doubt closes the gate
//! (POL-8). The `maintenanceSchedule` is lowered and checked whatever the strategy (POL-1): a fault in it must not wait for the
//! day on which somebody switches the strategy back.

use api::policy;
use schedule::{
    Exclusion, Length, Month, Ordinal, Recurrence, Schedule, TimeOfDay, TimeSet, Weekday, Zone,
};

use crate::{
    document::{
        format::{self, Flaw},
        problem::{Code, FieldPath, Problem},
    },
    policy::{
        part::{Days, Part, PartKind, Recurring},
        strategy,
    },
};

/// What a policy means.
#[derive(Clone, Debug)]
pub struct Lowered {
    /// When changes may be initiated.
    pub set: TimeSet,
    /// The strategy that was lowered.
    pub strategy: policy::Strategy,
    /// What it is made of under that strategy, for those who explain or draw it.
    pub parts: Part,
    /// The maintenance schedule, whatever the strategy.
    pub schedule: Part,
    /// The zone in which people read it.
    pub zone: Zone,
    /// Whatever is wrong, warnings included.
    pub problems: Vec<Problem>,
}

/// Lowers a specification.
pub fn lower(spec: &policy::PolicySpec) -> Lowered {
    let policy::PolicySpec { strategy, maintenance_schedule } = spec;
    let path = FieldPath::of("spec.maintenanceSchedule");
    let mut problems = Vec::new();
    let given = maintenance_schedule.clone().unwrap_or_default();
    let (schedule, zone) = lower_schedule(&given, &path, &mut problems);
    let row = strategy::row(*strategy);
    if row.is_none() {
        problems.push(Problem::new(
            &FieldPath::of("spec.strategy"),
            Code::NotAllowed,
            "the strategy is not one that this build knows",
        ));
    }
    let parts = match row {
        Some(row) if !problems.iter().any(Problem::is_error) => (row.parts)(schedule.clone()),
        _ => Part::never(),
    };
    Lowered { set: parts.set.clone(), strategy: *strategy, parts, schedule, zone, problems }
}

/// The maintenance schedule as parts: the windows, and the days that are taken out of them.
fn lower_schedule(
    given: &policy::MaintenanceSchedule,
    path: &FieldPath,
    problems: &mut Vec<Problem>,
) -> (Part, Zone) {
    let policy::MaintenanceSchedule { time_zone, permit, exclude } = given;
    let zone = time_zone
        .as_deref()
        .map(format::zone)
        .and_then(|zone| keep(zone, &path.key("timeZone"), problems))
        .unwrap_or_else(Zone::utc);
    let mut exclusions = Vec::new();
    let permit_path = path.key("permit");
    let windows = permit.as_ref().map(|permit| lower_permit(permit, &zone, &permit_path, problems));
    for (place, exclusion) in exclude.iter().flatten().enumerate() {
        let path = path.key("exclude").index(place);
        exclusions.extend(lower_exclusion(exclusion, &path, problems));
    }
    if permit.is_none() && exclusions.is_empty() {
        let nothing = Part { label: path.to_string(), kind: PartKind::Nothing, ..Part::never() };
        return (nothing, zone);
    }
    // One leaf in a few words of memory, and no intersection of the parts: a fleet has thousands of policies, and each is asked all the time.
    let recurring = windows.iter().flatten().flat_map(Part::recurring).next();
    let whole = recurring
        .map(Recurring::windows)
        .transpose()
        .and_then(|windows| Schedule::new(windows, &exclusions, &zone));
    let set = match whole {
        // A permit that could not be lowered must not read as "no permit", which would permit everything (TIME-11).
        _ if matches!(windows, Some(None)) => TimeSet::never(),
        Ok(schedule) => TimeSet::from(schedule),
        Err(error) => {
            problems.push(Problem::new(path, Code::NotAllowed, error.to_string()));
            TimeSet::never()
        }
    };
    let mut parts = vec![match windows {
        Some(Some(windows)) => windows,
        Some(None) => Part { label: permit_path.to_string(), ..Part::never() },
        None => Part { label: path.to_string(), kind: PartKind::Everything, ..Part::always() },
    }];
    if !exclusions.is_empty() {
        let label = path.key("exclude").to_string();
        parts.extend(Part::excluded(label, exclusions, zone.clone()).ok());
    }
    (Part { label: path.to_string(), set, kind: PartKind::All(parts) }, zone)
}

fn lower_permit(
    permit: &policy::Permit,
    zone: &Zone,
    path: &FieldPath,
    problems: &mut Vec<Problem>,
) -> Option<Part> {
    let policy::Permit { recurrence, start_time, duration, end_time } = permit;
    let before = problems.len();
    let (mut start, mut length) = (TimeOfDay::MIDNIGHT, Length::RestOfDay);
    if let Some(text) = start_time {
        let read = keep(format::time_of_day(text), &path.key("startTime"), problems);
        start = read.unwrap_or(start);
    }
    if let Some(text) = duration {
        let seconds = keep(format::duration(text), &path.key("duration"), problems);
        length = seconds.map_or(length, Length::Elapsed);
    }
    if let Some(text) = end_time {
        let end = keep(format::time_of_day(text), &path.key("endTime"), problems);
        length = end.map_or(Length::RestOfDay, Length::Until);
    }
    if duration.is_some() && end_time.is_some() {
        let detail = "duration and endTime are both given";
        let problem = Problem::new(&path.key("endTime"), Code::Conflict, detail);
        problems.push(problem.hint("keep one of them: duration or endTime"));
    }
    let label = path.to_string();
    let path = path.key("recurrence");
    let lowered = recurrence.as_ref().map_or_else(|| Ok(Recurrence::every_day()), recurrence_of);
    let recurrence = match lowered {
        Ok(recurrence) => recurrence,
        Err(detail) => {
            problems.push(Problem::new(&path, Code::NotAllowed, detail));
            return None;
        }
    };
    if recurrence.never_fires() {
        problems.push(
            Problem::new(&path, Code::NeverFires, format!("never fires: {}", never(&recurrence)))
                .hint("no window will ever open; check the dates against the month"),
        );
    }
    let days = Days::Recurrence(recurrence);
    match Part::windows(label, Recurring { days, start, length, zone: zone.clone() }) {
        Ok(windows) if problems.iter().skip(before).all(|problem| !problem.is_error()) => {
            Some(windows)
        }
        Ok(_) => None,
        Err(error) => {
            problems.push(Problem::new(&path, Code::NotAllowed, error.to_string()));
            None
        }
    }
}

/// What is wrong with a permit alone.
pub fn permit_problems(permit: &policy::Permit, path: &FieldPath) -> Vec<Problem> {
    let mut problems = Vec::new();
    lower_permit(permit, &Zone::utc(), path, &mut problems);
    problems
}

/// What is wrong with an exclusion alone.
pub fn exclusion_problems(exclusion: &policy::Exclusion, path: &FieldPath) -> Vec<Problem> {
    let mut problems = Vec::new();
    lower_exclusion(exclusion, path, &mut problems);
    problems
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

fn lower_exclusion(
    given: &policy::Exclusion,
    path: &FieldPath,
    problems: &mut Vec<Problem>,
) -> Option<Exclusion> {
    let policy::Exclusion { from_date, until_date, reason } = given;
    let from = keep(format::date(from_date), &path.key("fromDate"), problems);
    let until = until_date
        .as_deref()
        .map(|text| keep(format::date(text), &path.key("untilDate"), problems));
    let (from, until) = match (from, until) {
        (Some(from), None) => (from, None),
        (Some(from), Some(Some(until))) => (from, Some(until)),
        _ => return None,
    };
    let lowered = Exclusion::new(from, until, reason.as_deref());
    if lowered.is_err() {
        let until = until_date.as_deref().unwrap_or_default();
        let detail = format!("untilDate {until} is not after fromDate {from_date}");
        let problem = Problem::new(&path.key("untilDate"), Code::EmptyRange, detail);
        problems.push(problem.hint(
            "untilDate is the first day that is not excluded; leave it out to exclude one day",
        ));
    }
    lowered.ok()
}

fn keep<T>(read: Result<T, Flaw>, path: &FieldPath, problems: &mut Vec<Problem>) -> Option<T> {
    read.map_err(|flaw| problems.push(flaw.of(path))).ok()
}

#[cfg(test)]
mod tests;
