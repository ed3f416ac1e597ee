//! How an object gets from one state to the next.
//!
//! Preconditions, what the endpoint may write, generation, ownership, rules, admission, commit: in this order, whatever
//! the request was.

use serde_json::Value;

use super::create::{dry, refuse, violations, warn_about_finalizers};
use crate::{
    admission,
    call::Call,
    managed::{self, Manager, Reach},
    meta,
    registry::{Nature, Workload},
    render::{as_stored, for_storage},
    status::{Cause, Refusal},
    store::{Happening, Stored},
    strategy,
};

/// Which part of the object a request may change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    Main,
    Status,
    /// Only a namespace's own finalizers.
    Finalize,
}

impl Scope {
    pub(super) fn subresource(self) -> &'static str {
        match self {
            Self::Main => "",
            Self::Status => "status",
            Self::Finalize => "finalize",
        }
    }

    pub(super) fn reach(self) -> Reach {
        if self == Self::Status { Reach::Status } else { Reach::Main }
    }
}

/// Brings an existing object, as it lies there and as the caller has read it, into its next state.
pub(crate) fn store(
    call: &mut Call<'_>,
    (old_stored, old): (&Stored, &Value),
    mut new: Value,
    scope: Scope,
    manager: Option<Manager>,
) -> Result<Stored, Refusal> {
    let ty = std::sync::Arc::clone(&call.kind.ty);
    // Applied configurations name their object as a field among others.
    let foreign = Some(meta::uid(&new).to_owned())
        .filter(|uid| manager.is_none() && !uid.is_empty() && uid != meta::uid(old));
    if foreign.is_some() {
        meta::copy(&mut new, old, "uid");
    }
    check_preconditions(call, old, &new)?;
    for key in [
        "uid",
        "creationTimestamp",
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
        "generation",
        "resourceVersion",
        "generateName",
    ] {
        meta::copy(&mut new, old, key);
    }
    confine(call, old, &mut new, scope);
    if scope == Scope::Main {
        strategy::on_update(ty.nature, old, &mut new);
    }
    if ty.counts_generations() && scope == Scope::Main && spec_changed(call, old, &new) {
        let generation =
            meta::field(old, "generation").and_then(Value::as_i64).unwrap_or_default() + 1;
        meta::set(&mut new, "generation", generation);
    }
    if let Some(manager) = manager {
        let stamp = call.stamp();
        managed::record_update(&call.kind, Some(old), &mut new, manager, scope.reach(), &stamp);
    }
    if ty.nature == Nature::Namespace && scope == Scope::Main {
        // Only after the record: whoever tries to write it owns it, and changes nothing.
        new["spec"] = old["spec"].clone();
    }
    refuse_new_finalizers(call, old, &new)?;
    let mut causes = Vec::new();
    if let Some(uid) = foreign {
        let cause = Cause::invalid("metadata.uid", &format!("{uid:?}"), "field is immutable");
        causes.extend([cause.clone(), cause]);
    }
    causes.extend(violations(call, &new, Some(old), scope.subresource()));
    refuse(call, &new, &causes)?;
    warn_about_finalizers(call, &new, Some(old));
    admission::admit(call, admission::Verb::Update(scope.subresource()), Some(&new), Some(old))?;
    let mut stored_form = for_storage(&call.kind, new);
    let unchanged =
        if as_stored(&call.kind) { stored_form == *old } else { stored_form == old_stored.value() };
    if unchanged {
        return Ok(old_stored.clone());
    }
    if call.query.dry_run()? {
        return Ok(dry(&stored_form));
    }
    if finished(ty.nature, &stored_form) {
        // Watchers are told the state that was stored last; the writer is shown what it wrote.
        let mut last = old_stored.value();
        call.state.commit(&ty.shelf, Happening::Deleted, &mut last);
        return Ok(dry(&stored_form));
    }
    Ok(call.state.commit(&ty.shelf, Happening::Modified, &mut stored_form))
}

/// An object that waits for its deletion goes when its last finalizer goes.
pub(crate) fn finished(nature: Nature, object: &Value) -> bool {
    let grace = meta::field(object, "deletionGracePeriodSeconds")
        .and_then(Value::as_i64)
        .unwrap_or_default();
    let own = meta::at(object, &["spec", "finalizers"]).and_then(Value::as_array);
    meta::is_deleting(object)
        && grace == 0
        && meta::strings(object, "finalizers").is_empty()
        && (nature != Nature::Namespace || own.is_none_or(Vec::is_empty))
}

/// Undoes changes outside the scope of the request.
fn confine(call: &Call<'_>, old: &Value, new: &mut Value, scope: Scope) {
    let custom = call.kind.is_custom();
    let take = |new: &mut Value, part: &str| {
        if let Some(map) = new.as_object_mut() {
            match old.get(part) {
                Some(value) => map.insert(part.to_owned(), value.clone()),
                None => map.remove(part),
            };
        }
    };
    match scope {
        Scope::Main => {
            if call.kind.version.status {
                take(new, "status");
            }
        }
        Scope::Status if custom => {
            let status = new.get("status").cloned();
            let record = meta::field(new, "managedFields").cloned();
            *new = old.clone();
            if let Some(map) = new.as_object_mut() {
                match status {
                    Some(status) => map.insert("status".into(), status),
                    None => map.remove("status"),
                };
            }
            if let Some(record) = record {
                meta::set(new, "managedFields", record);
            }
        }
        Scope::Status => take(new, "spec"),
        Scope::Finalize => {
            let finalizers = meta::at(new, &["spec", "finalizers"]).cloned();
            *new = old.clone();
            let spec = meta::entry(new, "spec");
            match finalizers {
                Some(list) => spec.insert("finalizers".into(), list),
                None => spec.remove("finalizers"),
            };
        }
    }
}

/// Whether anything changed that a controller has to act upon.
fn spec_changed(call: &Call<'_>, old: &Value, new: &Value) -> bool {
    if !call.kind.is_custom() {
        // A controller of Deployments looks at annotations too, and so they count there.
        let counts = call.kind.ty.nature == Nature::Workload(Workload::Deployment);
        return old.get("spec") != new.get("spec")
            || counts && meta::field(old, "annotations") != meta::field(new, "annotations");
    }
    let status_apart = call.kind.version.status;
    let relevant = |value: &Value| {
        let mut value = value.clone();
        if let Some(map) = value.as_object_mut() {
            map.remove("metadata");
            if status_apart {
                map.remove("status");
            }
        }
        value
    };
    relevant(old) != relevant(new)
}

/// The version, the identity and the name that a write assumes must be those of the stored object.
fn check_preconditions(call: &Call<'_>, old: &Value, new: &Value) -> Result<(), Refusal> {
    let ty = &call.kind.ty;
    let name = meta::name(old).to_owned();
    // Version zero is no version.
    let asked = Some(meta::text(new, "resourceVersion")).filter(|v| *v != "0").unwrap_or_default();
    if !asked.is_empty() && asked.parse::<u64>().is_err() {
        return Err(Refusal::new(
            500,
            "",
            format!("strconv.ParseUint: parsing {asked:?}: invalid syntax"),
        ));
    }
    if !asked.is_empty() && asked != meta::text(old, "resourceVersion") {
        return Err(Refusal::modified(&ty.plural, &ty.group, &name));
    }
    let uid = meta::uid(new);
    if !uid.is_empty() && uid != meta::uid(old) {
        return Err(wrong_uid(call, uid, meta::uid(old)));
    }
    let mut causes = Vec::new();
    for key in ["name", "namespace"] {
        if meta::text(new, key) != meta::text(old, key) {
            let shown = format!("{:?}", meta::text(new, key));
            causes.push(Cause::invalid(format!("metadata.{key}"), &shown, "field is immutable"));
        }
    }
    if !causes.is_empty() {
        return Err(Refusal::invalid(&ty.kind, &ty.group, &name, &causes));
    }
    Ok(())
}

/// The write was meant for another object of this name.
pub(super) fn wrong_uid(call: &Call<'_>, wanted: &str, has: &str) -> Refusal {
    let ty = &call.kind.ty;
    let (namespace, name) = call.key();
    let place = if namespace.is_empty() { name.clone() } else { format!("{namespace}/{name}") };
    // Only custom kinds are stored under their group; nodes have an old name there.
    let folder = match ty.nature {
        Nature::Custom => format!("{}/{}", ty.group, ty.plural),
        Nature::Node => "minions".to_owned(),
        _ => ty.plural.clone(),
    };
    // A dry run does not get as far as the folder of everything.
    let root = if call.query.dry_run().unwrap_or_default() { "" } else { "/registry" };
    let why = format!(
        "StorageError: invalid object, Code: 4, Key: {root}/{folder}/{place}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: {wanted}, UID in object meta: {has}"
    );
    Refusal::conflict(&ty.plural, &ty.group, &name, &why)
}

fn refuse_new_finalizers(call: &Call<'_>, old: &Value, new: &Value) -> Result<(), Refusal> {
    let ty = &call.kind.ty;
    let name = meta::name(old);
    if meta::is_deleting(old) {
        let known = meta::strings(old, "finalizers");
        let fresh: Vec<String> = meta::strings(new, "finalizers")
            .into_iter()
            .filter(|f| !known.contains(f))
            .map(|f| format!("{f:?}"))
            .collect();
        if !fresh.is_empty() {
            let why = format!(
                "no new finalizers can be added if the object is being deleted, found new finalizers []string{{{}}}",
                fresh.join(", ")
            );
            let cause = Cause::forbidden("metadata.finalizers", &why);
            return Err(Refusal::invalid(&ty.kind, &ty.group, name, &call.kind.twice(cause)));
        }
    }
    Ok(())
}
