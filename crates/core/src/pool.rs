//! What is to be done about a pool of nodes now? From what was seen, the gate and an instant to a plan.
//!
//! - POOL-1: rendering goes on whatever the gate says; only [`Effect::SetDesiredConfig`] is gated, and it owns its permit.
//! - POOL-2: nodes are reserved in the pool's ledger before they are marked, by compare-and-swap.
//! - GATE-10, GATE-16: what was begun is recorded with the write that began it; `upkeep` keeps the records true.
//! - POOL-5, POOL-7, CV-2: what may go while the gate is shut, each by a rule of its own.
//! - POOL-6: what is pending is judged against the newest configuration.
//! - LIVE-2: a plan says when to look again, no later than the next edge of the gate, so what is pending starts when its window opens.
//! - GATE-8: nothing here asks a node disruption policy.
//!
//! Pure and total: a pool that cannot be understood begins nothing and says why. A plan that has been executed leaves nothing to do.

use std::collections::{BTreeMap, BTreeSet};

use schedule::Instant;
use serde_json::{Value, json};

use api::machine::names;

use crate::{
    document::{
        patch::{StatusPatch, made_from},
        problem::Problem,
    },
    gate::{
        Gate, Permit, Real,
        enforced::Enforcement,
        note::{Note, Weight},
        pending::Pending,
        refusal::Refusals,
    },
};

pub mod begun;
pub mod bypass;
pub mod capacity;
pub mod consent;
pub(crate) mod digest;
pub mod disputed;
pub mod entitled;
mod held;
mod ignition;
pub mod ledger;
pub(crate) mod line;
pub mod master;
pub mod membership;
pub mod merge;
mod pending;
pub mod prune;
pub mod queue;
mod refusal;
pub mod render;
mod report;
mod rollout;
pub mod seen;
pub mod seen_status;
pub mod selector;
pub mod serve;
pub mod source;
pub mod status;
pub mod steer;
pub mod target;
pub mod update;
mod upkeep;
mod words;

use bypass::Bypass;
use disputed::Disputed;
use ledger::Ledger;
use merge::Base;
use render::{LARGEST, Rendering};
use rollout::{Mark, Ways, rollout};
use seen::{Pause, SeenNode, SeenPool};
use source::{Rendered, Source};
use target::{Served, Shelf, Target, served};
use update::{Record, SeenUpdate};

/// What a decision about a pool looks at.
#[derive(Clone, Debug)]
pub struct PoolView<'a> {
    /// The pool.
    pub pool: &'a SeenPool,
    /// The nodes that belong to it, and to it alone (see [`membership`]).
    pub nodes: Vec<&'a SeenNode>,
    /// Rendered configurations; those of other pools are passed over.
    pub rendered: Vec<&'a Rendered>,
    /// The sources that it selects (see [`render::chosen`]).
    pub sources: Vec<&'a Source>,
    /// What its sources come to. Made anew when a source or the pool changes, and kept between decisions.
    pub rendering: &'a Rendering,
    /// What the release brings.
    pub base: &'a Base,
    /// The node that hosts the operator.
    pub operator_node: Option<&'a str>,
    /// The pool that must settle before this one begins a node (see [`master::waits_for`]).
    pub waits_for: Option<&'a str>,
    /// Nodes that the server refused to give a configuration.
    pub refusals: &'a Refusals,
    /// Why whoever carries plans out would start nothing now, whatever the gate says (GATE-11); none if nothing is in the way.
    pub held_back: Option<&'a str>,
    /// The update of the control plane, as `ClusterVersion` and the record on it tell. Its nodes belong to it (CV-1).
    pub control_plane_update: Option<&'a SeenUpdate>,
    /// How many seconds our clock is ahead of the server's, as far as is known; less than nothing if it is behind.
    pub seconds_ahead: i64,
    /// Whether there is any other node in the cluster.
    pub topology: Topology,
    /// The nodes that it claims, or may claim, and that belong to nobody because others do too.
    pub disputed: Vec<Disputed<'a>>,
}

/// What a pool has.
#[derive(Clone, Debug)]
pub struct Stock<'a> {
    /// The nodes that belong to it, and to it alone.
    pub nodes: Vec<&'a SeenNode>,
    /// Rendered configurations; those of other pools are passed over.
    pub rendered: Vec<&'a Rendered>,
    /// The sources that it selects.
    pub sources: Vec<&'a Source>,
}

impl<'a> PoolView<'a> {
    /// Whether it is known which nodes belong to the pool: no other pool claims one of them, and the pool itself can be read.
    pub(crate) fn knows_its_nodes(&self) -> bool {
        self.disputed.is_empty() && self.pool.problems.is_empty()
    }

    /// What is looked at of a pool that has these, where nothing else is in the way.
    pub fn new(
        pool: &'a SeenPool,
        stock: Stock<'a>,
        rendering: &'a Rendering,
        base: &'a Base,
    ) -> Self {
        static NOBODY_REFUSES: Refusals = Refusals::new();
        let Stock { nodes, rendered, sources } = stock;
        Self {
            pool,
            nodes,
            rendered,
            sources,
            rendering,
            base,
            operator_node: None,
            waits_for: None,
            refusals: &NOBODY_REFUSES,
            held_back: None,
            control_plane_update: None,
            seconds_ahead: 0,
            topology: Topology::Several,
            disputed: Vec::new(),
        }
    }
}

/// How many nodes a cluster has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Topology {
    /// One: nobody could take its workloads.
    Single,
    /// More.
    Several,
}

/// What is to be done about a pool.
#[derive(Clone, Debug)]
pub struct PoolPlan<R = Real> {
    /// What is to be done, in this order. Whoever executes it stops at the first that fails and plans again.
    pub effects: Vec<Effect<R>>,
    /// The change to the status; none if it reads as it should, or if an action writes the pool first.
    pub status: Option<StatusPatch>,
    /// What waits, and what is under way.
    pub pending: Pending,
    /// What a new node gets.
    pub served: Option<Served>,
    /// What is wrong with the pool.
    pub problems: Vec<Problem>,
    /// What people should be told.
    pub notes: Vec<Note>,
    /// Whether anything refuses what its gate holds: not known here, and given by whoever asked the server (GATE-13).
    pub enforcement: Enforcement,
    /// Nodes that were told to go by a write that left no record, each in a few words: not known here either (GATE-13).
    pub unrecorded: Vec<String>,
    /// When the answer changes by itself.
    pub wake: Option<Instant>,
}

impl<R> Default for PoolPlan<R> {
    fn default() -> Self {
        Self {
            effects: Vec::new(),
            status: None,
            pending: Pending::default(),
            served: None,
            problems: Vec::new(),
            notes: Vec::new(),
            enforcement: Enforcement::default(),
            unrecorded: Vec::new(),
            wake: None,
        }
    }
}

/// One thing to do. What starts a change owns the permit for it (GATE-7).
#[derive(Clone, Debug, PartialEq)]
pub enum Effect<R = Real> {
    /// Create a rendered configuration. One that exists already is the same: its name tells its content.
    CreateRendered(Box<Value>),
    /// Write on a rendered configuration what its sources hold now: other sources came to the same content.
    RecordSources {
        /// The rendered configuration.
        name: String,
        /// The version of it that was seen.
        resource_version: String,
        /// The digests, as the annotation holds them.
        digests: String,
    },
    /// Point the pool to its newest configuration: a JSON patch of the pool, made from the version that was seen.
    SetConfiguration(Vec<Value>),
    /// Write the pool's ledger: a JSON patch of the pool, made from the version that was seen. A conflict means that another planner
    /// was faster, and then none of the marks below may be written.
    WriteLedger {
        /// The ledger as it reads then.
        ledger: Ledger,
        /// The operations.
        operations: Vec<Value>,
    },
    /// Give a node its desired configuration: the commit point.
    SetDesiredConfig {
        /// The node.
        node: String,
        /// The identity of the machine: one of the same name that came later is another.
        uid: String,
        /// The version of the node that was seen.
        resource_version: String,
        /// The configuration.
        config: String,
        /// When the write must have been made: stands beside it, and the server refuses it from then on.
        until: Instant,
        /// By what right.
        permit: Permit<R>,
    },
    /// Write down on a node that it is to stay at what it runs: nobody has said so yet. Starts nothing, and so carries no permit and
    /// no record of a change: an agent whose disk differs does not move (GATE-16).
    Adopt {
        /// The node.
        node: String,
        /// The identity of the node.
        uid: String,
        /// The version of the node that was seen.
        resource_version: String,
        /// The configuration that it runs.
        config: String,
    },
    /// Keep the annotations of a node true: records and consent that has been used (POOL-7). None of them starts anything.
    Note {
        /// The node.
        node: String,
        /// The identity of the node.
        uid: String,
        /// The version of the node that was seen.
        resource_version: String,
        /// The annotations, each with its value; none removes it.
        annotations: BTreeMap<&'static str, Option<String>>,
    },
    /// Record on `ClusterVersion` which update has begun, and with which sources; none ends it (GATE-10).
    RecordRelease {
        /// The `ClusterVersion`.
        name: String,
        /// The version of it that was seen.
        resource_version: String,
        /// The record as it reads then.
        record: Option<Record>,
    },
}

/// What is to be done about a pool.
pub fn decide<R: Clone>(view: &PoolView<'_>, gate: &Gate<R>, now: Instant) -> PoolPlan<R> {
    let shelf = Shelf::new(view.pool, view.rendered.iter().copied());
    let mut blocked = view.pool.problems.clone();
    let target = Target::of(view.pool, &shelf, &mut blocked);
    blocked.extend(held::problem(view, target.as_ref()));
    let mut problems = Vec::new();
    let bypass = Bypass::new(&view.sources, target.as_ref(), &mut problems);
    problems.extend(refusal::problems(view, target.as_ref()));
    problems.extend(view.disputed.iter().map(Disputed::problem));
    let master = view.pool.name == names::MASTER;
    let update = view.control_plane_update.filter(|_| master);
    problems.extend(update.and_then(|update| update.problem.clone()));
    let mut plan = PoolPlan {
        pending: pending::pending(view, &shelf),
        served: served(view.pool, &view.nodes, target.as_ref(), &shelf),
        ..PoolPlan::default()
    };
    render_effects(view, &shelf, &mut plan);
    let writes_pool =
        plan.effects.iter().any(|action| matches!(action, Effect::SetConfiguration(_)));
    let ways = target.map(|target| Ways::new(view, (target, &shelf), &bypass, (gate, now)));
    let progress = report::progress(view, ways.as_ref(), &blocked, (&bypass, &shelf));
    plan.pending.course = report::course(view, ways.as_ref(), &blocked);
    if !writes_pool {
        let may = blocked.is_empty() && may_begin(view);
        let rollout = rollout(view, &shelf, ways.as_ref().filter(|_| may), now);
        plan.wake = rollout.wake;
        let marked: BTreeSet<&str> =
            rollout.marks.iter().map(|mark| mark.node.name.as_str()).collect();
        node_effects(view, rollout.ledger, rollout.marks, &mut plan);
        upkeep::upkeep(view, &marked, &mut plan.effects);
        // Last: if the server refuses it, nothing else waits for it.
        plan.effects.extend(update::upkeep(view, target.as_ref(), &shelf));
    }
    plan.wake = plan.wake.into_iter().chain(gate.set().next_change(now)).min();
    blocked.extend(problems);
    if !plan.effects.iter().any(Effect::comes_before_status) {
        plan.notes.extend(report::notes(view, &blocked));
        let facts = status::Facts {
            pool: view.pool,
            nodes: &view.nodes,
            target: target.map(|target| target.config),
            rendering: view.rendering,
            progress: &progress,
            blocked: &blocked,
        };
        plan.status = status::patch(&facts, now);
    }
    plan.problems = blocked;
    plan.problems.extend(view.rendering.problems.iter().cloned());
    plan.problems.extend(report::stale_consents(view, target.as_ref()));
    plan
}

/// Whether nothing stops a pool but what is wrong with it, and its gate.
fn may_begin(view: &PoolView<'_>) -> bool {
    view.held_back.is_none()
        && view.pool.stays()
        && view.pool.paused == Pause::Running
        && view.waits_for.is_none()
}

impl<R> Effect<R> {
    /// Whether no status can be written beside it: it changes the version of the pool, so that nothing else made from that version
    /// can be written; or the newest configuration has not been seen yet, so that nobody can say what is in it.
    pub(crate) fn comes_before_status(&self) -> bool {
        match self {
            Self::SetConfiguration(_) | Self::WriteLedger { .. } | Self::CreateRendered(_) => true,
            Self::RecordSources { .. }
            | Self::SetDesiredConfig { .. }
            | Self::Adopt { .. }
            | Self::Note { .. }
            | Self::RecordRelease { .. } => false,
        }
    }
}

/// Brings the newest configuration into the world, and then the pool to it. Never asks the gate (POOL-1).
fn render_effects<R>(view: &PoolView<'_>, shelf: &Shelf<'_>, plan: &mut PoolPlan<R>) {
    let Some(fresh) = view.rendering.config.as_ref().filter(|_| view.pool.stays()) else { return };
    match shelf.get(&fresh.name) {
        None => {
            let document = fresh.document(view.pool, view.base);
            plan.effects.push(Effect::CreateRendered(Box::new(document)));
            // Four fifths: early enough to act, late enough to mean something.
            if fresh.size > LARGEST / 5 * 4 {
                plan.notes.push(Note {
                    weight: Weight::Warning,
                    reason: "RenderedConfigLarge",
                    message: format!("{} has {} bytes of {LARGEST}", fresh.name, fresh.size),
                });
            }
        }
        Some(stored) if !fresh.is_recorded_by(stored) => {
            plan.effects.push(Effect::RecordSources {
                name: fresh.name.clone(),
                resource_version: stored.resource_version.clone(),
                digests: fresh.digests(),
            });
        }
        Some(_) => {}
    }
    if view.pool.newest.as_deref() != Some(fresh.name.as_str()) {
        let configuration = fresh.reference();
        plan.effects.push(Effect::SetConfiguration(vec![
            made_from(&view.pool.resource_version),
            json!({"op": "add", "path": "/spec/configuration", "value": configuration}),
        ]));
    }
}

fn node_effects<R>(
    view: &PoolView<'_>,
    ledger: Ledger,
    marks: Vec<Mark<'_, R>>,
    plan: &mut PoolPlan<R>,
) {
    if ledger != view.pool.ledger {
        let operations = annotate(view.pool, names::LEDGER, &ledger.text());
        plan.effects.push(Effect::WriteLedger { ledger, operations });
    }
    plan.effects.extend(marks.into_iter().map(|mark| {
        let Mark { node, config, permit, until } = mark;
        Effect::SetDesiredConfig {
            node: node.name.clone(),
            uid: node.uid.clone(),
            resource_version: node.resource_version.clone(),
            config: config.name.clone(),
            until,
            permit,
        }
    }));
}

/// A JSON patch that writes one annotation of a pool, from the version that was seen.
fn annotate(pool: &SeenPool, name: &str, value: &str) -> Vec<Value> {
    let mut operations = vec![made_from(&pool.resource_version)];
    if !pool.annotated {
        operations.push(json!({"op": "add", "path": "/metadata/annotations", "value": {}}));
    }
    let path = format!("/metadata/annotations/{}", name.replace('~', "~0").replace('/', "~1"));
    operations.push(json!({"op": "add", "path": path, "value": value}));
    operations
}

#[cfg(test)]
mod tests;
