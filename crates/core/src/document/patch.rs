//! How is a part of an object written, and only if nobody was faster?

use serde_json::{Value, json};

/// A JSON patch of the status subresource. Its first operation is the version of the object it was made from, so the server refuses
/// it with a conflict if anybody was faster.
#[derive(Clone, Debug, PartialEq)]
pub struct StatusPatch {
    /// The operations, in order.
    pub operations: Vec<Value>,
}

/// Whether a part of a document is there: whoever patches puts in what is missing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Presence {
    /// It is not.
    #[default]
    Absent,
    /// It is.
    Present,
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
