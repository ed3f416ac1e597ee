//! Which conditions and events does a pool get that is not progressing?

use std::collections::BTreeSet;

use api::machine::names;

use super::{
    PoolView,
    bypass::Bypass,
    rollout::Ways,
    seen::{Pause, SeenNode},
    seen_status,
    status::{GoesOn, Held, Progress, objects_text},
    target::{Shelf, Target},
};
use crate::{
    document::problem::{Code, FieldPath, Object, Problem, problem_text},
    gate::{
        note::{Note, Weight},
        pending::{Course, Stop},
    },
};

/// Whether nodes may be begun, and if not why, with what goes on all the same (POOL-5).
pub(crate) fn progress<R: Clone>(
    view: &PoolView<'_>,
    ways: Option<&Ways<'_, R>>,
    blocked: &[Problem],
    (bypass, shelf): (&Bypass<'_>, &Shelf<'_>),
) -> Progress {
    if !blocked.is_empty() {
        return Progress::Held(Held::Stopped(Stop::Blocked(blocked.to_vec())));
    }
    if let Some(other) = view.waits_for {
        return Progress::Held(Held::Stopped(Stop::After(other.to_owned())));
    }
    let Some(ways) = ways else { return Progress::Held(Held::NotRendered) };
    let Err(hold) = ways.gate() else { return Progress::May };
    let target = ways.target().name.as_str();
    let mut behind = view.nodes.iter().filter(|node| !node.is_silent() && node.desired != target);
    let goes = |node: &&SeenNode| ways.begun(node).is_some_and(|(_, config)| config.name == target);
    // Who was told to go does not wait for the gate either.
    if behind.all(goes) {
        return Progress::May;
    }
    let mut goes_on = GoesOn::default();
    goes_on.begun.extend(ways.change().map(|change| change.proof.change().clone()));
    if let Some(update) = ways.update() {
        goes_on.begun.push(update.proof.change().clone());
        let lacking = view.nodes.iter().filter(|node| node.desired != target);
        for node in lacking {
            let later = update.later(ways.target(), shelf.get(&node.desired));
            goes_on.later.extend(later.into_iter().map(str::to_owned));
        }
    }
    let mut from = BTreeSet::new();
    for node in &view.nodes {
        if let Some(proof) = ways.lacks(node) {
            *goes_on.bypasses.entry(proof.source().to_string()).or_default() += 1;
            from.insert(node.desired.as_str());
        }
    }
    let from = from.into_iter().filter_map(|name| shelf.get(name));
    goes_on.riding = from.flat_map(|config| bypass.riding(config)).map(str::to_owned).collect();
    Progress::Held(Held::Gate { hold: hold.clone(), goes_on })
}

/// What decides whether that which waits starts now: the gate, a right beside it, or something of the pool's own.
pub(crate) fn course<R: Clone>(
    view: &PoolView<'_>,
    ways: Option<&Ways<'_, R>>,
    blocked: &[Problem],
) -> Course {
    if view.pool.paused == Pause::Paused {
        return Course::Stopped(Stop::Paused);
    }
    if !blocked.is_empty() {
        return Course::Stopped(Stop::Blocked(blocked.to_vec()));
    }
    if let Some(other) = view.waits_for {
        return Course::Stopped(Stop::After(other.to_owned()));
    }
    let (Some(ways), Some(newest)) = (ways, view.pool.newest.as_deref()) else {
        return Course::Gate;
    };
    let target = &ways.target().name;
    if target != newest {
        return Course::Stopped(Stop::Pinned(target.clone()));
    }
    ways.despite_gate(&view.nodes, newest).map_or(Course::Gate, Course::Anyway)
}

/// What has become wrong since the status was written.
pub(crate) fn notes(view: &PoolView<'_>, blocked: &[Problem]) -> Vec<Note> {
    // What cannot be rendered is a fault of a source, so its name belongs to it.
    let faults = [
        (seen_status::RENDER_DEGRADED, objects_text(&view.rendering.problems)),
        (seen_status::ROLLOUT_BLOCKED, problem_text(blocked)),
    ];
    let known = |kind: &str| {
        view.pool.status.condition(kind).is_some_and(|condition| condition.status == "True")
    };
    faults
        .into_iter()
        .filter(|(kind, message)| !message.is_empty() && !known(kind))
        .map(|(reason, message)| Note { weight: Weight::Warning, reason, message })
        .collect()
}

/// Consent to a configuration that the pool does not go to.
pub(crate) fn stale_consents(view: &PoolView<'_>, target: Option<&Target<'_>>) -> Vec<Problem> {
    let target = target.map(|target| target.config.name.as_str());
    let stale = view.nodes.iter().filter_map(|node| {
        let allowed = node.allowed.as_deref()?;
        (Some(allowed) != target && allowed != node.desired).then_some((node, allowed))
    });
    stale
        .map(|(node, allowed)| {
            let path = FieldPath::of("metadata.annotations").key(names::ALLOWED_CONFIG);
            let detail = format!("lets the node go to {allowed}, and its pool does not go there");
            let hint = match target {
                Some(target) => format!("name {target}, or remove the annotation"),
                None => "remove the annotation".to_owned(),
            };
            let name = Some(node.name.clone());
            let object = Object { kind: "Node".into(), namespace: None, name };
            Problem {
                object: Some(object),
                ..Problem::new(&path, Code::Conflict, detail).hint(hint)
            }
        })
        .collect()
}
