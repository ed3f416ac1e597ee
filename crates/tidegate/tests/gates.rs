//! Do the verbs about gates on what others own tell what they do, and do they do it, on a live server?

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "the functions beside a test fail as it does"
)]

#[path = "support/sandbox.rs"]
#[expect(dead_code, reason = "other suites need all of it")]
mod sandbox;

use sandbox::Sandbox;
use serde_json::{Value, json};

const OURS: &str = "/apis/changemanagement.openshift.io/v1alpha1";

/// A cluster with Argo CD's kind, an Application that people hold and one that they do not.
fn cluster() -> Sandbox {
    let sandbox = Sandbox::start(&["--empty", "--at", "2026-11-16T12:00:00Z", "--speed", "0"]);
    let schema = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    let definition = json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "applications.argoproj.io"},
        "spec": {"group": "argoproj.io", "scope": "Namespaced",
            "names": {"plural": "applications", "singular": "application", "kind": "Application", "listKind": "ApplicationList"},
            "versions": [{"name": "v1alpha1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}}]}});
    sandbox.object("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", &definition);
    for namespace in ["argocd", "other"] {
        let namespace =
            json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}});
        sandbox.object("POST", "/api/v1/namespaces", &namespace);
    }
    for (name, env) in [("web", "prod"), ("toy", "test")] {
        let application = json!({"apiVersion": "argoproj.io/v1alpha1", "kind": "Application",
            "metadata": {"name": name, "labels": {"env": env}}, "spec": {}});
        sandbox.object(
            "POST",
            "/apis/argoproj.io/v1alpha1/namespaces/argocd/applications",
            &application,
        );
    }
    let policy = json!({"apiVersion": "changemanagement.openshift.io/v1alpha1", "kind": "ChangeManagementPolicy",
        "metadata": {"name": "never"}, "spec": {"strategy": "Restrictive"}});
    sandbox.object("POST", &format!("{OURS}/changemanagementpolicies"), &policy);
    sandbox
}

fn text(sandbox: &Sandbox, arguments: &[&str], code: i32) -> String {
    let output = sandbox.verb(arguments);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {said}");
    String::from_utf8(output.stdout).unwrap() + &said
}

fn gates(sandbox: &Sandbox) -> Vec<Value> {
    let found = sandbox.object("GET", &format!("{OURS}/changegates"), &Value::Null);
    found["items"].as_array().unwrap().iter().map(|item| item["spec"].clone()).collect()
}

const ADD: [&str; 8] =
    ["gate", "add", "applications", "-n", "argocd", "--selector", "env=prod", "--policy=never"];

/// RCH-11: a gate is shown before it is made, made as it was shown, and holds what it said.
#[test]
fn a_gate_is_made_as_it_was_shown() {
    let sandbox = cluster();
    let told = text(&sandbox, &ADD, 0);
    assert!(told.starts_with("nothing was changed, and the API server would take this object; with it outside the windows of policy never"), "{told}");
    assert!(told.contains("it holds 1: argocd/web\n"), "{told}");
    assert!(told.contains("undo:\n  kubectl delete cg applications -n argocd\n"), "{told}");
    assert_eq!(gates(&sandbox), [Value::Null; 0], "nothing is made without --yes");
    let made = text(&sandbox, &[ADD.as_slice(), &["--yes", "-o", "json"]].concat(), 0);
    let made: Value = serde_json::from_str(&made).unwrap();
    assert_eq!((&made["applied"], &made["targetNames"]), (&json!(true), &json!(["argocd/web"])));
    let standing = gates(&sandbox).remove(0);
    // The server fills in the kind of the policy.
    let asked = |spec: &Value| {
        (spec["holds"].clone(), spec["changeManagement"]["byPolicy"]["name"].clone())
    };
    assert_eq!(asked(&standing), asked(&made["object"]["spec"]));
    let again = text(&sandbox, &[ADD.as_slice(), &["--yes"]].concat(), 2);
    assert!(
        again.contains("metadata.name: ChangeGate/argocd/applications is there already"),
        "{again}"
    );

    let listed = text(&sandbox, &["gate", "list", "-o", "json"], 0);
    let listed: Value = serde_json::from_str(&listed).unwrap();
    assert_eq!(listed["items"][0]["holds"], json!(["Applications"]));
    assert_eq!(listed["items"][0]["policy"], "never");
    let why = |name: &str| {
        let output = sandbox.verb(&["gate", "why", name, "-n", "argocd", "-o", "json"]);
        let why: Value = serde_json::from_slice(&output.stdout).unwrap();
        why["heldBy"].as_array().unwrap().iter().map(|by| by["name"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(why("application/web"), [json!("applications")]);
    assert_eq!(why("application/toy"), [Value::Null; 0]);
    let gone = text(&sandbox, &["gate", "why", "application/gone", "-n", "argocd"], 2);
    assert!(gone.contains("there is no Application/argocd/gone in this cluster"), "{gone}");
}

/// What cannot be made says which field is wrong, and nothing is written.
#[test]
fn a_gate_that_cannot_be_made_says_why() {
    let sandbox = cluster();
    let base = ["gate", "add", "applications", "--yes"];
    for (arguments, expected) in [
        (
            ["-n", "argocd", "--policy", "gone"].as_slice(),
            "spec.changeManagement.byPolicy.name: there is no policy gone",
        ),
        (&["-n", "argocd", "--policy", "never", "--selector", "a b"], "spec.holds[0].selector: "),
        (&["-n", "argocd", "--policy", "never", "--how", "refuse"], "spec.holds[0].how: "),
        (&["-n", "argocd", "--policy", "never", "--name", "No Name"], "metadata.name: "),
        (&["-n", "argocd", "--policy", "never", "--namespaces", "env=prod"], "cannot be used with"),
        (
            &["-n", "missing", "--policy", "never"],
            "the API server would not take ChangeGate/missing/applications: ",
        ),
    ] {
        let said = text(&sandbox, &[base.as_slice(), arguments].concat(), 2);
        assert!(said.contains(expected), "{arguments:?}: {said}");
    }
    assert_eq!(gates(&sandbox), [Value::Null; 0]);
}

/// RCH-6: a live cluster is looked at with the rights of whoever asks, and what cannot be seen is told.
#[test]
fn doctor_tells_what_it_found_and_what_it_could_not_see() {
    let sandbox = cluster();
    let told = text(&sandbox, &["doctor"], 1);
    assert!(told.contains(" answered; "), "{told}");
    assert!(told.contains("Argo CD: syncs Applications"), "{told}");
    assert!(told.contains("Applications: nothing holds it"), "{told}");
    assert!(told.contains("who may remove the lock: cannot list ClusterRole: "), "{told}");
    text(&sandbox, &[ADD.as_slice(), &["--yes"]].concat(), 0);
    let told = text(&sandbox, &["doctor"], 1);
    assert!(
        told.contains("Applications: held in part, by ChangeGate/argocd/applications"),
        "{told}"
    );
}

/// RCH-6: a live cluster is looked at with the rights of whoever asks, and nothing is written.
#[test]
fn init_proposes_what_can_be_applied_and_writes_nothing() {
    let sandbox = cluster();
    let wide = || {
        let found = sandbox.object("GET", &format!("{OURS}/clusterchangegates"), &Value::Null);
        found["items"].as_array().unwrap().len()
    };
    let output = sandbox.verb(&["init"]);
    let (told, said) =
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert!(told.contains("# Argo CD: syncs Applications"), "{told}{said}");
    assert!(told.contains("name: never\n"), "the only policy there is: {told}");
    assert!(!told.contains("kind: ChangeManagementPolicy"), "{told}");
    assert_eq!(wide(), 0);
    let said = text(&sandbox, &["init", "--policy", "nights"], 2);
    assert!(said.contains("hint: there is never"), "{said}");
}

/// RCH-14: a room of somebody's own is tried before anybody installs it, and a wrong one is told by its field.
#[test]
fn rooms_of_somebodys_own_are_tried_before_they_are_installed() {
    let sandbox = cluster();
    let check = |room: &str, code: i32| {
        let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"));
        let values = folder.join("values-with-a-room.yaml");
        let rule = "apiGroups: [example.com], resources: [widgets], operations: [UPDATE]";
        let written = format!("replicas: 2\nchangeGates:\n  custom:\n  - {{{rule}, {room}}}\n");
        std::fs::write(&values, written).unwrap();
        text(&sandbox, &["gate", "check", "--values", values.to_str().unwrap()], code)
    };
    let told = check("name: widgets, initiates: 'object.spec != oldObject.spec'", 0);
    assert_eq!(told, "widgets: the API server takes it\n");
    let told = check("name: Widgets.v1, initiates: 'true'", 2);
    assert!(told.contains("changeGates.custom[0].name: small letters"), "{told}");
    let policies = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies";
    let kept = sandbox.object("GET", policies, &Value::Null).to_string();
    assert!(!kept.contains("tidegate-check"), "nothing is kept: {kept}");
}
