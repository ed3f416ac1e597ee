//! What does a `NodePool` look like (`hypershift.openshift.io/v1beta1`)?

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{IntOrString, ReleaseImage, ResourceCondition};
use crate::{
    meta::ObjectMeta,
    stanza::{ChangeManagementStatus, Stanza},
    version_management::{VersionManagement, VersionManagementStatus},
};

/// The nodes of a hosted cluster that share a release and a configuration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NodePool {
    /// The group and version: `hypershift.openshift.io/v1beta1`.
    pub api_version: String,
    /// `NodePool`.
    pub kind: String,
    /// Standard object metadata.
    pub metadata: ObjectMeta,
    /// What is wanted of the nodes of the pool: their release, how they are changed, and when they may be.
    pub spec: NodePoolSpec,
    /// What was found: how far the nodes are, and whether changes may be initiated now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<NodePoolStatus>,
}

/// What is wanted of a node pool.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend(
    "x-kubernetes-preserve-unknown-fields" = true,
    "x-tidegate-exclusive" = ["changeManagement", "versionManagement"],
))]
pub struct NodePoolSpec {
    /// When changes to the nodes of the pool may be initiated. Always, without this stanza.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change_management: Option<Stanza>,
    /// The same, as an earlier design writes it. Excludes `changeManagement`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version_management: Option<VersionManagement>,
    /// The hosted cluster that the nodes belong to, of the same namespace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster_name: Option<String>,
    /// The release that is wanted; independent from that of the hosted cluster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub release: Option<ReleaseImage>,
    /// How many nodes are wanted. Scaling is not a material change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replicas: Option<i32>,
    /// How nodes are changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub management: Option<NodePoolManagement>,
    /// Until when the pool stands still, scaling included: `true`, `false` or an instant. Far coarser than change management, which
    /// never sets it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paused_until: Option<String>,
}

/// How the nodes of a pool are changed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-preserve-unknown-fields" = true))]
pub struct NodePoolManagement {
    /// `Replace` (new nodes take the place of old ones) or `InPlace` (nodes stay and are changed).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub upgrade_type: Option<String>,
    /// How nodes are replaced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replace: Option<Replace>,
    /// How nodes are changed in place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_place: Option<InPlace>,
}

/// How nodes are replaced.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-preserve-unknown-fields" = true))]
pub struct Replace {
    /// `RollingUpdate` (by themselves) or `OnDelete` (as somebody deletes them).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strategy: Option<String>,
    /// The limits of a rolling update.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rolling_update: Option<RollingUpdate>,
}

/// The limits of a rolling update.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-preserve-unknown-fields" = true))]
pub struct RollingUpdate {
    /// How many nodes may be missing, as a count or in percent, rounded down. None if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_unavailable: Option<IntOrString>,
    /// How many nodes may be there beyond those wanted, as a count or in percent, rounded up. 1 if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_surge: Option<IntOrString>,
}

/// How nodes are changed in place.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-preserve-unknown-fields" = true))]
pub struct InPlace {
    /// How many nodes may be unavailable at once, as a count or in percent, rounded down. 1 if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_unavailable: Option<IntOrString>,
}

/// What was found about a node pool.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-preserve-unknown-fields" = true))]
pub struct NodePoolStatus {
    /// What stanza and policy come to: whether changes may be initiated now, until when, and what comes next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change_management: Option<ChangeManagementStatus>,
    /// What `versionManagement` comes to: the next window, and whether a change waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version_management: Option<VersionManagementStatus>,
    /// The version that every node has reached; it moves when a rollout is complete.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// How many nodes are available.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replicas: Option<i32>,
    /// The conditions, `ChangesPaused`, `ChangesPending`, `UpdatingVersion` and `UpdatingConfig` among them. The list has one owner as
    /// a whole: whoever writes one condition sends all of them back.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub conditions: Vec<ResourceCondition>,
}
