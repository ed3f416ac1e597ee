//! What of a namespace do decisions read? Its labels, by which a freeze chooses it (RCH-13), and nothing else.

use std::sync::Arc;

use serde_json::Value;

use super::Row;
use crate::{cluster::seen::Part, policy::freeze::Labels};

/// A namespace.
pub static NAMESPACE: Row = Row::part(api::kinds::NAMESPACE, |document| {
    let labels = document.pointer("/metadata/labels").and_then(Value::as_object);
    let text = |(key, value): (&String, &Value)| Some((key.clone(), value.as_str()?.to_owned()));
    Part::Namespace(Arc::new(labels.into_iter().flatten().filter_map(text).collect::<Labels>()))
});
