//! What does the platform demand of what people write? (GRD-1)

use std::sync::Arc;

use super::{CHANGE_MANAGEMENT_POLICY, Duty, Row};
use crate::{
    cluster::{
        decide,
        seen::{Part, Seen},
    },
    gate::plan::Plan,
    policy::guardrail::SeenGuardrail,
};

/// A guardrail of the platform.
pub static CHANGE_GUARDRAIL: Row = {
    static READS: [&Row; 1] = [&CHANGE_MANAGEMENT_POLICY];
    let decide: super::Decide = |seen, around, now| match seen {
        Seen::Part(part) => part.guardrail().map_or_else(Plan::default, |guardrail| {
            decide::guardrail(&part.identity, guardrail, around.snapshot, now)
        }),
        Seen::Policy(_) | Seen::Gated(_) => Plan::default(),
    };
    // A policy that is named tells whom it concerns; any other is nothing to a guardrail.
    let duty = Duty { reads: &READS, concerns: super::Concerns::Told, ..Duty::to(decide) };
    let read =
        |document: &serde_json::Value| Part::Guardrail(Arc::new(SeenGuardrail::new(document)));
    Row {
        watched: Some(duty),
        managed: Some(duty),
        ..Row::part(api::kinds::CHANGE_GUARDRAIL, read)
    }
};
