//! What can somebody do about the release of the control plane? Ask for one, take that back, or let it begin before its window; each before
//! anybody sends it, with the way back, or why there is none (CV-4).

use api::{kinds, names};
use schedule::Instant;
use serde_json::{Value, json};
use tidegate_core::{
    cluster::snapshot::Snapshot,
    document::{key::Key, problem::Problem},
    policy::{opening::WantedOverride, overrides::Layer},
    release::{SeenPlane, judge::judge, wish::Wish},
};

use crate::{
    change::Change,
    control_plane::{already, seen, told},
    freezing,
    object::Writing,
    opening,
};

/// The object that is changed.
pub fn object() -> Key {
    Key::new(&kinds::CLUSTER_VERSION, None, names::THE_CLUSTER)
}

/// Asks for a release. What could never begin is refused with everything that is wrong with it, before anything is written.
pub fn wish(snapshot: &Snapshot, wish: &Wish) -> Result<Change, String> {
    let (_, plane) = seen(snapshot)?;
    let release = &wish.release;
    if let Some(already) = already(plane, release) {
        return Err(already);
    }
    refused(plane, wish)?;
    let mut update = json!({"version": null, "image": null, "architecture": null, "force": null});
    for (field, value) in [("version", &release.version), ("image", &release.image)] {
        if !value.is_empty() {
            update[field] = json!(value);
        }
    }
    let begun = match plane.open_mark() {
        Some(mark) => {
            format!("; release {} has begun and is not stopped by it", mark.release.name())
        }
        None => String::new(),
    };
    Ok(Change {
        object: object(),
        meaning: format!(
            "release {} is wanted, and begins when the gate of ClusterVersion/version permits{begun}",
            release.name()
        ),
        patch: json!({"spec": {"desiredUpdate": update}}),
        undo: json!({"spec": {"desiredUpdate": as_it_was(plane)}}),
        way_back: plane.wish.is_none().then(|| "tidegate control-plane withdraw".to_owned()),
    })
}

/// Takes back what somebody asked for. What has begun is not stopped by that, so then there is nothing to take back.
pub fn withdraw(snapshot: &Snapshot) -> Result<Change, String> {
    let (_, plane) = seen(snapshot)?;
    let Some(wish) = &plane.wish else {
        return Err(
            "nothing is wanted: spec.desiredUpdate of ClusterVersion/version is empty".into()
        );
    };
    if plane.waiting().is_none() && !plane.is_under_way() {
        return Err(format!(
            "the cluster has release {} already, so there is nothing to take back",
            plane.accepted.name()
        ));
    }
    if plane.waiting().is_none() {
        return Err(format!(
            "release {} has begun, and what has begun finishes: taking the wish back would change nothing",
            wish.release.name()
        ));
    }
    Ok(Change {
        object: object(),
        meaning: format!(
            "release {} is not wanted any more; nothing of it has begun",
            wish.release.name()
        ),
        patch: json!({"spec": {"desiredUpdate": null}}),
        undo: json!({"spec": {"desiredUpdate": as_it_was(plane)}}),
        way_back: None,
    })
}

/// Who lets an update begin before its window, until when, and why.
#[derive(Clone, Copy, Debug)]
pub struct Start<'a> {
    /// What the override is called; none for the name of the object and the instant.
    pub name: Option<&'a str>,
    /// When it ends.
    pub until: Instant,
    /// Why.
    pub reason: &'a str,
    /// Where it was asked for.
    pub ticket: Option<&'a str>,
    /// Who signs it.
    pub by: Option<&'a str>,
}

/// Lets what somebody asked for begin before its window: an override for that release alone, which ends by itself (OVR-2).
pub fn start(snapshot: &Snapshot, start: Start<'_>, now: Instant) -> Result<Writing, String> {
    let (version, plane) = seen(snapshot)?;
    let Some(wish) = plane.waiting() else {
        return Err(match plane.open_mark() {
            Some(mark) => format!("release {} has begun already", mark.release.name()),
            None => "nothing is wanted\n  hint: ask for a release first: tidegate control-plane wish VERSION".into(),
        });
    };
    refused(plane, wish)?;
    let release = judge(plane, wish).pin.release;
    if snapshot.gate(version).permit(now).is_ok() {
        return Err(format!(
            "changes are permitted now, so release {} begins by itself\n  hint: see tidegate control-plane status",
            release.name()
        ));
    }
    let name = start.name.map_or_else(|| freezing::stamped(names::THE_CLUSTER, now), str::to_owned);
    let target = object();
    let wanted = WantedOverride {
        target: &target,
        layer: Layer::Platform,
        name: &name,
        until: start.until,
        reason: start.reason,
        ticket: start.ticket,
        only: Some(release.name()),
        by: start.by,
    };
    opening::open(snapshot, &wanted, now)
}

/// Every fault of a wish that keeps it from ever beginning, as one text.
fn refused(plane: &SeenPlane, wish: &Wish) -> Result<(), String> {
    let unmet = judge(plane, wish).unmet;
    if unmet.is_empty() {
        return Ok(());
    }
    let each = unmet.iter().map(|problem: &Problem| {
        let hint =
            problem.hint.as_ref().map_or_else(String::new, |hint| format!("\n  hint: {hint}"));
        format!("{}{hint}", told(problem))
    });
    Err(each.collect::<Vec<_>>().join("\n"))
}

/// What was asked for before.
fn as_it_was(plane: &SeenPlane) -> Value {
    plane.wish.as_ref().map_or(Value::Null, |wish| {
        let mut update = json!({"version": null, "image": null});
        for (field, value) in [
            ("version", &wish.release.version),
            ("image", &wish.release.image),
            ("architecture", &wish.architecture),
        ] {
            if !value.is_empty() {
                update[field] = json!(value);
            }
        }
        if wish.checks == tidegate_core::release::wish::Checks::SetAside {
            update["force"] = json!(true);
        }
        update
    })
}

#[cfg(test)]
mod tests;
