use schedule::Recurrence;

use super::{rrule::structured, *};
use crate::{explain::rule, lower::lower};

fn scheduled(permit: serde_json::Value) -> Scheduled {
    let spec = serde_json::json!({
        "strategy": "MaintenanceSchedule", "maintenanceSchedule": {"permit": permit, "timeZone": "UTC"}});
    let lowered = lower(&serde_json::from_value(spec).unwrap());
    assert_eq!(lowered.problems, []);
    lowered.scheduled
}

#[test]
fn every_structured_form_has_a_rule_and_comes_back() {
    use Ordinal::{Fifth, First, Last};
    use Weekday::{Friday, Saturday, Sunday};
    let check = |recurrence: Result<Recurrence, schedule::Error>, start: &str, parts: &str| {
        let recurrence = recurrence.unwrap();
        let wire = serde_json::to_value(on_the_wire(&recurrence)).unwrap();
        let scheduled = scheduled(
            serde_json::json!({"recurrence": wire, "startTime": "20:00", "duration": "8h"}),
        );
        assert_eq!(scheduled.recurrence.as_ref(), Some(&recurrence), "{wire}");
        let found = to_rule(&scheduled).unwrap();
        assert_eq!((found.start.as_str(), found.rule.as_str()), (start, parts));
        let back = structured(&format!("{}\n{}", found.start, found.rule)).unwrap();
        assert_eq!(back.recurrence, recurrence, "{parts}");
        assert_eq!(back.start, Some(TimeOfDay::parse("20:00").unwrap()));
    };
    check(Recurrence::daily(1), "DTSTART:19700101T200000Z", "RRULE:FREQ=DAILY");
    check(Recurrence::daily(730), "DTSTART:19700101T200000Z", "RRULE:FREQ=DAILY;INTERVAL=730");
    check(
        Recurrence::weekly(1, &[Saturday, Sunday]),
        "DTSTART:19700103T200000Z",
        "RRULE:FREQ=WEEKLY;BYDAY=SA,SU",
    );
    check(
        Recurrence::weekly(2, &[Friday]),
        "DTSTART:19700102T200000Z",
        "RRULE:FREQ=WEEKLY;INTERVAL=2;BYDAY=FR;WKST=MO",
    );
    check(
        Recurrence::weekly(3, &[Weekday::Monday]),
        "DTSTART:19700119T200000Z",
        "RRULE:FREQ=WEEKLY;INTERVAL=3;BYDAY=MO;WKST=MO",
    );
    check(
        Recurrence::monthly_by_date(5, &[31]),
        "DTSTART:19700131T200000Z",
        "RRULE:FREQ=MONTHLY;INTERVAL=5;BYMONTHDAY=31",
    );
    check(
        Recurrence::monthly_by_day(1, &[(First, Saturday), (Last, Sunday)]),
        "DTSTART:19700103T200000Z",
        "RRULE:FREQ=MONTHLY;BYDAY=1SA,-1SU",
    );
    check(
        Recurrence::monthly_by_day(7, &[(Fifth, Sunday)]),
        "DTSTART:19700830T200000Z",
        "RRULE:FREQ=MONTHLY;INTERVAL=7;BYDAY=5SU",
    );
    check(
        Recurrence::yearly_by_date(schedule::Month::February, &[29]),
        "DTSTART:19720229T200000Z",
        "RRULE:FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29",
    );
    check(
        Recurrence::yearly_by_day(schedule::Month::March, &[(First, Sunday)]),
        "DTSTART:19700301T200000Z",
        "RRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=1SU",
    );
}

#[test]
fn rules_that_say_the_same_in_other_words_are_recognised() {
    let check = |text: &str, words: &str| {
        let found = structured(text).unwrap_or_else(|reasons| panic!("{text}: {reasons:?}"));
        assert_eq!(rule::days(&found.recurrence), words, "{text}");
    };
    check("FREQ=WEEKLY;INTERVAL=1;BYDAY=SU,SA", "every Saturday and Sunday");
    check("FREQ=MONTHLY;BYDAY=MO;BYSETPOS=-1", "on the last Monday of every month");
    check(
        "FREQ=MONTHLY;BYDAY=TU;BYMONTHDAY=8,9,10,11,12,13,14",
        "on the second Tuesday of every month",
    );
    check("FREQ=MONTHLY;BYDAY=SA", "every Saturday");
    check("FREQ=DAILY;BYDAY=MO,FR", "every Monday and Friday");
    check("FREQ=DAILY;BYMONTHDAY=1,15", "on the 1st and 15th of every month");
    check("FREQ=YEARLY;BYMONTHDAY=1", "on the 1st of every month");
    check("FREQ=YEARLY;BYDAY=SU", "every Sunday");
    check("FREQ=WEEKLY", "every Thursday");
    check("DTSTART:20261117T200000Z\nRRULE:FREQ=WEEKLY", "every Tuesday");
    check("DTSTART:20261117T200000Z\nRRULE:FREQ=MONTHLY", "on the 17th of every month");
    check("DTSTART:20261117T200000Z\nRRULE:FREQ=YEARLY", "on the 17th of November");
    check("FREQ=WEEKLY;BYDAY=SA;WKST=SU", "every Saturday");
}

#[test]
fn what_a_recurrence_cannot_hold_is_named() {
    let check = |text: &str, expected: &[&str]| {
        let reasons = structured(text).unwrap_err();
        assert_eq!(reasons.len(), expected.len(), "{text}: {reasons:?}");
        for (reason, start) in reasons.iter().zip(expected) {
            assert!(reason.starts_with(start), "{text}: {reason}");
        }
    };
    check("FREQ=DAILY;COUNT=10", &["COUNT=10:"]);
    check("FREQ=DAILY;UNTIL=20271224T000000Z", &["UNTIL=20271224T000000Z:"]);
    check("FREQ=MONTHLY;BYMONTHDAY=-1", &["BYMONTHDAY:"]);
    check("FREQ=MONTHLY;BYDAY=-2FR", &["-2FR:"]);
    check("FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1", &["BYSETPOS:"]);
    check("FREQ=MONTHLY;BYDAY=FR;BYMONTHDAY=13", &["BYDAY with BYMONTHDAY:"]);
    check("FREQ=MONTHLY;BYMONTH=1,3;BYMONTHDAY=1", &["BYMONTH:"]);
    check("FREQ=YEARLY;BYMONTH=1,3;BYMONTHDAY=1", &["BYMONTH:"]);
    check("FREQ=YEARLY;INTERVAL=2;BYMONTH=1;BYMONTHDAY=1", &["INTERVAL=2:"]);
    check("FREQ=YEARLY;BYDAY=20MO", &["BYDAY:"]);
    check("FREQ=WEEKLY;BYMONTH=1;BYDAY=MO", &["BYMONTH:"]);
    check("FREQ=WEEKLY;INTERVAL=2;BYDAY=SU;WKST=SU", &["WKST=SU:"]);
    check("FREQ=WEEKLY;INTERVAL=27;BYDAY=SU", &["FREQ=WEEKLY:"]);
    check(
        "DTSTART:19700110T000000Z\nRRULE:FREQ=WEEKLY;INTERVAL=2;COUNT=3",
        &["COUNT=3:", "DTSTART with INTERVAL=2:"],
    );
}
