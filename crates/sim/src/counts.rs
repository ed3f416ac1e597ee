//! How many is that? Counts in objects, and counts that people write as a share of others.

use serde_json::Value;

/// A count in an object; none is zero.
pub(crate) fn count(object: &Value, pointer: &str) -> i64 {
    object.pointer(pointer).and_then(Value::as_i64).unwrap_or_default()
}

/// A count, or a share of all, rounded up or down.
fn share(value: Option<&Value>, of: i64, up: bool, otherwise: i64) -> i64 {
    let percent = value.and_then(Value::as_str).and_then(|text| text.strip_suffix('%'));
    match percent.and_then(|percent| percent.parse::<i64>().ok()) {
        Some(percent) if up => (of * percent + 99) / 100,
        Some(percent) => of * percent / 100,
        None => value.and_then(Value::as_i64).unwrap_or(otherwise),
    }
}

/// The limits of a rolling update: how many there may be beyond those wanted, and how many may be missing.
pub(crate) fn limits(deployment: &Value) -> (i64, i64) {
    let wanted = count(deployment, "/spec/replicas");
    let limit = |name: &str| deployment.pointer(&format!("/spec/strategy/rollingUpdate/{name}"));
    let surge = share(limit("maxSurge"), wanted, true, 1);
    let missing = share(limit("maxUnavailable"), wanted, false, 0);
    // Neither would never move.
    if surge == 0 && missing == 0 { (0, 1.min(wanted)) } else { (surge, missing.min(wanted)) }
}
