//! What of its node does the agent read, and how does it write what is its own?

use api::machine::names::{
    CURRENT_CONFIG, DESIRED_CONFIG, DESIRED_DRAIN, LAST_APPLIED_DRAIN, LONGEST_REASON, NodeState,
    REASON, STATE,
};
use serde_json::{Map, Value, json};

use crate::next::Report;

/// Annotation on a `Node`: the topology of the control plane, as whoever manages pools writes it.
const TOPOLOGY: &str = "machineconfiguration.openshift.io/controlPlaneTopology";

/// What of a node is read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeView {
    /// Which very node: one of the same name that is made later is another.
    pub uid: String,
    /// The version that was read.
    pub version: String,
    /// The configuration that it is said to run.
    pub current: Option<String>,
    /// The configuration that it must go to.
    pub desired: Option<String>,
    /// How far the agent is said to be.
    pub state: Option<String>,
    /// And why.
    pub reason: Option<String>,
    /// What was last asked of whoever drains.
    pub drain: Option<String>,
    /// What whoever drains last did.
    pub drained: Option<String>,
    /// The topology of the control plane.
    pub topology: Option<String>,
}

impl NodeView {
    /// Reads a node. An annotation without text is none.
    pub fn of(node: &Value) -> Self {
        let text = |field: &str| {
            let found = node.pointer("/metadata").and_then(|metadata| metadata.get(field));
            found.and_then(Value::as_str).unwrap_or_default().to_owned()
        };
        let raw = |key: &str| {
            let annotations = node.pointer("/metadata/annotations")?;
            annotations.get(key)?.as_str().map(str::to_owned)
        };
        let given = |key: &str| raw(key).filter(|text| !text.is_empty());
        Self {
            uid: text("uid"),
            version: text("resourceVersion"),
            current: given(CURRENT_CONFIG),
            desired: given(DESIRED_CONFIG),
            state: given(STATE),
            reason: raw(REASON),
            drain: given(DESIRED_DRAIN),
            drained: given(LAST_APPLIED_DRAIN),
            topology: given(TOPOLOGY),
        }
    }

    /// Whether the only node of a cluster: nobody could take its workloads.
    pub fn is_single(&self) -> bool {
        self.topology.as_deref() == Some("SingleReplica")
    }

    /// Whether the node already says so.
    pub fn says(&self, state: NodeState, reason: &str) -> bool {
        self.state.as_deref() == Some(state.as_str())
            && self.reason.as_deref() == Some(printable(reason).as_str())
    }
}

/// The patch that makes a node say so. It names the node it was made for, so that a namesake made later refuses it.
pub fn patch(uid: &str, report: &Report) -> Value {
    let Report { current, state, drain } = report;
    let mut annotations = Map::new();
    let mut put = |key: &str, value: &str| drop(annotations.insert(key.to_owned(), value.into()));
    if let Some(current) = current {
        put(CURRENT_CONFIG, current);
    }
    if let Some((state, reason)) = state {
        put(STATE, state);
        put(REASON, &printable(reason));
    }
    if let Some(drain) = drain {
        put(DESIRED_DRAIN, drain);
    }
    json!({"metadata": {"uid": uid, "annotations": annotations}})
}

/// A reason as it is written: one line without control characters, and not longer than others expect.
fn printable(reason: &str) -> String {
    let line = reason.chars().map(|letter| if letter.is_control() { ' ' } else { letter });
    line.take(LONGEST_REASON).collect()
}
