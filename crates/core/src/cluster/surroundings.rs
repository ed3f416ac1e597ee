//! What does a decision look at beside its object? The cluster, and what one replica of the operator knows of itself and of its server.

use std::{collections::BTreeMap, fmt, sync::Arc};

use api::schema::Kind;
use schedule::Instant;

use crate::{
    cluster::snapshot::Snapshot,
    gate::{enforced::Enforcement, proof::Proofs, refusal::Refusals},
    pool::{merge::Base, render::Rendering, seen::SeenPool},
    skew::Foresight,
};

/// What a decision about an object looks at.
#[derive(Clone, Copy)]
pub struct Surroundings<'a> {
    /// The cluster.
    pub snapshot: &'a Snapshot,
    /// What the sources of a pool come to, if somebody remembers that.
    pub remembered: Option<Remembered<'a>>,
    /// The node that this replica runs on, if anybody said.
    pub host: Option<&'a str>,
    /// What the server refused to let start.
    pub refusals: &'a Refusals,
    /// Why nothing is initiated about the object, whatever is decided; none if nothing is in the way (GATE-11).
    pub held_back: Option<&'a str>,
    /// How many whole seconds the clock of this replica is ahead of the server's.
    pub seconds_ahead: i64,
    /// Whether the server refuses a change that nobody permitted; none if nobody has tried since this program started (GATE-13).
    pub enforcement: Option<Enforcement>,
    /// Which admission policies of gates and freezes were seen refusing; none if nobody tries (GATE-13).
    pub proofs: Option<&'a Proofs>,
    /// How much is known of a kind that is not always looked at; none if nobody ever looks.
    pub listed: Option<&'a dyn Fn(&Kind) -> Listed>,
    /// What a forecast of the cluster says of the update that waits, if somebody makes one (CV-3).
    pub foreseen: Option<&'a dyn Fn(Instant) -> Foresight>,
    /// The namespace of the operator, if anybody said: gates of the cluster leave it alone (RCH-13).
    pub home: Option<&'a str>,
}

/// How much is known of a kind that is not always looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listed {
    /// The server has not been heard about it yet.
    Unknown,
    /// All of its objects are known.
    Known,
    /// The server does not have it.
    Absent,
    /// The server does not let this account read it.
    Refused,
}

/// What the sources of a pool come to.
pub type Remembered<'a> = &'a dyn Fn(&SeenPool, &Base) -> Arc<Rendering>;

impl<'a> Surroundings<'a> {
    /// For somebody who knows nothing but the cluster.
    pub fn of(snapshot: &'a Snapshot) -> Self {
        static NONE: Refusals = BTreeMap::new();
        Self {
            snapshot,
            remembered: None,
            host: None,
            refusals: &NONE,
            held_back: None,
            seconds_ahead: 0,
            enforcement: None,
            proofs: None,
            listed: None,
            foreseen: None,
            home: None,
        }
    }

    /// What the sources of a pool come to.
    pub fn rendering(&self, pool: &SeenPool, base: &Base) -> Arc<Rendering> {
        match self.remembered {
            Some(remembered) => remembered(pool, base),
            None => Arc::new(self.snapshot.rendering(pool, base)),
        }
    }
}

impl fmt::Debug for Surroundings<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Surroundings").field("host", &self.host).finish_non_exhaustive()
    }
}
