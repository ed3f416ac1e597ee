//! Within whose windows does a pool lie? Those of its cluster, in the design that spells stanzas `versionManagement` (D4-1).
//!
//! A pool's set is its own and its cluster's together. The cluster's counts with the overrides that name the cluster: whoever opens it opens
//! this part for its pools, and nothing that is said of a pool, `enforcing: false` and overrides included, opens more than its own part.

use std::sync::Arc;

use schedule::{Instant, TimeSet};

use super::{Doubt, Form, Gate, change::ChangeId};
use crate::{document::key::Key, policy::version::VersionManaged};

/// The cluster of a pool, and its gate.
#[derive(Clone, Debug)]
pub(super) struct Constraint {
    object: Key,
    gate: Gate,
}

impl Constraint {
    /// The same for one change alone.
    pub(super) fn going_to(&self, change: &ChangeId) -> Self {
        Self { object: self.object.clone(), gate: self.gate.clone().going_to(change) }
    }
}

impl Gate {
    /// The gate of a stanza that is spelled as an earlier design does.
    pub(super) fn versioned(read: Arc<VersionManaged>) -> Self {
        let set = read.parts.set.clone();
        Self { version: Some(read), ..Self::plain(set, Form::Version) }
    }

    /// The gate of a pool within that of its cluster. One without a stanza has what the cluster leaves it.
    pub(crate) fn constrained_by(mut self, object: Key, gate: Self) -> Self {
        if self.form == Form::NoStanza {
            self.form = Form::Version;
            self.version = Some(Arc::new(VersionManaged::absent()));
        }
        self.constraint = Some(Arc::new(Constraint { object, gate }));
        self.folded()
    }
}

impl<R> Gate<R> {
    /// What the stanza means, if it is spelled as an earlier design does.
    pub fn version(&self) -> Option<&VersionManaged> {
        self.version.as_deref()
    }

    /// The cluster within whose windows it lies, and its gate.
    pub fn constraint(&self) -> Option<(&Key, &Gate)> {
        self.constraint.as_deref().map(|constraint| (&constraint.object, &constraint.gate))
    }

    /// When the cluster lets its pools begin.
    pub(super) fn constraint_set(&self) -> Option<&TimeSet> {
        self.constraint().map(|(_, gate)| gate.own_set())
    }

    /// Whether its cluster leaves it less than all time.
    pub(super) fn is_constrained(&self) -> bool {
        self.constraint_set().is_some_and(|set| !set.is_always())
    }

    /// The cluster, if that does not permit it at an instant.
    pub(crate) fn constrained_at(&self, at: Instant) -> Option<(&Key, &Gate)> {
        self.constraint().filter(|(_, gate)| !gate.own_set().contains(at))
    }

    /// Why nobody can tell what the cluster says at an instant, if nobody can.
    pub(super) fn constraint_doubt_at(&self, at: Instant) -> Option<&Doubt> {
        self.constrained_at(at).and_then(|(_, gate)| gate.own_doubt_at(at))
    }
}
