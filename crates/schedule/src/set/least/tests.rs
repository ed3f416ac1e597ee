use super::*;
use crate::{
    Date, Exclusion, Length, Month, Ordinal, Recurrence, Schedule, TimeOfDay, Weekday, Windows,
    Zone,
};
use Weekday::{Monday, Saturday, Sunday, Tuesday};

const HOUR: i64 = 3_600;
const DAYS: i64 = 86_400;

fn at(text: &str) -> Instant {
    Instant::parse(text).unwrap()
}

fn schedule(
    rule: &Recurrence,
    start: &str,
    hours: i64,
    exclude: &[(&str, &str)],
    zone: &str,
) -> TimeSet {
    let zone = Zone::named(zone).unwrap();
    let windows = Windows::new(
        rule,
        TimeOfDay::parse(start).unwrap(),
        Length::Elapsed((hours * HOUR) as u32),
        zone.clone(),
    )
    .unwrap();
    let date = |text: &str| Date::parse(text).unwrap();
    let exclude: Vec<_> = exclude
        .iter()
        .map(|(from, until)| Exclusion::new(date(from), Some(date(until)), None).unwrap())
        .collect();
    TimeSet::from(Schedule::new(Some(windows), &exclude, &zone).unwrap())
}

fn weekly(days: &[Weekday]) -> Recurrence {
    Recurrence::weekly(1, days).unwrap()
}

/// At least 48 hours in any 32 days, in stretches of four hours or more.
fn gke() -> Rolling {
    Rolling::new(32 * DAYS, 4 * HOUR).unwrap()
}

/// The vectors that other products' rule is known by (GRD-2).
#[test]
fn the_known_vectors_hold() {
    let daily = Recurrence::every_day();
    let first = Recurrence::monthly_by_date(1, &[1]).unwrap();
    let from = at("2026-11-18T00:00:00Z");
    for (name, set, hours) in [
        ("Saturdays", schedule(&weekly(&[Saturday]), "00:00", 24, &[], "UTC"), 96),
        ("weekends merge", schedule(&weekly(&[Saturday, Sunday]), "00:00", 24, &[], "UTC"), 192),
        ("four hours on Tuesdays", schedule(&weekly(&[Tuesday]), "02:00", 4, &[], "UTC"), 16),
        ("three hours a day never count", schedule(&daily, "01:00", 3, &[], "UTC"), 0),
        ("four hours a day", schedule(&daily, "01:00", 4, &[], "UTC"), 124),
        ("across midnight", schedule(&daily, "22:00", 4, &[], "UTC"), 124),
        ("the first of the month", schedule(&first, "00:00", 24, &[], "UTC"), 24),
        (
            "28 days without Saturdays",
            schedule(&weekly(&[Saturday]), "00:00", 24, &[("2026-12-05", "2027-01-02")], "UTC"),
            0,
        ),
        ("never", TimeSet::never(), 0),
        ("always", TimeSet::always(), 768),
    ] {
        assert_eq!(set.least(gke(), from).seconds, hours * HOUR, "{name}");
    }
    let day = Exclusion::new(Date::parse("2026-12-24").unwrap(), None, None).unwrap();
    let but_a_day = TimeSet::from(Schedule::new(None, &[day], &Zone::utc()).unwrap());
    // The day, and what is left of four hours beside it.
    assert_eq!(but_a_day.least(gke(), from).seconds, 768 * HOUR - 24 * HOUR - (4 * HOUR - 1));
}

/// What is over is no reason to refuse anything, and what is to come is.
#[test]
fn only_spans_from_the_instant_on_count() {
    let set = schedule(&weekly(&[Saturday]), "00:00", 24, &[("2026-12-05", "2027-01-02")], "UTC");
    for (from, hours) in [("2020-01-01T00:00:00Z", 0), ("2026-12-30T00:00:00Z", 96)] {
        assert_eq!(set.least(gke(), at(from)).seconds, hours * HOUR, "{from}");
    }
    // Forty days without a window, and a second of what is left before them must not count.
    let found = set.least(gke(), at("2020-01-01T00:00:00Z"));
    assert_eq!(found.start, at("2026-11-28T20:00:01Z"));
}

/// GRD-4: where it is worst is where it is found again.
#[test]
fn the_worst_span_holds_what_was_found() {
    let fifth = Recurrence::monthly_by_day(1, &[(Ordinal::Fifth, Monday)]).unwrap();
    let february = Recurrence::yearly_by_date(Month::February, &[29]).unwrap();
    for set in [
        schedule(
            &weekly(&[Saturday]),
            "20:00",
            8,
            &[("2027-01-01", "2027-01-20")],
            "Europe/Berlin",
        ),
        schedule(&fifth, "01:00", 30, &[], "America/New_York"),
        schedule(&february, "01:00", 30, &[], "UTC"),
        schedule(&Recurrence::daily(5).unwrap(), "23:00", 7, &[], "Australia/Lord_Howe"),
    ] {
        for (span, stretch) in [(32, 4), (90, 0), (366, 6), (1, 1)] {
            let rolling = Rolling::new(span * DAYS, stretch * HOUR).unwrap();
            let least = set.least(rolling, at("2026-11-18T07:00:00Z"));
            assert_eq!(counted(&set, rolling, least.start.unix()), least.seconds, "{least:?}");
        }
    }
}

/// What counts of one span, by looking at it alone.
fn counted(set: &TimeSet, rolling: Rolling, start: i64) -> i64 {
    let end = start + rolling.span;
    set.spans(Instant::from_unix(start).unwrap()..Instant::from_unix(end).unwrap())
        .map(|span| {
            span.end.map_or(end, |at| at.unix().min(end))
                - span.start.map_or(start, |at| at.unix().max(start))
        })
        .filter(|length| *length >= rolling.stretch)
        .sum()
}

/// Clocks that go back an hour make a night longer where its end is a time of day, and never shorter where it is a length.
#[test]
fn a_change_of_the_clock_is_where_a_zone_is_worst() {
    let berlin = Zone::named("Europe/Berlin").unwrap();
    let length = Length::Until(TimeOfDay::parse("06:00").unwrap());
    let nights = Windows::new(
        &weekly(&[Saturday]),
        TimeOfDay::parse("22:00").unwrap(),
        length,
        berlin.clone(),
    )
    .unwrap();
    let set = TimeSet::from(Schedule::new(Some(nights), &[], &berlin).unwrap());
    let week = Rolling::new(14 * DAYS, 0).unwrap();
    let found = set.least(week, at("2026-11-18T00:00:00Z"));
    // Two nights, and one of them is the one in which the clocks go forward.
    assert_eq!(found.seconds, 15 * HOUR);
    assert!(
        found.start < at("2027-03-28T00:00:00Z") && found.start > at("2027-03-13T00:00:00Z"),
        "{found:?}"
    );
}

#[test]
fn spans_that_cannot_be_moved_are_refused() {
    for (span, stretch) in [(0, 0), (-1, 0), (367 * DAYS, 0), (HOUR, -1), (HOUR, HOUR + 1)] {
        assert!(Rolling::new(span, stretch).unwrap_err().is_range(), "{span} {stretch}");
    }
    assert!(Rolling::new(366 * DAYS, 366 * DAYS).is_ok());
}

#[test]
fn what_is_outside_is_found_wherever_it_is() {
    let saturdays = schedule(&weekly(&[Saturday]), "20:00", 8, &[], "Europe/Berlin");
    let evenings = schedule(&weekly(&[Saturday]), "20:00", 3, &[], "Europe/Berlin");
    let from = at("2026-11-18T00:00:00Z");
    assert_eq!(evenings.first_outside(&saturdays, from), None);
    let outside = saturdays.first_outside(&evenings, from);
    assert_eq!(outside, Some(Span::new(at("2026-11-21T22:00:00Z"), at("2026-11-22T03:00:00Z"))));
    assert_eq!(saturdays.first_outside(&saturdays, from), None);
    // In another zone the hours part when only one of the clocks changes.
    let new_york = schedule(&weekly(&[Saturday]), "14:00", 8, &[], "America/New_York");
    let outside = new_york.first_outside(&saturdays, from);
    assert_eq!(outside, Some(Span::new(at("2027-03-20T18:00:00Z"), at("2027-03-20T19:00:00Z"))));
    // Once in centuries is found too.
    let leap_mondays =
        Recurrence::yearly_by_day(Month::February, &[(Ordinal::Fifth, Monday)]).unwrap();
    let but_then = schedule(&Recurrence::every_day(), "00:00", 23, &[], "UTC")
        .difference(schedule(&leap_mondays, "00:00", 24, &[], "UTC"));
    let outside =
        schedule(&Recurrence::every_day(), "01:00", 1, &[], "UTC").first_outside(&but_then, from);
    assert_eq!(outside, Some(Span::new(at("2044-02-29T01:00:00Z"), at("2044-02-29T02:00:00Z"))));
}
