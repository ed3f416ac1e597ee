//! How does an object look in a row?

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::{
    meta,
    registry::{Nature, Resolved},
};

mod builtin;
mod jsonpath;

const NAME: &str = "Name must be unique within a namespace. Is required when creating resources, although some resources may allow a client to request the generation of an appropriate name automatically. Name is primarily intended for creation idempotence and configuration definition. Cannot be updated. More info: https://kubernetes.io/docs/concepts/overview/working-with-objects/names#names";
const AGE: &str = "CreationTimestamp is a timestamp representing the server time when this object was created. It is not guaranteed to be set in happens-before order across separate operations. Clients may not set this value. It is represented in RFC3339 form and is in UTC.";

fn column(name: &str, kind: &str, format: &str, description: &str, priority: i64) -> Value {
    json!({"name": name, "type": kind, "format": format, "description": description, "priority": priority})
}

/// The columns of a kind.
pub(crate) fn columns(kind: &Resolved) -> Value {
    let name = column("Name", "string", "name", NAME, 0);
    if kind.ty.nature != Nature::Custom {
        let rows =
            builtin::columns(kind.ty.nature).iter().map(|(label, kind, priority)| match *label {
                "Name" if *priority == 0 => name.clone(),
                "Age" => column("Age", "string", "", AGE, 0),
                label => column(label, kind, "", label, *priority),
            });
        return Value::Array(rows.collect());
    }
    let mut all = vec![name];
    for own in &kind.version.columns {
        all.push(column(&own.name, &own.kind, &own.format, &describe(own), own.priority));
    }
    if kind.version.columns.is_empty() {
        all.push(column("Age", "date", "", AGE, 0));
    }
    Value::Array(all)
}

fn describe(column: &crate::registry::Column) -> String {
    if column.description.is_empty() {
        format!("Custom resource definition column (in JSONPath format): {}", column.json_path)
    } else {
        column.description.clone()
    }
}

/// The cells of an object, one per column.
pub(crate) fn cells(kind: &Resolved, object: &Value, now: Timestamp) -> Vec<Value> {
    if kind.ty.nature != Nature::Custom {
        return builtin::cells(kind, object, now);
    }
    let mut cells = vec![Value::from(meta::name(object))];
    for own in &kind.version.columns {
        let found = jsonpath::find(object, &own.json_path);
        cells.push(match found.first() {
            None => Value::Null,
            Some(value) => cell(&own.kind, value, now),
        });
    }
    if kind.version.columns.is_empty() {
        cells.push(age(meta::text(object, "creationTimestamp"), now).into());
    }
    cells
}

fn cell(kind: &str, value: &Value, now: Timestamp) -> Value {
    match (kind, value) {
        ("date", Value::String(text)) => age(text, now).into(),
        ("string", Value::String(_))
        | ("integer" | "number", Value::Number(_))
        | ("boolean", Value::Bool(_)) => value.clone(),
        ("string", Value::Null) => Value::Null,
        ("string", other) => other.to_string().into(),

        _ => Value::Null,
    }
}

/// How long ago an instant was, in kubectl's short form.
pub(crate) fn age(text: &str, now: Timestamp) -> String {
    if text.is_empty() {
        return "<unknown>".to_owned();
    }
    match text.parse::<Timestamp>() {
        Ok(then) => human(now.as_second() - then.as_second()),
        Err(_) => "<invalid>".to_owned(),
    }
}

/// A length of time in at most two units.
pub(crate) fn human(seconds: i64) -> String {
    if seconds < -1 {
        return "<invalid>".to_owned();
    }
    if seconds < 0 {
        return "0s".to_owned();
    }
    let pair = |big: i64, unit: &str, small: i64, sub: &str| {
        if small == 0 { format!("{big}{unit}") } else { format!("{big}{unit}{small}{sub}") }
    };
    let (minutes, hours) = (seconds / 60, seconds / 3_600);
    let (days, years) = (hours / 24, hours / 24 / 365);
    match () {
        () if seconds < 120 => format!("{seconds}s"),
        () if minutes < 10 => pair(minutes, "m", seconds % 60, "s"),
        () if minutes < 180 => format!("{minutes}m"),
        () if hours < 8 => pair(hours, "h", minutes % 60, "m"),
        () if hours < 48 => format!("{hours}h"),
        () if hours < 192 => pair(days, "d", hours % 24, "h"),
        () if days < 365 * 2 => format!("{days}d"),
        () if days < 365 * 8 => pair(years, "y", days % 365, "d"),
        () => format!("{years}y"),
    }
}
