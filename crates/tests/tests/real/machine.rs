//! Do servers take what is decided about pools and nodes? The definitions, the refusals of disruption policies, and a rollout with
//! two planners of which one comes too late (POOL-2, NDP-1).

use std::time::Duration;

use api::{
    crds,
    machine::{definitions::definitions, names},
};
use http::{Method, Request};
use kube::{Client, client::Body};
use rig::{
    Cluster, Controllers, User,
    suite::{self, Kubectl},
};
use schedule::Instant;
use serde_json::{Value, json};
use tidegate_core::{
    cluster::{kinds, snapshot::Snapshot},
    gate::{Supposed, WhatIf},
    pool::{Effect, PoolPlan, PoolView, Topology, decide, merge::Base},
};

#[test]
fn real_server_takes_what_is_decided_about_machines() {
    suite::on_real("machine", Controllers::Absent, async |cluster| all(cluster).await);
}

#[test]
fn embedded_server_takes_what_is_decided_about_machines() {
    suite::on_embedded("machine-embedded", Kubectl::Unused, async |cluster| all(cluster).await);
}

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const CONFIGURATIONS: &str = "/apis/operator.openshift.io/v1/machineconfigurations";
const CONFIGS: &str = "/apis/machineconfiguration.openshift.io/v1/machineconfigs";
const POOLS: &str = "/apis/machineconfiguration.openshift.io/v1/machineconfigpools";
const NODES: &str = "/api/v1/nodes";

async fn all(cluster: &Cluster) {
    if suite::uses_lent_cluster() {
        // Nodes and kinds of a cluster that belongs to somebody are theirs.
        return;
    }
    let client = cluster.client(User::Admin).await.unwrap();
    let pools = crds::definition(&kinds::MACHINE_CONFIG_POOL);
    for definition in definitions().iter().chain([&pools]) {
        let (status, body) = send(&client, &Method::POST, DEFINITIONS, definition).await;
        assert_eq!(status, 201, "{body}");
    }
    disruption_policies_are_refused_by_the_schema(&client).await;
    late_planner_marks_nobody(&client).await;
}

/// NDP-1
async fn disruption_policies_are_refused_by_the_schema(client: &Client) {
    let object = |name: &str, policy: &Value| {
        json!({"apiVersion": names::OPERATOR_API_VERSION, "kind": names::MACHINE_CONFIGURATION,
               "metadata": {"name": name}, "spec": {"nodeDisruptionPolicy": policy}})
    };
    let files = |actions: Value| json!({"files": [{"path": "/etc/a", "actions": actions}]});
    let service = json!({"serviceName": "a.service"});
    until_served(client, CONFIGURATIONS, &object("cluster", &json!({}))).await;
    let rows = [
        ("cluster", files(json!([{"type": "Drain"}, {"type": "Reload", "reload": service}])), None),
        ("cluster", files(json!([])), None),
        ("other", json!({}), Some("its name is cluster")),
        ("cluster", files(json!([{"type": "Special"}])), Some("Special cannot be asked for")),
        (
            "cluster",
            files(json!([{"type": "Reboot"}, {"type": "Drain"}])),
            Some("Reboot stands alone"),
        ),
        ("cluster", files(json!([{"type": "None"}, {"type": "Drain"}])), Some("None stands alone")),
        ("cluster", files(json!([{"type": "Reload"}])), Some("reload is required")),
        (
            "cluster",
            files(json!([{"type": "Drain", "restart": service}])),
            Some("restart is forbidden"),
        ),
        (
            "cluster",
            json!({"files": [{"path": "/a", "actions": []}, {"path": "/a", "actions": []}]}),
            Some("Duplicate value"),
        ),
    ];
    for (name, policy, refusal) in rows {
        let path = format!("{CONFIGURATIONS}?dryRun=All");
        let (status, body) = send(client, &Method::POST, &path, &object(name, &policy)).await;
        match refusal {
            None => assert_eq!(status, 201, "{policy}: {body}"),
            Some(words) => {
                assert_eq!(status, 422, "{policy}: {body}");
                assert!(body["message"].as_str().unwrap().contains(words), "{policy}: {body}");
            }
        }
    }
}

/// POOL-2
async fn late_planner_marks_nobody(client: &Client) {
    let pool = json!({
        "apiVersion": names::API_VERSION, "kind": "MachineConfigPool", "metadata": {"name": "worker"},
        "spec": {
            "machineConfigSelector": {"matchLabels": {names::ROLE: "worker"}},
            "nodeSelector": {"matchLabels": {"node-role.kubernetes.io/worker": ""}},
        },
    });
    until_served(client, POOLS, &pool).await;
    until_served(client, CONFIGS, &source("00-base", "0")).await;
    for (path, object) in [(POOLS, &pool), (CONFIGS, &source("00-base", "0"))] {
        assert_eq!(send(client, &Method::POST, path, object).await.0, 201);
    }
    let first = settle(client, &WhatIf::shut()).await;
    for name in ["n0", "n1", "n2"] {
        let annotations = json!({
            names::CURRENT_CONFIG: first, names::DESIRED_CONFIG: first, names::STATE: "Done",
        });
        let node = json!({"apiVersion": "v1", "kind": "Node", "metadata": {
            "name": name, "labels": {"node-role.kubernetes.io/worker": ""}, "annotations": annotations}});
        let (status, body) = send(client, &Method::POST, NODES, &node).await;
        assert_eq!(status, 201, "{body}");
    }
    let (status, _) = send(client, &Method::POST, CONFIGS, &source("50-change", "1")).await;
    assert_eq!(status, 201);
    let second = settle(client, &WhatIf::shut()).await;
    assert_ne!(second, first, "rendered while the gate is shut");
    let (one, two) = (plan(client, &WhatIf::open()).await, plan(client, &WhatIf::open()).await);
    assert!(execute(client, &one).await, "the first planner succeeds");
    assert!(!execute(client, &two).await, "the second comes too late, and marks nobody");
    assert_eq!(desiring(client, &second).await, ["n0"]);
    for expected in [["n0", "n1"].as_slice(), &["n0", "n1", "n2"], &["n0", "n1", "n2"]] {
        finish(client).await;
        settle(client, &WhatIf::open()).await;
        assert_eq!(desiring(client, &second).await, expected);
    }
    let (_, pool) = send(client, &Method::GET, &format!("{POOLS}/worker"), &json!({})).await;
    assert_eq!(pool["status"]["updatedMachineCount"], 3);
    assert_eq!(pool["status"]["configuration"]["name"], second);
    assert_eq!(pool["metadata"]["annotations"][names::LEDGER], "[]");
}

fn source(name: &str, text: &str) -> Value {
    json!({
        "apiVersion": names::API_VERSION, "kind": names::MACHINE_CONFIG,
        "metadata": {"name": name, "labels": {names::ROLE: "worker"}},
        "spec": {"config": {"ignition": {"version": "3.4.0"}, "storage": {"files": [
            {"path": format!("/etc/{name}"), "contents": {"source": format!("data:,{text}")}}]}}},
    })
}

/// Looks at the server and decides.
async fn plan(client: &Client, gate: &WhatIf) -> PoolPlan<Supposed> {
    let (_, document) = send(client, &Method::GET, &format!("{POOLS}/worker"), &json!({})).await;
    let mut snapshot = Snapshot::default();
    snapshot.add(&kinds::MACHINE_CONFIG_POOL, &document);
    for (kind, path) in [(&kinds::MACHINE_CONFIG, CONFIGS), (&kinds::NODE, NODES)] {
        list(client, path).await.iter().for_each(|document| snapshot.add(kind, document));
    }
    let (pool, base) = (snapshot.pool("worker").unwrap(), Base::default());
    let rendering = snapshot.rendering(pool, &base);
    let view = PoolView { topology: Topology::Several, ..snapshot.view(pool, &rendering, &base) };
    decide(&view, gate, now())
}

/// The server's clock is not asked here, so any instant will do.
fn now() -> Instant {
    Instant::parse("2026-11-15T12:00:00Z").unwrap()
}

/// Does what a plan says, up to the first conflict; whether there was none.
async fn execute(client: &Client, plan: &PoolPlan<Supposed>) -> bool {
    let pool = format!("{POOLS}/worker");
    for effect in &plan.effects {
        let (status, body) = match effect {
            Effect::CreateRendered(document) => {
                send(client, &Method::POST, CONFIGS, document).await
            }
            Effect::SetConfiguration(operations) | Effect::WriteLedger { operations, .. } => {
                send(client, &Method::PATCH, &pool, &json!(operations)).await
            }
            Effect::SetDesiredConfig { node, uid, resource_version, config, until, .. } => {
                let mark = json!({"apiVersion": "v1", "kind": "Node", "metadata": {
                "name": node, "uid": uid, "resourceVersion": resource_version,
                "annotations": {
                    names::DESIRED_CONFIG: config, names::PERMIT_UNTIL: until.to_string(),
                    names::PERMIT_CHANGE: config,
                }}});
                let path = format!("{NODES}/{node}?fieldManager=tidegate&force=true");
                send(client, &Method::PATCH, &path, &mark).await
            }
            Effect::RecordSources { .. }
            | Effect::Adopt { .. }
            | Effect::Note { .. }
            | Effect::RecordRelease { .. } => {
                panic!("nothing here asks for {effect:?}")
            }
        };
        if status == 409 {
            return false;
        }
        assert!(status < 300, "{effect:?}: {body}");
    }
    if let Some(patch) = &plan.status {
        let path = format!("{pool}/status");
        let (status, body) = send(client, &Method::PATCH, &path, &json!(patch.operations)).await;
        assert!(status < 300, "{body}");
    }
    true
}

/// Plans and executes until nothing is left to do; the newest configuration.
async fn settle(client: &Client, gate: &WhatIf) -> String {
    for _ in 0..20 {
        let plan = plan(client, gate).await;
        if plan.effects.is_empty() && plan.status.is_none() {
            let (_, pool) =
                send(client, &Method::GET, &format!("{POOLS}/worker"), &json!({})).await;
            return pool["spec"]["configuration"]["name"].as_str().unwrap().to_owned();
        }
        assert!(execute(client, &plan).await, "nobody else writes");
    }
    panic!("the pool does not settle");
}

/// Lets every node finish what it was told, as its agent would.
async fn finish(client: &Client) {
    for node in list(client, NODES).await {
        let annotations =
            json!({names::CURRENT_CONFIG: node["metadata"]["annotations"][names::DESIRED_CONFIG]});
        let path = format!("{NODES}/{}", node["metadata"]["name"].as_str().unwrap());
        let (status, body) =
            send(client, &Method::PATCH, &path, &json!({"metadata": {"annotations": annotations}}))
                .await;
        assert!(status < 300, "{body}");
    }
}

async fn desiring(client: &Client, config: &str) -> Vec<String> {
    let nodes = list(client, NODES).await;
    let named = nodes
        .iter()
        .filter(|node| node["metadata"]["annotations"][names::DESIRED_CONFIG] == config)
        .map(|node| node["metadata"]["name"].as_str().unwrap().to_owned());
    named.collect()
}

async fn list(client: &Client, path: &str) -> Vec<Value> {
    let (status, body) = send(client, &Method::GET, path, &json!({})).await;
    assert_eq!(status, 200, "{body}");
    body["items"].as_array().unwrap().clone()
}

/// A new kind takes a moment.
async fn until_served(client: &Client, path: &str, object: &Value) {
    let mut said = Value::Null;
    for _ in 0..600 {
        let (status, body) =
            send(client, &Method::POST, &format!("{path}?dryRun=All"), object).await;
        if status == 201 {
            return;
        }
        said = body;
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("{path} is not served: {said}");
}

async fn send(client: &Client, method: &Method, path: &str, body: &Value) -> (u16, Value) {
    // A list is a JSON patch, an object with a kind is an apply, any other object is a merge.
    let content = match (method, body) {
        (&Method::PATCH, Value::Array(_)) => "application/json-patch+json",
        (&Method::PATCH, body) if body.get("kind").is_some() => "application/apply-patch+yaml",
        (&Method::PATCH, _) => "application/merge-patch+json",
        _ => "application/json",
    };
    let text = if method == Method::GET { String::new() } else { body.to_string() };
    let request = Request::builder().method(method).uri(path).header("content-type", content);
    let request = request.body(Body::from(text.into_bytes())).unwrap();
    let answer = client.send(request).await.unwrap();
    let status = answer.status().as_u16();
    let bytes = answer.into_body().collect_bytes().await.unwrap();
    let text = || Value::String(String::from_utf8_lossy(&bytes).into_owned());
    (status, serde_json::from_slice(&bytes).unwrap_or_else(|_| text()))
}
