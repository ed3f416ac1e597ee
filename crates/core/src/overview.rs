//! What is pending, why does it wait, and when will it start? One row for each resource and each policy: what `tidegate status` and a
//! console show.

use api::policy::{Behavior, Strategy};
use schedule::Instant;

use crate::{
    gate::{Form, Gate},
    pending::Pending,
    problem::Object,
    seen::{SeenGated, SeenPolicy},
    strategy,
    world::{World, as_recorded},
};

/// Whether something may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It may.
    Open,
    /// It may not.
    Held,
    /// Nobody can tell, so it may not.
    Unknown,
}

impl Standing {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Held => "held",
            Self::Unknown => "unknown",
        }
    }
}

/// A policy or a resource at an instant.
#[derive(Clone, Debug)]
pub struct Row {
    /// Which object.
    pub object: Object,
    /// Whether changes may be initiated.
    pub standing: Standing,
    /// How that is decided, as it is spelled in the object; none without a stanza.
    pub strategy: Option<&'static str>,
    /// The policy that a resource names.
    pub policy: Option<Object>,
    /// Whether a resource sets its policy aside.
    pub overridden: Overridden,
    /// The present state and the next one.
    pub behavior: Behavior,
    /// What would be initiated; nothing for a policy.
    pub pending: Pending,
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
pub fn resource(world: &World, seen: &SeenGated, at: Instant) -> Row {
    let gate = world.gate(seen);
    let behavior = world.behavior(seen, at);
    Row {
        object: seen.identity.object.clone(),
        standing: if gate.doubt_at(at).is_some() {
            Standing::Unknown
        } else {
            open_or_held(&gate, at)
        },
        strategy: form_name(&gate),
        policy: seen.policy(),
        overridden: if gate.overrides(seen, at) { Overridden::Yes } else { Overridden::No },
        behavior,
        pending: seen.pending.clone(),
    }
}

fn open_or_held(gate: &Gate, at: Instant) -> Standing {
    if gate.set.contains(at) { Standing::Open } else { Standing::Held }
}

fn form_name(gate: &Gate) -> Option<&'static str> {
    match gate.form {
        Form::NoStanza | Form::Unusable => None,
        Form::ByPolicy => Some("ByPolicy"),
        Form::Permissive => Some("Permissive"),
        Form::Restrictive => Some("Restrictive"),
        Form::PermissiveUntil(_) => Some("PermissiveUntil"),
        Form::RestrictiveUntil(_) => Some("RestrictiveUntil"),
    }
}

/// The row of a policy.
pub fn policy(seen: &SeenPolicy, at: Instant) -> Row {
    let usable = seen.judged.policy.as_ref();
    let set = seen.set();
    let strategy = usable.map_or(Strategy::Restrictive, |policy| policy.lowered.strategy);
    let known = seen.status.behavior.as_ref();
    Row {
        object: seen.identity.object.clone(),
        standing: match seen.ready() {
            Err(_) => Standing::Unknown,
            Ok(()) if set.contains(at) => Standing::Open,
            Ok(()) => Standing::Held,
        },
        strategy: usable
            .and_then(|policy| strategy::row(policy.lowered.strategy))
            .map(|row| row.name),
        policy: None,
        overridden: Overridden::No,
        behavior: as_recorded(&set, &|at| seen.reason(at), known, strategy, at),
        pending: Pending::default(),
    }
}
