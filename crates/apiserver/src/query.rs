//! What did the client ask for beside the path?
//!
//! Query parameters are decoded once into [`Query`]; unknown ones are ignored, as the real server does.

use std::collections::BTreeMap;

use http::Method;

use crate::status::{Cause, Refusal};

/// The decoded query string.
#[derive(Debug, Clone, Default)]
pub(crate) struct Query {
    parameters: BTreeMap<String, String>,
    /// How the options of this verb are called in refusals.
    options: &'static str,
}

/// What to do with fields that the schema does not know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FieldValidation {
    Strict,
    Warn,
    Ignore,
}

impl Query {
    pub(crate) fn parse(query: Option<&str>) -> Self {
        let mut map = BTreeMap::new();
        for pair in query.unwrap_or_default().split('&').filter(|p| !p.is_empty()) {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            map.entry(percent_decode(key)).or_insert_with(|| percent_decode(value));
        }
        Self { parameters: map, options: "ListOptions" }
    }

    /// Names the options after the verb.
    pub(crate) fn of_method(mut self, method: &Method) -> Self {
        self.options = match method.as_str() {
            "POST" => "CreateOptions",
            "PUT" => "UpdateOptions",
            "PATCH" => "PatchOptions",
            "DELETE" => "DeleteOptions",
            _ => "ListOptions",
        };
        self
    }

    pub(crate) fn get(&self, key: &str) -> Option<&str> {
        self.parameters.get(key).map(String::as_str).filter(|v| !v.is_empty())
    }

    /// Everything but `false` and `0` is yes, the bare name too.
    pub(crate) fn flag(&self, key: &str) -> bool {
        let no = |v: &String| v == "0" || v.eq_ignore_ascii_case("false");
        self.parameters.get(key).is_some_and(|v| !no(v))
    }

    /// Whether the flag was given at all.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.parameters.contains_key(key)
    }

    pub(crate) fn number(&self, key: &str) -> Result<Option<i64>, Refusal> {
        match self.get(key) {
            None => Ok(None),
            Some(text) => text.parse().map(Some).map_err(|_| {
                Refusal::bad_request(format!("strconv.ParseInt: parsing {text:?}: invalid syntax"))
            }),
        }
    }

    /// The resource version that a list asks for; absent and `0` differ.
    pub(crate) fn resource_version(&self) -> Result<Option<u64>, Refusal> {
        self.version()
            .map_err(|why| Refusal::bad_request(format!("invalid resource version: {why}")))
    }

    /// The same for one object and for a watch, where the real server calls nonsense its own fault.
    pub(crate) fn moment(&self) -> Result<Option<u64>, Refusal> {
        self.version().map_err(Refusal::internal)
    }

    fn version(&self) -> Result<Option<u64>, String> {
        let Some(text) = self.get("resourceVersion") else { return Ok(None) };
        text.parse().map(Some).map_err(|_| {
            format!("resourceVersion: Invalid value: {text:?}: strconv.ParseUint: parsing {text:?}: invalid syntax")
        })
    }

    pub(crate) fn dry_run(&self) -> Result<bool, Refusal> {
        match self.get("dryRun") {
            None => Ok(false),
            Some("All") => Ok(true),
            Some(other) => {
                let shown = format!("[{other:?}]");
                Err(Refusal::options(
                    self.options,
                    &Cause::not_supported("dryRun", &shown, &["All"]),
                ))
            }
        }
    }

    pub(crate) fn field_validation(&self) -> Result<FieldValidation, Refusal> {
        match self.get("fieldValidation") {
            None | Some("Warn") => Ok(FieldValidation::Warn),
            Some("Strict") => Ok(FieldValidation::Strict),
            Some("Ignore") => Ok(FieldValidation::Ignore),
            Some(other) => {
                let options = ["", "Ignore", "Strict", "Warn"];
                let cause =
                    Cause::not_supported("fieldValidation", &format!("{other:?}"), &options);
                Err(Refusal::options(self.options, &cause))
            }
        }
    }
}

/// Decodes `%41` and `+`; malformed escapes stay as they are.
pub(crate) fn percent_decode(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        match byte {
            b'+' => bytes.push(b' '),
            b'%' => {
                let mut ahead = rest.clone();
                let digits = (ahead.next().and_then(hex), ahead.next().and_then(hex));
                if let (Some(high), Some(low)) = digits {
                    bytes.push(high * 16 + low);
                    rest = ahead;
                } else {
                    bytes.push(b'%');
                }
            }
            other => bytes.push(other),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn hex(byte: u8) -> Option<u8> {
    (byte as char).to_digit(16).map(|d| d as u8)
}
