//! Does the sandbox come up, hold our kinds, refuse bad ones, and go away again?

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "the functions beside a test fail as it does"
)]

#[path = "support/sandbox.rs"]
mod sandbox;

use std::{path::Path, process::Command};

use sandbox::Sandbox;

const POLICIES: &str = "/apis/changemanagement.openshift.io/v1alpha1/changemanagementpolicies";

#[test]
fn examples_are_there_and_the_clock_is_the_one_asked_for() {
    let sandbox = Sandbox::start(&["--at", "2026-12-24T12:00:00Z"]);
    let answer = sandbox.ask("GET", POLICIES, "");
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    for name in ["weekend", "berlin-nights", "freeze"] {
        assert!(answer.contains(&format!("\"name\":\"{name}\"")), "{name}: {answer}");
    }
    assert!(answer.contains("\"creationTimestamp\":\"2026-12-24T12:00:0"), "{answer}");
    let hosted = "/apis/changemanagement.openshift.io/v1alpha1/namespaces/clusters/hostedchangemanagementpolicies/tenants";
    assert!(sandbox.ask("GET", hosted, "").starts_with("HTTP/1.1 200"));
}

/// POL-2
#[test]
fn bad_policies_are_refused_by_the_server_alone() {
    let sandbox = Sandbox::start(&["--empty"]);
    let create = |spec: &str| {
        let body = format!(
            r#"{{"apiVersion":"changemanagement.openshift.io/v1alpha1","kind":"ChangeManagementPolicy","metadata":{{"name":"p"}},"spec":{spec}}}"#
        );
        sandbox.ask("POST", POLICIES, &body)
    };
    let permit = |permit: &str| {
        create(&format!(
            r#"{{"strategy":"MaintenanceSchedule","maintenanceSchedule":{{"permit":{permit}}}}}"#
        ))
    };
    let refused = [
        (create(r#"{"strategy":"Sometimes"}"#), "spec.strategy"),
        (permit(r#"{"duration":"9999h"}"#), r#"Invalid value: \"9999h\": duration must be longer"#),
        (permit(r#"{"duration":"1d"}"#), "spec.maintenanceSchedule.permit.duration"),
        (permit(r#"{"duration":"1h","endTime":"04:00"}"#), "exclude each other"),
        (
            permit(r#"{"recurrence":{"frequency":"Daily"}}"#),
            "daily is required when frequency is Daily",
        ),
        (permit(r#"{"recurrence":{"frequency":"Daily","daily":{"interval":731}}}"#), "interval"),
        (
            create(
                r#"{"strategy":"MaintenanceSchedule","maintenanceSchedule":{"exclude":[{"fromDate":"2026-01-02","untilDate":"2026-01-01"}]}}"#,
            ),
            "untilDate must be after fromDate",
        ),
        (
            create(
                r#"{"strategy":"MaintenanceSchedule","maintenanceSchedule":{"exclude":[{"fromDate":"2026-02-30","untilDate":"2026-03-01"}]}}"#,
            ),
            "some validation rules were not checked because the object was invalid",
        ),
    ];
    for (answer, why) in refused {
        assert!(answer.starts_with("HTTP/1.1 422"), "{why}: {answer}");
        assert!(answer.contains(why), "{why}: {answer}");
    }
    assert!(create(r#"{"strategy":"Permissive"}"#).starts_with("HTTP/1.1 201"));
}

#[test]
fn interrupt_ends_it_and_takes_the_kubeconfig_away() {
    let sandbox = Sandbox::start(&["--empty"]);
    assert!(sandbox.kubeconfig.exists());
    let (code, kubeconfig) = sandbox.interrupt();
    assert_eq!(code, 0);
    assert!(!kubeconfig.exists());
}

#[test]
fn kubeconfig_of_somebody_else_is_not_written_over() {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("somebody.kubeconfig");
    std::fs::write(&path, "apiVersion: v1\n").unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_tidegate"))
        .args(["sandbox", "--empty", "--kubeconfig"])
        .arg(&path)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("was not written by a sandbox"));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "apiVersion: v1\n");
}

#[test]
fn sandbox_keeps_statuses_true() {
    let sandbox = Sandbox::start(&["--at", "2026-11-16T12:00:00Z"]);
    let path = "/apis/changemanagement.openshift.io/v1alpha1/changemanagementpolicies/weekend";
    // It is written a moment after the start; asking again is all there is to wait for.
    let read = || sandbox.object("GET", path, &serde_json::Value::Null);
    let object = (0..5_000).map(|_| read()).find(|object| object.get("status").is_some());
    let until = object.unwrap()["status"]["behavior"]["current"]["endTime"].clone();
    assert_eq!(until, "2026-11-21T00:00:00Z");
    // Asked without `--at`: what counts is what time it is there.
    let shown = sandbox.verb(&["status"]);
    let shown = String::from_utf8(shown.stdout).unwrap();
    let weekend = shown.lines().find(|line| line.starts_with("ChangeManagementPolicy/weekend"));
    assert!(weekend.is_some_and(|line| line.contains("(in 4d 1")), "{shown}");
    assert!(!shown.contains("unknown"), "every policy has been read: {shown}");
}
