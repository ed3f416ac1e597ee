//! Where does the server keep an object? The path of a key, of its status and of its collection.

use api::{names, schema::Kind};
use tidegate_core::key::Key;

/// The path of an object.
pub fn path(key: &Key) -> String {
    format!("{}/{}", collection(key.kind(), key.namespace.as_deref()), key.name)
}

/// The path of its status.
pub fn status_path(key: &Key) -> String {
    format!("{}/status", path(key))
}

/// The path of all objects of a kind, in one namespace or in all.
pub fn collection(kind: &Kind, namespace: Option<&str>) -> String {
    let plural = names::plural(kind.name);
    let group = if kind.group().is_empty() { "/api" } else { "/apis" };
    match namespace {
        Some(namespace) => format!("{group}/{}/namespaces/{namespace}/{plural}", kind.api_version),
        None => format!("{group}/{}/{plural}", kind.api_version),
    }
}
