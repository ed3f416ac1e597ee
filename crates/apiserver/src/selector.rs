//! Which objects does a selector choose?

use std::collections::BTreeMap;

use serde_json::Value;

use crate::{meta, registry::Resolved, status::Refusal};

/// A label requirement.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Requirement {
    In(String, Vec<String>),
    NotIn(String, Vec<String>),
    Exists(String),
    Absent(String),
}

/// A parsed label selector; empty selects everything.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Labels(Vec<Requirement>);

/// A parsed field selector; empty selects everything.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Fields(Vec<(String, bool, String)>);

/// Both selectors of a request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Selector {
    pub(crate) labels: Labels,
    pub(crate) fields: Fields,
}

impl Selector {
    pub(crate) fn is_everything(&self) -> bool {
        self.labels.0.is_empty() && self.fields.0.is_empty()
    }

    pub(crate) fn matches(&self, object: &Value) -> bool {
        self.labels.matches(object) && self.fields.matches(object)
    }
}

impl Labels {
    pub(crate) fn parse(text: &str) -> Result<Self, Refusal> {
        let refuse =
            |why: String| Refusal::bad_request(format!("unable to parse requirement: {why}"));
        let mut found = Vec::new();
        for part in split_outside_parentheses(text) {
            let part = part.trim();
            if part.is_empty() {
                continue;
            }
            if part.starts_with('=') {
                let why = "found '=', expected: !, identifier, or 'end of string'";
                return Err(Refusal::bad_request(why));
            }
            let requirement = requirement(part).ok_or_else(|| {
                let words: Vec<&str> = part.split_whitespace().collect();
                refuse(match words.as_slice() {
                    [_, "in" | "notin", open, ..] if open.starts_with('(') => {
                        "found '', expected: ',' or ')'".to_owned()
                    }
                    [_, "in" | "notin", found, ..] => format!("found '{found}' expected: '('"),
                    [_, "in" | "notin"] => "found '' expected: '('".to_owned(),
                    [_, found, ..] => {
                        format!("found '{found}', expected: in, notin, =, ==, !=, gt, lt")
                    }
                    _ => format!("found '{part}', expected: !, identifier, or 'end of string'"),
                })
            })?;
            let (Requirement::In(key, _)
            | Requirement::NotIn(key, _)
            | Requirement::Exists(key)
            | Requirement::Absent(key)) = &requirement;
            if let Some(problem) = crate::name::qualified_problems(key).into_iter().next() {
                return Err(refuse(format!("<nil>: Invalid value: {key:?}: {problem}")));
            }
            if let Requirement::In(key, values) | Requirement::NotIn(key, values) = &requirement
                && let Some(bad) = values.iter().position(|v| !crate::name::is_label_value(v))
            {
                let value = &values[bad];
                return Err(refuse(format!(
                    "values[{bad}][{key}]: Invalid value: {value:?}: {}",
                    crate::name::LABEL_VALUE
                )));
            }
            found.push(requirement);
        }
        Ok(Self(found))
    }

    /// From a `LabelSelector` object; an absent selector is given by the caller's own rule.
    pub(crate) fn from_object(selector: &Value) -> Self {
        let mut found = Vec::new();
        if let Some(labels) = selector.get("matchLabels").and_then(Value::as_object) {
            for (key, value) in labels {
                found.push(Requirement::In(
                    key.clone(),
                    vec![value.as_str().unwrap_or_default().to_owned()],
                ));
            }
        }
        let expressions = selector.get("matchExpressions").and_then(Value::as_array);
        for expression in expressions.into_iter().flatten() {
            let key = expression.get("key").and_then(Value::as_str).unwrap_or_default().to_owned();
            let values = || -> Vec<String> {
                let list = expression.get("values").and_then(Value::as_array);
                list.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
            };
            match expression.get("operator").and_then(Value::as_str) {
                Some("In") => found.push(Requirement::In(key, values())),
                Some("NotIn") => found.push(Requirement::NotIn(key, values())),
                Some("Exists") => found.push(Requirement::Exists(key)),
                Some("DoesNotExist") => found.push(Requirement::Absent(key)),
                // An unknown operator selects nothing.
                _ => found.push(Requirement::In(key, Vec::new())),
            }
        }
        Self(found)
    }

    pub(crate) fn matches(&self, object: &Value) -> bool {
        self.0.is_empty() || self.matches_labels(&labels(object))
    }

    fn matches_labels(&self, labels: &BTreeMap<&str, &str>) -> bool {
        let has = |key: &String, values: &[String]| {
            labels.get(key.as_str()).is_some_and(|v| values.iter().any(|w| w == v))
        };
        self.0.iter().all(|requirement| match requirement {
            Requirement::In(key, values) => has(key, values),
            Requirement::NotIn(key, values) => !has(key, values),
            Requirement::Exists(key) => labels.contains_key(key.as_str()),
            Requirement::Absent(key) => !labels.contains_key(key.as_str()),
        })
    }
}

fn labels(object: &Value) -> BTreeMap<&str, &str> {
    let map = meta::field(object, "labels").and_then(Value::as_object);
    map.into_iter().flatten().filter_map(|(k, v)| Some((k.as_str(), v.as_str()?))).collect()
}

fn split_outside_parentheses(text: &str) -> Vec<&str> {
    let (mut depth, mut start, mut parts) = (0, 0, Vec::new());
    for (index, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(text.get(start..index).unwrap_or_default());
                start = index + 1;
            }
            _ => {}
        }
    }
    parts.push(text.get(start..).unwrap_or_default());
    parts
}

fn requirement(part: &str) -> Option<Requirement> {
    if let Some(key) = part.strip_prefix('!') {
        return Some(Requirement::Absent(key.trim().to_owned()));
    }
    for (operator, negative) in [("!=", true), ("==", false), ("=", false)] {
        if let Some((key, value)) = part.split_once(operator) {
            let (key, values) = (key.trim().to_owned(), vec![value.trim().to_owned()]);
            return Some(if negative {
                Requirement::NotIn(key, values)
            } else {
                Requirement::In(key, values)
            });
        }
    }
    let mut words = part.splitn(2, char::is_whitespace);
    let key = words.next()?.to_owned();
    let Some(rest) = words.next().map(str::trim).filter(|r| !r.is_empty()) else {
        return Some(Requirement::Exists(key));
    };
    let values = |rest: &str| -> Option<Vec<String>> {
        let inner = rest.trim().strip_prefix('(')?.strip_suffix(')')?;
        Some(inner.split(',').map(|v| v.trim().to_owned()).collect())
    };
    match rest.strip_prefix("notin") {
        Some(list) => Some(Requirement::NotIn(key, values(list)?)),
        None => Some(Requirement::In(key, values(rest.strip_prefix("in")?)?)),
    }
}

impl Fields {
    /// Parses a field selector and refuses labels that the kind does not support.
    pub(crate) fn parse(text: &str, kind: &Resolved) -> Result<Self, Refusal> {
        let mut found = Vec::new();
        for part in text.split(',').filter(|p| !p.is_empty()) {
            let split = ["!=", "==", "="]
                .into_iter()
                .find_map(|op| part.split_once(op).map(|(k, v)| (k, op != "!=", v)));
            let Some((key, equal, value)) = split else {
                let why = format!("invalid selector: '{text}'; can't understand '{part}'");
                return Err(Refusal::bad_request(why));
            };
            let known = matches!(key, "metadata.name" | "metadata.namespace")
                || kind.version.selectable.iter().any(|f| f == key);
            if !known {
                let why = if kind.is_custom() || !kind.version.selectable.is_empty() {
                    format!("field label not supported: {key}")
                } else {
                    format!(
                        "{key:?} is not a known field selector: only \"metadata.name\", \"metadata.namespace\""
                    )
                };
                return Err(Refusal::bad_request(why));
            }
            found.push((key.to_owned(), equal, value.to_owned()));
        }
        Ok(Self(found))
    }

    /// The one name that can match, if the selector names one.
    pub(crate) fn name(&self) -> Option<&str> {
        self.0
            .iter()
            .find(|(key, equal, _)| *equal && key == "metadata.name")
            .map(|(_, _, v)| v.as_str())
    }

    fn matches(&self, object: &Value) -> bool {
        self.0.iter().all(|(key, equal, wanted)| (text_of(object, key) == *wanted) == *equal)
    }
}

/// The text that a field label compares with.
fn text_of(object: &Value, key: &str) -> String {
    // The event's source is matched by component, as the real server does.
    let path: Vec<&str> = match key {
        "source" => vec!["source", "component"],
        other => other.split('.').collect(),
    };
    match meta::at(object, &path) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Bool(b)) => b.to_string(),
        Some(Value::Number(n)) => n.to_string(),
        None if matches!(key, "spec.unschedulable" | "spec.hostNetwork") => "false".to_owned(),
        _ => String::new(),
    }
}
