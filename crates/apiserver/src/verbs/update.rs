//! replace and patch: what a request makes of an object.

use http::StatusCode;
use serde_json::{Value, json};

use super::{
    advance::{Scope, store, wrong_uid},
    apply::apply_patch,
    create::{self, update_manager},
    intake::{self, Source},
};
use crate::{
    call::{Answer, Call},
    meta,
    patch::{Dialect, json, merge, strategic},
    registry::Nature,
    render::presented,
    status::{Cause, Refusal},
};

/// PUT.
pub(crate) fn replace(call: &mut Call<'_>, scope: Scope) -> Answer {
    let mut object = intake::decode(call)?;
    intake::normalise(call, &mut object, Source::Body)?;
    let name = call.path.name.clone().unwrap_or_default();
    let own = meta::name(&object).to_owned();
    if own.is_empty() {
        let why = format!(
            "the name of the object ({name} based on URL) was undeterminable: name must be provided"
        );
        return Err(Refusal::bad_request(why));
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
            let uid = meta::uid(&object);
            if !uid.is_empty() {
                return Err(wrong_uid(call, uid, ""));
            }
            // Whatever version is replaced, there is none; a dry run shows what was said.
            if !call.query.dry_run()? {
                meta::remove(&mut object, "resourceVersion");
            }
            let stored = create::insert(call, object, Some(manager))?;
            return Ok(call.reply(StatusCode::CREATED, &stored.bytes));
        }
        Err(refusal) => return Err(refusal),
    };
    let (uid, known) = (meta::uid(&object), presented(&call.kind, old.value()));
    if !uid.is_empty()
        && uid != meta::uid(&known)
        && meta::text(&object, "resourceVersion").is_empty()
    {
        return Err(wrong_uid(call, uid, meta::uid(&known)));
    }
    if matches!(meta::text(&object, "resourceVersion"), "" | "0")
        && !unconditional(call.kind.ty.nature)
    {
        let cause =
            Cause::invalid("metadata.resourceVersion", "0", "must be specified for an update");
        let ty = &call.kind.ty;
        return Err(Refusal::invalid(&ty.plural, &ty.group, &name, &[cause]));
    }
    let stored = store(call, (&old, &known), object, scope, Some(manager))?;
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
            | Nature::Workload(_)
    )
}

/// PATCH, in any dialect.
pub(crate) fn patch(call: &mut Call<'_>, scope: Scope) -> Answer {
    let dialect = Dialect::of(call.incoming.content_type(), call.kind.is_custom())?;
    if dialect == Dialect::Apply {
        return apply_patch(call, scope);
    }
    if call.query.has("force") {
        let cause = Cause::forbidden("force", "may not be specified for non-apply patch");
        return Err(Refusal::options("PatchOptions", &cause));
    }
    intake::check_options(call)?;
    let body = intake::parse(&call.incoming.body).map_err(|e| {
        Refusal::bad_request(format!("error decoding patch: {}", intake::go_words(&e)))
    })?;
    let manager = update_manager(call, scope.subresource())?;
    let old = call.existing()?;
    let current = presented(&call.kind, old.value());
    let mut object = if dialect == Dialect::Json {
        json::apply(&current, &body).map_err(|failure| match failure {
            json::Failure::Malformed(why) => Refusal::bad_request(why),
            json::Failure::TooLong(why) => Refusal::new(413, "RequestEntityTooLarge", why),
            json::Failure::Inapplicable(_) => Refusal::new(
                422,
                "Invalid",
                "the server rejected our request due to an error in our request",
            )
            .with_details(json!({})),
        })?
    } else {
        let empty = dialect == Dialect::Strategic && body.is_null();
        if !body.is_object() && !empty {
            let why = "error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}";
            return Err(Refusal::bad_request(why));
        }
        let mut object = current.clone();
        if empty {
            // Nothing is said, nothing is done.
        } else if dialect == Dialect::Strategic {
            strategic::check(&body).map_err(Refusal::internal)?;
            strategic::apply(Some(call.kind.schema()), &mut object, &body);
            // The result is read into the type of the path, whatever it calls itself.
            for key in ["apiVersion", "kind"] {
                if object[key].is_string() {
                    object[key] = current[key].clone();
                }
            }
        } else {
            merge::apply(&mut object, &body);
        }
        object
    };
    check_identity(call, &current, &object)?;
    intake::normalise(call, &mut object, Source::Patch)?;
    let stored = store(call, (&old, &current), object, scope, Some(manager))?;
    Ok(call.reply(StatusCode::OK, &stored.bytes))
}

/// A patch may not make another object of an object.
fn check_identity(call: &Call<'_>, current: &Value, object: &Value) -> Result<(), Refusal> {
    let text = |value: &Value, key: &str| {
        value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    let (version, kind) = (text(object, "apiVersion"), text(object, "kind"));
    let name = meta::name(current);
    if !call.kind.is_custom() {
        intake::check_metadata(object)?;
    }
    let mut causes = Vec::new();
    for (field, has, wanted) in
        [("apiVersion", &version, &call.kind.api_version()), ("kind", &kind, &call.kind.ty.kind)]
    {
        if has != wanted {
            causes.push(Cause::invalid(field, &format!("{has:?}"), &format!("must be {wanted}")));
        }
    }
    if !causes.is_empty() {
        let group = version.split_once('/').map(|(group, _)| group).unwrap_or_default();
        return Err(Refusal::invalid(&kind, group, name, &causes));
    }
    let own = meta::name(object);
    if name != own {
        let why =
            format!("the name of the object ({own}) does not match the name on the URL ({name})");
        return Err(Refusal::bad_request(why));
    }
    if meta::namespace(current) != meta::namespace(object) {
        return Err(Refusal::bad_request(
            "the namespace of the provided object does not match the namespace sent on the request",
        ));
    }
    let uid = meta::uid(object);
    if uid != meta::uid(current) && !uid.is_empty() {
        let cause = Cause::invalid("metadata.uid", &format!("{uid:?}"), "field is immutable");
        let ty = &call.kind.ty;
        return Err(Refusal::invalid(&ty.kind, &ty.group, name, &call.kind.twice(cause)));
    }
    Ok(())
}
