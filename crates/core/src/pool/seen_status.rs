//! What does the status of a pool say, as it was last seen?

use serde_json::{Value, json};

use super::source::text;
use crate::document::patch::Presence;

/// All nodes have the target.
pub const UPDATED: &str = "Updated";
/// Nodes are on their way to the target.
pub const UPDATING: &str = "Updating";
/// Any of the two below.
pub const DEGRADED: &str = "Degraded";
/// A node cannot get to its configuration.
pub const NODE_DEGRADED: &str = "NodeDegraded";
/// The sources of the pool cannot be merged.
pub const RENDER_DEGRADED: &str = "RenderDegraded";
/// Ours: something about the pool keeps nodes from being begun, whatever the gate says.
pub const ROLLOUT_BLOCKED: &str = "RolloutBlocked";

/// The status of a pool as it was last seen.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SeenStatus {
    pub(super) present: Presence,
    pub(super) listed: Presence,
    pub(super) counts: Counts,
    pub(super) observed_generation: Option<i64>,
    pub(super) configuration: Option<Value>,
    pub(super) conditions: Vec<(usize, PoolCondition)>,
}

/// How many nodes are how far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// All.
    pub machines: i64,
    /// Those that have the target.
    pub updated: i64,
    /// Those that have the target and are ready.
    pub ready: i64,
    /// Those that workloads cannot count on.
    pub unavailable: i64,
    /// Those that say they are stuck.
    pub degraded: i64,
}

/// A condition as this kind has it: without a generation, and with reasons that may be empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PoolCondition {
    /// The aspect.
    pub kind: String,
    /// `True`, `False` or `Unknown`.
    pub status: String,
    /// Why, for programs.
    pub reason: String,
    /// Why, for people.
    pub message: String,
    /// When the status last changed.
    pub since: String,
}

impl SeenStatus {
    pub(crate) fn new(document: &Value) -> Self {
        let presence = |there| if there { Presence::Present } else { Presence::Absent };
        let status = document.get("status");
        let list = document.pointer("/status/conditions").and_then(Value::as_array);
        let count = |key: &str| status.and_then(|status| status.get(key)).and_then(Value::as_i64);
        let ours = [UPDATED, UPDATING, DEGRADED, NODE_DEGRADED, RENDER_DEGRADED, ROLLOUT_BLOCKED];
        let conditions = list.into_iter().flatten().enumerate().filter_map(|(place, entry)| {
            let condition = PoolCondition::read(entry);
            ours.contains(&condition.kind.as_str()).then_some((place, condition))
        });
        Self {
            present: presence(status.is_some_and(Value::is_object)),
            listed: presence(list.is_some()),
            counts: Counts {
                machines: count("machineCount").unwrap_or(-1),
                updated: count("updatedMachineCount").unwrap_or(-1),
                ready: count("readyMachineCount").unwrap_or(-1),
                unavailable: count("unavailableMachineCount").unwrap_or(-1),
                degraded: count("degradedMachineCount").unwrap_or(-1),
            },
            observed_generation: count("observedGeneration"),
            configuration: document.pointer("/status/configuration").cloned(),
            conditions: conditions.collect(),
        }
    }

    /// A condition of this type.
    pub fn condition(&self, kind: &str) -> Option<&PoolCondition> {
        self.conditions.iter().map(|(_, condition)| condition).find(|known| known.kind == kind)
    }
}

impl PoolCondition {
    fn read(entry: &Value) -> Self {
        let own = |key: &str| text(entry, &format!("/{key}")).unwrap_or_default().to_owned();
        Self {
            kind: own("type"),
            status: own("status"),
            reason: own("reason"),
            message: own("message"),
            since: own("lastTransitionTime"),
        }
    }

    pub(super) fn document(&self) -> Value {
        json!({
            "type": self.kind,
            "status": self.status,
            "reason": self.reason,
            "message": self.message,
            "lastTransitionTime": self.since,
        })
    }
}

impl Counts {
    /// Whether all nodes have the target, ready for workloads. A pool without nodes has nothing left to do.
    pub(crate) fn is_converged(&self) -> bool {
        self.updated == self.machines && self.ready == self.machines && self.unavailable == 0
    }
}
