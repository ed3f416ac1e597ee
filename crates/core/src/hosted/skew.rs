//! How far may the nodes of a hosted cluster be from their control plane? At most three minor versions behind, and never ahead.
//!
//! 5.0 takes the place of 4.23, so minors are counted as those of Kubernetes that are in them. There is no operator in a hosted cluster
//! that would stop its control plane for its kubelets, so it is told here, before `HyperShift` would let it through.

use std::fmt;

use crate::{release::version::Version, skew::Release};

/// So many minor versions nodes may be behind their control plane.
const MOST: i32 = 3;

/// How far nodes are from a control plane that they cannot follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Skew {
    /// They would have a newer release than it.
    Ahead,
    /// They are so many minor versions behind.
    Behind(i32),
    /// One of both is of a line of releases that nobody knows here.
    Unknown,
}

/// How far nodes at one release are from a control plane at another; none if it supports them.
pub fn between(plane: &Version, nodes: &Version) -> Option<Skew> {
    if nodes > plane {
        return Some(Skew::Ahead);
    }
    let minor = |version: &Version| version.to_string().parse::<Release>().ok();
    let (Some(plane), Some(nodes)) = (minor(plane), minor(nodes)) else {
        return Some(Skew::Unknown);
    };
    let behind = nodes.kubernetes().behind(plane.kubernetes());
    (behind > MOST).then_some(Skew::Behind(behind))
}

impl Skew {
    /// What somebody can do about it.
    pub fn remedy(self) -> &'static str {
        match self {
            Self::Ahead => {
                "choose a release of the control plane that is at least that of its node pools"
            }
            Self::Behind(_) => {
                "update the node pool first: at most three minor versions behind are supported"
            }
            Self::Unknown => "choose releases of OpenShift 4 or 5",
        }
    }
}

impl Skew {
    /// What somebody can do about it who wants another release of nodes.
    pub fn remedy_of_nodes(self) -> &'static str {
        match self {
            Self::Ahead => "update the control plane first: nodes are never ahead of it",
            Self::Behind(_) => {
                "choose a newer release: at most three minor versions behind are supported"
            }
            Self::Unknown => "choose releases of OpenShift 4 or 5",
        }
    }
}

impl fmt::Display for Skew {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ahead => f.write_str("ahead of"),
            Self::Behind(minors) => write!(f, "{minors} minor versions behind"),
            Self::Unknown => f.write_str("and nobody can tell how far that is from"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::release::version::read;

    /// HOST-1: n-3 and never ahead, with 5.0 counted as 4.23.
    #[test]
    fn nodes_are_at_most_three_minors_behind_and_never_ahead() {
        for (plane, nodes, expected) in [
            ("4.20.7", "4.20.7", None),
            ("4.20.7", "4.20.1", None),
            ("4.20.7", "4.20.8", Some(Skew::Ahead)),
            ("4.20.7", "4.21.0", Some(Skew::Ahead)),
            ("4.20.7", "4.17.3", None),
            ("4.20.7", "4.16.9", Some(Skew::Behind(4))),
            ("5.0.0", "4.20.3", None),
            ("5.0.0", "4.19.3", Some(Skew::Behind(4))),
            ("5.1.0", "4.21.0", None),
            ("5.1.0", "4.20.0", Some(Skew::Behind(4))),
            ("4.22.0", "5.0.0", Some(Skew::Ahead)),
            ("6.0.0", "5.0.0", Some(Skew::Unknown)),
        ] {
            let found = between(&read(plane).unwrap(), &read(nodes).unwrap());
            assert_eq!(found, expected, "{plane} {nodes}");
        }
    }
}
