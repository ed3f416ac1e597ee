//! May changes be initiated at an instant? One of three answers, asked here by everybody who shows one (GATE-12).
//!
//! Status, metrics, commands and exit codes derive what they show from [`Verdict`], so that no two of them can disagree. "Cannot
//! tell" holds like a hold, but is none: nobody decided it, so it is never shown as one that lasts for ever.

use schedule::{Instant, TimeSet};

use crate::{gate::Gate, seen::SeenPolicy};

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

impl<R> Gate<R> {
    /// What it says at an instant.
    pub fn verdict(&self, at: Instant) -> Verdict {
        match self.doubt_at(at) {
            Some(_) => Verdict::CannotTell,
            None => Verdict::of(self.set(), at),
        }
    }
}

impl SeenPolicy {
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
}

#[cfg(test)]
mod tests;
