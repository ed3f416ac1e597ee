//! What of the nodes of a hosted cluster do decisions read? What their controller says it would do.

use serde_json::Value;

use super::{Duty, Gated, Row, advisory};
use crate::{
    cluster::seen::Own,
    gate::{
        change::ChangeId,
        pending::{Pending, Waiting},
    },
    hosted::{Hosted, pool::SeenNodePool},
};

/// Nodes of a hosted cluster. Nobody records when a change of them began.
pub static NODE_POOL: Row = Row::gated(
    api::kinds::NODE_POOL,
    Gated {
        pending,
        own: |document| Own::Hosted(Box::new(Hosted::Pool(SeenNodePool::new(document)))),
        ..Gated::PLAIN
    },
    Duty::in_namespace(advisory),
);

/// The conditions that the controller of node pools computes before it looks at any pause.
fn pending(document: &Value) -> Pending {
    let release = document.pointer("/spec/release/image").and_then(Value::as_str);
    let updates = [
        ("UpdatingVersion", ChangeId::release(release.unwrap_or_default())),
        ("UpdatingConfig", ChangeId::Revision),
        ("UpdatingPlatformMachineTemplate", ChangeId::Template),
    ];
    let conditions = document.pointer("/status/conditions").and_then(Value::as_array);
    let holds = |name: &str| {
        conditions.into_iter().flatten().find(|condition| {
            condition.get("type").and_then(Value::as_str) == Some(name)
                && condition.get("status").and_then(Value::as_str) == Some("True")
        })
    };
    let waiting = updates.into_iter().filter_map(|(name, to)| {
        let condition = holds(name)?;
        let said = condition.get("message").and_then(Value::as_str).filter(|said| !said.is_empty());
        Some(Waiting::Hosted { to, said: said.map(str::to_owned) })
    });
    Pending { waiting: waiting.collect(), ..Pending::default() }
}
