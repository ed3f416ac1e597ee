//! Which bytes does a file hold? The data URL of its `contents.source`, decoded.

use std::borrow::Cow;

use api::machine::ignition::Contents;
use base64::{Engine as _, engine::general_purpose::STANDARD};

/// The bytes that a file holds; what is wrong with the URL, if it holds none.
pub fn bytes(contents: &Contents) -> Result<Cow<'_, [u8]>, String> {
    let Some(source) = contents.source.as_deref().filter(|source| !source.is_empty()) else {
        return Ok(Cow::Borrowed(&[]));
    };
    let Some(rest) = source.strip_prefix("data:") else {
        return Err("is not a data URL, and nodes fetch nothing from elsewhere".into());
    };
    let Some((kind, body)) = rest.split_once(',') else {
        return Err("is a data URL without a comma, so it has no content".into());
    };
    let plain = unescaped(body)?;
    if kind.split(';').any(|part| part == "base64") {
        let decoded = STANDARD.decode(plain.as_ref());
        return decoded.map(Cow::Owned).map_err(|error| format!("is not valid base64: {error}"));
    }
    Ok(plain)
}

/// Percent-escapes resolved.
fn unescaped(text: &str) -> Result<Cow<'_, [u8]>, String> {
    if !text.contains('%') {
        return Ok(Cow::Borrowed(text.as_bytes()));
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        rest = after;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let digit = |byte: &u8| (*byte as char).to_digit(16);
        let [high, low, after @ ..] = rest else {
            return Err("ends in the middle of an escape".into());
        };
        let (Some(high), Some(low)) = (digit(high), digit(low)) else {
            return Err("has a percent sign that two hexadecimal digits do not follow".into());
        };
        bytes.push((high * 16 + low) as u8);
        rest = after;
    }
    Ok(Cow::Owned(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(source: &str, expected: Result<&str, &str>) {
        let contents = Contents { source: Some(source.into()) };
        match (bytes(&contents), expected) {
            (Ok(bytes), Ok(text)) => assert_eq!(bytes.as_ref(), text.as_bytes(), "{source}"),
            (Err(wrong), Err(part)) => assert!(wrong.contains(part), "{source}: {wrong}"),
            (found, _) => panic!("{source}: {found:?}"),
        }
    }

    #[test]
    fn data_urls_are_decoded_or_refused_with_a_reason() {
        check("", Ok(""));
        check("data:,", Ok(""));
        check("data:,hello%20world%0A", Ok("hello world\n"));
        check("data:text/plain;charset=utf-8;base64,aGVsbG8=", Ok("hello"));
        check("data:;base64,aGVs%62G8%3D", Ok("hello"));
        check("data:,100%", Err("in the middle of an escape"));
        check("data:,100%zz", Err("two hexadecimal digits"));
        check("data:;base64,@@@", Err("not valid base64"));
        check("data:text/plain", Err("without a comma"));
        check("https://example.com/file", Err("not a data URL"));
    }
}
