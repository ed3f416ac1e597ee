//! What does a verb get from outside? Everything impure, as values.

use std::{
    ffi::OsString,
    io::{self, Read, Write},
};

use schedule::Instant;
use views::drawing::Colour;

/// Where the person is who typed the command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Seat {
    /// At a terminal, on both ends: they can be asked, and shown a picture that moves.
    Terminal,
    /// Elsewhere: a script, a pipe, a file.
    Elsewhere,
}

/// The world as a verb sees it.
pub(crate) struct Edge {
    /// The instant at which the command was started.
    pub(crate) now: Instant,
    /// The clock itself, for verbs that keep looking.
    pub(crate) clock: fn() -> Instant,
    /// Whether to colour the output.
    pub(crate) colour: Colour,
    /// Where the person is.
    pub(crate) seat: Seat,
    /// Standard input, for `-f -`.
    pub(crate) stdin: Box<dyn Read>,
    /// Standard output, for verbs that have something to say while they run.
    pub(crate) stdout: Box<dyn Write>,
    /// Standard error, for the same.
    pub(crate) stderr: Box<dyn Write>,
    /// The number of the user who runs the command.
    pub(crate) user: u32,
    /// Fills a place with what nobody can guess.
    pub(crate) chance: fn(&mut [u8]) -> io::Result<()>,
    /// Looks up a variable of the environment.
    pub(crate) variables: fn(&str) -> Option<OsString>,
}

impl Edge {
    /// A variable of the environment that is set, not empty, and text.
    pub(crate) fn variable(&self, name: &str) -> Option<String> {
        (self.variables)(name)?.into_string().ok().filter(|value| !value.is_empty())
    }
}
