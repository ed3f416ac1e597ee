//! What is written in a table of specifications? Printing a parsed table gives back the same text, but for what was recorded anew.

use std::fmt;

use serde_json::Value;

/// What must become of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Accept,
    Reject,
    Unknown,
    Kept,
}

/// One value, and what must become of it.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    /// Which kinds it is sent to.
    pub(crate) kinds: String,
    /// Where in the object it stands, keys with dots between them.
    pub(crate) place: String,
    /// What is stored at that place before, for a change.
    pub(crate) from: Option<Value>,
    /// The line where that stands, which names the stored object.
    pub(crate) from_line: usize,
    pub(crate) verdict: Verdict,
    /// The field that a refusal must name, below the place; the place itself if empty.
    pub(crate) field: String,
    pub(crate) value: Value,
    /// What the value at that place must be afterwards.
    pub(crate) becomes: Option<Value>,
    /// In which words it was refused.
    pub(crate) recorded: Vec<String>,
    /// The line of the file.
    pub(crate) line: usize,
    /// The same, without counting what was recorded.
    number: usize,
}

impl Row {
    /// The field that a refusal must name.
    pub(crate) fn path_of_field(&self) -> String {
        match self.field.as_str() {
            "" => self.place.clone(),
            field if field.starts_with('[') => format!("{}{field}", self.place),
            field => format!("{}.{field}", self.place),
        }
    }
}

/// A table: its lines without those that were recorded, and the rows among them.
#[derive(Debug)]
pub(crate) struct Table {
    lines: Vec<String>,
    pub(crate) rows: Vec<Row>,
}

impl Table {
    /// Reads a table; the problem names the line.
    pub(crate) fn parse(text: &str) -> Result<Table, String> {
        let mut table = Table { lines: Vec::new(), rows: Vec::new() };
        let (mut kinds, mut place) = (String::new(), String::new());
        let (mut from, mut from_line) = (None, 0);
        for (line_before, line) in text.lines().enumerate() {
            if let Some(words) = line.strip_prefix("> ") {
                let row = table.rows.last_mut().ok_or("a refusal without a row")?;
                row.recorded.push(words.to_owned());
                continue;
            }
            // Lines are counted without the recorded ones, so that a name does not move when a refusal does.
            let number = table.lines.len();
            table.lines.push(line.to_owned());
            let problem = |what: &str| format!("line {}: {what}: {line}", line_before + 1);
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            if let Some(head) = line.strip_prefix("at ") {
                let (named, at) = head.split_once(' ').ok_or_else(|| problem("no place"))?;
                (kinds, place, from, from_line) = (named.into(), at.into(), None, number);
                continue;
            }
            let (head, body) = match line.split_once(": ") {
                _ if line.starts_with("= ") => ("=", line.get(2..).unwrap_or_default()),
                Some(parts) => parts,
                None => return Err(problem("what is this line?")),
            };
            let value: Value =
                serde_saphyr::from_str(&repeated(body)).map_err(|e| problem(&e.to_string()))?;
            let (verdict, field) = head.split_once(' ').unwrap_or((head, ""));
            let verdict = match verdict {
                "accept" => Verdict::Accept,
                "reject" => Verdict::Reject,
                "unknown" => Verdict::Unknown,
                "kept" => Verdict::Kept,
                "from" => {
                    (from, from_line) = (Some(value), number);
                    continue;
                }
                "=" => {
                    let row = table.rows.last_mut().ok_or_else(|| problem("no row before"))?;
                    row.becomes = Some(value);
                    continue;
                }
                _ => return Err(problem("what is this line?")),
            };
            table.rows.push(Row {
                kinds: kinds.clone(),
                place: place.clone(),
                from: from.clone(),
                from_line,
                verdict,
                field: field.to_owned(),
                value,
                becomes: None,
                recorded: Vec::new(),
                line: line_before + 1,
                number,
            });
        }
        Ok(table)
    }
}

/// Writes out what stands as `<<3 times a>>`.
fn repeated(text: &str) -> String {
    let Some((before, rest)) = text.split_once("<<") else { return text.to_owned() };
    let (inner, after) = rest.split_once(">>").unwrap_or((rest, ""));
    let (count, what) = inner.split_once(" times ").unwrap_or(("", inner));
    format!("{before}{}{after}", what.repeat(count.parse().unwrap_or_default()))
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, line) in self.lines.iter().enumerate() {
            writeln!(f, "{line}")?;
            for row in self.rows.iter().filter(|row| row.number == number) {
                for words in &row.recorded {
                    writeln!(f, "> {words}")?;
                }
            }
        }
        Ok(())
    }
}
