//! What clients may do to objects: one file per verb.

pub(crate) mod advance;
mod apply;
pub(crate) mod create;
pub(crate) mod delete;
pub(crate) mod evict;
pub(crate) mod intake;
pub(crate) mod read;
pub(crate) mod update;
