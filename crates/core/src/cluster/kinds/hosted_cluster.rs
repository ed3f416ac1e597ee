//! What of a hosted control plane do decisions read, and what is decided about it? The release that somebody wants, the one that was let
//! begin, and the one that was accepted (HOST-1, CV-4).

use super::{
    CHANGE_FREEZE, CHANGE_OVERRIDE, CLUSTER_CHANGE_FREEZE, CLUSTER_CHANGE_OVERRIDE, Concerns, Duty,
    Gated, NAMESPACE, NODE_POOL, Row, advisory, cluster_version,
    release::{began, pending},
};
use crate::{
    cluster::seen::Own,
    hosted::{Hosted, hash},
    release::SeenPlane,
};

/// The control plane of a hosted cluster.
pub static HOSTED_CLUSTER: Row = Row::gated(
    api::kinds::HOSTED_CLUSTER,
    Gated {
        pending: |document| pending(&SeenPlane::hosted(document)),
        began: |document| began(document, &SeenPlane::hosted(document)),
        own: |document| {
            let plane = SeenPlane::hosted(document);
            let global = hash::global(document);
            Own::Hosted(Box::new(Hosted::Cluster { plane, global }))
        },
        ..Gated::PLAIN
    },
    Duty::in_namespace(advisory),
);

/// What is decided about it where its updates are started here.
pub(super) static STARTED: Duty = Duty {
    // Nodes that the wanted release would leave behind stand in its way.
    reads: &[
        &CHANGE_FREEZE,
        &CLUSTER_CHANGE_FREEZE,
        &CHANGE_OVERRIDE,
        &CLUSTER_CHANGE_OVERRIDE,
        &NAMESPACE,
        &NODE_POOL,
    ],
    concerns: Concerns::Told,
    rests_on: |seen, snapshot| snapshot.rests_on(seen),
    ..Duty::to(cluster_version::started)
};
