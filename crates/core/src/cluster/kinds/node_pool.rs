//! What of the nodes of a hosted cluster do decisions read, and what is decided about them? What is wanted, what was handed over, and what
//! all of them have (HOST-1); where nobody lets hand-overs begin here, what their controller says it would do.

use schedule::Instant;
use serde_json::Value;

use super::{
    CHANGE_FREEZE, CHANGE_GATE, CHANGE_GUARDRAIL, CHANGE_OVERRIDE, CLUSTER_CHANGE_FREEZE,
    CLUSTER_CHANGE_OVERRIDE, CONFIG_MAP, Concerns, Duty, Gated, HOSTED_CLUSTER, NAMESPACE, Row,
    Surroundings, advisory, release::basis,
};
use crate::{
    cluster::{
        decide::{handover, updates::Around},
        seen::{Own, Seen},
    },
    gate::{
        change::ChangeId,
        pending::{Began, Pending, UnderWay, Waiting},
        plan::Plan,
    },
    hosted::{
        Hosted,
        pool::{SeenNodePool, Target},
    },
    skew::Foresight,
};

/// Nodes of a hosted cluster.
pub static NODE_POOL: Row = Row::gated(
    api::kinds::NODE_POOL,
    Gated {
        pending,
        began,
        own: |document| Own::Hosted(Box::new(Hosted::Pool(SeenNodePool::new(document)))),
        ..Gated::PLAIN
    },
    Duty {
        // What their cluster says may hold them (D4-1).
        reads: &[
            &CHANGE_FREEZE,
            &CLUSTER_CHANGE_FREEZE,
            &CHANGE_OVERRIDE,
            &CLUSTER_CHANGE_OVERRIDE,
            &CHANGE_GUARDRAIL,
            &NAMESPACE,
            &HOSTED_CLUSTER,
        ],
        ..Duty::to(advisory)
    },
);

/// What is decided about them where hand-overs are let begin here.
pub(super) static STARTED: Duty = Duty {
    // The release of their control plane, and what they are made of; and nothing is handed over before its gate stands.
    reads: &[
        &CHANGE_FREEZE,
        &CLUSTER_CHANGE_FREEZE,
        &CHANGE_OVERRIDE,
        &CLUSTER_CHANGE_OVERRIDE,
        &NAMESPACE,
        &HOSTED_CLUSTER,
        &CONFIG_MAP,
        &CHANGE_GATE,
    ],
    concerns: Concerns::Told,
    rests_on: |seen, snapshot| snapshot.rests_on(seen),
    ..Duty::to(started)
};

fn started(seen: &Seen, around: &Surroundings<'_>, now: Instant) -> Plan {
    let Seen::Gated(pool) = seen else { return Plan::default() };
    let gate = around.snapshot.gate(pool);
    let around = Around {
        snapshot: around.snapshot,
        refusals: around.refusals,
        held_back: around.held_back,
        enforcement: around.enforcement,
        foresight: Foresight::default(),
    };
    handover::decided(pool, &gate, &around, now)
}

fn pending(document: &Value) -> Pending {
    let pool = SeenNodePool::new(document);
    if pool.pin.is_none() {
        return said(document);
    }
    let change = |target: &Target| {
        if target.release.version == pool.version || target.release.is_empty() {
            ChangeId::rendered(&target.config)
        } else {
            ChangeId::release(target.release.name())
        }
    };
    let waiting = pool.waiting().map(|wanted| match change(wanted) {
        ChangeId::Release(to) => {
            let now = Some(pool.version.clone()).filter(|now| !now.is_empty());
            Waiting::Release { to: to.to_string(), now, remarks: Vec::new() }
        }
        to => Waiting::Hosted { to: ChangeId::Revision, said: Some(to.to_string()) },
    });
    let begun = pool.under_way();
    let begun = begun.map(|mark| UnderWay { change: change(&mark.target), machines: None });
    Pending {
        waiting: waiting.into_iter().collect(),
        begun: begun.into_iter().collect(),
        ..Pending::default()
    }
}

/// The newest hand-over, as it was recorded.
fn began(document: &Value) -> Option<Began> {
    let mark = SeenNodePool::new(document).mark?;
    let at = mark.at?;
    let what = ChangeId::release(mark.target.release.name());
    Some(Began { what, at, basis: basis(document, api::names::ACCEPTED_CONFIG, at) })
}

/// The conditions that the controller of node pools computes before it looks at any pause.
fn said(document: &Value) -> Pending {
    let release = document.pointer("/spec/release/image").and_then(Value::as_str);
    let updates = [
        ("UpdatingVersion", ChangeId::release(release.unwrap_or_default())),
        ("UpdatingConfig", ChangeId::Revision),
        ("UpdatingPlatformMachineTemplate", ChangeId::Template),
    ];
    let conditions = document.pointer("/status/conditions").and_then(Value::as_array);
    let holds = |name: &str| {
        conditions.into_iter().flatten().find(|condition| {
            condition.get("type").and_then(Value::as_str) == Some(name)
                && condition.get("status").and_then(Value::as_str) == Some("True")
        })
    };
    let waiting = updates.into_iter().filter_map(|(name, to)| {
        let condition = holds(name)?;
        let said = condition.get("message").and_then(Value::as_str).filter(|said| !said.is_empty());
        Some(Waiting::Hosted { to, said: said.map(str::to_owned) })
    });
    Pending { waiting: waiting.collect(), ..Pending::default() }
}
