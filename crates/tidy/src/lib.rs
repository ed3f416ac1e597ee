//! Does the repository keep its own rules?
//!
//! Every check here is a plain function from a value (the files as text, or the dependency graph) to a
//! list of findings. The value is read once, by [`Tree::read`] and [`graph::read`]; nothing else touches
//! the disk. So each check is shown two things: the real repository, in `tests/`, where it must be silent,
//! and a small bad example, beside its code, where it must speak.

mod finding;
mod tree;

pub mod alerts;
pub mod calls;
pub mod containerfile;
pub mod dashboards;
pub mod documents;
pub mod fields;
pub mod files;
pub mod graph;
pub mod layers;
pub mod manifests;
pub mod map;
pub mod modules;
pub mod permits;
pub mod promql;
pub mod purity;
pub mod rooms;
pub mod spec;
pub mod verbs;
pub mod words;

pub use finding::{Finding, verify};
pub use tree::Tree;
