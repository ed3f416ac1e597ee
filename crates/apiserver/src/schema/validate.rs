//! Does a value fit its schema, and if not, in which words is that said?
//!
//! A value that did not change is not judged again (ratcheting), so that a tightened schema does not lock old objects.

use std::{collections::BTreeMap, sync::Arc};

use serde_json::{Value, json};

use super::{Junctors, ListKind, Schema, cel::correlate, format, join};
use crate::status::Cause;

/// All violations of `new`; `old` is the stored object on updates.
pub(crate) fn check(schema: &Schema, new: &Value, old: Option<&Value>) -> Vec<Cause> {
    let mut causes = Vec::new();
    walk(schema, new, old, "", &mut causes);
    causes
}

/// Some violations keep expressions from being evaluated at all.
pub(crate) fn blocks_expressions(causes: &[Cause]) -> bool {
    causes.iter().any(|c| {
        matches!(
            c.reason,
            "FieldValueRequired"
                | "FieldValueTooLong"
                | "FieldValueTooMany"
                | "FieldValueTypeInvalid"
                | "FieldValueNotSupported"
        )
    })
}

fn walk(schema: &Schema, new: &Value, old: Option<&Value>, path: &str, causes: &mut Vec<Cause>) {
    if old == Some(new) {
        return;
    }
    if !type_fits(schema, new) {
        let (got, wanted) = match new {
            _ if schema.int_or_string => (type_name(new), "integer,string"),
            // A number under a format is called as in Go, and the format stands for the type.
            Value::Number(_) if !schema.format.is_empty() => {
                (if is_integer(new) { "int64" } else { "float64" }, schema.format.as_str())
            }
            _ => (type_name(new), schema.kind.as_str()),
        };
        if got == "float64" && schema.kind == "integer" {
            let detail =
                format!("Checked value must be of type integer with format {wanted} in {path}");
            causes.push(Cause::invalid("<nil>", "\"\"", &detail));
        }
        causes.push(Cause {
            reason: "FieldValueTypeInvalid",
            field: path.to_owned(),
            message: format!(
                "Invalid value: {got:?}: {path} in body must be of type {wanted}: {got:?}"
            ),
        });
        // A value of another type is no option either.
        if let Some(options) = schema.checks.get("enum") {
            checks(&json!({"enum": options}), new, path, causes);
        }
        return;
    }
    if new.is_null() {
        return;
    }
    match new {
        Value::Object(map) => {
            for key in schema.required.iter().filter(|k| !map.contains_key(*k)) {
                causes.push(Cause::required(join(path, key), ""));
            }
            for (key, child) in map {
                if let Some(sub) = schema.field(key) {
                    // The root's own type and metadata are judged elsewhere.
                    if path.is_empty() && matches!(key.as_str(), "apiVersion" | "kind" | "metadata")
                    {
                        continue;
                    }
                    walk(sub, child, old.and_then(|o| o.get(key)), &join(path, key), causes);
                }
            }
        }
        Value::Array(items) => {
            if let Some(sub) = &schema.items {
                for (index, item) in items.iter().enumerate() {
                    walk(
                        sub,
                        item,
                        correlate(schema, item, old),
                        &format!("{path}[{index}]"),
                        causes,
                    );
                }
            }
            duplicates(schema, items, path, causes);
        }
        Value::String(text) if !schema.format.is_empty() && !format::fits(&schema.format, text) => {
            let detail = format!("{path} in body must be of type {}: {text:?}", schema.format);
            // Counted as a wrong type, so that no rule is asked about a date that is none.
            causes.push(Cause {
                reason: "FieldValueTypeInvalid",
                ..Cause::invalid(path, &format!("{text:?}"), &detail)
            });
        }
        _ => {}
    }
    if let Value::String(text) = new {
        causes.extend(text_problem(schema, text, path));
    }
    if !schema.checks.is_null() {
        checks(&schema.checks, new, path, causes);
    }
    if let Some(found) = &schema.junctors {
        junctors(found, new, path, causes);
    }
}

fn type_fits(schema: &Schema, value: &Value) -> bool {
    if value.is_null() {
        return schema.nullable || (schema.kind.is_empty() && !schema.int_or_string);
    }
    if schema.int_or_string {
        return value.is_string() || is_integer(value);
    }
    match schema.kind.as_str() {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => is_integer(value),
        "number" => value.is_number(),
        _ => true,
    }
}

fn is_integer(value: &Value) -> bool {
    value.is_i64()
        || value.is_u64()
        || value.as_f64().is_some_and(|f| f.fract() == 0.0 && f.abs() < 9e15)
}

pub(crate) fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) if is_integer(value) => "integer",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

fn duplicates(schema: &Schema, items: &[Value], path: &str, causes: &mut Vec<Cause>) {
    let mut seen = BTreeMap::new();
    for (index, item) in items.iter().enumerate() {
        let identity = match &schema.list {
            ListKind::Atomic => return,
            ListKind::Set => item.clone(),
            ListKind::Map(keys) => {
                let pairs = keys.iter().filter_map(|k| item.get(k).map(|v| (k.clone(), v.clone())));
                json!(pairs.collect::<BTreeMap<String, Value>>())
            }
        };
        let text = identity.to_string();
        if seen.insert(text.clone(), index).is_some() {
            causes.push(Cause {
                reason: "FieldValueDuplicate",
                field: format!("{path}[{index}]"),
                message: format!("Duplicate value: {text}"),
            });
        }
    }
}

/// Bounds, lengths and enumerations.
fn checks(checks: &Value, value: &Value, path: &str, causes: &mut Vec<Cause>) {
    let limit = |key: &str| checks.get(key).and_then(Value::as_f64);
    let count = |key: &str| checks.get(key).and_then(Value::as_u64);
    let flag = |key: &str| checks.get(key).and_then(Value::as_bool).unwrap_or_default();
    let mut say = |value: &str, detail: String| causes.push(Cause::invalid(path, value, &detail));
    let shown = value.to_string();
    if let Some(number) = value.as_f64() {
        if let Some(least) = limit("minimum") {
            if flag("exclusiveMinimum") && number <= least {
                say(&shown, format!("{path} in body should be greater than {least}"));
            } else if number < least {
                say(&shown, format!("{path} in body should be greater than or equal to {least}"));
            }
        }
        if let Some(most) = limit("maximum") {
            if flag("exclusiveMaximum") && number >= most {
                say(&shown, format!("{path} in body should be less than {most}"));
            } else if number > most {
                say(&shown, format!("{path} in body should be less than or equal to {most}"));
            }
        }
        if let Some(step) = limit("multipleOf")
            && (number / step).fract() != 0.0
        {
            say(&shown, format!("{path} in body should be a multiple of {step}"));
        }
    }
    let (size, least, most) = match value {
        Value::Array(items) => (items.len() as u64, "minItems", "maxItems"),
        Value::Object(map) => (map.len() as u64, "minProperties", "maxProperties"),
        _ => (0, "", ""),
    };
    if let Some(least) = count(least).filter(|l| size < *l) {
        let what = if value.is_array() { "items" } else { "properties" };
        let shown = if value.is_array() { size.to_string() } else { shown.clone() };
        causes.push(Cause::invalid(
            path,
            &shown,
            &format!("{path} in body should have at least {least} {what}"),
        ));
    }
    if let Some(most) = count(most).filter(|m| size > *m) {
        causes.push(Cause {
            reason: "FieldValueTooMany",
            field: path.to_owned(),
            message: format!("Too many: {size}: must have at most {most} items"),
        });
    }
    if let Some(options) = checks.get("enum").and_then(Value::as_array)
        && !options.contains(value)
    {
        let list: Vec<String> = options.iter().map(Value::to_string).collect();
        causes.push(Cause {
            reason: "FieldValueNotSupported",
            field: path.to_owned(),
            message: format!("Unsupported value: {shown}: supported values: {}", list.join(", ")),
        });
    }
}

/// The first thing that is wrong with a text; the real server does not go on either.
fn text_problem(schema: &Schema, text: &str, path: &str) -> Option<Cause> {
    let count = |key: &str| schema.checks.get(key).and_then(Value::as_u64);
    let length = text.chars().count() as u64;
    let shown = format!("{text:?}");
    if let Some(most) = count("maxLength").filter(|m| length > *m) {
        return Some(Cause {
            reason: "FieldValueTooLong",
            field: path.to_owned(),
            message: format!("Too long: may not be more than {most} bytes"),
        });
    }
    if let Some(least) = count("minLength").filter(|l| length < *l) {
        let detail = format!("{path} in body should be at least {least} chars long");
        return Some(Cause::invalid(path, &shown, &detail));
    }
    let pattern = schema.pattern.as_ref().filter(|p| !p.is_match(text))?;
    let detail = format!("{path} in body should match '{pattern}'");
    Some(Cause::invalid(path, &shown, &detail))
}

fn junctors(junctors: &Junctors, value: &Value, path: &str, causes: &mut Vec<Cause>) {
    let fits = |schema: &Arc<Schema>| problems(schema, value, path).is_empty();
    let shown = value.to_string();
    for branch in &junctors.all {
        causes.extend(problems(branch, value, path));
    }
    if !junctors.any.is_empty() && !junctors.any.iter().any(fits) {
        causes.push(Cause::invalid(
            path,
            &shown,
            &format!("{path:?} must validate at least one schema (anyOf)"),
        ));
    }
    let found = junctors.one.iter().filter(|b| fits(b)).count();
    if !junctors.one.is_empty() && found != 1 {
        let tail = if found == 0 {
            "Found none valid".to_owned()
        } else {
            format!("Found {found} valid alternatives")
        };
        let detail = format!("{path:?} must validate one and only one schema (oneOf). {tail}");
        causes.push(Cause::invalid(path, &shown, &detail));
    }
    if junctors.not.as_ref().is_some_and(fits) {
        causes.push(Cause::invalid(
            path,
            &shown,
            &format!("{path:?} must not validate the schema (not)"),
        ));
    }
}

fn problems(schema: &Schema, value: &Value, path: &str) -> Vec<Cause> {
    let mut causes = Vec::new();
    walk(schema, value, None, path, &mut causes);
    causes
}
