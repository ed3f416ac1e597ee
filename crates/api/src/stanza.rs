//! How does a resource say when it may change? `spec.changeManagement`, the stanza, and `status.changeManagement`, its answer, on
//! `ClusterVersion`, `MachineConfigPool`, `HostedCluster` and `NodePool` [`ChangeManagement` Stanzas].
//!
//! - GATE-3: `byPolicy` is kept under every strategy, so that an override can be taken back without remembering what was there:
//!   an arm of the union that `x-tidegate-union` calls `kept`, required under its own strategy and allowed under all others.
//! - GATE-6: the status has the shape of a policy's.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::policy::Behavior;

/// RFC 3339 with seconds and an offset. API servers take `date-time` more loosely, some of it in ways that nobody else reads.
pub(crate) const INSTANT: &str = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,9})?(Z|[+-][0-9]{2}:[0-9]{2})$";

/// When material changes to this resource may be initiated. Without this stanza they always may.
// A gate names its policy by kind too, so how a policy is named is a parameter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", bound(deserialize = "P: Deserialize<'de>"))]
#[schemars(deny_unknown_fields)]
#[schemars(extend("x-tidegate-union" = {
    "discriminator": "strategy",
    "arms": { "PermissiveUntil": "permissiveUntil", "RestrictiveUntil": "restrictiveUntil" },
    "kept": { "ByPolicy": "byPolicy" },
}))]
pub struct Stanza<P = PolicyReference> {
    /// How it is decided: `ByPolicy` (as the named policy says), `Permissive` (always), `Restrictive` (never), `PermissiveUntil`
    /// (always until an instant, then as the policy says, or never without one) or `RestrictiveUntil` (never until an instant,
    /// then as the policy says, or always without one).
    pub strategy: StanzaStrategy,
    /// The policy. Kept under every strategy, so that one can force another strategy and come back to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by_policy: Option<P>,
    /// Until when changes are permitted whatever the policy says, as in `2026-11-15T22:00:00Z`; required with strategy
    /// `PermissiveUntil`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "date-time", "pattern" = INSTANT, "maxLength" = 64))]
    pub permissive_until: Option<String>,
    /// Until when changes are held whatever the policy says, as in `2026-11-15T22:00:00Z`; required with strategy
    /// `RestrictiveUntil`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "date-time", "pattern" = INSTANT, "maxLength" = 64))]
    pub restrictive_until: Option<String>,
}

/// How a stanza decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum StanzaStrategy {
    /// As the named policy says.
    ByPolicy,
    /// Material changes may always be initiated.
    Permissive,
    /// Material changes may never be initiated.
    Restrictive,
    /// Material changes may be initiated until an instant, and then as the policy says.
    PermissiveUntil,
    /// Material changes may not be initiated until an instant, and then as the policy says.
    RestrictiveUntil,
    /// Written by something newer than this build; lowers to a problem and a closed gate.
    #[serde(other)]
    #[schemars(skip)]
    Unknown,
}

/// A policy, by name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct PolicyReference {
    /// The name of a `ChangeManagementPolicy` for `ClusterVersion` and `MachineConfigPool`, and of a
    /// `HostedChangeManagementPolicy` in the same namespace for `HostedCluster` and `NodePool`.
    #[schemars(extend(
        "format" = "dns-subdomain",
        "pattern" = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$",
        "minLength" = 1,
        "maxLength" = 253,
    ))]
    pub name: String,
}

/// What the stanza and the policy come to for this resource.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct ChangeManagementStatus {
    /// Whether changes may be initiated now, and what comes next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub behavior: Option<Behavior>,
}
