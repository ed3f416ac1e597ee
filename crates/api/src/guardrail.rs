//! What does a guardrail look like? `ChangeGuardrail`, the platform's: what people may write about when the cluster changes.
//!
//! - GRD-1: it judges what is written, and never an instant; off until somebody makes one.
//! - GRD-6: what it can demand. Several may select one object, and all must hold.
//! - GATE-14: a field that nobody knows is kept and judged: `minimunHours` must not demand less than `minimumHours` would.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{
    meta::{Condition, ObjectMeta},
    policy::DURATION,
    reach::LabelSelector,
    stanza::PolicyReference,
};

/// Says what policies, gates, overrides and freezes must be like, whoever writes them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct ChangeGuardrail {
    /// The group and version: `changemanagement.openshift.io/v1alpha1`.
    pub api_version: String,
    /// `ChangeGuardrail`.
    pub kind: String,
    /// Standard object metadata. The kind is cluster-scoped: there is no namespace.
    pub metadata: ObjectMeta,
    /// What is demanded, of what, and what becomes of a write that does not meet it.
    pub spec: GuardrailSpec,
    /// Whether it is understood; written by the controller.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<GuardrailStatus>,
}

/// What is demanded, of what, and what becomes of a write that does not meet it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct GuardrailSpec {
    /// What becomes of a write that does not meet it: `Enforce` (it is refused, or its policy is not ready), `Warn` (the default: whoever
    /// wrote it is told) or `Audit` (the audit log and the condition `GuardrailsMet` tell it). What was there before is told and not touched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<GuardrailMode>,
    /// What is judged; everything that a demand can be made of, if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selector: Option<GuardrailSelector>,
    /// How many hours of any span of days the windows of a policy with a schedule must hold. The operator judges it, for all time ahead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 8))]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub minimum_hours: Option<Vec<MinimumHours>>,
    /// The strategies that policies and stanzas may have; any, if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 6))]
    #[schemars(extend("x-kubernetes-list-type" = "set"))]
    pub strategies: Option<Vec<AnyStrategy>>,
    /// How long an exclusion of a policy may be, such as `240h`; exclusions that touch are one to the operator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "go-duration", "pattern" = DURATION, "maxLength" = 64))]
    pub longest_exclusion: Option<String>,
    /// How long an override may last, such as `4h`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "go-duration", "pattern" = DURATION, "maxLength" = 64))]
    pub longest_override: Option<String>,
    /// How long a freeze may last, such as `240h`; one without an end lasts too long.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "go-duration", "pattern" = DURATION, "maxLength" = 64))]
    pub longest_freeze: Option<String>,
    /// How many people must approve an override before it opens anything: 0 (the default) or 1. An override must then be signed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1))]
    pub approvals: Option<i32>,
    /// A `ChangeManagementPolicy` whose windows must contain those of the policies that are judged. The operator judges it, for all time
    /// ahead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<PolicyReference>,
    /// Who may write what opens or holds, by their groups; anybody who has the right to, if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub writers: Option<GuardrailWriters>,
}

/// What is judged.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct GuardrailSelector {
    /// Which kinds; all, if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 16))]
    #[schemars(extend("x-kubernetes-list-type" = "set"))]
    pub kinds: Option<Vec<GuardedKind>>,
    /// In which namespaces, by their labels; in all, and what is in none, if absent. With it what is in no namespace is not judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace_selector: Option<LabelSelector>,
}

/// A kind that a guardrail judges.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
pub enum GuardedKind {
    /// Policies of the cluster.
    ChangeManagementPolicy,
    /// Policies of namespaces.
    HostedChangeManagementPolicy,
    /// The stanza of the control plane.
    ClusterVersion,
    /// Stanzas of pools.
    MachineConfigPool,
    /// Stanzas of hosted control planes.
    HostedCluster,
    /// Stanzas of hosted pools.
    NodePool,
    /// Gates of teams.
    ChangeGate,
    /// Gates of the platform.
    ClusterChangeGate,
    /// Overrides of teams.
    ChangeOverride,
    /// Overrides of the platform.
    ClusterChangeOverride,
    /// Freezes of teams.
    ChangeFreeze,
    /// Freezes of the platform.
    ClusterChangeFreeze,
    /// Configurations, which may bypass change management.
    MachineConfig,
    /// Nodes, to which people may consent.
    Node,
    /// Written by something newer than this build.
    #[serde(other)]
    #[schemars(skip)]
    Unknown,
}

/// What becomes of a write that does not meet a guardrail.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum GuardrailMode {
    /// It is refused, or its policy is not ready.
    Enforce,
    /// Whoever wrote it is told.
    #[default]
    Warn,
    /// The audit log and a condition tell it.
    Audit,
    /// Written by something newer than this build; it refuses as `Enforce` does.
    #[serde(other)]
    #[schemars(skip)]
    Unknown,
}

/// How much of any span the windows must hold.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
#[schemars(extend("x-tidegate-rules" = hours_rules()))]
pub struct MinimumHours {
    /// At least so many hours.
    #[schemars(range(min = 1, max = 8784))]
    pub hours: i32,
    /// In any so many days, whenever they begin.
    #[schemars(range(min = 1, max = 366))]
    pub in_days: i32,
    /// The shortest stretch that counts, such as `4h`: what is left of a window at an end of the days counts only if it is as long; any, if
    /// absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "go-duration", "pattern" = DURATION, "maxLength" = 64))]
    pub stretch: Option<String>,
}

/// A strategy of a policy or of a stanza.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
pub enum AnyStrategy {
    /// Always.
    Permissive,
    /// Never.
    Restrictive,
    /// In the windows of a policy.
    MaintenanceSchedule,
    /// As a policy says.
    ByPolicy,
    /// Always until an instant.
    PermissiveUntil,
    /// Never until an instant.
    RestrictiveUntil,
    /// Written by something newer than this build.
    #[serde(other)]
    #[schemars(skip)]
    Unknown,
}

/// Who may write what opens or holds, by their groups as the API server knows them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct GuardrailWriters {
    /// Who may let a configuration bypass change management.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 16), inner(length(min = 1, max = 320)))]
    #[schemars(extend("x-kubernetes-list-type" = "set"))]
    pub bypass: Option<Vec<String>>,
    /// Who may let a single node go.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 16), inner(length(min = 1, max = 320)))]
    #[schemars(extend("x-kubernetes-list-type" = "set"))]
    pub consent: Option<Vec<String>>,
    /// Who may override.
    #[serde(default, rename = "override", skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 16), inner(length(min = 1, max = 320)))]
    #[schemars(extend("x-kubernetes-list-type" = "set"))]
    pub overriding: Option<Vec<String>>,
    /// Who may freeze.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 16), inner(length(min = 1, max = 320)))]
    #[schemars(extend("x-kubernetes-list-type" = "set"))]
    pub freeze: Option<Vec<String>>,
}

/// Whether a guardrail is understood.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct GuardrailStatus {
    /// `Ready`: it is understood, and what it names is there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"]))]
    pub conditions: Vec<Condition>,
}

fn hours_rules() -> Value {
    json!([
        {
            "rule": "self.hours <= self.inDays * 24",
            "message": "there are not as many hours in these days",
            "fieldPath": ".hours",
        },
        {
            "rule": format!(
                "!has(self.stretch) || !self.stretch.matches('{DURATION}') || duration(self.stretch).getSeconds() <= self.inDays * 86400"
            ),
            "message": "stretch must not be longer than inDays",
            "fieldPath": ".stretch",
        },
    ])
}
