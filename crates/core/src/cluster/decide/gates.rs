//! What does the status of a gate on what others own say beside its behaviour? The windows that the API server goes by, for which generation
//! they are, and whether they may be relied on (RCH-2, RCH-14).

use std::time::Duration;

use api::{
    meta::{Condition, ConditionStatus},
    names,
    policy::Behavior,
};
use schedule::Instant;
use serde_json::{Value, json};

use super::made;
use crate::{
    cluster::seen::SeenGated,
    document::{conditions::Conditions, problem::problem_text},
    gate::Gate,
    policy::stanza::{Form, StanzaReading},
    reach::{
        seen::{SeenGate, Told},
        windows,
    },
};

/// Whether the windows may be relied on: the gate is understood, and what it names is ready.
pub(super) fn ready(seen: &SeenGated, gate: &Gate, now: Instant) -> Condition {
    // What a derived gate was derived from says when in its stead (RCH-8).
    let is_derived = seen.gate.as_deref().is_some_and(|gate| gate.derived.is_some());
    let said = match (&seen.stanza.reading, gate.own_doubt_at(now)) {
        (StanzaReading::Unusable(problems), _) if !is_derived || gate.form() == Form::Unusable => {
            (ConditionStatus::False, names::INVALID_SPEC, Some(problem_text(problems)))
        }
        (_, Some(doubt)) => (ConditionStatus::False, doubt.reason, Some(doubt.message.clone())),
        (_, None) => {
            (ConditionStatus::True, names::AS_EXPECTED, Some("the gate is understood".to_owned()))
        }
    };
    made(names::READY, said, Some(seen.identity.generation), seen.conditions.ours(), now)
}

/// The fields that differ from what the status has, and when to look again although nothing was edited.
pub(super) fn fields(
    seen: &SeenGated,
    known: &SeenGate,
    gate: &Gate,
    behavior: &Behavior,
    now: Instant,
) -> (Vec<(&'static str, Value)>, Option<Instant>) {
    let mut fields = Vec::new();
    if seen.behavior.as_ref() != Some(behavior) {
        fields.push(("/status/behavior", json!(behavior)));
    }
    // OVR-5: without freezes, which the server reads by itself.
    // Those that hold the source of a derived gate it does not read there.
    let set = if known.derived.is_some() { gate.set() } else { gate.own_set() };
    let ahead = windows::ahead(set, now, known.ahead.as_ref());
    let before = known.ahead.clone().unwrap_or_default();
    if known.ahead.is_none() || before.windows != ahead.windows {
        fields.push(("/status/windows", json!(ahead.windows)));
    }
    match (before.computed_until, ahead.computed_until) {
        (before, after) if before == after => {}
        (_, None) => fields.push(("/status/computedUntil", Value::Null)),
        (_, Some(until)) => fields.push(("/status/computedUntil", json!(until.to_string()))),
    }
    if known.observed != Some(seen.identity.generation) {
        fields.push(("/status/observedGeneration", json!(seen.identity.generation)));
    }
    fields.extend(counts(known));
    (fields, windows::look_again(&ahead))
}

/// What is told of what a gate holds. A thousand rollouts that begin at once are a thousand changes of it.
const COUNTS: [&str; 4] =
    ["/status/holds", "/status/pending", "/status/pendingCount", "/status/targets"];

/// How often what a gate holds is told at most.
const APART: Duration = Duration::from_secs(1);

/// How far a status is apart from the one before: what the server goes by, and every other condition, is written as it comes; what is only
/// counted, once a second.
pub(super) fn apart(
    fields: &[(&'static str, Value)],
    known: &Conditions,
    conditions: &[Condition],
) -> Option<Duration> {
    let counted = |field: &(&'static str, Value)| COUNTS.contains(&field.0);
    let mut others = conditions.iter().filter(|one| one.kind != names::CHANGES_PENDING);
    let same = others.all(|one| known.get(&one.kind) == Some(one));
    (same && !fields.is_empty() && fields.iter().all(counted)).then_some(APART)
}

/// What is told of what it holds, as far as that differs from what was found.
fn counts(known: &SeenGate) -> Vec<(&'static str, Value)> {
    let Some(found) = &known.found else { return Vec::new() };
    let Told { holds, pending, pending_count, targets, untold: _ } = &known.told;
    let mut fields = Vec::new();
    let mut differ = |path: &'static str, before: Value, after: Value| {
        if before != after {
            fields.push((path, after));
        }
    };
    let listed = |list: Value| if list == json!([]) { Value::Null } else { list };
    differ("/status/holds", listed(json!(holds)), listed(json!(found.holds)));
    differ("/status/pending", listed(json!(pending)), listed(json!(found.pending)));
    differ("/status/pendingCount", json!(pending_count), json!(found.pending_count));
    differ("/status/targets", json!(targets), json!(found.targets));
    fields
}

#[cfg(test)]
mod tests;
