//! What is pending, why does it wait, and when will it start? One row for each resource and each policy: what `tidegate status` and a
//! console show.

use api::policy::{Behavior, Strategy};
use schedule::Instant;

use crate::{
    cluster::{
        decide::{outside, updates},
        seen::SeenGated,
        snapshot::Snapshot,
    },
    document::key::Key,
    gate::{
        Gate,
        change::ChangeId,
        enforced::Enforcement,
        pending::{Pending, Stop, Waiting},
    },
    hosted::project::Projected,
    policy::{behavior::as_recorded, seen::SeenPolicy, stanza::Form, strategy, verdict::Verdict},
};

/// A policy or a resource at an instant.
#[derive(Clone, Debug)]
pub struct Row {
    /// Which object.
    pub object: Key,
    /// Whether changes may be initiated.
    pub verdict: Verdict,
    /// The same for the state after the present one, if there is one.
    pub next: Option<Verdict>,
    /// How that is decided, as it is spelled in the object; none without a stanza.
    pub strategy: Option<&'static str>,
    /// The policy that a resource names.
    pub policy: Option<Key>,
    /// Whether a resource sets its policy aside.
    pub overridden: Overridden,
    /// The freeze that holds it, whatever it says itself; of several the one that lasts longest.
    pub frozen: Option<Key>,
    /// The override without which it would be shut; of several the one that lasts longest.
    pub opened: Option<Key>,
    /// The present state and the next one.
    pub behavior: Behavior,
    /// What would be initiated; nothing for a policy.
    pub pending: Pending,
    /// Why an update that waits would not start if the gate were open (CV-4).
    pub unmet: Option<String>,
    /// Whether anything refuses what the gate holds, where a controller said so (GATE-13).
    pub enforced: Option<Enforcement>,
    /// What the status of a gate on what others own says about that.
    pub kept: Option<String>,
    /// What the server does otherwise than is said here, because nobody has written it into the status of the gate yet (RCH-2).
    pub differs: Option<String>,
    /// When the newest change began, if the gate was shut then (GATE-13).
    pub outside: Option<Instant>,
}

/// Whether a resource sets its policy aside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overridden {
    /// It does.
    Yes,
    /// It does not.
    No,
}

/// The row of a resource.
pub fn resource(snapshot: &Snapshot, seen: &SeenGated, at: Instant) -> Row {
    if let Some(projected) = seen.projected.as_deref() {
        return self::projected(seen, projected, at);
    }
    let gate = snapshot.gate(seen);
    let behavior = snapshot.behavior(seen, at);
    Row {
        object: seen.identity.key.clone(),
        verdict: gate.verdict(at),
        next: next(&behavior, |at| gate.verdict(at)),
        strategy: form_name(&gate),
        policy: gate.named().cloned(),
        overridden: if gate.overrides(at) { Overridden::Yes } else { Overridden::No },
        frozen: gate.freeze_at(at).map(|freeze| freeze.key.clone()),
        opened: gate.override_at(at).map(|overriding| overriding.key.clone()),
        behavior,
        pending: seen.pending.clone(),
        unmet: Some(updates::stops(snapshot, seen))
            .filter(|unmet| !unmet.is_empty())
            .map(|unmet| Stop::Unmet(unmet).to_string()),
        enforced: seen.enforcement(),
        kept: seen.said_of_enforcement().map(str::to_owned),
        differs: differs(seen, &gate, at),
        outside: outside::recorded(seen),
    }
}

/// The row of the control plane inside a hosted cluster: as it stands outside, what waits for its nodes included (HOST-2).
fn projected(seen: &SeenGated, projected: &Projected, at: Instant) -> Row {
    let behavior = projected.behavior();
    let waiting = projected.gates.iter().filter_map(|gate| {
        let waits = gate.waits.as_ref()?;
        let whose = format!("{}/{}", gate.kind, gate.name);
        Some(if waits.to.is_empty() {
            Waiting::Hosted { to: ChangeId::Revision, said: Some(whose) }
        } else {
            let now = Some(waits.now.clone()).filter(|now| !now.is_empty());
            Waiting::Release { to: format!("{} of {whose}", waits.to), now, remarks: Vec::new() }
        })
    });
    Row {
        object: seen.identity.key.clone(),
        verdict: projected.verdict(at).0,
        next: next(&behavior, |at| projected.verdict(at).0),
        strategy: Some("Projected"),
        policy: None,
        overridden: Overridden::No,
        frozen: None,
        opened: None,
        behavior,
        pending: Pending { waiting: waiting.collect(), ..Pending::default() },
        unmet: None,
        enforced: None,
        kept: None,
        differs: None,
        outside: None,
    }
}

/// What the server does otherwise than specifications come to: of a gate on what others own it reads the status alone, and until the operator
/// has written what was edited it goes by what stands there. Of files nobody has asked a server.
fn differs(seen: &SeenGated, gate: &Gate, at: Instant) -> Option<String> {
    let known = seen.gate.as_deref().filter(|_| !seen.identity.resource_version.is_empty())?;
    let until = known.ahead.as_ref().and_then(|ahead| ahead.computed_until);
    // Until then the windows are written anew many times.
    if until.is_some_and(|until| at >= until) {
        return None;
    }
    let meant = gate.own_doubt_at(at).is_none() && gate.own_set().stretch(at).inside;
    let when =
        |edge: Option<Instant>| edge.map_or_else(String::new, |edge| format!(" until {edge}"));
    let does = match (seen.window_of_the_server(at), meant) {
        (Some((_, end)), false) => format!("still lets changes start{}", when(end)),
        (None, true) => format!("still holds changes{}", when(known.next_window(at))),
        (Some(_), true) | (None, false) => return None,
    };
    Some(format!(
        "the API server {does}, by the windows in its status: the operator has not written what was changed since"
    ))
}

fn form_name(gate: &Gate) -> Option<&'static str> {
    match gate.form() {
        Form::NoStanza | Form::Unusable => None,
        Form::ByPolicy => Some("ByPolicy"),
        Form::Permissive => Some("Permissive"),
        Form::Restrictive => Some("Restrictive"),
        Form::PermissiveUntil(_) => Some("PermissiveUntil"),
        Form::RestrictiveUntil(_) => Some("RestrictiveUntil"),
        Form::Version => Some("VersionManagement"),
    }
}

/// The row of a policy.
pub fn policy(seen: &SeenPolicy, at: Instant) -> Row {
    let usable = seen.judged.policy.as_ref();
    let set = seen.set();
    let strategy = usable.map_or(Strategy::Restrictive, |policy| policy.lowered.strategy);
    let known = seen.status.behavior.as_ref();
    let behavior = as_recorded(&set, &|at| seen.reason(at), known, strategy, at);
    Row {
        object: seen.identity.key.clone(),
        verdict: seen.verdict(at),
        next: next(&behavior, |at| seen.verdict(at)),
        strategy: usable
            .and_then(|policy| strategy::row(policy.lowered.strategy))
            .map(|row| row.name),
        policy: None,
        overridden: Overridden::No,
        frozen: None,
        opened: None,
        behavior,
        pending: Pending::default(),
        unmet: None,
        enforced: None,
        kept: None,
        differs: None,
        outside: None,
    }
}

/// What is said about the beginning of the next state.
fn next(behavior: &Behavior, verdict: impl Fn(Instant) -> Verdict) -> Option<Verdict> {
    let start = behavior.next.as_ref()?.start_time.as_deref()?;
    Instant::parse(start).ok().map(verdict)
}

#[cfg(test)]
mod tests;
