//! What does a gate or a freeze say, in few words? Whoever weakens one leaves a line by it (RCH-7, HIST-1).

use api::record::LONGEST_TEXT;
use serde_json::{Map, Value};

use super::sha256::sha256;

/// These fields of a specification, each as it is written, as far as they are; none if none is. Of what is too long for a line the end is a hash.
pub(crate) fn of(document: &Value, fields: &[&str]) -> Option<String> {
    let given = fields.iter().filter_map(|field| {
        let value = document.get("spec")?.get(field).filter(|value| !value.is_null())?;
        Some(match value {
            Value::String(word) => format!("{field} {word}"),
            other => format!("{field} {}", in_order(other.clone())),
        })
    });
    let given: Vec<String> = given.collect();
    (!given.is_empty()).then(|| cut(given.join(", ")))
}

/// A text that fits into an entry. One that is cut ends with a part of the hash of the whole: two that differ only further on stay two.
pub(crate) fn cut(mut text: String) -> String {
    if text.len() > LONGEST_TEXT {
        let whole = sha256(text.as_bytes());
        let tail = format!("… (sha256 {})", whole.get(..16).unwrap_or_default());
        let mut end = LONGEST_TEXT - tail.len();
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        text.truncate(end);
        text.push_str(&tail);
    }
    text
}

/// A value with the keys of every object in order.
pub(crate) fn in_order(value: Value) -> Value {
    match value {
        Value::Object(fields) => {
            let mut fields: Vec<(String, Value)> = fields.into_iter().collect();
            fields.sort_by(|(one, _), (other, _)| one.cmp(other));
            let fields = fields.into_iter().map(|(key, value)| (key, in_order(value)));
            Value::Object(fields.collect::<Map<String, Value>>())
        }
        Value::Array(items) => items.into_iter().map(in_order).collect(),
        other => other,
    }
}
