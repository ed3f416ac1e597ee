//! Does the operator let begin what was queued on a stock OpenShift, by its own definitions and policies, and no more than that? (CV-4, CV-6, GATE-10)

use std::{sync::Arc, time::Duration};

use api::{
    machine::names::{BEGUN_RELEASE, CURRENT_CONFIG, DESIRED_CONFIG, STATE},
    names::{WANTED_IMAGE, WANTED_RELEASE},
};
use operator::{Operator, Settings};
use runtime::{clock::SystemClock, tempo::Tempo};
use serde_json::{Value, json};
use tidy::permits;

use super::{
    kept::define_policies,
    world::{CLUSTER_VERSIONS, World, cluster_gate_path},
};
use crate::rollout::writers::{OPERATOR, RIGHTS, Writer, until};

fn image(digit: char) -> String {
    format!("quay.io/release@sha256:{}", String::from(digit).repeat(64))
}

pub(super) async fn begins(world: &World) {
    define_policies(world).await;
    for (collection, document) in
        permits::admission("deploy/manifests/queue-updates/queue-updates.yaml")
    {
        world.admin.create(collection, &document).await;
    }
    let version = format!("{CLUSTER_VERSIONS}/version");
    let plane = cluster_gate_path("plane");
    let holds = json!({"holds": [{"what": "ClusterVersion", "how": "Queue"}]});
    world.cluster_gate("plane", holds).await;
    let account = Writer::new(&world.client, OPERATOR, &[RIGHTS], None);
    let second = Duration::from_secs(1);
    let tempo = Tempo { absent: second, freshness: second, ..Tempo::default() };
    let settings = Settings { tempo, ..Settings::alone("suite") }.starting_queued_updates();
    let operator = Operator::new(account.client(), Arc::new(SystemClock), settings);
    let running = tokio::spawn(async move {
        operator.run(std::future::pending()).await.unwrap();
    });
    let noted =
        async |key: &str| world.admin.get(&version).await["metadata"]["annotations"][key].clone();
    let asks = async |release: &str, image: &str, path: &str| {
        let update = json!({"spec": {"desiredUpdate": {"version": release, "image": image}}});
        world.writer.merge(path, &update).await
    };
    // Asked, and not kept.
    let dry = format!("{version}?dryRun=All");

    // As `oc adm upgrade` does it: queued by the server, pinned by the operator, told by the gate.
    let is_queued = |answer: &Value| answer["metadata"]["annotations"][WANTED_RELEASE].is_string();
    until("what is asked for is queued", async || {
        asks("4.20.7", &image('7'), &dry).await.is_ok_and(|answer| is_queued(&answer))
    })
    .await;
    let answer = asks("4.20.7", &image('7'), &version).await.unwrap();
    assert!(is_queued(&answer) && answer["spec"].get("desiredUpdate").is_none(), "{answer}");
    until("it is pinned", async || noted(WANTED_IMAGE).await.is_string()).await;
    until("the gate tells", async || {
        let status = world.admin.get(&plane).await["status"].clone();
        status["pending"][0]["change"].as_str().is_some_and(|change| change.contains("4.20.7"))
    })
    .await;
    assert_eq!(world.admin.get(&version).await["spec"].get("desiredUpdate"), None);

    // The gate opens, and one write begins it.
    let strategy = async |name: &str| {
        let edit = json!({"spec": {"changeManagement": {"strategy": name}}});
        world.admin.merge(&plane, &edit).await.unwrap();
    };
    strategy("Permissive").await;
    let update = json!({"version": "4.20.7", "image": image('7')});
    until("it begins", async || world.admin.get(&version).await["spec"]["desiredUpdate"] == update)
        .await;
    for key in [WANTED_RELEASE, WANTED_IMAGE] {
        assert_eq!(noted(key).await, Value::Null, "{key}");
    }
    strategy("Restrictive").await;
    until("it is shut", async || {
        asks("4.20.8", &image('8'), &dry).await.is_ok_and(|answer| is_queued(&answer))
    })
    .await;
    let answer = asks("4.20.8", &image('8'), &version).await.unwrap();
    assert_eq!(answer["spec"]["desiredUpdate"], update);
    until("it is pinned", async || noted(WANTED_IMAGE).await.is_string()).await;
    // A wish that is taken back starts nothing, and the same apply again and again starts nothing twice.
    let back = json!({"metadata": {"annotations": {WANTED_RELEASE: null}}});
    world.writer.merge(&version, &back).await.unwrap();
    until("its pin goes", async || noted(WANTED_IMAGE).await.is_null()).await;
    let generation = world.admin.get(&version).await["metadata"]["generation"].clone();
    for _ in 0..3 {
        let applied = json!({"apiVersion": "config.openshift.io/v1", "kind": "ClusterVersion",
            "metadata": {"name": "version", "annotations": {WANTED_RELEASE: update.to_string()}},
            "spec": {"clusterID": "5f9a1d9e-1f2b-4c3d-8e4f-0123456789ab", "desiredUpdate": update}});
        world.writer.apply(&version, &applied).await.unwrap();
        until("it is done", async || noted(WANTED_RELEASE).await.is_null()).await;
    }
    let now = world.admin.get(&version).await;
    assert_eq!(
        (&now["metadata"]["generation"], &now["spec"]["desiredUpdate"]),
        (&generation, &update)
    );
    is_noted_on_masters(world).await;
    running.abort();
    assert!(running.await.unwrap_err().is_cancelled(), "the operator ended by itself");
    world.remove_cluster_gate("plane").await;
}

/// GATE-10: what the cluster version operator began is noted on its nodes, which nobody else can do, and they pass what holds their pool.
async fn is_noted_on_masters(world: &World) {
    for (collection, document) in
        permits::admission("deploy/manifests/queued-updates/queued-updates.yaml")
    {
        world.admin.create(collection, &document).await;
    }
    let label = json!({"node-role.kubernetes.io/master": ""});
    let pool = json!({"apiVersion": "machineconfiguration.openshift.io/v1", "kind": "MachineConfigPool",
        "metadata": {"name": "master"}, "spec": {"nodeSelector": {"matchLabels": label}, "configuration": {"name": "rendered-master-1"}}});
    world
        .admin
        .create("/apis/machineconfiguration.openshift.io/v1/machineconfigpools", &pool)
        .await;
    let config = "rendered-master-1";
    let node = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "queued-master", "labels": label,
        "annotations": {CURRENT_CONFIG: config, DESIRED_CONFIG: config, STATE: "Done"}}});
    world.initiator.create("/api/v1/nodes", &node).await;
    let node = "/api/v1/nodes/queued-master";
    let carried =
        async || world.admin.get(node).await["metadata"]["annotations"][BEGUN_RELEASE].clone();
    let forged = json!({"metadata": {"annotations": {BEGUN_RELEASE: "4.20.9"}}});
    until("nobody else writes it", async || {
        let answer = world.writer.merge(&format!("{node}?dryRun=All"), &forged).await;
        answer.is_err_and(|said| said.contains("only the operator writes what it recorded"))
    })
    .await;
    let entry = |version: &str, digit, state: &str, started: &str| {
        // Definitions demand one; the state says whether it counts.
        let ended = "2026-11-01T01:00:00Z";
        json!({"state": state, "version": version, "image": image(digit), "startedTime": started,
            "completionTime": ended, "verified": true})
    };
    let tells = async |state: &str| {
        let history = json!([
            entry("4.20.7", '7', state, "2026-11-01T00:00:00Z"),
            entry("4.20.6", '6', "Completed", "2026-10-01T00:00:00Z")
        ]);
        let status =
            json!({"desired": {"version": "4.20.7", "image": image('7')}, "history": history});
        let path = format!("{CLUSTER_VERSIONS}/version/status");
        world.admin.merge(&path, &json!({"status": status})).await.unwrap();
    };
    tells("Partial").await;
    until("it is noted", async || carried().await == "4.20.7").await;
    tells("Completed").await;
    until("it goes", async || carried().await.is_null()).await;
    // Each object is a write of its own.
    until("it goes from the cluster", async || {
        let version = world.admin.get(&format!("{CLUSTER_VERSIONS}/version")).await;
        version["metadata"]["annotations"][BEGUN_RELEASE].is_null()
    })
    .await;
}
