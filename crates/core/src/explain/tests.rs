use serde_json::json;

use super::*;
use crate::read;

fn policy(schedule: &serde_json::Value) -> Policy {
    let document = json!({
        "apiVersion": api::names::API_VERSION, "kind": "ChangeManagementPolicy",
        "metadata": {"name": "p"},
        "spec": {"strategy": "MaintenanceSchedule", "maintenanceSchedule": schedule},
    });
    let judged = read::policy(&document);
    judged.policy.unwrap_or_else(|| panic!("{:#?}", judged.problems))
}

/// The leaves of the tree at an instant: their verdicts and texts.
fn leaves(schedule: &serde_json::Value, at: &str) -> Vec<(Verdict, String)> {
    let policy = policy(schedule);
    let tree = explain(&policy, Instant::parse(at).unwrap());
    let zone = &policy.lowered.scheduled.zone;
    let [strategy] = tree.because.as_slice() else { panic!("{tree:#?}") };
    assert_eq!(strategy.verdict, tree.verdict);
    // The whole permits exactly when every part does.
    let all = strategy.because.iter().all(|part| part.verdict == Verdict::Permitted);
    assert_eq!(all, tree.verdict == Verdict::Permitted);
    strategy.because.iter().map(|part| (part.verdict, part.text(zone))).collect()
}

#[test]
fn each_part_of_a_schedule_says_what_it_decides() {
    let schedule = json!({
        "timeZone": "Europe/Berlin",
        "permit": {"recurrence": {"frequency": "Weekly", "weekly": {"daysOfWeek": ["Saturday"]}},
            "startTime": "20:00", "duration": "8h"},
        "exclude": [{"fromDate": "2026-11-21", "untilDate": "2026-11-24", "reason": "audit"}],
    });
    let rule = "windows every Saturday, from 20:00 for 8h, Europe/Berlin";
    assert_eq!(
        leaves(&schedule, "2026-11-14T20:00:00Z"),
        [
            (
                Verdict::Permitted,
                format!(
                    "{rule}: one is open from 2026-11-14T19:00:00Z (Sat 20:00 +01:00) \
                until 2026-11-15T03:00:00Z (Sun 04:00 +01:00)"
                )
            ),
            (
                Verdict::Permitted,
                "not an excluded day; the next begins on 2026-11-21 (1 exclusion)".into()
            ),
        ]
    );
    assert_eq!(
        leaves(&schedule, "2026-11-21T20:00:00Z").last().unwrap(),
        &(
            Verdict::Held,
            "the days from 2026-11-21 until before 2026-11-24 are excluded: audit".into()
        )
    );
    assert_eq!(
        leaves(&schedule, "2026-11-25T00:00:00Z"),
        [
            (
                Verdict::Held,
                format!(
                    "{rule}: none is open, the next opens at 2026-11-28T19:00:00Z (Sat 20:00 +01:00)"
                )
            ),
            (Verdict::Permitted, "not an excluded day; none is ahead (1 exclusion)".into()),
        ]
    );
}

#[test]
fn schedules_without_a_permit_say_so() {
    let at = "2026-11-14T20:00:00Z";
    assert_eq!(
        leaves(&json!({}), at),
        [(Verdict::Held, "the maintenance schedule has neither permit nor exclude".into())]
    );
    let found = leaves(&json!({"exclude": [{"fromDate": "2026-11-14"}]}), at);
    assert_eq!(found[1], (Verdict::Held, "2026-11-14 is excluded".into()));
}

/// POL-7
#[test]
fn the_sentence_does_not_change_while_its_reason_holds() {
    let policy = policy(&json!({"permit": {"recurrence": {"frequency": "Weekly", "weekly": {
        "daysOfWeek": ["Saturday", "Sunday"]}}}}));
    let said = |at: &str| sentence(&policy.lowered, Instant::parse(at).unwrap());
    assert_eq!(said("2026-11-14T00:00:00Z"), said("2026-11-15T23:59:59Z"));
    assert_eq!(
        said("2026-11-16T00:00:00Z"),
        "no maintenance window is open: every Saturday and Sunday, all day, UTC"
    );
}

#[test]
fn rules_read_as_sentences() {
    let check = |recurrence: serde_json::Value, text: &str| {
        let policy = policy(&json!({"permit": {"recurrence": recurrence}}));
        assert_eq!(rule::sentence(&policy.lowered.scheduled), format!("{text}, all day, UTC"));
    };
    check(json!({"frequency": "Daily", "daily": {"interval": 3}}), "every 3rd day");
    check(
        json!({"frequency": "Weekly", "weekly": {"daysOfWeek": ["Monday", "Friday", "Sunday"], "interval": 2}}),
        "every 2nd week on Monday, Friday and Sunday",
    );
    check(
        json!({"frequency": "Monthly", "monthly": {"by": "Date", "date": {"datesOfMonth": [1, 15]}}}),
        "on the 1st and 15th of every month",
    );
    check(
        json!({"frequency": "Monthly", "monthly": {"by": "Day", "day": {"interval": 11, "days": [
        {"weekOfMonth": "Last", "dayOfWeek": "Sunday"}]}}}),
        "on the last Sunday of every 11th month",
    );
    check(
        json!({"frequency": "Yearly", "yearly": {"by": "Date", "date": {"datesOfMonth": [22], "month": "May"}}}),
        "on the 22nd of May",
    );
}
