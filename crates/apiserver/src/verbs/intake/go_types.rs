//! What would Go's decoder refuse, and in which words?
//!
//! Built-in kinds, and the metadata of all, are Go structs on the real server: a value of the wrong type does not even decode.

use serde_json::{Map, Value};

use crate::schema::Schema;

/// What Go's decoder says about the first value of a wrong type: the innermost struct, and the path from the outermost.
pub(super) fn wrong_type(
    schema: &Schema,
    value: &Value,
    path: &str,
    owner: &str,
) -> Option<String> {
    let wanted = match schema.kind.as_str() {
        _ if value.is_null() || schema.int_or_string => return None,
        "object" if !value.is_object() => match struct_name(schema) {
            Some(name) => format!("v1.{name}"),
            None => "map[string]string".to_owned(),
        },
        "array" if !value.is_array() => match schema.items.as_deref().and_then(struct_name) {
            Some(name) => format!("[]v1.{name}"),
            None => "[]string".to_owned(),
        },
        "string" if !value.is_string() && !quantity(schema, value) => "string".to_owned(),
        "string" if schema.definition.ends_with("v1.Time") => {
            return bad_time(value.as_str().unwrap_or_default(), "");
        }
        "string" if schema.definition.ends_with("v1.MicroTime") => {
            return bad_time(value.as_str().unwrap_or_default(), ".000000");
        }
        "boolean" if !value.is_boolean() => "bool".to_owned(),
        "integer" if !value.is_i64() && !value.is_u64() => {
            if schema.format.is_empty() {
                "int64".to_owned()
            } else {
                schema.format.clone()
            }
        }
        "number" if !value.is_number() => "float64".to_owned(),
        _ => {
            let owner = struct_name(schema).unwrap_or(owner);
            return match value {
                Value::Object(map) => map.iter().find_map(|(key, child)| {
                    let declared = schema.properties.contains_key(key);
                    let at =
                        if declared { crate::schema::join(path, key) } else { path.to_owned() };
                    wrong_type(schema.field(key)?, child, &at, owner)
                }),
                Value::Array(items) => {
                    let sub = schema.items.as_ref()?;
                    items.iter().find_map(|item| wrong_type(sub, item, path, owner))
                }
                _ => None,
            };
        }
    };
    let got = match value {
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        _ => "object",
    };
    Some(format!(
        "json: cannot unmarshal {got} into Go struct field {owner}.{path} of type {wanted}"
    ))
}

/// Instants are read while the object is.
fn bad_time(text: &str, fraction: &str) -> Option<String> {
    let known = text.parse::<jiff::Timestamp>().is_ok();
    // Where a fraction is asked for it must have as many digits, and where it is not it may have any.
    let rest = text.get(19..).filter(|_| known && !fraction.is_empty()).unwrap_or(fraction);
    let digits = rest.bytes().skip(1).take_while(u8::is_ascii_digit).count();
    let fits = rest.starts_with('.') && digits + 1 == fraction.len();
    if text.is_empty() || known && (fraction.is_empty() || fits) {
        return None;
    }
    let form = format!("2006-01-02T15:04:05{fraction}Z07:00");
    let (left, wanted) = if known { (rest, fraction) } else { (text, "2006") };
    Some(format!("parsing time {text:?} as {form:?}: cannot parse {left:?} as {wanted:?}"))
}

/// The name of the Go struct that a schema stands for, if it stands for one.
fn struct_name(schema: &Schema) -> Option<&str> {
    let known = !schema.properties.is_empty();
    known.then(|| schema.definition.rsplit('.').next()).flatten().filter(|n| !n.is_empty())
}

/// Quantities are strings in the published definitions, but numbers are read as well.
fn quantity(schema: &Schema, value: &Value) -> bool {
    value.is_number() && schema.definition.ends_with(".Quantity")
}

/// Null is as good as missing.
pub(super) fn strip_nulls(value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.retain(|_, v| !v.is_null());
            map.values_mut().for_each(strip_nulls);
        }
        Value::Array(items) => items.iter_mut().for_each(strip_nulls),
        _ => {}
    }
}

/// The first text that should be base64 and is not.
pub(super) fn bad_base64(schema: &Schema, value: &Value) -> Option<String> {
    match value {
        Value::String(text)
            if schema.format == "byte" && !crate::schema::format::fits("byte", text) =>
        {
            let good = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'=');
            let at = text.bytes().position(|b| !good(b)).unwrap_or(text.len() - text.len() % 4);
            Some(format!("illegal base64 data at input byte {at}"))
        }
        Value::Object(map) => {
            map.iter().find_map(|(key, child)| bad_base64(schema.field(key)?, child))
        }
        Value::Array(items) => {
            items.iter().find_map(|item| bad_base64(schema.items.as_ref()?, item))
        }
        _ => None,
    }
}

/// The first text that should be a quantity and is not.
pub(super) fn bad_quantity(schema: &Schema, value: &Value) -> Option<String> {
    match value {
        Value::String(text) if schema.definition.ends_with(".Quantity") && !is_quantity(text) => {
            Some("quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'".to_owned())
        }
        Value::Object(map) => {
            map.iter().find_map(|(key, child)| bad_quantity(schema.field(key)?, child))
        }
        Value::Array(items) => {
            items.iter().find_map(|item| bad_quantity(schema.items.as_ref()?, item))
        }
        _ => None,
    }
}

fn is_quantity(text: &str) -> bool {
    let number = text.trim_start_matches(['+', '-']);
    let digits = number.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    digits.len() < number.len()
        && digits.chars().all(|c| c.is_ascii_digit() || "eEinumkKMGTP+-".contains(c))
}

/// Empty maps and lists are left out when a Go struct is written.
pub(super) fn drop_hollow(schema: &Schema, value: &mut Value) {
    match value {
        Value::Object(map) => {
            for (key, child) in map.iter_mut() {
                if let Some(sub) = schema.field(key) {
                    drop_hollow(sub, child);
                }
            }
            map.retain(|key, child| {
                let Some(sub) = schema.properties.get(key) else { return true };
                let plain_map = sub.values.is_some() && sub.properties.is_empty();
                let empty = child.as_object().is_some_and(Map::is_empty) && plain_map
                    || child.as_array().is_some_and(Vec::is_empty);
                !empty || key == "managedFields"
            });
        }
        Value::Array(items) => {
            if let Some(sub) = &schema.items {
                for item in items {
                    drop_hollow(sub, item);
                }
            }
        }
        _ => {}
    }
}

/// Quantities may be written as numbers, and are texts from then on.
pub(super) fn quantities(schema: &Schema, value: &mut Value) {
    if quantity(schema, value) {
        *value = Value::from(value.to_string());
        return;
    }
    match value {
        Value::Object(map) => {
            for (key, child) in map.iter_mut() {
                if let Some(sub) = schema.field(key) {
                    quantities(sub, child);
                }
            }
        }
        Value::Array(items) => {
            if let Some(sub) = &schema.items {
                for item in items {
                    quantities(sub, item);
                }
            }
        }
        _ => {}
    }
}
