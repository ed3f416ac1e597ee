//! Does the embedded server answer as a real Kubernetes API server does?
//!
//! [`random`] sends both the same random requests, [`kubectl`] plays scripts whose answers a real server gave, and [`simulation`] runs
//! an unmodified controller on the embedded one in virtual time.

pub mod kubectl;
pub mod random;
pub mod simulation;
