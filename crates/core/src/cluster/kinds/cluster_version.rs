//! What of the control plane do decisions read, and what is decided about it? The release that somebody wants, the one that was let begin,
//! and the one that was accepted (CV-1, CV-4).

use schedule::Instant;

use super::{
    CHANGE_MANAGEMENT_POLICY, CLUSTER_CHANGE_FREEZE, CLUSTER_CHANGE_GATE, CLUSTER_CHANGE_OVERRIDE,
    Duty, Gated, MACHINE_CONFIG, MACHINE_CONFIG_POOL, NODE, Row, STOCK_MACHINE_CONFIG,
    Surroundings, advisory,
    release::{began, pending},
};
use crate::{
    cluster::{
        decide::{
            stock,
            updates::{self, Around},
        },
        seen::{Own, Seen},
    },
    gate::plan::Plan,
    pool::update::SeenUpdate,
    release::{SeenPlane, of::Of},
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

/// The same where its definitions and operators are those that OpenShift ships: what somebody wants is an annotation, and the write that starts it
/// is `spec.desiredUpdate` (CV-4, CV-6).
pub static STOCK_CLUSTER_VERSION: Row = Row::gated(
    api::kinds::CLUSTER_VERSION,
    Gated {
        pending: |document| pending(&SeenPlane::stock(document)),
        own: |document| Own::Update(Box::new(SeenUpdate::stock(document))),
        ..Gated::PLAIN
    },
    Duty {
        reads: &[
            &CHANGE_MANAGEMENT_POLICY,
            &CLUSTER_CHANGE_FREEZE,
            &CLUSTER_CHANGE_GATE,
            &CLUSTER_CHANGE_OVERRIDE,
            // GATE-10: its nodes carry the record of what has begun, and what people write for them meanwhile is listed.
            &MACHINE_CONFIG_POOL,
            &NODE,
            &STOCK_MACHINE_CONFIG,
        ],
        rests_on: |seen, snapshot| snapshot.rests_on(seen),
        ..Duty::to(queued)
    },
);

/// What is decided about a stock control plane.
fn queued(seen: &Seen, around: &Surroundings<'_>, now: Instant) -> Plan {
    let Seen::Gated(version) = seen else { return Plan::default() };
    stock::decided(version, &around.snapshot.gate(version), around, now)
}

/// What is decided about the control plane where its updates are started here.
pub(super) static STARTED: Duty = Duty {
    // GATE-10: a mark records what the masters are made of. CV-3: kubelets may be too old for what is wanted, and whether they will be depends on
    // the policy of every pool.
    reads: &[
        &CHANGE_MANAGEMENT_POLICY,
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
    // What is foreseen is foreseen of the cluster itself: nobody has asked about a hosted one.
    let is_hosted = version.plane().is_some_and(|plane| plane.of == Of::Hosted);
    let foreseen = around.foreseen.filter(|_| !is_hosted);
    let around = Around {
        snapshot: around.snapshot,
        refusals: around.refusals,
        held_back: around.held_back,
        enforcement: around.enforcement,
        foresight: foreseen.map(|foreseen| foreseen(now)).unwrap_or_default(),
    };
    updates::decided(version, &gate, &around, now)
}
