//! What does a `HostedCluster` look like (`hypershift.openshift.io/v1beta1`)?

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Release, ResourceCondition, UpdateHistory};
use crate::{
    meta::ObjectMeta,
    stanza::{ChangeManagementStatus, Stanza},
    version_management::{VersionManagement, VersionManagementStatus},
};

/// A cluster whose control plane runs in this one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HostedCluster {
    /// The group and version: `hypershift.openshift.io/v1beta1`.
    pub api_version: String,
    /// `HostedCluster`.
    pub kind: String,
    /// Standard object metadata.
    pub metadata: ObjectMeta,
    /// What is wanted of the hosted control plane: its release, and when it may change.
    pub spec: HostedClusterSpec,
    /// What was found: the release that is there, and whether changes may be initiated now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<HostedClusterStatus>,
}

/// What is wanted of a hosted cluster.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend(
    "x-kubernetes-preserve-unknown-fields" = true,
    "x-tidegate-exclusive" = ["changeManagement", "versionManagement"],
))]
pub struct HostedClusterSpec {
    /// When material changes to the hosted control plane may be initiated. Always, without this stanza.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change_management: Option<Stanza>,
    /// The same, as an earlier design writes it. Excludes `changeManagement`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version_management: Option<VersionManagement>,
    /// The release that is wanted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub release: Option<ReleaseImage>,
    /// The release of those components that run in this cluster, where it differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub control_plane_release: Option<ReleaseImage>,
    /// Until when everything about the cluster stands still, scaling included: `true`, `false` or an instant. Far coarser than change
    /// management, which never sets it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paused_until: Option<String>,
}

/// A release, by its image.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-preserve-unknown-fields" = true))]
pub struct ReleaseImage {
    /// The release image.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
}

/// What was found about a hosted cluster.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-preserve-unknown-fields" = true))]
pub struct HostedClusterStatus {
    /// What stanza and policy come to: whether changes may be initiated now, until when, and what comes next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change_management: Option<ChangeManagementStatus>,
    /// What `versionManagement` comes to: the next window, and whether a change waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version_management: Option<VersionManagementStatus>,
    /// The release that has been rolled out, or is being rolled out, in the hosted cluster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<HostedClusterVersion>,
    /// The conditions, `ChangesPaused` and `ChangesPending` among them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"]))]
    pub conditions: Vec<ResourceCondition>,
}

/// What the `ClusterVersion` inside a hosted cluster says.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-preserve-unknown-fields" = true))]
pub struct HostedClusterVersion {
    /// The release that the hosted cluster is at, or on its way to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub desired: Option<Release>,
    /// The releases that were begun, newest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub history: Vec<UpdateHistory>,
    /// The generation of the specification that was last seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
}
