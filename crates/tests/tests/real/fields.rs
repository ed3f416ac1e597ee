//! Is a person told at once that a field does not exist, and is nothing lost or opened by it? (GATE-14)

use std::{
    cell::Cell,
    fs,
    process::{Command, Stdio},
};

use api::{
    crds, kinds,
    schema::{GATED, KINDS},
};
use kube::Client;
use rig::{
    Cluster, Controllers, User,
    suite::{self, Kubectl},
};
use serde_json::{Value, json};
use tidy::{Tree, permits};

use super::rollout::writers::{self, Writer, until};

#[test]
fn real_server_warns_of_fields_that_do_not_exist_and_keeps_them() {
    suite::on_real("fields", Controllers::Absent, async |cluster| are_told(cluster).await);
}

#[test]
fn embedded_server_warns_of_fields_that_do_not_exist_and_keeps_them() {
    suite::on_embedded("fields", Kubectl::Pinned, async |cluster| are_told(cluster).await);
}

async fn are_told(cluster: &Cluster) {
    let client = writers::of_real(cluster).await;
    install(&client).await;
    let apply = |object: &Value| applied(cluster, object);
    let policy = |name: &str, spec: Value| {
        json!({"apiVersion": kinds::CHANGE_MANAGEMENT_POLICY.api_version, "kind": kinds::CHANGE_MANAGEMENT_POLICY.name,
        "metadata": {"name": name}, "spec": spec})
    };
    let pool = |name: &str, stanza: Value| {
        json!({"apiVersion": kinds::MACHINE_CONFIG_POOL.api_version, "kind": kinds::MACHINE_CONFIG_POOL.name,
        "metadata": {"name": name}, "spec": {"changeManagement": stanza}})
    };
    let weekly = json!({"frequency": "Weekly", "weekly": {"daysOfWeek": ["Sunday"]}});
    let scheduled = |schedule: Value| json!({"strategy": "MaintenanceSchedule", "maintenanceSchedule": schedule});
    // A server takes a moment to heed a new policy. Each try is another write: kubectl sends nothing that it has sent before.
    let tries = Cell::new(0);
    until("the server warns", async || {
        tries.set(tries.get() + 1);
        let mistyped = json!({"strategy": "Permissive", "stratgy": tries.get().to_string()});
        let said = [policy("probe", mistyped.clone()), pool("probe", mistyped)];
        said.iter().all(|object| apply(object).contains("there is no field"))
    })
    .await;
    for (object, pointer, told) in [
        (
            policy(
                "a",
                scheduled(
                    json!({"permit": {"recurrence": weekly, "startTime": "02:00"}, "exclude": [{"fromDate": "2026-12-24"}]}),
                ),
            ),
            "",
            "",
        ),
        (policy("b", json!({"strategy": "Permissive"})), "", ""),
        (
            policy("c", json!({"strategy": "Restrictive", "reasn": "x"})),
            "/spec/reasn",
            "there is no field spec.reasn;",
        ),
        (
            policy("d", scheduled(json!({"permit": {"recurence": weekly}, "excludes": []}))),
            "/spec/maintenanceSchedule/permit/recurence",
            "there is no field spec.maintenanceSchedule.excludes, spec.maintenanceSchedule.permit.recurence;",
        ),
        (
            policy(
                "e",
                scheduled(
                    json!({"permit": {"recurrence": {"frequency": "Weekly", "weekly": {"daysOfWeek": ["Sunday"], "intervall": 2}}}}),
                ),
            ),
            "/spec/maintenanceSchedule/permit/recurrence/weekly/intervall",
            "there is no field spec.maintenanceSchedule.permit.recurrence.weekly.intervall;",
        ),
        (
            policy(
                "f",
                scheduled(
                    json!({"permit": {}, "exclude": [{"fromDate": "2026-12-24", "untillDate": "2026-12-27"}]}),
                ),
            ),
            "/spec/maintenanceSchedule/exclude/0/untillDate",
            "there is no field of an entry of spec.maintenanceSchedule.exclude;",
        ),
        (pool("g", json!({"strategy": "ByPolicy", "byPolicy": {"name": "a"}})), "", ""),
        (
            pool("h", json!({"strategy": "Restrictive", "untill": "x"})),
            "/spec/changeManagement/untill",
            "there is no field spec.changeManagement.untill;",
        ),
        (
            pool("i", json!({"strategy": "ByPolicy", "byPolicy": {"name": "a", "kind": "x"}})),
            "/spec/changeManagement/byPolicy/kind",
            "there is no field spec.changeManagement.byPolicy.kind;",
        ),
    ] {
        let said = apply(&object);
        if told.is_empty() {
            assert_eq!(said, "", "{object}");
            continue;
        }
        assert!(said.starts_with("Warning: ") && said.contains(told), "{object}: {said}");
        assert!(said.contains("changes are held"), "{said}");
        let plural = api::names::plural(object["kind"].as_str().unwrap());
        let version = object["apiVersion"].as_str().unwrap();
        let name = object["metadata"]["name"].as_str().unwrap();
        let stored = Writer::itself(&client).get(&format!("/apis/{version}/{plural}/{name}")).await;
        assert_eq!(
            stored.pointer(pointer),
            object.pointer(pointer),
            "it is kept, to be judged: {stored}"
        );
    }
}

/// What kubectl says beside that it is done.
fn applied(cluster: &Cluster, object: &Value) -> String {
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), object.to_string()).unwrap();
    let output = Command::new(cluster.kubectl())
        .arg("--kubeconfig")
        .arg(cluster.kubeconfig(User::Admin))
        .args(["apply", "-f"])
        .arg(file.path())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "nothing is refused: {said}");
    said
}

async fn install(client: &Client) {
    let admin = Writer::itself(client);
    for definition in KINDS.iter().chain(GATED).map(crds::definition) {
        admin.create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", &definition).await;
    }
    for kind in KINDS.iter().chain(GATED) {
        let served = runtime::key::collection(kind, None);
        until(&served, async || admin.send("GET", &served, "", &Value::Null).await.is_ok()).await;
    }
    let manifest = "deploy/manifests/fields/fields.yaml";
    assert!(Tree::top().join(manifest).exists());
    for (collection, document) in permits::admission(manifest) {
        admin.create(collection, &document).await;
    }
}
