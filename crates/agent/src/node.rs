//! What of its node does the agent read, and how does it write what is its own?

use api::machine::names::{
    CURRENT_CONFIG, DESIRED_CONFIG, DESIRED_DRAIN, LAST_APPLIED_DRAIN, LONGEST_REASON, NodeState,
    PERMIT_CHANGE, REASON, STATE,
};
use serde_json::{Map, Value, json};

/// Annotation on a `Node`: the topology of the control plane, as whoever manages pools writes it.
const TOPOLOGY: &str = "machineconfiguration.openshift.io/controlPlaneTopology";

/// Who is named as the owner of what the agent writes.
pub const OWNER: &str = "tidegate-agent";

/// What of a node is read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeView {
    /// Its name.
    pub name: String,
    /// Which very node: one of the same name that is made later is another.
    pub uid: String,
    /// The version that was read.
    pub version: String,
    /// The configuration that it is said to run.
    pub current: Option<String>,
    /// The configuration that it must go to.
    pub desired: Option<String>,
    /// The configuration that the permit beside the order was given for (GATE-16).
    pub permitted: Option<String>,
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
            name: text("name"),
            uid: text("uid"),
            version: text("resourceVersion"),
            current: given(CURRENT_CONFIG),
            desired: given(DESIRED_CONFIG),
            permitted: given(PERMIT_CHANGE),
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

    /// Why an order must not be taken: its record is missing, or is about another one (GATE-16). Whether the permit has ended meanwhile
    /// does not matter: a node that was off finishes later.
    pub fn unrecorded(&self, desired: &str) -> Option<String> {
        let found = match self.permitted.as_deref() {
            Some(permitted) if permitted == desired => return None,
            Some(permitted) => format!("names {permitted}"),
            None => "is missing".to_owned(),
        };
        let name = &self.name;
        Some(format!(
            "desiredConfig is {desired}, and nothing moves, because the record of a permit for it, the annotation {PERMIT_CHANGE}, {found}; \
             the operator writes both within a window; a member of the group tidegate:initiators gives the order by hand: \
             kubectl annotate node {name} --overwrite {DESIRED_CONFIG}={desired} {PERMIT_CHANGE}={desired}"
        ))
    }

    /// Whether the node already says so.
    pub fn says(&self, state: NodeState, reason: &str) -> bool {
        self.state.as_deref() == Some(state.as_str())
            && self.reason.as_deref() == Some(printable(reason).as_str())
    }
}

/// What the annotations of the node should say. What is none is left alone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The configuration in place.
    pub current: Option<String>,
    /// How far the agent is, and why.
    pub state: Option<(&'static str, String)>,
    /// What is asked of whoever drains.
    pub drain: Option<String>,
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
pub(crate) fn printable(reason: &str) -> String {
    let line = reason.chars().map(|letter| if letter.is_control() { ' ' } else { letter });
    line.take(LONGEST_REASON).collect()
}
