//! Why may a resource change at an instant, or why not? The tree of its stanza and its policy (GATE-9).

use schedule::Instant;

use crate::{
    document::key::Key,
    gate::{Doubt, Gate},
    policy::{
        explain::{Fact, Reason, node, part_node, sentence as policy_sentence, strategy_node},
        freeze::SeenFreeze,
        overrides::SeenOverride,
        part::PartKind,
        stanza::Form,
        verdict::Verdict,
        version::VersionManaged,
    },
};

/// The tree of reasons of a resource at an instant, in the order in which they count (GATE-15): freezes, overrides, then the stanza. Where the stanza of
/// another object decides, that object stands between (CV-2).
pub fn explain(own: &Key, gate: &Gate, at: Instant) -> Reason {
    let resource = |key: &Key| Fact::Resource(key.object());
    let stanza = stanza_node(gate, at);
    let below = match gate.origin().map(|origin| &origin.object).filter(|object| *object != own) {
        Some(followed) => decided(resource(followed), gate, at, vec![stanza]),
        None => stanza,
    };
    let freezes = gate.frozen_at(at).map(|(freeze, doubt)| freeze_node(freeze, doubt));
    let overrides = gate.named_by(at).map(|(one, idle)| override_node(one, idle, at));
    let beside = gate.beside().map(|(key, windows)| node(resource(key), windows, at, vec![]));
    let cluster = gate.constraint().map(|(key, cluster)| constraint_node(key, cluster, at));
    let because = freezes.chain(overrides).chain([below]).chain(cluster).chain(beside).collect();
    // Where there is doubt, not even the end of it is known (GATE-12).
    Reason { verdict: gate.verdict(at), ..node(resource(own), gate.set(), at, because) }
}

/// What the cluster of a pool says: its stanza, and the overrides that name it (D4-1).
fn constraint_node(key: &Key, gate: &Gate, at: Instant) -> Reason {
    let overrides = gate.named_by(at).map(|(one, idle)| override_node(one, idle, at));
    let because = overrides.chain([stanza_node(gate, at)]).collect();
    let said = node(Fact::Resource(key.object()), gate.own_set(), at, because);
    match gate.own_doubt_at(at) {
        Some(_) => Reason { verdict: Verdict::CannotTell, ..said },
        None => said,
    }
}

/// A reason that says what the gate says, freezes and overrides aside (GATE-12).
fn decided(fact: Fact, gate: &Gate, at: Instant, because: Vec<Reason>) -> Reason {
    let said = node(fact, gate.stanza_set(), at, because);
    match gate.stanza_doubt_at(at) {
        Some(_) => Reason { verdict: Verdict::CannotTell, ..said },
        None => said,
    }
}

fn freeze_node(freeze: &SeenFreeze, doubt: Option<&Doubt>) -> Reason {
    if let Some(Doubt { message, .. }) = doubt {
        let fact = Fact::Doubt(message.clone());
        return Reason { verdict: Verdict::CannotTell, fact, until: None, because: vec![] };
    }
    let fact = Fact::Freeze(freeze.sentence());
    Reason { verdict: Verdict::Held, fact, until: freeze.span().end, because: vec![] }
}

/// An override opens, or says why it does not.
fn override_node(overriding: &SeenOverride, idle: Option<&str>, at: Instant) -> Reason {
    let (verdict, said) = match idle {
        None if overriding.is_in_force(at) => (Verdict::Permitted, overriding.sentence()),
        None => (Verdict::Held, overriding.sentence()),
        Some(why) => (Verdict::Held, why.to_owned()),
    };
    let until = overriding.next_edge(at);
    Reason { verdict, fact: Fact::Override(said), until, because: vec![] }
}

fn stanza_node(gate: &Gate, at: Instant) -> Reason {
    let fact = match gate.form() {
        Form::NoStanza => Fact::NoStanza { field: gate.field() },
        Form::Version if gate.version().is_some_and(VersionManaged::is_absent) => {
            Fact::NoStanza { field: gate.field() }
        }
        form => Fact::Stanza { field: gate.field(), form, said: said(gate).map(str::to_owned) },
    };
    let because = match gate.form() {
        Form::Unusable => doubt_node(gate).into_iter().collect(),
        Form::Version => version_nodes(gate, at),
        _ => policy_node(gate, at).into_iter().collect(),
    };
    decided(fact, gate, at, because)
}

fn doubt_node(gate: &Gate) -> Option<Reason> {
    let fact = Fact::Doubt(gate.doubt()?.message.clone());
    Some(Reason { verdict: Verdict::CannotTell, fact, until: None, because: vec![] })
}

/// The parts of a stanza that is spelled as an earlier design does, each with the field that it comes from.
fn version_nodes(gate: &Gate, at: Instant) -> Vec<Reason> {
    let Some(read) = gate.version().filter(|read| !read.is_absent()) else { return Vec::new() };
    match &read.parts.kind {
        PartKind::All(parts) => parts.iter().map(|part| part_node(part, at)).collect(),
        _ => vec![part_node(&read.parts, at)],
    }
}

/// The policy's own reasons, shown under every strategy that names one: also an override is understood by what it sets aside.
fn policy_node(gate: &Gate, at: Instant) -> Option<Reason> {
    let named = gate.named()?.object();
    match gate.lowered() {
        Some(lowered) => {
            Some(node(Fact::Policy(named), &lowered.set, at, vec![strategy_node(lowered, at)]))
        }
        None => doubt_node(gate),
    }
}

/// Why somebody set the policy aside, in their own words.
fn said<R>(gate: &Gate<R>) -> Option<&str> {
    gate.origin()?.said.as_deref()
}

/// The deciding reason as one sentence: what `status.changeManagement.behavior` shows. It stays the same as long as it holds
/// (POL-7).
pub fn sentence<R>(gate: &Gate<R>, at: Instant) -> String {
    if let Some(doubt) = gate.doubt_at(at) {
        return doubt.message.clone();
    }
    if let Some(said) = gate.frozen_sentence(at) {
        return said;
    }
    if let Some(shut) = gate.shut_by(at) {
        return format!("{shut} holds it");
    }
    if let Some((key, cluster)) = gate.constrained_at(at) {
        return format!("{key} holds it: {}", sentence(cluster, at));
    }
    if let Some(overriding) = gate.override_at(at) {
        return overriding.sentence();
    }
    let said = said(gate).map_or_else(String::new, |said| format!(": {said}"));
    let by_policy = || match (gate.lowered(), gate.named()) {
        (Some(lowered), Some(named)) => format!("{named}: {}", policy_sentence(lowered, at)),
        _ => String::new(),
    };
    let field = gate.field();
    match gate.form() {
        Form::NoStanza => format!("there is no {field}, so changes are always permitted"),
        Form::Version => match gate.version() {
            Some(read) => format!("{field}: {}", part_node(&read.parts, at).deciding().brief()),
            None => String::new(),
        },
        Form::Permissive => format!("{field} is Permissive{said}"),
        Form::Restrictive => format!("{field} is Restrictive{said}"),
        Form::PermissiveUntil(until) if at < until => {
            format!("{field} is PermissiveUntil {until}{said}")
        }
        Form::RestrictiveUntil(until) if at < until => {
            format!("{field} is RestrictiveUntil {until}{said}")
        }
        Form::PermissiveUntil(until) if gate.policy().is_none() => {
            format!("{field} was PermissiveUntil {until} and names no policy")
        }
        Form::RestrictiveUntil(until) if gate.policy().is_none() => {
            format!("{field} was RestrictiveUntil {until} and names no policy")
        }
        Form::ByPolicy | Form::PermissiveUntil(_) | Form::RestrictiveUntil(_) | Form::Unusable => {
            by_policy()
        }
    }
}
