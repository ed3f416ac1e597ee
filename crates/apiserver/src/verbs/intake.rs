//! From request bytes to an object that the schema knows.
//!
//! Order as on the real server: decode, check the type, strip what the schema does not know (or refuse it), fill defaults.

use bytes::Bytes;
use serde_json::Value;

use crate::{
    call::Call,
    meta, protobuf,
    query::FieldValidation,
    registry::{Nature, Resolved, crd},
    schema::{default, prune, validate::type_name},
    status::Refusal,
    strategy,
};

mod duplicates;

/// Decodes the body of a create or replace.
pub(crate) fn decode(call: &mut Call<'_>) -> Result<Value, Refusal> {
    let kind = call.kind.clone();
    let mut object =
        body(&call.incoming.body.clone(), call.incoming.content_type(), &kind.ty.kind)?;
    check_type(&kind, &mut object)?;
    refuse_duplicates(call)?;
    Ok(object)
}

/// Fields that stand twice in the body: the last one counts, strict clients are refused, others warned.
fn refuse_duplicates(call: &mut Call<'_>) -> Result<(), Refusal> {
    if !matches!(call.incoming.content_type(), "" | "application/json") {
        return Ok(());
    }
    let twice = duplicates::find(&call.incoming.body);
    if twice.is_empty() {
        return Ok(());
    }
    let lines: Vec<String> = twice.iter().map(|f| format!("duplicate field {f:?}")).collect();
    match call.query.field_validation()? {
        FieldValidation::Ignore => Ok(()),
        FieldValidation::Warn => {
            call.warnings.extend(lines);
            Ok(())
        }
        FieldValidation::Strict => {
            let name = &call.kind.ty.kind;
            Err(Refusal::bad_request(format!(
                "{name} in version {:?} cannot be handled as a {name}: strict decoding error: {}",
                call.kind.version.name,
                lines.join(", ")
            )))
        }
    }
}

/// Reads JSON, YAML or protobuf, by content type.
pub(crate) fn body(bytes: &Bytes, content_type: &str, kind: &str) -> Result<Value, Refusal> {
    match content_type {
        "" | "application/json" | "*/*" => json(bytes, kind),
        "application/yaml" => serde_saphyr::from_slice(bytes)
            .map_err(|e| Refusal::bad_request(format!("error converting YAML to JSON: yaml: {e}"))),
        "application/vnd.kubernetes.protobuf" => protobuf::decode(bytes),
        other => Err(Refusal::unsupported_media(format!(
            "the body of the request was in an unknown format - accepted media types include: application/json, application/yaml, application/vnd.kubernetes.protobuf (got {other})"
        ))),
    }
}

/// What Go's decoder says about malformed JSON, where it is known.
pub(crate) fn go_words(error: &serde_json::Error) -> String {
    if error.is_eof() { "unexpected end of JSON input".to_owned() } else { error.to_string() }
}

fn json(bytes: &Bytes, kind: &str) -> Result<Value, Refusal> {
    serde_json::from_slice(bytes).map_err(|e| {
        let why = if bytes.is_empty() { "EOF".to_owned() } else { e.to_string() };
        Refusal::bad_request(format!(
            "the object provided is unrecognized (must be of type {kind}): couldn't get version/kind; json parse error: {why}"
        ))
    })
}

/// The object must say what it is, and say what the path says.
pub(crate) fn check_type(kind: &Resolved, object: &mut Value) -> Result<(), Refusal> {
    let Some(map) = object.as_object_mut() else {
        let got = type_name(object);
        return Err(Refusal::bad_request(format!(
            "couldn't get version/kind; json parse error: json: cannot unmarshal {got} into Go value of type struct"
        )));
    };
    let text = |key: &str| map.get(key).and_then(Value::as_str).unwrap_or_default();
    let (version, wanted) = (text("apiVersion").to_owned(), kind.api_version());
    let (name, wanted_kind) = (text("kind").to_owned(), &kind.ty.kind);
    if kind.is_custom() && name.is_empty() {
        let shown = Value::Object(map.clone());
        return Err(Refusal::bad_request(format!("Object 'Kind' is missing in '{shown}'")));
    }
    if (!name.is_empty() && name != *wanted_kind) || (!version.is_empty() && version != wanted) {
        if !name.is_empty() && name != *wanted_kind {
            return Err(Refusal::bad_request(format!(
                "{name} in version {version:?} cannot be handled as a {wanted_kind}: converting ({name}) to ({wanted_kind}): unknown conversion"
            )));
        }
        return Err(Refusal::bad_request(format!(
            "the API version in the data ({version}) does not match the expected API version ({wanted})"
        )));
    }
    map.insert("apiVersion".into(), wanted.into());
    map.insert("kind".into(), wanted_kind.clone().into());
    Ok(())
}

/// Whether an unknown field was in a patch, which is worded and coded differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    Body,
    Patch,
}

/// Prunes and defaults; unknown fields are refused, warned about, or silently dropped.
pub(crate) fn normalise(
    call: &mut Call<'_>,
    object: &mut Value,
    source: Source,
) -> Result<(), Refusal> {
    let kind = call.kind.clone();
    if let Some(metadata) = object.get("metadata")
        && !metadata.is_object()
        && !metadata.is_null()
    {
        return Err(Refusal::bad_request(format!(
            "{} in version {:?} cannot be handled as a {}: json: cannot unmarshal {} into Go struct field .metadata of type v1.ObjectMeta",
            kind.ty.kind,
            kind.version.name,
            kind.ty.kind,
            type_name(object.get("metadata").unwrap_or(&Value::Null))
        )));
    }
    if !kind.is_custom() {
        decode_types(&kind, object)?;
    }
    strip_nulls_of_metadata(object);
    let mut unknown = prune::prune_metadata(object);
    unknown.extend(prune::prune(kind.schema(), object));
    unknown.sort();
    if unknown.is_empty() {
        call.query.field_validation()?;
    } else {
        let lines: Vec<String> = unknown.iter().map(|f| format!("unknown field {f:?}")).collect();
        match call.query.field_validation()? {
            FieldValidation::Ignore => {}
            FieldValidation::Warn => call.warnings.extend(lines),
            FieldValidation::Strict => {
                let text = format!("strict decoding error: {}", lines.join(", "));
                return Err(match source {
                    Source::Body => Refusal::bad_request(format!(
                        "{} in version {:?} cannot be handled as a {}: {text}",
                        kind.ty.kind, kind.version.name, kind.ty.kind
                    )),
                    Source::Patch => Refusal::new(
                        422,
                        "Invalid",
                        format!(" \"\" is invalid: patch: Invalid value: \"{{}}\": {text}"),
                    ),
                });
            }
        }
    }
    default::apply(kind.schema(), object);
    if kind.ty.nature == Nature::Definition {
        crd::default(object);
    }
    strategy::default(kind.ty.nature, object);
    Ok(())
}

/// Null metadata fields are as good as missing.
fn strip_nulls_of_metadata(object: &mut Value) {
    let metadata = meta::of(object);
    metadata.retain(|key, value| !(value.is_null() || key == "selfLink"));
}

/// Built-in kinds are Go structs on the real server: a value of the wrong type does not even decode.
fn decode_types(kind: &Resolved, object: &mut Value) -> Result<(), Refusal> {
    let problem = wrong_type(kind.schema(), object, "");
    strip_nulls(object);
    match problem {
        None => Ok(()),
        Some((path, got, wanted)) => {
            let name = &kind.ty.kind;
            Err(Refusal::bad_request(format!(
                "{name} in version {:?} cannot be handled as a {name}: json: cannot unmarshal {got} into Go struct field {name}.{path} of type {wanted}",
                kind.version.name
            )))
        }
    }
}

fn wrong_type(
    schema: &crate::schema::Schema,
    value: &Value,
    path: &str,
) -> Option<(String, &'static str, String)> {
    let wanted = match schema.kind.as_str() {
        _ if value.is_null() || schema.int_or_string => return None,
        "object" if !value.is_object() => "map[string]interface {}".to_owned(),
        "array" if !value.is_array() => "[]string".to_owned(),
        "string" if !value.is_string() && !quantity(schema, value) => "string".to_owned(),
        "boolean" if !value.is_boolean() => "bool".to_owned(),
        "integer" if !value.is_i64() && !value.is_u64() => {
            if schema.format.is_empty() {
                "int64".to_owned()
            } else {
                schema.format.clone()
            }
        }
        "number" if !value.is_number() => "float64".to_owned(),
        _ => {
            return match value {
                Value::Object(map) => map.iter().find_map(|(key, child)| {
                    wrong_type(schema.field(key)?, child, &crate::schema::join(path, key))
                }),
                Value::Array(items) => {
                    let sub = schema.items.as_ref()?;
                    items.iter().find_map(|item| wrong_type(sub, item, path))
                }
                _ => None,
            };
        }
    };
    let got = match value {
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        _ => "object",
    };
    Some((path.to_owned(), got, wanted))
}

/// Quantities are strings in the published definitions, but numbers are read as well.
fn quantity(schema: &crate::schema::Schema, value: &Value) -> bool {
    value.is_number() && schema.definition.ends_with(".Quantity")
}

fn strip_nulls(value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.retain(|_, v| !v.is_null());
            map.values_mut().for_each(strip_nulls);
        }
        Value::Array(items) => items.iter_mut().for_each(strip_nulls),
        _ => {}
    }
}
