//! How is a change of one object told? The meaning first, then the patch, then how to undo it.

use std::fmt::Write as _;

use serde::Serialize;
use serde_json::Value;
use tidegate_core::document::key::Key;

use crate::{
    safe::{escaped, printable},
    text,
};

/// A change of one object.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// The object.
    pub object: Key,
    /// What it will mean, in a sentence without its full stop.
    pub meaning: String,
    /// The merge patch.
    pub patch: Value,
    /// The merge patch that takes it back.
    pub undo: Value,
    /// The command that takes it back, where there is a better one than that patch.
    pub way_back: Option<String>,
}

/// Whether a change has been made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Nobody has sent it.
    Proposed,
    /// The server has taken it.
    Made,
}

/// The output for programs (docs/reference/json.md).
#[derive(Serialize)]
pub struct Report<'a> {
    kind: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    namespace: Option<&'a str>,
    name: &'a str,
    applied: bool,
    meaning: &'a str,
    patch: &'a Value,
    undo: &'a Value,
}

impl Change {
    /// The change for programs.
    pub fn report(&self, stage: Stage) -> Report<'_> {
        Report {
            kind: self.object.kind().name,
            namespace: self.object.namespace.as_deref(),
            name: &self.object.name,
            applied: stage == Stage::Made,
            meaning: &self.meaning,
            patch: &self.patch,
            undo: &self.undo,
        }
    }

    /// The change for people.
    pub fn told(&self, stage: Stage) -> String {
        let mut told = String::new();
        let would = match stage {
            Stage::Proposed => "nothing was changed; with this patch ",
            Stage::Made => "",
        };
        let _ = writeln!(told, "{would}{}", printable(&self.meaning));
        let patch = escaped(&format!("{:#}", self.patch));
        let _ = writeln!(told, "\npatch:\n{}", text::indented(2, &patch));
        let way_back = self.way_back.clone();
        let way_back = way_back.unwrap_or_else(|| kubectl(&self.object, &self.undo));
        let _ = writeln!(told, "\nundo:\n  {way_back}");
        told
    }
}

/// The command that sends a patch.
pub fn kubectl(object: &Key, patch: &Value) -> String {
    let plural = api::names::plural(object.kind().name);
    let namespace =
        object.namespace.as_ref().map_or_else(String::new, |namespace| format!(" -n {namespace}"));
    let name = &object.name;
    // A quote in a reason must not end the quoting of a shell.
    let patch = escaped(&patch.to_string()).replace('\'', r"'\''");
    format!("kubectl patch {plural} {name}{namespace} --type merge -p '{patch}'")
}

#[cfg(test)]
mod tests {
    use api::kinds;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_reason_cannot_end_the_quoting_of_a_shell() {
        let key = Key::new(&kinds::MACHINE_CONFIG_POOL, None, "worker");
        assert_eq!(
            kubectl(&key, &json!({"reason": "it's"})),
            r#"kubectl patch machineconfigpools worker --type merge -p '{"reason":"it'\''s"}'"#
        );
    }

    #[test]
    fn a_change_tells_how_it_is_taken_back() {
        let change = Change {
            object: Key::new(&kinds::NODE, None, "n"),
            meaning: "Node/n may go".into(),
            patch: json!({"a": 1}),
            undo: json!({"a": null}),
            way_back: None,
        };
        assert_eq!(
            change.told(Stage::Proposed),
            "nothing was changed; with this patch Node/n may go\n\npatch:\n  {\n    \"a\": 1\n  }\n\n\
             undo:\n  kubectl patch nodes n --type merge -p '{\"a\":null}'\n"
        );
        let undo = Some("tidegate node forget n".to_owned());
        let change = Change { way_back: undo, ..change };
        assert!(change.told(Stage::Made).ends_with("undo:\n  tidegate node forget n\n"));
    }
}
