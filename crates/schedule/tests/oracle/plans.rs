//! Which schedules does chance write? Strategies for structured plans: every shape, length, zone, and exclusions.

use jiff::Span;
use jiff::civil::date;
use jiff::tz::TimeZone;
use proptest::collection::{btree_set, vec};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use crate::reading::{Lasts, Plan, Shape};

/// Zones with something odd about them: half-hour changes, changes at midnight, a missing day, two changes a year around a
/// month, two-hour changes, offsets of a quarter of an hour.
pub(crate) const ODD_ZONES: [&str; 14] = [
    "Africa/Cairo",
    "Africa/Casablanca",
    "America/Havana",
    "America/New_York",
    "America/Sao_Paulo",
    "America/St_Johns",
    "Antarctica/Troll",
    "Asia/Beirut",
    "Asia/Kathmandu",
    "Asia/Tehran",
    "Australia/Lord_Howe",
    "Europe/Berlin",
    "Pacific/Apia",
    "Pacific/Kwajalein",
];

/// A zone of the bundled database.
pub(crate) fn jiff_zone(name: &str) -> TimeZone {
    TimeZone::get(name).expect("the zone is in the bundled database")
}

fn nths() -> impl Strategy<Value = Vec<(i8, u8)>> {
    let ordinal = prop_oneof![1_i8..=5, Just(5), Just(-1)];
    btree_set((ordinal, 0_u8..7), 1..4).prop_map(|set| set.into_iter().collect())
}

fn dates() -> impl Strategy<Value = Vec<i8>> {
    btree_set(prop_oneof![1_i8..=31, 28_i8..=31], 1..4).prop_map(|set| set.into_iter().collect())
}

/// Any shape of rule within the legal ranges.
pub(crate) fn shape() -> impl Strategy<Value = Shape> {
    let weekdays = btree_set(0_u8..7, 1..=7).prop_map(|set| set.into_iter().collect::<Vec<_>>());
    prop_oneof![
        prop_oneof![1_i64..=7, 1_i64..=730].prop_map(Shape::Daily),
        (prop_oneof![1_i64..=3, 1_i64..=26], weekdays).prop_map(|(n, days)| Shape::Weekly(n, days)),
        (1_i64..=11, dates()).prop_map(|(n, dates)| Shape::MonthlyByDate(n, dates)),
        (1_i64..=11, nths()).prop_map(|(n, days)| Shape::MonthlyByDay(n, days)),
        (1_i8..=12, dates()).prop_map(|(month, dates)| Shape::YearlyByDate(month, dates)),
        (1_i8..=12, nths()).prop_map(|(month, days)| Shape::YearlyByDay(month, days)),
    ]
}

fn lasts() -> impl Strategy<Value = Lasts> {
    prop_oneof![
        1 => Just(Lasts::RestOfDay),
        2 => (0_i64..1440).prop_map(|minute| Lasts::UntilSecondOfDay(minute * 60)),
        3 => (1_i64..=48).prop_map(|half_hours| Lasts::Seconds(half_hours * 1800)),
        1 => (1_i64..=10).prop_map(|days| Lasts::Seconds(days * 86_400)),
        1 => (1_i64..=366 * 86_400).prop_map(Lasts::Seconds),
    ]
}

/// Any structured plan; one in three is in UTC.
pub(crate) fn plan() -> impl Strategy<Value = Plan> {
    let zone = prop_oneof![
        1 => Just(TimeZone::UTC),
        2 => proptest::sample::select(ODD_ZONES.to_vec()).prop_map(jiff_zone),
    ];
    let start = prop_oneof![Just(0_i64), (0_i64..48).prop_map(|n| n * 1800), 0_i64..86_400];
    let from = prop_oneof![0_i32..47_000, 14_000_i32..22_000, Just(15_337)];
    let excluded = vec((from, prop_oneof![1_i32..4, 1_i32..400]), 0..4).prop_map(|ranges| {
        let day = |n: i32| date(1970, 1, 1) + Span::new().days(n);
        ranges.into_iter().map(|(from, days)| (day(from), day(from + days))).collect()
    });
    (shape(), start, lasts(), zone, excluded).prop_map(|(shape, start, lasts, zone, excluded)| {
        Plan { shape, start, lasts, zone, excluded }
    })
}

/// So many cases, the same ones on every machine and every day.
pub(crate) fn config(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(20_261_115),
        ..ProptestConfig::default()
    }
}
