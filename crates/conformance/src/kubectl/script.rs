//! What is written in a script?
//!
//! ```text
//! # A remark.
//! @ tide.yaml
//! | a line of the file tide.yaml
//! $ kubectl create -f tide.yaml
//! > a line of standard output
//! ! a line of standard error
//! ? 1
//! ```
//!
//! The first character of a line says what it is, so that no answer can be taken for a command. `?` is the exit status, left out when
//! it is 0. Printing a parsed script gives back the same text.

use std::fmt;

/// A script: remarks, files and commands in their order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Script {
    /// The lines, each command with its answer.
    pub lines: Vec<Line>,
}

/// One step of a script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Line {
    /// A remark or an empty line, kept as it is.
    Remark(String),
    /// A file that later commands read.
    File {
        /// Its name.
        name: String,
        /// Its content.
        text: String,
    },
    /// A command for the shell.
    Command {
        /// The command.
        command: String,
        /// What it answered when it was recorded.
        answer: Answer,
    },
}

/// What a command answered.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Answer {
    /// Lines of standard output.
    pub output: Vec<String>,
    /// Lines of standard error.
    pub errors: Vec<String>,
    /// The exit status.
    pub status: i32,
}

impl Script {
    /// Reads a script; the problem names the line.
    pub fn parse(text: &str) -> Result<Script, String> {
        let mut lines: Vec<Line> = Vec::new();
        for (number, line) in text.lines().enumerate() {
            let problem = |what: &str| Err(format!("line {}: {what}: {line}", number + 1));
            let (mark, rest) = line.split_at_checked(2).unwrap_or((line, ""));
            match (mark.trim_end(), lines.last_mut()) {
                ("#", _) => lines.push(Line::Remark(line.to_owned())),
                ("", _) => lines.push(Line::Remark(String::new())),
                ("@", _) => {
                    lines.push(Line::File { name: rest.to_owned(), text: String::new() });
                }
                ("$", _) => {
                    let answer = Answer::default();
                    lines.push(Line::Command { command: rest.to_owned(), answer });
                }
                ("|", Some(Line::File { text, .. })) => {
                    text.push_str(rest);
                    text.push('\n');
                }
                (">", Some(Line::Command { answer, .. })) => answer.output.push(rest.to_owned()),
                ("!", Some(Line::Command { answer, .. })) => answer.errors.push(rest.to_owned()),
                ("?", Some(Line::Command { answer, .. })) => match rest.parse() {
                    Ok(status) => answer.status = status,
                    Err(_) => return problem("an exit status is a number"),
                },
                _ => return problem("what is this line, here?"),
            }
        }
        Ok(Script { lines })
    }
}

impl fmt::Display for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for line in &self.lines {
            match line {
                Line::Remark(text) => writeln!(f, "{text}")?,
                Line::File { name, text } => {
                    writeln!(f, "@ {name}")?;
                    for line in text.lines() {
                        writeln!(f, "{}", format!("| {line}").trim_end())?;
                    }
                }
                Line::Command { command, answer } => write!(f, "$ {command}\n{answer}")?,
            }
        }
        Ok(())
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for line in &self.output {
            writeln!(f, "{}", format!("> {line}").trim_end())?;
        }
        for line in &self.errors {
            writeln!(f, "{}", format!("! {line}").trim_end())?;
        }
        if self.status != 0 {
            writeln!(f, "? {}", self.status)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printing_gives_back_what_was_read() {
        let text = "# a\n\n@ f.yaml\n| x: 1\n|\n|   y: 2\n$ cat f.yaml\n> x: 1\n>\n>   y: 2\n! oh\n!\n? 3\n\n$ true\n";
        assert_eq!(Script::parse(text).unwrap().to_string(), text);
    }

    #[test]
    fn stray_lines_are_refused_with_their_number() {
        for (text, expected) in [
            ("> x", "line 1: what is this line, here?: > x"),
            ("# a\n| x", "line 2: what is this line, here?: | x"),
            ("$ true\nx", "line 2: what is this line, here?: x"),
            ("$ true\n? one", "line 2: an exit status is a number: ? one"),
        ] {
            assert_eq!(Script::parse(text).unwrap_err(), expected);
        }
    }
}
