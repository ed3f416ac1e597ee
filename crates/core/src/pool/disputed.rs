//! Which nodes belong to nobody because of a pool, and who is told? (GATE-12)
//!
//! A node that two pools claim, or that a selector may choose which nobody can read, waits until somebody says whose it is: nothing is
//! begun there, and no pool counts it. So each of these pools names it.

use crate::document::problem::{Code, FieldPath, Problem};

/// A node that belongs to nobody.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Disputed<'a> {
    /// Its name.
    pub node: &'a str,
    /// The pools that claim it.
    pub claimed: Vec<&'a str>,
    /// The pools that may claim it: their selector cannot be read.
    pub doubtful: Vec<&'a str>,
}

impl Disputed<'_> {
    /// What the pools are told.
    pub(crate) fn problem(&self) -> Problem {
        let Self { node, claimed, doubtful } = self;
        let unread = "whose nodeSelector cannot be read";
        let (why, hint) = match (named(claimed), named(doubtful)) {
            (claimed, None) => (
                format!("is claimed by {}", claimed.unwrap_or_default()),
                "let the nodeSelector of one of them choose it, or change its labels",
            ),
            (None, Some(doubtful)) => {
                (format!("may be claimed by {doubtful}, {unread}"), "correct that nodeSelector")
            }
            (Some(claimed), Some(doubtful)) => (
                format!("is claimed by {claimed} and may be by {doubtful}, {unread}"),
                "correct that nodeSelector",
            ),
        };
        let detail =
            format!("Node/{node} belongs to no pool, and nothing is begun there: it {why}");
        Problem::new(&FieldPath::root(), Code::Conflict, detail).hint(hint)
    }
}

fn named(pools: &[&str]) -> Option<String> {
    let names: Vec<String> = pools.iter().map(|pool| format!("MachineConfigPool/{pool}")).collect();
    (!names.is_empty()).then(|| names.join(" and "))
}
