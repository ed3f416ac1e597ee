//! Which resource and which stanza does a script mean by its words?

use serde_json::{Value, json};
use tidegate_core::document::key;

/// `Permissive` for `permissive`.
pub(crate) fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// `free` for no stanza, `by weekend`, `restrictive`, `permissive until T by weekend`.
pub(crate) fn stanza_of(words: &[&str]) -> Result<Value, String> {
    let (words, policy) = match words {
        [words @ .., "by", policy] => (words, Some(json!({"name": policy}))),
        words => (words, None),
    };
    let mut stanza = match words {
        ["free"] => return Ok(Value::Null),
        [] => json!({"strategy": "ByPolicy"}),
        [strategy @ ("permissive" | "restrictive")] => json!({"strategy": capital(strategy)}),
        [strategy @ ("permissive" | "restrictive"), "until", instant] => {
            json!({"strategy": format!("{}Until", capital(strategy)), format!("{strategy}Until"): instant})
        }
        _ => return Err(format!("{words:?} is no stanza")),
    };
    if let Some(policy) = policy {
        stanza["byPolicy"] = policy;
    }
    Ok(stanza)
}

/// A resource with as little in it as its definition takes.
pub(crate) fn resource(called: &str, stanza: &Value) -> Result<Value, String> {
    let key = key::named(called, None)?;
    let kind = key.kind();
    let mut spec = match kind.name {
        api::names::CLUSTER_VERSION => json!({"clusterID": "b2b6a1a5-0d4f-4e6e-9a53-3f4f6a5a3c1e"}),
        api::names::HOSTED_CLUSTER => json!({"release": {"image": "registry/release@a"}}),
        api::names::NODE_POOL => {
            json!({"clusterName": "c", "release": {"image": "registry/release@a"}})
        }
        _ => json!({}),
    };
    spec["changeManagement"] = stanza.clone();
    Ok(json!({"apiVersion": kind.api_version, "kind": kind.name,
        "metadata": {"name": &*key.name, "namespace": key.namespace.as_deref()}, "spec": spec}))
}
