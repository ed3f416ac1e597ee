//! What the definitions must hold; that servers take them and refuse by them is shown on servers.

use super::*;
use crate::schema::KINDS;

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
    for kind in KINDS {
        let definition = definition(kind);
        let schema = definition.pointer("/spec/versions/0/schema/openAPIV3Schema").unwrap();
        schemas(schema, kind.name, &mut found);
    }
    found
}

#[test]
fn schemas_are_structural() {
    for (path, schema) in all() {
        assert!(schema["type"].is_string(), "{path}: {schema}");
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
    assert_eq!(rules_of(recurrence), 4);
    assert_eq!(rules_of(&format!("{recurrence}.monthly")), 2);
    assert_eq!(rules_of("ChangeManagementPolicy.spec.maintenanceSchedule.permit"), 1);
}
