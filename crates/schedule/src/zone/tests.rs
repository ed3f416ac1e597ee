//! Gaps, overlaps, missing days, and the far future.

use super::*;

fn at(text: &str) -> i64 {
    Instant::parse(text).unwrap().unix()
}

fn civil(text: &str) -> i64 {
    at(&format!("{text}Z"))
}

#[test]
fn civil_times_begin_when_the_wall_clock_first_reads_them_or_later() {
    let rows = [
        // Berlin: gap 02:00 to 03:00, overlap 02:00 to 03:00.
        ("Europe/Berlin", "2026-03-29T01:59:59", "2026-03-29T00:59:59Z"),
        ("Europe/Berlin", "2026-03-29T02:00:00", "2026-03-29T01:00:00Z"),
        ("Europe/Berlin", "2026-03-29T02:59:59", "2026-03-29T01:00:00Z"),
        ("Europe/Berlin", "2026-03-29T03:00:00", "2026-03-29T01:00:00Z"),
        ("Europe/Berlin", "2026-10-25T02:00:00", "2026-10-25T00:00:00Z"),
        ("Europe/Berlin", "2026-10-25T02:59:59", "2026-10-25T00:59:59Z"),
        ("Europe/Berlin", "2026-10-25T03:00:00", "2026-10-25T02:00:00Z"),
        // Samoa had no 30 December 2011.
        ("Pacific/Apia", "2011-12-30T12:00:00", "2011-12-30T10:00:00Z"),
        ("Pacific/Apia", "2011-12-31T00:00:00", "2011-12-30T10:00:00Z"),
        // Sao Paulo's clocks went forward at midnight.
        ("America/Sao_Paulo", "2018-11-04T00:00:00", "2018-11-04T03:00:00Z"),
        ("America/Sao_Paulo", "2018-11-04T01:00:00", "2018-11-04T03:00:00Z"),
        // Half an hour on Lord Howe.
        ("Australia/Lord_Howe", "2026-10-04T02:15:00", "2026-10-03T15:30:00Z"),
        // Far beyond any table the yearly rule goes on: 8026 has the calendar of 2026.
        ("Europe/Berlin", "8026-03-29T02:30:00", "8026-03-29T01:00:00Z"),
        ("Europe/Berlin", "8026-07-01T12:00:00", "8026-07-01T10:00:00Z"),
        ("Asia/Kolkata", "9000-01-01T05:30:00", "9000-01-01T00:00:00Z"),
    ];
    for (name, wall, instant) in rows {
        let zone = Zone::named(name).unwrap();
        assert_eq!(zone.instant_of(civil(wall)), at(instant), "{wall} in {name}");
    }
}

#[test]
fn reached_is_the_inverse_of_instant_of() {
    for name in [
        "Europe/Berlin",
        "Pacific/Apia",
        "America/New_York",
        "Africa/Casablanca",
        "Asia/Tokyo",
        "Europe/Dublin",
    ] {
        let zone = Zone::named(name).unwrap();
        let mut instants: Vec<i64> = Vec::new();
        for begins in &zone.0.as_ref().unwrap().begins {
            instants.extend(
                [-90_000, -3_601, -3_600, -1, 0, 1, 1_799, 3_599, 3_600, 90_000]
                    .map(|delta| begins + delta),
            );
        }
        instants.extend([at("5000-03-01T00:00:00Z"), at("9998-10-27T01:30:00Z")]);
        for t in instants {
            let reached = zone.reached(t);
            assert!(zone.instant_of(reached) <= t, "{name} {t}");
            assert!(zone.instant_of(reached + 1) > t, "{name} {t}");
        }
    }
}

#[test]
fn utc_has_no_table_and_misspelt_names_are_refused() {
    assert!(Zone::named("UTC").unwrap().is_utc());
    assert!(Zone::named("Etc/UTC").unwrap().is_utc());
    for name in
        ["", "Mars/Base", "europe/berlin", "Europe/Berlin ", "CEST", "+01:00", "Z", "../etc/passwd"]
    {
        assert!(Zone::named(name).unwrap_err().is_unknown_zone(), "{name}");
    }
    let berlin = Zone::named("Europe/Berlin").unwrap();
    assert_eq!(berlin.offset_at(Instant::parse("2026-07-01T00:00:00Z").unwrap()), 7_200);
    assert_eq!(
        berlin.date_of(Instant::parse("2026-06-30T22:30:00Z").unwrap()).to_string(),
        "2026-07-01"
    );
    assert_eq!(
        berlin.time_of(Instant::parse("2026-06-30T22:30:00Z").unwrap()).to_string(),
        "00:30"
    );
}

/// Which years change the clock as all later ones of their kind do.
#[test]
fn years_of_decree_are_irregular_and_years_of_rule_are_not() {
    let irregular = |name: &str, years: std::ops::Range<i32>| {
        let zone = Zone::named(name).unwrap();
        years.filter(|year| !zone.is_regular_in(*year)).count()
    };
    assert_eq!(irregular("Europe/Berlin", 1996..2200), 0);
    assert_eq!(irregular("Europe/Berlin", 1980..1996), 16);
    assert_eq!(irregular("America/New_York", 2007..2200), 0);
    assert_eq!(irregular("Asia/Tokyo", 1952..2200), 0);
    assert_eq!(irregular("Africa/Casablanca", 2020..2024), 4);
}
