use proptest::prelude::*;
use schedule::Weekday;
use serde_json::{Value, json};

use super::*;
use crate::policy::{lower::lower, read};

fn lowered(schedule: &Value) -> crate::policy::lower::Lowered {
    let spec = json!({"strategy": "MaintenanceSchedule", "maintenanceSchedule": schedule});
    lower(&serde_json::from_value(spec).unwrap())
}

fn at(text: &str) -> Instant {
    Instant::parse(text).unwrap()
}

/// TIME-10, TIME-12: what is open at an instant, and until when.
#[test]
fn each_form_takes_out_what_it_says() {
    let check = |zone: &str, exclude: &Value, when: &str, open: bool, until: &str| {
        let lowered = lowered(&json!({"timeZone": zone, "permit": {}, "exclude": [exclude]}));
        assert_eq!(lowered.problems, [], "{exclude}");
        let state = lowered.set.state(at(when));
        assert_eq!((state.inside, state.until), (open, Some(at(until))), "{exclude} at {when}");
    };
    let berlin = "Europe/Berlin";
    let instants = json!({"from": "2026-12-18T17:00:00+01:00", "until": "2027-01-04T06:00:00Z"});
    check(berlin, &instants, "2026-12-18T15:59:59Z", true, "2026-12-18T16:00:00Z");
    check(berlin, &instants, "2026-12-18T16:00:00Z", false, "2027-01-04T06:00:00Z");
    let every_december = json!({"recurrence": {"frequency": "Yearly", "yearly": {"by": "Date",
        "date": {"month": "December", "datesOfMonth": [1]}}}, "duration": "744h"});
    check(berlin, &every_december, "2026-11-18T00:00:00Z", true, "2026-11-30T23:00:00Z");
    check(berlin, &every_december, "2027-12-15T00:00:00Z", false, "2027-12-31T23:00:00Z");
    let days: Vec<u32> = (1..=31).collect();
    let march_by_dates = json!({"recurrence": {"frequency": "Yearly", "yearly": {"by": "Date",
        "date": {"month": "March", "datesOfMonth": days}}}});
    // The clocks go forward in it, and it ends with its last day all the same.
    check(berlin, &march_by_dates, "2027-03-01T00:00:00Z", false, "2027-03-31T22:00:00Z");
    let weekdays = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday"];
    let business_hours = json!({"recurrence": {"frequency": "Weekly", "weekly": {"daysOfWeek": weekdays}},
        "startTime": "08:00", "endTime": "18:00"});
    check(berlin, &business_hours, "2026-11-18T07:00:00Z", false, "2026-11-18T17:00:00Z");
    check(berlin, &business_hours, "2026-11-20T17:00:00Z", true, "2026-11-23T07:00:00Z");
    // 02:30 is skipped that night, and the exclusion begins when the clock goes on.
    let night = json!({"recurrence": {"frequency": "Daily", "daily": {}}, "startTime": "02:30", "duration": "1h"});
    check(berlin, &night, "2026-03-29T00:00:00Z", true, "2026-03-29T01:00:00Z");
    check(berlin, &night, "2026-03-29T01:00:00Z", false, "2026-03-29T02:00:00Z");
}

/// TIME-11 for every form: exclusions alone permit everything else.
#[test]
fn exclusions_alone_permit_everything_else() {
    let daily = json!({"recurrence": {"frequency": "Daily", "daily": {}}, "duration": "1h"});
    let instants = json!({"from": "2026-12-18T16:00:00Z", "until": "2026-12-18T17:00:00Z"});
    for exclude in [json!([daily]), json!([instants]), json!([daily, instants])] {
        let set = lowered(&json!({"exclude": exclude})).set;
        assert!(set.contains(at("2026-11-18T09:00:00Z")), "{exclude}");
    }
    let all = lowered(
        &json!({"permit": {}, "exclude": [{"recurrence": {"frequency": "Daily", "daily": {}}}]}),
    );
    assert!(all.set.is_never(), "what excludes every day leaves nothing");
}

/// Every refusal names the field, and a policy with one permits nothing.
#[test]
fn what_has_no_form_or_two_is_refused_by_name() {
    let daily = json!({"frequency": "Daily", "daily": {}});
    let check = |entry: Value, expected: &[&str]| {
        let document = json!({"apiVersion": api::names::API_VERSION, "kind": "ChangeManagementPolicy",
            "metadata": {"name": "p"}, "spec": {"strategy": "MaintenanceSchedule",
            "maintenanceSchedule": {"permit": {}, "exclude": [entry]}}});
        let judged = read::policy(&document);
        assert!(judged.policy.is_none(), "{entry}");
        let found: Vec<String> = judged
            .problems
            .iter()
            .map(|found| format!("{}: {}", found.field, found.detail))
            .collect();
        let expected: Vec<String> = expected
            .iter()
            .map(|text| format!("spec.maintenanceSchedule.exclude[0]{text}"))
            .collect();
        assert_eq!(found, expected, "{entry}");
    };
    check(json!({}), &[": fromDate, from and recurrence are all missing"]);
    check(json!({"untilDate": "2026-12-24"}), &[": fromDate is missing"]);
    check(
        json!({"fromDate": "2026-12-24", "recurrence": daily}),
        &[": fromDate and recurrence are given together"],
    );
    check(json!({"from": "2026-12-24T00:00:00Z"}), &[": until is missing"]);
    check(
        json!({"from": "2026-12-24T00:00:00Z", "until": "2026-12-24T00:00:00Z"}),
        &[".until: until 2026-12-24T00:00:00Z is not after from 2026-12-24T00:00:00Z"],
    );
    check(
        json!({"fromDate": "2026-12-24", "startTime": "08:00"}),
        &[".startTime: startTime is given without a recurrence"],
    );
    check(
        json!({"recurrence": daily, "duration": "1h", "endTime": "08:00"}),
        &[".endTime: duration and endTime are both given"],
    );
    check(
        json!({"recurrence": daily, "duration": "31d"}),
        &[".duration: \"31d\" uses the unit \"d\", which durations do not have"],
    );
    let many = vec![json!({"recurrence": daily}); 17];
    let lowered = lowered(&json!({"permit": {}, "exclude": many}));
    assert_eq!(lowered.problems[0].detail, "17 exclusions recur, and at most 16 may");
    assert!(lowered.set.is_never());
}

/// How a day is named, read as plainly as it can be.
fn names(recurrence: &Value, date: Date) -> bool {
    let days = i64::from(date.days_since_epoch());
    let number = |path: &str| recurrence.pointer(path).and_then(Value::as_i64).unwrap_or(1);
    let dates = |path: &str| {
        let dates = recurrence.pointer(path).and_then(Value::as_array).into_iter().flatten();
        dates.filter_map(Value::as_i64).any(|day| day == i64::from(date.day()))
    };
    match recurrence["frequency"].as_str().unwrap() {
        "Daily" => days.rem_euclid(number("/daily/interval")) == 0,
        "Weekly" => {
            let weekday = date.weekday().to_string();
            let named = recurrence["weekly"]["daysOfWeek"].as_array().unwrap();
            let week = (days + 3).div_euclid(7);
            named.iter().any(|name| *name == weekday.as_str())
                && week.rem_euclid(number("/weekly/interval")) == 0
        }
        "Monthly" => dates("/monthly/date/datesOfMonth"),
        _ => {
            recurrence["yearly"]["date"]["month"]
                == schedule::Month::ALL[usize::from(date.month()) - 1].name()
                && dates("/yearly/date/datesOfMonth")
        }
    }
}

/// Whether an entry takes an instant out: every day that could reach it is looked at.
fn takes_out(entry: &Value, zone: &Zone, when: Instant) -> bool {
    let midnight = |date: Date| zone.first_instant_of(date, TimeOfDay::MIDNIGHT);
    if let Some(from) = entry["fromDate"].as_str() {
        let until = entry["untilDate"].as_str().unwrap();
        let edge = |text: &str| midnight(Date::parse(text).unwrap());
        return edge(from) <= when && when < edge(until);
    }
    if let Some(from) = entry["from"].as_str() {
        return at(from) <= when && when < at(entry["until"].as_str().unwrap());
    }
    let time = |text: &Value| TimeOfDay::parse(text.as_str().unwrap()).unwrap();
    let start = time(&entry["startTime"]);
    let today = zone.date_of(when).days_since_epoch();
    (today - 41..=today + 1).any(|day| {
        let date = Date::from_days_since_epoch(day).unwrap();
        let begins = zone.first_instant_of(date, start);
        let ends = match (entry["hours"].as_i64(), entry.get("endTime")) {
            (Some(hours), _) => begins.saturating_add(hours * 3_600),
            (None, Some(end)) if time(end) > start => zone.first_instant_of(date, time(end)),
            (None, Some(end)) => zone.first_instant_of(date.tomorrow(), time(end)),
            (None, None) => midnight(date.tomorrow()),
        };
        names(&entry["recurrence"], date) && begins <= when && when < ends
    })
}

fn recurrence() -> impl Strategy<Value = Value> {
    let weekday = prop::sample::subsequence(Weekday::ALL.to_vec(), 1..=6);
    let dates = || prop::collection::btree_set(1_i64..=31, 1..6);
    let months = prop::sample::select(schedule::Month::ALL.to_vec());
    prop_oneof![
        prop::sample::select(vec![1, 2]).prop_map(|every| json!({"frequency": "Daily", "daily": {"interval": every}})),
        (weekday, prop::sample::select(vec![1, 2])).prop_map(|(days, every)| {
            let days: Vec<String> = days.iter().map(ToString::to_string).collect();
            json!({"frequency": "Weekly", "weekly": {"daysOfWeek": days, "interval": every}})
        }),
        dates().prop_map(|dates| {
            json!({"frequency": "Monthly", "monthly": {"by": "Date", "date": {"datesOfMonth": dates}}})
        }),
        (dates(), months).prop_map(|(dates, month)| {
            json!({"frequency": "Yearly", "yearly": {"by": "Date",
                "date": {"datesOfMonth": dates, "month": month.name()}}})
        }),
    ]
}

fn entry() -> impl Strategy<Value = Value> {
    let time = || (0_u32..24, 0_u32..4).prop_map(|(h, q)| format!("{h:02}:{:02}", q * 15));
    let date = |days: i32| Date::from_days_since_epoch(20_700 + days).unwrap().to_string();
    prop_oneof![
        (0_i32..60, 1_i32..20)
            .prop_map(move |(from, days)| json!({"fromDate": date(from), "untilDate": date(from + days)})),
        (0_i64..2_000, 1_i64..300).prop_map(|(from, hours)| {
            let edge = |hours: i64| at("2026-09-01T00:00:00Z").saturating_add(hours * 3_600 + 60);
            json!({"from": edge(from).to_string(), "until": edge(from + hours).to_string()})
        }),
        (recurrence(), time(), 1_i64..800)
            .prop_map(|(rule, start, hours)| json!({"recurrence": rule, "startTime": start, "duration": format!("{hours}h"), "hours": hours})),
        (recurrence(), time(), time())
            .prop_map(|(rule, start, end)| json!({"recurrence": rule, "startTime": start, "endTime": end})),
        (recurrence(), time()).prop_map(|(rule, start)| json!({"recurrence": rule, "startTime": start})),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    /// SCHED-1 for exclusions of every form together, over days on which clocks change: quarter by quarter as a plain reading has it, the end of
    /// every state included, and the exclusion that is named is one that holds.
    #[test]
    fn exclusions_are_what_a_plain_reading_makes_of_them(
        entries in prop::collection::vec(entry(), 1..5),
        zone in prop::sample::select(vec!["UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe"]),
        first in 0_i64..80,
    ) {
        let named = Zone::named(zone).unwrap();
        let clean: Vec<Value> = entries.iter().map(|entry| {
            let mut entry = entry.clone();
            entry.as_object_mut().unwrap().remove("hours");
            entry
        }).collect();
        let lowered = lowered(&json!({"timeZone": zone, "permit": {}, "exclude": clean}));
        prop_assert!(lowered.problems.iter().all(|problem| !problem.is_error()), "{:?}", lowered.problems);
        let start = at("2026-09-01T00:00:00Z").saturating_add(first * 86_400);
        let open = |at: Instant| !entries.iter().any(|entry| takes_out(entry, &named, at));
        let mut state: Option<schedule::State> = None;
        for step in 0..15 * 96 {
            let now = start.saturating_add(step * 900);
            let expected = open(now);
            let found = lowered.set.state(now);
            prop_assert_eq!(found.inside, expected, "{} at {}", json!(clean), now);
            if let Some(before) = state {
                let changed = before.until.is_some_and(|until| until <= now);
                prop_assert!(changed || before.inside == expected, "{} at {}", json!(clean), now);
            }
            let held = holding(lowered.schedule.exclusions(), now);
            prop_assert_eq!(held.is_some(), !expected, "{} at {}", json!(clean), now);
            state = Some(found);
        }
    }
}

/// TIME-14: rules that meet again after centuries only are refused, and nothing is searched for them; a thousand exclusions with dates are not.
#[test]
fn what_would_take_long_to_search_is_refused() {
    let daily = |every: i64| json!({"recurrence": {"frequency": "Daily", "daily": {"interval": every}}, "duration": "24h"});
    let weekly = json!({"recurrence": {"frequency": "Weekly",
        "weekly": {"daysOfWeek": ["Friday"], "interval": 4}}});
    let check = |exclude: &[Value], expected: Option<&str>| {
        let lowered = lowered(&json!({"permit": {}, "exclude": exclude}));
        let found = lowered.problems.first().map(|problem| problem.detail.as_str());
        assert_eq!(found, expected, "{exclude:?}");
    };
    let many = |count: usize, every: i64| vec![daily(every); count];
    check(&many(16, 1), None);
    check(&many(8, 2), None);
    check(&[daily(2), weekly.clone()], None);
    check(&many(1, 16), None);
    check(
        &many(9, 2),
        Some(
            "9 exclusions recur whose intervals meet every 2 times only: that makes 18, and at most 16 may be searched",
        ),
    );
    check(
        &[daily(7), daily(11), weekly],
        Some(
            "3 exclusions recur whose intervals meet every 308 times only: that makes 924, and at most 16 may be searched",
        ),
    );
    let dated: Vec<Value> = (0..1000)
        .map(|hours| {
            let edge =
                |hours: i64| at("2026-12-01T00:00:00Z").saturating_add(hours * 3_600).to_string();
            json!({"from": edge(2 * hours), "until": edge(2 * hours + 1)})
        })
        .collect();
    check(&dated, None);
    let set = lowered(&json!({"permit": {}, "exclude": dated})).set;
    assert_eq!(set.next_change(at("2026-12-05T00:00:00Z")), Some(at("2026-12-05T01:00:00Z")));
}
