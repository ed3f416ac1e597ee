//! What in a cluster can change something although nobody permits it, and who could take the lock away? (RCH-6, GATE-13)
//!
//! Each part is a function of documents, so that a live cluster and a dump of files are judged alike. None proves that there is no other
//! way: a cluster administrator can always remove the lock.

pub mod begun;
pub mod doors;
pub mod movers;
pub mod probes;
pub mod proposal;
