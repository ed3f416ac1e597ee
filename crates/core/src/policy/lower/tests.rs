use schedule::Instant;
use serde_json::{Value, json};

use super::*;

fn lowered(schedule: &Value) -> Lowered {
    let spec = json!({"strategy": "MaintenanceSchedule", "maintenanceSchedule": schedule});
    lower(&serde_json::from_value(spec).unwrap())
}

fn instant(text: &str) -> Instant {
    Instant::parse(text).unwrap()
}

/// A schedule, an instant, whether it is inside, and until when.
fn check(schedule: &Value, at: &str, inside: bool, until: Option<&str>) {
    let lowered = lowered(schedule);
    assert_eq!(lowered.problems, [], "{schedule}");
    let state = lowered.set.state(instant(at));
    assert_eq!((state.inside, state.until), (inside, until.map(instant)), "{schedule} at {at}");
}

/// TIME-11
#[test]
fn the_four_rows_of_time_11() {
    let exclude = json!([{"fromDate": "2026-12-24", "untilDate": "2026-12-27"}]);
    let at = "2026-11-15T00:00:00Z";
    check(&json!({}), at, false, None);
    check(&json!({"exclude": []}), at, false, None);
    check(&json!({"permit": {}}), at, true, None);
    check(&json!({"permit": {}, "exclude": exclude}), at, true, Some("2026-12-24T00:00:00Z"));
    check(&json!({"exclude": exclude}), at, true, Some("2026-12-24T00:00:00Z"));
    check(
        &json!({"exclude": exclude}),
        "2026-12-26T23:59:59Z",
        false,
        Some("2026-12-27T00:00:00Z"),
    );
}

#[test]
fn a_window_past_midnight_is_open_on_the_next_day() {
    let friday = json!({"permit": {
        "recurrence": {"frequency": "Weekly", "weekly": {"daysOfWeek": ["Friday"]}},
        "startTime": "22:00", "duration": "4h"}});
    check(&friday, "2026-11-14T01:00:00Z", true, Some("2026-11-14T02:00:00Z"));
    check(&friday, "2026-11-14T02:00:00Z", false, Some("2026-11-20T22:00:00Z"));
}

/// POL-2, TIME-4, TIME-6
#[test]
fn every_arm_of_the_union_lowers() {
    let monthly_day = json!({"permit": {"recurrence": {"frequency": "Monthly", "monthly": {
        "by": "Day", "day": {"days": [{"weekOfMonth": "Last", "dayOfWeek": "Saturday"}]}}}}});
    check(&monthly_day, "2026-11-27T00:00:00Z", false, Some("2026-11-28T00:00:00Z"));
    let monthly_date = json!({"permit": {"recurrence": {"frequency": "Monthly", "monthly": {
        "by": "Date", "date": {"datesOfMonth": [31], "interval": 1}}}}});
    check(&monthly_date, "2026-11-01T00:00:00Z", false, Some("2026-12-31T00:00:00Z"));
    let yearly_day = json!({"permit": {"recurrence": {"frequency": "Yearly", "yearly": {
        "by": "Day", "day": {"month": "March", "days": [{"weekOfMonth": "First", "dayOfWeek": "Sunday"}]}}}}});
    check(&yearly_day, "2026-11-01T00:00:00Z", false, Some("2027-03-07T00:00:00Z"));
    let yearly_date = json!({"permit": {"recurrence": {"frequency": "Yearly", "yearly": {
        "by": "Date", "date": {"month": "February", "datesOfMonth": [29]}}}}});
    check(&yearly_date, "2026-11-01T00:00:00Z", false, Some("2028-02-29T00:00:00Z"));
    let daily = json!({"permit": {"recurrence": {"frequency": "Daily", "daily": {"interval": 5}}}});
    check(&daily, "1970-01-01T00:00:00Z", true, Some("1970-01-02T00:00:00Z"));
    check(&daily, "1970-01-02T00:00:00Z", false, Some("1970-01-06T00:00:00Z"));
}

/// TIME-12
#[test]
fn civil_times_follow_the_zone() {
    let nights =
        json!({"timeZone": "Europe/Berlin", "permit": {"startTime": "22:00", "endTime": "04:00"}});
    check(&nights, "2026-10-24T20:00:00Z", true, Some("2026-10-25T03:00:00Z"));
    check(&nights, "2026-11-14T20:30:00Z", false, Some("2026-11-14T21:00:00Z"));
}

/// TIME-7
#[test]
fn a_rule_that_never_fires_is_empty_and_reported() {
    let found = lowered(&json!({"permit": {"recurrence": {"frequency": "Yearly", "yearly": {
        "by": "Date", "date": {"month": "February", "datesOfMonth": [30, 31]}}}}}));
    assert!(found.set.is_never());
    let [problem] = found.problems.as_slice() else { panic!("{:#?}", found.problems) };
    assert_eq!(problem.code, Code::NeverFires);
    assert!(!problem.is_error());
    assert!(problem.detail.contains("never fires"), "{}", problem.detail);
}

/// POL-8, TIME-10
#[test]
fn whatever_cannot_be_lowered_closes_the_gate() {
    let check = |schedule: Value, field: &str, code: Code| {
        let found = lowered(&schedule);
        assert!(found.set.is_never(), "{schedule}");
        let [problem] = found.problems.as_slice() else { panic!("{:#?}", found.problems) };
        let field = format!("spec.maintenanceSchedule.{field}");
        assert_eq!((problem.field.to_string(), problem.code), (field, code));
    };
    check(json!({"permit": {"startTime": "25:00"}}), "permit.startTime", Code::BadFormat);
    check(json!({"permit": {"duration": "1d"}}), "permit.duration", Code::BadFormat);
    check(json!({"permit": {}, "timeZone": "Mars/Base"}), "timeZone", Code::BadFormat);
    check(json!({"exclude": [{"fromDate": "2025-02-30"}]}), "exclude[0].fromDate", Code::BadFormat);
    check(
        json!({"exclude": [{"fromDate": "2025-03-01", "untilDate": "2025-03-01"}]}),
        "exclude[0].untilDate",
        Code::EmptyRange,
    );
    check(
        json!({"permit": {"duration": "1h", "endTime": "02:00"}}),
        "permit.endTime",
        Code::Conflict,
    );
    check(
        json!({"permit": {"recurrence": {"frequency": "Fortnightly"}}}),
        "permit.recurrence",
        Code::NotAllowed,
    );
    check(
        json!({"permit": {"recurrence": {"frequency": "Daily", "daily": {"interval": -1}}}}),
        "permit.recurrence",
        Code::NotAllowed,
    );
}

/// POL-1
#[test]
fn the_schedule_is_checked_under_every_strategy() {
    let spec =
        json!({"strategy": "Permissive", "maintenanceSchedule": {"permit": {"duration": "-1h"}}});
    let found = lower(&serde_json::from_value(spec).unwrap());
    assert_eq!(found.problems.len(), 1);
    assert!(found.set.is_never(), "a policy with an error permits nothing");
}
