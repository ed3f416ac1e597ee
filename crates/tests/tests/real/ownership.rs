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
use serde_json::json;

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
