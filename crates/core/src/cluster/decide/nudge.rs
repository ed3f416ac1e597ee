//! Is something touched because it waits? (RCH-4, RCH-15)
//!
//! A controller that was refused for long gives up, so that at an opening nothing would begin. Whatever waits is touched once by an annotation
//! when every gate and every freeze that selects it permits, as the server reads them: a touch before that would only use up a try. What
//! still waits is touched again after a while, each time a longer one.
//!
//! When it was last touched stands on the object (GATE-16), and who starts in the middle of a window goes on from there. One thing alone is
//! remembered: what waits in silence behind a gate or a freeze that went. Nobody can tell then since when it is free, and it is touched once.
//! A thousand that wait are not touched in one second: each waits for a part of half a minute that follows from its identity.

use std::time::Duration;

use api::{
    names,
    reach::{Mode, Way},
};
use schedule::Instant;
use serde_json::json;
use sha2::{Digest as _, Sha256};

use crate::{
    cluster::{
        seen::{Part, SeenPart},
        snapshot::Snapshot,
        surroundings::Surroundings,
    },
    gate::{
        action::{Action, Refused, Right, Write},
        plan::Plan,
    },
    reach::{
        held::{Place, Target, held_by},
        rooms::{self, Nudge},
        seen::Touch,
        selector::Selects,
    },
};

/// How long, in seconds, nobody is touched a second time: the patience of the deployment controller is a little shorter.
const FIRST: i64 = 180;
/// How long something waits in an open window of which nobody says that it was refused: whoever rolls it out begins within seconds, or gave up
/// without a word, as the deployment controller does where no `progressDeadlineSeconds` is set.
const SILENT: Duration = Duration::from_mins(1);
/// The longest time, in seconds, between two touches.
const LONGEST: i64 = 3_600;
/// How far the touches of everything that waits are spread. A little less than half a minute, which is when all must have been made.
const SPREAD: Duration = Duration::from_secs(26);
/// How much of that each one adds that waits: few are touched at once.
const EACH: Duration = Duration::from_millis(26);

/// What is to be done about something that gates may hold.
pub fn nudge(seen: &SeenPart, around: &Surroundings<'_>, now: Instant) -> Plan {
    let key = &seen.identity.key;
    let room = rooms::of_kind(key.kind()).filter(|_| around.snapshot.waiting(key).is_some());
    let Some(room) = room else { return Plan::default() };
    let (Part::Target(target), Nudge::Touch { asks, .. }) = (&seen.part, room.nudge) else {
        return Plan::default();
    };
    let ahead = around.seconds_ahead.max(0);
    let asked = Target { room, name: &key.name, labels: &target.labels };
    let place = around.snapshot.place(key, around.home);
    match standing(around.snapshot, &asked, &place, now.saturating_add(-ahead)) {
        Standing::LeftAlone => Plan::default(),
        Standing::Held { until } => {
            Plan { wake: until.map(|until| until.saturating_add(ahead)), ..Plan::default() }
        }
        Standing::Free { opened } => {
            // What others refused, and what no gate ever held, is not our business.
            let is_ours = target.refused.is_some() || target.is_silent();
            let Some(opened) = opened.max(target.refused).filter(|_| is_ours) else {
                let is_let_go = target.is_silent() && around.snapshot.was_let_go(key);
                return if is_let_go { touch(seen, asks, around, now) } else { Plan::default() };
            };
            let last = target.nudged.filter(|last| (opened..=now).contains(last));
            if last.is_some() && target.is_touched_once() {
                return Plan::default();
            }
            let due = last.map(|last| {
                last.saturating_add((last.unix() - opened.unix()).clamp(FIRST, LONGEST))
            });
            if let Some(due) = due.filter(|due| *due > now) {
                return Plan { wake: Some(due), ..Plan::default() };
            }
            touch(seen, asks, around, now)
        }
    }
}

/// The touch, at its place among all others.
fn touch(
    seen: &SeenPart,
    asks: Option<(&str, &str)>,
    around: &Surroundings<'_>,
    now: Instant,
) -> Plan {
    let Part::Target(target) = &seen.part else { return Plan::default() };
    let mut annotations = json!({names::NUDGED_AT: now.to_string()});
    if let Some((asks, value)) = asks {
        annotations[asks] = json!(value);
    }
    let version = &seen.identity.resource_version;
    let change = json!({"metadata": {"resourceVersion": version, "annotations": annotations}});
    let touch = Action {
        target: seen.identity.key.clone(),
        write: Write::MergePatch(change),
        right: Right::Upkeep,
        refused: Refused::ConcernsTheTargetAlone,
    };
    let spread = spread(&seen.identity.uid, around.snapshot.all_waiting().len());
    // What looks alike whether it waits or is under way is touched at once: nobody would begin by themselves first.
    let waits_first = target.is_silent() && !target.is_touched_once();
    let spread = if waits_first { SILENT + spread } else { spread };
    Plan { actions: vec![touch], spread: Some(spread), ..Plan::default() }
}

/// How those stand who select something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    /// One of them holds it, until then at least, if that is known.
    Held { until: Option<Instant> },
    /// One of them wants it left as it is.
    LeftAlone,
    /// All permit it, the last of them since then, if that is known.
    Free { opened: Option<Instant> },
}

/// As the server reads them, by its own clock. Where nobody can tell whether one selects it, it does.
fn standing(snapshot: &Snapshot, target: &Target<'_>, place: &Place<'_>, at: Instant) -> Standing {
    let mut opened: Option<Instant> = None;
    let mut is_held = false;
    let mut edges: Vec<Instant> = Vec::new();
    for gate in snapshot.gates_over(place.namespace) {
        let (Some(known), own) = (gate.gate.as_deref(), gate.identity.key.namespace.as_deref())
        else {
            continue;
        };
        let (selects, hold) = held_by(known, own, target, place);
        let passes = hold.is_some_and(|hold| hold.way == Way::Refuse);
        if selects == Selects::No || passes || matches!(known.mode, Mode::Warn | Mode::Audit) {
            continue;
        }
        if known.touch == Touch::LeftAlone {
            return Standing::LeftAlone;
        }
        let window = gate.window_of_the_server(at);
        if let Some((start, _)) = window {
            opened = opened.max(start);
        } else {
            is_held = true;
            edges.extend(known.next_window(at));
        }
    }
    for freeze in snapshot.freezes() {
        if freeze.holds_target(target, place) == Selects::No {
            continue;
        }
        is_held |= freeze.holds(at);
        edges.extend(freeze.next_edge(at));
        opened = opened.max(freeze.span().end.filter(|end| *end <= at));
    }
    if is_held {
        Standing::Held { until: edges.into_iter().min() }
    } else {
        Standing::Free { opened }
    }
}

/// The part of the spread that an object waits, among so many.
fn spread(uid: &str, waiting: usize) -> Duration {
    let waiting = u32::try_from(waiting).unwrap_or(u32::MAX);
    let whole = EACH.saturating_mul(waiting.saturating_sub(1)).min(SPREAD).as_millis();
    let draw = Sha256::digest(uid.as_bytes())
        .iter()
        .take(4)
        .fold(0, |draw: u64, byte| draw << 8 | u64::from(*byte));
    let whole = u64::try_from(whole).unwrap_or(u64::MAX);
    Duration::from_millis(draw.checked_rem(whole).unwrap_or_default())
}

#[cfg(test)]
mod tests;
