//! Does the agent keep to the protocol between a node and its cluster? The whole of it, on the embedded server, with a host that
//! writes down what is done to it.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "the functions beside a test fail as it does"
)]

use std::{
    convert::Infallible,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use agent::{
    host::{Entry, File, recording::Recording},
    next::{Awaited, NextStep},
    node,
    node::Report,
    path::HostPath,
    run::{Agent, Turn},
};
use api::machine::names::PERMIT_CHANGE;
use apiserver::{Server, SetClock, Settings};
use kube::{Client, client::Body};
use runtime::{call::Cluster, clock, telemetry::Telemetry};
use serde_json::{Value, json};

const PREFIX: &str = "machineconfiguration.openshift.io";
const NODE: &str = "/api/v1/nodes/n1";

/// A cluster with one node, and the agent of that node.
struct Play {
    server: Server,
    agent: Agent<Recording>,
}

impl Play {
    fn new(annotations: &Value) -> Self {
        let at = "2026-11-15T12:00:00Z".parse().unwrap();
        let server = Server::new(SetClock::at(at), Settings::default());
        for (group, plural, kind) in [
            (PREFIX, "machineconfigs", "MachineConfig"),
            ("operator.openshift.io", "machineconfigurations", "MachineConfiguration"),
        ] {
            create(
                &server,
                "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
                &definition(group, plural, kind),
            );
        }
        let node = json!({"apiVersion": "v1", "kind": "Node",
            "metadata": {"name": "n1", "annotations": annotations}});
        create(&server, "/api/v1/nodes", &node);
        let agent = Agent::new(Recording::default(), cluster(&server), "n1");
        Self { server, agent }
    }

    fn config(&self, name: &str, spec: &Value) {
        let mut spec = spec.clone();
        if let Some(config) = spec.get_mut("config") {
            config["ignition"] = json!({"version": "3.5.0"});
        }
        let config = json!({"apiVersion": format!("{PREFIX}/v1"), "kind": "MachineConfig",
            "metadata": {"name": name}, "spec": spec});
        create(&self.server, &format!("/apis/{PREFIX}/v1/machineconfigs"), &config);
    }

    /// The operator gives an order, with its record (GATE-16).
    fn order(&self, config: &str) {
        self.patch(&json!({format!("{PREFIX}/desiredConfig"): config, PERMIT_CHANGE: config}));
    }

    /// Somebody else writes an annotation.
    fn write(&self, key: &str, value: &str) {
        self.patch(&json!({format!("{PREFIX}/{key}"): value}));
    }

    fn patch(&self, annotations: &Value) {
        let body = json!({"metadata": {"annotations": annotations}});
        let (code, answer) =
            ask(&self.server, http::Method::PATCH, NODE, "application/merge-patch+json", &body);
        assert_eq!(code, 200, "{answer}");
    }

    fn says(&self, key: &str) -> String {
        let (_, node) = ask(&self.server, http::Method::GET, NODE, "", &Value::Null);
        let annotations = &node["metadata"]["annotations"];
        annotations[format!("{PREFIX}/{key}")].as_str().unwrap_or_default().to_owned()
    }

    /// Whoever drains does what was asked.
    fn drain(&self) {
        self.write("lastAppliedDrain", &self.says("desiredDrain"));
    }

    /// Takes turns until there is nothing to do, and says why.
    async fn turns(&mut self) -> Turn {
        for _ in 0..30 {
            match self.agent.turn().await.expect("a turn succeeds") {
                Turn::Did(_) => {}
                turn => return turn,
            }
        }
        panic!("no end in sight");
    }

    async fn idle(&mut self) -> NextStep {
        match self.turns().await {
            Turn::Idle { step, .. } => step,
            turn => panic!("{turn:?}"),
        }
    }

    /// The program is ended and started again; the host stays.
    fn restart_program(&mut self) {
        let host = std::mem::take(self.agent.host());
        self.agent = Agent::new(host, cluster(&self.server), "n1");
    }

    /// The state and the reason.
    #[track_caller]
    fn check(&self, current: &str, state: &str, reason: &str) {
        let found = (self.says("currentConfig"), self.says("state"), self.says("reason"));
        assert_eq!(found, (current.to_owned(), state.to_owned(), reason.to_owned()));
    }
}

fn cluster(server: &Server) -> Cluster {
    cluster_behind(Client::new(server.service(), "default"))
}

fn cluster_behind(client: Client) -> Cluster {
    let telemetry = Arc::new(Telemetry::default());
    // It follows tokio's clock, which the tests move.
    let clock = clock::SetClock::starting_at(schedule::Instant::EPOCH);
    Cluster::new(client, Arc::new(clock), telemetry, Duration::from_secs(10))
}

fn definition(group: &str, plural: &str, kind: &str) -> Value {
    let any = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    let schema = json!({"type": "object", "properties": {"spec": any, "status": any}});
    json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{plural}.{group}")},
        "spec": {"group": group, "scope": "Cluster", "names": {"plural": plural, "kind": kind},
            "versions": [{"name": "v1", "served": true, "storage": true,
                "schema": {"openAPIV3Schema": schema}}]}})
}

fn ask(
    server: &Server,
    method: http::Method,
    path: &str,
    kind: &str,
    body: &Value,
) -> (u16, Value) {
    let (code, bytes) = server.ask(method, path, kind, body.to_string().as_bytes());
    (code, serde_json::from_slice(&bytes).unwrap_or_default())
}

#[track_caller]
fn create(server: &Server, path: &str, body: &Value) {
    let (code, answer) = ask(server, http::Method::POST, path, "application/json", body);
    assert_eq!(code, 201, "{answer}");
}

fn file(path: &str, text: &str) -> Value {
    json!({"config": {"storage": {"files": [
        {"path": path, "contents": {"source": format!("data:,{text}")}}]}}})
}

fn at(config: &str) -> Value {
    json!({format!("{PREFIX}/currentConfig"): config, format!("{PREFIX}/desiredConfig"): config})
}

/// A node that was installed with `rendered-a`, whose one file is in place.
async fn settled() -> Play {
    let mut play = Play::new(&at("rendered-a"));
    play.config("rendered-a", &file("/etc/a.conf", "one"));
    play.config("rendered-b", &file("/etc/a.conf", "two"));
    put(&mut play, "/etc/a.conf", "one");
    assert_eq!(play.idle().await, NextStep::Rest);
    play.check("rendered-a", "Done", "");
    play
}

fn put(play: &mut Play, path: &str, text: &str) {
    let file = File { content: text.into(), mode: 0o644, uid: 0, gid: 0 };
    play.agent.host().meddle(&HostPath::parse(path).unwrap(), Entry::File(file));
}

/// POOL-1, NODE-1
#[tokio::test(start_paused = true)]
async fn a_node_goes_to_its_desired_configuration_and_comes_back() {
    let mut play = settled().await;
    play.order("rendered-b");
    assert_eq!(play.idle().await, NextStep::Await(Awaited::Drain));
    play.check("rendered-a", "Working", "");
    assert_eq!(play.says("desiredDrain"), "drain-rendered-b");
    assert!(play.agent.host().performed().is_empty(), "nothing is done before workloads have left");

    play.drain();
    assert_eq!(play.turns().await, Turn::Restarting);
    assert_eq!(
        play.agent.host().take_performed(),
        ["write /etc/a.conf", "reboot: going to rendered-b"]
    );
    play.check("rendered-a", "Working", "");

    play.restart_program();
    assert_eq!(play.turns().await, Turn::Restarting, "the node has not been started anew yet");
    play.agent.host().restart();
    play.restart_program();
    assert_eq!(play.idle().await, NextStep::Await(Awaited::Uncordon));
    assert_eq!(play.says("desiredDrain"), "uncordon-rendered-b");
    play.check("rendered-a", "Working", "");

    play.drain();
    assert_eq!(play.idle().await, NextStep::Rest);
    play.check("rendered-b", "Done", "");
}

/// GATE-16
#[tokio::test(start_paused = true)]
async fn an_order_without_its_record_waits_for_it() {
    let mut play = settled().await;
    play.write("desiredConfig", "rendered-b");
    assert_eq!(play.idle().await, NextStep::Rest);
    assert_eq!((play.says("state"), play.says("desiredDrain")), ("Degraded".into(), String::new()));
    assert!(play.says("reason").contains("permit-change, is missing"), "{}", play.says("reason"));
    assert!(play.agent.host().performed().is_empty());
    play.patch(&json!({PERMIT_CHANGE: "rendered-b"}));
    assert_eq!(play.idle().await, NextStep::Await(Awaited::Drain));
    play.check("rendered-a", "Working", "");
    // What has begun goes on, whatever becomes of the record (POOL-1).
    play.drain();
    for _ in 0..30 {
        if play.agent.host().performed().len() == 1 {
            break;
        }
        play.agent.turn().await.unwrap();
    }
    play.patch(&json!({PERMIT_CHANGE: null}));
    assert_eq!(play.turns().await, Turn::Restarting);
    play.agent.host().restart();
    assert_eq!(play.idle().await, NextStep::Await(Awaited::Uncordon));
}

/// NODE-2
#[tokio::test(start_paused = true)]
async fn without_a_desired_configuration_nothing_happens() {
    let mut play = Play::new(&json!({}));
    assert_eq!(play.idle().await, NextStep::Rest);
    assert!(play.agent.host().performed().is_empty());
    play.check("", "Done", "");
}

#[tokio::test(start_paused = true)]
async fn drift_is_told_stops_a_change_and_is_taken_back() {
    let mut play = settled().await;
    put(&mut play, "/etc/a.conf", "meddled");
    let why = "the host differs from rendered-a: /etc/a.conf has another content";
    assert_eq!(play.idle().await, NextStep::Rest);
    play.check("rendered-a", "Degraded", why);
    play.order("rendered-b");
    assert_eq!(play.idle().await, NextStep::Rest);
    play.check("rendered-a", "Degraded", why);
    assert_eq!(play.says("desiredDrain"), "", "nobody is sent away for a change that cannot begin");
    put(&mut play, "/etc/a.conf", "one");
    assert_eq!(play.idle().await, NextStep::Await(Awaited::Drain));
    play.check("rendered-a", "Working", "");
}

#[tokio::test(start_paused = true)]
async fn what_a_host_cannot_take_is_unreconcilable_until_another_is_desired() {
    let mut play = settled().await;
    play.config(
        "rendered-c",
        &json!({"fips": true, "config": {"storage": {"files": [{"path": "/usr/bin/sudo"}]}}}),
    );
    play.order("rendered-c");
    assert_eq!(play.idle().await, NextStep::Rest);
    assert_eq!(play.says("state"), "Unreconcilable");
    let reason = play.says("reason");
    assert!(reason.contains("fips") && reason.contains("/usr/bin/sudo"), "{reason}");
    play.order("rendered-b");
    assert_eq!(play.idle().await, NextStep::Await(Awaited::Drain));
    play.check("rendered-a", "Working", "");
}

#[tokio::test(start_paused = true)]
async fn a_configuration_that_is_not_there_is_asked_for_again() {
    let mut play = settled().await;
    play.order("rendered-late");
    assert_eq!(play.idle().await, NextStep::Await(Awaited::Retry));
    play.check("rendered-a", "Degraded", "MachineConfig rendered-late does not exist");
    play.config("rendered-late", &file("/etc/a.conf", "late"));
    tokio::time::advance(Duration::from_secs(61)).await;
    assert_eq!(play.idle().await, NextStep::Await(Awaited::Drain));
    play.check("rendered-a", "Working", "");
}

#[tokio::test(start_paused = true)]
async fn an_order_that_is_taken_back_lets_workloads_in_again() {
    let mut play = settled().await;
    play.order("rendered-b");
    assert_eq!(play.idle().await, NextStep::Await(Awaited::Drain));
    play.drain();
    play.order("rendered-a");
    assert_eq!(play.idle().await, NextStep::Await(Awaited::Uncordon));
    assert_eq!(play.says("desiredDrain"), "uncordon-rendered-a");
    play.drain();
    assert_eq!(play.idle().await, NextStep::Rest);
    play.check("rendered-a", "Done", "");
    assert!(play.agent.host().performed().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_namesake_of_the_node_refuses_what_was_meant_for_another() {
    let play = Play::new(&json!({}));
    let report = Report { current: Some("rendered-a".into()), ..Report::default() };
    let patched = |uid: &str| {
        let body = node::patch(uid, &report);
        ask(&play.server, http::Method::PATCH, NODE, "application/merge-patch+json", &body).0
    };
    let (_, node) = ask(&play.server, http::Method::GET, NODE, "", &Value::Null);
    assert_eq!(patched("00000000-0000-0000-0000-000000000000"), 422);
    assert_eq!(play.says("currentConfig"), "");
    assert_eq!(patched(node["metadata"]["uid"].as_str().unwrap()), 200);
    assert_eq!(play.says("currentConfig"), "rendered-a");
}

#[tokio::test(start_paused = true)]
async fn a_memory_that_cannot_be_read_is_reported() {
    let mut play = settled().await;
    put(&mut play, "/var/lib/tidegate-agent/current.json", "{");
    let living = tokio::time::timeout(Duration::from_secs(2), play.agent.run()).await;
    assert!(living.is_err(), "it goes on living");
    assert_eq!(play.says("state"), "Degraded");
    let reason = play.says("reason");
    assert!(reason.contains("current.json cannot be read") && reason.contains("hint:"), "{reason}");
    assert!(!reason.contains('\n'), "one line: {reason}");
}

/// A server that forgets every version at once ends each watch with an event that says so.
#[tokio::test(start_paused = true)]
async fn a_watch_that_is_refused_inside_its_stream_is_not_asked_for_in_a_circle() {
    const ENOUGH: usize = 1_000;
    let mut play = settled().await;
    let watches = Arc::new(AtomicUsize::new(0));
    let (server, counted) = (play.server.clone(), Arc::clone(&watches));
    let service = tower::service_fn(move |request: http::Request<Body>| {
        let (server, counted) = (server.clone(), Arc::clone(&counted));
        async move {
            let path = request.uri().to_string();
            if !path.contains("watch=true") {
                let (code, answer) = server.ask(request.method().clone(), &path, "", b"");
                let answer = Body::from(answer.to_vec());
                return Ok::<_, Infallible>(
                    http::Response::builder().status(code).body(answer).unwrap(),
                );
            }
            if counted.fetch_add(1, Ordering::SeqCst) > ENOUGH {
                std::future::pending::<()>().await;
            }
            let status = json!({"kind": "Status", "code": 410, "reason": "Expired"});
            let ended = json!({"type": "ERROR", "object": status}).to_string() + "\n";
            Ok(http::Response::new(Body::from(ended.into_bytes())))
        }
    });
    let host = std::mem::take(play.agent.host());
    let cluster = cluster_behind(Client::new(service, "default"));
    play.agent = Agent::new(host, cluster, "n1");
    let living = tokio::time::timeout(Duration::from_mins(1), play.agent.run_until_restart()).await;
    assert!(living.is_err(), "it goes on living");
    let watches = watches.load(Ordering::SeqCst);
    assert!((5..=20).contains(&watches), "{watches} in a minute");
}

/// STAT-3
#[tokio::test(start_paused = true)]
async fn a_node_that_is_done_is_never_written() {
    let mut play = settled().await;
    let before = play.server.resource_version();
    for _ in 0..5 {
        assert_eq!(play.idle().await, NextStep::Rest);
    }
    assert_eq!(play.server.resource_version(), before);
}
