//! Do two servers answer the same requests alike?
//!
//! [`steps`] draws sequences of requests, good and bad, on a few names so that they meet. [`transcript`] sends one sequence to a server
//! and writes down status, reason and body of each answer and the events that watches saw, live and replayed, with what may differ replaced:
//! identifiers and resource versions become numbers in the order in which they were first seen, so that "the same object" and "nothing
//! was written" are compared too.

mod compare;
mod kinds;
mod run;
mod seen;
mod steps;

pub use compare::differences;
pub use run::{prepare, transcript};
pub use steps::{RandomRequest, steps};
