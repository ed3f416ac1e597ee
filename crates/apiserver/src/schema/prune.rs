//! Which fields does a schema not know?
//!
//! Unknown fields are removed, and their paths are reported, so that strict clients are refused and others warned.

use serde_json::Value;

use super::{Schema, join};

/// Removes fields that the schema does not specify and returns their paths, in order.
pub(crate) fn prune(schema: &Schema, object: &mut Value) -> Vec<String> {
    let mut unknown = Vec::new();
    // The root is an object like any embedded resource: its type and metadata are not the schema's business.
    walk(schema, object, "", true, &mut unknown);
    unknown
}

fn walk(schema: &Schema, value: &mut Value, path: &str, resource: bool, unknown: &mut Vec<String>) {
    match value {
        Value::Object(map) => {
            let keep_all = schema.preserve_unknown;
            let is_ours = |key: &str| resource && matches!(key, "apiVersion" | "kind" | "metadata");
            let doomed: Vec<String> = map
                .keys()
                .filter(|key| !keep_all && !is_ours(key) && schema.field(key).is_none())
                .cloned()
                .collect();
            for key in doomed {
                map.remove(&key);
                unknown.push(join(path, &key));
            }
            for (key, child) in map.iter_mut() {
                if is_ours(key) && !schema.properties.contains_key(key) {
                    continue;
                }
                if let Some(sub) = schema.field(key) {
                    walk(sub, child, &join(path, key), sub.embedded_resource, unknown);
                }
            }
        }
        Value::Array(items) => {
            if let Some(sub) = &schema.items {
                for (index, item) in items.iter_mut().enumerate() {
                    walk(sub, item, &format!("{path}[{index}]"), sub.embedded_resource, unknown);
                }
            }
        }
        _ => {}
    }
}

/// The fields of object metadata; anything else is unknown in every kind.
const METADATA: [&str; 15] = [
    "name",
    "generateName",
    "namespace",
    "selfLink",
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "labels",
    "annotations",
    "ownerReferences",
    "finalizers",
    "managedFields",
];

/// Removes unknown metadata fields and returns their paths.
pub(crate) fn prune_metadata(object: &mut Value) -> Vec<String> {
    let Some(map) = object.get_mut("metadata").and_then(Value::as_object_mut) else {
        return Vec::new();
    };
    let doomed: Vec<String> =
        map.keys().filter(|k| !METADATA.contains(&k.as_str())).cloned().collect();
    doomed
        .into_iter()
        .map(|key| {
            map.remove(&key);
            format!("metadata.{key}")
        })
        .collect()
}
