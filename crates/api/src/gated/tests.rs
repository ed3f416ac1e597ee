//! Objects as their owners write them, with parts that nobody here knows.

use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::*;
use crate::stanza::StanzaStrategy;

/// A resource of others decodes whatever it holds besides, and what is known of it comes out as it went in.
fn check<T: DeserializeOwned + Serialize>(spec: &Value, status: &Value) -> T {
    let document = json!({
        "apiVersion": "x/v1", "kind": "X",
        "metadata": {"name": "x", "uid": "1", "managedFields": [{"manager": "owner"}]},
        "spec": spec, "status": status,
    });
    let read: T = serde_json::from_value(document.clone()).unwrap();
    let written = serde_json::to_value(&read).unwrap();
    let mut lost = Vec::new();
    compare(&document, &written, "", &mut lost);
    let unexpected: Vec<&String> = lost.iter().filter(|path| !path.contains("notOurs")).collect();
    assert_eq!(unexpected, Vec::<&String>::new(), "{document}");
    read
}

/// The fields of `given` that `found` does not have, or has otherwise.
fn compare(given: &Value, found: &Value, path: &str, lost: &mut Vec<String>) {
    match (given, found) {
        (Value::Object(given), Value::Object(found)) => {
            for (key, value) in given {
                let path = format!("{path}.{key}");
                compare(value, found.get(key).unwrap_or(&Value::Null), &path, lost);
            }
        }
        (Value::Array(given), Value::Array(found)) if given.len() == found.len() => {
            for (given, found) in given.iter().zip(found) {
                compare(given, found, path, lost);
            }
        }
        _ if given == found => {}
        _ => lost.push(path.to_owned()),
    }
}

#[test]
fn resources_decode_whatever_their_owners_write_besides() {
    let stanza = json!({"strategy": "ByPolicy", "byPolicy": {"name": "weekend"}});
    let behavior = json!({"behavior": {
        "current": {"state": "ChangesPaused", "startTime": "2026-11-15T12:00:00Z", "endTime": null, "reason": "never"}}});
    let conditions = json!([{"type": "Updated", "status": "True", "reason": "", "notOurs": 1}]);

    let version: ClusterVersion = check(
        &json!({
            "changeManagement": stanza, "clusterID": "5d3b", "channel": "stable-4.20", "notOurs": {"a": [1]},
            "desiredUpdate": {"version": "4.20.3", "image": "r@sha256:1", "force": false, "notOurs": true},
        }),
        &json!({
            "changeManagement": behavior, "conditions": conditions, "notOurs": 1, "observedGeneration": 2,
            "desired": {"version": "4.20.2", "notOurs": ["a"]},
            "history": [{"state": "Partial", "startedTime": "2026-11-15T12:00:00Z", "completionTime": null}],
            "availableUpdates": [{"version": "4.20.4"}],
        }),
    );
    assert_eq!(version.spec.change_management.unwrap().strategy, StanzaStrategy::ByPolicy);

    let pool: MachineConfigPool = check(
        &json!({
            "changeManagement": stanza, "paused": false, "maxUnavailable": "25%", "notOurs": 1,
            "machineConfig": {"name": "rendered-worker-1", "validAfter": "Immediate"},
            "configuration": {"name": "rendered-worker-2", "source": [{"name": "00-worker"}], "notOurs": 1},
            "nodeSelector": {"matchLabels": {"a": "b"}}, "machineConfigSelector": {},
        }),
        &json!({
            "changeManagement": behavior, "conditions": conditions, "notOurs": 1, "machineCount": 3,
            "updatedMachineCount": 1, "readyMachineCount": 1, "unavailableMachineCount": 1,
            "degradedMachineCount": 0, "configuration": {"name": "rendered-worker-1"},
        }),
    );
    assert_eq!(pool.spec.max_unavailable, Some(IntOrString::Share("25%".into())));

    let _: HostedCluster = check(
        &json!({
            "changeManagement": stanza, "release": {"image": "r@sha256:1"}, "notOurs": 1,
            "controlPlaneRelease": {"image": "r@sha256:2"}, "pausedUntil": "false",
        }),
        &json!({
            "changeManagement": behavior, "conditions": conditions, "notOurs": 1,
            "version": {"desired": {"image": "r@sha256:1"}, "observedGeneration": 1, "notOurs": 1,
                        "history": [{"state": "Completed", "completionTime": "2026-11-15T12:00:00Z"}]},
        }),
    );

    let pool: NodePool = check(
        &json!({
            "changeManagement": stanza, "clusterName": "tide", "release": {"image": "r@sha256:1"}, "replicas": 3,
            "notOurs": 1,
            "management": {"upgradeType": "Replace", "notOurs": 1, "inPlace": {"maxUnavailable": 1},
                           "replace": {"strategy": "RollingUpdate", "rollingUpdate": {"maxSurge": "10%"}}},
        }),
        &json!({
            "changeManagement": behavior, "conditions": conditions, "notOurs": 1, "version": "4.20.2", "replicas": 3,
        }),
    );
    let surge = pool.spec.management.unwrap().replace.unwrap().rolling_update.unwrap().max_surge;
    assert_eq!(surge, Some(IntOrString::Share("10%".into())));
}

#[test]
fn resources_without_anything_decode() {
    let _: ClusterVersion = check(&json!({}), &json!({}));
    let _: MachineConfigPool = check(&json!({}), &json!({}));
    let _: HostedCluster = check(&json!({}), &json!({}));
    let _: NodePool = check(&json!({}), &json!({}));
}
