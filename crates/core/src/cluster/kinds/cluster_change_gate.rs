//! What does the platform hold in the namespaces that it selects? (RCH-1)

use super::{
    Row,
    change_gate::{READ, duty},
};

/// A gate of the platform on what others own.
pub static CLUSTER_CHANGE_GATE: Row = Row::gated(api::kinds::CLUSTER_CHANGE_GATE, READ, duty());
