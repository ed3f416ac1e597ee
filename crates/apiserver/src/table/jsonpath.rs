//! The part of Kubernetes `JSONPath` that printer columns may use.

use serde_json::Value;

/// All values at `path`, such as `.status.conditions[?(@.type=="Ready")].status`.
pub(crate) fn find<'a>(value: &'a Value, path: &str) -> Vec<&'a Value> {
    let mut found = vec![value];
    let mut rest = path.trim().trim_start_matches('$');
    while !rest.is_empty() {
        let (next, tail) = if let Some(inner) = rest.strip_prefix('[') {
            let Some(end) = closing(inner) else {
                return Vec::new();
            };
            let (step, tail) = inner.split_at(end);
            (bracket(&found, step), tail.get(1..).unwrap_or_default())
        } else {
            let (name, tail) = field(rest.trim_start_matches('.'));
            (step_into(&found, &name), tail)
        };
        if tail.len() >= rest.len() {
            return Vec::new();
        }
        found = next;
        rest = tail;
    }
    found
}

/// A field name up to the next dot or bracket; a backslash takes the next character literally.
fn field(text: &str) -> (String, &str) {
    let mut name = String::new();
    let mut letters = text.char_indices();
    while let Some((index, letter)) = letters.next() {
        match letter {
            '\\' => name.extend(letters.next().map(|(_, c)| c)),
            '.' | '[' => return (name, text.get(index..).unwrap_or_default()),
            other => name.push(other),
        }
    }
    (name, "")
}

fn closing(text: &str) -> Option<usize> {
    let mut quote = None;
    for (index, letter) in text.char_indices() {
        match (quote, letter) {
            (None, '\'' | '"') => quote = Some(letter),
            (Some(q), l) if q == l => quote = None,
            (None, ']') => return Some(index),
            _ => {}
        }
    }
    None
}

fn step_into<'a>(found: &[&'a Value], name: &str) -> Vec<&'a Value> {
    if name == "*" {
        return found.iter().flat_map(|v| children(v)).collect();
    }
    found.iter().filter_map(|v| v.get(name)).collect()
}

fn children(value: &Value) -> Vec<&Value> {
    match value {
        Value::Array(items) => items.iter().collect(),
        Value::Object(map) => map.values().collect(),
        _ => Vec::new(),
    }
}

fn bracket<'a>(found: &[&'a Value], step: &str) -> Vec<&'a Value> {
    let step = step.trim();
    if let Some(condition) = step.strip_prefix("?(").and_then(|s| s.strip_suffix(')')) {
        let all = found.iter().flat_map(|v| children(v));
        return all.filter(|item| holds(item, condition)).collect();
    }
    if step == "*" {
        return found.iter().flat_map(|v| children(v)).collect();
    }
    let unquoted = step.trim_matches(['\'', '"']);
    if unquoted.len() != step.len() {
        return found.iter().filter_map(|v| v.get(unquoted)).collect();
    }
    let pick = |value: &&'a Value| -> Option<&'a Value> {
        let list = value.as_array()?;
        let index: i64 = step.parse().ok()?;
        let place = if index < 0 { index + list.len() as i64 } else { index };
        list.get(usize::try_from(place).ok()?)
    };
    found.iter().filter_map(pick).collect()
}

fn holds(item: &Value, condition: &str) -> bool {
    for (operator, equal) in [("==", true), ("!=", false)] {
        if let Some((left, right)) = condition.split_once(operator) {
            let path = left.trim().trim_start_matches('@');
            let wanted = right.trim().trim_matches(['\'', '"']);
            let has = find(item, path).first().map(|v| match v {
                Value::String(text) => text.clone(),
                other => other.to_string(),
            });
            return (has.as_deref() == Some(wanted)) == equal;
        }
    }
    !find(item, condition.trim().trim_start_matches('@')).is_empty()
}
