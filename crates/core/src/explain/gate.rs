//! Why may a resource change at an instant, or why not? The tree of its stanza and its policy (GATE-9).

use schedule::Instant;

use super::{Fact, Reason, node, sentence as policy_sentence, strategy_node};
use crate::{
    gate::{Form, Gate},
    seen::SeenGated,
    verdict::Verdict,
};

/// The tree of reasons of a resource at an instant.
pub fn explain(seen: &SeenGated, gate: &Gate, at: Instant) -> Reason {
    let resource = Fact::Resource(seen.identity.key.object());
    decided(resource, gate, at, vec![stanza_node(seen, gate, at)])
}

/// A reason that says what the gate says (GATE-12): where there is doubt, not even its end is known.
fn decided(fact: Fact, gate: &Gate, at: Instant, because: Vec<Reason>) -> Reason {
    Reason { verdict: gate.verdict(at), ..node(fact, gate.set(), at, because) }
}

fn stanza_node(seen: &SeenGated, gate: &Gate, at: Instant) -> Reason {
    let fact = match gate.form() {
        Form::NoStanza => Fact::NoStanza,
        form => Fact::Stanza { form, said: seen.override_reason.clone() },
    };
    let because = match gate.form() {
        Form::Unusable => doubt_node(gate).into_iter().collect(),
        _ => policy_node(seen, gate, at).into_iter().collect(),
    };
    decided(fact, gate, at, because)
}

fn doubt_node(gate: &Gate) -> Option<Reason> {
    let fact = Fact::Doubt(gate.doubt()?.message.clone());
    Some(Reason { verdict: Verdict::CannotTell, fact, until: None, because: vec![] })
}

/// The policy's own reasons, shown under every strategy that names one: also an override is understood by what it sets aside.
fn policy_node(seen: &SeenGated, gate: &Gate, at: Instant) -> Option<Reason> {
    let named = seen.policy()?.object();
    match gate.lowered() {
        Some(lowered) => {
            Some(node(Fact::Policy(named), &lowered.set, at, vec![strategy_node(lowered, at)]))
        }
        None => doubt_node(gate),
    }
}

/// The deciding reason as one sentence: what `status.changeManagement.behavior` shows. It stays the same as long as it holds
/// (POL-7).
pub fn sentence<R>(seen: &SeenGated, gate: &Gate<R>, at: Instant) -> String {
    if let Some(doubt) = gate.doubt_at(at) {
        return doubt.message.clone();
    }
    let said = seen.override_reason.as_ref().map_or_else(String::new, |said| format!(": {said}"));
    let by_policy = || match (gate.lowered(), seen.policy()) {
        (Some(lowered), Some(named)) => format!("{named}: {}", policy_sentence(lowered, at)),
        _ => String::new(),
    };
    match gate.form() {
        Form::NoStanza => {
            "there is no spec.changeManagement, so changes are always permitted".into()
        }
        Form::Permissive => format!("spec.changeManagement is Permissive{said}"),
        Form::Restrictive => format!("spec.changeManagement is Restrictive{said}"),
        Form::PermissiveUntil(until) if at < until => {
            format!("spec.changeManagement is PermissiveUntil {until}{said}")
        }
        Form::RestrictiveUntil(until) if at < until => {
            format!("spec.changeManagement is RestrictiveUntil {until}{said}")
        }
        Form::PermissiveUntil(until) if gate.policy().is_none() => {
            format!("spec.changeManagement was PermissiveUntil {until} and names no policy")
        }
        Form::RestrictiveUntil(until) if gate.policy().is_none() => {
            format!("spec.changeManagement was RestrictiveUntil {until} and names no policy")
        }
        Form::ByPolicy | Form::PermissiveUntil(_) | Form::RestrictiveUntil(_) | Form::Unusable => {
            by_policy()
        }
    }
}
