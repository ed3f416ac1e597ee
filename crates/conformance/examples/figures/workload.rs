//! What is measured: a kind with a schema, a rule, a default and a keyed list, and ten thousand objects of it.

use serde_json::{Value, json};

pub(crate) const OBJECTS: usize = 10_000;
pub(crate) const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
pub(crate) const WIDGETS: &str = "/apis/example.com/v1/namespaces/default/widgets";
pub(crate) const JSON: &str = "application/json";
pub(crate) const MERGE: &str = "application/merge-patch+json";

pub(crate) fn definition() -> Value {
    let pool = json!({
        "type": "object", "required": ["name"],
        "properties": { "name": { "type": "string", "maxLength": 63 }, "count": { "type": "integer" } },
    });
    let spec = json!({
        "type": "object", "required": ["size"],
        "properties": {
            "size": { "type": "integer", "minimum": 0 },
            "max": { "type": "integer", "default": 100_000 },
            "pools": {
                "type": "array", "maxItems": 100,
                "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"], "items": pool,
            },
        },
        "x-kubernetes-validations": [{ "rule": "self.size <= self.max" }],
    });
    let status = json!({ "type": "object", "properties": { "observed": { "type": "integer" } } });
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": { "name": "widgets.example.com" },
        "spec": {
            "group": "example.com", "scope": "Namespaced",
            "names": { "plural": "widgets", "kind": "Widget" },
            "versions": [{
                "name": "v1", "served": true, "storage": true, "subresources": { "status": {} },
                "schema": { "openAPIV3Schema": {
                    "type": "object", "properties": { "spec": spec, "status": status },
                } },
            }],
        },
    })
}

pub(crate) fn widget(index: usize) -> Value {
    let pools: Vec<Value> =
        (0..5).map(|pool| json!({ "name": format!("pool-{pool}"), "count": pool })).collect();
    json!({
        "apiVersion": "example.com/v1", "kind": "Widget",
        "metadata": { "name": format!("w{index}") }, "spec": { "size": index, "pools": pools },
    })
}

/// A status patch: its path and its body.
pub(crate) fn observed(index: usize, observed: usize) -> (String, Value) {
    (format!("{WIDGETS}/w{index}/status"), json!({ "status": { "observed": observed } }))
}
