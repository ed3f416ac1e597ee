//! Which verb answers a request?

use std::sync::Arc;

use bytes::Bytes;
use http::{Method, Response, StatusCode, header};
use serde_json::json;

use crate::{
    body::Body,
    call::{Answer, Call, Incoming, User, json_response, refusal_response},
    controllers, discovery,
    fault::Distortion,
    impersonate, openapi,
    path::{self, ResourcePath, Target},
    query::Query,
    render::Render,
    reviews,
    server::{Controllers, Inner, State},
    status::{Refusal, SERVER_NAME},
    verbs::{advance::Scope, create, delete, evict, read, update},
};

/// The largest body that is read, as on the real server.
pub(crate) const BODY_LIMIT: usize = 3 * 1024 * 1024;

/// Whether a real server has a subresource that this one has not: only there is it named as the reason.
fn is_left_out(kind: &str, subresource: &str) -> bool {
    let of_pods =
        ["attach", "ephemeralcontainers", "exec", "log", "portforward", "proxy", "resize"];
    kind == "pods" && of_pods.contains(&subresource)
        || matches!((kind, subresource), ("nodes", "proxy") | ("serviceaccounts", "token"))
}

/// Answers one request.
pub(crate) fn answer(
    inner: &Arc<Inner>,
    incoming: Incoming,
    user: User,
    distortion: Distortion,
) -> Response<Body> {
    let mut state = inner.lock();
    state.faults.distort(distortion);
    state.trace.request(&incoming);
    let response =
        route(inner, &mut state, incoming, user).unwrap_or_else(|r| refusal_response(&r));
    if inner.settings.controllers == Controllers::Prompt {
        controllers::settle(inner, &mut state);
    } else {
        controllers::settle_definitions(inner, &mut state);
    }
    state.trace.response(response.status(), response.body());
    response
}

fn route(inner: &Arc<Inner>, state: &mut State, incoming: Incoming, user: User) -> Answer {
    if incoming.body.len() > BODY_LIMIT {
        let message = format!("Request entity too large: limit is {BODY_LIMIT}");
        return Err(Refusal::new(413, "RequestEntityTooLarge", message));
    }
    let user = impersonate::speaker(&incoming.headers, user)?;
    let query = Query::parse(incoming.uri.query()).of_method(&incoming.method);
    match path::parse(incoming.uri.path()) {
        Target::Document(segments) => document(state, &incoming, &segments),
        Target::Resource(path) if reviews::is_review(&path) => {
            reviews::answer(&incoming, &path, &user)
        }
        Target::Resource(path) if is_empty_list(&incoming.method, &path) => {
            let kind = if path.resource == "limitranges" { "LimitRange" } else { "ResourceQuota" };
            let version = state.store.version().to_string();
            let list = json!({"kind": format!("{kind}List"), "apiVersion": "v1",
                "metadata": {"resourceVersion": version}, "items": []});
            Ok(json_response(StatusCode::OK, Bytes::from(list.to_string())))
        }
        Target::Resource(path) => {
            let kind = state
                .registry
                .find(&path.group, &path.version, &path.resource)
                .ok_or_else(|| unknown(&path))?;
            let render = Render::negotiate(incoming.header(header::ACCEPT), &query)?;
            let now = inner.now();
            let mut call = Call {
                inner,
                state,
                kind,
                path,
                query,
                render,
                incoming,
                now,
                user,
                warnings: Vec::new(),
            };
            // Warnings go out with refusals too.
            let answer = resource(&mut call);
            Ok(answer.unwrap_or_else(|refusal| call.warn(refusal_response(&refusal))))
        }
    }
}

/// There are no limits here and none can be made; to say so is true, and kubectl asks when it describes a namespace.
fn is_empty_list(method: &Method, path: &ResourcePath) -> bool {
    *method == Method::GET
        && (path.group.as_str(), path.version.as_str()) == ("", "v1")
        && matches!(path.resource.as_str(), "limitranges" | "resourcequotas")
        && path.name.is_none()
}

/// Kinds and versions that are not served: said in the server's own name, because a real cluster may well have them.
fn unknown(path: &ResourcePath) -> Refusal {
    if !is_standard(&path.group) {
        return Refusal::no_such_page();
    }
    if path.group.is_empty() && !LEFT_OUT.contains(&path.resource.as_str()) {
        return Refusal::no_such_path();
    }
    let version = crate::registry::api_version(&path.group, &path.version);
    Refusal::new(
        404,
        "NotFound",
        format!("the server could not find the requested resource: {SERVER_NAME} does not serve {:?} in {version:?}", path.resource),
    )
    .with_details(json!({}))
}

/// What a full server has in its core group and this one has not.
const LEFT_OUT: [&str; 10] = [
    "bindings",
    "componentstatuses",
    "endpoints",
    "limitranges",
    "persistentvolumeclaims",
    "persistentvolumes",
    "podtemplates",
    "replicationcontrollers",
    "resourcequotas",
    "services",
];

/// Groups of Kubernetes itself, which a full server may serve where this one does not.
pub(crate) fn is_standard(group: &str) -> bool {
    !group.contains('.') || group.ends_with(".k8s.io")
}

fn resource(call: &mut Call<'_>) -> Answer {
    let custom = call.kind.is_custom();
    let method = match call.incoming.method.clone() {
        // Custom kinds are served by one function that asks for the verb, and the verb of HEAD is get.
        Method::HEAD if custom => Method::GET,
        method => method,
    };
    if call.path.namespace.as_deref() == Some("") {
        // Nothing between two slashes is every namespace.
        call.path.namespace = None;
        if method == Method::DELETE && !custom {
            return Err(Refusal::bad_request("namespace must be provided"));
        }
    }
    refuse_dots(call)?;
    let scoped = call.path.namespace.is_some();
    if custom
        && call.path.name.is_none()
        && method == Method::POST
        && scoped != call.kind.ty.namespaced
        || custom
            && call.path.name.is_none()
            && method == Method::DELETE
            && scoped != call.kind.ty.namespaced
    {
        return Err(Refusal::no_such_page());
    }
    // A namespaced kind has no objects outside a namespace, and the other way round.
    if call.path.name.is_some() && scoped != call.kind.ty.namespaced
        || scoped && !call.kind.ty.namespaced
    {
        return Err(if custom { Refusal::no_such_page() } else { Refusal::no_such_path() });
    }
    let sub = call.path.subresource.clone();
    match (method, call.path.name.is_some(), sub.as_deref()) {
        (Method::GET, false, None) => read::list_or_watch(call),
        (Method::POST, false, None) => create::create(call),
        (Method::DELETE, false, None) => delete::collection(call),
        (Method::GET, true, None) if call.query.flag("watch") => read::list_or_watch(call),
        (Method::GET, true, None) => read::get(call),
        (Method::PUT, true, None) => update::replace(call, Scope::Main),
        (Method::PATCH, true, None) => update::patch(call, Scope::Main),
        (Method::DELETE, true, None) => delete::one(call),
        (method, true, Some("status")) if call.kind.version.status => match method {
            Method::GET => read::get(call),
            Method::PUT => update::replace(call, Scope::Status),
            Method::PATCH => update::patch(call, Scope::Status),
            Method::POST if custom => Err(unsupported_verb(call, "create")),
            Method::DELETE if custom => Err(unsupported_verb(call, "delete")),
            _ => Err(Refusal::method_not_allowed()),
        },
        (Method::POST, true, None) if custom => create::create(call),
        (Method::PUT | Method::PATCH, false, None) if custom => {
            Err(Refusal::bad_request("name must be provided"))
        }
        (Method::POST, true, Some("eviction")) if &*call.kind.ty.shelf == "pods" => {
            evict::evict(call)
        }
        (Method::POST, true, Some("binding")) if &*call.kind.ty.shelf == "pods" => {
            evict::bind(call)
        }
        (Method::PUT, true, Some("finalize")) if &*call.kind.ty.shelf == "namespaces" => {
            update::replace(call, Scope::Finalize)
        }
        (Method::DELETE, true, Some(sub)) if custom && sub.starts_with("status/") => {
            Err(unsupported_verb(call, "delete"))
        }
        (_, true, Some(_)) if custom => {
            let name = call.path.name.clone().unwrap_or_default();
            Err(call.not_found(&name))
        }
        (_, true, Some(sub))
            if !is_left_out(&call.kind.ty.plural, sub.split('/').next().unwrap_or(sub)) =>
        {
            Err(Refusal::no_such_path())
        }
        (_, true, Some(sub)) => {
            let what = format!("the subresource {sub:?} of {}", call.kind.ty.qualified());
            let mut refusal = Refusal::unsupported(404, "NotFound", &what);
            refusal.message =
                format!("the server could not find the requested resource: {}", refusal.message);
            Err(refusal)
        }
        _ => Err(Refusal::method_not_allowed()),
    }
}

/// Names that would lead elsewhere if a path were a place in a file system.
fn refuse_dots(call: &Call<'_>) -> Result<(), Refusal> {
    let path = &call.path;
    if !call.kind.ty.namespaced && path.namespace.is_some()
        || path.subresource.as_ref().is_some_and(|sub| sub != "status")
    {
        return Ok(());
    }
    let dots = |name: &Option<String>| name.clone().filter(|n| matches!(n.as_str(), "." | ".."));
    if let Some(namespace) = dots(&path.namespace) {
        return Err(Refusal::internal(format!(
            "invalid namespace {namespace:?}: may not be '{namespace}'"
        )));
    }
    if let Some(name) = dots(&path.name) {
        let why = format!("Name parameter invalid: {name:?}: may not be '{name}'");
        return Err(Refusal::bad_request(why));
    }
    Ok(())
}

fn unsupported_verb(call: &Call<'_>, verb: &str) -> Refusal {
    Refusal::verb_not_supported(verb, &call.kind.ty.plural, &call.kind.ty.group)
}

fn document(state: &State, incoming: &Incoming, segments: &[String]) -> Answer {
    let parts: Vec<&str> = segments.iter().map(String::as_str).collect();
    let found = found_document(state, incoming, &parts)?;
    match parts.as_slice() {
        // Read by whatever method.
        ["healthz" | "readyz" | "livez", ..] | ["apis"] => Ok(found),
        _ if incoming.method == Method::GET => Ok(found),
        _ => Err(Refusal::method_not_allowed()),
    }
}

fn found_document(state: &State, incoming: &Incoming, parts: &[&str]) -> Answer {
    match parts {
        ["version"] => {
            let version = json!({"major": "1", "minor": "36", "gitVersion": "v1.36.0+tidegate-embedded",
                "gitCommit": "", "gitTreeState": "clean", "buildDate": "1970-01-01T00:00:00Z",
                "goVersion": "none", "compiler": "rustc", "platform": "embedded"});
            Ok(json_response(StatusCode::OK, Bytes::from(version.to_string())))
        }
        ["healthz" | "readyz" | "livez", ..] => {
            let mut response = Response::new(Body::whole("ok"));
            let plain = header::HeaderValue::from_static("text/plain; charset=utf-8");
            response.headers_mut().insert(header::CONTENT_TYPE, plain);
            Ok(response)
        }
        ["openapi", "v3"] => Ok(openapi::index(&state.registry)),
        ["openapi", "v3", rest @ ..] if !rest.contains(&"..") => {
            openapi::document(&state.registry, rest)
        }
        ["openapi", "v2"] => {
            Err(Refusal::unsupported(406, "NotAcceptable", "OpenAPI v2; use /openapi/v3"))
        }
        // Below these the real server looks for routes, and says so in its own form when there is none.
        ["api", "..", ..] | ["version", ..] => Err(Refusal::no_such_path()),
        ["apis", "", ..] => Err(Refusal::no_such_page()),
        ["api" | "apis"] | ["api" | "apis", ..] => {
            discovery::answer(&state.registry, incoming, parts)
        }
        [] => Ok(discovery::paths(&state.registry)),
        _ => Err(Refusal::no_such_page()),
    }
}
