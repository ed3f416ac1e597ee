//! From request bytes to an object that the schema knows.
//!
//! Order as on the real server: decode, check the type, strip what the schema does not know (or refuse it), fill defaults.

use std::fmt::Write as _;

use bytes::Bytes;
use serde_json::{Map, Value};

use crate::{
    call::Call,
    meta, protobuf,
    query::FieldValidation,
    registry::{Nature, Resolved, crd},
    schema::{default, prune, validate::type_name},
    status::{Cause, Refusal},
    strategy,
};

mod duplicates;
mod go_types;

use go_types::{bad_base64, bad_quantity, drop_hollow, quantities, strip_nulls, wrong_type};

/// Decodes the body of a create or replace.
pub(crate) fn decode(call: &mut Call<'_>) -> Result<Value, Refusal> {
    let kind = call.kind.clone();
    check_options(call)?;
    let bytes = call.incoming.body.clone();
    let mut object = body(&bytes, call.incoming.content_type(), &kind.ty.kind)?;
    if kind.is_custom() && object.get("kind").and_then(Value::as_str).unwrap_or_default().is_empty()
    {
        return Err(Refusal::bad_request(format!(
            "the object provided is unrecognized (must be of type {}): Object 'Kind' is missing in '{}' ({})",
            kind.ty.kind,
            String::from_utf8_lossy(&bytes),
            summary(&bytes)
        )));
    }
    if let Some(problem) = bad_metadata(&object).filter(|_| kind.is_custom()) {
        return Err(undecodable(&kind, &problem));
    }
    check_type(&kind, &mut object)?;
    refuse_duplicates(call)?;
    Ok(object)
}

/// The options of a write are judged before its body.
pub(crate) fn check_options(call: &Call<'_>) -> Result<(), Refusal> {
    call.query.dry_run()?;
    call.query.field_validation()?;
    call.manager().map(drop)
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
        "application/vnd.kubernetes.protobuf" => protobuf::decode(bytes, kind),
        _ => Err(Refusal::unsupported_media(
            "the body of the request was in an unknown format - accepted media types include: application/json, application/yaml, application/vnd.kubernetes.protobuf",
        )),
    }
}

/// Reads JSON as Go does: bytes that are no text become the sign for that.
pub(crate) fn parse(bytes: &[u8]) -> Result<Value, serde_json::Error> {
    match std::str::from_utf8(bytes) {
        Ok(text) => serde_json::from_str(text),
        Err(_) => serde_json::from_str(&String::from_utf8_lossy(bytes)),
    }
}

/// What Go's decoder says about malformed JSON, where it is known.
pub(crate) fn go_words(error: &serde_json::Error) -> String {
    if error.is_eof() { "unexpected end of JSON input".to_owned() } else { error.to_string() }
}

fn json(bytes: &Bytes, kind: &str) -> Result<Value, Refusal> {
    let refuse = |why: &str| {
        Refusal::bad_request(format!(
            "the object provided is unrecognized (must be of type {kind}): {why} ({})",
            summary(bytes)
        ))
    };
    let value = parse(bytes).map_err(|e| {
        refuse(&format!("couldn't get version/kind; json parse error: {}", go_words(&e)))
    })?;
    match &value {
        Value::Object(map) => {
            for key in ["apiVersion", "kind"] {
                let wrong = map.get(key).filter(|v| !v.is_string() && !v.is_null());
                if let Some(wrong) = wrong {
                    return Err(refuse(&format!(
                        "couldn't get version/kind; json parse error: json: cannot unmarshal {} into Go struct field .{key} of type string",
                        type_name(wrong)
                    )));
                }
            }
            Ok(value)
        }
        // What says nothing is whatever the path says, with nothing in it.
        Value::Null => Ok(Value::Object(Map::new())),
        other => Err(refuse(&format!(
            "couldn't get version/kind; json parse error: json: cannot unmarshal {} into Go value of type struct {{ APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; Kind string \"json:\\\"kind,omitempty\\\"\" }}",
            type_name(other)
        ))),
    }
}

/// How a body is quoted in refusals: its beginning, or its bytes.
fn summary(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    match bytes.first() {
        None => "<empty>".to_owned(),
        Some(b'{') if bytes.len() > 30 => {
            format!("{} ...", text.chars().take(30).collect::<String>())
        }
        Some(b'{') => text.into_owned(),
        Some(_) => bytes.iter().take(30).fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        }),
    }
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
    if !name.is_empty() && name != *wanted_kind {
        if kind.is_custom() {
            let cause =
                Cause::invalid("kind", &format!("{name:?}"), &format!("must be {wanted_kind}"));
            let group = version.split_once('/').map(|(group, _)| group).unwrap_or_default();
            let own = map.get("metadata").and_then(|m| m.get("name")).and_then(Value::as_str);
            return Err(Refusal::invalid(&name, group, own.unwrap_or_default(), &[cause]));
        }
        let version = if version.is_empty() { &kind.version.name } else { &version };
        let group = kind.ty.group.split('.').next().filter(|g| !g.is_empty()).unwrap_or("core");
        return Err(Refusal::bad_request(format!(
            "{name} in version {version:?} cannot be handled as a {wanted_kind}: converting (v1.{name}) to ({group}.{wanted_kind}): unknown conversion"
        )));
    }
    // Built-in kinds are known by their path; custom ones must say their version.
    if version != wanted && (kind.is_custom() || !version.is_empty()) {
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
    /// A patch by server-side apply.
    Applied,
}

/// Prunes and defaults; unknown fields are refused, warned about, or silently dropped.
pub(crate) fn normalise(
    call: &mut Call<'_>,
    object: &mut Value,
    source: Source,
) -> Result<(), Refusal> {
    let kind = call.kind.clone();
    if let Some(problem) = bad_metadata(object) {
        return Err(undecodable(&kind, &problem));
    }
    if kind.is_custom() {
        decode_metadata(&kind, object)?;
    } else {
        decode_types(&kind, object, source)?;
    }
    strip_nulls_of_metadata(object);
    let strict = call.query.field_validation()? == FieldValidation::Strict;
    let whole = (strict && source != Source::Body).then(|| object.clone());
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
                    Source::Patch | Source::Applied => {
                        undecodable_patch(whole.as_ref().unwrap_or(object), &text)
                    }
                });
            }
        }
    }
    default::apply(kind.schema(), object);
    // What was applied is kept to the letter: a null is judged as a null.
    if source != Source::Applied {
        default::drop_nulls(kind.schema(), object);
    }
    if kind.ty.nature == Nature::Definition {
        crd::default(object);
    }
    strategy::default(kind.ty.nature, object);
    Ok(())
}

/// Metadata that is no object at all.
fn bad_metadata(object: &Value) -> Option<String> {
    let metadata = object.get("metadata").filter(|m| !m.is_object() && !m.is_null())?;
    let got = type_name(metadata);
    Some(format!(
        "json: cannot unmarshal {got} into Go struct field .metadata of type v1.ObjectMeta"
    ))
}

/// A patch may leave a built-in object without metadata that are such.
pub(crate) fn check_metadata(object: &Value) -> Result<(), Refusal> {
    bad_metadata(object).map_or(Ok(()), |problem| Err(undecodable_patch(object, &problem)))
}

/// Null metadata fields are as good as missing.
fn strip_nulls_of_metadata(object: &mut Value) {
    let metadata = meta::of(object);
    metadata.retain(|key, value| {
        let hollow = match value {
            Value::Null => true,
            // Wiping the record is a request of its own.
            Value::Array(items) => items.is_empty() && key != "managedFields",
            Value::Object(map) => map.is_empty(),
            _ => false,
        };
        !hollow && key != "selfLink"
    });
}

/// Built-in kinds are Go structs on the real server: a value of the wrong type does not even decode.
fn decode_types(kind: &Resolved, object: &mut Value, source: Source) -> Result<(), Refusal> {
    let problem = wrong_type(kind.schema(), object, "", &kind.ty.kind)
        .or_else(|| bad_base64(kind.schema(), object))
        .or_else(|| bad_quantity(kind.schema(), object));
    strip_nulls(object);
    quantities(kind.schema(), object);
    drop_hollow(kind.schema(), object);
    let Some(text) = problem else { return Ok(()) };
    Err(match source {
        Source::Body => undecodable(kind, &text),
        Source::Patch => undecodable_patch(object, &text),
        Source::Applied => {
            let what = kind.go_name();
            let base64 = text.starts_with("illegal base64");
            let text = if base64 { format!("error decoding from json: {text}") } else { text };
            Refusal::internal(format!(
                "failed to convert new object (/{}; {what}) to proper version: unable to convert unstructured object to {what}: {text}",
                meta::name(object)
            ))
        }
    })
}

/// A patch whose result does not decode is refused with the whole result.
fn undecodable_patch(object: &Value, text: &str) -> Refusal {
    let mut sorted = object.clone();
    sorted.sort_all_objects();
    let shown = Value::from(sorted.to_string()).to_string();
    Refusal::invalid("", "", "", &[Cause::invalid("patch", &shown, text)])
}

/// Of custom kinds only the metadata is a Go struct.
fn decode_metadata(kind: &Resolved, object: &Value) -> Result<(), Refusal> {
    let (Some(schema), Some(metadata)) =
        (kind.schema().properties.get("metadata"), object.get("metadata"))
    else {
        return Ok(());
    };
    let problem = wrong_type(schema, metadata, "", "ObjectMeta");
    problem.map_or(Ok(()), |text| Err(undecodable(kind, &text)))
}

fn undecodable(kind: &Resolved, text: &str) -> Refusal {
    let name = &kind.ty.kind;
    Refusal::bad_request(format!(
        "{name} in version {:?} cannot be handled as a {name}: {text}",
        kind.version.name
    ))
}
