//! What was wrong with the input, and where?

use std::fmt;

/// The one error of this crate: a sentence that names what was wrong, and the byte of the input it was found at.
///
/// It is opaque on purpose: callers ask what *kind* of fault it is by the predicates and show the text; nobody needs to match on
/// forty variants.
///
/// ```
/// let error = schedule::Rrule::parse("FREQ=HOURLY").unwrap_err();
/// assert!(error.is_unsupported());
/// assert_eq!(error.position(), Some(5));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    kind: Kind,
    message: Box<str>,
    position: Option<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Syntax,
    Range,
    Unsupported,
    UnknownZone,
}

impl Error {
    /// The text does not have the form it must have.
    pub(crate) fn syntax(message: impl Into<String>) -> Self {
        Self::new(Kind::Syntax, message)
    }

    /// The form is right and the value is not one that is allowed.
    pub(crate) fn range(message: impl Into<String>) -> Self {
        Self::new(Kind::Range, message)
    }

    /// The input is legal by its own standard and cannot be honoured here.
    pub(crate) fn unsupported(message: impl Into<String>) -> Self {
        Self::new(Kind::Unsupported, message)
    }

    /// No such time zone.
    pub(crate) fn unknown_zone(message: impl Into<String>) -> Self {
        Self::new(Kind::UnknownZone, message)
    }

    fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into().into_boxed_str(), position: None }
    }

    /// The same error, found at this byte of the input.
    pub(crate) fn at(mut self, position: usize) -> Self {
        self.position = u32::try_from(position).ok();
        self
    }

    /// The byte offset into the input at which the fault was found, where there is an input.
    pub fn position(&self) -> Option<usize> {
        self.position.map(|position| position as usize)
    }

    /// Whether the text does not have the form it must have.
    pub fn is_syntax(&self) -> bool {
        self.kind == Kind::Syntax
    }

    /// Whether the form is right and the value is outside what is allowed.
    pub fn is_range(&self) -> bool {
        self.kind == Kind::Range
    }

    /// Whether the input is legal by its own standard and cannot be honoured here (TIME-13).
    pub fn is_unsupported(&self) -> bool {
        self.kind == Kind::Unsupported
    }

    /// Whether a time zone is not in the IANA database (TIME-12: refused, never read as UTC).
    pub fn is_unknown_zone(&self) -> bool {
        self.kind == Kind::UnknownZone
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}
