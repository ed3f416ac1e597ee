//! Do the laws of sets hold, and are never and always found when a set is built? (SCHED-2, SCHED-3, TIME-7, TIME-9)

use proptest::prelude::*;
use schedule::{Instant, Length, Month, Ordinal, Recurrence, Span, TimeSet, Weekday};

use crate::bodies::laws::{Expression, Source, laws_hold, queries_agree};
use crate::engine::{Asked, at, unix, windows_in_utc};
use crate::plans::{config, plan};
use Weekday::{Friday, Monday, Saturday, Sunday, Thursday, Tuesday, Wednesday};

const HOUR: u32 = 3_600;

/// An expression at most so deep, out of bytes: fewer and smaller bytes are a simpler expression, so shrinking works.
fn expression(depth: u32) -> impl Strategy<Value = Expression> {
    proptest::collection::vec(any::<u8>(), 0..120)
        .prop_map(move |bytes| Source(&bytes).expression(depth))
}

fn instants() -> impl Strategy<Value = Vec<Instant>> {
    let one = (0_i64..36_500, prop_oneof![Just(0_i64), Just(-1), Just(1), 0_i64..86_400]);
    proptest::collection::vec(one.prop_map(|(day, second)| unix(day * 86_400 + second)), 1..6)
}

proptest! {
    #![proptest_config(config(160))]

    #[test]
    fn laws_of_sets_hold(a in expression(1), b in expression(1), c in expression(1), instants in instants()) {
        laws_hold(&a.build(), &b.build(), &c.build(), &instants);
    }

    #[test]
    fn every_query_agrees_with_membership_worked_out_leaf_by_leaf(
        expression in expression(4),
        instants in instants(),
    ) {
        queries_agree(&expression, &instants);
    }
}

proptest! {
    // Fewer: half of the schedules are zoned, and to prove a zoned set constant takes its 400 years.
    #![proptest_config(config(40))]

    #[test]
    fn laws_of_sets_hold_for_any_schedules(a in plan(), b in plan(), c in plan(), instants in instants()) {
        laws_hold(&Asked::plan(&a).set, &Asked::plan(&b).set, &Asked::plan(&c).set, &instants);
    }
}

fn whole_days(days: &[Weekday]) -> TimeSet {
    windows_in_utc(&Recurrence::weekly(1, days).unwrap(), "00:00", Length::RestOfDay)
}

fn daily(start: &str, hours: u32) -> TimeSet {
    windows_in_utc(&Recurrence::every_day(), start, Length::Elapsed(hours * HOUR))
}

#[test]
fn sets_that_cover_all_time_know_it_when_they_are_built() {
    let every_other = |n| Recurrence::daily(n).unwrap();
    let day_and_last = Recurrence::monthly_by_date(1, &(1..=31).collect::<Vec<_>>()).unwrap();
    for (name, set) in [
        (
            "Mon-Thu and Fri-Sun",
            whole_days(&[Monday, Tuesday, Wednesday, Thursday])
                .union(whole_days(&[Friday, Saturday, Sunday])),
        ),
        ("every whole day", windows_in_utc(&Recurrence::every_day(), "00:00", Length::RestOfDay)),
        ("every day for a day, from 13:00", daily("13:00", 24)),
        (
            "every other day for two",
            windows_in_utc(&every_other(2), "05:00", Length::Elapsed(48 * HOUR)),
        ),
        ("every date of every month", windows_in_utc(&day_and_last, "00:00", Length::RestOfDay)),
        ("night and day", daily("08:00", 12).union(daily("20:00", 12))),
        (
            "first Mondays for 35 days",
            windows_in_utc(
                &Recurrence::monthly_by_day(1, &[(Ordinal::First, Monday)]).unwrap(),
                "00:00",
                Length::Elapsed(35 * 24 * HOUR),
            ),
        ),
        (
            "new year for 366 days",
            windows_in_utc(
                &Recurrence::yearly_by_date(Month::January, &[1]).unwrap(),
                "00:00",
                Length::Elapsed(366 * 24 * HOUR),
            ),
        ),
        ("not never", TimeSet::never().complement()),
        (
            "before or not before",
            TimeSet::before(at("2026-11-15T00:00:00Z"))
                .union(TimeSet::before(at("2026-11-15T00:00:00Z")).complement()),
        ),
        (
            "not (morning and evening)",
            daily("06:00", 2).intersection(daily("18:00", 2)).complement(),
        ),
    ] {
        assert!(set.is_always() && !set.is_never(), "{name}");
        assert_eq!(set.stretch(at("2026-11-15T00:00:00Z")).end, None, "{name}");
        assert_eq!(set.stretch(at("2026-11-15T00:00:00Z")).start, None, "{name}");
    }
}

#[test]
fn sets_that_are_empty_know_it_when_they_are_built() {
    let by_date = |month, dates: &[u8]| {
        windows_in_utc(
            &Recurrence::yearly_by_date(month, dates).unwrap(),
            "00:00",
            Length::RestOfDay,
        )
    };
    for (name, set) in [
        ("30 February", by_date(Month::February, &[30])),
        ("30 and 31 February", by_date(Month::February, &[30, 31])),
        ("31 November", by_date(Month::November, &[31])),
        ("mornings and evenings", daily("06:00", 2).intersection(daily("18:00", 2))),
        ("touching", daily("06:00", 2).intersection(daily("08:00", 2))),
        ("Saturdays and Sundays", whole_days(&[Saturday]).intersection(whole_days(&[Sunday]))),
        ("a set without itself", daily("06:00", 2).difference(daily("06:00", 2))),
        ("within", daily("07:00", 1).difference(daily("06:00", 3))),
        ("no ranges", TimeSet::ranges([])),
        (
            "empty range",
            TimeSet::ranges([Span::new(at("2026-01-01T00:00:00Z"), at("2026-01-01T00:00:00Z"))]),
        ),
        (
            "31st of even-phased months without one",
            by_date(Month::April, &[31]).union(by_date(Month::June, &[31])),
        ),
        (
            "fifth Monday and the 28th",
            windows_in_utc(
                &Recurrence::monthly_by_day(1, &[(Ordinal::Fifth, Monday)]).unwrap(),
                "00:00",
                Length::RestOfDay,
            )
            .intersection(windows_in_utc(
                &Recurrence::monthly_by_date(1, &[28]).unwrap(),
                "00:00",
                Length::RestOfDay,
            )),
        ),
    ] {
        assert!(set.is_never() && !set.is_always(), "{name}");
        assert_eq!(set.next_change(at("2026-11-15T00:00:00Z")), None, "{name}");
    }
}

#[test]
fn sets_that_almost_cover_or_almost_never_open_are_neither() {
    let fifth_monday_of_february =
        Recurrence::yearly_by_day(Month::February, &[(Ordinal::Fifth, Monday)]).unwrap();
    for (name, set) in [
        (
            "a day less a second",
            windows_in_utc(&Recurrence::every_day(), "00:00", Length::Elapsed(86_399)),
        ),
        (
            "first Mondays for 35 days less a second",
            windows_in_utc(
                &Recurrence::monthly_by_day(1, &[(Ordinal::First, Monday)]).unwrap(),
                "00:00",
                Length::Elapsed(35 * 86_400 - 1),
            ),
        ),
        (
            "new year for 365 days",
            windows_in_utc(
                &Recurrence::yearly_by_date(Month::January, &[1]).unwrap(),
                "00:00",
                Length::Elapsed(365 * 86_400),
            ),
        ),
        (
            "fifth Monday of February",
            windows_in_utc(&fifth_monday_of_february, "00:00", Length::Elapsed(1)),
        ),
        ("before", TimeSet::before(at("2026-11-15T00:00:00Z"))),
    ] {
        assert!(!set.is_always() && !set.is_never(), "{name}");
    }
}

/// TIME-14: no answer gives up after a cap, however far away it is.
#[test]
fn next_change_of_a_rare_rule_is_the_least_and_not_given_up() {
    // 29 February 2044 is a Monday, and no earlier one after 2016 is.
    let rule = Recurrence::yearly_by_day(Month::February, &[(Ordinal::Fifth, Monday)]).unwrap();
    let set = windows_in_utc(&rule, "00:00", Length::RestOfDay);
    assert_eq!(set.next_change(at("2016-03-01T00:00:00Z")), Some(at("2044-02-29T00:00:00Z")));
    assert_eq!(set.previous_change(at("2044-02-28T00:00:00Z")), Some(at("2016-03-01T00:00:00Z")));
    // Every 730 days, on a fifth Monday of every eleventh month: once in centuries, and each is found from the one before.
    let days = windows_in_utc(&Recurrence::daily(730).unwrap(), "00:00", Length::RestOfDay);
    let fifth = Recurrence::monthly_by_day(11, &[(Ordinal::Fifth, Monday)]).unwrap();
    let both = days.intersection(windows_in_utc(&fifth, "00:00", Length::RestOfDay));
    assert_eq!(both.next_change(at("2026-11-15T00:00:00Z")), Some(at("2225-10-31T00:00:00Z")));
    assert_eq!(both.previous_change(at("2225-10-30T00:00:00Z")), Some(at("1106-07-31T00:00:00Z")));
}
