//! What is told of a change? When it arrived, when it started and finished, and how each node took it.

use std::collections::BTreeSet;

use schedule::Instant;

use crate::gate::WhatIf;

/// A change to a pool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PoolChange {
    /// The configuration it leads to.
    pub config: String,
    /// When it came.
    pub arrival: Arrival,
    /// When the first node was begun.
    pub started: Option<Instant>,
    /// When all nodes had it.
    pub finished: Option<Instant>,
    /// When another change took its place before it had finished.
    pub superseded: Option<Instant>,
    /// How each node took it, in the order they were begun.
    pub runs: Vec<Run>,
}

/// When a change came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// It was pending when the period began.
    Pending,
    /// Then.
    At(Instant),
}

/// One node on its way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// The node.
    pub node: String,
    /// When it was begun.
    pub start: Instant,
    /// When its workloads had left.
    pub drained: Instant,
    /// When it was back.
    pub end: Instant,
    /// By what right it was begun (GATE-7); none if it was on its way when the period began.
    pub basis: Option<String>,
}

impl PoolChange {
    pub(super) fn new(config: &str, arrival: Arrival) -> Self {
        Self {
            config: config.to_owned(),
            arrival,
            started: None,
            finished: None,
            superseded: None,
            runs: Vec::new(),
        }
    }

    /// In how many stretches of its gate nodes were begun.
    pub fn windows(&self, gate: &WhatIf) -> usize {
        let stretches = self.runs.iter().filter(|run| run.basis.is_some());
        let stretches = stretches.map(|run| gate.set().stretch(run.start));
        let starts: BTreeSet<Option<Instant>> =
            stretches.filter(|stretch| stretch.inside).map(|stretch| stretch.start).collect();
        starts.len()
    }
}
