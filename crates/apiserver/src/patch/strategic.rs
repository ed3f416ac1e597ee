//! Strategic merge patch, for built-in kinds: lists merge by key where the kind says so.

use serde_json::{Map, Value};

use crate::schema::Schema;

/// Merges `patch` into `target`, obeying `$patch`, `$setElementOrder`, `$deleteFromPrimitiveList` and `$retainKeys`.
pub(crate) fn apply(schema: Option<&Schema>, target: &mut Value, patch: &Value) {
    let Value::Object(changes) = patch else {
        *target = patch.clone();
        return;
    };
    match changes.get("$patch").and_then(Value::as_str) {
        Some("replace") => {
            let mut whole = changes.clone();
            whole.remove("$patch");
            *target = Value::Object(whole);
            return;
        }
        Some("delete") => {
            *target = Value::Object(Map::new());
            return;
        }
        _ => {}
    }
    if !target.is_object() {
        *target = Value::Object(Map::new());
    }
    let Some(map) = target.as_object_mut() else {
        return;
    };
    if let Some(keep) = changes.get("$retainKeys").and_then(Value::as_array) {
        map.retain(|key, _| keep.iter().any(|k| k.as_str() == Some(key)));
    }
    for (key, change) in changes {
        if let Some(field) = key.strip_prefix("$deleteFromPrimitiveList/") {
            let doomed = change.as_array().cloned().unwrap_or_default();
            if let Some(items) = map.get_mut(field).and_then(Value::as_array_mut) {
                items.retain(|item| !doomed.contains(item));
            }
            continue;
        }
        if key.starts_with('$') {
            continue;
        }
        if change.is_null() {
            map.remove(key);
            continue;
        }
        let sub = schema.and_then(|s| s.field(key)).map(AsRef::as_ref);
        let order = changes.get(&format!("$setElementOrder/{key}")).and_then(Value::as_array);
        match (change, sub.and_then(|s| s.patch_merge_key.as_deref())) {
            (Value::Array(items), Some(merge_key)) => {
                let slot = map.entry(key.clone()).or_insert_with(|| Value::Array(Vec::new()));
                list(sub, slot, items, merge_key, order);
            }
            (Value::Object(_), _)
                if !sub.is_some_and(|s| s.atomic_map && s.definition.ends_with("NodeSelector")) =>
            {
                apply(sub, map.entry(key.clone()).or_insert(Value::Null), change);
            }
            _ => {
                map.insert(key.clone(), change.clone());
            }
        }
    }
}

/// Directives are known words, wherever they stand.
pub(crate) fn check(patch: &Value) -> Result<(), String> {
    match patch {
        Value::Object(changes) => {
            match changes.get("$patch").map(|d| d.as_str().unwrap_or_default()) {
                None | Some("replace" | "delete" | "merge") => {}
                Some(other) => return Err(format!("Unknown patch type found: {other}")),
            }
            changes.values().try_for_each(check)
        }
        Value::Array(items) => items.iter().try_for_each(check),
        _ => Ok(()),
    }
}

fn list(
    schema: Option<&Schema>,
    slot: &mut Value,
    changes: &[Value],
    key: &str,
    order: Option<&Vec<Value>>,
) {
    if !slot.is_array() {
        *slot = Value::Array(Vec::new());
    }
    let Some(items) = slot.as_array_mut() else {
        return;
    };
    let before = items.clone();
    if key.is_empty() {
        for change in changes {
            if !items.contains(change) {
                items.push(change.clone());
            }
        }
    } else {
        if changes.iter().any(|c| directive(c) == Some("replace")) {
            items.clear();
        }
        let below = schema.and_then(|s| s.items.as_deref());
        for change in changes {
            let same = |item: &Value| item.get(key).is_some() && item.get(key) == change.get(key);
            match directive(change) {
                Some("delete") => items.retain(|item| !same(item)),
                Some("replace") if change.get(key).is_none() => {}
                _ => {
                    if let Some(item) = items.iter_mut().find(|item| same(item)) {
                        apply(below, item, change);
                    } else {
                        let mut fresh = Value::Object(Map::new());
                        apply(below, &mut fresh, change);
                        items.push(fresh);
                    }
                }
            }
        }
    }
    let named: Vec<Value> = match order {
        Some(order) => order.clone(),
        None => changes.iter().filter(|c| directive(c) != Some("delete")).cloned().collect(),
    };
    arrange(items, &named, &before, key);
}

/// Items that the patch names stand in the patch's order, the others in their old order; where both were there before,
/// their old order decides who comes first, and otherwise the patch does.
fn arrange(items: &mut Vec<Value>, named: &[Value], before: &[Value], key: &str) {
    let same = |a: &Value, b: &Value| {
        if key.is_empty() { a == b } else { a.get(key) == b.get(key) }
    };
    let place = |list: &[Value], item: &Value| list.iter().position(|other| same(other, item));
    let (mut patched, others): (Vec<Value>, Vec<Value>) =
        std::mem::take(items).into_iter().partition(|item| place(named, item).is_some());
    patched.sort_by_key(|item| place(named, item));
    let mut others = others.into_iter().peekable();
    for item in patched {
        while let Some(other) = others.peek() {
            match (place(before, other), place(before, &item)) {
                (Some(a), Some(b)) if a < b => items.extend(others.next()),
                _ => break,
            }
        }
        items.push(item);
    }
    items.extend(others);
}

fn directive(change: &Value) -> Option<&str> {
    change.get("$patch").and_then(Value::as_str)
}
