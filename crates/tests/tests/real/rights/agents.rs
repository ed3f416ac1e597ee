//! What may an agent do? As the account of the manifests, with the token of a pod on one node.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use agent::{host::recording::Recording, run::Agent, supply::Supply};
use api::machine::names::{CURRENT_CONFIG, DESIRED_CONFIG, DESIRED_DRAIN, PERMIT_CHANGE, STATE};
use http::Request;
use kube::Client;
use operator::{
    Operator, Pools, Settings,
    node_config::{
        listen::{self, Protection},
        own::AUDIENCE,
    },
};
use rig::{
    Cluster,
    rights::{Difference, Recorder, Right},
};
use runtime::{call, clock::SystemClock, telemetry::Telemetry};
use serde_json::{Value, json};

use super::super::rollout::writers::{INITIATORS, RIGHTS, Writer};

const ACCOUNT: &str = "tidegate-agent";

/// An agent that is told to go to a configuration uses its rights and no others, and its token is good for its own node alone.
pub(crate) async fn rights_are_used_and_kept(
    cluster: &Cluster,
    (admin, namespace): (&Client, &str),
    config: &str,
    granted: &BTreeSet<Right>,
) {
    for (name, current) in [("n8", ""), ("n9", config)] {
        let node = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name,
            "annotations": {CURRENT_CONFIG: current, DESIRED_CONFIG: config, PERMIT_CHANGE: config,
                STATE: "Done"}}});
        send(&by_hand(admin), "POST", "/api/v1/nodes", &node).await.unwrap();
    }
    let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "agent"}, "spec": {
        "nodeName": "n8", "serviceAccountName": ACCOUNT, "automountServiceAccountToken": false,
        "containers": [{"name": "c", "image": "example.com/none"}]}});
    let pods = format!("/api/v1/namespaces/{namespace}/pods");
    send(admin, "POST", &pods, &pod).await.unwrap();

    let recorder = Recorder::default();
    let token = cluster.token_of_pod(namespace, ACCOUNT, "agent").await.unwrap();
    let own = cluster.bearer(token, &recorder).await.unwrap();
    let patience = Duration::from_secs(10);
    let called = call::Cluster::new(
        own.clone(),
        Arc::new(SystemClock),
        Arc::new(Telemetry::default()),
        patience,
    );
    // What it is to hold it gets from the operator, and has no right to read elsewhere.
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let settings = Settings { proof: operator::Proof::Waived, ..Settings::alone("giving") };
    let giving = Operator::new(admin.clone(), Arc::new(SystemClock), settings.with(Pools::Managed));
    let ended = std::future::pending();
    let serving = listen::serve(listener, Protection::Clear, giving.node_config(), ended);
    let giving = tokio::spawn(async move {
        tokio::select! {
            () = serving => {}
            ran = giving.run(std::future::pending()) => ran.unwrap(),
        }
    });
    let shown = cluster.token_for(AUDIENCE, (namespace, ACCOUNT), Some("agent")).await.unwrap();
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), shown).unwrap();
    let supply = Supply::of(Some(url), None, Some(file.path().to_owned())).unwrap();
    let mut running = Agent::new(Recording::default(), called, "n8").supplied_by(supply);
    let everything_was_used = async {
        let has_asked = async || {
            let node = get(admin, "/api/v1/nodes/n8").await;
            node["metadata"]["annotations"][DESIRED_DRAIN].is_string()
        };
        while !granted.is_subset(&recorder.used()) || !has_asked().await {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::select! {
        () = running.run() => {}
        // Who waits in vain is told below what is missing.
        _ = tokio::time::timeout(Duration::from_secs(30), everything_was_used) => {}
    }
    giving.abort();
    let fetched = get(admin, "/api/v1/nodes/n8").await;
    let asked = &fetched["metadata"]["annotations"][DESIRED_DRAIN];
    assert_eq!(
        *asked,
        json!(format!("drain-{config}")),
        "it has read what it is to become: {fetched}"
    );
    let difference = Difference::between(&recorder.used(), granted);
    assert!(difference.is_empty(), "the role of the agent does not fit:\n{difference}");

    let unbound = cluster.token(namespace, ACCOUNT).await.unwrap();
    let unbound = cluster.bearer(unbound, &Recorder::default()).await.unwrap();
    let said = json!({"metadata": {"annotations": {STATE: "Working"}}});
    let labelled = json!({"metadata": {"labels": {"node-role.kubernetes.io/master": ""}}});
    let opened = json!({"spec": {"taints": [{"key": "a", "effect": "NoSchedule"}]}});
    // A server takes a moment to heed a new policy.
    let heeded = async {
        while send(&unbound, "PATCH", "/api/v1/nodes/n9?dryRun=All", &said).await.is_ok() {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    let heeded = tokio::time::timeout(Duration::from_secs(30), heeded).await;
    heeded.expect("the policy refuses");
    for (what, who, node, change, refusal) in [
        ("its own annotations", &own, "n8", &said, None),
        ("another node", &own, "n9", &said, Some("to no other")),
        ("a label", &own, "n8", &labelled, Some("and nothing else")),
        ("a taint", &own, "n8", &opened, Some("and nothing else")),
        ("a token of no pod", &unbound, "n8", &said, Some("to no other")),
    ] {
        let answer = send(who, "PATCH", &format!("/api/v1/nodes/{node}"), change).await;
        match (answer, refusal) {
            (Ok(_), None) => {}
            (Err(kube::Error::Api(no)), Some(part)) if no.message.contains(part) => {}
            (answer, _) => panic!("{what}: expected {refusal:?}, found {answer:?}"),
        }
    }
}

/// Somebody who may speak for a machine: nobody else but its agent may.
fn by_hand(admin: &Client) -> Client {
    Writer::new(admin, "jane", &[RIGHTS, INITIATORS], None).client()
}

async fn get(client: &Client, path: &str) -> Value {
    client.request(Request::get(path).body(Vec::new()).unwrap()).await.unwrap()
}

async fn send(
    client: &Client,
    method: &str,
    path: &str,
    body: &Value,
) -> Result<Value, kube::Error> {
    let content = match method {
        "PATCH" => "application/merge-patch+json",
        _ => "application/json",
    };
    let request = Request::builder().method(method).uri(path).header("content-type", content);
    client.request(request.body(body.to_string().into_bytes()).unwrap()).await
}
