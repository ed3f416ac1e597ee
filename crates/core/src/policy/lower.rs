//! What does a policy mean? The single bridge from the wire to a set of instants.
//!
//! Total: whatever is wrong becomes a problem, and a policy with an error denotes the empty set, so that doubt closes the gate
//! (POL-8). The `maintenanceSchedule` is lowered and checked whatever the strategy (POL-1): a fault in it must not wait for the
//! day on which somebody switches the strategy back.

use api::policy;
use schedule::{TimeSet, Zone};

use crate::{
    document::{
        format::{self, Flaw},
        problem::{Code, FieldPath, Problem},
    },
    policy::{
        exclusion::windows_without,
        part::{Part, PartKind, Recurring},
        strategy,
    },
};

use exclusion::lower_exclusion;
use recurring::Written;

mod exclusion;
mod recurring;

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

/// The maintenance schedule as parts: the windows, and what is taken out of them.
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
        exclusions.extend(lower_exclusion(exclusion, &zone, &path, problems));
    }
    if let Some(problem) = exclusion::too_much(exclude.as_deref(), &path.key("exclude")) {
        // Nothing is searched for what is refused.
        exclusions.clear();
        problems.push(problem);
    }
    if permit.is_none() && exclusions.is_empty() {
        let nothing = Part { label: path.to_string(), kind: PartKind::Nothing, ..Part::never() };
        return (nothing, zone);
    }
    let recurring = windows.iter().flatten().flat_map(Part::recurring).next();
    let whole = recurring
        .map(Recurring::windows)
        .transpose()
        .and_then(|windows| windows_without(windows, &exclusions, &zone));
    let set = match whole {
        // A permit that could not be lowered must not read as "no permit", which would permit everything (TIME-11).
        _ if matches!(windows, Some(None)) => TimeSet::never(),
        Ok(set) => set,
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
        parts.extend(Part::excluded(label, exclusions, &zone).ok());
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
    let written = Written {
        recurrence: recurrence.as_ref(),
        start_time: start_time.as_deref(),
        duration: duration.as_deref(),
        end_time: end_time.as_deref(),
        never: "no window will ever open",
    };
    let recurring = written.lower(zone, path, problems)?;
    let windows = Part::windows(path.to_string(), recurring);
    refused(windows, &path.key("recurrence"), problems)
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
    lower_exclusion(exclusion, &Zone::utc(), path, &mut problems);
    problems
}

/// What the engine made of something, or its refusal as a problem.
fn refused<T>(
    made: Result<T, schedule::Error>,
    path: &FieldPath,
    problems: &mut Vec<Problem>,
) -> Option<T> {
    made.map_err(|error| problems.push(Problem::new(path, Code::NotAllowed, error.to_string())))
        .ok()
}

fn keep<T>(read: Result<T, Flaw>, path: &FieldPath, problems: &mut Vec<Problem>) -> Option<T> {
    read.map_err(|flaw| problems.push(flaw.of(path))).ok()
}

#[cfg(test)]
mod tests;
