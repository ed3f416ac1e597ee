//! What of the control plane do decisions read, and what is decided about it? The release that somebody wants, the one that was let begin,
//! and the one that was accepted (CV-1, CV-4).

use api::{
    machine::names::{PERMIT_BASIS, PERMIT_CHANGE, PERMIT_FROM, PERMIT_UNTIL},
    names::ACCEPTED_RELEASE,
};
use schedule::Instant;
use serde_json::Value;

use super::{
    CHANGE_MANAGEMENT_POLICY, CLUSTER_CHANGE_FREEZE, CLUSTER_CHANGE_OVERRIDE, Duty, Gated,
    MACHINE_CONFIG, MACHINE_CONFIG_POOL, NODE, Row, Surroundings, advisory,
    release::{under_way, updated},
};
use crate::{
    cluster::{
        decide::updates::{self, Around},
        seen::{Own, Seen},
    },
    gate::{
        Basis,
        change::ChangeId,
        pending::{Began, Course, Pending, Stop, UnderWay, Waiting},
        plan::Plan,
    },
    pool::{source::annotation, update::SeenUpdate},
    release::{
        SeenPlane,
        judge::{Judged, judge},
    },
};

/// The control plane of the cluster.
pub static CLUSTER_VERSION: Row = Row::gated(
    api::kinds::CLUSTER_VERSION,
    Gated {
        pending,
        began,
        own: |document| Own::Update(Box::new(SeenUpdate::new(document))),
        ..Gated::PLAIN
    },
    Duty::of_cluster(advisory),
);

/// What is decided about the control plane where its updates are started here.
pub(super) static STARTED: Duty = Duty {
    // GATE-10: a mark records what the masters are made of. CV-3: kubelets may be too old for what is wanted, and whether they will be depends on
    // the policy of every pool.
    reads: &[
        &CHANGE_MANAGEMENT_POLICY,
        &CLUSTER_CHANGE_FREEZE,
        &CLUSTER_CHANGE_OVERRIDE,
        &MACHINE_CONFIG,
        &MACHINE_CONFIG_POOL,
        &NODE,
    ],
    rests_on: |seen, snapshot| snapshot.rests_on(seen),
    ..Duty::to(started)
};

fn started(seen: &Seen, around: &Surroundings<'_>, now: Instant) -> Plan {
    let Seen::Gated(version) = seen else { return Plan::default() };
    let gate = around.snapshot.gate(version);
    let around = Around {
        snapshot: around.snapshot,
        refusals: around.refusals,
        held_back: around.held_back,
        enforcement: around.enforcement,
        foresight: around.foreseen.map(|foreseen| foreseen(now)).unwrap_or_default(),
    };
    updates::decided(version, &gate, &around, now)
}

/// `spec.desiredUpdate` is a request; a mark lets it begin; `status.desired` is what has been accepted. What stands in the way of a wish is
/// told where somebody has seen and pinned it: elsewhere its owner judges it.
fn pending(document: &Value) -> Pending {
    let plane = SeenPlane::new(document);
    let begun = match plane.open_mark() {
        Some(mark) => {
            let change = ChangeId::release(&mark.release.version);
            vec![UnderWay { change, machines: None }]
        }
        None => under_way(document, "/status/history/0", plane.accepted.name()),
    };
    let Some(wish) = plane.waiting() else { return Pending { begun, ..Pending::default() } };
    let seen = plane.pin.as_ref().is_some_and(|pin| pin.is_for(wish));
    let Judged { pin, unmet, remarks } = if seen { judge(&plane, wish) } else { Judged::default() };
    let to = [pin.release.name(), wish.release.name()].into_iter().find(|name| !name.is_empty());
    let now = Some(plane.accepted.name()).filter(|name| !name.is_empty()).map(str::to_owned);
    let waiting = Waiting::Release { to: to.unwrap_or_default().to_owned(), now, remarks };
    let course = if unmet.is_empty() { Course::Gate } else { Course::Stopped(Stop::Unmet(unmet)) };
    Pending { waiting: vec![waiting], begun, course, ..Pending::default() }
}

/// The newest update: if a mark let it begin, at the instant of that, however long its follower took.
fn began(document: &Value) -> Option<Began> {
    let newest = updated(document, "/status/history")?;
    let plane = SeenPlane::new(document);
    if plane.mark_of_newest().is_none() && plane.is_newest_marked() {
        // The next mark has taken the place of the one by which it began: what was said of it stays.
        return None;
    }
    let at = plane.mark_of_newest().and_then(|mark| mark.at);
    let basis = at.and_then(|at| basis(document, at));
    Some(Began { at: at.unwrap_or(newest.at), basis, ..newest })
}

/// What the permit of the mark rested on (GATE-10): it was given for this very mark, and was good when the gate was asked. One that says
/// anything else is the permit of another change, and proves nothing.
fn basis(document: &Value, at: Instant) -> Option<Basis> {
    let noted = |key: &str| annotation(document, key).filter(|noted| !noted.is_empty());
    let instant = |key: &str| noted(key).map(|noted| Instant::parse(noted).ok());
    let is_of_the_mark = noted(PERMIT_CHANGE)? == noted(ACCEPTED_RELEASE)?;
    let began = instant(PERMIT_FROM).is_none_or(|from| from.is_some_and(|from| from <= at));
    let lasted = instant(PERMIT_UNTIL)?.is_some_and(|until| at < until);
    let basis = noted(PERMIT_BASIS).and_then(Basis::read).filter(Basis::is_of_the_gate);
    basis.filter(|_| is_of_the_mark && began && lasted)
}
