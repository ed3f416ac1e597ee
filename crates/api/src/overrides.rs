//! What does an override look like? `ChangeOverride` (namespaced, a team's) and `ClusterChangeOverride` (the platform's).
//!
//! - OVR-2: it opens one gate until an instant, and never shuts any; once written it only ends earlier, or is approved.
//! - OVR-3: who signed and who approved it is what the server saw.
//! - GATE-14: a field that nobody knows is kept and judged: `onyl` must not open more than `only` would.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::meta::{Condition, ObjectMeta};

/// For how many days an override lasts at most. What must be open for longer is no exception but a policy.
pub const MOST_DAYS: i64 = 31;

/// Opens one gate of its namespace until an instant, whatever its windows are. No freeze lets it pass.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct ChangeOverride {
    /// The group and version: `changemanagement.openshift.io/v1alpha1`.
    pub api_version: String,
    /// `ChangeOverride`.
    pub kind: String,
    /// Standard object metadata. The gate that it opens is in its namespace.
    pub metadata: ObjectMeta,
    /// What is opened, until when, and why. Once written it can only end earlier, and be approved.
    pub spec: ChangeOverrideSpec,
    /// Whether it is understood; written by the controller.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<OverrideStatus>,
}

/// Opens one gate, wherever it is, until an instant, whatever its windows are. It passes the freezes of a team, and none of the platform.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct ClusterChangeOverride {
    /// The group and version: `changemanagement.openshift.io/v1alpha1`.
    pub api_version: String,
    /// `ClusterChangeOverride`.
    pub kind: String,
    /// Standard object metadata. The kind is cluster-scoped: there is no namespace.
    pub metadata: ObjectMeta,
    /// What is opened, until when, and why. Once written it can only end earlier, and be approved.
    pub spec: ClusterChangeOverrideSpec,
    /// Whether it is understood; written by the controller.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<OverrideStatus>,
}

/// What of its namespace is opened, until when, and why.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
#[schemars(extend("x-tidegate-rules" = team_rules()))]
pub struct ChangeOverrideSpec {
    /// The object whose gate is opened.
    pub target: TeamTarget,
    /// When it ends, which is the first instant at which the windows of the target decide again: at most 31 days after its creation. It can
    /// be changed to an earlier instant.
    #[schemars(extend("format" = "date-time"))]
    pub until: String,
    /// Why, in a line: whoever asks why changes started outside a window reads it.
    #[schemars(length(min = 1, max = 1024), regex(pattern = r"^[^\r\n]*[^\s][^\r\n]*$"))]
    pub reason: String,
    /// Where this was asked for: the number or the address of a ticket.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 1024), regex(pattern = r"^[^\r\n]*$"))]
    pub ticket: Option<String>,
    /// Who opens, by the name that the API server knows them by: it refuses any other. Unsigned if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 320), regex(pattern = r"^[^\r\n]*$"))]
    pub by: Option<String>,
    /// Who approved it, once and afterwards, by the name that the API server knows them by: somebody else than `by`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 320), regex(pattern = r"^[^\r\n]*$"))]
    pub approved_by: Option<String>,
}

/// What is opened, until when, and why.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
#[schemars(extend("x-tidegate-rules" = platform_rules()))]
pub struct ClusterChangeOverrideSpec {
    /// The object whose gate is opened.
    pub target: PlatformTarget,
    /// When it ends, which is the first instant at which the windows of the target decide again: at most 31 days after its creation. It can
    /// be changed to an earlier instant.
    #[schemars(extend("format" = "date-time"))]
    pub until: String,
    /// Why, in a line: whoever asks why changes started outside a window reads it.
    #[schemars(length(min = 1, max = 1024), regex(pattern = r"^[^\r\n]*[^\s][^\r\n]*$"))]
    pub reason: String,
    /// Where this was asked for: the number or the address of a ticket.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 1024), regex(pattern = r"^[^\r\n]*$"))]
    pub ticket: Option<String>,
    /// The one change that may start; whatever waits at the target, if absent. For a `ClusterVersion` or a `MachineConfigPool`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub only: Option<Only>,
    /// Who opens, by the name that the API server knows them by: it refuses any other. Unsigned if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 320), regex(pattern = r"^[^\r\n]*$"))]
    pub by: Option<String>,
    /// Who approved it, once and afterwards, by the name that the API server knows them by: somebody else than `by`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 320), regex(pattern = r"^[^\r\n]*$"))]
    pub approved_by: Option<String>,
}

/// An object of the namespace of the override.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct TeamTarget {
    /// Its kind: `ChangeGate`, `HostedCluster` or `NodePool`.
    pub kind: TeamTargetKind,
    /// Its name.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
}

/// An object of the cluster, or of a namespace.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
#[schemars(extend("x-tidegate-rules" = target_rules()))]
pub struct PlatformTarget {
    /// Its kind: `ClusterVersion` (the control plane, and with it its nodes), `MachineConfigPool`, `ClusterChangeGate`, or with a namespace
    /// `ChangeGate`, `HostedCluster` or `NodePool`.
    pub kind: PlatformTargetKind,
    /// Its namespace, if it is in one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 63))]
    pub namespace: Option<String>,
    /// Its name.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
}

/// What a team may open: what stands in its namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum TeamTargetKind {
    /// A gate of the team on what others own.
    ChangeGate,
    /// A hosted control plane.
    HostedCluster,
    /// The nodes of a hosted cluster.
    NodePool,
    /// Written by something newer than this build.
    #[serde(other)]
    #[schemars(skip)]
    Unknown,
}

/// What the platform may open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum PlatformTargetKind {
    /// The control plane, and with it its nodes (CV-2).
    ClusterVersion,
    /// A pool of nodes other than the masters.
    MachineConfigPool,
    /// A gate of the platform on what others own.
    ClusterChangeGate,
    /// A gate of a team on what others own.
    ChangeGate,
    /// A hosted control plane.
    HostedCluster,
    /// The nodes of a hosted cluster.
    NodePool,
    /// Written by something newer than this build.
    #[serde(other)]
    #[schemars(skip)]
    Unknown,
}

/// The one change that may start.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
#[schemars(extend("x-tidegate-rules" = only_rules()))]
pub struct Only {
    /// The release that a `ClusterVersion` may be updated to, by its version, or by its image where that is all that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 512))]
    pub release: Option<String>,
    /// The rendered configuration that nodes may get: of a pool, or for a `ClusterVersion` of its masters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub rendered_config: Option<String>,
}

/// What the controller says of an override.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct OverrideStatus {
    /// `Ready`: the override is understood, and what it opens exists.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"]))]
    pub conditions: Vec<Condition>,
}

/// OVR-2: what stays as it was written.
fn kept() -> Vec<Value> {
    let mut rules = vec![
        json!({
            "rule": "self.target == oldSelf.target",
            "message": "what an override opens cannot be changed: delete it, and make another",
            "fieldPath": ".target",
        }),
        json!({
            "rule": "self.until <= oldSelf.until",
            "message": "an override can be ended earlier and not later: make another",
            "fieldPath": ".until",
        }),
        json!({
            "rule": "self.reason == oldSelf.reason",
            "message": "why somebody opened cannot be changed afterwards: delete the override, and make another",
            "fieldPath": ".reason",
        }),
    ];
    let unchanged = |field: &str, message: &str| {
        json!({
            "rule": format!("has(self.{field}) == has(oldSelf.{field}) && (!has(self.{field}) || self.{field} == oldSelf.{field})"),
            "message": message,
            "fieldPath": format!(".{field}"),
        })
    };
    rules.push(unchanged(
        "ticket",
        "the ticket cannot be changed afterwards: make another override",
    ));
    rules.push(unchanged("by", "who opened cannot be changed afterwards: make another override"));
    rules.push(json!({
        "rule": "!has(oldSelf.approvedBy) || has(self.approvedBy) && self.approvedBy == oldSelf.approvedBy",
        "message": "an override is approved once",
        "fieldPath": ".approvedBy",
    }));
    rules.push(json!({
        "rule": "!has(self.approvedBy) || has(self.by) && self.approvedBy != self.by",
        "message": "somebody else than by approves, so by must be there",
        "fieldPath": ".approvedBy",
    }));
    rules
}

fn team_rules() -> Value {
    kept().into()
}

fn platform_rules() -> Value {
    let mut rules = kept();
    rules.push(json!({
        "rule": "has(self.only) == has(oldSelf.only) && (!has(self.only) || self.only == oldSelf.only)",
        "message": "what may start cannot be changed afterwards: make another override",
        "fieldPath": ".only",
    }));
    rules.push(json!({
        "rule": "!has(self.only) || self.target.kind in ['ClusterVersion', 'MachineConfigPool']",
        "message": "only is for a ClusterVersion or a MachineConfigPool: a gate on what others own knows no single change",
        "fieldPath": ".only",
    }));
    rules.push(json!({
        "rule": "!has(self.only) || !has(self.only.release) || self.target.kind == 'ClusterVersion'",
        "message": "a release is what a ClusterVersion goes to: write renderedConfig for nodes",
        "fieldPath": ".only",
    }));
    rules.into()
}

fn target_rules() -> Value {
    // CEL keeps the bare word for itself.
    json!([{
        "rule": "has(self.__namespace__) == (self.kind in ['ChangeGate', 'HostedCluster', 'NodePool'])",
        "message": "namespace is for ChangeGate, HostedCluster and NodePool, which are in one, and for no other kind",
        "fieldPath": ".namespace",
    }])
}

fn only_rules() -> Value {
    json!([{
        "rule": "has(self.release) != has(self.renderedConfig)",
        "message": "write either release or renderedConfig",
    }])
}
