//! What does an entry of `exclude` mean? Exactly one of three forms (TIME-10).

use api::policy::{self, MOST_RECURRING};
use schedule::Zone;

use super::{Written, keep, refused};
use crate::{
    document::{
        format,
        problem::{Code, FieldPath, Problem},
    },
    policy::exclusion::Exclusion,
};

const FORMS: &str = "give fromDate for whole days, from and until for instants, or recurrence, and only one of them";

/// Reads one entry; none if anything of it cannot be read.
pub(super) fn lower_exclusion(
    given: &policy::Exclusion,
    zone: &Zone,
    path: &FieldPath,
    problems: &mut Vec<Problem>,
) -> Option<Exclusion> {
    let days = given.from_date.is_some() || given.until_date.is_some();
    let instants = given.from.is_some() || given.until.is_some();
    let recurs = given.recurrence.is_some();
    let times = [
        ("startTime", &given.start_time),
        ("duration", &given.duration),
        ("endTime", &given.end_time),
    ];
    for (field, _) in times.iter().filter(|(_, text)| text.is_some() && !recurs) {
        let detail = format!("{field} is given without a recurrence");
        let problem = Problem::new(&path.key(field), Code::Conflict, detail);
        problems.push(problem.hint(format!(
            "add a recurrence, such as {{frequency: Daily, daily: {{}}}}, or remove {field}"
        )));
    }
    match (days, instants, recurs) {
        (true, false, false) => lower_days(given, zone, path, problems),
        (false, true, false) => lower_instants(given, path, problems),
        (false, false, true) => {
            let written = Written {
                recurrence: given.recurrence.as_ref(),
                start_time: given.start_time.as_deref(),
                duration: given.duration.as_deref(),
                end_time: given.end_time.as_deref(),
                never: "nothing is ever excluded by it",
            };
            let rule = written.lower(zone, path, problems)?;
            let exclusion = Exclusion::recurring(rule, given.reason.as_deref());
            refused(exclusion, &path.key("recurrence"), problems)
        }
        (false, false, false) => {
            let detail = "fromDate, from and recurrence are all missing";
            problems.push(Problem::new(path, Code::MissingField, detail).hint(FORMS));
            None
        }
        _ => {
            let forms = [(days, "fromDate"), (instants, "from"), (recurs, "recurrence")];
            let given = forms.into_iter().filter(|(given, _)| *given).map(|(_, name)| name);
            let given: Vec<&str> = given.collect();
            let detail = format!("{} are given together", given.join(" and "));
            problems.push(Problem::new(path, Code::Conflict, detail).hint(FORMS));
            None
        }
    }
}

fn lower_days(
    given: &policy::Exclusion,
    zone: &Zone,
    path: &FieldPath,
    problems: &mut Vec<Problem>,
) -> Option<Exclusion> {
    let Some(from_date) = &given.from_date else {
        let problem = Problem::new(path, Code::MissingField, "fromDate is missing");
        problems.push(problem.hint("add fromDate, the first excluded day"));
        return None;
    };
    let from = keep(format::date(from_date), &path.key("fromDate"), problems);
    let until = given.until_date.as_deref();
    let until = until.map(|text| keep(format::date(text), &path.key("untilDate"), problems));
    let (from, until) = match (from, until) {
        (Some(from), None) => (from, None),
        (Some(from), Some(Some(until))) => (from, Some(until)),
        _ => return None,
    };
    let lowered = schedule::Exclusion::new(from, until, given.reason.as_deref());
    if lowered.is_err() {
        let until = given.until_date.as_deref().unwrap_or_default();
        let detail = format!("untilDate {until} is not after fromDate {from_date}");
        let problem = Problem::new(&path.key("untilDate"), Code::EmptyRange, detail);
        problems.push(problem.hint(
            "untilDate is the first day that is not excluded; leave it out to exclude one day",
        ));
    }
    lowered.ok().map(|days| Exclusion::days(days, zone))
}

fn lower_instants(
    given: &policy::Exclusion,
    path: &FieldPath,
    problems: &mut Vec<Problem>,
) -> Option<Exclusion> {
    let mut read = |field: &str, text: Option<&str>| {
        if text.is_none() {
            let problem = Problem::new(path, Code::MissingField, format!("{field} is missing"));
            let hint = format!("add {field}: an exclusion by instants has both from and until");
            problems.push(problem.hint(hint));
        }
        keep(format::date_time(text?), &path.key(field), problems)
    };
    let from = read("from", given.from.as_deref());
    let until = read("until", given.until.as_deref());
    let (from, until) = from.zip(until)?;
    if until <= from {
        let detail = format!("until {until} is not after from {from}");
        let problem = Problem::new(&path.key("until"), Code::EmptyRange, detail);
        problems.push(problem.hint("until is the first instant that is not excluded"));
        return None;
    }
    Some(Exclusion::instants(from..until, given.reason.as_deref()))
}

/// TIME-14: each rule is one more calendar to search for the next opening, and rules that seldom meet may leave none for centuries. The interval
/// of `permit` does not count: it makes as many windows fewer as it makes years more.
pub(super) fn too_much(exclude: Option<&[policy::Exclusion]>, path: &FieldPath) -> Option<Problem> {
    let rules: Vec<_> =
        exclude.into_iter().flatten().filter_map(|one| one.recurrence.as_ref()).collect();
    let count = rules.len();
    if count > MOST_RECURRING {
        let detail = format!("{count} exclusions recur, and at most {MOST_RECURRING} may");
        let hint = "put days with the same hours into one recurrence, or write dates";
        return Some(Problem::new(path, Code::OutOfRange, detail).hint(hint));
    }
    let meet = rules.into_iter().map(interval).fold(1_u32, common_multiple);
    let searched = u64::from(meet) * count as u64;
    (searched > MOST_RECURRING as u64).then(|| {
        let detail = format!(
            "{count} exclusions recur whose intervals meet every {meet} times only: that makes {searched}, and at most {MOST_RECURRING} may be searched"
        );
        Problem::new(path, Code::OutOfRange, detail)
            .hint("use fewer of them, or an interval of 1, or write dates")
    })
}

fn interval(rule: &policy::Recurrence) -> u32 {
    let daily = rule.daily.as_ref().and_then(|daily| daily.interval);
    let weekly = rule.weekly.as_ref().and_then(|weekly| weekly.interval);
    let monthly = rule.monthly.as_ref().and_then(|monthly| {
        let date = monthly.date.as_ref().and_then(|date| date.interval);
        date.or_else(|| monthly.day.as_ref().and_then(|day| day.interval))
    });
    daily.or(weekly).or(monthly).and_then(|every| u32::try_from(every).ok()).unwrap_or(1).max(1)
}

fn common_multiple(a: u32, b: u32) -> u32 {
    let (mut divisor, mut rest) = (a, b);
    while rest != 0 {
        (divisor, rest) = (rest, divisor % rest);
    }
    (a / divisor).saturating_mul(b)
}
