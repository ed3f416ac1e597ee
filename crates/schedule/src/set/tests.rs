//! The questions, as rows; the laws are in `tests/oracle/laws.rs`.

use super::*;
use crate::{
    Date, Exclusion, Length, Month, Ordinal, Recurrence, TimeOfDay, Weekday, Windows, Zone,
};

fn at(text: &str) -> Instant {
    Instant::parse(text).unwrap()
}

fn time(text: &str) -> TimeOfDay {
    TimeOfDay::parse(text).unwrap()
}

fn schedule(
    rule: &Recurrence,
    start: &str,
    length: Length,
    exclude: &[(&str, &str)],
    zone: &str,
) -> TimeSet {
    let zone = Zone::named(zone).unwrap();
    let windows = Windows::new(rule, time(start), length, zone.clone()).unwrap();
    let exclude: Vec<Exclusion> = exclude
        .iter()
        .map(|(from, until)| {
            Exclusion::new(
                Date::parse(from).unwrap(),
                Some(Date::parse(until).unwrap()),
                Some("freeze"),
            )
            .unwrap()
        })
        .collect();
    Schedule::new(Some(windows), &exclude, &zone).unwrap().into()
}

const HOUR: u32 = 3_600;

fn weekly(days: &[Weekday]) -> Recurrence {
    Recurrence::weekly(1, days).unwrap()
}

/// Spans of a range as text, `..` where there is no edge.
fn spans(set: &TimeSet, from: &str, until: &str) -> Vec<String> {
    let edge = |edge: Option<Instant>| edge.map_or(String::new(), |edge| edge.to_string());
    set.spans(at(from)..at(until))
        .map(|span| format!("{}..{}", edge(span.start), edge(span.end)))
        .collect()
}

#[test]
fn touching_windows_are_one_and_exclusions_cut_it() {
    use Weekday::{Monday, Tuesday, Wednesday};
    let set = schedule(
        &weekly(&[Monday, Tuesday, Wednesday]),
        "00:00",
        Length::RestOfDay,
        &[("2026-11-17", "2026-11-18")],
        "UTC",
    );
    assert_eq!(
        spans(&set, "2026-11-10T12:00:00Z", "2026-11-23T00:00:01Z"),
        [
            "2026-11-09T00:00:00Z..2026-11-12T00:00:00Z",
            "2026-11-16T00:00:00Z..2026-11-17T00:00:00Z",
            "2026-11-18T00:00:00Z..2026-11-19T00:00:00Z",
            "2026-11-23T00:00:00Z..2026-11-26T00:00:00Z",
        ]
    );
    let stretch = set.stretch(at("2026-11-17T10:00:00Z"));
    assert_eq!(
        stretch,
        Stretch {
            inside: false,
            start: Some(at("2026-11-17T00:00:00Z")),
            end: Some(at("2026-11-18T00:00:00Z"))
        }
    );
    let why = set.why(at("2026-11-17T10:00:00Z"));
    assert!(matches!(why.cause, Cause::Exclusion { reason: Some("freeze"), .. }), "{why:?}");
    assert!(
        set.contains(at("2026-11-16T00:00:00Z")) && !set.contains(at("2026-11-19T00:00:00Z")),
        "TIME-1"
    );
}

#[test]
fn all_and_nothing_are_found_when_the_set_is_built() {
    use Weekday::{Friday, Monday, Saturday, Sunday, Thursday, Tuesday, Wednesday};
    let whole = |days: &[Weekday]| schedule(&weekly(days), "00:00", Length::RestOfDay, &[], "UTC");
    let daily = |start: &str, hours: u32| {
        schedule(&Recurrence::every_day(), start, Length::Elapsed(hours * HOUR), &[], "UTC")
    };
    assert!(whole(Weekday::ALL).is_always());
    assert!(
        whole(&[Monday, Tuesday, Wednesday, Thursday])
            .union(whole(&[Friday, Saturday, Sunday]))
            .is_always()
    );
    assert!(
        !whole(&[Monday, Tuesday, Wednesday]).union(whole(&[Friday, Saturday, Sunday])).is_always()
    );
    assert!(daily("00:00", 1).intersection(daily("02:00", 1)).is_never());
    assert!(!daily("00:00", 3).intersection(daily("02:00", 1)).is_never());
    assert!(daily("00:00", 24).is_always());
    assert!(daily("12:00", 12).union(daily("00:00", 12)).is_always());
    let thirtieth = Recurrence::yearly_by_date(Month::February, &[30]).unwrap();
    assert!(schedule(&thirtieth, "00:00", Length::RestOfDay, &[], "UTC").is_never(), "TIME-7");
    let first = Recurrence::monthly_by_date(1, &[1]).unwrap();
    let days = |days: u32| schedule(&first, "00:00", Length::Elapsed(days * 24 * HOUR), &[], "UTC");
    assert!(days(31).is_always() && !days(30).is_always());
    let leap = Recurrence::yearly_by_date(Month::March, &[1]).unwrap();
    let length =
        |days: u32| schedule(&leap, "00:00", Length::Elapsed(days * 24 * HOUR), &[], "UTC");
    assert!(length(366).is_always() && !length(365).is_always());
    assert_eq!(
        length(365).next_change(at("2026-05-01T00:00:00Z")),
        Some(at("2028-02-29T00:00:00Z"))
    );
    assert_eq!(
        length(365).previous_change(at("2026-05-01T00:00:00Z")),
        Some(at("2024-03-01T00:00:00Z"))
    );
    // A day of Berlin is not always 24 hours long, but the rest of the day always ends with it.
    let berlin = |length| schedule(&Recurrence::every_day(), "00:00", length, &[], "Europe/Berlin");
    assert!(berlin(Length::RestOfDay).is_always());
    assert!(!berlin(Length::Elapsed(24 * HOUR)).is_always());
    assert!(berlin(Length::Elapsed(25 * HOUR)).is_always());
    // Two schedules of one zone, whose wall clock tells that they never meet or leave nothing out, whatever DST does.
    let in_berlin = |days: &[Weekday], start: &str, length: Length| {
        schedule(&weekly(days), start, length, &[], "Europe/Berlin")
    };
    let whole_in_berlin = |days: &[Weekday]| in_berlin(days, "00:00", Length::RestOfDay);
    let (week, weekend) = ([Monday, Tuesday, Wednesday, Thursday, Friday], [Saturday, Sunday]);
    assert!(whole_in_berlin(&week).intersection(whole_in_berlin(&weekend)).is_never());
    assert!(whole_in_berlin(&week).union(whole_in_berlin(&weekend)).is_always());
    let night = |day| in_berlin(&[day], "20:00", Length::Elapsed(8 * HOUR));
    assert!(night(Saturday).intersection(night(Wednesday)).is_never());
    assert!(night(Saturday).intersection(night(Wednesday)).complement().is_always());
    // What the wall clock cannot tell a walk does: Berlin put its clocks forward on Sundays, and once on a Thursday, in 1945.
    let hours = |days: &[Weekday]| in_berlin(days, "00:00", Length::Elapsed(24 * HOUR));
    assert!(!hours(&[Sunday]).intersection(whole_in_berlin(&[Monday])).is_never());
    assert!(!hours(&[Thursday]).intersection(whole_in_berlin(&[Friday])).is_never());
    assert!(hours(&[Tuesday]).intersection(whole_in_berlin(&[Wednesday])).is_never());
    // Swallowed by the gap in every year there is one.
    let gap = Recurrence::yearly_by_day(Month::March, &[(Ordinal::Last, Weekday::Sunday)]).unwrap();
    let set = schedule(&gap, "02:10", Length::Until(time("02:50")), &[], "Europe/Berlin");
    assert_eq!(set.next_change(at("2026-01-01T00:00:00Z")), None);
    assert!(!set.is_never(), "there were years without summer time");
}

#[test]
fn overrides_merge_with_the_policy() {
    let saturdays =
        schedule(&weekly(&[Weekday::Saturday]), "20:00", Length::Elapsed(8 * HOUR), &[], "UTC");
    let until = at("2026-11-14T21:00:00Z");
    let open = TimeSet::before(until)
        .labelled("PermissiveUntil")
        .union(saturdays.clone().labelled("policy"));
    // The override ends inside a window: one stretch (GATE-4).
    assert_eq!(open.next_change(at("2026-11-01T00:00:00Z")), Some(at("2026-11-15T04:00:00Z")));
    assert_eq!(open.previous_change(at("2026-11-14T22:00:00Z")), None);
    assert_eq!(open.why(at("2026-11-01T00:00:00Z")).label, Some("PermissiveUntil"));
    assert_eq!(open.why(at("2026-11-14T20:30:00Z")).label, Some("policy"), "it holds longer");
    let held = saturdays
        .labelled("policy")
        .difference(TimeSet::before(until).labelled("RestrictiveUntil"));
    assert_eq!(held.next_change(at("2026-11-01T00:00:00Z")), Some(until));
    assert_eq!(held.why(at("2026-11-14T20:30:00Z")).label, Some("RestrictiveUntil"));
    assert_eq!(
        spans(&held, "2026-11-01T00:00:00Z", "2026-11-16T00:00:00Z"),
        ["2026-11-14T21:00:00Z..2026-11-15T04:00:00Z"]
    );
    assert_eq!(
        spans(&open, "2026-11-15T00:00:00Z", "2026-11-15T00:00:01Z"),
        ["..2026-11-15T04:00:00Z"]
    );
}

#[test]
fn what_never_comes_again_is_known_without_a_walk() {
    let nights =
        |start: &str| schedule(&Recurrence::every_day(), start, Length::Elapsed(HOUR), &[], "UTC");
    let until = TimeSet::before(at("2030-01-01T00:00:00Z"));
    // After 2030 two disjoint dailies are intersected: nothing, for ever.
    let set = nights("00:00").intersection(until.union(nights("02:00")));
    assert_eq!(set.next_change(at("2031-01-01T00:00:00Z")), None);
    assert_eq!(set.next_change(at("2029-12-31T12:00:00Z")), None);
    assert_eq!(set.previous_change(at("9000-01-01T00:00:00Z")), Some(at("2029-12-31T01:00:00Z")));
    assert_eq!(set.0.settled, at("2029-12-31T01:00:00Z").unix());
    assert_eq!(set.0.begun, LOW);
}

#[test]
fn only_exclusions_permit_everything_else() {
    let freeze = Exclusion::new(Date::parse("2026-12-24").unwrap(), None, None).unwrap();
    let set = TimeSet::from(Schedule::new(None, &[freeze], &Zone::utc()).unwrap());
    assert_eq!(
        set.stretch(at("2026-01-01T00:00:00Z")),
        Stretch { inside: true, start: None, end: Some(at("2026-12-24T00:00:00Z")) }
    );
    assert_eq!(set.stretch(at("2026-12-24T05:00:00Z")).end, Some(at("2026-12-25T00:00:00Z")));
    assert_eq!(set.stretch(at("2027-01-01T00:00:00Z")).end, None);
    assert!(TimeSet::from(Schedule::new(None, &[], &Zone::utc()).unwrap()).is_never(), "TIME-11");
}
