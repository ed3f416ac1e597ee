//! What is written, to which object, and by what right?
//!
//! A plan consists of writes. Whoever carries them out sends each as it stands and knows nothing of what it is about: a new actuator
//! needs no line there. What starts a change owns the permit for it (GATE-7), and everything else is upkeep (GATE-16).
//!
//! EXEC-1: every write but a creation carries the version of the object that it was made from.

use schedule::Instant;
use serde_json::Value;

use crate::{
    document::key::Key,
    gate::{Permit, change::ChangeId, note::Note},
};

/// One write.
#[derive(Clone, Debug, PartialEq)]
pub struct Action {
    /// The object that is written.
    pub target: Key,
    /// What is written.
    pub write: Write,
    /// By what right.
    pub right: Right,
    /// What a refusal means for the rest of the plan.
    pub refused: Refused,
}

/// How an object is written.
#[derive(Clone, Debug, PartialEq)]
pub enum Write {
    /// A new object. One of the same name that exists already is the same: its name tells its content.
    Create(Value),
    /// A JSON patch. Its first operation is the version that it was made from.
    JsonPatch(Vec<Value>),
    /// A merge patch.
    MergePatch(Value),
    /// A merge patch by this owner of its fields: it takes away what others own, which an apply cannot.
    MergePatchBy(Owner, Value),
    /// A server-side apply of a document, by this owner of its fields.
    Apply(Owner, Value),
    /// The end of the object: of this very one, in the version that it was decided for.
    Delete {
        /// Its identity.
        uid: String,
        /// Its version.
        version: String,
    },
}

/// Who owns the fields that an apply writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// Whoever keeps things true. It yields to every other owner.
    Upkeep,
    /// Whoever starts changes. The server stamps the time of a write on its owner's entry, and that stamp is what a permit is compared
    /// with (GATE-7): hence an owner of its own, which takes the fields from every other.
    Initiator,
}

/// By what right something is written.
#[derive(Clone, Debug, PartialEq)]
pub enum Right {
    /// It starts nothing, and so needs no permit.
    Upkeep,
    /// It starts a material change.
    Initiates(Box<Initiation>),
}

/// The start of a change.
#[derive(Clone, Debug, PartialEq)]
pub struct Initiation {
    /// The gate's yes.
    pub permit: Permit,
    /// When the write must have been made: stands in it, and the server refuses it from then on.
    pub until: Instant,
    /// What the object changes to.
    pub change: ChangeId,
    /// The identity of the object: one of the same name that came later is another.
    pub uid: String,
    /// Whether its room is recorded already.
    pub reserved: Reserved,
    /// What people are told once it was carried out.
    pub note: Note,
}

/// Whether the room that a change takes stands in the record of what was begun (POOL-2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reserved {
    /// It does, as it was seen.
    Written,
    /// An earlier write of the same plan puts it there.
    ByThisPlan,
}

/// What it means for the rest of a plan if the server refuses a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// What comes after was decided for a world in which it had worked.
    EndsThePlan,
    /// It is the trouble of the written object alone, and neither the other writes nor the status wait for it (LIVE-3).
    ConcernsTheTargetAlone,
}

impl Owner {
    /// What the server calls it: `fieldManager`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Upkeep => "tidegate",
            Self::Initiator => "tidegate-rollout",
        }
    }
}

impl Action {
    /// A write that starts nothing, and without which the rest of its plan makes no sense.
    pub fn upkeep(target: Key, write: Write) -> Self {
        Self { target, write, right: Right::Upkeep, refused: Refused::EndsThePlan }
    }

    /// What it starts; none if that is nothing.
    pub fn initiation(&self) -> Option<&Initiation> {
        match &self.right {
            Right::Upkeep => None,
            Right::Initiates(initiation) => Some(initiation),
        }
    }

    /// Whether both start the same change of the same object.
    pub fn starts_the_same(&self, other: &Self) -> bool {
        let Some((one, another)) = self.initiation().zip(other.initiation()) else { return false };
        self.target == other.target && one.uid == another.uid && one.change == another.change
    }
}
