//! What does a verb give back, and in which format? Output goes to standard output and talk to standard error.

use std::fmt::Write as _;

use serde::Serialize;
use tidegate_core::{cluster::kinds, policy::verdict::Verdict};
use views::{
    drawing::Detail,
    safe::{escaped, printable},
    yaml,
};

use crate::{
    args::Format,
    source::{Finding, Loaded},
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
        let known = |name: &str| kinds::ALL.iter().any(|row| row.name == name);
        for missing in loaded.missing_of_dumps(known) {
            let _ = writeln!(self.talk, "warning: {}", printable(&missing));
        }
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
    /// What is answered to "may all of this change?" (GATE-12): one that nobody can tell beats one that is held, because somebody has
    /// to look at it.
    pub(crate) fn of(verdicts: impl IntoIterator<Item = Verdict>) -> Self {
        verdicts.into_iter().fold(Self::Done, |worst, verdict| match (worst, verdict) {
            (Self::Failure, _) | (_, Verdict::CannotTell) => Self::Failure,
            (Self::No, _) | (_, Verdict::Held) => Self::No,
            (Self::Done, Verdict::Permitted) => Self::Done,
        })
    }

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
        let _ = write!(text, "{}:{}:{}: ", printable(file), place.line, place.column);
        if !problem.is_error() {
            text.push_str("warning: ");
        }
        if !problem.field.steps().is_empty() {
            let _ = write!(text, "{}: ", printable(&problem.field.to_string()));
        }
        text.push_str(&printable(&problem.detail));
        text.push('\n');
        if let Some(hint) = &problem.hint {
            let _ = writeln!(text, "  hint: {}", printable(hint));
        }
    }
    text
}

/// A view in the format that was asked for: its items for programs, its drawing for people.
pub(crate) fn written<T: Serialize>(
    format: Format,
    items: impl FnOnce() -> T,
    drawing: impl FnOnce(Detail) -> String,
) -> anyhow::Result<String> {
    match format {
        Format::Json => json(&items()),
        Format::Yaml => yaml(&items()),
        Format::Table => Ok(drawing(Detail::Short)),
        Format::Wide => Ok(drawing(Detail::Full)),
    }
}

/// JSON, indented, with a newline at its end.
pub(crate) fn json(value: &impl Serialize) -> anyhow::Result<String> {
    Ok(escaped(&serde_json::to_string_pretty(value)?) + "\n")
}

/// The same as YAML.
pub(crate) fn yaml(value: &impl Serialize) -> anyhow::Result<String> {
    Ok(escaped(&yaml::write(&serde_json::to_value(value)?)))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use tidegate_core::document::problem::{Code, FieldPath, Problem};
    use views::safe::printable_lines;

    use super::*;
    use crate::source::tree::{self, Place};

    /// What moves a cursor, clears a screen or turns words around: C0, delete, C1, ends of lines, directions.
    const NASTY: &[char] = &[
        '\u{7}', '\u{8}', '\u{1b}', '\r', '\u{7f}', '\u{80}', '\u{9b}', '\u{9f}', '\u{61c}',
        '\u{200e}', '\u{200f}', '\u{2028}', '\u{2029}', '\u{202a}', '\u{202e}', '\u{2066}',
        '\u{2069}', '\u{feff}',
    ];

    #[test]
    fn no_format_prints_what_could_mislead_a_terminal_and_data_stays_what_it_is() {
        for c in NASTY {
            let value = json!({"reason": format!("a{c}b"), "list": [[format!("{c}")]], format!("key{c}"): "x"});
            let (json, yaml) = (json(&value).unwrap(), yaml(&value).unwrap());
            for text in
                [&json, &yaml, &printable(&format!("a{c}b")), &printable_lines(&format!("a{c}\nb"))]
            {
                assert!(!text.contains(*c), "{c:?} in {text:?}");
            }
            assert_eq!(serde_json::from_str::<Value>(&json).unwrap(), value);
            assert_eq!(tree::parse(&yaml, 1).unwrap().unwrap().root.value(), value, "{yaml}");
        }
        let words = json!({"reason": "Größe: 5 µs, 終わり, עברית"});
        assert_eq!(json(&words).unwrap(), serde_json::to_string_pretty(&words).unwrap() + "\n");
    }

    #[test]
    fn names_of_files_are_printed_like_everything_else_that_others_wrote() {
        let problem = Problem::new(&FieldPath::of("spec"), Code::Empty, "no\u{9b}thing");
        let finding =
            Finding { file: "a\u{202e}\u{1b}[2J\nb.yaml".into(), place: Place::START, problem };
        assert_eq!(
            problems(&[finding]),
            "a\u{fffd}\u{fffd}[2J\u{fffd}b.yaml:1:1: spec: no\u{fffd}thing\n"
        );
    }

    /// GATE-12
    #[test]
    fn exit_codes_tell_the_three_verdicts_apart() {
        use Verdict::{CannotTell, Held, Permitted};
        let check = |verdicts: &[Verdict], code: u8| {
            assert_eq!(Exit::of(verdicts.iter().copied()).code(), code, "{verdicts:?}");
        };
        check(&[], 0);
        check(&[Permitted, Permitted], 0);
        check(&[Permitted, Held], 1);
        check(&[CannotTell], 2);
        check(&[Held, CannotTell], 2);
        check(&[CannotTell, Held, Permitted], 2);
    }

    #[test]
    fn what_is_written_reads_back() {
        let value = json!({
            "apiVersion": "a/v1", "empty": {}, "none": null, "list": ["x", 1, true, {"a": "1", "b": [2]}, []],
            "spec": {"time": "20:00", "date": "2026-12-24", "duration": "8h", "reason": "year's end: \"freeze\"\n",
                "no": "no", "number": "12", "text": "plain words", "dash": "- x", "hash": "a #b", "e": ""},
        });
        let text = yaml::write(&value);
        let read = tree::parse(&text, 1).unwrap().unwrap().root.value();
        assert_eq!(read, value, "{text}");
    }
}
