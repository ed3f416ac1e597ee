//! What do typed clients send?
//!
//! kubectl's typed commands (`create namespace`, `drain`, `auth can-i`, ...) write protobuf and do not fall back to JSON.
//! A table of field numbers for those few kinds is enough; every other kind is refused by name.

use bytes::Bytes;
use serde_json::{Map, Value};

use crate::status::{Refusal, SERVER_NAME};

mod fields;

use fields::{Field, Shape};

const MAGIC: &[u8] = b"k8s\0";

fn malformed() -> Refusal {
    Refusal::bad_request(
        "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]",
    )
}

/// Decodes the envelope and the object inside, which should be of the kind `wanted`.
pub(crate) fn decode(bytes: &Bytes, wanted: &str) -> Result<Value, Refusal> {
    let body = bytes.strip_prefix(MAGIC).ok_or_else(malformed)?;
    let envelope = message(fields::UNKNOWN, body).ok_or_else(malformed)?;
    let about = envelope.get("typeMeta").cloned().unwrap_or_default();
    let text = |key: &str| about.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let (version, kind) = (text("apiVersion"), text("kind"));
    let raw = raw_field(body, 2).ok_or_else(malformed)?;
    let shape = fields::of(&version, &kind).ok_or_else(|| {
        if kind != wanted {
            return Refusal::bad_request(format!(
                "no kind {kind:?} is registered for version {version:?}, {wanted:?} was expected"
            ));
        }
        Refusal::unsupported_media(format!(
            "{SERVER_NAME} does not support protobuf bodies of {kind} in {version:?}; send application/json"
        ))
    })?;
    let mut object = message(shape, raw).ok_or_else(|| {
        Refusal::bad_request(format!(
            "{kind} in version {version:?} cannot be handled as a {kind}: proto: wrong wireType"
        ))
    })?;
    object.insert("apiVersion".into(), version.into());
    object.insert("kind".into(), kind.into());
    Ok(Value::Object(object))
}

/// One field on the wire.
enum Wire<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn varint(&mut self) -> Option<u64> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let (first, rest) = self.0.split_first()?;
            self.0 = rest;
            value |= u64::from(first & 0x7F) << shift;
            if first & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }

    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (head, tail) = self.0.split_at_checked(length)?;
        self.0 = tail;
        Some(head)
    }

    fn next(&mut self) -> Option<(u64, Wire<'a>)> {
        let tag = self.varint()?;
        let wire = match tag & 7 {
            0 => Wire::Number(self.varint()?),
            1 => Wire::Bytes(self.take(8)?),
            2 => {
                let length = usize::try_from(self.varint()?).ok()?;
                Wire::Bytes(self.take(length)?)
            }
            5 => Wire::Bytes(self.take(4)?),
            _ => return None,
        };
        Some((tag >> 3, wire))
    }
}

fn raw_field(body: &[u8], wanted: u64) -> Option<&[u8]> {
    let mut reader = Reader(body);
    while !reader.0.is_empty() {
        if let (number, Wire::Bytes(bytes)) = reader.next()?
            && number == wanted
        {
            return Some(bytes);
        }
    }
    Some(&[])
}

fn message(shape: &[Field], body: &[u8]) -> Option<Map<String, Value>> {
    let mut object = Map::new();
    let mut reader = Reader(body);
    while !reader.0.is_empty() {
        let (number, wire) = reader.next()?;
        let Some(field) = shape.iter().find(|f| u64::from(f.number) == number) else {
            continue;
        };
        match field.shape {
            Shape::Map(inner) => {
                let Wire::Bytes(bytes) = wire else {
                    return None;
                };
                let mut entry = message(
                    &[Field::text(1, "k"), Field { number: 2, name: "v", shape: *inner }],
                    bytes,
                )?;
                let key = entry
                    .remove("k")
                    .and_then(|k| k.as_str().map(str::to_owned))
                    .unwrap_or_default();
                let value = entry.remove("v").unwrap_or_else(|| Value::from(""));
                let map = object.entry(field.name).or_insert_with(|| Value::Object(Map::new()));
                map.as_object_mut()?.insert(key, value);
            }
            Shape::List(inner) => {
                let value = single(*inner, &wire)?;
                let list = object.entry(field.name).or_insert_with(|| Value::Array(Vec::new()));
                list.as_array_mut()?.push(value);
            }
            other => {
                let value = single(other, &wire)?;
                // Go writes empty strings where nothing was set.
                if value.as_str() != Some("") && !value.is_null() {
                    object.insert(field.name.to_owned(), value);
                }
            }
        }
    }
    Some(object)
}

fn single(shape: Shape, wire: &Wire<'_>) -> Option<Value> {
    match (shape, wire) {
        (Shape::Text, Wire::Bytes(bytes)) => Some(Value::from(std::str::from_utf8(bytes).ok()?)),
        (Shape::Blob, Wire::Bytes(bytes)) => Some(Value::from(crate::base64::encode(bytes))),
        (Shape::Count, Wire::Number(0)) => Some(Value::Null),
        (Shape::Number | Shape::Count, Wire::Number(number)) => Some(Value::from(*number as i64)),
        (Shape::Bool, Wire::Number(number)) => Some(Value::from(*number != 0)),
        (Shape::Message(fields), Wire::Bytes(bytes)) => {
            Some(Value::Object(message(fields, bytes)?))
        }
        (Shape::Time, Wire::Bytes(bytes)) => time(bytes),
        (Shape::IntOrString, Wire::Bytes(bytes)) => {
            let parts = message(
                &[Field::number(1, "t"), Field::number(2, "i"), Field::text(3, "s")],
                bytes,
            )?;
            let is_text = parts.get("t").and_then(Value::as_i64) == Some(1);
            let part = if is_text { parts.get("s") } else { parts.get("i") };
            Some(
                part.cloned()
                    .unwrap_or_else(|| if is_text { Value::from("") } else { Value::from(0) }),
            )
        }
        _ => None,
    }
}

fn time(bytes: &[u8]) -> Option<Value> {
    let parts = message(&[Field::number(1, "s"), Field::number(2, "n")], bytes)?;
    let seconds = parts.get("s").and_then(Value::as_i64).unwrap_or_default();
    // The zero time of Go, or nothing at all, is no time.
    if parts.is_empty() || seconds <= -62_135_596_800 {
        return Some(Value::Null);
    }
    let at = jiff::Timestamp::from_second(seconds).ok()?;
    Some(Value::from(crate::clock::rfc3339_seconds(at)))
}
