//! Has a change to the masters begun? Only a record says so, never what nodes look like (GATE-10).
//!
//! A node that joins, a label that moves, consent for one node, a pin and a rollback make masters differ, and prove nothing. What
//! proves is the change that the ledger names, written together with the first reservation under a permit of the gate, and a node
//! that carries the mark which followed: a reservation whose mark never was committed began nothing.

use api::machine::names::MASTER;

use super::{PoolView, ledger::Change, seen::SeenNode, source::Rendered, target::Shelf};
use crate::gate::{Basis, Proof, change::ChangeId};

/// Proof that a change to the control plane has begun (CV-2).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Begun(ChangeId);

impl Proof for Begun {
    fn basis(&self) -> Basis {
        Basis::AlreadyInitiated(self.0.clone())
    }
}

impl Begun {
    /// The change that has begun.
    pub(crate) fn change(&self) -> &ChangeId {
        &self.0
    }

    /// The update of the control plane that is recorded: its master nodes belong to it (CV-1).
    pub(crate) fn of_release(release: &str) -> Self {
        Self(ChangeId::release(release))
    }
}

/// The change that the masters are in the middle of, as the ledger records it, and where it leads (CV-2).
#[derive(Debug)]
pub(crate) struct BegunChange<'a> {
    pub(crate) proof: Begun,
    pub(crate) config: &'a Rendered,
    record: &'a Change,
}

impl<'a> BegunChange<'a> {
    /// The change that is recorded, begun, and not over.
    pub(crate) fn of(view: &PoolView<'a>, shelf: &Shelf<'a>) -> Option<Self> {
        let record = view.pool.ledger.change().filter(|_| view.pool.name == MASTER)?;
        if is_over(record, view) {
            return None;
        }
        let committed = view.nodes.iter().any(|node| carries(node, record));
        let config = shelf.get(&record.config).filter(|_| committed)?;
        Some(Self { proof: Begun(ChangeId::rendered(&config.name)), config, record })
    }

    /// Whether it takes a node along.
    pub(crate) fn takes(&self, node: &SeenNode) -> bool {
        takes(self.record, node)
    }
}

/// Whether a change takes a node along: not one that is there, nor one that another right has sent elsewhere since, nor one whose agent
/// never spoke, of which nobody knows where it is (NODE-3).
fn takes(change: &Change, node: &SeenNode) -> bool {
    let since = node.permit_until.is_some_and(|until| until > change.at);
    let basis = node.permit_basis.as_deref().unwrap_or_default();
    let alone = node.permit_change.as_ref() == Some(&node.desired) && Basis::is_of_one(basis);
    node.desired != change.config && !(alone && since) && !node.is_silent()
}

/// Whether a change has ended: it takes no master along any more, or somebody chose another target. While nobody can tell who belongs to
/// the pool, it has not: whoever is missing today may have been told to go.
pub(crate) fn is_over(change: &Change, view: &PoolView<'_>) -> bool {
    let elsewhere = view.pool.pin.as_ref().is_some_and(|pin| pin.name != change.config);
    elsewhere || view.knows_its_nodes() && !view.nodes.iter().any(|node| takes(change, node))
}

/// Whether a node carries the mark that made a change begin, or one that followed from it.
fn carries(node: &SeenNode, change: &Change) -> bool {
    let basis = node.permit_basis.as_deref().unwrap_or_default();
    node.permit_change.as_ref() == Some(&change.config)
        && node.permit_until.is_some_and(|until| until > change.at)
        && Basis::is_of_change(basis, &change.config)
}
