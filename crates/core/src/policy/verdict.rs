//! May changes be initiated at an instant? One of three answers, asked here by everybody who shows one (GATE-12).
//!
//! Status, metrics, commands and exit codes derive what they show from [`Verdict`], so that no two of them can disagree. "Cannot
//! tell" holds like a hold, but is none: nobody decided it, so it is never shown as one that lasts for ever.

use schedule::{Instant, TimeSet};

/// What is said about changes at an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// They may be initiated.
    Permitted,
    /// They may not.
    Held,
    /// Nobody can tell, so they may not (GATE-2).
    CannotTell,
}

impl Verdict {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Permitted, Self::Held, Self::CannotTell];

    /// The verdict of a set about which there is no doubt.
    pub fn of(set: &TimeSet, at: Instant) -> Self {
        if set.contains(at) { Self::Permitted } else { Self::Held }
    }

    /// In words, for people.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Permitted => "permitted",
            Self::Held => "held",
            Self::CannotTell => "cannot tell",
        }
    }

    /// In one word, for columns and programs: the state of a gate that says so.
    pub fn state(self) -> &'static str {
        match self {
            Self::Permitted => "open",
            Self::Held => "held",
            Self::CannotTell => "unknown",
        }
    }
}

#[cfg(test)]
mod tests;
