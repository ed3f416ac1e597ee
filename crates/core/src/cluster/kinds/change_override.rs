//! What does a team open in its namespace? (OVR-2)

use std::sync::Arc;

use super::{CHANGE_GATE, CHANGE_GUARDRAIL, HOSTED_CLUSTER, NODE_POOL, Row};
use crate::{cluster::seen::Part, policy::overrides::SeenOverride};

/// An override of a team.
pub static CHANGE_OVERRIDE: Row = Row::overriding(
    api::kinds::CHANGE_OVERRIDE,
    &[&CHANGE_GATE, &HOSTED_CLUSTER, &NODE_POOL, &CHANGE_GUARDRAIL],
    |document| Part::Override(Arc::new(SeenOverride::new(&api::kinds::CHANGE_OVERRIDE, document))),
);
