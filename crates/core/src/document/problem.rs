//! What is wrong with an object, where, and what can be done about it?
//!
//! A problem is a value, found by pure code and shown by whoever holds it: as a line with file, line and column by the command,
//! as a condition by the controller, as a refusal at admission. Checks collect all problems, never the first alone.

use std::{borrow::Cow, fmt};

/// Which object.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Object {
    /// Its kind.
    pub kind: String,
    /// Its namespace, if it has one.
    pub namespace: Option<String>,
    /// Its name, if it has one.
    pub name: Option<String>,
}

impl fmt::Display for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&shortened(&self.kind))?;
        for part in [&self.namespace, &self.name].into_iter().flatten() {
            write!(f, "/{}", shortened(part))?;
        }
        Ok(())
    }
}

/// One step from an object to a part of it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PathStep {
    /// The field of this name.
    Key(String),
    /// The entry at this place of a list.
    Index(usize),
}

/// Which field of an object; empty for the object itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct FieldPath(Vec<PathStep>);

impl FieldPath {
    /// The object itself.
    pub fn root() -> Self {
        Self::default()
    }

    /// A path of plain field names, written `spec.strategy`.
    pub fn of(dotted: &str) -> Self {
        Self(dotted.split('.').map(|key| PathStep::Key(key.into())).collect())
    }

    /// The field of this name below here.
    #[must_use]
    pub fn key(&self, name: &str) -> Self {
        self.then(PathStep::Key(name.into()))
    }

    /// The entry at this place of the list here.
    #[must_use]
    pub fn index(&self, place: usize) -> Self {
        self.then(PathStep::Index(place))
    }

    /// Whether another path leads to this field or to a part of it.
    pub fn holds(&self, other: &Self) -> bool {
        other.0.starts_with(&self.0)
    }

    /// The steps from the object to the field.
    pub fn steps(&self) -> &[PathStep] {
        &self.0
    }

    fn then(&self, step: PathStep) -> Self {
        let mut steps = self.0.clone();
        steps.push(step);
        Self(steps)
    }
}

impl fmt::Display for FieldPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, step) in self.0.iter().enumerate() {
            let step = match step {
                PathStep::Key(key) => PathStep::Key(shortened(key).into_owned()),
                PathStep::Index(index) => PathStep::Index(*index),
            };
            match step {
                // A label such as `app.kubernetes.io/name` would read as several fields.
                PathStep::Key(key) if key.is_empty() || key.contains(['.', '[', ']']) => {
                    write!(f, "[{key:?}]")?;
                }
                PathStep::Key(key) if place == 0 => f.write_str(&key)?,
                PathStep::Key(key) => write!(f, ".{key}")?,
                PathStep::Index(index) => write!(f, "[{index}]")?,
            }
        }
        Ok(())
    }
}

/// Whether an object can be used in spite of the problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// It cannot.
    Error,
    /// It can, and its author most likely meant something else.
    Warning,
}

/// What sort of problem: a closed list, for programs (labels of metrics, `-o json`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Code {
    /// The input cannot be read at all.
    Unreadable,
    /// The input is not text.
    NotText,
    /// The input holds no object.
    Empty,
    /// The input is larger, deeper or more entangled than is accepted.
    TooLarge,
    /// The text is not well-formed.
    Syntax,
    /// The same field is given twice.
    DuplicateField,
    /// The kind is not one that is served.
    UnknownKind,
    /// The field does not exist.
    UnknownField,
    /// The field must be given.
    MissingField,
    /// The value is of the wrong type.
    WrongType,
    /// The value is not one of those that are allowed.
    NotAllowed,
    /// The number or the length of the list is outside what is allowed.
    OutOfRange,
    /// The text is not spelled as it must be.
    BadFormat,
    /// Two fields are given of which only one may be, or the one given is not the one named.
    Conflict,
    /// An end is not after its start.
    EmptyRange,
    /// The rule can never fire (TIME-7).
    NeverFires,
    /// A pool will stand in the way of an update of the control plane (CV-3).
    SkewAhead,
    /// A guardrail that is enforced is not met (GRD-4).
    GuardrailEnforced,
    /// A guardrail that warns or audits is not met (GRD-4).
    GuardrailNotMet,
}

impl Code {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Unreadable => "Unreadable",
            Self::NotText => "NotText",
            Self::Empty => "Empty",
            Self::TooLarge => "TooLarge",
            Self::Syntax => "Syntax",
            Self::DuplicateField => "DuplicateField",
            Self::UnknownKind => "UnknownKind",
            Self::UnknownField => "UnknownField",
            Self::MissingField => "MissingField",
            Self::WrongType => "WrongType",
            Self::NotAllowed => "NotAllowed",
            Self::OutOfRange => "OutOfRange",
            Self::BadFormat => "BadFormat",
            Self::Conflict => "Conflict",
            Self::EmptyRange => "EmptyRange",
            Self::NeverFires => "NeverFires",
            Self::SkewAhead => "SkewAhead",
            Self::GuardrailEnforced => "GuardrailEnforced",
            Self::GuardrailNotMet => "GuardrailNotMet",
        }
    }

    /// How bad it is.
    pub fn severity(self) -> Severity {
        match self {
            Self::NeverFires | Self::SkewAhead | Self::GuardrailNotMet => Severity::Warning,
            Self::Unreadable
            | Self::NotText
            | Self::Empty
            | Self::TooLarge
            | Self::Syntax
            | Self::DuplicateField
            | Self::UnknownKind
            | Self::UnknownField
            | Self::MissingField
            | Self::WrongType
            | Self::GuardrailEnforced
            | Self::NotAllowed
            | Self::OutOfRange
            | Self::BadFormat
            | Self::Conflict
            | Self::EmptyRange => Severity::Error,
        }
    }
}

/// Something wrong with an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Which object, where that much is known.
    pub object: Option<Object>,
    /// Which of its fields.
    pub field: FieldPath,
    /// What sort of problem.
    pub code: Code,
    /// What is wrong, in a sentence without its full stop.
    pub detail: String,
    /// What to do about it.
    pub hint: Option<String>,
}

impl Problem {
    /// A problem with a field of an object that the caller fills in.
    pub fn new(field: &FieldPath, code: Code, detail: impl Into<String>) -> Self {
        Self { object: None, field: field.clone(), code, detail: detail.into(), hint: None }
    }

    /// The same with advice.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// How bad it is.
    pub fn severity(&self) -> Severity {
        self.code.severity()
    }

    /// Whether the object cannot be used.
    pub fn is_error(&self) -> bool {
        self.severity() == Severity::Error
    }
}

/// A text as it is quoted in a sentence: a page of input must not become a page of output.
pub fn quoted(text: &str) -> String {
    format!("{:?}", shortened(text))
}

fn shortened(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(LONGEST_QUOTE) {
        Some((end, _)) => Cow::Owned(format!("{}...", text.get(..end).unwrap_or_default())),
        None => Cow::Borrowed(text),
    }
}

/// How many characters of the input a sentence repeats. A zone or a date is shorter, and a name is told by its beginning.
const LONGEST_QUOTE: usize = 80;

/// How many characters of one problem a condition shows: more than any problem has that is not made to be long.
const LONGEST_PROBLEM: usize = 1_000;

/// The errors among problems, as one sentence.
pub(crate) fn problem_text(problems: &[Problem]) -> String {
    let errors: Vec<String> = problems
        .iter()
        .filter(|problem| problem.is_error())
        .map(|problem| match problem.field.steps() {
            [] => problem.detail.clone(),
            _ => format!("{}: {}", problem.field, problem.detail),
        })
        // A server takes a condition of some length only, and the name of an unknown field may have any.
        .map(|error| error.chars().take(LONGEST_PROBLEM).collect())
        .collect();
    // A condition is read in one line: the first faults, and how many more there are.
    match errors.as_slice() {
        [a, b, c, more @ ..] if !more.is_empty() => {
            format!("{a}; {b}; {c}; and {} more", more.len())
        }
        some => some.join("; "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// GATE-9: which fields, what is wrong with each, and how many more there are.
    #[test]
    fn problems_are_told_in_one_line() {
        let problem = |field: &str| match field {
            "" => Problem::new(&FieldPath::root(), Code::WrongType, "wrong"),
            field => Problem::new(&FieldPath::of(field), Code::WrongType, "wrong"),
        };
        let check = |fields: &[&str], expected: &str| {
            let problems: Vec<Problem> = fields.iter().map(|field| problem(field)).collect();
            assert_eq!(problem_text(&problems), expected);
        };
        check(&[], "");
        check(&[""], "wrong");
        check(&["spec.a"], "spec.a: wrong");
        check(&["a", "b", "c"], "a: wrong; b: wrong; c: wrong");
        check(&["a", "b", "c", "d"], "a: wrong; b: wrong; c: wrong; and 1 more");
        check(&["a", "b", "c", "d", "e"], "a: wrong; b: wrong; c: wrong; and 2 more");
        let endless = Problem::new(&FieldPath::of("a"), Code::Syntax, "x".repeat(5_000));
        assert_eq!(problem_text(&[endless]).len(), 1_000, "LIVE-3: a server takes some length");
        let warning = Problem::new(&FieldPath::of("spec"), Code::NeverFires, "never");
        assert_eq!(problem_text(&[warning, problem("a")]), "a: wrong", "a warning closes no gate");
    }
}
