//! What does a freeze look like? `ChangeFreeze` (namespaced, a team's) and `ClusterChangeFreeze` (the platform's).
//!
//! - OVR-1: one write, and nothing that it selects starts from that second on, whatever lies below; it ends by itself.
//! - OVR-5: the API server reads it from the specification, so a freeze has no status, and needs nobody of ours to hold.
//! - OVR-3: who signed it is what the server saw.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{
    meta::ObjectMeta,
    reach::{Exempt, LabelSelector},
};

/// Lets nothing start in its namespace while it lasts, whatever windows are open. What has begun finishes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct ChangeFreeze {
    /// The group and version: `changemanagement.openshift.io/v1alpha1`.
    pub api_version: String,
    /// `ChangeFreeze`.
    pub kind: String,
    /// Standard object metadata. The freeze holds what is in its namespace.
    pub metadata: ObjectMeta,
    /// What is frozen, from when until when, and why.
    pub spec: ChangeFreezeSpec,
}

/// Lets nothing start in the namespaces that it selects while it lasts, or in the whole cluster, whatever windows are open. What has begun
/// finishes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct ClusterChangeFreeze {
    /// The group and version: `changemanagement.openshift.io/v1alpha1`.
    pub api_version: String,
    /// `ClusterChangeFreeze`.
    pub kind: String,
    /// Standard object metadata. The kind is cluster-scoped: there is no namespace.
    pub metadata: ObjectMeta,
    /// What is frozen, where, from when until when, and why.
    pub spec: ClusterChangeFreezeSpec,
}

/// What is frozen in one namespace, from when until when, and why.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
#[schemars(extend("x-tidegate-rules" = team_rules()))]
pub struct ChangeFreezeSpec {
    /// When it begins; at its creation if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "date-time"))]
    pub from: Option<String>,
    /// When it ends, which is the first instant at which changes may start again; it lasts until it is deleted if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "date-time"))]
    pub until: Option<String>,
    /// Why, in a line: whoever is held reads it.
    #[schemars(length(min = 1, max = 1024), regex(pattern = r"^[^\r\n]*[^\s][^\r\n]*$"))]
    pub reason: String,
    /// What is frozen; everything in the namespace if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 16))]
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["what"]))]
    pub holds: Option<Vec<FrozenPart>>,
    /// Whose first writes this freeze lets pass. Only this freeze does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exempt: Option<Exempt>,
    /// Who froze, by the name that the API server knows them by: it refuses any other. Unsigned if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 320), regex(pattern = r"^[^\r\n]*$"))]
    pub by: Option<String>,
}

/// What is frozen, in which namespaces, from when until when, and why.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
#[schemars(extend("x-tidegate-rules" = platform_rules()))]
pub struct ClusterChangeFreezeSpec {
    /// When it begins; at its creation if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "date-time"))]
    pub from: Option<String>,
    /// When it ends, which is the first instant at which changes may start again; it lasts until it is deleted if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "date-time"))]
    pub until: Option<String>,
    /// Why, in a line: whoever is held reads it.
    #[schemars(length(min = 1, max = 1024), regex(pattern = r"^[^\r\n]*[^\s][^\r\n]*$"))]
    pub reason: String,
    /// In which namespaces, by their labels; in all of them, and for what belongs to the whole cluster, if absent. Workloads in `kube-*`,
    /// `openshift-*` and the namespace of the operator are left alone unless this names their namespace by the label
    /// `kubernetes.io/metadata.name`: an update of the control plane that has begun rolls them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace_selector: Option<LabelSelector>,
    /// What is frozen; everything if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 16))]
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["what"]))]
    pub holds: Option<Vec<FrozenPart>>,
    /// Whose first writes this freeze lets pass. Only this freeze does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exempt: Option<Exempt>,
    /// Who froze, by the name that the API server knows them by: it refuses any other. Unsigned if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 320), regex(pattern = r"^[^\r\n]*$"))]
    pub by: Option<String>,
}

/// One thing that is frozen, and which of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
#[schemars(extend("x-tidegate-rules" = part_rules()))]
pub struct FrozenPart {
    /// What is frozen: `Deployments`, `StatefulSets` or `DaemonSets` (their rollouts), `HelmReleases` (installs, upgrades and rollbacks by
    /// Helm), `Applications` (syncs by Argo CD), `KuredLock` (the lock that a node takes before kured reboots it), `MachineDeployments`, `KubeadmControlPlanes` or `ClusterTopologies` (their rollouts by Cluster API), `HostedClusters` or `NodePools` (releases of hosted clusters), `InstallPlans` (installs and upgrades by the
    /// Operator Lifecycle Manager), `UpgradePlans` (nodes that the system-upgrade-controller upgrades), `FluxRevisions` (what Flux fetched), `KarpenterDisruption` (nodes that Karpenter replaces or
    /// removes), `MachineConfigPools` (nodes of pools other than the masters), `ClusterVersion` (the control plane, and with it its nodes) or `Custom` (what `rooms` of your own hold; of a `ClusterChangeFreeze` alone).
    pub what: Frozen,
    /// Which, by name: of the workload, the release, the `Application`, the `DaemonSet` of kured, the `MachineDeployment`, the plan, the source, the pool. What `selector` matches is frozen too; without both,
    /// all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 64), inner(length(min = 1, max = 253)))]
    #[schemars(extend("x-kubernetes-list-type" = "set"))]
    pub names: Option<Vec<String>>,
    /// Which, by label: of the pod template of a `Deployment`, else of the object itself. What `names` lists is frozen too; without both,
    /// all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selector: Option<LabelSelector>,
    /// Of `Custom`, which rooms of your own, by their names in the values of the chart (`changeGates.custom`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(
        length(min = 1, max = 16),
        inner(length(max = 40), regex(pattern = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"))
    )]
    #[schemars(extend("x-kubernetes-list-type" = "set"))]
    pub rooms: Option<Vec<String>>,
}

/// What can be frozen by name: every room, and what carries a stanza of ours in the cluster.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
pub enum Frozen {
    /// Rollouts of Deployments.
    Deployments,
    /// Rollouts of `StatefulSets`.
    StatefulSets,
    /// Rollouts of `DaemonSets`.
    DaemonSets,
    /// Installs, upgrades and rollbacks by Helm.
    HelmReleases,
    /// Syncs by Argo CD.
    Applications,
    /// The lock that a node takes before kured reboots it.
    KuredLock,
    /// Rollouts of `MachineDeployments` of Cluster API.
    MachineDeployments,
    /// Installs and upgrades by the Operator Lifecycle Manager.
    InstallPlans,
    /// Nodes that the system-upgrade-controller upgrades.
    UpgradePlans,
    /// New revisions that Flux fetched.
    FluxRevisions,
    /// Nodes that Karpenter replaces or removes.
    KarpenterDisruption,
    /// Rollouts of control planes of Cluster API.
    KubeadmControlPlanes,
    /// Rollouts of clusters of Cluster API by their topology.
    ClusterTopologies,
    /// Updates of hosted control planes.
    HostedClusters,
    /// Rollouts of hosted nodes.
    NodePools,
    /// What rooms of somebody's own hold.
    Custom,
    /// The nodes of pools other than the masters.
    MachineConfigPools,
    /// The control plane, and with it its nodes (CV-2).
    ClusterVersion,
    /// Written by something newer than this build.
    #[serde(other)]
    #[schemars(skip)]
    Unknown,
}

fn ends_after_it_begins() -> Value {
    json!({
        "rule": "!has(self.from) || !has(self.until) || self.from < self.until",
        "message": "until must be later than from",
        "fieldPath": ".until",
    })
}

fn team_rules() -> Value {
    json!([ends_after_it_begins(), {
        "rule": "!has(self.holds) || !self.holds.exists(hold, hold.what in ['MachineConfigPools', 'ClusterVersion', 'KarpenterDisruption'])",
        "message": "MachineConfigPools, ClusterVersion and KarpenterDisruption belong to the cluster: a ClusterChangeFreeze freezes them",
        "fieldPath": ".holds",
    }, {
        "rule": "!has(self.holds) || !self.holds.exists(hold, hold.what == 'Custom')",
        "message": "Custom rooms belong to the platform: a ClusterChangeFreeze freezes them by name, and a ChangeFreeze without holds freezes everything",
        "fieldPath": ".holds",
    }])
}

fn platform_rules() -> Value {
    json!([ends_after_it_begins(), {
        "rule": "!has(self.namespaceSelector) || !has(self.holds) || !self.holds.exists(hold, hold.what in ['MachineConfigPools', 'ClusterVersion', 'KarpenterDisruption'])",
        "message": "MachineConfigPools, ClusterVersion and KarpenterDisruption are in no namespace: freeze them without namespaceSelector",
        "fieldPath": ".namespaceSelector",
    }])
}

fn part_rules() -> Value {
    json!([
        crate::reach::rules::custom_rule(),
        {
            "rule": "self.what != 'ClusterVersion' || !has(self.names)",
            "message": "there is one ClusterVersion: leave names out",
            "fieldPath": ".names",
        },
        {
            "rule": "!(self.what in ['MachineConfigPools', 'ClusterVersion', 'KarpenterDisruption']) || !has(self.selector)",
            "message": "selector is for what runs in namespaces: choose MachineConfigPools by names, and KarpenterDisruption by those of its NodePools",
            "fieldPath": ".selector",
        },
        {
            "rule": "!(self.what in ['HostedClusters', 'NodePools']) || !has(self.selector)",
            "message": "choose hosted clusters and their node pools by names: where they begin by marks, freezes know no labels of theirs",
            "fieldPath": ".selector",
        },
        {
            "rule": "self.what != 'MachineConfigPools' || !has(self.names) || !('master' in self.names)",
            "message": "the masters follow ClusterVersion: freeze that",
            "fieldPath": ".names",
        },
    ])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reach::OFFERS;

    /// RCH-14: what a gate can hold, a freeze can.
    #[test]
    fn every_room_can_be_frozen_by_name() {
        for offer in OFFERS {
            let known: Frozen = serde_json::from_value(json!(offer.name)).expect("a name");
            assert_ne!(known, Frozen::Unknown, "{}", offer.name);
        }
    }
}
