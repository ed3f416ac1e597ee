//! What of a pool of nodes do decisions read, and what is decided about one?
//!
//! Where others roll configurations out, its status tells what its gate says. Where we do, nodes are begun, and the view of the pool that
//! a snapshot gives is joined with what this replica knows of itself.
//!
//! LIVE-2: a plan wakes when its gate next changes, so that what waits starts when its window opens.

use api::machine::names::LEDGER;
use schedule::Instant;
use serde_json::Value;

use super::{
    CLUSTER_CHANGE_FREEZE, CLUSTER_CHANGE_OVERRIDE, CLUSTER_VERSION, Concerns, Duty, Gated,
    MACHINE_CONFIG, NODE, Row, Surroundings, advisory,
};
use crate::{
    cluster::{
        decide::{self, outside},
        seen::{Own, Seen, SeenGated},
    },
    gate::{
        Gate,
        change::ChangeId,
        pending::{Began, Differences, Machines, Pending, UnderWay, Waiting},
        plan::Plan,
    },
    pool::{
        self, PoolPlan, PoolView, ledger::Ledger, merge::Base, seen::SeenPool,
        seen_status::UPDATING,
    },
};

/// A pool of nodes with one configuration.
pub static MACHINE_CONFIG_POOL: Row = Row {
    managed: Some(Duty {
        // What the control plane does decides about its nodes, and pools wait for each other; a freeze stops them all, and an override opens one.
        reads: &[
            &MACHINE_CONFIG,
            &NODE,
            &CLUSTER_VERSION,
            &MACHINE_CONFIG_POOL,
            &CLUSTER_CHANGE_FREEZE,
            &CLUSTER_CHANGE_OVERRIDE,
        ],
        concerns: Concerns::Told,
        decide: rolled_out,
        rests_on: |seen, snapshot| snapshot.rests_on(seen),
    }),
    ..Row::gated(
        api::kinds::MACHINE_CONFIG_POOL,
        Gated {
            pending,
            began: updating,
            own: |document| Own::Pool(Box::new(SeenPool::new(document))),
            ..Gated::PLAIN
        },
        // What the control plane may do, its nodes may (CV-2).
        Duty {
            reads: &[&CLUSTER_VERSION, &CLUSTER_CHANGE_FREEZE, &CLUSTER_CHANGE_OVERRIDE],
            concerns: Concerns::Told,
            ..Duty::to(advisory)
        },
    )
};

fn rolled_out(seen: &Seen, around: &Surroundings<'_>, now: Instant) -> Plan {
    let Seen::Gated(gated) = seen else { return Plan::default() };
    if let Some(follow) = around.snapshot.follow(gated) {
        return Plan { actions: vec![follow], ..Plan::default() };
    }
    if let Some(paused) = around.snapshot.paused_again(gated) {
        return Plan { actions: vec![paused], ..Plan::default() };
    }
    let gate = around.snapshot.gate(gated);
    let kept = gated.kept(around.enforcement);
    match planned(gated, &gate, around, now) {
        Some(mut planned) => {
            planned.enforcement = kept;
            planned.unrecorded = gated.pool.as_deref().map_or_else(Vec::new, |pool| {
                outside::unrecorded(pool, around.snapshot.machines_of(&pool.name))
            });
            decide::pool(gated, planned, &gate, now)
        }
        None => decide::gated(gated, &gate, kept, now),
    }
}

/// What is to be done about the nodes of a pool; none if the resource is no pool.
pub fn planned(
    gated: &SeenGated,
    gate: &Gate,
    around: &Surroundings<'_>,
    now: Instant,
) -> Option<PoolPlan> {
    let pool = gated.pool.as_deref()?;
    let base = base();
    let rendering = around.rendering(pool, &base);
    let view = PoolView {
        operator_node: around.host,
        refusals: around.refusals,
        held_back: around.held_back,
        seconds_ahead: around.seconds_ahead,
        ..around.snapshot.view(pool, &rendering, &base)
    };
    Some(pool::decide(&view, gate, now))
}

/// There is no release here: what nodes hold is what people configured, and nothing below it.
fn base() -> Base {
    Base { controller_version: env!("CARGO_PKG_VERSION").into(), ..Base::default() }
}

/// The rendered configuration moves while a pool is held; nodes that do not have it yet are what waits.
fn pending(document: &Value) -> Pending {
    let text = |path: &str| document.pointer(path).and_then(Value::as_str).unwrap_or_default();
    let count = |path: &str| document.pointer(path).and_then(Value::as_i64).unwrap_or(0);
    let target = text("/spec/configuration/name");
    let reached = text("/status/configuration/name");
    let (machines, updated) = (count("/status/machineCount"), count("/status/updatedMachineCount"));
    let chosen = text("/spec/machineConfig/name");
    let (mut waiting, mut begun) = (Vec::new(), Vec::new());
    if !chosen.is_empty() && chosen != target && !target.is_empty() && machines > 0 {
        // The counts are about what was chosen, and say nothing about the newest.
        let to = ChangeId::rendered(target);
        waiting.push(Waiting::Pinned { to, chosen: chosen.to_owned() });
    } else if !target.is_empty() && machines > 0 && (target != reached || updated < machines) {
        // The count belongs to the target only once the pool's controller has seen it. A pool whose nodes all have the target
        // may still not have reached it, because one of them takes no workloads.
        let counted = count("/metadata/generation") <= count("/status/observedGeneration");
        let lacking = match machines - updated.min(machines) {
            0 if !counted => machines,
            lacking => lacking,
        };
        let going = under_way_to(document, target).min(lacking);
        if going > 0 {
            let machines = Some(Machines { count: going, of: machines });
            begun.push(UnderWay { change: ChangeId::rendered(target), machines });
        }
        if going < lacking {
            waiting.push(Waiting::Machines {
                to: ChangeId::rendered(target),
                machines: Machines { count: lacking - going, of: machines },
                differences: Differences::default(),
            });
        }
    }
    Pending { waiting, begun, ..Pending::default() }
}

/// How many nodes a pool has begun with a configuration, where its ledger says so.
fn under_way_to(document: &Value, config: &str) -> i64 {
    let noted = document.pointer("/metadata/annotations");
    let ledger = noted.and_then(|noted| noted.get(LEDGER)).and_then(Value::as_str);
    let ledger = Ledger::read(ledger.unwrap_or_default()).unwrap_or_default();
    ledger.iter().filter(|(_, entry)| entry.config == config).map(|_| 1).sum()
}

/// Where others roll a pool out, its condition `Updating` says since when.
fn updating(document: &Value) -> Option<Began> {
    let conditions = document.pointer("/status/conditions")?.as_array()?;
    let text = |condition: &Value, field: &str| {
        condition.get(field).and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    let updating = conditions.iter().find(|condition| {
        text(condition, "type") == UPDATING && text(condition, "status") == "True"
    })?;
    let target = document.pointer("/spec/configuration/name").and_then(Value::as_str)?;
    Some(Began {
        what: ChangeId::rendered(target),
        at: Instant::parse(&text(updating, "lastTransitionTime")).ok()?,
        basis: None,
    })
}
