//! What is wrong with a guardrail? Its shape, and what its definition says between fields, in the same words (GRD-6).

use api::schema::Kind;
use serde_json::Value;

use super::scope_problem;
use crate::document::{
    format,
    problem::{Code, FieldPath, Problem},
    shape,
};

/// Everything that is wrong with a guardrail.
pub fn guardrail(kind: &'static Kind, document: &Value) -> Vec<Problem> {
    let schema = kind.schema().pointer("/properties/spec").unwrap_or(&Value::Null);
    let spec = document.get("spec").unwrap_or(&Value::Null);
    let path = FieldPath::of("spec");
    let mut problems = shape::check_part(schema, spec, &path);
    problems.extend(scope_problem(kind, document));
    let demands = spec.get("minimumHours").and_then(Value::as_array);
    for (place, demand) in demands.into_iter().flatten().enumerate() {
        problems.extend(hours(demand, &path.key("minimumHours").index(place)));
    }
    if demands_nothing(spec) && problems.is_empty() {
        let problem = Problem::new(&path, Code::NeverFires, "the guardrail demands nothing");
        problems.push(problem.hint("write minimumHours, strategies, longestExclusion, longestOverride, longestFreeze, approvals, within or writers"));
    }
    problems
}

fn hours(demand: &Value, path: &FieldPath) -> Vec<Problem> {
    let number = |field: &str| demand.get(field).and_then(Value::as_i64);
    let stretch = demand.get("stretch").and_then(Value::as_str);
    let stretch = stretch.and_then(|text| format::duration(text).ok());
    let mut problems = Vec::new();
    let Some(days) = number("inDays") else { return problems };
    if number("hours").is_some_and(|hours| hours > days * 24) {
        let detail = "there are not as many hours in these days";
        problems.push(Problem::new(&path.key("hours"), Code::OutOfRange, detail));
    }
    if stretch.is_some_and(|stretch| i64::from(stretch) > days * 86_400) {
        let detail = "stretch must not be longer than inDays";
        problems.push(Problem::new(&path.key("stretch"), Code::OutOfRange, detail));
    }
    problems
}

fn demands_nothing(spec: &Value) -> bool {
    let demands = [
        "minimumHours",
        "strategies",
        "longestExclusion",
        "longestOverride",
        "longestFreeze",
        "approvals",
        "within",
        "writers",
    ];
    spec.is_object() && demands.iter().all(|field| spec.get(field).is_none_or(Value::is_null))
}
