//! Is a stock OpenShift held, whose definitions prune our stanza and whose operators never heard of us? (RCH-3, RCH-12, CV-5, CV-6, GATE-10)
//!
//! Nothing of ours runs here but the policies. The machine-config-controller, the daemon of a node, kubelets, `oc` and controllers that follow Git are played
//! by their own writes. The definitions of `ClusterVersion` and `MachineConfigPool` are those that OpenShift ships.

use api::{
    machine::names::{BEGUN_RELEASE, CURRENT_CONFIG, DESIRED_CONFIG},
    names::WANTED_RELEASE,
};
use serde_json::{Value, json};
use tidy::permits;

use super::{
    rows::{held, passes},
    world::{CLUSTER_VERSIONS, World, cluster_gate_path, open_now, open_tomorrow},
};
use crate::rollout::writers::{RIGHTS, Writer, until};

const NODES: &str = "/api/v1/nodes";
const IMAGE: &str =
    "quay.io/release@sha256:0000000000000000000000000000000000000000000000000000000000000001";

/// Whose definitions the server has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Definitions {
    /// Those of OpenShift, which know neither our stanza nor `mode`.
    OfOpenShift,
    /// One that keeps everything.
    Loose,
}

/// The definitions, read.
pub(super) fn definitions(texts: &[String]) -> Vec<Value> {
    texts.iter().map(|text| serde_saphyr::from_str(text).unwrap()).collect()
}

/// A node that runs what it was told.
pub(super) async fn node(world: &World, name: &str, config: &str) {
    let noted = json!({CURRENT_CONFIG: config, DESIRED_CONFIG: config});
    let node = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "annotations": noted}});
    world.initiator.create(NODES, &node).await;
}

/// Takes a node away: sets of pods that run on each would wait for it.
pub(super) async fn without_node(world: &World, name: &str) {
    world.admin.send("DELETE", &format!("{NODES}/{name}"), "", &Value::Null).await.unwrap();
}

/// A control plane that rests at a release.
pub(super) async fn control_plane(world: &World) {
    let version = json!({"apiVersion": "config.openshift.io/v1", "kind": "ClusterVersion", "metadata": {"name": "version"},
        "spec": {"clusterID": "5f9a1d9e-1f2b-4c3d-8e4f-0123456789ab", "channel": "stable-4.20"}});
    world.initiator.create(CLUSTER_VERSIONS, &version).await;
    let release = json!({"version": "4.20.6", "image": IMAGE});
    let status = json!({"desired": release, "availableUpdates": [], "observedGeneration": 1, "versionHash": "x",
        "history": [{"state": "Completed", "startedTime": "2026-10-01T00:00:00Z", "completionTime": "2026-10-01T01:00:00Z",
            "version": "4.20.6", "image": IMAGE, "verified": true}]});
    let path = format!("{CLUSTER_VERSIONS}/version/status");
    world.admin.merge(&path, &json!({"status": status})).await.unwrap();
}

/// What the machine-config-controller writes; asked, and not kept.
pub(super) async fn told(who: &Writer, node: &str, config: &str) -> Result<Value, String> {
    noted(who, node, json!({DESIRED_CONFIG: config})).await
}

async fn noted(who: &Writer, node: &str, annotations: Value) -> Result<Value, String> {
    let change = json!({"metadata": {"annotations": annotations}});
    who.merge(&format!("{NODES}/{node}?dryRun=All"), &change).await
}

/// What `oc adm upgrade --to` writes; asked, and not kept.
pub(super) async fn asked(who: &Writer, version: &str) -> Result<Value, String> {
    wants(who, json!({"desiredUpdate": {"version": version}})).await
}

async fn wants(who: &Writer, spec: Value) -> Result<Value, String> {
    who.merge(&format!("{CLUSTER_VERSIONS}/version?dryRun=All"), &json!({"spec": spec})).await
}

pub(super) async fn is_judged(world: &World, definitions: Definitions) {
    for (name, config) in
        [("w1", "rendered-worker-1"), ("i1", "rendered-infra-1"), ("m1", "rendered-master-1")]
    {
        node(world, name, config).await;
    }
    orders_wait(world).await;
    nothing_else_of_nodes_waits(world).await;
    pools_are_chosen_by_name(world).await;
    updates_wait(world, definitions).await;
    freezes_hold_both(world).await;
    masters_follow(world).await;
}

/// The gate is seen by the server a moment after it was written.
async fn settles(world: &World, part: &str) {
    until(part, async || match told(&world.writer, "w1", "rendered-worker-2").await {
        Ok(_) => part.is_empty(),
        Err(said) => !part.is_empty() && said.contains(part),
    })
    .await;
}

/// RCH-3: the first write of the stock controller, by each path that can carry it, and to the second of the windows.
async fn orders_wait(world: &World) {
    passes(told(&world.writer, "w1", "rendered-worker-2").await);
    world.cluster_gate("nodes", json!({"holds": [{"what": "MachineConfigPools"}]})).await;
    settles(world, "held by ClusterChangeGate nodes, whose windows are not known").await;
    let tomorrow = open_tomorrow();
    world.open(&cluster_gate_path("nodes"), std::slice::from_ref(&tomorrow)).await;
    let opens =
        format!("held by ClusterChangeGate nodes, which opens at {}", tomorrow.start_time.unwrap());
    settles(world, &opens).await;
    held(told(&world.writer, "i1", "rendered-infra-2").await, &opens);
    let change = json!({"metadata": {"annotations": {DESIRED_CONFIG: "rendered-worker-2"}}});
    held(world.writer.merge(&format!("{NODES}/w1/status?dryRun=All"), &change).await, &opens);
    let mut applied = change.clone();
    applied["apiVersion"] = json!("v1");
    applied["kind"] = json!("Node");
    applied["metadata"]["name"] = json!("w1");
    held(world.writer.apply(&format!("{NODES}/w1?dryRun=All"), &applied).await, &opens);
    let image = json!({"machineconfiguration.openshift.io/desiredImage": "quay.io/os@sha256:2"});
    held(noted(&world.writer, "w1", image.clone()).await, &opens);
    // Back to another one is an order too, and so is taking it away, which leaves no stamp (RCH-10).
    held(
        noted(&world.writer, "w1", json!({DESIRED_CONFIG: null})).await,
        "held by ClusterChangeGate nodes",
    );
    // What tells no pool is judged by the pool of what was told before.
    held(told(&world.writer, "w1", "somebodys-own").await, &opens);
    // GATE-15: by hand, and what was begun.
    passes(told(&world.initiator, "w1", "rendered-worker-2").await);
    // CV-2: the masters follow ClusterVersion.
    passes(told(&world.writer, "m1", "rendered-master-2").await);
    for mode in ["Audit", "Warn"] {
        world
            .admin
            .merge(&cluster_gate_path("nodes"), &json!({"spec": {"mode": mode}}))
            .await
            .unwrap();
        settles(world, "").await;
        passes(noted(&world.writer, "w1", image.clone()).await);
    }
    world
        .admin
        .merge(&cluster_gate_path("nodes"), &json!({"spec": {"mode": "Enforce"}}))
        .await
        .unwrap();
    world.open(&cluster_gate_path("nodes"), &[open_now()]).await;
    settles(world, "").await;
    passes(noted(&world.writer, "w1", image).await);
    world.open(&cluster_gate_path("nodes"), &[open_tomorrow()]).await;
    settles(world, "which opens at").await;
}

/// Kubelets, daemons and people go on; the gate is shut.
async fn nothing_else_of_nodes_waits(world: &World) {
    let kubelet = Writer::new(&world.client, "system:node:w1", &["system:nodes", RIGHTS], None);
    let status = json!({"status": {"conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady",
        "lastHeartbeatTime": "2026-11-18T00:00:00Z", "lastTransitionTime": "2026-11-18T00:00:00Z"}]}});
    passes(kubelet.merge(&format!("{NODES}/w1/status"), &status).await);
    let path = format!("{NODES}/w1?dryRun=All");
    for change in [
        json!({"metadata": {"labels": {"a": "b"}}}),
        json!({"metadata": {"annotations": {"example.com/note": "x"}}}),
        json!({"spec": {"unschedulable": true}}),
        // The daemon tells how far it is.
        json!({"metadata": {"annotations": {"machineconfiguration.openshift.io/state": "Working"}}}),
        json!({"metadata": {"annotations": {CURRENT_CONFIG: "rendered-worker-1"}}}),
        json!({"metadata": {"annotations": {DESIRED_CONFIG: "rendered-worker-1"}}}),
    ] {
        passes(world.writer.merge(&path, &change).await);
    }
    // A node that joins comes without annotations, and its daemon writes what it runs and is told; nothing else is a join.
    let fresh = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "fresh"}});
    passes(world.writer.send("POST", NODES, "application/json", &fresh).await);
    let joins =
        |current: &str| json!({CURRENT_CONFIG: current, DESIRED_CONFIG: "rendered-worker-1"});
    passes(noted(&world.writer, "fresh", joins("rendered-worker-1")).await);
    held(
        noted(&world.writer, "fresh", joins("rendered-worker-0")).await,
        "held by ClusterChangeGate nodes",
    );
    held(
        told(&world.writer, "fresh", "rendered-worker-1").await,
        "held by ClusterChangeGate nodes",
    );
    let moves = json!({CURRENT_CONFIG: "rendered-worker-2", DESIRED_CONFIG: "rendered-worker-2"});
    held(noted(&world.writer, "w1", moves).await, "held by ClusterChangeGate nodes");
    // GATE-10: what carries the record of an update that has begun passes; whoever writes the record beside the order does not.
    let both = json!({BEGUN_RELEASE: "4.20.7", DESIRED_CONFIG: "rendered-worker-2"});
    held(noted(&world.writer, "w1", both).await, "held by ClusterChangeGate nodes");
    let record = json!({"metadata": {"annotations": {BEGUN_RELEASE: "4.20.7"}}});
    passes(world.admin.merge(&format!("{NODES}/i1"), &record).await);
    passes(told(&world.writer, "i1", "rendered-infra-2").await);
    let record = json!({"metadata": {"annotations": {BEGUN_RELEASE: null}}});
    passes(world.admin.merge(&format!("{NODES}/i1"), &record).await);
}

/// RCH-12
async fn pools_are_chosen_by_name(world: &World) {
    let holds = json!({"spec": {"holds": [{"what": "MachineConfigPools", "names": ["worker"]}]}});
    world.admin.merge(&cluster_gate_path("nodes"), &holds).await.unwrap();
    until("only workers are chosen", async || {
        told(&world.writer, "i1", "rendered-infra-2").await.is_ok()
    })
    .await;
    held(told(&world.writer, "w1", "rendered-worker-2").await, "held by ClusterChangeGate nodes");
    let path = format!("{}?dryRun=All", cluster_gate_path("nodes"));
    let of = |hold: Value| json!({"spec": {"holds": [hold]}});
    for (change, refusal) in [
        (
            of(json!({"what": "MachineConfigPools", "names": ["master"]})),
            "the masters follow ClusterVersion",
        ),
        (
            of(json!({"what": "MachineConfigPools", "selector": {}})),
            "choose MachineConfigPools by names",
        ),
        (of(json!({"what": "MachineConfigPools", "how": "Refuse"})), "how must be Queue"),
        (
            of(json!({"what": "ClusterVersion", "names": ["version"]})),
            "there is one ClusterVersion",
        ),
        (json!({"spec": {"namespaceSelector": {}}}), "are in no namespace"),
    ] {
        let said = world.admin.merge(&path, &change).await.unwrap_err();
        assert!(said.contains(refusal), "{change}: {said}");
    }
    let team = super::world::gate(
        api::names::CHANGE_GATE,
        "x",
        json!({"holds": [{"what": "ClusterVersion"}]}),
    );
    let path = format!("{}/namespaces/default/changegates?dryRun=All", super::world::GROUP);
    held(world.post(&path, &team).await, "a ClusterChangeGate holds them");
    world.remove_cluster_gate("nodes").await;
    settles(world, "").await;
}

/// CV-5: what decides about an update waits, and nothing else of `ClusterVersion` does.
async fn updates_wait(world: &World, definitions: Definitions) {
    let asks = async || asked(&world.writer, "4.20.7").await;
    passes(asks().await);
    let refuses = json!({"holds": [{"what": "ClusterVersion", "how": "Refuse"}]});
    world.cluster_gate("plane", refuses).await;
    let gate = cluster_gate_path("plane");
    until("it holds", async || asks().await.is_err()).await;
    let tomorrow = open_tomorrow();
    world.open(&gate, std::slice::from_ref(&tomorrow)).await;
    let opens =
        format!("held by ClusterChangeGate plane, which opens at {}", tomorrow.start_time.unwrap());
    until("it opens tomorrow", async || asks().await.is_err_and(|said| said.contains(&opens)))
        .await;
    held(asks().await, "; send it again then");
    for update in [
        json!({"version": "4.20.7", "image": IMAGE.replace('1', "2")}),
        json!({"image": IMAGE.replace('1', "2")}),
        json!({"version": "4.20.6", "architecture": "Multi"}),
        json!({"version": "4.20.7", "force": true}),
    ] {
        held(wants(&world.writer, json!({"desiredUpdate": update})).await, &opens);
    }
    for free in [
        json!({"channel": "stable-4.21"}),
        json!({"upstream": "https://example.com/graph"}),
        json!({"capabilities": {"baselineCapabilitySet": "vCurrent"}}),
        json!({"desiredUpdate": null}),
        // What the cluster is at.
        json!({"desiredUpdate": {"version": "4.20.6"}}),
        json!({"desiredUpdate": {"version": "4.20.6", "image": IMAGE}}),
    ] {
        passes(wants(&world.writer, free).await);
    }
    let looks =
        wants(&world.writer, json!({"desiredUpdate": {"version": "4.20.7", "mode": "Preflight"}}))
            .await;
    match definitions {
        Definitions::Loose => passes(looks),
        // What a definition does not know is not there when the server judges.
        Definitions::OfOpenShift => held(looks, &opens),
    }
    passes(asked(&world.initiator, "4.20.7").await);
    for mode in ["Audit", "Warn"] {
        world.admin.merge(&gate, &json!({"spec": {"mode": mode}})).await.unwrap();
        until(mode, async || asks().await.is_ok()).await;
    }
    // CV-6: without a mutating policy what would be queued is refused, and that is said.
    let queues = json!({"spec": {"mode": "Enforce", "holds": [{"what": "ClusterVersion"}]}});
    world.admin.merge(&gate, &queues).await.unwrap();
    world.open(&gate, &[open_tomorrow()]).await;
    until("it could not be queued", async || {
        asks().await.is_err_and(|said| {
            said.contains("it could not be queued, because this server has no mutating")
        })
    })
    .await;
    world.open(&gate, &[open_now()]).await;
    until("it is open", async || asks().await.is_ok()).await;
    world.remove_cluster_gate("plane").await;
}

/// OVR-1, OVR-5
async fn freezes_hold_both(world: &World) {
    for (holds, nodes, updates) in [
        (Value::Null, true, true),
        (json!([{"what": "MachineConfigPools", "names": ["worker"]}]), true, false),
        (json!([{"what": "ClusterVersion"}]), false, true),
    ] {
        let mut spec = json!({"reason": "a storm"});
        if !holds.is_null() {
            spec["holds"] = holds.clone();
        }
        world.cluster_freeze("stop", spec).await;
        let order = async || told(&world.writer, "w1", "rendered-worker-2").await;
        let update = async || asked(&world.writer, "4.20.7").await;
        until("it holds", async || order().await.is_err() || update().await.is_err()).await;
        for (answer, is_held) in [(order().await, nodes), (update().await, updates)] {
            assert_eq!(answer.is_err(), is_held, "{holds}: {answer:?}");
            if is_held {
                held(
                    answer,
                    "held by ClusterChangeFreeze stop until further notice, unsigned: a storm",
                );
            }
        }
        passes(wants(&world.writer, json!({"channel": "stable-4.21"})).await);
        passes(told(&world.initiator, "w1", "rendered-worker-2").await);
        world.thaw_cluster("stop").await;
        until("it is gone", async || order().await.is_ok() && update().await.is_ok()).await;
    }
}

/// CV-2: where the operator notes what has begun, the nodes of the control plane wait for whatever holds its updates, and for nothing else; GATE-10:
/// those that carry the note pass.
async fn masters_follow(world: &World) {
    let manifest = "deploy/manifests/control-plane-nodes/control-plane-nodes.yaml";
    for (collection, document) in permits::admission(manifest) {
        world.admin.create(collection, &document).await;
    }
    let order = async || told(&world.writer, "m1", "rendered-master-2").await;
    passes(order().await);
    let plane = json!([{"what": "ClusterVersion", "how": "Refuse"}]);
    world.cluster_gate("plane", json!({"holds": plane})).await;
    let gate = cluster_gate_path("plane");
    until("masters are held", async || order().await.is_err()).await;
    held(order().await, "held by ClusterChangeGate plane, whose windows are not known");
    let tomorrow = open_tomorrow();
    world.open(&gate, std::slice::from_ref(&tomorrow)).await;
    let opens = format!(
        "held by ClusterChangeGate plane, which opens at {}; nodes of the control plane wait for what holds ClusterVersion",
        tomorrow.start_time.unwrap()
    );
    until(&opens, async || order().await.is_err_and(|said| said.contains(&opens))).await;
    let image = json!({"machineconfiguration.openshift.io/desiredImage": "quay.io/os@sha256:2"});
    held(noted(&world.writer, "m1", image).await, &opens);
    let change = json!({"metadata": {"annotations": {DESIRED_CONFIG: "rendered-master-2"}}});
    held(world.writer.merge(&format!("{NODES}/m1/status?dryRun=All"), &change).await, &opens);
    // A master is one, whatever it is told instead of a configuration of its pool.
    for other in ["somebodys-own", "rendered-worker-2"] {
        held(told(&world.writer, "m1", other).await, &opens);
    }
    passes(told(&world.writer, "w1", "rendered-worker-2").await);
    passes(told(&world.initiator, "m1", "rendered-master-2").await);
    let kubelet = Writer::new(&world.client, "system:node:m1", &["system:nodes", RIGHTS], None);
    let labels = json!({"metadata": {"labels": {"a": "b"}}});
    passes(kubelet.merge(&format!("{NODES}/m1?dryRun=All"), &labels).await);
    // Whoever writes the record beside the order does not pass, and whoever carries it does.
    let both = json!({BEGUN_RELEASE: "4.20.7", DESIRED_CONFIG: "rendered-master-2"});
    held(noted(&world.writer, "m1", both).await, &opens);
    let record = |release: Value| json!({"metadata": {"annotations": {BEGUN_RELEASE: release}}});
    passes(world.admin.merge(&format!("{NODES}/m1"), &record(json!("4.20.7"))).await);
    passes(order().await);
    passes(world.admin.merge(&format!("{NODES}/m1"), &record(Value::Null)).await);
    // In the second of another write there may be no stamp to tell the opening by.
    held(order().await, "held by ClusterChangeGate plane");
    for mode in ["Audit", "Warn"] {
        world.admin.merge(&gate, &json!({"spec": {"mode": mode}})).await.unwrap();
        until(mode, async || order().await.is_ok()).await;
    }
    world.admin.merge(&gate, &json!({"spec": {"mode": "Enforce"}})).await.unwrap();
    world.open(&gate, &[open_now()]).await;
    until("it is open", async || order().await.is_ok()).await;
    world.remove_cluster_gate("plane").await;
    // RCH-12: what holds other pools holds no master.
    world.cluster_gate("nodes", json!({"holds": [{"what": "MachineConfigPools"}]})).await;
    settles(world, "held by ClusterChangeGate nodes").await;
    passes(order().await);
    world.remove_cluster_gate("nodes").await;
    settles(world, "").await;
    for (holds, is_held) in [
        (Value::Null, true),
        (json!([{"what": "ClusterVersion"}]), true),
        (json!([{"what": "MachineConfigPools"}]), false),
    ] {
        let mut spec = json!({"reason": "a storm"});
        if !holds.is_null() {
            spec["holds"] = holds.clone();
        }
        world.cluster_freeze("stop", spec).await;
        let frozen = async || {
            let pools = told(&world.writer, "w1", "rendered-worker-2").await;
            pools.is_err() || order().await.is_err()
        };
        until("it holds", async || frozen().await).await;
        if is_held {
            until("masters too", async || order().await.is_err()).await;
            held(order().await, "held by ClusterChangeFreeze stop until further notice");
        } else {
            passes(order().await);
        }
        passes(told(&world.initiator, "m1", "rendered-master-2").await);
        world.thaw_cluster("stop").await;
        until("it is gone", async || !frozen().await).await;
    }
}

/// CV-5, CV-6: with its mutating policy the server turns what somebody asks for into a wish, until the gate opens.
pub(super) async fn is_queued(world: &World) {
    for (collection, document) in
        permits::admission("deploy/manifests/queue-updates/queue-updates.yaml")
    {
        world.admin.create(collection, &document).await;
    }
    let version = format!("{CLUSTER_VERSIONS}/version");
    world
        .cluster_gate("plane", json!({"holds": [{"what": "ClusterVersion", "how": "Queue"}]}))
        .await;
    let gate = cluster_gate_path("plane");
    world.open(&gate, &[open_tomorrow()]).await;
    let is_wish = |answer: &Value, version: &str| {
        let noted = answer["metadata"]["annotations"][WANTED_RELEASE].as_str().unwrap_or_default();
        serde_json::from_str::<Value>(noted).is_ok_and(|wish| wish["version"] == version)
    };
    until("what is asked for is noted", async || {
        asked(&world.writer, "4.20.7").await.is_ok_and(|answer| is_wish(&answer, "4.20.7"))
    })
    .await;
    // As `oc` does it, and kept.
    let change = json!({"spec": {"desiredUpdate": {"version": "4.20.7", "image": IMAGE.replace('1', "7"), "force": true}}});
    let answer = world.writer.merge(&version, &change).await.unwrap();
    assert_eq!(answer["spec"].get("desiredUpdate"), None, "{answer}");
    let noted = answer["metadata"]["annotations"][WANTED_RELEASE].as_str().unwrap();
    let wish: Value = serde_json::from_str(noted).unwrap();
    assert_eq!(wish, json!({"version": "4.20.7", "image": IMAGE.replace('1', "7"), "force": true}));
    // As GitOps controllers do it: several objects, one of which asks for an update, again and again.
    let applied = json!({"apiVersion": "config.openshift.io/v1", "kind": "ClusterVersion", "metadata": {"name": "version"},
        "spec": {"clusterID": "5f9a1d9e-1f2b-4c3d-8e4f-0123456789ab", "channel": "stable-4.21", "desiredUpdate": {"version": "4.20.8"}}});
    let other = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "beside"}, "data": {"a": "b"}});
    let mut seen = Value::Null;
    for _ in 0..3 {
        let answer = world.writer.apply(&version, &applied).await.unwrap();
        passes(world.writer.apply("/api/v1/namespaces/default/configmaps/beside", &other).await);
        assert!(is_wish(&answer, "4.20.8"), "{answer}");
        let spec =
            json!({"clusterID": "5f9a1d9e-1f2b-4c3d-8e4f-0123456789ab", "channel": "stable-4.21"});
        assert_eq!(answer["spec"], spec);
        let now = json!([
            answer["spec"],
            answer["metadata"]["annotations"],
            answer["metadata"]["generation"]
        ]);
        assert!(seen.is_null() || seen == now, "{seen} {now}");
        seen = now;
    }
    // Whoever acts by hand is not asked to wait.
    let by_hand = asked(&world.initiator, "4.20.9").await.unwrap();
    assert_eq!(by_hand["spec"]["desiredUpdate"]["version"], "4.20.9");
    // What is refused is not queued.
    world
        .admin
        .merge(&gate, &json!({"spec": {"holds": [{"what": "ClusterVersion", "how": "Refuse"}]}}))
        .await
        .unwrap();
    until("it refuses", async || asked(&world.writer, "4.20.9").await.is_err()).await;
    world
        .admin
        .merge(&gate, &json!({"spec": {"holds": [{"what": "ClusterVersion", "how": "Queue"}]}}))
        .await
        .unwrap();
    world.open(&gate, &[open_now()]).await;
    until("it begins in its window", async || {
        let answer = asked(&world.writer, "4.20.9").await;
        answer.is_ok_and(|answer| answer["spec"]["desiredUpdate"]["version"] == "4.20.9")
    })
    .await;
    // One that is there stays as it was.
    world
        .writer
        .merge(&version, &json!({"spec": {"desiredUpdate": {"version": "4.20.8"}}}))
        .await
        .unwrap();
    world.open(&gate, &[open_tomorrow()]).await;
    until("the one before stays", async || {
        let answer = asked(&world.writer, "4.20.9").await;
        answer.is_ok_and(|answer| {
            answer["spec"]["desiredUpdate"] == json!({"version": "4.20.8"})
                && is_wish(&answer, "4.20.9")
        })
    })
    .await;
    world.remove_cluster_gate("plane").await;
}
