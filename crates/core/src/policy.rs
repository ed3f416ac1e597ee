//! When may changes be initiated, by what people wrote? Policies, the stanzas that name them, and questions to the set of instants that
//! both come to.
//!
//! `read` judges a document, `lower` turns it into a tree of parts (`part`) and a set; the others ask that set.

pub mod behavior;
pub mod calendar;
pub mod convert;
pub mod exclusion;
pub mod explain;
pub mod forecast;
pub mod freeze;
pub mod freezing;
pub mod gating;
pub mod guardrail;
pub mod import;
pub mod lower;
pub mod opening;
pub mod overrides;
pub mod part;
pub mod read;
pub mod recurring;
pub mod seen;
pub mod stanza;
pub mod strategy;
pub mod verdict;
pub mod version;
mod written;
