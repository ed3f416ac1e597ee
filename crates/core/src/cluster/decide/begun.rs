//! Which nodes of a stock cluster may finish an update of the control plane that has begun? (GATE-10, CV-1)
//!
//! There the first write is that of others: whoever installs releases records it in `status.history`, and that record counts. It is copied
//! once, as upkeep, to the annotation `begun-release` of `ClusterVersion` and of the master nodes, and what holds nodes lets those pass. It goes when
//! the masters have converged on the release: when its owner says that it is complete, and every master rests with what its pool was
//! given. While others render, nobody can tell what of a configuration the release brought, so what people wrote meanwhile rides along: it is
//! listed in the record, and told once.
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
    pool::{
        render::chosen,
        seen::SeenNode,
        source::Source,
        update::{Record, Written},
    },
    release::Progress,
};

/// What has to be written so that the record of an update is where those look who hold nodes.
#[derive(Debug, Default)]
pub(super) struct Kept {
    /// The record on `ClusterVersion`, with what people are told of it, if anything.
    pub(super) version: Option<(Action, Option<Note>)>,
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
    let known = update.record.as_ref().filter(|record| release == Some(record.release.as_str()));
    let sources = sources(snapshot);
    let change = match (release, known) {
        (Some(release), None) => {
            let text = Record::of(release, update.started, &sources).text();
            let message = format!(
                "release {release} has begun: the nodes of the control plane finish it, whatever gates and freezes say"
            );
            Some((json!(text), Some(note(Weight::Normal, "ReleaseBegan", message))))
        }
        (Some(_), Some(record)) => {
            let now = record.with_riding(update.started, &sources);
            (now != *record).then(|| (json!(now.text()), boarded(record, &now)))
        }
        (None, _) if is_noted => {
            let release = recorded.unwrap_or("that nobody can read");
            let message = format!(
                "release {release} is complete, and the nodes of the control plane have it: what they get from here on waits for its gates"
            );
            Some((Value::Null, Some(note(Weight::Normal, "ReleaseFinished", message))))
        }
        (None, _) => None,
    };
    let version = change.map(|(text, note)| {
        let write = noting(&version.identity.uid, &version.identity.resource_version, &text);
        (Action::upkeep(version.identity.key.clone(), write), note)
    });
    let nodes = snapshot.machines().map(|machine| &machine.node);
    Kept { version, nodes: nodes.filter_map(|node| copied(node, snapshot, release)).collect() }
}

/// What the masters are made of, as far as it was seen.
fn sources(snapshot: &Snapshot) -> Vec<&Source> {
    snapshot.pool(MASTER).map(|pool| chosen(pool, snapshot.sources())).unwrap_or_default()
}

/// What people are told of what rides along now and did not before; nothing if there is only less of it.
fn boarded(before: &Record, now: &Record) -> Option<Note> {
    let mut new = now.riding().filter(|one| !before.riding().any(|other| other == *one));
    new.next()?;
    let message = format!(
        "what people wrote for the nodes of the control plane since release {} began rides along with it, and waits for no gate: {}",
        now.release,
        listed(now)
    );
    Some(note(Weight::Warning, "RidesAlong", message))
}

/// What rides along with an update, in words; empty if nothing does.
pub(super) fn listed(record: &Record) -> String {
    let named = record.riding().map(|(name, written)| match written {
        Written::There => name.to_owned(),
        Written::TakenAway => format!("{name} (taken away)"),
    });
    named.collect::<Vec<_>>().join(", ")
}

fn note(weight: Weight, reason: &'static str, message: String) -> Note {
    Note { weight, reason, message }
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
