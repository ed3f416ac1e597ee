//! What does it mean, and what follows? Every decision of Tidegate, as functions of values.
//!
//! Nothing here reads a clock, a file or the environment: the instant is an argument, so the same code answers for now, for a
//! forecast and for a simulation. Bad objects are not errors here: they become [`problem::Problem`]s, all of them, and a closed
//! gate (POL-8).

pub mod behavior;
pub mod calendar;
pub mod convert;
pub mod explain;
pub mod forecast;
pub mod format;
pub mod lower;
pub mod nearest;
pub mod problem;
pub mod read;
pub mod shape;
pub mod strategy;
