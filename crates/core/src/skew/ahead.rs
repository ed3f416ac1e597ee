//! What will stand in the way of the update that somebody wishes for, as a forecast found it? (CV-3)
//!
//! A value alone: who makes a forecast stands above those who decide, so what it found is handed to them.

use schedule::Instant;

/// What a forecast said of the update that waits, and when to look again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Foresight {
    /// What it found.
    pub found: Foreseen,
    /// When a gate that has a say in it opens or shuts; none if time alone changes nothing.
    pub until: Option<Instant>,
}

/// What a forecast found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Foreseen {
    /// Nobody made one.
    #[default]
    NotAsked,
    /// Nothing will stand in its way, or nothing waits.
    Clear,
    /// Pools will.
    Blocked(Ahead),
}

/// Pools that will stand in the way of an update.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ahead {
    /// When the update would start and does not.
    pub at: Instant,
    /// Which pools and nodes, and the last window that still helps, in the words of `simulate`.
    pub said: String,
}
