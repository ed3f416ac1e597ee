//! One request, taken apart: where it goes, what it carries, and what it may be told beside the answer.

use std::{collections::BTreeMap, sync::Arc};

use bytes::Bytes;
use http::{HeaderMap, Method, Response, StatusCode, Uri, header, request};
use jiff::Timestamp;
use k8s_openapi::api::authentication::v1::UserInfo;
use serde_json::{Value, json};

use crate::{
    body::Body,
    path::ResourcePath,
    query::Query,
    registry::Resolved,
    render::Render,
    server::{Inner, State},
    status::Refusal,
    store::{Key, Stored},
};

/// A request in the form that the front doors hand in.
#[derive(Debug, Clone)]
pub(crate) struct Incoming {
    pub(crate) method: Method,
    pub(crate) uri: Uri,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Incoming {
    pub(crate) fn of(parts: request::Parts, body: Bytes) -> Self {
        Self { method: parts.method, uri: parts.uri, headers: parts.headers, body }
    }

    pub(crate) fn header(&self, name: header::HeaderName) -> &str {
        self.headers.get(name).and_then(|v| v.to_str().ok()).unwrap_or_default()
    }

    /// The media type of the body, without parameters.
    pub(crate) fn content_type(&self) -> &str {
        self.header(header::CONTENT_TYPE).split(';').next().unwrap_or_default().trim()
    }
}

/// Who speaks; there is no authentication on loopback, so it is what the client says of itself.
#[derive(Debug, Clone)]
pub(crate) struct User {
    pub(crate) name: String,
    pub(crate) groups: Vec<String>,
    /// What else its credentials say, as on which node the pod of a token runs.
    pub(crate) extra: BTreeMap<String, Vec<String>>,
}

impl User {
    /// As policies, hooks and reviews are shown it; what is empty is absent.
    pub(crate) fn shown(&self) -> UserInfo {
        UserInfo {
            username: Some(self.name.clone()),
            groups: Some(self.groups.clone()),
            extra: Some(self.extra.clone()).filter(|extra| !extra.is_empty()),
            ..UserInfo::default()
        }
    }
}

/// A request to a resource, with the state locked.
pub(crate) struct Call<'a> {
    pub(crate) inner: &'a Arc<Inner>,
    pub(crate) state: &'a mut State,
    pub(crate) kind: Resolved,
    pub(crate) path: ResourcePath,
    pub(crate) query: Query,
    pub(crate) render: Render,
    pub(crate) incoming: Incoming,
    pub(crate) now: Timestamp,
    pub(crate) user: User,
    pub(crate) warnings: Vec<String>,
}

pub(crate) type Answer = Result<Response<Body>, Refusal>;

impl<'a> Call<'a> {
    /// The deletion of an object by one of the cluster's own controllers.
    pub(crate) fn of_controller(
        inner: &'a Arc<Inner>,
        state: &'a mut State,
        kind: Resolved,
        (namespace, name): &Key,
        user: User,
    ) -> Self {
        let path = ResourcePath {
            group: kind.ty.group.clone(),
            version: kind.version.name.clone(),
            namespace: Some(namespace.clone()).filter(|n| !n.is_empty()),
            resource: kind.ty.plural.clone(),
            name: Some(name.clone()),
            subresource: None,
        };
        let incoming = Incoming {
            method: Method::DELETE,
            uri: Uri::default(),
            headers: HeaderMap::new(),
            body: Bytes::new(),
        };
        let query = Query::parse(None).of_method(&Method::DELETE);
        let (render, now, warnings) = (Render::default(), inner.now(), Vec::new());
        Self { inner, state, kind, path, query, render, incoming, now, user, warnings }
    }
}

impl Call<'_> {
    pub(crate) fn key(&self) -> Key {
        let namespace = self.path.namespace.clone().unwrap_or_default();
        (namespace, self.path.name.clone().unwrap_or_default())
    }

    /// The named object, or 404.
    pub(crate) fn existing(&self) -> Result<Stored, Refusal> {
        let key = self.key();
        self.state
            .store
            .get(&self.kind.ty.shelf, &key)
            .cloned()
            .ok_or_else(|| self.not_found(&key.1))
    }

    pub(crate) fn not_found(&self, name: &str) -> Refusal {
        Refusal::not_found(&self.kind.ty.plural, &self.kind.ty.group, name)
    }

    pub(crate) fn stamp(&self) -> String {
        crate::clock::rfc3339_seconds(self.now)
    }

    /// Answers with one stored object.
    pub(crate) fn reply(&mut self, code: StatusCode, bytes: &Bytes) -> Response<Body> {
        let bytes = self.render.object(&self.kind, bytes, self.now);
        self.respond(code, bytes)
    }

    pub(crate) fn respond(&mut self, code: StatusCode, bytes: Bytes) -> Response<Body> {
        if let Some(warning) = &self.kind.version.deprecation {
            self.warnings.push(warning.clone());
        }
        self.warn(json_response(code, bytes))
    }

    /// Adds the warnings of the request to its response.
    pub(crate) fn warn(&mut self, mut response: Response<Body>) -> Response<Body> {
        for warning in std::mem::take(&mut self.warnings) {
            let text = format!("299 - {}", Value::from(warning));
            if let Ok(value) = header::HeaderValue::from_str(&text) {
                response.headers_mut().append(header::WARNING, value);
            }
        }
        response
    }

    /// `{"status":"Success"}` with what was done to whom.
    pub(crate) fn success(&mut self, code: StatusCode, name: &str, uid: &str) -> Response<Body> {
        let mut details = crate::status::details(name, &self.kind.ty.group, &self.kind.ty.plural);
        if let Some(map) = details.as_object_mut()
            && !uid.is_empty()
        {
            map.insert("uid".into(), uid.into());
        }
        let status = json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details});
        self.respond(code, Bytes::from(status.to_string()))
    }

    /// Who is recorded as the owner of the fields that this request writes.
    pub(crate) fn manager(&self) -> Result<String, Refusal> {
        if let Some(name) = self.query.get("fieldManager") {
            if name.len() > 128 {
                return Err(Refusal::new(
                    422,
                    "Invalid",
                    format!(
                        " \"\" is invalid: fieldManager: Invalid value: \"{name}\": may not be more than 128 bytes"
                    ),
                ));
            }
            if name.chars().any(char::is_control) {
                return Err(Refusal::new(
                    422,
                    "Invalid",
                    format!(
                        " \"\" is invalid: fieldManager: Invalid value: {name:?}: should only contain printable characters"
                    ),
                ));
            }
            return Ok(name.to_owned());
        }
        let agent = self.incoming.header(header::USER_AGENT);
        let product = agent.split('/').next().unwrap_or_default();
        // A client without a name is nobody in particular.
        let product = if product.is_empty() { "unknown" } else { product };
        Ok(product.chars().take(128).collect())
    }
}

pub(crate) fn json_response(code: StatusCode, bytes: Bytes) -> Response<Body> {
    let mut response = Response::new(Body::whole(bytes));
    *response.status_mut() = code;
    let json = header::HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, json);
    response
}

/// The response that says no.
pub(crate) fn refusal_response(refusal: &Refusal) -> Response<Body> {
    let code = StatusCode::from_u16(refusal.code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = json_response(code, Bytes::from(refusal.to_value().to_string()));
    if refusal.is_page() {
        response = Response::new(Body::whole(format!("{}\n", refusal.message)));
        *response.status_mut() = code;
        let plain = header::HeaderValue::from_static("text/plain; charset=utf-8");
        response.headers_mut().insert(header::CONTENT_TYPE, plain);
    }
    if let Some(seconds) = refusal.retry_after() {
        response.headers_mut().insert(header::RETRY_AFTER, seconds.into());
    }
    response
}
