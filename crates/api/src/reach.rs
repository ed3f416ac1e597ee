//! What does a gate on what others own look like? `ChangeGate` (namespaced, a team's) and `ClusterChangeGate` (the platform's).
//!
//! - RCH-11: a stanza says when, `holds` says what; what the room of a hold does not offer is refused by the definition.
//! - RCH-14: `status.windows` is what the API server itself reads, so its instants are plain and its length is bounded.
//!
//! Which write a room holds stands in the table of rooms of the core; here is what people may write about it.

pub(crate) mod rules;
mod status;

pub use status::{GateStatus, HoldStatus, MOST_PENDING, MOST_WINDOWS, PendingChange, Window};

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{meta::ObjectMeta, stanza::Stanza};

/// Holds changes in its namespace until they may be initiated. It only ever restricts: every gate that selects something must permit it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct ChangeGate {
    /// The group and version: `changemanagement.openshift.io/v1alpha1`.
    pub api_version: String,
    /// `ChangeGate`.
    pub kind: String,
    /// Standard object metadata. The gate holds what is in its namespace.
    pub metadata: ObjectMeta,
    /// What is held, and when it may change.
    pub spec: ChangeGateSpec,
    /// When what is held may change, and what waits; written by the controller, and the windows are read by the API server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<GateStatus>,
}

/// Holds changes in the namespaces that it selects until they may be initiated. It only ever restricts: every gate that selects something
/// must permit it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct ClusterChangeGate {
    /// The group and version: `changemanagement.openshift.io/v1alpha1`.
    pub api_version: String,
    /// `ClusterChangeGate`.
    pub kind: String,
    /// Standard object metadata. The kind is cluster-scoped: there is no namespace.
    pub metadata: ObjectMeta,
    /// What is held, where, and when it may change.
    pub spec: ClusterChangeGateSpec,
    /// When what is held may change, and what waits; written by the controller, and the windows are read by the API server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<GateStatus>,
}

/// What is held in one namespace, and when it may change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
#[schemars(extend("x-tidegate-rules" = rules::team_rules()))]
pub struct ChangeGateSpec {
    /// When what is held may change. Required, unless the operator derived the gate from another object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change_management: Option<GateStanza>,
    /// The object that says when, where it is in another namespace than what is held. The operator alone makes such gates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub derived_from: Option<DerivedFrom>,
    /// What is held.
    #[schemars(length(min = 1, max = 16))]
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["what"]))]
    pub holds: Vec<Hold>,
    /// What becomes of a first write that the gate does not permit: `Enforce` (the API server refuses it), `Warn` (it is admitted, and
    /// whoever sent it is told) or `Audit` (it is admitted, and the audit log has a line).
    #[serde(default)]
    pub mode: Mode,
    /// Whose first writes this gate lets pass. Only this gate does: none sees the exemptions of another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exempt: Option<Exempt>,
    /// Whether what waits is touched when the gate opens, so that its controller tries again. Needs a right that is given for each room.
    #[serde(default = "yes")]
    pub nudge: bool,
}

/// What is held, in which namespaces, and when it may change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
#[schemars(extend("x-tidegate-rules" = rules::platform_rules()))]
pub struct ClusterChangeGateSpec {
    /// When what is held may change.
    pub change_management: GateStanza,
    /// In which namespaces, by their labels; in all of them, and for what belongs to the whole cluster, if absent. Workloads in `kube-*`, `openshift-*` and the namespace of the
    /// operator are left alone unless this names their namespace by the label `kubernetes.io/metadata.name`: an update of the control
    /// plane that has begun rolls them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace_selector: Option<LabelSelector>,
    /// What is held.
    #[schemars(length(min = 1, max = 16))]
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["what"]))]
    pub holds: Vec<Hold>,
    /// What becomes of a first write that the gate does not permit: `Enforce` (the API server refuses it), `Warn` (it is admitted, and
    /// whoever sent it is told) or `Audit` (it is admitted, and the audit log has a line).
    #[serde(default)]
    pub mode: Mode,
    /// Whose first writes this gate lets pass. Only this gate does: none sees the exemptions of another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exempt: Option<Exempt>,
    /// Whether what waits is touched when the gate opens, so that its controller tries again. Needs a right that is given for each room.
    #[serde(default = "yes")]
    pub nudge: bool,
}

/// An object that says when what a gate holds may change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct DerivedFrom {
    /// `NodePool`.
    pub kind: DerivedKind,
    /// Its namespace.
    #[schemars(length(min = 1, max = 63))]
    pub namespace: String,
    /// Its name.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
}

/// From what a gate can be derived.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum DerivedKind {
    /// The nodes of a hosted cluster.
    NodePool,
    /// Written by something newer than this build; the gate is closed.
    #[serde(other)]
    #[schemars(skip)]
    Unknown,
}

fn yes() -> bool {
    true
}

/// When what a gate holds may change: the stanza of the other kinds, and the kind of its policy beside the name.
pub type GateStanza = Stanza<GatePolicyReference>;

/// A policy, by kind and name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct GatePolicyReference {
    /// `ChangeManagementPolicy`, or, for a `ChangeGate`, a `HostedChangeManagementPolicy` of its namespace.
    #[serde(default)]
    pub kind: PolicyKind,
    /// The name of the policy.
    #[schemars(extend(
        "format" = "dns-subdomain",
        "pattern" = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$",
        "minLength" = 1,
        "maxLength" = 253,
    ))]
    pub name: String,
}

/// Which kind of policy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum PolicyKind {
    /// A policy of the cluster.
    #[default]
    ChangeManagementPolicy,
    /// A policy of the namespace of the gate.
    HostedChangeManagementPolicy,
    /// Written by something newer than this build; lowers to a problem and a closed gate.
    #[serde(other)]
    #[schemars(skip)]
    Unknown,
}

/// One thing that is held: a room, and which of what it knows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
#[schemars(extend("x-tidegate-rules" = rules::offer_rules()))]
pub struct Hold {
    /// What is held: `Deployments`, `StatefulSets` or `DaemonSets` (their rollouts), `HelmReleases` (installs, upgrades and rollbacks by
    /// Helm), `Applications` (syncs by Argo CD), `KuredLock` (the lock that a node takes before kured reboots it), `MachineConfigPools` (nodes
    /// that the machine-config-operator of OpenShift changes, other than the masters), `ClusterVersion` (updates of the control plane of OpenShift),
    /// `MachineDeployments`, `KubeadmControlPlanes` or `ClusterTopologies` (their rollouts by Cluster API), `HostedClusters` or `NodePools` (releases of a stock `HyperShift`), `InstallPlans` (installs and upgrades by the Operator Lifecycle
    /// Manager), `UpgradePlans` (nodes that the system-upgrade-controller upgrades), `FluxRevisions` (what Flux fetched) `KarpenterDisruption` (nodes
    /// that Karpenter replaces or removes) or `Custom` (what `rooms` of your own hold; of a `ClusterChangeGate` alone).
    pub what: What,
    /// How: `Queue` (everybody may say what they want, and its first act waits) or `Refuse` (who says what they want is refused). What
    /// the room offers first, if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub how: Option<Way>,
    /// Which, by name: of the workload, the release, the `Application`, the `DaemonSet` of kured, the pool (of Karpenter the `NodePool`), the `MachineDeployment`, the plan, the source. What `selector` matches is held too; without both, all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 64), inner(length(min = 1, max = 253)))]
    #[schemars(extend("x-kubernetes-list-type" = "set"))]
    pub names: Option<Vec<String>>,
    /// Which, by label: of the pod template of a `Deployment`, else of the object itself. What `names` lists is held too; without both, all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selector: Option<LabelSelector>,
    /// What passes although the gate is shut: of `HelmReleases`, `Rollback` and `FirstInstall`; of `FluxRevisions`, `FirstInstall`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 8))]
    #[schemars(extend("x-kubernetes-list-type" = "set"))]
    pub allow: Option<Vec<Allow>>,
    /// Of `Custom`, which rooms of your own, by their names in the values of the chart (`changeGates.custom`). `names` and `selector` choose among what they hold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(
        length(min = 1, max = 16),
        inner(length(max = 40), regex(pattern = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"))
    )]
    #[schemars(extend("x-kubernetes-list-type" = "set"))]
    pub rooms: Option<Vec<String>>,
}

/// What a room is called.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
pub enum What {
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
    /// Nodes that the machine-config-operator of OpenShift changes, other than the masters.
    MachineConfigPools,
    /// Updates of the control plane of OpenShift, and with them its nodes (CV-2).
    ClusterVersion,
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
    /// Updates of hosted control planes by a stock `HyperShift`.
    HostedClusters,
    /// Rollouts of hosted nodes by a stock `HyperShift`.
    NodePools,
    /// What rooms of somebody's own hold.
    Custom,
    /// Written by something newer than this build; lowers to a problem and a closed gate.
    #[serde(other)]
    #[schemars(skip)]
    Unknown,
}

/// How something is held.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
pub enum Way {
    /// The wish is taken, and the first act of whoever carries it out waits.
    Queue,
    /// The wish is refused.
    Refuse,
    /// Written by something newer than this build; lowers to a problem and a closed gate.
    #[serde(other)]
    #[schemars(skip)]
    Unknown,
}

/// What a room lets pass although it is held otherwise.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
pub enum Allow {
    /// The way back to something that was there before.
    Rollback,
    /// What was never there.
    FirstInstall,
    /// Written by something newer than this build; it lets nothing pass.
    #[serde(other)]
    #[schemars(skip)]
    Unknown,
}

/// What people may write about a room.
#[derive(Clone, Copy, Debug)]
pub struct Offer {
    /// The room.
    pub what: What,
    /// Its name on the wire.
    pub name: &'static str,
    /// The ways it knows, the one that is meant if none is named first.
    pub ways: &'static [(Way, &'static str)],
    /// What may be let pass although it is held otherwise.
    pub allows: &'static [(Allow, &'static str)],
}

const QUEUE: (Way, &str) = (Way::Queue, "Queue");
const REFUSE: (Way, &str) = (Way::Refuse, "Refuse");

/// Every room that the definitions know.
pub const OFFERS: &[Offer] = &[
    Offer { what: What::Deployments, name: "Deployments", ways: &[QUEUE, REFUSE], allows: &[] },
    Offer { what: What::StatefulSets, name: "StatefulSets", ways: &[REFUSE], allows: &[] },
    Offer { what: What::DaemonSets, name: "DaemonSets", ways: &[REFUSE], allows: &[] },
    Offer {
        what: What::HelmReleases,
        name: "HelmReleases",
        ways: &[REFUSE],
        allows: &[(Allow::Rollback, "Rollback"), (Allow::FirstInstall, "FirstInstall")],
    },
    Offer { what: What::Applications, name: "Applications", ways: &[QUEUE], allows: &[] },
    Offer { what: What::KuredLock, name: "KuredLock", ways: &[QUEUE], allows: &[] },
    Offer {
        what: What::MachineConfigPools,
        name: MACHINE_CONFIG_POOLS,
        ways: &[QUEUE],
        allows: &[],
    },
    // CV-6: `Queue` turns what somebody asks for into a wish, where the server can.
    Offer {
        what: What::ClusterVersion,
        name: CLUSTER_VERSION,
        ways: &[QUEUE, REFUSE],
        allows: &[],
    },
    Offer {
        what: What::MachineDeployments,
        name: "MachineDeployments",
        ways: &[QUEUE],
        allows: &[],
    },
    // What somebody approves is refused; what is approved by itself waits with whoever would create it.
    Offer { what: What::InstallPlans, name: "InstallPlans", ways: &[REFUSE], allows: &[] },
    Offer { what: What::UpgradePlans, name: "UpgradePlans", ways: &[QUEUE], allows: &[] },
    Offer {
        what: What::FluxRevisions,
        name: "FluxRevisions",
        ways: &[QUEUE],
        allows: &[(Allow::FirstInstall, "FirstInstall")],
    },
    Offer {
        what: What::KarpenterDisruption,
        name: KARPENTER_DISRUPTION,
        ways: &[QUEUE],
        allows: &[],
    },
    Offer {
        what: What::KubeadmControlPlanes,
        name: "KubeadmControlPlanes",
        ways: &[REFUSE],
        allows: &[],
    },
    Offer {
        what: What::ClusterTopologies,
        name: "ClusterTopologies",
        ways: &[REFUSE],
        allows: &[],
    },
    Offer { what: What::HostedClusters, name: "HostedClusters", ways: &[REFUSE], allows: &[] },
    Offer { what: What::NodePools, name: "NodePools", ways: &[REFUSE], allows: &[] },
    Offer { what: What::Custom, name: "Custom", ways: &[REFUSE], allows: &[] },
];

const MACHINE_CONFIG_POOLS: &str = "MachineConfigPools";
const CLUSTER_VERSION: &str = "ClusterVersion";
const KARPENTER_DISRUPTION: &str = "KarpenterDisruption";

/// What becomes of a first write that a gate does not permit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Mode {
    /// The API server refuses it.
    #[default]
    Enforce,
    /// It is admitted, and whoever sent it is told.
    Warn,
    /// It is admitted, and the audit log has a line.
    Audit,
    /// Written by something newer than this build; it holds as `Enforce` does.
    #[serde(other)]
    #[schemars(skip)]
    Unknown,
}

/// Whose first writes a gate lets pass. For what is queued that is the controller which acts, not whoever said what they want.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct Exempt {
    /// Members of these groups.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 16), inner(length(min = 1, max = 256)))]
    #[schemars(extend("x-kubernetes-list-type" = "set"))]
    pub groups: Vec<String>,
    /// These users.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 16), inner(length(min = 1, max = 256)))]
    #[schemars(extend("x-kubernetes-list-type" = "set"))]
    pub users: Vec<String>,
    /// These service accounts, each as `namespace:name`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(
        length(max = 16),
        inner(
            length(min = 3, max = 320),
            regex(pattern = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?:[a-z0-9]([-.a-z0-9]*[a-z0-9])?$")
        )
    )]
    #[schemars(extend("x-kubernetes-list-type" = "set"))]
    pub service_accounts: Vec<String>,
}

/// A choice by labels, as everywhere in Kubernetes: all of it must match.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct LabelSelector {
    /// Labels, each with the value that it must have.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(extend("maxProperties" = 32))]
    pub match_labels: BTreeMap<String, LabelValue>,
    /// What else must be so of labels.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 16))]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub match_expressions: Vec<LabelRequirement>,
}

/// The value of a label.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(extend("maxLength" = 63))]
pub struct LabelValue(pub String);

/// What must be so of one label.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
#[schemars(extend("x-tidegate-rules" = [
    {
        "rule": "!(self.operator in ['In', 'NotIn']) || (has(self.values) && self.values.size() > 0)",
        "message": "values are required when operator is In or NotIn",
        "fieldPath": ".values",
    },
    {
        "rule": "self.operator in ['In', 'NotIn'] || !has(self.values) || self.values.size() == 0",
        "message": "values are forbidden when operator is Exists or DoesNotExist",
        "fieldPath": ".values",
    },
]))]
pub struct LabelRequirement {
    /// The label.
    #[schemars(length(min = 1, max = 317))]
    pub key: String,
    /// `In`, `NotIn`, `Exists` or `DoesNotExist`.
    pub operator: LabelOperator,
    /// The values that `In` and `NotIn` compare with.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), inner(length(max = 63)))]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub values: Vec<String>,
}

/// How a label is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum LabelOperator {
    /// It has one of the values.
    In,
    /// It has none of the values, or is not there.
    NotIn,
    /// It is there.
    Exists,
    /// It is not there.
    DoesNotExist,
}
