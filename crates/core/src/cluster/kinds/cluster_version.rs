//! What of the control plane do decisions read? The release that somebody wants, and the one that was accepted.

use serde_json::Value;

use super::{
    Duty, Gated, Row, advisory,
    release::{Release, under_way, update, updated},
};
use crate::{cluster::seen::Own, gate::pending::Pending, pool::update::SeenUpdate};

/// The control plane of the cluster.
pub static CLUSTER_VERSION: Row = Row::gated(
    api::kinds::CLUSTER_VERSION,
    Gated {
        pending,
        began: |document| updated(document, "/status/history"),
        own: |document| Own::Update(Box::new(SeenUpdate::new(document))),
        ..Gated::PLAIN
    },
    Duty::of_cluster(advisory),
);

/// `spec.desiredUpdate` is a request; `status.desired` is what has been accepted, and acceptance is where an update begins.
fn pending(document: &Value) -> Pending {
    let wanted = Release::at(document, "/spec/desiredUpdate");
    let accepted = Release::at(document, "/status/desired");
    Pending {
        waiting: update(wanted, accepted),
        begun: under_way(document, "/status/history/0", accepted),
        ..Pending::default()
    }
}
