//! What does an object look like on the wire?
//!
//! The types here are exactly what the API serves: field names, enums, ranges and descriptions. They have no behaviour: what a
//! policy *means* is lowered to a set of instants in `tidegate-core`, and nowhere else. Every doc comment on a field is its
//! description in the schema, so it speaks to the person who writes the object.

pub mod crds;
pub mod freeze;
pub mod gated;
pub mod guardrail;
pub mod kinds;
pub mod machine;
pub mod meta;
pub mod metrics;
pub mod names;
pub mod overrides;
pub mod policy;
pub mod reach;
pub mod record;
pub mod schema;
pub mod stanza;
pub mod version_management;
