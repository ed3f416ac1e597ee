//! When may change what a namespace hosts?

use super::Row;

/// A policy of a namespace.
pub static HOSTED_CHANGE_MANAGEMENT_POLICY: Row =
    Row::policy(api::kinds::HOSTED_CHANGE_MANAGEMENT_POLICY);
