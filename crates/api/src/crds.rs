//! How does a cluster learn of our kinds? A `CustomResourceDefinition` for each, made from the same schema that judges files.
//!
//! The API server alone refuses what breaks the schema, unions and cross-field rules included (POL-2): no webhook has to be up for
//! that. What the file check calls a union or an exclusive pair becomes a validation rule in CEL here.

use serde_json::{Map, Value, json};

use crate::names;
use crate::schema::{Kind, Scope};

/// Formats that an API server checks. Ours beyond these are said by patterns and rules.
const SERVED_FORMATS: &[&str] = &["int32", "int64", "date", "date-time"];

/// The definition of a kind, as a cluster takes it.
pub fn definition(kind: &Kind) -> Value {
    let plural = names::plural(kind.name);
    let scope = match kind.scope {
        Scope::Cluster => "Cluster",
        Scope::Namespaced => "Namespaced",
    };
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{plural}.{}", names::GROUP)},
        "spec": {
            "group": names::GROUP,
            "names": {
                "kind": kind.name,
                "listKind": format!("{}List", kind.name),
                "plural": plural,
                "singular": kind.name.to_lowercase(),
                "shortNames": [kind.short_name],
                "categories": ["tidegate"],
            },
            "scope": scope,
            "versions": [{
                "name": names::VERSION,
                "served": true,
                "storage": true,
                "subresources": {"status": {}},
                "additionalPrinterColumns": columns(),
                "schema": {"openAPIV3Schema": structural(kind.schema())},
            }],
        },
    })
}

/// Open now? Until when? What next?
fn columns() -> Value {
    json!([
        {"name": "Strategy", "type": "string", "jsonPath": ".spec.strategy",
         "description": "How the policy decides"},
        {"name": "State", "type": "string", "jsonPath": ".status.behavior.current.state",
         "description": "Whether changes may be initiated now"},
        {"name": "Until", "type": "string", "jsonPath": ".status.behavior.current.endTime",
         "description": "When that ends"},
        {"name": "Ready", "type": "string", "jsonPath": ".status.conditions[?(@.type==\"Ready\")].status",
         "description": "Whether the policy has been understood"},
        {"name": "Reason", "type": "string", "priority": 1, "jsonPath": ".status.behavior.current.reason",
         "description": "Why"},
        {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp",
         "description": "When it was created"},
    ])
}

/// The schema in the form an API server takes: no closed objects (it prunes), no null types (it has a word for them), metadata left
/// to itself, rules in CEL.
fn structural(schema: &Value) -> Value {
    let mut schema = convert(schema);
    if let Some(metadata) = schema.pointer_mut("/properties/metadata") {
        *metadata = json!({"type": "object"});
    }
    schema
}

fn convert(schema: &Value) -> Value {
    let Value::Object(fields) = schema else { return schema.clone() };
    let mut converted = Map::new();
    let mut rules = Vec::new();
    for (key, value) in fields {
        match (key.as_str(), value) {
            ("title" | "$schema", _)
            | ("additionalProperties", Value::Bool(_))
            | ("default", Value::Null) => {}
            ("type", Value::Array(types)) => {
                let named = types.iter().find(|name| *name != "null");
                converted.insert(key.clone(), named.cloned().unwrap_or(Value::Null));
                converted.insert("nullable".into(), true.into());
            }
            ("format", Value::String(format)) if !SERVED_FORMATS.contains(&format.as_str()) => {}
            ("x-tidegate-union", union) => rules.extend(union_rules(union)),
            ("x-tidegate-exclusive", Value::Array(names)) => rules.push(exclusive_rule(names)),
            ("x-tidegate-rules", Value::Array(given)) => rules.extend(given.iter().cloned()),
            ("properties", Value::Object(properties)) => {
                let properties: Map<String, Value> = properties
                    .iter()
                    .map(|(name, schema)| (name.clone(), convert(schema)))
                    .collect();
                converted.insert(key.clone(), properties.into());
            }
            ("items" | "additionalProperties", inner) => {
                converted.insert(key.clone(), convert(inner));
            }
            _ => {
                converted.insert(key.clone(), value.clone());
            }
        }
    }
    if !rules.is_empty() {
        converted.insert("x-kubernetes-validations".into(), rules.into());
    }
    converted.into()
}

/// One rule for each arm: it is there exactly when the discriminator names it (POL-2).
fn union_rules(union: &Value) -> Vec<Value> {
    let discriminator = union.get("discriminator").and_then(Value::as_str).unwrap_or_default();
    let arms = union.get("arms").and_then(Value::as_object);
    arms.into_iter()
        .flatten()
        .filter_map(|(name, arm)| Some((name, arm.as_str()?)))
        .map(|(name, arm)| {
            json!({
                "rule": format!("(self.{discriminator} == '{name}') == has(self.{arm})"),
                "message": format!("{arm} is required when {discriminator} is {name}, and forbidden otherwise"),
            })
        })
        .collect()
}

fn exclusive_rule(names: &[Value]) -> Value {
    let names: Vec<&str> = names.iter().filter_map(Value::as_str).collect();
    let all: Vec<String> = names.iter().map(|name| format!("has(self.{name})")).collect();
    json!({
        "rule": format!("!({})", all.join(" && ")),
        "message": format!("{} exclude each other: keep one of them", names.join(" and ")),
    })
}

#[cfg(test)]
mod tests;
