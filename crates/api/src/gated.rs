//! What do the resources under change management look like? Those fields of the upstream kinds that are read or written here, and the
//! stanza that is ours.
//!
//! The kinds belong to others: whatever else they hold is kept as it is, and writes are patches of single fields, so that fields
//! nobody here knows survive.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    meta::{Condition, ObjectMeta},
    stanza::{ChangeManagementStatus, Stanza},
};

/// The version of the control plane, and the update that is wanted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClusterVersion {
    /// The group and version: `config.openshift.io/v1`.
    pub api_version: String,
    /// `ClusterVersion`.
    pub kind: String,
    /// Standard object metadata.
    pub metadata: ObjectMeta,
    /// What is wanted.
    pub spec: GatedSpec,
    /// What was found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<GatedStatus>,
}

/// What is wanted of a resource.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GatedSpec {
    /// When material changes may be initiated. Always, without this stanza.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change_management: Option<Stanza>,
}

/// What was found about a resource.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GatedStatus {
    /// What stanza and policy come to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change_management: Option<ChangeManagementStatus>,
    /// The conditions, `ChangesPaused` and `ChangesPending` among them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
}
