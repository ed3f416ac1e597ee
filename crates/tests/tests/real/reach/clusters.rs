//! What is refused of whoever upgrades whole clusters, by a topology of Cluster API or a stock `HyperShift`, and what goes on? (RCH-3, RCH-5, RCH-6,
//! RCH-10, RCH-12)
//!
//! People and controllers that follow Git are played by their own writes, by every verb and in every version that is served.

use serde_json::{Value, json};

use super::{
    rows::{held, passes},
    upgraders::{definition, opens, shut},
    world::World,
};
use crate::rollout::writers::until;

const DRY: &str = "?dryRun=All";
const FORCED: &str = "hypershift.openshift.io/force-upgrade-to";

/// The kinds as loosely as the policies look at them; clusters in both versions.
pub(super) fn definitions() -> Vec<Value> {
    let mut clusters = definition("cluster.x-k8s.io", "v1beta1", "Cluster");
    let versions = clusters["spec"]["versions"].as_array_mut().unwrap();
    let mut newer = versions[0].clone();
    newer["name"] = json!("v1beta2");
    newer["storage"] = json!(false);
    versions.push(newer);
    let hosted = ["HostedCluster", "NodePool"];
    let hosted = hosted.map(|kind| definition("hypershift.openshift.io", "v1beta1", kind));
    [clusters].into_iter().chain(hosted).collect()
}

/// Where the kinds are served.
pub(super) fn served() -> Vec<String> {
    [
        "/apis/cluster.x-k8s.io/v1beta1/clusters",
        "/apis/cluster.x-k8s.io/v1beta2/clusters",
        "/apis/hypershift.openshift.io/v1beta1/hostedclusters",
        "/apis/hypershift.openshift.io/v1beta1/nodepools",
    ]
    .map(str::to_owned)
    .into()
}

fn clusters(namespace: &str, version: &str) -> String {
    format!("/apis/cluster.x-k8s.io/{version}/namespaces/{namespace}/clusters")
}

fn hosted(namespace: &str, kind: &str) -> String {
    let plural = api::names::plural(kind);
    format!("/apis/hypershift.openshift.io/v1beta1/namespaces/{namespace}/{plural}")
}

/// What has to be there before a first write can be tried.
pub(super) async fn stand(world: &World, namespace: &str) {
    let cluster = json!({"apiVersion": "cluster.x-k8s.io/v1beta1", "kind": "Cluster",
        "metadata": {"name": "prod.eu", "labels": {"env": "prod"}}, "spec": {"topology": topology()}});
    world.initiator.create(&clusters(namespace, "v1beta1"), &cluster).await;
    for kind in ["HostedCluster", "NodePool"] {
        let object = json!({"apiVersion": "hypershift.openshift.io/v1beta1", "kind": kind,
            "metadata": {"name": "prod.eu", "labels": {"env": "prod"}},
            "spec": {"release": {"image": "r@sha256:1"}, "replicas": 2, "config": [{"name": "a"}], "platform": {"type": "KubeVirt"}}});
        world.initiator.create(&hosted(namespace, kind), &object).await;
    }
}

fn topology() -> Value {
    json!({"class": "small", "version": "v1.35.0", "variables": [{"name": "image", "value": "a"}],
        "controlPlane": {"replicas": 3},
        "workers": {"machineDeployments": [
            {"class": "default", "name": "md-0", "replicas": 3, "variables": {"overrides": [{"name": "size", "value": "m"}]}},
            {"class": "default", "name": "md-1", "replicas": 1}]}})
}

/// What somebody writes who wants another version; asked, and not kept.
pub(super) async fn upgrades(
    world: &World,
    namespace: &str,
    version: &str,
) -> Result<Value, String> {
    let change = json!({"spec": {"topology": {"version": version}}});
    let path = format!("{}/prod.eu{DRY}", clusters(namespace, "v1beta1"));
    world.writer.merge(&path, &change).await
}

/// What somebody writes who wants another release; asked, and not kept.
pub(super) async fn releases(world: &World, kind: &str, namespace: &str) -> Result<Value, String> {
    let change = json!({"spec": {"release": {"image": "r@sha256:2"}}});
    world.writer.merge(&format!("{}/prod.eu{DRY}", hosted(namespace, kind)), &change).await
}

pub(super) async fn are_judged(world: &World) {
    world.usual_namespaces().await;
    stand(world, "shop").await;
    topologies_wait(world).await;
    hosted_releases_wait(world).await;
    labels_do_not_let_anybody_out(world).await;
}

/// Whatever rolls out machines, by every verb, in both versions, and nothing else.
async fn topologies_wait(world: &World) {
    let by = "held by ChangeGate shop/clusters";
    let at = format!("{}/prod.eu", clusters("shop", "v1beta1"));
    let newer = format!("{}/prod.eu", clusters("shop", "v1beta2"));
    let upgrade = async || upgrades(world, "shop", "v1.36.0").await;
    until("nothing holds", async || upgrade().await.is_ok()).await;
    let hold = json!({"what": "ClusterTopologies", "names": ["prod.eu"]});
    shut(world, "clusters", hold, &upgrade).await;
    let changed = |path: &str, value: Value| {
        let mut topology = topology();
        match topology.pointer_mut(path) {
            Some(found) => *found = value,
            None => topology[path.trim_start_matches('/')] = value,
        }
        topology
    };
    let replaced = json!([{"class": "default", "name": "md-1", "variables": {"overrides": []}}]);
    let others = json!([{"class": "default", "name": "md-9", "replicas": 9}]);
    let began = [
        changed("/version", json!("v1.36.0")),
        changed("/class", json!("large")),
        changed("/classNamespace", json!("elsewhere")),
        changed("/classRef", json!({"name": "large"})),
        changed("/variables", json!([{"name": "image", "value": "b"}])),
        changed("/variables", json!([])),
        changed(
            "/controlPlane",
            json!({"replicas": 3, "variables": {"overrides": [{"name": "x", "value": 1}]}}),
        ),
        changed("/workers/machineDeployments/0/variables/overrides/0/value", json!("l")),
        changed("/workers/machineDeployments/1/class", json!("gpu")),
        changed("/workers/machineDeployments", replaced),
    ];
    let put = async |path: &str, object: &Value| {
        world.writer.send("PUT", &format!("{path}{DRY}"), "application/json", object).await
    };
    for path in [&at, &newer] {
        let old = world.admin.get(path).await;
        for topology in &began {
            let mut object = old.clone();
            object["spec"]["topology"] = topology.clone();
            // RCH-10: a write that only takes fields away leaves no stamp, so something else changes with it.
            object["metadata"]["annotations"] = json!({"changed": "yes"});
            held(put(path, &object).await, by);
        }
        let alone = json!({"spec": {"topology": {"variables": null}}});
        held(
            world.writer.merge(&format!("{path}{DRY}"), &alone).await,
            "the server has no fresh stamp",
        );
        let applied = json!({"apiVersion": old["apiVersion"], "kind": "Cluster", "metadata": {"name": "prod.eu"},
            "spec": {"topology": {"version": "v1.36.0"}}});
        held(world.writer.apply(&format!("{path}{DRY}"), &applied).await, by);
        for topology in [
            changed("/controlPlane/replicas", json!(5)),
            changed("/controlPlane", json!({"replicas": 3, "nodeDrainTimeout": "5m"})),
            changed("/workers/machineDeployments/0/replicas", json!(9)),
            changed("/workers/machineDeployments", others.clone()),
            changed("/version", json!("v1.35.0")),
        ] {
            let mut object = old.clone();
            object["spec"]["topology"] = topology;
            object["metadata"]["annotations"] = json!({"changed": "yes"});
            passes(put(path, &object).await);
        }
        let status = json!({"status": {"phase": "Provisioned"}});
        passes(world.writer.merge(&format!("{path}/status{DRY}"), &status).await);
        let paused = json!({"spec": {"paused": true}, "metadata": {"labels": {"env": "test"}}});
        passes(world.writer.merge(&format!("{path}{DRY}"), &paused).await);
    }
    // A cluster that gets a topology is rolled out by it; a new cluster is nobody's yet.
    let plain = json!({"apiVersion": "cluster.x-k8s.io/v1beta1", "kind": "Cluster", "metadata": {"name": "other"}, "spec": {}});
    world.initiator.create(&clusters("shop", "v1beta1"), &plain).await;
    let adopted = json!({"spec": {"topology": topology()}});
    let other = format!("{}/other{DRY}", clusters("shop", "v1beta1"));
    passes(world.writer.merge(&other, &adopted).await);
    opens(world, "clusters", &upgrade).await;
    shut(world, "clusters", json!({"what": "ClusterTopologies"}), &upgrade).await;
    held(world.writer.merge(&other, &adopted).await, by);
    let mut new = plain;
    new["metadata"]["name"] = json!("new");
    new["spec"] = json!({"topology": topology()});
    passes(world.post(&format!("{}{DRY}", clusters("shop", "v1beta1")), &new).await);
    passes(upgrades(world, "probe", "v1.36.0").await);
    opens(world, "clusters", &upgrade).await;
}

/// Releases of control planes and of nodes, what else replaces nodes, and nothing else.
async fn hosted_releases_wait(world: &World) {
    let began = |kind: &str| match kind {
        "HostedCluster" => vec![
            json!({"spec": {"release": {"image": "r@sha256:2"}, "replicas": 9}}),
            json!({"spec": {"controlPlaneRelease": {"image": "r@sha256:2"}}}),
            json!({"metadata": {"annotations": {FORCED: "r@sha256:2"}}}),
        ],
        _ => vec![
            json!({"spec": {"release": {"image": "r@sha256:2"}}}),
            json!({"spec": {"config": [{"name": "b"}]}}),
            json!({"spec": {"tuningConfig": [{"name": "t"}]}}),
            json!({"spec": {"platform": {"type": "KubeVirt", "kubevirt": {"compute": {"cores": 8}}}}}),
        ],
    };
    for (kind, room, gate) in
        [("HostedCluster", "HostedClusters", "planes"), ("NodePool", "NodePools", "nodes")]
    {
        let by = format!("held by ChangeGate shop/{gate}");
        let path = format!("{}/prod.eu", hosted("shop", kind));
        let merge =
            async |change: &Value| world.writer.merge(&format!("{path}{DRY}"), change).await;
        let release = async || releases(world, kind, "shop").await;
        until("nothing holds", async || release().await.is_ok()).await;
        shut(world, gate, json!({"what": room}), &release).await;
        for change in began(kind) {
            held(merge(&change).await, &by);
            let mut applied = change.clone();
            applied["apiVersion"] = json!("hypershift.openshift.io/v1beta1");
            applied["kind"] = json!(kind);
            applied["metadata"]["name"] = json!("prod.eu");
            held(world.writer.apply(&format!("{path}{DRY}"), &applied).await, &by);
        }
        // Taking the release away is a change too, and leaves no stamp.
        held(merge(&json!({"spec": {"release": null}})).await, "the server has no fresh stamp");
        let whole = json!({"spec": {"release": {"image": "r@sha256:1", "digest": null}}, "metadata": {"annotations": {"a": "b"}}});
        passes(merge(&whole).await);
        for change in [
            json!({"spec": {"replicas": 9}}),
            json!({"spec": {"pausedUntil": "true"}}),
            json!({"spec": {"nodeDrainTimeout": "5m", "configuration": {"proxy": {}}}}),
            json!({"metadata": {"labels": {"other": "x"}, "annotations": {"hypershift.openshift.io/restart-date": "x"}}}),
            json!({"metadata": {"annotations": {"changemanagement.openshift.io/wanted-image": "x"}}}),
        ] {
            passes(merge(&change).await);
        }
        let status = json!({"status": {"version": {"desired": {"image": "r@sha256:2"}}}});
        passes(world.writer.merge(&format!("{path}/status{DRY}"), &status).await);
        let new = json!({"apiVersion": "hypershift.openshift.io/v1beta1", "kind": kind, "metadata": {"name": "new"},
            "spec": {"release": {"image": "r@sha256:2"}}});
        passes(world.post(&format!("{}{DRY}", hosted("shop", kind)), &new).await);
        passes(releases(world, kind, "probe").await);
        passes(world.initiator.merge(&format!("{path}{DRY}"), &began(kind)[0]).await);
        opens(world, gate, &release).await;
    }
}

/// RCH-12: who takes away the label by which something was chosen would change it next.
async fn labels_do_not_let_anybody_out(world: &World) {
    let chosen = json!({"matchLabels": {"env": "prod"}});
    let rooms = [
        ("ClusterTopologies", format!("{}/prod.eu", clusters("shop", "v1beta2"))),
        ("HostedClusters", format!("{}/prod.eu", hosted("shop", "HostedCluster"))),
        ("NodePools", format!("{}/prod.eu", hosted("shop", "NodePool"))),
    ];
    let relabel = async |path: &str| {
        let change = json!({"metadata": {"labels": {"env": "test"}}});
        world.writer.merge(&format!("{path}{DRY}"), &change).await
    };
    for (room, path) in rooms {
        let hold = json!({"what": room, "selector": chosen});
        shut(world, "labels", hold, &async || relabel(&path).await).await;
        let other = json!({"metadata": {"labels": {"other": "x"}}});
        passes(world.writer.merge(&format!("{path}{DRY}"), &other).await);
        let gone = json!({"metadata": {"labels": {"env": null}, "annotations": {"a": "b"}}});
        held(
            world.writer.merge(&format!("{path}{DRY}"), &gone).await,
            "held by ChangeGate shop/labels",
        );
        opens(world, "labels", &async || relabel(&path).await).await;
    }
}
