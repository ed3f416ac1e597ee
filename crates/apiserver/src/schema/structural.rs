//! Is a CRD's schema one that the server can hold objects to?
//!
//! Structural schemas only: every node has a type, logical junctors do not declare structure, keyed lists name their keys,
//! and every expression compiles.

use serde_json::Value;

use super::{Schema, cel::Place, join};
use crate::status::Cause;

/// What is wrong with the schema at `path` (the path inside the CRD).
pub(crate) fn problems(schema: &Value, path: &str) -> Vec<Cause> {
    let mut causes = Vec::new();
    if schema.get("type").and_then(Value::as_str) != Some("object") {
        let got = schema.get("type").and_then(Value::as_str).unwrap_or_default();
        if got.is_empty() {
            causes.push(Cause::required(format!("{path}.type"), "must not be empty at the root"));
        } else {
            causes.push(Cause::invalid(
                format!("{path}.type"),
                &format!("{got:?}"),
                "must be object at the root",
            ));
        }
    }
    walk(schema, path, Place::Root, &mut causes);
    rules(&Schema::parse(schema), path, Place::Root, &mut causes);
    causes
}

fn walk(node: &Value, path: &str, place: Place, causes: &mut Vec<Cause>) {
    let Some(map) = node.as_object() else { return };
    let has = |key: &str| map.contains_key(key);
    let flag = |key: &str| map.get(key).and_then(Value::as_bool).unwrap_or_default();
    let kind = map.get("type").and_then(Value::as_str).unwrap_or_default();
    if has("$ref") {
        causes.push(Cause::forbidden(format!("{path}.$ref"), "$ref is not supported"));
    }
    if kind.is_empty()
        && place == Place::Below
        && !flag("x-kubernetes-int-or-string")
        && !flag("x-kubernetes-preserve-unknown-fields")
    {
        causes.push(Cause::required(
            format!("{path}.type"),
            "must not be empty for specified object fields",
        ));
    }
    if !matches!(kind, "" | "object" | "array" | "string" | "integer" | "number" | "boolean") {
        causes.push(Cause {
            reason: "FieldValueNotSupported",
            field: format!("{path}.type"),
            message: format!(
                "Unsupported value: {kind:?}: supported values: \"array\", \"boolean\", \"integer\", \"number\", \"object\", \"string\""
            ),
        });
    }
    if has("properties") && map.get("additionalProperties").is_some_and(Value::is_object) {
        let detail = "additionalProperties and properties are mutual exclusive";
        causes.push(Cause::forbidden(format!("{path}.additionalProperties"), detail));
    }
    if kind == "array" && !map.get("items").is_some_and(Value::is_object) {
        causes.push(Cause::required(format!("{path}.items"), "must be specified"));
    }
    if flag("uniqueItems") {
        let detail =
            "uniqueItems cannot be set to true since the runtime complexity becomes quadratic";
        causes.push(Cause::forbidden(format!("{path}.uniqueItems"), detail));
    }
    let list = map.get("x-kubernetes-list-type").and_then(Value::as_str);
    let keys = map.get("x-kubernetes-list-map-keys").and_then(Value::as_array);
    if list == Some("map") && keys.is_none_or(Vec::is_empty) {
        let detail = "must not be empty if x-kubernetes-list-type is map";
        causes.push(Cause::required(format!("{path}.x-kubernetes-list-map-keys"), detail));
    }
    if let Some(pattern) = map.get("pattern").and_then(Value::as_str)
        && let Err(error) = regex::Regex::new(pattern)
    {
        let detail = format!("must be a valid regular expression, but isn't: {error}");
        causes.push(Cause::invalid(format!("{path}.pattern"), &format!("{pattern:?}"), &detail));
    }
    if let Some(fields) = map.get("properties").and_then(Value::as_object) {
        for (name, child) in fields {
            walk(child, &format!("{path}.properties[{name}]"), Place::Below, causes);
        }
    }
    for key in ["items", "additionalProperties"] {
        if let Some(child) = map.get(key).filter(|c| c.is_object()) {
            walk(child, &format!("{path}.{key}"), Place::Below, causes);
        }
    }
}

fn rules(schema: &Schema, path: &str, place: Place, causes: &mut Vec<Cause>) {
    for (index, rule) in schema.rules.iter().enumerate() {
        let at = format!("{path}.x-kubernetes-validations[{index}]");
        let expression = rule.expression();
        if expression.trim().is_empty() {
            causes.push(Cause::required(format!("{at}.rule"), "rule is not specified"));
        } else if let Some((field, detail)) = rule.problem(schema, place) {
            let shown = format!("{expression:?}");
            causes.push(Cause::invalid(format!("{at}.{field}"), &shown, &detail));
        }
    }
    if !schema.has_rules {
        return;
    }
    for (name, child) in &schema.properties {
        rules(child, &join(path, &format!("properties[{name}]")), Place::Below, causes);
    }
    if let Some(child) = &schema.items {
        rules(child, &join(path, "items"), Place::Below, causes);
    }
    if let Some(child) = &schema.values {
        rules(child, &join(path, "additionalProperties"), Place::Below, causes);
    }
}
