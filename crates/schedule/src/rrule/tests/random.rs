//! Random rules, as people write them and as they do not.

use proptest::collection::{btree_set, vec};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

use super::super::{ByDay, Clock, End, Frequency, Moment, Rrule};
use crate::civil::day_of;
use crate::{Date, TimeOfDay, Weekday, Zone};

fn date() -> impl Strategy<Value = Date> {
    (day_of(1960, 1, 1)..day_of(2030, 1, 1))
        .prop_map(|day| Date::from_days_since_epoch(day).unwrap())
}

fn time() -> impl Strategy<Value = TimeOfDay> {
    prop_oneof![Just(0), Just(20 * 3_600), 0..86_400_u32]
        .prop_map(|seconds| TimeOfDay::from_seconds(seconds).unwrap())
}

fn weekday() -> impl Strategy<Value = Weekday> {
    select(Weekday::ALL)
}

fn start() -> impl Strategy<Value = Moment> {
    let names = ["Europe/Berlin", "America/New_York", "Asia/Tokyo", "Pacific/Apia"];
    let zone = select(names.map(|name| Zone::named(name).unwrap()).to_vec());
    let clock = (0..4_u8, time(), zone).prop_map(|(kind, time, zone)| match kind {
        0 => Clock::WholeDay,
        1 => Clock::Floating(time),
        2 => Clock::Utc(time),
        _ => Clock::Zoned(time, zone),
    });
    (date(), clock).prop_map(|(date, clock)| Moment { date, clock })
}

fn signed<T: Strategy<Value = i16>>(values: T) -> impl Strategy<Value = i16> {
    (values, any::<bool>()).prop_map(|(value, negative)| if negative { -value } else { value })
}

/// Any rule that can be read.
pub(crate) fn rule() -> impl Strategy<Value = Rrule> {
    let frequency =
        select(&[Frequency::Daily, Frequency::Weekly, Frequency::Monthly, Frequency::Yearly][..]);
    let interval = prop_oneof![
        3 => Just(None),
        4 => (1..6_u16).prop_map(Some),
        2 => (1..60_u16).prop_map(Some),
        1 => (1..2_000_u16).prop_map(Some),
    ];
    // Where UNTIL is, in days after DTSTART or the epoch, and its time.
    let end = option::weighted(
        0.4,
        (any::<bool>(), prop_oneof![0..40_u32, 0..4_000_u32], time(), any::<bool>()),
    );
    let months = option::weighted(0.3, btree_set(1..=12_u8, 1..4));
    let ordinal = prop_oneof![
        3 => Just(0),
        3 => signed(1..=5_i16),
        1 => signed(1..=53_i16),
    ];
    let days = option::weighted(0.6, vec((ordinal, weekday()), 1..4));
    let date = prop_oneof![2 => signed(1..=31_i16), 1 => 28..=31_i16];
    let dates = option::weighted(0.3, vec(date, 1..6));
    let positions = prop_oneof![
        6 => Just(Vec::new()),
        3 => vec(signed(1..=5_i16), 1..3),
        1 => vec(signed(1..=366_i16), 1..3),
    ];
    (
        (option::weighted(0.7, start()), frequency, interval, end),
        (option::weighted(0.3, weekday()), months, days, dates, positions),
    )
        .prop_map(
            |((start, frequency, interval, end), (week_start, months, days, dates, positions))| {
                let by_month: Vec<u8> = months.into_iter().flatten().collect();
                let most = match frequency {
                    Frequency::Daily | Frequency::Weekly => 0,
                    Frequency::Yearly if by_month.is_empty() => 53,
                    Frequency::Monthly | Frequency::Yearly => 5,
                };
                let by_day: Vec<ByDay> = days
                    .into_iter()
                    .flatten()
                    .map(|(ordinal, weekday)| ByDay {
                        ordinal: if ordinal.abs() <= most { ordinal as i8 } else { 0 },
                        weekday,
                    })
                    .collect();
                let by_month_day: Vec<i8> = match frequency {
                    Frequency::Weekly => Vec::new(),
                    _ => dates.into_iter().flatten().map(|date| date as i8).collect(),
                };
                let limited =
                    !(by_month.is_empty() && by_day.is_empty() && by_month_day.is_empty());
                let end = end.map(|(counted, amount, time, whole_day)| {
                    if counted {
                        return End::Count(amount + 1);
                    }
                    let first = start.as_ref().map_or(0, |start| start.date.days_since_epoch());
                    let clock = match start.as_ref().map(|start| &start.clock) {
                        Some(Clock::WholeDay) => Clock::WholeDay,
                        _ if whole_day => Clock::WholeDay,
                        Some(Clock::Floating(_)) => Clock::Floating(time),
                        _ => Clock::Utc(time),
                    };
                    // Two days later is after DTSTART in any zone.
                    let date = Date::from_days_since_epoch(first + 2 + amount as i32).unwrap();
                    End::Until(Moment { date, clock })
                });
                Rrule {
                    start,
                    frequency,
                    interval,
                    end,
                    week_start,
                    by_month,
                    by_day,
                    by_month_day,
                    by_set_pos: if limited { positions } else { Vec::new() },
                }
            },
        )
}
