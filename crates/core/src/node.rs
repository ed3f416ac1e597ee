//! What happens on one machine when its configuration changes?
//!
//! `diff` says what is different, `disruption` what a policy wants done about it, `steps` what the agent does, in order. Nothing here
//! asks when: a policy that disrupts less opens no gate (GATE-8).

pub mod content;
pub mod diff;
pub mod disruption;
pub mod refusals;
pub mod registries;
pub mod steps;
pub(crate) mod units;
