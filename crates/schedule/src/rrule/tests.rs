//! Laws of rules as values (TIME-13): what prints is read back, and nothing read panics.

pub(super) mod naive;
pub(super) mod random;

use proptest::prelude::*;

use crate::{Date, Rrule, TimeOfDay, Zone};

#[test]
fn canonical_text_prints_to_itself() {
    for text in [
        "FREQ=DAILY",
        "FREQ=DAILY;INTERVAL=3",
        "FREQ=WEEKLY;INTERVAL=1;BYDAY=SU,SA",
        "FREQ=WEEKLY;BYDAY=SA,SU",
        "FREQ=WEEKLY;WKST=MO;BYDAY=SA,SA",
        "FREQ=MONTHLY;BYDAY=MO;BYSETPOS=-1",
        "FREQ=MONTHLY;BYDAY=5MO,-1FR,TU;BYMONTHDAY=-31,31",
        "FREQ=YEARLY;INTERVAL=9999;COUNT=4294967295;BYMONTH=12,1;BYDAY=-5SU;BYSETPOS=-366,366",
        "FREQ=YEARLY;BYDAY=-53SU,20MO",
        "FREQ=DAILY;UNTIL=20301231",
        "FREQ=DAILY;UNTIL=20301231T235959Z",
        "DTSTART;VALUE=DATE:20240229\nRRULE:FREQ=YEARLY;UNTIL=20301231",
        "DTSTART:20240229T010203\nRRULE:FREQ=YEARLY;UNTIL=20301231T000000",
        "DTSTART:20240229T010203Z\nRRULE:FREQ=YEARLY;UNTIL=20301231T000000Z",
        "DTSTART;TZID=Europe/Berlin:20240229T010203\nRRULE:FREQ=YEARLY;UNTIL=20301231T000000Z",
        "DTSTART;TZID=UTC:00010101T000000\nRRULE:FREQ=YEARLY;UNTIL=99991231",
    ] {
        assert_eq!(Rrule::parse(text).unwrap().to_string(), text);
    }
}

#[test]
fn a_start_gives_its_date_time_and_zone() {
    let rule = |start: &str| Rrule::parse(&format!("{start}RRULE:FREQ=DAILY")).unwrap();
    let date = Date::parse("2026-01-03").unwrap();
    let eight = TimeOfDay::parse("20:00").unwrap();
    let berlin = Zone::named("Europe/Berlin").unwrap();
    for (start, expected) in [
        ("", (None, None, None)),
        ("DTSTART:20260103\n", (Some(date), None, None)),
        ("DTSTART:20260103T200000\n", (Some(date), Some(eight), None)),
        ("DTSTART:20260103T200000Z\n", (Some(date), Some(eight), Some(Zone::utc()))),
        (
            "DTSTART;TZID=Europe/Berlin:20260103T200000\n",
            (Some(date), Some(eight), Some(berlin.clone())),
        ),
    ] {
        let rule = rule(start);
        assert_eq!((rule.start_date(), rule.start_time(), rule.zone()), expected, "{start}");
    }
    assert_eq!(
        rule("").anchored(eight, &berlin).to_string(),
        "DTSTART;TZID=Europe/Berlin:19700101T200000\nRRULE:FREQ=DAILY"
    );
    assert_eq!(
        rule("").anchored(eight, &Zone::utc()).to_string(),
        "DTSTART:19700101T200000Z\nRRULE:FREQ=DAILY"
    );
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(4_000) })]

    #[test]
    fn what_prints_is_read_back(rule in random::rule()) {
        let text = rule.to_string();
        let read = Rrule::parse(&text).map_err(|error| TestCaseError::fail(format!("{text}: {error}")))?;
        prop_assert_eq!(&read, &rule, "{}", text);
        prop_assert_eq!(read.to_string(), text);
    }

    #[test]
    fn folding_changes_nothing(rule in random::rule(), width in 1_usize..30) {
        let text = rule.to_string();
        let folded: Vec<&str> = text
            .as_bytes()
            .chunks(width)
            .map(|piece| std::str::from_utf8(piece).unwrap())
            .collect();
        let folded = folded.join("\r\n ").replace("\n\r\n ", "\n");
        prop_assert_eq!(Rrule::parse(&folded), Ok(rule), "{:?}", folded);
    }

    #[test]
    fn no_text_panics_and_errors_point_into_it(text in any::<String>()) {
        if let Err(error) = Rrule::parse(&text) {
            prop_assert!(error.position().is_some_and(|position| position <= text.len()));
        }
    }

    #[test]
    fn no_mutilated_rule_panics(rule in random::rule(), at in any::<prop::sample::Index>(), with in ".{0,3}") {
        let mut text = rule.to_string();
        let at = at.index(text.len());
        text.replace_range(at..=at, &with);
        match Rrule::parse(&text) {
            Ok(read) => prop_assert_eq!(Rrule::parse(&read.to_string()), Ok(read)),
            Err(error) => {
                prop_assert!(error.position().is_some_and(|position| position <= text.len()));
            }
        }
    }
}
