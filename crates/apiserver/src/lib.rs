//! How can a whole cluster's API live inside one process, and not lie about the real one?
//!
//! This crate is a Kubernetes-style API server as a value: give [`Server::service`] to the ordinary `kube::Client`, or
//! [`Server::listen`] on loopback and point the real kubectl at it. It knows nothing of its users' kinds; they arrive as
//! custom resource definitions.
//!
//! - STORE-1..3 bytes are the truth, one write path, bounded history (`store`).
//! - OWN-1..3 field ownership, stamped before admission (`managed`).
//! - DET-1 clock, ids and faults are arguments: the same seed gives the same bytes.
//!
//! What it does not do it refuses with a `Status` that names it ([`SERVER_NAME`]).

#![expect(
    clippy::similar_names,
    reason = "a shelf is what objects of one kind lie on; the lint takes it for self"
)]

mod admission;
mod base64;
mod body;
mod call;
mod clock;
mod controllers;
mod deletion;
mod discovery;
mod disruption;
mod fault;
mod fieldset;
mod ids;
mod impersonate;
mod managed;
mod meta;
mod name;
mod openapi;
mod patch;
mod path;
mod protobuf;
mod query;
mod registry;
mod render;
mod reviews;
mod route;
mod schema;
mod selector;
mod serve;
mod server;
mod service;
mod status;
mod store;
mod strategy;
mod table;
mod trace;
mod verbs;
mod watch;

pub use admission::{Hook, HookRule, Judge, Known, Question, Write};
pub use body::{Body, Cut};
pub use clock::{Clock, RuntimeClock, SetClock};
pub use fault::{Fault, Profile, RequestMatch, Scripted};
pub use ids::Ids;
pub use registry::Workloads;
pub use serve::{Access, Listener, answer_locally, kubeconfig};
pub use server::{Controllers, Server, Settings};
pub use service::{Lost, Service};
pub use status::{Cause, Refusal, SERVER_NAME};
pub use store::Backup;
