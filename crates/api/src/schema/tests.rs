use super::*;
use crate::{names, policy};

fn at<'a>(schema: &'a Value, path: &str) -> &'a Value {
    path.split('.').fold(schema, |node, key| {
        let node = node.get("properties").unwrap_or(node);
        node.get(key).unwrap_or_else(|| panic!("no `{key}` of `{path}` in {node}"))
    })
}

/// A field without a description would be a blank line in `kubectl explain`.
fn without_description(path: &str, schema: &Value, found: &mut Vec<String>) {
    for (name, field) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
        let path = format!("{path}.{name}");
        if field.get("description").and_then(Value::as_str).is_none_or(str::is_empty) {
            found.push(path.clone());
        }
        without_description(&path, field, found);
        without_description(&path, field.get("items").unwrap_or(&Value::Null), found);
    }
}

#[test]
fn every_field_of_every_kind_has_a_description() {
    for kind in KINDS.iter().chain(GATED).chain(FREEZES).chain(OVERRIDES).chain(RECORDS) {
        let mut found = Vec::new();
        without_description(kind.name, kind.schema(), &mut found);
        assert_eq!(found, Vec::<String>::new());
    }
}

#[test]
fn limits_of_time_4_to_time_6_are_in_the_schema() {
    let schema = kind_named(names::CHANGE_MANAGEMENT_POLICY).unwrap().schema();
    let check = |path: &str, minimum: i64, maximum: i64| {
        let path = format!("spec.maintenanceSchedule.permit.recurrence.{path}");
        let field = at(schema, &path);
        assert_eq!(field["minimum"], minimum, "{path}");
        assert_eq!(field["maximum"], maximum, "{path}");
    };
    check("daily.interval", 1, 730);
    check("weekly.interval", 1, 26);
    check("monthly.date.interval", 1, 11);
    check("monthly.day.interval", 1, 11);
    check("monthly.date.datesOfMonth.items", 1, 31);
    check("yearly.date.datesOfMonth.items", 1, 31);
}

#[test]
fn unknown_variants_are_for_reading_only_and_never_in_the_schema() {
    for kind in KINDS.iter().chain(GATED).chain(FREEZES).chain(OVERRIDES) {
        let text = kind.schema().to_string();
        assert!(!text.contains("newer than this build"), "{text}");
        assert!(!text.contains("\"$ref\"") && !text.contains("Of\""), "{text}");
    }
    let strategy: policy::Strategy = serde_json::from_str("\"Sometimes\"").unwrap();
    assert_eq!(strategy, policy::Strategy::Unknown);
}

#[test]
fn a_policy_reads_and_writes_the_same_text() {
    let text = serde_json::json!({
        "apiVersion": names::API_VERSION,
        "kind": names::HOSTED_CHANGE_MANAGEMENT_POLICY,
        "metadata": {"name": "weekend", "namespace": "clusters"},
        "spec": {
            "strategy": "MaintenanceSchedule",
            "maintenanceSchedule": {
                "timeZone": "Europe/Berlin",
                "permit": {
                    "recurrence": {
                        "frequency": "Monthly",
                        "monthly": {"by": "Day", "day": {"days": [
                            {"weekOfMonth": "Last", "dayOfWeek": "Saturday"}], "interval": 1}}
                    },
                    "startTime": "20:00",
                    "duration": "8h"
                },
                "exclude": [{"fromDate": "2026-12-19", "untilDate": "2027-01-04", "reason": "freeze"}]
            }
        }
    });
    let policy: policy::HostedChangeManagementPolicy =
        serde_json::from_value(text.clone()).unwrap();
    assert_eq!(serde_json::to_value(policy).unwrap(), text);
}
