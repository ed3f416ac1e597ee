//! What do people want? Policies, stanzas and pieces of configuration, drawn so that windows open and close within the hours of a story.

use api::{
    machine::names::{API_VERSION, MACHINE_CONFIG, ROLE},
    names,
};
use serde_json::{Value, json};

use super::{
    dice::Dice,
    windows::{WEEKDAYS, ZONES},
    world::World,
};

const DAY: i64 = 86_400;

/// An instant as objects write it.
pub(crate) fn instant(at: i64) -> String {
    jiff::Timestamp::from_second(at).unwrap_or_default().to_string()
}

fn date(day: i64) -> String {
    instant(day * DAY)[..10].to_owned()
}

pub(crate) fn policy(name: &str, spec: &Value) -> Value {
    json!({"apiVersion": names::API_VERSION, "kind": names::CHANGE_MANAGEMENT_POLICY,
        "metadata": {"name": name}, "spec": spec})
}

/// A specification whose windows are not far from `now`.
pub(crate) fn policy_spec(dice: &mut Dice, now: i64, world: World) -> Value {
    match world.policy(dice.of(0..20)) {
        0 => return json!({"strategy": "Permissive"}),
        1 => return json!({"strategy": "Restrictive"}),
        // Somebody misspelt when: the policy cannot be used, and opens nothing (GATE-14).
        2 if world.misspells(now) => {
            return json!({"strategy": "MaintenanceSchedule",
                "maintenanceSchedule": {"permit": {"recurence": {"frequency": "Daily"}}}});
        }
        // A place that does not exist: the policy cannot be used (TIME-12).
        2 => {
            return json!({"strategy": "MaintenanceSchedule",
                "maintenanceSchedule": {"timeZone": "Moon/Tycho", "permit": {}}});
        }
        _ => {}
    }
    let (zone, offset) = *dice.pick(ZONES);
    let start = now + offset + dice.of(-120..150) * 60;
    let (day, minute) = (start.div_euclid(DAY), start.rem_euclid(DAY) / 60);
    let mut permit = json!({"startTime": format!("{:02}:{:02}", minute / 60, minute % 60)});
    if dice.percent(90) {
        permit["duration"] = json!(format!("{}m", dice.of(8..300)));
    }
    let weekday = |day: i64| WEEKDAYS[(day + 3).rem_euclid(7) as usize];
    match dice.of(0..4) {
        0 => {
            permit["recurrence"] =
                json!({"frequency": "Daily", "daily": {"interval": dice.of(1..3)}});
        }
        1 => {
            permit["recurrence"] = json!({"frequency": "Weekly", "weekly": {
                "daysOfWeek": [weekday(day), weekday(day + dice.of(1..4))]}});
        }
        _ => {}
    }
    let mut schedule = json!({"permit": permit});
    if dice.percent(50) {
        schedule["timeZone"] = json!(zone);
    }
    if dice.percent(world.excludes()) {
        let from = day + dice.of(-1..3);
        let mut exclusion = json!({"fromDate": date(from), "reason": "stocktaking"});
        if dice.percent(40) {
            exclusion["untilDate"] = json!(date(from + dice.of(1..3)));
        }
        schedule["exclude"] = json!([exclusion]);
        if dice.percent(10) {
            schedule["permit"] = Value::Null;
        }
    }
    if schedule["permit"].is_null() {
        let fields = schedule.as_object_mut().map(|fields| fields.remove("permit"));
        drop(fields);
    }
    json!({"strategy": "MaintenanceSchedule", "maintenanceSchedule": schedule})
}

/// A stanza; null for none.
pub(crate) fn stanza(dice: &mut Dice, policies: &[String], now: i64, world: World) -> Value {
    let named = json!({"name": dice.pick(policies)});
    // Whole minutes, so that what the clock says decides and not where a second is cut.
    let soon = instant((now + world.minutes(dice.of(3..150)) * 60).div_euclid(60) * 60);
    let mut stanza = match world.stanza(dice.of(0..12)) {
        0 => return Value::Null,
        1 => json!({"strategy": "Permissive"}),
        // Somebody misspelt until when: permitted for ever is not what it says (GATE-14).
        2 if world.misspells(now) => json!({"strategy": "Permissive", "permisiveUntil": soon}),
        2 => json!({"strategy": "Restrictive"}),
        3 | 4 => json!({"strategy": "PermissiveUntil", "permissiveUntil": soon}),
        5 | 6 => json!({"strategy": "RestrictiveUntil", "restrictiveUntil": soon}),
        _ => json!({"strategy": "ByPolicy"}),
    };
    if stanza["strategy"] == "ByPolicy" || dice.percent(70) {
        stanza["byPolicy"] = named;
    }
    stanza
}

/// How many may be away.
pub(crate) fn limit(dice: &mut Dice) -> Value {
    if dice.percent(50) { json!(dice.of(1..4)) } else { json!(format!("{}%", dice.of(5..60))) }
}

/// A piece of configuration: one file.
pub(crate) fn source(pool: &str, which: usize, content: i64) -> Value {
    json!({"apiVersion": API_VERSION, "kind": MACHINE_CONFIG,
    "metadata": {"name": format!("50-{pool}-{which}"), "labels": {ROLE: pool}},
    "spec": {"config": {"ignition": {"version": "3.4.0"}, "storage": {"files": [
        {"path": format!("/etc/tide/{pool}-{which}"),
         "contents": {"source": format!("data:,{content}")}},
    ]}}}})
}

pub(crate) fn pool(
    dice: &mut Dice,
    name: &str,
    policies: &[String],
    (now, world): (i64, World),
) -> Value {
    let label = format!("node-role.kubernetes.io/{name}");
    // Custom pools inherit what workers have; the control plane does not.
    let roles = if name == "master" { json!([name]) } else { json!(["worker", name]) };
    let mut spec = json!({
        "machineConfigSelector": {"matchExpressions": [
            {"key": ROLE, "operator": "In", "values": roles},
        ]},
        "nodeSelector": {"matchLabels": {label: ""}},
        "maxUnavailable": world.limit(limit(dice)),
    });
    let stanza = stanza(dice, policies, now, world);
    if !stanza.is_null() {
        spec["changeManagement"] = stanza;
    }
    json!({"apiVersion": API_VERSION, "kind": names::MACHINE_CONFIG_POOL,
        "metadata": {"name": name}, "spec": spec})
}
