//! What does a verb give back, and how is it coloured?
//!
//! Output goes to standard output and talk to standard error. Colour never carries meaning alone: every coloured thing also has a
//! sign or a word. Only the sixteen colours of the terminal's own palette are used, so dark and light terminals both work.

use std::fmt::Write as _;

use serde::Serialize;
use tidegate_core::problem::Object;

use crate::{
    source::{Finding, Loaded},
    yaml,
};

/// What a verb gives back.
#[derive(Debug)]
pub(crate) struct Output {
    /// For standard output.
    pub(crate) text: String,
    /// For standard error.
    pub(crate) talk: String,
    /// The exit code.
    pub(crate) exit: Exit,
}

impl Output {
    /// Output of a verb that did its work.
    pub(crate) fn done(text: impl Into<String>) -> Self {
        Self { text: text.into(), talk: String::new(), exit: Exit::Done }
    }

    /// The same with the problems of what was read: they are told, and something that could not be read is a failure.
    pub(crate) fn with_problems(mut self, loaded: &Loaded) -> Self {
        self.talk.push_str(&problems(&loaded.findings));
        if loaded.has_errors() {
            self.exit = Exit::Failure;
        }
        self
    }
}

/// What the exit code says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Yes, or done.
    Done,
    /// No.
    No,
    /// The question could not be answered.
    Failure,
}

impl Exit {
    /// The number.
    pub(crate) fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::No => 1,
            Self::Failure => 2,
        }
    }
}

/// Every problem as people read it: place, field, what, and the hint on its own line.
pub(crate) fn problems(findings: &[Finding]) -> String {
    let mut text = String::new();
    for Finding { file, place, problem } in findings {
        let _ = write!(text, "{file}:{}:{}: ", place.line, place.column);
        if !problem.is_error() {
            text.push_str("warning: ");
        }
        if !problem.field.steps().is_empty() {
            let _ = write!(text, "{}: ", problem.field);
        }
        text.push_str(&printable(&problem.detail));
        text.push('\n');
        if let Some(hint) = &problem.hint {
            let _ = writeln!(text, "  hint: {}", printable(hint));
        }
    }
    text
}

/// A text from a file without whatever could move the cursor of a terminal.
pub(crate) fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

/// What a verb lists for programs.
#[derive(Serialize)]
pub(crate) struct Items<T> {
    /// One for each object.
    pub(crate) items: Vec<T>,
}

impl<T> FromIterator<T> for Items<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        Self { items: items.into_iter().collect() }
    }
}

/// What an object is called, as every item of every list begins.
#[derive(Serialize)]
pub(crate) struct Named {
    kind: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    namespace: Option<String>,
    name: String,
}

impl From<&Object> for Named {
    fn from(object: &Object) -> Self {
        Self {
            kind: object.kind.clone(),
            namespace: object.namespace.clone(),
            name: object.name.clone().unwrap_or_default(),
        }
    }
}

/// JSON, indented, with a newline at its end.
pub(crate) fn json(value: &impl Serialize) -> anyhow::Result<String> {
    Ok(serde_json::to_string_pretty(value)? + "\n")
}

/// The same as YAML.
pub(crate) fn yaml(value: &impl Serialize) -> anyhow::Result<String> {
    Ok(yaml::write(&serde_json::to_value(value)?))
}

/// Whether output is coloured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Colour {
    /// It is.
    On,
    /// It is not.
    Off,
}

/// What a piece of output is, for its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    /// Nothing in particular.
    Plain,
    /// A heading.
    Strong,
    /// Something of less weight.
    Faint,
    /// Permitted.
    Open,
    /// A day that is permitted as a whole.
    OpenDay,
    /// Excluded.
    Excluded,
    /// Paused.
    Paused,
    /// Today.
    Today,
}

impl Colour {
    /// A piece of output in its colour.
    pub(crate) fn paint(self, style: Style, text: &str) -> String {
        let code = match style {
            Style::Plain => return text.to_owned(),
            Style::Strong => "1",
            Style::Faint => "2",
            Style::Open => "32",
            Style::OpenDay => "1;32",
            // Not yellow, which a light terminal swallows.
            Style::Excluded => "35",
            Style::Paused => "31",
            Style::Today => "1;7",
        };
        match self {
            Self::On if !text.is_empty() => format!("\x1b[{code}m{text}\x1b[0m"),
            Self::On | Self::Off => text.to_owned(),
        }
    }
}
