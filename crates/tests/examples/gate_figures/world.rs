//! Namespaces with gates, and what they hold.

use std::{path::Path, sync::Arc, time::Duration};

use api::names;
use futures_util::{StreamExt as _, stream};
use jiff::{Timestamp, ToSpan as _};
use runtime::{
    call::{Cluster, Collection, Patch},
    client::{configuration, connect},
    clock::SystemClock,
    telemetry::Telemetry,
};
use serde_json::{Value, json};
use tidy::{Tree, permits};

/// How many requests are under way at once while objects are made.
const HANDS: usize = 16;

const MANAGER: &str = "figures";
const CRDS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const OURS: &str = "/apis/changemanagement.openshift.io/v1alpha1/namespaces";
const APPS: &str = "/apis/apps/v1/namespaces";

pub(crate) struct World {
    cluster: Cluster,
}

impl World {
    pub(crate) async fn new(kubeconfig: &Path) -> Self {
        let client = connect(configuration(Some(kubeconfig)).await.unwrap()).unwrap();
        let patience = Duration::from_mins(1);
        let telemetry = Arc::new(Telemetry::default());
        Self { cluster: Cluster::new(client, Arc::new(SystemClock), telemetry, patience) }
    }

    async fn create(&self, path: &str, object: &Value) {
        self.cluster.create(path, object).await.unwrap();
    }

    /// Nothing is kept of it, so that each has a fresh stamp, by whichever manager.
    async fn merge(&self, path: &str, change: &Value) {
        self.cluster.patch(path, Patch::merge(MANAGER, change).as_dry_run()).await.unwrap();
    }

    /// The definitions of gates and all that policies ask for.
    pub(crate) async fn define(&self) {
        let shipped = Tree::top().join("deploy/manifests/change-gates/0-crds.yaml");
        let shipped = std::fs::read_to_string(shipped).unwrap();
        let definitions: Vec<Value> = serde_saphyr::from_multiple(&shipped).unwrap();
        for definition in definitions.iter().filter(|definition| !definition.is_null()) {
            self.create(CRDS, definition).await;
            let plural = definition["spec"]["names"]["plural"].as_str().unwrap();
            let all =
                Collection::of(format!("/apis/changemanagement.openshift.io/v1alpha1/{plural}"));
            while self.cluster.version_of(&all).await.is_err() {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
    }

    /// The policies as they are shipped; they stand once one was seen refusing.
    pub(crate) async fn policies(&self) {
        for (collection, document) in
            permits::admission("deploy/manifests/change-gates/change-gates.yaml")
        {
            self.create(collection, &document).await;
        }
        self.namespace("tried").await;
        self.stateful_set("tried").await;
        let gate = gate("tried", &json!([{"what": "StatefulSets"}]));
        self.create(&format!("{OURS}/tried/changegates"), &gate).await;
        let path = format!("{APPS}/tried/statefulsets/db");
        for turn in 0.. {
            let change = Patch::merge("tried", &template(turn)).as_dry_run();
            if self.cluster.patch(&path, change).await.is_err() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    pub(crate) async fn namespace(&self, name: &str) {
        let namespace =
            json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}});
        self.create("/api/v1/namespaces", &namespace).await;
    }

    pub(crate) async fn stateful_set(&self, namespace: &str) {
        let mut set = workload("StatefulSet", "db", 1);
        set["spec"]["serviceName"] = json!("db");
        self.create(&format!("{APPS}/{namespace}/statefulsets"), &set).await;
        let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "map"}});
        self.create(&format!("/api/v1/namespaces/{namespace}/configmaps"), &map).await;
    }

    /// A gate that is open, with as many windows as the operator writes.
    pub(crate) async fn open_gate(&self, namespace: &str, number: usize) {
        let name = format!("gate-{number}");
        let all = format!("{OURS}/{namespace}/changegates");
        let gate = gate(&name, &json!([{"what": "StatefulSets"}]));
        self.create(&all, &gate).await;
        let now = Timestamp::now();
        let windows: Vec<Value> = (0..64)
            .map(|day: i64| {
                let start = now + (day * 24 - 1).hours();
                json!({"startTime": second(start), "endTime": second(start + 5.hours())})
            })
            .collect();
        let ready = json!({"type": "Ready", "status": "True", "reason": "AsExpected", "message": "",
            "lastTransitionTime": "2026-01-01T00:00:00Z"});
        let status =
            json!({"status": {"observedGeneration": 1, "windows": windows, "conditions": [ready]}});
        let path = format!("{all}/{name}/status");
        self.cluster.patch(&path, Patch::merge("figures", &status)).await.unwrap();
    }

    pub(crate) async fn template(&self, gates: usize, round: usize) {
        let path = format!("{APPS}/gates-{gates}/statefulsets/db");
        // What the server has heard of a gate it goes by at once; the first writes may come before that.
        while let Err(error) =
            self.cluster.patch(&path, Patch::merge(MANAGER, &template(round)).as_dry_run()).await
        {
            assert!(round == 0, "{}", error.told());
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    pub(crate) async fn scale(&self, gates: usize, round: usize) {
        let path = format!("{APPS}/gates-{gates}/statefulsets/db");
        let change = json!({"spec": {"replicas": round}});
        self.merge(&path, &change).await;
    }

    pub(crate) async fn config_map(&self, round: usize) {
        let change = json!({"data": {"round": round.to_string()}});
        let path = "/api/v1/namespaces/gates-5/configmaps/map";
        self.merge(path, &change).await;
    }

    /// So many namespaces with a gate, and so many Deployments in each that were rolled out once.
    pub(crate) async fn fill(&self, namespaces: usize, each: usize) {
        stream::iter(0..namespaces)
            .for_each_concurrent(HANDS, async |number| {
                let namespace = format!("team-{number}");
                self.namespace(&namespace).await;
                let gate = gate("rollouts", &json!([{"what": "Deployments"}]));
                self.create(&format!("{OURS}/{namespace}/changegates"), &gate).await;
                for number in 0..each {
                    self.rolled_out(&namespace, &format!("web-{number}")).await;
                }
            })
            .await;
    }

    async fn rolled_out(&self, namespace: &str, name: &str) {
        let deployment = workload("Deployment", name, 1);
        let all = format!("{APPS}/{namespace}/deployments");
        let made = self.cluster.create(&all, &deployment).await.unwrap();
        // As its controller makes it from what the server has filled in.
        let mut template = made["spec"]["template"].clone();
        template["metadata"]["labels"]["pod-template-hash"] = json!("1");
        let set = json!({"apiVersion": "apps/v1", "kind": "ReplicaSet",
            "metadata": {"name": format!("{name}-1"), "labels": template["metadata"]["labels"],
                "annotations": {"deployment.kubernetes.io/revision": "1"},
                "ownerReferences": [{"apiVersion": "apps/v1", "kind": "Deployment", "name": name, "uid": made["metadata"]["uid"], "controller": true}]},
            "spec": {"replicas": 3, "selector": {"matchLabels": template["metadata"]["labels"]}, "template": template}});
        self.create(&format!("{APPS}/{namespace}/replicasets"), &set).await;
    }

    /// Somebody wants another template of one of them.
    pub(crate) async fn change(&self, namespace: &str) {
        let path = format!("{APPS}/{namespace}/deployments/web-0");
        self.cluster.patch(&path, Patch::merge("figures", &template(1))).await.unwrap();
    }

    /// How many changes the gate of a namespace says that wait.
    pub(crate) async fn pending(&self, namespace: &str) -> u64 {
        let path = format!("{OURS}/{namespace}/changegates/rollouts");
        let gate: Value = self.cluster.get(&path).await.unwrap();
        gate["status"]["holds"][0]["pending"].as_u64().unwrap_or_default()
    }
}

fn second(at: Timestamp) -> String {
    Timestamp::from_second(at.as_second()).unwrap().to_string()
}

fn gate(name: &str, holds: &Value) -> Value {
    json!({"apiVersion": names::API_VERSION, "kind": names::CHANGE_GATE, "metadata": {"name": name},
        "spec": {"changeManagement": {"strategy": "Restrictive"}, "holds": holds}})
}

fn template(turn: usize) -> Value {
    json!({"spec": {"template": {"metadata": {"annotations": {"turn": turn.to_string()}}}}})
}

fn workload(kind: &str, name: &str, replicas: u32) -> Value {
    let labels = json!({"app": name});
    json!({"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": name},
        "spec": {"replicas": replicas, "selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels},
            "spec": {"containers": [{"name": "app", "image": "app:1", "env": [{"name": "A", "value": "1"}], "resources": {"limits": {"cpu": "250m"}}}]}}}})
}
