//! What the definitions must hold; that servers take them and refuse by them is shown on servers.

use super::*;
use crate::schema::{FREEZES, GATED, KINDS, OVERRIDES, RECORDS, STANZAS};

/// Every schema below a definition, with the path to it.
fn schemas(value: &Value, path: &str, found: &mut Vec<(String, Value)>) {
    found.push((path.into(), value.clone()));
    let named = value.get("properties").and_then(Value::as_object).into_iter().flatten();
    for (name, inner) in named {
        schemas(inner, &format!("{path}.{name}"), found);
    }
    for key in ["items", "additionalProperties"] {
        if let Some(inner) = value.get(key) {
            schemas(inner, &format!("{path}[]"), found);
        }
    }
}

fn all() -> Vec<(String, Value)> {
    let mut found = Vec::new();
    for kind in KINDS.iter().chain(GATED).chain(FREEZES).chain(OVERRIDES).chain(RECORDS) {
        let definition = definition(kind);
        let schema = definition.pointer("/spec/versions/0/schema/openAPIV3Schema").unwrap();
        schemas(schema, kind.name, &mut found);
    }
    found
}

#[test]
fn schemas_are_structural() {
    for (path, schema) in all() {
        // A pause is true, false or a text, and judged by whoever decides (D4-1).
        let either = schema["x-kubernetes-int-or-string"] == true
            || path.ends_with(".versionManagement.pausedUntil");
        assert!(schema["type"].is_string() || either, "{path}: {schema}");
        assert_ne!(schema["additionalProperties"], false, "{path}");
        if let Some(format) = schema.get("format") {
            assert!(SERVED_FORMATS.contains(&format.as_str().unwrap()), "{path}");
        }
        let strange = schema.as_object().unwrap().keys().find(|key| key.starts_with("x-tidegate"));
        assert_eq!(strange, None, "{path}");
    }
}

#[test]
fn every_field_is_documented() {
    for (path, schema) in all() {
        let own = !path.ends_with("[]") && !path.ends_with(".metadata");
        assert!(!own || schema["description"].is_string(), "{path} has no description");
    }
}

/// POL-2
#[test]
fn unions_are_enforced_by_the_schema() {
    let schemas = all();
    let rules_of = |path: &str| {
        let (_, schema) = schemas.iter().find(|(found, _)| found == path).unwrap();
        schema["x-kubernetes-validations"].as_array().map_or(0, Vec::len)
    };
    let recurrence = "ChangeManagementPolicy.spec.maintenanceSchedule.permit.recurrence";
    assert_eq!(rules_of(recurrence), 8);
    assert_eq!(rules_of(&format!("{recurrence}.monthly")), 4);
    assert_eq!(rules_of("ChangeManagementPolicy.spec.maintenanceSchedule.permit"), 1);
    for kind in STANZAS {
        assert_eq!(rules_of(&format!("{}.spec.changeManagement", kind.name)), 5);
    }
}

/// HIST-1
#[test]
fn pages_are_append_only_by_the_schema() {
    let schemas = all();
    let rules_of = |path: &str| {
        let (_, schema) = schemas.iter().find(|(found, _)| found == path).unwrap();
        schema["x-kubernetes-validations"].as_array().map_or(0, Vec::len)
    };
    assert_eq!(rules_of("ChangeRecord.spec.entries"), 1);
    assert_eq!(rules_of("ChangeRecord.spec.entries[]"), 1);
    let (_, entries) =
        schemas.iter().find(|(path, _)| path == "ChangeRecord.spec.entries").unwrap();
    // A rule about an entry before and after needs to know which is which.
    assert_eq!(entries["x-kubernetes-list-map-keys"], json!(["number"]));
    assert_eq!(entries["maxItems"], crate::record::MOST_ENTRIES);
}

/// GATE-14
#[test]
fn fields_of_others_survive_and_unknown_fields_are_kept_where_they_are_judged() {
    for (path, schema) in all() {
        let kept = schema["x-kubernetes-preserve-unknown-fields"] == true;
        let judged = path.contains("ChangeManagementPolicy.spec")
            || path.contains("ChangeGate.spec")
            || path.contains("ChangeOverride.spec")
            || path.contains(".spec.changeManagement")
            || path.contains(".spec.versionManagement");
        let ours = path.contains("ChangeManagementPolicy")
            || path.contains("ChangeGate.")
            // Whatever a typo leaves of a freeze holds more, or longer.
            || path.contains("ChangeFreeze")
            || path.contains("ChangeOverride")
            || path.contains("ChangeRecord")
            || path.contains(".changeManagement")
            || path.contains(".versionManagement") && !path.ends_with(".pausedUntil")
            || path.contains(".machineConfig.");
        let root = !path.contains('.') || path.ends_with(".metadata");
        if judged && schema.get("properties").is_some() {
            assert!(kept, "{path} would lose a mistyped field, and what it was to say");
        } else if ours {
            assert!(!kept, "{path} would swallow a mistyped field");
        } else if schema["type"] == "object" && !root && !path.ends_with(".machineConfig") {
            assert!(kept, "{path} would lose fields that are not ours");
        }
    }
}

/// A null where a field may be left out is the same as leaving it out; only an end that is not expected is a null that is kept.
#[test]
fn nulls_are_kept_where_they_mean_something() {
    let kept: Vec<String> = all()
        .into_iter()
        .filter(|(_, schema)| schema["nullable"] == true)
        .map(|(path, _)| path)
        .filter(|path| path.starts_with("ClusterVersion"))
        .collect();
    let behavior = "ClusterVersion.status.changeManagement.behavior";
    assert_eq!(
        kept,
        [
            &format!("{behavior}.current.startTime"),
            &format!("{behavior}.current.endTime"),
            &format!("{behavior}.next.startTime"),
            &format!("{behavior}.next.endTime"),
            &format!("{behavior}.history[].startTime"),
            "ClusterVersion.status.history[].completionTime",
            "ClusterVersion.status.availableUpdates",
        ]
    );
}
