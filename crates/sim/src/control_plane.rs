//! Who installs releases? One loop that does what the cluster version operator and its operators do in a cluster, as `plan` decides.
//!
//! Where it knows us it follows what Tidegate let begin, and nothing else (CV-4); that of a stock cluster begins whatever `spec.desiredUpdate`
//! names, however early. It wakes when something that it looks at changes and when a level is due by the clock.

pub mod plan;

use std::sync::Arc;

use api::kinds;
use runtime::{
    call::{CallError, Cluster, Patch},
    path::{self, Resource},
};
use serde_json::{Value, json};

use self::plan::{Deed, Follows, LEVELS, MACHINES, Seen, plan};
use crate::{
    lengths::Lengths,
    mirror::{Mirror, text},
};

/// Who it is to the server.
pub(crate) const USER: &str = "system:serviceaccount:openshift-cluster-version:default";

/// The name that it writes by.
const OWNER: &str = "cluster-version-operator";

/// Whoever installs releases.
#[derive(Debug)]
pub(crate) struct Installer {
    pub(crate) cluster: Cluster,
    pub(crate) lengths: Arc<Lengths>,
    pub(crate) follows: Follows,
    pub(crate) versions: Mirror,
    pub(crate) pools: Mirror,
    pub(crate) nodes: Mirror,
    pub(crate) configs: Mirror,
    pub(crate) operators: Mirror,
}

impl Installer {
    /// Installs what was let begin, for ever.
    pub(crate) async fn run(self) {
        let clock = Arc::clone(self.cluster.clock());
        let mut versions = self.versions.changes();
        let (mut pools, mut configs) = (self.pools.changes(), self.configs.changes());
        let mut nodes = self.nodes.changes();
        loop {
            versions.mark_seen();
            pools.mark_seen();
            nodes.mark_seen();
            configs.mark_seen();
            let found = self.versions.objects();
            let version = found.get(&(String::new(), api::names::THE_CLUSTER.to_owned()));
            let mut next = None;
            if let Some(version) = version {
                let (pools, configs) = (self.pools.objects(), self.configs.objects());
                let named = |name: &str| (String::new(), name.to_owned());
                let config = |name: &str| configs.get(&named(name)).map(|found| (**found).clone());
                let kubelets = self.kubelets();
                let seen = Seen {
                    version,
                    masters: pools.get(&named("master")).map(|pool| &**pool),
                    kubelets: Some(&kubelets),
                    config: &config,
                    now: clock.now(),
                };
                let plan = plan(seen, self.follows, &self.lengths);
                for deed in &plan.deeds {
                    if let Err(error) = self.perform(deed).await {
                        // Somebody was faster: what is there then is looked at anew.
                        tracing::debug!(%error, "the control plane is not as it was");
                    }
                }
                for (name, release) in &plan.operators {
                    if let Err(error) = self.tell(name, release).await {
                        tracing::debug!(%error, name, "a cluster operator is not as it was");
                    }
                }
                next = plan.next;
            }
            tokio::select! {
                biased;
                () = versions.changed() => {}
                () = pools.changed() => {}
                () = nodes.changed() => {}
                () = configs.changed() => {}
                () = clock.wait(next.unwrap_or(schedule::Instant::MAX)), if next.is_some() => {}
            }
        }
    }

    /// The nodes that report a kubelet, each with its version.
    fn kubelets(&self) -> Vec<(String, String)> {
        let nodes = self.nodes.objects();
        let reported = nodes.iter().map(|((_, name), node)| {
            (name.clone(), text(node, "/status/nodeInfo/kubeletVersion").to_owned())
        });
        reported.filter(|(_, kubelet)| !kubelet.is_empty()).collect()
    }

    async fn perform(&self, deed: &Deed) -> Result<(), CallError> {
        match deed {
            Deed::Status(change) => {
                let at =
                    Resource::of(&kinds::CLUSTER_VERSION).object(None, api::names::THE_CLUSTER);
                self.cluster.patch(&path::status(&at), Patch::merge(OWNER, change)).await?;
            }
            Deed::Generate(config) => {
                let configs = Resource::of(&kinds::MACHINE_CONFIG);
                if text(config, "/metadata/uid").is_empty() {
                    self.cluster.create(&configs.collection(None), config).await?;
                } else {
                    let at = configs.object(None, text(config, "/metadata/name"));
                    let change = json!({"metadata": {"uid": config["metadata"]["uid"],
                        "resourceVersion": config["metadata"]["resourceVersion"],
                        "annotations": config["metadata"]["annotations"]}, "spec": config["spec"]});
                    self.cluster.patch(&at, Patch::merge(OWNER, &change)).await?;
                }
            }
        }
        Ok(())
    }

    /// Keeps what a cluster operator says of itself true.
    async fn tell(&self, name: &str, release: &str) -> Result<(), CallError> {
        if release.is_empty() {
            return Ok(());
        }
        let known = self.operators.objects().remove(&(String::new(), name.to_owned()));
        let at = OPERATOR.object(None, name);
        if known.is_none() {
            let made = json!({"apiVersion": "config.openshift.io/v1", "kind": "ClusterOperator",
                "metadata": {"name": name}, "spec": {}});
            self.cluster.create(&OPERATOR.collection(None), &made).await?;
        } else if known.is_some_and(|known| text(&known, "/status/versions/0/version") == release) {
            return Ok(());
        }
        let now = self.cluster.clock().now().to_string();
        let conditions = [("Available", "True"), ("Progressing", "False"), ("Degraded", "False")];
        let conditions = conditions.map(
            |(kind, status)| json!({"type": kind, "status": status, "lastTransitionTime": now}),
        );
        let change = json!({"status": {"conditions": conditions,
            "versions": [{"name": "operator", "version": release}]}});
        self.cluster.patch(&path::status(&at), Patch::merge(OWNER, &change)).await.map(drop)
    }
}

/// Where cluster operators are.
pub(crate) const OPERATOR: Resource<'_> =
    Resource::new("config.openshift.io/v1", "ClusterOperator");

/// The kind of cluster operators, as far as people look at it here. It is none of ours: whoever has a cluster has it.
pub(crate) fn definition() -> Value {
    let names = LEVELS.iter().flat_map(|(_, names, _)| names.iter().copied()).chain([MACHINES.1]);
    let known = names.collect::<Vec<_>>().join(", ");
    json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "clusteroperators.config.openshift.io"},
        "spec": {"group": "config.openshift.io", "scope": "Cluster",
            "names": {"kind": "ClusterOperator", "listKind": "ClusterOperatorList",
                "plural": "clusteroperators", "singular": "clusteroperator", "shortNames": ["co"]},
            "versions": [{"name": "v1", "served": true, "storage": true,
                "subresources": {"status": {}},
                "additionalPrinterColumns": [
                    {"name": "Version", "type": "string", "jsonPath": ".status.versions[?(@.name==\"operator\")].version"}],
                "schema": {"openAPIV3Schema": {"type": "object",
                    "description": format!("A part of the control plane. Here there are {known}."),
                    "properties": {
                        "spec": {"type": "object"},
                        "status": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}}}]}})
}
