//! What does a verb get from outside? Everything impure, as values.

use std::io::Read;

use schedule::Instant;

use crate::output::Colour;

/// The world as a verb sees it.
pub(crate) struct Edge {
    /// The instant at which the command was started.
    pub(crate) now: Instant,
    /// Whether to colour the output.
    pub(crate) colour: Colour,
    /// Standard input, for `-f -`.
    pub(crate) stdin: Box<dyn Read>,
}
