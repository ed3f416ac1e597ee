//! get, list, watch.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
    time::Duration,
};

use bytes::Bytes;
use http::StatusCode;
use serde_json::{Value, json};

use crate::{
    call::{Answer, Call, json_response},
    render::{Form, presented},
    selector::{Fields, Labels, Selector},
    status::{Cause, Refusal},
    store::{Happening, Key, Stored, parse},
    watch::{self, Watch},
};

/// One object.
pub(crate) fn get(call: &mut Call<'_>) -> Answer {
    let latest = call.state.store.version();
    if let Some(future) = call.query.moment()?.filter(|version| *version > latest) {
        return Err(too_large(future, latest));
    }
    let stored = call.existing()?;
    Ok(call.reply(StatusCode::OK, &stored.bytes))
}

/// The selectors of the request.
pub(crate) fn selector(call: &Call<'_>) -> Result<Selector, Refusal> {
    let labels = Labels::parse(call.query.get("labelSelector").unwrap_or_default())?;
    let mut text = call.query.get("fieldSelector").unwrap_or_default().to_owned();
    if let Some(name) = &call.path.name {
        // A watch on one object is a watch on its collection that selects its name.
        text = if text.is_empty() {
            format!("metadata.name={name}")
        } else {
            format!("{text},metadata.name={name}")
        };
    }
    Ok(Selector { labels, fields: Fields::parse(&text, &call.kind)? })
}

pub(crate) fn list_or_watch(call: &mut Call<'_>) -> Answer {
    let selector = selector(call)?;
    if call.query.flag("watch") { watch(call, selector) } else { list(call, &selector) }
}

/// The bytes of all objects that the request selects, in order.
pub(crate) fn selected(call: &Call<'_>, selector: &Selector) -> Vec<(Key, Stored)> {
    let Some(shelf) = call.state.store.shelf(&call.kind.ty.shelf) else {
        return Vec::new();
    };
    choose(call, selector, shelf.objects.iter(), None)
}

fn choose<'a>(
    call: &Call<'_>,
    selector: &Selector,
    objects: impl Iterator<Item = (&'a Key, &'a Stored)>,
    after: Option<&Key>,
) -> Vec<(Key, Stored)> {
    let namespace = call.path.namespace.as_deref();
    objects
        .filter(|(key, _)| namespace.is_none_or(|ns| ns == key.0))
        .filter(|(key, _)| after.is_none_or(|a| *key > a))
        .filter(|(key, _)| selector.fields.name().is_none_or(|n| n == key.1))
        .filter(|(_, stored)| {
            selector.is_everything() || selector.matches(&presented(&call.kind, stored.value()))
        })
        .map(|(key, stored)| (key.clone(), stored.clone()))
        .collect()
}

fn list(call: &mut Call<'_>, selector: &Selector) -> Answer {
    // A negative limit is none.
    let limit = call.query.number("limit")?.map_or(0, |l| usize::try_from(l).unwrap_or(0));
    call.query.number("timeoutSeconds")?;
    if call.query.flag("sendInitialEvents") {
        let cause =
            Cause::forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list");
        return Err(Refusal::options("ListOptions", &cause));
    }
    let asked = call.query.resource_version()?;
    let exact = match call.query.get("resourceVersionMatch") {
        None | Some("NotOlderThan") => false,
        Some("Exact") => true,
        Some(other) => {
            let shown = format!("{other:?}");
            let cause = Cause::not_supported(
                "resourceVersionMatch",
                &shown,
                &["Exact", "NotOlderThan", ""],
            );
            return Err(Refusal::options("ListOptions", &cause));
        }
    };
    let has_match = call.query.get("resourceVersionMatch").is_some();
    if has_match && asked.is_none() {
        let cause = Cause::forbidden(
            "resourceVersionMatch",
            "resourceVersionMatch is forbidden unless resourceVersion is provided",
        );
        return Err(Refusal::options("ListOptions", &cause));
    }
    if exact && asked == Some(0) {
        let cause = Cause::forbidden(
            "resourceVersionMatch",
            "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"",
        );
        return Err(Refusal::options("ListOptions", &cause));
    }
    let latest = call.state.store.version();
    let (version, after) = match call.query.get("continue") {
        Some(token) => {
            if asked.is_some_and(|v| v != 0) {
                let text = "specifying resource version is not allowed when using continue";
                return Err(Refusal::bad_request(text));
            }
            let (version, key) = read_token(token)?;
            (version, Some(key))
        }
        None if exact => (asked.unwrap_or(latest), None),
        None => {
            if let Some(future) = asked.filter(|v| *v > latest) {
                return Err(too_large(future, latest));
            }
            (call.state.faults.stale_list(latest), None)
        }
    };
    if version > latest {
        return Err(too_large(version, latest));
    }
    let found = if version == latest {
        match call.state.store.shelf(&call.kind.ty.shelf) {
            Some(shelf) => choose(call, selector, shelf.objects.iter(), after.as_ref()),
            None => Vec::new(),
        }
    } else {
        let shelf = call.state.store.shelf(&call.kind.ty.shelf);
        let past = match shelf {
            None => BTreeMap::default(),
            Some(shelf) => shelf.at_version(version).ok_or_else(|| {
                Refusal::expired(if after.is_some() {
                    "The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter."
                } else {
                    "The resourceVersion for the provided list is too old."
                })
            })?,
        };
        choose(call, selector, past.iter(), after.as_ref())
    };
    let mut about = json!({"resourceVersion": version.to_string()});
    if call.kind.is_custom() && call.render.form == Form::Plain {
        about["continue"] = "".into();
    }
    let shown = if limit > 0 && found.len() > limit { limit } else { found.len() };
    if shown < found.len()
        && let (Some(map), Some((last, _))) = (about.as_object_mut(), found.get(shown - 1))
    {
        map.insert("continue".into(), write_token(version, last).into());
        if selector.is_everything() {
            map.insert("remainingItemCount".into(), (found.len() - shown).into());
        }
    }
    let items: Vec<Stored> = found.into_iter().take(shown).map(|(_, stored)| stored).collect();
    let bytes = call.render.list(&call.kind, &items, &about, call.now);
    Ok(call.respond(StatusCode::OK, bytes))
}

fn too_large(asked: u64, latest: u64) -> Refusal {
    Refusal::new(504, "Timeout", format!("Timeout: Too large resource version: {asked}, current: {latest}"))
        .with_details(json!({"causes": [{"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}]}))
        .with_retry_after(1)
}

/// Where the next page begins. The token is opaque to clients; it names the version, so that pages agree.
fn write_token(version: u64, (namespace, name): &Key) -> String {
    let plain =
        json!({"v": "meta.k8s.io/v1", "rv": version, "ns": namespace, "name": name}).to_string();
    crate::base64::encode(plain.as_bytes()).trim_end_matches('=').to_owned()
}

fn read_token(token: &str) -> Result<(u64, Key), Refusal> {
    let refuse = || {
        Refusal::bad_request(
            "invalid continue token: continue key is not valid: encoding is not valid",
        )
    };
    let plain = crate::base64::decode(token).ok_or_else(refuse)?;
    let value: Value = serde_json::from_slice(&plain).map_err(|_| refuse())?;
    let text = |key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let version = value.get("rv").and_then(Value::as_u64).ok_or_else(refuse)?;
    Ok((version, (text("ns"), text("name"))))
}

fn watch(call: &mut Call<'_>, selector: Selector) -> Answer {
    let asked = call.query.moment()?;
    let initial = call.query.flag("sendInitialEvents");
    let bookmarks = call.query.flag("allowWatchBookmarks");
    if call.query.has("sendInitialEvents") {
        if call.query.get("resourceVersionMatch") != Some("NotOlderThan") {
            let cause = Cause::forbidden(
                "resourceVersionMatch",
                "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan",
            );
            return Err(Refusal::options("ListOptions", &cause));
        }
    } else if call.query.get("resourceVersionMatch").is_some() {
        let cause = Cause::forbidden(
            "resourceVersionMatch",
            "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided",
        );
        return Err(Refusal::options("ListOptions", &cause));
    }
    let latest = call.state.store.version();
    let mut opening = VecDeque::new();
    let from = match asked {
        // From nowhere in particular: everything that exists comes first.
        None | Some(0) => {
            tell_existing(call, &selector, &mut opening);
            latest
        }
        Some(_) if initial => {
            tell_existing(call, &selector, &mut opening);
            latest
        }
        // If that is too long ago, the stream says so itself.
        Some(version) => version,
    };
    if initial && bookmarks {
        let end = call.render.bookmark(&call.kind, latest, true);
        opening.push_back(end);
    }
    let settings = &call.inner.settings;
    let wished = call.query.number("timeoutSeconds")?.and_then(|s| u64::try_from(s).ok());
    let wished = wished.map(Duration::from_secs).filter(|d| !d.is_zero());
    let timeout = settings.watch_limit.map(|limit| wished.map_or(limit, |w| w.min(limit)));
    let every = settings.bookmarks.filter(|_| bookmarks);
    call.state.watchers += 1;
    let request = watch::Request {
        kind: call.kind.clone(),
        namespace: call.path.namespace.clone(),
        selector,
        render: call.render.clone(),
        from,
        opening,
        timeout,
        bookmarks: every,
        ailment: call.state.faults.watch_ailment(),
    };
    let stream = Watch::new(Arc::clone(call.inner), call.state.watchers, request);
    let mut response = json_response(StatusCode::OK, Bytes::new());
    *response.body_mut() = crate::body::Body::watch(stream);
    Ok(response)
}

fn tell_existing(call: &mut Call<'_>, selector: &Selector, opening: &mut VecDeque<Bytes>) {
    for (_, stored) in selected(call, selector) {
        debug_assert!(parse(&stored.bytes).is_object(), "stored bytes are JSON objects");
        let line = call.render.event(Happening::Added, &call.kind, &stored.bytes, call.now);
        opening.push_back(line);
    }
}
