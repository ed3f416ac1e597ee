//! How do decisions reach a cluster, and how does a cluster reach decisions? The only library that talks to one.
//!
//! Four verbs: [`observe`] keeps caches true, the core decides, [`reconcile`] executes what was decided, [`report`] tells people. The
//! seam is the ordinary client: given one that leads into the embedded server and a clock that is set by hand, all of this runs
//! inside a test.

pub mod backoff;
pub mod caches;
pub mod call;
pub mod chain;
pub mod changes;
pub mod client;
pub mod clock;
pub mod drain;
pub mod freshness;
pub mod key;
pub mod lease;
pub mod observe;
pub mod path;
pub mod person;
pub mod progress;
pub mod queue;
pub mod reconcile;
pub mod report;
pub mod store;
pub mod telemetry;
pub mod tempo;
