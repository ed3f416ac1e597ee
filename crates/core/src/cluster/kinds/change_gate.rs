//! What does a team hold in its namespace? (RCH-1)

use schedule::Instant;
use serde_json::Value;

use super::{
    CHANGE_FREEZE, CHANGE_GUARDRAIL, CHANGE_OVERRIDE, CLUSTER_CHANGE_FREEZE,
    CLUSTER_CHANGE_OVERRIDE, Duty, Gated, HOSTED_CHANGE_MANAGEMENT_POLICY, NAMESPACE, Row,
    Surroundings,
};
use crate::{
    cluster::{
        decide::{self, holding},
        seen::{Own, Seen, SeenGated},
    },
    gate::{
        enforced::{Enforcement, Kept},
        pending::Pending,
        plan::Plan,
        proof,
    },
    policy::stanza::Gating,
    reach::seen::SeenGate,
};

/// A gate of a team on what others own.
pub static CHANGE_GATE: Row = Row::gated(
    api::kinds::CHANGE_GATE,
    READ,
    // A team may go by a policy of its namespace too (RCH-11).
    Duty {
        reads: &[
            &HOSTED_CHANGE_MANAGEMENT_POLICY,
            &CHANGE_FREEZE,
            &CLUSTER_CHANGE_FREEZE,
            &CHANGE_OVERRIDE,
            &CLUSTER_CHANGE_OVERRIDE,
            &CHANGE_GUARDRAIL,
            &NAMESPACE,
        ],
        ..duty()
    },
);

/// What is read of any gate on what others own: what waits for it is what its status tells.
pub(super) const READ: Gated = Gated {
    gating: Gating::WHOLE,
    pending: |document| {
        let own = document.pointer("/metadata/namespace").and_then(Value::as_str);
        let waiting = holding::waiting(&SeenGate::new(document).told, own);
        Pending { waiting, ..Pending::default() }
    },
    own: |document| Own::Gate(Box::new(SeenGate::new(document))),
    ..Gated::PLAIN
};

/// What is decided about any of them. The labels of namespaces say where one of the cluster holds.
pub(super) const fn duty() -> Duty {
    static READS: [&Row; 4] =
        [&CLUSTER_CHANGE_FREEZE, &CLUSTER_CHANGE_OVERRIDE, &CHANGE_GUARDRAIL, &NAMESPACE];
    Duty { reads: &READS, ..Duty::to(decide) }
}

/// RCH-8: a gate whose source is gone goes too. Where no node pool is known nobody can tell.
fn orphaned(gated: &SeenGated, around: &Surroundings<'_>) -> Option<Plan> {
    let source = gated.gate.as_deref()?.derived.as_ref()?;
    let known = around.snapshot.of_kind(&api::kinds::NODE_POOL).next().is_some();
    (known && around.snapshot.get(source).is_none()).then(|| decide::gone(&gated.identity))
}

fn decide(seen: &Seen, around: &Surroundings<'_>, now: Instant) -> Plan {
    let Seen::Gated(gated) = seen else { return Plan::default() };
    if let Some(gone) = orphaned(gated, around) {
        return gone;
    }
    let gate = around.snapshot.gate(gated);
    let kept = kept(gated, around);
    let Some(found) = holding::found(gated, &gate, around, now) else {
        return decide::gated(gated, &gate, kept, now);
    };
    let own = gated.identity.key.namespace.as_deref();
    let waiting = holding::waiting(&found, own);
    let mut gated = SeenGated::clone(gated);
    gated.pending = Pending { waiting, ..Pending::default() };
    if let Some(known) = gated.gate.as_deref_mut() {
        known.found = Some(found);
    }
    decide::gated(&gated, &gate, kept, now)
}

/// Who keeps the gate: the server does if its admission policies stand, which is tried (GATE-13). What was said before stays until somebody has
/// tried, word for word, so that a restart writes nothing.
fn kept(gated: &SeenGated, around: &Surroundings<'_>) -> Kept {
    let known = gated.gate.as_deref();
    let tried = known.and_then(|gate| proof::kept(gate, gated.kind, around.proofs));
    tried.unwrap_or_else(|| {
        let before = gated.conditions.get(api::names::ENFORCED);
        let enforcement = gated.enforcement().unwrap_or_default();
        // A mode that was left speaks no more.
        let stale = enforcement == Enforcement::Advisory;
        let said = before.filter(|_| !stale).and_then(|before| before.message.clone());
        let enforcement = if stale { Enforcement::NotTried } else { enforcement };
        Kept { enforcement, said }
    })
}
