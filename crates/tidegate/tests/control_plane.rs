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
