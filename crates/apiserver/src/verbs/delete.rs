//! delete, of one object or of a selection.

use http::StatusCode;
use serde_json::{Value, json};

use super::{intake, read};
use crate::{
    admission,
    call::{Answer, Call},
    deletion::{self, Outcome, Propagation},
    meta,
    registry::Nature,
    render::presented,
    status::{Cause, Refusal},
    store::{Happening, Stored},
};

/// The options of a deletion, from the body and the query.
#[derive(Debug, Clone)]
pub(crate) struct Options {
    propagation: Propagation,
    grace: Option<i64>,
    uid: String,
    version: String,
    dry_run: bool,
}

impl Options {
    /// Reads a `DeleteOptions` object.
    pub(crate) fn read(body: &Value, call: &Call<'_>) -> Result<Self, Refusal> {
        if let Some(field) = wrong_field(body) {
            return Err(Refusal::bad_request(format!(
                "json: cannot unmarshal a value of the wrong type into Go struct field DeleteOptions.{field}"
            )));
        }
        let text = |path: &[&str]| meta::text_at(body, path).to_owned();
        let policy = match text(&["propagationPolicy"]) {
            empty if empty.is_empty() => {
                call.query.get("propagationPolicy").unwrap_or_default().to_owned()
            }
            some => some,
        };
        let orphan = body.get("orphanDependents").and_then(Value::as_bool).or_else(|| {
            call.query.get("orphanDependents").map(|_| call.query.flag("orphanDependents"))
        });
        if orphan.is_some() && !policy.is_empty() {
            let cause = Cause::invalid(
                "propagationPolicy",
                &format!("{policy:?}"),
                "orphanDependents and deletionPropagation cannot be both set",
            );
            return Err(Refusal::options("DeleteOptions", &cause));
        }
        let propagation = match (policy.as_str(), orphan) {
            ("", None) => Propagation::Unspecified,
            ("", Some(true)) | ("Orphan", _) => Propagation::Orphan,
            ("", Some(false)) | ("Background", _) => Propagation::Background,
            ("Foreground", _) => Propagation::Foreground,
            (other, _) => {
                let options = ["Foreground", "Background", "Orphan", "nil"];
                let cause =
                    Cause::not_supported("propagationPolicy", &format!("{other:?}"), &options);
                return Err(Refusal::options("DeleteOptions", &cause));
            }
        };
        let grace = body
            .get("gracePeriodSeconds")
            .and_then(Value::as_i64)
            .or(call.query.number("gracePeriodSeconds")?);
        let wishes = body.get("dryRun").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        if wishes.iter().any(|wish| wish != "All") {
            let cause = Cause::not_supported("dryRun", &Value::from(wishes).to_string(), &["All"]);
            return Err(Refusal::options("DeleteOptions", &cause));
        }
        let body_dry = !wishes.is_empty();
        Ok(Self {
            propagation,
            grace,
            uid: text(&["preconditions", "uid"]),
            version: text(&["preconditions", "resourceVersion"]),
            dry_run: body_dry || call.query.dry_run()?,
        })
    }

    /// What a controller asks for.
    pub(crate) fn of_controller(propagation: Propagation) -> Self {
        let (uid, version) = (String::new(), String::new());
        Self { propagation, grace: None, uid, version, dry_run: false }
    }

    pub(crate) fn is_dry_run(&self) -> bool {
        self.dry_run
    }

    fn from_request(call: &Call<'_>) -> Result<Self, Refusal> {
        let bytes = &call.incoming.body;
        let body = if bytes.is_empty() {
            Value::Null
        } else {
            intake::body(bytes, call.incoming.content_type(), "DeleteOptions")?
        };
        let kind = meta::text_at(&body, &["kind"]);
        if !kind.is_empty() && kind != "DeleteOptions" {
            return Err(Refusal::bad_request(format!(
                "decoded object cannot be converted to DeleteOptions: it is a {kind}"
            )));
        }
        Self::read(&body, call)
    }
}

/// The first field that is not of its type.
fn wrong_field(body: &Value) -> Option<&'static str> {
    let bad = |path: &[&str], fits: fn(&Value) -> bool| {
        meta::at(body, path).is_some_and(|value| !value.is_null() && !fits(value))
    };
    let texts =
        |value: &Value| value.as_array().is_some_and(|all| all.iter().all(Value::is_string));
    [
        ("gracePeriodSeconds", bad(&["gracePeriodSeconds"], Value::is_i64)),
        ("orphanDependents", bad(&["orphanDependents"], Value::is_boolean)),
        ("propagationPolicy", bad(&["propagationPolicy"], Value::is_string)),
        ("dryRun", bad(&["dryRun"], texts)),
        ("preconditions", bad(&["preconditions"], Value::is_object)),
        ("preconditions.uid", bad(&["preconditions", "uid"], Value::is_string)),
        (
            "preconditions.resourceVersion",
            bad(&["preconditions", "resourceVersion"], Value::is_string),
        ),
    ]
    .into_iter()
    .find_map(|(field, bad)| bad.then_some(field))
}

pub(crate) fn one(call: &mut Call<'_>) -> Answer {
    let options = Options::from_request(call)?;
    let stored = call.existing()?;
    let (outcome, stored) = remove(call, &stored, &options)?;
    let object = stored.value();
    // Pods and service accounts are shown as they went; of others only the success is told.
    let shown = matches!(call.kind.ty.nature, Nature::Pod | Nature::ServiceAccount);
    if outcome == Outcome::Gone && !shown {
        return Ok(call.success(StatusCode::OK, meta::name(&object), meta::uid(&object)));
    }
    Ok(call.reply(StatusCode::OK, &stored.bytes))
}

/// Deletes one object as far as it can go now.
pub(crate) fn remove(
    call: &mut Call<'_>,
    stored: &Stored,
    options: &Options,
) -> Result<(Outcome, Stored), Refusal> {
    let ty = std::sync::Arc::clone(&call.kind.ty);
    let mut object = stored.value();
    let name = meta::name(&object).to_owned();
    for (what, wanted, has, became) in [
        ("UID", &options.uid, meta::uid(&object), "deleted and then recreated"),
        ("ResourceVersion", &options.version, meta::text(&object, "resourceVersion"), "modified"),
    ] {
        if !wanted.is_empty() && wanted != has {
            let why = format!(
                "the {what} in the precondition ({wanted}) does not match the {what} in record ({has}). The object might have been {became}"
            );
            return Err(Refusal::conflict(&ty.kind, &ty.group, &name, &why));
        }
    }
    if ty.nature == Nature::Namespace
        && matches!(name.as_str(), "default" | "kube-system" | "kube-public")
    {
        return Err(Refusal::forbidden(
            "namespaces",
            "",
            &name,
            "this namespace may not be deleted",
        ));
    }
    let shown = presented(&call.kind, object.clone());
    admission::admit(call, admission::Verb::Delete, None, Some(&shown))?;
    let outcome =
        deletion::begin(ty.nature, &mut object, options.propagation, options.grace, call.now);
    if options.dry_run || outcome == Outcome::Unchanged {
        return Ok((outcome, super::create::dry(&object)));
    }
    // Pods are always told first that they end, even when that is at once.
    let marked = meta::is_deleting(&object) && !meta::is_deleting(&stored.value());
    if outcome == Outcome::Gone && marked {
        call.state.commit(&ty.shelf, Happening::Modified, &mut object);
    }
    let happening = if outcome == Outcome::Gone { Happening::Deleted } else { Happening::Modified };
    let stored = call.state.commit(&ty.shelf, happening, &mut object);
    Ok((outcome, stored))
}

/// Deletes everything that the selectors choose, and answers with the list of what was chosen.
pub(crate) fn collection(call: &mut Call<'_>) -> Answer {
    if call.kind.ty.namespaced && call.path.namespace.is_none()
        || call.kind.ty.nature == Nature::Namespace
    {
        return Err(Refusal::method_not_allowed());
    }
    let options = Options::from_request(call)?;
    let selector = read::selector(call)?;
    let chosen = read::selected(call, &selector);
    let mut items: Vec<Stored> = Vec::new();
    for (_, stored) in chosen {
        let (_, after) = remove(call, &stored, &options)?;
        items.push(after);
    }
    let about = json!({"resourceVersion": call.state.store.version().to_string()});
    let bytes = call.render.list(&call.kind, &items, &about, call.now);
    Ok(call.respond(StatusCode::OK, bytes))
}
