//! What does the platform open? (OVR-2)

use std::sync::Arc;

use super::{
    CHANGE_GATE, CHANGE_GUARDRAIL, CLUSTER_CHANGE_GATE, CLUSTER_VERSION, HOSTED_CLUSTER,
    MACHINE_CONFIG_POOL, NODE_POOL, Row,
};
use crate::{cluster::seen::Part, policy::overrides::SeenOverride};

/// An override of the platform.
pub static CLUSTER_CHANGE_OVERRIDE: Row = Row::overriding(
    api::kinds::CLUSTER_CHANGE_OVERRIDE,
    &[
        &CHANGE_GATE,
        &CLUSTER_CHANGE_GATE,
        &CLUSTER_VERSION,
        &HOSTED_CLUSTER,
        &MACHINE_CONFIG_POOL,
        &NODE_POOL,
        &CHANGE_GUARDRAIL,
    ],
    |document| {
        Part::Override(Arc::new(SeenOverride::new(&api::kinds::CLUSTER_CHANGE_OVERRIDE, document)))
    },
);
