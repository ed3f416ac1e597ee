//! JSON patch in the dialect of the Go library that API servers use.
//!
//! It differs from RFC 6902 where clients depend on it: testing a missing path against null succeeds, and negative
//! indexes count from the end.

use serde_json::Value;

/// Why a patch did not apply.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Failure {
    /// The patch itself is malformed: 400.
    #[error("{0}")]
    Malformed(String),
    /// It has more operations than anybody needs: 413.
    #[error("{0}")]
    TooLong(String),
    /// It does not fit the object: 422.
    #[error("{0}")]
    Inapplicable(String),
}

/// As many operations as the real server takes.
const MOST_OPERATIONS: usize = 10_000;

/// Applies all operations or none; null is a patch without any.
pub(crate) fn apply(target: &Value, patch: &Value) -> Result<Value, Failure> {
    if patch.is_null() {
        return Ok(target.clone());
    }
    let operations = patch.as_array().ok_or_else(|| {
        Failure::Malformed(
            "error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp".into(),
        )
    })?;
    if operations.len() > MOST_OPERATIONS {
        let count = operations.len();
        return Err(Failure::TooLong(format!(
            "The allowed maximum operations in a JSON patch is {MOST_OPERATIONS}, got {count}"
        )));
    }
    let mut result = target.clone();
    for operation in operations {
        if !operation.is_object() {
            let got = crate::schema::validate::type_name(operation).replace("integer", "number");
            let why = format!(
                "error decoding patch: json: cannot unmarshal {got} into Go value of type handlers.jsonPatchOp"
            );
            return Err(Failure::Malformed(why));
        }
        let text = |key: &str| operation.get(key).and_then(Value::as_str);
        let kind = text("op").ok_or_else(|| Failure::Inapplicable("missing op".into()))?;
        let path =
            pointer(text("path").ok_or_else(|| Failure::Inapplicable("missing path".into()))?)?;
        let from =
            || pointer(text("from").ok_or_else(|| Failure::Inapplicable("missing from".into()))?);
        let value = || operation.get("value").cloned().unwrap_or(Value::Null);
        match kind {
            "add" => add(&mut result, &path, value())?,
            "remove" => {
                remove(&mut result, &path)?;
            }
            // Replacing a field that is not there puts it there.
            "replace" => replace(&mut result, &path, value())?,
            "move" => {
                let taken = remove(&mut result, &from()?)?;
                add(&mut result, &path, taken)?;
            }
            "copy" => {
                let from = from()?;
                let found = find(&result, &from).cloned().ok_or_else(|| missing("copy", &from))?;
                add(&mut result, &path, found)?;
            }
            "test" => {
                let found = find(&result, &path).cloned().unwrap_or(Value::Null);
                if found != value() {
                    let shown = format!("/{}", path.join("/"));
                    return Err(Failure::Inapplicable(format!(
                        "testing value {shown} failed: test failed"
                    )));
                }
            }
            other => return Err(Failure::Inapplicable(format!("Unexpected kind: {other}"))),
        }
    }
    Ok(result)
}

fn pointer(text: &str) -> Result<Vec<String>, Failure> {
    if text.is_empty() {
        return Ok(Vec::new());
    }
    let rest = text
        .strip_prefix('/')
        .ok_or_else(|| Failure::Inapplicable(format!("invalid path {text:?}")))?;
    Ok(rest.split('/').map(|s| s.replace("~1", "/").replace("~0", "~")).collect())
}

fn missing(what: &str, path: &[String]) -> Failure {
    let shown = format!("/{}", path.join("/"));
    Failure::Inapplicable(format!(
        "{what} operation does not apply: doc is missing path: {shown}: missing value"
    ))
}

fn index(text: &str, length: usize) -> Option<usize> {
    let number: i64 = text.parse().ok()?;
    let place = if number < 0 { number + length as i64 } else { number };
    usize::try_from(place).ok()
}

fn find<'a>(value: &'a Value, path: &[String]) -> Option<&'a Value> {
    path.iter().try_fold(value, |value, step| match value {
        Value::Object(map) => map.get(step),
        Value::Array(items) => items.get(index(step, items.len())?),
        _ => None,
    })
}

fn parent<'a>(value: &'a mut Value, path: &[String]) -> Option<&'a mut Value> {
    path.iter().try_fold(value, |value, step| match value {
        Value::Object(map) => map.get_mut(step),
        Value::Array(items) => {
            let at = index(step, items.len())?;
            items.get_mut(at)
        }
        _ => None,
    })
}

fn add(target: &mut Value, path: &[String], value: Value) -> Result<(), Failure> {
    let Some((last, above)) = path.split_last() else {
        *target = value;
        return Ok(());
    };
    match parent(target, above) {
        Some(Value::Object(map)) => {
            map.insert(last.clone(), value);
            Ok(())
        }
        Some(Value::Array(items)) => {
            if last == "-" {
                items.push(value);
                return Ok(());
            }
            // Inserting at a negative index counts from one past the end.
            let at = index(last, items.len() + usize::from(last.starts_with('-')));
            match at.filter(|i| *i <= items.len()) {
                Some(at) => {
                    items.insert(at, value);
                    Ok(())
                }
                None => Err(Failure::Inapplicable(format!(
                    "add operation does not apply: error in add for path: '/{}': Unable to access invalid index: {last}: invalid index referenced",
                    path.join("/")
                ))),
            }
        }
        _ => Err(missing("add", path)),
    }
}

fn replace(target: &mut Value, path: &[String], value: Value) -> Result<(), Failure> {
    let Some((last, above)) = path.split_last() else {
        *target = value;
        return Ok(());
    };
    match parent(target, above) {
        Some(Value::Object(map)) => {
            map.insert(last.clone(), value);
            Ok(())
        }
        Some(Value::Array(items)) => {
            let at = index(last, items.len());
            let slot =
                at.and_then(|at| items.get_mut(at)).ok_or_else(|| missing("replace", path))?;
            *slot = value;
            Ok(())
        }
        _ => Err(missing("replace", path)),
    }
}

fn remove(target: &mut Value, path: &[String]) -> Result<Value, Failure> {
    let Some((last, above)) = path.split_last() else {
        return Err(missing("remove", path));
    };
    match parent(target, above) {
        Some(Value::Object(map)) => map.remove(last).ok_or_else(|| missing("remove", path)),
        Some(Value::Array(items)) => match index(last, items.len()).filter(|i| *i < items.len()) {
            Some(at) => Ok(items.remove(at)),
            None => Err(missing("remove", path)),
        },
        _ => Err(missing("remove", path)),
    }
}
