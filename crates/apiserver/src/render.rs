//! In which form does a client want its answer?
//!
//! Plain objects, tables for people, or metadata alone; the stored bytes go out untouched whenever that is what was asked.

use bytes::Bytes;
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::{
    query::Query,
    registry::{Nature, Resolved},
    status::Refusal,
    store::{Happening, Stored, parse},
    table,
    watch::line,
};

/// The form of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Plain,
    Table,
    Metadata,
}

/// How answers to one request are written.
#[derive(Debug, Clone)]
pub(crate) struct Render {
    pub(crate) form: Form,
    include: Include,
    /// Tables in a watch name their columns once.
    columns_told: bool,
}

impl Default for Render {
    fn default() -> Self {
        Self { form: Form::Plain, include: Include::Metadata, columns_told: false }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Include {
    Metadata,
    Object,
    None,
}

impl Render {
    /// Chooses the first acceptable form.
    pub(crate) fn negotiate(accept: &str, query: &Query) -> Result<Self, Refusal> {
        let include = match query.get("includeObject") {
            Some("Object") => Include::Object,
            Some("None") => Include::None,
            _ => Include::Metadata,
        };
        let render = |form| Ok(Self { form, include, columns_told: false });
        if accept.trim().is_empty() {
            return render(Form::Plain);
        }
        for choice in accept.split(',') {
            let mut parts = choice.split(';').map(str::trim);
            let media = parts.next().unwrap_or_default();
            let parameter = |key: &str| {
                choice
                    .split(';')
                    .find_map(|p| p.trim().strip_prefix(key)?.strip_prefix('=').map(str::to_owned))
            };
            if !matches!(media, "application/json" | "*/*" | "application/*") {
                continue;
            }
            match parameter("as").as_deref() {
                None | Some("") => return render(Form::Plain),
                Some("Table") if parameter("v").as_deref() == Some("v1") => {
                    return render(Form::Table);
                }
                Some("PartialObjectMetadata" | "PartialObjectMetadataList")
                    if parameter("v").as_deref() == Some("v1") =>
                {
                    return render(Form::Metadata);
                }
                Some(_) => {}
            }
        }
        Err(Refusal::new(
            406,
            "NotAcceptable",
            format!(
                "only the following media types are accepted by {}: application/json",
                crate::status::SERVER_NAME
            ),
        ))
    }

    /// One object.
    pub(crate) fn object(&mut self, kind: &Resolved, bytes: &Bytes, now: Timestamp) -> Bytes {
        match self.form {
            Form::Plain if as_stored(kind) => bytes.clone(),
            Form::Plain => Bytes::from(presented(kind, parse(bytes)).to_string()),
            Form::Table => {
                let object = presented(kind, parse(bytes));
                let version = crate::meta::text(&object, "resourceVersion").to_owned();
                Bytes::from(
                    self.table(kind, &[object], &json!({"resourceVersion": version}), now)
                        .to_string(),
                )
            }
            Form::Metadata => Bytes::from(metadata_of(&parse(bytes)).to_string()),
        }
    }

    /// A list; `about` is its metadata.
    pub(crate) fn list(
        &mut self,
        kind: &Resolved,
        items: &[Stored],
        about: &Value,
        now: Timestamp,
    ) -> Bytes {
        match self.form {
            Form::Table => {
                let objects: Vec<Value> =
                    items.iter().map(|one| presented(kind, one.value())).collect();
                Bytes::from(self.table(kind, &objects, about, now).to_string())
            }
            Form::Metadata => {
                let each = items.iter().map(|one| {
                    one.excerpts
                        .metadata
                        .get_or_init(|| metadata_of(&one.value()).to_string().into())
                });
                let head =
                    "{\"kind\":\"PartialObjectMetadataList\",\"apiVersion\":\"meta.k8s.io/v1\",";
                let mut out = format!("{head}\"metadata\":{about},\"items\":[").into_bytes();
                join(&mut out, each);
                out.extend_from_slice(b"]}");
                Bytes::from(out)
            }
            Form::Plain => {
                let head = json!(kind.api_version()).to_string();
                let size: usize = items.iter().map(|one| one.bytes.len() + 1).sum();
                let mut out = Vec::with_capacity(size + 256);
                out.extend_from_slice(format!("{{\"apiVersion\":{head},\"items\":[").as_bytes());
                if kind.ty.nature == Nature::Custom && as_stored(kind) {
                    join(&mut out, items.iter().map(|one| &one.bytes));
                } else if as_stored(kind) {
                    let item = |one: &Stored| Bytes::from(item_of(kind, one).to_string());
                    let each = items.iter();
                    join(&mut out, each.map(|one| one.excerpts.item.get_or_init(|| item(one))));
                } else {
                    join(&mut out, items.iter().map(|one| item_of(kind, one).to_string()));
                }
                let tail =
                    format!("],\"kind\":{},\"metadata\":{about}}}", json!(kind.ty.list_kind));
                out.extend_from_slice(tail.as_bytes());
                Bytes::from(out)
            }
        }
    }

    /// One line of a watch.
    pub(crate) fn event(
        &mut self,
        happening: Happening,
        kind: &Resolved,
        bytes: &Bytes,
        now: Timestamp,
    ) -> Bytes {
        let name = match happening {
            Happening::Added => "ADDED",
            Happening::Modified => "MODIFIED",
            Happening::Deleted => "DELETED",
        };
        if self.form == Form::Plain && as_stored(kind) {
            let mut out = Vec::with_capacity(bytes.len() + 40);
            out.extend_from_slice(b"{\"object\":");
            out.extend_from_slice(bytes);
            out.extend_from_slice(format!(",\"type\":\"{name}\"}}\n").as_bytes());
            return Bytes::from(out);
        }
        let object = parse(&self.object(kind, bytes, now));
        line(name, &object)
    }

    /// A bookmark; `end` marks the end of the initial events.
    pub(crate) fn bookmark(&mut self, kind: &Resolved, version: u64, end: bool) -> Bytes {
        let mut about = json!({"resourceVersion": version.to_string(), "creationTimestamp": null});
        if end && let Some(map) = about.as_object_mut() {
            map.insert("annotations".into(), json!({"k8s.io/initial-events-end": "true"}));
        }
        let object = match self.form {
            Form::Plain => {
                json!({"kind": kind.ty.kind, "apiVersion": kind.api_version(), "metadata": about})
            }
            Form::Metadata => {
                json!({"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": about})
            }
            Form::Table => {
                let inner = json!({"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": about});
                json!({"kind": "Table", "apiVersion": "meta.k8s.io/v1",
                       "metadata": {"resourceVersion": version.to_string()}, "columnDefinitions": null,
                       "rows": [{"cells": [], "object": inner}]})
            }
        };
        line("BOOKMARK", &object)
    }

    fn table(
        &mut self,
        kind: &Resolved,
        objects: &[Value],
        about: &Value,
        now: Timestamp,
    ) -> Value {
        let columns = table::columns(kind);
        let rows: Vec<Value> = objects
            .iter()
            .map(|object| {
                let mut row = json!({"cells": table::cells(kind, object, now)});
                let shown = match self.include {
                    Include::Metadata => Some(metadata_of(object)),
                    Include::Object => Some(object.clone()),
                    Include::None => None,
                };
                if let (Some(map), Some(shown)) = (row.as_object_mut(), shown) {
                    map.insert("object".into(), shown);
                }
                row
            })
            .collect();
        let told = std::mem::replace(&mut self.columns_told, true);
        json!({"kind": "Table", "apiVersion": "meta.k8s.io/v1", "metadata": about,
               "columnDefinitions": if told { Value::Null } else { columns }, "rows": rows})
    }
}

/// Whether clients of this version see exactly the stored bytes.
pub(crate) fn as_stored(kind: &Resolved) -> bool {
    kind.version.name == kind.ty.storage_version
        && (kind.ty.nature != Nature::Event || kind.ty.group.is_empty())
}

/// The object as clients of the requested version see it.
pub(crate) fn presented(kind: &Resolved, mut object: Value) -> Value {
    if as_stored(kind) {
        return object;
    }
    if kind.ty.nature == Nature::Event {
        crate::strategy::event_to_new_shape(&mut object);
    }
    if let Some(map) = object.as_object_mut() {
        map.insert("apiVersion".into(), kind.api_version().into());
    }
    object
}

/// The object as it lies on its shelf.
pub(crate) fn for_storage(kind: &Resolved, mut object: Value) -> Value {
    if as_stored(kind) {
        if kind.ty.nature == Nature::Event {
            crate::strategy::complete_event(&mut object);
        }
        return object;
    }
    if kind.ty.nature == Nature::Event {
        crate::strategy::event_to_core_shape(&mut object);
        crate::strategy::complete_event(&mut object);
    } else if let Some(map) = object.as_object_mut() {
        map.insert("apiVersion".into(), kind.ty.storage_api_version().into());
    }
    object
}

/// An object as a list tells it: the items of built-in lists do not repeat their type.
fn item_of(kind: &Resolved, stored: &Stored) -> Value {
    let mut object = presented(kind, stored.value());
    if let Some(map) = object.as_object_mut().filter(|_| kind.ty.nature != Nature::Custom) {
        map.remove("apiVersion");
        map.remove("kind");
    }
    object
}

fn join(out: &mut Vec<u8>, items: impl Iterator<Item = impl AsRef<[u8]>>) {
    for (index, item) in items.enumerate() {
        if index > 0 {
            out.push(b',');
        }
        out.extend_from_slice(item.as_ref());
    }
}

fn metadata_of(object: &Value) -> Value {
    json!({"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1",
           "metadata": object.get("metadata").cloned().unwrap_or_default()})
}
