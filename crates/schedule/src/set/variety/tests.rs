use super::*;
use crate::{Date, Exclusion, Length, Recurrence, Schedule, TimeOfDay, Weekday, Windows, Zone};

fn years(set: &TimeSet, from: &str, ahead: i64) -> usize {
    set.variety(Instant::parse(from).unwrap().unix(), ahead).count()
}

fn weekly(every: u16, zone: &str) -> TimeSet {
    let zone = Zone::named(zone).unwrap();
    let rule = Recurrence::weekly(every, &[Weekday::Saturday]).unwrap();
    let windows = Windows::new(
        &rule,
        TimeOfDay::parse("20:00").unwrap(),
        Length::Elapsed(8 * 3_600),
        zone.clone(),
    )
    .unwrap();
    TimeSet::from(Schedule::new(Some(windows), &[], &zone).unwrap())
}

/// What an ordinary policy costs: a look at one period, or at some forty years of four centuries.
#[test]
fn few_years_differ() {
    assert_eq!(years(&weekly(1, "UTC"), "2026-11-18T00:00:00Z", 32 * DAY), 1);
    let berlin = years(&weekly(1, "Europe/Berlin"), "2026-11-18T00:00:00Z", 32 * DAY);
    assert!((28..60).contains(&berlin), "{berlin}");
    // A zone whose clock never changes again is no different.
    let tokyo = years(&weekly(1, "Asia/Tokyo"), "2026-11-18T00:00:00Z", 32 * DAY);
    assert_eq!(tokyo, berlin);
    // Every 26th week stands at one of 26 places when a year begins.
    let sparse = years(&weekly(26, "Europe/Berlin"), "2026-11-18T00:00:00Z", 32 * DAY);
    assert!((28 * 20..8_000).contains(&sparse), "{sparse}");
}

/// Years in which clocks change by decree are looked at one by one.
#[test]
fn years_without_a_rule_are_all_looked_at() {
    let from = "1970-01-01T00:00:00Z";
    let (berlin, casablanca) = (weekly(1, "Europe/Berlin"), weekly(1, "Africa/Casablanca"));
    assert!(years(&berlin, from, DAY) > years(&berlin, "1999-01-01T00:00:00Z", DAY));
    let looked_at = years(&casablanca, from, DAY);
    assert!(looked_at > 70, "{looked_at}");
}

/// Ranges are in order and apart, and the years after a dated part are looked at again.
#[test]
fn dated_parts_are_looked_at_by_themselves() {
    let at = |text: &str| Instant::parse(text).unwrap();
    let set = weekly(1, "Europe/Berlin").difference(TimeSet::before(at("2400-06-01T00:00:00Z")));
    let ranges: Vec<_> = set.variety(at("2026-11-18T00:00:00Z").unix(), DAY).collect();
    assert!(ranges.windows(2).all(|two| two[0].end <= two[1].start), "{ranges:?}");
    let edge = at("2400-06-01T00:00:00Z").unix();
    assert!(ranges.iter().any(|range| range.contains(&edge)));
    assert!(ranges.iter().filter(|range| range.start > edge).count() >= 28);
}

/// A dated part makes the years around it differ, and no other: behind an exclusion things are as they were.
#[test]
fn a_thousand_exclusions_cost_a_thousand_years() {
    let berlin = Zone::named("Europe/Berlin").unwrap();
    let windows = Windows::new(
        &Recurrence::every_day(),
        TimeOfDay::MIDNIGHT,
        Length::Elapsed(3_600),
        berlin.clone(),
    );
    let exclusions: Vec<_> = (0..1_000)
        .filter_map(|place| {
            Exclusion::new(Date::from_days_since_epoch(21_000 + place * 2_900).ok()?, None, None)
                .ok()
        })
        .collect();
    let set = TimeSet::from(Schedule::new(Some(windows.unwrap()), &exclusions, &berlin).unwrap());
    let looked_at = years(&set, "2026-11-18T00:00:00Z", 32 * DAY);
    assert!((900..1_300).contains(&looked_at), "{looked_at}");
}
