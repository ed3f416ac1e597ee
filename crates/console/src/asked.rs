//! What was asked for? A path, and fields of a query or a form.

use std::fmt::Write as _;

use api::schema::Scope;
use tidegate_core::document::key::{self, Key};

/// What was asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Asked {
    /// The path, decoded part by part.
    pub(crate) path: Vec<String>,
    /// What stands behind the question mark.
    pub(crate) query: Fields,
}

impl Asked {
    /// Reads a path with its query.
    pub(crate) fn new(target: &str) -> Self {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let path = path.split('/').filter(|part| !part.is_empty()).map(decoded).collect();
        Self { path, query: Fields::new(query) }
    }

    /// The path as it is written.
    pub(crate) fn path(&self) -> String {
        let parts = self.path.iter().map(|part| encoded(part)).collect::<Vec<_>>();
        format!("/{}", parts.join("/"))
    }

    /// The same page with another value of a field, or without it.
    pub(crate) fn with(&self, name: &str, value: Option<&str>) -> String {
        let others = self.query.0.iter().filter(|(field, _)| field != name);
        let others = others.map(|(field, value)| (field.as_str(), value.as_str()));
        let fields: Vec<(&str, &str)> = others.chain(value.map(|value| (name, value))).collect();
        let path = self.path();
        if fields.is_empty() { path } else { format!("{path}?{}", query(&fields)) }
    }

    /// The object that the path names behind its first part: `KIND/NAME` or `KIND/NAMESPACE/NAME`.
    pub(crate) fn object(&self) -> Result<Key, String> {
        let called = self.path.get(1..).unwrap_or_default().join("/");
        key::named(&called, None)
    }
}

/// Fields with their values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Fields(Vec<(String, String)>);

impl Fields {
    /// Reads `name=value&name=value`.
    pub(crate) fn new(text: &str) -> Self {
        let pairs = text.split('&').filter(|pair| !pair.is_empty());
        let pair = |pair: &str| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            (decoded(&name.replace('+', " ")), decoded(&value.replace('+', " ")))
        };
        Self(pairs.map(pair).collect())
    }

    /// The value of a field that is there and not empty.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().find(|(field, _)| field == name)?;
        Some(found.1.trim()).filter(|value| !value.is_empty())
    }

    /// Every value of a field that may be there several times.
    pub(crate) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter(move |(field, _)| field == name).map(|(_, value)| value.as_str())
    }
}

/// Fields as a query.
pub(crate) fn query(fields: &[(&str, &str)]) -> String {
    let pairs = fields.iter().map(|(name, value)| format!("{}={}", encoded(name), encoded(value)));
    pairs.collect::<Vec<_>>().join("&")
}

/// Where the page of an object is.
pub(crate) fn link(key: &Key) -> String {
    let kind = key.kind();
    let name = encoded(&key.name);
    match (kind.scope, &key.namespace) {
        (Scope::Namespaced, Some(namespace)) => {
            format!("/r/{}/{}/{name}", kind.short_name, encoded(namespace))
        }
        _ => format!("/r/{}/{name}", kind.short_name),
    }
}

/// An object as a field calls it.
pub(crate) fn called(key: &Key) -> String {
    let kind = key.kind().short_name;
    match &key.namespace {
        Some(namespace) => format!("{kind}/{namespace}/{}", key.name),
        None => format!("{kind}/{}", key.name),
    }
}

/// A text as one part of a path or of a query.
pub(crate) fn encoded(text: &str) -> String {
    let mut written = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~') {
            written.push(char::from(byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(written, "%{byte:02X}");
        }
    }
    written
}

/// What was encoded; what is no text becomes the sign for that.
fn decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut read = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let hex = text.get(at + 1..at + 3).filter(|_| *byte == b'%');
        if let Some(value) = hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            read.push(value);
            at += 3;
        } else {
            read.push(*byte);
            at += 1;
        }
    }
    String::from_utf8_lossy(&read).into_owned()
}

/// A path of this console to go back to, whatever somebody wrote there.
pub(crate) fn back(wanted: Option<&str>) -> String {
    let own = wanted.filter(|path| {
        path.starts_with('/')
            && !path.starts_with("//")
            // Browsers leave tabs and line ends out of an address, and what is left may lead elsewhere.
            && !path.contains(|sign: char| sign == '\\' || !matches!(sign, ' '..='~'))
    });
    own.unwrap_or("/").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_and_fields_are_read_as_they_were_written() {
        let asked = Asked::new("/r/np/clusters/shop%2Feu?at=2026-11-18T09%3A00&q=a+b&empty=");
        assert_eq!(asked.path, ["r", "np", "clusters", "shop/eu"]);
        assert_eq!(asked.query.get("at"), Some("2026-11-18T09:00"));
        assert_eq!(asked.query.get("q"), Some("a b"));
        assert_eq!(asked.query.get("empty"), None);
        assert_eq!(asked.with("q", None), "/r/np/clusters/shop%2Feu?at=2026-11-18T09%3A00&empty=");
        assert_eq!(Asked::new("/").with("show", Some("a&b")), "/?show=a%26b");
        assert_eq!(Fields::new("%zz=%e4&x").get("%zz"), Some("\u{fffd}"));
    }

    #[test]
    fn nobody_is_sent_elsewhere() {
        for (wanted, expected) in [
            (Some("/calendar?from=2026-11"), "/calendar?from=2026-11"),
            (Some("//elsewhere.example"), "/"),
            (Some("https://elsewhere.example"), "/"),
            (Some("/\\elsewhere.example"), "/"),
            (Some("/a\r\nSet-Cookie: b"), "/"),
            (Some("/\t/elsewhere.example"), "/"),
            (Some("/ä"), "/"),
            (None, "/"),
        ] {
            assert_eq!(back(wanted), expected);
        }
    }
}
