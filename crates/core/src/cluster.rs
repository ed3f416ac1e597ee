//! What follows from all that was seen of one cluster? Kinds as rows, objects as they were last seen, the snapshot of all of them, and
//! the plan for each.

pub mod decide;
pub mod gauge;
pub mod kinds;
pub mod overriding;
pub mod overview;
pub mod phase;
pub mod seen;
pub mod snapshot;
pub mod surroundings;
