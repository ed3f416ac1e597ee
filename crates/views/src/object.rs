//! How is an object told that somebody writes, or takes away? The meaning first, then the object, then the way back.

use std::fmt::Write as _;

use serde::Serialize;
use serde_json::{Value, json};
use tidegate_core::document::key::Key;

use crate::{
    change::Stage,
    safe::{escaped, printable},
    text,
};

/// An object that somebody writes, or takes away.
#[derive(Clone, Debug, PartialEq)]
pub struct Writing {
    /// Which object.
    pub object: Key,
    /// What it will mean, in a sentence without its full stop.
    pub meaning: String,
    /// The object, as somebody would write it down.
    pub document: Value,
    /// What is done with it.
    pub deed: Deed,
    /// How to take it back.
    pub way_back: String,
}

/// What is done with an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Deed {
    /// It is made.
    Made,
    /// It is taken away.
    Deleted {
        /// The identity of the very object that somebody looked at.
        uid: String,
    },
}

/// The output for programs (docs/reference/json.md).
#[derive(Serialize)]
pub struct Report<'a> {
    applied: bool,
    meaning: &'a str,
    object: &'a Value,
    undo: &'a str,
}

impl Writing {
    /// An object that was found, taken away: what its author wrote can be written again, but for names that only their bearers sign (OVR-3).
    pub(crate) fn deleted(object: Key, found: &Value, meaning: String) -> Self {
        let uid = found.pointer("/metadata/uid").and_then(Value::as_str).unwrap_or_default();
        let mut spec = found.get("spec").cloned().unwrap_or_default();
        if let Some(fields) = spec.as_object_mut() {
            fields.retain(|field, _| field != "by" && field != "approvedBy");
        }
        let mut document = json!({
            "apiVersion": object.kind().api_version,
            "kind": object.kind().name,
            "metadata": {"name": &*object.name},
            "spec": spec,
        });
        if let (Some(namespace), Some(metadata)) =
            (&object.namespace, document.get_mut("metadata").and_then(Value::as_object_mut))
        {
            metadata.insert("namespace".to_owned(), json!(&**namespace));
        }
        Self {
            meaning,
            document,
            deed: Deed::Deleted { uid: uid.to_owned() },
            way_back: "kubectl create -f -, with the object above".to_owned(),
            object,
        }
    }

    /// What is written, for programs.
    pub fn report(&self, stage: Stage) -> Report<'_> {
        Report {
            applied: stage == Stage::Made,
            meaning: &self.meaning,
            object: &self.document,
            undo: &self.way_back,
        }
    }

    /// The same for people. JSON is YAML too: what stands there can be piped to kubectl or kept in a file.
    pub fn told(&self, stage: Stage) -> String {
        let would = match (stage, &self.deed) {
            (Stage::Proposed, Deed::Made) => "nothing was changed; with this object ",
            (Stage::Proposed, Deed::Deleted { .. }) => "nothing was changed; without this object ",
            (Stage::Made, _) => "",
        };
        let mut told = String::new();
        let _ = writeln!(told, "{would}{}", printable(&self.meaning));
        let object = escaped(&format!("{:#}", self.document));
        let _ = writeln!(told, "\nobject:\n{}", text::indented(2, &object));
        let _ = writeln!(told, "\nundo:\n  {}", printable(&self.way_back));
        told
    }
}
