//! What does a document say, and what is wrong with it? What every other subject rests on: objects as they are written, and faults of
//! them as values.

pub mod conditions;
pub mod format;
pub mod git;
pub mod identity;
pub mod key;
pub mod nearest;
pub mod patch;
pub mod problem;
pub(crate) mod sha256;
pub mod shape;
pub(crate) mod terms;
