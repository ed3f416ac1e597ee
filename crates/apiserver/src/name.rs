//! Which names may objects, labels and fields have?

use serde_json::Value;

use crate::status::Cause;

const LABEL: &str = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const SUBDOMAIN: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const QUALIFIED: &str = "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
pub(crate) const LABEL_VALUE: &str = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

/// Which rule the names of a kind follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NameRule {
    /// RFC 1123 label, 63 characters: namespaces.
    Label,
    /// RFC 1123 subdomain, 253 characters: nearly everything.
    Subdomain,
    /// Whatever can stand in a path: disruption budgets, which the real server forgot to check.
    PathSegment,
}

pub(crate) fn is_label(text: &str) -> bool {
    let bytes = text.as_bytes();
    let inner = |b: &u8| b.is_ascii_lowercase() || b.is_ascii_digit() || *b == b'-';
    !bytes.is_empty()
        && bytes.len() <= 63
        && bytes.iter().all(inner)
        && bytes.first() != Some(&b'-')
        && bytes.last() != Some(&b'-')
}

pub(crate) fn is_subdomain(text: &str) -> bool {
    text.len() <= 253
        && text.split('.').all(|part| {
            let bytes = part.as_bytes();
            !bytes.is_empty()
                && bytes.iter().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || *b == b'-')
                && bytes.first() != Some(&b'-')
                && bytes.last() != Some(&b'-')
        })
}

/// Letters, digits, `-_.`, beginning and ending with a letter or digit.
fn is_word(text: &str) -> bool {
    let bytes = text.as_bytes();
    let ends = |b: Option<&u8>| b.is_some_and(u8::is_ascii_alphanumeric);
    ends(bytes.first())
        && ends(bytes.last())
        && bytes.iter().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'))
}

pub(crate) fn is_label_value(text: &str) -> bool {
    text.is_empty() || text.len() <= 63 && is_word(text)
}

/// What is wrong with a name, if anything.
pub(crate) fn problems(rule: NameRule, name: &str) -> Vec<String> {
    let mut found = Vec::new();
    match rule {
        NameRule::Label => {
            if name.len() > 63 {
                found.push("must be no more than 63 characters".to_owned());
            }
            if !is_label(name) && (name.len() <= 63 || !is_subdomain(&name.replace('.', "_"))) {
                found.push(LABEL.to_owned());
            }
        }
        NameRule::Subdomain => {
            if name.len() > 253 {
                found.push("must be no more than 253 characters".to_owned());
            } else if !is_subdomain(name) {
                found.push(SUBDOMAIN.to_owned());
            }
        }
        NameRule::PathSegment => {
            if matches!(name, "." | "..") {
                found.push(format!("may not be '{name}'"));
            }
            for sign in ["/", "%"].into_iter().filter(|sign| name.contains(sign)) {
                found.push(format!("may not contain '{sign}'"));
            }
        }
    }
    found
}

/// A label key, annotation key or finalizer: `[prefix/]name`.
pub(crate) fn qualified_problems(key: &str) -> Vec<String> {
    let (prefix, name) = match key.split_once('/') {
        Some((prefix, name)) => (Some(prefix), name),
        None => (None, key),
    };
    if name.contains('/') {
        return vec![format!(
            "a valid label key must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
        )];
    }
    let mut found = Vec::new();
    if let Some(prefix) = prefix {
        if prefix.is_empty() {
            found.push("prefix part must be non-empty".to_owned());
        } else if !is_subdomain(prefix) {
            found.push(format!("prefix part {SUBDOMAIN}"));
        }
    }
    if name.is_empty() {
        found.push("name part must be non-empty".to_owned());
    } else if name.len() > 63 {
        found.push("name part must be no more than 63 bytes".to_owned());
    }
    if !is_word(name) {
        found.push(QUALIFIED.to_owned());
    }
    found
}

/// The rules that every object's metadata follows.
pub(crate) fn metadata_problems(object: &Value, rule: NameRule) -> Vec<Cause> {
    let mut causes = Vec::new();
    let name = crate::meta::name(object);
    for problem in problems(rule, name) {
        causes.push(Cause::invalid("metadata.name", &quote(name), &problem));
    }
    let generation = crate::meta::field(object, "generation").and_then(Value::as_i64);
    if let Some(below) = generation.filter(|g| *g < 0) {
        let why = "must be greater than or equal to 0";
        causes.push(Cause::invalid("metadata.generation", &below.to_string(), why));
    }
    if let Some(labels) = crate::meta::field(object, "labels").and_then(Value::as_object) {
        for (key, value) in labels {
            for problem in qualified_problems(key) {
                causes.push(Cause::invalid("metadata.labels", &quote(key), &problem));
            }
            let value = value.as_str().unwrap_or_default();
            if value.len() > 63 {
                causes.push(Cause::invalid(
                    "metadata.labels",
                    &quote(value),
                    "must be no more than 63 bytes",
                ));
            }
            if !value.is_empty() && !is_word(value) {
                causes.push(Cause::invalid("metadata.labels", &quote(value), LABEL_VALUE));
            }
        }
    }
    if let Some(annotations) = crate::meta::field(object, "annotations").and_then(Value::as_object)
    {
        let mut size = 0;
        for (key, value) in annotations {
            size += key.len() + value.as_str().map_or(0, str::len);
            for problem in qualified_problems(&key.to_lowercase()) {
                causes.push(Cause::invalid("metadata.annotations", &quote(key), &problem));
            }
        }
        if size > 256 * 1024 {
            causes.push(Cause {
                reason: "FieldValueTooLong",
                field: "metadata.annotations".into(),
                message: "Too long: may not be more than 262144 bytes".into(),
            });
        }
    }
    for finalizer in crate::meta::strings(object, "finalizers") {
        for problem in qualified_problems(finalizer) {
            causes.push(Cause::invalid("metadata.finalizers", &quote(finalizer), &problem));
        }
    }
    if let Some(owners) = crate::meta::field(object, "ownerReferences").and_then(Value::as_array) {
        for (index, owner) in owners.iter().enumerate() {
            for key in ["apiVersion", "kind", "name", "uid"] {
                if owner.get(key).and_then(Value::as_str).unwrap_or_default().is_empty() {
                    causes.push(Cause::invalid(
                        format!("metadata.ownerReferences[{index}].{key}"),
                        "\"\"",
                        if key == "apiVersion" {
                            "version must not be empty"
                        } else {
                            "must not be empty"
                        },
                    ));
                }
            }
        }
        let controllers =
            owners.iter().filter(|o| o.get("controller") == Some(&Value::Bool(true))).count();
        if controllers > 1 {
            causes.push(Cause::invalid(
                "metadata.ownerReferences",
                &serde_json::to_string(owners).unwrap_or_default(),
                "Only one reference can have Controller set to true.",
            ));
        }
    }
    causes
}

pub(crate) fn quote(text: &str) -> String {
    format!("{text:?}")
}
