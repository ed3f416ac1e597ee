//! Which kinds does change management know? One row for each.
//!
//! The lists of [`schema`](crate::schema) put them into the order in which they are shown. Code that means one kind names its row.

use std::sync::LazyLock;

use serde_json::Value;

use crate::{
    freeze, gated, guardrail,
    machine::{self, disruption},
    names, overrides, policy, reach, record,
    schema::{Kind, Role, Scope, System, schema_of},
};

/// When a cluster may change.
pub const CHANGE_MANAGEMENT_POLICY: Kind = Kind {
    rank: 0,
    name: names::CHANGE_MANAGEMENT_POLICY,
    api_version: names::API_VERSION,
    scope: Scope::Cluster,
    short_name: "cmp",
    role: Role::Policy,
    schema: || &CHANGE_MANAGEMENT_POLICY_SCHEMA,
};

/// When what a namespace hosts may change.
pub const HOSTED_CHANGE_MANAGEMENT_POLICY: Kind = Kind {
    rank: 1,
    name: names::HOSTED_CHANGE_MANAGEMENT_POLICY,
    api_version: names::API_VERSION,
    scope: Scope::Namespaced,
    short_name: "hcmp",
    role: Role::Policy,
    schema: || &HOSTED_CHANGE_MANAGEMENT_POLICY_SCHEMA,
};

/// The control plane of the cluster.
pub const CLUSTER_VERSION: Kind = Kind {
    rank: 0,
    name: names::CLUSTER_VERSION,
    api_version: "config.openshift.io/v1",
    scope: Scope::Cluster,
    short_name: "cv",
    role: Role::Gated {
        policy: &CHANGE_MANAGEMENT_POLICY,
        system: System::ControlPlane,
        begins: "the cluster version operator begins updates",
    },
    schema: || &CLUSTER_VERSION_SCHEMA,
};

/// A pool of nodes with one configuration.
pub const MACHINE_CONFIG_POOL: Kind = Kind {
    rank: 1,
    name: names::MACHINE_CONFIG_POOL,
    api_version: "machineconfiguration.openshift.io/v1",
    scope: Scope::Cluster,
    short_name: "mcp",
    role: Role::Gated {
        policy: &CHANGE_MANAGEMENT_POLICY,
        system: System::WorkerNodes,
        begins: "the machine config operator begins nodes",
    },
    schema: || &MACHINE_CONFIG_POOL_SCHEMA,
};

/// The control plane of a hosted cluster.
pub const HOSTED_CLUSTER: Kind = Kind {
    rank: 2,
    name: names::HOSTED_CLUSTER,
    api_version: "hypershift.openshift.io/v1beta1",
    scope: Scope::Namespaced,
    short_name: "hc",
    role: Role::Gated {
        policy: &HOSTED_CHANGE_MANAGEMENT_POLICY,
        system: System::ControlPlane,
        begins: "HyperShift begins updates",
    },
    schema: || &HOSTED_CLUSTER_SCHEMA,
};

/// Nodes of a hosted cluster.
pub const NODE_POOL: Kind = Kind {
    rank: 3,
    name: names::NODE_POOL,
    api_version: "hypershift.openshift.io/v1beta1",
    scope: Scope::Namespaced,
    short_name: "np",
    role: Role::Gated {
        policy: &HOSTED_CHANGE_MANAGEMENT_POLICY,
        system: System::WorkerNodes,
        begins: "HyperShift begins updates",
    },
    schema: || &NODE_POOL_SCHEMA,
};

/// A configuration, written or rendered.
pub const MACHINE_CONFIG: Kind = Kind {
    rank: 0,
    name: machine::names::MACHINE_CONFIG,
    api_version: machine::names::API_VERSION,
    scope: Scope::Cluster,
    short_name: "mc",
    role: Role::Part,
    schema: || &MACHINE_CONFIG_SCHEMA,
};

/// A node.
pub const NODE: Kind = Kind {
    rank: 1,
    name: machine::names::NODE,
    api_version: "v1",
    scope: Scope::Cluster,
    short_name: "no",
    role: Role::Part,
    schema: || &NODE_SCHEMA,
};

/// What changes may disrupt.
pub const MACHINE_CONFIGURATION: Kind = Kind {
    rank: 2,
    name: machine::names::MACHINE_CONFIGURATION,
    api_version: machine::names::OPERATOR_API_VERSION,
    scope: Scope::Cluster,
    // Upstream gives it none.
    short_name: "machineconfiguration",
    role: Role::Part,
    schema: || &MACHINE_CONFIGURATION_SCHEMA,
};

/// A namespace. Only its labels are read, to know whether a freeze chooses it.
pub const NAMESPACE: Kind = Kind {
    rank: 3,
    name: "Namespace",
    api_version: "v1",
    scope: Scope::Cluster,
    short_name: "ns",
    role: Role::Part,
    schema: || &NAMESPACE_SCHEMA,
};

/// What people roll out. It is looked at only where a gate holds it, as the kinds below are.
pub const DEPLOYMENT: Kind = target(4, "Deployment", APPS, "deploy");

/// What a Deployment is made of.
pub const REPLICA_SET: Kind = target(5, "ReplicaSet", APPS, "rs");

/// Pods with names of their own.
pub const STATEFUL_SET: Kind = target(6, "StatefulSet", APPS, "sts");

/// A pod on each node.
pub const DAEMON_SET: Kind = target(7, "DaemonSet", APPS, "ds");

/// What Argo CD syncs.
pub const APPLICATION: Kind = target(8, "Application", "argoproj.io/v1alpha1", "app");

/// Machines of Cluster API with one template. Of the versions that it is served in, every release since has this one.
pub const MACHINE_DEPLOYMENT: Kind =
    target(9, "MachineDeployment", "cluster.x-k8s.io/v1beta1", "md");

/// What the system-upgrade-controller does to nodes.
pub const UPGRADE_PLAN: Kind = target(11, "Plan", "upgrade.cattle.io/v1", "plan");

/// A control plane of Cluster API. Of the versions that it is served in, every release since has this one.
pub const KUBEADM_CONTROL_PLANE: Kind =
    target(12, "KubeadmControlPlane", "controlplane.cluster.x-k8s.io/v1beta1", "kcp");

/// A cluster of Cluster API. Of the versions that it is served in, every release since has this one.
pub const CLUSTER: Kind = target(13, "Cluster", "cluster.x-k8s.io/v1beta1", "cl");

/// What holds a configuration of hosted nodes.
pub const CONFIG_MAP: Kind = target(10, "ConfigMap", "v1", "cm");

/// A page of the history. The operator writes it, and no decision reads it (HIST-1).
pub const CHANGE_RECORD: Kind = Kind {
    rank: 11,
    name: names::CHANGE_RECORD,
    api_version: names::API_VERSION,
    scope: Scope::Namespaced,
    short_name: "crec",
    role: Role::Part,
    schema: || &CHANGE_RECORD_SCHEMA,
};

const APPS: &str = "apps/v1";

/// What others own, and gates hold.
const fn target(
    rank: u8,
    name: &'static str,
    api_version: &'static str,
    short_name: &'static str,
) -> Kind {
    let (scope, role) = (Scope::Namespaced, Role::Part);
    Kind { rank, name, api_version, scope, short_name, role, schema: || &TARGET_SCHEMA }
}

/// What a team holds in its namespace.
pub const CHANGE_GATE: Kind = Kind {
    rank: 4,
    name: names::CHANGE_GATE,
    api_version: names::API_VERSION,
    scope: Scope::Namespaced,
    short_name: "cg",
    role: Role::Gated {
        policy: &CHANGE_MANAGEMENT_POLICY,
        system: System::Workloads,
        begins: "others begin changes",
    },
    schema: || &CHANGE_GATE_SCHEMA,
};

/// What the platform holds in the namespaces that it selects.
pub const CLUSTER_CHANGE_GATE: Kind = Kind {
    rank: 5,
    name: names::CLUSTER_CHANGE_GATE,
    api_version: names::API_VERSION,
    scope: Scope::Cluster,
    short_name: "ccg",
    role: Role::Gated {
        policy: &CHANGE_MANAGEMENT_POLICY,
        system: System::Workloads,
        begins: "others begin changes",
    },
    schema: || &CLUSTER_CHANGE_GATE_SCHEMA,
};

/// What a team freezes in its namespace.
pub const CHANGE_FREEZE: Kind = Kind {
    rank: 0,
    name: names::CHANGE_FREEZE,
    api_version: names::API_VERSION,
    scope: Scope::Namespaced,
    short_name: "cf",
    role: Role::Freeze,
    schema: || &CHANGE_FREEZE_SCHEMA,
};

/// What the platform freezes.
pub const CLUSTER_CHANGE_FREEZE: Kind = Kind {
    rank: 1,
    name: names::CLUSTER_CHANGE_FREEZE,
    api_version: names::API_VERSION,
    scope: Scope::Cluster,
    short_name: "ccf",
    role: Role::Freeze,
    schema: || &CLUSTER_CHANGE_FREEZE_SCHEMA,
};

/// What a team opens in its namespace.
pub const CHANGE_OVERRIDE: Kind = Kind {
    rank: 0,
    name: names::CHANGE_OVERRIDE,
    api_version: names::API_VERSION,
    scope: Scope::Namespaced,
    short_name: "cov",
    role: Role::Override,
    schema: || &CHANGE_OVERRIDE_SCHEMA,
};

/// What the platform opens.
pub const CLUSTER_CHANGE_OVERRIDE: Kind = Kind {
    rank: 1,
    name: names::CLUSTER_CHANGE_OVERRIDE,
    api_version: names::API_VERSION,
    scope: Scope::Cluster,
    short_name: "ccov",
    role: Role::Override,
    schema: || &CLUSTER_CHANGE_OVERRIDE_SCHEMA,
};

/// What the platform demands of what people write about when things change.
pub const CHANGE_GUARDRAIL: Kind = Kind {
    rank: 0,
    name: names::CHANGE_GUARDRAIL,
    api_version: names::API_VERSION,
    scope: Scope::Cluster,
    short_name: "cgr",
    role: Role::Guardrail,
    schema: || &CHANGE_GUARDRAIL_SCHEMA,
};

// Made once and when first asked for: a file may hold thousands of policies, and most verbs need one kind.
static CHANGE_MANAGEMENT_POLICY_SCHEMA: LazyLock<Value> =
    LazyLock::new(schema_of::<policy::ChangeManagementPolicy>);
static HOSTED_CHANGE_MANAGEMENT_POLICY_SCHEMA: LazyLock<Value> =
    LazyLock::new(schema_of::<policy::HostedChangeManagementPolicy>);

static CLUSTER_VERSION_SCHEMA: LazyLock<Value> = LazyLock::new(schema_of::<gated::ClusterVersion>);
static MACHINE_CONFIG_POOL_SCHEMA: LazyLock<Value> =
    LazyLock::new(schema_of::<gated::MachineConfigPool>);
static HOSTED_CLUSTER_SCHEMA: LazyLock<Value> = LazyLock::new(schema_of::<gated::HostedCluster>);
static NODE_POOL_SCHEMA: LazyLock<Value> = LazyLock::new(schema_of::<gated::NodePool>);
static MACHINE_CONFIG_SCHEMA: LazyLock<Value> = LazyLock::new(schema_of::<machine::MachineConfig>);
static MACHINE_CONFIGURATION_SCHEMA: LazyLock<Value> =
    LazyLock::new(schema_of::<disruption::MachineConfiguration>);
static CHANGE_GATE_SCHEMA: LazyLock<Value> = LazyLock::new(schema_of::<reach::ChangeGate>);
static CLUSTER_CHANGE_GATE_SCHEMA: LazyLock<Value> =
    LazyLock::new(schema_of::<reach::ClusterChangeGate>);
static CHANGE_FREEZE_SCHEMA: LazyLock<Value> = LazyLock::new(schema_of::<freeze::ChangeFreeze>);
static CLUSTER_CHANGE_FREEZE_SCHEMA: LazyLock<Value> =
    LazyLock::new(schema_of::<freeze::ClusterChangeFreeze>);
static CHANGE_OVERRIDE_SCHEMA: LazyLock<Value> =
    LazyLock::new(schema_of::<overrides::ChangeOverride>);
static CLUSTER_CHANGE_OVERRIDE_SCHEMA: LazyLock<Value> =
    LazyLock::new(schema_of::<overrides::ClusterChangeOverride>);
static CHANGE_GUARDRAIL_SCHEMA: LazyLock<Value> =
    LazyLock::new(schema_of::<guardrail::ChangeGuardrail>);
static CHANGE_RECORD_SCHEMA: LazyLock<Value> = LazyLock::new(schema_of::<record::ChangeRecord>);
// Built into every server, which judges it better than anybody else.
static NODE_SCHEMA: LazyLock<Value> = LazyLock::new(anything);
static NAMESPACE_SCHEMA: LazyLock<Value> = LazyLock::new(anything);
static TARGET_SCHEMA: LazyLock<Value> = LazyLock::new(anything);

/// What a kind that others define may hold, as far as it is known here.
pub(crate) fn anything() -> Value {
    serde_json::json!({"type": "object"})
}
