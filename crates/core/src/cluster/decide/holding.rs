//! What does a gate hold, and what of it waits? What the status of a gate tells beside its windows (RCH-1, RCH-6, RCH-12).
//!
//! While the gate is open only what was refused before waits: everything else is about to begin by itself. A gate that warns or audits holds
//! nothing, so nothing waits for it.

use std::sync::Arc;

use api::{
    machine::names::MASTER,
    reach::{HoldStatus, MOST_PENDING, Mode, PendingChange, Way},
    schema::Kind,
};
use schedule::Instant;

use super::begun;
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
        // A freeze may hold this room alone; where it holds with others all that the gate does, the gate itself says so.
        let frozen = gate.share_at(room.name_of(), now);
        let is_open = is_open && frozen.is_none();
        let (mut status, waiting) = counted((seen, known, hold), room, around, is_open);
        if let (None, Some(freeze)) = (&status.message, frozen) {
            status.message = Some(freeze.sentence().chars().take(1024).collect());
        }
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
        let room = rooms::known().find(|room| room.name_of() == hold.what)?;
        let of_room = |change: &&PendingChange| room.tells_of(&change.kind, &change.name);
        let named =
            told.pending.iter().filter(of_room).map(|change| match change.namespace.as_deref() {
                Some(namespace) if own != Some(namespace) => format!("{namespace}/{}", change.name),
                _ => change.name.clone(),
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
    if matches!(known.mode, Mode::Warn | Mode::Audit) {
        return (status, Vec::new());
    }
    // GATE-10: what no gate could hold is told by those that would have.
    let riding = selected.iter().find_map(|seen| riding(seen));
    let follows = masters((room, around), is_open).filter(|_| !selected.is_empty());
    if hold.way != Way::Queue {
        // Whoever asks for an update is refused and sends it again; its nodes wait all the same.
        status.message = riding;
        status.pending = follows.as_ref().map(|follows| count(follows.len()));
        return (status, follows.unwrap_or_default());
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
        Some(format!("{} would not start in a window: {why}", seen.identity.key))
    });
    let said: Vec<String> = status.message.take().into_iter().chain(riding).collect();
    status.message = (!said.is_empty()).then(|| said.join("; ").chars().take(1024).collect());
    let waits = selected.into_iter().filter(|seen| !is_open || unmet(seen).is_some());
    let waits = waits.filter_map(|seen| told_of(kind, seen));
    let waits: Vec<PendingChange> = waits.chain(follows.into_iter().flatten()).collect();
    status.pending = Some(count(waits.len()));
    (status, waits)
}

/// What waits of an object that is looked at anyway; none if nothing does.
fn told_of(kind: &Kind, seen: &SeenGated) -> Option<PendingChange> {
    let change = words::joined(&seen.pending.waiting);
    (!seen.pending.waiting.is_empty()).then(|| PendingChange {
        kind: kind.name.to_owned(),
        namespace: None,
        name: seen.identity.key.name.to_string(),
        since: None,
        change: Some(change.chars().take(1024).collect()),
    })
}

/// What waits of the nodes of a stock control plane, which what holds its updates holds too (CV-2); none where that holds no nodes. While an
/// update has begun they wait for nobody (GATE-10).
fn masters(
    (room, around): (&Room, &Surroundings<'_>),
    is_open: bool,
) -> Option<Vec<PendingChange>> {
    let version = around.snapshot.control_plane().filter(|version| is_stock(version))?;
    let pools = rooms::MASTERS.gated.filter(|_| room.what == rooms::UPDATES.what)?;
    let has_begun = version.update.as_deref().is_some_and(|update| update.record.is_some());
    let pool = around.snapshot.resource(&Key::new(pools, None, MASTER));
    let waits = pool.filter(|_| !is_open && !has_begun).and_then(|pool| told_of(pools, pool));
    Some(waits.into_iter().collect())
}

/// What rides along with an update of a stock control plane, in a sentence; none if nothing does (GATE-10).
fn riding(seen: &SeenGated) -> Option<String> {
    let record = seen.update.as_deref().filter(|_| is_stock(seen))?.record.as_ref()?;
    let listed = Some(begun::listed(record)).filter(|listed| !listed.is_empty())?;
    Some(format!(
        "rides along with release {}, because people wrote it for the nodes of the control plane after that began: {listed}",
        record.release
    ))
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
