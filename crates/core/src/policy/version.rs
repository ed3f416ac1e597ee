//! What does `spec.versionManagement` mean? The bridge from an earlier design to a set of instants with labelled parts.
//!
//! - D4-1: windows as a rule of RFC 5545 (TIME-13), days that are taken out of them, a pause; `enforcing: false` sets all of it aside. Nothing
//!   given means always.
//! - D4-3: nothing new is begun in the last hour of a window of at least an hour. A window is what rule and exclusions leave; a pause that
//!   ends within its last hour leaves nothing of it.
//! - D4-4: `assisted` reads as paused.
//! - D4-5: what the nodes of a `MachineConfigPool` cannot do is refused by name.
//!
//! Total: whatever cannot be used is a problem, and closes.

use api::{
    kinds,
    policy::Strategy,
    schema::{self, Kind},
    version_management::{ExcludedDays, MaintenanceWindows, PausedUntil, VersionManagement},
};
use schedule::{Exclusion, Instant, Length, Rrule, Schedule, Stretch, TimeOfDay, TimeSet, Zone};
use serde::Deserialize as _;
use serde_json::Value;

use crate::{
    document::{
        format,
        problem::{Code, FieldPath, Problem, quoted},
        shape,
    },
    policy::{
        exclusion,
        part::{Days, Part, PartKind, Recurring},
    },
};

/// The seconds before the end of a window in which nothing new is begun, so that nodes are back when it ends; windows that are shorter are
/// used to their end (D4-3). The figure is the design's.
pub const LAST_HOUR: u32 = 3_600;

/// The pause that somebody ends by starting an update, and that comes back by itself (D4-4).
pub const ASSISTED: &str = "assisted";

/// The stanza, as a JSON pointer.
pub const STANZA: &str = "/spec/versionManagement";

/// What a stanza of this spelling means.
#[derive(Clone, Debug)]
pub struct VersionManaged {
    /// What its author wrote.
    pub given: VersionManagement,
    /// When changes may be initiated, and what that is made of.
    pub parts: Part,
    /// The windows as people know them: with their last hour, and without the pause (D4-2).
    pub windows: TimeSet,
    /// The pause.
    pub pause: Pause,
    /// Whatever is worth a warning.
    pub problems: Vec<Problem>,
}

/// Equal stanzas mean the same.
impl PartialEq for VersionManaged {
    fn eq(&self, other: &Self) -> bool {
        self.given == other.given
    }
}

/// A pause (D4-1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pause {
    /// None.
    No,
    /// Until somebody ends it.
    Indefinite,
    /// Until somebody starts an update, and again when that has arrived (D4-4).
    Assisted,
    /// Until then.
    Until(Instant),
}

impl VersionManaged {
    /// None: what a pool has that leaves everything to its cluster.
    pub fn absent() -> Self {
        let kind = PartKind::Stated("there is no stanza of its own".into());
        Self {
            given: VersionManagement::default(),
            parts: Part { label: field().to_string(), kind, ..Part::always() },
            windows: TimeSet::always(),
            pause: Pause::No,
            problems: Vec::new(),
        }
    }

    /// Whether there is none.
    pub fn is_absent(&self) -> bool {
        self.is_enforcing() && matches!(self.parts.kind, PartKind::Stated(_))
    }

    /// Whether it is in effect.
    pub fn is_enforcing(&self) -> bool {
        self.given.enforcing != Some(false)
    }

    /// The pause, if it holds at an instant.
    pub fn paused_at(&self, at: Instant) -> Option<Pause> {
        let holds = match self.pause {
            Pause::No => false,
            Pause::Indefinite | Pause::Assisted => true,
            Pause::Until(until) => at < until,
        };
        (holds && self.is_enforcing()).then_some(self.pause)
    }

    /// The strategy in force at an instant, as policies name them.
    pub fn strategy(&self, at: Instant) -> Strategy {
        if self.paused_at(at).is_some() {
            Strategy::Restrictive
        } else if self.is_enforcing() && self.given.maintenance_windows.is_some() {
            Strategy::MaintenanceSchedule
        } else {
            Strategy::Permissive
        }
    }

    /// The windows that are ahead: those of which something is left once the pause is over.
    pub fn ahead(&self) -> TimeSet {
        if !self.is_enforcing() {
            return TimeSet::always();
        }
        match self.pause {
            Pause::No => self.windows.clone(),
            Pause::Indefinite | Pause::Assisted => TimeSet::never(),
            Pause::Until(until) => self.windows.clone().difference(TimeSet::before(until)),
        }
    }
}

/// The field, as people write it.
pub fn field() -> FieldPath {
    FieldPath::of("spec.versionManagement")
}

/// Whether a document says when it may change in this spelling, or asks for what only this design has.
pub(crate) fn is_spelled(kind: &Kind, document: &Value) -> bool {
    let given = |path: &str| document.pointer(path).is_some_and(|value| !value.is_null());
    given(STANZA) || !unable(kind, document).is_empty()
}

/// Reads the stanza of a document. It stands alone: a second spelling beside it leaves open which of them counts.
pub(crate) fn read(kind: &Kind, document: &Value) -> Result<VersionManaged, Vec<Problem>> {
    let mut problems = unable(kind, document);
    let given = document.pointer(STANZA).filter(|given| !given.is_null());
    if given.is_some()
        && document.pointer("/spec/changeManagement").is_some_and(|other| !other.is_null())
    {
        let detail = "changeManagement and versionManagement are both given";
        let problem = Problem::new(&field(), Code::Conflict, detail);
        problems.push(problem.hint("keep one of them: changeManagement or versionManagement"));
    }
    let nothing = Value::Object(serde_json::Map::new());
    let given = given.unwrap_or(&nothing);
    problems.extend(shape::check_part(schema::version_management(), given, &field()));
    if problems.iter().any(Problem::is_error) {
        problems.extend(meaning(given).1.into_iter().filter(Problem::is_error));
        problems.dedup_by(|one, other| one.field == other.field);
        return Err(problems);
    }
    match meaning(given) {
        (Some(mut read), found) if !found.iter().any(Problem::is_error) => {
            read.problems = problems.into_iter().chain(found).collect();
            Ok(read)
        }
        (_, found) => Err(problems.into_iter().chain(found).collect()),
    }
}

/// What is wrong with a document in this spelling, warnings included; nothing if it has none.
pub fn problems(kind: &Kind, document: &Value) -> Vec<Problem> {
    if !is_spelled(kind, document) {
        return Vec::new();
    }
    read(kind, document).map_or_else(|problems| problems, |read| read.problems)
}

fn meaning(given: &Value) -> (Option<VersionManaged>, Vec<Problem>) {
    match VersionManagement::deserialize(given) {
        Ok(given) => {
            let (read, problems) = lower(given);
            (Some(read), problems)
        }
        // The shape check has said what is wrong, in the author's words.
        Err(error) => (None, vec![Problem::new(&field(), Code::WrongType, error.to_string())]),
    }
}

/// Lowers a stanza. With an error it means never.
pub fn lower(given: VersionManagement) -> (VersionManaged, Vec<Problem>) {
    let mut problems = Vec::new();
    let path = field();
    let nothing = MaintenanceWindows::default();
    let windows = given.maintenance_windows.as_ref().unwrap_or(&nothing);
    let (windows_part, windows_set) =
        lower_windows(windows, &path.key("maintenanceWindows"), &mut problems);
    let pause_path = path.key("pausedUntil");
    let pause = match pause_of(given.paused_until.as_ref()) {
        Ok(pause) => pause,
        Err((detail, hint)) => {
            problems.push(Problem::new(&pause_path, Code::BadFormat, detail).hint(hint));
            Pause::Indefinite
        }
    };
    let enforced = enforced(windows_part, pause, &pause_path);
    let parts = match given.enforcing {
        _ if problems.iter().any(Problem::is_error) => Part::never(),
        Some(false) => {
            let said = "enforcing is false, so windows, exclusions and the pause are set aside";
            let kind = PartKind::Stated(said.to_owned());
            Part { label: path.key("enforcing").to_string(), kind, ..Part::always() }
        }
        Some(true) | None => enforced,
    };
    let read = VersionManaged { given, parts, windows: windows_set, pause, problems: Vec::new() };
    (read, problems)
}

/// Windows and pause together; each is a part that can say that it holds.
fn enforced(windows: Part, pause: Pause, path: &FieldPath) -> Part {
    let label = path.to_string();
    let pause = match pause {
        Pause::No => return windows,
        Pause::Indefinite => {
            let kind = PartKind::Stated("paused with pausedUntil".into());
            Part { label, kind, ..Part::never() }
        }
        Pause::Assisted => {
            let said = "paused with pausedUntil assisted, until `tidegate worker-nodes start`";
            Part { label, kind: PartKind::Stated(said.into()), ..Part::never() }
        }
        Pause::Until(until) => {
            let kind = PartKind::Stated(format!("paused with pausedUntil until {until}"));
            Part { label, set: TimeSet::before(until).complement(), kind }
        }
    };
    Part::all(field().to_string(), vec![windows, pause])
}

/// The windows without their last hour, as parts; and with it.
fn lower_windows(
    given: &MaintenanceWindows,
    path: &FieldPath,
    problems: &mut Vec<Problem>,
) -> (Part, TimeSet) {
    let permit_path = path.key("permit");
    let rule = given.permit.as_deref().map(|text| rule_of(text, &permit_path, problems));
    let rule = match rule {
        None => None,
        Some(Some(rule)) => Some(rule),
        // A rule that could not be read must not mean every day.
        Some(None) => return (Part::never(), TimeSet::never()),
    };
    let zone = rule.as_ref().and_then(Rrule::zone).unwrap_or_else(Zone::utc);
    let mut exclusions = Vec::new();
    for (place, entry) in given.exclude.iter().flatten().enumerate() {
        exclusions.extend(days_of(entry, &path.key("exclude").index(place), problems));
    }
    let mut parts = Vec::new();
    let everything = Part { label: path.to_string(), kind: PartKind::Everything, ..Part::always() };
    let start = rule.as_ref().and_then(Rrule::start_time).unwrap_or(TimeOfDay::MIDNIGHT);
    let recurring = rule.map(|rule| Recurring {
        days: Days::Rrule(Box::new(rule)),
        start,
        length: Length::RestOfDay,
        zone: zone.clone(),
    });
    let windows = recurring.as_ref().map(Recurring::windows).transpose();
    let whole = windows.and_then(|windows| match (&windows, exclusions.is_empty()) {
        (None, true) => Ok(TimeSet::always()),
        _ => Schedule::new(windows, &exclusions, &zone).map(TimeSet::from),
    });
    let whole = whole.unwrap_or_else(|error| {
        problems.push(Problem::new(path, Code::NotAllowed, error.to_string()));
        TimeSet::never()
    });
    match recurring {
        Some(recurring) => parts.extend(Part::windows(permit_path.to_string(), recurring).ok()),
        None => parts.push(everything),
    }
    if !exclusions.is_empty() {
        let label = path.key("exclude").to_string();
        let exclusions = exclusions.into_iter().map(|days| exclusion::Exclusion::days(days, &zone));
        parts.extend(Part::excluded(label, exclusions.collect(), &zone).ok());
    }
    let left = whole.clone().closed_early(LAST_HOUR);
    if left.is_never() && !problems.iter().any(Problem::is_error) {
        let (code, detail) = if whole.is_never() {
            (Code::NeverFires, "never fires: no window is ever open".to_owned())
        } else {
            let detail = "no change is ever begun: every window is an hour long, and in the last hour of a window nothing new is begun";
            (Code::NeverFires, detail.to_owned())
        };
        let problem = Problem::new(&permit_path, code, detail);
        problems.push(problem.hint("let windows be longer than an hour, or shorter"));
    }
    let windows = Part { label: path.to_string(), set: whole.clone(), kind: PartKind::All(parts) };
    let early =
        Part { label: path.to_string(), set: left, kind: PartKind::ClosesEarly(Box::new(windows)) };
    (early, whole)
}

/// A rule of RFC 5545 (TIME-13).
fn rule_of(text: &str, path: &FieldPath, problems: &mut Vec<Problem>) -> Option<Rrule> {
    Rrule::parse(text)
        .map_err(|error| {
            let at = error.position().map_or_else(String::new, |at| format!(" (at byte {at})"));
            let detail = format!("{} cannot be read: {error}{at}", quoted(text));
            problems.push(Problem::new(path, Code::BadFormat, detail).hint(
                "write a rule of RFC 5545 by days, weeks, months or years, such as FREQ=WEEKLY;BYDAY=SA,SU",
            ));
        })
        .ok()
}

fn days_of(
    given: &ExcludedDays,
    path: &FieldPath,
    problems: &mut Vec<Problem>,
) -> Option<Exclusion> {
    let mut date = |text: &str, field: &str| {
        format::date(text).map_err(|flaw| problems.push(flaw.of(&path.key(field)))).ok()
    };
    let begin = date(&given.begin, "begin");
    let end = match given.end.as_deref() {
        None => None,
        Some(end) => Some(date(end, "end")?),
    };
    let lowered = Exclusion::new(begin?, end, None);
    if lowered.is_err() {
        let end = given.end.as_deref().unwrap_or_default();
        let detail = format!("end {end} is not after begin {}", given.begin);
        let problem = Problem::new(&path.key("end"), Code::EmptyRange, detail);
        problems
            .push(problem.hint(
                "end is the first day that is not excluded; leave it out to exclude one day",
            ));
    }
    lowered.ok()
}

/// A pause as people write it, or what is wrong with it.
fn pause_of(given: Option<&PausedUntil>) -> Result<Pause, (String, &'static str)> {
    const HINT: &str = "write true, false, assisted, an instant such as 2026-12-24T18:00:00Z, or a day such as 2026-12-24";
    let Some(PausedUntil(given)) = given else { return Ok(Pause::No) };
    match given {
        Value::Null | Value::Bool(false) => Ok(Pause::No),
        Value::Bool(true) => Ok(Pause::Indefinite),
        Value::String(text) => match text.as_str() {
            "true" => Ok(Pause::Indefinite),
            "false" => Ok(Pause::No),
            ASSISTED => Ok(Pause::Assisted),
            text => {
                let day = || {
                    let date = format::date(text).ok()?;
                    Some(Zone::utc().first_instant_of(date, TimeOfDay::MIDNIGHT))
                };
                let until = format::date_time(text).ok().or_else(day);
                let detail = || format!("{} is no pause that can be read", quoted(text));
                until.map(Pause::Until).ok_or_else(|| (detail(), HINT))
            }
        },
        Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            Err(("this is no pause that can be read".to_owned(), HINT))
        }
    }
}

/// What a design asks of a pool whose nodes are fixed: nobody there makes or deletes machines, and all of them get what the pool is rendered to
/// (D4-5).
fn unable(kind: &Kind, document: &Value) -> Vec<Problem> {
    let mut problems = Vec::new();
    if *kind != kinds::MACHINE_CONFIG_POOL {
        return problems;
    }
    let text = |path: &str| document.pointer(path).and_then(Value::as_str);
    let mut refuse = |field: &str, detail: String, hint: &str| {
        let problem = Problem::new(&FieldPath::of(field), Code::NotAllowed, detail);
        problems.push(problem.hint(hint));
    };
    let given = |path: &str| document.pointer(path).is_some_and(|value| !value.is_null());
    if given("/spec/machineManagement") {
        match text("/spec/machineManagement/upgradeType") {
            Some("InPlace") => {}
            wanted => {
                let wanted = wanted.unwrap_or("(nothing)");
                let detail = format!(
                    "{wanted} cannot be done: the nodes of a MachineConfigPool are fixed, and nobody replaces, surges or deletes their machines"
                );
                let hint = "write InPlace, or move the nodes to a NodePool or a MachineDeployment";
                refuse("spec.machineManagement.upgradeType", detail, hint);
            }
        }
    }
    if given("/spec/release") {
        let detail = "a release of its own cannot be given to a MachineConfigPool: its nodes get the configuration that is rendered for the pool";
        let hint = "take it away; to keep nodes at a configuration name it in spec.machineConfig, and for a canary make a pool of its own";
        refuse("spec.release", detail.to_owned(), hint);
    }
    if given("/spec/nodeDrainTimeout") {
        let detail = "a drain of a MachineConfigPool has no timeout: pods that a budget protects are never deleted";
        let hint = "take it away, and free the budget that keeps the node from being drained";
        refuse("spec.nodeDrainTimeout", detail.to_owned(), hint);
    }
    problems
}

/// The first window of a set after an instant: when it opens, and when it closes.
pub fn next_window(set: &TimeSet, after: Instant) -> Option<Stretch> {
    let opens = |at: Instant| set.contains(at).then(|| set.stretch(at));
    let next = set.next_change(after)?;
    opens(next).or_else(|| opens(set.next_change(next)?))
}

#[cfg(test)]
mod tests;
