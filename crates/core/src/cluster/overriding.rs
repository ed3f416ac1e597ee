//! How does somebody set a policy aside, and back? The patch of a stanza, and the patch that takes it back.
//!
//! `byPolicy` is never touched (GATE-3): coming back is one word. What a person overrides they give a reason for, and the reason is
//! shown wherever the override is (GATE-9).

mod version;

use std::sync::Arc;

use api::{names, stanza::StanzaStrategy};
use schedule::Instant;
use serde_json::{Value, json};

use crate::{
    cluster::{seen::SeenGated, snapshot::Snapshot},
    gate::{Gate, gate},
    policy::{
        seen::SeenPolicy,
        stanza::{Form, StanzaReading},
    },
};

/// What is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WantedStanza {
    /// Always.
    Permissive,
    /// Never.
    Restrictive,
    /// Always until then.
    PermissiveUntil(Instant),
    /// Never until then.
    RestrictiveUntil(Instant),
    /// As the policy says.
    Clear,
}

/// A change of a stanza.
#[derive(Clone, Debug, PartialEq)]
pub struct StanzaChange {
    /// The merge patch; it carries the version it was made from.
    pub patch: Value,
    /// The merge patch that takes it back.
    pub undo: Value,
    /// What it will mean, in a sentence without its full stop.
    pub meaning: String,
}

/// Why a resource's own stanza is not the place for an override; none if it is. The pool of the masters follows `ClusterVersion`, so
/// that what is written on the pool itself is put back at once (CV-2).
pub fn led_elsewhere(seen: &SeenGated, snapshot: &Snapshot) -> Option<String> {
    let object = &seen.identity.key;
    let decides = &snapshot.decides(seen).identity.key;
    let version = Some(&decides.name).filter(|_| decides != object)?;
    Some(format!(
        "{object} follows ClusterVersion/{version}, so its own stanza decides nothing\n  \
         hint: tidegate override clusterversion/{version}, which holds or permits the masters too"
    ))
}

/// The change of a resource's stanza that gives what is wanted; or why there is none.
pub fn change(
    seen: &SeenGated,
    policy: Option<&Arc<SeenPolicy>>,
    wanted: WantedStanza,
    reason: Option<&str>,
    now: Instant,
) -> Result<StanzaChange, String> {
    let (object, field) = (&seen.identity.key, seen.stanza.gating.field());
    if let WantedStanza::PermissiveUntil(until) | WantedStanza::RestrictiveUntil(until) = wanted
        && until <= now
    {
        return Err(format!("{until} is not after now ({now}), so it would not change {object}"));
    }
    let stanza = match &seen.stanza.reading {
        StanzaReading::Version(read) => return version::change(seen, read, wanted, reason, now),
        StanzaReading::Usable(stanza) => Some(stanza),
        StanzaReading::Absent | StanzaReading::Unusable(_) => None,
    };
    let names_policy = stanza.is_some_and(|stanza| stanza.by_policy.is_some());
    let (strategy, permissive, restrictive) = match wanted {
        WantedStanza::Permissive => (StanzaStrategy::Permissive, None, None),
        WantedStanza::Restrictive => (StanzaStrategy::Restrictive, None, None),
        WantedStanza::PermissiveUntil(until) => {
            (StanzaStrategy::PermissiveUntil, Some(until), None)
        }
        WantedStanza::RestrictiveUntil(until) => {
            (StanzaStrategy::RestrictiveUntil, None, Some(until))
        }
        WantedStanza::Clear if names_policy => (StanzaStrategy::ByPolicy, None, None),
        WantedStanza::Clear => {
            return Err(format!(
                "{object} names no policy to go back to; set {field}.byPolicy first"
            ));
        }
    };
    let text = |until: Option<Instant>| until.map(|until| until.to_string());
    let written = json!({
        "strategy": strategy, "permissiveUntil": text(permissive), "restrictiveUntil": text(restrictive),
    });
    let before = match (&seen.stanza.reading, stanza) {
        (_, Some(stanza)) => json!({
            "strategy": stanza.strategy, "permissiveUntil": stanza.permissive_until,
            "restrictiveUntil": stanza.restrictive_until,
        }),
        (StanzaReading::Unusable(_), None) => {
            return Err(format!("{field} of {object} cannot be used; mend it first"));
        }
        (StanzaReading::Absent | StanzaReading::Usable(_) | StanzaReading::Version(_), None) => {
            Value::Null
        }
    };
    let after = with(seen, &written)?;
    let gate = gate(&after.stanza, policy);
    let annotated = |reason: Option<&str>| json!({"annotations": {names::OVERRIDE_REASON: reason}});
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

/// A merge patch of the metadata and the stanza of a resource.
fn patch(seen: &SeenGated, metadata: Value, stanza: Value) -> Value {
    let inside = |value, field: &str| json!({field: value});
    let mut patch =
        seen.stanza.gating.stanza.trim_start_matches('/').rsplit('/').fold(stanza, inside);
    patch["metadata"] = metadata;
    patch
}

/// The resource as it will be.
fn with(seen: &SeenGated, written: &Value) -> Result<SeenGated, String> {
    let mut after = seen.clone();
    let mut stanza = match &seen.stanza.reading {
        StanzaReading::Usable(stanza) => serde_json::to_value(stanza).unwrap_or_default(),
        StanzaReading::Absent | StanzaReading::Unusable(_) | StanzaReading::Version(_) => json!({}),
    };
    for (field, value) in written.as_object().into_iter().flatten() {
        stanza[field.as_str()] = value.clone();
    }
    let stanza = serde_json::from_value(stanza).map_err(|error| error.to_string())?;
    after.stanza.reading = StanzaReading::Usable(stanza);
    Ok(after)
}

fn meaning(after: &SeenGated, gate: &Gate, now: Instant) -> String {
    let object = &after.identity.key;
    let then = match after.policy() {
        Some(policy) => format!("then as {policy} says"),
        None => match gate.form() {
            Form::PermissiveUntil(_) => "then never, because no policy is named".into(),
            _ => "then always, because no policy is named".into(),
        },
    };
    match gate.form() {
        Form::Permissive => {
            format!("changes to {object} are permitted from now on, until this is taken back")
        }
        Form::Restrictive => {
            format!("changes to {object} are held from now on, until this is taken back")
        }
        Form::PermissiveUntil(until) => {
            format!("changes to {object} are permitted until {until}, {then}")
        }
        Form::RestrictiveUntil(until) => {
            format!("changes to {object} are held until {until}, {then}")
        }
        Form::ByPolicy | Form::NoStanza | Form::Unusable | Form::Version => {
            let stretch = gate.set().stretch(now);
            let state = if stretch.inside { "permitted" } else { "held" };
            let until = stretch.end.map_or_else(String::new, |end| format!(" until {end}"));
            let policy =
                after.policy().map_or_else(String::new, |policy| format!(": as {policy} says"));
            format!("changes to {object} are {state}{until}{policy}")
        }
    }
}

#[cfg(test)]
mod tests {

    use super::*;
    use crate::cluster::kinds::{self, Row, tests::gated};

    const NOW: &str = "2026-11-15T12:00:00Z";

    fn at(text: &str) -> Instant {
        Instant::parse(text).unwrap()
    }

    fn pool(stanza: &Value) -> SeenGated {
        let document = json!({"metadata": {"name": "worker", "resourceVersion": "9"}, "spec": {"changeManagement": stanza}});
        gated(&kinds::MACHINE_CONFIG_POOL, &document)
    }

    /// GATE-3
    #[test]
    fn an_override_keeps_the_policy_and_can_be_taken_back() {
        let seen = pool(&json!({"strategy": "ByPolicy", "byPolicy": {"name": "weekend"}}));
        let until = at("2026-11-16T12:00:00Z");
        let made = change(&seen, None, WantedStanza::PermissiveUntil(until), Some("CVE"), at(NOW))
            .unwrap();
        assert_eq!(
            made.patch,
            json!({
                "metadata": {"annotations": {names::OVERRIDE_REASON: "CVE"}, "resourceVersion": "9"},
                "spec": {"changeManagement": {"strategy": "PermissiveUntil", "permissiveUntil": "2026-11-16T12:00:00Z", "restrictiveUntil": null}},
            })
        );
        assert_eq!(
            made.undo,
            json!({
                "metadata": {"annotations": {names::OVERRIDE_REASON: null}},
                "spec": {"changeManagement": {"strategy": "ByPolicy", "permissiveUntil": null, "restrictiveUntil": null}},
            })
        );
        assert_eq!(
            made.meaning,
            "changes to MachineConfigPool/worker are permitted until 2026-11-16T12:00:00Z, \
            then as ChangeManagementPolicy/weekend says"
        );
    }

    #[test]
    fn each_wish_has_its_stanza() {
        let seen = pool(
            &json!({"strategy": "PermissiveUntil", "permissiveUntil": NOW, "byPolicy": {"name": "weekend"}}),
        );
        let check = |wanted: WantedStanza, expected: Value| {
            let made = change(&seen, None, wanted, None, at("2026-11-15T00:00:00Z")).unwrap();
            assert_eq!(made.patch["spec"]["changeManagement"], expected);
        };
        let with = |strategy: &str, permissive: Value, restrictive: Value| json!({"strategy": strategy, "permissiveUntil": permissive, "restrictiveUntil": restrictive});
        check(WantedStanza::Permissive, with("Permissive", Value::Null, Value::Null));
        check(WantedStanza::Restrictive, with("Restrictive", Value::Null, Value::Null));
        check(
            WantedStanza::RestrictiveUntil(at(NOW)),
            with("RestrictiveUntil", Value::Null, json!(NOW)),
        );
        check(WantedStanza::Clear, with("ByPolicy", Value::Null, Value::Null));
    }

    #[test]
    fn what_would_do_nothing_or_harm_is_refused() {
        let bare = pool(&Value::Null);
        let check = |seen: &SeenGated, wanted: WantedStanza, expected: &str| {
            let refused = change(seen, None, wanted, None, at(NOW)).unwrap_err();
            assert!(refused.contains(expected), "{refused}");
        };
        check(&bare, WantedStanza::PermissiveUntil(at(NOW)), "is not after now");
        check(&bare, WantedStanza::Clear, "names no policy to go back to");
        check(&pool(&json!({"strategy": "Sometimes"})), WantedStanza::Permissive, "cannot be used");
        // Without a stanza, taking it back is taking it away.
        let made = change(&bare, None, WantedStanza::Restrictive, None, at(NOW)).unwrap();
        assert_eq!(made.undo["spec"], json!({"changeManagement": null}));
    }

    /// CV-2
    #[test]
    fn the_pool_of_the_masters_is_overridden_by_way_of_the_cluster_version() {
        let world = |objects: &[(&'static Row, &str)]| {
            let mut world = Snapshot::default();
            for (kind, name) in objects {
                world.add(kind, &json!({"metadata": {"name": name}}));
            }
            world
        };
        let check = |world: &Snapshot, pool: &str, expected: Option<&str>| {
            let pools = world.gated().find(|seen| &*seen.identity.key.name == pool);
            let said = led_elsewhere(pools.unwrap(), world);
            assert_eq!(said.is_some(), expected.is_some(), "{said:?}");
            assert!(said.unwrap_or_default().contains(expected.unwrap_or_default()));
        };
        let (version, pools) = (&kinds::CLUSTER_VERSION, &kinds::MACHINE_CONFIG_POOL);
        let whole = world(&[(version, "version"), (pools, "master"), (pools, "worker")]);
        check(&whole, "master", Some("tidegate override clusterversion/version"));
        check(&whole, "worker", None);
        // Without a cluster version the pool has nobody to follow.
        check(&world(&[(pools, "master")]), "master", None);
    }
}
