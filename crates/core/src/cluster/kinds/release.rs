//! Which release does a control plane have, and which does somebody want?

use schedule::Instant;
use serde_json::Value;

use crate::{
    gate::{
        change::ChangeId,
        pending::{Began, UnderWay, Waiting},
    },
    release::Named,
};

pub(super) fn update(wanted: &Named, accepted: &Named) -> Vec<Waiting> {
    if wanted.is_empty() || wanted.is_same(accepted) {
        return Vec::new();
    }
    let now = Some(accepted.name()).filter(|name| !name.is_empty()).map(str::to_owned);
    let to = wanted.name().to_owned();
    vec![Waiting::Release { to, now, remarks: Vec::new() }]
}

pub(super) fn under_way(document: &Value, newest: &str, accepted: &str) -> Vec<UnderWay> {
    let newest = document.pointer(newest);
    let state = newest.and_then(|entry| entry.get("state")).and_then(Value::as_str);
    let change = (state == Some("Partial")).then(|| ChangeId::release(accepted));
    change.map(|change| UnderWay { change, machines: None }).into_iter().collect()
}

/// The newest entry of a history of releases. The first of all is the installation, which nobody holds.
pub(super) fn updated(document: &Value, history: &str) -> Option<Began> {
    let [newest, _, ..] = document.pointer(history)?.as_array()?.as_slice() else { return None };
    let text = |field: &str| newest.get(field).and_then(Value::as_str);
    let release =
        text("version").filter(|version| !version.is_empty()).or_else(|| text("image"))?;
    let at = Instant::parse(text("startedTime")?).ok()?;
    Some(Began { what: ChangeId::release(release), at, basis: None })
}
