//! Each rule against its definition, day by day.

use super::*;
use crate::civil::{date_of, day_of, days_in, month_of, weekday_of};

/// Checks `around`, `after`, `at_or_before` and the cursor of a rule against a predicate on days, over a span of years.
fn check(rule: &Days, years: std::ops::Range<i32>, fires: impl Fn(i32) -> bool) {
    let (first, last) = (day_of(years.start, 1, 1), day_of(years.end, 1, 1));
    let expected: Vec<i32> = (first..last).filter(|day| fires(*day)).collect();
    assert!(!expected.is_empty(), "{rule:?} selects nothing to compare");
    let mut cursor = rule.cursor(first - 1);
    for day in &expected {
        assert_eq!(cursor.next(), Some(*day), "{rule:?}, cursor");
    }
    let mut place = 0;
    for day in first..last {
        while expected.get(place).is_some_and(|start| *start <= day) {
            place += 1;
        }
        let Around { before, after } = rule.around(day);
        assert_eq!(rule.after(day), after, "{rule:?} after {:?}", date_of(day));
        assert_eq!(rule.at_or_before(day), before, "{rule:?} at or before {:?}", date_of(day));
        // At the rims the nearest day may lie outside the years compared.
        if place < expected.len() {
            assert_eq!(after, expected.get(place).copied(), "{rule:?} after {:?}", date_of(day));
        }
        if place > 0 {
            assert_eq!(
                before,
                expected.get(place - 1).copied(),
                "{rule:?} before {:?}",
                date_of(day)
            );
        }
    }
}

#[test]
fn daily_counts_days_from_the_epoch() {
    for every in [1_u16, 2, 5, 7, 365, 730] {
        check(&Days::Daily { every, phase: 0 }, 1960..2040, |day| {
            day.rem_euclid(i32::from(every)) == 0
        });
    }
}

#[test]
fn weekly_counts_monday_started_weeks_from_the_one_that_holds_the_epoch() {
    for every in [1_u16, 2, 3, 26] {
        for days in [0b000_0001_u8, 0b110_0000, 0b000_0111, 0b111_1111, 0b100_0001] {
            check(&Days::Weekly(Weekly::new(every, days)), 1965..2035, |day| {
                let week = (day - day_of(1969, 12, 29)).div_euclid(7);
                week.rem_euclid(i32::from(every)) == 0 && days >> weekday_of(day) & 1 != 0
            });
        }
    }
    // The pin of perf.md 6: every second Monday is 1970-01-12, not 01-05.
    let mondays = Days::Weekly(Weekly::new(2, 1));
    assert_eq!(mondays.after(day_of(1970, 1, 1)), Some(day_of(1970, 1, 12)));
}

#[test]
fn monthly_by_date_skips_dates_that_a_month_lacks() {
    for every in [1_u16, 2, 5, 11] {
        for dates in [1_u32, 1 << 30, 1 << 29 | 1 << 14, 0x7fff_ffff, 1 << 28] {
            let rule = Days::Monthly(Monthly::new(every, 0, dates, 0).unwrap());
            check(&rule, 1899..2104, |day| {
                let (month, begins) = month_of(day);
                month.rem_euclid(i32::from(every)) == 0 && dates >> (day - begins) & 1 != 0
            });
        }
    }
}

#[test]
fn monthly_by_day_knows_fifth_from_last() {
    for every in [1_u16, 3, 11] {
        for week in 0..6_u32 {
            for weekday in [0_u32, 3, 6] {
                let rule =
                    Days::Monthly(Monthly::new(every, 0, 0, Monthly::lane(week, weekday)).unwrap());
                check(&rule, 1895..2105, |day| {
                    let (month, begins) = month_of(day);
                    let place = (day - begins) as u32;
                    let in_week =
                        if week == 5 { place + 7 >= days_in(month) } else { place / 7 == week };
                    month.rem_euclid(i32::from(every)) == 0 && weekday_of(day) == weekday && in_week
                });
            }
        }
    }
}

#[test]
fn yearly_is_every_twelfth_month() {
    let leap_days = Days::Monthly(Monthly::new(12, 1, 1 << 28, 0).unwrap());
    check(&leap_days, 1880..2420, |day| matches!(date_of(day), (_, 2, 29)));
    let fifth_mondays_of_february =
        Days::Monthly(Monthly::new(12, 1, 0, Monthly::lane(4, 0)).unwrap());
    check(&fifth_mondays_of_february, 1600..2420, |day| {
        matches!(date_of(day), (_, 2, 29)) && weekday_of(day) == 0
    });
    assert_eq!(Monthly::new(12, 1, 1 << 29, 0), None, "30 February never fires (TIME-7)");
    assert_eq!(Monthly::new(12, 3, 1 << 30, 0), None, "31 April never fires");
}

#[test]
fn bounded_rules_begin_and_end() {
    let (first, last) = (day_of(2020, 1, 6), day_of(2021, 2, 22));
    let mondays = Days::Weekly(Weekly::new(1, 1));
    let rule = Days::Bounded(Arc::new(Bounded { days: mondays, first, last, solid: false }));
    check(&rule, 2019..2023, |day| weekday_of(day) == 0 && (first..=last).contains(&day));
    assert_eq!(rule.at_or_before(first - 1), None);
    assert_eq!(rule.after(last), None);
    assert_eq!(rule.after(-100_000), Some(first));
    assert_eq!(rule.at_or_before(100_000), Some(last));
}
