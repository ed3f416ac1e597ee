//! In which state is a policy now, and which comes next? `status.behavior`, as POL-3 shapes it.
//!
//! - POL-3: `next` is present exactly when `current.endTime` is, and begins there (STAT-1).
//! - POL-5: what has ended is remembered without gaps, the newest first, five at most (STAT-2).
//! - POL-7: instants only, so unchanged meaning gives unchanged bytes.

use api::policy::{Behavior, PastStretch, State, Strategy, Stretch};
use schedule::{Instant, TimeSet};

use crate::policy::{explain, lower::Lowered};

/// How many ended stretches are remembered (POL-5).
pub const HISTORY: usize = 5;

/// The state of a policy at an instant and the one after it. History is what a controller has seen, so it is empty here.
pub fn behavior(lowered: &Lowered, at: Instant) -> Behavior {
    computed(&lowered.set, &|at| explain::sentence(lowered, at), at)
}

/// The state of a set at an instant and the one after it, with the edges of the set itself.
pub fn computed(set: &TimeSet, reason: &dyn Fn(Instant) -> String, at: Instant) -> Behavior {
    let current = stretch(set, reason, at);
    let next = set.next_change(at).map(|end| stretch(set, reason, end));
    Behavior { current, next, history: Vec::new() }
}

fn stretch(set: &TimeSet, reason: &dyn Fn(Instant) -> String, at: Instant) -> Stretch {
    let schedule::Stretch { inside, start, end } = set.stretch(at);
    let text = |edge: Option<Instant>| edge.map(|edge| edge.to_string());
    Stretch {
        state: state(inside),
        start_time: text(start),
        end_time: text(end),
        reason: reason(at),
    }
}

fn state(inside: bool) -> State {
    if inside { State::ChangesUnpaused } else { State::ChangesPaused }
}

/// What a controller knew before it looked.
#[derive(Clone, Copy, Debug)]
pub struct Before<'a> {
    /// What the status says.
    pub behavior: Option<&'a Behavior>,
    /// The strategy that was in force in its current stretch.
    pub strategy: Strategy,
    /// When the specifications that decide were last written, where that is known.
    pub changed: Option<Instant>,
}

/// The state of a set at an instant, as a controller records it: with when the state took effect (POL-4) and what was before
/// (POL-5).
pub fn recorded(
    set: &TimeSet,
    reason: &dyn Fn(Instant) -> String,
    before: Before<'_>,
    now: Instant,
) -> Behavior {
    let computed = set.stretch(now);
    let (past, start) = effect(set, before, now);
    let mut current = stretch(set, reason, now);
    current.start_time = Some(start.to_string());
    let known = before.behavior.map(|behavior| behavior.history.clone()).unwrap_or_default();
    let history = past.into_iter().chain(known);
    // A clock that was set back has not lived through what it recorded; and what lasted less than a second was nothing (TIME-1).
    let lived = |past: &PastStretch| {
        let end = Instant::parse(&past.end_time).ok();
        end.is_some_and(|end| end <= start) && past.start_time.as_ref() != Some(&past.end_time)
    };
    let history = history.filter(lived).take(HISTORY).collect();
    let next = computed.end.map(|end| stretch(set, reason, end));
    Behavior { current, next, history }
}

/// The stretches that have ended since the status was written, newest first, and when the present state took effect.
fn effect(set: &TimeSet, before: Before<'_>, now: Instant) -> (Vec<PastStretch>, Instant) {
    let computed = set.stretch(now);
    // A stamp from the future (another clock) caused nothing yet.
    let cause = before.changed.map_or(now, |changed| changed.min(now));
    let Some(known) = before.behavior.map(|behavior| &behavior.current) else {
        return (Vec::new(), computed.start.map_or(cause, |edge| edge.max(cause)));
    };
    let instant = |text: &Option<String>| Instant::parse(text.as_deref()?).ok();
    let began = instant(&known.start_time);
    if began.is_some_and(|began| now < began) {
        // The clock was set back to before the stretch that is recorded.
        return (Vec::new(), computed.start.unwrap_or(now));
    }
    let past = |state, start: Option<Instant>, end: Instant| PastStretch {
        strategy: before.strategy,
        state,
        start_time: start.map(|start| start.to_string()),
        end_time: end.to_string(),
    };
    let Some(foreseen) = instant(&known.end_time).filter(|end| *end <= now) else {
        if known.state == state(computed.inside) {
            return (Vec::new(), began.unwrap_or(cause));
        }
        // Nobody expected the state to end: somebody wrote something. A stamp from before the state began is not of that write,
        // which was to another object, or a deletion.
        let cause = if began.is_some_and(|began| cause <= began) { now } else { cause };
        let start = computed.start.map_or(cause, |edge| edge.max(cause));
        return (vec![past(known.state, began, start)], start);
    };
    // The stretch ended as foreseen, and more may have come and gone while nobody looked: the newest first, until there are enough.
    let mut runs: Vec<(State, Option<Instant>)> = Vec::new();
    let mut at = now;
    while runs.len() <= HISTORY {
        let run = set.stretch(at);
        let Some(start) = run.start.filter(|start| *start > foreseen) else {
            runs.push((state(run.inside), Some(foreseen)));
            break;
        };
        runs.push((state(run.inside), Some(start)));
        at = start.saturating_add(-1);
    }
    match runs.last_mut() {
        // A change of the specification kept the state beyond the end that was foreseen.
        Some((last, start)) if *start == Some(foreseen) && *last == known.state => *start = began,
        Some((_, start)) if *start == Some(foreseen) => runs.push((known.state, began)),
        _ => {}
    }
    let ends: Vec<Instant> = runs.iter().filter_map(|(_, start)| *start).collect();
    let ended =
        runs.iter().skip(1).zip(&ends).map(|((state, start), end)| past(*state, *start, *end));
    (ended.collect(), ends.first().copied().unwrap_or(cause))
}

/// What a status says at an instant; what the set says where no controller has written one yet.
pub(crate) fn as_recorded(
    set: &TimeSet,
    reason: &dyn Fn(Instant) -> String,
    known: Option<&Behavior>,
    strategy: Strategy,
    at: Instant,
) -> Behavior {
    match known {
        None => computed(set, reason, at),
        Some(_) => recorded(set, reason, Before { behavior: known, strategy, changed: None }, at),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::read;

    fn at(policy: &str, instant: &str) -> Behavior {
        let judged = read::policy(&serde_json::from_str(policy).unwrap());
        let policy = judged.policy.unwrap_or_else(|| panic!("{:#?}", judged.problems));
        behavior(&policy.lowered, Instant::parse(instant).unwrap())
    }

    const WEEKEND: &str = r#"{
        "apiVersion": "changemanagement.openshift.io/v1alpha1", "kind": "ChangeManagementPolicy",
        "metadata": {"name": "weekend"},
        "spec": {"strategy": "MaintenanceSchedule", "maintenanceSchedule": {
            "permit": {"recurrence": {"frequency": "Weekly", "weekly": {"daysOfWeek": ["Saturday", "Sunday"]}}},
            "exclude": [{"fromDate": "2026-11-21", "reason": "board visits"}]}}}"#;

    /// TIME-9
    #[test]
    fn touching_windows_are_one_stretch() {
        let found = at(WEEKEND, "2026-11-14T12:00:00Z");
        assert_eq!(found.current.state, State::ChangesUnpaused);
        assert_eq!(found.current.start_time.as_deref(), Some("2026-11-14T00:00:00Z"));
        assert_eq!(found.current.end_time.as_deref(), Some("2026-11-16T00:00:00Z"));
    }

    /// POL-3
    #[test]
    fn next_begins_where_current_ends() {
        let found = at(WEEKEND, "2026-11-16T00:00:00Z");
        let next = found.next.expect("the pause ends");
        assert_eq!(found.current.state, State::ChangesPaused);
        assert_eq!(found.current.end_time, next.start_time);
        assert_eq!(
            next.start_time.as_deref(),
            Some("2026-11-22T00:00:00Z"),
            "the 21st is excluded"
        );
        assert_eq!(next.state, State::ChangesUnpaused);
    }

    #[test]
    fn an_excluded_instant_gives_the_reason_of_the_author() {
        let found = at(WEEKEND, "2026-11-21T12:00:00Z");
        assert_eq!(found.current.reason, "2026-11-21 is excluded: board visits");
    }

    /// POL-3
    #[test]
    fn a_state_that_never_ends_has_no_next() {
        let found = at(
            &WEEKEND.replace("\"MaintenanceSchedule\"", "\"Permissive\""),
            "2026-11-21T12:00:00Z",
        );
        assert_eq!(found.current.state, State::ChangesUnpaused);
        assert_eq!(
            (found.current.start_time, found.current.end_time, found.next),
            (None, None, None)
        );
        let found = at(
            &WEEKEND.replace("\"MaintenanceSchedule\"", "\"Restrictive\""),
            "2026-11-21T12:00:00Z",
        );
        assert_eq!(found.current.state, State::ChangesPaused);
        assert_eq!(found.current.end_time, None);
    }
}
