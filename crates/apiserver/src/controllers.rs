//! What follows from a write by itself?
//!
//! Garbage collection, the end of namespaces and definitions, and budget accounting: what a cluster's controllers do a
//! moment later happens here within the same request, in a fixed order (DET-1).

use std::{collections::BTreeMap, sync::Arc};

use jiff::Timestamp;
use serde_json::Value;

use crate::{
    call::{Call, User},
    deletion::{self, CLEANUP, Outcome, Propagation},
    disruption, meta,
    registry::{Nature, crd},
    server::{Inner, State},
    status::Refusal,
    store::{Happening, Place},
    verbs::{advance::finished, delete},
};

/// The accounts under which a cluster's controllers delete.
const COLLECTOR: &str = "generic-garbage-collector";
const NAMESPACES: &str = "namespace-controller";

/// Something to look at after a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Concern {
    /// An object with this uid is gone.
    OwnerGone(String),
    /// An object waits for its deletion.
    Deleting(Place),
    /// An object names owners.
    Owned(Place),
    Namespace(String),
    Definition(String),
    /// Budgets of a namespace.
    Budgets(String),
}

/// Works off everything that has to be looked at, and once more what admission refused before.
pub(crate) fn settle(inner: &Arc<Inner>, state: &mut State) {
    let now = inner.now();
    let refused = std::mem::take(&mut state.refused_concerns);
    state.concerns.extend(refused);
    while let Some(concern) = state.concerns.pop_front() {
        let answer = match concern.clone() {
            Concern::OwnerGone(uid) => owner_gone(inner, state, &uid),
            Concern::Deleting(place) => deleting(inner, state, &place),
            Concern::Owned(place) => owned(inner, state, &place),
            Concern::Namespace(name) => namespace(inner, state, &name),
            Concern::Definition(name) => {
                definition(state, &name, now);
                Ok(())
            }
            Concern::Budgets(namespace) => {
                disruption::account(state, &namespace, now);
                Ok(())
            }
        };
        if answer.is_err() && !state.refused_concerns.contains(&concern) {
            state.refused_concerns.push(concern);
        }
    }
}

/// Without controllers only definitions take effect: they belong to the API server itself.
pub(crate) fn settle_definitions(inner: &Inner, state: &mut State) {
    let now = inner.now();
    while let Some(concern) = state.concerns.pop_front() {
        if let Concern::Definition(name) = concern {
            definition(state, &name, now);
        }
    }
}

fn load(state: &State, (shelf, key): &Place) -> Option<Value> {
    Some(state.store.get(shelf, key)?.value())
}

fn nature(state: &State, shelf: &str) -> Nature {
    state.registry.by_shelf(shelf).map_or(Nature::Custom, |t| t.nature)
}

/// A deletion that a controller wishes, as any other client's: admission is asked, in the controller's name.
fn wish(
    inner: &Arc<Inner>,
    state: &mut State,
    place: &Place,
    propagation: Propagation,
    controller: &str,
) -> Result<(), Refusal> {
    let Some(stored) = state.store.get(&place.0, &place.1).cloned() else {
        return Ok(());
    };
    let Some(kind) = state.registry.stored_as(&place.0) else {
        return Ok(());
    };
    let user = User {
        name: format!("system:serviceaccount:kube-system:{controller}"),
        groups: [
            "system:serviceaccounts",
            "system:serviceaccounts:kube-system",
            "system:authenticated",
        ]
        .map(str::to_owned)
        .to_vec(),
        extra: BTreeMap::new(),
    };
    let mut call = Call::of_controller(inner, state, kind, &place.1, user);
    delete::remove(&mut call, &stored, &delete::Options::of_controller(propagation)).map(drop)
}

/// Deletes an object as far as it can go, without asking: what only the server itself does.
fn remove(state: &mut State, place: &Place, propagation: Propagation, now: Timestamp) {
    let Some(mut object) = load(state, place) else {
        return;
    };
    match deletion::begin(nature(state, &place.0), &mut object, propagation, None, now) {
        Outcome::Unchanged => {}
        Outcome::Gone => {
            state.commit(&place.0, Happening::Deleted, &mut object);
        }
        Outcome::Marked => {
            state.commit(&place.0, Happening::Modified, &mut object);
        }
    }
}

/// Commits an object from which a finalizer or a reference was taken.
fn put(state: &mut State, place: &Place, object: &mut Value) {
    let gone = finished(nature(state, &place.0), object);
    let happening = if gone { Happening::Deleted } else { Happening::Modified };
    state.commit(&place.0, happening, object);
}

/// Whether an owner is there, is gone, or cannot be known because its kind is not served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Presence {
    There,
    Gone,
    Unknown,
}

fn presence(state: &State, dependent: &Value, owner: &Value) -> Presence {
    let text = |key: &str| owner.get(key).and_then(Value::as_str).unwrap_or_default();
    if state.registry.by_kind(text("apiVersion"), text("kind")).is_none() {
        return Presence::Unknown;
    }
    match state.store.place_of(text("uid")) {
        // A namespaced owner in another namespace is no owner.
        Some((_, (ns, name)))
            if (ns.is_empty() || ns == meta::namespace(dependent)) && name == text("name") =>
        {
            Presence::There
        }
        _ => Presence::Gone,
    }
}

fn owners(object: &Value) -> Vec<Value> {
    meta::field(object, "ownerReferences").and_then(Value::as_array).cloned().unwrap_or_default()
}

fn owner_gone(inner: &Arc<Inner>, state: &mut State, uid: &str) -> Result<(), Refusal> {
    let mut answer = Ok(());
    for place in state.store.dependents_of(uid) {
        answer = owned(inner, state, &place).and(answer);
    }
    answer
}

/// A dependent goes when all its owners are gone, and forgets those that are gone otherwise.
fn owned(inner: &Arc<Inner>, state: &mut State, place: &Place) -> Result<(), Refusal> {
    let Some(mut object) = load(state, place) else {
        return Ok(());
    };
    let all = owners(&object);
    let left: Vec<Value> =
        all.iter().filter(|o| presence(state, &object, o) != Presence::Gone).cloned().collect();
    if all.is_empty() || left.len() == all.len() {
        return Ok(());
    }
    if left.is_empty() {
        return wish(inner, state, place, Propagation::Unspecified, COLLECTOR);
    }
    meta::set(&mut object, "ownerReferences", left);
    put(state, place, &mut object);
    Ok(())
}

fn without_finalizer(object: &mut Value, finalizer: &str) {
    let left: Vec<Value> = meta::strings(object, "finalizers")
        .into_iter()
        .filter(|f| *f != finalizer)
        .map(Value::from)
        .collect();
    if left.is_empty() {
        meta::remove(object, "finalizers");
    } else {
        meta::set(object, "finalizers", left);
    }
}

fn deleting(inner: &Arc<Inner>, state: &mut State, place: &Place) -> Result<(), Refusal> {
    let Some(object) = load(state, place).filter(meta::is_deleting) else {
        return Ok(());
    };
    let mut answer = Ok(());
    let uid = meta::uid(&object).to_owned();
    let finalizers: Vec<String> =
        meta::strings(&object, "finalizers").into_iter().map(str::to_owned).collect();
    if finalizers.iter().any(|f| f == "orphan") {
        for dependent in state.store.dependents_of(&uid) {
            let Some(mut child) = load(state, &dependent) else {
                continue;
            };
            let left: Vec<Value> = owners(&child)
                .into_iter()
                .filter(|o| o.get("uid").and_then(Value::as_str) != Some(&uid))
                .collect();
            if left.is_empty() {
                meta::remove(&mut child, "ownerReferences");
            } else {
                meta::set(&mut child, "ownerReferences", left);
            }
            put(state, &dependent, &mut child);
        }
        release(state, place, "orphan");
    }
    if finalizers.iter().any(|f| f == "foregroundDeletion") {
        for dependent in state.store.dependents_of(&uid) {
            let Some(child) = load(state, &dependent).filter(|c| !meta::is_deleting(c)) else {
                continue;
            };
            let parent = !state.store.dependents_of(meta::uid(&child)).is_empty();
            let how = if parent { Propagation::Foreground } else { Propagation::Unspecified };
            answer = wish(inner, state, &dependent, how, COLLECTOR).and(answer);
        }
        let blocked = state.store.dependents_of(&uid).iter().any(|dependent| {
            load(state, dependent).is_some_and(|child| {
                owners(&child).iter().any(|o| {
                    o.get("uid").and_then(Value::as_str) == Some(&uid)
                        && o.get("blockOwnerDeletion") == Some(&Value::Bool(true))
                })
            })
        });
        if !blocked {
            release(state, place, "foregroundDeletion");
        }
    }
    answer
}

fn release(state: &mut State, place: &Place, finalizer: &str) {
    if let Some(mut object) = load(state, place) {
        without_finalizer(&mut object, finalizer);
        put(state, place, &mut object);
    }
}

fn namespace(inner: &Arc<Inner>, state: &mut State, name: &str) -> Result<(), Refusal> {
    let place: Place = ("namespaces".into(), (String::new(), name.to_owned()));
    if !load(state, &place).as_ref().is_some_and(meta::is_deleting) {
        return Ok(());
    }
    let mut answer = Ok(());
    let contents = |state: &State| -> Vec<Place> {
        let all = state.store.shelves().flat_map(|(shelf, s)| {
            s.objects
                .keys()
                .filter(|(ns, _)| ns == name)
                .map(|key| (Arc::clone(shelf), key.clone()))
        });
        all.collect()
    };
    for content in contents(state) {
        if load(state, &content).is_some_and(|o| !meta::is_deleting(&o)) {
            answer = wish(inner, state, &content, Propagation::Background, NAMESPACES).and(answer);
        }
    }
    if contents(state).is_empty()
        && let Some(mut object) = load(state, &place)
    {
        meta::entry(&mut object, "spec").remove("finalizers");
        put(state, &place, &mut object);
    }
    answer
}

/// Group and plural of a definition.
pub(crate) fn definition_names(definition: &Value) -> (String, String) {
    let text = |path: &[&str]| meta::text_at(definition, path).to_owned();
    (text(&["spec", "group"]), text(&["spec", "names", "plural"]))
}

fn definition(state: &mut State, name: &str, now: Timestamp) {
    let place: Place = ("customresourcedefinitions".into(), (String::new(), name.to_owned()));
    let Some(mut object) = load(state, &place) else {
        return;
    };
    let ty = crd::read(&object);
    let shelf = Arc::clone(&ty.shelf);
    state.registry.install(ty);
    if meta::is_deleting(&object) {
        let places = |state: &State| -> Vec<Place> {
            let found = state.store.shelf(&shelf);
            found
                .into_iter()
                .flat_map(|s| s.objects.keys())
                .map(|k| (Arc::clone(&shelf), k.clone()))
                .collect()
        };
        for content in places(state) {
            if load(state, &content).is_some_and(|o| !meta::is_deleting(&o)) {
                remove(state, &content, Propagation::Background, now);
            }
        }
        if places(state).is_empty() {
            release(state, &place, CLEANUP);
        }
        return;
    }
    let status = crd::established(&object, &crate::clock::rfc3339_seconds(now));
    if object.get("status") != Some(&status) {
        object["status"] = status;
        state.commit(&place.0, Happening::Modified, &mut object);
    }
}
