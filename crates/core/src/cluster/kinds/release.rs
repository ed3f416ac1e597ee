//! Which release does a control plane have, which does somebody want, and which was let begin? Alike for that of the cluster and for hosted
//! ones (CV-4, HOST-1).

use api::{
    machine::names::{PERMIT_BASIS, PERMIT_CHANGE, PERMIT_FROM, PERMIT_UNTIL},
    names::ACCEPTED_RELEASE,
};
use schedule::Instant;
use serde_json::Value;

use crate::{
    gate::{
        Basis,
        change::ChangeId,
        pending::{Began, Course, Pending, Stop, UnderWay, Waiting},
    },
    pool::source::annotation,
    release::{
        Progress, SeenPlane,
        judge::{Judged, judge},
    },
};

/// What somebody asks for is a request; a mark lets it begin; what is desired by the status has been accepted. What stands in the way of a
/// wish is told where somebody has seen and pinned it: elsewhere its owner judges it.
pub(super) fn pending(plane: &SeenPlane) -> Pending {
    let is_partial = plane.history.first().is_some_and(|one| one.progress == Progress::Partial);
    let marked = plane.open_mark().map(|mark| mark.release.version.as_str());
    let begun = marked.or_else(|| is_partial.then(|| plane.accepted.name()));
    let begun =
        begun.map(|release| UnderWay { change: ChangeId::release(release), machines: None });
    let begun = begun.into_iter().collect();
    let Some(wish) = plane.waiting() else { return Pending { begun, ..Pending::default() } };
    let seen = plane.pin.as_ref().is_some_and(|pin| pin.is_for(wish));
    let Judged { pin, unmet, remarks } = if seen { judge(plane, wish) } else { Judged::default() };
    let unread = if wish.unreadable.is_empty() { "" } else { "that nobody can read" };
    let named = [pin.release.name(), wish.release.name(), unread];
    let to = named.into_iter().find(|name| !name.is_empty());
    let now = Some(plane.accepted.name()).filter(|name| !name.is_empty()).map(str::to_owned);
    let waiting = Waiting::Release { to: to.unwrap_or_default().to_owned(), now, remarks };
    let course = if unmet.is_empty() { Course::Gate } else { Course::Stopped(Stop::Unmet(unmet)) };
    Pending { waiting: vec![waiting], begun, course, ..Pending::default() }
}

/// The newest update: if a mark let it begin, at the instant of that, however long its follower took. The first of all is the installation,
/// which nobody holds.
pub(super) fn began(document: &Value, plane: &SeenPlane) -> Option<Began> {
    let [newest, _, ..] = plane.history.as_slice() else { return None };
    let what = Some(newest.release.name()).filter(|name| !name.is_empty())?;
    let started = Instant::parse(&newest.started).ok()?;
    if plane.mark_of_newest().is_none() && plane.is_newest_marked() {
        // The next mark has taken the place of the one by which it began: what was said of it stays.
        return None;
    }
    let at = plane.mark_of_newest().and_then(|mark| mark.at);
    let basis = at.and_then(|at| basis(document, ACCEPTED_RELEASE, at));
    Some(Began { what: ChangeId::release(what), at: at.unwrap_or(started), basis })
}

/// What the permit of the mark rested on (GATE-10): it was given for this very mark, and was good when the gate was asked. One that says
/// anything else is the permit of another change, and proves nothing.
pub(super) fn basis(document: &Value, mark: &str, at: Instant) -> Option<Basis> {
    let noted = |key: &str| annotation(document, key).filter(|noted| !noted.is_empty());
    let instant = |key: &str| noted(key).map(|noted| Instant::parse(noted).ok());
    let is_of_the_mark = noted(PERMIT_CHANGE)? == noted(mark)?;
    let began = instant(PERMIT_FROM).is_none_or(|from| from.is_some_and(|from| from <= at));
    let lasted = instant(PERMIT_UNTIL)?.is_some_and(|until| at < until);
    let basis = noted(PERMIT_BASIS).and_then(Basis::read).filter(Basis::is_of_the_gate);
    basis.filter(|_| is_of_the_mark && began && lasted)
}
