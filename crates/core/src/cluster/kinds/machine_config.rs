//! What of a `MachineConfig` do decisions read? What it holds, whether somebody wrote it or it was rendered.

use super::Row;
use crate::{cluster::seen::Part, pool::source::SeenConfig};

/// A configuration, written or rendered.
pub static MACHINE_CONFIG: Row = Row::part(api::kinds::MACHINE_CONFIG, |document| {
    Part::Config(Box::new(SeenConfig::new(document)))
});

/// The same where others render: which there are, and whether one is still what it was. A stock cluster keeps dozens of rendered ones, of
/// megabytes together, and nobody here asks what they hold.
pub static STOCK_MACHINE_CONFIG: Row = Row::part(api::kinds::MACHINE_CONFIG, |document| {
    Part::Config(Box::new(SeenConfig::outline(document)))
});
