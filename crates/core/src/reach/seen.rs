//! What of a gate do decisions read beside its stanza?

use api::reach::{GateStatus, PolicyKind, Window};
use schedule::Instant;
use serde::Deserialize as _;
use serde_json::Value;

use super::windows::Ahead;

/// A gate on what others own, as it was last seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeenGate {
    /// The kind of policy that its stanza names, if it names one.
    pub policy: PolicyKind,
    /// The windows that its status has, if it has any.
    pub ahead: Option<Ahead>,
    /// The generation that its status was computed from.
    pub observed: Option<i64>,
    /// The rooms that it holds.
    pub holds: Vec<String>,
    /// Whether it chooses no namespaces.
    pub everywhere: bool,
}

impl SeenGate {
    /// Reads a gate.
    pub fn new(document: &Value) -> Self {
        let named = document.pointer("/spec/changeManagement/byPolicy/kind");
        let policy = named.and_then(|kind| PolicyKind::deserialize(kind).ok()).unwrap_or_default();
        let status = document.get("status").and_then(|status| GateStatus::deserialize(status).ok());
        let observed = status.as_ref().and_then(|status| status.observed_generation);
        let holds = document.pointer("/spec/holds").and_then(Value::as_array);
        let holds = holds.into_iter().flatten().filter_map(|hold| hold.get("what")?.as_str());
        let holds = holds.map(str::to_owned).collect();
        let everywhere = document.pointer("/spec/namespaceSelector").is_none_or(Value::is_null);
        Self { policy, ahead: status.and_then(known), observed, holds, everywhere }
    }
}

/// The windows of a status that a controller wrote. One whose end of knowledge cannot be read knows nothing.
fn known(status: GateStatus) -> Option<Ahead> {
    let GateStatus { windows, computed_until, observed_generation, .. } = status;
    observed_generation?;
    let computed_until = match computed_until {
        None => None,
        Some(text) => Some(Instant::parse(&text).ok()?),
    };
    let windows: Vec<Window> = windows;
    Some(Ahead { windows, computed_until })
}
