//! Do the real agents and the real operator get on? A cluster of simulated nodes, from an edit on Monday to the last node.

#![expect(clippy::unwrap_used, reason = "the functions beside a test fail as it does")]

use std::time::Duration;

use http::Method;
use runtime::clock::Clock as _;
use schedule::Instant;
use serde_json::{Value, json};
use sim::{Lengths, Sandbox, Settings, example, stock::Item};

const CONFIGS: &str = "/apis/machineconfiguration.openshift.io/v1/machineconfigs";
const POOLS: &str = "/apis/machineconfiguration.openshift.io/v1/machineconfigpools";
const BLOCKED: &str = "changemanagement.openshift.io/drain-blocked";

fn instant(text: &str) -> Instant {
    Instant::parse(text).unwrap()
}

struct Play(Sandbox);

impl Play {
    async fn start(at: &str) -> Self {
        Self::start_with(at, 1).await
    }

    async fn start_with(at: &str, seed: u64) -> Self {
        Self::start_at_speed(at, seed, 1).await
    }

    async fn start_at_speed(at: &str, seed: u64, times: u32) -> Self {
        let at = instant(at);
        let policy = json!({"apiVersion": "changemanagement.openshift.io/v1alpha1",
            "kind": "ChangeManagementPolicy", "metadata": {"name": "weekend"},
            "spec": {"strategy": "MaintenanceSchedule", "maintenanceSchedule": {"permit": {"recurrence": {
                "frequency": "Weekly", "weekly": {"daysOfWeek": ["Saturday", "Sunday"]}}}}}});
        let mut items = vec![Item { origin: "test".into(), object: policy }];
        items.extend(example::objects(at, &["weekend".to_owned()]));
        let lengths = Lengths { seed, ..Lengths::default() };
        let settings = Settings { lengths, speed: times, ..Settings::starting_at(at) };
        Self(Sandbox::start(settings, items).await.unwrap())
    }

    fn ask(&self, method: &Method, path: &str, body: &Value) -> Value {
        let content = if *method == Method::PATCH {
            "application/merge-patch+json"
        } else {
            "application/json"
        };
        let body = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
        let (code, answer) = self.0.api_server().ask(method.clone(), path, content, &body);
        let answer: Value = serde_json::from_slice(&answer).unwrap();
        assert!(code < 300, "{method} {path}: {answer}");
        answer
    }

    /// What the server says to an order that somebody gives a node.
    async fn order(&self, user: &str, groups: &[&str], path: &str) -> Result<(), String> {
        let annotations = json!({"machineconfiguration.openshift.io/desiredConfig": "rendered-x"});
        let change = json!({"metadata": {"annotations": annotations}}).to_string();
        let request = http::Request::patch(path)
            .header("content-type", "application/merge-patch+json")
            .body(change.into_bytes())
            .unwrap();
        let service = self.0.api_server().service_as(user, groups);
        let client = kube::Client::new(service, "default");
        client.request::<Value>(request).await.map(drop).map_err(|error| error.to_string())
    }

    fn get(&self, path: &str) -> Value {
        self.ask(&Method::GET, path, &Value::Null)
    }

    fn items(&self, path: &str) -> Vec<Value> {
        self.get(path)["items"].as_array().unwrap().clone()
    }

    fn pool(&self, name: &str) -> Value {
        self.get(&format!("{POOLS}/{name}"))
    }

    /// The nodes whose name begins so.
    fn machines(&self, kind: &str) -> Vec<Value> {
        let nodes = self.items("/api/v1/nodes").into_iter();
        nodes.filter(|node| name(node).starts_with(kind)).collect()
    }

    /// The nodes of a kind that workloads cannot count on.
    fn away(&self, kind: &str) -> Vec<String> {
        let machines = self.machines(kind);
        machines.iter().filter(|node| !available(node)).map(|node| name(node).to_owned()).collect()
    }

    /// Edits what all workers have.
    fn edit(&self, servers: &str) {
        let files = json!([{"path": "/etc/chrony.conf", "mode": 420,
            "contents": {"source": format!("data:,{servers}")}}]);
        let change = json!({"spec": {"config": {"storage": {"files": files}}}});
        self.ask(&Method::PATCH, &format!("{CONFIGS}/50-worker-chrony"), &change);
    }

    /// Whether every node of a pool runs the newest configuration and takes workloads.
    fn is_done(&self, kind: &str) -> bool {
        let newest = self.pool(kind)["spec"]["configuration"]["name"].clone();
        self.machines(kind).iter().all(|node| {
            annotation(node, "machineconfiguration.openshift.io/currentConfig") == newest
                && available(node)
        })
    }

    async fn pass(&self, length: Duration) {
        tokio::time::sleep(length).await;
    }
}

fn name(object: &Value) -> &str {
    object["metadata"]["name"].as_str().unwrap()
}

fn annotation<'a>(node: &'a Value, key: &str) -> &'a str {
    node["metadata"]["annotations"][key].as_str().unwrap_or_default()
}

fn ready(object: &Value) -> bool {
    let conditions = object["status"]["conditions"].as_array().unwrap();
    conditions.iter().any(|one| one["type"] == "Ready" && one["status"] == "True")
}

fn available(node: &Value) -> bool {
    ready(node)
        && node["spec"]["unschedulable"] != json!(true)
        && annotation(node, "machineconfiguration.openshift.io/state") == "Done"
}

fn condition(object: &Value, kind: &str) -> String {
    let conditions = object["status"]["conditions"].as_array().unwrap();
    let found = conditions.iter().find(|one| one["type"] == kind).unwrap();
    format!("{} {}", found["status"].as_str().unwrap(), found["reason"].as_str().unwrap())
}

/// POOL-1, POOL-2, GATE-7, DRAIN-1, LIVE-2: real agents and the real operator, from an edit that pends to the last node.
#[tokio::test(start_paused = true)]
async fn an_edit_while_held_pends_and_rolls_when_the_window_opens() {
    let play = Play::start("2026-11-16T12:00:00Z").await;
    for kind in ["master", "worker", "infra", "batch"] {
        assert!(play.is_done(kind), "{kind} has joined: {:?}", play.away(kind));
    }
    let first = play.pool("worker")["spec"]["configuration"]["name"].clone();
    play.edit("server%20ntp.example.com");
    play.pass(Duration::from_mins(5)).await;
    let worker = play.pool("worker");
    assert_ne!(worker["spec"]["configuration"]["name"], first, "rendering goes on while held");
    assert!(condition(&worker, "ChangesPending").starts_with("True"), "{worker}");
    assert!(play.away("worker").is_empty(), "and no node is touched");
    assert_eq!(condition(&worker, "Enforced"), "True Proven", "the operator tried it (GATE-13)");

    // Saturday: the window opens.
    play.0.clock().set(instant("2026-11-21T00:00:00Z"));
    let web = "/apis/policy/v1/namespaces/shop/poddisruptionbudgets/web";
    let (mut most, mut restarted) = (0, Vec::new());
    for _ in 0..24 {
        play.pass(Duration::from_mins(1)).await;
        most = most.max(play.away("worker").len());
        for node in play.machines("worker").iter().filter(|node| !ready(node)) {
            restarted.push(name(node).to_owned());
        }
        assert!(play.away("worker").len() <= 2, "{:?}", play.away("worker"));
        let budget = play.get(web);
        assert!(budget["status"]["currentHealthy"].as_i64() >= Some(5), "{budget}");
    }
    assert!(play.is_done("worker"), "{:?}", play.away("worker"));
    assert_eq!(most, 2, "as many as may be away are");
    restarted.sort();
    restarted.dedup();
    assert_eq!(restarted.len(), 6, "each of them was started anew: {restarted:?}");
    let pods = play.items("/api/v1/pods");
    assert_eq!(pods.iter().filter(|pod| pod["metadata"]["namespace"] == "debug").count(), 0);
    let web: Vec<&Value> =
        pods.iter().filter(|pod| pod["metadata"]["labels"]["app"] == "web").collect();
    assert_eq!(web.len(), 6, "workloads are whole again");
    assert!(web.iter().all(|pod| ready(pod)));

    // The ledger's budget keeps its node from being emptied, and the node says so.
    let blocked =
        || play.machines("batch").into_iter().find(|node| !annotation(node, BLOCKED).is_empty());
    let node = blocked().unwrap();
    let said = annotation(&node, BLOCKED);
    assert!(
        said.starts_with("Budget: pod reports/ledger-0: its budget ledger allows no disruption"),
        "{said}"
    );
    play.pass(Duration::from_mins(5)).await;
    assert_eq!(annotation(&blocked().unwrap(), BLOCKED), said, "it stays, and since when");
    assert!(!play.is_done("batch"));
    assert_eq!(play.away("batch").len(), 1, "and the others of the pool wait for it");
    play.ask(
        &Method::DELETE,
        "/apis/policy/v1/namespaces/reports/poddisruptionbudgets/ledger",
        &Value::Null,
    );
    play.pass(Duration::from_mins(35)).await;
    assert!(play.is_done("batch"), "{:?}", play.away("batch"));
    assert!(blocked().is_none());
    assert!(play.0.clock().now() < instant("2026-11-23T00:00:00Z"));
}

/// DET-1
#[test]
fn the_same_seed_gives_the_same_requests_in_the_same_order() {
    let trace = |seed: u64| {
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        runtime.enable_time().start_paused(true).build().unwrap().block_on(async {
            let play = Play::start_with("2026-11-20T23:59:00Z", seed).await;
            play.edit("server%20ntp.example.com");
            play.pass(Duration::from_mins(2)).await;
            assert!(!play.away("worker").is_empty());
            play.0.api_server().trace_hash()
        })
    };
    let first = trace(1);
    assert_eq!(trace(1), first);
    assert_ne!(trace(2), first);
}

/// POOL-4: a node that joins is installed with what the others have, says so, and is told to change like them.
#[tokio::test(start_paused = true)]
async fn a_machine_that_joins_runs_what_the_others_do_and_rolls_with_them() {
    let play = Play::start("2026-11-21T12:00:00Z").await;
    let first = play.pool("worker")["spec"]["configuration"]["name"].clone();
    let labels = json!({"node-role.kubernetes.io/worker": ""});
    let node = json!({"apiVersion": "v1", "kind": "Node",
        "metadata": {"name": "worker-new", "labels": labels}});
    play.ask(&Method::POST, "/api/v1/nodes", &node);
    play.pass(Duration::from_secs(5)).await;
    let joined = play.get("/api/v1/nodes/worker-new");
    assert!(available(&joined), "{joined}");
    assert_eq!(annotation(&joined, "machineconfiguration.openshift.io/currentConfig"), first);
    let change = json!({"spec": {"maxUnavailable": 7}});
    play.ask(&Method::PATCH, &format!("{POOLS}/worker"), &change);
    play.edit("server%20ntp.example.com");
    play.pass(Duration::from_mins(30)).await;
    assert_ne!(play.pool("worker")["spec"]["configuration"]["name"], first);
    assert!(play.is_done("worker"), "{:?}", play.away("worker"));
}

/// POOL-4: whoever pins a configuration may say that new nodes begin with it at once.
#[tokio::test(start_paused = true)]
async fn a_machine_that_joins_gets_what_the_operator_would_give_it() {
    let play = Play::start("2026-11-16T12:00:00Z").await;
    let first = play.pool("worker")["spec"]["configuration"]["name"].clone();
    play.edit("server%20ntp.example.com");
    play.pass(Duration::from_mins(5)).await;
    let newest = play.pool("worker")["spec"]["configuration"]["name"].clone();
    assert_ne!(newest, first);
    let join = async |name: &str| {
        let node = json!({"apiVersion": "v1", "kind": "Node",
            "metadata": {"name": name, "labels": {"node-role.kubernetes.io/worker": ""}}});
        play.ask(&Method::POST, "/api/v1/nodes", &node);
        play.pass(Duration::from_secs(5)).await;
        let node = play.get(&format!("/api/v1/nodes/{name}"));
        annotation(&node, "machineconfiguration.openshift.io/currentConfig").to_owned()
    };
    let pin = |when: &str| {
        let pin = json!({"spec": {"machineConfig": {"name": newest, "validAfter": when}}});
        play.ask(&Method::PATCH, &format!("{POOLS}/worker"), &pin);
    };
    assert_eq!(join("worker-one").await, first, "nobody runs the newest yet");
    pin("CanaryUpgrade");
    assert_eq!(join("worker-two").await, first);
    pin("Immediate");
    assert_eq!(join("worker-three").await, newest);
}

/// GATE-7: the server of the sandbox refuses what it refuses where the product was installed, and nobody's work stops for it.
#[tokio::test(start_paused = true)]
async fn only_the_operator_orders_machines_about() {
    let play = Play::start("2026-11-21T12:00:00Z").await;
    let people = ["system:masters", "system:authenticated"];
    let node = "/api/v1/nodes/worker-0";
    let said = play.order("alice", &people, node).await.unwrap_err();
    assert!(said.contains("only the operator gives a node its desired configuration"), "{said}");
    let agent = "system:serviceaccount:tidegate-system:tidegate-agent";
    let said = play.order(agent, &["system:authenticated"], node).await.unwrap_err();
    assert!(said.contains("denied request"), "{said}");
    assert!(play.away("worker").is_empty());
    play.edit("server%20ntp.example.com");
    play.pass(Duration::from_hours(1)).await;
    assert!(play.is_done("worker"), "{:?}", play.away("worker"));
    assert_eq!(refused(&play), Vec::<String>::new());
}

/// GATE-7: an hour a second, and a server that takes up to a fifth of a second for an answer: a permit of five minutes would be over
/// before it is used.
#[tokio::test(start_paused = true)]
async fn at_the_highest_speed_no_order_comes_too_late() {
    let play = Play::start_at_speed("2026-11-21T00:00:00Z", 1, sim::dial::FASTEST).await;
    let slow = apiserver::Profile { latency: Duration::from_millis(200), ..Default::default() };
    play.0.api_server().draw_faults(slow, 7);
    play.edit("server%20ntp.example.com");
    for _ in 0..600 {
        play.pass(Duration::from_millis(100)).await;
        if play.is_done("worker") && play.is_done("infra") {
            break;
        }
    }
    assert!(play.is_done("worker") && play.is_done("infra"), "{:?}", play.away(""));
    assert_eq!(refused(&play), Vec::<String>::new());
    assert!(play.0.clock().now() < instant("2026-11-23T00:00:00Z"), "{}", play.0.clock().now());
}

/// The reconciles that ended because the server would not have what they wrote. What the operator tries without a permit, to see whether it
/// is refused, is none of them.
fn refused(play: &Play) -> Vec<String> {
    let counted = operator::metrics::page(play.0.view());
    let refused = |line: &&str| {
        line.starts_with("tidegate_reconciles_total{") && line.contains("outcome=\"refused\"")
    };
    counted.lines().filter(refused).map(str::to_owned).collect()
}
