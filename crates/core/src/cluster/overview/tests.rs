use api::names;
use serde_json::{Value, json};

use super::*;
use crate::cluster::kinds::{self, tests::gated};

/// A gate as a server has it: what it says, and what its status says, for which generation.
fn gate(strategy: &str, windows: &Value, observed: i64) -> Value {
    json!({"apiVersion": names::API_VERSION, "kind": names::CHANGE_GATE,
        "metadata": {"name": "till", "namespace": "shop", "generation": 2, "resourceVersion": "7"},
        "spec": {"changeManagement": {"strategy": strategy}, "holds": [{"what": "Deployments"}]},
        "status": {"observedGeneration": observed, "windows": windows,
            "conditions": [{"type": "Ready", "status": "True", "reason": "AsExpected", "message": ""}]}})
}

/// RCH-2, GATE-12: who asks is told what the server does, and not only what it will do.
#[test]
fn what_the_server_does_otherwise_is_told() {
    let always = json!([{}]);
    let tonight = json!([{"startTime": "2026-11-16T20:00:00Z", "endTime": "2026-11-16T22:00:00Z"}]);
    let now = json!([{"startTime": "2026-11-16T10:00:00Z", "endTime": "2026-11-16T14:00:00Z"}]);
    let none = json!([]);
    let holds = "the API server still holds changes";
    let lets = "the API server still lets changes start";
    let rows: &[(&str, &Value, i64, Option<&str>)] = &[
        ("Permissive", &always, 2, None),
        ("Restrictive", &none, 2, None),
        // It was edited, and the status is of before.
        ("Permissive", &always, 1, Some(holds)),
        ("Restrictive", &none, 1, None),
        // A policy or an override changed, and the windows are of before.
        ("Permissive", &none, 2, Some(holds)),
        (
            "Permissive",
            &tonight,
            2,
            Some("the API server still holds changes until 2026-11-16T20:00:00Z"),
        ),
        ("Restrictive", &always, 2, Some(lets)),
        (
            "Restrictive",
            &now,
            2,
            Some("the API server still lets changes start until 2026-11-16T14:00:00Z"),
        ),
    ];
    let at = Instant::parse("2026-11-16T12:00:00Z").unwrap();
    let told = |document: &Value| {
        let seen = gated(&kinds::CHANGE_GATE, document);
        resource(&Snapshot::default(), &seen, at).differs
    };
    for (strategy, windows, observed, expected) in rows {
        let said = told(&gate(strategy, windows, *observed));
        let row = format!("{strategy} {windows} {observed}: {said:?}");
        assert_eq!(said.is_some(), expected.is_some(), "{row}");
        let begins = |said: &String| expected.is_some_and(|expected| said.starts_with(expected));
        assert!(said.as_ref().is_none_or(begins), "{row}");
    }
    // What was written down in a file no server keeps; and how far ahead nobody has looked yet, nobody tells.
    let mut file = gate("Permissive", &none, 2);
    file["metadata"]["resourceVersion"] = Value::Null;
    assert_eq!(told(&file), None);
    let mut far = gate("Permissive", &none, 2);
    far["status"]["computedUntil"] = json!("2026-11-16T11:00:00Z");
    assert_eq!(told(&far), None);
}

/// HOST-2: inside a hosted cluster what was told is told, and whatever somebody writes there opens nothing.
#[test]
fn a_projection_is_told_as_one_and_opens_nothing() {
    let held = json!({"current": {"state": "ChangesPaused", "startTime": null, "endTime": "2026-11-21T00:00:00Z", "reason": "no window is open"},
        "next": {"state": "ChangesUnpaused", "startTime": "2026-11-21T00:00:00Z", "endTime": null, "reason": "a window is open"}});
    let projected = json!({"from": "HostedCluster/tenants/shop", "gates": [
        {"kind": "HostedCluster", "name": "shop", "gated": true, "behavior": held, "waits": {"to": "4.20.7", "now": "4.20.6"}},
        {"kind": "NodePool", "name": "workers", "gated": true, "behavior": held, "waits": {}}]});
    let version = json!({"apiVersion": "config.openshift.io/v1", "kind": "ClusterVersion",
        "metadata": {"name": "version", "annotations": {names::PROJECTED: projected.to_string()}},
        "spec": {"desiredUpdate": {"version": "4.20.7"}}});
    let seen = gated(&kinds::CLUSTER_VERSION, &version);
    let snapshot = Snapshot::default();
    let at = |text: &str| Instant::parse(text).unwrap();
    let row = resource(&snapshot, &seen, at("2026-11-18T00:00:00Z"));
    assert_eq!((row.verdict, row.next), (Verdict::Held, Some(Verdict::Permitted)));
    let waiting = crate::gate::words::joined(&row.pending.waiting);
    let expected = "release 4.20.7 of HostedCluster/shop (now 4.20.6); ";
    assert!(waiting.starts_with(expected) && waiting.ends_with(": NodePool/workers"), "{waiting}");
    assert_eq!(resource(&snapshot, &seen, at("2026-11-21T00:00:00Z")).verdict, Verdict::Permitted);
    // Nobody here begins anything, not even in a window.
    assert!(snapshot.gate(&seen).permit(at("2026-11-21T00:00:00Z")).is_err());
    // Where somebody writes a stanza beside it, nobody is told that anything is open, and nothing is.
    for strategy in ["Permissive", "Restrictive"] {
        let mut both = version.clone();
        both["spec"]["changeManagement"] = json!({"strategy": strategy});
        let both = gated(&kinds::CLUSTER_VERSION, &both);
        for now in ["2026-11-18T00:00:00Z", "2026-11-21T00:00:00Z"] {
            assert_ne!(
                resource(&snapshot, &both, at(now)).verdict,
                Verdict::Permitted,
                "{strategy}"
            );
            assert!(snapshot.gate(&both).permit(at(now)).is_err(), "{strategy}");
        }
    }
    let mut own = version.clone();
    own["metadata"]["annotations"] = json!({});
    own["spec"]["changeManagement"] = json!({"strategy": "Permissive"});
    assert_eq!(
        resource(&snapshot, &gated(&kinds::CLUSTER_VERSION, &own), at("2026-11-18T00:00:00Z"))
            .verdict,
        Verdict::Permitted
    );
}
