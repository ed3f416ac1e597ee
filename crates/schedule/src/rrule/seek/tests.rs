//! The days of rules (TIME-13): the standard's own examples, the rims, and a slow evaluator that does it by definition.

use proptest::prelude::*;

use super::super::tests::{naive, random};
use super::*;
use crate::civil::{date_of, day_of};
use crate::days::Days;
use crate::{Instant, Length, Schedule, TimeSet, Windows};

const NEW_YORK: &str = "DTSTART;TZID=America/New_York:";

fn rule(text: &str) -> Rrule {
    Rrule::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn seek(rule: &Rrule) -> Seek {
    let time = rule.start_time().unwrap_or(TimeOfDay::MIDNIGHT);
    Seek::new(rule, time, &rule.zone().unwrap_or(Zone::utc()))
}

/// Days as `year-month:date,date …`, the year only where it changes.
fn shown(days: &[i32]) -> String {
    let mut text = String::new();
    let mut before = (0, 0);
    for day in days {
        let (year, month, date) = date_of(*day);
        let word = match before {
            (y, m) if (y, m) == (year, month) => format!(",{date}"),
            (y, _) if y == year => format!(" {month}:{date}"),
            _ => format!(" {year}-{month}:{date}"),
        };
        text.push_str(&word);
        before = (year, month);
    }
    text.trim_start().to_owned()
}

/// The first days of a rule, found forwards, and again backwards from behind the last of them.
#[track_caller]
fn check(text: &str, expected: &str) {
    let seek = seek(&rule(text));
    let count = expected.matches(':').count() + expected.matches(',').count();
    let days: Vec<i32> = seek.days_of(FLOOR, CEILING).take(count + 1).collect();
    let ends = expected.ends_with('.');
    assert_eq!(days.len() == count, ends, "{text}: {}", shown(&days));
    let days = &days[..count];
    assert_eq!(shown(days), expected.trim_end_matches('.'), "{text}");
    let mut back = Vec::new();
    let mut day = *days.last().unwrap();
    while let Some(found) = seek.prev_on_or_before(day) {
        back.push(found);
        day = found - 1;
    }
    back.reverse();
    assert_eq!(back, days, "backwards: {text}");
}

#[test]
fn examples_of_the_standard() {
    let mut rows = 0;
    for row in include_str!("rfc5545.txt").lines().filter(|row| !row.starts_with('#')) {
        let [start, parts, expected] = row.split(" | ").collect::<Vec<_>>()[..] else {
            panic!("not a row: {row}");
        };
        check(&format!("{NEW_YORK}{start}T090000\nRRULE:{parts}"), expected);
        rows += 1;
    }
    assert_eq!(rows, 32);
}

#[test]
fn examples_of_the_standard_by_number() {
    // (start, parts, how many, the last one)
    for (start, parts, count, last) in [
        ("19970902", "FREQ=DAILY;UNTIL=19971224T000000Z", 113, (1997, 12, 23)),
        (
            "19980101",
            "FREQ=YEARLY;UNTIL=20000131T140000Z;BYMONTH=1;BYDAY=SU,MO,TU,WE,TH,FR,SA",
            93,
            (2000, 1, 31),
        ),
        ("19980101", "FREQ=DAILY;UNTIL=20000131T140000Z;BYMONTH=1", 93, (2000, 1, 31)),
    ] {
        let seek = seek(&rule(&format!("{NEW_YORK}{start}T090000\nRRULE:{parts}")));
        let days: Vec<i32> = seek.days_of(FLOOR, CEILING).collect();
        assert_eq!(
            (days.len(), days.last().map(|day| date_of(*day))),
            (count, Some(last)),
            "{parts}"
        );
    }
}

/// TIME-3, and TIME-5: 1970-01-01 was a Thursday of the week that began on Monday, 29 December.
#[test]
fn rules_without_a_start_are_anchored_at_the_epoch() {
    for (parts, around_epoch) in [
        ("FREQ=WEEKLY", "1969-12:25 1970-1:1,8"),
        ("FREQ=WEEKLY;INTERVAL=2;BYDAY=MO", "1969-12:15,29 1970-1:12"),
        ("FREQ=WEEKLY;INTERVAL=2;BYDAY=SU", "1969-12:21 1970-1:4,18"),
        ("FREQ=WEEKLY;INTERVAL=2;WKST=SU;BYDAY=SU", "1969-12:14,28 1970-1:11"),
        ("FREQ=WEEKLY;INTERVAL=3;WKST=TH;BYDAY=WE,TH", "1969-12:11,17 1970-1:1,7,22"),
        ("FREQ=DAILY;INTERVAL=10", "1969-12:12,22 1970-1:1,11,21"),
        ("FREQ=MONTHLY;INTERVAL=7", "1968-11:1 1969-6:1 1970-1:1 8:1"),
        ("FREQ=YEARLY", "1969-1:1 1970-1:1 1971-1:1"),
        ("FREQ=YEARLY;INTERVAL=3;BYMONTH=2", "1970-2:1 1973-2:1 1976-2:1"),
    ] {
        let seek = seek(&rule(parts));
        let count = around_epoch.matches([':', ',']).count();
        let begins = (-500..0).find(|day| {
            let days: Vec<i32> = seek.days_of(*day, CEILING).take(count).collect();
            shown(&days) == around_epoch
        });
        assert!(begins.is_some(), "{parts}: {around_epoch}");
    }
    check("FREQ=DAILY;INTERVAL=3;COUNT=3", "1970-1:1,4,7.");
}

/// TIME-6: a date or weekday that the month does not have gives no occurrence.
#[test]
fn leap_days_and_fifth_weekdays_are_not_moved() {
    check("DTSTART:20200229\nRRULE:FREQ=YEARLY", "2020-2:29 2024-2:29 2028-2:29");
    check("DTSTART:20960229\nRRULE:FREQ=YEARLY", "2096-2:29 2104-2:29");
    check(
        "DTSTART:20200101\nRRULE:FREQ=MONTHLY;BYMONTHDAY=31",
        "2020-1:31 3:31 5:31 7:31 8:31 10:31 12:31",
    );
    check("DTSTART:20200101\nRRULE:FREQ=MONTHLY;BYDAY=5MO", "2020-3:30 6:29 8:31 11:30");
    check("DTSTART:20200101\nRRULE:FREQ=MONTHLY;BYDAY=-5MO", "2020-3:2 6:1 8:3 11:2");
    check(
        "DTSTART:20200101\nRRULE:FREQ=YEARLY;BYMONTH=2;BYDAY=5MO",
        "2044-2:29 2072-2:29 2112-2:29",
    );
    check("DTSTART:20200101\nRRULE:FREQ=YEARLY;BYDAY=53WE", "2020-12:30 2025-12:31 2031-12:31");
    check("DTSTART:20200101\nRRULE:FREQ=YEARLY;BYDAY=-1SU,1SU", "2020-1:5 12:27 2021-1:3 12:26");
    check("DTSTART:20230131\nRRULE:FREQ=MONTHLY;COUNT=4", "2023-1:31 3:31 5:31 7:31.");
}

#[test]
fn a_start_that_does_not_fit_its_rule_is_no_occurrence() {
    check("DTSTART:20260101\nRRULE:FREQ=WEEKLY;BYDAY=SA;COUNT=2", "2026-1:3,10.");
}

/// Where other implementations differ. A list of weekdays is a union, ordinals or not; BYSETPOS counts in the whole period, also in
/// the one that DTSTART cuts.
#[test]
fn lists_are_unions_and_positions_count_in_whole_periods() {
    check(
        "DTSTART:20180501\nRRULE:FREQ=MONTHLY;BYDAY=3TH,TU",
        "2018-5:1,8,15,17,22,29 6:5,12,19,21,26",
    );
    check("DTSTART:20140101\nRRULE:FREQ=WEEKLY;BYDAY=MO,SU;BYSETPOS=2", "2014-1:5,12,19");
    check(
        "DTSTART:20190501\nRRULE:FREQ=WEEKLY;INTERVAL=4;BYDAY=WE,FR,MO;BYSETPOS=1",
        "2019-5:27 6:24",
    );
    check("DTSTART:20190515\nRRULE:FREQ=MONTHLY;BYDAY=MO,TU;BYSETPOS=1,-1", "2019-5:28 6:3,25");
}

/// TIME-14: no cap. Days of a rule that fires once in thousands of years, against a walk over its candidates.
#[test]
fn rare_days_are_found_however_far() {
    for (every, far) in [(25, 500), (29, 500), (31, 500), (997, 0), (2_003, 0), (9_999, 0)] {
        let text = format!("FREQ=DAILY;INTERVAL={every};BYMONTH=2;BYMONTHDAY=29;BYDAY=MO");
        let seek = seek(&rule(&text));
        let fires = |day: &i32| matches!(date_of(*day), (_, 2, 29)) && civil::weekday_of(*day) == 0;
        let last = CEILING - CEILING.rem_euclid(every);
        let candidates = || (0..=last / every).map(|step| step * every);
        let ahead: Vec<i32> = candidates().filter(fires).collect();
        let behind = candidates().map(|day| -day).take_while(|day| *day >= FLOOR).find(fires);
        assert_eq!(seek.days_of(0, CEILING).collect::<Vec<_>>(), ahead, "{text}");
        assert_eq!(seek.prev_on_or_before(0), behind, "{text}");
        let years = ahead.windows(2).map(|pair| (pair[1] - pair[0]) / 366).max().unwrap_or(0);
        assert!(years >= far, "{text}: the longest gap is {years} years");
    }
}

#[test]
fn rules_that_never_fire_are_known_at_once() {
    for text in [
        "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30",
        "FREQ=MONTHLY;BYMONTH=4,6;BYMONTHDAY=31",
        "FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30",
        "FREQ=DAILY;INTERVAL=7;BYDAY=MO",
        "FREQ=DAILY;BYDAY=MO;BYSETPOS=2",
        "FREQ=WEEKLY;BYDAY=MO;BYSETPOS=2",
        "FREQ=MONTHLY;BYDAY=MO;BYSETPOS=6",
        "FREQ=MONTHLY;INTERVAL=12;BYMONTH=2",
        "FREQ=YEARLY;INTERVAL=4;BYMONTH=2;BYMONTHDAY=29",
        "DTSTART:20210101\nRRULE:FREQ=YEARLY;INTERVAL=4;BYMONTH=2;BYMONTHDAY=29",
        "DTSTART:20260103\nRRULE:FREQ=MONTHLY;BYMONTHDAY=1;UNTIL=20260131",
        "DTSTART:99991231\nRRULE:FREQ=DAILY;INTERVAL=2;BYMONTH=2;BYMONTHDAY=29",
    ] {
        let seek = seek(&rule(text));
        assert_eq!((seek.hull(), seek.next_on_or_after(i32::MIN)), (None, None), "{text}");
        assert_eq!(seek.prev_on_or_before(i32::MAX), None, "{text}");
    }
    let rare = seek(&rule("DTSTART:20260101\nRRULE:FREQ=YEARLY;BYMONTH=2;BYDAY=5MO"));
    assert!(rare.hull().is_some());
}

#[test]
fn until_is_the_last_start_it_permits() {
    let last = |text: &str| seek(&rule(text)).hull().map(|(_, last)| date_of(last));
    for (text, expected) in [
        // The start of that day is permitted at its second, and not a second before.
        ("DTSTART:20260101T200000Z\nRRULE:FREQ=DAILY;UNTIL=20260110T200000Z", (2026, 1, 10)),
        ("DTSTART:20260101T200000Z\nRRULE:FREQ=DAILY;UNTIL=20260110T195959Z", (2026, 1, 9)),
        ("DTSTART:20260101T200000\nRRULE:FREQ=DAILY;UNTIL=20260110T195959", (2026, 1, 9)),
        ("DTSTART:20260101T200000\nRRULE:FREQ=DAILY;UNTIL=20260110T200000", (2026, 1, 10)),
        ("DTSTART:20260101T200000Z\nRRULE:FREQ=DAILY;UNTIL=20260110", (2026, 1, 10)),
        // UNTIL is in UTC and the start in New York, five hours behind.
        (
            "DTSTART;TZID=America/New_York:20260101T200000\nRRULE:FREQ=DAILY;UNTIL=20260111T010000Z",
            (2026, 1, 10),
        ),
        (
            "DTSTART;TZID=America/New_York:20260101T200000\nRRULE:FREQ=DAILY;UNTIL=20260111T005959Z",
            (2026, 1, 9),
        ),
        // 02:30 does not exist in Berlin on 29 March 2026 and starts at 03:00 summer time, 01:00Z (TIME-12).
        (
            "DTSTART;TZID=Europe/Berlin:20260101T023000\nRRULE:FREQ=DAILY;UNTIL=20260329T010000Z",
            (2026, 3, 29),
        ),
        (
            "DTSTART;TZID=Europe/Berlin:20260101T023000\nRRULE:FREQ=DAILY;UNTIL=20260329T005959Z",
            (2026, 3, 28),
        ),
        ("FREQ=MONTHLY;BYMONTHDAY=31;UNTIL=20260430", (2026, 3, 31)),
    ] {
        assert_eq!(last(text), Some(expected), "{text}");
    }
}

#[test]
fn count_ends_where_it_says_however_large() {
    let last = |text: &str| seek(&rule(text)).hull().map(|(_, last)| date_of(last));
    for (text, expected) in [
        ("DTSTART:20260101\nRRULE:FREQ=DAILY;COUNT=1", (2026, 1, 1)),
        ("DTSTART:20260101\nRRULE:FREQ=DAILY;COUNT=366", (2027, 1, 1)),
        ("DTSTART:20260101\nRRULE:FREQ=DAILY;BYMONTH=1;COUNT=32", (2027, 1, 1)),
        ("DTSTART:20260101\nRRULE:FREQ=WEEKLY;BYDAY=MO,TH;COUNT=5", (2026, 1, 15)),
        ("DTSTART:20260115\nRRULE:FREQ=MONTHLY;BYDAY=MO;COUNT=3", (2026, 2, 2)),
        ("DTSTART:20260115\nRRULE:FREQ=YEARLY;BYDAY=MO;COUNT=51", (2027, 1, 4)),
        ("DTSTART:20260101\nRRULE:FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29;COUNT=2", (2032, 2, 29)),
    ] {
        assert_eq!(last(text), Some(expected), "{text}");
    }
    // More than there are until the end of time: the rule does not end.
    for parts in
        ["FREQ=DAILY", "FREQ=DAILY;BYDAY=MO", "FREQ=WEEKLY", "FREQ=MONTHLY;BYDAY=MO", "FREQ=YEARLY"]
    {
        let counted = seek(&rule(&format!("DTSTART:00010101\nRRULE:{parts};COUNT=4294967295")));
        let endless = seek(&rule(&format!("DTSTART:00010101\nRRULE:{parts}")));
        assert_eq!(counted.hull(), endless.hull(), "{parts}");
    }
}

#[test]
fn periods_repeat() {
    for (text, days) in [
        ("FREQ=DAILY;INTERVAL=9999", 9_999),
        ("FREQ=WEEKLY;INTERVAL=3", 21),
        ("FREQ=WEEKLY;INTERVAL=3;BYMONTH=1", 146_097),
        ("FREQ=WEEKLY;INTERVAL=2;BYMONTH=1", 2 * 146_097),
        ("FREQ=DAILY;INTERVAL=2;BYMONTH=1", 2 * 146_097),
        ("FREQ=MONTHLY;INTERVAL=7", 7 * 146_097),
        ("FREQ=MONTHLY;INTERVAL=12;BYDAY=MO", 146_097),
        ("FREQ=YEARLY;INTERVAL=3;BYDAY=20MO", 3 * 146_097),
        ("FREQ=YEARLY;INTERVAL=100", 146_097),
    ] {
        let seek = seek(&rule(text));
        assert_eq!(seek.period_days(), days, "{text}");
        for day in [0, 1, 17, 300, 5_000] {
            let later = (days < 1_000_000).then(|| seek.next_on_or_after(day + days as i32));
            let now = seek.next_on_or_after(day).map(|next| next + days as i32);
            assert!(later.is_none_or(|later| later == now), "{text} {day}");
        }
    }
}

/// Both directions, from each day of the rule, from its neighbours, and from anywhere, against the definition.
fn compare(rule: &Rrule, probes: &[i32]) -> Result<(), TestCaseError> {
    const FIRST: i32 = 1955;
    const LAST: i32 = 2045;
    let time = rule.start_time().unwrap_or(TimeOfDay::MIDNIGHT);
    let zone = rule.zone().unwrap_or(Zone::utc());
    let expected = naive::days(rule, FIRST, LAST, time, &zone);
    let seek = Seek::new(rule, time, &zone);
    let days = rule.days(time, &zone);
    let (floor, ceiling) = (day_of(FIRST, 1, 1), day_of(LAST, 12, 31));
    let near =
        expected.iter().step_by(1 + expected.len() / 200).flat_map(|day| [day - 1, *day, day + 1]);
    for day in near.chain(probes.iter().copied()).filter(|day| (floor..=ceiling).contains(day)) {
        let place = expected.partition_point(|other| *other < day);
        let next = expected.get(place).copied();
        let found = seek.next_on_or_after(day);
        prop_assert!(
            found == next || next.is_none() && found.is_none_or(|found| found > ceiling),
            "{rule}\nnext from {:?}: {found:?}, expected {next:?}",
            date_of(day)
        );
        prop_assert_eq!(
            days.after(day - 1),
            found,
            "{}\nfast, after {}: {:?}",
            rule,
            day - 1,
            days
        );
        let place = expected.partition_point(|other| *other <= day);
        let before = place.checked_sub(1).map(|place| expected[place]);
        let found = seek.prev_on_or_before(day);
        prop_assert!(
            found == before || before.is_none() && found.is_none_or(|found| found < floor),
            "{rule}\nprevious from {:?}: {found:?}, expected {before:?}",
            date_of(day)
        );
        prop_assert_eq!(days.at_or_before(day), found, "{}\nfast, until {}: {:?}", rule, day, days);
        let around = days.around(day);
        prop_assert_eq!((around.before, around.after), (found, days.after(day)));
    }
    let mut cursor = days.cursor(floor - 1);
    for day in &expected {
        prop_assert_eq!(cursor.next(), Some(*day), "{}\n{:?}", rule, days);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2_000) })]

    #[test]
    fn seeking_equals_the_definition(
        rule in random::rule(),
        probes in prop::collection::vec(day_of(1955, 1, 1)..day_of(2045, 12, 31), 40),
    ) {
        compare(&rule, &probes)?;
    }
}

#[test]
fn windows_open_on_the_days_of_a_rule() {
    let at = |text: &str| Instant::parse(text).unwrap();
    let open = |text: &str, length| {
        Windows::from_rrule(&rule(text), TimeOfDay::parse("22:00").unwrap(), length, Zone::utc())
            .unwrap()
    };
    // From its first day on without a gap: one stretch, with no end (TIME-9).
    for start in ["DTSTART:20260101T000000Z", "DTSTART;TZID=Europe/Berlin:20260101T010000"] {
        let rule = rule(&format!("{start}\nRRULE:FREQ=DAILY"));
        let zone = rule.zone().unwrap();
        let length = Length::Elapsed(25 * 3_600);
        let daily = Windows::from_rrule(&rule, TimeOfDay::MIDNIGHT, length, zone.clone()).unwrap();
        let set = TimeSet::from(Schedule::new(Some(daily), &[], &zone).unwrap());
        let begins = at("2026-01-01T00:00:00Z");
        assert!(!set.is_always() && !set.contains(begins.saturating_add(-1)));
        assert_eq!(set.next_change(Instant::EPOCH), Some(begins));
        assert_eq!(set.next_change(begins), None);
    }
    let fridays = open("FREQ=WEEKLY;BYDAY=FR", Length::Elapsed(4 * 3_600));
    assert_eq!(fridays.next_start(at("2026-11-16T00:00:00Z")), Some(at("2026-11-20T22:00:00Z")));
    let berlin = open(
        "DTSTART;TZID=Europe/Berlin:20260103T200000\nRRULE:FREQ=WEEKLY;COUNT=2",
        Length::RestOfDay,
    );
    assert_eq!(berlin.next_start(Instant::EPOCH), Some(at("2026-01-03T19:00:00Z")));
    assert_eq!(berlin.previous_start(Instant::MAX), Some(at("2026-01-10T19:00:00Z")));
    assert!(open("FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30", Length::RestOfDay).is_never());
    let daily = "FREQ=YEARLY;BYDAY=MO,TU,WE,TH,FR,SA,SU";
    assert!(open(daily, Length::Elapsed(86_400)).is_always());
    let weeks = open("FREQ=YEARLY;BYDAY=1MO,-1MO;BYSETPOS=1", Length::Elapsed(366 * 86_400));
    assert!(
        !weeks.is_always(),
        "the first Monday of 2029 is a year and five days after that of 2028"
    );
    assert!(matches!(
        rule("FREQ=MONTHLY;BYMONTHDAY=-1").days(TimeOfDay::MIDNIGHT, &Zone::utc()),
        Days::General(_)
    ));
}
