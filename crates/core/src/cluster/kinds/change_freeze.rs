//! What does a team freeze in its namespace? (OVR-1)

use std::sync::Arc;

use super::Row;
use crate::{cluster::seen::Part, policy::freeze::SeenFreeze};

/// A freeze of a team.
pub static CHANGE_FREEZE: Row = Row::freeze(api::kinds::CHANGE_FREEZE, |document| {
    Part::Freeze(Arc::new(SeenFreeze::new(&api::kinds::CHANGE_FREEZE, document)))
});
