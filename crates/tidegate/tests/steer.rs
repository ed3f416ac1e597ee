//! Do the verbs that change a cluster change what they say, keep what they must, and find the way back?

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "the functions beside a test fail as it does"
)]

#[path = "support/sandbox.rs"]
mod sandbox;

use std::{
    io::{BufRead as _, BufReader},
    process::{Command, Stdio},
};

use sandbox::Sandbox;
use serde_json::{Value, json};

/// CV-2: what is written on the pool of the masters is put back at once, so nothing is promised there.
#[test]
fn the_pool_of_the_masters_is_held_by_way_of_the_cluster_version() {
    let sandbox = Sandbox::start(&["--at", "2026-11-16T12:00:00Z"]);
    for arguments in [
        ["worker-nodes", "pause", "--pool", "master"].as_slice(),
        &["worker-nodes", "resume", "--pool", "master"],
        &["override", "mcp/master", "--restrictive", "--reason", "x"],
        &["override", "mcp/master", "--clear"],
    ] {
        let said = refused(&sandbox, arguments);
        assert!(said.contains("tidegate override clusterversion/version"), "{arguments:?}: {said}");
    }
}

/// GATE-3
#[test]
fn override_of_a_live_resource_keeps_the_policy_and_is_taken_back() {
    let sandbox = Sandbox::start(&["--empty", "--at", "2026-11-16T12:00:00Z"]);
    let pools = "/apis/machineconfiguration.openshift.io/v1/machineconfigpools";
    let pool = json!({"apiVersion": "machineconfiguration.openshift.io/v1", "kind": "MachineConfigPool",
        "metadata": {"name": "worker"},
        "spec": {"changeManagement": {"strategy": "ByPolicy", "byPolicy": {"name": "weekend"}}, "theirs": {"kept": true}}});
    sandbox.object("POST", pools, &pool);
    let stanza = || {
        let object = sandbox.object("GET", &format!("{pools}/worker"), &Value::Null);
        assert_eq!(object["spec"]["theirs"]["kept"], true, "what is not ours survives");
        (
            object["spec"]["changeManagement"].to_string(),
            object["metadata"]["annotations"].to_string(),
        )
    };
    let verb = |arguments: &[&str]| sandbox.verb(arguments);
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

const CONFIGS: &str = "/apis/machineconfiguration.openshift.io/v1/machineconfigs";
const POOLS: &str = "/apis/machineconfiguration.openshift.io/v1/machineconfigpools";

/// A pool of four nodes, held: one has the newest configuration, one is on its way and blocked, two wait.
fn held_pool() -> Sandbox {
    let sandbox = Sandbox::start(&["--empty", "--at", "2026-11-16T12:00:00Z"]);
    let role = json!({"node-role.kubernetes.io/worker": ""});
    let pool = json!({"apiVersion": "machineconfiguration.openshift.io/v1", "kind": "MachineConfigPool",
        "metadata": {"name": "worker"},
        "spec": {"nodeSelector": {"matchLabels": role}, "configuration": {"name": "rendered-worker-b"},
            "machineConfigSelector": {"matchLabels": {"machineconfiguration.openshift.io/role": "worker"}},
            "changeManagement": {"strategy": "Restrictive"}}});
    let uid = sandbox.object("POST", POOLS, &pool)["metadata"]["uid"].clone();
    for name in ["rendered-worker-a", "rendered-worker-b", "rendered-worker-old"] {
        let owner = json!({"apiVersion": "machineconfiguration.openshift.io/v1", "kind": "MachineConfigPool",
            "name": "worker", "uid": uid, "controller": true});
        let config = json!({"apiVersion": "machineconfiguration.openshift.io/v1", "kind": "MachineConfig",
            "metadata": {"name": name, "ownerReferences": [owner]},
            "spec": {"config": {"ignition": {"version": "3.4.0"}}}});
        sandbox.object("POST", CONFIGS, &config);
    }
    let machines = [
        ("1", "b", "b", "Done"),
        ("2", "a", "b", "Working"),
        ("3", "a", "a", "Done"),
        ("4", "a", "a", "Done"),
    ];
    for (number, current, desired, state) in machines {
        let mut annotations = json!({
            "machineconfiguration.openshift.io/currentConfig": format!("rendered-worker-{current}"),
            "machineconfiguration.openshift.io/desiredConfig": format!("rendered-worker-{desired}"),
            "machineconfiguration.openshift.io/state": state,
        });
        if current != desired {
            annotations["machineconfiguration.openshift.io/desiredDrain"] =
                json!("drain-rendered-worker-b");
            annotations["changemanagement.openshift.io/drain-blocked"] = json!(
                "Budget: pod shop/db-0: budget shop/db allows none, since 2026-11-16T11:00:00Z"
            );
        }
        let node = json!({"apiVersion": "v1", "kind": "Node",
            "metadata": {"name": format!("worker-{number}"), "labels": role, "annotations": annotations}});
        sandbox.object("POST", "/api/v1/nodes", &node);
    }
    sandbox
}

fn text(sandbox: &Sandbox, arguments: &[&str]) -> String {
    let run = sandbox.verb(arguments);
    assert!(run.status.success(), "{arguments:?}: {run:?}");
    String::from_utf8(run.stdout).unwrap()
}

fn refused(sandbox: &Sandbox, arguments: &[&str]) -> String {
    let run = sandbox.verb(arguments);
    assert_eq!(run.status.code(), Some(2), "{arguments:?}: {run:?}");
    String::from_utf8(run.stderr).unwrap()
}

/// POOL-9, DRAIN-1
#[test]
fn pools_and_machines_are_shown_with_phase_and_what_blocks() {
    let sandbox = held_pool();
    let at = "--at=2026-11-16T12:00:10Z";
    let shown = [
        text(&sandbox, &["worker-nodes", "status", at]),
        text(&sandbox, &["worker-nodes", "status", "--pool", "worker", "-o", "json", at]),
        text(&sandbox, &["prune"]),
    ];
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/worker-nodes.txt");
    expect_test::expect_file![path].assert_eq(&shown.join("----\n"));
    assert!(
        refused(&sandbox, &["worker-nodes", "status", "--pool", "infra"])
            .contains("the pools are worker")
    );
}

/// POOL-8: a start records what was before it; a rollback restores that or refuses.
#[test]
fn start_and_rollback_remember() {
    let sandbox = held_pool();
    let pool = || sandbox.object("GET", &format!("{POOLS}/worker"), &Value::Null);
    let previous = || {
        pool()["metadata"]["annotations"]["changemanagement.openshift.io/previous-machine-config"]
            .clone()
    };
    assert!(refused(&sandbox, &["worker-nodes", "rollback"]).contains("none will be guessed"));
    assert!(
        refused(&sandbox, &["worker-nodes", "start", "rendered-worker-x"])
            .contains("rendered-worker-x")
    );
    text(&sandbox, &["worker-nodes", "start", "rendered-worker-a", "--dry-run"]);
    assert_eq!(pool()["spec"]["machineConfig"], Value::Null, "a dry run changes nothing");
    text(&sandbox, &["worker-nodes", "start", "rendered-worker-a"]);
    let told = text(&sandbox, &["worker-nodes", "start"]);
    assert!(
        told.contains("goes to rendered-worker-b")
            && told.contains("worker-nodes rollback --pool worker"),
        "{told}"
    );
    assert_eq!(
        (pool()["spec"]["machineConfig"]["name"].clone(), previous()),
        (json!("rendered-worker-b"), json!("rendered-worker-a"))
    );
    text(&sandbox, &["worker-nodes", "rollback"]);
    assert_eq!(pool()["spec"]["machineConfig"]["name"], "rendered-worker-a");
}

/// GATE-3, POOL-7
#[test]
fn pause_resume_and_allow_write_what_they_say() {
    let sandbox = held_pool();
    let stanza = || {
        sandbox.object("GET", &format!("{POOLS}/worker"), &Value::Null)["spec"]["changeManagement"]
            .clone()
    };
    text(&sandbox, &["worker-nodes", "resume"]);
    assert_eq!(stanza(), json!({"strategy": "Permissive"}), "no policy is named");
    let told = text(&sandbox, &["worker-nodes", "pause", "--reason", "latency is up"]);
    assert!(told.contains("worker-nodes resume --pool worker"), "{told}");
    assert_eq!(stanza(), json!({"strategy": "Restrictive"}));
    let told = text(&sandbox, &["node", "allow", "worker-3"]);
    assert!(told.contains("may go to rendered-worker-b"), "{told}");
    let node = sandbox.object("GET", "/api/v1/nodes/worker-3", &Value::Null);
    assert_eq!(
        node["metadata"]["annotations"]["changemanagement.openshift.io/allowed-config"],
        "rendered-worker-b"
    );
    assert!(refused(&sandbox, &["node", "allow", "worker-1"]).contains("already"));
    assert!(
        refused(&sandbox, &["node", "allow", "worker-9"]).contains("there is no Node/worker-9")
    );
}

#[test]
fn a_follower_shows_what_changes() {
    let sandbox = held_pool();
    let kubeconfig = sandbox.kubeconfig.to_str().unwrap().to_owned();
    let mut follower = Command::new(env!("CARGO_BIN_EXE_tidegate"))
        .args(["status", "-w", "--kubeconfig", &kubeconfig])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(follower.stdout.take().unwrap()).lines();
    let mut until = |wanted: &str| {
        lines.by_ref().map(Result::unwrap).find(|line| line.contains(wanted)).unwrap()
    };
    assert!(until("MachineConfigPool/worker").contains("held"));
    text(&sandbox, &["worker-nodes", "resume"]);
    assert!(until("MachineConfigPool/worker").contains("open"));
    let pool = json!({"apiVersion": "machineconfiguration.openshift.io/v1", "kind": "MachineConfigPool",
        "metadata": {"name": "infra"}, "spec": {"changeManagement": {"strategy": "Restrictive"}}});
    sandbox.object("POST", POOLS, &pool);
    assert!(until("MachineConfigPool/infra").contains("held"));
    follower.kill().unwrap();
    follower.wait().unwrap();
    assert_eq!(sandbox.interrupt().0, 0);
}

const FREEZES: &str = "/apis/changemanagement.openshift.io/v1alpha1/clusterchangefreezes";

/// What a verb says that does what it was asked for.
fn done(sandbox: &Sandbox, arguments: &[&str]) -> String {
    let answer = sandbox.verb(arguments);
    assert!(answer.status.success(), "{arguments:?}: {answer:?}");
    String::from_utf8(answer.stdout).unwrap()
}

/// OVR-4: each writes the freeze that it prints, a dry run writes nothing, and the way back is as it is told.
#[test]
fn freezes_are_written_as_they_are_told_and_thawed_by_the_way_back() {
    let sandbox = Sandbox::start(&["--empty", "--at", "2026-11-16T12:00:00Z", "--speed", "0"]);
    // No policy, which the operator would have to read first.
    let until = "2026-11-21T00:00:00Z";
    let pool = json!({"apiVersion": "machineconfiguration.openshift.io/v1", "kind": "MachineConfigPool",
        "metadata": {"name": "worker"},
        "spec": {"changeManagement": {"strategy": "RestrictiveUntil", "restrictiveUntil": until}}});
    sandbox.object("POST", POOLS, &pool);
    let standing = || {
        let found = sandbox.object("GET", FREEZES, &Value::Null);
        let items = found["items"].as_array().unwrap().clone();
        items.into_iter().map(|item| item["spec"].clone()).collect::<Vec<_>>()
    };
    let freeze = ["freeze", "stop", "--cluster", "--for", "2h", "--reason", "the till is broken"];
    let told = done(&sandbox, &[freeze.as_slice(), &["--dry-run"]].concat());
    assert!(told.starts_with("nothing was changed; with this object nothing starts in the cluster until 2026-11-16T14:00:"), "{told}");
    assert_eq!(standing(), [Value::Null; 0]);
    let told = done(&sandbox, &freeze);
    assert!(told.ends_with("undo:\n  tidegate thaw stop --cluster\n"), "{told}");
    assert_eq!(standing()[0]["reason"], "the till is broken");
    let explained = sandbox.verb(&["explain", "mcp/worker"]);
    let explained = String::from_utf8(explained.stdout).unwrap();
    assert!(explained.contains("frozen by ClusterChangeFreeze/stop until "), "{explained}");
    let thawed = done(&sandbox, &["thaw", "stop", "--cluster", "-o", "json"]);
    let thawed: Value = serde_json::from_str(&thawed).unwrap();
    assert_eq!(thawed["object"]["spec"]["reason"], "the till is broken");
    assert_eq!(standing(), [Value::Null; 0]);

    done(&sandbox, &["hold", "mcp/worker", "--reason", "a driver"]);
    let held = standing().remove(0);
    assert_eq!(held["holds"], json!([{"what": "MachineConfigPools", "names": ["worker"]}]));
    let name = sandbox.object("GET", FREEZES, &Value::Null)["items"][0]["metadata"]["name"].clone();
    done(&sandbox, &["thaw", name.as_str().unwrap(), "--cluster"]);
    // What opens next stays open: a freeze of that would never end by itself.
    let said = refused(&sandbox, &["skip-next", "mcp/worker", "--reason", "short of hands"]);
    assert!(said.contains("has no next window to skip, or one that never ends"), "{said}");
    assert_eq!(standing(), [Value::Null; 0]);
}

/// What cannot be frozen says which field is wrong, and nothing is written.
#[test]
fn what_cannot_be_frozen_says_why() {
    let sandbox = Sandbox::start(&["--at", "2026-11-16T12:00:00Z"]);
    for (arguments, expected) in [
        (["freeze", "--reason", "x"].as_slice(), "required"),
        (&["freeze", "--cluster"], "--reason"),
        (
            &["freeze", "--cluster", "--until", "2020-01-01", "--reason", "x"],
            "spec.until: 2020-01-01T00:00:00Z is over already",
        ),
        (&["freeze", "--cluster", "--what", "Everything", "--reason", "x"], "spec.holds[0].what"),
        (&["thaw", "gone", "--cluster"], "cannot read ClusterChangeFreeze/gone"),
        (&["hold", "mcp/master", "--reason", "x"], "hold clusterversion/version"),
        (&["hold", "mcp/gone", "--reason", "x"], "there is no MachineConfigPool/gone"),
        // OVR-3: who signs is who writes.
        (&["freeze", "--cluster", "--by", "somebody", "--reason", "x"], "spec.by"),
    ] {
        let said = refused(&sandbox, arguments);
        assert!(said.contains(expected), "{arguments:?}: {said}");
    }
    let found = sandbox.object("GET", FREEZES, &Value::Null);
    // By one of this name the operator tries whether the server refuses (GATE-13); it freezes nothing.
    let theirs = |one: &&Value| one["metadata"]["name"] != "tidegate-probe";
    assert_eq!(found["items"].as_array().unwrap().iter().find(theirs), None);
}

const OVERRIDES: &str = "/apis/changemanagement.openshift.io/v1alpha1/clusterchangeoverrides";

/// OVR-4: an override is written as it is told, opens, and is ended by the way back; a dry run writes nothing.
#[test]
fn overrides_are_written_as_they_are_told_and_ended_by_the_way_back() {
    let sandbox = Sandbox::start(&["--empty", "--at", "2026-11-16T12:00:00Z", "--speed", "0"]);
    let pool = json!({"apiVersion": "machineconfiguration.openshift.io/v1", "kind": "MachineConfigPool",
        "metadata": {"name": "worker"}, "spec": {"changeManagement": {"strategy": "Restrictive"}}});
    sandbox.object("POST", POOLS, &pool);
    let standing = || sandbox.object("GET", OVERRIDES, &Value::Null)["items"].clone();
    let open = [
        "override",
        "mcp/worker",
        "--open-for",
        "2h",
        "--reason",
        "CVE-2026-1",
        "--ticket",
        "OPS-7",
        "--name",
        "cve",
    ];
    let told = done(&sandbox, &[open.as_slice(), &["--dry-run"]].concat());
    assert!(told.starts_with("nothing was changed; with this object changes may start at MachineConfigPool/worker until 2026-11-16T14:00:"), "{told}");
    assert_eq!(standing(), json!([]));
    let told = done(&sandbox, &open);
    assert!(told.ends_with("undo:\n  tidegate override mcp/worker --end cve\n"), "{told}");
    assert_eq!(
        standing()[0]["spec"]["target"],
        json!({"kind": "MachineConfigPool", "name": "worker"})
    );
    assert_eq!(standing()[0]["spec"]["ticket"], "OPS-7");
    let explained = done(&sandbox, &["explain", "mcp/worker"]);
    assert!(explained.contains("opened by ClusterChangeOverride/cve until "), "{explained}");
    // What beats it is said before it is written.
    done(&sandbox, &["freeze", "stop", "--cluster", "--reason", "a storm"]);
    let other = ["override", "mcp/worker", "--open-until", "+1h", "--reason", "x", "--dry-run"];
    let told = done(&sandbox, &other);
    assert!(
        told.contains("it stays shut all the same: frozen by ClusterChangeFreeze/stop"),
        "{told}"
    );
    let ended = done(&sandbox, &["override", "mcp/worker", "--end", "cve", "-o", "json"]);
    let ended: Value = serde_json::from_str(&ended).unwrap();
    assert_eq!(ended["object"]["spec"]["reason"], "CVE-2026-1");
    assert_eq!(standing(), json!([]));
}

/// What cannot be opened says which field is wrong, and nothing is written.
#[test]
fn what_cannot_be_opened_says_why() {
    let sandbox = Sandbox::start(&["--at", "2026-11-16T12:00:00Z"]);
    let worker = ["override", "mcp/worker", "--reason", "x"];
    let with = |more: &[&'static str]| [worker.as_slice(), more].concat();
    for (arguments, expected) in [
        (vec!["override", "mcp/worker", "--open-for", "2h"], "--reason"),
        (with(&["--open-until", "2020-01-01"]), "spec.until: 2020-01-01T00:00:00Z is over already"),
        (with(&["--open-for", "32d"]), "an override lasts 31 days at most"),
        (with(&["--open-for", "2h", "--by", "somebody"]), "spec.by"),
        (with(&["--permissive", "--only", "x"]), "--only goes with --open-for"),
        (with(&["--end", "x", "--platform"]), "--platform goes with --open-for"),
        (
            vec!["override", "mcp/gone", "--open-for", "2h", "--reason", "x"],
            "there is no MachineConfigPool/gone",
        ),
        (
            vec!["override", "mcp/master", "--open-for", "2h", "--reason", "x"],
            "follows ClusterVersion/version",
        ),
        (
            vec!["override", "mcp/worker", "--end", "gone"],
            "there is no override gone of MachineConfigPool/worker",
        ),
    ] {
        let said = refused(&sandbox, &arguments);
        assert!(said.contains(expected), "{arguments:?}: {said}");
    }
    let found = sandbox.object("GET", OVERRIDES, &Value::Null);
    assert_eq!(found["items"], json!([]));
}
