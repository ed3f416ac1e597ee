//! What is wrong with a freeze? Its shape, and what its definition says between fields, in the same words (OVR-1).

use api::schema::{Kind, Scope};
use serde_json::Value;

use super::scope_problem;
use crate::document::{
    format,
    problem::{Code, FieldPath, Problem},
    shape,
};

/// What can be frozen that is in no namespace.
const OF_THE_CLUSTER: [&str; 2] = ["MachineConfigPools", "ClusterVersion"];

/// Everything that is wrong with a freeze.
pub fn freeze(kind: &'static Kind, document: &Value) -> Vec<Problem> {
    let schema = kind.schema().pointer("/properties/spec").unwrap_or(&Value::Null);
    let spec = document.get("spec").unwrap_or(&Value::Null);
    let path = FieldPath::of("spec");
    let mut problems = shape::check_part(schema, spec, &path);
    problems.extend(scope_problem(kind, document));
    problems.extend(span(spec, &path));
    let reason = spec.get("reason").and_then(Value::as_str);
    if reason.is_some_and(|reason| reason.trim().is_empty() || reason.contains(['\r', '\n'])) {
        let detail = "the reason is not a line of text";
        let problem = Problem::new(&path.key("reason"), Code::BadFormat, detail);
        problems.push(problem.hint("say why, in one line: whoever is held reads it"));
    }
    let holds = spec.get("holds").and_then(Value::as_array);
    let mut any_of_cluster = false;
    for (place, hold) in holds.into_iter().flatten().enumerate() {
        let path = path.key("holds").index(place);
        let what = hold.get("what").and_then(Value::as_str).unwrap_or_default();
        let of_cluster = OF_THE_CLUSTER.contains(&what);
        any_of_cluster |= of_cluster;
        problems.extend(part(what, hold, &path));
        if of_cluster && kind.scope == Scope::Namespaced {
            let detail = format!("{what} belongs to the cluster");
            let problem = Problem::new(&path.key("what"), Code::NotAllowed, detail);
            problems.push(problem.hint("freeze it by a ClusterChangeFreeze"));
        }
    }
    if any_of_cluster && given(spec, "namespaceSelector") {
        let detail = "MachineConfigPools and ClusterVersion are in no namespace";
        let problem = Problem::new(&path.key("namespaceSelector"), Code::Conflict, detail);
        problems.push(problem.hint("freeze them without namespaceSelector"));
    }
    problems
}

/// One that ends before it begins says nothing that anybody can mean.
fn span(spec: &Value, path: &FieldPath) -> Option<Problem> {
    let instant = |field: &str| format::date_time(spec.get(field).and_then(Value::as_str)?).ok();
    let (from, until) = (instant("from")?, instant("until")?);
    (until <= from).then(|| {
        let detail = format!("until must be later than from, which is {from}");
        Problem::new(&path.key("until"), Code::OutOfRange, detail)
            .hint("write a later instant, or leave until out")
    })
}

fn part(what: &str, hold: &Value, path: &FieldPath) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut conflict = |field: &str, detail: &str, hint: &str| {
        problems.push(Problem::new(&path.key(field), Code::Conflict, detail).hint(hint));
    };
    if what == "ClusterVersion" && given(hold, "names") {
        conflict("names", "there is one ClusterVersion", "leave names out");
    }
    if OF_THE_CLUSTER.contains(&what) && given(hold, "selector") {
        conflict(
            "selector",
            "selector is for what runs in namespaces",
            "choose MachineConfigPools by names",
        );
    }
    let names = hold.get("names").and_then(Value::as_array);
    let masters = names.is_some_and(|names| names.iter().any(|name| name == "master"));
    if what == "MachineConfigPools" && masters {
        conflict("names", "the masters follow ClusterVersion", "freeze that");
    }
    problems
}

fn given(value: &Value, field: &str) -> bool {
    value.get(field).is_some_and(|value| !value.is_null())
}
