//! What do the resources under change management look like? Those fields of the upstream kinds that are read or written here, and the
//! stanza that is ours.
//!
//! The kinds belong to others: whatever else they hold is kept as it is (`x-kubernetes-preserve-unknown-fields` on every part that is
//! not ours), and writes are patches of single fields, so that fields nobody here knows survive. For the same reason nothing of theirs
//! is required or bounded here: an object that its owner accepts is never refused, and never fails to decode, over a field that is not
//! ours. Inside the stanza it is the other way round: what the schema does not know is refused.

mod cluster_version;
mod hosted_cluster;
mod machine_config_pool;
mod node_pool;

pub use cluster_version::{
    ClusterVersion, ClusterVersionSpec, ClusterVersionStatus, Release, Update, UpdateHistory,
};
pub use hosted_cluster::{
    HostedCluster, HostedClusterSpec, HostedClusterStatus, HostedClusterVersion, ReleaseImage,
};
pub use machine_config_pool::{
    MachineConfigPool, MachineConfigPoolSpec, MachineConfigPoolStatus, PoolConfiguration,
    PoolTarget, ValidAfter,
};
pub use node_pool::{
    InPlace, NodePool, NodePoolManagement, NodePoolSpec, NodePoolStatus, Replace, RollingUpdate,
};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

/// One aspect of a resource's state, as its owner writes it: reasons may be empty or hold spaces, times may be missing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-preserve-unknown-fields" = true))]
pub struct ResourceCondition {
    /// The aspect, in CamelCase.
    #[serde(rename = "type")]
    pub kind: String,
    /// Whether it holds: `True`, `False` or `Unknown`.
    pub status: String,
    /// Why, for programs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Why, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The generation of the specification it was judged from, where the kind has that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// When the status last changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "date-time"))]
    pub last_transition_time: Option<String>,
}

/// A count, or a share of all in percent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum IntOrString {
    /// A count.
    Count(i32),
    /// A share, such as `25%`.
    Share(String),
}

impl JsonSchema for IntOrString {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "IntOrString".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"x-kubernetes-int-or-string": true})
    }
}

#[cfg(test)]
mod tests;
