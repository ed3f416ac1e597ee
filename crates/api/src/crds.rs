//! How does a cluster learn of our kinds? A `CustomResourceDefinition` for each, made from the same schema that judges files.
//!
//! The API server alone refuses what breaks the schema, unions and cross-field rules included (POL-2): no webhook has to be up for
//! that. What the file check calls a union or an exclusive pair becomes a validation rule in CEL here.
//!
//! GATE-14: a field that nobody knows is kept, in every object of a policy's specification and of a stanza. An API server would drop it
//! otherwise, without a word to most clients, and `permit: {recurence: ...}` would be stored as `permit: {}`, which is open every day.
//! What is kept is judged: the policy is not ready, the gate is shut, and the message names the field.

use serde_json::{Map, Value, json};

use crate::names;
use crate::schema::{GATES, Kind, RECORDS, Role, Scope};

/// Formats that an API server checks. Ours beyond these are said by patterns and rules.
const SERVED_FORMATS: &[&str] = &["int32", "int64", "date", "date-time"];

/// The definition of a kind under change management or of a policy, as a cluster takes it; what nodes are made of is defined in
/// [`crate::machine::definitions`].
pub fn definition(kind: &Kind) -> Value {
    let plural = names::plural(kind.name);
    let scope = match kind.scope {
        Scope::Cluster => "Cluster",
        Scope::Namespaced => "Namespaced",
    };
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{plural}.{}", kind.group())},
        "spec": {
            "group": kind.group(),
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
                "name": kind.version(),
                "served": true,
                "storage": true,
                "subresources": subresources(kind),
                "additionalPrinterColumns": columns(kind),
                "schema": {"openAPIV3Schema": keeping_unknown(kind)},
            }],
        },
    })
}

/// Nobody writes a status of a freeze: the server reads what its author says (OVR-5). What happened has none.
fn subresources(kind: &Kind) -> Value {
    match kind.role {
        Role::Part if is_record(kind) => json!({}),
        Role::Freeze => json!({}),
        Role::Policy | Role::Gated { .. } | Role::Part | Role::Override | Role::Guardrail => {
            json!({"status": {}})
        }
    }
}

/// Open now? Until when? What next?
fn columns(kind: &Kind) -> Value {
    if is_gate(kind) {
        return gate_columns();
    }
    if is_record(kind) {
        return record_columns();
    }
    if kind.role == Role::Freeze {
        return freeze_columns();
    }
    if kind.role == Role::Override {
        return override_columns(kind.scope);
    }
    if kind.role == Role::Guardrail {
        return guardrail_columns();
    }
    let (strategy, named, behavior, condition) = match kind.role {
        Role::Policy => (".spec.strategy", None, ".status.behavior", "Ready"),
        Role::Gated { .. } | Role::Part | Role::Freeze | Role::Override | Role::Guardrail => (
            ".spec.changeManagement.strategy",
            Some(".spec.changeManagement.byPolicy.name"),
            ".status.changeManagement.behavior",
            names::CHANGES_PENDING,
        ),
    };
    let holds = format!(".status.conditions[?(@.type==\"{condition}\")].status");
    let mut columns =
        vec![column("Strategy", strategy, "How it is decided when changes may be initiated")];
    columns.extend(named.map(|path| column("Policy", path, "The policy that it names")));
    columns.extend([
        column(
            "State",
            &format!("{behavior}.current.state"),
            "Whether changes may be initiated now",
        ),
        column("Until", &format!("{behavior}.current.endTime"), "When that ends; never, if empty"),
        column("Next", &format!("{behavior}.next.state"), "What comes then"),
        match kind.role {
            Role::Policy => column("Ready", &holds, "Whether the policy has been understood"),
            Role::Gated { .. } | Role::Part | Role::Freeze | Role::Override | Role::Guardrail => {
                column("Pending", &holds, "Whether a change waits")
            }
        },
        json!({"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp",
               "description": "When it was created"}),
    ]);
    for (name, path, description) in [
        ("Next Until", "next.endTime", "When that ends; never, if empty"),
        ("Reason", "current.reason", "Why changes may be initiated now, or may not"),
    ] {
        let mut column = column(name, &format!("{behavior}.{path}"), description);
        column["priority"] = 1.into();
        columns.push(column);
    }
    columns.into()
}

/// What is held, when it opens and closes, and what waits.
fn gate_columns() -> Value {
    let counted = |name: &str, path: &str, description: &str| json!({"name": name, "type": "integer", "jsonPath": path, "description": description});
    let ready = ".status.conditions[?(@.type==\"Ready\")].status";
    let enforced = ".status.conditions[?(@.type==\"Enforced\")].status";
    let mut columns = vec![
        column("Holds", ".spec.holds[*].what", "What it holds; the first, if it holds several"),
        column("Policy", ".spec.changeManagement.byPolicy.name", "The policy that it names"),
        column("State", ".status.behavior.current.state", "Whether changes may be initiated now"),
        column("Opens", ".status.windows[0].startTime", "When it opens, or opened"),
        column("Closes", ".status.windows[0].endTime", "When it closes then; never, if empty"),
        counted("Pending", ".status.pendingCount", "How much waits"),
        counted("Targets", ".status.targets", "How much it holds"),
        column("Mode", ".spec.mode", "What becomes of a first write that it does not permit"),
        json!({"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp",
               "description": "When it was created"}),
    ];
    for (name, path, description) in [
        ("Strategy", ".spec.changeManagement.strategy", "How it is decided when it is open"),
        ("Ready", ready, "Whether the gate has been understood"),
        ("Enforced", enforced, "Whether the server was seen refusing what it holds"),
        (
            "Known Until",
            ".status.computedUntil",
            "Until when its windows are known; for ever, if empty",
        ),
    ] {
        let mut column = column(name, path, description);
        column["priority"] = 1.into();
        columns.push(column);
    }
    columns.into()
}

/// From when until when, why, and who says so.
fn freeze_columns() -> Value {
    let mut columns = vec![
        column("From", ".spec.from", "When it begins; at its creation, if empty"),
        column("Until", ".spec.until", "When it ends; when it is deleted, if empty"),
        column("Reason", ".spec.reason", "Why nothing starts meanwhile"),
        column("By", ".spec.by", "Who froze; unsigned, if empty"),
        json!({"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp",
               "description": "When it was created"}),
    ];
    let mut holds = column("Holds", ".spec.holds[*].what", "What it freezes; everything, if empty");
    holds["priority"] = 1.into();
    columns.push(holds);
    columns.into()
}

/// What is open, until when, why, and who says so.
fn override_columns(scope: Scope) -> Value {
    let ready = ".status.conditions[?(@.type==\"Ready\")]";
    let mut columns = vec![column("Opens", ".spec.target.kind", "The kind of what it opens")];
    if scope == Scope::Cluster {
        let namespace = "The namespace of what it opens; none, if that is in none";
        columns.push(column("In", ".spec.target.namespace", namespace));
    }
    columns.extend([
        column("Target", ".spec.target.name", "What it opens"),
        column("Until", ".spec.until", "When it ends"),
        column(
            "Ready",
            &format!("{ready}.status"),
            "Whether it is understood, and its target exists",
        ),
        column("Reason", ".spec.reason", "Why it was opened"),
        column("By", ".spec.by", "Who opened; unsigned, if empty"),
        json!({"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp",
               "description": "When it was created"}),
    ]);
    let mut further = vec![
        ("Approved By", ".spec.approvedBy".to_owned(), "Who approved it; nobody, if empty"),
        ("Ticket", ".spec.ticket".to_owned(), "Where it was asked for"),
        ("Said", format!("{ready}.message"), "What is wrong with it, if anything is"),
    ];
    if scope == Scope::Cluster {
        let only = "The rendered configuration that may start; any, if empty";
        further.insert(0, ("Only", ".spec.only.renderedConfig".to_owned(), only));
        let release = "The release that may start; any, if empty";
        further.insert(1, ("Only Release", ".spec.only.release".to_owned(), release));
    }
    for (name, path, description) in further {
        let mut column = column(name, &path, description);
        column["priority"] = 1.into();
        columns.push(column);
    }
    columns.into()
}

/// What is demanded, and how much it is meant.
fn guardrail_columns() -> Value {
    let ready = ".status.conditions[?(@.type==\"Ready\")]";
    let mut columns = vec![
        column(
            "Mode",
            ".spec.mode",
            "What becomes of a write that does not meet it; Warn, if empty",
        ),
        column(
            "Hours",
            ".spec.minimumHours[0].hours",
            "How many hours windows must hold; the first, if there are several",
        ),
        column("In Days", ".spec.minimumHours[0].inDays", "In how many days"),
        column("Within", ".spec.within.name", "The policy whose windows must contain the others"),
        column(
            "Ready",
            &format!("{ready}.status"),
            "Whether it is understood, and what it names is there",
        ),
        json!({"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp",
               "description": "When it was created"}),
    ];
    for (name, path, description) in [
        ("Kinds", ".spec.selector.kinds[*]", "What it judges; everything, if empty"),
        ("Strategies", ".spec.strategies[*]", "The strategies that are allowed; any, if empty"),
        ("Exclusion", ".spec.longestExclusion", "How long an exclusion may be"),
        ("Override", ".spec.longestOverride", "How long an override may last"),
        ("Freeze", ".spec.longestFreeze", "How long a freeze may last"),
        ("Said", &format!("{ready}.message"), "What is wrong with it, if anything is"),
    ] {
        let mut column = column(name, path, description);
        column["priority"] = 1.into();
        columns.push(column);
    }
    columns.into()
}

/// From which entry on: what a page holds is read by a verb and not in a column.
fn record_columns() -> Value {
    json!([
        {"name": "From Entry", "type": "integer", "jsonPath": ".spec.entries[0].number",
         "description": "The number of its first entry"},
        column("From", ".spec.entries[0].at", "When its first entry happened"),
        {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp",
         "description": "When it was created"},
    ])
}

fn is_gate(kind: &Kind) -> bool {
    GATES.contains(kind)
}

fn is_record(kind: &Kind) -> bool {
    RECORDS.contains(kind)
}

fn column(name: &str, path: &str, description: &str) -> Value {
    json!({"name": name, "type": "string", "jsonPath": path, "description": description})
}

/// The structural schema of a kind, which keeps unknown fields where they are ours to judge (GATE-14).
fn keeping_unknown(kind: &Kind) -> Value {
    let mut schema = structural(kind.schema());
    let judged = match kind.role {
        Role::Gated { .. } if is_gate(kind) => "/properties/spec",
        Role::Policy | Role::Override | Role::Guardrail => "/properties/spec",
        // Nobody judges them there. Whatever is left of a freeze without a mistyped field holds more, or longer, and kubectl names the field.
        Role::Freeze => return schema,
        Role::Gated { .. } | Role::Part => {
            for stanza in ["changeManagement", "versionManagement"] {
                let judged = format!("/properties/spec/properties/{stanza}");
                schema.pointer_mut(&judged).into_iter().for_each(keep_unknown);
            }
            return schema;
        }
    };
    schema.pointer_mut(judged).into_iter().for_each(keep_unknown);
    schema
}

fn keep_unknown(schema: &mut Value) {
    let Some(fields) = schema.as_object_mut() else { return };
    if let Some(Value::Object(properties)) = fields.get_mut("properties") {
        properties.values_mut().for_each(keep_unknown);
        fields.insert("x-kubernetes-preserve-unknown-fields".into(), true.into());
    }
    if let Some(items) = fields.get_mut("items") {
        keep_unknown(items);
    }
}

/// The schema in the form an API server takes: no closed objects (it prunes), no null types (it has a word for them), metadata left
/// to itself, rules in CEL.
pub(crate) fn structural(schema: &Value) -> Value {
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
            // A null is dropped on its way in, as if the field had been left out, unless it means something.
            ("type", Value::Array(types)) => {
                let named = types.iter().find(|name| *name != "null");
                converted.insert(key.clone(), named.cloned().unwrap_or(Value::Null));
            }
            ("x-tidegate-nullable", _) => {
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

/// An arm is there exactly when the discriminator names it (POL-2); one that is kept may be there always (GATE-3).
fn union_rules(union: &Value) -> Vec<Value> {
    let discriminator = union.get("discriminator").and_then(Value::as_str).unwrap_or_default();
    let arms = |key: &str| union.get(key).and_then(Value::as_object).into_iter().flatten();
    let mut rules = Vec::new();
    for (name, arm) in arms("arms").chain(arms("kept")) {
        let Some(arm) = arm.as_str() else { continue };
        rules.push(json!({
            "rule": format!("self.{discriminator} != '{name}' || has(self.{arm})"),
            "message": format!("{arm} is required when {discriminator} is {name}"),
            "fieldPath": format!(".{arm}"),
            "reason": "FieldValueRequired",
        }));
    }
    for (name, arm) in arms("arms") {
        let Some(arm) = arm.as_str() else { continue };
        rules.push(json!({
            "rule": format!("self.{discriminator} == '{name}' || !has(self.{arm})"),
            "message": format!("{arm} is forbidden unless {discriminator} is {name}"),
            "fieldPath": format!(".{arm}"),
            "reason": "FieldValueForbidden",
        }));
    }
    rules
}

fn exclusive_rule(names: &[Value]) -> Value {
    let names: Vec<&str> = names.iter().filter_map(Value::as_str).collect();
    let all: Vec<String> = names.iter().map(|name| format!("has(self.{name})")).collect();
    json!({
        "rule": format!("!({})", all.join(" && ")),
        "message": format!("{} exclude each other: keep one of them", names.join(" and ")),
        "fieldPath": format!(".{}", names.last().unwrap_or(&"")),
        "reason": "FieldValueForbidden",
    })
}

#[cfg(test)]
mod tests;
