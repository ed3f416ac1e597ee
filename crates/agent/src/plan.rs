//! What has to be done on the way to a configuration?

use crate::change::Deed;

/// What has to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Whether workloads have to leave first.
    pub drain: Drain,
    /// What is done once the files are in place, in order.
    pub deeds: Vec<Deed>,
}

/// Whether workloads have to leave first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drain {
    /// They have to.
    Needed,
    /// They need not notice.
    NotNeeded,
}

impl Plan {
    /// Whether workloads have to leave first.
    pub fn needs_drain(&self) -> bool {
        self.drain == Drain::Needed
    }
}
