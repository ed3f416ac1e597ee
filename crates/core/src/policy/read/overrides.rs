//! What is wrong with an override? Its shape, and what its definition says between fields, in the same words (OVR-2).

use api::{
    overrides::MOST_DAYS,
    schema::{Kind, Scope, gated_named},
};
use serde_json::Value;

use super::scope_problem;
use crate::document::{
    format,
    problem::{Code, FieldPath, Problem},
    shape,
};

/// What goes to one release or one configuration that has a name.
const OF_ONE_CHANGE: [&str; 2] = ["ClusterVersion", "MachineConfigPool"];

/// Everything that is wrong with an override.
pub fn overriding(kind: &'static Kind, document: &Value) -> Vec<Problem> {
    let schema = kind.schema().pointer("/properties/spec").unwrap_or(&Value::Null);
    let spec = document.get("spec").unwrap_or(&Value::Null);
    let path = FieldPath::of("spec");
    let mut problems = shape::check_part(schema, spec, &path);
    problems.extend(scope_problem(kind, document));
    problems.extend(too_long(document, &path));
    let text = |field: &str| spec.get(field).and_then(Value::as_str);
    if text("reason").is_some_and(|text| text.trim().is_empty() || text.contains(['\r', '\n'])) {
        let detail = "the reason is not a line of text";
        let problem = Problem::new(&path.key("reason"), Code::BadFormat, detail);
        problems.push(problem.hint("say why, in one line: whoever asks later reads it"));
    }
    let approver = text("approvedBy");
    if approver.is_some() && (text("by").is_none() || approver == text("by")) {
        let detail = "somebody else than by approves, so by must be there";
        problems.push(Problem::new(&path.key("approvedBy"), Code::Conflict, detail));
    }
    problems.extend(target(kind, spec, &path.key("target")));
    problems.extend(only(spec, &path.key("only")));
    problems
}

/// What must be open for longer is no exception.
fn too_long(document: &Value, path: &FieldPath) -> Option<Problem> {
    let instant = |pointer: &str| {
        let text = document.pointer(pointer).and_then(Value::as_str)?;
        format::date_time(text).ok()
    };
    let (created, until) = (instant("/metadata/creationTimestamp")?, instant("/spec/until")?);
    let most = created.saturating_add(MOST_DAYS * 86_400);
    (until > most).then(|| {
        let detail = format!("an override lasts {MOST_DAYS} days at most, which is until {most}");
        Problem::new(&path.key("until"), Code::OutOfRange, detail)
            .hint("write an earlier instant, or a policy that permits more")
    })
}

fn target(kind: &Kind, spec: &Value, path: &FieldPath) -> Option<Problem> {
    if kind.scope == Scope::Namespaced {
        return None;
    }
    let target = spec.get("target")?;
    let named = gated_named(target.get("kind").and_then(Value::as_str)?)?;
    let given = given(target, "namespace");
    let (code, detail, hint) = match named.scope {
        Scope::Namespaced if !given => {
            let detail = format!("a {} is in a namespace", named.name);
            (Code::MissingField, detail, "say in which")
        }
        Scope::Cluster if given => {
            let detail = format!("a {} is in no namespace", named.name);
            (Code::Conflict, detail, "leave namespace out")
        }
        Scope::Namespaced | Scope::Cluster => return None,
    };
    Some(Problem::new(&path.key("namespace"), code, detail).hint(hint))
}

fn only(spec: &Value, path: &FieldPath) -> Option<Problem> {
    let only = spec.get("only").filter(|only| only.is_object())?;
    let kind = spec.pointer("/target/kind").and_then(Value::as_str).unwrap_or_default();
    let conflict = |path: &FieldPath, detail: &str, hint: &str| {
        Some(Problem::new(path, Code::Conflict, detail).hint(hint))
    };
    if !OF_ONE_CHANGE.contains(&kind) {
        let detail = "only is for a ClusterVersion or a MachineConfigPool";
        return conflict(path, detail, "leave only out");
    }
    if given(only, "release") == given(only, "renderedConfig") {
        let hint = "write one of them";
        return conflict(path, "either release or renderedConfig may start, and one does", hint);
    }
    if given(only, "release") && kind != "ClusterVersion" {
        let detail = "a release is what a ClusterVersion goes to";
        return conflict(&path.key("release"), detail, "write renderedConfig for nodes");
    }
    None
}

fn given(value: &Value, field: &str) -> bool {
    value.get(field).is_some_and(|value| !value.is_null())
}
