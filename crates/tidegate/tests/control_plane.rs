//! Do the verbs for the release of the control plane say what would happen, write what they say, and refuse what could never begin before
//! anything is written? (CV-4)

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "the functions beside a test fail as it does"
)]

#[path = "support/sandbox.rs"]
mod sandbox;

use sandbox::Sandbox;
use serde_json::Value;

const OURS: &str = "/apis/changemanagement.openshift.io/v1alpha1";
const VERSION: &str = "/apis/config.openshift.io/v1/clusterversions/version";

/// What a verb printed, and its exit code.
fn said(sandbox: &Sandbox, arguments: &[&str]) -> (String, Option<i32>) {
    let output = sandbox.verb(arguments);
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    (text.into_owned(), output.status.code())
}

fn wish(sandbox: &Sandbox) -> Value {
    sandbox.object("GET", VERSION, &Value::Null)["spec"]["desiredUpdate"]["version"].clone()
}

#[test]
fn a_release_is_asked_for_looked_at_and_taken_back() {
    // Monday noon: berlin-nights are shut.
    let sandbox = Sandbox::start(&["--at", "2026-11-16T12:00:00Z"]);
    assert_eq!(wish(&sandbox), "4.20.8");
    let digest = format!("r@sha256:{}", "0".repeat(64));
    for (arguments, expected) in [
        (
            &["control-plane", "wish", "4.20.99"][..],
            "spec.desiredUpdate.version: 4.20.99 is none of the updates that the cluster knows: 4.20.10, 4.21.3",
        ),
        (
            &["control-plane", "wish", "soon"],
            "spec.desiredUpdate.version: \"soon\" is not a version",
        ),
        (
            &["control-plane", "wish", "4.20.10", "--image", "r:latest"],
            "spec.desiredUpdate.image: \"r:latest\" has no digest",
        ),
        (&["control-plane", "wish", "4.22.0", "--image", &digest], "4.22.0 skips 4.21"),
        (&["control-plane", "wish", "4.19.1", "--image", &digest], "4.19.1 is older than 4.20.8"),
        (&["control-plane", "wish", "4.20.8"], "the cluster has release 4.20.8 already"),
        (&["control-plane", "withdraw"], "the cluster has release 4.20.8 already"),
        (&["control-plane", "start", "--reason", "now"], "nothing is wanted"),
    ] {
        let (text, code) = said(&sandbox, arguments);
        assert!(text.contains(expected), "{arguments:?}: {text}");
        assert_eq!(
            (code, wish(&sandbox)),
            (Some(2), "4.20.8".into()),
            "{arguments:?} wrote nothing"
        );
    }
    let (text, code) = said(&sandbox, &["update", "--to", "4.20.10"]);
    assert!(text.contains("starts at 2026-11-16T21:00:00Z (in "), "{text}");
    assert_eq!((code, wish(&sandbox)), (Some(0), "4.20.8".into()));
    let (text, code) = said(&sandbox, &["update", "--to", "4.22.3", "-o", "json"]);
    let told: Value = serde_json::from_str(&text).unwrap();
    assert!(
        told["update"]["inTheWay"][0].as_str().unwrap().contains("4.22.3 is none of"),
        "{told}"
    );
    assert_eq!(code, Some(1), "something stands in its way");
    let (text, _) = said(&sandbox, &["control-plane", "wish", "4.20.10", "--dry-run"]);
    assert!(
        text.starts_with("nothing was changed; with this patch release 4.20.10 is wanted"),
        "{text}"
    );
    assert_eq!(wish(&sandbox), "4.20.8");
    let (text, code) = said(&sandbox, &["control-plane", "wish", "4.20.10"]);
    assert!(text.contains("undo:\n  kubectl patch clusterversions version"), "{text}");
    assert_eq!((code, wish(&sandbox)), (Some(0), "4.20.10".into()));
    let (text, _) = said(&sandbox, &["control-plane", "status"]);
    assert!(text.contains("wanted: release 4.20.10") && text.contains("masters: "), "{text}");
    let (text, _) = said(&sandbox, &["control-plane", "start", "--reason", "CVE", "--dry-run"]);
    assert!(text.contains("4.20.10 may start, and nothing else,"), "{text}");
    let (text, code) = said(&sandbox, &["control-plane", "withdraw"]);
    assert!(
        text.contains("release 4.20.10 is not wanted any more; nothing of it has begun"),
        "{text}"
    );
    assert_eq!((code, wish(&sandbox)), (Some(0), Value::Null));
}

/// GATE-12: 0 if nothing but a window keeps it, 1 if something else does, 2 if nobody can tell; and nothing is said to wait that is there.
#[test]
fn the_exit_code_of_an_update_tells_what_it_waits_for() {
    let sandbox = Sandbox::start(&["--at", "2026-11-16T12:00:00Z", "--speed", "0"]);
    let (text, code) = said(&sandbox, &["update", "--to", "4.20.8"]);
    assert!(text.contains("the cluster has release 4.20.8 already"), "{text}");
    assert!(!text.contains("wanted") && code == Some(0), "{text}");
    let (text, code) = said(&sandbox, &["update", "--to", "4.20.10"]);
    assert_eq!(code, Some(0), "{text}");
    let freeze = serde_json::json!({"apiVersion": "changemanagement.openshift.io/v1alpha1",
        "kind": "ClusterChangeFreeze", "metadata": {"name": "incident"}, "spec": {"reason": "incident"}});
    sandbox.object("POST", &format!("{OURS}/clusterchangefreezes"), &freeze);
    let (text, code) = said(&sandbox, &["update", "--to", "4.20.10"]);
    assert!(text.contains("starts nobody can tell when") && code == Some(1), "{text}");
    sandbox.object("DELETE", &format!("{OURS}/clusterchangefreezes/incident"), &Value::Null);
    let policy = format!("{OURS}/changemanagementpolicies/berlin-nights");
    sandbox.object("DELETE", &policy, &Value::Null);
    let (text, code) = said(&sandbox, &["update", "--to", "4.20.10"]);
    assert_eq!(code, Some(2), "{text}");
}

#[test]
fn a_cluster_without_a_control_plane_is_told_apart() {
    let sandbox = Sandbox::start(&["--empty", "--at", "2026-11-16T12:00:00Z"]);
    for arguments in [
        &["control-plane", "status"][..],
        &["control-plane", "wish", "4.20.10"],
        &["control-plane", "withdraw"],
        &["update", "--to", "4.20.10"],
    ] {
        let (text, code) = said(&sandbox, arguments);
        assert!(
            text.contains("this cluster has no ClusterVersion/version"),
            "{arguments:?}: {text}"
        );
        assert_eq!(code, Some(2), "{arguments:?}");
    }
    assert_eq!(sandbox.interrupt().0, 0, "and the sandbox ends as it should");
}

const DEFINITION: &str =
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/clusterversions.config.openshift.io";

/// A server that has `ClusterVersion` as OpenShift ships it, without our stanza, whose updates a gate holds for good.
fn stock() -> Sandbox {
    let sandbox = Sandbox::start(&["--empty", "--at", "2026-11-16T12:00:00Z", "--speed", "0"]);
    let mut definition = sandbox.object("GET", DEFINITION, &Value::Null);
    // Ours names what we read and keeps the rest; that of OpenShift names all that it keeps.
    let schema = "/spec/versions/0/schema/openAPIV3Schema";
    for (place, field) in [
        ("", "x-kubernetes-preserve-unknown-fields"),
        ("/properties/spec", "x-kubernetes-preserve-unknown-fields"),
        ("/properties/spec/properties", "changeManagement"),
        ("/properties/spec/properties", "versionManagement"),
        // Our rule is about those two.
        ("/properties/spec", "x-kubernetes-validations"),
    ] {
        let fields = definition.pointer_mut(&format!("{schema}{place}"));
        let removed = fields.and_then(Value::as_object_mut).unwrap().remove(field);
        assert!(removed.is_some() || place.is_empty(), "{place}: ours has {field}");
    }
    let known = definition.pointer_mut(&format!("{schema}/properties/spec/properties"));
    known.unwrap()["clusterID"] = serde_json::json!({"type": "string"});
    sandbox.object("PUT", DEFINITION, &definition);
    let image = |digit: &str| format!("registry/release@sha256:{}", digit.repeat(64));
    let version = serde_json::json!({"apiVersion": "config.openshift.io/v1", "kind": "ClusterVersion",
        "metadata": {"name": "version"}, "spec": {"clusterID": "5f9a1d9e-1f2b-4c3d-8e4f-0123456789ab"}});
    sandbox.object("POST", "/apis/config.openshift.io/v1/clusterversions", &version);
    let mut version = sandbox.object("GET", VERSION, &Value::Null);
    version["status"] = serde_json::json!({"desired": {"version": "4.20.6", "image": image("6")}, "observedGeneration": 1,
        "versionHash": "x", "availableUpdates": [{"version": "4.20.7", "image": image("7")}],
        "history": [{"state": "Completed", "version": "4.20.6", "image": image("6"), "startedTime": "2026-01-01T00:00:00Z",
            "completionTime": "2026-01-01T01:00:00Z", "verified": true}]});
    sandbox.object("PUT", &format!("{VERSION}/status"), &version);
    let gate = serde_json::json!({"apiVersion": "changemanagement.openshift.io/v1alpha1", "kind": "ClusterChangeGate",
        "metadata": {"name": "plane"},
        "spec": {"changeManagement": {"strategy": "Restrictive"}, "holds": [{"what": "ClusterVersion"}]}});
    sandbox.object("POST", &format!("{OURS}/clusterchangegates"), &gate);
    sandbox
}

/// CV-4: where `spec.desiredUpdate` would begin at once, the command writes the annotation, and reads it.
#[test]
fn on_a_stock_cluster_a_wish_is_an_annotation() {
    let sandbox = stock();
    let noted = || {
        let version = sandbox.object("GET", VERSION, &Value::Null);
        assert_eq!(version["spec"].get("desiredUpdate"), None, "that would begin at once");
        version["metadata"]["annotations"]["changemanagement.openshift.io/wanted-release"].clone()
    };
    let (text, _) = said(&sandbox, &["control-plane", "status"]);
    assert!(text.contains("nothing is wanted"), "{text}");
    let (text, code) = said(&sandbox, &["control-plane", "withdraw"]);
    assert!(
        text.contains("has no annotation changemanagement.openshift.io/wanted-release"),
        "{text}"
    );
    assert_eq!(code, Some(2));
    let (text, code) = said(&sandbox, &["update", "--to", "4.20.7"]);
    assert!(text.contains("ClusterChangeGate/plane"), "{text}");
    assert_ne!(code, Some(0), "{text}");
    let (text, code) = said(&sandbox, &["control-plane", "wish", "4.20.7"]);
    assert!(text.contains("release 4.20.7 is queued"), "{text}");
    assert_eq!((code, noted()), (Some(0), r#"{"version":"4.20.7"}"#.into()));
    let (text, _) = said(&sandbox, &["control-plane", "status"]);
    assert!(text.contains("wanted: release 4.20.7"), "{text}");
    let (text, _) = said(&sandbox, &["status"]);
    assert!(text.contains("4.20.7"), "{text}");
    let (text, code) = said(&sandbox, &["explain", "clusterversion/version"]);
    assert!(text.contains("ClusterChangeGate/plane"), "{text}");
    assert_eq!(code, Some(0));
    let (text, code) = said(&sandbox, &["control-plane", "start", "--reason", "CVE"]);
    assert!(text.contains("tidegate override ccg/plane --open-for 1h"), "{text}");
    assert_eq!(code, Some(2));
    let (text, code) = said(&sandbox, &["control-plane", "withdraw"]);
    assert!(text.contains("release 4.20.7 is not wanted any more"), "{text}");
    assert_eq!((code, noted()), (Some(0), Value::Null));
}
