//! What do the kinds look like? `OpenAPI` v3, as far as `kubectl explain`, `apply` and `diff` read it.

use std::collections::BTreeSet;

use bytes::Bytes;
use http::{Response, StatusCode};
use serde_json::{Map, Value, json};

use crate::{
    body::Body,
    call::{Answer, json_response},
    registry::{
        Registry, ResourceType, Served, api_version,
        definitions::{Definitions, OBJECT_META},
    },
    status::Refusal,
};

fn url(group: &str, version: &str) -> String {
    if group.is_empty() { format!("api/{version}") } else { format!("apis/{group}/{version}") }
}

/// The documents that exist. Each address carries a hash, so that clients may cache what does not change.
pub(crate) fn index(registry: &Registry) -> Response<Body> {
    let mut paths = Map::new();
    for (group, versions) in registry.groups() {
        for version in versions {
            let address = url(&group, &version);
            let text = build(registry, &group, &version).to_string();
            let hash = crate::trace::fnv(text.as_bytes());
            let link = format!("/openapi/v3/{address}?hash={hash:016X}");
            paths.insert(address, json!({ "serverRelativeURL": link }));
        }
    }
    json_response(StatusCode::OK, Bytes::from(json!({ "paths": paths }).to_string()))
}

/// The document of one group and version.
pub(crate) fn document(registry: &Registry, parts: &[&str]) -> Answer {
    let (group, version) = match parts {
        ["api", version] => ("", *version),
        ["apis", group, version] => (*group, *version),
        _ => return Err(Refusal::no_such_path()),
    };
    if !registry.groups().get(group).is_some_and(|v| v.iter().any(|x| x == version)) {
        return Err(Refusal::no_such_path());
    }
    Ok(json_response(StatusCode::OK, Bytes::from(build(registry, group, version).to_string())))
}

fn build(registry: &Registry, group: &str, version: &str) -> Value {
    let mut paths = Map::new();
    let mut schemas = Map::new();
    let mut wanted = BTreeSet::new();
    for ty in registry.all().filter(|t| t.group == group) {
        let Some(served) = ty.versions.iter().find(|v| v.name == version) else {
            continue;
        };
        let (name, schema) = component(ty, served);
        references(&schema, &mut wanted);
        schemas.insert(name.clone(), schema);
        operations(ty, served, &name, &mut paths);
    }
    collect(&mut wanted, &mut schemas);
    json!({
        "openapi": "3.0.0", "info": {"title": "Kubernetes", "version": "v1.36.0"},
        "paths": paths, "components": {"schemas": schemas},
    })
}

/// The named schema of a kind, with its type attached, so that clients find it.
fn component(ty: &ResourceType, served: &Served) -> (String, Value) {
    let gvk = json!([{"group": ty.group, "version": served.name, "kind": ty.kind}]);
    let linked =
        served.document.get("$ref").and_then(Value::as_str).and_then(|r| r.rsplit('/').next());
    if let Some(name) = linked {
        let mut schema = Definitions::shared().documents.get(name).cloned().unwrap_or_default();
        schema["x-kubernetes-group-version-kind"] = gvk;
        return (name.to_owned(), schema);
    }
    let mut reversed: Vec<&str> = ty.group.split('.').collect();
    reversed.reverse();
    let name = format!("{}.{}.{}", reversed.join("."), served.name, ty.kind);
    let mut schema = (*served.document).clone();
    schema["x-kubernetes-group-version-kind"] = gvk;
    if let Some(fields) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        fields.insert("apiVersion".into(), json!({"type": "string", "description": "APIVersion defines the versioned schema of this representation of an object. Servers should convert recognized schemas to the latest internal value, and may reject unrecognized values. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#resources"}));
        fields.insert("kind".into(), json!({"type": "string", "description": "Kind is a string value representing the REST resource this object represents. Servers may infer this from the endpoint the client submits requests to. Cannot be updated. In CamelCase. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds"}));
        fields.insert("metadata".into(), json!({
            "description": "Standard object's metadata. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata",
            "allOf": [{"$ref": format!("#/components/schemas/{OBJECT_META}")}],
        }));
    }
    (name, schema)
}

fn references(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(map) => {
            if let Some(name) =
                map.get("$ref").and_then(Value::as_str).and_then(|r| r.rsplit('/').next())
            {
                found.insert(name.to_owned());
            }
            map.values().for_each(|v| references(v, found));
        }
        Value::Array(items) => items.iter().for_each(|v| references(v, found)),
        _ => {}
    }
}

/// Adds every definition that is referred to, directly or not.
fn collect(wanted: &mut BTreeSet<String>, schemas: &mut Map<String, Value>) {
    while let Some(name) = wanted.pop_first() {
        if schemas.contains_key(&name) {
            continue;
        }
        let Some(schema) = Definitions::shared().documents.get(&name) else {
            continue;
        };
        references(schema, wanted);
        schemas.insert(name, schema.clone());
    }
}

/// The paths of a kind, with the query parameters by which kubectl recognises what the server can do.
fn operations(ty: &ResourceType, served: &Served, schema: &str, paths: &mut Map<String, Value>) {
    let root = format!("/{}", url(&ty.group, &served.name));
    let within = if ty.namespaced { "/namespaces/{namespace}" } else { "" };
    let collection = format!("{root}{within}/{}", ty.plural);
    let gvk = json!({"group": ty.group, "version": served.name, "kind": ty.kind});
    let parameter = |name: &str| json!({"name": name, "in": "query", "schema": {"type": "string", "uniqueItems": true}});
    let body = json!({"content": {"application/json": {"schema": {"$ref": format!("#/components/schemas/{schema}")}}}});
    let operation = |action: &str, writes: bool| {
        let mut operation = json!({"tags": [api_version(&ty.group, &served.name)], "x-kubernetes-action": action,
            "x-kubernetes-group-version-kind": gvk, "responses": {"200": body}});
        operation["responses"]["200"]["description"] = "OK".into();
        if writes {
            let names = ["dryRun", "fieldManager", "fieldValidation"];
            operation["parameters"] = json!(names.map(parameter));
        }
        operation
    };
    paths.insert(
        collection.clone(),
        json!({"get": operation("list", false), "post": operation("post", true), "delete": operation("deletecollection", false)}),
    );
    paths.insert(
        format!("{collection}/{{name}}"),
        json!({"get": operation("get", false), "put": operation("put", true), "patch": operation("patch", true),
               "delete": operation("delete", false)}),
    );
    if served.status {
        paths.insert(
            format!("{collection}/{{name}}/status"),
            json!({"get": operation("get", false), "put": operation("put", true), "patch": operation("patch", true)}),
        );
    }
}
