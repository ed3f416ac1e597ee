//! What of the control plane do decisions read, and what is decided about it? The release that somebody wants, the one that was let begin,
//! and the one that was accepted (CV-1, CV-4).

use schedule::Instant;

use super::{
    CLUSTER_CHANGE_FREEZE, CLUSTER_CHANGE_OVERRIDE, Duty, Gated, MACHINE_CONFIG,
    MACHINE_CONFIG_POOL, NODE, Row, Surroundings, advisory,
    release::{began, pending},
};
use crate::{
    cluster::{
        decide::updates::{self, Around},
        seen::{Own, Seen},
    },
    gate::plan::Plan,
    pool::update::SeenUpdate,
    release::SeenPlane,
};

/// The control plane of the cluster.
pub static CLUSTER_VERSION: Row = Row::gated(
    api::kinds::CLUSTER_VERSION,
    Gated {
        pending: |document| pending(&SeenPlane::new(document)),
        began: |document| began(document, &SeenPlane::new(document)),
        own: |document| Own::Update(Box::new(SeenUpdate::new(document))),
        ..Gated::PLAIN
    },
    Duty::of_cluster(advisory),
);

/// What is decided about the control plane where its updates are started here.
pub(super) static STARTED: Duty = Duty {
    // GATE-10: a mark records what the masters are made of. CV-3: kubelets may be too old for what is wanted.
    reads: &[
        &CLUSTER_CHANGE_FREEZE,
        &CLUSTER_CHANGE_OVERRIDE,
        &MACHINE_CONFIG,
        &MACHINE_CONFIG_POOL,
        &NODE,
    ],
    rests_on: |seen, snapshot| snapshot.rests_on(seen),
    ..Duty::to(started)
};

/// What is decided about a control plane where its updates are started here, be it hosted or not.
pub(super) fn started(seen: &Seen, around: &Surroundings<'_>, now: Instant) -> Plan {
    let Seen::Gated(version) = seen else { return Plan::default() };
    let gate = around.snapshot.gate(version);
    let around = Around {
        snapshot: around.snapshot,
        refusals: around.refusals,
        held_back: around.held_back,
        enforcement: around.enforcement,
    };
    updates::decided(version, &gate, around, now)
}
