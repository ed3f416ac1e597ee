//! What should the status of a pool read? Counts and conditions as upstream writes them.
//!
//! Meaning unchanged, bytes unchanged (STAT-3): instants are kept where the status of a condition stays, and nothing here counts down.

use std::collections::{BTreeMap, BTreeSet};

use schedule::Instant;
use serde_json::{Value, json};

use super::{
    render::Rendering,
    seen::{Pause, SeenNode, SeenPool},
    seen_status::{
        Counts, DEGRADED, NODE_DEGRADED, PoolCondition, RENDER_DEGRADED, ROLLOUT_BLOCKED, UPDATED,
        UPDATING,
    },
    source::{Rendered, source_reference},
};
use crate::{
    document::{
        patch::{Presence, StatusPatch, made_from},
        problem::{Problem, problem_text},
    },
    gate::{Hold, change::ChangeId, pending::Stop},
};

/// Whether nodes may be begun at the moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    /// They may.
    May,
    /// They may not, for this reason.
    Held(Held),
}

/// Why nodes are not begun.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Held {
    /// Something of the pool's own.
    Stopped(Stop),
    /// There is nothing that they could get.
    NotRendered,
    /// The gate is shut.
    Gate {
        /// What it said.
        hold: Hold,
        /// What goes on all the same.
        goes_on: GoesOn,
    },
}

/// What goes on while the gate is shut.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GoesOn {
    /// Changes that have begun (CV-2).
    pub begun: Vec<ChangeId>,
    /// Sources that were written after the update of the control plane began, and wait (GATE-10).
    pub later: BTreeSet<String>,
    /// Sources that bypass change management, each with how many nodes lack it (POOL-5).
    pub bypasses: BTreeMap<String, usize>,
    /// Sources that ride along with those.
    pub riding: BTreeSet<String>,
}

/// Counts the nodes of a pool against its target.
pub(crate) fn counts(nodes: &[&SeenNode], target: Option<&str>) -> Counts {
    let mut counts = Counts { machines: nodes.len() as i64, ..Counts::default() };
    for node in nodes {
        let updated = node.is_done() && target == Some(node.desired.as_str());
        counts.updated += i64::from(updated);
        counts.ready += i64::from(updated && node.is_ready());
        counts.unavailable += i64::from(node.is_unavailable());
        counts.degraded += i64::from(is_degraded(node));
    }
    counts
}

fn is_degraded(node: &SeenNode) -> bool {
    use api::machine::names::NodeState;
    matches!(node.state, NodeState::Degraded | NodeState::Unreconcilable)
}

/// What the status is made from.
pub(crate) struct Facts<'a> {
    pub(crate) pool: &'a SeenPool,
    pub(crate) nodes: &'a [&'a SeenNode],
    pub(crate) target: Option<&'a Rendered>,
    pub(crate) rendering: &'a Rendering,
    pub(crate) progress: &'a Progress,
    pub(crate) blocked: &'a [Problem],
}

/// The change to the status; none if it already reads as it should.
pub(crate) fn patch(facts: &Facts<'_>, now: Instant) -> Option<StatusPatch> {
    let known = &facts.pool.status;
    let counts = counts(facts.nodes, facts.target.map(|target| target.name.as_str()));
    let mut operations = vec![made_from(&facts.pool.resource_version)];
    if known.present == Presence::Absent {
        operations.push(json!({"op": "add", "path": "/status", "value": {}}));
    }
    let idle = operations.len();
    let mut set = |key: &str, value: Value| {
        operations.push(json!({"op": "add", "path": format!("/status/{key}"), "value": value}));
    };
    for (key, wanted, before) in [
        ("machineCount", counts.machines, known.counts.machines),
        ("updatedMachineCount", counts.updated, known.counts.updated),
        ("readyMachineCount", counts.ready, known.counts.ready),
        ("unavailableMachineCount", counts.unavailable, known.counts.unavailable),
        ("degradedMachineCount", counts.degraded, known.counts.degraded),
    ] {
        if wanted != before {
            set(key, wanted.into());
        }
    }
    if known.observed_generation != Some(facts.pool.generation) {
        set("observedGeneration", facts.pool.generation.into());
    }
    if let Some(target) = facts.target.filter(|_| counts.is_converged()) {
        let reached = known.configuration.as_ref().and_then(|known| known.get("name"));
        if reached.and_then(Value::as_str) != Some(&target.name) {
            set("configuration", reference(target));
        }
    }
    let wanted = conditions(facts, counts, now);
    let stale: Vec<&PoolCondition> =
        wanted.iter().filter(|wanted| known.condition(&wanted.kind) != Some(wanted)).collect();
    if known.listed == Presence::Absent && !stale.is_empty() {
        set("conditions", json!([]));
    }
    for condition in stale {
        let place = known.conditions.iter().find(|(_, known)| known.kind == condition.kind);
        operations.push(match place {
            Some((place, _)) => {
                json!({"op": "replace", "path": format!("/status/conditions/{place}"),
                                       "value": condition.document()})
            }
            None => {
                json!({"op": "add", "path": "/status/conditions/-", "value": condition.document()})
            }
        });
    }
    (operations.len() > idle).then_some(StatusPatch { operations })
}

/// `status.configuration`: a rendered configuration and what it was rendered from.
fn reference(config: &Rendered) -> Value {
    let sources: Vec<Value> = config.digests.keys().map(|name| source_reference(name)).collect();
    json!({"name": config.name, "source": sources})
}

fn conditions(facts: &Facts<'_>, counts: Counts, now: Instant) -> Vec<PoolCondition> {
    let target =
        facts.target.map_or("a configuration that is not there yet", |target| &target.name);
    let converged = counts.is_converged() && facts.target.is_some();
    let said = |kind: &str, holds: bool, reason: String, message: String| {
        let status = if holds { "True" } else { "False" };
        let same = facts.pool.status.condition(kind).filter(|known| known.status == status);
        PoolCondition {
            kind: kind.to_owned(),
            status: status.to_owned(),
            reason,
            message,
            since: same.map_or_else(|| now.to_string(), |same| same.since.clone()),
        }
    };
    let none = String::new;
    let (updated, updating) = if converged {
        let message = format!("All nodes are updated with {target}");
        (said(UPDATED, true, none(), message), said(UPDATING, false, none(), none()))
    } else {
        (said(UPDATED, false, none(), none()), updating(facts, counts, target, said))
    };
    let stuck: Vec<&&SeenNode> = facts.nodes.iter().filter(|node| is_degraded(node)).collect();
    let degraded = match stuck.as_slice() {
        [] => said(NODE_DEGRADED, false, none(), none()),
        stuck => {
            let reason = format!("{} nodes are reporting degraded status on sync", stuck.len());
            said(NODE_DEGRADED, true, reason, stuck_text(stuck))
        }
    };
    let wrong: Vec<Problem> = facts.rendering.problems.clone();
    let unrendered = if wrong.is_empty() {
        said(RENDER_DEGRADED, false, none(), none())
    } else {
        said(RENDER_DEGRADED, true, none(), objects_text(&wrong))
    };
    let any = degraded.status == "True" || unrendered.status == "True";
    let mut wanted =
        vec![updated, updating, said(DEGRADED, any, none(), none()), degraded, unrendered];
    // Ours appears with the first reason for it, so that a healthy pool looks as upstream leaves it.
    if !facts.blocked.is_empty() {
        let reason = facts.blocked.first().map_or_else(none, |first| first.code.as_str().into());
        wanted.push(said(ROLLOUT_BLOCKED, true, reason, problem_text(facts.blocked)));
    } else if facts.pool.status.condition(ROLLOUT_BLOCKED).is_some() {
        wanted.push(said(ROLLOUT_BLOCKED, false, "AsExpected".into(), none()));
    }
    wanted
}

fn updating(
    facts: &Facts<'_>,
    counts: Counts,
    target: &str,
    said: impl Fn(&str, bool, String, String) -> PoolCondition,
) -> PoolCondition {
    let moving = facts.nodes.iter().any(|node| node.current != node.desired);
    let silent: Vec<&str> =
        facts.nodes.iter().filter(|node| node.is_silent()).map(|node| node.name.as_str()).collect();
    let speechless = silent_text(&silent);
    match (facts.pool.paused, facts.progress) {
        (Pause::Running, Progress::May)
            if !silent.is_empty() && counts.machines - counts.updated == silent.len() as i64 =>
        {
            let message =
                format!("{} of {} nodes lack {target}{speechless}", silent.len(), counts.machines);
            said(UPDATING, false, "AgentSilent".into(), message)
        }
        (Pause::Paused, _) => {
            let message = format!("Pool is paused; will not update to {target}");
            said(UPDATING, false, String::new(), message)
        }
        (Pause::Running, Progress::May) => {
            let message = format!("All nodes are updating to {target}{speechless}");
            said(UPDATING, true, String::new(), message)
        }
        (Pause::Running, Progress::Held(why)) => {
            let waiting = counts.machines - counts.updated;
            let message =
                format!("{waiting} of {} nodes lack {target}: {why}{speechless}", counts.machines);
            said(UPDATING, moving, String::new(), message)
        }
    }
}

/// The nodes whose agent has not spoken: nothing reaches them, and nobody knows what is on them (NODE-3).
fn silent_text(silent: &[&str]) -> String {
    const SHOWN: usize = 3;
    if silent.is_empty() {
        return String::new();
    }
    let shown: Vec<String> = silent.iter().take(SHOWN).map(|name| format!("Node/{name}")).collect();
    let more = match silent.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("; no agent has spoken on {}{more}: nothing is begun there", shown.join(", "))
}

/// The first nodes that are stuck, with what they say.
fn stuck_text(stuck: &[&&SeenNode]) -> String {
    const SHOWN: usize = 3;
    let mut parts: Vec<String> = stuck
        .iter()
        .take(SHOWN)
        .map(|node| {
            let state = node.state.as_str();
            format!("Node {} is {state}: {:?}", node.name, node.reason)
        })
        .collect();
    if stuck.len() > SHOWN {
        parts.push(format!("and {} more", stuck.len() - SHOWN));
    }
    parts.join(", ")
}

/// Problems of several objects as one line: which object, which field, what.
pub(crate) fn objects_text(problems: &[Problem]) -> String {
    const SHOWN: usize = 3;
    let mut parts: Vec<String> = problems
        .iter()
        .take(SHOWN)
        .map(|problem| match &problem.object {
            Some(object) => format!("{object}: {}: {}", problem.field, problem.detail),
            None => format!("{}: {}", problem.field, problem.detail),
        })
        .collect();
    if problems.len() > SHOWN {
        parts.push(format!("and {} more", problems.len() - SHOWN));
    }
    parts.join("; ")
}
