//! Reading and writing object metadata on plain JSON.
//!
//! Objects are `serde_json::Value` while a request looks at them, and bytes at rest.

use serde_json::{Map, Value};

/// The string at `metadata.<key>`, or the empty string.
pub(crate) fn text<'a>(object: &'a Value, key: &str) -> &'a str {
    object.get("metadata").and_then(|m| m.get(key)).and_then(Value::as_str).unwrap_or_default()
}

pub(crate) fn name(object: &Value) -> &str {
    text(object, "name")
}

pub(crate) fn namespace(object: &Value) -> &str {
    text(object, "namespace")
}

pub(crate) fn uid(object: &Value) -> &str {
    text(object, "uid")
}

pub(crate) fn is_deleting(object: &Value) -> bool {
    !text(object, "deletionTimestamp").is_empty()
}

/// `metadata.<key>`, if present.
pub(crate) fn field<'a>(object: &'a Value, key: &str) -> Option<&'a Value> {
    object.get("metadata").and_then(|m| m.get(key))
}

/// The metadata map, made if missing or of another type.
pub(crate) fn of(object: &mut Value) -> &mut Map<String, Value> {
    entry(object, "metadata")
}

/// The map at `key`, made if missing or of another type.
pub(crate) fn entry<'a>(object: &'a mut Value, key: &str) -> &'a mut Map<String, Value> {
    if !object.is_object() {
        *object = Value::Object(Map::new());
    }
    let map = object.as_object_mut().expect("made an object one line above");
    let slot = map.entry(key.to_owned()).or_insert_with(|| Value::Object(Map::new()));
    if !slot.is_object() {
        *slot = Value::Object(Map::new());
    }
    slot.as_object_mut().expect("made an object one line above")
}

pub(crate) fn set(object: &mut Value, key: &str, value: impl Into<Value>) {
    of(object).insert(key.to_owned(), value.into());
}

pub(crate) fn remove(object: &mut Value, key: &str) {
    of(object).remove(key);
}

/// Copies `metadata.<key>` from `from`, or removes it when `from` has none.
pub(crate) fn copy(object: &mut Value, from: &Value, key: &str) {
    match field(from, key) {
        Some(value) => set(object, key, value.clone()),
        None => remove(object, key),
    }
}

/// The strings of a list such as `metadata.finalizers`.
pub(crate) fn strings<'a>(object: &'a Value, key: &str) -> Vec<&'a str> {
    field(object, key)
        .and_then(Value::as_array)
        .map(|items| items.iter().filter_map(Value::as_str).collect())
        .unwrap_or_default()
}

/// The value at a path of field names.
pub(crate) fn at<'a>(object: &'a Value, path: &[&str]) -> Option<&'a Value> {
    path.iter().try_fold(object, |value, key| value.get(key))
}

/// The text at a path of field names, or the empty string.
pub(crate) fn text_at<'a>(object: &'a Value, path: &[&str]) -> &'a str {
    at(object, path).and_then(Value::as_str).unwrap_or_default()
}

/// Owner references as (uid, controller, block).
pub(crate) fn owner_uids(object: &Value) -> impl Iterator<Item = &str> {
    field(object, "ownerReferences")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(|owner| owner.get("uid").and_then(Value::as_str))
}
