//! What is to be done about an object? The result of every decision, as a value.
//!
//! A plan says what is to be done first, what the status should read, what people should be told and when to look again. Whoever executes it chooses nothing:
//! it sends the operations as they stand, and they carry the version they were made from, so that a plan from yesterday can only
//! conflict (EXEC-1).

use schedule::Instant;
use serde_json::{Value, json};

use crate::pool::Action;

/// What is to be done about one object.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// What is to be done before the status is written, in this order. Whoever executes it stops at the first that fails and plans
    /// again.
    pub actions: Vec<Action>,
    /// The change to the object's status; none if it already reads as it should (POL-7, STAT-3).
    pub status: Option<StatusPatch>,
    /// What people should be told: transitions only.
    pub notes: Vec<Note>,
    /// The instant at which the answer changes by itself; none if time alone never changes it.
    pub wake: Option<Instant>,
}

/// A JSON patch of the status subresource. Its first operation is the version of the object it was made from, so the server refuses
/// it with a conflict if anybody was faster.
#[derive(Clone, Debug, PartialEq)]
pub struct StatusPatch {
    /// The operations, in order.
    pub operations: Vec<Value>,
}

impl StatusPatch {
    /// Both patches as one. Each was made from the same version and puts in what it misses, so what both begin with is done once;
    /// and neither moves a condition that the other found by its place, because both only replace and append.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        let more: Vec<Value> = other
            .operations
            .into_iter()
            .filter(|operation| !self.operations.contains(operation))
            .collect();
        self.operations.extend(more);
        self
    }
}

/// The first operation of every patch: the version it was made from. Writing another version than the stored one is a conflict (EXEC-1).
pub(crate) fn made_from(resource_version: &str) -> Value {
    json!({"op": "replace", "path": "/metadata/resourceVersion", "value": resource_version})
}

/// Something to tell people, as a Kubernetes event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// Whether somebody should worry.
    pub weight: Weight,
    /// One CamelCase word for programs.
    pub reason: &'static str,
    /// A sentence for people.
    pub message: String,
}

/// Whether somebody should worry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weight {
    /// Nobody: this is how things go.
    Normal,
    /// Somebody must look at it eventually.
    Warning,
}

impl Weight {
    /// The `type` of the event.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Normal => "Normal",
            Self::Warning => "Warning",
        }
    }
}
