//! Does the program itself do it, as a process of its own that can be killed at any moment?
//!
//! On the embedded server behind its port, and a folder that stands for the root of the host.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "the functions beside a test fail as it does"
)]

use std::{
    fs,
    io::{BufRead as _, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
    sync::mpsc,
    thread,
    time::Duration,
};

use api::machine::names::PERMIT_CHANGE;
use apiserver::{Server, SetClock, Settings};
use serde_json::{Value, json};
use tempfile::TempDir;

const PREFIX: &str = "machineconfiguration.openshift.io";
const NODE: &str = "/api/v1/nodes/n1";

/// A host in a folder, its cluster, and the program between them.
struct Stage {
    server: Server,
    folder: TempDir,
    child: Option<Child>,
}

impl Drop for Stage {
    fn drop(&mut self) {
        self.kill();
    }
}

impl Stage {
    fn new() -> Self {
        let clock = SetClock::at("2026-11-15T12:00:00Z".parse().unwrap());
        let server = Server::new(clock, Settings::default());
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("root/etc")).unwrap();
        let address = listening(server.clone());
        let kubeconfig = json!({"apiVersion": "v1", "kind": "Config", "current-context": "c",
            "clusters": [{"name": "c", "cluster": {"server": format!("http://{address}")}}],
            "users": [{"name": "u", "user": {}}],
            "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}]});
        fs::write(folder.path().join("kubeconfig"), kubeconfig.to_string()).unwrap();
        let any = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
        let definition = json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": format!("machineconfigs.{PREFIX}")},
            "spec": {"group": PREFIX, "scope": "Cluster",
                "names": {"plural": "machineconfigs", "kind": "MachineConfig"},
                "versions": [{"name": "v1", "served": true, "storage": true, "schema": {
                    "openAPIV3Schema": {"type": "object", "properties": {"spec": any}}}}]}});
        let stage = Self { server, folder, child: None };
        stage.create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", &definition);
        let node = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}});
        stage.create("/api/v1/nodes", &node);
        stage
    }

    fn create(&self, path: &str, body: &Value) {
        let body = body.to_string();
        let (code, answer) =
            self.server.ask(http::Method::POST, path, "application/json", body.as_bytes());
        assert_eq!(code, 201, "{}", String::from_utf8_lossy(&answer));
    }

    /// A configuration of so many files, each of which says the same.
    fn config(&self, name: &str, says: &str, files: usize) {
        let file = |number: usize| json!({"path": place(number), "contents": {"source": format!("data:,{}", text(says))}});
        let files: Vec<Value> = (0..files).map(file).collect();
        let config = json!({"apiVersion": format!("{PREFIX}/v1"), "kind": "MachineConfig",
            "metadata": {"name": name},
            "spec": {"config": {"ignition": {"version": "3.5.0"}, "storage": {"files": files}}}});
        self.create(&format!("/apis/{PREFIX}/v1/machineconfigs"), &config);
    }

    fn desire(&self, name: &str) {
        let annotations = json!({format!("{PREFIX}/desiredConfig"): name, PERMIT_CHANGE: name});
        let body = json!({"metadata": {"annotations": annotations}});
        let kind = "application/merge-patch+json";
        let body = body.to_string();
        assert_eq!(self.server.ask(http::Method::PATCH, NODE, kind, body.as_bytes()).0, 200);
    }

    fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tidegate-agent"));
        command.args(["--node", "n1", "--root"]).arg(self.root());
        command.arg("--kubeconfig").arg(self.folder.path().join("kubeconfig"));
        command
    }

    fn start(&mut self) {
        self.child = Some(self.command().stderr(Stdio::null()).spawn().unwrap());
    }

    fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            // One that has ended by itself cannot be killed, and need not be.
            let _ = child.kill();
            let _ = child.wait();
        }
    }

    /// Waits until the node says that it is done with a configuration.
    fn until_done(&self, config: &str) {
        for _ in 0..3_000 {
            let (_, node) = self.server.ask(http::Method::GET, NODE, "", b"");
            let node: Value = serde_json::from_slice(&node).unwrap();
            let says =
                |key: &str| node["metadata"]["annotations"][format!("{PREFIX}/{key}")].clone();
            if says("currentConfig") == config && says("state") == "Done" {
                return;
            }
            thread::sleep(Duration::from_millis(10));
        }
        panic!("not at {config} after half a minute");
    }

    fn root(&self) -> std::path::PathBuf {
        self.folder.path().join("root")
    }
}

/// A file that no disruption policy restarts anything for.
fn place(number: usize) -> String {
    format!("/etc/nmstate/openshift/{number}.yml")
}

/// Long enough to be seen half written.
fn text(says: &str) -> String {
    says.repeat(2_000)
}

fn listening(server: Server) -> String {
    let (tell, told) = mpsc::channel();
    thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let listener = server.listen(0, apiserver::Access::Everybody).await.unwrap();
            tell.send(listener.address().to_string()).unwrap();
            // Ends with the test.
            let _ = listener.run().await;
        });
    });
    told.recv().unwrap()
}

fn read(root: &Path, number: usize) -> Option<String> {
    fs::read_to_string(root.join(&place(number)[1..])).ok()
}

#[test]
fn the_program_brings_a_host_to_its_desired_configuration() {
    let mut stage = Stage::new();
    stage.config("rendered-a", "a", 3);
    stage.config("rendered-b", "b", 2);
    stage.desire("rendered-a");
    stage.start();
    stage.until_done("rendered-a");
    assert_eq!(read(&stage.root(), 2), Some(text("a")));
    stage.desire("rendered-b");
    stage.until_done("rendered-b");
    assert_eq!(read(&stage.root(), 0), Some(text("b")));
    assert_eq!(read(&stage.root(), 2), None);
}

#[test]
fn a_rehearsal_says_what_would_be_done_and_does_nothing() {
    let stage = Stage::new();
    stage.config("rendered-a", "a", 2);
    stage.desire("rendered-a");
    let before = stage.server.resource_version();
    let output = stage.command().arg("--rehearse").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(
        String::from_utf8(output.stdout).unwrap(),
        "write /etc/nmstate/openshift/0.yml\nwrite /etc/nmstate/openshift/1.yml\n"
    );
    assert_eq!(stage.server.resource_version(), before, "the cluster is not written");
    assert_eq!(fs::read_dir(stage.root()).unwrap().count(), 1, "nor is the host");
    assert_eq!(fs::read_dir(stage.root().join("etc")).unwrap().count(), 0);
}

#[test]
fn a_program_that_does_not_know_its_node_says_so() {
    let output = Command::new(env!("CARGO_BIN_EXE_tidegate-agent"))
        .env_remove("NODE_NAME")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(
        String::from_utf8(output.stderr).unwrap(),
        "error: which node is this?\n  hint: say --node NAME, or set NODE_NAME\n"
    );
}

/// NODE-1
#[test]
fn killed_at_any_moment_the_program_goes_on_where_it_was() {
    const FILES: usize = 40;
    let mut stage = Stage::new();
    stage.config("rendered-a", "a", FILES);
    stage.config("rendered-b", "b", FILES);
    let sides = [("rendered-a", text("a")), ("rendered-b", text("b"))];
    stage.desire("rendered-a");
    stage.start();
    stage.until_done("rendered-a");
    for round in 1..=12_u64 {
        let (name, _) = &sides[(round % 2) as usize];
        stage.desire(name);
        for life in 0..4 {
            thread::sleep(Duration::from_millis(5 + 23 * (round * 7 + life * 3) % 90));
            stage.kill();
            for number in 0..FILES {
                let found = read(&stage.root(), number);
                let whole = sides.iter().any(|(_, text)| found.as_ref() == Some(text));
                assert!(whole, "round {round}: file {number} is neither old nor new");
            }
            stage.start();
        }
        stage.until_done(name);
        let (_, wanted) = &sides[(round % 2) as usize];
        for number in 0..FILES {
            assert_eq!(read(&stage.root(), number).as_ref(), Some(wanted));
        }
    }
}

/// What the agent in a container does to run `systemctl` of its host.
#[test]
fn program_of_the_host_is_run_within_its_root() {
    let run = |words: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tidegate-agent"));
        command.args(["--within", "/"]).args(words).current_dir("/usr").output().unwrap()
    };
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let output = run(&["sh", "-c", "pwd; echo \"$PATH\" \"$1\"; exit 3", "sh", "--node"]);
    if output.status.code() == Some(2) {
        // Only root may change its root.
        assert!(text(&output.stderr).contains("not permitted"), "{output:?}");
        return;
    }
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    assert_eq!(
        text(&output.stdout),
        "/\n/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin --node\n"
    );
    let output = run(&["no-such-program"]);
    assert!(text(&output.stderr).contains("no-such-program cannot be run within /"), "{output:?}");
}

const MEBIBYTE: u64 = 1 << 20;

/// What is loaded of the program is what a stripped one holds. It is built without optimisation and with what all tests need, so it is
/// larger than the one that ships: that one was 7.9 MiB. Half a MiB was added for what no node takes (NODE-3), for deadlines and for the
/// sign of life, and it is there once for hosts and once for rehearsals.
#[test]
fn the_program_is_small_on_disk() {
    let file = fs::read(env!("CARGO_BIN_EXE_tidegate-agent")).unwrap();
    assert_eq!(file.get(..6), Some(&b"\x7fELF\x02\x01"[..]), "64 bits, the small end first");
    let number = |at: usize, length: usize| {
        file[at..at + length].iter().rev().fold(0, |sum, byte| sum << 8 | u64::from(*byte))
    };
    let place = |at: usize, length: usize| usize::try_from(number(at, length)).unwrap();
    let (headers, size, count) = (place(32, 8), place(54, 2), place(56, 2));
    let loaded = (0..count).map(|nth| headers + nth * size).filter(|at| number(*at, 4) == 1);
    let loaded: u64 = loaded.map(|at| number(at + 32, 8)).sum();
    assert!(loaded > MEBIBYTE, "{loaded} bytes would be a miracle");
    assert!(loaded <= 12 * MEBIBYTE + MEBIBYTE / 2, "{loaded} bytes");
}

/// At its largest, after a few changes. Most of it is the program itself, which is larger here than the one that ships.
#[test]
fn the_program_is_small_in_memory() {
    let mut stage = Stage::new();
    stage.start();
    for round in ["a", "b", "c"] {
        let name = format!("rendered-{round}");
        stage.config(&name, round, 100);
        stage.desire(&name);
        stage.until_done(&name);
    }
    let id = stage.child.as_ref().unwrap().id();
    let status = fs::read_to_string(format!("/proc/{id}/status")).unwrap();
    let most = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let most: u64 = most.trim().trim_end_matches(" kB").parse().unwrap();
    assert!(most > 1024, "{most} KiB would be a miracle");
    assert!(most <= 15 * 1024, "{most} KiB");
}

/// A pod that is going may live beside the one that comes.
#[test]
fn second_program_waits_until_the_first_has_ended() {
    let mut stage = Stage::new();
    stage.config("rendered-a", "a", 1);
    stage.config("rendered-b", "b", 1);
    stage.desire("rendered-a");
    stage.start();
    stage.until_done("rendered-a");
    let mut second = stage.command().stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(second.stderr.take().unwrap()).read_line(&mut line).unwrap();
    assert!(line.contains("another agent works on this host"), "{line}");
    stage.kill();
    stage.child = Some(second);
    stage.desire("rendered-b");
    stage.until_done("rendered-b");
    assert_eq!(read(&stage.root(), 0), Some(text("b")));
}

/// NODE-3
#[test]
fn program_shows_that_it_lives_and_says_whether_another_does() {
    let mut stage = Stage::new();
    stage.config("rendered-a", "a", 1);
    stage.desire("rendered-a");
    let beat = stage.folder.path().join("beat");
    let alive = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tidegate-agent"));
        let output = command.arg("--alive").arg(&beat).output().unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    assert_eq!(alive(), (Some(0), String::new()), "it may be about to begin");
    let command = stage.command().arg("--beat").arg(&beat).stderr(Stdio::null()).spawn();
    stage.child = Some(command.unwrap());
    stage.until_done("rendered-a");
    let shown = fs::read_to_string(&beat).unwrap();
    let seconds: f64 = shown.split(' ').next().unwrap().parse().unwrap();
    assert_eq!(alive(), (Some(0), String::new()));
    stage.kill();
    fs::write(&beat, "0.00 0.00\n").unwrap();
    let (code, said) = alive();
    if seconds > 300.0 {
        assert_eq!(code, Some(1));
        assert!(said.starts_with("the agent has shown no sign of life for "), "{said}");
    }
}

/// On a node without a bundle of certificates, as small ones are.
#[test]
fn cluster_whose_certificate_is_not_checked_needs_no_bundle_and_errors_are_said_once() {
    let folder = tempfile::tempdir().unwrap();
    let kubeconfig = |insecure: bool| {
        let mut cluster = json!({"server": "https://127.0.0.1:1"});
        if insecure {
            cluster["insecure-skip-tls-verify"] = true.into();
        }
        json!({"apiVersion": "v1", "kind": "Config", "current-context": "c",
            "clusters": [{"name": "c", "cluster": cluster}],
            "users": [{"name": "u", "user": {}}],
            "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}]})
    };
    let said = |insecure: bool| {
        let place = folder.path().join("kubeconfig");
        fs::write(&place, kubeconfig(insecure).to_string()).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_tidegate-agent"));
        command.args(["--node", "n1", "--rehearse", "--root"]).arg(folder.path());
        command.arg("--kubeconfig").arg(&place);
        command.env("SSL_CERT_FILE", "/nonexistent").env("SSL_CERT_DIR", "/nonexistent");
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    let refused = said(true);
    assert!(refused.starts_with("error: the cluster cannot be asked for node n1"), "{refused}");
    assert_eq!(refused.matches("Connection refused").count(), 1, "{refused}");
    let lacking = said(false);
    assert_eq!(lacking.matches("No CA certificates").count(), 1, "{lacking}");
}
