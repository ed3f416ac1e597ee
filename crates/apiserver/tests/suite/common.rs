//! What the suites share: a server with one custom kind, and a way to ask it.

use apiserver::{Server, SetClock, Settings};
use http::Method;
use serde_json::{Value, json};

/// The instant at which every test begins.
pub(crate) const START: &str = "2026-03-01T12:00:00Z";

/// A definition with a status, expressions, defaults and a keyed list.
pub(crate) fn widget_definition() -> Value {
    let spec = json!({
        "type": "object", "required": ["size"],
        "x-kubernetes-validations": [{"rule": "self.size <= self.max", "message": "size must not exceed max"}],
        "properties": {
            "size": {"type": "integer", "minimum": 0},
            "max": {"type": "integer", "default": 10},
            "color": {"type": "string", "enum": ["red", "green"]},
            "mode": {"type": "string", "x-kubernetes-validations": [{"rule": "self == oldSelf", "message": "mode is immutable"}]},
            "since": {"type": "string", "format": "date-time"},
            "tags": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
            "labels": {"type": "object", "additionalProperties": {"type": "string"}},
            "pools": {
                "type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"],
                "items": {"type": "object", "required": ["name"], "properties": {
                    "name": {"type": "string"}, "count": {"type": "integer", "default": 1},
                    "note": {"type": "string"}}},
            },
        },
    });
    let status = json!({"type": "object", "properties": {"observed": {"type": "integer"}, "phase": {"type": "string"}}});
    let schema = json!({"type": "object", "required": ["spec"], "properties": {"spec": spec, "status": status}});
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com", "scope": "Namespaced",
            "names": {"plural": "widgets", "kind": "Widget", "shortNames": ["wd"]},
            "versions": [
                {"name": "v1", "served": true, "storage": true, "subresources": {"status": {}},
                 "schema": {"openAPIV3Schema": schema}},
                {"name": "v1beta1", "served": true, "storage": false, "subresources": {"status": {}},
                 "schema": {"openAPIV3Schema": schema}},
            ],
        },
    })
}

/// A server whose clock stands still, with the widget kind installed.
pub(crate) fn server() -> Server {
    let clock = SetClock::at(START.parse().expect("a valid instant"));
    let server = Server::new(clock, Settings::default());
    let (code, body) = post(
        &server,
        "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
        &widget_definition(),
    );
    assert_eq!(code, 201, "{body}");
    server
}

pub(crate) const WIDGETS: &str = "/apis/example.com/v1/namespaces/default/widgets";

pub(crate) fn widget(name: &str, size: i64) -> Value {
    json!({"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": name}, "spec": {"size": size}})
}

fn parsed((code, bytes): (u16, bytes::Bytes)) -> (u16, Value) {
    (code, serde_json::from_slice(&bytes).unwrap_or_default())
}

pub(crate) fn get(server: &Server, path: &str) -> (u16, Value) {
    parsed(server.ask(Method::GET, path, "", b""))
}

pub(crate) fn post(server: &Server, path: &str, body: &Value) -> (u16, Value) {
    parsed(server.ask(Method::POST, path, "application/json", body.to_string().as_bytes()))
}

pub(crate) fn put(server: &Server, path: &str, body: &Value) -> (u16, Value) {
    parsed(server.ask(Method::PUT, path, "application/json", body.to_string().as_bytes()))
}

pub(crate) fn delete(server: &Server, path: &str, body: &Value) -> (u16, Value) {
    let text = if body.is_null() { String::new() } else { body.to_string() };
    parsed(server.ask(Method::DELETE, path, "application/json", text.as_bytes()))
}

pub(crate) fn patch(server: &Server, path: &str, dialect: &str, body: &Value) -> (u16, Value) {
    let kind = match dialect {
        "json" => "application/json-patch+json",
        "merge" => "application/merge-patch+json",
        "strategic" => "application/strategic-merge-patch+json",
        "apply" => "application/apply-patch+yaml",
        other => other,
    };
    parsed(server.ask(Method::PATCH, path, kind, body.to_string().as_bytes()))
}
