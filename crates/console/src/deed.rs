//! How does what somebody decides reach the cluster? With their own rights, after they saw it, once.
//!
//! Every form asks the API server first whether the person may (`SelfSubjectAccessReview`), tries the write without keeping it, and shows the
//! object and the way back (OVR-4). The write itself is the real check.

use api::{
    names,
    schema::{FREEZES, Kind as ApiKind, OVERRIDES},
};
use runtime::{
    call::CallError,
    key::{collection, path},
    path::{OWN_ACCESS_REVIEW, OWN_REVIEW},
};
use schedule::Instant;
use serde_json::{Value, json};
use tidegate_core::{
    document::key::{self, Key},
    policy::{
        freeze::{SeenFreeze, Selects},
        freezing::WantedFreeze,
        opening::WantedOverride,
        overrides::Layer,
    },
};
use views::{
    freezing,
    object::{Deed, Writing},
    opening,
};

use crate::{
    answer::Reply,
    asked::{Asked, Fields},
    desk::Desk,
    page::{
        Page,
        deeds::{self, Kind, Right},
    },
    route::What,
    session::Session,
    shown::whole,
    view::View,
};

/// Who is named as the owner of what people write here, as by the command.
pub(crate) const OWNER: &str = "tidegate";

fn kind(what: What) -> Kind {
    match what {
        What::Freeze => Kind::Freeze,
        What::Override => Kind::Override,
        _ => Kind::End,
    }
}

/// The form of a deed.
pub(crate) async fn form(desk: &Desk, session: &Session, what: What, asked: &Asked) -> Reply {
    desk.ask_the_time().await;
    let kind = kind(what);
    let object = asked.query.get("object").unwrap_or_default().to_owned();
    if kind == Kind::End {
        return match ending(desk, session, &object).await {
            Ok(writing) => {
                let right = right(
                    desk,
                    session,
                    "delete",
                    writing.object.kind(),
                    writing.object.namespace.as_deref(),
                )
                .await;
                let refused = match &right {
                    Right::Given => None,
                    Right::Missing(why) => Some(why.as_str()),
                };
                let uid = match &writing.deed {
                    Deed::Deleted { uid } => uid.clone(),
                    Deed::Made => String::new(),
                };
                let kept = [("object", object), ("uid", uid)];
                reply(desk, session, asked, |view| {
                    deeds::proposal(view, kind, &writing, None, refused, &kept)
                })
            }
            Err(why) => reply(desk, session, asked, |_| deeds::failed(&why, false)),
        };
    }
    let key = if object.is_empty() { Ok(None) } else { key::named(&object, None).map(Some) };
    let key = match key {
        Ok(key) => key,
        Err(why) => return reply(desk, session, asked, |_| deeds::failed(&why, false)),
    };
    let written = written_kind(kind, key.as_ref(), None);
    let namespace = key.as_ref().and_then(|key| key.namespace.clone());
    let right = right(desk, session, "create", written, namespace.as_deref()).await;
    reply(desk, session, asked, |view| {
        deeds::form(view, kind, key.as_ref(), &asked.query, None, &right)
    })
}

/// Does what a form says, in two steps.
pub(crate) async fn act(desk: &Desk, session: &Session, what: What, form: &Fields) -> Reply {
    desk.ask_the_time().await;
    let kind = kind(what);
    let asked = Asked::default();
    let meant = form.get("stage") == Some("do");
    if kind == Kind::End {
        let done = match ending(desk, session, form.get("object").unwrap_or_default()).await {
            Ok(writing) if !is_looked_at(&writing, form.get("uid")) => {
                let why = format!("{} is not the one that you looked at", writing.object);
                Err((why, true))
            }
            Ok(writing) => send(desk, session, &writing).await.map(|()| writing),
            Err(why) => Err((why, false)),
        };
        return finish(desk, session, &asked, &done);
    }
    let (writing, key) = desk.look(session, |view| {
        let object = form.get("object").map(|object| key::named(object, None)).transpose();
        let made = object.clone().and_then(|key| wanted(view, kind, key.as_ref(), form));
        (made, object.ok().flatten())
    });
    let (writing, kept) = match writing {
        Ok(made) => made,
        Err(why) => {
            return reply(desk, session, &asked, |view| {
                deeds::form(view, kind, key.as_ref(), form, Some(&why), &Right::Given)
            });
        }
    };
    if meant {
        let done = send(desk, session, &writing).await.map(|()| writing);
        return finish(desk, session, &asked, &done);
    }
    let refused = tried(desk, session, &writing).await;
    reply(desk, session, &asked, |view| {
        let selected = (kind == Kind::Freeze).then(|| selected(view, &writing));
        deeds::proposal(view, kind, &writing, selected, refused.as_deref(), &kept)
    })
}

fn finish(
    desk: &Desk,
    session: &Session,
    asked: &Asked,
    done: &Result<Writing, (String, bool)>,
) -> Reply {
    reply(desk, session, asked, |_| match done {
        Ok(writing) => deeds::done(writing),
        Err((why, conflict)) => deeds::failed(why, *conflict),
    })
}

fn reply(
    desk: &Desk,
    session: &Session,
    asked: &Asked,
    page: impl FnOnce(&View<'_>) -> Page,
) -> Reply {
    desk.look(session, |view| whole(view, asked, page(view)))
}

/// The kind of what a deed writes.
fn written_kind(kind: Kind, key: Option<&Key>, scope: Option<&str>) -> &'static ApiKind {
    use api::kinds;
    let in_namespace = scope.is_some() || key.is_some_and(|key| key.namespace.is_some());
    match (kind, in_namespace) {
        (Kind::Freeze, true) => &kinds::CHANGE_FREEZE,
        (Kind::Freeze, false) => &kinds::CLUSTER_CHANGE_FREEZE,
        (Kind::Override | Kind::End, true) => &kinds::CHANGE_OVERRIDE,
        (Kind::Override | Kind::End, false) => &kinds::CLUSTER_CHANGE_OVERRIDE,
    }
}

/// Fields that say again what was shown.
type Kept = Vec<(&'static str, String)>;

/// What a form asks to have written, and the fields that say the same again: with the name and the end that were shown, so that what is sent is
/// what was looked at.
fn wanted(
    view: &View<'_>,
    kind: Kind,
    key: Option<&Key>,
    form: &Fields,
) -> Result<(Writing, Kept), String> {
    let now = view.at;
    let shown =
        form.get("ends").map(|ends| Instant::parse(ends).map_err(|error| error.to_string()));
    let until = match shown.transpose()? {
        Some(shown) => Some(shown),
        None if form.get("endless").is_some() => None,
        None => deeds::ends(view, form)?,
    };
    let reason = form.get("reason").unwrap_or_default();
    let scope = form.get("scope");
    let stem = match kind {
        Kind::Freeze => "freeze",
        Kind::Override | Kind::End => "override",
    };
    let name = form.get("name").map_or_else(|| freezing::stamped(stem, now), str::to_owned);
    let mut kept: Kept = vec![("reason", reason.to_owned()), ("name", name.clone())];
    kept.extend(key.map(|key| ("object", crate::asked::called(key))));
    kept.extend(scope.map(|scope| ("scope", scope.to_owned())));
    kept.push(match until {
        Some(until) => ("ends", until.to_string()),
        None => ("endless", "yes".to_owned()),
    });
    let writing = match (kind, key) {
        (Kind::Freeze, key) => {
            let alone = key.filter(|key| deeds::holds_alone(key));
            let namespace = match (alone, key) {
                (Some(_), _) => None,
                (None, Some(key)) => key.namespace.as_deref(),
                (None, None) => scope,
            };
            let wanted = WantedFreeze {
                namespace,
                name: &name,
                from: None,
                until,
                reason,
                by: None,
                holds: None,
            };
            match alone {
                Some(key) => freezing::hold(view.snapshot, key, &wanted, now)?,
                None => freezing::freeze(&wanted, now)?,
            }
        }
        (Kind::Override | Kind::End, None) => {
            return Err("object: name a resource, such as mcp/worker".into());
        }
        (Kind::Override | Kind::End, Some(target)) => {
            let until = until.ok_or("until: an override ends by itself")?;
            let (layer, ticket, only, by) = (Layer::Team, None, None, None);
            let wanted =
                WantedOverride { target, layer, name: &name, until, reason, ticket, only, by };
            opening::open(view.snapshot, &wanted, now)?
        }
    };
    Ok((writing, kept))
}

/// How many resources a freeze would select.
fn selected(view: &View<'_>, writing: &Writing) -> usize {
    let freeze = SeenFreeze::new(writing.object.kind(), &writing.document);
    let selects = |key: &Key| {
        let Some(seen) = view.snapshot.resource(key) else { return false };
        let labels = key.namespace.as_deref().and_then(|name| view.snapshot.namespace(name));
        freeze.selects(key, seen.gate.as_deref(), labels) != Selects::No
    };
    view.rows.resources.iter().filter(|row| selects(&row.object)).count()
}

/// The freeze or the override that somebody wants to end.
async fn ending(desk: &Desk, session: &Session, object: &str) -> Result<Writing, String> {
    let parts: Vec<&str> = object.split('/').collect();
    let (kind, namespace, name) = match parts.as_slice() {
        [kind, name] => (*kind, None, *name),
        [kind, namespace, name] => (*kind, Some(*namespace), *name),
        _ => return Err(format!("{object:?} is no freeze and no override")),
    };
    let of = |kinds: &'static [ApiKind]| kinds.iter().find(|known| known.short_name == kind);
    let (known, freezes) = match (of(FREEZES), of(OVERRIDES)) {
        (Some(known), _) => (known, true),
        (None, Some(known)) => (known, false),
        (None, None) => return Err(format!("{object:?} is no freeze and no override")),
    };
    let key = Key::new(known, namespace, name);
    let found: Value = desk
        .cluster_of(session)
        .get(&path(&key))
        .await
        .map_err(|error| format!("cannot read {key}: {}", error.told()))?;
    Ok(if freezes { freezing::thaw(key, &found) } else { opening::ended(key, &found) })
}

/// Whether what would be taken away is the very object that was shown: another of the same name may hold for another reason.
fn is_looked_at(writing: &Writing, shown: Option<&str>) -> bool {
    matches!(&writing.deed, Deed::Deleted { uid } if shown == Some(uid.as_str()))
}

/// Whether the person may do something, as the API server says.
pub(crate) async fn right(
    desk: &Desk,
    session: &Session,
    verb: &str,
    kind: &ApiKind,
    namespace: Option<&str>,
) -> Right {
    let resource = names::plural(kind.name);
    let mut attributes = json!({"verb": verb, "group": kind.group(), "resource": resource});
    if let Some(namespace) = namespace {
        attributes["namespace"] = json!(namespace);
    }
    let review = json!({"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview",
        "spec": {"resourceAttributes": attributes}});
    let asked = desk.cluster_of(session).create(&OWN_ACCESS_REVIEW.collection(None), &review).await;
    match asked {
        Ok(answer) if answer.pointer("/status/allowed") == Some(&Value::Bool(true)) => Right::Given,
        Ok(_) => {
            let who = who(desk, session)
                .await
                .map_or_else(String::new, |who| format!(" (asked as {who})"));
            Right::Missing(format!("You may not {verb} {resource}.{who}"))
        }
        // The write itself is the real check.
        Err(_) => Right::Given,
    }
}

/// Who the API server takes the person for, if it says.
async fn who(desk: &Desk, session: &Session) -> Option<String> {
    let review = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"});
    let answer =
        desk.cluster_of(session).create(&OWN_REVIEW.collection(None), &review).await.ok()?;
    answer.pointer("/status/userInfo/username")?.as_str().map(str::to_owned)
}

/// Why the API server would not take what would be written, if it would not: it judges, and keeps nothing.
async fn tried(desk: &Desk, session: &Session, writing: &Writing) -> Option<String> {
    let all = collection(writing.object.kind(), writing.object.namespace.as_deref());
    let all = format!("{all}?dryRun=All&fieldManager={OWNER}");
    let answer = desk.cluster_of(session).create(&all, &writing.document).await;
    answer.err().map(|error| format!("The API server would not take it: {}", error.told()))
}

/// Writes what was looked at, once; why not, and whether somebody was faster.
async fn send(desk: &Desk, session: &Session, writing: &Writing) -> Result<(), (String, bool)> {
    let (key, cluster) = (&writing.object, desk.cluster_of(session));
    let sent: Result<Value, CallError> = match &writing.deed {
        Deed::Made => {
            let all = collection(key.kind(), key.namespace.as_deref());
            cluster.create_as(OWNER, &all, &writing.document).await
        }
        Deed::Deleted { uid } => {
            cluster.delete(&path(key), &json!({"preconditions": {"uid": uid}})).await
        }
    };
    sent.map(drop).map_err(|error| (format!("{key}: {}", error.told()), error.code() == Some(409)))
}
