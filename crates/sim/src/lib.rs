//! How does a cluster behave, without one? Nodes, kubelets, workloads and the operator in one process, under one clock.
//!
//! [`Sandbox`] puts it together: the embedded server, the operator that rolls configurations out, and for every node the real agent on
//! a host that writes down what is done to it. What a cluster does beside that (kubelets, a scheduler, workloads that replace their
//! pods) is played by [`pods`] and [`machine`], whoever installs releases by [`control_plane`], and whoever rolls Deployments out by
//! [`deployments`], in minutes that [`Lengths`] draws from a seed.
//!
//! - Everything follows one clock, which can be set, stepped and sped up while it runs ([`dial`]).
//! - DET-1: what is drawn depends on the seed and on names, never on the order in which things happen.

pub mod control_plane;
mod counts;
pub mod deployments;
pub mod desk;
pub mod dial;
pub mod example;
pub mod guest;
pub mod hosted;
pub mod hosting;
mod lengths;
pub mod machine;
pub mod machine_api;
mod machines;
mod management;
mod mirror;
mod pace;
pub mod pods;
mod sandbox;
mod server_clock;
mod shipped;
pub mod stock;

pub use lengths::Lengths;
pub use sandbox::{Sandbox, Settings, StartError};
