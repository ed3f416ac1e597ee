//! Server-side apply: merge what the manager says, drop what it no longer says, refuse what others own.

use serde_json::{Map, Value, json};

use crate::{
    fieldset::{Changes, FieldSet, Parts, below, items, of_value, parts},
    managed::{Manager, Managers, Reach, ownable},
    registry::Resolved,
    schema::Schema,
    status::Refusal,
};

/// The outcome of an apply before the object is normalised and judged.
pub(crate) struct Applied {
    pub(crate) object: Value,
    pub(crate) managers: Managers,
}

/// What to do about fields that others own with other values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OnConflict {
    Refuse,
    Force,
}

/// Applies `config` to `live`.
pub(crate) fn apply(
    kind: &Resolved,
    live: &Value,
    config: &Value,
    me: &Manager,
    reach: Reach,
    on_conflict: OnConflict,
) -> Result<Applied, Refusal> {
    let schema = kind.schema();
    let mut managers = Managers::read(live).unwrap_or_default();
    let last = managers.0.get(me).map(|o| o.fields.clone()).unwrap_or_default();
    let set = ownable(of_value(schema, config), kind, reach);
    let mut object = live.clone();
    merge(Some(schema), &mut object, config);
    let keep = managers.owned_by_others(me).union(&set);
    prune(Some(schema), &mut object, &last, &keep, true);
    let changes = Changes::between(schema, live, &object);
    let changes = Changes {
        added: ownable(changes.added, kind, reach),
        modified: ownable(changes.modified, kind, reach),
        removed: ownable(changes.removed, kind, reach),
    };
    if on_conflict == OnConflict::Refuse {
        refuse_conflicts(&managers, me, &changes)?;
    }
    managers.take_from_others(me, &changes);
    let own = managers.0.entry(me.clone()).or_default();
    own.fields = set;
    own.api_version = kind.api_version();
    Ok(Applied { object, managers })
}

fn refuse_conflicts(managers: &Managers, me: &Manager, changes: &Changes) -> Result<(), Refusal> {
    let written = changes.written();
    let mut conflicts: Vec<(String, String)> = Vec::new();
    for (manager, owned) in managers.0.iter().filter(|(manager, _)| *manager != me) {
        for path in owned.fields.intersection(&written).paths() {
            conflicts.push((manager.shown(), path));
        }
    }
    conflicts.sort_by(|(a, _), (b, _)| a.cmp(b));
    let message = match conflicts.as_slice() {
        [] => return Ok(()),
        [(manager, path)] => {
            format!("Apply failed with 1 conflict: conflict with {manager}: {path}")
        }
        many => {
            let mut lines = Vec::new();
            let mut before = None;
            for (manager, path) in many {
                if before != Some(manager) {
                    lines.push(format!("conflicts with {manager}:"));
                    before = Some(manager);
                }
                lines.push(format!("- {path}"));
            }
            format!("Apply failed with {} conflicts: {}", many.len(), lines.join("\n"))
        }
    };
    let causes: Vec<Value> = conflicts
        .iter()
        .map(|(manager, path)| {
            json!({"reason": "FieldManagerConflict", "message": format!("conflict with {manager}"), "field": path})
        })
        .collect();
    Err(Refusal::new(409, "Conflict", message).with_details(json!({ "causes": causes })))
}

/// Lays `config` over `target`; lists merge by their keys.
pub(crate) fn merge(schema: Option<&Schema>, target: &mut Value, config: &Value) {
    // Saying nothing about a part that is there leaves it.
    let part = schema.is_some_and(|s| matches!(s.kind.as_str(), "object" | "array"));
    if config.is_null() && !target.is_null() && part {
        return;
    }
    match (parts(schema, config), target) {
        (Parts::Fields(changes), target) => {
            if !target.is_object() {
                *target = Value::Object(Map::new());
            }
            let Some(map) = target.as_object_mut() else {
                return;
            };
            for (key, change) in changes {
                merge(below(schema, key), map.entry(key.clone()).or_insert(Value::Null), change);
            }
        }
        (Parts::Items(changes), target) if target.is_array() => {
            merge_list(schema, target, &changes);
        }
        (_, target) => *target = config.clone(),
    }
}

/// Merges two lists by the names of their items. Items that only the object has keep their place as far as the order of
/// the configuration allows; where both orders differ, the configuration's wins.
fn merge_list(schema: Option<&Schema>, target: &mut Value, changes: &[(String, &Value)]) {
    let old = target.clone();
    let Parts::Items(known) = parts(schema, &old) else {
        return;
    };
    let find = |element: &String| known.iter().find(|(e, _)| e == element).map(|(_, v)| *v);
    let wanted = |element: &String| changes.iter().any(|(c, _)| c == element);
    let join = |element: &String, change: &Value| {
        let mut item = find(element).cloned().unwrap_or_default();
        merge(items(schema), &mut item, change);
        item
    };
    let mut shared = changes.iter().map(|(e, _)| e).filter(|e| find(e).is_some());
    let mut next_shared = shared.next();
    let mut placed: Vec<&String> = Vec::new();
    let mut merged = Vec::new();
    let (mut left, mut right) = (known.iter().peekable(), changes.iter().peekable());
    while left.peek().is_some() || right.peek().is_some() {
        if let (Some((own, _)), Some((element, change))) = (left.peek(), right.peek()) {
            if own == element {
                merged.push(join(element, change));
                placed.push(element);
                left.next();
                right.next();
                next_shared = shared.next();
                continue;
            }
            // Both have it, but it is not its turn.
            if wanted(own) && next_shared.is_some_and(|next| next != own) {
                left.next();
                continue;
            }
        }
        if let Some((own, item)) = left.peek() {
            if !wanted(own) {
                merged.push((*item).clone());
                left.next();
                continue;
            }
            if placed.contains(&own) {
                left.next();
            }
        }
        if let Some((element, change)) = right.next() {
            merged.push(join(element, change));
            placed.push(element);
            if next_shared == Some(element) {
                next_shared = shared.next();
            }
        }
    }
    *target = Value::Array(merged);
}

/// Removes what `last` owned and nobody keeps; a part that nobody keeps anything of goes as a whole.
fn prune(schema: Option<&Schema>, value: &mut Value, last: &FieldSet, keep: &FieldSet, root: bool) {
    let nothing = FieldSet::default();
    for (element, owned) in last.children() {
        let kept = keep.child(element).unwrap_or(&nothing);
        let whole = kept.is_empty() && !(root && element == "f:metadata");
        if let Some(("f", key)) = element.split_once(':') {
            let Some(map) = value.as_object_mut() else {
                continue;
            };
            if whole {
                map.remove(key);
            } else if let Some(child) = map.get_mut(key) {
                prune(below(schema, key), child, owned, kept, false);
            }
        } else {
            let Parts::Items(list) = parts(schema, value) else {
                continue;
            };
            let Some(at) = list.iter().position(|(e, _)| e == element) else {
                continue;
            };
            let Some(list) = value.as_array_mut() else {
                continue;
            };
            if whole {
                list.remove(at);
            } else if let Some(item) = list.get_mut(at) {
                prune(items(schema), item, owned, kept, false);
            }
        }
    }
}
