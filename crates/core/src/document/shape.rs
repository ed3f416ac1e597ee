//! Does an object have the shape its kind demands?
//!
//! Walks a value beside the schema that is derived from the wire types and reports every departure: types, required and unknown
//! fields, enums, ranges, formats, and the unions of POL-2, where a discriminator names exactly one arm. A `null` is the same as
//! leaving the field out, as it is for Kubernetes.

use serde_json::{Map, Value};

use crate::document::{
    format,
    nearest::nearest,
    problem::{Code, FieldPath, Problem, quoted},
};

/// Every departure of a value from a schema, in the order of the document.
pub fn check(schema: &Value, value: &Value) -> Vec<Problem> {
    check_part(schema, value, &FieldPath::root())
}

/// The same for a part of an object, which is found at a path.
pub fn check_part(schema: &Value, value: &Value, path: &FieldPath) -> Vec<Problem> {
    let mut problems = Vec::new();
    visit(schema, value, path, &mut problems);
    problems
}

fn visit(schema: &Value, value: &Value, path: &FieldPath, problems: &mut Vec<Problem>) {
    // `true` stands for "anything", as in lists of objects that are not ours.
    if schema.as_bool() == Some(true) {
        return;
    }
    if !has_type(schema, value) {
        problems.push(wrong_type(schema, value, path));
        return;
    }
    match value {
        Value::Object(fields) => visit_object(schema, fields, path, problems),
        Value::Array(items) => visit_list(schema, items, path, problems),
        Value::String(text) => visit_text(schema, text, path, problems),
        Value::Number(number) => {
            let number = number.as_f64().unwrap_or(f64::NAN);
            let limit = |key: &str| schema.get(key).and_then(Value::as_f64);
            let (least, most) = (limit("minimum"), limit("maximum"));
            if least.is_some_and(|least| number < least) || most.is_some_and(|most| number > most) {
                let problem =
                    Problem::new(path, Code::OutOfRange, format!("{value} is out of range"));
                problems.push(problem.hint(range_hint("use a number", least, most)));
            }
        }
        Value::Null | Value::Bool(_) => {}
    }
}

fn visit_object(
    schema: &Value,
    fields: &Map<String, Value>,
    path: &FieldPath,
    problems: &mut Vec<Problem>,
) {
    let known = schema.get("properties").and_then(Value::as_object);
    let known_names = || known.into_iter().flatten().map(|(name, _)| name.as_str());
    for (name, value) in fields {
        let path = path.key(name);
        match known.and_then(|known| known.get(name)) {
            // Absent, as far as anyone can tell; a required field is asked for below.
            Some(_) if value.is_null() => {}
            Some(schema) => visit(schema, value, &path, problems),
            None => match schema.get("additionalProperties") {
                Some(Value::Bool(false)) => {
                    problems.push(unknown_field(name, &path, known_names()));
                }
                Some(others) => visit(others, value, &path, problems),
                None => {}
            },
        }
    }
    let given = |name: &str| fields.get(name).is_some_and(|value| !value.is_null());
    let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
    for name in required.filter_map(Value::as_str).filter(|name| !given(name)) {
        let field = schema.get("properties").and_then(|known| known.get(name));
        let hint = match field.and_then(allowed_values) {
            Some(values) => format!("set {name} to {values}"),
            None => format!("add {name}"),
        };
        let problem = Problem::new(path, Code::MissingField, format!("{name} is missing"));
        problems.push(problem.hint(hint));
    }
    if let Some(union) = schema.get("x-tidegate-union") {
        visit_union(schema, union, fields, path, problems);
    }
    let exclusive = schema.get("x-tidegate-exclusive").and_then(Value::as_array);
    let both: Vec<&str> = exclusive
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .filter(|name| given(name))
        .collect();
    if let [first, .., last] = both.as_slice() {
        problems.push(
            Problem::new(
                &path.key(last),
                Code::Conflict,
                format!("{first} and {last} are both given"),
            )
            .hint(format!("keep one of them: {first} or {last}")),
        );
    }
}

/// POL-2: the discriminator names at most one arm; that one must be given and no other may be, except one that is kept (GATE-3).
fn visit_union(
    schema: &Value,
    union: &Value,
    fields: &Map<String, Value>,
    path: &FieldPath,
    problems: &mut Vec<Problem>,
) {
    let discriminator = union.get("discriminator").and_then(Value::as_str).unwrap_or_default();
    let arms = |key: &str| union.get(key).and_then(Value::as_object);
    // A missing or mistyped discriminator has been reported already, and says nothing about the arms.
    let Some(chosen) = fields.get(discriminator).and_then(Value::as_str) else {
        return;
    };
    let allowed = schema.get("properties").and_then(|known| known.get(discriminator)?.get("enum"));
    let allowed = allowed.and_then(Value::as_array);
    if allowed.is_some_and(|values| !values.iter().any(|value| value == chosen)) {
        return;
    }
    let named = |key: &str| arms(key).and_then(|arms| arms.get(chosen)).and_then(Value::as_str);
    let wanted = named("arms").or_else(|| named("kept"));
    let given = |name: &str| fields.get(name).is_some_and(|value| !value.is_null());
    if let Some(wanted) = wanted.filter(|wanted| !given(wanted)) {
        problems.push(
            Problem::new(
                path,
                Code::MissingField,
                format!("{wanted} is missing, which {discriminator} {chosen} needs"),
            )
            .hint(format!("add {wanted}, or change {discriminator}")),
        );
    }
    for (value, name) in arms("arms").into_iter().flatten() {
        let Some(name) = name.as_str().filter(|name| Some(*name) != wanted && given(name)) else {
            continue;
        };
        problems.push(
            Problem::new(
                &path.key(name),
                Code::Conflict,
                format!("{name} is given, but {discriminator} is {chosen}"),
            )
            .hint(format!("remove {name}, or set {discriminator} to {value}")),
        );
    }
}

fn visit_list(schema: &Value, items: &[Value], path: &FieldPath, problems: &mut Vec<Problem>) {
    let limit = |key: &str| schema.get(key).and_then(Value::as_u64);
    let (least, most) = (limit("minItems"), limit("maxItems"));
    let count = items.len() as u64;
    if least.is_some_and(|least| count < least) || most.is_some_and(|most| count > most) {
        let detail = if items.is_empty() {
            "the list is empty".to_owned()
        } else {
            format!("the list has {count} entries")
        };
        let hint = range_hint("the number of entries must be", least, most);
        problems.push(Problem::new(path, Code::OutOfRange, detail).hint(hint));
    }
    for (place, item) in items.iter().enumerate() {
        visit(
            schema.get("items").unwrap_or(&Value::Bool(true)),
            item,
            &path.index(place),
            problems,
        );
    }
}

fn visit_text(schema: &Value, text: &str, path: &FieldPath, problems: &mut Vec<Problem>) {
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        let names = || values.iter().filter_map(Value::as_str);
        if !names().any(|name| name == text) {
            let mut detail = format!("{} is not allowed", quoted(text));
            if let Some(meant) = nearest(text, names()) {
                detail = format!("{detail}; did you mean {meant}?");
            }
            let problem = Problem::new(path, Code::NotAllowed, detail);
            let hint = allowed_values(schema).unwrap_or_default();
            problems.push(problem.hint(format!("use {hint}")));
            return;
        }
    }
    if let Some(most) = schema.get("maxLength").and_then(Value::as_u64) {
        let length = text.chars().count() as u64;
        if length > most {
            let detail = format!("the text has {length} characters");
            let problem = Problem::new(path, Code::OutOfRange, detail);
            problems.push(problem.hint(format!("use at most {most} characters")));
        }
    }
    let named = schema.get("format").and_then(Value::as_str);
    if let Some(Err(flaw)) = named.map(|name| format::check(name, text)) {
        problems.push(Problem::new(path, Code::BadFormat, flaw.detail).hint(flaw.hint));
    }
}

fn unknown_field<'a>(
    name: &str,
    path: &FieldPath,
    known: impl Iterator<Item = &'a str> + Clone,
) -> Problem {
    let shown = quoted(name);
    let (detail, hint) = match nearest(name, known.clone()) {
        Some(meant) => {
            (format!("unknown field {shown}; did you mean {meant}?"), format!("write {meant}"))
        }
        None if name == "<<" => {
            ("YAML merge keys (<<) are not supported".to_owned(), "write the fields out".to_owned())
        }
        None => (
            format!("unknown field {shown}"),
            format!("the fields here are {}", known.collect::<Vec<_>>().join(", ")),
        ),
    };
    Problem::new(path, Code::UnknownField, detail).hint(hint)
}

fn types_of(schema: &Value) -> Vec<&str> {
    match schema.get("type") {
        Some(Value::String(one)) => vec![one],
        Some(Value::Array(several)) => several.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

fn has_type(schema: &Value, value: &Value) -> bool {
    let types = types_of(schema);
    let integer = || value.is_i64() || value.is_u64();
    types.is_empty()
        || types.iter().any(|name| match *name {
            "object" => value.is_object(),
            "array" => value.is_array(),
            "string" => value.is_string(),
            "integer" => integer(),
            "number" => value.is_number(),
            "boolean" => value.is_boolean(),
            "null" => value.is_null(),
            _ => true,
        })
}

fn wrong_type(schema: &Value, value: &Value, path: &FieldPath) -> Problem {
    let wanted = match types_of(schema).first().copied() {
        Some("object") => "a stanza with fields of its own",
        Some("array") => "a list",
        Some("string") => "a text",
        Some("integer") => "a whole number",
        Some("number") => "a number",
        Some("boolean") => "true or false",
        _ => "something else",
    };
    let found = match value {
        Value::Null => "nothing".to_owned(),
        Value::Bool(found) => format!("{found}"),
        Value::Number(number) => format!("the number {number}"),
        Value::String(text) => format!("the text {}", quoted(text)),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "a stanza with fields of its own".to_owned(),
    };
    let problem = Problem::new(
        path,
        Code::WrongType,
        format!("{wanted} is needed here, and this is {found}"),
    );
    match (wanted, value) {
        ("a text", Value::Bool(_) | Value::Number(_)) => problem.hint("put it in quotes"),
        ("a whole number", Value::String(text)) if text.parse::<i64>().is_ok() => {
            problem.hint("take the quotes away")
        }
        ("a list", _) => problem.hint("write each entry on its own line, after `- `"),
        ("a stanza with fields of its own", _) => match field_names(schema) {
            names if names.is_empty() => problem,
            names => problem.hint(format!("its fields are {names}")),
        },
        _ => match allowed_values(schema) {
            Some(values) => problem.hint(format!("use {values}")),
            None => problem,
        },
    }
}

fn field_names(schema: &Value) -> String {
    let known = schema.get("properties").and_then(Value::as_object);
    known.into_iter().flatten().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", ")
}

fn allowed_values(schema: &Value) -> Option<String> {
    let values: Vec<&str> =
        schema.get("enum")?.as_array()?.iter().filter_map(Value::as_str).collect();
    Some(match values.as_slice() {
        [rest @ .., last] if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        values => values.concat(),
    })
}

fn range_hint(
    what: &str,
    least: Option<impl std::fmt::Display>,
    most: Option<impl std::fmt::Display>,
) -> String {
    match (least, most) {
        (Some(least), Some(most)) => format!("{what} from {least} to {most}"),
        (Some(least), None) => format!("{what} of at least {least}"),
        (None, Some(most)) => format!("{what} of at most {most}"),
        (None, None) => what.to_owned(),
    }
}

#[cfg(test)]
mod tests;
