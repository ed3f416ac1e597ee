use schedule::Span;
use serde_json::{Value, json};

use super::*;
use crate::policy::read;

fn at(text: &str) -> Instant {
    Instant::parse(text).unwrap()
}

fn span(start: &str, end: &str) -> Span {
    Span::new(at(start), at(end))
}

fn scheduled(schedule: &Value) -> TimeSet {
    let judged = read::policy(&json!({
        "apiVersion": "changemanagement.openshift.io/v1alpha1",
        "kind": "ChangeManagementPolicy",
        "metadata": {"name": "p"},
        "spec": {"strategy": "MaintenanceSchedule", "maintenanceSchedule": schedule},
    }));
    judged.policy.unwrap().lowered.set
}

fn nights() -> TimeSet {
    scheduled(&json!({"permit": {"startTime": "02:00", "duration": "4h"}}))
}

/// Windows as `start..end`, and until when they are known.
fn shown(ahead: &Ahead) -> (Vec<String>, Option<String>) {
    let text = |edge: &Option<String>| edge.clone().unwrap_or_default();
    let windows = ahead
        .windows
        .iter()
        .map(|window| format!("{}..{}", text(&window.start_time), text(&window.end_time)));
    (windows.collect(), ahead.computed_until.map(|until| until.to_string()))
}

const NOW: &str = "2026-11-16T12:00:00Z";

/// RCH-10, RCH-14
#[test]
fn windows_are_those_of_the_set() {
    #[track_caller]
    fn check(set: &TimeSet, windows: &[&str], until: Option<&str>) {
        let (found, known) = shown(&ahead(set, at(NOW), None));
        assert_eq!(
            (found.iter().map(String::as_str).collect::<Vec<_>>(), known.as_deref()),
            (windows.to_vec(), until)
        );
    }

    check(&TimeSet::always(), &[".."], None);
    check(&TimeSet::never(), &[], None);
    // PermissiveUntil and RestrictiveUntil without a policy.
    let until = at("2026-12-01T06:00:00Z");
    check(&TimeSet::before(until), &["..2026-12-01T06:00:00Z"], None);
    check(&TimeSet::before(until).complement(), &["2026-12-01T06:00:00Z.."], None);
    check(&TimeSet::before(at("2026-11-01T00:00:00Z")), &[], None);
    // The window that is open is given whole; one that has ended is not given; windows that touch are one.
    let set = TimeSet::ranges([
        span("2026-11-10T00:00:00Z", "2026-11-11T00:00:00Z"),
        span("2026-11-16T10:00:00Z", "2026-11-16T14:00:00Z"),
        span("2026-11-16T14:00:00Z", "2026-11-16T15:00:00Z"),
        span("2026-11-20T00:00:00Z", "2026-11-21T00:00:00Z"),
    ]);
    check(
        &set,
        &[
            "2026-11-16T10:00:00Z..2026-11-16T15:00:00Z",
            "2026-11-20T00:00:00Z..2026-11-21T00:00:00Z",
        ],
        None,
    );
    // Half-open: at its end a window has ended.
    let ends_now = TimeSet::ranges([span("2026-11-16T10:00:00Z", NOW)]);
    check(&ends_now, &[], None);
    // What begins within 400 days is given, with its true end; what begins later is not known yet.
    let far = TimeSet::ranges([
        span("2027-12-20T00:00:00Z", "2029-01-01T00:00:00Z"),
        span("2030-01-01T00:00:00Z", "2030-01-02T00:00:00Z"),
    ]);
    check(&far, &["2027-12-20T00:00:00Z..2029-01-01T00:00:00Z"], Some("2030-01-01T00:00:00Z"));
    let later = TimeSet::ranges([span("2028-02-29T00:00:00Z", "2028-03-01T00:00:00Z")]);
    check(&later, &[], Some("2028-02-29T00:00:00Z"));
}

/// RCH-14
#[test]
fn sixty_four_windows_at_most() {
    let ahead = ahead(&nights(), at(NOW), None);
    assert_eq!(ahead.windows.len(), MOST_WINDOWS);
    let (windows, until) = shown(&ahead);
    assert_eq!(windows[0], "2026-11-17T02:00:00Z..2026-11-17T06:00:00Z");
    assert_eq!(windows[63], "2027-01-19T02:00:00Z..2027-01-19T06:00:00Z");
    assert_eq!(until.as_deref(), Some("2027-01-20T02:00:00Z"), "the first that is not listed");
}

/// RCH-14, POL-7
#[test]
fn nothing_is_rewritten_while_it_is_true_and_reaches_far_enough() {
    #[track_caller]
    fn check(set: &TimeSet, before: &Ahead, now: &str, kept: bool) {
        let after = ahead(set, at(now), Some(before));
        assert_eq!(after == *before, kept, "{now}: {:?}", shown(&after));
    }

    let before = ahead(&nights(), at(NOW), None);
    check(&nights(), &before, NOW, true);
    check(&nights(), &before, "2026-11-17T01:59:59Z", true);
    // The first window opens: nothing to say. It closes: it is no more ahead.
    check(&nights(), &before, "2026-11-17T02:00:00Z", true);
    check(&nights(), &before, "2026-11-17T05:59:59Z", true);
    check(&nights(), &before, "2026-11-17T06:00:00Z", false);
    assert_eq!(look_again(&before), Some(at("2026-11-17T06:00:00Z")));
    // An edit of the policy, be it of one window.
    let but_one = nights()
        .difference(TimeSet::ranges([span("2026-12-24T00:00:00Z", "2026-12-25T00:00:00Z")]));
    check(&but_one, &before, NOW, false);
    check(&TimeSet::always(), &before, NOW, false);
    check(&TimeSet::never(), &before, NOW, false);
    let one_more =
        nights().union(TimeSet::ranges([span("2026-12-24T12:00:00Z", "2026-12-24T13:00:00Z")]));
    check(&one_more, &before, NOW, false);
    // One that comes after all that is listed changes nothing yet.
    let beyond =
        nights().union(TimeSet::ranges([span("2028-12-24T12:00:00Z", "2028-12-24T13:00:00Z")]));
    check(&beyond, &before, NOW, true);

    // A yearly window: looked at again when half of the 400 days is left.
    let yearly = scheduled(&json!({"permit": {"recurrence": {"frequency": "Yearly",
        "yearly": {"by": "Date", "date": {"month": "January", "datesOfMonth": [10]}}}}}));
    let before = ahead(&yearly, at("2026-11-16T00:00:00Z"), None);
    assert_eq!(
        shown(&before),
        (
            vec!["2027-01-10T00:00:00Z..2027-01-11T00:00:00Z".to_owned()],
            Some("2028-01-10T00:00:00Z".to_owned())
        )
    );
    assert_eq!(look_again(&before), Some(at("2027-01-11T00:00:00Z")));
    let shut = ahead(&yearly, at("2027-01-11T00:00:00Z"), Some(&before));
    assert_eq!(shown(&shut).0, ["2028-01-10T00:00:00Z..2028-01-11T00:00:00Z"]);
    assert_eq!(look_again(&shut), Some(at("2028-01-11T00:00:00Z")));
    let again = ahead(&yearly, at("2027-11-01T00:00:00Z"), Some(&shut));
    assert_eq!(again, shut, "the next one is known until 2029");

    // What is known for all time is never looked at again.
    assert_eq!(look_again(&ahead(&TimeSet::always(), at(NOW), None)), None);
    assert_eq!(look_again(&ahead(&TimeSet::never(), at(NOW), None)), None);
}

/// RCH-2: whatever the server reads is inside the set, and from where nothing is known on it is shut.
#[test]
fn what_is_listed_is_inside_the_set_and_nothing_is_left_out() {
    let zoned = scheduled(&json!({
        "timeZone": "Europe/Berlin",
        "permit": {"recurrence": {"frequency": "Weekly", "weekly": {"daysOfWeek": ["Saturday", "Sunday"]}}, "startTime": "22:00", "duration": "30h"},
        "exclude": [{"fromDate": "2026-12-20", "untilDate": "2027-01-07"}],
    }));
    for set in [nights(), zoned, TimeSet::before(at("2026-12-01T06:00:00Z"))] {
        let ahead = ahead(&set, at(NOW), None);
        let end = ahead.computed_until.unwrap_or(at("2027-03-01T00:00:00Z"));
        let mut now = at(NOW);
        while now < end {
            let listed = ahead.windows.iter().any(|window| {
                let edge = |text: &Option<String>| instant(text.as_deref());
                edge(&window.start_time).is_none_or(|start| start <= now)
                    && edge(&window.end_time).is_none_or(|end| now < end)
            });
            assert_eq!(listed, set.contains(now), "{now}");
            now = now.saturating_add(1_799);
        }
    }
}
