//! Do objects of another cluster arrive as they were? Their age, their owners and their status, and all refusals at once.

#![expect(clippy::unwrap_used, reason = "the functions beside a test fail as it does")]

use schedule::Instant;
use serde_json::{Value, json};
use sim::{
    Sandbox,
    stock::{Item, Stocked, stock},
};

fn items(objects: &[Value]) -> Vec<Item> {
    let item = |(number, object): (usize, &Value)| Item {
        origin: format!("file:{number}"),
        object: object.clone(),
    };
    objects.iter().enumerate().map(item).collect()
}

fn taken(objects: &[Value]) -> (apiserver::Server, Result<Stocked, Vec<String>>) {
    let at = Instant::parse("2026-11-16T12:00:00Z").unwrap();
    let (server, clock) = Sandbox::server(at, apiserver::Settings::default()).unwrap();
    let stocked = stock(&server, &clock, items(objects));
    let told =
        |refused: Vec<sim::stock::Refused>| refused.iter().map(ToString::to_string).collect();
    (server, stocked.map_err(told))
}

fn pod(name: &str, owner: &Value) -> Value {
    json!({"apiVersion": "v1", "kind": "Pod",
        "metadata": {"namespace": "shop", "name": name, "uid": name, "resourceVersion": "9",
            "creationTimestamp": "2026-11-01T00:00:00Z", "ownerReferences": [owner]},
        "spec": {"containers": [{"name": "c", "image": "i"}]}, "status": {"phase": "Running"}})
}

#[tokio::test(start_paused = true)]
async fn owners_ages_and_statuses_arrive() {
    let node = json!({"apiVersion": "v1", "kind": "Node",
        "metadata": {"name": "n", "uid": "old", "creationTimestamp": "2024-01-01T00:00:00Z"},
        "status": {"phase": "Running"}});
    let owner = |kind: &str, uid: &str| {
        let version = if kind == "Node" { "v1" } else { "apps/v1" };
        json!({"apiVersion": version, "kind": kind, "name": "n", "uid": uid})
    };
    let objects = [
        pod("static", &owner("Node", "old")),
        pod("orphan", &owner("Node", "elsewhere")),
        pod("replica", &owner("ReplicaSet", "unknown")),
        pod("replica", &owner("ReplicaSet", "unknown")),
        node,
        json!({"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": "r"}}),
        json!({"apiVersion": "v1", "kind": "Event", "metadata": {"namespace": "shop", "name": "e"}}),
    ];
    let (server, stocked) = taken(&objects);
    let stocked = stocked.unwrap();
    let counted = |kinds: &std::collections::BTreeMap<String, usize>| format!("{kinds:?}");
    assert_eq!(counted(&stocked.taken), r#"{"Node": 1, "Pod": 3}"#);
    assert_eq!(counted(&stocked.left_out), r#"{"Event": 1, "ReplicaSet": 1}"#);
    assert_eq!(stocked.repeated, 1);
    let get = |path: &str| -> Value {
        let (code, answer) = server.ask(http::Method::GET, path, "", b"");
        assert_eq!(code, 200, "{path}");
        serde_json::from_slice(&answer).unwrap()
    };
    let node = get("/api/v1/nodes/n");
    assert_eq!(node["metadata"]["creationTimestamp"], "2024-01-01T00:00:00Z");
    assert_eq!(node["status"]["phase"], "Running");
    let owners = |name: &str| {
        let pod = get(&format!("/api/v1/namespaces/shop/pods/{name}"));
        pod["metadata"]["ownerReferences"][0]["uid"].clone()
    };
    assert_eq!(owners("static"), node["metadata"]["uid"], "it follows its owner");
    assert_eq!(owners("orphan"), Value::Null, "and stays without one that did not come along");
    assert_eq!(owners("replica"), "unknown", "of a kind that is not here nothing is known");
}

#[tokio::test(start_paused = true)]
async fn every_refusal_is_told_at_once() {
    let policy = |name: &str, strategy: &str| {
        json!({"apiVersion": "changemanagement.openshift.io/v1alpha1", "kind": "ChangeManagementPolicy",
            "metadata": {"name": name}, "spec": {"strategy": strategy}})
    };
    let objects = [
        policy("good", "Permissive"),
        policy("bad", "Sometimes"),
        json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"namespace": "x", "name": "p"}, "spec": {}}),
    ];
    let (_, refused) = taken(&objects);
    let refused = refused.unwrap_err();
    assert_eq!(refused.len(), 2, "{refused:?}");
    assert!(
        refused[0].starts_with("file:1: ChangeManagementPolicy/bad:")
            && refused[0].contains("spec.strategy"),
        "{refused:?}"
    );
    assert!(
        refused[1].starts_with("file:2: Pod/x/p:") && refused[1].contains("spec.containers"),
        "{refused:?}"
    );
}
