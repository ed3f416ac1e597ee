//! Which object is it, and which version of it?

use api::schema::Kind;
use schedule::Instant;
use serde_json::Value;

use crate::document::key::Key;

/// Which object, and which version of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Its kind and name.
    pub key: Key,
    /// The identity of this very object: one of the same name made later has another.
    pub uid: String,
    /// The version of the stored bytes, for preconditions.
    pub resource_version: String,
    /// Counts the changes of the specification.
    pub generation: i64,
    /// When the specification was last written, by the server's clock, where that is known.
    pub changed: Option<Instant>,
}

impl Identity {
    /// The identity that a document has.
    pub(crate) fn new(kind: &'static Kind, document: &Value) -> Self {
        let text = |field: &str| {
            let found = document.get("metadata").and_then(|metadata| metadata.get(field));
            found.and_then(Value::as_str)
        };
        Self {
            key: Key::new(kind, text("namespace"), text("name").unwrap_or_default()),
            uid: text("uid").unwrap_or_default().to_owned(),
            resource_version: text("resourceVersion").unwrap_or_default().to_owned(),
            generation: document
                .pointer("/metadata/generation")
                .and_then(Value::as_i64)
                .unwrap_or(0),
            changed: changed(document),
        }
    }
}

/// When the specification was last written: the newest stamp of those who wrote anything but the status, or the creation.
pub(crate) fn changed(document: &Value) -> Option<Instant> {
    let managed = document.pointer("/metadata/managedFields").and_then(Value::as_array);
    let stamps = managed.into_iter().flatten().filter(|entry| entry.get("subresource").is_none());
    stamps
        .filter_map(|entry| entry.get("time"))
        .chain(document.pointer("/metadata/creationTimestamp"))
        .filter_map(|stamp| Instant::parse(stamp.as_str()?).ok())
        .max()
}

/// When somebody last applied an annotation, by the server's clock: whoever has this name as the owner of fields. Any client may take that name, so the
/// entry must be one that owns the annotation; and nobody may build on it who has to tell two of these apart.
pub(crate) fn applied_by(document: &Value, owner: &str, annotation: &str) -> Option<Instant> {
    let managed = document.pointer("/metadata/managedFields").and_then(Value::as_array);
    let theirs = managed.into_iter().flatten().filter(|entry| {
        let is = |field: &str, text: &str| entry.get(field).and_then(Value::as_str) == Some(text);
        let annotations = entry.pointer("/fieldsV1/f:metadata/f:annotations");
        is("manager", owner)
            && is("operation", "Apply")
            && entry.get("subresource").is_none()
            && annotations.is_some_and(|all| all.get(format!("f:{annotation}")).is_some())
    });
    theirs.filter_map(|entry| Instant::parse(entry.get("time")?.as_str()?).ok()).max()
}
