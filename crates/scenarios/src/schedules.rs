//! How does a script write a maintenance schedule? In the words that people say it in.

use serde_json::{Value, json};

/// A policy of the cluster, or of a namespace: `clusters/weekly`.
pub(crate) fn policy(name: &str, spec: &Value) -> Value {
    let (kind, metadata) = match name.split_once('/') {
        None => (api::names::CHANGE_MANAGEMENT_POLICY, json!({"name": name})),
        Some((namespace, name)) => {
            let metadata = json!({"namespace": namespace, "name": name});
            (api::names::HOSTED_CHANGE_MANAGEMENT_POLICY, metadata)
        }
    };
    json!({"apiVersion": api::names::API_VERSION, "kind": kind, "metadata": metadata, "spec": spec})
}

/// `Saturday,Sunday`, or `Saturday from 20:00 for 8h`, or `daily from 19:00`, or `the First Saturday`; each with `except 2025-03-08` or
/// `except 2025-11-28..2025-12-02 because Black-Friday`, whose last day is not excluded any more (TIME-10).
pub(crate) fn scheduled(words: &[&str]) -> Result<Value, String> {
    let (recurrence, rest) = match words {
        ["daily", rest @ ..] => (Value::Null, rest),
        ["the", week, day, rest @ ..] => {
            let day = json!({"dayOfWeek": day, "weekOfMonth": week});
            let monthly = json!({"by": "Day", "day": {"days": [day]}});
            (json!({"frequency": "Monthly", "monthly": monthly}), rest)
        }
        [days, rest @ ..] => {
            let days: Vec<&str> = days.split(',').collect();
            (json!({"frequency": "Weekly", "weekly": {"daysOfWeek": days}}), rest)
        }
        [] => return Err("which days?".into()),
    };
    let mut permit = json!({});
    if !recurrence.is_null() {
        permit["recurrence"] = recurrence;
    }
    let mut exclude = Vec::new();
    for pair in rest.chunks(2) {
        match pair {
            ["from", time] => permit["startTime"] = json!(time),
            ["for", length] => permit["duration"] = json!(length),
            ["except", dates] => exclude.push(match dates.split_once("..") {
                Some((from, until)) => json!({"fromDate": from, "untilDate": until}),
                None => json!({"fromDate": dates}),
            }),
            ["because", reason] => {
                exclude.last_mut().ok_or("what is excluded?")?["reason"] = json!(reason);
            }
            _ => return Err(format!("{pair:?} is not understood")),
        }
    }
    let mut schedule = json!({"permit": permit});
    if !exclude.is_empty() {
        schedule["exclude"] = json!(exclude);
    }
    Ok(json!({"strategy": "MaintenanceSchedule", "maintenanceSchedule": schedule}))
}
