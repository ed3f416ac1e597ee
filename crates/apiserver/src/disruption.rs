//! How many pods may be disrupted?
//!
//! What the disruption controller of a cluster computes. It differs in one point, and says so here: the pods that a budget
//! expects are the pods that match it now, because this server serves no workload kinds whose replicas could be asked.

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::{clock::rfc3339_seconds, meta, selector::Labels, server::State, store::Happening};

/// Whether a pod counts as healthy.
pub(crate) fn is_ready(pod: &Value) -> bool {
    let conditions = meta::at(pod, &["status", "conditions"]).and_then(Value::as_array);
    conditions.into_iter().flatten().any(|c| c["type"] == "Ready" && c["status"] == "True")
}

/// Pods that are over, or were never placed, or are already going may always be evicted.
pub(crate) fn is_exempt(pod: &Value) -> bool {
    matches!(meta::text_at(pod, &["status", "phase"]), "Succeeded" | "Failed" | "Pending")
        || meta::is_deleting(pod)
}

fn covers(budget: &Value, pod: &Value) -> bool {
    meta::at(budget, &["spec", "selector"]).is_some_and(|s| Labels::from_object(s).matches(pod))
}

fn in_namespace(state: &State, shelf: &str, namespace: &str) -> Vec<Value> {
    let found = state.store.shelf(shelf);
    found
        .into_iter()
        .flat_map(|s| s.objects.iter())
        .filter(|((ns, _), _)| ns == namespace)
        .map(|(_, stored)| stored.value())
        .collect()
}

/// The budgets that cover a pod.
pub(crate) fn covering(state: &State, namespace: &str, pod: &Value) -> Vec<Value> {
    let budgets = in_namespace(state, "poddisruptionbudgets", namespace);
    budgets.into_iter().filter(|b| covers(b, pod)).collect()
}

/// A number or a percentage of `total`, rounded up.
fn scaled(value: &Value, total: i64) -> i64 {
    match value {
        Value::Number(n) => n.as_i64().unwrap_or_default(),
        Value::String(text) => {
            let percent: i64 = text.trim_end_matches('%').parse().unwrap_or_default();
            (percent * total + 99).div_euclid(100)
        }
        _ => 0,
    }
}

/// Brings the status of every budget in a namespace up to date.
pub(crate) fn account(state: &mut State, namespace: &str, now: Timestamp) {
    let budgets = in_namespace(state, "poddisruptionbudgets", namespace);
    if budgets.is_empty() {
        return;
    }
    let pods = in_namespace(state, "pods", namespace);
    for mut budget in budgets {
        let covered: Vec<&Value> = pods
            .iter()
            .filter(|p| covers(&budget, p))
            .filter(|p| !matches!(meta::text_at(p, &["status", "phase"]), "Succeeded" | "Failed"))
            .collect();
        let expected = covered.len() as i64;
        let spec = |key: &str| meta::at(&budget, &["spec", key]).cloned();
        let desired = match (spec("maxUnavailable"), spec("minAvailable")) {
            (Some(most), _) => (expected - scaled(&most, expected)).max(0),
            (None, Some(least)) => scaled(&least, expected),
            (None, None) => 1,
        };
        // An evicted pod counts as gone until it is seen to be.
        let disrupted =
            meta::at(&budget, &["status", "disruptedPods"]).and_then(Value::as_object).cloned();
        let still: serde_json::Map<String, Value> = disrupted
            .into_iter()
            .flatten()
            .filter(|(name, _)| {
                covered.iter().any(|p| meta::name(p) == name && !meta::is_deleting(p))
            })
            .collect();
        let healthy = covered
            .iter()
            .filter(|p| is_ready(p) && !meta::is_deleting(p) && !still.contains_key(meta::name(p)))
            .count() as i64;
        let allowed = if expected > 0 { (healthy - desired).max(0) } else { 0 };
        let generation = meta::field(&budget, "generation").cloned().unwrap_or_else(|| json!(1));
        let (state_text, reason) =
            if allowed > 0 { ("True", "SufficientPods") } else { ("False", "InsufficientPods") };
        let known = meta::at(&budget, &["status", "conditions"]).and_then(Value::as_array);
        let before = known.into_iter().flatten().find(|c| c["type"] == "DisruptionAllowed");
        let since = match before {
            Some(c) if c["status"] == state_text => c["lastTransitionTime"].clone(),
            _ => json!(rfc3339_seconds(now)),
        };
        let mut status = json!({
            "conditions": [{"type": "DisruptionAllowed", "status": state_text, "reason": reason, "message": "",
                            "observedGeneration": generation, "lastTransitionTime": since}],
            "currentHealthy": healthy, "desiredHealthy": desired, "disruptionsAllowed": allowed,
            "expectedPods": expected, "observedGeneration": generation,
        });
        if !still.is_empty()
            && let Some(map) = status.as_object_mut()
        {
            map.insert("disruptedPods".into(), Value::Object(still));
        }
        if budget.get("status") != Some(&status) {
            budget["status"] = status;
            state.commit(&"poddisruptionbudgets".into(), Happening::Modified, &mut budget);
        }
    }
}
