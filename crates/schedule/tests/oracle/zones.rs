//! Do starts in gaps and overlaps follow TIME-12, in every zone, from 1970 to 2100?
//!
//! The expectation is computed another way than by anyone's ambiguity types: a start belongs to the first instant at which the
//! wall clock reads that time or a later one. jiff only says which offset holds from when.

use jiff::Timestamp;
use jiff::civil::{self, DateTime};
use jiff::tz::{Offset, TimeZone};
use schedule::{Date, Length, Recurrence, TimeOfDay, Windows, Zone};

use crate::engine::{date_of, permitted, unix};
use crate::reading::instant_of;

/// The bundled names of zones, and jiff's zone for each.
fn every_zone() -> impl Iterator<Item = (String, TimeZone)> {
    let names = jiff::tz::db().available().map(|name| name.to_string());
    names.map(|name| {
        let zone = TimeZone::get(&name).unwrap_or_else(|error| panic!("{name}: {error}"));
        (name, zone)
    })
}

/// A change of the clocks between 1970 and 2100.
struct Change {
    at: i64,
    before: Offset,
    after: Offset,
}

fn changes(zone: &TimeZone) -> Vec<Change> {
    let from: Timestamp = "1970-01-02T00:00:00Z".parse().unwrap();
    let until: Timestamp = "2100-01-01T00:00:00Z".parse().unwrap();
    zone.following(from)
        .map(|transition| transition.timestamp())
        .take_while(|&at| at < until)
        .map(|at| {
            let before = zone.to_offset(at - jiff::Span::new().seconds(1));
            Change { at: at.as_second(), before, after: zone.to_offset(at) }
        })
        .filter(|change| change.before != change.after)
        .collect()
}

/// Seconds of a civil time, as if it were UTC.
fn wall(civil: DateTime) -> i64 {
    Offset::UTC.to_timestamp(civil).unwrap().as_second()
}

fn civil_of(wall: i64) -> DateTime {
    Offset::UTC.to_datetime(Timestamp::from_second(wall).unwrap())
}

/// The first instant at which the wall clock reads `wanted` or later, near it.
fn first_reached(zone: &TimeZone, wanted: i64) -> i64 {
    let day = 2 * 86_400;
    let mut begin = Timestamp::from_second(wanted - day).unwrap();
    let mut following = zone.following(begin);
    loop {
        let offset = i64::from(zone.to_offset(begin).seconds());
        let end = following.next().map(|transition| transition.timestamp());
        let reached = begin.as_second().max(wanted - offset);
        if end.is_none_or(|end| reached < end.as_second()) {
            return reached;
        }
        begin = end.expect("checked just above");
    }
}

/// The civil times worth asking about at one change: the edges of the gap or overlap, one second around them, its middle.
fn walls_at(change: &Change) -> [i64; 7] {
    let one = change.at + i64::from(change.before.seconds());
    let two = change.at + i64::from(change.after.seconds());
    let (low, high) = (one.min(two), one.max(two));
    [low - 1, low, low + 1, i64::midpoint(low, high), high - 1, high, high + 1]
}

fn split(wall: i64) -> (civil::Date, u32) {
    let civil = civil_of(wall);
    (civil.date(), wall.rem_euclid(86_400) as u32)
}

#[test]
fn every_zone_resolves_starts_in_gaps_and_overlaps() {
    let (mut zones, mut asked, mut gaps, mut overlaps) = (0, 0, 0, 0);
    for (name, jiff_zone) in every_zone() {
        let zone = Zone::named(&name).unwrap_or_else(|error| panic!("{name}: {error}"));
        zones += 1;
        for change in changes(&jiff_zone) {
            if change.after > change.before {
                gaps += 1;
            } else {
                overlaps += 1;
            }
            for wall in walls_at(&change) {
                let (date, second) = split(wall);
                let time = TimeOfDay::from_seconds(second).unwrap();
                let found = zone.first_instant_of(date_of(date), time).unix();
                let expect = first_reached(&jiff_zone, wall);
                assert_eq!(found, expect, "{name}: {}", civil_of(wall));
                assert_eq!(
                    instant_of(&jiff_zone, date, i64::from(second)),
                    expect,
                    "oracle, {name}: {}",
                    civil_of(wall)
                );
                asked += 1;
            }
            for at in [change.at - 1, change.at, change.at + 1] {
                let timestamp = Timestamp::from_second(at).unwrap();
                let civil = jiff_zone.to_datetime(timestamp);
                assert_eq!(
                    zone.offset_at(unix(at)),
                    jiff_zone.to_offset(timestamp).seconds(),
                    "{name}: {timestamp}"
                );
                assert_eq!(zone.date_of(unix(at)), date_of(civil.date()), "{name}: {timestamp}");
                let second = wall(civil).rem_euclid(86_400) as u32;
                assert_eq!(zone.time_of(unix(at)).seconds(), second, "{name}: {timestamp}");
            }
        }
    }
    println!("{zones} zones, {gaps} gaps, {overlaps} overlaps, {asked} civil times");
    assert!(zones > 400 && gaps > 20_000 && overlaps > 20_000, "the zone database is not whole");
}

/// A window that opens daily in the middle of a gap or overlap: its start on that day, and that it opens there at all.
#[test]
fn every_zone_opens_windows_where_the_clock_first_reaches_the_start() {
    let mut asked = 0;
    for (name, jiff_zone) in every_zone() {
        let zone = Zone::named(&name).unwrap();
        let changes = changes(&jiff_zone);
        // All changes of the first years and then every seventh: rules repeat, the odd ones are old.
        for change in changes
            .iter()
            .enumerate()
            .filter(|(n, _)| *n < 40 || n % 7 == 0)
            .map(|(_, change)| change)
        {
            let middle = walls_at(change)[3];
            let (date, second) = split(middle);
            let start = TimeOfDay::from_seconds(second).unwrap();
            let windows =
                Windows::new(&Recurrence::every_day(), start, Length::Elapsed(600), zone.clone())
                    .unwrap();
            let expect = first_reached(&jiff_zone, middle);
            let message = || format!("{name}: daily at {start} about {date}");
            assert_eq!(windows.next_start(unix(expect - 1)), Some(unix(expect)), "{}", message());
            assert_eq!(windows.previous_start(unix(expect)), Some(unix(expect)), "{}", message());
            let set = permitted(windows, &zone);
            assert!(!set.contains(unix(expect - 1)), "{}", message());
            assert!(
                set.contains(unix(expect)) && set.contains(unix(expect + 599)),
                "{}",
                message()
            );
            assert_eq!(set.next_change(unix(expect)), Some(unix(expect + 600)), "{}", message());
            assert!(!set.contains(unix(expect + 600)), "{}", message());
            asked += 1;
        }
    }
    println!("{asked} windows at changes of clocks");
    assert!(asked > 5_000, "only {asked}");
}

#[test]
fn zones_that_do_not_exist_are_refused() {
    for name in
        ["Mars/Base", "Europe/Berlim", "", "europe berlin", "Local", "+02:00", "Europe/Berlin "]
    {
        let error = Zone::named(name).expect_err(name);
        assert!(error.is_unknown_zone(), "{name}: {error}");
    }
}

/// Days as the zone has them: none, 23 hours, 25 hours, or begun in a gap.
#[test]
fn excluded_days_are_the_days_of_the_zone() {
    // (zone, from, until, begin, end); begin = end where the day does not exist.
    for (name, from, until, begin, end) in [
        (
            "Pacific/Apia",
            "2011-12-30",
            "2011-12-31",
            "2011-12-30T10:00:00Z",
            "2011-12-30T10:00:00Z",
        ),
        (
            "Pacific/Apia",
            "2011-12-29",
            "2012-01-01",
            "2011-12-29T10:00:00Z",
            "2011-12-31T10:00:00Z",
        ),
        (
            "America/Sao_Paulo",
            "2018-11-04",
            "2018-11-05",
            "2018-11-04T03:00:00Z",
            "2018-11-05T02:00:00Z",
        ),
        (
            "America/Sao_Paulo",
            "2018-02-17",
            "2018-02-18",
            "2018-02-17T02:00:00Z",
            "2018-02-18T03:00:00Z",
        ),
        (
            "Europe/Berlin",
            "2026-03-29",
            "2026-03-30",
            "2026-03-28T23:00:00Z",
            "2026-03-29T22:00:00Z",
        ),
        (
            "Europe/Berlin",
            "2026-10-25",
            "2026-10-26",
            "2026-10-24T22:00:00Z",
            "2026-10-25T23:00:00Z",
        ),
        // Clocks went back at one minute past midnight: the day begins at the first midnight of two.
        (
            "America/St_Johns",
            "2006-10-29",
            "2006-10-30",
            "2006-10-29T02:30:00Z",
            "2006-10-30T03:30:00Z",
        ),
        (
            "America/Havana",
            "2026-11-01",
            "2026-11-02",
            "2026-11-01T04:00:00Z",
            "2026-11-02T05:00:00Z",
        ),
        ("Asia/Beirut", "2026-03-29", "2026-03-30", "2026-03-28T22:00:00Z", "2026-03-29T21:00:00Z"),
        (
            "Africa/Cairo",
            "2026-04-24",
            "2026-04-25",
            "2026-04-23T22:00:00Z",
            "2026-04-24T21:00:00Z",
        ),
        ("Kwajalein", "1993-08-21", "1993-08-22", "1993-08-21T12:00:00Z", "1993-08-21T12:00:00Z"),
    ] {
        let zone = Zone::named(name).unwrap();
        let [from, until] = [from, until].map(|date| Date::parse(date).unwrap());
        let exclusion = schedule::Exclusion::new(from, Some(until), None).unwrap();
        let set =
            schedule::TimeSet::from(schedule::Schedule::new(None, &[exclusion], &zone).unwrap());
        let [begin, end] = [begin, end].map(|text| crate::engine::at(text).unix());
        let label = format!("{name} {from}");
        assert!(set.contains(unix(begin - 1)), "{label}");
        assert!(set.contains(unix(end)), "{label}");
        if begin == end {
            assert_eq!(set.next_change(unix(begin - 86_400)), None, "{label}");
            continue;
        }
        assert!(!set.contains(unix(begin)) && !set.contains(unix(end - 1)), "{label}");
        assert_eq!(set.next_change(unix(begin - 86_400)), Some(unix(begin)), "{label}");
        assert_eq!(set.next_change(unix(begin)), Some(unix(end)), "{label}");
        assert_eq!(set.previous_change(unix(end + 7)), Some(unix(end)), "{label}");
    }
}

/// Windows that have touched since Alaska crossed the date line, where one day came twice (TIME-14: nobody follows them to the
/// end of time, though only the rows are checked here and not the cost).
#[test]
fn windows_that_touch_since_the_date_line_moved_have_that_one_start() {
    let anchorage = Zone::named("America/Anchorage").unwrap();
    let [now, week] = ["2026-11-15T12:00:00Z", "2026-11-22T12:00:00Z"].map(crate::engine::at);
    let first = crate::engine::at("1867-10-20T07:59:36Z");
    let start = TimeOfDay::parse("22:00").unwrap();
    let length = Length::Elapsed(26 * 3_600);
    let windows = Windows::new(&Recurrence::every_day(), start, length, anchorage.clone()).unwrap();
    let set = permitted(windows.clone(), &anchorage);
    assert_eq!((set.previous_change(now), set.next_change(now)), (Some(first), None));
    let spans: Vec<_> = set.spans(now..week).map(|span| (span.start, span.end)).collect();
    assert_eq!(spans, [(Some(first), None)]);

    let christmas = Date::parse("2026-12-24").unwrap();
    let exclusion = schedule::Exclusion::new(christmas, None, None).unwrap();
    let schedule = schedule::Schedule::new(Some(windows), &[exclusion], &anchorage).unwrap();
    let set = schedule::TimeSet::from(schedule);
    let [begin, end] = ["2026-12-24T09:00:00Z", "2026-12-25T09:00:00Z"].map(crate::engine::at);
    assert_eq!((set.previous_change(now), set.next_change(now)), (Some(first), Some(begin)));
    assert_eq!(set.stretch(end).start, Some(end));
    assert_eq!(set.next_change(end), None);
    let spans: Vec<_> = set.spans(now..end.saturating_add(9)).map(|s| (s.start, s.end)).collect();
    assert_eq!(spans, [(Some(first), Some(begin)), (Some(end), None)]);
}
