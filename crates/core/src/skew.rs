//! How far may kubelets be behind their API server, and how far are they? (CV-3)
//!
//! Kubernetes lets kubelets be some minors behind, `OpenShift` fewer, depending on the release, and it is the next minor update of the control
//! plane that finds out. What is judged here is judged as the operator of `OpenShift`'s API server does, with its classes and reasons.
//! When the day comes that a pool stands in the way is foreseen by a forecast (`simulate::foresight`).

pub mod ahead;
pub mod limit;
pub mod verdict;
pub mod version;

pub use ahead::{Ahead, Foreseen, Foresight};
pub use limit::Plane;
pub use verdict::{Answer, Class, Verdict, judge};
pub use version::{Kubernetes, Release};
