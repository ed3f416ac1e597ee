//! What happens on one node when its configuration changes?
//!
//! `diff` says what is different, `disruption` what a policy wants done about it, `around` what that
//! comes to before and after the configuration is put in place. Nothing here
//! asks when: a policy that disrupts less opens no gate (GATE-8).

pub mod around;
pub mod content;
pub mod diff;
pub mod disruption;
pub mod membership;
pub mod refusals;
pub mod registries;
pub(crate) mod units;
