//! Which pool will stand in the way of an update of the control plane, when, and which window is the last that still helps? (CV-3)
//!
//! A pool that is held by its gate stays at its kubelets, and the control plane goes on until they are further behind than the next release
//! supports. That is months away and certain, so it is told today.

use super::plane::{Plane, Updates};
use crate::{
    cluster::snapshot::Snapshot,
    simulate::{Settings, start},
};

mod kept;
mod words;

pub use super::block::{Block, Rescue};
pub use kept::Kept;
pub use words::sentence;

/// What will stand in the way of the updates that are asked for in `settings`, and when: the one entry for everybody who tells of it,
/// the command and the operator. Nothing if no update is asked for, or if nobody can tell which release the control plane has.
///
/// Pure, and costs a forecast of the period. The operator keeps what it foresaw ([`Kept`]): the answer holds instants and no countdown, so it
/// stays as it is until an object that was read changes or an edge of a gate comes (POL-7).
/// `blocked()` of the answer is the first update that does not start when its gate opens; its `due` is the value of a metric, and its
/// blocks name pools, nodes and windows for a condition and an event.
pub fn foresee(cluster: &Snapshot, settings: &Settings) -> Option<Updates> {
    let plane = Plane::new(cluster, settings)?;
    let (_, plane) = super::run(start::pools(cluster, settings), Some(plane), settings);
    plane.map(Plane::updates)
}
