//! Which words may a script use about nodes? Configurations, pools, and nodes whose agent the script plays.

use std::fmt::Write as _;

use api::{
    kinds,
    machine::names::{
        ALLOWED_CONFIG, API_VERSION, BEGUN_RELEASE, CURRENT_CONFIG, DESIRED_CONFIG, GENERATED_BY,
        MACHINE_CONFIG, MASTER, NodeState, PERMIT_BASIS, PERMIT_CHANGE, REASON, ROLE, STATE, ZONE,
    },
};
use serde_json::{Map, Value, json};

use super::{live::Live, resources};

/// Runs a command; gives back what it shows.
pub(crate) async fn run(words: &[&str], live: &mut Live) -> Result<String, String> {
    let annotate = |key: &str, value: Value| json!({"metadata": {"annotations": {key: value}}});
    match words {
        ["manage", "pools"] => live.manage_pools(),
        ["pool", name, "of", limit, stanza @ ..] => {
            let limit = limit.parse::<i64>().map_or_else(|_| json!(limit), |limit| json!(limit));
            let label = format!("node-role.kubernetes.io/{name}");
            // Custom pools inherit what workers have; masters do not.
            let roles = if *name == MASTER { vec![*name] } else { vec!["worker", name] };
            let change = json!({"spec": {
                "maxUnavailable": limit,
                "machineConfigSelector": {"matchExpressions": [
                    {"key": ROLE, "operator": "In", "values": roles},
                ]},
                "nodeSelector": {"matchLabels": {label: ""}},
            }});
            make_pool(live, &format!("mcp/{name}"), stanza, &change).await?;
        }
        ["config", name, role, path, content] => {
            live.second_passes().await;
            live.apply(&config(name, role, path, content)).await?;
        }
        // What the release brings, as its controller writes it.
        ["generated", name, role, path, content] => {
            live.second_passes().await;
            let mut made = config(name, role, path, content);
            made["metadata"]["annotations"] = json!({GENERATED_BY: env!("CARGO_PKG_VERSION")});
            live.apply(&made).await?;
        }
        ["permit", name] => return Ok(permit(&live.get(&format!("node/{name}")).await?)),
        ["record", called] => return Ok(record(&live.get(called).await?)),
        ["node", name, role, rest @ ..] => {
            let served = live.served(role)?;
            live.apply(&node(name, role, rest, &served)?).await?;
        }
        ["finish", name] => {
            let node = live.get(&format!("node/{name}")).await?;
            let desired = noted(&node, DESIRED_CONFIG);
            let done =
                json!({CURRENT_CONFIG: desired, STATE: NodeState::Done.as_str(), REASON: ""});
            let change = json!({"metadata": {"annotations": done}});
            live.change(&format!("node/{name}"), "", &change).await?;
        }
        // A kubelet of this version reports.
        ["kubelet", name, version] => {
            let change = json!({"status": {"nodeInfo": {"kubeletVersion": version}}});
            live.change(&format!("node/{name}"), "/status", &change).await?;
        }
        ["fail", name, reason] => {
            let stuck = json!({STATE: NodeState::Degraded.as_str(), REASON: reason});
            let change = json!({"metadata": {"annotations": stuck}});
            live.change(&format!("node/{name}"), "", &change).await?;
        }
        ["cordon", name] => {
            let change = json!({"spec": {"unschedulable": true}});
            live.change(&format!("node/{name}"), "", &change).await?;
        }
        ["uncordon", name] => {
            let change = json!({"spec": {"unschedulable": null}});
            live.change(&format!("node/{name}"), "", &change).await?;
        }
        ["allow", name, config] => {
            let allowed = annotate(ALLOWED_CONFIG, json!(config));
            live.change(&format!("node/{name}"), "", &allowed).await?;
        }
        ["annotate", called, key, value @ ..] => {
            let value = value.first().map_or(Value::Null, |value| json!(value));
            live.change(called, "", &annotate(key, value)).await?;
        }
        ["content", name] => return Ok(content(&live.get(&format!("mc/{name}")).await?)),
        ["disruption", named @ ..] => {
            let cluster = live.get("machineconfiguration/cluster").await?;
            return Ok(disruption(&cluster, named));
        }
        ["nodes"] => return Ok(nodes(&live.list(&kinds::NODE).await)),
        ["counts", name] => return Ok(counts(&live.get(&format!("mcp/{name}")).await?)),
        _ => return Err("no such command".into()),
    }
    Ok(String::new())
}

/// Makes a pool with a stanza, or changes the one that is there.
async fn make_pool(
    live: &mut Live,
    called: &str,
    stanza: &[&str],
    change: &Value,
) -> Result<(), String> {
    if stanza.is_empty() {
        return live.change(called, "", change).await.map(drop);
    }
    let mut pool = resources::resource(called, &resources::stanza_of(stanza)?)?;
    for (field, value) in change["spec"].as_object().into_iter().flatten() {
        pool["spec"][field] = value.clone();
    }
    live.apply(&pool).await.map(drop)
}

/// One file.
fn config(name: &str, role: &str, path: &str, content: &str) -> Value {
    json!({
        "apiVersion": API_VERSION, "kind": MACHINE_CONFIG,
        "metadata": {"name": name, "labels": {ROLE: role}},
        "spec": {"config": {"ignition": {"version": "3.4.0"}, "storage": {"files": [
            {"path": path, "contents": {"source": format!("data:,{content}")}},
        ]}}},
    })
}

/// A node that has just joined with what it was served: it runs that, and has nothing left to do.
fn node(name: &str, role: &str, rest: &[&str], served: &str) -> Result<Value, String> {
    let mut labels = Map::from_iter([(format!("node-role.kubernetes.io/{role}"), json!(""))]);
    let mut annotations = json!({CURRENT_CONFIG: served, DESIRED_CONFIG: served, STATE: "Done"});
    match rest {
        [] => {}
        ["zone", zone] => drop(labels.insert(ZONE.into(), json!(zone))),
        // Its agent says what it runs, and nobody has told it anything.
        ["untold"] => annotations = json!({CURRENT_CONFIG: served, STATE: "Done"}),
        // Its agent says that it has no configuration.
        ["blank"] => annotations = json!({STATE: "Done"}),
        ["silent"] => annotations = json!({}),
        _ => return Err(format!("{rest:?} is not understood")),
    }
    Ok(json!({"apiVersion": "v1", "kind": "Node",
        "metadata": {"name": name, "labels": labels, "annotations": annotations}}))
}

/// What a node with this configuration has on its disk.
fn content(config: &Value) -> String {
    let part = |path: &str| config.pointer(path).and_then(Value::as_array).cloned();
    let mut shown = String::new();
    for file in part("/spec/config/storage/files").unwrap_or_default() {
        let source = file.pointer("/contents/source").and_then(Value::as_str);
        let _ = writeln!(shown, "file {} {}", file["path"], source.unwrap_or("empty"));
    }
    for mut unit in part("/spec/config/systemd/units").unwrap_or_default() {
        let name = unit["name"].take();
        let rest = unit.as_object().into_iter().flatten().filter(|(_, value)| !value.is_null());
        let rest: Vec<String> = rest.map(|(key, value)| format!("{key} {value}")).collect();
        let _ = writeln!(shown, "unit {name} {}", rest.join(", "));
    }
    for argument in part("/spec/kernelArguments").unwrap_or_default() {
        let _ = writeln!(shown, "kernel argument {argument}");
    }
    shown
}

/// What a node was last told, and by what right.
fn permit(node: &Value) -> String {
    let told = noted(node, DESIRED_CONFIG);
    match noted(node, PERMIT_CHANGE) {
        change if change.is_empty() => format!("told {told}, without a permit\n"),
        change => format!("told {told}, permitted {change}: {}\n", noted(node, PERMIT_BASIS)),
    }
}

/// Which update is recorded, and with which sources.
fn record(version: &Value) -> String {
    let text = noted(version, BEGUN_RELEASE);
    let Ok(record) = serde_json::from_str::<Value>(&text) else { return "none\n".into() };
    let listed = |key: &str| {
        let sources = record[key].as_object().into_iter().flatten().map(|(name, _)| name.as_str());
        sources.collect::<Vec<_>>().join(", ")
    };
    let release = record["release"].as_str().unwrap_or_default();
    if record["converged"] == true {
        return format!("release {release}: the masters have converged\n");
    }
    format!("release {release}: written {}; generated {}\n", listed("sources"), listed("generated"))
}

fn nodes(nodes: &[Value]) -> String {
    let mut shown = String::new();
    for node in nodes {
        let (current, desired) = (noted(node, CURRENT_CONFIG), noted(node, DESIRED_CONFIG));
        let name = node["metadata"]["name"].as_str().unwrap_or_default();
        let way = if current == desired { current } else { format!("{current} -> {desired}") };
        let _ = write!(shown, "{name}: {way} {}", noted(node, STATE));
        let cordoned = node.pointer("/spec/unschedulable") == Some(&json!(true));
        shown.push_str(if cordoned { ", cordoned\n" } else { "\n" });
    }
    shown
}

/// What acts: how many policies there are, and what those of some names do.
fn disruption(cluster: &Value, named: &[&str]) -> String {
    let of = |path: &str| cluster.pointer(path).and_then(Value::as_i64).unwrap_or(-1);
    let policies = &cluster["status"]["nodeDisruptionPolicyStatus"]["clusterPolicies"];
    let list = |key: &str| policies[key].as_array().cloned().unwrap_or_default();
    let (files, units) = (list("files"), list("units"));
    let mut shown = format!(
        "generation {}, observed {}: {} files, {} units\n",
        of("/metadata/generation"),
        of("/status/observedGeneration"),
        files.len(),
        units.len()
    );
    for entry in files.iter().chain(&units) {
        let name = entry["path"].as_str().or_else(|| entry["name"].as_str()).unwrap_or_default();
        if named.contains(&name) {
            let kinds: Vec<&str> = entry["actions"]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(|action| action["type"].as_str())
                .collect();
            let _ = writeln!(shown, "{name}: {}", kinds.join(", "));
        }
    }
    shown
}

fn counts(pool: &Value) -> String {
    let status = &pool["status"];
    let count = |key: &str| status[key].as_i64().unwrap_or(-1);
    format!(
        "{} nodes, {} updated, {} ready, {} unavailable, {} degraded; all had {}\n",
        count("machineCount"),
        count("updatedMachineCount"),
        count("readyMachineCount"),
        count("unavailableMachineCount"),
        count("degradedMachineCount"),
        status.pointer("/configuration/name").and_then(Value::as_str).unwrap_or("nothing"),
    )
}

fn noted(node: &Value, key: &str) -> String {
    let found = node.pointer("/metadata/annotations").and_then(|noted| noted.get(key));
    found.and_then(Value::as_str).unwrap_or_default().to_owned()
}
