//! How is a stanza overridden that is spelled as an earlier design does? By its own fields: `enforcing` and `pausedUntil` (D4-1).

use std::sync::Arc;

use schedule::Instant;
use serde_json::{Value, json};

use super::{StanzaChange, StanzaReading, WantedStanza, meaning, patch};
use crate::{
    cluster::seen::SeenGated,
    gate::gate,
    policy::version::{Pause, VersionManaged, lower},
};

/// The change of the stanza, its way back, and what it means.
pub(super) fn change(
    seen: &SeenGated,
    read: &VersionManaged,
    wanted: WantedStanza,
    reason: Option<&str>,
    now: Instant,
) -> Result<StanzaChange, String> {
    let (object, field) = (&seen.identity.key, seen.stanza.gating.field());
    let (enforcing, paused) = match wanted {
        WantedStanza::Permissive => (Some(false), json!(read.given.paused_until)),
        WantedStanza::Restrictive => (Some(true), json!(true)),
        WantedStanza::RestrictiveUntil(until) => (Some(true), json!(until.to_string())),
        WantedStanza::PermissiveUntil(_) => {
            return Err(format!(
                "{field} of {object} cannot say until when it is set aside\n  hint: write an override that ends by itself: tidegate override {object} --open-until"
            ));
        }
        WantedStanza::Clear if read.pause == Pause::Assisted => {
            return Err(format!(
                "{object} waits for somebody to start its update\n  hint: tidegate worker-nodes start --pool {}",
                object.name
            ));
        }
        WantedStanza::Clear => (None, Value::Null),
    };
    let before = json!({"enforcing": read.given.enforcing, "pausedUntil": read.given.paused_until});
    let written = json!({"enforcing": enforcing, "pausedUntil": paused});
    let mut given = json!(read.given);
    given["enforcing"] = written["enforcing"].clone();
    given["pausedUntil"] = written["pausedUntil"].clone();
    let given = serde_json::from_value(given).map_err(|error| error.to_string())?;
    let mut after = seen.clone();
    after.stanza.reading = StanzaReading::Version(Arc::new(lower(given).0));
    let gate = gate(&after.stanza, None);
    let annotated =
        |reason: Option<&str>| json!({"annotations": {api::names::OVERRIDE_REASON: reason}});
    let mut metadata = annotated(reason);
    if !seen.identity.resource_version.is_empty() {
        metadata["resourceVersion"] = json!(seen.identity.resource_version);
    }
    Ok(StanzaChange {
        patch: patch(seen, metadata, written),
        undo: patch(seen, annotated(seen.stanza.override_reason.as_deref()), before),
        meaning: meaning(&after, &gate, now),
    })
}
