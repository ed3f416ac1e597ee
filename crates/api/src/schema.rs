//! What may an object of a kind hold? The JSON schema of each kind, derived from the wire types.
//!
//! One schema serves both the check of files and, later, the CRDs, so that the two cannot disagree.

use std::sync::LazyLock;

use schemars::{JsonSchema, generate::SchemaSettings};
use serde_json::Value;

use crate::{names, policy};

/// Whether objects of a kind live in a namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// One set of names for the whole cluster.
    Cluster,
    /// One set of names for each namespace.
    Namespaced,
}

/// A kind that this API serves.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    /// The name of the kind, as in `kind:`.
    pub name: &'static str,
    /// Its group and version, as in `apiVersion:`.
    pub api_version: &'static str,
    /// Whether its objects live in a namespace.
    pub scope: Scope,
    schema: &'static LazyLock<Value>,
}

impl Kind {
    /// The schema of the kind, with every reference resolved in place.
    pub fn schema(&self) -> &'static Value {
        self.schema
    }
}

// Made once and when first asked for: a file may hold thousands of policies, and most verbs need one kind.
static CHANGE_MANAGEMENT_POLICY: LazyLock<Value> =
    LazyLock::new(schema_of::<policy::ChangeManagementPolicy>);
static HOSTED_CHANGE_MANAGEMENT_POLICY: LazyLock<Value> =
    LazyLock::new(schema_of::<policy::HostedChangeManagementPolicy>);

/// Every kind, in the order they are shown.
pub const KINDS: &[Kind] = &[
    Kind {
        name: names::CHANGE_MANAGEMENT_POLICY,
        api_version: names::API_VERSION,
        scope: Scope::Cluster,
        schema: &CHANGE_MANAGEMENT_POLICY,
    },
    Kind {
        name: names::HOSTED_CHANGE_MANAGEMENT_POLICY,
        api_version: names::API_VERSION,
        scope: Scope::Namespaced,
        schema: &HOSTED_CHANGE_MANAGEMENT_POLICY,
    },
];

/// The kind of this name, if it is served.
pub fn kind_named(name: &str) -> Option<&'static Kind> {
    KINDS.iter().find(|kind| kind.name == name)
}

fn schema_of<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        // A structural schema has no references, and the check needs no resolver.
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    flatten_enums(&mut schema);
    schema
}

/// Turns the described alternatives of an enum into one plain list of values: a structural schema knows no `oneOf` of constants.
fn flatten_enums(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            let values: Option<Vec<Value>> =
                fields.get("oneOf").and_then(Value::as_array).map(|arms| {
                    arms.iter()
                        .flat_map(|arm| match arm.get("enum") {
                            Some(Value::Array(values)) => values.clone(),
                            _ => arm.get("const").cloned().into_iter().collect(),
                        })
                        .collect()
                });
            if let Some(values) = values.filter(|values| !values.is_empty()) {
                fields.remove("oneOf");
                fields.insert("type".into(), "string".into());
                fields.insert("enum".into(), values.into());
            }
            fields.values_mut().for_each(flatten_enums);
        }
        Value::Array(items) => items.iter_mut().for_each(flatten_enums),
        _ => {}
    }
}

#[cfg(test)]
mod tests;
