//! What does the platform hold in the namespaces that it selects? (RCH-1)

use super::{
    CLUSTER_CHANGE_FREEZE, CLUSTER_CHANGE_OVERRIDE, CLUSTER_VERSION, Duty, MACHINE_CONFIG_POOL,
    NAMESPACE, Row,
    change_gate::{READ, duty},
};

/// A gate of the platform on what others own.
pub static CLUSTER_CHANGE_GATE: Row = Row::gated(
    api::kinds::CLUSTER_CHANGE_GATE,
    READ,
    // It may hold the nodes of a stock OpenShift and its control plane, and tells what of these waits.
    Duty {
        reads: &[
            &CLUSTER_CHANGE_FREEZE,
            &CLUSTER_CHANGE_OVERRIDE,
            &NAMESPACE,
            &MACHINE_CONFIG_POOL,
            &CLUSTER_VERSION,
        ],
        ..duty()
    },
);
