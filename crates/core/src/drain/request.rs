//! Is a node emptied because an annotation says so? Only for a change that was begun there (DRAIN-2).
//!
//! Whoever may write an annotation of a node may not evict pods by that: a request is honoured only for a member of a pool, if it names
//! the configuration that the node is told to go to and does not run, and if the record of the permitted write (GATE-10) stands beside
//! it. Everything else is told once, and moves nothing: no cordon, no eviction.
//!
//! Opening a node again needs no such proof: it takes away nothing but a cordon that our own record shows, and an administrator's stays.

use std::{collections::BTreeSet, fmt};

use super::{
    elsewhere::{Elsewhere, elsewhere},
    node::{Node, Request},
};
use crate::node::membership::Membership;

/// What is to be done about a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Response {
    /// Nothing is asked.
    Nothing,
    /// It is not honoured.
    Refused(NotHonoured),
    /// Workloads may come back.
    Uncordon,
    /// Workloads have to leave.
    Drain,
    /// Workloads would have to leave, and nobody can take them now: what is to be told.
    Wait(String),
    /// Nobody else can ever take them, so they stay: what is to be told.
    Stay(String),
}

/// Why a request is not honoured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotHonoured {
    /// It makes no sense.
    Unknown,
    /// The node belongs to no pool.
    NoPool,
    /// Several pools claim the node or may claim it, so that it belongs to none.
    Disputed(Vec<String>),
    /// Nobody told the node to go anywhere.
    NothingDesired,
    /// The node is told to go to something else.
    Desires(String),
    /// The node runs it.
    RunsIt,
    /// No permitted write has begun it; what the record names, if anything.
    NotBegun(String),
}

impl fmt::Display for NotHonoured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown => {
                f.write_str("it is neither drain-<configuration> nor uncordon-<configuration>")
            }
            Self::NoPool => f.write_str("the node belongs to no pool"),
            Self::Disputed(pools) => {
                write!(
                    f,
                    "the pools {} claim the node or may claim it, so it belongs to none",
                    pools.join(", ")
                )
            }
            Self::NothingDesired => f.write_str("nobody told the node to go to a configuration"),
            Self::Desires(desired) => write!(f, "the node is told to go to {desired}"),
            Self::RunsIt => {
                f.write_str("the node runs that configuration, so nothing has to make room for it")
            }
            Self::NotBegun(record) if record.is_empty() => f.write_str(
                "permit-change names nothing, so no permitted write has begun that change",
            ),
            Self::NotBegun(record) => {
                write!(
                    f,
                    "permit-change names {record}, so no permitted write has begun that change"
                )
            }
        }
    }
}

/// Judges what a node asks for.
///
/// `others` may contain the node itself. `under_way` are nodes that are about to be cordoned, though nobody can see it yet.
pub fn judge<'a>(
    node: &Node,
    home: &Membership<'_>,
    others: impl IntoIterator<Item = &'a Node>,
    under_way: &BTreeSet<String>,
) -> Response {
    if let Some(refusal) = refusal(node, home) {
        return Response::Refused(refusal);
    }
    match node.request() {
        Request::Nothing | Request::Unknown(_) => Response::Nothing,
        Request::Uncordon => Response::Uncordon,
        Request::Drain => match elsewhere(node, others, under_way) {
            Elsewhere::Room => Response::Drain,
            Elsewhere::Shut(why) => Response::Wait(format!(
                "NoOtherNode: no other node can take its pods now ({why}), so none was evicted; it is drained once one is ready and open"
            )),
            Elsewhere::Never => Response::Stay(
                "NoOtherNode: no other node of this cluster could take its pods, so none was evicted; they start anew with the node"
                    .to_owned(),
            ),
        },
    }
}

/// Why what a node asks for is not honoured; none if it is, or if it asks for nothing.
pub fn refusal(node: &Node, home: &Membership<'_>) -> Option<NotHonoured> {
    match node.request() {
        Request::Nothing | Request::Uncordon => None,
        Request::Unknown(_) => Some(NotHonoured::Unknown),
        Request::Drain => match home {
            Membership::Nowhere => Some(NotHonoured::NoPool),
            Membership::Disputed(pools) => {
                Some(NotHonoured::Disputed(pools.iter().map(|name| (*name).to_owned()).collect()))
            }
            Membership::Of(_) => not_begun(node),
        },
    }
}

fn not_begun(node: &Node) -> Option<NotHonoured> {
    let asked = node.asked_for();
    if node.desired.is_empty() {
        Some(NotHonoured::NothingDesired)
    } else if node.desired != asked {
        Some(NotHonoured::Desires(node.desired.clone()))
    } else if node.current == asked {
        Some(NotHonoured::RunsIt)
    } else if node.begun != asked {
        Some(NotHonoured::NotBegun(node.begun.clone()))
    } else {
        None
    }
}

/// What the node is made to say about a request that is not honoured: the same as long as the reason is (POL-7).
pub fn told(node: &Node, refusal: &NotHonoured) -> String {
    /// What strangers write into annotations may be long, and may be anything.
    const LONGEST: usize = 500;
    let told = format!("NotHonoured: {}: {refusal}", node.asked());
    let line = told.chars().map(|letter| if letter.is_control() { ' ' } else { letter });
    line.take(LONGEST).collect()
}

/// Whether anything is to be done about a node, as far as it was last seen. A request that is not honoured and that was told so needs
/// nobody until something about it changes; otherwise a stranger's annotations would keep the drainer busy for ever.
pub fn needs_somebody(node: &Node, home: &Membership<'_>) -> bool {
    match refusal(node, home) {
        Some(refusal) => node.blockage() != Some(told(node, &refusal).as_str()),
        None => node.is_concerned(),
    }
}

#[cfg(test)]
mod tests;
