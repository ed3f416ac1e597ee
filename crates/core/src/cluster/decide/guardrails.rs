//! What follows from what the guardrails say of a policy? (GRD-4 to GRD-6)
//!
//! What was there before a guardrail came is told of, and goes on. Whether something was is what the status says that was written of it: a
//! policy that was ready in this very generation was there. A stamp that its author could forge is not asked (GRD-5); one that nobody has
//! looked at yet was there only if it was never edited and the server created it before the guardrail.

use api::{
    guardrail::GuardrailMode,
    meta::{Condition, ConditionStatus},
    names,
    policy::PolicyStatus,
};
use schedule::Instant;

use super::{Said, condition};
use crate::{
    cluster::snapshot::Judgement,
    gate::note::{Note, Weight},
    policy::{guardrail::Breach, seen::SeenPolicy},
};

/// The demand for which a policy is not ready: it is enforced, and the policy was edited after it came.
pub(super) fn refused<'a>(seen: &SeenPolicy, judgement: &'a Judgement) -> Option<&'a Breach> {
    let ready = condition(&seen.status.conditions, names::READY);
    let known = ready.filter(|ready| ready.observed_generation == Some(seen.identity.generation));
    if known.is_some_and(|ready| ready.status == ConditionStatus::True) {
        return None;
    }
    let untouched = known.is_none() && seen.identity.generation <= 1;
    let earlier = |created: Option<Instant>| {
        untouched && seen.created.zip(created).is_some_and(|(policy, guardrail)| policy < guardrail)
    };
    let enforced = judgement
        .breaches
        .iter()
        .filter(|(breach, created)| breach.mode == GuardrailMode::Enforce && !earlier(*created));
    enforced.map(|(breach, _)| breach).next()
}

/// What a policy that is refused says of itself, and of those who name it.
pub(super) fn closes(breach: &Breach) -> String {
    format!(
        "{breach}; every gate that goes by this policy is shut until it meets that, or the edit is taken back"
    )
}

/// The condition of a policy; none while no guardrail selects it.
pub(super) fn met(judgement: &Judgement) -> Option<Said> {
    let breaches = &judgement.breaches;
    let Some((first, _)) = breaches.first() else {
        let message = match judgement.selecting {
            0 => return None,
            1 => "the guardrail that selects it is met".to_owned(),
            several => format!("the {several} guardrails that select it are met"),
        };
        return Some((ConditionStatus::True, names::AS_EXPECTED, Some(message)));
    };
    let said: Vec<String> = breaches.iter().map(|(breach, _)| breach.to_string()).collect();
    let unclear = breaches.iter().all(|(breach, _)| breach.reason == names::GUARDRAIL_UNCLEAR);
    let status = if unclear { ConditionStatus::Unknown } else { ConditionStatus::False };
    Some((status, first.reason, Some(said.join("; "))))
}

/// The event of a policy that ceases to meet its guardrails.
pub(super) fn note(known: &PolicyStatus, conditions: &[Condition]) -> Option<Note> {
    let now = condition(conditions, names::GUARDRAILS_MET)?;
    let before = condition(&known.conditions, names::GUARDRAILS_MET);
    let unmet = now.status != ConditionStatus::True;
    let told =
        before.is_some_and(|before| before.status == now.status && before.reason == now.reason);
    (unmet && !told).then(|| Note {
        weight: Weight::Warning,
        reason: names::GUARDRAILS_NOT_MET,
        message: now.message.clone().unwrap_or_default(),
    })
}

#[cfg(test)]
mod tests;
