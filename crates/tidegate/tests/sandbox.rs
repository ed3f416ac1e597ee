//! Does the sandbox come up, hold our kinds, refuse bad ones, and go away again?

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "the functions beside a test fail as it does"
)]

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

/// A running sandbox, ended when dropped.
struct Sandbox {
    child: Child,
    address: String,
    kubeconfig: PathBuf,
}

impl Sandbox {
    fn start(arguments: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_tidegate"))
            .arg("sandbox")
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let rest =
            line.trim_end().strip_prefix("ready: http://").unwrap_or_else(|| panic!("{line:?}"));
        let (address, kubeconfig) = rest.split_once(" kubeconfig=").unwrap();
        Self { child, address: address.to_owned(), kubeconfig: kubeconfig.into() }
    }

    fn ask(&self, method: &str, path: &str, body: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
            body.len()
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    /// Ends it as Ctrl-C does.
    fn interrupt(mut self) -> (i32, PathBuf) {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
        (self.child.wait().unwrap().code().unwrap(), self.kubeconfig.clone())
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

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

/// GATE-3
#[test]
fn override_of_a_live_resource_keeps_the_policy_and_is_taken_back() {
    let sandbox = Sandbox::start(&["--empty", "--at", "2026-11-16T12:00:00Z"]);
    let pools = "/apis/machineconfiguration.openshift.io/v1/machineconfigpools";
    let pool = r#"{"apiVersion": "machineconfiguration.openshift.io/v1", "kind": "MachineConfigPool",
        "metadata": {"name": "worker"},
        "spec": {"changeManagement": {"strategy": "ByPolicy", "byPolicy": {"name": "weekend"}}, "theirs": {"kept": true}}}"#;
    assert!(sandbox.ask("POST", pools, pool).starts_with("HTTP/1.1 201"));
    let stanza = || {
        let answer = sandbox.ask("GET", &format!("{pools}/worker"), "");
        let (_, body) = answer.split_once("\r\n\r\n").unwrap();
        let object: serde_json::Value = serde_json::from_str(body).unwrap();
        assert_eq!(object["spec"]["theirs"]["kept"], true, "what is not ours survives");
        (
            object["spec"]["changeManagement"].to_string(),
            object["metadata"]["annotations"].to_string(),
        )
    };
    let kubeconfig = sandbox.kubeconfig.to_str().unwrap().to_owned();
    let verb = |arguments: &[&str]| {
        let arguments = [arguments, &["--kubeconfig", &kubeconfig]].concat();
        Command::new(env!("CARGO_BIN_EXE_tidegate")).args(arguments).output().unwrap()
    };
    let freeze = ["override", "mcp/worker", "--restrictive", "--reason", "stuck"];
    let dry = verb(&[freeze.as_slice(), &["--dry-run"]].concat());
    assert!(dry.status.success(), "{dry:?}");
    assert!(stanza().0.contains("ByPolicy"), "a dry run changes nothing");
    assert!(verb(&freeze).status.success());
    let (written, said) = stanza();
    assert!(written.contains("Restrictive") && written.contains("weekend"), "{written}");
    assert!(said.contains("stuck"), "{said}");
    let undone = verb(&["override", "mcp/worker", "--clear"]);
    let text = String::from_utf8(undone.stdout).unwrap();
    assert!(text.contains("as ChangeManagementPolicy/weekend says"), "{text}");
    let (written, said) = stanza();
    assert!(written.contains("ByPolicy") && !said.contains("stuck"), "{written} {said}");
    for (arguments, expected) in [
        (["override", "mcp/gone", "--clear"].as_slice(), "there is no MachineConfigPool/gone"),
        (&["override", "pod/x", "--clear"], "there is no kind \"pod\""),
        (
            &["override", "mcp/worker", "--permissive-until", "2020-01-01", "--reason", "x"],
            "is not after now",
        ),
        (&["override", "mcp/worker", "--permissive"], "--reason"),
        (
            &["override", "mcp/worker", "--permissive", "--restrictive", "--reason", "x"],
            "cannot be used with",
        ),
    ] {
        let refused = verb(arguments);
        assert_eq!(refused.status.code(), Some(2), "{arguments:?}");
        let talk = String::from_utf8(refused.stderr).unwrap();
        assert!(talk.contains(expected), "{talk}");
    }
}

#[test]
fn sandbox_keeps_statuses_true() {
    let sandbox = Sandbox::start(&["--at", "2026-11-16T12:00:00Z"]);
    let path = "/apis/changemanagement.openshift.io/v1alpha1/changemanagementpolicies/weekend";
    // It is written a moment after the start; asking again is all there is to wait for.
    let mut object = String::new();
    for _ in 0..5_000 {
        object = sandbox.ask("GET", path, "");
        if object.contains("\"status\"") {
            break;
        }
    }
    assert!(object.contains("2026-11-21T00:00:00Z"), "{object}");
}
