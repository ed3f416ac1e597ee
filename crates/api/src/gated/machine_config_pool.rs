//! What does a `MachineConfigPool` look like (`machineconfiguration.openshift.io/v1`)?
//!
//! `spec.configuration` is what was rendered last, also while the pool is held; `spec.machineConfig` says which rendered configuration
//! nodes are to go to instead [Enhanced `MachineConfigPool` Control].

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{IntOrString, ResourceCondition};
use crate::{
    meta::ObjectMeta,
    stanza::{ChangeManagementStatus, Stanza},
    version_management::{VersionManagement, VersionManagementStatus},
};

/// A pool of nodes that share a configuration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MachineConfigPool {
    /// The group and version: `machineconfiguration.openshift.io/v1`.
    pub api_version: String,
    /// `MachineConfigPool`.
    pub kind: String,
    /// Standard object metadata.
    pub metadata: ObjectMeta,
    /// What is wanted of the nodes of the pool: their configuration, and when they may change.
    pub spec: MachineConfigPoolSpec,
    /// What was found: how far the nodes are, and whether changes may be initiated now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<MachineConfigPoolStatus>,
}

/// What is wanted of a pool.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend(
    "x-kubernetes-preserve-unknown-fields" = true,
    "x-tidegate-exclusive" = ["changeManagement", "versionManagement"],
))]
pub struct MachineConfigPoolSpec {
    /// When changes to the nodes of the pool may be initiated. Always, without this stanza.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change_management: Option<Stanza>,
    /// The same, as an earlier design writes it. Excludes `changeManagement`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version_management: Option<VersionManagement>,
    /// The rendered configuration that nodes are to go to, instead of the latest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine_config: Option<PoolTarget>,
    /// The latest rendered configuration. Written by the machine config operator, also while the pool is held.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub configuration: Option<PoolConfiguration>,
    /// Whether no further node of the pool is changed, whatever change management says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paused: Option<bool>,
    /// How many nodes may be unavailable at once, as a count or in percent of the pool, rounded down. At least 1 is always allowed; 1
    /// if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_unavailable: Option<IntOrString>,
    /// Which machine configs are rendered for the pool, by their labels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "selector")]
    pub machine_config_selector: Option<Value>,
    /// Which nodes belong to the pool, by their labels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "selector")]
    pub node_selector: Option<Value>,
}

/// The rendered configuration that nodes are to go to, instead of the latest.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct PoolTarget {
    /// The name of the rendered configuration, such as `rendered-worker-0a1b2c`. The latest if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend(
        "format" = "dns-subdomain",
        "pattern" = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$",
        "maxLength" = 253,
    ))]
    pub name: Option<String>,
    /// When new nodes begin with it: `CanaryUpgrade` (once a node has taken it successfully; so if absent) or `Immediate` (at once).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub valid_after: Option<ValidAfter>,
}

/// When new nodes begin with a configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum ValidAfter {
    /// Once a node has taken it successfully.
    CanaryUpgrade,
    /// At once.
    Immediate,
    /// Written by something newer than this build; read as the careful one.
    #[serde(other)]
    #[schemars(skip)]
    Unknown,
}

/// A rendered configuration, and what it was rendered from.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-preserve-unknown-fields" = true))]
pub struct PoolConfiguration {
    /// The name of the rendered configuration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The machine configs it was rendered from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "references")]
    pub source: Vec<Value>,
}

/// What was found about a pool.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-preserve-unknown-fields" = true))]
pub struct MachineConfigPoolStatus {
    /// What stanza and policy come to: whether changes may be initiated now, until when, and what comes next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change_management: Option<ChangeManagementStatus>,
    /// What `versionManagement` comes to: the next window, and whether a change waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version_management: Option<VersionManagementStatus>,
    /// The last configuration that every node of the pool has reached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub configuration: Option<PoolConfiguration>,
    /// The generation of the specification that was last seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// How many nodes the pool has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine_count: Option<i32>,
    /// How many of them are at the configuration that is wanted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub updated_machine_count: Option<i32>,
    /// How many of them are there and ready.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ready_machine_count: Option<i32>,
    /// How many of them are not available.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unavailable_machine_count: Option<i32>,
    /// How many of them failed to change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub degraded_machine_count: Option<i32>,
    /// The conditions, `ChangesPaused` and `ChangesPending` among them. The list has one owner as a whole: whoever writes one
    /// condition sends all of them back.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub conditions: Vec<ResourceCondition>,
}

/// A label selector, kept as it is.
fn selector(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({"type": "object", "x-kubernetes-preserve-unknown-fields": true})
}

/// References to objects, kept as they are.
fn references(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({
        "type": "array",
        "items": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
    })
}
