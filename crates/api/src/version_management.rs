//! How did an earlier design say when a resource may change? `spec.versionManagement` and its answer, on `ClusterVersion`, `MachineConfigPool`,
//! `HostedCluster` and `NodePool` [Maintenance Windows and Draining].
//!
//! - D4-1: windows as a rule of RFC 5545, days that are taken out of them, a pause, and a word that sets all of it aside.
//! - D4-2: the answer tells the next window in the words of the design, and its instants as RFC 3339 beside them.
//! - `pausedUntil` is a boolean or a text, so the schema has no type for it: whoever decides judges it, and what cannot be read closes.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// When material changes to this resource may be initiated, as an earlier design writes it. Excludes `changeManagement`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct VersionManagement {
    /// When changes may be initiated. Always, without windows and exclusions. In the last hour of a window of at least an hour nothing new is
    /// begun.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub maintenance_windows: Option<MaintenanceWindows>,
    /// A pause, whatever the windows say: `true`, `false`, an instant such as `2026-12-24T18:00:00Z` or a day, until which nothing is begun, or
    /// `assisted`, which pauses until `tidegate worker-nodes start` and again when every node has arrived. What cannot be read pauses too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paused_until: Option<PausedUntil>,
    /// Whether this stanza is in effect; true if absent. `false` sets windows, exclusions and the pause aside. On a pool it does not set aside
    /// those of its cluster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enforcing: Option<bool>,
}

/// Windows, and days that are taken out of them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct MaintenanceWindows {
    /// When windows open: a rule of RFC 5545 such as `FREQ=WEEKLY;INTERVAL=1;BYDAY=SU,SA`, with its DTSTART on a line before it if it has
    /// one. A window lasts to the end of its day; days are those of UTC unless DTSTART names a zone. Every day, if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("minLength" = 1, "maxLength" = 1024))]
    pub permit: Option<String>,
    /// Days on which nothing is begun, in the same zone. Beats `permit`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("maxItems" = 1000))]
    pub exclude: Option<Vec<ExcludedDays>>,
}

/// Days that are taken out of windows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct ExcludedDays {
    /// The first excluded day, such as `2026-12-20`.
    #[schemars(extend("format" = "date", "maxLength" = 32))]
    pub begin: String,
    /// The first day that is not excluded any more, such as `2027-01-03`. One day is excluded if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "date", "maxLength" = 32))]
    pub end: Option<String>,
}

/// A pause as it was written, whatever that is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PausedUntil(pub Value);

impl JsonSchema for PausedUntil {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "PausedUntil".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"x-kubernetes-preserve-unknown-fields": true})
    }
}

/// What `versionManagement` comes to for this resource.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct VersionManagementStatus {
    /// When the next window opens, such as `2026-11-21 00:00:00UTC`; or `None.` and why there is none.
    #[serde(default)]
    pub next_window: String,
    /// How long it lasts, such as `48h`. In its last hour nothing new is begun, if it is at least an hour long.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_window_duration: Option<String>,
    /// When it opens, as RFC 3339.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "date-time"))]
    pub next_window_start_time: Option<String>,
    /// When it closes, as RFC 3339.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "date-time"))]
    pub next_window_end_time: Option<String>,
    /// Of a pool, the same for its cluster: its own windows lie within these.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster_constraint: Option<ClusterConstraint>,
    /// Whether a change waits.
    #[serde(default)]
    pub changes_pending: bool,
}

/// The next window of the cluster that a pool belongs to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct ClusterConstraint {
    /// When the next window opens, such as `2026-11-21 00:00:00UTC`; or `None.` and why there is none.
    #[serde(default)]
    pub next_window: String,
    /// How long it lasts, such as `48h`. In its last hour nothing new is begun, if it is at least an hour long.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_window_duration: Option<String>,
    /// When it opens, as RFC 3339.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "date-time"))]
    pub next_window_start_time: Option<String>,
    /// When it closes, as RFC 3339.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "date-time"))]
    pub next_window_end_time: Option<String>,
}
