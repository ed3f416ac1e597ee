//! How does somebody edit a policy? They read it with their own rights, see what an edit would do, and send the patch that they saw, once.
//!
//! What an edit does is worked out beside the thread that answers, one at a time: it may simulate the pools that follow a policy. Whoever is late
//! is told so by the API server: the patch carries the version that was looked at, and a conflict is a page, not another try.

use std::time::Duration;

use http::StatusCode;
use runtime::{
    call::{CallError, Patch},
    key::path,
};
use serde_json::Value;
use tidegate_core::document::{
    git,
    key::{self, Key},
    problem::Problem,
};
use views::{editing::Editing, yaml};

use crate::{
    answer::{self, Reply},
    asked::{Asked, Fields},
    deed::{OWNER, right},
    desk::Desk,
    page::{
        Page,
        deeds::{self, Right},
        edit::{self, Draft, Mode, fields::Typed},
    },
    session::Session,
    shown::whole,
};

/// A policy whose specification is longer does not fit into a form twice, once as it was and once as it is typed.
const LONGEST: usize = 12_000;

/// How long somebody waits for what an edit would do.
const PATIENCE: Duration = Duration::from_secs(10);

/// A policy as the cluster holds it.
struct Held {
    key: Key,
    live: Value,
}

impl Held {
    fn spec(&self) -> Value {
        self.live.get("spec").cloned().unwrap_or_default()
    }

    fn version(&self) -> String {
        let version = self.live.pointer("/metadata/resourceVersion").and_then(Value::as_str);
        version.unwrap_or_default().to_owned()
    }
}

/// What somebody typed: a specification, or why it is none.
struct Read {
    mode: Mode,
    base: Value,
    spec: Result<Value, String>,
}

/// The form of a policy, as it is.
pub(crate) async fn form(desk: &Desk, session: &Session, asked: &Asked) -> Reply {
    desk.ask_the_time().await;
    let held = match held(desk, session, asked.query.get("object")).await {
        Ok(held) => held,
        Err(why) => return said(desk, session, &why),
    };
    let spec = held.spec();
    let read = Read { mode: as_form(&spec), base: spec.clone(), spec: Ok(spec) };
    match draft(desk, session, held, read, None).await {
        Ok(draft) => shown(desk, session, &draft),
        Err(why) => said(desk, session, &why),
    }
}

/// Shows what an edit does, gives it as a file, or sends it.
pub(crate) async fn act(desk: &Desk, session: &Session, form: &Fields) -> Reply {
    desk.ask_the_time().await;
    let held = match held(desk, session, form.get("object")).await {
        Ok(held) => held,
        Err(why) => return said(desk, session, &why),
    };
    let read = read(form, &held.spec());
    let mut draft = match draft(desk, session, held, read, form.get("version")).await {
        Ok(draft) => draft,
        Err(why) => return said(desk, session, &why),
    };
    let Ok(editing) = &draft.editing else { return shown(desk, session, &draft) };
    let usable = !editing.judged.problems.iter().any(Problem::is_error);
    match form.get("stage") {
        Some("file") if usable => answer::download("policy.yaml", yaml::write(&editing.document)),
        Some("do") if usable && !draft.conflict && draft.owner.is_none() => {
            if editing.weighty().is_some() && form.get("named") != Some(&*draft.key.name) {
                let name = &draft.key.name;
                draft.refused =
                    Some(format!("Nothing was written: type {name} to apply this edit."));
                return shown(desk, session, &draft);
            }
            match send(session, desk, editing).await {
                Ok(()) => reply(desk, session, edit::done(editing)),
                Err(error) if error.code() == Some(409) => {
                    draft.conflict = true;
                    shown(desk, session, &draft)
                }
                Err(error) => said(desk, session, &format!("{}: {}", draft.key, error.told())),
            }
        }
        _ => shown(desk, session, &draft),
    }
}

fn reply(desk: &Desk, session: &Session, page: Page) -> Reply {
    desk.look(session, |view| whole(view, &Asked::default(), page))
}

fn said(desk: &Desk, session: &Session, why: &str) -> Reply {
    reply(desk, session, deeds::failed(why, false))
}

fn shown(desk: &Desk, session: &Session, draft: &Draft) -> Reply {
    let mut reply =
        desk.look(session, |view| whole(view, &Asked::default(), edit::page(view, draft)));
    if draft.conflict {
        *reply.status_mut() = StatusCode::CONFLICT;
    }
    reply
}

/// Reads a policy, with the rights of whoever looks.
async fn held(desk: &Desk, session: &Session, object: Option<&str>) -> Result<Held, String> {
    let key = key::named(object.unwrap_or_default(), None)?;
    if !key.is_policy() {
        return Err(format!("{key} is no policy"));
    }
    let read: Result<Value, CallError> = desk.cluster_of(session).get(&path(&key)).await;
    let live = read.map_err(|error| format!("cannot read {key}: {}", error.told()))?;
    let long = live.get("spec").map_or(0, |spec| spec.to_string().len());
    if long > LONGEST {
        return Err(format!(
            "{key} is too long for a form ({long} bytes): edit its file, and let tidegate diff show what that does"
        ));
    }
    Ok(Held { key, live })
}

/// The fields of a specification; each exclusion stands in its own row.
fn as_form(spec: &Value) -> Mode {
    let typed = Typed::of(spec);
    let rows = (0..typed.out.len()).collect();
    Mode::Form(typed, rows)
}

/// What was typed, and as what it is to be shown.
fn read(form: &Fields, live: &Value) -> Read {
    let base = form.get("base").and_then(|base| serde_json::from_str(base).ok());
    let base: Value = base.unwrap_or_else(|| live.clone());
    if form.get("mode") == Some("text") {
        let text = form.get("text").unwrap_or_default();
        let spec: Result<Value, String> =
            serde_saphyr::from_str(text).map_err(|error| error.to_string());
        return match (&spec, form.get("to")) {
            // What the form does not know it keeps, so from now on that is what was read here.
            (Ok(spec), Some("form")) => {
                Read { mode: as_form(spec), base: spec.clone(), spec: Ok(spec.clone()) }
            }
            _ => Read { mode: Mode::Text(text.to_owned()), base, spec },
        };
    }
    let typed = Typed::read(form, &base);
    let (spec, rows) = typed.onto(&base);
    let mode = match form.get("to") {
        Some("text") => Mode::Text(yaml::write(&spec)),
        _ => Mode::Form(typed, rows),
    };
    Read { mode, base, spec: Ok(spec) }
}

/// Everything that is shown of an edit.
async fn draft(
    desk: &Desk,
    session: &Session,
    held: Held,
    read: Read,
    looked_at: Option<&str>,
) -> Result<Draft, String> {
    let version = held.version();
    let conflict = looked_at.is_some_and(|looked_at| looked_at != version);
    let owner = git::owner(&held.live);
    let key = held.key.clone();
    let right = match &owner {
        // Nobody is asked about a right that nobody will use.
        Some(_) => Right::Given,
        None => right(desk, session, "patch", key.kind(), key.namespace.as_deref()).await,
    };
    let editing = match read.spec {
        Ok(spec) => Ok(worked_out(desk, session, held, spec).await?),
        Err(why) => Err(why),
    };
    let refused = match &editing {
        Ok(editing) if owner.is_none() && right == Right::Given => {
            tried(desk, session, editing).await
        }
        _ => None,
    };
    let (mode, base) = (read.mode, read.base);
    Ok(Draft { key, version, base, mode, editing, owner, right, refused, conflict })
}

async fn worked_out(
    desk: &Desk,
    session: &Session,
    held: Held,
    spec: Value,
) -> Result<Editing, String> {
    let (cluster, at) = (desk.seen_by(session), desk.now());
    let late =
        |_| format!("what this edit does takes longer than {} s to tell", PATIENCE.as_secs());
    let working = async {
        let place = desk.forecasts().acquire_owned().await;
        let working = tokio::task::spawn_blocking(move || {
            let editing = Editing::new(&cluster, &held.key, &held.live, &spec, at);
            // The place is free when the work has ended, not when somebody is tired of waiting for it.
            drop(place);
            editing
        });
        working.await.map_err(|error| error.to_string())
    };
    tokio::time::timeout(PATIENCE, working).await.map_err(late)?
}

/// Why the API server would not take an edit, if it would not: it judges, and keeps nothing.
async fn tried(desk: &Desk, session: &Session, editing: &Editing) -> Option<String> {
    let wrong = editing.judged.problems.iter().any(Problem::is_error);
    if wrong || !editing.differs() {
        return None;
    }
    let patch = Patch::merge(OWNER, &editing.change.patch).as_dry_run();
    let tried = desk.cluster_of(session).patch(&path(&editing.object), patch).await;
    tried.err().map(|error| format!("The API server would not take it: {}", error.told()))
}

/// Writes what was looked at, once.
async fn send(session: &Session, desk: &Desk, editing: &Editing) -> Result<(), CallError> {
    let patch = Patch::merge(OWNER, &editing.change.patch);
    desk.cluster_of(session).patch(&path(&editing.object), patch).await.map(drop)
}
