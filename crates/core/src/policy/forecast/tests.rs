use schedule::{Length, Recurrence, Schedule, Weekday, Windows};

use super::*;

fn instant(text: &str) -> Instant {
    Instant::parse(text).unwrap()
}

fn weekends(zone: &Zone) -> TimeSet {
    let days = Recurrence::weekly(1, &[Weekday::Saturday, Weekday::Sunday]).unwrap();
    let windows = Windows::new(&days, TimeOfDay::MIDNIGHT, Length::RestOfDay, zone.clone());
    TimeSet::from(Schedule::new(Some(windows.unwrap()), &[], zone).unwrap())
}

#[test]
fn months_are_civil_and_clipped_to_the_range() {
    let utc = Zone::utc();
    let range = instant("2026-11-15T12:00:00Z")..instant("2027-01-03T00:00:00Z");
    let found = months(&weekends(&utc), range, &utc);
    let hours: Vec<(String, i64)> =
        found.iter().map(|total| (total.month.to_string(), total.permitted / 3600)).collect();
    assert_eq!(
        hours,
        [
            ("2026-11-01".into(), 12 + 2 * 48),
            ("2026-12-01".into(), 8 * 24),
            ("2027-01-01".into(), 24)
        ]
    );
}

#[test]
fn a_month_with_a_clock_change_counts_elapsed_hours() {
    let berlin = Zone::named("Europe/Berlin").unwrap();
    let range = instant("2026-10-10T00:00:00Z")..instant("2026-10-11T00:00:00Z");
    let whole = whole_months(&range, &berlin);
    assert_eq!(whole, instant("2026-09-30T22:00:00Z")..instant("2026-10-31T23:00:00Z"));
    let found = months(&weekends(&berlin), whole, &berlin);
    assert_eq!(found.len(), 1);
    // Nine weekend days, one of them 25 hours long.
    assert_eq!(found[0].permitted, (9 * 24 + 1) * 3600);
    assert_eq!(found[0].total, (31 * 24 + 1) * 3600);
}

#[test]
fn the_longest_gap_is_found_and_clipped() {
    let range = instant("2026-11-16T00:00:00Z")..instant("2026-12-16T00:00:00Z");
    let gap = longest_gap(&weekends(&Zone::utc()), &range).unwrap();
    assert_eq!(gap, instant("2026-11-16T00:00:00Z")..instant("2026-11-21T00:00:00Z"));
    assert_eq!(longest_gap(&TimeSet::never(), &range), Some(range.clone()));
    assert_eq!(longest_gap(&TimeSet::always(), &range), None);
}

#[test]
fn an_edit_gains_and_loses() {
    let range = instant("2026-11-16T00:00:00Z")..instant("2026-11-30T00:00:00Z");
    let old = weekends(&Zone::utc());
    let new = TimeSet::before(instant("2026-11-21T12:00:00Z"));
    let found = change(&old, &new, &range);
    let day = |start: &str, end: &str| Span::new(instant(start), instant(end));
    // The gain reaches back to the end of the last weekend, which is just the start of the range.
    assert_eq!(found.gained, [day("2026-11-16T00:00:00Z", "2026-11-21T00:00:00Z")]);
    assert_eq!(
        found.lost,
        [
            day("2026-11-21T12:00:00Z", "2026-11-23T00:00:00Z"),
            day("2026-11-28T00:00:00Z", "2026-11-30T00:00:00Z")
        ]
    );
}
