//! What does it mean, and what follows? Every decision of Tidegate, as functions of values.
//!
//! Nothing here reads a clock, a file or the environment: the instant is an argument, so the same code answers for now, for a
//! forecast and for a simulation. Bad objects are not errors here: they become [`Problem`](document::problem::Problem)s, all of them, and a closed
//! gate (POL-8).
//!
//! ```
//! use schedule::Instant;
//! use tidegate_core::policy::{behavior::behavior, read};
//!
//! let judged = read::policy(&serde_json::json!({
//!     "apiVersion": "changemanagement.openshift.io/v1alpha1",
//!     "kind": "ChangeManagementPolicy",
//!     "metadata": { "name": "nights" },
//!     "spec": {
//!         "strategy": "MaintenanceSchedule",
//!         "maintenanceSchedule": { "permit": { "startTime": "22:00", "duration": "4h" } },
//!     },
//! }));
//! assert!(judged.problems.is_empty());
//!
//! let policy = judged.policy.expect("a policy without problems can be used");
//! let noon = Instant::parse("2026-11-15T12:00:00Z")?;
//! let behavior = behavior(&policy.lowered, noon);
//! assert_eq!(behavior.current.end_time.as_deref(), Some("2026-11-15T22:00:00Z"));
//! assert_eq!(behavior.current.reason, "no maintenance window is open: every day, from 22:00 for 4h, UTC");
//! # Ok::<(), schedule::Error>(())
//! ```

pub mod audit;
pub mod cluster;
pub mod doctor;
pub mod document;
pub mod drain;
pub mod dump;
pub mod gate;
pub mod held;
pub mod history;
pub mod hosted;
pub mod node;
pub mod policy;
pub mod pool;
pub mod reach;
pub mod release;
pub mod simulate;
pub mod skew;
