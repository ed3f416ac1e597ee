//! What does the operator say of a gate, and what does the API server read of it? (RCH-14)

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{meta::Condition, policy::Behavior};

/// How many windows a status holds at most: more would make each look at them dearer, and 64 of a nightly window last two months without
/// any operator.
pub const MOST_WINDOWS: usize = 64;

/// How many of the changes that wait a status names; all are counted.
pub const MOST_PENDING: usize = 20;

/// What the controller found, and what the API server reads.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct GateStatus {
    /// The generation of the specification that this was computed from. While it lags, the gate holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// Whether changes may be initiated now, and what comes next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub behavior: Option<Behavior>,
    /// When the gate is open, in order, from the window that is open or comes next. The API server compares its own clock with these.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = MOST_WINDOWS))]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub windows: Vec<Window>,
    /// Until when the windows are known; from then on the gate holds. Absent if they are known for all time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "date-time"))]
    pub computed_until: Option<String>,
    /// What was found for each room.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 16))]
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["what"]))]
    pub holds: Vec<HoldStatus>,
    /// What waits, the first twenty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = MOST_PENDING))]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub pending: Vec<PendingChange>,
    /// How much waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pending_count: Option<i64>,
    /// How much is held, whether or not something of it waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub targets: Option<i64>,
    /// The conditions `Ready`, `ChangesPaused`, `ChangesPending` and `Enforced`. Unless `Ready` is true, the gate holds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 32))]
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"]))]
    pub conditions: Vec<Condition>,
}

/// A span of time in which the gate is open.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct Window {
    /// When it opens; absent if it has always been open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "date-time"))]
    pub start_time: Option<String>,
    /// When it closes, which is the first instant at which it is shut; absent if it never does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "date-time"))]
    pub end_time: Option<String>,
}

/// What was found for one room.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct HoldStatus {
    /// The room.
    #[schemars(length(max = 64))]
    pub what: String,
    /// How much of it is held, whether or not something of it waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub targets: Option<i64>,
    /// How much of it waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pending: Option<i64>,
    /// Since when the API server has been seen refusing first writes of this room, each time that somebody tried; absent if it was not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "date-time"))]
    pub proven: Option<String>,
    /// Why nothing of it is counted, why what waits would not start or is not touched, what rides along with a change that has begun, or which
    /// freeze holds it and not all that the gate holds; absent if there is nothing to say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 1024))]
    pub message: Option<String>,
}

/// A change that waits for the gate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct PendingChange {
    /// The kind of what is to change.
    #[schemars(length(max = 63))]
    pub kind: String,
    /// Its namespace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 63))]
    pub namespace: Option<String>,
    /// Its name.
    #[schemars(length(max = 253))]
    pub name: String,
    /// Since when it waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "date-time"))]
    pub since: Option<String>,
    /// What would change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 1024))]
    pub change: Option<String>,
}
