//! What does the agent do next, if no change is under way? One pure function of what it sees.
//!
//! - POOL-1: a desired configuration that differs from the one in place is the order to change; nothing else is, and no gate stops
//!   what has begun.
//! - GATE-16: an order is taken only with the record of the permit that it was given under. Who can write the one annotation and not the
//!   other starts nothing. What has begun is past that (POOL-1).
//! - NODE-2: without a desired configuration nothing is begun.
//! - The truth about a host is what its own disk says; the annotation is a report of it.
//!
//! A change under way goes on before any of this is asked, and needs no cluster for it: [`Agent::turn`](crate::run::Agent::turn).

use api::machine::names::NodeState;

use crate::{
    drift::Drift,
    node::{NodeView, Report},
    plan::Plan,
};

/// What is seen at the moment of the decision.
#[derive(Clone, Debug)]
pub struct Observed<'a> {
    /// What the cluster says of the node.
    pub node: &'a NodeView,
    /// Where the host stands.
    pub standing: HostState<'a>,
    /// What is known about the way to the desired configuration.
    pub way: Way<'a>,
}

/// Where the host stands.
#[derive(Clone, Debug)]
pub enum HostState<'a> {
    /// No configuration was ever taken on.
    Fresh {
        /// The one that the host was installed with, if it says so.
        installed: Option<&'a str>,
    },
    /// At a configuration.
    At {
        /// Which one.
        name: &'a str,
        /// Where the host differs from it.
        drift: &'a [Drift],
    },
}

/// What is known about the way to the desired configuration.
#[derive(Clone, Debug)]
pub enum Way<'a> {
    /// Nothing yet.
    Unknown,
    /// What has to be done.
    Known(&'a Plan),
    /// This host cannot go there.
    Barred(&'a str),
    /// It was tried or asked for, and failed; it is not yet time to try again.
    Failed(&'a str),
    /// Whoever gives configurations is away; it is not yet time to ask again.
    Delayed(&'a str),
}

/// What the agent does next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NextStep {
    /// Nothing, until something changes.
    Rest,
    /// Nothing, until somebody has done their part.
    Await(Awaited),
    /// Takes the next step of the change that is under way.
    GoOn,
    /// Compares the host with a configuration it was installed with, and takes note of it.
    Adopt(String),
    /// Starts from nothing: the host has no configuration.
    AdoptNothing,
    /// Finds out what has to be done on the way to a configuration.
    Plan(String),
    /// Begins the change.
    Begin,
    /// Tells the cluster.
    Report(Report),
}

/// Whose turn it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Awaited {
    /// Workloads have to leave.
    Drain,
    /// Workloads have to be let in again.
    Uncordon,
    /// A failure has to be some time ago.
    Retry,
}

/// Decides.
pub fn next(seen: &Observed<'_>) -> NextStep {
    let node = seen.node;
    let (name, drift) = match &seen.standing {
        HostState::Fresh { installed } => {
            let known = node.current.as_deref().or(*installed);
            return known.map_or(NextStep::AdoptNothing, |name| NextStep::Adopt(name.to_owned()));
        }
        HostState::At { name, drift } => (*name, *drift),
    };
    let Some(desired) = node.desired.as_deref() else {
        return settle(node, name, drift);
    };
    if desired == name {
        return settle(node, name, drift);
    }
    // Somebody may have written something else while the agent was away.
    if let Some(report) = correction(node, name) {
        return NextStep::Report(report);
    }
    // Degraded, not Working: for the pool it is a node that is stuck, and not one that is on its way.
    if let Some(why) = node.unrecorded(desired) {
        return say(node, NodeState::Degraded, why).unwrap_or(NextStep::Rest);
    }
    if !drift.is_empty() {
        return say(node, NodeState::Degraded, drifted(name, drift)).unwrap_or(NextStep::Rest);
    }
    match &seen.way {
        Way::Barred(why) => {
            say(node, NodeState::Unreconcilable, (*why).to_owned()).unwrap_or(NextStep::Rest)
        }
        Way::Failed(why) => say(node, NodeState::Degraded, (*why).to_owned())
            .unwrap_or(NextStep::Await(Awaited::Retry)),
        // Working, not Degraded: nothing is wrong with the node, and it goes on by itself.
        Way::Delayed(why) => say(node, NodeState::Working, (*why).to_owned())
            .unwrap_or(NextStep::Await(Awaited::Retry)),
        // What it waited for is said until it is there, or each time it asks would be two writes.
        Way::Unknown if node.state.as_deref() == Some(NodeState::Working.as_str()) => {
            NextStep::Plan(desired.to_owned())
        }
        Way::Unknown => say(node, NodeState::Working, String::new())
            .unwrap_or_else(|| NextStep::Plan(desired.to_owned())),
        Way::Known(plan) => {
            if let Some(step) = say(node, NodeState::Working, String::new()) {
                return step;
            }
            if plan.needs_drain() && !node.is_single() {
                let wanted = format!("drain-{desired}");
                if let Some(step) = ask(node, wanted, Awaited::Drain) {
                    return step;
                }
            }
            NextStep::Begin
        }
    }
}

/// The host is where it should be: lets workloads in again, then says so.
fn settle(node: &NodeView, name: &str, drift: &[Drift]) -> NextStep {
    let drained = node.drain.as_deref().unwrap_or_default();
    if drained.starts_with("drain-")
        || drained.starts_with("uncordon-") && node.drain != node.drained
    {
        // An earlier request to let workloads in is as good as a new one.
        let wanted = if drained.starts_with("drain-") {
            format!("uncordon-{}", if name.is_empty() { "none" } else { name })
        } else {
            drained.to_owned()
        };
        if let Some(step) = ask(node, wanted, Awaited::Uncordon) {
            return step;
        }
    }
    let (state, reason) = if drift.is_empty() {
        (NodeState::Done, String::new())
    } else {
        (NodeState::Degraded, drifted(name, drift))
    };
    let report = Report {
        current: correction(node, name).and_then(|report| report.current),
        state: (!node.says(state, &reason)).then(|| (state.as_str(), reason)),
        drain: None,
    };
    if report == Report::default() { NextStep::Rest } else { NextStep::Report(report) }
}

fn correction(node: &NodeView, name: &str) -> Option<Report> {
    let differs = !name.is_empty() && node.current.as_deref() != Some(name);
    differs.then(|| Report { current: Some(name.to_owned()), ..Report::default() })
}

fn say(node: &NodeView, state: NodeState, reason: String) -> Option<NextStep> {
    if node.says(state, &reason) {
        return None;
    }
    Some(NextStep::Report(Report { state: Some((state.as_str(), reason)), ..Report::default() }))
}

/// Asks whoever drains, and waits for the answer; none once it is there.
fn ask(node: &NodeView, wanted: String, awaited: Awaited) -> Option<NextStep> {
    if node.drain.as_ref() != Some(&wanted) {
        return Some(NextStep::Report(Report { drain: Some(wanted), ..Report::default() }));
    }
    (node.drained.as_ref() != Some(&wanted)).then_some(NextStep::Await(awaited))
}

fn drifted(name: &str, drift: &[Drift]) -> String {
    // Ten places tell the story; a thousand would fill the annotation and tell no more.
    let places: Vec<String> = drift.iter().take(10).map(ToString::to_string).collect();
    let more = drift.len().saturating_sub(places.len());
    let more = if more == 0 { String::new() } else { format!("; and {more} more") };
    format!("the host differs from {name}: {}{more}", places.join("; "))
}

#[cfg(test)]
mod tests;
