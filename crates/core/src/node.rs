//! What happens on one machine when its configuration changes?

pub mod content;
pub mod diff;
pub(crate) mod units;
