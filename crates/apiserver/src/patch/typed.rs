//! Is an applied configuration of the right types? Said in the words of the merge library of the real server.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::{
    fieldset::{Parts, below, items, parts},
    schema::{ListKind, Schema},
};

/// Every value of a wrong type, and every list item that cannot be told from the others.
pub(crate) fn problems(schema: &Schema, config: &Value) -> Vec<String> {
    let mut found = Vec::new();
    walk(Some(schema), config, "", &mut found);
    found
}

fn walk(schema: Option<&Schema>, value: &Value, path: &str, found: &mut Vec<String>) {
    let Some(known) = schema else { return };
    if value.is_null() || known.int_or_string {
        return;
    }
    let got = format!("&value.valueUnstructured{{Value:{value}}}");
    let quantity = value.is_number() && known.definition.ends_with(".Quantity");
    let problem = match known.kind.as_str() {
        "integer" | "number" if !value.is_number() => {
            let kind = if value.is_string() { "string".to_owned() } else { got };
            Some(format!("expected numeric (int or float), got {kind}"))
        }
        "string" if !value.is_string() && !quantity => Some(format!("expected string, got {got}")),
        "boolean" if !value.is_boolean() => {
            Some(format!("expected boolean, got &{{{}}}", go(value)))
        }
        "array" if !value.is_array() => Some(format!("expected list, got &{{{}}}", go(value))),
        "object" if !value.is_object() => Some(format!("expected map, got &{{{}}}", go(value))),
        _ => None,
    };
    if let Some(problem) = problem {
        found.push(format!("{path}: {problem}"));
        return;
    }
    match value {
        Value::Object(map) => {
            for (key, child) in map {
                walk(below(schema, key), child, &format!("{path}.{key}"), found);
            }
        }
        Value::Array(list) => {
            identities(known, value, path, found);
            for (index, item) in list.iter().enumerate() {
                walk(items(schema), item, &format!("{path}[{index}]"), found);
            }
        }
        _ => {}
    }
}

/// A value as Go prints it.
fn go(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => {
            format!("[{}]", items.iter().map(go).collect::<Vec<_>>().join(" "))
        }
        Value::Object(map) => {
            let mut fields: Vec<String> =
                map.iter().map(|(key, value)| format!("{key}:{}", go(value))).collect();
            fields.sort();
            format!("map[{}]", fields.join(" "))
        }
        other => other.to_string(),
    }
}

/// The texts that a Go struct must have are empty when nobody gives them: a built-in list knows such an item by the empty text.
fn goes_without(schema: &Schema, key: &str) -> bool {
    let item = schema.items.as_deref().filter(|item| !item.definition.is_empty());
    item.and_then(|item| item.properties.get(key)).is_some_and(|field| field.kind == "string")
}

fn identities(schema: &Schema, value: &Value, path: &str, found: &mut Vec<String>) {
    let Parts::Items(list) = parts(Some(schema), value) else {
        return;
    };
    let mut seen = BTreeSet::new();
    for (index, (element, item)) in list.into_iter().enumerate() {
        if let ListKind::Map(keys) = &schema.list
            && keys.iter().all(|key| item.get(key).is_none())
            && !keys.iter().any(|key| goes_without(schema, key))
        {
            let names: Vec<String> = keys.iter().map(|k| format!("{k:?}")).collect();
            found.push(format!(
                "{path}: element {index}: associative list with keys has an element that omits all key fields [{}] (and doesn't have default values for any key fields)",
                names.join(" ")
            ));
            continue;
        }
        let shown = crate::fieldset::shown(&element);
        if !seen.insert(element) {
            found.push(format!("{path}: duplicate entries for key {shown}"));
        }
    }
}
