//! RRULE to the structured form and back, and why not.

use proptest::prelude::*;

use super::super::tests::random;
use super::*;
use crate::civil::day_of;
use crate::{TimeOfDay, Zone};

fn rule(text: &str) -> Rrule {
    Rrule::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// The structured form as the rule that says it plainest.
#[track_caller]
fn check(text: &str, plain: &str) {
    let lowered = rule(text).recurrence().unwrap_or_else(|error| panic!("{text}: {error}"));
    assert_eq!(Rrule::from_recurrence(&lowered.recurrence).to_string(), plain, "{text}");
}

#[test]
fn rules_with_a_structured_form() {
    for (text, plain) in [
        ("FREQ=DAILY", "FREQ=DAILY"),
        ("FREQ=DAILY;INTERVAL=730", "FREQ=DAILY;INTERVAL=730"),
        ("FREQ=DAILY;BYDAY=SA,SU", "FREQ=WEEKLY;BYDAY=SA,SU"),
        ("FREQ=DAILY;BYMONTHDAY=1,15", "FREQ=MONTHLY;BYMONTHDAY=1,15"),
        ("FREQ=DAILY;BYMONTH=12;BYMONTHDAY=24", "FREQ=YEARLY;BYMONTH=12;BYMONTHDAY=24"),
        ("FREQ=WEEKLY;INTERVAL=1;BYDAY=SU,SA", "FREQ=WEEKLY;BYDAY=SA,SU"),
        ("FREQ=WEEKLY", "FREQ=WEEKLY;BYDAY=TH"),
        ("FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR,SA,SU", "FREQ=DAILY"),
        ("FREQ=WEEKLY;BYDAY=MO,TU,WE;BYSETPOS=-1", "FREQ=WEEKLY;BYDAY=WE"),
        ("FREQ=WEEKLY;INTERVAL=26;BYDAY=MO", "FREQ=WEEKLY;INTERVAL=26;BYDAY=MO"),
        ("FREQ=WEEKLY;INTERVAL=2;WKST=SU;BYDAY=MO,SA", "FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,SA"),
        ("FREQ=MONTHLY;BYDAY=MO;BYSETPOS=-1", "FREQ=MONTHLY;BYDAY=-1MO"),
        ("FREQ=MONTHLY;BYDAY=-1MO", "FREQ=MONTHLY;BYDAY=-1MO"),
        ("FREQ=MONTHLY;BYDAY=MO;BYMONTHDAY=-1,-2,-3,-4,-5,-6,-7", "FREQ=MONTHLY;BYDAY=-1MO"),
        ("FREQ=MONTHLY;BYDAY=MO;BYSETPOS=1", "FREQ=MONTHLY;BYDAY=1MO"),
        ("FREQ=MONTHLY;BYDAY=TU;BYSETPOS=2,4", "FREQ=MONTHLY;BYDAY=2TU,4TU"),
        ("FREQ=MONTHLY;BYDAY=TU;BYSETPOS=5", "FREQ=MONTHLY;BYDAY=5TU"),
        ("FREQ=MONTHLY;BYDAY=5TU,-1TU", "FREQ=MONTHLY;BYDAY=-1TU"),
        ("FREQ=MONTHLY;BYDAY=4TU,-1TU", "FREQ=MONTHLY;BYDAY=4TU,5TU"),
        ("FREQ=MONTHLY;BYDAY=SA;BYMONTHDAY=8,9,10,11,12,13,14", "FREQ=MONTHLY;BYDAY=2SA"),
        ("FREQ=MONTHLY;BYDAY=MO,FR", "FREQ=WEEKLY;BYDAY=MO,FR"),
        ("FREQ=MONTHLY;INTERVAL=2;BYDAY=MO", "FREQ=MONTHLY;INTERVAL=2;BYDAY=1MO,2MO,3MO,4MO,5MO"),
        ("FREQ=MONTHLY;INTERVAL=11;BYMONTHDAY=31", "FREQ=MONTHLY;INTERVAL=11;BYMONTHDAY=31"),
        ("FREQ=MONTHLY", "FREQ=MONTHLY;BYMONTHDAY=1"),
        ("FREQ=MONTHLY;BYMONTH=1,4,7,10;BYMONTHDAY=15", "FREQ=MONTHLY;INTERVAL=3;BYMONTHDAY=15"),
        ("FREQ=YEARLY;BYMONTH=1,7;BYDAY=2TU", "FREQ=MONTHLY;INTERVAL=6;BYDAY=2TU"),
        ("FREQ=MONTHLY;INTERVAL=12;BYMONTHDAY=5", "FREQ=YEARLY;BYMONTH=1;BYMONTHDAY=5"),
        ("FREQ=YEARLY", "FREQ=YEARLY;BYMONTH=1;BYMONTHDAY=1"),
        ("FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29", "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29"),
        ("FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30", "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30"),
        ("FREQ=YEARLY;BYMONTH=2;BYDAY=5MO", "FREQ=YEARLY;BYMONTH=2;BYDAY=5MO"),
        ("FREQ=YEARLY;BYMONTH=1;BYMONTHDAY=-1", "FREQ=YEARLY;BYMONTH=1;BYMONTHDAY=31"),
        ("FREQ=WEEKLY;BYMONTH=3;BYDAY=MO", "FREQ=YEARLY;BYMONTH=3;BYDAY=1MO,2MO,3MO,4MO,5MO"),
        ("FREQ=YEARLY;BYMONTHDAY=1", "FREQ=MONTHLY;BYMONTHDAY=1"),
        ("FREQ=YEARLY;BYDAY=1MO", "FREQ=YEARLY;BYMONTH=1;BYDAY=1MO"),
        ("FREQ=YEARLY;BYDAY=-1FR", "FREQ=YEARLY;BYMONTH=12;BYDAY=-1FR"),
        ("FREQ=YEARLY;BYMONTH=11;BYDAY=TH;BYSETPOS=4", "FREQ=YEARLY;BYMONTH=11;BYDAY=4TH"),
    ] {
        check(text, plain);
    }
}

#[test]
fn rules_without_one_say_which_part_and_why() {
    for (marked, words) in [
        ("FREQ=DAILY;^COUNT=3", "no end"),
        ("FREQ=DAILY;^UNTIL=20300101", "no end"),
        ("FREQ=DAILY;^INTERVAL=731", "daily intervals from 1 to 730"),
        ("FREQ=WEEKLY;^INTERVAL=27", "weekly intervals from 1 to 26"),
        ("FREQ=MONTHLY;^INTERVAL=13", "monthly intervals from 1 to 11"),
        ("FREQ=YEARLY;^INTERVAL=2", "every year"),
        ("FREQ=DAILY;^INTERVAL=2;BYDAY=MO", "does not limit"),
        ("FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;^BYSETPOS=-1", "several days together"),
        ("FREQ=MONTHLY;BYDAY=FR;^BYMONTHDAY=13", "fall on some dates"),
        ("FREQ=MONTHLY;^BYMONTHDAY=-1", "beginning of the month"),
        ("FREQ=MONTHLY;^BYDAY=-2MO", "only as Last"),
        ("FREQ=YEARLY;^BYDAY=20MO", "not within the year"),
        ("FREQ=YEARLY;^BYMONTH=1,3;BYMONTHDAY=1", "one month of the year"),
        ("FREQ=MONTHLY;INTERVAL=5;^BYMONTH=1;BYMONTHDAY=1", "one month"),
        ("^FREQ=MONTHLY;BYDAY=MO;BYSETPOS=6", "never fires"),
        ("FREQ=WEEKLY;INTERVAL=2;^WKST=SU;BYDAY=SU", "counted from 1970-01-01"),
        ("^DTSTART;VALUE=DATE:20260103\nRRULE:FREQ=DAILY;INTERVAL=10", "days by DTSTART"),
        ("^DTSTART;VALUE=DATE:20260105\nRRULE:FREQ=WEEKLY;INTERVAL=2", "weeks by DTSTART"),
        ("^DTSTART;VALUE=DATE:20260203\nRRULE:FREQ=MONTHLY;INTERVAL=5", "months by DTSTART"),
    ] {
        let text = marked.replace('^', "");
        let error = rule(&text).recurrence().expect_err(&text);
        assert!(error.is_unsupported() && error.to_string().contains(words), "{text}: {error}");
        assert_eq!(error.position(), marked.find('^'), "{text}: {error}");
    }
}

#[test]
fn a_beginning_is_told_apart_from_the_form() {
    for (text, begins) in [
        ("FREQ=WEEKLY;BYDAY=SA", None),
        ("DTSTART:19700101T200000Z\nRRULE:FREQ=WEEKLY;BYDAY=SA", None),
        ("DTSTART:19600101T200000Z\nRRULE:FREQ=WEEKLY;BYDAY=SA", None),
        (
            "DTSTART;TZID=Europe/Berlin:20260103T200000\nRRULE:FREQ=WEEKLY;BYDAY=SA",
            Some("2026-01-03"),
        ),
        ("DTSTART:20260103\nRRULE:FREQ=WEEKLY", Some("2026-01-03")),
    ] {
        let lowered = rule(text).recurrence().unwrap();
        assert_eq!(lowered.recurrence, Recurrence::weekly(1, &[Weekday::Saturday]).unwrap());
        assert_eq!(lowered.begins.map(|date| date.to_string()).as_deref(), begins, "{text}");
    }
}

fn recurrence() -> impl Strategy<Value = Recurrence> {
    use proptest::collection::vec;
    use proptest::sample::select;
    let weekdays = || vec(select(Weekday::ALL), 1..5);
    let dates = || vec(1..=31_u8, 1..5);
    let days = || vec((select(Ordinal::ALL), select(Weekday::ALL)), 1..5);
    let month = || select(Month::ALL);
    prop_oneof![
        (1..731_u16).prop_map(Recurrence::daily),
        (1..27_u16, weekdays()).prop_map(|(n, days)| Recurrence::weekly(n, &days)),
        (1..12_u16, dates()).prop_map(|(n, dates)| Recurrence::monthly_by_date(n, &dates)),
        (1..12_u16, days()).prop_map(|(n, days)| Recurrence::monthly_by_day(n, &days)),
        (month(), dates()).prop_map(|(month, dates)| Recurrence::yearly_by_date(month, &dates)),
        (month(), days()).prop_map(|(month, days)| Recurrence::yearly_by_day(month, &days)),
    ]
    .prop_map(Result::unwrap)
}

/// A rule fires on the days of a recurrence, seen from every day of some years in both directions.
fn same_days(rule: &Rrule, recurrence: &Recurrence, first: i32) -> Result<(), TestCaseError> {
    let days = recurrence.days();
    let seek = Seek::new(rule, TimeOfDay::MIDNIGHT, &Zone::utc());
    let mut day = first;
    let last = day_of(2035, 1, 1);
    while let Some(next) = seek.next_on_or_after(day).filter(|next| *next < last) {
        prop_assert_eq!(days.after(day - 1), Some(next), "{} is {:?}", rule, recurrence);
        day = next + 1;
    }
    prop_assert!(days.after(day - 1).is_none_or(|next| next >= last), "{rule} is {recurrence:?}");
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2_000) })]

    /// The law "own schema equals its RRULE", and back again.
    #[test]
    fn structured_forms_equal_their_rules(recurrence in recurrence()) {
        let rule = Rrule::from_recurrence(&recurrence);
        same_days(&rule, &recurrence, day_of(1940, 1, 1))?;
        let lowered = rule.recurrence().map_err(|error| TestCaseError::fail(format!("{rule}: {error}")))?;
        prop_assert_eq!(lowered.begins, None);
        same_days(&rule, &lowered.recurrence, day_of(1940, 1, 1))?;
        prop_assert_eq!(Rrule::parse(&rule.to_string()), Ok(rule));
    }

    #[test]
    fn rules_equal_their_structured_forms(rule in random::rule()) {
        let endless = Rrule { end: None, ..rule };
        match endless.recurrence() {
            Ok(lowered) => {
                let first = endless.start_date().map_or(day_of(1940, 1, 1), Date::days_since_epoch);
                same_days(&endless, &lowered.recurrence, first)?;
            }
            Err(error) => {
                prop_assert!(error.is_unsupported());
                prop_assert!(error.position().is_some_and(|at| at < endless.to_string().len()));
            }
        }
    }
}
