//! What do programs get? Lists whose items all begin with what the object is called (docs/reference/json.md).

use serde::Serialize;
use tidegate_core::document::{key::Key, problem::Object};

/// What is listed for programs.
#[derive(Serialize)]
pub struct Items<T> {
    /// One for each object.
    pub items: Vec<T>,
}

impl<T> FromIterator<T> for Items<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        Self { items: items.into_iter().collect() }
    }
}

/// What an object is called, as every item of every list begins.
#[derive(Serialize)]
pub struct Named {
    kind: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    namespace: Option<String>,
    name: String,
}

impl From<&Object> for Named {
    fn from(object: &Object) -> Self {
        Self {
            kind: object.kind.clone(),
            namespace: object.namespace.clone(),
            name: object.name.clone().unwrap_or_default(),
        }
    }
}

impl From<&Key> for Named {
    fn from(key: &Key) -> Self {
        Self::from(&key.object())
    }
}
