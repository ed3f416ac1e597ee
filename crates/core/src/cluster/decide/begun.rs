//! Which nodes of a stock cluster may finish an update of the control plane that has begun? (GATE-10, CV-1)
//!
//! There the first write is that of others: whoever installs releases records it in `status.history`, and that record counts. It is copied
//! once, as upkeep, to the annotation `begun-release` of `ClusterVersion` and of the master nodes, and what holds nodes lets those pass. It goes when
//! the masters have converged on the release: when its owner says that it is complete, and every master rests with what its pool was
//! given. While others render, nobody can tell what of a configuration the release brought, so what people wrote meanwhile rides along.
//!
//! Nobody remembers anything: a release that is complete, and of which there is no record any more, is not copied again.

use api::{
    kinds,
    machine::names::{BEGUN_RELEASE, MASTER},
};
use serde_json::{Value, json};

use crate::{
    cluster::{seen::SeenGated, snapshot::Snapshot},
    document::key::Key,
    gate::{
        action::{Action, Refused, Write},
        note::{Note, Weight},
    },
    pool::{seen::SeenNode, update::Record},
    release::Progress,
};

/// What has to be written so that the record of an update is where those look who hold nodes.
#[derive(Debug, Default)]
pub(super) struct Kept {
    /// The record on `ClusterVersion`, with what people are told.
    pub(super) version: Option<(Action, Note)>,
    /// The same on nodes.
    pub(super) nodes: Vec<Action>,
}

/// What of the record is not as it should be.
pub(super) fn kept(version: &SeenGated, snapshot: &Snapshot) -> Kept {
    let (Some(update), Some(plane)) = (version.update.as_deref(), version.plane()) else {
        return Kept::default();
    };
    let newest = plane.history.first().filter(|newest| newest.progress == Progress::Partial);
    let begun = newest.map(|newest| newest.release.name()).filter(|name| !name.is_empty());
    let recorded = update.record.as_ref().map(|record| record.release.as_str());
    // What nobody can read is no record of anything.
    let is_noted = recorded.is_some() || update.problem.is_some();
    let release = match (begun, recorded) {
        (Some(begun), _) => Some(begun),
        (None, recorded) => recorded.filter(|_| !have_converged(snapshot)),
    };
    let change = match release {
        Some(release) if recorded != Some(release) => {
            let text = Record::of(release, None, &[]).text();
            let said = format!(
                "release {release} has begun: the nodes of the control plane finish it, whatever gates and freezes say"
            );
            Some((json!(text), "ReleaseBegan", said))
        }
        None if is_noted => {
            let release = recorded.unwrap_or("that nobody can read");
            let said = format!(
                "release {release} is complete, and the nodes of the control plane have it: what they get from here on waits for its gates"
            );
            Some((Value::Null, "ReleaseFinished", said))
        }
        Some(_) | None => None,
    };
    let version = change.map(|(text, reason, message)| {
        let write = noting(&version.identity.uid, &version.identity.resource_version, &text);
        let action = Action::upkeep(version.identity.key.clone(), write);
        (action, Note { weight: Weight::Normal, reason, message })
    });
    let nodes = snapshot.machines().map(|machine| &machine.node);
    Kept { version, nodes: nodes.filter_map(|node| copied(node, snapshot, release)).collect() }
}

/// Whether every master rests with what its pool was given. Where nobody can tell who belongs to the pool, nobody can tell that.
fn have_converged(snapshot: &Snapshot) -> bool {
    let Some(pool) = snapshot.pool(MASTER) else { return true };
    let masters = snapshot.members(MASTER);
    let is_there = |node: &&SeenNode| {
        node.is_done() && pool.newest.as_ref().is_none_or(|newest| node.desired == *newest)
    };
    snapshot.disputed(MASTER).next().is_none()
        && !masters.is_empty()
        && masters.iter().all(is_there)
}

/// The change that gives a node the record, or takes it away; none if it has what it should have. One that may be a master, or not, keeps
/// what it has.
fn copied(node: &SeenNode, snapshot: &Snapshot, release: Option<&str>) -> Option<Action> {
    let home = snapshot.home(node);
    if home.is_none() && snapshot.disputed(MASTER).any(|one| one.node == node.name) {
        return None;
    }
    let wanted = release.filter(|_| home.is_some_and(|pool| pool.name == MASTER));
    (node.begun_release.as_deref() != wanted).then(|| {
        let write = noting(&node.uid, &node.resource_version, &json!(wanted));
        let target = Key::new(&kinds::NODE, None, &node.name);
        // One that the server refuses to touch keeps no other waiting (LIVE-3).
        Action { refused: Refused::ConcernsTheTargetAlone, ..Action::upkeep(target, write) }
    })
}

fn noting(uid: &str, resource_version: &str, text: &Value) -> Write {
    Write::MergePatch(json!({"metadata": {
        "uid": uid, "resourceVersion": resource_version, "annotations": {BEGUN_RELEASE: text},
    }}))
}

#[cfg(test)]
mod tests;
