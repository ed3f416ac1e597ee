//! How does one host become what its desired configuration says?
//!
//! The agent is root on hosts, so it is a program of its own and as small as it can be. It watches one node, its own. What is to be
//! done next is decided by [`next`] alone, from values; everything else observes or executes.
//!
//! - NODE-1 every step is repeatable across a loss of power: [`journal`] says what was meant before anything is done, and a start
//!   finds the host wholly at the old configuration, wholly at the new one, or on the way to one of them.
//! - NODE-2 no restart without a desired configuration: only a journal gives a [`journal::Warrant`].
//! - NODE-3 nothing hangs for ever: programs of the host have a deadline, and whoever watches the agent sees that it lives.
//! - EXEC-3 of the annotations of its node it writes those that are its own and no others.

pub mod accounts;
pub mod beat;
pub mod change;
pub mod digest;
pub mod drift;
pub mod host;
pub mod journal;
pub mod layout;
pub mod next;
pub mod node;
pub mod path;
pub mod plan;
pub mod rehearse;
pub mod run;
pub mod slow;
pub mod store;
pub mod supply;
pub mod transaction;
