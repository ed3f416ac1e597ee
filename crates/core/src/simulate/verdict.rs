//! Does a pool get there, and if not, what is in its way and what would help?
//!
//! What would help is not guessed: the need is the length of a change that nothing holds, and a larger budget is named only after the
//! period was simulated with it.

use schedule::Instant;

use api::machine::names::NodeState;

use super::{
    Course, Settings, clock,
    course::{Arrival, PoolChange},
    pool::Pool,
};
use crate::{
    document::problem::{Problem, problem_text},
    gate::{self, WhatIf},
    policy::forecast::{length, seconds},
    pool::{
        capacity::Limit,
        seen::{Cordon, Health, Pause, SeenNode},
    },
};

/// The mean length of a month, in seconds: a year of 365.2425 days, divided by twelve.
pub const MONTH: i64 = 2_629_746;

/// Whether a pool gets to its newest configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outlook {
    /// Nothing is pending and nothing arrives.
    Idle,
    /// Its last change finishes, then.
    Converges(Instant),
    /// Changes finish; only the last one has not when the period ends, and nothing else is in its way.
    Unfinished {
        /// The nodes that wait for it.
        waiting: Vec<String>,
    },
    /// Changes finish, but fewer than arrive, or none any more.
    Late {
        /// The nodes that wait.
        waiting: Vec<String>,
        /// What is in the way.
        obstacle: Obstacle,
    },
    /// No change finishes.
    Never {
        /// The nodes that wait.
        waiting: Vec<String>,
        /// What is in the way.
        obstacle: Obstacle,
    },
}

/// What is in the way of a pool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// Something is wrong with the pool: field and fault.
    Blocked(String),
    /// `spec.paused`.
    Paused,
    /// `spec.machineConfig.name` holds it at another configuration.
    Pinned(String),
    /// Its gate does not open within the period.
    Shut {
        /// Why not.
        reason: String,
        /// When it opens after that; none if never.
        opens: Option<Instant>,
    },
    /// Nodes that cannot take a change, each with the reason.
    Machines(Vec<(String, String)>),
    /// Another pool of voters does not settle.
    Voters(&'static str),
    /// The gate is not open long enough.
    Time {
        /// A `maxUnavailable` with which it converges; none if none was found.
        at_once: Option<usize>,
    },
}

impl Outlook {
    /// Whether the pool gets to what is asked of it, as far as the period tells.
    pub fn is_fine(&self) -> bool {
        match self {
            Self::Idle | Self::Converges(_) | Self::Unfinished { .. } => true,
            Self::Late { .. } | Self::Never { .. } => false,
        }
    }
}

impl Course {
    /// How much open time a month the changes of the period need, in seconds, if each is to reach all nodes. One that comes alone
    /// is to be done within a month.
    pub fn need_a_month(&self, settings: &Settings) -> i64 {
        match self.changes.len() as i64 {
            0 | 1 => self.need,
            count => self.need.max(self.need * count * MONTH / length(&settings.range).max(1)),
        }
    }

    /// How long the gate is open a month, in seconds.
    pub fn open_a_month(&self, settings: &Settings) -> i64 {
        self.open * MONTH / length(&settings.range).max(1)
    }
}

/// What came of a pool.
pub(super) fn course(before: &Pool<'_>, after: &Pool<'_>, settings: &Settings) -> Course {
    let range = &settings.range;
    let mut machines: Vec<_> = after
        .nodes
        .iter()
        .map(|node| (node.name.clone(), node.zone().map(str::to_owned)))
        .collect();
    machines.sort_unstable();
    let mut course = Course {
        object: after.seen.object(),
        at_once: after.seen.at_once(after.nodes.len()).min(after.nodes.len()),
        open: seconds(after.gate.set(), range.clone()),
        windows: after.gate.set().spans(range.clone()).count(),
        need: if after.changes.is_empty() { 0 } else { need(before, settings) },
        verdict: Outlook::Idle,
        machines,
        changes: after.changes.clone(),
        gate: after.gate.clone(),
    };
    course.verdict = verdict(&course, before, after, settings);
    course
}

fn verdict(course: &Course, before: &Pool<'_>, after: &Pool<'_>, settings: &Settings) -> Outlook {
    let Some(last) = after.changes.last() else { return Outlook::Idle };
    if let Some(at) = last.finished {
        return Outlook::Converges(at);
    }
    let behind = |node: &&SeenNode| !node.is_done() || node.current != last.config;
    let waiting = after.nodes.iter().filter(behind).map(|node| node.name.clone()).collect();
    let fixed = obstacle(last, after, settings);
    let time = || Obstacle::Time { at_once: remedy(course, (before, after), settings) };
    if after.changes.iter().any(|change| change.finished.is_some()) {
        let short = !keeps_up(&after.changes)
            && course.open_a_month(settings) < course.need_a_month(settings);
        return match fixed.or_else(|| short.then(time)) {
            Some(obstacle) => Outlook::Late { waiting, obstacle },
            None => Outlook::Unfinished { waiting },
        };
    }
    Outlook::Never { waiting, obstacle: fixed.unwrap_or_else(time) }
}

/// What is in the way besides time.
fn obstacle(last: &PoolChange, after: &Pool<'_>, settings: &Settings) -> Option<Obstacle> {
    let seen = &after.seen;
    let errors: Vec<Problem> =
        after.problems.iter().filter(|problem| problem.is_error()).cloned().collect();
    if last.runs.is_empty() && !errors.is_empty() {
        return Some(Obstacle::Blocked(problem_text(&errors)));
    }
    if seen.paused == Pause::Paused {
        return Some(Obstacle::Paused);
    }
    if let Some(pin) = seen.pin.as_ref().filter(|pin| pin.name != last.config) {
        return Some(Obstacle::Pinned(pin.name.clone()));
    }
    let start = settings.range.start;
    if after.gate.set().spans(settings.range.clone()).next().is_none() {
        let reason = gate::explain::sentence(&after.gate, start);
        let opens = after.gate.set().state(settings.range.end).until;
        return Some(Obstacle::Shut { reason, opens });
    }
    let stuck: Vec<_> =
        after.nodes.iter().filter_map(|node| Some((node.name.clone(), stuck(node)?))).collect();
    if !stuck.is_empty() {
        return Some(Obstacle::Machines(stuck));
    }
    after.waits_for.map(Obstacle::Voters)
}

/// Why a node takes no change, if it does not.
fn stuck(node: &SeenNode) -> Option<String> {
    if node.is_failing() {
        let reason = if node.reason.is_empty() { "for no given reason" } else { &node.reason };
        Some(format!("fails: {reason}"))
    } else if node.health == Health::Unhealthy {
        Some("is not ready".into())
    } else if node.cordon != Cordon::Open {
        Some("is cordoned".into())
    } else if !node.is_done() {
        Some("is not at rest".into())
    } else {
        None
    }
}

/// How long one change takes that nothing holds: the open time it needs.
fn need(before: &Pool<'_>, settings: &Settings) -> i64 {
    let start = settings.range.start;
    let mut pool = before.clone();
    pool.gate = WhatIf::open();
    pool.seen.paused = Pause::Running;
    pool.seen.pin = None;
    pool.seen.problems.clear();
    pool.changes.clear();
    pool.ends.clear();
    let newest = pool.seen.newest.clone().unwrap_or_default();
    for node in &mut pool.nodes {
        node.current.clone_from(&newest);
        node.desired.clone_from(&newest);
        node.state = NodeState::Done;
        node.health = Health::Healthy;
        node.cordon = Cordon::Open;
    }
    pool.count_resting();
    pool.arrivals = vec![start];
    let settings = Settings { range: start..Instant::MAX, ..settings.clone() };
    let (ended, _) = clock::run(vec![pool], None, &settings);
    let made = |change: &&PoolChange| change.arrival == Arrival::At(start);
    let change = ended.first().and_then(|pool| pool.changes.iter().find(made));
    let end = change.and_then(|change| change.runs.iter().map(|run| run.end).max());
    end.map_or(0, |end| length(&(start..end)))
}

/// A budget with which a pool converges, found by trying. Few are tried, because each is a whole period: from a quarter of what the
/// times suggest, and then twice as many, twice.
fn remedy(
    course: &Course,
    (before, after): (&Pool<'_>, &Pool<'_>),
    settings: &Settings,
) -> Option<usize> {
    const TRIES: usize = 3;
    let machines = before.nodes.len();
    let now = course.at_once.max(1);
    let lack = course.need_a_month(settings) / course.open_a_month(settings).max(1);
    let quarter = now.saturating_mul(usize::try_from(lack).unwrap_or(usize::MAX)) / 4;
    let first = quarter.max(now * 2).min(machines);
    let doubled = |tried: &usize| (*tried < machines).then(|| (tried * 2).min(machines));
    let tried = std::iter::successors((now < machines).then_some(first), doubled).take(TRIES);
    tried.into_iter().find(|at_once| {
        let mut pool = before.clone();
        pool.seen.limit = Some(Limit::Count(*at_once as i64));
        // Releases come when they came.
        pool.releases.planned = after.releases.offered.iter().skip(1).rev().cloned().collect();
        let (ended, _) = clock::run(vec![pool], None, settings);
        ended.first().is_some_and(|pool| keeps_up(&pool.changes))
    })
}

/// Whether changes reach all nodes before the next one comes: the last that was begun and had its time did. One that came after it
/// may still wait, or be under way.
fn keeps_up(changes: &[PoolChange]) -> bool {
    let over = |change: &&PoolChange| {
        let had_its_time = change.finished.is_some() || change.superseded.is_some();
        had_its_time && !change.runs.is_empty()
    };
    changes.iter().rfind(over).is_some_and(|change| change.finished.is_some())
}
