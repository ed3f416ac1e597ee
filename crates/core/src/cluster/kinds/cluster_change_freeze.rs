//! What does the platform freeze? (OVR-1)

use std::sync::Arc;

use super::Row;
use crate::{cluster::seen::Part, policy::freeze::SeenFreeze};

/// A freeze of the platform.
pub static CLUSTER_CHANGE_FREEZE: Row =
    Row::freeze(api::kinds::CLUSTER_CHANGE_FREEZE, |document| {
        Part::Freeze(Arc::new(SeenFreeze::new(&api::kinds::CLUSTER_CHANGE_FREEZE, document)))
    });
