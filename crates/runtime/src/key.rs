//! Where does the server keep an object of ours? The path of a key, of its status and of its collection.

use api::schema::Kind;
use tidegate_core::document::key::Key;

use crate::path::{self, Resource};

/// The path of an object.
pub fn path(key: &Key) -> String {
    Resource::of(key.kind()).object(key.namespace.as_deref(), &key.name)
}

/// The path of its status.
pub fn status_path(key: &Key) -> String {
    path::status(&path(key))
}

/// The path of all objects of a kind, in one namespace or in all.
pub fn collection(kind: &Kind, namespace: Option<&str>) -> String {
    Resource::of(kind).collection(namespace)
}
