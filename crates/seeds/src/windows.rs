//! Is a gate open at a second? The checker's own reading of policies and stanzas: whole seconds and whole days, and nothing shared with
//! the engine that is checked.
//!
//! It reads the documents as they were committed, and understands as much of them as these worlds write: daily and weekly windows,
//! exclusions by day, and places whose clock stays where it is all winter.

use serde_json::Value;

const DAY: i64 = 86_400;

/// The places that worlds use, with their distance from UTC in seconds; none of them changes its clock during a run.
pub(crate) const ZONES: &[(&str, i64)] = &[
    ("UTC", 0),
    ("Asia/Kolkata", 19_800),
    ("Asia/Tokyo", 32_400),
    ("America/Phoenix", -25_200),
    ("Europe/Berlin", 3_600),
];

/// How a policy stands at a second, with whatever else may change its words: an edge is where this changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reading {
    pub(crate) open: bool,
    excluded: bool,
}

/// Whether something has a field that nobody knows: it never opens a gate (GATE-14).
fn is_misspelt(given: &Value, known: &[&str]) -> bool {
    given.as_object().is_some_and(|given| given.keys().any(|key| !known.contains(&key.as_str())))
}

/// Whether a specification of a policy is misspelt somewhere.
pub(crate) fn is_misspelt_policy(spec: &Value) -> bool {
    let schedule = &spec["maintenanceSchedule"];
    is_misspelt(spec, &["strategy", "maintenanceSchedule"])
        || is_misspelt(schedule, &["timeZone", "permit", "exclude"])
        || is_misspelt(&schedule["permit"], &["startTime", "duration", "recurrence"])
}

/// Whether a stanza is misspelt.
pub(crate) fn is_misspelt_stanza(stanza: &Value) -> bool {
    is_misspelt(stanza, &["strategy", "byPolicy", "permissiveUntil", "restrictiveUntil"])
}

/// Whether a stanza can be read, or is not there: no override opens what nobody can read (GATE-14).
pub(crate) fn is_readable(stanza: Option<&Value>) -> bool {
    stanza.is_none_or(|stanza| !is_misspelt_stanza(stanza))
}

/// What a specification says at a second; none if it cannot be used.
pub(crate) fn policy(spec: &Value, at: i64) -> Option<Reading> {
    if is_misspelt_policy(spec) {
        return None;
    }
    let plain = |open| Some(Reading { open, excluded: false });
    match spec["strategy"].as_str()? {
        "Permissive" => plain(true),
        "Restrictive" => plain(false),
        "MaintenanceSchedule" => scheduled(&spec["maintenanceSchedule"], at),
        _ => None,
    }
}

fn scheduled(schedule: &Value, at: i64) -> Option<Reading> {
    let zone = schedule["timeZone"].as_str().unwrap_or("UTC");
    let offset = ZONES.iter().find(|(name, _)| *name == zone)?.1;
    let local = at + offset;
    let today = local.div_euclid(DAY);
    let exclusions = schedule["exclude"].as_array();
    let excluded = exclusions.into_iter().flatten().any(|one| {
        let from = one["fromDate"].as_str().map_or(i64::MAX, day);
        let until = one["untilDate"].as_str().map_or(from.saturating_add(1), day);
        (from..until).contains(&today)
    });
    let permit = &schedule["permit"];
    let inside = if permit.is_null() {
        // Only exclusions: permitted except then. Neither: never (TIME-11).
        exclusions.is_some_and(|some| !some.is_empty())
    } else {
        let start = permit["startTime"].as_str().map_or(0, |text| minutes(text) * 60);
        let length = permit["duration"].as_str().map_or(DAY - start, length);
        // A window that began on an earlier day may still be open.
        (today - length / DAY - 1..=today)
            .filter(|day| occurs(&permit["recurrence"], *day))
            .any(|day| (day * DAY + start..day * DAY + start + length).contains(&local))
    };
    Some(Reading { open: inside && !excluded, excluded })
}

fn occurs(recurrence: &Value, day: i64) -> bool {
    let interval = |arm: &str| recurrence[arm]["interval"].as_i64().unwrap_or(1);
    match recurrence["frequency"].as_str() {
        None => true,
        Some("Daily") => day.rem_euclid(interval("daily")) == 0,
        Some("Weekly") => {
            // The week of 1970-01-01, a Thursday, began three days before it (TIME-5).
            let week = (day + 3).div_euclid(7);
            let named = recurrence["weekly"]["daysOfWeek"].as_array();
            let name = WEEKDAYS[(day + 3).rem_euclid(7) as usize];
            let chosen = named.into_iter().flatten().any(|one| *one == name);
            chosen && week.rem_euclid(interval("weekly")) == 0
        }
        Some(_) => false,
    }
}

pub(crate) const WEEKDAYS: [&str; 7] =
    ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

/// Days since 1970-01-01 of `YYYY-MM-DD`, by counting.
fn day(text: &str) -> i64 {
    let mut parts = text.split('-').map(|part| part.parse::<i64>().unwrap_or(0));
    let (year, month, date) =
        (parts.next().unwrap_or(1970), parts.next().unwrap_or(1), parts.next().unwrap_or(1));
    let leap = |year: i64| year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let years: i64 = (1970..year).map(|year| if leap(year) { 366 } else { 365 }).sum();
    let lengths = [31, if leap(year) { 29 } else { 28 }, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let months: i64 = lengths.iter().take(month as usize - 1).sum();
    years + months + date - 1
}

fn minutes(text: &str) -> i64 {
    let (hours, minutes) = text.split_once(':').unwrap_or(("0", "0"));
    hours.parse::<i64>().unwrap_or(0) * 60 + minutes.parse::<i64>().unwrap_or(0)
}

/// Worlds write lengths in minutes only.
fn length(text: &str) -> i64 {
    text.trim_end_matches('m').parse::<i64>().unwrap_or(0) * 60
}

/// Seconds of an instant as objects write it.
pub(crate) fn second(text: &str) -> Option<i64> {
    Some(text.parse::<jiff::Timestamp>().ok()?.as_second())
}

/// Whether a policy, as it stands, may be relied on: it was read, understood, and not changed since (POL-6).
pub(crate) fn is_ready(policy: &Value) -> bool {
    let conditions = policy.pointer("/status/conditions").and_then(Value::as_array);
    conditions.into_iter().flatten().any(|one| {
        one["type"] == "Ready"
            && one["status"] == "True"
            && one["observedGeneration"] == policy["metadata"]["generation"]
    })
}

/// Whether a stanza and the policy it names permit a change at a second (GATE-1 to GATE-4).
pub(crate) fn gate(stanza: Option<&Value>, policy: Option<&Value>, at: i64) -> bool {
    let Some(stanza) = stanza.filter(|stanza| !stanza.is_null()) else { return true };
    if is_misspelt_stanza(stanza) {
        return false;
    }
    let named = !stanza["byPolicy"].is_null();
    let by_policy = |without: bool| {
        if !named {
            return without;
        }
        let ready = policy.filter(|policy| is_ready(policy));
        ready.and_then(|ready| self::policy(&ready["spec"], at)).is_some_and(|read| read.open)
    };
    let before = |field: &str| stanza[field].as_str().and_then(second).is_some_and(|end| at < end);
    match stanza["strategy"].as_str() {
        Some("Permissive") => true,
        Some("ByPolicy") => by_policy(false),
        Some("PermissiveUntil") => before("permissiveUntil") || by_policy(false),
        Some("RestrictiveUntil") => !before("restrictiveUntil") && by_policy(true),
        _ => false,
    }
}

/// The first second from `at` on, by whole minutes, at which a policy or a stanza reads differently.
pub(crate) fn edge(policies: &[Value], stanzas: &[Value], at: i64, at_most: i64) -> i64 {
    let named = |stanza: &Value| {
        policies.iter().find(|one| one["metadata"]["name"] == stanza["byPolicy"]["name"])
    };
    let reading = |at: i64| {
        let each: Vec<_> = policies.iter().map(|one| policy(&one["spec"], at)).collect();
        let gates: Vec<_> =
            stanzas.iter().map(|stanza| gate(Some(stanza), named(stanza), at)).collect();
        let until = |stanza: &Value, field: &str| {
            stanza[field].as_str().and_then(second).is_some_and(|end| at < end)
        };
        let untils: Vec<_> = stanzas
            .iter()
            .map(|one| (until(one, "permissiveUntil"), until(one, "restrictiveUntil")))
            .collect();
        (each, gates, untils)
    };
    let now = reading(at);
    let minutes = (at + 60 - at.rem_euclid(60)..at + at_most).step_by(60);
    minutes.into_iter().find(|later| reading(*later) != now).unwrap_or(at + at_most)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// TIME-1, TIME-4, TIME-5, TIME-10, TIME-11: the checker's reading against dates worked out by hand.
    #[test]
    fn windows_are_read_as_a_calendar_on_paper_has_them() {
        let check = |schedule: Value, at: &str, expected: bool| {
            let spec = json!({"strategy": "MaintenanceSchedule", "maintenanceSchedule": schedule});
            let found = policy(&spec, second(at).unwrap()).unwrap().open;
            assert_eq!(found, expected, "{spec} at {at}");
        };
        let nights = json!({"permit": {"startTime": "22:00", "duration": "240m"}});
        check(nights.clone(), "2026-11-13T21:59:59Z", false);
        check(nights.clone(), "2026-11-13T22:00:00Z", true);
        check(nights.clone(), "2026-11-14T01:59:59Z", true);
        check(nights, "2026-11-14T02:00:00Z", false);
        let friday = json!({"permit": {"startTime": "10:00", "duration": "60m", "recurrence":
            {"frequency": "Weekly", "weekly": {"daysOfWeek": ["Friday"]}}}});
        check(friday.clone(), "2026-11-13T10:30:00Z", true);
        check(friday, "2026-11-14T10:30:00Z", false);
        let tokyo = json!({"timeZone": "Asia/Tokyo", "permit": {"startTime": "09:00"}});
        check(tokyo.clone(), "2026-11-13T00:00:00Z", true);
        check(tokyo, "2026-11-12T23:59:59Z", false);
        let except = json!({"exclude": [{"fromDate": "2026-11-13", "reason": "fair"}]});
        check(except.clone(), "2026-11-13T12:00:00Z", false);
        check(except, "2026-11-14T00:00:00Z", true);
        check(json!({}), "2026-11-14T00:00:00Z", false);
        let second_day = json!({"permit": {"recurrence":
            {"frequency": "Daily", "daily": {"interval": 2}}}});
        // Day 20,770 since the epoch.
        check(second_day.clone(), "2026-11-13T12:00:00Z", true);
        check(second_day, "2026-11-14T12:00:00Z", false);
    }
}
