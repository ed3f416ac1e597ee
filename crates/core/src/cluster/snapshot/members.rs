//! Which nodes belong to a pool? An index that is made when somebody first asks, and kept true from then on.
//!
//! A node is written every few seconds and belongs where it did, so most changes replace one entry. Labels that change move one node; a
//! pool that comes, goes or selects others may move any, and then the index is made anew.

use std::{cell::OnceCell, collections::BTreeMap};

use super::{Snapshot, gated, machine, pools};
use crate::{
    cluster::seen::{Seen, SeenMachine},
    node::membership::Membership,
    pool::{
        membership::membership,
        seen::{SeenNode, SeenPool},
        selector::Selector,
    },
};

/// The nodes of each pool, by name; nothing before somebody asks.
#[derive(Clone, Debug, Default)]
pub(super) struct Members(OnceCell<Index>);

type Index = BTreeMap<String, BTreeMap<String, Seen>>;

impl Members {
    /// An object came, changed or went.
    pub(super) fn changed<'a>(
        &mut self,
        before: Option<&Seen>,
        after: Option<&Seen>,
        pools: impl Iterator<Item = &'a SeenPool>,
    ) {
        if selects(before) != selects(after) {
            self.0.take();
        }
        let Some(index) = self.0.get_mut() else { return };
        let (was, is) = (before.and_then(machine), after.and_then(machine));
        let stays = was.zip(is).is_some_and(|(was, is)| was.node.labels == is.node.labels);
        if let (Some(was), false) = (was, stays) {
            for nodes in index.values_mut() {
                nodes.remove(&was.node.name);
            }
        }
        let (Some(seen), Some(is)) = (after, is) else { return };
        if stays {
            if let Some(known) = index.values_mut().find_map(|nodes| nodes.get_mut(&is.node.name)) {
                *known = seen.clone();
            }
        } else {
            enter(index, seen, is, pools);
        }
    }
}

/// What a pool selects, and so where nodes may belong.
pub(super) fn selects(seen: Option<&Seen>) -> Option<(&str, &Selector)> {
    let pool = gated(seen?)?.pool.as_deref()?;
    Some((&pool.name, &pool.nodes))
}

fn enter<'a>(
    index: &mut Index,
    seen: &Seen,
    machine: &SeenMachine,
    pools: impl Iterator<Item = &'a SeenPool>,
) {
    if let Membership::Of(home) = membership(&machine.node, pools) {
        let name = machine.node.name.clone();
        index.entry(home.to_owned()).or_default().insert(name, seen.clone());
    }
}

impl Snapshot {
    /// The nodes that belong to the pool of a name, and to it alone, by name.
    pub fn members(&self, pool: &str) -> Vec<&SeenNode> {
        self.machines_of(pool).map(|machine| &machine.node).collect()
    }

    /// The same, with what whoever drains them reads.
    pub fn machines_of(&self, pool: &str) -> impl Iterator<Item = &SeenMachine> {
        let index = self.members.0.get_or_init(|| {
            let mut index = Index::new();
            for (seen, machine) in
                self.seen.values().filter_map(|seen| Some((seen, machine(seen)?)))
            {
                enter(&mut index, seen, machine, pools(&self.seen));
            }
            index
        });
        index.get(pool).into_iter().flat_map(BTreeMap::values).filter_map(machine)
    }

    /// The pool that a node belongs to; none if it belongs to none, or if several claim it.
    pub fn home(&self, node: &SeenNode) -> Option<&SeenPool> {
        match self.membership(node) {
            Membership::Of(name) => self.pool(name),
            Membership::Nowhere | Membership::Disputed(_) => None,
        }
    }

    /// Where a node belongs.
    pub fn membership(&self, node: &SeenNode) -> Membership<'_> {
        membership(node, self.pools())
    }
}
