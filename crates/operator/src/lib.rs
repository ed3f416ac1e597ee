//! Are the statuses true? The operator of change management, as a value that runs on any client and any clock.
//!
//! What is looked at and decided stands in `core::kinds`; [`run`] puts the parts of the runtime together, [`serve`] answers those who ask
//! how it goes: metrics computed when they are asked for, and health that is tied to progress. [`node_config`] answers new nodes.

pub mod draining;
pub mod history;
pub mod metrics;
pub mod node_config;
pub mod proof;
pub mod rollout;
pub mod run;
pub mod serve;
pub mod targets;

pub use runtime::reconcile::Proof;

pub use run::{Election, Operator, RunError, Settings, View};
pub use tidegate_core::cluster::kinds::{HostedClusters, Pools, Updates};
