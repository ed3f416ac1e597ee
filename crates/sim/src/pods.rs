//! Who looks after pods? One loop that does what kubelets, a scheduler and the controllers of workloads do in a cluster.
//!
//! Evicted pods take their time to end, those of workloads are made anew elsewhere and become ready after a while, so that budgets free
//! themselves. It wakes when a pod or a node changes and when something is due by the clock, and never looks in between.
//! Where the server knows the kinds of `apps/v1`, pods of a `ReplicaSet` are made by [`crate::deployments`], and others come back for as long as
//! their set is there.

mod plan;

use std::sync::Arc;

use apiserver::Workloads;
use runtime::{
    call::{CallError, Cluster, Patch},
    path::{self, POD, Resource},
};
use serde_json::{Value, json};

use self::plan::{Deed, Memory, controller, plan};
use crate::{
    lengths::Lengths,
    mirror::{Mirror, text},
};

/// Whoever looks after pods.
#[derive(Debug)]
pub(crate) struct Nursery {
    pub(crate) cluster: Cluster,
    pub(crate) lengths: Arc<Lengths>,
    pub(crate) pods: Mirror,
    pub(crate) nodes: Mirror,
    pub(crate) workloads: Workloads,
}

impl Nursery {
    /// Looks after pods for ever.
    pub(crate) async fn run(self) {
        let clock = Arc::clone(self.cluster.clock());
        let (mut pods, mut nodes) = (self.pods.changes(), self.nodes.changes());
        let mut memory = Memory::default();
        loop {
            pods.mark_seen();
            nodes.mark_seen();
            let plan = plan(
                &self.pods.objects(),
                &self.nodes.objects(),
                &mut memory,
                &self.lengths,
                clock.now(),
            );
            for (pod, deed) in &plan.deeds {
                if let Err(error) = self.perform(pod, deed).await {
                    // Somebody was faster, or the namespace goes; what is there then is looked at anew.
                    tracing::debug!(pod = text(pod, "/metadata/name"), %error, "a pod is not as it was");
                }
            }
            let next = plan.next;
            tokio::select! {
                biased;
                () = pods.changed() => {}
                () = nodes.changed() => {}
                () = clock.wait(next.unwrap_or(schedule::Instant::MAX)), if next.is_some() => {}
            }
        }
    }

    async fn perform(&self, pod: &Value, deed: &Deed) -> Result<(), CallError> {
        let namespace = Some(text(pod, "/metadata/namespace"));
        let name = text(pod, "/metadata/name");
        let path = POD.object(namespace, name);
        let done = match deed {
            Deed::Bind(node) => {
                let body = json!({"apiVersion": "v1", "kind": "Binding", "metadata": {"name": name},
                    "target": {"apiVersion": "v1", "kind": "Node", "name": node}});
                self.cluster.create(&format!("{path}/binding"), &body).await
            }
            Deed::Start | Deed::Ready => self.say(&path, pod, "True").await,
            Deed::Unready => self.say(&path, pod, "False").await,
            Deed::Remove => {
                let body = json!({"apiVersion": "v1", "kind": "DeleteOptions",
                    "gracePeriodSeconds": 0,
                    "preconditions": {"uid": text(pod, "/metadata/uid")}});
                self.cluster.delete(&path, &body).await
            }
            Deed::Replace(another) => {
                if self.workloads == Workloads::Served && !self.is_wanted(another).await? {
                    return Ok(());
                }
                self.cluster.create(&POD.collection(namespace), another).await
            }
        };
        done.map(drop)
    }

    /// Whether it is up to this loop to make another pod of a workload, and the workload is still there.
    async fn is_wanted(&self, another: &Value) -> Result<bool, CallError> {
        let Some(owner) = controller(another).filter(|owner| text(owner, "/kind") != "ReplicaSet")
        else {
            return Ok(false);
        };
        let kind = Resource::new(text(owner, "/apiVersion"), text(owner, "/kind"));
        let path = kind.object(Some(text(another, "/metadata/namespace")), text(owner, "/name"));
        match self.cluster.get::<Value>(&path).await {
            Ok(found) => Ok(text(&found, "/metadata/uid") == text(owner, "/uid")
                && found.pointer("/metadata/deletionTimestamp").is_none()),
            Err(error) if error.is_not_found() => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Says that a pod runs, ready or not.
    async fn say(&self, path: &str, pod: &Value, ready: &str) -> Result<Value, CallError> {
        let now = self.cluster.clock().now().to_string();
        let kinds = ["Initialized", "PodScheduled", "ContainersReady", "Ready"];
        let conditions = kinds.map(|kind| {
            let follows = matches!(kind, "Ready" | "ContainersReady");
            json!({"type": kind, "status": if follows { ready } else { "True" },
                "lastTransitionTime": now})
        });
        let started = match text(pod, "/status/startTime") {
            "" => now.as_str(),
            started => started,
        };
        let containers = pod.pointer("/spec/containers").and_then(Value::as_array);
        let containers: Vec<Value> = containers
            .into_iter()
            .flatten()
            .map(|container| {
                json!({"name": text(container, "/name"), "image": text(container, "/image"),
                    "imageID": "", "restartCount": 0, "ready": ready == "True",
                    "state": {"running": {"startedAt": started}}})
            })
            .collect();
        let change = json!({"metadata": {"uid": text(pod, "/metadata/uid")},
            "status": {"phase": "Running", "startTime": started, "conditions": conditions,
                "containerStatuses": containers}});
        self.cluster.patch(&path::status(path), Patch::merge("kubelet", &change)).await
    }
}
