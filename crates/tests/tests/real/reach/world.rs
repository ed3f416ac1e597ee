//! A cluster with our definitions and policies as they are shipped, and the writes that begin changes.

use api::{names, reach::Window};
use jiff::{Timestamp, ToSpan as _};
use kube::Client;
use serde_json::{Value, json};
use tidy::{Tree, permits};

use super::{clusters, machines, probes, syncs, upgraders};
use crate::rollout::writers::{INITIATORS, OPERATOR, RIGHTS, Writer, until};

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
pub(super) const GROUP: &str = "/apis/changemanagement.openshift.io/v1alpha1";
pub(super) const LOCK: &str = "weave.works/kured-node-lock";
pub(super) const CLUSTER_VERSIONS: &str = "/apis/config.openshift.io/v1/clusterversions";
const STAND_IN: &str = "apps.example.com";
const STAND_IN_OF_JOBS: &str = "batch.example.com";
const REVISION: &str = "deployment.kubernetes.io/revision";

pub(super) struct World {
    pub(super) client: Client,
    pub(super) admin: Writer,
    /// Whoever makes first writes: somebody with every right that a role can give.
    pub(super) writer: Writer,
    pub(super) initiator: Writer,
    /// The group of workloads, and its version, as a path.
    pub(super) apps: String,
}

impl World {
    /// Definitions before policies; they stand once each kind of gate was seen refusing for each room.
    pub(super) async fn install(client: &Client) -> Self {
        Self::install_with(client, vec![cluster_versions()]).await
    }

    /// The same with these definitions of OpenShift.
    pub(super) async fn install_with(client: &Client, openshift: Vec<Value>) -> Self {
        let world = Self {
            client: client.clone(),
            admin: Writer::new(client, "admin", &[RIGHTS], None),
            writer: Writer::new(client, "writer", &[RIGHTS], None),
            initiator: Writer::new(client, "jane", &[RIGHTS, INITIATORS], None),
            apps: String::new(),
        };
        let stand_ins = world.stand_ins().await;
        let group = if stand_ins.is_empty() { "apps" } else { STAND_IN };
        let world = Self { apps: format!("/apis/{group}/v1"), ..world };
        let shipped = Tree::top().join("deploy/manifests/change-gates/0-crds.yaml");
        let shipped = std::fs::read_to_string(shipped).unwrap();
        let definitions: Vec<Value> = serde_saphyr::from_multiple(&shipped).unwrap();
        let definitions = definitions.into_iter().filter(|document| !document.is_null());
        let others = [syncs::definition()].into_iter().chain(machines::definitions());
        let others = others.chain(upgraders::definitions()).chain(clusters::definitions());
        for definition in definitions.chain(stand_ins).chain(others).chain(openshift) {
            world.admin.create(DEFINITIONS, &definition).await;
        }
        for served in [
            format!("{GROUP}/changegates"),
            format!("{GROUP}/clusterchangegates"),
            format!("{GROUP}/changefreezes"),
            format!("{GROUP}/clusterchangefreezes"),
            "/apis/argoproj.io/v1alpha1/applications".to_owned(),
            CLUSTER_VERSIONS.to_owned(),
            "/apis/cluster.x-k8s.io/v1beta1/machinesets".to_owned(),
            format!("{GROUP}/changeoverrides"),
            format!("{GROUP}/clusterchangeoverrides"),
            format!("{}/replicasets", world.apps),
            format!("{}/deployments", world.apps),
            format!("{}/statefulsets", world.apps),
            format!("{}/daemonsets", world.apps),
            format!("{}/jobs", world.batch()),
        ]
        .into_iter()
        .chain(upgraders::served())
        .chain(clusters::served())
        {
            until(&served, async || {
                world.admin.send("GET", &served, "", &Value::Null).await.is_ok()
            })
            .await;
        }
        for (collection, mut document) in
            ["change-gates/change-gates.yaml", "stock-hosted/stock-hosted.yaml"]
                .into_iter()
                .flat_map(|file| permits::admission(&format!("deploy/manifests/{file}")))
        {
            let rules = document.pointer_mut("/spec/matchConstraints/resourceRules");
            for rule in rules.and_then(Value::as_array_mut).into_iter().flatten() {
                if rule["apiGroups"] == json!(["apps"]) {
                    rule["apiGroups"] = json!([group]);
                }
                if rule["apiGroups"] == json!(["batch"]) && !world.has_workloads() {
                    rule["apiGroups"] = json!([STAND_IN_OF_JOBS]);
                }
            }
            world.admin.create(collection, &document).await;
        }
        probes::meet_every_policy(&world).await;
        let past = json!({"reason": "probe", "until": "2020-01-01T00:00:00Z"});
        let past = freeze(names::CLUSTER_CHANGE_FREEZE, "past", &past);
        let freezes = format!("{GROUP}/clusterchangefreezes?dryRun=All");
        until("freezes", async || world.post(&freezes, &past).await.is_err()).await;
        world
    }

    /// The embedded server has no `apps/v1` of its own: there its kinds are defined in another group, as loosely as the policies look at
    /// them, and the policies are pointed there.
    async fn stand_ins(&self) -> Vec<Value> {
        if self.admin.send("GET", "/apis/apps/v1/replicasets", "", &Value::Null).await.is_ok() {
            return Vec::new();
        }
        let kinds = ["ReplicaSet", "Deployment", "StatefulSet", "DaemonSet"];
        let stand_in = |kind: &str| {
            let plural = names::plural(kind);
            json!({
                "apiVersion": "apiextensions.k8s.io/v1",
                "kind": "CustomResourceDefinition",
                "metadata": {"name": format!("{plural}.{STAND_IN}")},
                "spec": {
                    "group": STAND_IN,
                    "scope": "Namespaced",
                    "names": {"kind": kind, "plural": plural, "singular": kind.to_lowercase(), "listKind": format!("{kind}List")},
                    "versions": [{"name": "v1", "served": true, "storage": true, "subresources": {"status": {}},
                        "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}],
                },
            })
        };
        let jobs = upgraders::definition(STAND_IN_OF_JOBS, "v1", "Job");
        kinds.map(stand_in).into_iter().chain([jobs]).collect()
    }

    /// The group of Jobs, and its version, as a path.
    pub(super) fn batch(&self) -> String {
        let group = if self.has_workloads() { "batch" } else { STAND_IN_OF_JOBS };
        format!("/apis/{group}/v1")
    }

    pub(super) async fn post(&self, path: &str, body: &Value) -> Result<Value, String> {
        self.writer.send("POST", path, "application/json", &self.here(body)).await
    }

    /// Whether the server has `apps/v1` itself.
    pub(super) fn has_workloads(&self) -> bool {
        !self.apps.contains(STAND_IN)
    }

    /// A workload, by the group that this server has it in.
    pub(super) fn here(&self, workload: &Value) -> Value {
        let mut workload = workload.clone();
        if workload["apiVersion"] == "apps/v1" {
            workload["apiVersion"] = json!(self.apps.trim_start_matches("/apis/"));
        }
        if workload["apiVersion"] == "batch/v1" {
            workload["apiVersion"] = json!(self.batch().trim_start_matches("/apis/"));
        }
        workload
    }

    /// Those in which writes are judged: of a shop, of a laboratory, and two that cluster gates leave alone (RCH-13).
    pub(super) async fn usual_namespaces(&self) {
        for (namespace, env) in
            [("shop", "prod"), ("lab", "test"), ("kube-part", "prod"), ("tidegate-system", "prod")]
        {
            self.namespace(namespace, &json!({"env": env})).await;
        }
    }

    pub(super) async fn namespace(&self, name: &str, labels: &Value) {
        let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}});
        let made =
            self.admin.send("POST", "/api/v1/namespaces", "application/json", &namespace).await;
        assert!(made.is_ok() || name.starts_with("kube-"), "{made:?}");
    }

    /// A gate of this namespace; what is not said is a shut stanza.
    pub(super) async fn gate(&self, namespace: &str, name: &str, spec: Value) -> Value {
        let path = format!("{GROUP}/namespaces/{namespace}/changegates");
        let body = gate(names::CHANGE_GATE, name, spec);
        self.admin.send("POST", &path, "application/json", &body).await.unwrap()
    }

    pub(super) async fn cluster_gate(&self, name: &str, spec: Value) -> Value {
        let body = gate(names::CLUSTER_CHANGE_GATE, name, spec);
        let path = format!("{GROUP}/clusterchangegates");
        self.admin.send("POST", &path, "application/json", &body).await.unwrap()
    }

    /// A gate is gone when the server's own copy of it is: it lets pass what it held.
    pub(super) async fn remove_gate(&self, namespace: &str, name: &str) {
        let path = format!("{GROUP}/namespaces/{namespace}/changegates/{name}");
        self.admin.send("DELETE", &path, "", &Value::Null).await.unwrap();
    }

    pub(super) async fn remove_cluster_gate(&self, name: &str) {
        let path = format!("{GROUP}/clusterchangegates/{name}");
        self.admin.send("DELETE", &path, "", &Value::Null).await.unwrap();
    }

    /// A freeze of this namespace.
    pub(super) async fn freeze(&self, namespace: &str, name: &str, spec: Value) -> Value {
        let path = format!("{GROUP}/namespaces/{namespace}/changefreezes");
        let body = freeze(names::CHANGE_FREEZE, name, &spec);
        self.admin.send("POST", &path, "application/json", &body).await.unwrap()
    }

    pub(super) async fn cluster_freeze(&self, name: &str, spec: Value) -> Value {
        let body = freeze(names::CLUSTER_CHANGE_FREEZE, name, &spec);
        let path = format!("{GROUP}/clusterchangefreezes");
        self.admin.send("POST", &path, "application/json", &body).await.unwrap()
    }

    pub(super) async fn thaw(&self, namespace: &str, name: &str) {
        let path = format!("{GROUP}/namespaces/{namespace}/changefreezes/{name}");
        self.admin.send("DELETE", &path, "", &Value::Null).await.unwrap();
    }

    pub(super) async fn thaw_cluster(&self, name: &str) {
        let path = format!("{GROUP}/clusterchangefreezes/{name}");
        self.admin.send("DELETE", &path, "", &Value::Null).await.unwrap();
    }

    /// What its controller would write: a status that is ready, for the present generation.
    pub(super) async fn open(&self, path: &str, windows: &[Window]) {
        self.write_status(path, json!({"windows": windows})).await;
    }

    pub(super) async fn write_status(&self, path: &str, mut status: Value) {
        let seen = self.admin.get(path).await;
        let absent = |key: &str, status: &Value| status.get(key).is_none();
        if absent("observedGeneration", &status) {
            status["observedGeneration"] = seen["metadata"]["generation"].clone();
        }
        if absent("conditions", &status) {
            status["conditions"] = json!([{"type": "Ready", "status": "True", "reason": "AsExpected",
                "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"}]);
        }
        for key in ["windows", "computedUntil"] {
            if absent(key, &status) {
                status[key] = Value::Null;
            }
        }
        let operator = Writer::new(&self.client, OPERATOR, &[RIGHTS], None);
        operator.merge(&format!("{path}/status"), &json!({"status": status})).await.unwrap();
    }

    /// What the server has for the present, by a write that nothing holds and nobody keeps: whoever waits asks thousands of times.
    pub(super) async fn server_time(&self) -> Timestamp {
        let body = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"generateName": "clock-"}});
        let path = "/api/v1/namespaces/default/configmaps?dryRun=All";
        let made = self.admin.send("POST", path, "application/json", &body).await.unwrap();
        made["metadata"]["creationTimestamp"].as_str().unwrap().parse().unwrap()
    }
}

/// `ClusterVersion` as loosely as the policies look at it.
fn cluster_versions() -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "clusterversions.config.openshift.io"},
        "spec": {
            "group": "config.openshift.io",
            "scope": "Cluster",
            "names": {"kind": "ClusterVersion", "plural": "clusterversions", "singular": "clusterversion", "listKind": "ClusterVersionList"},
            "versions": [{"name": "v1", "served": true, "storage": true, "subresources": {"status": {}},
                "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}],
        },
    })
}

pub(super) fn gate(kind: &str, name: &str, mut spec: Value) -> Value {
    if spec.get("changeManagement").is_none() {
        spec["changeManagement"] = json!({"strategy": "Restrictive"});
    }
    json!({"apiVersion": names::API_VERSION, "kind": kind, "metadata": {"name": name}, "spec": spec})
}

pub(super) fn freeze(kind: &str, name: &str, spec: &Value) -> Value {
    json!({"apiVersion": names::API_VERSION, "kind": kind, "metadata": {"name": name}, "spec": spec})
}

pub(super) fn gate_path(namespace: &str, name: &str) -> String {
    format!("{GROUP}/namespaces/{namespace}/changegates/{name}")
}

pub(super) fn cluster_gate_path(name: &str) -> String {
    format!("{GROUP}/clusterchangegates/{name}")
}

/// A `ReplicaSet` as the deployment controller makes it for a rolling update of three pods.
pub(super) fn replica_set(deployment: &str, revision: &str, labels: &Value) -> Value {
    let mut labels = labels.clone();
    labels["pod-template-hash"] = json!("5c8");
    json!({
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {
            "generateName": format!("{deployment}-"),
            "labels": labels,
            "annotations": {REVISION: revision, "deployment.kubernetes.io/desired-replicas": "3", "deployment.kubernetes.io/max-replicas": "4"},
            "ownerReferences": [{"apiVersion": "apps/v1", "kind": "Deployment", "name": deployment, "uid": "0a", "controller": true}],
        },
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "app", "image": "app:2"}]}},
        },
    })
}

pub(super) fn daemon_set(name: &str, annotations: &Value) -> Value {
    let labels = json!({"app": name});
    json!({
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": name, "annotations": annotations, "labels": labels},
        "spec": {
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "kured", "image": "kured:1"}]}},
        },
    })
}

/// A lock as kured writes it for one node.
pub(super) fn lock(node: &str, created: &str) -> String {
    format!(
        r#"{{"nodeID":"{node}","metadata":{{"unschedulable":false}},"created":"{created}","TTL":0}}"#
    )
}

/// A lock as kured writes it for several.
pub(super) fn locks(owners: &[(&str, &str)]) -> String {
    let locks: Vec<String> = owners.iter().map(|(node, created)| lock(node, created)).collect();
    format!(r#"{{"maxOwners":2,"locks":[{}]}}"#, locks.join(","))
}

pub(super) fn window(start: Option<Timestamp>, end: Option<Timestamp>) -> Window {
    let text = |edge: Option<Timestamp>| edge.map(|edge| edge.to_string());
    Window { start_time: text(start), end_time: text(end) }
}

/// A window around the present that lasts for as long as a suite does.
pub(super) fn open_now() -> Window {
    let now = now();
    window(Some(now - 1.hour()), Some(now + 5.hours()))
}

/// One that comes tomorrow.
pub(super) fn open_tomorrow() -> Window {
    let now = now();
    window(Some(now + 24.hours()), Some(now + 28.hours()))
}

/// To the second, as servers stamp.
pub(super) fn now() -> Timestamp {
    Timestamp::from_second(Timestamp::now().as_second()).unwrap()
}
