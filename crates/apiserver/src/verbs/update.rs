//! replace and patch: from one state of an object to the next.

use http::StatusCode;
use serde_json::{Value, json};

use super::{
    create::{self, dry, judge, update_manager, warn_about_finalizers},
    intake::{self, Source},
};
use crate::{
    admission,
    call::{Answer, Call},
    managed::{self, Manager, Operation, Reach},
    meta,
    patch::{
        Dialect,
        apply::{self, OnConflict},
        json, merge, strategic,
    },
    registry::Nature,
    render::{for_storage, presented},
    schema::prune,
    status::{Cause, Refusal},
    store::{Happening, Stored},
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
    fn subresource(self) -> &'static str {
        match self {
            Self::Main => "",
            Self::Status => "status",
            Self::Finalize => "finalize",
        }
    }

    fn reach(self) -> Reach {
        if self == Self::Status {
            Reach::Status
        } else {
            Reach::Main
        }
    }
}

/// PUT.
pub(crate) fn replace(call: &mut Call<'_>, scope: Scope) -> Answer {
    let mut object = intake::decode(call)?;
    intake::normalise(call, &mut object, Source::Body)?;
    let name = call.path.name.clone().unwrap_or_default();
    let own = meta::name(&object).to_owned();
    if own.is_empty() {
        return Err(Refusal::bad_request("name must be provided"));
    }
    if own != name {
        let why =
            format!("the name of the object ({own}) does not match the name on the URL ({name})");
        return Err(Refusal::bad_request(why));
    }
    let namespace = call.path.namespace.clone().unwrap_or_default();
    if meta::namespace(&object).is_empty() && !namespace.is_empty() {
        meta::set(&mut object, "namespace", namespace.clone());
    } else if meta::namespace(&object) != namespace {
        return Err(Refusal::bad_request(
            "the namespace of the provided object does not match the namespace sent on the request",
        ));
    }
    let manager = update_manager(call, scope.subresource())?;
    let old = match call.existing() {
        Ok(old) => old,
        // Leases and events may be created by replacing nothing.
        Err(_)
            if scope == Scope::Main
                && matches!(call.kind.ty.nature, Nature::Lease | Nature::Event) =>
        {
            meta::remove(&mut object, "uid");
            let stored = create::insert(call, object, Some(manager))?;
            return Ok(call.reply(StatusCode::CREATED, &stored.bytes));
        }
        Err(refusal) => return Err(refusal),
    };
    if meta::text(&object, "resourceVersion").is_empty() && !unconditional(call.kind.ty.nature) {
        let cause = Cause::invalid(
            "metadata.resourceVersion",
            "0",
            "must be specified for an update",
        );
        return Err(Refusal::invalid(
            &call.kind.ty.kind,
            &call.kind.ty.group,
            &name,
            &[cause],
        ));
    }
    let stored = store(call, &old, object, scope, Some(manager))?;
    Ok(call.reply(StatusCode::OK, &stored.bytes))
}

/// Kinds that may be replaced without naming the version that is replaced.
fn unconditional(nature: Nature) -> bool {
    matches!(
        nature,
        Nature::Namespace
            | Nature::Node
            | Nature::Pod
            | Nature::ConfigMap
            | Nature::Secret
            | Nature::ServiceAccount
            | Nature::Event
    )
}

/// PATCH, in any dialect.
pub(crate) fn patch(call: &mut Call<'_>, scope: Scope) -> Answer {
    let dialect = Dialect::of(call.incoming.content_type(), call.kind.is_custom())?;
    if dialect == Dialect::Apply {
        return apply_patch(call, scope);
    }
    if call.query.has("force") {
        return Err(patch_options_invalid(
            "force: Forbidden: may not be specified for non-apply patch",
        ));
    }
    let body: Value = serde_json::from_slice(&call.incoming.body)
        .map_err(|e| Refusal::bad_request(format!("error decoding patch: {e}")))?;
    let manager = update_manager(call, scope.subresource())?;
    let old = call.existing()?;
    let current = presented(&call.kind, old.value());
    let mut object = if dialect == Dialect::Json {
        json::apply(&current, &body).map_err(|failure| match failure {
            json::Failure::Malformed(why) => Refusal::bad_request(why),
            json::Failure::Inapplicable(_) => Refusal::new(
                422,
                "Invalid",
                "the server rejected our request due to an error in our request",
            )
            .with_details(json!({})),
        })?
    } else {
        if !body.is_object() {
            let why = "json: cannot unmarshal array into Go value of type map[string]interface {}";
            return Err(Refusal::bad_request(why));
        }
        let mut object = current.clone();
        if dialect == Dialect::Strategic {
            strategic::apply(Some(call.kind.schema()), &mut object, &body);
        } else {
            merge::apply(&mut object, &body);
        }
        object
    };
    intake::check_type(&call.kind, &mut object)?;
    intake::normalise(call, &mut object, Source::Patch)?;
    let stored = store(call, &old, object, scope, Some(manager))?;
    Ok(call.reply(StatusCode::OK, &stored.bytes))
}

fn patch_options_invalid(text: &str) -> Refusal {
    Refusal::new(
        422,
        "Invalid",
        format!("PatchOptions.meta.k8s.io \"\" is invalid: {text}"),
    )
    .with_details(json!({"group": "meta.k8s.io", "kind": "PatchOptions"}))
}

fn apply_patch(call: &mut Call<'_>, scope: Scope) -> Answer {
    if call.query.get("fieldManager").is_none() {
        let text = "fieldManager: Required value: is required for apply patch";
        return Err(patch_options_invalid(text));
    }
    let mut config: Value = serde_saphyr::from_slice(&call.incoming.body)
        .map_err(|e| Refusal::bad_request(format!("error decoding YAML: {e}")))?;
    intake::check_type(&call.kind, &mut config)?;
    let (namespace, name) = call.key();
    if meta::field(&config, "managedFields").is_some_and(|m| !m.is_null()) {
        return Err(Refusal::bad_request("metadata.managedFields must be nil"));
    }
    if !meta::name(&config).is_empty() && meta::name(&config) != name {
        let why = format!(
            "name in URL ({name}) does not match name in object ({})",
            meta::name(&config)
        );
        return Err(Refusal::bad_request(why));
    }
    undeclared(call, &config)?;
    meta::set(&mut config, "name", name.clone());
    if !namespace.is_empty() {
        if !meta::namespace(&config).is_empty() && meta::namespace(&config) != namespace {
            return Err(Refusal::bad_request(
                "the namespace of the provided object does not match the namespace sent on the request",
            ));
        }
        meta::set(&mut config, "namespace", namespace);
    }
    let me = Manager {
        operation: Operation::Apply,
        name: call.manager()?,
        api_version: call.kind.api_version(),
        subresource: scope.subresource().to_owned(),
    };
    let on_conflict = if call.query.flag("force") {
        OnConflict::Force
    } else {
        OnConflict::Refuse
    };
    let existing = match (call.existing(), scope) {
        (Ok(stored), _) => Some(stored),
        (Err(_), Scope::Main) => None,
        (Err(refusal), _) => return Err(refusal),
    };
    let uid = meta::uid(&config).to_owned();
    let Some(old) = existing else {
        if !uid.is_empty() {
            let why = format!(
                "uid mismatch: the provided object specified uid {uid}, and no existing object was found"
            );
            return Err(Refusal::conflict(
                &call.kind.ty.plural,
                &call.kind.ty.group,
                &name,
                &why,
            ));
        }
        let empty = json!({"apiVersion": call.kind.api_version(), "kind": call.kind.ty.kind, "metadata": {}});
        let applied = apply::apply(&call.kind, &empty, &config, &me, scope.reach(), on_conflict)?;
        let mut object = applied.object;
        intake::normalise(call, &mut object, Source::Patch)?;
        let mut managers = applied.managers;
        managers.0.entry(me).or_default().time = call.stamp();
        managers.write(&mut object);
        let stored = create::insert(call, object, None)?;
        return Ok(call.reply(StatusCode::CREATED, &stored.bytes));
    };
    let live = presented(&call.kind, old.value());
    let version = meta::text(&config, "resourceVersion").to_owned();
    if !version.is_empty() && version != meta::text(&live, "resourceVersion") {
        return Err(Refusal::modified(
            &call.kind.ty.plural,
            &call.kind.ty.group,
            &name,
        ));
    }
    let before = managed::Managers::read(&live);
    let applied = apply::apply(&call.kind, &live, &config, &me, scope.reach(), on_conflict)?;
    let mut object = applied.object;
    intake::normalise(call, &mut object, Source::Patch)?;
    let mut managers = applied.managers;
    // Applying what is already so changes nothing, not even the time (OWN-2).
    if before.as_ref() != Some(&managers) || !same_but_records(&live, &object) {
        managers.0.entry(me).or_default().time = call.stamp();
    }
    managers.write(&mut object);
    let stored = store(call, &old, object, scope, None)?;
    Ok(call.reply(StatusCode::OK, &stored.bytes))
}

fn same_but_records(a: &Value, b: &Value) -> bool {
    let bare = |value: &Value| {
        let mut value = value.clone();
        meta::remove(&mut value, "managedFields");
        value
    };
    bare(a) == bare(b)
}

/// Applied configurations may only speak of fields that the schema declares.
fn undeclared(call: &Call<'_>, config: &Value) -> Result<(), Refusal> {
    let mut copy = config.clone();
    let mut unknown = prune::prune_metadata(&mut copy);
    unknown.extend(prune::prune(call.kind.schema(), &mut copy));
    if unknown.is_empty() {
        return Ok(());
    }
    let (namespace, name) = call.key();
    let place = if namespace.is_empty() {
        format!("/{name}")
    } else {
        format!("{namespace}/{name}")
    };
    let lines: Vec<String> = unknown
        .iter()
        .map(|f| format!(".{f}: field not declared in schema"))
        .collect();
    let text = match lines.as_slice() {
        [one] => one.clone(),
        many => format!("errors:\n  {}", many.join("\n  ")),
    };
    let kind = format!("{}, Kind={}", call.kind.api_version(), call.kind.ty.kind);
    let kind = if call.kind.ty.group.is_empty() {
        format!("/{kind}")
    } else {
        kind
    };
    Err(Refusal::new(
        500,
        "",
        format!("failed to create typed patch object ({place}; {kind}): {text}"),
    ))
}

/// Brings an existing object into its next state.
pub(crate) fn store(
    call: &mut Call<'_>,
    old_stored: &Stored,
    mut new: Value,
    scope: Scope,
    manager: Option<Manager>,
) -> Result<Stored, Refusal> {
    let ty = std::sync::Arc::clone(&call.kind.ty);
    let old = presented(&call.kind, old_stored.value());
    let name = meta::name(&old).to_owned();
    let asked = meta::text(&new, "resourceVersion");
    if !asked.is_empty() && asked != meta::text(&old, "resourceVersion") {
        return Err(Refusal::modified(&ty.plural, &ty.group, &name));
    }
    let uid = meta::uid(&new);
    if !uid.is_empty() && uid != meta::uid(&old) {
        let why = format!(
            "Precondition failed: UID in precondition: {uid}, UID in object meta: {}",
            meta::uid(&old)
        );
        return Err(Refusal::conflict(&ty.plural, &ty.group, &name, &why));
    }
    let mut causes = Vec::new();
    for key in ["name", "namespace"] {
        if meta::text(&new, key) != meta::text(&old, key) {
            let shown = format!("{:?}", meta::text(&new, key));
            causes.push(Cause::invalid(
                format!("metadata.{key}"),
                &shown,
                "field is immutable",
            ));
        }
    }
    if !causes.is_empty() {
        return Err(Refusal::invalid(&ty.kind, &ty.group, &name, &causes));
    }
    for key in [
        "uid",
        "creationTimestamp",
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
        "generation",
        "resourceVersion",
        "generateName",
    ] {
        meta::copy(&mut new, &old, key);
    }
    confine(call, &old, &mut new, scope);
    if ty.counts_generations() && scope == Scope::Main && spec_changed(call, &old, &new) {
        let generation = meta::field(&old, "generation")
            .and_then(Value::as_i64)
            .unwrap_or_default()
            + 1;
        meta::set(&mut new, "generation", generation);
    }
    if let Some(manager) = manager {
        let stamp = call.stamp();
        managed::record_update(
            &call.kind,
            Some(&old),
            &mut new,
            manager,
            scope.reach(),
            &stamp,
        );
    }
    if meta::is_deleting(&old) {
        let known = meta::strings(&old, "finalizers");
        let fresh: Vec<String> = meta::strings(&new, "finalizers")
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
            return Err(Refusal::invalid(&ty.kind, &ty.group, &name, &[cause]));
        }
    }
    judge(call, &new, Some(&old))?;
    warn_about_finalizers(call, &new, Some(&old));
    admission::admit(
        call,
        admission::Verb::Update(scope.subresource()),
        Some(&new),
        Some(&old),
    )?;
    let mut stored_form = for_storage(&call.kind, new);
    if stored_form == old_stored.value() {
        return Ok(old_stored.clone());
    }
    if call.query.dry_run()? {
        return Ok(dry(&stored_form));
    }
    let happening = if finished(ty.nature, &stored_form) {
        Happening::Deleted
    } else {
        Happening::Modified
    };
    Ok(call.state.commit(&ty.shelf, happening, &mut stored_form))
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
            if call.kind.version.status && managed::resets_status(call.kind.ty.nature) {
                take(new, "status");
            }
            if call.kind.ty.nature == Nature::Namespace {
                take(new, "spec");
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
        return old.get("spec") != new.get("spec");
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
