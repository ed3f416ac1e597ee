//! What has the server refused to let start, and what did it say?

use std::collections::BTreeMap;

use crate::{document::key::Key, gate::change::ChangeId};

/// Refusals by the object that was to change.
pub type Refusals = BTreeMap<Key, Refusal>;

/// What was refused, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The change that was to start; none if it was only to be touched (RCH-4).
    pub change: Option<ChangeId>,
    /// What the server said the first time: its later words may hold a time, and a status must not change with it.
    pub said: String,
}
