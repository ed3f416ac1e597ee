//! Which release does a control plane have, and which does somebody want?

use schedule::Instant;
use serde_json::Value;

use crate::gate::{
    change::ChangeId,
    pending::{Began, UnderWay, Waiting},
};

/// A release, by version or image or both.
#[derive(Clone, Copy)]
pub(super) struct Release<'a> {
    version: &'a str,
    image: &'a str,
}

impl<'a> Release<'a> {
    pub(super) fn at(document: &'a Value, path: &str) -> Self {
        let text = |field: &str| {
            let found = document.pointer(path).and_then(|release| release.get(field));
            found.and_then(Value::as_str).unwrap_or_default()
        };
        Self { version: text("version"), image: text("image") }
    }

    pub(super) fn is_empty(self) -> bool {
        self.version.is_empty() && self.image.is_empty()
    }

    /// Images are compared where both are known: a version can be built twice.
    fn is_same(self, other: Self) -> bool {
        if !self.image.is_empty() && !other.image.is_empty() {
            self.image == other.image
        } else {
            self.version == other.version
        }
    }

    fn name(self) -> &'a str {
        if self.version.is_empty() { self.image } else { self.version }
    }
}

pub(super) fn update(wanted: Release<'_>, accepted: Release<'_>) -> Vec<Waiting> {
    if wanted.is_empty() || wanted.is_same(accepted) {
        return Vec::new();
    }
    let now = Some(accepted.name()).filter(|name| !name.is_empty()).map(str::to_owned);
    vec![Waiting::Release { to: wanted.name().to_owned(), now }]
}

pub(super) fn under_way(document: &Value, newest: &str, accepted: Release<'_>) -> Vec<UnderWay> {
    let newest = document.pointer(newest);
    let state = newest.and_then(|entry| entry.get("state")).and_then(Value::as_str);
    let change = (state == Some("Partial")).then(|| ChangeId::release(accepted.name()));
    change.map(|change| UnderWay { change, machines: None }).into_iter().collect()
}

/// The newest entry of a history of releases. The first of all is the installation, which nobody holds.
pub(super) fn updated(document: &Value, history: &str) -> Option<Began> {
    let [newest, _, ..] = document.pointer(history)?.as_array()?.as_slice() else { return None };
    let text = |field: &str| newest.get(field).and_then(Value::as_str);
    let release =
        text("version").filter(|version| !version.is_empty()).or_else(|| text("image"))?;
    Some(Began { what: ChangeId::release(release), at: Instant::parse(text("startedTime")?).ok()? })
}
