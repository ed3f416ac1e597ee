//! Who goes next while nothing changes but that nodes come back and the gate opens and shuts? The line that waits, kept between decisions.
//!
//! [`decide`](super::decide) looks at every node of a pool each time. An operator does that when something happens in its cluster; a
//! forecast does it whenever one of a thousand nodes is back, tens of thousands of times for one year, and that is a thousand times the
//! work that there is. A line is what a rollout finds by looking, and what changes of it when one node is back is the place of that node.
//! Who may be begun, who comes first and how many may be away is asked of the functions that a rollout asks.
//!
//! - POOL-2: nodes that are away count, whatever the reason.
//! - POOL-3: the order is that of the rollout.
//!
//! Only the plain case has a line: a pool that nothing stops, whose nodes go by the gate and by nothing else. Whoever has none decides.

use std::borrow::Borrow;

use api::machine::names::{ARBITER, MASTER};
use schedule::Instant;

use super::{
    PoolView,
    ledger::ServerTime,
    may_begin,
    rollout::{InLedger, Rank, can_begin},
    seen::SeenNode,
    target::{Shelf, Target},
};
use crate::gate::{Gate, Permit, change::ChangeId};

/// The nodes of a pool that wait, in order.
#[derive(Clone, Debug)]
pub(crate) struct Line<R> {
    /// The configuration that they go to.
    pub(crate) config: String,
    /// The gate, as it is for that configuration (OVR-2).
    gate: Gate<R>,
    /// How many may be away.
    limit: usize,
    /// How many are.
    away: usize,
    /// Who waits; the last goes first.
    waiting: Vec<Waiting>,
}

/// A node that waits: its place in the pool, and how old the configuration is that it runs.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    place: usize,
    age: Instant,
}

impl Waiting {
    fn rank<'a>(&self, nodes: &'a [impl Borrow<SeenNode>]) -> Option<Rank<'a>> {
        Some(Rank::new(nodes.get(self.place)?.borrow(), self.age))
    }
}

impl<R: Clone> Line<R> {
    /// The line of a pool; none if anything but its gate decides about its nodes. Places are those of the nodes in the view.
    pub(crate) fn form(view: &PoolView<'_>, gate: &Gate<R>, now: Instant) -> Option<Self> {
        let shelf = Shelf::new(view.pool, view.rendered.iter().copied());
        let mut problems = Vec::new();
        let target = Target::of(view.pool, &shelf, &mut problems)?;
        let has_voters = [MASTER, ARBITER].contains(&view.pool.name.as_str());
        let is_stopped = !problems.is_empty() || !view.pool.problems.is_empty() || !may_begin(view);
        let has_consent = view.nodes.iter().any(|node| node.allowed.is_some());
        let has_bypass = view.sources.iter().any(|source| source.bypass.is_some());
        if has_voters || is_stopped || has_consent || has_bypass {
            return None;
        }
        let config = target.config.name.clone();
        let server = ServerTime::new(now, view.seconds_ahead);
        let (mut away, mut waiting, mut entries) = (0, Vec::new(), 0);
        for (place, node) in view.nodes.iter().enumerate() {
            let entry = view.pool.ledger.get(&node.name);
            entries += usize::from(entry.is_some());
            let standing = InLedger::of(node, entry, server);
            // A reservation that nobody has marked runs out some day, and that changes the line by itself.
            if entry.is_some() && standing != InLedger::Begun {
                return None;
            }
            let counted = node.is_unavailable() || standing == InLedger::Begun;
            away += usize::from(counted);
            if node.desired != config && can_begin(node, &config) {
                // One that is stuck takes no room, and so it waits in no line.
                if counted {
                    return None;
                }
                waiting.push(Waiting { place, age: shelf.age(&node.current) });
            }
        }
        if entries != view.pool.ledger.iter().count() {
            return None;
        }
        let rank = |one: &Waiting| one.rank(&view.nodes);
        waiting.sort_unstable_by(|a, b| rank(b).cmp(&rank(a)));
        let gate = gate.clone().going_to(&ChangeId::rendered(&config));
        let limit = view.pool.at_once(view.nodes.len());
        Some(Self { config, gate, limit, away, waiting })
    }
}

impl<R> Line<R> {
    /// A node is back, ready, with a configuration of this age.
    pub(crate) fn back(&mut self, nodes: &[SeenNode], place: usize, age: impl Fn(&str) -> Instant) {
        self.away = self.away.saturating_sub(1);
        let Some(node) = nodes.get(place) else { return };
        if node.desired != self.config && can_begin(node, &self.config) {
            let one = Waiting { place, age: age(&node.current) };
            let rank = one.rank(nodes);
            let at = self.waiting.partition_point(|other| other.rank(nodes) > rank);
            self.waiting.insert(at, one);
        }
    }

    /// The places of those who go now, in order, with the permit that they go by; none while the gate is shut.
    pub(crate) fn go(&mut self, now: Instant) -> Option<(Permit<R>, Vec<usize>)> {
        let permit = self.gate.permit(now).ok()?;
        let room = self.limit.saturating_sub(self.away).min(self.waiting.len());
        let going = self.waiting.split_off(self.waiting.len() - room);
        self.away += room;
        Some((permit, going.into_iter().rev().map(|one| one.place).collect()))
    }
}
