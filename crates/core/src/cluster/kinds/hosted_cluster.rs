//! What of a hosted control plane do decisions read? The release that somebody wants, and the one that was accepted.

use serde_json::Value;

use super::{
    Duty, Gated, Row, advisory,
    release::{under_way, update, updated},
};
use crate::{gate::pending::Pending, release::Named};

/// The control plane of a hosted cluster.
pub static HOSTED_CLUSTER: Row = Row::gated(
    api::kinds::HOSTED_CLUSTER,
    Gated {
        pending,
        began: |document| updated(document, "/status/version/history"),
        ..Gated::PLAIN
    },
    Duty::in_namespace(advisory),
);

fn pending(document: &Value) -> Pending {
    let wanted = Named::at(document, "/spec/release");
    let accepted = Named::at(document, "/status/version/desired");
    Pending {
        // A cluster that has never reported a version is being created, and creation is not held.
        waiting: if accepted.is_empty() { Vec::new() } else { update(&wanted, &accepted) },
        begun: under_way(document, "/status/version/history/0", accepted.name()),
        ..Pending::default()
    }
}
