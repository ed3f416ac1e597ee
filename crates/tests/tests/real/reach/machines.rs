//! What is refused of Cluster API, and what goes on? (HOST-3, RCH-3, RCH-5, RCH-8)
//!
//! Its controller is played by its own writes, as it notes them: how many machines are wanted stands on each set, so that a step of a rollout is told
//! from scaling.

use serde_json::{Value, json};

use super::{
    rows::{held, passes},
    world::{World, gate_path, open_now, open_tomorrow},
};
use crate::rollout::writers::{OPERATOR, Writer, until};

pub(super) const SETS: &str = "/apis/cluster.x-k8s.io/v1beta1/namespaces";
const REVISION: &str = "machinedeployment.clusters.x-k8s.io/revision";
const DESIRED: &str = "machinedeployment.clusters.x-k8s.io/desired-replicas";

/// The kinds as loosely as the policies look at them.
pub(super) fn definitions() -> [Value; 2] {
    [("MachineSet", "machinesets"), ("MachineDeployment", "machinedeployments")].map(|(kind, plural)| {
        json!({
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": format!("{plural}.cluster.x-k8s.io")},
            "spec": {
                "group": "cluster.x-k8s.io",
                "scope": "Namespaced",
                "names": {"kind": kind, "plural": plural, "singular": kind.to_lowercase(), "listKind": format!("{kind}List")},
                "versions": [{"name": "v1beta1", "served": true, "storage": true, "subresources": {"status": {}},
                    "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}],
            },
        })
    })
}

/// A set of a `MachineDeployment`, at a revision, with so many of so many machines.
pub(super) fn set(deployment: &str, revision: &str, replicas: i64, desired: i64) -> Value {
    json!({
        "apiVersion": "cluster.x-k8s.io/v1beta1",
        "kind": "MachineSet",
        "metadata": {
            "name": format!("{deployment}-{revision}"),
            "labels": {"cluster.x-k8s.io/deployment-name": deployment},
            "annotations": {REVISION: revision, DESIRED: desired.to_string()},
            "ownerReferences": [{"apiVersion": "cluster.x-k8s.io/v1beta1", "kind": "MachineDeployment", "name": deployment,
                "uid": "c0ffee00-0000-4000-8000-000000000000", "controller": true}],
        },
        "spec": {"replicas": replicas, "template": {"spec": {"version": revision}}},
    })
}

pub(super) async fn are_judged(world: &World) {
    world.usual_namespaces().await;
    let sets = format!("{SETS}/shop/machinesets");
    let (at, dry) = (format!("{sets}/workers-1"), "?dryRun=All");
    // A set whose owner is not there would be collected.
    let owner = json!({"apiVersion": "cluster.x-k8s.io/v1beta1", "kind": "MachineDeployment",
        "metadata": {"name": "workers"}, "spec": {"replicas": 3}});
    let owner = world.post(&format!("{SETS}/shop/machinedeployments"), &owner).await.unwrap();
    let mut first = set("workers", "1", 3, 3);
    first["metadata"]["ownerReferences"][0]["uid"] = owner["metadata"]["uid"].clone();
    world.admin.create(&sets, &first).await;
    derived_gates_are_the_operators(world).await;
    world.open(&gate_path("shop", "workers"), &[open_tomorrow()]).await;
    let second = set("workers", "2", 1, 3);
    let by = "held by ChangeGate shop/workers";
    until("it is shut until tomorrow", async || {
        let answer = world.post(&format!("{sets}{dry}"), &second).await;
        answer.is_err_and(|said| said.contains(&format!("{by}, which opens at ")))
    })
    .await;
    let merge = async |change: Value| world.writer.merge(&format!("{at}{dry}"), &change).await;
    let scaled = |replicas: i64, desired: &str| json!({"metadata": {"annotations": {DESIRED: desired}}, "spec": {"replicas": replicas}});
    // Steps: the new set, machines that leave the old one, machines that come back.
    held(world.writer.apply(&format!("{sets}/workers-2{dry}"), &second).await, by);
    held(merge(json!({"spec": {"replicas": 2}})).await, by);
    held(merge(json!({"spec": {"replicas": 4}})).await, by);
    held(merge(scaled(2, "3")).await, by);
    // Whoever pretends not to know what is wanted is held too, where nothing was noted before.
    let controller = "system:serviceaccount:capi-system:capi-manager";
    let controller = Writer::new(&world.client, controller, &["system:masters"], None);
    held(controller.merge(&format!("{at}{dry}"), &json!({"spec": {"replicas": 2}})).await, by);
    // Scaling, healing, labels, time limits, the first set, and what no MachineDeployment owns.
    passes(merge(scaled(5, "5")).await);
    passes(merge(scaled(1, "1")).await);
    passes(merge(json!({"metadata": {"annotations": {DESIRED: "4"}}})).await);
    passes(merge(json!({"metadata": {"labels": {"a": "b"}}})).await);
    passes(merge(json!({"spec": {"template": {"spec": {"nodeDrainTimeout": "10m"}}}})).await);
    passes(
        world.writer.merge(&format!("{at}/status{dry}"), &json!({"status": {"replicas": 3}})).await,
    );
    passes(world.post(&format!("{sets}{dry}"), &set("another", "2", 1, 3)).await);
    let mut plain = set("workers", "2", 1, 3);
    plain["metadata"].as_object_mut().unwrap().remove("ownerReferences");
    passes(world.post(&format!("{sets}{dry}"), &plain).await);
    let elsewhere = format!("{SETS}/lab/machinesets{dry}");
    passes(world.post(&elsewhere, &second).await);
    passes(world.initiator.merge(&format!("{at}{dry}"), &json!({"spec": {"replicas": 2}})).await);
    // Its window opens.
    world.open(&gate_path("shop", "workers"), &[open_now()]).await;
    until("it is open", async || world.post(&format!("{sets}{dry}"), &second).await.is_ok()).await;
    // RCH-10: within the second in which the same manager made the set, the server has no fresh stamp.
    until("a step passes", async || merge(json!({"spec": {"replicas": 2}})).await.is_ok()).await;
    let operator = Writer::new(&world.client, OPERATOR, &["system:masters"], None);
    operator.send("DELETE", &gate_path("shop", "workers"), "", &Value::Null).await.unwrap();
}

/// RCH-8: nobody else makes a gate that goes by an object of another namespace, nor changes, opens or deletes one.
async fn derived_gates_are_the_operators(world: &World) {
    let gates = "/apis/changemanagement.openshift.io/v1alpha1/namespaces/shop/changegates";
    let gate = |name: &str| {
        json!({"apiVersion": "changemanagement.openshift.io/v1alpha1", "kind": "ChangeGate",
            "metadata": {"name": name},
            "spec": {"derivedFrom": {"kind": "NodePool", "namespace": "tenants", "name": "workers"},
                "holds": [{"what": "MachineDeployments", "names": ["workers"]}]}})
    };
    let refused = "only the operator derives gates";
    until(refused, async || {
        let answer = world.post(&format!("{gates}?dryRun=All"), &gate("mine")).await;
        answer.is_err_and(|said| said.contains(refused))
    })
    .await;
    held(world.admin.apply(&format!("{gates}/mine?dryRun=All"), &gate("mine")).await, refused);
    let operator = Writer::new(&world.client, OPERATOR, &["system:masters"], None);
    operator.create(gates, &gate("workers")).await;
    let at = format!("{gates}/workers");
    for change in [
        json!({"spec": {"derivedFrom": {"name": "mine"}}}),
        json!({"spec": {"derivedFrom": null, "changeManagement": {"strategy": "Permissive"}}}),
        json!({"spec": {"holds": [{"what": "KuredLock"}]}}),
        json!({"spec": {"mode": "Audit"}}),
        // An owner that is not there would have it collected.
        json!({"metadata": {"ownerReferences": [{"apiVersion": "v1", "kind": "ConfigMap", "name": "gone",
            "uid": "c0ffee00-0000-4000-8000-000000000001"}]}}),
    ] {
        held(world.admin.merge(&format!("{at}?dryRun=All"), &change).await, refused);
    }
    // The windows are what the server goes by.
    let opened = json!({"status": {"observedGeneration": 1, "windows": [{}],
        "conditions": [{"type": "Ready", "status": "True", "reason": "AsExpected", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"}]}});
    held(world.admin.merge(&format!("{at}/status?dryRun=All"), &opened).await, refused);
    held(world.admin.send("DELETE", &format!("{at}?dryRun=All"), "", &Value::Null).await, refused);
    passes(world.initiator.send("DELETE", &format!("{at}?dryRun=All"), "", &Value::Null).await);
    goes_with_its_namespace(world, &operator, &gate("workers")).await;
    let own = json!({"apiVersion": "changemanagement.openshift.io/v1alpha1", "kind": "ChangeGate", "metadata": {"name": "own"},
        "spec": {"changeManagement": {"strategy": "Restrictive"}, "holds": [{"what": "KuredLock"}]}});
    world.admin.create(gates, &own).await;
    let derive = json!({"spec": {"changeManagement": null, "derivedFrom": {"kind": "NodePool", "namespace": "a", "name": "b"}}});
    held(world.admin.merge(&format!("{gates}/own?dryRun=All"), &derive).await, refused);
    let both =
        json!({"spec": {"derivedFrom": {"kind": "NodePool", "namespace": "a", "name": "b"}}});
    held(
        operator.merge(&format!("{gates}/own?dryRun=All"), &both).await,
        "changeManagement is required, unless",
    );
    held(
        world
            .admin
            .merge(&format!("{gates}/own?dryRun=All"), &json!({"spec": {"changeManagement": null}}))
            .await,
        "changeManagement is required, unless",
    );
    passes(
        world
            .admin
            .merge(&format!("{at}?dryRun=All"), &json!({"metadata": {"labels": {"a": "b"}}}))
            .await,
    );
    world.remove_gate("shop", "own").await;
}

/// Whoever empties a namespace that is deleted may be anybody, by the flags of the controllers: a gate that nobody could delete would keep it for ever.
async fn goes_with_its_namespace(world: &World, operator: &Writer, gate: &Value) {
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "going"}});
    world.admin.create("/api/v1/namespaces", &namespace).await;
    let gates = "/apis/changemanagement.openshift.io/v1alpha1/namespaces/going/changegates";
    operator.create(gates, gate).await;
    let at = format!("{gates}/workers");
    let delete = async |path: &str| world.admin.send("DELETE", path, "", &Value::Null).await;
    held(delete(&at).await, "only the operator derives gates");
    delete("/api/v1/namespaces/going").await.unwrap();
    until("it goes with its namespace", async || {
        delete(&at).await.is_ok() || world.admin.send("GET", &at, "", &Value::Null).await.is_err()
    })
    .await;
}
