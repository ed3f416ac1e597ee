//! What is a hosted cluster, as far as change management goes? Its control plane, and pools of nodes that follow it (HOST-1).

pub mod hash;
pub mod pool;
pub mod project;
pub mod skew;

use pool::SeenNodePool;

use crate::release::SeenPlane;

/// What is read of a hosted cluster or of its nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::large_enum_variant, reason = "every one of them lies in a box of its own already")]
pub enum Hosted {
    /// Of the control plane.
    Cluster {
        /// What decisions about its release read.
        plane: SeenPlane,
        /// What it says of all nodes, as a digest.
        global: String,
    },
    /// Of a pool of nodes.
    Pool(SeenNodePool),
}

impl Hosted {
    /// The control plane, if it is one.
    pub fn plane(&self) -> Option<&SeenPlane> {
        match self {
            Self::Cluster { plane, .. } => Some(plane),
            Self::Pool(_) => None,
        }
    }

    /// The pool, if it is one.
    pub fn pool(&self) -> Option<&SeenNodePool> {
        match self {
            Self::Pool(pool) => Some(pool),
            Self::Cluster { .. } => None,
        }
    }
}
