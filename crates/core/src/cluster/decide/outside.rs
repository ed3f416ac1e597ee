//! Did the newest change begin while its gate was shut? Told once, whoever began it (GATE-13).
//!
//! Decided from what is recorded alone: the instant that whoever began it wrote down, and the stretches in the status, which say what
//! the gate was then and not what it is now. The condition is the memory, so that a restart tells nothing twice (STAT-3).
//!
//! What began by a permit began by the gate, whatever the stretches say: an override for one release opens the gate for that release alone,
//! and nothing of it is left to read there once the release has begun (GATE-10, OVR-2).

use api::{
    meta::{Condition, ConditionStatus},
    names,
    policy::{Behavior, State},
};
use schedule::Instant;

use crate::{
    cluster::seen::{SeenGated, SeenMachine},
    document::conditions::Conditions,
    gate::{
        note::{Note, Weight},
        pending::Began,
    },
    policy::{stanza::StanzaReading, verdict::Verdict},
    pool::seen::SeenPool,
};

/// When the newest change of a resource began, if its status says that the gate was shut then.
pub fn recorded(seen: &SeenGated) -> Option<Instant> {
    let condition = seen.conditions.get(names::INITIATED_OUTSIDE_WINDOW)?;
    let began = condition.last_transition_time.as_deref();
    began
        .filter(|_| condition.status == ConditionStatus::True)
        .and_then(|at| Instant::parse(at).ok())
}

/// What the gate of a resource was at an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judged {
    /// It held changes.
    Shut,
    /// It permitted them, or nobody knows.
    Open,
    /// The status has not come that far.
    NotYet,
}

/// What the gate of a resource was when something began that nobody left a permit for, by its status alone: told before the condition is
/// written as after it, and by the same stretches.
pub fn judged(seen: &SeenGated, at: Instant) -> Judged {
    if recorded(seen) == Some(at) {
        return Judged::Shut;
    }
    let Some(behavior) = &seen.behavior else {
        return if seen.stanza.reading == StanzaReading::Absent {
            Judged::Open
        } else {
            Judged::NotYet
        };
    };
    let end = behavior.current.end_time.as_deref().and_then(|end| Instant::parse(end).ok());
    match state_at(behavior, at) {
        _ if end.is_some_and(|end| end <= at) => Judged::NotYet,
        Some(State::ChangesPaused) => Judged::Shut,
        Some(State::ChangesUnpaused) | None => Judged::Open,
    }
}

/// The condition as it should read; none if it should stay as it is.
pub(super) fn condition(seen: &SeenGated, behavior: &Behavior, now: Instant) -> Option<Condition> {
    // Of an instant that is still ahead nobody knows what the gate was: another clock wrote it.
    let Began { what, at, basis } = seen.began.as_ref().filter(|began| began.at <= now)?;
    let known = seen.conditions.get(names::INITIATED_OUTSIDE_WINDOW);
    let state = match basis {
        Some(_) => State::ChangesUnpaused,
        None => state_at(behavior, *at)?,
    };
    let (status, reason, message) = match state {
        State::ChangesPaused => (
            ConditionStatus::True,
            names::GATE_SHUT,
            format!("{what} began at {at}, while changes were held"),
        ),
        // A healthy resource looks as others leave it.
        State::ChangesUnpaused => {
            known?;
            let by = match basis {
                Some(basis) => format!("by a permit; basis: {basis}"),
                None => "while changes were permitted".to_owned(),
            };
            let message = format!("{what} began at {at}, {by}");
            (ConditionStatus::False, names::AS_EXPECTED, message)
        }
    };
    // What it tells became so when the change began, and not when somebody looked.
    Some(told((status, reason, message), at.to_string()))
}

/// The same where nodes are rolled out here: those that were told to go without a permit while the gate was shut.
pub(super) fn of_machines(
    seen: &SeenGated,
    unrecorded: &[String],
    verdict: Verdict,
    now: Instant,
) -> Option<Condition> {
    const SHOWN: usize = 5;
    let known = seen.conditions.get(names::INITIATED_OUTSIDE_WINDOW);
    let before = known.filter(|known| known.status == ConditionStatus::True);
    let (status, reason, message) = match (unrecorded, verdict) {
        ([], _) => {
            before?;
            let message = "every node that goes was permitted to".to_owned();
            (ConditionStatus::False, names::AS_EXPECTED, message)
        }
        (_, Verdict::Permitted) => return None,
        (machines, Verdict::Held | Verdict::CannotTell) => {
            let mut who = machines.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(", ");
            if machines.len() > SHOWN {
                who = format!("{who} and {} more", machines.len() - SHOWN);
            }
            let message = format!("told to go without a permit, while changes were held: {who}");
            (ConditionStatus::True, names::GATE_SHUT, message)
        }
    };
    let same = before.filter(|before| before.message.as_ref() == Some(&message));
    let since = same.and_then(|same| same.last_transition_time.clone());
    Some(told((status, reason, message), since.unwrap_or_else(|| now.to_string())))
}

fn told(
    (status, reason, message): (ConditionStatus, &'static str, String),
    since: String,
) -> Condition {
    Condition {
        kind: names::INITIATED_OUTSIDE_WINDOW.to_owned(),
        status,
        reason: reason.to_owned(),
        message: Some(message),
        observed_generation: None,
        last_transition_time: Some(since),
    }
}

/// The nodes of a pool that were told to go somewhere by a write that left no record beside it (GATE-10): whoever made it did not
/// ask the gate. Those that the ledger names were begun by a version that wrote no records.
pub fn unrecorded<'a>(
    pool: &SeenPool,
    machines: impl IntoIterator<Item = &'a SeenMachine>,
) -> Vec<String> {
    let machines = machines.into_iter().filter(|SeenMachine { node, drain }| {
        let noted = pool.ledger.get(&node.name).is_some_and(|entry| entry.config == node.desired);
        let goes = !node.current.is_empty() && node.current != node.desired;
        goes && drain.begun != node.desired && !noted
    });
    machines
        .map(|machine| format!("Node/{} to {}", machine.node.name, machine.node.desired))
        .collect()
}

/// The event of a change that has not been told yet.
pub(super) fn note(known: &Conditions, found: &Condition) -> Option<Note> {
    let news = known.get(&found.kind).is_none_or(|known| known.message != found.message);
    (news && found.status == ConditionStatus::True).then(|| Note {
        weight: Weight::Warning,
        reason: names::INITIATED_OUTSIDE_WINDOW,
        message: found.message.clone().unwrap_or_default(),
    })
}

/// What the gate was at an instant, as far as that is recorded.
fn state_at(behavior: &Behavior, at: Instant) -> Option<State> {
    let instant = |text: &str| Instant::parse(text).ok();
    let current = &behavior.current;
    if current.start_time.as_deref().and_then(instant)? <= at {
        return Some(current.state);
    }
    let past = behavior.history.iter().find(|past| {
        let start = past.start_time.as_deref().and_then(instant);
        start.is_some_and(|start| start <= at)
            && instant(&past.end_time).is_some_and(|end| at < end)
    });
    past.map(|past| past.state)
}

#[cfg(test)]
mod tests;
