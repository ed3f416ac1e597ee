//! Who makes the machines that Cluster API asks for? A provider of infrastructure that has none: a machine is a node in the guest.
//!
//! The guest is any server. A machine boots when somebody lets it: its node appears, ready and under no pressure, and its object says where it is.
//! When Cluster API deletes a machine it deletes the node itself, as it does with real ones.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use kube::Client;
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use crate::{cluster_api::define, control_plane::StartError};

/// The group of its kinds, which Cluster API expects providers to share.
pub const GROUP: &str = "infrastructure.cluster.x-k8s.io";
const MACHINES: &str = "/apis/infrastructure.cluster.x-k8s.io/v1/rigmachines";
const DEPLOYMENT: &str = "cluster.x-k8s.io/deployment-name";
const BETWEEN_LOOKS: Duration = Duration::from_millis(100);

/// The running provider, stopped on drop.
#[derive(Debug)]
pub struct Infrastructure {
    /// The deployments whose machines do not boot.
    kept: Arc<Mutex<BTreeSet<String>>>,
    running: JoinHandle<()>,
}

impl Infrastructure {
    /// Defines its kinds in `host`, and the control plane of a hosted cluster as Cluster API looks at it; then makes machines in `guest`.
    pub async fn start(host: Client, guest: Client) -> Result<Infrastructure, StartError> {
        for definition in definitions() {
            define(&host, &definition).await?;
        }
        let kept = Arc::default();
        let running = tokio::spawn({
            let kept = Arc::clone(&kept);
            async move {
                loop {
                    boot(&host, &guest, &kept).await;
                    tokio::time::sleep(BETWEEN_LOOKS).await;
                }
            }
        });
        Ok(Infrastructure { kept, running })
    }

    /// Machines of this `MachineDeployment` that are asked for from now on do not boot before [`Self::let_boot`].
    pub fn keep_from_booting(&self, deployment: &str) {
        locked(&self.kept).insert(deployment.to_owned());
    }

    /// They boot.
    pub fn let_boot(&self, deployment: &str) {
        locked(&self.kept).remove(deployment);
    }
}

fn locked(kept: &Mutex<BTreeSet<String>>) -> std::sync::MutexGuard<'_, BTreeSet<String>> {
    kept.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Drop for Infrastructure {
    fn drop(&mut self) {
        self.running.abort();
    }
}

/// Boots each machine that has not booted. What fails is tried again at the next look.
async fn boot(host: &Client, guest: &Client, kept: &Mutex<BTreeSet<String>>) {
    let Ok(machines) = send(host, "GET", MACHINES, "", &Value::Null).await else { return };
    let machines = machines["items"].as_array().cloned().unwrap_or_default();
    let new = machines.iter().filter(|machine| {
        let of = machine["metadata"]["labels"][DEPLOYMENT].as_str().unwrap_or_default();
        !locked(kept).contains(of)
            && machine["status"]["initialization"]["provisioned"] != true
            && machine["metadata"].get("deletionTimestamp").is_none()
    });
    for machine in new {
        let text = |key: &str| machine["metadata"][key].as_str().unwrap_or_default();
        let (namespace, name) = (text("namespace"), text("name"));
        let node = node(name);
        let json = "application/json";
        // It may be there from the last look.
        let _ = send(guest, "POST", "/api/v1/nodes", json, &node).await;
        let told = json!({"status": node["status"]});
        let merge = "application/merge-patch+json";
        let at = format!("/api/v1/nodes/{name}/status");
        if send(guest, "PATCH", &at, merge, &told).await.is_err() {
            continue;
        }
        let at = format!("/apis/{GROUP}/v1/namespaces/{namespace}/rigmachines/{name}");
        let place = json!({"spec": {"providerID": node["spec"]["providerID"]}});
        if send(host, "PATCH", &at, merge, &place).await.is_err() {
            continue;
        }
        let done = json!({"status": {"initialization": {"provisioned": true}}});
        let _ = send(host, "PATCH", &format!("{at}/status"), merge, &done).await;
    }
}

/// A node without any of these conditions is not healthy to Cluster API, and its machine never available.
fn node(name: &str) -> Value {
    let condition = |(kind, status): (&str, &str)| {
        json!({"type": kind, "status": status, "reason": "Rig", "message": "",
            "lastHeartbeatTime": "2026-01-01T00:00:00Z", "lastTransitionTime": "2026-01-01T00:00:00Z"})
    };
    let conditions = [
        ("Ready", "True"),
        ("MemoryPressure", "False"),
        ("DiskPressure", "False"),
        ("PIDPressure", "False"),
    ];
    json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name},
        "spec": {"providerID": format!("rig:///{name}")},
        "status": {"conditions": conditions.map(condition)}})
}

async fn send(
    client: &Client,
    method: &str,
    path: &str,
    content: &str,
    body: &Value,
) -> Result<Value, kube::Error> {
    let mut request = http::Request::builder().method(method).uri(path);
    if !content.is_empty() {
        request = request.header("Content-Type", content);
    }
    let body = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
    let request = request.body(body).map_err(kube::Error::HttpError)?;
    client.request(request).await
}

/// Its kinds, as loosely as Cluster API looks at them. The label of each names the contract that it keeps and its own version for that.
fn definitions() -> Vec<Value> {
    let definition = |group: &str, kind: &str, contract: &str, version: &str| {
        let singular = kind.to_lowercase();
        let loose = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
        json!({
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {
                "name": format!("{singular}s.{group}"),
                "labels": {format!("cluster.x-k8s.io/{contract}"): version},
            },
            "spec": {
                "group": group,
                "scope": "Namespaced",
                "names": {"kind": kind, "plural": format!("{singular}s"), "singular": singular, "listKind": format!("{kind}List")},
                "versions": [{"name": version, "served": true, "storage": true, "subresources": {"status": {}},
                    "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": loose, "status": loose}}}}],
            },
        })
    };
    vec![
        definition("hypershift.openshift.io", "HostedControlPlane", "v1beta1", "v1beta1"),
        definition(GROUP, "RigCluster", "v1beta2", "v1"),
        definition(GROUP, "RigMachineTemplate", "v1beta2", "v1"),
        definition(GROUP, "RigMachine", "v1beta2", "v1"),
    ]
}
