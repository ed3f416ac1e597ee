//! May the update begin that somebody queued on a stock OpenShift? (CV-4, CV-6)
//!
//! There the cluster version operator acts on `spec.desiredUpdate` at once: that write is the mark, and the wish is the annotation
//! `wanted-release`, which people write, or the API server, where it turns a held write into one. A wish is pinned when it is first seen,
//! judged, and held or begun like any other. It begins by one write with a permit (GATE-7) that takes the wish away as well, so nothing that
//! is sent twice begins twice; the server judges that write by the gates which hold the room, as it judges everybody's.
//!
//! What has begun is recorded where those look who hold its nodes (`begun`).
//!
//! Nothing is told in the status of `ClusterVersion`: definitions that do not know our fields would drop them. The status of each gate tells
//! what waits and what stands in its way, and events of the control plane tell what became of a wish.

use api::names::{WANTED_IMAGE, WANTED_RELEASE};
use schedule::Instant;
use serde_json::{Value, json};

use super::{begun, marks, updates};
use crate::{
    cluster::{seen::SeenGated, surroundings::Surroundings},
    document::problem::problem_text,
    gate::{
        Gate, Permit,
        action::{Action, Owner, Write},
        change::ChangeId,
        explain::sentence,
        note::{Note, Weight},
        plan::Plan,
    },
    release::{
        SeenPlane,
        judge::{Judged, judge},
        mark::{Before, Mark},
        wish::{Checks, Pin},
    },
};

/// What is to be done about a stock control plane.
pub fn decided(version: &SeenGated, gate: &Gate, around: &Surroundings<'_>, now: Instant) -> Plan {
    let Some(plane) = version.plane() else { return Plan::default() };
    let begun::Kept { version: record, nodes } = begun::kept(version, around.snapshot);
    let mut plan = match record {
        // Another write to the same object would only conflict.
        Some((record, note)) => {
            Plan { actions: vec![record], notes: note.into_iter().collect(), ..Plan::default() }
        }
        None => wished(version, plane, gate, around, now),
    };
    // What has begun comes first: its nodes wait for it.
    plan.actions.splice(0..0, nodes);
    plan
}

/// What is to be done about what somebody wants.
fn wished(
    version: &SeenGated,
    plane: &SeenPlane,
    gate: &Gate,
    around: &Surroundings<'_>,
    now: Instant,
) -> Plan {
    let edges = gate.set().next_change(now).into_iter().chain(gate.next_edge_above(now));
    let rests = Plan { wake: edges.min(), ..Plan::default() };
    let judged = plane.waiting().map(|wish| judge(plane, wish));
    if let Some(noted) = noted(plane, judged.as_ref()) {
        let (change, note) = noted.change(version, plane, (gate, judged.as_ref()), now);
        let keep = Action::upkeep(version.identity.key.clone(), Write::MergePatch(change));
        return Plan { actions: vec![keep], notes: note.into_iter().collect(), ..rests };
    }
    let Some(judged) = judged else { return rests };
    let is_clear = judged.unmet.is_empty() && updates::stops(around.snapshot, version).is_empty();
    if !is_clear || around.held_back.is_some() {
        return rests;
    }
    match gate.permit(now) {
        Ok(permit) => {
            let begin = begin(version, plane, judged, permit, now);
            Plan { actions: vec![begin], ..rests }
        }
        Err(_) => rests,
    }
}

/// What is kept of a wish without starting anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Noted {
    /// What it stands for is written down, or is not what it was.
    Pinned,
    /// It is what the cluster has, or was told to go to: it is done, and goes.
    Done,
    /// Somebody took it back: what it stood for goes too.
    TakenBack,
}

/// What has to be noted of a wish; nothing if everything is noted.
fn noted(plane: &SeenPlane, judged: Option<&Judged>) -> Option<Noted> {
    match (&plane.wish, judged) {
        (None, _) => plane.pin.as_ref().map(|_| Noted::TakenBack),
        (Some(_), None) => Some(Noted::Done),
        (Some(_), Some(judged)) => {
            (plane.pin.as_ref() != Some(&judged.pin)).then_some(Noted::Pinned)
        }
    }
}

impl Noted {
    /// The change of the annotations, and what people are told of it.
    fn change(
        self,
        version: &SeenGated,
        plane: &SeenPlane,
        (gate, judged): (&Gate, Option<&Judged>),
        now: Instant,
    ) -> (Value, Option<Note>) {
        let identity = &version.identity;
        let pin = judged.map(|judged| judged.pin.text()).filter(|_| self == Self::Pinned);
        let mut annotations = json!({WANTED_IMAGE: pin});
        if self == Self::Done {
            annotations[WANTED_RELEASE] = Value::Null;
        }
        let change = json!({"metadata": {
            "uid": identity.uid, "resourceVersion": identity.resource_version, "annotations": annotations,
        }});
        let told = |weight, reason, message| Some(Note { weight, reason, message });
        let name = |pin: Option<&Pin>| {
            let named = pin.map(|pin| [pin.release.name(), pin.wish.release.name()]);
            let mut named = named.into_iter().flatten().filter(|name| !name.is_empty());
            named.next().unwrap_or("that nobody could read").to_owned()
        };
        let note = match (self, judged) {
            (Self::Pinned, Some(judged)) if !judged.unmet.is_empty() => told(
                Weight::Warning,
                "ReleaseStopped",
                format!(
                    "{}: the release that is wanted cannot begin: {}",
                    identity.key,
                    problem_text(&judged.unmet)
                ),
            ),
            (Self::Pinned, Some(judged)) => gate.permit(now).err().and_then(|hold| {
                let until = match hold.until {
                    Some(until) => format!("until {until}"),
                    None => "with no end in sight".to_owned(),
                };
                let message = format!(
                    "release {} is queued, and held {until} ({})",
                    name(Some(&judged.pin)),
                    sentence(gate, now)
                );
                told(Weight::Normal, "ReleaseQueued", message)
            }),
            (Self::Pinned, None) => None,
            (Self::Done, _) => {
                let release = plane.wish.as_ref().map(|wish| wish.release.name().to_owned());
                let message = format!(
                    "release {} is what the cluster has or was told to go to: nothing begins, and the wish is done",
                    release.unwrap_or_default()
                );
                told(Weight::Normal, "ReleaseDone", message)
            }
            (Self::TakenBack, _) => {
                let release = name(plane.pin.as_ref());
                let message =
                    format!("release {release} is not asked for any more, and never began");
                told(Weight::Normal, "ReleaseWithdrawn", message)
            }
        };
        (change, note)
    }
}

/// The one write that lets an update begin. A merge patch, because it takes away what somebody else wrote; by the owner that starts changes,
/// because the server compares the stamp of its entry with the windows, and what was pinned in the same second has another (RCH-10).
fn begin(
    version: &SeenGated,
    plane: &SeenPlane,
    judged: Judged,
    permit: Permit,
    now: Instant,
) -> Action {
    let identity = &version.identity;
    let Pin { release, wish } = judged.pin;
    let after = plane.history.first().map(|newest| newest.started.clone()).unwrap_or_default();
    let record = Mark {
        release: release.clone(),
        after,
        before: Before::Unmarked,
        at: Some(now),
        until: None,
        checks: wish.checks,
    };
    let mut annotations = marks::permitted(&record.text(&identity.uid), &permit);
    annotations.insert(WANTED_RELEASE.to_owned(), Value::Null);
    annotations.insert(WANTED_IMAGE.to_owned(), Value::Null);
    // The image says all that an architecture could, and definitions take only one of them.
    let force = (wish.checks == Checks::SetAside).then_some(true);
    let update = json!({"version": release.version, "image": release.image, "force": force,
        "architecture": null, "mode": null, "acceptRisks": null});
    let change = json!({
        "metadata": {"uid": identity.uid, "resourceVersion": identity.resource_version,
            "annotations": annotations},
        "spec": {"desiredUpdate": update},
    });
    let said = format!("release {} ({})", release.version, release.image);
    let write = Write::MergePatchBy(Owner::Initiator, change);
    let what = (ChangeId::release(&release.version), said.as_str(), "AcceptedRelease");
    marks::starting(version, write, permit, what)
}

#[cfg(test)]
mod tests;
