//! What can somebody open, and shut again? The override that would do it, before anybody sends it; or why there is none (OVR-4).

use schedule::Instant;
use serde_json::Value;
use tidegate_core::{
    cluster::{kinds, snapshot::Snapshot},
    document::key::Key,
    gate,
    policy::opening::WantedOverride,
};

use crate::object::{Deed, Writing};

/// Opens the gate of an object until an instant, whatever its windows are.
pub fn open(
    snapshot: &Snapshot,
    wanted: &WantedOverride<'_>,
    now: Instant,
) -> Result<Writing, String> {
    let target = wanted.target;
    let Some(seen) = snapshot.resource(target) else {
        return Err(format!("spec.target: there is no {target} in this cluster"));
    };
    let decides = &snapshot.decides(seen).identity.key;
    if decides != target {
        return Err(format!("spec.target: {target} follows {decides}\n  hint: override that"));
    }
    let (object, document) = wanted.written(now)?;
    let way_back = format!("tidegate override {} --end {}", called(target), wanted.name);
    let mut meaning = wanted.meaning();
    if let Some(stays) = stays_shut(snapshot, &object, &document, target, now) {
        meaning = format!("{meaning}; now it stays shut all the same: {stays}");
    }
    Ok(Writing { object, meaning, document, deed: Deed::Made, way_back })
}

/// Why an object would stay shut although it is overridden, if it would: a freeze, or another change than the one that may start.
fn stays_shut(
    snapshot: &Snapshot,
    object: &Key,
    document: &Value,
    target: &Key,
    now: Instant,
) -> Option<String> {
    let mut supposed = snapshot.clone();
    supposed.add(kinds::known(object.kind())?, document);
    let gate = supposed.gate(supposed.resource(target)?);
    (!gate.set().contains(now)).then(|| gate::explain::sentence(&gate, now))
}

/// Ends an override of an object before its time.
pub fn end(snapshot: &Snapshot, target: &Key, name: &str) -> Result<Key, String> {
    let named = || snapshot.overrides().filter(|one| one.target.as_ref() == Some(target));
    let called: Vec<&Key> =
        named().filter(|one| &*one.key.name == name).map(|one| &one.key).collect();
    match called.as_slice() {
        [] => {}
        [one] => return Ok((*one).clone()),
        several => {
            let several: Vec<String> = several.iter().map(ToString::to_string).collect();
            return Err(format!(
                "{} both open {target}\n  hint: delete the one that you mean with kubectl delete",
                several.join(" and ")
            ));
        }
    }
    let others: Vec<String> = named().map(|one| one.key.name.to_string()).collect();
    let hint = match others.as_slice() {
        [] => "there is none".to_owned(),
        others => format!("there is {}", others.join(", ")),
    };
    Err(format!("there is no override {name} of {target}\n  hint: {hint}"))
}

/// What the end of an override comes to.
pub fn ended(object: Key, found: &Value) -> Writing {
    let meaning = format!(
        "{object} goes, and as soon as the operator sees that, windows decide again; what has begun finishes"
    );
    Writing::deleted(object, found, meaning)
}

/// An object as the command line calls it.
fn called(key: &Key) -> String {
    let kind = key.kind().short_name;
    match &key.namespace {
        Some(namespace) => format!("{kind}/{namespace}/{}", key.name),
        None => format!("{kind}/{}", key.name),
    }
}
