//! Which words may a script use about workloads? Pods and budgets, the agent that asks for a drain, and the kubelet that ends pods: the
//! script plays both of them, the operator does the rest (DRAIN-1).

use std::{fmt::Write as _, time::Duration};

use api::{
    kinds,
    machine::names::{DESIRED_CONFIG, DESIRED_DRAIN},
};
use serde_json::{Value, json};
use tidegate_core::drain::node::{Node, Request};

use super::live::{Live, SHOP};

const PODS: &str = "/api/v1/namespaces/shop/pods";
const BUDGETS: &str = "/apis/policy/v1/namespaces/shop/poddisruptionbudgets";

/// What a namespace needs before a pod can live there; a controller that is not here would make it.
pub(crate) async fn prepare(live: &Live) {
    let account =
        json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default"}});
    let path = format!("/api/v1/namespaces/{SHOP}/serviceaccounts");
    live.ask("POST", &path, &account).await.unwrap();
}

pub(crate) async fn clear(live: &Live) {
    for collection in [PODS, BUDGETS] {
        for name in names(live, collection).await {
            live.gone(&format!("{collection}/{name}")).await;
        }
    }
}

/// Runs a command; gives back what it shows.
pub(crate) async fn run(words: &[&str], expected: &str, live: &mut Live) -> Result<String, String> {
    // A budget that changes under an eviction makes the server ask for ten seconds, which no script waits.
    live.rest().await;
    match words {
        ["pod", name, "on", node, app] => pod(name, node, app, live).await?,
        ["budget", app, "min", least] => {
            let least: i64 = least.parse().map_err(|_| "how many?")?;
            budget(app, least, live).await?;
        }
        ["ends", name] => {
            let path = format!("{PODS}/{name}");
            let told = async || {
                let pod = live.ask("GET", &path, &Value::Null).await.unwrap();
                pod["metadata"]["deletionTimestamp"].is_string()
            };
            live.until(&format!("{name} is told to end"), told).await;
            live.gone(&path).await;
        }
        ["asks", what @ ("drain" | "uncordon"), name] => {
            let called = format!("node/{name}");
            let node = live.get(&called).await?;
            let config = node["metadata"]["annotations"][DESIRED_CONFIG].clone();
            let request = format!("{what}-{}", config.as_str().unwrap_or_default());
            let change = json!({"metadata": {"annotations": {DESIRED_DRAIN: request}}});
            live.change(&called, "", &change).await?;
        }
        ["drain", name] => return Ok(drain(name, expected, live).await),
        ["pods"] => {
            let names = names(live, PODS).await;
            return Ok(format!("{}\n", names.join(", ")));
        }
        words => return Err(format!("{words:?} is not understood")),
    }
    Ok(String::new())
}

/// A pod that runs and is ready. It names no owner: one that does not exist would be the end of it where garbage is collected.
async fn pod(name: &str, node: &str, app: &str, live: &Live) -> Result<(), String> {
    let pod = json!({"apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": name, "labels": {"app": app}},
        "spec": {"nodeName": node, "automountServiceAccountToken": false,
            "containers": [{"name": "c", "image": "example.com/none"}]}});
    live.ask("POST", PODS, &pod).await?;
    let running = json!({"status": {"phase": "Running",
        "conditions": [{"type": "Ready", "status": "True"}]}});
    live.ask("PATCH", &format!("{PODS}/{name}/status"), &running).await?;
    counted(live).await;
    Ok(())
}

async fn budget(app: &str, least: i64, live: &Live) -> Result<(), String> {
    let spec = json!({"minAvailable": least, "selector": {"matchLabels": {"app": app}}});
    let path = format!("{BUDGETS}/{app}");
    if live.ask("GET", &path, &Value::Null).await.is_ok() {
        live.ask("PATCH", &path, &json!({"spec": spec})).await?;
    } else {
        let budget = json!({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget",
            "metadata": {"name": app}, "spec": spec});
        live.ask("POST", BUDGETS, &budget).await?;
    }
    counted(live).await;
    Ok(())
}

/// Waits until every budget was counted as it stands: how many pods it finds is not this script's business to guess.
async fn counted(live: &Live) {
    live.until("budgets are counted", async || {
        let budgets = live.ask("GET", BUDGETS, &Value::Null).await.unwrap();
        let pods = live.ask("GET", PODS, &Value::Null).await.unwrap();
        let all = budgets["items"].as_array().into_iter().flatten();
        all.clone().all(|budget| {
            let app = &budget["metadata"]["name"];
            let own = pods["items"].as_array().into_iter().flatten();
            let healthy = own
                .filter(|pod| pod["metadata"]["labels"]["app"] == *app)
                .filter(|pod| pod["metadata"]["deletionTimestamp"].is_null())
                .filter(|pod| pod["status"]["phase"] == "Running")
                .count();
            budget["status"]["observedGeneration"] == budget["metadata"]["generation"]
                && budget["status"]["currentHealthy"] == json!(healthy)
        })
    })
    .await;
}

/// How far the emptying of a node is. Whoever empties looks once a second, so the answer is waited for.
async fn drain(name: &str, expected: &str, live: &Live) -> String {
    let deadline = tokio::time::Instant::now() + Duration::from_secs(8);
    loop {
        let node = live.get(&format!("node/{name}")).await.unwrap();
        let shown = standing(&Node::of(&node));
        if shown == expected || tokio::time::Instant::now() > deadline {
            live.seen(&kinds::NODE, &node).await;
            return shown;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

fn standing(node: &Node) -> String {
    let mut shown = String::from(match node.request() {
        Request::Drain => "asked to be emptied",
        Request::Uncordon => "asked to be opened",
        Request::Nothing => "asks for nothing",
        Request::Unknown(_) => "asks for what nobody understands",
    });
    shown.push_str(if node.is_cordoned { ", cordoned" } else { ", open" });
    if let Some(since) = node.since() {
        let _ = write!(shown, " since {since}");
    }
    shown.push('\n');
    for blocked in node.blockage().into_iter().flat_map(|told| told.split("; ")) {
        let _ = writeln!(shown, "{blocked}");
    }
    shown
}

async fn names(live: &Live, collection: &str) -> Vec<String> {
    let page = live.ask("GET", collection, &Value::Null).await.unwrap();
    let items = page["items"].as_array().into_iter().flatten();
    items.filter_map(|item| item["metadata"]["name"].as_str().map(str::to_owned)).collect()
}
