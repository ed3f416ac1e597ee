//! In which state is a policy now, and which comes next? `status.behavior`, as POL-3 shapes it.
//!
//! - POL-3: `next` is present exactly when `current.endTime` is, and begins there (STAT-1).
//! - POL-7: instants only, so unchanged meaning gives unchanged bytes.

use api::policy::{Behavior, State, Stretch};
use schedule::Instant;

use crate::{explain, lower::Lowered};

/// The state of a policy at an instant and the one after it. History is what a controller has seen, so it is empty here.
pub fn behavior(lowered: &Lowered, at: Instant) -> Behavior {
    let current = stretch(lowered, at);
    let next = lowered.set.next_change(at).map(|end| stretch(lowered, end));
    Behavior { current, next, history: Vec::new() }
}

fn stretch(lowered: &Lowered, at: Instant) -> Stretch {
    let schedule::Stretch { inside, start, end } = lowered.set.stretch(at);
    let text = |edge: Option<Instant>| edge.map(|edge| edge.to_string());
    Stretch {
        state: if inside { State::ChangesUnpaused } else { State::ChangesPaused },
        start_time: text(start),
        end_time: text(end),
        reason: explain::sentence(lowered, at),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read;

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
