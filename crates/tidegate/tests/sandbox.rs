//! Does the sandbox come up, hold our kinds, refuse bad ones, and go away again?

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "the functions beside a test fail as it does"
)]

#[path = "support/sandbox.rs"]
mod sandbox;

use std::{
    fs::{self, Permissions},
    os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _, chown, symlink},
    path::{Path, PathBuf},
    process::Command,
};

use sandbox::{Sandbox, send};
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
    fs::write(&path, "apiVersion: v1\n").unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_tidegate"))
        .args(["sandbox", "--empty", "--kubeconfig"])
        .arg(&path)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("was not written by a sandbox"));
    assert_eq!(fs::read_to_string(&path).unwrap(), "apiVersion: v1\n");
}

/// What a sandbox at an address writes into its kubeconfig.
fn kubeconfig(address: &str) -> String {
    let token = "5e".repeat(32);
    format!(
        "# Written by tidegate sandbox; it is taken away when the sandbox ends.\napiVersion: v1\nkind: Config\nclusters:\n- name: embedded\n  cluster:\n    server: http://{address}/{token}\ncontexts:\n- name: embedded\n  context:\n    cluster: embedded\n    user: admin\n    namespace: default\ncurrent-context: embedded\nusers:\n- name: admin\n  user: {{}}\n"
    )
}

/// A new folder that is the session's of whoever runs this test, with the folder of sandboxes in it, and a file there.
fn session(name: &str, mode: u32, content: &str) -> (PathBuf, PathBuf) {
    let session = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&session);
    let ours = session.join("tidegate");
    fs::DirBuilder::new().recursive(true).mode(0o700).create(&ours).unwrap();
    let file = ours.join("sandbox-1.kubeconfig");
    fs::write(&file, content).unwrap();
    fs::set_permissions(&file, Permissions::from_mode(mode)).unwrap();
    (session, file)
}

/// `tidegate sandbox clock show`, for somebody who names no sandbox.
fn show(session: &Path) -> (Option<i32>, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_tidegate"))
        .args(["sandbox", "clock", "show"])
        .env_clear()
        .env("XDG_RUNTIME_DIR", session)
        .env("TMPDIR", session)
        .output()
        .unwrap();
    let said = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8(said).unwrap())
}

#[test]
fn a_sandbox_is_found_by_its_user_and_shut_to_others() {
    let (session, _) = session("found", 0o600, &kubeconfig("127.0.0.1:1"));
    let runtime = session.to_str().unwrap();
    let (sandbox, _) =
        Sandbox::start_in(runtime, &["--at", "2026-12-24T12:00:00Z", "--speed", "0"]);
    // The other file is older, and nobody answers there.
    assert_eq!(show(&session), (Some(0), "2026-12-24T12:00:00Z, stands still\n".into()));
    let mode = |path: &Path| fs::metadata(path).unwrap().mode() & 0o7777;
    let folder = sandbox.kubeconfig.parent().unwrap();
    assert_eq!(folder, session.join("tidegate"));
    assert_eq!((mode(folder), mode(&sandbox.kubeconfig)), (0o700, 0o600));
    for path in ["/version", POLICIES, "/api/v1/secrets"] {
        let answer = send(&sandbox.address, &format!("GET {path}"), "Host: localhost\r\n", "");
        assert!(answer.starts_with("HTTP/1.1 401"), "{path}: {answer}");
        assert!(answer.contains("answers those who have its kubeconfig"), "{path}: {answer}");
    }
}

/// Whoever planted it: no program that a file names is run, and a file that others could have written is not believed.
#[test]
fn what_was_planted_where_sandboxes_are_looked_for_is_refused() {
    let pwned = Path::new(env!("CARGO_TARGET_TMPDIR")).join("pwned");
    let _ = fs::remove_file(&pwned);
    let exec = format!(
        "user: {{exec: {{apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, command: touch, args: [{}]}}}}",
        pwned.display()
    );
    let planted = kubeconfig("127.0.0.1:1").replace("user: {}", &exec);
    let harmless = kubeconfig("127.0.0.1:1");
    let check = |name: &str, content: &str, mode: u32, meddle: fn(&Path), why: &str| {
        let (session, file) = session(&format!("planted-{name}"), mode, content);
        meddle(&file);
        let (code, said) = show(&session);
        assert_eq!(code, Some(2), "{name}: {said}");
        assert!(said.contains(why), "{name}: {said}");
        assert!(!pwned.exists(), "{name}: a program was run: {said}");
    };
    let nothing: fn(&Path) = |_| {};
    check("harmless", &harmless, 0o600, nothing, "no sandbox runs here\n  hint:");
    let other = "holds something else than a sandbox writes";
    check("exec", &planted, 0o600, nothing, other);
    check("elsewhere", &kubeconfig("10.0.0.1:80"), 0o600, nothing, other);
    check("more", &format!("{harmless}- name: more\n"), 0o600, nothing, other);
    check("endless", &harmless.repeat(99), 0o600, nothing, other);
    check("bytes", "\u{0}", 0o600, nothing, other);
    check("readable", &harmless, 0o644, nothing, "is open to other users (mode 0644)");
    check("writable", &harmless, 0o622, nothing, "is open to other users (mode 0622)");
    let link: fn(&Path) = |file| {
        let target = file.with_extension("target");
        fs::rename(file, &target).unwrap();
        symlink(&target, file).unwrap();
    };
    check("link", &harmless, 0o600, link, "sandbox-1.kubeconfig is a link");
    let folder: fn(&Path) = |file| {
        fs::remove_file(file).unwrap();
        fs::create_dir(file).unwrap();
    };
    check("folder", &harmless, 0o600, folder, "sandbox-1.kubeconfig is no file");
    let open: fn(&Path) = |file| {
        fs::set_permissions(file.parent().unwrap(), Permissions::from_mode(0o755)).unwrap();
    };
    check("open", &harmless, 0o600, open, "tidegate is open to other users (mode 0755)");
    let moved: fn(&Path) = |file| {
        let folder = file.parent().unwrap();
        fs::rename(folder, folder.with_extension("moved")).unwrap();
        symlink(folder.with_extension("moved"), folder).unwrap();
    };
    check("moved", &planted, 0o600, moved, "tidegate is a link, or no folder");
    // Only the administrator can give a file away, so only they can try these.
    if fs::metadata("/proc/self").unwrap().uid() == 0 {
        let given: fn(&Path) = |file| chown(file, Some(1), None).unwrap();
        check("given", &harmless, 0o600, given, "belongs to user 1, and you are user 0");
        let folder_given: fn(&Path) = |file| chown(file.parent().unwrap(), Some(1), None).unwrap();
        check(
            "folder-given",
            &harmless,
            0o600,
            folder_given,
            "belongs to user 1, and you are user 0",
        );
    }
    // Where they were looked for once: the folder for temporary files.
    let (session, file) = session("planted-shared", 0o600, &planted);
    fs::rename(&file, session.join("tidegate-sandbox-1.kubeconfig")).unwrap();
    let (code, said) = show(&session);
    assert_eq!((code, pwned.exists()), (Some(2), false), "{said}");
    assert!(said.contains("no sandbox runs here"), "{said}");
}

#[test]
fn a_kubeconfig_is_not_written_through_a_link_nor_into_a_folder_of_others() {
    let (session, file) = session("written", 0o600, "theirs");
    let link = session.join("link");
    symlink(&file, &link).unwrap();
    let start = |arguments: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_tidegate"))
            .args(["sandbox", "--empty"])
            .args(arguments)
            .env_clear()
            .env("XDG_RUNTIME_DIR", &session)
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(2));
        String::from_utf8(output.stderr).unwrap()
    };
    let said = start(&["--kubeconfig", link.to_str().unwrap()]);
    assert!(said.contains("link is a link\n  hint: name another file"), "{said}");
    assert_eq!(fs::read_to_string(&file).unwrap(), "theirs");
    fs::set_permissions(session.join("tidegate"), Permissions::from_mode(0o770)).unwrap();
    let said = start(&[]);
    assert!(said.contains("is open to other users (mode 0770)"), "{said}");
    let nowhere = Command::new(env!("CARGO_BIN_EXE_tidegate"))
        .args(["sandbox", "--empty"])
        .env_clear()
        .output()
        .unwrap();
    let said = String::from_utf8(nowhere.stderr).unwrap();
    assert!(said.contains("no folder of your own") && said.contains("--kubeconfig"), "{said}");
}

#[test]
fn metrics_are_for_local_clients_only() {
    let at = ["--at", "2026-12-24T12:00:00Z"];
    let (_sandbox, told) = Sandbox::start_in(env!("CARGO_TARGET_TMPDIR"), &at);
    let shown = told.iter().find_map(|line| line.trim().strip_prefix("metrics: http://"));
    let address = shown.unwrap().strip_suffix("/metrics").unwrap();
    let get = |host: &str, more: &str| {
        send(address, "GET /metrics", &format!("Host: {host}\r\n{more}"), "")
    };
    assert!(get("localhost", "").contains("tidegate_"));
    for (host, more) in [("evil.example", ""), ("localhost", "Origin: http://evil.example\r\n")] {
        let answer = get(host, more);
        assert!(answer.starts_with("HTTP/1.1 403") && !answer.contains("tidegate_"), "{answer}");
    }
}

/// GATE-7: what people try here is what they get, in the words of the policies that are shipped.
#[test]
fn an_order_by_hand_is_refused_as_it_is_where_the_product_was_installed() {
    let sandbox = Sandbox::start(&["--at", "2026-11-21T12:00:00Z", "--speed", "0"]);
    let patch = |path: &str, body: &str| {
        let merge = "Host: localhost\r\nContent-Type: application/merge-patch+json\r\n";
        send(&sandbox.address, &format!("PATCH /{}{path}", sandbox.token), merge, body)
    };
    let order = r#"{"metadata":{"annotations":{"machineconfiguration.openshift.io/desiredConfig":"rendered-worker-x"}}}"#;
    let answer = patch("/api/v1/nodes/worker-0", order);
    assert!(answer.starts_with("HTTP/1.1 403"), "{answer}");
    let why = "denied request: only the operator gives a node its desired configuration";
    assert!(answer.contains(why), "{answer}");
    let label = r#"{"metadata":{"labels":{"rack":"7"}}}"#;
    let answer = patch("/api/v1/nodes/worker-0", label);
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
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
    let _ = fs::remove_dir_all(&folder);
    for (file, text) in files {
        let path = folder.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
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

/// The whole way of a change, by the verbs that people type, on nodes that run the real agent.
#[test]
fn tour_leads_through_every_step() {
    let output = Command::new(env!("CARGO_BIN_EXE_tidegate"))
        .args(["sandbox", "--tour"])
        .env("XDG_RUNTIME_DIR", env!("CARGO_TARGET_TMPDIR"))
        .output()
        .unwrap();
    let told = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "{told}{}", String::from_utf8_lossy(&output.stderr));
    let mut rest = told.as_str();
    // In this order: it pends, it is told why, a Deployment waits and is rolled out, some have it, a freeze lets those finish, all have it, and all
    // are back.
    for line in [
        "ChangeGate/shop/rollouts  held",
        "1 of Deployments: cart",
        "0/6  to rendered-worker-",
        "on 6 of 6 nodes",
        "none is open, the next opens at 2026-11-21T00:00:00Z",
        "denied request: only the operator gives a node its desired configuration",
        "$ kubectl set image deployment/web -n shop web=registry.example.com/shop/web:1.5",
        "denied request: held by ChangeGate shop/rollouts, which opens at 2026-11-18T21:00:00Z",
        "Deployment/shop/web: held, opens at 2026-11-18T21:00:00Z",
        "ChangeGate/shop/rollouts\n    at 2026-11-18T09:0",
        "Proven: the API server refuses what this gate holds: it was tried",
        "ChangeGate/shop/rollouts  Deployments  berlin-nights  held",
        "/nudged-at}'\n  2026-11-18T21:0",
        "ChangeGate/shop/rollouts  Deployments  berlin-nights  open",
        "open until 2026-11-21T08:00:00Z",
        "held: spec.changeManagement is Restrictive: latency is up",
        "6/6  to rendered-worker-",
        "goes back to rendered-worker-",
        "6/6  to rendered-worker-",
        "in the way: spec.desiredUpdate.version: 4.23.0 is none of the updates that the cluster knows: 4.20.10, 4.21.3",
        "release 4.20.10 is wanted, and begins when the gate of ClusterVersion/version permits",
        "starts at 2026-11-25T21:00:00Z",
        "under way: release 4.20.10",
        "ClusterVersion/version  release 4.20.10\n",
        "0/6  to rendered-worker-",
        "6/6  to rendered-worker-",
        // CV-3: a pool that is never let change, with the day on which that stops an update, and what would have to open by when.
        "the update to 4.23 could start at 2027-",
        ", and MachineConfigPool/worker will be in its way",
        "no window of MachineConfigPool/worker opens before 2027-",
    ] {
        let Some((_, after)) = rest.split_once(line) else { panic!("{line:?} is not in {rest}") };
        rest = after;
    }
}

/// HOST-1 to HOST-4: a hosted release from the wish to the last node, by the verbs that people type, outside and inside.
#[test]
fn hosted_tour_leads_through_every_step() {
    let output = Command::new(env!("CARGO_BIN_EXE_tidegate"))
        .args(["sandbox", "--hosted", "--tour"])
        .env("XDG_RUNTIME_DIR", env!("CARGO_TARGET_TMPDIR"))
        .output()
        .unwrap();
    let told = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "{told}{}", String::from_utf8_lossy(&output.stderr));
    let mut rest = told.as_str();
    // In this order: both wait, for windows of their own; it is told inside; the pool scales; the control plane goes, then its nodes; the other team
    // waits on.
    for line in [
        "HostedCluster/team-checkout/shop       held   2026-11-18T22:00:00Z",
        "HostedCluster/team-ledger/books        held   2026-11-22T02:00:00Z",
        "HostedCluster/team-checkout/shop\n    at 2026-11-18T09:0",
        "Proven: the API server refuses what this gate holds: it was tried",
        "ClusterVersion/version  held   2026-11-18T22:00:00Z",
        "release 4.20.10 of HostedCluster/shop (now 4.20.6); release 4.20.10 of NodePool/batch (now 4.20.6)",
        "projected from HostedCluster/team-checkout/shop, where alone it can be changed",
        "workers-1-m2     4.20.6",
        "workers-1-m4     4.20.6",
        "changes are held until 2026-11-21T00:00:00Z",
        "release 4.20.10 of NodePool/batch (now 4.20.6)",
        "batch-1-m1       4.20.6\n  workers-2-m0     4.20.10",
        "workers-2-m4     4.20.10",
        "under way: release 4.20.10",
        "HostedCluster/team-ledger/books\n",
        "changes are held until 2026-11-22T02:00:00Z",
        "HostedCluster/team-ledger/books  release 4.20.10 (now 4.20.6)  2026-11-22T02:00:00Z",
    ] {
        let Some((_, after)) = rest.split_once(line) else { panic!("{line:?} is not in {rest}") };
        rest = after;
    }
}

/// Each hosted cluster has a kubeconfig of its own, which goes away with the sandbox, and nobody takes it for one.
#[test]
fn hosted_clusters_have_doors_of_their_own() {
    let (sandbox, hints) = Sandbox::start_in(env!("CARGO_TARGET_TMPDIR"), &["--hosted", "--plain"]);
    let inside: Vec<&str> = hints
        .iter()
        .filter_map(|line| line.rsplit_once("--kubeconfig "))
        .map(|(_, path)| path)
        .collect();
    let inside: Vec<&&str> =
        inside.iter().filter(|path| path.strip_suffix(".guest").is_some()).collect();
    assert_eq!(inside.len(), 2, "{hints:?}");
    for path in &inside {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tidegate"));
        let output = command.args(["status", "--kubeconfig", path]).output().unwrap();
        let told = String::from_utf8(output.stdout).unwrap();
        assert!(told.contains("ClusterVersion/version") && told.contains("Projected"), "{told}");
        assert!(!told.contains("HostedChangeManagementPolicy"), "{told}");
    }
    sandbox.interrupt();
    assert!(inside.iter().all(|path| !Path::new(path).exists()));
}
