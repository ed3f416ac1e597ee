//! What of a policy do decisions read?

use api::{names, policy::PolicyStatus, schema::Kind};
use schedule::{Instant, TimeSet};
use serde_json::Value;

use crate::{
    document::{conditions::decoded, identity::Identity},
    policy::{
        read::{self, Judged},
        verdict::Verdict,
    },
};

/// A policy as it was last seen.
#[derive(Clone, Debug)]
pub struct SeenPolicy {
    /// Which object.
    pub identity: Identity,
    /// What it means, or why it cannot be used.
    pub judged: Judged,
    /// What its status says.
    pub status: PolicyStatus,
    /// When it was created, where that is known.
    pub created: Option<Instant>,
}

impl SeenPolicy {
    /// Reads a policy.
    pub fn new(kind: &'static Kind, document: &Value) -> Self {
        Self {
            identity: Identity::new(kind, document),
            judged: read::policy(&judged_part(document)),
            status: decoded(document.get("status")).unwrap_or_default(),
            created: document
                .pointer("/metadata/creationTimestamp")
                .and_then(|stamp| Instant::parse(stamp.as_str()?).ok()),
        }
    }

    /// When it permits changes; never if it cannot be used (POL-8).
    pub fn set(&self) -> TimeSet {
        self.judged.policy.as_ref().map_or_else(TimeSet::never, |policy| policy.lowered.set.clone())
    }

    /// What it says at an instant to those who name it; nobody relies on one that is not ready (POL-6).
    pub fn verdict(&self, at: Instant) -> Verdict {
        match self.ready() {
            Err(_) => Verdict::CannotTell,
            Ok(()) => self
                .judged
                .policy
                .as_ref()
                .map_or(Verdict::CannotTell, |policy| Verdict::of(&policy.lowered.set, at)),
        }
    }

    /// Whether consumers may rely on it: ready, and for the newest generation (POL-6).
    pub fn ready(&self) -> Result<(), String> {
        let conditions = &self.status.conditions;
        let Some(ready) = conditions.iter().find(|condition| condition.kind == names::READY) else {
            return Err("has not been read yet".into());
        };
        if ready.status != api::meta::ConditionStatus::True {
            return Err(format!(
                "is not ready: {}",
                ready.message.as_deref().unwrap_or(&ready.reason)
            ));
        }
        match ready.observed_generation {
            Some(generation) if generation == self.identity.generation => Ok(()),
            _ => Err("was changed and has not been read again yet".into()),
        }
    }
}

/// The document without what others write into it: a strange status is no fault of the specification.
fn judged_part(document: &Value) -> Value {
    let mut part = document.clone();
    if let Some(fields) = part.as_object_mut() {
        fields.remove("status");
    }
    if let Some(metadata) = part.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.remove("managedFields");
    }
    part
}
