//! Which nodes are begun now? As many as the budget has room for, the oldest configuration first, each with a permit.
//!
//! - POOL-1: only giving a node its desired configuration is gated. Nodes past that point are left alone.
//! - POOL-2: nodes begun and nodes unavailable count together, each once, and never exceed the limit. What was begun is told by
//!   the ledger and not by what nodes look like, because that may be old.
//! - GATE-10: what has begun is read from records: the change in the ledger, and the update of the control plane.
//! - POOL-3: oldest rendered configuration, then zone, then age of the node, then name.

use std::{
    cmp::Ordering,
    collections::{BTreeMap, BTreeSet},
};

use api::machine::names::MASTER;
use schedule::Instant;

use super::{
    PoolView,
    begun::{self, Begun, BegunChange},
    bypass::{Bypass, Lacking},
    consent::Consent,
    ledger::{Change, Entry, Ledger, ServerTime},
    seen::{Cordon, Health, SeenNode},
    source::Rendered,
    target::{Shelf, Target},
    update::Covering,
};
use crate::gate::{Basis, Gate, Hold, Permit, change::ChangeId};

/// A node that is to get its desired configuration now.
#[derive(Clone, Debug)]
pub(crate) struct Mark<'a, R> {
    pub(crate) node: &'a SeenNode,
    pub(crate) config: &'a Rendered,
    pub(crate) permit: Permit<R>,
    /// When the mark must have been written: the end of its entry in the ledger.
    pub(crate) until: Instant,
}

/// What follows for the nodes of a pool.
#[derive(Debug)]
pub(crate) struct Rollout<'a, R> {
    /// The ledger as it must read before any node is marked.
    pub(crate) ledger: Ledger,
    /// The nodes to mark.
    pub(crate) marks: Vec<Mark<'a, R>>,
    /// When a reservation that nobody marked can be given back.
    pub(crate) wake: Option<Instant>,
}

/// What lets nodes go, asked once for the whole pool.
pub(crate) struct Ways<'a, R> {
    target: Target<'a>,
    gate: Result<Permit<R>, Hold>,
    /// The change to the masters that the ledger records.
    change: Option<BegunChange<'a>>,
    /// The update of the control plane that is recorded, with where it lets a master go that is at a configuration.
    update: Option<(Covering<'a>, BTreeMap<&'a str, &'a Rendered>)>,
    /// What each configuration lacks of that which bypasses change management.
    lacking: BTreeMap<&'a str, Option<Lacking>>,
    /// Whether a freeze holds, which neither bypass nor consent passes (GATE-15).
    frozen: bool,
    now: Instant,
}

impl<'a, R: Clone> Ways<'a, R> {
    pub(crate) fn new(
        view: &PoolView<'a>,
        (target, shelf): (Target<'a>, &Shelf<'a>),
        bypass: &Bypass<'a>,
        (gate, now): (&Gate<R>, Instant),
    ) -> Self {
        let mut lacking = BTreeMap::new();
        for node in &view.nodes {
            let desired = node.desired.as_str();
            lacking.entry(desired).or_insert_with(|| {
                // A node that came from another pool has that pool's configuration. What nobody knows proves nothing: it opens no gate.
                let has = view.rendered.iter().copied().find(|config| config.name == desired);
                if desired.is_empty() { bypass.lacking(None) } else { bypass.lacking(Some(has?)) }
            });
        }
        // Its record goes in this very plan, and nobody goes by it any more.
        let update = Covering::of(view).filter(|covering| !covering.is_over(view, &target, shelf));
        let update = update.map(|covering| {
            let covered = lacking
                .keys()
                .filter_map(|at| Some((*at, covering.takes(at, view, &target, shelf)?)))
                .collect();
            (covering, covered)
        });
        let change = BegunChange::of(view, shelf);
        let frozen = gate.is_frozen(now);
        // An override may be for another configuration than the one that nodes would get here (OVR-2).
        let gate = gate.clone().going_to(&ChangeId::rendered(&target.config.name));
        Self { target, gate: gate.permit(now), change, update, lacking, frozen, now }
    }

    /// Where nodes go.
    pub(crate) fn target(&self) -> &'a Rendered {
        self.target.config
    }

    /// Whether the gate itself is open.
    pub(crate) fn gate(&self) -> &Result<Permit<R>, Hold> {
        &self.gate
    }

    /// What a node lacks of that which bypasses change management; nothing while a freeze holds, which nobody bypasses.
    pub(crate) fn lacks(&self, node: &SeenNode) -> Option<&Lacking> {
        if self.frozen {
            return None;
        }
        self.lacking.get(node.desired.as_str())?.as_ref()
    }

    /// What lets every node that lacks a configuration go there although the gate is shut; none if it is open, or if one of them
    /// waits for it.
    pub(crate) fn despite_gate(
        &self,
        nodes: &[&SeenNode],
        config: &str,
    ) -> Option<BTreeSet<Basis>> {
        if self.gate.is_ok() {
            return None;
        }
        let mut bases = BTreeSet::new();
        for node in nodes.iter().filter(|node| !node.is_silent() && node.desired != config) {
            let way = self.of(node)?;
            if self.config(&way).name != config {
                return None;
            }
            bases.insert(self.permit(&way).basis().clone());
        }
        (!bases.is_empty()).then_some(bases)
    }

    /// The change that the ledger records, and the configuration that it is finished with (CV-2).
    pub(crate) fn change(&self) -> Option<&BegunChange<'a>> {
        self.change.as_ref()
    }

    /// The update of the control plane that is recorded (CV-1).
    pub(crate) fn update(&self) -> Option<&Covering<'a>> {
        self.update.as_ref().map(|(covering, _)| covering)
    }

    /// Where a change that has begun takes a node, and the proof that it has: the one of the ledger before the update, because what the
    /// gate permitted later contains what it permitted before. The update takes a node further that is there only once all are: else
    /// the two would send it to and fro.
    pub(crate) fn begun(&self, node: &SeenNode) -> Option<(&Begun, &'a Rendered)> {
        if let Some(change) = &self.change {
            if change.takes(node) {
                return Some((&change.proof, change.config));
            }
            if node.desired == change.config.name {
                return None;
            }
        }
        let (covering, covered) = self.update.as_ref()?;
        let config = covered.get(node.desired.as_str())?;
        (config.name != node.desired).then_some((&covering.proof, *config))
    }

    /// What lets a node go elsewhere now, if anything does.
    fn of(&self, node: &SeenNode) -> Option<Way<'_, 'a, R>> {
        let behind = node.desired != self.target.config.name;
        if let Ok(permit) = &self.gate {
            return behind.then_some(Way::Gate(permit));
        }
        if let Some((proof, config)) = self.begun(node) {
            return Some(Way::Begun(proof, config));
        }
        if let Some(lacking) = self.lacks(node).filter(|_| behind) {
            return Some(Way::Bypass(lacking));
        }
        if self.frozen {
            return None;
        }
        Consent::of(node, &self.target.config.name).filter(|_| behind).map(Way::Consent)
    }

    /// Where a way leads.
    fn config(&self, way: &Way<'_, 'a, R>) -> &'a Rendered {
        match way {
            Way::Begun(_, config) => config,
            Way::Gate(_) | Way::Bypass(_) | Way::Consent(_) => self.target.config,
        }
    }

    /// The permit that a way gives.
    fn permit(&self, way: &Way<'_, '_, R>) -> Permit<R> {
        match way {
            Way::Gate(permit) => (*permit).clone(),
            Way::Begun(proof, _) => Permit::proven(*proof, self.now),
            Way::Bypass(proof) => Permit::proven(*proof, self.now),
            Way::Consent(proof) => Permit::proven(proof, self.now),
        }
    }

    /// The way of a node that can take a new configuration at all.
    fn begin(&self, node: &SeenNode) -> Option<Way<'_, 'a, R>> {
        let way = self.of(node)?;
        can_begin(node, &self.config(&way).name).then_some(way)
    }

    /// The record of the change that these marks begin: only the gate begins one for the whole pool, and only of masters it is asked
    /// (GATE-10).
    fn record(&self, view: &PoolView<'_>, marks: &[Mark<'_, R>]) -> Option<Change> {
        let permit = self.gate.as_ref().ok()?;
        let mark = marks.first().filter(|_| view.pool.name == MASTER)?;
        let (config, basis) = (mark.config.name.clone(), permit.basis().to_string());
        Some(Change { config, basis, at: self.now })
    }

    fn mark(&self, node: &'a SeenNode, way: &Way<'_, 'a, R>) -> Mark<'a, R> {
        let permit = self.permit(way);
        Mark { node, config: self.config(way), until: permit.write_by(), permit }
    }
}

/// What lets one node go: the proof that its permit is made from.
enum Way<'w, 'a, R> {
    Gate(&'w Permit<R>),
    Begun(&'w Begun, &'a Rendered),
    Bypass(&'w Lacking),
    Consent(Consent),
}

/// Whether a node can take a new configuration at all: one that is where it was told to go, at none, or stuck on its way; and open for
/// workloads, unless its own change emptied it and then failed, or an administrator who emptied it asks for it by name.
pub(crate) fn can_begin(node: &SeenNode, config: &str) -> bool {
    let settled = node.is_done() || node.is_blank() || node.is_failing();
    // Consent to one configuration lets nobody take an emptied node to another (POOL-7).
    let named = || Consent::of(node, config).is_some();
    let stuck = node.is_failing() && node.cordon == Cordon::Emptied;
    let able = node.is_ready() || node.health == Health::Healthy && (stuck || named());
    settled && able
}

/// Plans the nodes of a pool. Without ways nothing new begins, and the ledger is only tidied.
pub(crate) fn rollout<'a, R: Clone>(
    view: &PoolView<'a>,
    shelf: &Shelf<'a>,
    ways: Option<&Ways<'a, R>>,
    now: Instant,
) -> Rollout<'a, R> {
    let known = &view.pool.ledger;
    let server = ServerTime::new(now, view.seconds_ahead);
    let mut plan = Rollout { ledger: known.clone(), marks: Vec::new(), wake: None };
    if known.change().is_some_and(|change| begun::is_over(change, view)) {
        plan.ledger.end_change();
    }
    let (mut candidates, mut reserved) = (Vec::new(), Vec::new());
    let mut occupied = 0;
    for node in &view.nodes {
        let entry = known.get(&node.name);
        let standing = InLedger::of(node, entry, server);
        if standing == InLedger::Over {
            plan.ledger.release(&node.name);
        }
        let counted =
            node.is_unavailable() || matches!(standing, InLedger::Reserved | InLedger::Begun);
        occupied += usize::from(counted);
        let Some((ways, way)) = ways.and_then(|ways| Some((ways, ways.begin(node)?))) else {
            continue;
        };
        if let (InLedger::Reserved, Some(entry)) = (standing, entry) {
            // Reserved by a planner that did not come to mark it: finished here, and only as it was reserved.
            let mark = ways.mark(node, &way);
            if mark.config.name == entry.config {
                reserved.push(Mark { until: mark.until.min(entry.until), ..mark });
            }
            continue;
        }
        let rank = Rank::new(node, shelf.age(&node.current));
        candidates.push(Candidate { node, way, rank, counted });
    }
    occupied += release_strangers(view, &mut plan, server);
    plan.wake = plan.ledger.next_lapse(server, now);
    defer_operator(&mut candidates, view);
    let limit = view.pool.at_once(view.nodes.len());
    // One that was stuck when it was reserved took no room then; if it is well again, and there is no room now, it is not touched.
    reserved.retain(|mark| mark.node.is_unavailable() || occupied <= limit);
    plan.marks = reserved;
    let going = first(candidates, limit.saturating_sub(occupied));
    for mark in
        ways.into_iter().flat_map(|ways| going.iter().map(|one| ways.mark(one.node, &one.way)))
    {
        let entry = Entry { config: mark.config.name.clone(), until: mark.until };
        plan.ledger.reserve(&mark.node.name, entry);
        plan.marks.push(mark);
    }
    if let Some(change) = ways.and_then(|ways| ways.record(view, &plan.marks)) {
        plan.ledger.record(change);
    }
    plan
}

/// How a node stands with the ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InLedger {
    /// Not in it.
    Free,
    /// Reserved, not marked, and somebody may still mark it.
    Reserved,
    /// Marked, and on its way.
    Begun,
    /// Finished, or reserved by somebody who can no longer mark it: the entry can go.
    Over,
}

impl InLedger {
    pub(crate) fn of(node: &SeenNode, entry: Option<&Entry>, server: ServerTime) -> Self {
        match entry {
            None => Self::Free,
            Some(entry) if node.desired == entry.config && node.is_done() => Self::Over,
            Some(entry) if node.desired == entry.config => Self::Begun,
            Some(entry) if entry.may_be_marked(server) => Self::Reserved,
            Some(_) => Self::Over,
        }
    }
}

/// Entries of nodes that are not in the pool (any more): kept while somebody may still mark them. How many of them count.
fn release_strangers<R>(
    view: &PoolView<'_>,
    plan: &mut Rollout<'_, R>,
    server: ServerTime,
) -> usize {
    if view.pool.ledger.is_empty() {
        return 0;
    }
    let members: BTreeSet<&str> = view.nodes.iter().map(|node| node.name.as_str()).collect();
    let strangers = view.pool.ledger.iter().filter(|(name, _)| !members.contains(name));
    let (kept, over): (Vec<_>, Vec<_>) =
        strangers.partition(|(_, entry)| entry.may_be_marked(server));
    for (name, _) in over {
        plan.ledger.release(name);
    }
    kept.len()
}

/// A node that could be begun.
struct Candidate<'a, 'w, R> {
    node: &'a SeenNode,
    way: Way<'w, 'a, R>,
    rank: Rank<'a>,
    /// Whether it takes room in the budget already.
    counted: bool,
}

/// Who comes first: the age of the configuration it runs, its zone with those without one last, its own age, its name (POOL-3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Rank<'a> {
    age: Instant,
    is_nowhere: bool,
    zone: Option<&'a str>,
    created: Option<Instant>,
    name: &'a str,
}

impl<'a> Rank<'a> {
    /// Of a node that runs a configuration of this age.
    pub(crate) fn new(node: &'a SeenNode, age: Instant) -> Self {
        let zone = node.zone();
        Self { age, is_nowhere: zone.is_none(), zone, created: node.created, name: &node.name }
    }

    /// Whose it is.
    pub(crate) fn name(&self) -> &'a str {
        self.name
    }
}

impl<R> Candidate<'_, '_, R> {
    fn order(&self, other: &Self) -> Ordering {
        self.rank.cmp(&other.rank)
    }
}

/// The candidates that go, in order: the first for whom there is room, and all that take none, because they count already: nodes
/// that are stuck, or emptied by an administrator who asks for them.
fn first<'a, 'w, R>(
    candidates: Vec<Candidate<'a, 'w, R>>,
    room: usize,
) -> Vec<Candidate<'a, 'w, R>> {
    let (mut going, mut others): (Vec<_>, Vec<_>) =
        candidates.into_iter().partition(|candidate| candidate.counted);
    // Only those that go are put into order: a large pool has thousands that wait.
    if room < others.len() {
        others.select_nth_unstable_by(room, Candidate::order);
        others.truncate(room);
    }
    going.extend(others);
    going.sort_unstable_by(Candidate::order);
    going
}

/// Of several masters, the one that hosts the operator comes another time: its own update must not be what interrupts the rollout.
fn defer_operator<R>(candidates: &mut Vec<Candidate<'_, '_, R>>, view: &PoolView<'_>) {
    if view.pool.name == MASTER && candidates.len() > 1 {
        candidates.retain(|candidate| view.operator_node != Some(candidate.node.name.as_str()));
    }
}
