//! Who goes next in a pool, and how many may be away at once? What a rollout finds when its gate is open, told before it opens.
//!
//! - POOL-2: nodes begun and nodes unavailable count together, each once, and so does what is reserved.
//! - POOL-3: the order is that of the rollout.
//!
//! Nothing is decided here. Of several masters the one that hosts the operator goes last, and only the operator knows which that is.

use std::collections::BTreeSet;

use schedule::Instant;

use super::{
    ledger::ServerTime,
    rollout::{InLedger, Rank, can_begin},
    seen::{SeenNode, SeenPool},
    target::Shelf,
};

/// The nodes of a pool that wait, and the room that there is for them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Queue {
    /// How many may be away at once.
    pub at_once: usize,
    /// How many are away, or are about to be.
    pub away: usize,
    /// Who waits and could go, the first first.
    pub waiting: Vec<String>,
}

impl Queue {
    /// Of a pool that goes to a configuration.
    pub fn new(
        (pool, nodes): (&SeenPool, &[&SeenNode]),
        (shelf, target): (&Shelf<'_>, &str),
        now: Instant,
    ) -> Self {
        let server = ServerTime::new(now, 0);
        let (mut away, mut waiting) = (0, Vec::new());
        for node in nodes {
            let standing = InLedger::of(node, pool.ledger.get(&node.name), server);
            let is_taken = matches!(standing, InLedger::Reserved | InLedger::Begun);
            away += usize::from(node.is_unavailable() || is_taken);
            if node.desired != target && !is_taken && can_begin(node, target) {
                waiting.push(Rank::new(node, shelf.age(&node.current)));
            }
        }
        let members: BTreeSet<&str> = nodes.iter().map(|node| node.name.as_str()).collect();
        let gone = pool
            .ledger
            .iter()
            .filter(|(name, entry)| !members.contains(name) && entry.may_be_marked(server));
        waiting.sort_unstable();
        Self {
            at_once: pool.at_once(nodes.len()),
            away: away + gone.count(),
            waiting: waiting.into_iter().map(|rank| rank.name().to_owned()).collect(),
        }
    }

    /// How many more could go at once.
    pub fn room(&self) -> usize {
        self.at_once.saturating_sub(self.away)
    }
}
