//! Where does JSON differ from YAML? In one escape: a character beyond the first 65,536 is written as two halves.
//!
//! Many programs write emoji so. The two halves are joined before the text is read as YAML, which knows no halves; all else of JSON
//! is YAML already.

use std::borrow::Cow;

/// The text with joined halves; the same text if it has none or is no JSON.
pub(crate) fn joined(text: &str) -> Cow<'_, str> {
    let is_json = text.trim_start().starts_with(['{', '[']);
    if !is_json || !text.contains("\\u") {
        return Cow::Borrowed(text);
    }
    let mut joined = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        joined.push_str(before);
        // An escaped backslash is passed over whole, so that what follows it is not taken for an escape.
        let whole = escape.chars().take(2).map(char::len_utf8).sum();
        let (taken, length) = pair(escape).map_or_else(
            || (Cow::Borrowed(escape.get(..whole).unwrap_or(escape)), whole),
            |c| (Cow::Owned(c.to_string()), 12),
        );
        joined.push_str(&taken);
        rest = escape.get(length..).unwrap_or_default();
    }
    joined.push_str(rest);
    Cow::Owned(joined)
}

/// The character of two halves, `\ud83d\ude00`, at the start of a text.
fn pair(text: &str) -> Option<char> {
    let half = |at: usize| {
        let escape = text.get(at..at + 6)?.strip_prefix("\\u")?;
        u16::from_str_radix(escape, 16).ok()
    };
    char::decode_utf16([half(0)?, half(6)?]).next()?.ok().filter(|c| *c > '\u{ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_are_joined_and_nothing_else_is_touched() {
        let check = |text: &str, expected: &str| assert_eq!(joined(text), expected);
        check(r#"{"a": "\ud83c\udf84 \u00e9 \n"}"#, r#"{"a": "🎄 \u00e9 \n"}"#);
        check(r#"{"a": "\\ud83c\udf84"}"#, r#"{"a": "\\ud83c\udf84"}"#);
        check(r#"{"a": "\ud83c"}"#, r#"{"a": "\ud83c"}"#);
        check(r#"{"a": "\ud83c\u00e9"}"#, r#"{"a": "\ud83c\u00e9"}"#);
        check("a: '\\ud83c\\udf84'", "a: '\\ud83c\\udf84'");
        check("{\"a\": \"\\", "{\"a\": \"\\");
        check("{\"\\u\": \"\\é\"", "{\"\\u\": \"\\é\"");
    }
}
