//! What does the status of a `MachineConfiguration` read? The policies of the release with those of the administrator over them (NDP-1).
//!
//! Nodes act by the status alone, and only while it is about the newest generation. So a policy that cannot be used changes nothing but
//! the condition that says why: until it is mended, nodes whose change needs a policy wait.

use api::{
    machine::{
        disruption::PolicyStatus,
        names::{MACHINE_CONFIGURATION_NAME, NODE_DISRUPTION_POLICY_DEGRADED},
    },
    meta::ConditionStatus,
    names,
};
use schedule::Instant;
use serde_json::json;

use super::{made, part_of_status, problem_text};
use crate::{
    cluster::seen::{Part, SeenPart},
    gate::{
        note::{Note, Weight},
        plan::Plan,
    },
    node::disruption::merged,
};

/// What is to be done about a `MachineConfiguration`.
pub fn plan(seen: &SeenPart, now: Instant) -> Plan {
    let SeenPart { identity, part: Part::Disruption(disruption) } = seen else {
        return Plan::default();
    };
    // A server whose definition takes other names too would have several, and nobody acts by those.
    if &*identity.key.name != MACHINE_CONFIGURATION_NAME {
        return Plan::default();
    }
    let generation = Some(identity.generation);
    let known = &disruption.status;
    let mut fields = Vec::new();
    let verdict = match &disruption.wanted {
        Ok(wanted) => {
            let acting = PolicyStatus { cluster_policies: merged(wanted) };
            if known.observed_generation != generation {
                fields.push(("/status/observedGeneration", json!(generation)));
            }
            if known.node_disruption_policy_status != acting {
                fields.push(("/status/nodeDisruptionPolicyStatus", json!(acting)));
            }
            let message = "the node disruption policy is understood".to_owned();
            (ConditionStatus::False, names::AS_EXPECTED, Some(message))
        }
        Err(problems) => {
            let message = format!(
                "{}; nothing else was changed, and nodes whose change needs a policy wait",
                problem_text(problems)
            );
            (ConditionStatus::True, names::INVALID_SPEC, Some(message))
        }
    };
    let before = disruption.conditions.get(NODE_DISRUPTION_POLICY_DEGRADED);
    let was_degraded = before.is_some_and(|before| before.status == ConditionStatus::True);
    let is_degraded = verdict.0 == ConditionStatus::True;
    let message = verdict.2.clone().unwrap_or_default();
    let note = |weight, reason| Note { weight, reason, message };
    let notes = match (was_degraded, is_degraded) {
        (false, true) => vec![note(Weight::Warning, NODE_DISRUPTION_POLICY_DEGRADED)],
        (true, false) => vec![note(Weight::Normal, names::AS_EXPECTED)],
        (false, false) | (true, true) => Vec::new(),
    };
    let condition = made(
        NODE_DISRUPTION_POLICY_DEGRADED,
        verdict,
        generation,
        disruption.conditions.ours(),
        now,
    );
    let status = part_of_status(identity, &disruption.conditions, fields, &[condition]);
    Plan { status, notes, ..Plan::default() }
}

#[cfg(test)]
mod tests;
