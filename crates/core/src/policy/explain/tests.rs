use serde_json::json;

use super::*;
use crate::policy::{part::Days, read};

fn policy(schedule: &serde_json::Value) -> Policy {
    let document = json!({
        "apiVersion": api::names::API_VERSION, "kind": "ChangeManagementPolicy",
        "metadata": {"name": "p"},
        "spec": {"strategy": "MaintenanceSchedule", "maintenanceSchedule": schedule},
    });
    let judged = read::policy(&document);
    judged.policy.unwrap_or_else(|| panic!("{:#?}", judged.problems))
}

/// The leaves of the tree at an instant: their verdicts and texts.
fn leaves(schedule: &serde_json::Value, at: &str) -> Vec<(Verdict, String)> {
    let policy = policy(schedule);
    let tree = explain(&policy, Instant::parse(at).unwrap());
    let zone = &policy.lowered.zone;
    let [strategy] = tree.because.as_slice() else { panic!("{tree:#?}") };
    assert_eq!(strategy.verdict, tree.verdict);
    // The whole permits exactly when every part does.
    let all = strategy.because.iter().all(|part| part.verdict == Verdict::Permitted);
    assert_eq!(all, tree.verdict == Verdict::Permitted);
    strategy.because.iter().map(|part| (part.verdict, part.text(zone))).collect()
}

#[test]
fn each_part_of_a_schedule_says_what_it_decides() {
    let schedule = json!({
        "timeZone": "Europe/Berlin",
        "permit": {"recurrence": {"frequency": "Weekly", "weekly": {"daysOfWeek": ["Saturday"]}},
            "startTime": "20:00", "duration": "8h"},
        "exclude": [{"fromDate": "2026-11-21", "untilDate": "2026-11-24", "reason": "audit"}],
    });
    let rule = "windows every Saturday, from 20:00 for 8h, Europe/Berlin";
    assert_eq!(
        leaves(&schedule, "2026-11-14T20:00:00Z"),
        [
            (
                Verdict::Permitted,
                format!(
                    "{rule}: one is open from 2026-11-14T19:00:00Z (Sat 20:00 +01:00) \
                until 2026-11-15T03:00:00Z (Sun 04:00 +01:00)"
                )
            ),
            (
                Verdict::Permitted,
                "not an excluded day; the next begins on 2026-11-21 (1 exclusion)".into()
            ),
        ]
    );
    assert_eq!(
        leaves(&schedule, "2026-11-21T20:00:00Z").last().unwrap(),
        &(
            Verdict::Held,
            "the days from 2026-11-21 until before 2026-11-24 are excluded: audit".into()
        )
    );
    assert_eq!(
        leaves(&schedule, "2026-11-25T00:00:00Z"),
        [
            (
                Verdict::Held,
                format!(
                    "{rule}: none is open, the next opens at 2026-11-28T19:00:00Z (Sat 20:00 +01:00)"
                )
            ),
            (Verdict::Permitted, "not an excluded day; none is ahead (1 exclusion)".into()),
        ]
    );
}

#[test]
fn schedules_without_a_permit_say_so() {
    let at = "2026-11-14T20:00:00Z";
    assert_eq!(
        leaves(&json!({}), at),
        [(Verdict::Held, "the maintenance schedule has neither permit nor exclude".into())]
    );
    let found = leaves(&json!({"exclude": [{"fromDate": "2026-11-14"}]}), at);
    assert_eq!(found[1], (Verdict::Held, "2026-11-14 is excluded".into()));
}

/// POL-7
#[test]
fn the_sentence_does_not_change_while_its_reason_holds() {
    let policy = policy(&json!({"permit": {"recurrence": {"frequency": "Weekly", "weekly": {
        "daysOfWeek": ["Saturday", "Sunday"]}}}}));
    let said = |at: &str| sentence(&policy.lowered, Instant::parse(at).unwrap());
    assert_eq!(said("2026-11-14T00:00:00Z"), said("2026-11-15T23:59:59Z"));
    assert_eq!(
        said("2026-11-16T00:00:00Z"),
        "no maintenance window is open: every Saturday and Sunday, all day, UTC"
    );
}

#[test]
fn rules_read_as_sentences() {
    let check = |recurrence: serde_json::Value, text: &str| {
        let policy = policy(&json!({"permit": {"recurrence": recurrence}}));
        let said = rule::sentences(&policy.lowered.parts);
        assert_eq!(said, Some(format!("{text}, all day, UTC")));
    };
    check(json!({"frequency": "Daily", "daily": {"interval": 3}}), "every 3rd day");
    check(
        json!({"frequency": "Weekly", "weekly": {"daysOfWeek": ["Monday", "Friday", "Sunday"], "interval": 2}}),
        "every 2nd week on Monday, Friday and Sunday",
    );
    check(
        json!({"frequency": "Monthly", "monthly": {"by": "Date", "date": {"datesOfMonth": [1, 15]}}}),
        "on the 1st and 15th of every month",
    );
    check(
        json!({"frequency": "Monthly", "monthly": {"by": "Day", "day": {"interval": 11, "days": [
        {"weekOfMonth": "Last", "dayOfWeek": "Sunday"}]}}}),
        "on the last Sunday of every 11th month",
    );
    check(
        json!({"frequency": "Yearly", "yearly": {"by": "Date", "date": {"datesOfMonth": [22], "month": "May"}}}),
        "on the 22nd of May",
    );
}

/// Windows on a day of each week, as a part.
fn on(day: schedule::Weekday, hour: &str, zone: &str) -> Part {
    let recurring = Recurring {
        days: Days::Recurrence(schedule::Recurrence::weekly(1, &[day]).unwrap()),
        start: schedule::TimeOfDay::parse(hour).unwrap(),
        length: Length::Elapsed(4 * 3600),
        zone: Zone::named(zone).unwrap(),
    };
    Part::windows("spec.windows", recurring).unwrap()
}

/// A policy made of parts that no front end of today writes.
fn made_of(parts: Part) -> Lowered {
    let mut lowered = policy(&json!({"permit": {}})).lowered;
    (lowered.set, lowered.parts) = (parts.set.clone(), parts);
    lowered
}

/// TIME-2, GATE-9: several windows, rules of RFC 5545 and parts that must all agree say what each of them decides, in its own zone.
#[test]
fn any_mix_of_parts_explains_itself() {
    let rule = schedule::Rrule::parse("DTSTART:20260101T000000Z\nRRULE:FREQ=MONTHLY;BYMONTHDAY=1");
    let monthly = Recurring {
        days: Days::Rrule(Box::new(rule.unwrap())),
        start: schedule::TimeOfDay::MIDNIGHT,
        length: Length::RestOfDay,
        zone: Zone::utc(),
    };
    let nights = Part::any(
        "spec.windows",
        vec![
            on(schedule::Weekday::Saturday, "20:00", "Europe/Berlin"),
            on(schedule::Weekday::Sunday, "02:00", "America/New_York"),
            Part::windows("spec.windows[2]", monthly).unwrap(),
        ],
    );
    let audit = Date::parse("2026-11-28").unwrap();
    let audit = schedule::Exclusion::new(audit, None, Some("audit")).unwrap();
    let holidays = Exclusion::days(audit, &Zone::utc());
    let days = Part::excluded("spec.exclude", vec![holidays], &Zone::utc()).unwrap();
    let lowered = made_of(Part::all("spec", vec![nights, days]));
    let told = |at: &str| {
        let tree = strategy_node(&lowered, Instant::parse(at).unwrap());
        let mut lines = Vec::new();
        lines_of(&tree, 0, &mut lines);
        lines.join("\n")
    };
    let window = "one is open from 2026-11-14T19:00:00Z until 2026-11-14T23:00:00Z";
    let expected = [
        "permitted: strategy MaintenanceSchedule: changes are permitted as the maintenance schedule says".to_owned(),
        "  permitted: spec.windows: permitted while one of its parts permits it".to_owned(),
        format!("    permitted: windows every Saturday, from 20:00 for 4h, Europe/Berlin: {window}"),
        "    held: windows every Sunday, from 02:00 for 4h, America/New_York: none is open, the next opens at 2026-11-15T07:00:00Z".to_owned(),
        "    held: windows by the rule DTSTART:20260101T000000Z RRULE:FREQ=MONTHLY;BYMONTHDAY=1, all day, UTC: none is open, the next opens at 2026-12-01T00:00:00Z".to_owned(),
        "  permitted: not an excluded day; the next begins on 2026-11-28 (1 exclusion)".to_owned(),
    ];
    assert_eq!(told("2026-11-14T20:00:00Z"), expected.join("\n"));
    let said = |at: &str| sentence(&lowered, Instant::parse(at).unwrap());
    assert_eq!(
        said("2026-11-14T20:00:00Z"),
        "a maintenance window is open: every Saturday, from 20:00 for 4h, Europe/Berlin"
    );
    // Held: the window that opens first is the reason; an excluded day beats it.
    assert_eq!(
        said("2026-11-15T00:00:00Z"),
        "no maintenance window is open: every Sunday, from 02:00 for 4h, America/New_York"
    );
    assert_eq!(said("2026-11-28T20:00:00Z"), "2026-11-28 is excluded: audit");
}

fn lines_of(reason: &Reason, depth: usize, lines: &mut Vec<String>) {
    let verdict = if reason.verdict == Verdict::Permitted { "permitted" } else { "held" };
    lines.push(format!("{}{verdict}: {}", "  ".repeat(depth), reason.text(&Zone::utc())));
    reason.because.iter().for_each(|part| lines_of(part, depth + 1, lines));
}

/// The very exclusion that holds is named, with its reason and its end; of several the one that ends last.
#[test]
fn every_form_of_exclusion_says_when_it_ends() {
    let weekdays = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday"];
    let schedule = json!({
        "timeZone": "Europe/Berlin",
        "exclude": [
            {"recurrence": {"frequency": "Weekly", "weekly": {"daysOfWeek": weekdays}},
                "startTime": "08:00", "endTime": "18:00", "reason": "business hours"},
            {"from": "2026-11-20T15:00:00Z", "until": "2026-11-21T06:00:00Z", "reason": "launch"},
            {"recurrence": {"frequency": "Yearly", "yearly": {"by": "Date",
                "date": {"month": "December", "datesOfMonth": [1]}}}, "duration": "744h", "reason": "peak trade"},
        ],
    });
    let rule = "excluded every Monday, Tuesday, Wednesday, Thursday and Friday, from 08:00 to 18:00, Europe/Berlin";
    let check = |at: &str, verdict: Verdict, text: &str, brief: &str| {
        let found = leaves(&schedule, at);
        assert_eq!(found.last().unwrap(), &(verdict, text.to_owned()), "{at}");
        let policy = policy(&schedule);
        assert_eq!(sentence(&policy.lowered, Instant::parse(at).unwrap()), brief, "{at}");
    };
    check(
        "2026-11-18T09:00:00Z",
        Verdict::Held,
        &format!("{rule}, this time until 2026-11-18T17:00:00Z (Wed 18:00 +01:00): business hours"),
        &format!("{rule}: business hours"),
    );
    check(
        "2026-11-20T16:00:00Z",
        Verdict::Held,
        "the time from 2026-11-20T15:00:00Z (Fri 16:00 +01:00) until 2026-11-21T06:00:00Z (Sat 07:00 +01:00) is excluded: launch",
        "the time from 2026-11-20T15:00:00Z until 2026-11-21T06:00:00Z is excluded: launch",
    );
    check(
        "2026-12-09T09:00:00Z",
        Verdict::Held,
        "excluded on the 1st of December, from 00:00 for 744h, Europe/Berlin, this time until 2026-12-31T23:00:00Z (Fri 00:00 +01:00): peak trade",
        "excluded on the 1st of December, from 00:00 for 744h, Europe/Berlin: peak trade",
    );
    check(
        "2026-11-18T17:00:00Z",
        Verdict::Permitted,
        "not excluded; the next begins at 2026-11-19T07:00:00Z (Thu 08:00 +01:00) (3 exclusions)",
        "no permit is given: whatever is not excluded is permitted",
    );
}
