//! What does every Kubernetes object carry besides its own fields?
//!
//! Only as much as a policy file can hold: `validate` must tell a mistyped `lables` from a field that the server fills in.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Standard object metadata.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct ObjectMeta {
    /// The name, unique for its kind within the cluster, or within the namespace for a namespaced kind.
    #[schemars(extend("format" = "dns-subdomain"))]
    pub name: String,
    /// The namespace; only namespaced kinds have one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "dns-label"))]
    pub namespace: Option<String>,
    /// Labels, by which objects are selected.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    /// Annotations, free for tools and people.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub annotations: BTreeMap<String, String>,
    /// Who must agree before the object may go.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub finalizers: Vec<String>,
    /// The objects this one is removed with.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub owner_references: Vec<Value>,
    /// Filled in by the server: counts the changes of the specification.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generation: Option<i64>,
    /// Filled in by the server: the identity of this very object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uid: Option<String>,
    /// Filled in by the server: the version of the stored bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resource_version: Option<String>,
    /// Filled in by the server: when the object was created.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "date-time"))]
    pub creation_timestamp: Option<String>,
    /// Filled in by the server: when the object was asked to go.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "date-time"))]
    pub deletion_timestamp: Option<String>,
    /// Filled in by the server: how long it may take to go.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deletion_grace_period_seconds: Option<i64>,
    /// Filled in by the server: who set which field.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub managed_fields: Vec<Value>,
    /// A prefix from which the server makes a name. A policy is referred to by its name, so this is of little use here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generate_name: Option<String>,
    /// Filled in by old servers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub self_link: Option<String>,
}

/// One aspect of an object's state, as Kubernetes writes them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct Condition {
    /// The aspect, in CamelCase.
    #[serde(rename = "type")]
    pub kind: String,
    /// Whether it holds.
    pub status: ConditionStatus,
    /// Why, as one CamelCase word for programs.
    pub reason: String,
    /// Why, as a sentence for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The generation of the specification it was judged from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// When the status last changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "date-time"))]
    pub last_transition_time: Option<String>,
}

/// Whether a condition holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum ConditionStatus {
    /// It holds.
    True,
    /// It does not hold.
    False,
    /// Nobody can tell.
    Unknown,
}
