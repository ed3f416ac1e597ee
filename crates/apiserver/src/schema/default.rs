//! Filling in what the author left out.

use serde_json::Value;

use super::Schema;

/// Inserts the schema's defaults for missing fields. A null in a field that is not nullable but has a default counts as
/// missing, as the real server treats it.
pub(crate) fn apply(schema: &Schema, value: &mut Value) {
    match value {
        Value::Object(map) => {
            for (key, sub) in &schema.properties {
                let Some(default) = &sub.default else {
                    continue;
                };
                let missing = match map.get(key) {
                    None => true,
                    Some(Value::Null) => !sub.nullable,
                    Some(_) => false,
                };
                if missing {
                    map.insert(key.clone(), default.clone());
                }
            }
            for (key, child) in map.iter_mut() {
                if let Some(sub) = schema.field(key) {
                    apply(sub, child);
                }
            }
        }
        Value::Array(items) => {
            if let Some(sub) = &schema.items {
                for item in items.iter_mut() {
                    apply(sub, item);
                }
            }
        }
        _ => {}
    }
}

/// Removes nulls where none may be: they are as good as nothing.
pub(crate) fn drop_nulls(schema: &Schema, value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.retain(|key, value| {
                !value.is_null()
                    || schema.field(key).is_none_or(|sub| sub.nullable || sub.kind.is_empty())
            });
            for (key, child) in map.iter_mut() {
                if let Some(sub) = schema.field(key) {
                    drop_nulls(sub, child);
                }
            }
        }
        Value::Array(items) => {
            if let Some(sub) = &schema.items {
                for item in items.iter_mut() {
                    drop_nulls(sub, item);
                }
            }
        }
        _ => {}
    }
}
