//! May the nodes of a hosted cluster get another release or configuration now? (HOST-1, HOST-3, HOST-4)
//!
//! What is wanted is one hash, which is pinned when it is seen, judged, and withheld or handed over by a mark with a permit. Before that whoever
//! runs hosted clusters keeps the old template: scaling, repair and tokens are untouched. After it the server refuses further steps of the
//! rollout outside windows, by a gate that is derived from the pool and stands where its machines are (RCH-8). Without that gate nothing is
//! handed over.

use api::{kinds, names};
use schedule::Instant;
use serde_json::{Value, json};

use super::{
    gated,
    marks::{self, Mark},
    updates::Around,
};
use crate::{
    cluster::{seen::SeenGated, snapshot::Snapshot},
    document::{
        key::Key,
        problem::{Code, FieldPath, Problem},
    },
    gate::{
        Gate,
        action::{Action, Refused, Write},
        change::ChangeId,
        pending::{Course, Stop},
        plan::Plan,
    },
    hosted::pool::{Change, HandedOver, SeenNodePool, Target},
};

/// What is to be done about a pool of hosted nodes where hand-overs are let begin here.
pub fn decided(pool: &SeenGated, gate: &Gate, around: &Around<'_>, now: Instant) -> Plan {
    let kept = pool.kept(around.enforcement);
    let Some(own) = pool.node_pool() else { return gated(pool, gate, kept, now) };
    let mut wanted = around.snapshot.wanted(pool);
    let derive = derived(pool, own, around.snapshot);
    if derive.is_none() {
        wanted.unmet.extend(unheld(pool, own, around.snapshot));
    }
    let mut told = pool.clone();
    told.pending.course = course(&wanted.unmet, around, pool, own);
    let plan = gated(&told, gate, kept, now);
    if let Some(derive) = derive {
        // The pool tells of itself whether or not its gate can be made.
        return Plan { actions: vec![derive], ..plan };
    }
    let wanted_target = wanted.target.filter(|_| !own.current.is_empty());
    if wanted_target != own.pin {
        let pin = pinned(pool, wanted_target.as_ref());
        return Plan { actions: vec![pin], ..Plan::default() };
    }
    let stopped = !wanted.unmet.is_empty() || around.held_back.is_some();
    let waiting = own.waiting().filter(|_| !stopped);
    let Some((target, permit)) = waiting.and_then(|wanted| Some((wanted, gate.permit(now).ok()?)))
    else {
        return plan;
    };
    let handed = HandedOver { target: target.clone(), after: own.current.clone(), at: Some(now) };
    let mark = Mark {
        object: pool,
        annotation: names::ACCEPTED_CONFIG,
        text: handed.text(&pool.identity.uid),
        beside: None,
        change: ChangeId::rendered(&target.config),
        said: format!("release {} with configuration {}", target.release.name(), target.config),
        reason: "AcceptedConfig",
    };
    let mark = marks::mark(mark, permit);
    // Of a refusal nobody else tells.
    let is_refused = around.refusals.contains_key(&pool.identity.key);
    let (status, notes) = if is_refused { (plan.status, plan.notes) } else { (None, Vec::new()) };
    Plan { actions: vec![mark], status, notes, wake: plan.wake, ..Plan::default() }
}

/// What decides whether that which waits starts now.
fn course(unmet: &[Problem], around: &Around<'_>, pool: &SeenGated, own: &SeenNodePool) -> Course {
    let mut unmet = unmet.to_vec();
    if own.waiting().is_none() {
        return Course::Gate;
    }
    let problem = |said: String| Problem::new(&FieldPath::root(), Code::NotAllowed, said);
    // A reason without words is not told: it is over in a moment.
    unmet.extend(around.held_back.filter(|why| !why.is_empty()).map(|why| problem(why.to_owned())));
    unmet.extend(around.refusals.get(&pool.identity.key).map(|refusal| {
        problem(format!("the server refuses to let it begin: {}", refusal.said))
            .hint("change what refuses it")
    }));
    if unmet.is_empty() { Course::Gate } else { Course::Stopped(Stop::Unmet(unmet)) }
}

/// Keeps what is wanted (CV-4). Starts nothing.
fn pinned(pool: &SeenGated, wanted: Option<&Target>) -> Action {
    let change = json!({"metadata": {
        "resourceVersion": pool.identity.resource_version,
        "annotations": {names::WANTED_IMAGE: wanted.map(Target::text)},
    }});
    Action::upkeep(pool.identity.key.clone(), Write::MergePatch(change))
}

/// Keeps the gate that holds the steps of a rollout (RCH-8): made where the machines are, put right, or taken away; nothing if it is as it
/// should be. Nodes that are changed in place have no steps of machines.
fn derived(pool: &SeenGated, own: &SeenNodePool, snapshot: &Snapshot) -> Option<Action> {
    let namespace = snapshot.namespace_of_machines(pool)?;
    let key = Key::new(&kinds::CHANGE_GATE, Some(&namespace), &pool.identity.key.name);
    let known = snapshot.resource(&key);
    let is_gated = snapshot.is_gated(pool);
    let source = &pool.identity.key;
    let action = match known {
        // Somebody's own gate of the same name is left alone.
        Some(known) if known.gate.as_deref()?.derived.as_ref() != Some(source) => return None,
        Some(known) if !is_gated || own.change == Change::InPlace => {
            let (uid, version) =
                (known.identity.uid.clone(), known.identity.resource_version.clone());
            Action::upkeep(key, Write::Delete { uid, version })
        }
        Some(_) => return None,
        None if !is_gated || own.change == Change::InPlace => return None,
        // A gate of this name is asked where the operator tries, and nowhere else (GATE-13).
        None if *source.name == *names::PROBE => return None,
        None => {
            // One that cannot be made yet, because there is nothing to hold, is made later. Without its hosted cluster a pool has no machines
            // anywhere, and the namespace that its words lead to is somebody else's.
            snapshot.host_of(pool)?;
            snapshot.namespace(&namespace)?;
            Action::upkeep(key, Write::Create(derived_gate(source, &namespace)))
        }
    };
    Some(Action { refused: Refused::ConcernsTheTargetAlone, ..action })
}

/// Nothing is handed over of which nobody would hold the steps.
fn unheld(pool: &SeenGated, own: &SeenNodePool, snapshot: &Snapshot) -> Option<Problem> {
    let is_held = !snapshot.is_gated(pool)
        || own.change == Change::InPlace
        || snapshot.derived_from(&pool.identity.key).next().is_some();
    if is_held {
        return None;
    }
    let namespace = snapshot.namespace_of_machines(pool)?;
    let detail = format!(
        "nothing would hold the steps of its rollout: ChangeGate/{namespace}/{} is not there, or is somebody's own",
        pool.identity.key.name
    );
    let hint = "delete a gate of that name, and look whether the operator may make one";
    Some(Problem::new(&FieldPath::root(), Code::NotAllowed, detail).hint(hint))
}

/// The gate that holds the steps of a pool's rollout.
fn derived_gate(source: &Key, namespace: &str) -> Value {
    json!({
        "apiVersion": names::API_VERSION,
        "kind": names::CHANGE_GATE,
        "metadata": {"name": &*source.name, "namespace": namespace},
        "spec": {
            "derivedFrom": {
                "kind": names::NODE_POOL,
                "namespace": source.namespace.as_deref().unwrap_or_default(),
                "name": &*source.name,
            },
            "holds": [{"what": "MachineDeployments", "names": [&*source.name]}],
        },
    })
}

#[cfg(test)]
mod tests;
