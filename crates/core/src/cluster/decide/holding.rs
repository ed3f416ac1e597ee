//! What does a gate hold, and what of it waits? What the status of a gate tells beside its windows (RCH-1, RCH-6, RCH-12).
//!
//! While the gate is open only what was refused before waits: everything else is about to begin by itself. A gate that warns or audits holds
//! nothing, so nothing waits for it.

use std::sync::Arc;

use api::{
    reach::{HoldStatus, MOST_PENDING, Mode, PendingChange, Way},
    schema::Kind,
};
use schedule::Instant;

use crate::{
    cluster::{
        seen::SeenGated,
        surroundings::{Listed, Surroundings},
    },
    document::{key::Key, problem::problem_text},
    gate::{
        Gate,
        pending::{Course, Stop, Waiting},
        proof, words,
    },
    policy::verdict::Verdict,
    reach::{
        held::{Target, held_by, is_chosen},
        rooms::{self, Room, Waits},
        seen::{Held, SeenGate, Told},
        selector::{Labels, Selects},
        target::SeenTarget,
    },
    release::of::Of,
};

/// What was found of what a gate holds; nothing while some of it has not been listed, so that a restart writes nothing (STAT-3).
pub fn found(
    seen: &SeenGated,
    gate: &Gate,
    around: &Surroundings<'_>,
    now: Instant,
) -> Option<Told> {
    let (known, listed) = (seen.gate.as_deref()?, around.listed?);
    let is_open = gate.verdict(now) == Verdict::Permitted;
    let mut told = Told::default();
    for hold in &known.chosen {
        let Some(room) = rooms::room(hold.room) else { continue };
        if room.kinds().chain(room.gated).any(|kind| listed(kind) == Listed::Unknown) {
            return None;
        }
        let (status, waiting) = counted((seen, known, hold), room, around, is_open);
        told.targets = sum(told.targets, status.targets);
        told.pending_count = sum(told.pending_count, status.pending);
        let left = MOST_PENDING.saturating_sub(told.pending.len());
        told.pending.extend(waiting.into_iter().take(left));
        if room.kinds().chain(room.gated).any(|kind| listed(kind) == Listed::Refused) {
            told.untold = told.untold.or_else(|| status.message.clone());
        }
        told.holds.push(status);
    }
    Some(told)
}

/// What waits, as it is told, for each room that has any. `own` is the namespace of the gate, if it has one.
pub fn waiting(told: &Told, own: Option<&str>) -> Vec<Waiting> {
    let of = |hold: &HoldStatus| {
        let count = hold.pending.filter(|count| *count > 0)?;
        let room = rooms::ROOMS.iter().find(|room| room.name_of() == hold.what)?;
        let kind = room.gated.or(room.targets.map(|targets| targets.kind))?.name;
        let named = told.pending.iter().filter(|change| change.kind == kind).map(|change| {
            match change.namespace.as_deref() {
                Some(namespace) if own != Some(namespace) => format!("{namespace}/{}", change.name),
                _ => change.name.clone(),
            }
        });
        Some(Waiting::Reached { what: hold.what.clone(), names: named.collect(), count })
    };
    told.holds.iter().filter_map(of).collect()
}

fn counted(
    (seen, known, hold): (&SeenGated, &SeenGate, &Held),
    room: &'static Room,
    around: &Surroundings<'_>,
    is_open: bool,
) -> (HoldStatus, Vec<PendingChange>) {
    let what = room.name_of().to_owned();
    let before = known.told.holds.iter().find(|before| before.what == what);
    let proven = before.and_then(|before| before.proven.as_deref());
    let proven = proof::proven(room, seen.kind, around.proofs, proven);
    let mut status = HoldStatus { what, targets: None, pending: None, proven, message: None };
    if let Some(kind) = room.gated {
        return counted_anyway((known, hold), (room, kind), around, (status, is_open));
    }
    let Some(targets) = room.targets else { return (status, Vec::new()) };
    status.message = room.kinds().find_map(|kind| missing(kind, around));
    if status.message.is_some() {
        return (status, Vec::new());
    }
    let own = seen.identity.key.namespace.as_deref();
    let selected = around.snapshot.targets(targets.kind, own).filter(|(key, target)| {
        let asked = Target { room, name: &key.name, labels: &target.labels };
        let place = around.snapshot.place(key, around.home);
        held_by(known, own, &asked, &place).0 == Selects::Yes
    });
    let selected: Vec<(&Key, &SeenTarget)> = selected.collect();
    status.targets = Some(count(selected.len()));
    let queues = targets.waits == Waits::Told && hold.way == Way::Queue;
    if !queues || matches!(known.mode, Mode::Warn | Mode::Audit) {
        return (status, Vec::new());
    }
    let waits = selected.into_iter().filter(|(_, target)| !is_open || target.refused.is_some());
    let waits = waits.filter_map(|(key, _)| Some((key, around.snapshot.waiting(key)?)));
    let waits: Vec<(&Key, &PendingChange)> = waits.collect();
    status.pending = Some(count(waits.len()));
    let refused = waits.iter().find_map(|(key, _)| around.refusals.get(*key));
    status.message = refused.map(|refused| {
        format!(
            "nobody touches what waits, because the API server did not let the operator: {}",
            refused.said
        )
    });
    (status, waits.into_iter().map(|(_, change)| change.clone()).collect())
}

/// What a gate holds of kinds that may carry a stanza of ours, and are looked at anyway. What waits there is what would begin without any
/// gate (POOL-6).
fn counted_anyway(
    (known, hold): (&SeenGate, &Held),
    (room, kind): (&'static Room, &'static Kind),
    around: &Surroundings<'_>,
    (mut status, is_open): (HoldStatus, bool),
) -> (HoldStatus, Vec<PendingChange>) {
    status.message = missing(kind, around);
    if status.message.is_some() {
        return (status, Vec::new());
    }
    let none = Labels::new();
    let all = around.snapshot.of_kind(kind).filter_map(|(key, _)| around.snapshot.resource(key));
    let selected = all.filter(|seen| {
        let asked = Target { room, name: &seen.identity.key.name, labels: &none };
        is_chosen(hold.names.as_deref(), None, &asked) && known.everywhere
    });
    let selected: Vec<&Arc<SeenGated>> = selected.collect();
    status.targets = Some(count(selected.len()));
    if hold.way != Way::Queue || matches!(known.mode, Mode::Warn | Mode::Audit) {
        return (status, Vec::new());
    }
    // What would not start if the gate were open is told whatever the gate says: people mend it before the window (CV-4).
    let unmet = |seen: &SeenGated| match &seen.pending.course {
        Course::Stopped(Stop::Unmet(problems)) if is_stock(seen) => Some(problem_text(problems)),
        Course::Gate | Course::Anyway(_) | Course::Stopped(_) => None,
    };
    status.message = selected.iter().find_map(|seen| {
        let refused = around.refusals.get(&seen.identity.key).filter(|_| is_stock(seen));
        let refused = refused.map(|refused| format!("the API server refuses it: {}", refused.said));
        let why = unmet(seen).or(refused)?;
        let said = format!("{} would not start in a window: {why}", seen.identity.key);
        Some(said.chars().take(1024).collect())
    });
    let waits = selected.into_iter().filter(|seen| !is_open || unmet(seen).is_some());
    let waits = waits.filter_map(|seen| {
        let change = words::joined(&seen.pending.waiting);
        (!seen.pending.waiting.is_empty()).then(|| PendingChange {
            kind: kind.name.to_owned(),
            namespace: None,
            name: seen.identity.key.name.to_string(),
            since: None,
            change: Some(change.chars().take(1024).collect()),
        })
    });
    let waits: Vec<PendingChange> = waits.collect();
    status.pending = Some(count(waits.len()));
    (status, waits)
}

/// Whether it is a control plane whose updates begin by the write that the gate holds.
fn is_stock(seen: &SeenGated) -> bool {
    seen.plane().is_some_and(|plane| plane.of == Of::Stock)
}

/// Why nothing of a kind is counted.
fn missing(kind: &Kind, around: &Surroundings<'_>) -> Option<String> {
    match (around.listed?)(kind) {
        Listed::Known | Listed::Unknown => None,
        Listed::Absent => {
            Some(format!("the API server has no kind {} in {}", kind.name, kind.api_version))
        }
        Listed::Refused => Some(format!(
            "the API server does not let the operator list {}: nothing is counted, and nobody touches what waits",
            kind.name
        )),
    }
}

fn count(length: usize) -> i64 {
    i64::try_from(length).unwrap_or(i64::MAX)
}

fn sum(one: Option<i64>, other: Option<i64>) -> Option<i64> {
    one.map_or(other, |one| Some(one.saturating_add(other.unwrap_or_default())))
}

#[cfg(test)]
mod tests;
