//! How does a text that others wrote reach a terminal without moving its cursor, and a document without changing its data?

use std::fmt::Write as _;

/// A text from a file or a cluster, in one line, without whatever could move the cursor of a terminal or turn words around.
pub fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() || is_invisible(c) { '\u{fffd}' } else { c }).collect()
}

/// The same for a text of several lines.
pub fn printable_lines(text: &str) -> String {
    text.split('\n').map(printable).collect::<Vec<_>>().join("\n")
}

/// Whether a sign is not seen and changes how others are: it ends lines, or reverses the order in which they are shown.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

/// A document of JSON, or of YAML that quotes its texts, with the same signs escaped. They stand in quotes there, so that it is the
/// same data; what JSON escapes anyway, and line ends between values, stays.
pub fn escaped(document: &str) -> String {
    let mut text = String::with_capacity(document.len());
    for c in document.chars() {
        if c != '\n' && c.is_control() || is_invisible(c) {
            let _ = write!(text, "\\u{:04x}", u32::from(c));
        } else {
            text.push(c);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_could_mislead_a_terminal_is_replaced_or_escaped() {
        assert_eq!(printable("a\u{1b}[2J\nb\u{202e}"), "a\u{fffd}[2J\u{fffd}b\u{fffd}");
        assert_eq!(printable_lines("a\u{7}\nb"), "a\u{fffd}\nb");
        assert_eq!(escaped("\"a\u{9b}b\"\n"), "\"a\\u009bb\"\n");
        assert_eq!(printable("Größe: 5 µs, 終わり"), "Größe: 5 µs, 終わり");
    }
}
