//! How is an object of ours written down that a person wants? (OVR-4)

use api::{names, schema::Kind};
use serde_json::{Map, Value, json};

use crate::{
    document::{key::Key, problem::Problem},
    policy::read,
};

/// The object with those of its fields that are given, judged as files are; or the field that is wrong, and what is.
pub(super) fn written(
    kind: &'static Kind,
    namespace: Option<&str>,
    name: &str,
    fields: impl IntoIterator<Item = (&'static str, Option<Value>)>,
) -> Result<(Key, Value), String> {
    let given = fields.into_iter().filter_map(|(field, value)| Some((field.into(), value?)));
    let spec: Map<String, Value> = given.collect();
    let mut metadata = json!({"name": name});
    if let Some(namespace) = namespace {
        metadata["namespace"] = json!(namespace);
    }
    let object = json!({"apiVersion": names::API_VERSION, "kind": kind.name,
        "metadata": metadata, "spec": spec});
    match read::document(&object).problems.into_iter().find(Problem::is_error) {
        Some(Problem { field, detail, hint, .. }) => {
            let hint = hint.map_or_else(String::new, |hint| format!("\n  hint: {hint}"));
            Err(format!("{field}: {detail}{hint}"))
        }
        None => Ok((Key::new(kind, namespace, name), object)),
    }
}
