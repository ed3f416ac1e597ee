//! Server-side apply: one request that says what its manager wants, and nothing else.

use http::StatusCode;
use serde_json::{Value, json};

use super::{
    advance::{Scope, store},
    create,
    intake::{self, Source},
};
use crate::{
    call::{Answer, Call},
    managed::{self, Manager, Operation},
    meta,
    patch::{
        apply::{self, OnConflict},
        typed,
    },
    render::presented,
    schema::prune,
    status::{Cause, Refusal},
};

/// PATCH with an applied configuration.
pub(super) fn apply_patch(call: &mut Call<'_>, scope: Scope) -> Answer {
    if call.query.get("fieldManager").is_none() {
        let cause = Cause::required("fieldManager", "is required for apply patch");
        return Err(Refusal::options("PatchOptions", &cause));
    }
    // Most clients send JSON, which is read many times faster than the YAML that it also is.
    let mut config: Value = match serde_json::from_slice(&call.incoming.body) {
        Ok(config) => config,
        Err(_) => serde_saphyr::from_slice(&call.incoming.body)
            .map_err(|e| Refusal::bad_request(format!("error decoding YAML: {e}")))?,
    };
    let kind = config.get("kind").and_then(Value::as_str).unwrap_or_default();
    if kind != call.kind.ty.kind {
        let wanted = &call.kind.ty.kind;
        let why = if kind.is_empty() {
            format!("error decoding YAML: Object 'Kind' is missing in '{config}'")
        } else {
            format!(
                "the kind of the object ({kind}) does not match the kind of the path ({wanted})"
            )
        };
        return Err(Refusal::bad_request(why));
    }
    intake::check_type(&call.kind, &mut config)?;
    let (namespace, name) = call.key();
    if meta::field(&config, "managedFields").is_some_and(|m| !m.is_null()) {
        return Err(Refusal::bad_request("metadata.managedFields must be nil"));
    }
    if !meta::name(&config).is_empty() && meta::name(&config) != name {
        let own = meta::name(&config);
        let why =
            format!("the name of the object ({own}) does not match the name on the URL ({name})");
        return Err(Refusal::bad_request(why));
    }
    check_typed(call, &config)?;
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
        api_version: String::new(),
        subresource: scope.subresource().to_owned(),
    };
    let on_conflict = if call.query.flag("force") { OnConflict::Force } else { OnConflict::Refuse };
    let existing = match (call.existing(), scope) {
        (Ok(stored), _) => Some(stored),
        (Err(_), Scope::Main) => None,
        (Err(refusal), _) => return Err(refusal),
    };
    let uid = meta::uid(&config).to_owned();
    let Some(old) = existing else {
        let empty = json!({"apiVersion": call.kind.api_version(), "kind": call.kind.ty.kind, "metadata": {}});
        let applied = apply::apply(&call.kind, &empty, &config, &me, scope.reach(), on_conflict)?;
        let mut object = applied.object;
        intake::normalise(call, &mut object, Source::Applied)?;
        if !uid.is_empty() {
            let why = format!(
                "uid mismatch: the provided object specified uid {uid}, and no existing object was found"
            );
            return Err(Refusal::conflict(&call.kind.ty.plural, &call.kind.ty.group, &name, &why));
        }
        let mut managers = applied.managers;
        managers.0.entry(me).or_default().time = call.stamp();
        managers.write(&mut object);
        // Whatever version the configuration names, there is none yet; a dry run shows what was said.
        if !call.query.dry_run()? {
            meta::remove(&mut object, "resourceVersion");
        }
        let stored = create::insert(call, object, None)?;
        return Ok(call.reply(StatusCode::CREATED, &stored.bytes));
    };
    let known = presented(&call.kind, old.value());
    let mut live = known.clone();
    if managed::Managers::read(&live).is_none() {
        managed::before_first_apply(&call.kind, &live, &call.stamp()).write(&mut live);
    }
    let applied = apply::apply(&call.kind, &live, &config, &me, scope.reach(), on_conflict)?;
    let version = meta::text(&config, "resourceVersion").to_owned();
    if !matches!(version.as_str(), "" | "0") && version != meta::text(&live, "resourceVersion") {
        return Err(Refusal::modified(&call.kind.ty.plural, &call.kind.ty.group, &name));
    }
    let mut object = applied.object;
    intake::normalise(call, &mut object, Source::Applied)?;
    let changed = !same_but_records(&live, &object);
    keep_last_applied(&me, &live, &config, &mut object);
    let mut managers = applied.managers;
    // Applying what is already so may change who owns it, but not the time (OWN-2).
    if changed {
        managers.0.entry(me).or_default().time = call.stamp();
    }
    managers.write(&mut object);
    let stored = store(call, (&old, &known), object, scope, None)?;
    Ok(call.reply(StatusCode::OK, &stored.bytes))
}

const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// kubectl's own annotation is kept true when kubectl changes over to server-side apply.
fn keep_last_applied(me: &Manager, live: &Value, config: &Value, object: &mut Value) {
    let known = meta::field(live, "annotations").and_then(|a| a.get(LAST_APPLIED)).is_some();
    if me.name != "kubectl" || !known {
        return;
    }
    let mut sorted = config.clone();
    sorted.sort_all_objects();
    let text = format!("{sorted}\n");
    let metadata = meta::of(object);
    if let Some(annotations) = metadata.get_mut("annotations").and_then(Value::as_object_mut) {
        annotations.insert(LAST_APPLIED.to_owned(), text.into());
    }
}

fn same_but_records(a: &Value, b: &Value) -> bool {
    let bare = |value: &Value| {
        let mut value = value.clone();
        meta::remove(&mut value, "managedFields");
        value
    };
    bare(a) == bare(b)
}

/// Applied configurations may only speak of fields that the schema declares, in values of their types.
fn check_typed(call: &Call<'_>, config: &Value) -> Result<(), Refusal> {
    let mut copy = config.clone();
    let mut unknown = prune::prune_metadata(&mut copy);
    unknown.extend(prune::prune(call.kind.schema(), &mut copy));
    let mut lines: Vec<String> =
        unknown.iter().map(|f| format!(".{f}: field not declared in schema")).collect();
    lines.extend(typed::problems(call.kind.schema(), &copy));
    lines.sort();
    let text = match lines.as_slice() {
        [] => return Ok(()),
        [one] => one.clone(),
        many => format!("errors:\n  {}", many.join("\n  ")),
    };
    let place = format!("{}/{}", meta::namespace(config), meta::name(config));
    let kind = format!("{}, Kind={}", call.kind.api_version(), call.kind.ty.kind);
    let kind = if call.kind.ty.group.is_empty() { format!("/{kind}") } else { kind };
    Err(Refusal::new(
        500,
        "",
        format!("failed to create typed patch object ({place}; {kind}): {text}"),
    ))
}
