//! When may a cluster change?

use super::Row;

/// A policy of the cluster.
pub static CHANGE_MANAGEMENT_POLICY: Row = Row::policy(api::kinds::CHANGE_MANAGEMENT_POLICY);
