//! Do RFC 5545 rules print what they read, and are they the structured rules they say the same as? (TIME-13)

use jiff::tz::TimeZone;
use proptest::prelude::*;
use schedule::{Instant, Length, Recurrence, Rrule, TimeOfDay, Windows, Zone};

use crate::engine::{Asked, at, recurrence_of, unix, windows_of_rrule};
use crate::plans::{config, plan, shape};
use crate::reading::{Plan, Shape};
use crate::vectors::{Rule, recorded};

const DAYS: [&str; 7] = ["MO", "TU", "WE", "TH", "FR", "SA", "SU"];

/// A structured shape as a person would write it in RFC 5545, counted from the epoch.
fn text_of(shape: &Shape) -> String {
    let join = |words: Vec<String>| words.join(",");
    let days = |days: &[u8]| join(days.iter().map(|&d| DAYS[usize::from(d)].into()).collect());
    let dates = |dates: &[i8]| join(dates.iter().map(i8::to_string).collect());
    let nths = |days: &[(i8, u8)]| {
        join(days.iter().map(|&(n, d)| format!("{n}{}", DAYS[usize::from(d)])).collect())
    };
    match shape {
        Shape::Daily(n) => format!("FREQ=DAILY;INTERVAL={n}"),
        Shape::Weekly(n, list) => format!("FREQ=WEEKLY;INTERVAL={n};BYDAY={}", days(list)),
        Shape::MonthlyByDate(n, list) => {
            format!("FREQ=MONTHLY;INTERVAL={n};BYMONTHDAY={}", dates(list))
        }
        Shape::MonthlyByDay(n, list) => format!("FREQ=MONTHLY;INTERVAL={n};BYDAY={}", nths(list)),
        Shape::YearlyByDate(month, list) => {
            format!("FREQ=YEARLY;BYMONTH={month};BYMONTHDAY={}", dates(list))
        }
        Shape::YearlyByDay(month, list) => {
            format!("FREQ=YEARLY;BYMONTH={month};BYDAY={}", nths(list))
        }
    }
}

/// Windows of a second at midnight: the days themselves.
fn days_of(recurrence: &Recurrence) -> Windows {
    Windows::new(recurrence, TimeOfDay::MIDNIGHT, Length::Elapsed(1), Zone::utc()).unwrap()
}

fn days_of_rrule(rule: &Rrule) -> Windows {
    Windows::from_rrule(rule, TimeOfDay::MIDNIGHT, Length::Elapsed(1), Zone::utc()).unwrap()
}

/// The same starts, before and after each of the instants.
fn same_starts(one: &Windows, two: &Windows, instants: &[i64], label: &str) {
    for &seconds in instants {
        let at = unix(seconds);
        assert_eq!(one.next_start(at), two.next_start(at), "{label} after {at}");
        assert_eq!(one.previous_start(at), two.previous_start(at), "{label} before {at}");
    }
}

fn instants() -> impl Strategy<Value = Vec<i64>> {
    let one = (0_i64..47_000, -1_i64..=1).prop_map(|(day, second)| day * 86_400 + second);
    proptest::collection::vec(one, 20)
}

proptest! {
    #![proptest_config(config(400))]

    #[test]
    fn structured_form_is_its_rrule(shape in shape(), instants in instants()) {
        let recurrence = recurrence_of(&shape);
        let text = text_of(&shape);
        let written = Rrule::parse(&text).unwrap();
        let printed = Rrule::from_recurrence(&recurrence);
        let structured = days_of(&recurrence);
        same_starts(&structured, &days_of_rrule(&written), &instants, &text);
        same_starts(&structured, &days_of_rrule(&printed), &instants, &printed.to_string());
        // Its form names the same days again, whatever name it has for them.
        for rule in [written, printed] {
            let lowered = rule.recurrence().unwrap_or_else(|e| panic!("{rule} has no structured form: {e}"));
            same_starts(&structured, &days_of(&lowered.recurrence), &instants, &rule.to_string());
            prop_assert!(lowered.begins.is_none(), "{} begins", rule);
        }
    }

    #[test]
    fn rrule_with_an_epoch_dtstart_is_the_structured_plan_from_then_on(plan in plan(), instants in instants()) {
        let plan = Plan { zone: TimeZone::UTC, ..plan };
        let asked = Asked::plan(&plan);
        let start = TimeOfDay::from_seconds(plan.start as u32).unwrap();
        let rule = Rrule::from_recurrence(&recurrence_of(&plan.shape)).anchored(start, &Zone::utc());
        let reread = Rrule::parse(&rule.to_string()).unwrap();
        prop_assert_eq!(&rule, &reread);
        let windows = windows_of_rrule(&reread, 60);
        for seconds in instants {
            let next = asked.windows.next_start(unix(seconds));
            prop_assert_eq!(windows.next_start(unix(seconds)), next, "{} after {}", rule, seconds);
        }
        prop_assert_eq!(windows.previous_start(Instant::from_unix(-1).unwrap()), None, "{} begins earlier", rule);
    }
}

/// The parts of a rule in one order: RFC 5545 leaves theirs open.
fn parts_of(text: &str) -> Vec<&str> {
    let mut parts: Vec<_> =
        text.split([';', '\n']).map(|part| part.trim_start_matches("RRULE:")).collect();
    parts.sort_unstable();
    parts
}

#[test]
fn every_recorded_rule_prints_what_it_reads() {
    let mut rules = 0;
    for vector in recorded() {
        let Rule::Rfc5545 { text, .. } = vector.rule else { continue };
        let text = text.replace('|', "\n");
        let rule = Rrule::parse(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(parts_of(&rule.to_string()), parts_of(&text));
        assert_eq!(Rrule::parse(&rule.to_string()).unwrap(), rule, "{text}");
        rules += 1;
    }
    println!("{rules} rules");
    assert!(rules > 1_000, "only {rules}");
}

/// Whatever structured form a recorded rule has, it names the same days from the rule's beginning on.
#[test]
fn every_recorded_rule_with_a_structured_form_is_that_form() {
    let mut lowered_rules = 0;
    for vector in recorded() {
        let Rule::Rfc5545 { text, .. } = vector.rule else { continue };
        let rule = Rrule::parse(&text.replace('|', "\n")).unwrap();
        let Ok(lowered) = rule.recurrence() else { continue };
        let start = rule.start_time().unwrap();
        let structured =
            Windows::new(&lowered.recurrence, start, Length::Elapsed(60), Zone::utc()).unwrap();
        let windows = windows_of_rrule(&rule, 60);
        let first = rule.start_date().unwrap().days_since_epoch();
        for row in vector.rows.iter().filter(|row| row.at > i64::from(first) * 86_400) {
            assert_eq!(
                windows.next_start(unix(row.at)),
                structured.next_start(unix(row.at)),
                "{text}"
            );
        }
        lowered_rules += 1;
    }
    println!("{lowered_rules} rules have a structured form");
    assert!(lowered_rules > 50, "only {lowered_rules}");
}

/// A list that mixes plain days and days with an ordinal is their union (python-dateutil intersects them).
#[test]
fn plain_days_and_ordinals_in_one_list_add_up() {
    let rule = Rrule::parse("DTSTART:20260101T000000Z\nRRULE:FREQ=MONTHLY;BYDAY=1MO,SU").unwrap();
    let windows = windows_of_rrule(&rule, 60);
    let mut cursor = at("2026-03-01T00:00:00Z").saturating_add(-1);
    for expect in [
        "2026-03-01",
        "2026-03-02",
        "2026-03-08",
        "2026-03-15",
        "2026-03-22",
        "2026-03-29",
        "2026-04-05",
        "2026-04-06",
    ] {
        let start = windows.next_start(cursor).unwrap();
        assert_eq!(Zone::utc().date_of(start).to_string(), expect);
        cursor = start;
    }
}

#[test]
fn rules_that_cannot_be_honoured_are_refused_where_they_are_wrong() {
    for (text, wrong) in [
        ("FREQ=DAILY;INTERVAL=0", "0"),
        ("FREQ=DAILY;INTERVAL=-1", "-1"),
        ("FREQ=MONTHLY;BYMONTHDAY=0", "0"),
        ("FREQ=MONTHLY;BYMONTHDAY=32", "32"),
        ("FREQ=MONTHLY;BYMONTHDAY=-32", "-32"),
        ("FREQ=YEARLY;BYMONTH=13", "13"),
        ("FREQ=YEARLY;BYDAY=54MO", "54MO"),
        ("FREQ=YEARLY;BYDAY=0MO", "0MO"),
        ("FREQ=MONTHLY;BYDAY=XX", "XX"),
        ("FREQ=FORTNIGHTLY", "FORTNIGHTLY"),
        ("FREQ=DAILY;COUNT=0", "0"),
        ("FREQ=DAILY;COUNT=3;UNTIL=20260101T000000Z", "20260101T000000Z"),
        ("FREQ=DAILY;FREQ=DAILY", "FREQ=DAILY"),
        ("FREQ=DAILY;UNTIL=20260230", "20260230"),
        ("FREQ=DAILY;EVERY=2", "EVERY"),
        ("DTSTART;TZID=Mars/Base:20260101T000000\nRRULE:FREQ=DAILY", "Mars/Base"),
        ("FREQ=WEEKLY;BYDAY=1MO", "1MO"),
        ("FREQ=WEEKLY;BYMONTHDAY=13", "13"),
    ] {
        let error = Rrule::parse(text).expect_err(text);
        let position = error.position().unwrap_or_else(|| panic!("{text}: {error}: no position"));
        let found = text.rfind(wrong).expect("the row names its own fault");
        let part = text[..found].rfind([';', ':', '\n']).map_or(0, |index| index + 1);
        assert!(
            (part..=found).contains(&position),
            "{text}: byte {position}, not {part} to {found}: {error}"
        );
    }
}
