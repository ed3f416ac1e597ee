//! What does a `ClusterVersion` look like (`config.openshift.io/v1`)?
//!
//! `spec.desiredUpdate` is a request and `status.desired` the accepted target: while they differ, a change is pending.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ResourceCondition;
use crate::{
    meta::ObjectMeta,
    stanza::{ChangeManagementStatus, Stanza},
    version_management::{VersionManagement, VersionManagementStatus},
};

/// The version of the control plane, and the update that is wanted. A cluster has one, called `version`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClusterVersion {
    /// The group and version: `config.openshift.io/v1`.
    pub api_version: String,
    /// `ClusterVersion`.
    pub kind: String,
    /// Standard object metadata.
    pub metadata: ObjectMeta,
    /// What is wanted of the control plane: its release, and when it may change.
    pub spec: ClusterVersionSpec,
    /// What was found: the release that was accepted, those before it, and whether changes may be initiated now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<ClusterVersionStatus>,
}

/// What is wanted of the control plane.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend(
    "x-kubernetes-preserve-unknown-fields" = true,
    "x-tidegate-exclusive" = ["changeManagement", "versionManagement"],
))]
pub struct ClusterVersionSpec {
    /// When material changes to the control plane may be initiated. Always, without this stanza.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change_management: Option<Stanza>,
    /// The same, as an earlier design writes it. Excludes `changeManagement`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version_management: Option<VersionManagement>,
    /// The identity of the cluster.
    #[serde(default, rename = "clusterID", skip_serializing_if = "Option::is_none")]
    pub cluster_id: Option<String>,
    /// The channel that updates are looked for in; none if empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub channel: Option<String>,
    /// The update that is asked for. It is begun when it has been accepted, which change management may hold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub desired_update: Option<Update>,
}

/// An update that is asked for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-preserve-unknown-fields" = true))]
pub struct Update {
    /// The version, such as `4.20.3`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The release image, by digest; wins over `version`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
    /// `Multi`, or empty to stay with the present one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub architecture: Option<String>,
    /// Whether failed checks of the release are set aside. Change management is not one of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub force: Option<bool>,
}

/// What was found about the control plane.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-preserve-unknown-fields" = true))]
pub struct ClusterVersionStatus {
    /// What stanza and policy come to: whether changes may be initiated now, until when, and what comes next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change_management: Option<ChangeManagementStatus>,
    /// What `versionManagement` comes to: the next window, and whether a change waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version_management: Option<VersionManagementStatus>,
    /// The release that has been accepted: the one the control plane is at, or on its way to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub desired: Option<Release>,
    /// The releases that were begun, newest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub history: Vec<UpdateHistory>,
    /// The generation of the specification that was last seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// The updates that may be asked for; null if that could not be found out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-tidegate-nullable" = true))]
    pub available_updates: Option<Vec<Release>>,
    /// The conditions, `ChangesPaused` and `ChangesPending` among them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"]))]
    pub conditions: Vec<ResourceCondition>,
}

/// A release.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-preserve-unknown-fields" = true))]
pub struct Release {
    /// The version, such as `4.20.3`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The release image.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
}

/// A release that was begun.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-preserve-unknown-fields" = true))]
pub struct UpdateHistory {
    /// `Partial` while it is under way or given up, `Completed` afterwards.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// When it was begun.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "date-time"))]
    pub started_time: Option<String>,
    /// When it was completed; null until then.
    #[serde(default)]
    #[schemars(extend("format" = "date-time", "x-tidegate-nullable" = true))]
    pub completion_time: Option<String>,
    /// The version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The release image.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
    /// Whether the release was verified before it was begun.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verified: Option<bool>,
    /// The risks that were accepted with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accepted_risks: Option<String>,
}
