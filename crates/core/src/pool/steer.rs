//! What does a person's verb write? Merge patches for `worker-nodes start` and `rollback` and for `node allow`; to pause and to resume is
//! to override, and stands with that.
//!
//! - POOL-8: a rollback restores what was recorded, or refuses; it never guesses.

use api::machine::names;
use serde_json::{Value, json};

use super::{
    seen::{SeenNode, SeenPool},
    target::{Shelf, Target},
};
use crate::{
    document::problem::{Code, FieldPath, Object, Problem, quoted},
    policy::version::ASSISTED,
};

/// Lets a pool go to a configuration, the newest if none is named, and records what it had (POOL-8).
pub fn start(
    pool: &SeenPool,
    shelf: &Shelf<'_>,
    wanted: Option<&str>,
) -> Result<Value, Box<Problem>> {
    let Some(name) = wanted.or(pool.newest.as_deref()) else {
        let detail = "nothing has been rendered yet, so there is nothing to go to";
        return Err(refusal(pool, Code::Empty, detail, "wait until the pool has been rendered"));
    };
    if shelf.get(name).is_none() {
        let detail = format!("the pool has no rendered configuration {}", quoted(name));
        return Err(refusal(pool, Code::NotAllowed, detail, "name one that exists"));
    }
    let before = pool.pin.as_ref().map(|pin| pin.name.as_str()).or(pool.converged.as_deref());
    // Starting twice must not record the target as what came before it.
    let previous = if before == Some(name) { pool.previous.as_deref() } else { before };
    Ok(pinned(pool, name, previous))
}

/// What starting an update, or taking one back, adds where the pool is paused until somebody does so: the pause ends, and the mark tells the
/// operator to bring it back (D4-4).
pub fn assisted(patch: &mut Value) {
    patch["metadata"]["annotations"][names::ASSISTED_UPDATE] = json!("true");
    patch["spec"]["versionManagement"] = json!({"pausedUntil": false});
}

/// The way back from that.
pub fn unassisted(patch: &mut Value) {
    patch["metadata"]["annotations"][names::ASSISTED_UPDATE] = Value::Null;
    patch["spec"]["versionManagement"] = json!({"pausedUntil": ASSISTED});
}

/// Brings a pool back to what it had before it was last started (POOL-8).
pub fn rollback(pool: &SeenPool, shelf: &Shelf<'_>) -> Result<Value, Box<Problem>> {
    let hint = "name a configuration with `worker-nodes start` instead";
    let Some(previous) = pool.previous.as_deref() else {
        let detail = "no earlier configuration is recorded, and none will be guessed";
        return Err(refusal(pool, Code::Empty, detail, hint));
    };
    if shelf.get(previous).is_none() {
        let detail =
            format!("the recorded configuration {} does not exist any more", quoted(previous));
        return Err(refusal(pool, Code::NotAllowed, detail, hint));
    }
    let now = pool.pin.as_ref().map(|pin| pin.name.as_str()).filter(|now| *now != previous);
    Ok(pinned(pool, previous, now))
}

/// Lets one node go to its pool's target, whatever the gate says (POOL-7).
pub fn allow(node: &SeenNode, pool: &SeenPool, shelf: &Shelf<'_>) -> Result<Value, Box<Problem>> {
    let mut problems = Vec::new();
    let Some(target) = Target::of(pool, shelf, &mut problems) else {
        let wrong = problems.pop().map_or("nothing has been rendered yet".into(), |one| one.detail);
        return Err(refusal(pool, Code::Empty, wrong, "mend the pool first"));
    };
    let name = &target.config.name;
    if node.desired == *name {
        let detail = format!("Node/{} goes to {name} already", node.name);
        return Err(refusal(pool, Code::Conflict, detail, "there is nothing to allow"));
    }
    Ok(json!({"metadata": {"annotations": {names::ALLOWED_CONFIG: name}}}))
}

fn pinned(pool: &SeenPool, name: &str, previous: Option<&str>) -> Value {
    json!({
        "metadata": {
            "resourceVersion": pool.resource_version,
            "annotations": {names::PREVIOUS_CONFIG: previous},
        },
        "spec": {"machineConfig": {"name": name}},
    })
}

fn refusal(pool: &SeenPool, code: Code, detail: impl Into<String>, hint: &str) -> Box<Problem> {
    let path = FieldPath::of("spec.machineConfig.name");
    let object: Object = pool.object();
    Box::new(Problem { object: Some(object), ..Problem::new(&path, code, detail).hint(hint) })
}

#[cfg(test)]
mod tests;
