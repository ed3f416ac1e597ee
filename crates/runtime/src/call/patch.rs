//! How is an object changed? In one of three ways, each in the name of an owner.

use serde_json::Value;

use super::Ask;
use crate::path::encoded;

/// A change of an object.
#[derive(Clone, Debug)]
pub struct Patch {
    content_type: &'static str,
    owner: &'static str,
    force: Force,
    run: Run,
    body: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Force {
    Yields,
    Takes,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Run {
    Wet,
    Dry,
}

impl Patch {
    /// Operations one after the other (RFC 6902).
    pub fn json(owner: &'static str, operations: &[Value]) -> Self {
        let body = Value::Array(operations.to_vec()).to_string().into_bytes();
        Self::new("application/json-patch+json", owner, body)
    }

    /// What differs (RFC 7386): null takes a field away.
    pub fn merge(owner: &'static str, change: &Value) -> Self {
        Self::new("application/merge-patch+json", owner, change.to_string().into_bytes())
    }

    /// All that its owner says of the object; it yields to whoever else said it.
    pub fn apply(owner: &'static str, document: &Value) -> Self {
        Self::new("application/apply-patch+yaml", owner, document.to_string().into_bytes())
    }

    /// All that its owner says of the object, whoever said otherwise.
    pub fn apply_by_force(owner: &'static str, document: &Value) -> Self {
        Self { force: Force::Takes, ..Self::apply(owner, document) }
    }

    /// The same, and nothing is stored: the server says what would come of it.
    #[must_use]
    pub fn as_dry_run(self) -> Self {
        Self { run: Run::Dry, ..self }
    }

    fn new(content_type: &'static str, owner: &'static str, body: Vec<u8>) -> Self {
        Self { content_type, owner, force: Force::Yields, run: Run::Wet, body }
    }

    pub(super) fn of(self, path: &str) -> Ask {
        let mut path = format!("{path}?fieldManager={}", encoded(self.owner));
        if self.force == Force::Takes {
            path.push_str("&force=true");
        }
        if self.run == Run::Dry {
            path.push_str("&dryRun=All");
        }
        Ask { path, content_type: self.content_type, body: self.body }
    }
}
