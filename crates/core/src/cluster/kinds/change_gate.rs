//! What does a team hold in its namespace? (RCH-1)

use super::{
    CHANGE_FREEZE, CHANGE_OVERRIDE, CLUSTER_CHANGE_FREEZE, CLUSTER_CHANGE_OVERRIDE, Duty, Gated,
    HOSTED_CHANGE_MANAGEMENT_POLICY, NAMESPACE, Row, Surroundings, gate_told,
};
use crate::{
    cluster::seen::{Own, Seen},
    gate::{enforced::Enforcement, plan::Plan},
    policy::stanza::Gating,
    reach::seen::SeenGate,
};

/// A gate of a team on what others own.
pub static CHANGE_GATE: Row = Row::gated(
    api::kinds::CHANGE_GATE,
    READ,
    // A team may go by a policy of its namespace too (RCH-11).
    Duty {
        reads: &[
            &HOSTED_CHANGE_MANAGEMENT_POLICY,
            &CHANGE_FREEZE,
            &CLUSTER_CHANGE_FREEZE,
            &CHANGE_OVERRIDE,
            &CLUSTER_CHANGE_OVERRIDE,
            &NAMESPACE,
        ],
        ..duty()
    },
);

/// What is read of any gate on what others own: it changes nothing by itself, so nothing is pending.
pub(super) const READ: Gated = Gated {
    gating: Gating::WHOLE,
    own: |document| Own::Gate(Box::new(SeenGate::new(document))),
    ..Gated::PLAIN
};

/// What is decided about any of them.
pub(super) const fn duty() -> Duty {
    Duty::of_cluster(decide)
}

fn decide(seen: &Seen, around: &Surroundings<'_>, now: schedule::Instant) -> Plan {
    // The server keeps these gates if its admission policies stand, which nobody here has tried (GATE-13).
    gate_told(seen, around, Enforcement::NotTried, now)
}
