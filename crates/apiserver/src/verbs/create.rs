//! create: from a body to a stored object.

use http::StatusCode;
use serde_json::Value;

use super::intake::{self, Source};
use crate::{
    admission,
    call::{Answer, Call},
    managed::{self, Manager, Operation, Reach},
    meta, name,
    registry::Nature,
    render::for_storage,
    schema::{cel, validate},
    status::{Cause, Refusal},
    store::{Happening, Stored},
    strategy,
};

pub(crate) fn create(call: &mut Call<'_>) -> Answer {
    let mut object = intake::decode(call)?;
    intake::normalise(call, &mut object, Source::Body)?;
    let manager = update_manager(call, "")?;
    let stored = insert(call, object, Some(manager))?;
    Ok(call.reply(StatusCode::CREATED, &stored.bytes))
}

/// The identity under which this request writes without applying.
pub(crate) fn update_manager(call: &Call<'_>, subresource: &str) -> Result<Manager, Refusal> {
    Ok(Manager {
        operation: Operation::Update,
        name: call.manager()?,
        api_version: call.kind.api_version(),
        subresource: subresource.to_owned(),
    })
}

/// Stores a new object. `manager` is `None` when the field record was already written (by apply).
pub(crate) fn insert(
    call: &mut Call<'_>,
    mut object: Value,
    manager: Option<Manager>,
) -> Result<Stored, Refusal> {
    let ty = std::sync::Arc::clone(&call.kind.ty);
    if ty.terminating {
        let why = "create not allowed while custom resource definition is terminating";
        return Err(Refusal::new(405, "MethodNotAllowed", why));
    }
    place(call, &mut object)?;
    // Version zero is no version.
    if meta::text(&object, "resourceVersion") == "0" {
        meta::remove(&mut object, "resourceVersion");
    }
    let generated =
        meta::name(&object).is_empty() && !meta::text(&object, "generateName").is_empty();
    if generated {
        let name = generate_name(call, &object);
        meta::set(&mut object, "name", name);
    }
    let name = meta::name(&object).to_owned();
    let uid = call.state.ids.uid();
    let stamp = call.stamp();
    meta::set(&mut object, "uid", uid);
    meta::set(&mut object, "creationTimestamp", stamp.clone());
    for key in ["deletionTimestamp", "deletionGracePeriodSeconds"] {
        meta::remove(&mut object, key);
    }
    if ty.counts_generations() {
        meta::set(&mut object, "generation", 1);
    }
    strategy::default(ty.nature, &mut object);
    if call.kind.is_custom() {
        strategy::on_create(&call.kind, &mut object);
    }
    if let Some(manager) = manager {
        managed::record_update(&call.kind, None, &mut object, manager, Reach::Main, &stamp);
    }
    strategy::on_create(&call.kind, &mut object);
    check_namespace(call, &object)?;
    judge(call, &object, None, "")?;
    warn_about_finalizers(call, &object, None);
    let key = (meta::namespace(&object).to_owned(), name.clone());
    admission::admit(call, admission::Verb::Create, Some(&object), None)?;
    let dry_run = call.query.dry_run()?;
    if !dry_run && !meta::text(&object, "resourceVersion").is_empty() {
        let why = "resourceVersion should not be set on objects to be created";
        return Err(Refusal::new(500, "", why));
    }
    if let Some(other) = call.state.store.get(&ty.shelf, &key) {
        let mut refusal = Refusal::already_exists(&ty.plural, &ty.group, &name);
        if meta::is_deleting(&other.value()) {
            refusal.message = format!("object is being deleted: {}", refusal.message);
        }
        return Err(refusal);
    }
    let mut stored_form = for_storage(&call.kind, object);
    if dry_run {
        return Ok(dry(&stored_form));
    }
    Ok(call.state.commit(&ty.shelf, Happening::Added, &mut stored_form))
}

/// How many names the real server makes up before it gives up.
const GENERATED_NAMES: usize = 8;

/// A name that begins with `generateName`. Five letters repeat sooner than one thinks (after a few thousand objects, one time in two),
/// so a name that is taken is followed by another.
fn generate_name(call: &mut Call<'_>, object: &Value) -> String {
    let base: String = meta::text(object, "generateName").chars().take(58).collect();
    let shelf = call.kind.ty.shelf.clone();
    let mut key = (meta::namespace(object).to_owned(), String::new());
    for _ in 0..GENERATED_NAMES {
        key.1 = format!("{base}{}", call.state.ids.suffix());
        if call.state.store.get(&shelf, &key).is_none() {
            break;
        }
    }
    key.1
}

/// What would have been stored.
pub(crate) fn dry(object: &Value) -> Stored {
    let mut object = object.clone();
    object.sort_all_objects();
    Stored::new(0, object.to_string().into())
}

/// Name and namespace come from the path where the body leaves them out, and must agree with it otherwise.
fn place(call: &Call<'_>, object: &mut Value) -> Result<(), Refusal> {
    let namespace = meta::namespace(object).to_owned();
    if call.kind.ty.namespaced {
        let wanted = call.path.namespace.clone().ok_or_else(Refusal::method_not_allowed)?;
        if namespace.is_empty() {
            meta::set(object, "namespace", wanted);
        } else if namespace != wanted {
            return Err(Refusal::bad_request(
                "the namespace of the provided object does not match the namespace sent on the request",
            ));
        }
    } else if !namespace.is_empty() {
        return Err(Refusal::bad_request(
            "the namespace of the provided object does not match the namespace sent on the request",
        ));
    }
    Ok(())
}

/// Nothing is created in a namespace that does not exist or is going.
fn check_namespace(call: &Call<'_>, object: &Value) -> Result<(), Refusal> {
    let namespace = meta::namespace(object);
    if namespace.is_empty() {
        return Ok(());
    }
    let key = (String::new(), namespace.to_owned());
    let Some(found) = call.state.store.get("namespaces", &key) else {
        return Err(Refusal::not_found("namespaces", "", namespace));
    };
    if meta::is_deleting(&found.value()) {
        let ty = &call.kind.ty;
        let why = format!(
            "unable to create new content in namespace {namespace} because it is being terminated"
        );
        let mut refusal = Refusal::forbidden(&ty.plural, &ty.group, meta::name(object), &why);
        let mut details = crate::status::details(meta::name(object), &ty.group, &ty.plural);
        if let Some(map) = details.as_object_mut() {
            let cause = serde_json::json!({"reason": "NamespaceTerminating", "field": "metadata.namespace",
                "message": format!("namespace {namespace} is being terminated")});
            map.insert("causes".into(), serde_json::json!([cause]));
        }
        refusal = refusal.with_details(details);
        return Err(refusal);
    }
    Ok(())
}

/// All violations at once.
pub(crate) fn judge(
    call: &Call<'_>,
    object: &Value,
    old: Option<&Value>,
    subresource: &str,
) -> Result<(), Refusal> {
    refuse(call, object, &violations(call, object, old, subresource))
}

/// A refusal for these reasons, if there are any.
pub(crate) fn refuse(call: &Call<'_>, object: &Value, causes: &[Cause]) -> Result<(), Refusal> {
    let ty = &call.kind.ty;
    if causes.is_empty() {
        return Ok(());
    }
    Err(Refusal::invalid(&ty.kind, &ty.group, meta::name(object), causes))
}

/// What metadata, schema, expressions and the kind's own checks find.
pub(crate) fn violations(
    call: &Call<'_>,
    object: &Value,
    old: Option<&Value>,
    subresource: &str,
) -> Vec<Cause> {
    let ty = &call.kind.ty;
    let mut causes = Vec::new();
    if meta::name(object).is_empty() {
        causes.push(Cause::required("metadata.name", "name or generateName is required"));
    } else {
        for cause in name::metadata_problems(object, ty.name_rule) {
            let times = if old.is_some() { strategy::repeats(ty.nature, &cause) } else { 1 };
            causes.extend(std::iter::repeat_n(cause, times));
        }
    }
    let schema = call.kind.schema();
    if call.kind.is_custom() {
        let mut found = validate::check(schema, object, old);
        if subresource == "status" {
            // Judged by its own part of the schema, the status is named from there.
            for cause in &mut found {
                if let Some(inner) = cause.field.strip_prefix("status.") {
                    cause.message = cause.message.replace(
                        &format!(" {} in body", cause.field),
                        &format!(" {inner} in body"),
                    );
                }
            }
        }
        causes.extend(found);
        let blocked = validate::blocks_expressions(&causes);
        if schema.has_rules {
            if blocked {
                let why = "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation";
                causes.push(Cause::invalid("<nil>", "null", why));
            } else {
                causes.extend(cel::check(schema, object, old));
            }
        }
    }
    if !call.kind.is_custom() {
        let stored_shape = for_storage(&call.kind, object.clone());
        causes.extend(strategy::problems(ty.nature, &stored_shape, old));
    }
    causes
}

/// Finalizers without a domain are accepted with a warning.
pub(crate) fn warn_about_finalizers(call: &mut Call<'_>, object: &Value, old: Option<&Value>) {
    if call.kind.ty.nature == Nature::Namespace {
        return;
    }
    let known = old.map(|o| meta::strings(o, "finalizers")).unwrap_or_default();
    for finalizer in meta::strings(object, "finalizers") {
        let standard = matches!(finalizer, "orphan" | "foregroundDeletion");
        if !finalizer.contains('/') && !standard && !known.contains(&finalizer) {
            let path = if finalizer.contains('.') { " including a path (/)" } else { "" };
            call.warnings.push(format!(
                "metadata.finalizers: {finalizer:?}: prefer a domain-qualified finalizer name{path} to avoid accidental conflicts with other finalizer writers"
            ));
        }
    }
}
