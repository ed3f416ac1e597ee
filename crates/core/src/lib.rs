//! What does it mean, and what follows? Every decision of Tidegate, as functions of values.
//!
//! Nothing here reads a clock, a file or the environment: the instant is an argument, so the same code answers for now, for a
//! forecast and for a simulation. Bad objects are not errors here: they become [`problem::Problem`]s, all of them, and a closed
//! gate (POL-8).
//!
//! ```
//! use schedule::Instant;
//! use tidegate_core::{behavior::behavior, read};
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

pub mod action;
pub mod behavior;
pub mod calendar;
pub mod change;
pub mod convert;
pub mod decide;
pub mod drain;
pub mod enforced;
pub mod explain;
pub mod forecast;
pub mod format;
pub mod freeze;
pub mod freezing;
pub mod gate;
pub mod gauge;
pub mod key;
pub mod kinds;
pub mod lower;
pub mod membership;
pub mod nearest;
pub mod node;
pub mod note;
pub mod overriding;
pub mod overview;
pub mod part;
pub mod patch;
pub mod pending;
pub mod phase;
pub mod plan;
pub mod pool;
pub mod problem;
pub mod reach;
pub mod read;
pub mod refusal;
pub mod seen;
pub mod shape;
pub mod simulate;
pub mod snapshot;
pub mod strategy;
pub mod verdict;
