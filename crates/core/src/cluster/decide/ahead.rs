//! Will pools stand in the way of the update that is wished for? Told with the day, once it is known and when it moves (CV-3).
//!
//! The condition is the memory: its message begins with the instant at which the update would start, so that a restart tells nothing twice
//! (STAT-3), the metric needs no forecast, and what stays as it was is written zero times (POL-7).

use api::{
    meta::{Condition, ConditionStatus},
    names,
};
use schedule::Instant;

use super::made;
use crate::{
    cluster::seen::SeenGated,
    gate::note::{Note, Weight},
    skew::{Ahead, Foreseen},
};

/// How far a day may move without anybody being told again, in seconds. Nodes that finish a little sooner or later move it by minutes.
const A_DAY: u64 = 86_400;

/// What its status says of the update that is wished for: when it would start and find kubelets that are too old, or that nothing like that
/// is ahead; none if it says nothing.
pub fn recorded(seen: &SeenGated) -> Option<Option<Instant>> {
    let condition = seen.conditions.get(names::SKEW_AHEAD)?;
    let at = condition.message.as_deref().and_then(|said| said.split_once(' '));
    let at = at.and_then(|(at, _)| Instant::parse(at).ok());
    Some(at.filter(|_| condition.status == ConditionStatus::True))
}

/// The condition as it should read; none if it should stay as it is.
pub(super) fn condition(seen: &SeenGated, now: Instant) -> Option<Condition> {
    let said = match &seen.pending.foreseen {
        Foreseen::NotAsked => return None,
        Foreseen::Clear => {
            // A healthy control plane looks as others leave it.
            recorded(seen)?;
            let message = "no pool will be in the way of the update that is wished for";
            (ConditionStatus::False, names::AS_EXPECTED, Some(message.to_owned()))
        }
        // What is so already stays as it was first told (POL-7): ChangesPending names who is in the way now.
        Foreseen::Blocked(Ahead { at, .. })
            if *at <= now && recorded(seen).flatten().is_some_and(|told| told <= now) =>
        {
            return seen.conditions.get(names::SKEW_AHEAD).cloned();
        }
        Foreseen::Blocked(Ahead { at, said }) => (
            ConditionStatus::True,
            names::KUBELETS_TOO_OLD,
            Some(format!("{at} is the day: {said}")),
        ),
    };
    Some(made(names::SKEW_AHEAD, said, None, seen.conditions.ours(), now))
}

/// The event of a day that has not been told yet, or has moved by more than a day.
pub(super) fn note(seen: &SeenGated, found: &Condition) -> Option<Note> {
    let Foreseen::Blocked(Ahead { at, .. }) = &seen.pending.foreseen else { return None };
    if seen.conditions.get(names::SKEW_AHEAD) == Some(found) {
        return None;
    }
    let told = recorded(seen).flatten();
    let moved = |told: Instant| told.unix().abs_diff(at.unix()) > A_DAY;
    told.is_none_or(moved).then(|| Note {
        weight: Weight::Warning,
        reason: names::SKEW_AHEAD,
        message: found.message.clone().unwrap_or_default(),
    })
}

#[cfg(test)]
mod tests;
