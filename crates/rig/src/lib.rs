//! How does a test suite get a real Kubernetes API server?
//!
//! [`ControlPlane::start`] runs etcd, kube-apiserver and, where budgets or garbage collection matter, kube-controller-manager on free
//! loopback ports, with certificates and users of their own, and ends them on drop, on panic, and when the test itself is killed.
//! A suite is written once against [`Cluster`], the value that says nothing of which server answers, and run on each by [`suite`].

mod account;
mod axe;
pub mod browser;
mod cluster;
mod cluster_api;
mod control_plane;
mod embedded;
mod helm;
pub mod infrastructure;
mod keep;
mod kured;
mod lent;
mod module;
mod pki;
mod programs;
pub mod rights;
pub mod suite;
mod users;

pub use cluster::{ClientError, Cluster, Server};
pub use cluster_api::{ClusterApi, Running};
pub use control_plane::{ControlPlane, Controllers, StartError};
pub use embedded::Embedded;
pub use helm::{Helm, Refused};
pub use kured::{Kured, Machine};
pub use module::BuildError;
pub use pki::PkiError;
pub use programs::{Missing, Programs};
pub use users::User;

/// Bytes as lower-case hexadecimal digits.
fn hex(bytes: &[u8]) -> String {
    let digit = |nibble: u8| char::from_digit(nibble.into(), 16).unwrap_or_default();
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}
