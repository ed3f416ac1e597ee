//! Where does each document of a YAML stream begin?
//!
//! A line that starts with `---` or `...` ends a document wherever it stands, even inside a quoted text, so the stream can be cut
//! before it is parsed. That is what keeps one broken document from hiding the others.

/// One document of a stream.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Chunk<'a> {
    /// The line of the stream on which it begins, from 1.
    pub(crate) line: usize,
    /// Its text, with its marker.
    pub(crate) text: &'a str,
}

/// Cuts a stream into documents. Chunks without anything but comments are left out.
pub(crate) fn documents(text: &str) -> Vec<Chunk<'_>> {
    let mut chunks = Vec::new();
    let (mut start, mut start_line) = (0, 1);
    let mut content = Content::Nothing;
    let mut at = 0;
    for (index, line) in text.split_inclusive('\n').enumerate() {
        let bare = line.trim_end();
        let marker = |mark: &str| {
            bare.strip_prefix(mark)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t']))
        };
        // Directives belong to the document that follows them.
        if marker("---") && content != Content::Directives {
            if content == Content::Document {
                chunks.push(Chunk { line: start_line, text: &text[start..at] });
            }
            (start, start_line) = (at, index + 1);
            content = Content::Nothing;
        }
        let ends = marker("...");
        if marker("---") {
            if !bare[3..].trim_start().is_empty() && !bare[3..].trim_start().starts_with('#') {
                content = Content::Document;
            } else {
                content = Content::Nothing;
            }
        } else if bare.starts_with('%') && content != Content::Document {
            content = Content::Directives;
        } else if !ends && !bare.is_empty() && !bare.trim_start().starts_with('#') {
            content = Content::Document;
        }
        at += line.len();
        if ends {
            if content == Content::Document {
                chunks.push(Chunk { line: start_line, text: &text[start..at] });
            }
            (start, start_line) = (at, index + 2);
            content = Content::Nothing;
        }
    }
    if content == Content::Document {
        chunks.push(Chunk { line: start_line, text: &text[start..] });
    }
    chunks
}

/// What a chunk has been seen to hold so far.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Content {
    Nothing,
    Directives,
    Document,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_is_cut_at_its_markers() {
        let check = |text: &str, expected: &[(usize, &str)]| {
            let found: Vec<(usize, &str)> =
                documents(text).iter().map(|chunk| (chunk.line, chunk.text)).collect();
            assert_eq!(found, expected, "{text:?}");
        };
        check("a: 1\n", &[(1, "a: 1\n")]);
        check("a: 1\n---\nb: 2\n", &[(1, "a: 1\n"), (2, "---\nb: 2\n")]);
        check("---\na: 1\n---\nb: 2", &[(1, "---\na: 1\n"), (3, "---\nb: 2")]);
        check("# only\n---\n\n---\n# comments\n", &[]);
        check("", &[]);
        check("a: \"x\n---\nb: 2\n", &[(1, "a: \"x\n"), (2, "---\nb: 2\n")]);
        check("a: 1\n...\nb: 2\n", &[(1, "a: 1\n...\n"), (3, "b: 2\n")]);
        check("%YAML 1.2\n---\na: 1\n", &[(1, "%YAML 1.2\n---\na: 1\n")]);
        check("--- {a: 1}\n--- # next\nb: 2\n", &[(1, "--- {a: 1}\n"), (2, "--- # next\nb: 2\n")]);
        check("a: ---x\n----\n", &[(1, "a: ---x\n----\n")]);
        check("a: 1\r\n---\r\nb: 2\r\n", &[(1, "a: 1\r\n"), (2, "---\r\nb: 2\r\n")]);
    }
}
