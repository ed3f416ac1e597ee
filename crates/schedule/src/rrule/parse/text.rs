//! Where in the input does a piece of it stand?
//!
//! RFC 5545 folds long lines by a line break and a blank. The rule is read from the unfolded text, and an error's position is
//! carried back into the text as it was given.

use std::borrow::Cow;

use crate::error::Error;

/// The text without its folds.
pub(super) struct Unfolded<'a> {
    pub(super) text: Cow<'a, str>,
    /// For each fold, in order: where the text goes on after it, unfolded, and how many bytes all folds so far took.
    folds: Vec<(usize, usize)>,
}

impl<'a> Unfolded<'a> {
    pub(super) fn new(input: &'a str) -> Self {
        let mut text = String::new();
        let mut folds = Vec::new();
        let mut copied = 0;
        for (index, _) in input.match_indices(['\n']) {
            if !matches!(input.as_bytes().get(index + 1), Some(b' ' | b'\t')) {
                continue;
            }
            let line = input.get(copied..index).unwrap_or_default();
            text.push_str(line.strip_suffix('\r').unwrap_or(line));
            copied = index + 2;
            folds.push((text.len(), copied - text.len()));
        }
        if folds.is_empty() {
            return Self { text: Cow::Borrowed(input), folds };
        }
        text.push_str(input.get(copied..).unwrap_or_default());
        Self { text: Cow::Owned(text), folds }
    }

    /// The same error at its place in the text as it was given.
    pub(super) fn locate(&self, error: Error) -> Error {
        let Some(position) = error.position() else {
            return error;
        };
        let before = self.folds.partition_point(|(resumes, _)| *resumes <= position);
        let taken = before
            .checked_sub(1)
            .and_then(|fold| self.folds.get(fold))
            .map_or(0, |(_, taken)| *taken);
        error.at(position + taken)
    }
}

/// A piece of the text and the byte it begins at.
#[derive(Clone, Copy)]
pub(super) struct Token<'a> {
    pub(super) text: &'a str,
    pub(super) at: usize,
}

impl Token<'_> {
    /// The pieces between separators, at least one.
    pub(super) fn split(self, separator: char) -> impl Iterator<Item = Self> {
        let mut at = self.at;
        self.text.split(separator).map(move |text| {
            let token = Token { text, at };
            at += text.len() + separator.len_utf8();
            token
        })
    }

    /// The pieces before and after the byte `index`, which is left out.
    pub(super) fn around(self, index: usize) -> (Self, Self) {
        let before = self.text.get(..index).unwrap_or_default();
        let after = self.text.get(index + 1..).unwrap_or_default();
        (Token { text: before, at: self.at }, Token { text: after, at: self.at + index + 1 })
    }

    /// The pieces before and after the first separator.
    pub(super) fn split_once(self, separator: char) -> Option<(Self, Self)> {
        self.text.find(separator).map(|index| self.around(index))
    }

    pub(super) fn is(self, name: &str) -> bool {
        self.text.eq_ignore_ascii_case(name)
    }

    /// Where the piece ends.
    pub(super) fn end(self) -> usize {
        self.at + self.text.len()
    }

    /// The piece as an error message quotes it: what is not printable replaced, what is long cut short.
    pub(super) fn quoted(self) -> String {
        const LONGEST: usize = 40;
        let mut shown: String = self.text.chars().take(LONGEST).collect();
        if shown.len() < self.text.len() {
            shown.push('…');
        }
        format!("`{}`", shown.replace(|c: char| c.is_control(), "\u{fffd}"))
    }

    pub(super) fn syntax(self, message: impl Into<String>) -> Error {
        Error::syntax(message).at(self.at)
    }

    pub(super) fn range(self, message: impl Into<String>) -> Error {
        Error::range(message).at(self.at)
    }

    pub(super) fn unsupported(self, message: impl Into<String>) -> Error {
        Error::unsupported(message).at(self.at)
    }
}
