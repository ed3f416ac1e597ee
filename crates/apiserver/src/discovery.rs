//! What can be asked of this server?
//!
//! Two forms: one document for everything (aggregated), and the older one document per group and version.

use bytes::Bytes;
use http::{Response, StatusCode, header};
use serde_json::{Value, json};

use crate::{
    body::Body,
    call::{Answer, Incoming, json_response},
    registry::{Nature, Registry, ResourceType, Served, api_version, precedence},
    reviews::REVIEWS,
    status::{Refusal, SERVER_NAME},
};

const VERBS: [&str; 8] =
    ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];

fn verbs(ty: &ResourceType) -> Vec<&'static str> {
    if ty.nature == Nature::Custom {
        // The order in which the real server lists the verbs of custom kinds.
        return vec![
            "delete",
            "deletecollection",
            "get",
            "list",
            "patch",
            "create",
            "update",
            "watch",
        ];
    }
    let whole = ty.nature != Nature::Namespace;
    VERBS.into_iter().filter(|v| whole || *v != "deletecollection").collect()
}

/// The groups in the order in which they are shown: core, then by name; with the versions of the virtual kinds.
fn groups(registry: &Registry) -> Vec<(String, Vec<String>)> {
    let mut groups = registry.groups();
    for (group, _, _) in REVIEWS {
        groups.entry(group.to_owned()).or_insert_with(|| vec!["v1".to_owned()]);
    }
    groups.into_iter().collect()
}

pub(crate) fn answer(registry: &Registry, incoming: &Incoming, parts: &[&str]) -> Answer {
    let accept = incoming.header(header::ACCEPT);
    match parts {
        ["api"] if aggregated(accept).is_some() => Ok(aggregate(registry, true, accept)),
        ["apis"] if aggregated(accept).is_some() => Ok(aggregate(registry, false, accept)),
        ["api"] => Ok(reply(&json!({
            "kind": "APIVersions", "versions": ["v1"],
            "serverAddressByClientCIDRs": [{"clientCIDR": "0.0.0.0/0", "serverAddress": ""}],
        }))),
        ["apis"] => {
            let list: Vec<Value> = groups(registry)
                .iter()
                .filter(|(g, _)| !g.is_empty())
                .map(|(g, v)| group(g, v))
                .collect();
            Ok(reply(&json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": list})))
        }
        ["api", version] => resources(registry, "", version),
        ["apis", name] => {
            let all = groups(registry);
            let found = all.iter().find(|(g, _)| g == name && !g.is_empty());
            let (name, versions) = found.ok_or_else(|| missing(name))?;
            let about = group(name, versions);
            Ok(reply(&json!({"kind": "APIGroup", "apiVersion": "v1", "name": about["name"],
                "versions": about["versions"], "preferredVersion": about["preferredVersion"]})))
        }
        ["apis", name, version] => resources(registry, name, version),
        _ => Err(Refusal::no_such_path()),
    }
}

fn missing(what: &str) -> Refusal {
    if !crate::route::is_standard(what.split('/').next().unwrap_or_default()) {
        return Refusal::no_such_page();
    }
    let text = format!(
        "the server could not find the requested resource: {SERVER_NAME} does not serve {what:?}"
    );
    Refusal::new(404, "NotFound", text).with_details(json!({}))
}

fn reply(value: &Value) -> Response<Body> {
    json_response(StatusCode::OK, Bytes::from(value.to_string()))
}

fn group(name: &str, versions: &[String]) -> Value {
    let version = |v: &String| json!({"groupVersion": api_version(name, v), "version": v});
    let all: Vec<Value> = versions.iter().map(version).collect();
    json!({"name": name, "versions": all, "preferredVersion": all.first().cloned().unwrap_or_default()})
}

/// The aggregated version that the client prefers, if any.
fn aggregated(accept: &str) -> Option<&'static str> {
    accept.split(',').find_map(|choice| {
        if !choice.contains("as=APIGroupDiscoveryList") {
            return None;
        }
        ["v2", "v2beta1"]
            .into_iter()
            .find(|v| choice.split(';').any(|p| p.trim() == format!("v={v}")))
    })
}

fn aggregate(registry: &Registry, core: bool, accept: &str) -> Response<Body> {
    let version = aggregated(accept).unwrap_or("v2");
    let mut items = Vec::new();
    for (name, versions) in groups(registry).into_iter().filter(|(g, _)| g.is_empty() == core) {
        let versions: Vec<Value> = versions
            .iter()
            .map(|v| json!({"version": v, "resources": described(registry, &name, v), "freshness": "Current"}))
            .collect();
        let metadata = if core {
            json!({"creationTimestamp": null})
        } else {
            json!({"name": name, "creationTimestamp": null})
        };
        items.push(json!({"metadata": metadata, "versions": versions}));
    }
    let list = json!({"kind": "APIGroupDiscoveryList", "apiVersion": format!("apidiscovery.k8s.io/{version}"),
                      "metadata": {}, "items": items});
    let mut response = json_response(StatusCode::OK, Bytes::from(list.to_string()));
    let kind =
        format!("application/json;g=apidiscovery.k8s.io;v={version};as=APIGroupDiscoveryList");
    if let Ok(value) = header::HeaderValue::from_str(&kind) {
        response.headers_mut().insert(header::CONTENT_TYPE, value);
    }
    response
}

fn served<'a>(
    registry: &'a Registry,
    group: &str,
    version: &str,
) -> Vec<(&'a ResourceType, &'a Served)> {
    let types = registry.all().filter(|t| t.group == group);
    types.filter_map(|t| Some((&**t, t.versions.iter().find(|v| v.name == version)?))).collect()
}

fn described(registry: &Registry, group: &str, version: &str) -> Vec<Value> {
    let kind = |kind: &str| json!({"group": group, "version": version, "kind": kind});
    let mut found: Vec<Value> = served(registry, group, version)
        .into_iter()
        .map(|(ty, served)| {
            let mut subresources = Vec::new();
            if ty.nature == Nature::Pod {
                subresources.push(json!({"subresource": "binding", "verbs": ["create"],
                    "responseKind": {"group": "", "version": "v1", "kind": "Binding"}}));
                subresources.push(json!({"subresource": "eviction", "verbs": ["create"],
                    "responseKind": {"group": "policy", "version": "v1", "kind": "Eviction"}}));
            }
            if ty.nature == Nature::Namespace {
                subresources.push(json!({"subresource": "finalize", "verbs": ["update"], "responseKind": kind(&ty.kind)}));
            }
            if served.status {
                subresources.push(json!({"subresource": "status", "verbs": ["get", "patch", "update"],
                    "responseKind": kind(&ty.kind)}));
            }
            let mut about = json!({
                "resource": ty.plural, "singularResource": ty.singular, "responseKind": kind(&ty.kind),
                "scope": if ty.namespaced { "Namespaced" } else { "Cluster" }, "verbs": verbs(ty),
            });
            for (key, list) in [("shortNames", &ty.short_names), ("categories", &ty.categories)] {
                if !list.is_empty() {
                    about[key] = json!(list);
                }
            }
            if !subresources.is_empty() {
                about["subresources"] = json!(subresources);
            }
            about
        })
        .collect();
    for (_, plural, name) in REVIEWS.iter().filter(|(g, _, _)| *g == group) {
        found.push(json!({"resource": plural, "singularResource": name.to_lowercase(), "responseKind": kind(name),
                          "scope": "Cluster", "verbs": ["create"]}));
    }
    found
}

/// By which clients see that objects are stored in another version than before.
fn storage_hash(ty: &ResourceType) -> String {
    // Both groups of events are stored in one form.
    let group = if ty.nature == Nature::Event { "" } else { &ty.group };
    let stored = format!("{group}/{}/{}", ty.storage_version, ty.kind);
    let digest = ring::digest::digest(&ring::digest::SHA256, stored.as_bytes());
    crate::base64::encode(digest.as_ref().get(..8).unwrap_or_default())
}

fn resources(registry: &Registry, group: &str, version: &str) -> Answer {
    let known = groups(registry).iter().any(|(g, v)| g == group && v.iter().any(|x| x == version));
    if !known {
        return Err(missing(&api_version(group, version)));
    }
    let mut list = Vec::new();
    for (ty, served) in self::served(registry, group, version) {
        let mut about = json!({"name": ty.plural, "singularName": ty.singular, "namespaced": ty.namespaced,
                               "kind": ty.kind, "verbs": verbs(ty)});
        for (key, names) in [("shortNames", &ty.short_names), ("categories", &ty.categories)] {
            if !names.is_empty() {
                about[key] = json!(names);
            }
        }
        about["storageVersionHash"] = storage_hash(ty).into();
        list.push(about);
        if ty.nature == Nature::Pod {
            list.push(json!({"name": "pods/binding", "singularName": "", "namespaced": true, "kind": "Binding", "verbs": ["create"]}));
            list.push(json!({"name": "pods/eviction", "singularName": "", "namespaced": true, "group": "policy",
                             "version": "v1", "kind": "Eviction", "verbs": ["create"]}));
        }
        if ty.nature == Nature::Namespace {
            list.push(json!({"name": "namespaces/finalize", "singularName": "", "namespaced": false, "kind": ty.kind, "verbs": ["update"]}));
        }
        if served.status {
            list.push(json!({"name": format!("{}/status", ty.plural), "singularName": "", "namespaced": ty.namespaced,
                             "kind": ty.kind, "verbs": ["get", "patch", "update"]}));
        }
    }
    for (_, plural, name) in REVIEWS.iter().filter(|(g, _, _)| *g == group) {
        list.push(json!({"name": plural, "singularName": name.to_lowercase(), "namespaced": false, "kind": name, "verbs": ["create"]}));
    }
    Ok(reply(
        &json!({"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": api_version(group, version), "resources": list}),
    ))
}

/// The index at `/`.
pub(crate) fn paths(registry: &Registry) -> Response<Body> {
    let mut all = vec!["/api".to_owned(), "/api/v1".to_owned(), "/apis".to_owned()];
    for (group, mut versions) in groups(registry).into_iter().filter(|(g, _)| !g.is_empty()) {
        all.push(format!("/apis/{group}"));
        versions.sort_by_key(|v| precedence(v));
        all.extend(versions.iter().map(|v| format!("/apis/{group}/{v}")));
    }
    all.extend(["/healthz", "/livez", "/openapi/v3", "/readyz", "/version"].map(str::to_owned));
    json_response(StatusCode::OK, Bytes::from(json!({ "paths": all }).to_string()))
}
