//! What do those who name a policy see of it?

use tidegate_core::policy::seen::SeenPolicy;

/// How a policy stands: as long as this stays the same, so do its gates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Standing {
    uid: String,
    generation: i64,
    ready: Result<(), String>,
}

impl Standing {
    pub(super) fn of(policy: &SeenPolicy) -> Self {
        Self {
            uid: policy.identity.uid.clone(),
            generation: policy.identity.generation,
            ready: policy.ready(),
        }
    }
}
