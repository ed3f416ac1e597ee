//! What does the status of `versionManagement` say? The next window, in the words of its design, and whether a change waits (D4-2).
//!
//! A window is told as people know it, with its last hour; that nothing new is begun in that hour is what the gate says (D4-3). Instants only,
//! so an idle cluster is written zero times (POL-7).

use api::{
    meta::ConditionStatus,
    version_management::{ClusterConstraint, VersionManagementStatus},
};
use schedule::{Instant, Stretch, TimeSet};
use serde_json::{Value, json};

use crate::{
    cluster::seen::SeenGated,
    document::format::duration_text,
    gate::Gate,
    policy::{
        stanza::Form,
        version::{VersionManaged, next_window},
    },
};

/// Where it stands.
const PATH: &str = "/status/versionManagement";

/// The field, if it differs from what the status has; null if it goes.
pub(super) fn fields(
    seen: &SeenGated,
    gate: &Gate,
    pending: ConditionStatus,
    now: Instant,
) -> Option<(&'static str, Value)> {
    let wanted = told(seen, gate, pending, now);
    match (wanted, seen.told_windows.as_deref()) {
        (None, None) => None,
        (None, Some(_)) => Some((PATH, Value::Null)),
        (Some(wanted), Some(known)) if wanted == *known => None,
        (Some(wanted), _) => Some((PATH, json!(wanted))),
    }
}

/// What is told of a resource; nothing where neither it nor its cluster is spelled so.
pub fn told(
    seen: &SeenGated,
    gate: &Gate,
    pending: ConditionStatus,
    now: Instant,
) -> Option<VersionManagementStatus> {
    if gate.form() != Form::Version && !seen.stanza.is_version_managed() {
        return None;
    }
    let cluster = gate.constraint().map(|(_, cluster)| cluster);
    let paused_above = gate
        .constraint()
        .filter(|(_, cluster)| cluster.version().is_some_and(|read| read.paused_at(now).is_some()))
        .map(|(key, _)| key);
    let set = match cluster {
        Some(cluster) => windows_of(gate).intersection(windows_of(cluster)),
        None => windows_of(gate),
    };
    let mut own = next(gate, &set, now);
    if let (Some(key), true) = (paused_above, own.start.is_none() && !is_paused(gate, now)) {
        own.text = format!("None. Paused with pausedUntil of {key}");
    }
    let cluster_constraint = cluster.map(|cluster| {
        let next = next(cluster, &windows_of(cluster), now);
        ClusterConstraint {
            next_window: next.text,
            next_window_duration: next.duration,
            next_window_start_time: next.start,
            next_window_end_time: next.end,
        }
    });
    Some(VersionManagementStatus {
        next_window: own.text,
        next_window_duration: own.duration,
        next_window_start_time: own.start,
        next_window_end_time: own.end,
        cluster_constraint,
        changes_pending: pending == ConditionStatus::True,
    })
}

/// When the next window that is told would be another.
pub(super) fn next_edge(gate: &Gate, now: Instant) -> Option<Instant> {
    let above = gate.constraint().map(|(_, cluster)| cluster);
    let all = [Some(gate), above].into_iter().flatten().filter(|gate| gate.version().is_some());
    all.filter_map(|gate| windows_of(gate).next_change(now)).min()
}

/// A window in words.
struct Told {
    text: String,
    duration: Option<String>,
    start: Option<String>,
    end: Option<String>,
}

/// The windows of a gate as people know them; of a stanza in another spelling, what it permits.
fn windows_of(gate: &Gate) -> TimeSet {
    gate.version().map_or_else(|| gate.own_set().clone(), VersionManaged::ahead)
}

fn is_paused(gate: &Gate, now: Instant) -> bool {
    gate.version().is_some_and(|read| read.paused_at(now).is_some())
}

fn next(gate: &Gate, set: &TimeSet, now: Instant) -> Told {
    let none =
        |why: &str| Told { text: format!("None. {why}"), duration: None, start: None, end: None };
    let window = next_window(set, now);
    let Some(Stretch { start: Some(start), end, .. }) = window else {
        return none(match gate.form() {
            Form::Unusable => "The stanza cannot be used",
            _ if is_paused(gate, now) => "Paused with pausedUntil",
            _ if set.is_always() => "Changes are always permitted",
            _ => "No window is ahead",
        });
    };
    let length = end.and_then(|end| u32::try_from(end.unix() - start.unix()).ok());
    Told {
        text: start.to_string().replace('T', " ").replace('Z', "UTC"),
        duration: length.map(duration_text),
        start: Some(start.to_string()),
        end: end.map(|end| end.to_string()),
    }
}

#[cfg(test)]
mod tests;
