//! What does a pool do at an instant? It is decided as the operator would, and the plan is carried out on values.
//!
//! Nobody else writes here, so there are no conflicts, and a status that nobody reads is not written.

use std::{
    collections::{BTreeMap, BTreeSet},
    mem,
};

use api::machine::names::{self, NodeState};
use schedule::Instant;

use super::{
    Settings,
    chance::Chance,
    course::{Arrival, PoolChange, Run},
};
use crate::{
    document::problem::Problem,
    gate::{Supposed, WhatIf},
    pool::{
        Effect, PoolPlan, PoolView, Stock, decide,
        ledger::Entry,
        line::Line,
        merge::Base,
        render::{Fresh, Rendering},
        seen::{Cordon, Health, Order, SeenNode, SeenPool},
        source::{Rendered, SeenConfig, Source},
        update::SeenUpdate,
    },
};

mod release;

pub(super) use release::{Brought, Offer, Releases};

/// After how many plans at one instant a pool counts as settled: it renders, points to what it rendered, reserves, and has no more
/// to do. More than that would be a plan that never ends, which the laws of `decide` exclude.
const ROUNDS: usize = 16;

/// The source that a change is which nobody has made.
pub(super) const MAKE_BELIEVE: &str = "make-believe";

/// A pool under the virtual clock.
#[derive(Clone, Debug)]
pub(super) struct Pool<'a> {
    pub(super) seen: SeenPool,
    pub(super) gate: WhatIf,
    pub(super) nodes: Vec<SeenNode>,
    pub(super) rendered: Vec<Rendered>,
    pub(super) sources: Vec<&'a Source>,
    pub(super) rendering: Rendering,
    pub(super) base: Base,
    /// The update of the control plane that was under way when the period began, with its record.
    pub(super) update: Option<SeenUpdate>,
    pub(super) changes: Vec<PoolChange>,
    /// When make-believe changes arrive, the next one last.
    pub(super) arrivals: Vec<Instant>,
    /// How many of them have arrived.
    pub(super) arrived: usize,
    /// The nodes on their way, by when they are back.
    pub(super) ends: BTreeSet<(Instant, usize)>,
    pub(super) wake: Option<Instant>,
    /// What was wrong when it was last decided.
    pub(super) problems: Vec<Problem>,
    /// The pool it waited for when it was last decided.
    pub(super) waits_for: Option<&'static str>,
    /// Where each node stands in `nodes`, by name.
    pub(super) places: BTreeMap<String, usize>,
    /// How many nodes rest at each configuration.
    pub(super) resting: BTreeMap<String, usize>,
    /// What releases have brought, and to whom.
    pub(super) releases: Releases,
    /// Who waits, while nothing but the gate and its own nodes decides.
    pub(super) line: Option<Box<Line<Supposed>>>,
    /// How it finds out who goes next.
    pub(super) look: Look,
}

/// How a pool finds out who goes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Look {
    /// By the line of those who wait, where there is one.
    AtLine,
    /// By looking at every node each time, as the operator does; tests compare both.
    #[cfg_attr(not(test), expect(dead_code, reason = "tests compare both ways"))]
    AtAll,
}

impl Pool<'_> {
    /// Brings what happens until an instant: nodes that are back, changes that arrive. Whether anything did.
    pub(super) fn deliver(&mut self, now: Instant, settings: &Settings) -> bool {
        let mut moved = false;
        while let Some((at, place)) = self.ends.first().copied().filter(|(at, _)| *at <= now) {
            self.ends.pop_first();
            self.arrive_back(place, at);
            moved = true;
        }
        while self.arrivals.last().is_some_and(|at| *at <= now) {
            self.arrivals.pop();
            // Something else than the gate and its own nodes has changed.
            self.line = None;
            self.take_change();
            moved = true;
        }
        while let Some(offer) = self.releases.planned.pop_if(|offer| offer.at <= now) {
            self.take_release(offer);
            moved = true;
        }
        if moved || now == settings.range.start {
            self.wake = Some(now);
        }
        moved
    }

    pub(super) fn is_due(&self, now: Instant) -> bool {
        self.wake.is_some_and(|wake| wake <= now)
    }

    /// The next instant after now at which something happens.
    pub(super) fn next(&self, now: Instant) -> Option<Instant> {
        let end = self.ends.first().map(|(at, _)| *at);
        let planned = self.releases.planned.last().map(|offer| offer.at);
        let arrival = self.arrivals.last().copied().into_iter().chain(planned);
        self.wake.into_iter().chain(end).chain(arrival).filter(|at| *at > now).min()
    }

    /// Plans and executes until nothing is left to do at this instant.
    pub(super) fn settle(
        &mut self,
        waits_for: Option<&'static str>,
        now: Instant,
        settings: &Settings,
    ) {
        self.waits_for = waits_for;
        if self.step(now, settings) {
            return;
        }
        for _ in 0..ROUNDS {
            let plan = self.plan(now);
            self.wake = plan.wake;
            self.problems = plan.problems;
            // A plan that has been executed leaves nothing to do, unless it brought a configuration to plan with.
            let again = plan.effects.iter().any(brings_config);
            for effect in plan.effects {
                self.act(effect, now, settings);
            }
            if !again {
                break;
            }
        }
        // A reservation lapses that nobody marked. Here all are marked at once, so only those of the input can.
        if self.all_marked() {
            self.wake = self.gate.set().next_change(now);
        }
        self.form_line(now);
    }

    /// The same where a line waits: whoever has room goes, and nothing else happens. Whether one does.
    fn step(&mut self, now: Instant, settings: &Settings) -> bool {
        let Some(line) = &mut self.line else { return false };
        if let Some((permit, going)) = line.go(now) {
            let (config, basis) = (line.config.clone(), permit.basis().to_string());
            for place in going {
                self.reserve(place, &config, permit.write_by());
                self.mark(place, &config, (permit.write_by(), &basis), (now, settings));
            }
        }
        self.wake = self.gate.set().next_change(now);
        true
    }

    fn form_line(&mut self, now: Instant) {
        if self.look == Look::AtLine {
            self.line = Line::form(&self.view(), &self.gate, now).map(Box::new);
        }
    }

    fn all_marked(&self) -> bool {
        let marked = |name: &str, config: &str| {
            self.place(name)
                .and_then(|place| self.nodes.get(place))
                .is_some_and(|node| node.desired == config)
        };
        self.seen.ledger.iter().all(|(name, entry)| marked(name, &entry.config))
    }

    fn place(&self, name: &str) -> Option<usize> {
        self.places.get(name).copied()
    }

    /// Lets every node that was begun finish, whatever the time (POOL-1).
    pub(super) fn let_finish(&mut self) {
        for (at, place) in mem::take(&mut self.ends) {
            self.arrive_back(place, at);
        }
    }

    fn plan(&self, now: Instant) -> PoolPlan<Supposed> {
        decide(&self.view(), &self.gate, now)
    }

    fn view(&self) -> PoolView<'_> {
        let stock = Stock {
            nodes: self.nodes.iter().collect(),
            rendered: self.rendered.iter().collect(),
            sources: self.sources.iter().copied().chain(&self.releases.sources).collect(),
        };
        PoolView {
            waits_for: self.waits_for,
            control_plane_update: self.update.as_ref(),
            ..PoolView::new(&self.seen, stock, &self.rendering, &self.base)
        }
    }

    fn act(&mut self, effect: Effect<Supposed>, now: Instant, settings: &Settings) {
        match effect {
            Effect::CreateRendered(mut document) => {
                if let Some(metadata) = document.get_mut("metadata") {
                    metadata["creationTimestamp"] = now.to_string().into();
                }
                if let SeenConfig::Rendered(rendered) = SeenConfig::new(&document) {
                    self.rendered.push(rendered);
                }
            }
            Effect::RecordSources { name, digests, .. } => {
                let stored = self.rendered.iter_mut().find(|config| config.name == name);
                if let (Some(stored), Ok(digests)) = (stored, serde_json::from_str(&digests)) {
                    stored.digests = digests;
                }
            }
            Effect::SetConfiguration(_) => self.set_configuration(now),
            Effect::WriteLedger { ledger, .. } => self.seen.ledger = ledger,
            Effect::SetDesiredConfig { node, config, until, permit, .. } => {
                if let Some(place) = self.place(&node) {
                    let basis = permit.basis().to_string();
                    self.mark(place, &config, (until, &basis), (now, settings));
                }
            }
            Effect::Adopt { node, .. } => {
                if let Some(found) = self.place(&node).and_then(|place| self.nodes.get_mut(place)) {
                    found.order = Order::Given;
                }
            }
            // What is noted on nodes decides nothing here, but for consent that is spent.
            Effect::Note { node, annotations, .. } => {
                let spent = annotations.contains_key(names::ALLOWED_CONFIG);
                let place = self.place(&node).filter(|_| spent);
                if let Some(found) = place.and_then(|place| self.nodes.get_mut(place)) {
                    found.allowed = None;
                }
            }
            Effect::RecordRelease { record, .. } => {
                if let Some(update) = &mut self.update {
                    update.record = record;
                }
            }
        }
    }

    /// What stands in the ledger before a node is marked.
    fn reserve(&mut self, place: usize, config: &str, until: Instant) {
        let Some(node) = self.nodes.get(place) else { return };
        self.seen.ledger.reserve(&node.name, Entry { config: config.to_owned(), until });
    }

    /// A node is told to go. The mark leaves on it the record that masters go on by (GATE-10).
    fn mark(
        &mut self,
        place: usize,
        config: &str,
        (until, basis): (Instant, &str),
        (now, settings): (Instant, &Settings),
    ) {
        let Some(node) = self.nodes.get_mut(place) else { return };
        node.order = Order::Given;
        node.permit_until = Some(until);
        node.permit_change = Some(config.to_owned());
        node.permit_basis = Some(basis.to_owned());
        self.begin(place, config, (now, Some(basis.to_owned())), settings);
    }

    /// The pool points to what was last rendered: from now on that is the change.
    fn set_configuration(&mut self, now: Instant) {
        let Some(fresh) = &self.rendering.config else { return };
        self.seen.newest = Some(fresh.name.clone());
        if let Some(brought) = self.releases.newest() {
            self.releases.brings.insert(fresh.name.clone(), brought);
        }
        let before = self.changes.last_mut().filter(|change| change.finished.is_none());
        if let Some(before) = before {
            before.superseded = Some(now);
        }
        let is_known = self.arrived == 0 && self.releases.has_nothing_new();
        let arrival = if is_known { Arrival::Pending } else { Arrival::At(now) };
        self.changes.push(PoolChange::new(&fresh.name, arrival));
        self.note_finished(now);
    }

    /// A machine sets out.
    pub(super) fn begin(
        &mut self,
        place: usize,
        config: &str,
        (now, basis): (Instant, Option<String>),
        settings: &Settings,
    ) {
        let Some(node) = self.nodes.get_mut(place) else { return };
        if node.is_done()
            && let Some(count) = self.resting.get_mut(&node.current)
        {
            *count -= 1;
        }
        config.clone_into(&mut node.desired);
        node.state = NodeState::Working;
        let mut chance = Chance::of(settings.seed, &node.name, config);
        let drained = now.saturating_add(chance.around(settings.lengths.drain));
        let end = drained.saturating_add(chance.around(settings.lengths.reboot));
        self.ends.insert((end, place));
        let run = Run { node: node.name.clone(), start: now, drained, end, basis };
        let known = self.changes.iter().rposition(|change| change.config == config);
        let place = known.unwrap_or_else(|| {
            // Older than all that is known here, and on its way: the newest change is still the last.
            let older =
                PoolChange { superseded: Some(now), ..PoolChange::new(config, Arrival::Pending) };
            self.changes.insert(0, older);
            0
        });
        if let Some(change) = self.changes.get_mut(place) {
            change.started.get_or_insert(now);
            change.runs.push(run);
        }
    }

    /// A node is back.
    fn arrive_back(&mut self, place: usize, at: Instant) {
        let Some(node) = self.nodes.get_mut(place) else { return };
        node.current.clone_from(&node.desired);
        node.state = NodeState::Done;
        node.health = Health::Healthy;
        node.cordon = Cordon::Open;
        match self.resting.get_mut(&node.current) {
            Some(count) => *count += 1,
            None => *self.resting.entry(node.current.clone()).or_default() += 1,
        }
        let name = node.name.clone();
        self.note_release(place);
        if let Some(line) = &mut self.line {
            // As a decision would find: it is where it was told to go.
            self.seen.ledger.release(&name);
            let age = |name: &str| {
                let known = self.rendered.iter().find(|config| config.name == name);
                known.and_then(|config| config.created).unwrap_or(Instant::MIN)
            };
            line.back(&self.nodes, place, age);
        }
        self.note_finished(at);
    }

    /// Counts anew which nodes rest where.
    pub(super) fn count_resting(&mut self) {
        self.resting.clear();
        for node in self.nodes.iter().filter(|node| node.is_done()) {
            *self.resting.entry(node.current.clone()).or_default() += 1;
        }
    }

    /// A change that all nodes have is finished.
    fn note_finished(&mut self, at: Instant) {
        let Some(first) = self.nodes.first() else { return };
        if self.resting.get(&first.current) != Some(&self.nodes.len()) {
            return;
        }
        let change = self.changes.iter_mut().rfind(|change| change.config == first.current);
        if let Some(change) = change.filter(|change| change.finished.is_none()) {
            change.finished = Some(at);
        }
        // The masters are the last part of an update of the control plane (CV-1).
        if let Some(update) = self.update.as_mut().filter(|_| !self.releases.is_awaited) {
            update.release = None;
        }
    }

    /// Somebody changes the configuration of the pool. What it holds does not matter here: that it is another one does.
    fn take_change(&mut self) {
        self.arrived += 1;
        self.forget_old_configs();
        let newest = self.seen.newest.as_deref();
        let Some(known) = self.rendered.iter().find(|config| Some(config.name.as_str()) == newest)
        else {
            return;
        };
        let mut fresh = as_rendered(known);
        fresh.name = format!("rendered-{}-change-{}", self.seen.name, self.arrived);
        fresh.sources.retain(|(name, _)| name != MAKE_BELIEVE);
        fresh.sources.push((MAKE_BELIEVE.to_owned(), self.arrived.to_string()));
        self.rendering = Rendering { config: Some(fresh), problems: Vec::new() };
    }

    /// Forgets configurations that nothing names (POOL-9).
    pub(super) fn forget_old_configs(&mut self) {
        let Self { nodes, seen, rendered, .. } = self;
        rendered.retain(|config| {
            let named = |name: &Option<String>| name.as_ref() == Some(&config.name);
            named(&seen.newest)
                || named(&seen.converged)
                || seen.goal() == Some(config.name.as_str())
                || nodes.iter().any(|node| [&node.current, &node.desired].contains(&&config.name))
        });
    }
}

/// Whether an effect changes what nodes are to get.
fn brings_config(effect: &Effect<Supposed>) -> bool {
    match effect {
        // What was just recorded of a release lets masters go.
        Effect::CreateRendered(_)
        | Effect::RecordSources { .. }
        | Effect::SetConfiguration(_)
        | Effect::RecordRelease { .. } => true,
        Effect::WriteLedger { .. }
        | Effect::SetDesiredConfig { .. }
        | Effect::Adopt { .. }
        | Effect::Note { .. } => false,
    }
}

/// A stored configuration as if it had just been rendered: nothing then remains to be rendered.
pub(super) fn as_rendered(stored: &Rendered) -> Fresh {
    let sources = stored.digests.iter().map(|(name, digest)| (name.clone(), digest.clone()));
    Fresh {
        name: stored.name.clone(),
        spec: stored.spec.clone(),
        sources: sources.collect(),
        size: 0,
    }
}
