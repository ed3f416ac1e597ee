//! What may a `ConfigMap` or a `Secret` hold?

use serde_json::{Map, Value};

use crate::{registry::Nature, status::Cause};

pub(super) fn problems(nature: Nature, object: &Value, old: Option<&Value>) -> Vec<Cause> {
    let mut causes = Vec::new();
    for part in ["data", "binaryData"] {
        let keys = object.get(part).and_then(Value::as_object);
        for key in keys.into_iter().flat_map(Map::keys) {
            if key.is_empty()
                || !key.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b))
            {
                causes.push(Cause::invalid(format!("{part}[{key}]"), &format!("{key:?}"), "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')"));
            }
        }
    }
    size_problem(nature, object, &mut causes);
    if nature == Nature::ConfigMap {
        let has = |part: &str, key: &str| object.get(part).and_then(|p| p.get(key)).is_some();
        let keys = object.get("data").and_then(Value::as_object);
        for key in keys.into_iter().flat_map(Map::keys).filter(|k| has("binaryData", k)) {
            let why = "duplicate of key present in binaryData";
            causes.push(Cause::invalid(format!("data[{key}]"), &format!("{key:?}"), why));
        }
    }
    if old.is_some_and(|o| o.get("immutable") == Some(&Value::Bool(true))) {
        for part in ["immutable", "data", "binaryData"] {
            if old.and_then(|o| o.get(part)) != object.get(part) {
                causes.push(Cause::forbidden(part, "field is immutable when `immutable` is set"));
            }
        }
    }
    if let (Nature::Secret, Some(old)) = (nature, old)
        && old.get("type") != object.get("type")
    {
        let shown = object.get("type").map(Value::to_string).unwrap_or_default();
        causes.push(Cause::invalid("type", &shown, "field is immutable"));
    }
    causes
}

/// As large as the texts of one object may be together.
const MOST_BYTES: usize = 1024 * 1024;

fn size_problem(nature: Nature, object: &Value, causes: &mut Vec<Cause>) {
    let size = |part: &str, bytes: fn(&str) -> usize| -> usize {
        let values = object.get(part).and_then(Value::as_object);
        values.into_iter().flat_map(Map::values).filter_map(Value::as_str).map(bytes).sum()
    };
    let decoded = |text: &str| text.trim_end_matches('=').len() * 3 / 4;
    let (field, total) = if nature == Nature::Secret {
        ("data", size("data", decoded))
    } else {
        ("", size("data", str::len) + size("binaryData", decoded))
    };
    if total > MOST_BYTES {
        causes.push(Cause {
            reason: "FieldValueTooLong",
            field: field.into(),
            message: format!("Too long: may not be more than {MOST_BYTES} bytes"),
        });
    }
}
