//! May the update that somebody wants of a control plane begin now: that of the cluster, or a hosted one? (CV-1, CV-4, HOST-1)
//!
//! A wish is pinned when it is first seen, judged, and held or marked. The mark is one write with a permit of the gate (GATE-7), made right
//! after the gate was asked again (GATE-11), and it carries the record of what the masters may get (GATE-10). From then on it is one change,
//! and nothing here asks about it any more.
//!
//! What stands in the way is told whatever the gate says, so that people mend it before the window.

use std::collections::BTreeSet;

use api::{
    machine::names::{BEGUN_RELEASE, MASTER},
    names,
};
use schedule::Instant;
use serde_json::json;

use super::{gated, marks};
use crate::{
    cluster::{
        seen::SeenGated,
        snapshot::{Apart, Snapshot},
    },
    document::problem::{Code, FieldPath, Problem},
    gate::{
        Gate, Permit,
        action::{Action, Owner, Write},
        change::ChangeId,
        enforced::Enforcement,
        note::{Note, Weight},
        pending::{Course, Stop},
        plan::Plan,
        refusal::{Refusal, Refusals},
    },
    pool::{render::chosen, update::Record},
    release::{
        Named, SeenPlane,
        judge::{Judged, judge},
        mark::{Before, FOLLOWED_WITHIN, Mark},
        of::Of,
        version,
        wish::{Checks, Pin},
    },
    skew::{Answer, Foresight},
};

/// What a decision about an update looks at beside the control plane and its gate.
#[derive(Clone, Debug)]
pub struct Around<'a> {
    /// The cluster.
    pub snapshot: &'a Snapshot,
    /// What the server refused to let start.
    pub refusals: &'a Refusals,
    /// Why whoever carries plans out would start nothing now (GATE-11); none if nothing is in the way.
    pub held_back: Option<&'a str>,
    /// Whether the server refuses a mark that nobody permitted; none if nobody has tried (GATE-13).
    pub enforcement: Option<Enforcement>,
    /// What a forecast says of the update that waits (CV-3).
    pub foresight: Foresight,
}

/// What is to be done about the control plane where its updates are started here.
pub fn decided(version: &SeenGated, gate: &Gate, around: &Around<'_>, now: Instant) -> Plan {
    let Some(plane) = version.plane() else {
        return gated(version, gate, Enforcement::Advisory, now);
    };
    let ends = plane.open_mark().and_then(Mark::ends);
    if ends.is_some_and(|ends| ends <= now) && !gate.is_frozen(now) {
        return withdrawn(version, plane, now);
    }
    let plan = planned(version, plane, gate, around, now);
    let edges = [plan.wake, around.foresight.until, ends.filter(|ends| *ends > now)];
    Plan { wake: edges.into_iter().flatten().min(), ..plan }
}

/// Takes a mark away that nobody has followed in time, so that gate, freezes and wish are asked again. It starts nothing, so it needs no permit;
/// the server takes it only after the end that the mark itself names, and a follower who was faster makes it conflict. While a freeze lasts
/// the server takes no write of a mark at all: it is over all the same, because its followers honour its end.
fn withdrawn(version: &SeenGated, plane: &SeenPlane, now: Instant) -> Plan {
    let Some(mark) = plane.open_mark() else { return Plan::default() };
    let identity = &version.identity;
    let annotations = json!({names::ACCEPTED_RELEASE: mark.withdrawn(&identity.uid, now)});
    let document = marks::marked(version, &annotations);
    let note = Note {
        weight: Weight::Warning,
        reason: "ReleaseNotFollowed",
        message: format!(
            "release {} was let begin, and nobody has begun to install it in time: it is asked about again",
            mark.release.name()
        ),
    };
    let withdraw = Action::upkeep(identity.key.clone(), Write::Apply(Owner::Initiator, document));
    Plan { actions: vec![withdraw], notes: vec![note], ..Plan::default() }
}

fn planned(
    version: &SeenGated,
    plane: &SeenPlane,
    gate: &Gate,
    around: &Around<'_>,
    now: Instant,
) -> Plan {
    if let Some(pin) = repinned(version, plane) {
        // Whoever could not write down what a wish stands for says so first, and then tries again.
        let refused = around.refusals.get(&version.identity.key);
        let told = refused.map(|refusal| {
            let kept = kept(version, plane, around.enforcement);
            gated(&unpinned(version, refusal), gate, kept, now)
        });
        let pin = Plan { actions: vec![pin], ..Plan::default() };
        return told.filter(|told| told.status.is_some()).unwrap_or(pin);
    }
    let judged = plane.waiting().map(|wish| judge(plane, wish)).unwrap_or_default();
    let refused = around.refusals.get(&version.identity.key);
    let refused = refused
        .filter(|refusal| refusal.change == Some(ChangeId::release(judged.pin.release.name())));
    let mut told = version.clone();
    told.pending.course = course(around, version, refused);
    told.pending.foreseen.clone_from(&around.foresight.found);
    let plan = gated(&told, gate, kept(version, plane, around.enforcement), now);
    let is_clear = judged.unmet.is_empty() && stops(around.snapshot, version).is_empty();
    let may = is_clear && around.held_back.is_none();
    let permit = plane.waiting().filter(|_| may).and_then(|_| gate.permit(now).ok());
    let Some(permit) = permit else { return plan };
    let mark = mark(version, (plane, judged), around.snapshot, permit, now);
    // A status that was made from the same version would only conflict, and its transitions are told with it: by the next decision. Of a
    // refusal nobody else tells.
    let told = refused.map(|_| (plan.status, plan.notes));
    let (status, notes) = told.unwrap_or_default();
    Plan { actions: vec![mark], status, notes, wake: plan.wake, ..Plan::default() }
}

/// Who keeps its gate, as far as anybody knows (GATE-13). Whoever installed the newest release under our eyes and asked nobody is kept by
/// nothing that the server refuses; once they asked, what was said of that is over.
fn kept(version: &SeenGated, plane: &SeenPlane, tried: Option<Enforcement>) -> Enforcement {
    let before = version.enforcement();
    let was_told = before == Some(Enforcement::Advisory);
    if plane.began_unmarked() && (was_told || began_under_our_eyes(version)) {
        return Enforcement::Advisory;
    }
    tried.or(before.filter(|_| !was_told)).unwrap_or_default()
}

/// Whether the newest update began when its gate was already told of. What was installed before is no fault of whoever installed it.
fn began_under_our_eyes(version: &SeenGated) -> bool {
    let (Some(began), Some(behavior)) = (&version.began, &version.behavior) else { return false };
    let past = behavior.history.iter().map(|past| past.start_time.as_deref());
    let starts = past.chain([behavior.current.start_time.as_deref()]).flatten();
    let first = starts.filter_map(|start| Instant::parse(start).ok()).min();
    first.is_some_and(|first| first <= began.at)
}

/// The control plane with a wish that nobody could pin.
fn unpinned(version: &SeenGated, refusal: &Refusal) -> SeenGated {
    let said = format!("the server refuses to let the wish be pinned: {}", refusal.said);
    let problem = Problem::new(&FieldPath::root(), Code::NotAllowed, said);
    let unmet = vec![problem.hint("change what refuses it")];
    let mut told = version.clone();
    told.pending.course = Course::Stopped(Stop::Unmet(unmet));
    told
}

/// What stands in the way of the update that waits, whatever the gate says: the one place where what different parts of the product find is
/// joined.
pub fn stops(snapshot: &Snapshot, version: &SeenGated) -> Vec<Problem> {
    let own = match &version.pending.course {
        Course::Stopped(Stop::Unmet(problems)) => problems.clone(),
        Course::Gate | Course::Anyway(_) | Course::Stopped(_) => Vec::new(),
    };
    let skewed = match version.plane().map(|plane| plane.of) {
        Some(Of::Cluster | Of::Stock) => skewed(snapshot, version).into_iter().collect(),
        Some(Of::Hosted) => left_behind(snapshot, version),
        None => Vec::new(),
    };
    own.into_iter().chain(skewed).collect()
}

/// HOST-1: node pools that the wanted release of their control plane would leave too far behind, or that are ahead of it. Nothing in
/// `HyperShift` stops a control plane for them; so it is told here, and set aside as all that is checked is.
fn left_behind(snapshot: &Snapshot, cluster: &SeenGated) -> Vec<Problem> {
    let wanted = || {
        let plane = cluster.plane()?;
        let wish = plane.waiting().filter(|wish| wish.checks == Checks::Count)?;
        let pin = plane.pin.as_ref().filter(|pin| pin.is_for(wish))?;
        version::read(&pin.release.version)
    };
    let Some(wanted) = wanted() else { return Vec::new() };
    let apart = snapshot.apart(&cluster.identity.key, &wanted);
    let apart = apart.map(|Apart { key, version, skew }| {
        let detail = format!("{key} is at {version}, {skew} {wanted}");
        let field = Of::Hosted.path("version");
        Problem::new(&field, Code::NotAllowed, detail).hint(skew.remedy())
    });
    apart.collect()
}

/// CV-3: kubelets that stop the update which waits, where wishes are judged here.
fn skewed(snapshot: &Snapshot, version: &SeenGated) -> Option<Problem> {
    let plane = version.plane()?;
    let wish = plane.waiting()?;
    let pin = plane.pin.as_ref().filter(|pin| pin.is_for(wish))?;
    too_old(snapshot, plane, pin)
}

/// CV-3: kubelets that a higher minor version would not support any more, whether somebody asks for it or only thinks about it. They stop it, as the
/// owner of the control plane would, and are set aside as all that it checks is.
pub fn too_old(snapshot: &Snapshot, plane: &SeenPlane, pin: &Pin) -> Option<Problem> {
    if pin.wish.checks == Checks::SetAside {
        return None;
    }
    let (wanted, current) =
        (version::read(&pin.release.version)?, version::read(&plane.accepted.version)?);
    if (wanted.major, wanted.minor) <= (current.major, current.minor) {
        return None;
    }
    let skew = snapshot.skew().filter(|skew| skew.class.upgradeable() == Answer::False)?;
    let nodes = skew.nodes.iter().filter_map(|(name, _)| snapshot.node(name));
    let pools: BTreeSet<&str> =
        nodes.filter_map(|node| snapshot.home(node)).map(|pool| pool.name.as_str()).collect();
    let first = if pools.is_empty() {
        "update these nodes first".to_owned()
    } else {
        format!("let these pools get the release of the cluster first: {}", join(&pools))
    };
    let field = plane.of.path("version");
    Some(Problem::new(&field, Code::NotAllowed, skew.message).hint(&first))
}

fn join(names: &BTreeSet<&str>) -> String {
    names.iter().copied().collect::<Vec<_>>().join(", ")
}

/// What decides whether the update that waits starts now.
fn course(around: &Around<'_>, version: &SeenGated, refused: Option<&Refusal>) -> Course {
    let mut unmet = stops(around.snapshot, version);
    if version.pending.waiting.is_empty() {
        return Course::Gate;
    }
    let problem = |said: String| Problem::new(&FieldPath::root(), Code::NotAllowed, said);
    // A reason without words is not told: it is over in a moment.
    let held_back = around.held_back.filter(|why| !why.is_empty());
    unmet.extend(held_back.map(|why| problem(why.to_owned())));
    unmet.extend(refused.map(|Refusal { said, .. }| {
        problem(format!("the server refuses to let it begin: {said}"))
            .hint("change what refuses it")
    }));
    if unmet.is_empty() { Course::Gate } else { Course::Stopped(Stop::Unmet(unmet)) }
}

/// Keeps what a wish stands for (CV-4), and forgets it with the wish; nothing if it reads as it should. Starts nothing.
fn repinned(version: &SeenGated, plane: &SeenPlane) -> Option<Action> {
    let wanted = plane.waiting().map(|wish| judge(plane, wish).pin);
    if wanted == plane.pin {
        return None;
    }
    let change = json!({"metadata": {
        "resourceVersion": version.identity.resource_version,
        "annotations": {names::WANTED_IMAGE: wanted.as_ref().map(Pin::text)},
    }});
    Some(Action::upkeep(version.identity.key.clone(), Write::MergePatch(change)))
}

/// The one write that lets an update begin.
fn mark(
    version: &SeenGated,
    (plane, judged): (&SeenPlane, Judged),
    snapshot: &Snapshot,
    permit: Permit,
    now: Instant,
) -> Action {
    let identity = &version.identity;
    let release: Named = judged.pin.release;
    let after = plane.history.first().map(|newest| newest.started.clone()).unwrap_or_default();
    let mark = Mark {
        release: release.clone(),
        after,
        before: if plane.is_newest_marked() { Before::Marked } else { Before::Unmarked },
        at: Some(now),
        until: Some(now.saturating_add(FOLLOWED_WITHIN)),
        checks: judged.pin.wish.checks,
    };
    // GATE-10: a hosted control plane has no masters that could get more than its release.
    let record = (plane.of == Of::Cluster)
        .then(|| (BEGUN_RELEASE, record(snapshot, &release.version).text()));
    let mark = marks::Mark {
        object: version,
        annotation: names::ACCEPTED_RELEASE,
        text: mark.text(&identity.uid),
        beside: record,
        change: ChangeId::release(&release.version),
        said: format!("release {} ({})", release.version, release.image),
        reason: "AcceptedRelease",
    };
    marks::mark(mark, permit)
}

/// What the masters may get until they converge on the release: what their pool is made of now, and what the release generates (GATE-10).
fn record(snapshot: &Snapshot, release: &str) -> Record {
    let sources = snapshot.pool(MASTER).map(|pool| chosen(pool, snapshot.sources()));
    // Nothing has begun yet, so nothing was written after it.
    Record::of(release, None, &sources.unwrap_or_default())
}

#[cfg(test)]
mod tests;
