//! What would be initiated if there were no change management? (POOL-6)
//!
//! Each kind has its own fields that say that something waits, or that something is under way (`kinds`). Only material changes
//! count: scaling and certificates never appear here, because nothing that is never held can be pending (GATE-8).

use std::collections::BTreeSet;

use api::names;
use schedule::Instant;

use crate::{
    document::problem::Problem,
    gate::{Basis, change::ChangeId},
    policy::verdict::Verdict,
    skew::Foreseen,
};

/// What waits, and what is under way.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pending {
    /// Changes that have not been initiated.
    pub waiting: Vec<Waiting>,
    /// Changes that have been initiated and are not finished; the gate no longer asks about them (CV-1, POOL-1).
    pub begun: Vec<UnderWay>,
    /// What decides whether that which waits starts now.
    pub course: Course,
    /// When something was last initiated, if that is known.
    pub initiated: Option<Instant>,
    /// What a forecast said of that which waits (CV-3).
    pub foreseen: Foreseen,
}

/// A change that has not been initiated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Waiting {
    /// An update of a control plane.
    Release {
        /// The release, by its version or its image.
        to: String,
        /// The one that was accepted last, if any was.
        now: Option<String>,
        /// What somebody should know of it, and does not stand in its way.
        remarks: Vec<String>,
    },
    /// A rendered configuration that nodes of a pool lack.
    Machines {
        /// The configuration.
        to: ChangeId,
        /// Which of them.
        machines: Machines,
        /// What it brings, where that can be told.
        differences: Differences,
    },
    /// A rendered configuration that a pool would have if nobody had chosen another.
    Pinned {
        /// The configuration.
        to: ChangeId,
        /// The one that was chosen.
        chosen: String,
    },
    /// What the controller of hosted nodes says it would do.
    Hosted {
        /// The change.
        to: ChangeId,
        /// What it says, if anything.
        said: Option<String>,
    },
    /// What a gate holds of what others own.
    Reached {
        /// The room.
        what: String,
        /// What waits there, by name, as far as that is told.
        names: Vec<String>,
        /// How much waits there.
        count: i64,
    },
}

/// A change that has been initiated and is not finished.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnderWay {
    /// Which change.
    pub change: ChangeId,
    /// On which nodes, if it is one of nodes.
    pub machines: Option<Machines>,
}

/// So many of the nodes of a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Machines {
    /// So many.
    pub count: i64,
    /// Of so many.
    pub of: i64,
}

/// What a configuration brings to those that lack it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Differences {
    /// The sources, by name.
    pub sources: BTreeSet<(String, Edit)>,
    /// What is different on a node, as people name it.
    pub fields: BTreeSet<String>,
}

/// What became of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Edit {
    /// It is new.
    Added,
    /// It holds something else.
    Changed,
    /// It is gone.
    Removed,
}

/// What decides whether that which waits starts now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Course {
    /// The gate, and nothing else.
    #[default]
    Gate,
    /// All of it goes on while the gate is shut, by these rights (POOL-5, POOL-7, CV-2).
    Anyway(BTreeSet<Basis>),
    /// None of it would start if the gate were open, for this reason of the resource's own.
    Stopped(Stop),
}

/// Why nothing of a resource begins, whatever its gate says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// `spec.paused`.
    Paused,
    /// Something is wrong.
    Blocked(Vec<Problem>),
    /// A release that is wanted does not fit the cluster, or cannot be told (CV-4). Told also while the gate is shut: people mend it before
    /// the window.
    Unmet(Vec<Problem>),
    /// This pool must settle first.
    After(String),
    /// Somebody chose this configuration.
    Pinned(String),
}

/// How far a resource is with what it has pending: the one answer behind the condition `ChangesPending` and its metric (GATE-6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Nothing waits, and nothing is under way.
    Nothing,
    /// Nothing waits, and what was initiated has not ended.
    UnderWay,
    /// Something waits and may start now.
    Initiating,
    /// Something waits for the gate.
    Held,
    /// Something waits, and would not start if the gate were open.
    Stopped,
}

impl Stage {
    /// The value of `change_management_change_pending`.
    pub fn figure(self) -> i64 {
        match self {
            Self::Nothing => 0,
            Self::UnderWay | Self::Initiating => 1,
            Self::Held | Self::Stopped => 2,
        }
    }

    /// The reason of the condition `ChangesPending`, which holds exactly when the figure is not 0.
    pub fn reason(self) -> &'static str {
        match self {
            Self::Nothing => names::NOTHING_PENDING,
            Self::UnderWay => names::UNDER_WAY,
            Self::Initiating => names::INITIATING,
            Self::Held => names::HELD,
            Self::Stopped => names::STOPPED,
        }
    }
}

impl Pending {
    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// How far it is, with what the gate says.
    pub fn stage(&self, verdict: Verdict) -> Stage {
        match (self.is_empty(), &self.course, verdict) {
            (true, ..) if self.begun.is_empty() => Stage::Nothing,
            (true, ..) => Stage::UnderWay,
            (false, Course::Anyway(_), _) | (false, Course::Gate, Verdict::Permitted) => {
                Stage::Initiating
            }
            (false, Course::Stopped(_), Verdict::Permitted) => Stage::Stopped,
            (false, Course::Gate | Course::Stopped(_), Verdict::Held | Verdict::CannotTell) => {
                Stage::Held
            }
        }
    }
}

/// A change that was initiated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Began {
    /// Which change.
    pub what: ChangeId,
    /// When, by the record of who initiated it.
    pub at: Instant,
    /// What the permit of the gate rested on that let it begin, by the record beside it (GATE-10); none if nobody left one.
    pub basis: Option<Basis>,
}
