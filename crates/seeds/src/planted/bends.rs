//! What is said otherwise than it was meant? A line between operator and server bends requests on their way.

use std::time::Duration;

use api::machine::names::{LAST_APPLIED_DRAIN, PERMIT_FROM, PERMIT_UNTIL};
use serde_json::{Value, json};

use super::super::{intent::instant, strangers::forward, weather::Packet};

/// When the permit of a mark ends.
fn until(body: &Value) -> jiff::Timestamp {
    let until = body["metadata"]["annotations"][PERMIT_UNTIL].as_str();
    until.and_then(|until| until.parse().ok()).unwrap_or_default()
}

/// Says that the window opens in the next hour, as if it knew what stamps nodes carry.
pub(super) fn date_ahead(packet: &mut Packet) {
    if !packet.is_mark() {
        return;
    }
    let mut body = packet.json();
    let stamp = forward(until(&body).as_second() - 300);
    let annotations = &mut body["metadata"]["annotations"];
    annotations[PERMIT_FROM] = json!(instant(stamp - 60));
    annotations[PERMIT_UNTIL] = json!(instant(stamp + 60));
    packet.body = body.to_string().into_bytes();
}

pub(super) fn insist(packet: &mut Packet) {
    if packet.is_mark() {
        packet.insistence = 3;
    }
}

/// What is written may come to something else than it was decided for.
pub(super) fn forget_versions(packet: &mut Packet) {
    let mut body = packet.json();
    if let Some(operations) = body.as_array_mut() {
        operations.retain(|operation| operation["path"] != "/metadata/resourceVersion");
    } else if let Some(metadata) = body["metadata"].as_object_mut() {
        metadata.remove("resourceVersion");
    }
    packet.body = body.to_string().into_bytes();
}

pub(super) fn dawdle(packet: &mut Packet) {
    if packet.is_mark() {
        packet.held = Duration::from_mins(7);
    }
}

pub(super) fn stretch_permits(packet: &mut Packet) {
    if !packet.is_mark() {
        return;
    }
    let mut body = packet.json();
    let later = until(&body) + jiff::SignedDuration::from_mins(9);
    body["metadata"]["annotations"][PERMIT_UNTIL] = json!(later.to_string());
    packet.body = body.to_string().into_bytes();
    packet.held = Duration::from_mins(6);
}

pub(super) fn keep_silent(packet: &mut Packet) {
    let mut body = packet.json();
    if let Some(annotations) =
        body.pointer_mut("/metadata/annotations").and_then(Value::as_object_mut)
    {
        annotations.remove(LAST_APPLIED_DRAIN);
        packet.body = body.to_string().into_bytes();
    }
}
