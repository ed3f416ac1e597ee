//! Does a dump hold what every verb needs, nothing that is nobody's business, and the same bytes each time?

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "the functions beside a test fail as it does"
)]

#[path = "support/sandbox.rs"]
#[expect(dead_code, reason = "other suites need all of it")]
mod sandbox;

use std::{
    fs,
    path::PathBuf,
    process::{Command, Output},
};

use sandbox::Sandbox;
use serde_json::{Value, json};

const AT: &str = "2026-11-16T12:00:00Z";

/// One that stands still, with all that people put secrets into.
fn cluster() -> Sandbox {
    let sandbox = Sandbox::start(&["--at", AT, "--speed", "0"]);
    let secret = |name: &str, kind: &str, labels: Value| {
        json!({"apiVersion": "v1", "kind": "Secret", "type": kind, "metadata": {"name": name, "labels": labels, "annotations": {"note": "S3CRET"}},
            "data": {"release": "UzNDUkVU", "password": "UzNDUkVU"}})
    };
    let labels = json!({"owner": "helm", "name": "web", "status": "deployed", "version": "1"});
    for secret in [
        secret("sh.helm.release.v1.web.v1", "helm.sh/release.v1", labels.clone()),
        secret("of-somebody", "Opaque", labels),
        secret("database", "Opaque", json!({})),
    ] {
        sandbox.object("POST", "/api/v1/namespaces/default/secrets", &secret);
    }
    let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings"}, "data": {"token": "S3CRET"}});
    sandbox.object("POST", "/api/v1/namespaces/default/configmaps", &map);
    let labels = json!({"app": "leaky"});
    let pods = json!({"metadata": {"labels": labels, "annotations": {"token": "S3CRET"}}, "spec": {"containers": [
        {"name": "app", "image": "kubereboot/kured:1.13", "args": ["--token=S3CRET"], "env": [{"name": "TOKEN", "value": "S3CRET"}]}]}});
    let workload = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "leaky", "annotations": {"token": "S3CRET"}},
        "spec": {"replicas": 1, "selector": {"matchLabels": labels}, "template": pods}});
    sandbox.object("POST", "/apis/apps/v1/namespaces/default/deployments", &workload);
    let freeze = json!({"apiVersion": "changemanagement.openshift.io/v1alpha1", "kind": "ChangeFreeze", "metadata": {"name": "stop"},
        "spec": {"reason": "the token is Bearer S3CRET0123456789abcdef", "until": "2126-11-17T00:00:00Z"}});
    sandbox.object(
        "POST",
        "/apis/changemanagement.openshift.io/v1alpha1/namespaces/default/changefreezes",
        &freeze,
    );
    sandbox
}

fn dumped(sandbox: &Sandbox, arguments: &[&str]) -> (String, String) {
    let output = sandbox.verb(&[&["dump"], arguments].concat());
    let talk = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0), "{talk}");
    (String::from_utf8(output.stdout).unwrap(), talk)
}

/// Once nothing writes any more: every gate has been tried, and two that follow each other are the same, whoever made them.
fn settled(sandbox: &Sandbox) -> (String, String) {
    let mut before = dumped(sandbox, &[]);
    for _ in 0..500 {
        let now = dumped(sandbox, &[]);
        if now.0 == before.0 && !now.0.contains("reason: NotTried") {
            return now;
        }
        before = now;
    }
    panic!("the same objects never gave the same bytes")
}

fn on_files(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_tidegate")).args(arguments).output().unwrap()
}

fn kept(name: &str, text: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::write(&path, text).unwrap();
    path
}

/// DET-1, RCH-6: what is asked of a cluster is answered alike by a dump of it, and no secret is in that.
#[test]
fn every_verb_reads_a_dump_as_it_reads_the_cluster() {
    let sandbox = cluster();
    let (text, talk) = settled(&sandbox);
    assert!(!text.contains("S3CRET") && !text.contains("UzNDUkVU"), "a secret got through");
    assert!(text.contains("name: sh.helm.release.v1.web.v1"), "releases are told by name");
    for nobody_asked in ["of-somebody", "name: database", "kind: ConfigMap\n"] {
        assert!(!text.contains(nobody_asked), "{nobody_asked}");
    }
    assert!(talk.contains("Deployment spec.template.spec.containers[].env[].value"), "{talk}");
    assert!(talk.contains(&format!("taken at {AT}")), "{talk}");
    let file = kept("dump.yaml", &text);
    let file = file.to_str().unwrap();

    for verb in [
        &["status", "-o", "wide"][..],
        &["status", "-o", "json"],
        &["explain", "mcp/worker"],
        &["explain", "mcp/master", "-o", "json"],
        &["simulate", "--for", "90d"],
        &["simulate", "--for", "90d", "--change", "worker", "-o", "json"],
    ] {
        let said = |output: Output| {
            let code = output.status.code();
            (
                code,
                String::from_utf8(output.stdout).unwrap(),
                String::from_utf8(output.stderr).unwrap(),
            )
        };
        let live = said(sandbox.verb(&[verb, &["--at", AT]].concat()));
        let read = said(on_files(&[verb, &["--at", AT, "-f", file]].concat()));
        assert_eq!(read, live, "{verb:?}");
    }
    // What reads files alone takes out of a dump what it asks for.
    for (verb, code, expected) in [
        (&["next", "-f", file, "--at", AT][..], 0, "weekend"),
        (&["calendar", "-f", file, "--at", AT], 0, "weekend"),
        (&["explain", "-f", file, "--at", AT], 0, "weekend"),
        (&["gate", "list", "-f", file], 0, "rollouts"),
        (&["validate", file], 0, "0 problems"),
        (&["convert", "-f", file], 1, "RRULE"),
        (&["diff", file, file, "--exit-code", "--at", AT], 0, ""),
        (&["init", "--policy=weekend", "-f", file], 0, "kured"),
        (&["report", "-f", file, "--at", AT], 0, "</html>"),
        (&["history", "-f", file], 0, ""),
        (&["audit", "-f", "/dev/null", "--gates", file], 2, "no event"),
        (&["gate", "why", "deployment/leaky", "-n", "default", "-f", file], 1, "ChangeFreeze"),
    ] {
        let output = on_files(verb);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(output.status.code(), Some(code), "{verb:?}: {said}{text}");
        assert!(text.contains(expected), "{verb:?}: {text}");
        assert!(!said.contains("unknown kind"), "{verb:?}: {said}");
    }
    // The doctor tries nothing on files, and finds the same movers and doors.
    let found = |output: Output| -> Value {
        let found: Value = serde_json::from_slice(&output.stdout).unwrap();
        json!([found["movers"], found["doors"], found["begun"]])
    };
    assert_eq!(
        found(on_files(&["doctor", "-o", "json", "-f", file])),
        found(sandbox.verb(&["doctor", "-o", "json"]))
    );
    // And it can be played with.
    let again = Sandbox::start(&["--load", file, "--at", AT, "--speed", "0"]);
    let pools = again.object(
        "GET",
        "/apis/machineconfiguration.openshift.io/v1/machineconfigpools",
        &Value::Null,
    );
    assert!(pools["items"].as_array().is_some_and(|pools| pools.len() > 1), "{pools}");
}

/// Bounded: what is left out is counted, and whoever reads the dump is told.
#[test]
fn what_a_dump_leaves_out_is_told_by_it_and_by_whoever_reads_it() {
    let sandbox = Sandbox::start(&["--at", AT, "--speed", "0"]);
    let (text, talk) = dumped(&sandbox, &["--most", "1"]);
    assert!(talk.contains("left out: ") && talk.contains(" of Node\n"), "{talk}");
    let file = kept("short-dump.yaml", &text);
    let output = on_files(&["status", "-f", file.to_str().unwrap(), "--at", AT]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("warning: the dump leaves out "), "{said}");
    let none = dumped(&sandbox, &["--most", "0"]).0;
    assert!(none.starts_with("apiVersion: tidegate/v1\nkind: TidegateDump\n"), "{none}");
    let file = kept("empty-dump.yaml", &none);
    let output = on_files(&["next", "-f", file.to_str().unwrap(), "--at", AT]);
    assert!(!String::from_utf8_lossy(&output.stderr).contains("holds no document"));
}
