use serde_json::{Value, json};

use super::*;

fn wrapped(body: &str) -> String {
    let body = body.trim().lines().map(str::trim_start);
    let lines: Vec<&str> =
        ["BEGIN:VCALENDAR"].into_iter().chain(body).chain(["END:VCALENDAR"]).collect();
    lines.join("\r\n")
}

fn event(properties: &str) -> String {
    wrapped(&format!("BEGIN:VEVENT\nSUMMARY:x\n{properties}\nEND:VEVENT"))
}

fn imported(text: &str, asked: &Asked) -> Imported {
    let imported = calendar(text, asked);
    // Whatever comes out is what a policy takes.
    let document = json!({"apiVersion": api::names::API_VERSION, "kind": "ChangeManagementPolicy",
        "metadata": {"name": "p"}, "spec": {"strategy": "MaintenanceSchedule",
        "maintenanceSchedule": {"timeZone": imported.zone.name(), "exclude": imported.exclusions}}});
    let judged = crate::policy::read::policy(&document);
    assert!(judged.policy.is_some(), "{:#?}", judged.problems);
    imported
}

fn berlin() -> Asked {
    Asked { zone: Some(Zone::named("Europe/Berlin").unwrap()), ..Asked::default() }
}

/// What an event comes to, and what is said about it.
fn check(properties: &str, expected: &Value, notes: &[&str]) {
    let found = imported(&event(properties), &berlin());
    let mut exclusions = json!(found.exclusions);
    for one in exclusions.as_array_mut().unwrap() {
        assert_eq!(one.as_object_mut().unwrap().remove("reason"), Some(json!("x")));
    }
    assert_eq!(exclusions, *expected, "{properties}");
    let said: Vec<String> = found
        .notes
        .iter()
        .map(|note| format!("{} {}: {}", note.line, note.property, note.detail))
        .collect();
    assert_eq!(said, notes, "{properties}");
}

#[test]
fn days_and_times_become_exclusions() {
    check("DTSTART;VALUE=DATE:20261224", &json!([{"fromDate": "2026-12-24"}]), &[]);
    check("DTSTART:20261224", &json!([{"fromDate": "2026-12-24"}]), &[]);
    check(
        "DTSTART;VALUE=DATE:20261224\nDTEND;VALUE=DATE:20261227",
        &json!([{"fromDate": "2026-12-24", "untilDate": "2026-12-27"}]),
        &[],
    );
    check(
        "DTSTART;VALUE=DATE:20261224\nDURATION:P1W",
        &json!([{"fromDate": "2026-12-24", "untilDate": "2026-12-31"}]),
        &[],
    );
    let evening = json!([{"from": "2026-12-18T17:00:00Z", "until": "2026-12-18T21:00:00Z"}]);
    check("DTSTART:20261218T170000Z\nDTEND:20261218T210000Z", &evening, &[]);
    check("DTSTART;TZID=Europe/Berlin:20261218T180000\nDURATION:PT4H", &evening, &[]);
    // Without a zone it is the one that is asked for.
    check("DTSTART:20261218T180000\nDTEND:20261218T220000", &evening, &[]);
    check("DTSTART;TZID=\"America/New_York\":20261218T120000\nDURATION:P0DT4H0M", &evening, &[]);
}

/// A recurrence of a policy where one says the same, and dates where none does.
#[test]
fn rules_become_recurrences_or_are_written_out() {
    let note = "4 DTSTART: a recurrence has no first day: it excludes before 2026-12-24 too";
    let note_of = |day: &str| note.replace("2026-12-24", day);
    let december = json!({"frequency": "Yearly", "yearly": {"by": "Date", "date": {"datesOfMonth": [24], "month": "December"}}});
    check(
        "DTSTART;VALUE=DATE:20261224\nDTEND;VALUE=DATE:20261225\nRRULE:FREQ=YEARLY",
        &json!([{"recurrence": december}]),
        &[note],
    );
    let weekdays = json!({"frequency": "Weekly", "weekly": {"interval": 1,
        "daysOfWeek": ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday"]}});
    check(
        "DTSTART;TZID=Europe/Berlin:20261116T080000\nDURATION:PT10H\nRRULE:FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR",
        &json!([{"recurrence": weekdays, "startTime": "08:00", "duration": "10h"}]),
        &[&note_of("2026-11-16")],
    );
    check(
        "DTSTART;VALUE=DATE:20261224\nRRULE:FREQ=YEARLY;COUNT=2",
        &json!([{"fromDate": "2026-12-24"}, {"fromDate": "2027-12-24"}]),
        &[],
    );
    check(
        "DTSTART;VALUE=DATE:20261201\nRRULE:FREQ=DAILY;UNTIL=20261204\nEXDATE;VALUE=DATE:20261202,20261203\nRDATE;VALUE=DATE:20261224",
        &json!([{"fromDate": "2026-12-01"}, {"fromDate": "2026-12-04"}, {"fromDate": "2026-12-24"}]),
        &[],
    );
    // The clocks go back in between, and the hour of the wall clock stays.
    check(
        "DTSTART;TZID=Europe/Berlin:20261018T090000\nDURATION:PT1H\nRRULE:FREQ=WEEKLY;COUNT=2\nEXDATE;TZID=Europe/Berlin:20261101T090000",
        &json!([{"from": "2026-10-18T07:00:00Z", "until": "2026-10-18T08:00:00Z"},
            {"from": "2026-10-25T08:00:00Z", "until": "2026-10-25T09:00:00Z"}]),
        &[],
    );
    let found = imported(
        &event("DTSTART;VALUE=DATE:20261201\nRRULE:FREQ=MONTHLY;BYDAY=MO,TU;BYSETPOS=2"),
        &berlin(),
    );
    assert_eq!(found.exclusions.len(), 121);
    assert!(
        found.notes[0].detail.contains("it is written out until 2036-12-01"),
        "{:?}",
        found.notes
    );
}

/// Everything that is not understood is named by its line and property.
/// Nothing of an event is lost by the form that it is written in.
#[test]
fn what_a_recurrence_would_lose_is_written_out() {
    let until = |date: &str| Asked { until: Some(Date::parse(date).unwrap()), ..berlin() };
    let found = |properties: &str| {
        let found = imported(&event(properties), &until("2027-12-31"));
        json!(found.exclusions).to_string().replace(r#","reason":"x""#, "")
    };
    // Several days are no number of hours where clocks change in between.
    let autumn = imported(
        &event("DTSTART;VALUE=DATE:20261020\nDTEND;VALUE=DATE:20261103\nRRULE:FREQ=YEARLY"),
        &berlin(),
    );
    assert!(autumn.exclusions.iter().all(|one| one.recurrence.is_none()));
    assert_eq!(autumn.exclusions[0].until_date.as_deref(), Some("2026-11-03"));
    // The first occurrence counts, although the rule does not hit it.
    let off =
        imported(&event("DTSTART;VALUE=DATE:20261225\nRRULE:FREQ=WEEKLY;BYDAY=MO"), &berlin());
    assert_eq!(off.exclusions[0].from_date.as_deref(), Some("2026-12-25"));
    assert_eq!(off.exclusions[1].from_date.as_deref(), Some("2026-12-28"));
    // A day that is left out is one where the event is, which is not where the policy is.
    let left = found(
        "DTSTART;TZID=America/New_York:20261207T200000\nDURATION:PT1H\nRRULE:FREQ=DAILY;COUNT=3\nEXDATE;VALUE=DATE:20261208",
    );
    let starts = ["2026-12-08T01:00:00Z", "2026-12-10T01:00:00Z"];
    let each = starts.map(|from| left.contains(&format!(r#""from":"{from}""#)));
    assert_eq!((each, left.matches("from").count()), ([true, true], 2), "{left}");
}

/// TIME-12: a zone that nobody knows is never read as UTC.
#[test]
fn a_calendar_in_a_zone_that_nobody_knows_is_not_read() {
    let text = wrapped(
        "X-WR-TIMEZONE:W. Europe Standard Time\nBEGIN:VEVENT\nDTSTART:20261224\nEND:VEVENT",
    );
    let found = calendar(&text, &Asked::default());
    assert!(found.exclusions.is_empty(), "{:?}", found.exclusions);
    assert_eq!((found.notes[0].line, found.notes[0].property.as_str()), (2, "X-WR-TIMEZONE"));
    assert_eq!(calendar(&text, &berlin()).exclusions.len(), 1);
}

#[test]
fn what_is_not_understood_is_named() {
    let none = json!([]);
    let left_out = "the event is left out";
    check(
        "DTSTART:20260230",
        &none,
        &[&format!("4 DTSTART: there is no day 2026-02-30; {left_out}")],
    );
    check("UID:1", &none, &[&format!("2 VEVENT: DTSTART is missing; {left_out}")]);
    check(
        "DTSTART;TZID=W. Europe Standard Time:20261218T180000\nDURATION:PT4H",
        &none,
        &[&format!(
            "4 DTSTART: there is no time zone \"W. Europe Standard Time\" in the IANA database; {left_out}"
        )],
    );
    check(
        "DTSTART:20261218T180000Z",
        &none,
        &[&format!("4 DTSTART: neither DTEND nor DURATION says how long it lasts; {left_out}")],
    );
    check(
        "DTSTART:20261218T180000Z\nDTEND:20261218T180000Z",
        &none,
        &[&format!("5 DTEND: it is not after DTSTART; {left_out}")],
    );
    check(
        "DTSTART:20261218T180000Z\nDURATION:PT",
        &none,
        &[&format!("5 DURATION: \"PT\" is no length such as P1D or PT8H; {left_out}")],
    );
    check(
        "DTSTART:20261224\nSTATUS:CANCELLED",
        &none,
        &["2 STATUS: the event is cancelled, and left out"],
    );
    let day = json!([{"fromDate": "2026-12-24"}]);
    check("DTSTART:20261224\nFOO:1", &day, &["5 FOO: this is not understood, and left out"]);
    check("DTSTART:20261224\nX-APPLE:1\nUID:2", &day, &[]);
    check(
        "DTSTART:20261224\nRRULE:FREQ=HOURLY",
        &day,
        &[
            "5 RRULE: FREQ=HOURLY is not supported: the shortest is DAILY; only the first occurrence is excluded",
        ],
    );
    check(
        "DTSTART:20261224\nRDATE;VALUE=PERIOD:20261224T000000Z/PT1H",
        &day,
        &["5 RDATE: periods are not read; the line is left out"],
    );
    let todo = calendar(
        &wrapped("BEGIN:VTODO\nDUE:20261224\nEND:VTODO\nBEGIN:VEVENT\nDTSTART:20261224"),
        &berlin(),
    );
    let said: Vec<&str> = todo.notes.iter().map(|note| note.property.as_str()).collect();
    assert_eq!((todo.exclusions.len(), said), (0, vec!["VTODO", "END", "VEVENT"]));
    assert_eq!(calendar("hello", &berlin()).notes[0].line, 1);
}

/// Freezes are instants; what is over, or not yet, is left out where somebody says so.
#[test]
fn instants_and_a_range_can_be_asked_for() {
    let date = |text: &str| Some(Date::parse(text).unwrap());
    let asked = Asked {
        form: Form::Instants,
        from: date("2027-01-01"),
        until: date("2029-01-01"),
        ..berlin()
    };
    let text = event("DTSTART;VALUE=DATE:20201224\nRRULE:FREQ=YEARLY");
    let found = json!(imported(&text, &asked).exclusions);
    assert_eq!(
        found,
        json!([{"from": "2027-12-23T23:00:00Z", "until": "2027-12-24T23:00:00Z", "reason": "x"},
            {"from": "2028-12-23T23:00:00Z", "until": "2028-12-24T23:00:00Z", "reason": "x"}])
    );
}

/// The same bytes give the same, and one other byte another digest; a zone of the calendar holds, and folded lines are one.
#[test]
fn the_same_bytes_give_the_same() {
    let text = wrapped(
        "X-WR-TIMEZONE:Asia/Tokyo\nBEGIN:VEVENT\nSUMMARY:Year\\, end\nDTSTART:20261224T090000\nDURATION:PT1H\nEND:VEVENT",
    );
    let text = text.replace("Year", "Ye\r\n ar");
    let [first, second] = [0, 1].map(|_| imported(&text, &Asked::default()));
    assert_eq!((&first.exclusions, &first.digest), (&second.exclusions, &second.digest));
    assert_eq!(first.zone.name(), "Asia/Tokyo");
    assert_eq!(
        json!(first.exclusions),
        json!([{"from": "2026-12-24T00:00:00Z", "until": "2026-12-24T01:00:00Z", "reason": "Year, end"}])
    );
    assert!(first.digest.starts_with("sha256:") && first.digest.len() == 71);
    assert_ne!(first.digest, calendar(&text.replace("end", "END"), &Asked::default()).digest);
}

/// Bombs: endless lines, rules that fire for ever, lists without end, nests without bottom.
#[test]
fn hostile_calendars_are_bounded() {
    let daily = "DTSTART:19000101T000001Z\nDURATION:PT1H\nRRULE:FREQ=DAILY;COUNT=2147483647";
    let bomb = calendar(&event(daily), &Asked::default());
    assert!(bomb.too_much);
    assert_eq!(bomb.exclusions.len(), MOST);
    let many = calendar(
        &wrapped(&"BEGIN:VEVENT\nDTSTART:20261224\nEND:VEVENT\n".repeat(20_000)),
        &Asked::default(),
    );
    assert!(many.too_much);
    let long = calendar(
        &event(&format!(
            "DTSTART:20261224\nDESCRIPTION:{}\nFOO;{}",
            "x".repeat(3_000_000),
            "a=b;".repeat(500_000)
        )),
        &Asked::default(),
    );
    assert_eq!(long.exclusions.len(), 1);
    let folded = event("DTSTART:20261224\nRRULE:FREQ=DAILY");
    let folded = folded.replace("DAILY", &format!("DAILY{}", "\r\n ;X=1".repeat(100_000)));
    let folded = calendar(&folded, &Asked::default());
    assert_eq!((folded.exclusions.len(), folded.notes[0].property.as_str()), (1, "RRULE"));
    let deep = calendar(&"BEGIN:VEVENT\n".repeat(100_000), &Asked::default());
    assert_eq!(deep.exclusions.len(), 0);
    let noise = calendar(&"\u{0}:\"\n".repeat(100_000), &Asked::default());
    assert_eq!((noise.notes.len(), noise.more_notes), (MOST_NOTES, 100_000 - MOST_NOTES));
}
