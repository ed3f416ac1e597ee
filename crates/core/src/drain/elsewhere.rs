//! Who could take the pods of a node that is emptied? (DRAIN-2)
//!
//! Pods that are evicted with nowhere to go only wait, and the one who empties the node may be among them: then nobody is left to finish.
//! Two cases are told apart. Where others exist that could take pods and cannot now, the drain waits for them. Where there is none that
//! ever could, because the node is alone or the others repel what runs here, waiting would last for ever.
//!
//! A node could take the pods of another if it has the same operating system and no taint that the other lacks: what runs there
//! tolerates the taints there. Room, selectors and affinities are the scheduler's business, and are not judged.

use std::collections::BTreeSet;

use super::node::Node;

/// Whether anybody else can take the pods of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Elsewhere {
    /// Somebody can.
    Room,
    /// Somebody could, and cannot now: who, and why.
    Shut(String),
    /// Nobody ever can.
    Never,
}

/// Looks for somebody else who can take the pods of a node.
pub fn elsewhere<'a>(
    node: &Node,
    others: impl IntoIterator<Item = &'a Node>,
    under_way: &BTreeSet<String>,
) -> Elsewhere {
    /// Three nodes tell the story; a thousand would fill the annotation and tell no more.
    const SHOWN: usize = 3;
    let mut shut = Vec::new();
    let fitting = others.into_iter().filter(|other| other.name != node.name && fits(other, node));
    for other in fitting {
        let why = if under_way.contains(&other.name) || other.since().is_some() {
            "is being drained"
        } else if other.is_cordoned {
            "is cordoned"
        } else if !other.is_ready {
            "is not ready"
        } else if other.pressure.is_some() {
            "takes no pods for now"
        } else {
            return Elsewhere::Room;
        };
        shut.push(format!("{} {why}", other.name));
    }
    if shut.is_empty() {
        return Elsewhere::Never;
    }
    let more = shut.len().saturating_sub(SHOWN);
    shut.truncate(SHOWN);
    if more > 0 {
        shut.push(format!("{more} more"));
    }
    Elsewhere::Shut(shut.join(", "))
}

fn fits(other: &Node, node: &Node) -> bool {
    other.system == node.system && other.taints.is_subset(&node.taints)
}
