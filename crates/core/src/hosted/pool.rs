//! What of the nodes of a hosted cluster do decisions read?

use serde_json::Value;

/// A node pool as it was last seen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SeenNodePool {
    /// The hosted cluster that it belongs to, of the same namespace.
    pub cluster: String,
    /// The version that all of its nodes have; empty while nobody says.
    pub version: String,
}

impl SeenNodePool {
    /// Reads a `NodePool`.
    pub fn new(document: &Value) -> Self {
        let text = |path: &str| {
            document.pointer(path).and_then(Value::as_str).unwrap_or_default().to_owned()
        };
        Self { cluster: text("/spec/clusterName"), version: text("/status/version") }
    }
}
