//! What can somebody do about the release of the control plane? Ask for one, take that back, or let it begin before its window; each before
//! anybody sends it, with the way back, or why there is none (CV-4).
//!
//! A wish is `spec.desiredUpdate`, and on a stock cluster, where that would begin at once, the annotation `wanted-release`.

use api::{kinds, names};
use schedule::Instant;
use serde_json::{Value, json};
use tidegate_core::{
    cluster::snapshot::Snapshot,
    document::{key::Key, problem::Problem},
    gate::explain::sentence,
    policy::{opening::WantedOverride, overrides::Layer},
    release::{
        SeenPlane,
        judge::judge,
        of::Of,
        wish::{Checks, Wish},
    },
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
    let begun = match plane.open_mark() {
        Some(mark) => {
            format!("; release {} has begun and is not stopped by it", mark.release.name())
        }
        None => String::new(),
    };
    let meaning = match plane.of {
        Of::Stock => format!(
            "release {} is queued, and the operator lets it begin (manageUpdates) when all that holds ClusterVersion permits{begun}",
            release.name()
        ),
        Of::Cluster | Of::Hosted => format!(
            "release {} is wanted, and begins when the gate of ClusterVersion/version permits{begun}",
            release.name()
        ),
    };
    Ok(Change {
        object: object(),
        meaning,
        patch: written(plane.of, Some(wish)),
        undo: written(plane.of, plane.wish.as_ref()),
        way_back: plane.wish.is_none().then(|| "tidegate control-plane withdraw".to_owned()),
    })
}

/// Takes back what somebody asked for. What has begun is not stopped by that, so then there is nothing to take back.
pub fn withdraw(snapshot: &Snapshot) -> Result<Change, String> {
    let (_, plane) = seen(snapshot)?;
    let Some(wish) = &plane.wish else {
        return Err(nothing_wanted(plane));
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
        meaning: match wish.release.name() {
            "" => "the wish that nobody can read is taken away; nothing of it has begun".to_owned(),
            release => format!("release {release} is not wanted any more; nothing of it has begun"),
        },
        patch: written(plane.of, None),
        undo: written(plane.of, Some(wish)),
        way_back: None,
    })
}

/// That there is nothing to take back, and what has begun all the same.
fn nothing_wanted(plane: &SeenPlane) -> String {
    match (plane.of, plane.open_mark()) {
        (Of::Cluster | Of::Hosted, _) => {
            "nothing is wanted: spec.desiredUpdate of ClusterVersion/version is empty".to_owned()
        }
        (Of::Stock, None) => format!(
            "nothing is wanted: ClusterVersion/version has no annotation {}",
            names::WANTED_RELEASE
        ),
        (Of::Stock, Some(mark)) => format!(
            "nothing is wanted any more: spec.desiredUpdate of ClusterVersion/version names release {}, and the cluster version operator acts on that at once",
            mark.release.name()
        ),
    }
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
    let gate = snapshot.gate(version);
    if gate.permit(now).is_ok() {
        return Err(format!(
            "changes are permitted now, so release {} begins by itself\n  hint: see tidegate control-plane status",
            release.name()
        ));
    }
    // What a gate holds is opened as a whole: an override of one is for no release alone.
    if plane.of == Of::Stock {
        let shut = snapshot.shut_on_updates(now);
        let hints = shut.iter().map(|gate| {
            let name = format!("{}/{}", gate.kind().short_name, gate.name);
            format!("\n  hint: tidegate override {name} --open-for 1h --reason ... opens all that it holds")
        });
        return Err(format!(
            "on this cluster gates hold updates of the control plane, and an override opens a gate for all that it holds, not for one release: {}{}",
            sentence(&gate, now),
            hints.collect::<String>()
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

/// The change that leaves this wish, or none, where the control plane keeps wishes. A text that nobody can read is not known word for word, so it
/// is not put back: it started nothing.
fn written(of: Of, wish: Option<&Wish>) -> Value {
    let wish = wish.filter(|wish| !wish.release.is_empty());
    let mut update = json!({});
    if let Some(wish) = wish {
        for (field, value) in [
            ("version", &wish.release.version),
            ("image", &wish.release.image),
            ("architecture", &wish.architecture),
        ] {
            if !value.is_empty() {
                update[field] = json!(value);
            }
        }
        if wish.checks == Checks::SetAside {
            update["force"] = json!(true);
        }
    }
    match of {
        Of::Stock => {
            let text = wish.map(|_| update.to_string());
            json!({"metadata": {"annotations": {names::WANTED_RELEASE: text}}})
        }
        Of::Cluster | Of::Hosted if wish.is_none() => json!({"spec": {"desiredUpdate": null}}),
        Of::Cluster | Of::Hosted => {
            // What is left out of a merge patch would stay.
            for field in ["version", "image", "architecture", "force"] {
                if update.get(field).is_none() {
                    update[field] = Value::Null;
                }
            }
            json!({"spec": {"desiredUpdate": update}})
        }
    }
}

#[cfg(test)]
mod tests;
