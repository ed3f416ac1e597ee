//! Who tells a person at once that a field does not exist? A policy of the API server that warns, made from the same schema that judges.
//!
//! GATE-14: definitions keep what they do not know, so that the operator can judge it and close the gate; so the server refuses nothing, and
//! kubectl would say nothing either. This policy has the server say it in a warning. It never refuses: who mistypes a hold shall be held.

use std::fmt::Write as _;

use api::{
    crds, names,
    schema::{KINDS, Kind, STANZAS},
};
use serde_json::Value;

/// The template of the chart.
pub fn template() -> String {
    let mut text = String::from(
        "{{- /* Generated from the types in crates/api by crates/tidy/src/fields.rs; edit those instead. */}}\n\
         {{- if include \"tidegate.wanted\" (list .Values.warnOfUnknownFields \"admissionregistration.k8s.io/v1/ValidatingAdmissionPolicy\" .) }}\n\
         # A field that does not exist is kept, and the operator holds what it is part of (GATE-14); here the server tells whoever writes it, at once.\n\
         # It only warns: a hold with a mistyped field beside it has to hold.\n",
    );
    policy(&mut text, "policy-fields", KINDS, &["spec"]);
    text.push_str("---\n");
    policy(&mut text, "stanza-fields", STANZAS, &["spec", "changeManagement"]);
    text.push_str("{{- end }}\n");
    text
}

fn policy(text: &mut String, name: &str, kinds: &[Kind], place: &[&str]) {
    let rules = kinds.iter().map(|kind| {
        let (group, plural) = (kind.group(), names::plural(kind.name));
        format!(
            "    - apiGroups: [{group}]\n      apiVersions: [\"*\"]\n      operations: [CREATE, UPDATE]\n      resources: [{plural}]\n"
        )
    });
    let rules = rules.collect::<Vec<_>>().concat();
    let schema = kinds.first().map(crds::definition).unwrap_or_default();
    let schema = &schema["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
    let schema = place.iter().fold(schema, |schema, part| &schema["properties"][*part]);
    let path = place.join(".");
    let root = format!("object.{path}");
    let given: Vec<String> = (1..=place.len())
        .map(|depth| format!("has(object.{})", place[..depth].join(".")))
        .collect();
    let found = unknown(schema, &root, &path).join(" +\n      ");
    let _ = write!(
        text,
        "apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata:
  name: {{{{ include \"tidegate.name\" . }}}}-{name}
  labels:
    {{{{- include \"tidegate.labels\" . | nindent 4 }}}}
spec:
  # A warning stands in nobody's way.
  failurePolicy: Ignore
  matchConstraints:
    resourceRules:
{rules}  matchConditions:
  - name: given
    expression: \"{}\"
  variables:
  - name: unknown
    expression: >-
      {found}
  validations:
  - expression: \"variables.unknown.size() == 0\"
    messageExpression: >-
      'there is no field ' + variables.unknown.join(', ') + '; it is kept, and changes are held until it is gone or right'
    message: \"there is a field that nobody knows; it is kept, and changes are held until it is gone or right\"
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata:
  name: {{{{ include \"tidegate.name\" . }}}}-{name}
  labels:
    {{{{- include \"tidegate.labels\" . | nindent 4 }}}}
spec:
  policyName: {{{{ include \"tidegate.name\" . }}}}-{name}
  validationActions: [Warn]
",
        given.join(" && "),
    );
}

/// Lists of the paths that a schema does not know, one for each object in it. An element of a list is told by its list.
fn unknown(schema: &Value, root: &str, path: &str) -> Vec<String> {
    let Some(properties) = schema["properties"].as_object() else { return Vec::new() };
    let known: Vec<String> = properties.keys().map(|key| format!("'{key}'")).collect();
    let mut parts = vec![format!(
        "{root}.filter(key, !(key in [{}])).map(key, '{path}.' + key)",
        known.join(", ")
    )];
    for (key, below) in properties {
        let (inner, inner_path) = (format!("{root}.{key}"), format!("{path}.{key}"));
        let found = match below["type"].as_str() {
            Some("object") => unknown(below, &inner, &inner_path),
            Some("array") if below["items"]["properties"].is_object() => {
                let known = below["items"]["properties"].as_object().into_iter().flatten();
                let known: Vec<String> = known.map(|(key, _)| format!("'{key}'")).collect();
                vec![format!(
                    "({inner}.exists(item, item.exists(key, !(key in [{}]))) ? ['of an entry of {inner_path}'] : [])",
                    known.join(", ")
                )]
            }
            _ => Vec::new(),
        };
        if !found.is_empty() {
            parts.push(format!("(has({inner}) ? {} : [])", found.join(" + ")));
        }
    }
    parts
}
