use schedule::Recurrence;

use super::*;
use crate::policy::{explain::rule, lower::lower};

fn scheduled(permit: &serde_json::Value) -> Part {
    let spec = serde_json::json!({
        "strategy": "MaintenanceSchedule", "maintenanceSchedule": {"permit": permit, "timeZone": "UTC"}});
    let lowered = lower(&serde_json::from_value(spec).unwrap());
    assert_eq!(lowered.problems, []);
    lowered.schedule
}

#[test]
fn every_structured_form_has_a_rule_and_comes_back() {
    use Ordinal::{Fifth, First, Last};
    use Weekday::{Friday, Saturday, Sunday};
    let check = |recurrence: Result<Recurrence, schedule::Error>, start: &str, parts: &str| {
        let recurrence = recurrence.unwrap();
        let wire = serde_json::to_value(on_the_wire(&recurrence)).unwrap();
        let scheduled = scheduled(
            &serde_json::json!({"recurrence": wire, "startTime": "20:00", "duration": "8h"}),
        );
        let days = scheduled.recurring().map(|recurring| recurring.days.clone());
        assert_eq!(days.collect::<Vec<_>>(), [Days::Recurrence(recurrence.clone())], "{wire}");
        let found = to_rule(&scheduled).unwrap();
        assert_eq!((found.start.as_str(), found.rule.as_str()), (start, parts));
        let rule = Rrule::parse(&format!("{}\n{}", found.start, found.rule)).unwrap();
        let back = structured(&rule).unwrap();
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
        "RRULE:FREQ=WEEKLY;INTERVAL=2;BYDAY=FR",
    );
    check(
        Recurrence::weekly(3, &[Weekday::Monday]),
        "DTSTART:19700119T200000Z",
        "RRULE:FREQ=WEEKLY;INTERVAL=3;BYDAY=MO",
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
fn rules_bring_their_time_and_zone() {
    let check = |text: &str, words: &str, start: Option<&str>, zone: Option<&str>, notes: usize| {
        let found = structured(&Rrule::parse(text).unwrap()).unwrap();
        assert_eq!(rule::days(&found.recurrence), words, "{text}");
        assert_eq!(found.start, start.map(|start| TimeOfDay::parse(start).unwrap()), "{text}");
        assert_eq!(found.zone.as_ref().map(Zone::name), zone, "{text}");
        assert_eq!(found.notes.len(), notes, "{text}: {:?}", found.notes);
    };
    check("FREQ=WEEKLY;INTERVAL=1;BYDAY=SU,SA", "every Saturday and Sunday", None, None, 0);
    check("FREQ=MONTHLY;BYDAY=MO;BYSETPOS=-1", "on the last Monday of every month", None, None, 0);
    check(
        "DTSTART;TZID=Europe/Berlin:20261117T201530\nRRULE:FREQ=WEEKLY",
        "every Tuesday",
        Some("20:15"),
        Some("Europe/Berlin"),
        2,
    );
    check(
        "DTSTART;VALUE=DATE:20261117\nRRULE:FREQ=YEARLY",
        "on the 17th of November",
        None,
        None,
        1,
    );
    assert!(structured(&Rrule::parse("FREQ=DAILY;COUNT=3").unwrap()).is_err());
}
