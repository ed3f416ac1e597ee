//! What is to be done about an object? The result of every decision, as a value.
//!
//! A plan says what is to be done first, what the status should read, what people should be told and when to look again. Whoever executes it chooses nothing:
//! it sends the operations as they stand, and they carry the version they were made from, so that a plan from yesterday can only
//! conflict (EXEC-1).

use std::time::Duration;

use schedule::Instant;

use crate::{
    document::patch::StatusPatch,
    gate::{action::Action, note::Note},
};

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
    /// How long the actions wait from when they were first decided, so that not everybody acts in one second (RCH-4); not at all, if none.
    pub spread: Option<Duration>,
    /// How far it is apart from the last of its kind, because it only tells what may change all the time; as it comes, if none.
    pub apart: Option<Duration>,
}
