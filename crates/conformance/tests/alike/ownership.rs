//! Does every server forget old writers alike?

use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api,
    api::{Patch, PatchParams, PostParams},
};
use rig::{
    Cluster, Controllers, User,
    suite::{self, Kubectl},
};
use serde_json::{Value, json};

#[test]
fn real_server_tells_ten_writers_apart() {
    suite::on_real("ownership", Controllers::Absent, async |cluster| ten_writers(cluster).await);
}

#[test]
fn embedded_server_tells_ten_writers_apart() {
    suite::on_embedded("ownership-embedded", Kubectl::Unused, async |cluster| {
        ten_writers(cluster).await;
    });
}

/// Writers that apply are told apart for ever; of the others the oldest are merged into one.
async fn ten_writers(cluster: &Cluster) {
    let maps: Api<ConfigMap> =
        Api::namespaced(cluster.client(User::Admin).await.unwrap(), "default");
    let map = serde_json::from_value(json!({ "metadata": { "name": "shared" } })).unwrap();
    let created = PostParams { field_manager: Some("w00".to_owned()), ..PostParams::default() };
    maps.create(&created, &map).await.unwrap();
    let applied = json!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "shared" }, "data": { "a": "1" },
    });
    maps.patch("shared", &PatchParams::apply("steward"), &Patch::Apply(&applied)).await.unwrap();
    for writer in 1..=13 {
        let patch = json!({ "data": { format!("w{writer:02}"): "1" } });
        let params =
            PatchParams { field_manager: Some(format!("w{writer:02}")), ..PatchParams::default() };
        maps.patch("shared", &params, &Patch::Merge(&patch)).await.unwrap();
    }
    let entries = maps.get("shared").await.unwrap().metadata.managed_fields.unwrap();
    let mut names: Vec<String> = entries.iter().filter_map(|entry| entry.manager.clone()).collect();
    names.sort();
    let expected = [
        "ancient-changes",
        "steward",
        "w05",
        "w06",
        "w07",
        "w08",
        "w09",
        "w10",
        "w11",
        "w12",
        "w13",
    ];
    assert_eq!(names, expected);
    let ancient = entries.into_iter().find(|e| e.manager.as_deref() == Some("ancient-changes"));
    let fields = ancient.unwrap().fields_v1.unwrap().0;
    assert_eq!(fields, json!({ "f:data": { "f:w01": {}, "f:w02": {}, "f:w03": {}, "f:w04": {} } }));
}

#[test]
fn real_server_stamps_what_is_written() {
    suite::on_real("stamps", Controllers::Absent, async |cluster| stamps(cluster).await);
}

#[test]
fn embedded_server_stamps_what_is_written() {
    suite::on_embedded("stamps-embedded", Kubectl::Unused, async |cluster| stamps(cluster).await);
}

/// What permits rest on (GATE-7): who owns what by which part of an object, and which writes leave no stamp. Each row is a write and the
/// owners after it; a stamp of 2099 tells whether what a client sent was taken.
async fn stamps(cluster: &Cluster) {
    let client = cluster.client(User::Admin).await.unwrap();
    let path = "/api/v1/nodes/pier";
    let send = async |method: &str, path: &str, content: &str, body: Value| {
        let request = http::Request::builder().method(method).uri(path);
        let request = request.header("Content-Type", content);
        client.request::<Value>(request.body(body.to_string().into_bytes()).unwrap()).await.unwrap()
    };
    let node = json!({ "apiVersion": "v1", "kind": "Node", "metadata": { "name": "pier", "annotations": { "a": "1", "b": "1" } } });
    send("POST", "/api/v1/nodes?fieldManager=maker", "application/json", node).await;
    let planted = json!([{ "apiVersion": "v1", "fieldsType": "FieldsV1", "manager": "forger",
        "operation": "Update", "time": "2099-01-01T00:00:00Z", "fieldsV1": { "f:metadata": { "f:labels": { "f:x": {} } } } }]);
    let merge = "application/merge-patch+json";
    let noted = |value: Value| json!({ "metadata": { "annotations": value } });
    let (main, status) =
        (format!("{path}?fieldManager=w"), format!("{path}/status?fieldManager=w"));
    for (what, at, change, expected) in [
        ("taken away: no stamp", &main, noted(json!({ "a": null })), "maker"),
        ("by the status", &status, noted(json!({ "a": "2" })), "maker, w/status"),
        ("taken away by the status", &status, noted(json!({ "b": null })), "maker, w/status"),
        (
            "wiped by the status",
            &status,
            json!({ "metadata": { "managedFields": [{}], "annotations": { "c": "1" } } }),
            "maker, w/status",
        ),
        (
            "planted by the status",
            &status,
            json!({ "metadata": { "managedFields": planted, "annotations": { "c": "2" } } }),
            "maker, w/status",
        ),
        (
            "planted",
            &main,
            json!({ "metadata": { "managedFields": planted, "annotations": { "c": "3" } } }),
            "forger 2099, w",
        ),
        ("nothing changes", &main, noted(json!({ "c": "3" })), "forger 2099, w"),
        ("wiped", &main, json!({ "metadata": { "managedFields": [{}] } }), ""),
        ("no longer tracked", &main, noted(json!({ "c": "4" })), ""),
    ] {
        let found = send("PATCH", at, merge, change).await;
        let entries = found["metadata"]["managedFields"].as_array().cloned().unwrap_or_default();
        let mut owners: Vec<String> = entries
            .iter()
            .map(|entry| {
                let text = |key: &str| entry[key].as_str().unwrap_or_default();
                let part = if text("subresource").is_empty() { "" } else { "/status" };
                let year = if text("time").starts_with("2099") { " 2099" } else { "" };
                format!("{}{part}{year}", text("manager"))
            })
            .collect();
        owners.sort();
        assert_eq!(owners.join(", "), expected, "{what}");
    }
}
