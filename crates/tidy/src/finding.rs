//! What did a check find, and where?

use std::fmt;

/// One broken rule, at one place.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// The file, from the top of the repository, or the crate.
    pub place: String,
    /// The line, counted from one; zero when the whole file is meant.
    pub line: usize,
    /// What is wrong and what to do.
    pub text: String,
}

impl Finding {
    /// A finding about one line of a file.
    pub fn at(place: &str, line: usize, text: impl Into<String>) -> Self {
        Self { place: place.to_owned(), line, text: text.into() }
    }

    /// A finding about a file or a crate as a whole.
    pub fn of(place: &str, text: impl Into<String>) -> Self {
        Self::at(place, 0, text)
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "{}: {}", self.place, self.text),
            line => write!(f, "{}:{line}: {}", self.place, self.text),
        }
    }
}

/// Fails the calling test with every finding, one on a line.
///
/// # Panics
///
/// When there is a finding: that is how a test fails.
#[track_caller]
pub fn verify(findings: &[Finding]) {
    let lines: Vec<String> = findings.iter().map(ToString::to_string).collect();
    assert!(lines.is_empty(), "{} broken:\n  {}", lines.len(), lines.join("\n  "));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finding_prints_like_a_compiler_message() {
        assert_eq!(Finding::at("a.rs", 3, "no").to_string(), "a.rs:3: no");
        assert_eq!(Finding::of("a.rs", "no").to_string(), "a.rs: no");
    }

    #[test]
    #[should_panic(expected = "1 broken:\n  a.rs: no")]
    fn verify_fails_on_a_finding() {
        verify(&[Finding::of("a.rs", "no")]);
    }
}
