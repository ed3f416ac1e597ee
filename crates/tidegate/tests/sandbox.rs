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
use serde_json::Value;

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
    let read = || sandbox.object("GET", path, &Value::Null);
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

/// A folder of this test's own.
fn folder(name: &str, files: &[(&str, &str)]) -> String {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    for (file, text) in files {
        let path = folder.join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    folder.to_str().unwrap().to_owned()
}

const NODES: &str = "/api/v1/nodes";

#[test]
fn machines_of_the_simulated_cluster_have_joined_when_it_is_ready() {
    let sandbox = Sandbox::start(&["--at", "2026-11-16T12:00:00Z"]);
    let nodes = sandbox.object("GET", NODES, &Value::Null);
    let nodes = nodes["items"].as_array().unwrap();
    assert_eq!(nodes.len(), 15);
    for node in nodes {
        let annotations = &node["metadata"]["annotations"];
        let state = &annotations["machineconfiguration.openshift.io/currentConfig"];
        assert!(state.as_str().unwrap().starts_with("rendered-"), "{annotations}");
    }
}

#[test]
fn clock_is_turned_from_another_terminal_once_for_each_wish() {
    let sandbox = Sandbox::start(&["--at", "2026-11-16T12:00:00Z", "--speed", "0"]);
    let clock = |wish: &[&str]| {
        let run = sandbox.verb(&[&["sandbox", "clock"], wish].concat());
        String::from_utf8(run.stdout).unwrap() + &String::from_utf8(run.stderr).unwrap()
    };
    for (wish, said) in [
        (&["show"][..], "2026-11-16T12:00:00Z, stands still\n"),
        (&["step", "2h"], "2026-11-16T14:00:00Z, stands still\n"),
        (&["step", "2h"], "2026-11-16T16:00:00Z, stands still\n"),
        (&["step", "-1d"], "2026-11-15T16:00:00Z, stands still\n"),
        (&["set", "2026-11-21"], "2026-11-21T00:00:00Z, stands still\n"),
        (&["set", "2026-11-21"], "2026-11-21T00:00:00Z, stands still\n"),
        (&["pause"], "2026-11-21T00:00:00Z, stands still\n"),
    ] {
        assert_eq!(clock(wish), said, "{wish:?}");
    }
    let policies = sandbox.verb(&["status"]);
    let policies = String::from_utf8(policies.stdout).unwrap();
    let worker = policies.lines().find(|line| line.contains("MachineConfigPool/worker")).unwrap();
    assert!(worker.contains("open"), "everything follows: {worker}");
    assert!(clock(&["speed", "60"]).contains("60 seconds a second"));
    assert!(clock(&["pause"]).contains("stands still"));
    assert!(clock(&["resume"]).contains("60 seconds a second"));
    assert!(clock(&["step", "soon"]).contains("no length of time"));
    let path = "/api/v1/namespaces/tidegate-sandbox/configmaps/clock";
    let turns = || sandbox.object("GET", path, &Value::Null)["data"]["turns"].clone();
    assert_eq!(turns(), "8", "one turn for each wish, none for what was so already");

    let empty = Sandbox::start(&["--empty"]);
    let refused = empty.verb(&["sandbox", "clock", "show"]);
    assert_eq!(refused.status.code(), Some(2));
    let why = String::from_utf8(refused.stderr).unwrap();
    assert!(why.contains("this cluster is no sandbox") && why.contains("hint:"), "{why}");
}

#[test]
fn somebodys_own_objects_are_loaded_with_age_status_and_owners() {
    let files = [
        (
            "cluster-scoped-resources/nodes.yaml",
            "apiVersion: v1\nkind: NodeList\nitems:\n\
             - metadata: {name: n1, uid: a, resourceVersion: '7', creationTimestamp: '2024-05-01T10:00:00Z',\n    \
                 labels: {node-role.kubernetes.io/worker: ''}}\n  \
               status: {conditions: [{type: Ready, status: 'True'}], nodeInfo: {kubeletVersion: v1.31.0}}\n",
        ),
        (
            "cluster-scoped-resources/pool.yaml",
            "apiVersion: machineconfiguration.openshift.io/v1\nkind: MachineConfigPool\n\
             metadata: {name: worker, uid: p, managedFields: []}\n\
             spec:\n  nodeSelector: {matchLabels: {node-role.kubernetes.io/worker: ''}}\n  \
               machineConfigSelector: {matchLabels: {machineconfiguration.openshift.io/role: worker}}\n  \
               configuration: {name: rendered-worker-old}\n",
        ),
        (
            "configs.json",
            r#"{"apiVersion": "v1", "kind": "List", "items": [
                {"apiVersion": "machineconfiguration.openshift.io/v1", "kind": "MachineConfig",
                 "metadata": {"name": "rendered-worker-old", "ownerReferences": [{"apiVersion":
                    "machineconfiguration.openshift.io/v1", "kind": "MachineConfigPool", "name": "worker", "uid": "p", "controller": true}]},
                 "spec": {"config": {"ignition": {"version": "3.4.0"}}}},
                {"apiVersion": "machineconfiguration.openshift.io/v1", "kind": "MachineConfig",
                 "metadata": {"name": "00-worker", "labels": {"machineconfiguration.openshift.io/role": "worker"},
                    "annotations": {"machineconfiguration.openshift.io/generated-by-controller-version": "abc"}},
                 "spec": {"config": {"ignition": {"version": "3.4.0"}}}},
                {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d", "namespace": "x"}}]}"#,
        ),
        ("version.txt", "not read"),
    ];
    let load = folder("load", &files);
    let sandbox = Sandbox::start(&["--load", &load, "--at", "2026-11-16T12:00:00Z"]);
    let get = |path: &str| sandbox.object("GET", path, &Value::Null);
    let node = get("/api/v1/nodes/n1");
    assert_eq!(node["metadata"]["creationTimestamp"], "2024-05-01T10:00:00Z");
    assert_eq!(node["status"]["nodeInfo"]["kubeletVersion"], "v1.31.0");
    let configs = "/apis/machineconfiguration.openshift.io/v1/machineconfigs";
    let pool = get("/apis/machineconfiguration.openshift.io/v1/machineconfigpools/worker");
    let old = get(&format!("{configs}/rendered-worker-old"));
    assert_eq!(old["metadata"]["ownerReferences"][0]["uid"], pool["metadata"]["uid"]);
    let newest = pool["spec"]["configuration"]["name"].as_str().unwrap();
    assert!(newest != "rendered-worker-old", "its sources are rendered here: {newest}");
    let current =
        &node["metadata"]["annotations"]["machineconfiguration.openshift.io/currentConfig"];
    assert!(current.as_str().unwrap().starts_with("rendered-worker-"), "{node}");
}

#[test]
fn a_bad_object_is_named_with_file_and_field_and_nothing_is_loaded() {
    let load = |name: &str, text: &str| {
        let load = folder(name, &[("one.yaml", text)]);
        let output = Command::new(env!("CARGO_BIN_EXE_tidegate"))
            .args(["sandbox", "--load", &load])
            .output()
            .unwrap();
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{text}");
        String::from_utf8(output.stderr).unwrap()
    };
    let policy = "apiVersion: v1\nkind: Namespace\nmetadata: {name: fine}\n---\n\
        apiVersion: changemanagement.openshift.io/v1alpha1\nkind: ChangeManagementPolicy\n\
        metadata: {name: p}\nspec: {strategy: Sometimes}\n";
    let why = load("bad-policy", policy);
    for part in ["one.yaml:5:1", "ChangeManagementPolicy/p", "spec.strategy", "nothing was loaded"]
    {
        assert!(why.contains(part), "{part}: {why}");
    }
    let why = load("bad-pod", "apiVersion: v1\nkind: Pod\nmetadata: {name: x}\nspec: {}\n");
    assert!(why.contains("Pod/x") && why.contains("metadata.namespace"), "{why}");
    let why = load("bad-yaml", "kind: [");
    assert!(why.contains("one.yaml:2:1: not YAML"), "{why}");
    let why = load("no-object", "a: 1\n");
    assert!(why.contains("no object to load"), "{why}");
}

/// The whole way of a change, by the verbs that people type, on machines that run the real agent.
#[test]
fn tour_leads_through_every_step() {
    let output = Command::new(env!("CARGO_BIN_EXE_tidegate"))
        .args(["sandbox", "--tour"])
        .env("TMPDIR", env!("CARGO_TARGET_TMPDIR"))
        .output()
        .unwrap();
    let told = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "{told}{}", String::from_utf8_lossy(&output.stderr));
    let mut rest = told.as_str();
    // In this order: it pends, it is told why, some have it, a freeze lets those finish, all have it, and all are back.
    for line in [
        "0/6  to rendered-worker-",
        "on 6 of 6 machines",
        "none is open, the next opens at 2026-11-21T00:00:00Z",
        "open until 2026-11-21T08:00:00Z",
        "held: spec.changeManagement is Restrictive: latency is up",
        "6/6  to rendered-worker-",
        "goes back to rendered-worker-",
        "6/6  to rendered-worker-",
    ] {
        let Some((_, after)) = rest.split_once(line) else { panic!("{line:?} is not in {rest}") };
        rest = after;
    }
}
