//! Which nodes belong to a pool? An index that is made when somebody first asks, and kept true from then on.
//!
//! A node is written every few seconds and belongs where it did, so most changes replace one entry. Labels that change move one node; a
//! pool that comes, goes or selects others may move any, and then the index is made anew.

use std::{cell::OnceCell, collections::BTreeMap};

use api::kinds;

use super::{Snapshot, gated, machine, pools};
use crate::{
    cluster::seen::{Seen, SeenMachine},
    document::key::Key,
    node::membership::Membership,
    pool::{
        disputed::Disputed,
        membership::membership,
        seen::{SeenNode, SeenPool},
        selector::Selector,
    },
};

/// The nodes of each pool, by name; nothing before somebody asks.
#[derive(Clone, Debug, Default)]
pub(super) struct Members(OnceCell<Index>);

#[derive(Clone, Debug, Default)]
struct Index {
    /// The nodes that belong to a pool.
    of: BTreeMap<String, BTreeMap<String, Seen>>,
    /// The nodes that belong to nobody, each with the pools that claim it, or may claim it.
    disputed: BTreeMap<String, Vec<String>>,
}

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
            for nodes in index.of.values_mut() {
                nodes.remove(&was.node.name);
            }
            index.disputed.remove(&was.node.name);
        }
        let (Some(seen), Some(is)) = (after, is) else { return };
        if stays {
            let mut all = index.of.values_mut();
            if let Some(known) = all.find_map(|nodes| nodes.get_mut(&is.node.name)) {
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
    let name = machine.node.name.clone();
    match membership(&machine.node, pools) {
        Membership::Of(home) => {
            index.of.entry(home.to_owned()).or_default().insert(name, seen.clone());
        }
        Membership::Disputed(by) => {
            index.disputed.insert(name, by.into_iter().map(str::to_owned).collect());
        }
        Membership::Nowhere => {}
    }
}

impl Snapshot {
    /// The nodes that belong to the pool of a name, and to it alone, by name.
    pub fn members(&self, pool: &str) -> Vec<&SeenNode> {
        self.machines_of(pool).map(|machine| &machine.node).collect()
    }

    /// The same, with what whoever drains them reads.
    pub fn machines_of(&self, pool: &str) -> impl Iterator<Item = &SeenMachine> {
        self.index().of.get(pool).into_iter().flat_map(BTreeMap::values).filter_map(machine)
    }

    /// The nodes that a pool claims, or may claim, and that belong to nobody, by name.
    pub fn disputed(&self, pool: &str) -> impl Iterator<Item = Disputed<'_>> {
        let claimed =
            self.index().disputed.iter().filter(move |(_, by)| by.iter().any(|by| by == pool));
        claimed.filter_map(|(node, by)| {
            let machine = machine(self.get(&Key::new(&kinds::NODE, None, node))?)?;
            let chooses = |pool: &&str| {
                self.pool(pool).is_some_and(|pool| pool.nodes.chooses(&machine.node.labels))
            };
            let (claimed, doubtful) = by.iter().map(String::as_str).partition(chooses);
            Some(Disputed { node, claimed, doubtful })
        })
    }

    fn index(&self) -> &Index {
        self.members.0.get_or_init(|| {
            let mut index = Index::default();
            for (seen, machine) in
                self.seen.values().filter_map(|seen| Some((seen, machine(seen)?)))
            {
                enter(&mut index, seen, machine, pools(&self.seen));
            }
            index
        })
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
