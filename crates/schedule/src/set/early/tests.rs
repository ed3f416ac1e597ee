//! The end of windows, as rows and against a reading second by second (D4-3).

use super::*;
use crate::{
    Date, Exclusion, Length, Recurrence, Rolling, Rrule, Schedule, Span, TimeOfDay, Weekday,
    Windows, Zone,
};

const HOUR: u32 = 3_600;

fn at(text: &str) -> Instant {
    Instant::parse(text).unwrap()
}

fn spans(set: &TimeSet, from: &str, until: &str) -> Vec<String> {
    let edge = |edge: Option<Instant>| edge.map_or(String::new(), |edge| edge.to_string());
    let all = set.spans(at(from)..at(until));
    all.map(|span| format!("{}..{}", edge(span.start), edge(span.end))).collect()
}

fn ruled(rule: &str, start: &str, length: Length, exclude: &[(&str, &str)], zone: &str) -> TimeSet {
    let zone = Zone::named(zone).unwrap();
    let rule = Rrule::parse(rule).unwrap();
    let start = TimeOfDay::parse(start).unwrap();
    let windows = Windows::from_rrule(&rule, start, length, zone.clone()).unwrap();
    let date = |text: &str| Date::parse(text).unwrap();
    let exclude: Vec<_> = exclude
        .iter()
        .map(|(from, until)| Exclusion::new(date(from), Some(date(until)), None).unwrap())
        .collect();
    Schedule::new(Some(windows), &exclude, &zone).unwrap().into()
}

#[test]
fn the_last_hour_goes_and_short_windows_stay() {
    let check = |set: TimeSet, expected: &[&str]| {
        let found = spans(&set.closed_early(HOUR), "2026-11-15T00:00:00Z", "2026-11-24T00:00:00Z");
        assert_eq!(found, expected);
    };
    let weekend = "FREQ=WEEKLY;INTERVAL=1;BYDAY=SU,SA";
    // Touching windows are one, and lose one hour.
    check(
        ruled(weekend, "00:00", Length::RestOfDay, &[], "UTC"),
        &[
            "2026-11-14T00:00:00Z..2026-11-15T23:00:00Z",
            "2026-11-21T00:00:00Z..2026-11-22T23:00:00Z",
        ],
    );
    // An exclusion ends a window before it, and what comes after it is a window of its own.
    check(
        ruled(weekend, "00:00", Length::RestOfDay, &[("2026-11-22", "2026-11-23")], "UTC"),
        &[
            "2026-11-14T00:00:00Z..2026-11-15T23:00:00Z",
            "2026-11-21T00:00:00Z..2026-11-21T23:00:00Z",
        ],
    );
    check(
        ruled("FREQ=WEEKLY;BYDAY=MO", "22:00", Length::Elapsed(HOUR - 1), &[], "UTC"),
        &[
            "2026-11-16T22:00:00Z..2026-11-16T22:59:59Z",
            "2026-11-23T22:00:00Z..2026-11-23T22:59:59Z",
        ],
    );
    check(ruled("FREQ=WEEKLY;BYDAY=MO", "22:00", Length::Elapsed(HOUR), &[], "UTC"), &[]);
    check(
        ruled("FREQ=WEEKLY;BYDAY=MO", "22:00", Length::Elapsed(HOUR + 1), &[], "UTC"),
        &[
            "2026-11-16T22:00:00Z..2026-11-16T22:00:01Z",
            "2026-11-23T22:00:00Z..2026-11-23T22:00:01Z",
        ],
    );
    check(TimeSet::always(), &[".."]);
    check(TimeSet::before(at("2026-11-20T00:00:00Z")), &["..2026-11-19T23:00:00Z"]);
}

#[test]
fn what_leaves_nothing_is_known_when_it_is_made() {
    let hours = ruled("FREQ=DAILY", "22:00", Length::Elapsed(HOUR), &[], "Europe/Berlin");
    assert!(hours.closed_early(HOUR).is_never());
    assert!(TimeSet::always().closed_early(HOUR).is_always());
    let days = ruled("FREQ=DAILY", "00:00", Length::RestOfDay, &[], "Europe/Berlin");
    assert!(days.closed_early(HOUR).is_always(), "they leave no gap, so there is no end to cut");
}

/// Whatever is asked of the set is what a reading second by second says, in either direction and with any limit.
#[test]
fn every_question_has_the_answer_of_a_second_by_second_reading() {
    const CUT: i64 = 7;
    const END: i64 = 120;
    let stamp = |second: i64| Instant::from_unix(second).unwrap();
    let mut chance = 88_172_645_463_325_252_u64;
    let mut next = |below: u64| {
        chance ^= chance << 13;
        chance ^= chance >> 7;
        chance ^= chance << 17;
        (chance % below) as i64
    };
    for _ in 0..400 {
        let (mut spans, mut second) = (Vec::new(), next(10));
        while second < END {
            let end = second + 1 + next(20);
            spans.push((second, end.min(END)));
            second = end + 1 + next(12);
        }
        let inner = TimeSet::ranges(spans.iter().map(|(a, b)| Span::new(stamp(*a), stamp(*b))));
        let set = inner.closed_early(CUT as u32);
        let inside = |at: i64| {
            let span = spans.iter().find(|(start, end)| (*start..*end).contains(&at));
            span.is_some_and(|(start, end)| end - start < CUT || at < end - CUT)
        };
        for at in -5..END + 5 {
            assert_eq!(set.contains(stamp(at)), inside(at), "{spans:?} at {at}");
            let after = (at + 1..END + 10).find(|later| inside(*later) != inside(at));
            assert_eq!(set.next_change(stamp(at)), after.map(stamp), "{spans:?} after {at}");
            let before = (-10..=at).rev().find(|earlier| inside(earlier - 1) != inside(at));
            let before = before.filter(|found| *found > -10);
            assert_eq!(set.previous_change(stamp(at)), before.map(stamp), "{spans:?} to {at}");
            for reach in [1, 5, 40] {
                let found: Vec<_> = set.spans(stamp(at)..stamp(at + reach)).collect();
                let mut expected = Vec::new();
                let mut from = at;
                while let Some(met) = (from..at + reach).find(|second| inside(*second)) {
                    let start = (-10..=met).rev().find(|second| !inside(second - 1)).unwrap();
                    let end = (met..=END + 10).find(|second| !inside(*second)).unwrap();
                    expected.push(Span::new(stamp(start), stamp(end)));
                    from = end;
                }
                assert_eq!(found, expected, "{spans:?} from {at} for {reach}");
            }
        }
    }
}

/// The same where windows recur, in a zone with its gap and around exclusions, hour by hour over two years.
#[test]
fn recurring_windows_lose_what_their_spans_lose() {
    let exclude = [("2026-03-29", "2026-03-30"), ("2026-12-20", "2027-01-03")];
    for (rule, start, length) in [
        ("FREQ=WEEKLY;BYDAY=SA,SU", "00:00", Length::RestOfDay),
        ("FREQ=DAILY", "23:30", Length::Elapsed(5_400)),
        ("FREQ=MONTHLY;BYDAY=-1SU", "01:30", Length::Elapsed(2 * HOUR)),
        ("FREQ=DAILY;INTERVAL=3", "02:00", Length::Elapsed(1_800)),
        (
            "DTSTART;TZID=Europe/Berlin:20260110T200000\nRRULE:FREQ=WEEKLY;COUNT=40",
            "00:00",
            Length::Elapsed(4 * HOUR),
        ),
    ] {
        let inner = ruled(rule, start, length, &exclude, "Europe/Berlin");
        let set = inner.clone().closed_early(HOUR);
        let cut: Vec<Span> = inner
            .spans(at("2025-01-01T00:00:00Z")..at("2028-01-01T00:00:00Z"))
            .filter_map(|span| {
                let (start, end) = (span.start.unwrap().unix(), span.end.unwrap().unix());
                let end = if end - start >= i64::from(HOUR) { end - i64::from(HOUR) } else { end };
                let stamp = |edge: i64| Instant::from_unix(edge).unwrap();
                (start < end).then(|| Span::new(stamp(start), stamp(end)))
            })
            .collect();
        let expected = TimeSet::ranges(cut);
        let mut now = at("2026-01-01T00:00:00Z");
        while now < at("2027-06-01T00:00:00Z") {
            assert_eq!(set.state(now).inside, expected.state(now).inside, "{rule} at {now}");
            if set.next_change(now).is_some_and(|next| next < at("2027-12-01T00:00:00Z")) {
                assert_eq!(set.state(now), expected.state(now), "{rule} at {now}");
            }
            now = now.saturating_add(7_200);
        }
    }
}

/// GRD-2: what counts of a span is counted of what is left.
#[test]
fn the_least_of_any_span_is_that_of_what_is_left() {
    let sundays = Recurrence::weekly(1, &[Weekday::Sunday]).unwrap();
    let midnight = TimeOfDay::MIDNIGHT;
    let windows = Windows::new(&sundays, midnight, Length::Elapsed(4 * HOUR), Zone::utc()).unwrap();
    let set = TimeSet::from(Schedule::new(Some(windows), &[], &Zone::utc()).unwrap());
    let rolling = Rolling::new(7 * 86_400, 0).unwrap();
    let least = |set: &TimeSet| set.least(rolling, at("2026-01-01T00:00:00Z")).seconds;
    assert_eq!((least(&set), least(&set.clone().closed_early(HOUR))), (14_400, 10_800));
}
