//! What has to be written on nodes so that their annotations stay true? Nothing here starts a change, so nothing needs a permit.
//!
//! - GATE-16: a node that nobody told anything stays at what it runs, and is told so.
//! - GATE-10: masters carry the release whose update they belong to.
//! - POOL-7: consent that has been used is taken away: the same content may come again one day under the same name.
//! - DRAIN-2: the only node of a cluster knows that it is, because nobody could take its workloads.
//!
//! STAT-3: what reads as it should is not written.

use std::collections::{BTreeMap, BTreeSet};

use api::machine::names::{self, NodeState, SINGLE_REPLICA};

use super::{
    Effect, PoolView, Topology,
    seen::{Order, SeenNode},
    update::Covering,
};

/// What is to be written on the nodes of a pool, but for those that are marked anyway: one write each, made from what was seen.
pub(crate) fn upkeep<R>(
    view: &PoolView<'_>,
    marked: &BTreeSet<&str>,
    effects: &mut Vec<Effect<R>>,
) {
    let covering = Covering::of(view);
    let release = covering.as_ref().map(|covering| covering.release);
    let others = view.nodes.iter().filter(|node| !marked.contains(node.name.as_str()));
    effects.extend(others.filter_map(|node| {
        if is_to_be_adopted(node) {
            return Some(Effect::Adopt {
                node: node.name.clone(),
                uid: node.uid.clone(),
                resource_version: node.resource_version.clone(),
                config: node.current.clone(),
            });
        }
        let annotations = notes(view, node, release);
        (!annotations.is_empty()).then(|| Effect::Note {
            node: node.name.clone(),
            uid: node.uid.clone(),
            resource_version: node.resource_version.clone(),
            annotations,
        })
    }));
}

/// Whether a node says what it runs, and nobody has told it anything. One that still carries the record of an order that somebody took
/// away is left alone: beside that record the same words would be an order.
fn is_to_be_adopted(node: &SeenNode) -> bool {
    let untold = node.order == Order::NotGiven && node.permit_change.is_none();
    untold && node.state == NodeState::Done && !node.current.is_empty()
}

fn notes(
    view: &PoolView<'_>,
    node: &SeenNode,
    release: Option<&str>,
) -> BTreeMap<&'static str, Option<String>> {
    let mut notes = BTreeMap::new();
    if node.allowed.as_ref() == Some(&node.desired) {
        notes.insert(names::ALLOWED_CONFIG, None);
    }
    if lacks_its_record(view, node) {
        notes.insert(names::PERMIT_CHANGE, Some(node.desired.clone()));
    }
    if node.begun_release.as_deref() != release {
        notes.insert(names::BEGUN_RELEASE, release.map(str::to_owned));
    }
    let single = node.topology.as_deref() == Some(SINGLE_REPLICA);
    match view.topology {
        Topology::Single if !single => {
            notes.insert(names::CONTROL_PLANE_TOPOLOGY, Some(SINGLE_REPLICA.to_owned()));
        }
        Topology::Several if single => {
            notes.insert(names::CONTROL_PLANE_TOPOLOGY, None);
        }
        Topology::Single | Topology::Several => {}
    }
    notes
}

/// Whether 0.1.0 began a node that is still on its way: its mark had no record of the change, and the ledger proves it.
fn lacks_its_record(view: &PoolView<'_>, node: &SeenNode) -> bool {
    let begun = view.pool.ledger.get(&node.name);
    node.order == Order::Given
        && node.current != node.desired
        && node.permit_change.is_none()
        && begun.is_some_and(|entry| entry.config == node.desired)
}
