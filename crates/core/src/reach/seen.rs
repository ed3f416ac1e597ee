//! What of a gate do decisions read beside its stanza?

use api::{
    kinds,
    reach::{
        DerivedFrom, DerivedKind, GateStatus, Hold, HoldStatus, LabelSelector, Mode, OFFERS,
        PendingChange, PolicyKind, Way, What, Window,
    },
};
use schedule::{Instant, Span, TimeSet};
use serde::Deserialize as _;
use serde_json::Value;

use super::windows::Ahead;
use crate::document::{key::Key, terms};

/// A gate on what others own, as it was last seen.
#[derive(Clone, Debug, PartialEq)]
pub struct SeenGate {
    /// The kind of policy that its stanza names, if it names one.
    pub policy: PolicyKind,
    /// The object that says when, if the gate was derived from one (RCH-8).
    pub derived: Option<Key>,
    /// The windows that its status has, if it has any.
    pub ahead: Option<Ahead>,
    /// The generation that its status was computed from.
    pub observed: Option<i64>,
    /// The rooms that it holds.
    pub holds: Vec<String>,
    /// Whether it chooses no namespaces.
    pub everywhere: bool,
    /// The namespaces that it chooses; none if it chooses none, or if nobody can read which.
    pub namespaces: Option<LabelSelector>,
    /// What it holds.
    pub chosen: Vec<Held>,
    /// Whether some of what it holds cannot be read.
    pub is_unclear: bool,
    /// What becomes of a first write that it does not permit.
    pub mode: Mode,
    /// Whether what waits is touched when it opens.
    pub touch: Touch,
    /// What it says, in its own words (HIST-1).
    pub terms: Option<String>,
    /// What its status tells of what it holds.
    pub told: Told,
    /// What was found of it, if somebody looked.
    pub found: Option<Told>,
}

/// One thing that a gate holds.
#[derive(Clone, Debug, PartialEq)]
pub struct Held {
    /// The room.
    pub room: What,
    /// In which way.
    pub way: Way,
    /// Which, by name.
    pub names: Option<Vec<String>>,
    /// Which, by label.
    pub selector: Option<LabelSelector>,
    /// Which rooms of somebody's own.
    pub rooms: Vec<String>,
}

/// Whether what waits is touched when a gate opens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Touch {
    /// It is.
    Touched,
    /// Its owner wants it left as it is.
    LeftAlone,
}

/// What the status of a gate tells of what it holds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Told {
    /// For each room.
    pub holds: Vec<HoldStatus>,
    /// The first of what waits.
    pub pending: Vec<PendingChange>,
    /// How much waits.
    pub pending_count: Option<i64>,
    /// How much is held.
    pub targets: Option<i64>,
    /// Why nobody can tell whether something waits; none if somebody can.
    pub untold: Option<String>,
}

impl SeenGate {
    /// Reads a gate.
    pub fn new(document: &Value) -> Self {
        let given = |path: &str| document.pointer(path).filter(|value| !value.is_null());
        let policy = document.pointer("/spec/changeManagement/byPolicy/kind");
        let policy = policy.and_then(|kind| PolicyKind::deserialize(kind).ok()).unwrap_or_default();
        let status = document.get("status").and_then(|status| GateStatus::deserialize(status).ok());
        let observed = status.as_ref().and_then(|status| status.observed_generation);
        let listed = given("/spec/holds").and_then(Value::as_array);
        let names = listed.into_iter().flatten().filter_map(|hold| hold.get("what")?.as_str());
        let read = |hold: &Value| Hold::deserialize(hold).ok().and_then(held);
        let chosen: Vec<Held> = listed.into_iter().flatten().filter_map(read).collect();
        let selector = given("/spec/namespaceSelector");
        let mode = given("/spec/mode").and_then(|mode| Mode::deserialize(mode).ok());
        let left_alone = given("/spec/nudge").and_then(Value::as_bool) == Some(false);
        let derived = given("/spec/derivedFrom").and_then(|from| {
            let DerivedFrom { kind, namespace, name } = DerivedFrom::deserialize(from).ok()?;
            (kind == DerivedKind::NodePool)
                .then(|| Key::new(&kinds::NODE_POOL, Some(&namespace), &name))
        });
        Self {
            policy,
            derived,
            told: status.as_ref().map(told).unwrap_or_default(),
            ahead: status.and_then(known),
            observed,
            holds: names.map(str::to_owned).collect(),
            everywhere: selector.is_none(),
            namespaces: selector.and_then(|selector| LabelSelector::deserialize(selector).ok()),
            is_unclear: listed.is_none_or(|listed| listed.len() != chosen.len()),
            chosen,
            mode: mode.unwrap_or_default(),
            terms: terms::of(
                document,
                &["mode", "changeManagement", "holds", "namespaceSelector", "exempt"],
            ),
            touch: if left_alone { Touch::LeftAlone } else { Touch::Touched },
            found: None,
        }
    }

    /// Whether it is open at an instant as the server reads its status; it also has to be ready, and its status to be of its generation
    /// (RCH-2).
    pub fn window(&self, at: Instant) -> Option<(Option<Instant>, Option<Instant>)> {
        let Ahead { windows, computed_until } = self.ahead.as_ref()?;
        if computed_until.is_some_and(|until| at >= until) {
            return None;
        }
        let edge =
            |text: &Option<String>| text.as_deref().and_then(|text| Instant::parse(text).ok());
        let edges = windows.iter().map(|window| (edge(&window.start_time), edge(&window.end_time)));
        edges.into_iter().find(|(start, end)| {
            start.is_none_or(|start| start <= at) && end.is_none_or(|end| at < end)
        })
    }

    /// All its windows as the server reads its status; none if that is not known. What cannot be read opens nothing.
    pub fn windows(&self) -> Option<TimeSet> {
        let Ahead { windows, computed_until } = self.ahead.as_ref()?;
        let edge = |text: &Option<String>| text.as_deref().map(Instant::parse).transpose().ok();
        let spans = windows.iter().filter_map(|window| {
            Some(Span { start: edge(&window.start_time)?, end: edge(&window.end_time)? })
        });
        let set = TimeSet::ranges(spans);
        Some(match computed_until {
            Some(until) => set.intersection(TimeSet::before(*until)),
            None => set,
        })
    }

    /// When the next of its windows begins, as the server reads its status.
    pub fn next_window(&self, after: Instant) -> Option<Instant> {
        let windows = self.ahead.iter().flat_map(|ahead| &ahead.windows);
        let starts =
            windows.filter_map(|window| Instant::parse(window.start_time.as_deref()?).ok());
        starts.filter(|start| *start > after).min()
    }
}

/// What a hold says; nothing if it was written by something newer.
fn held(hold: Hold) -> Option<Held> {
    let Hold { what, how, names, selector, allow: _, rooms } = hold;
    let offer = OFFERS.iter().find(|offer| offer.what == what)?;
    let (first, _) = offer.ways.first()?;
    Some(Held {
        room: what,
        way: how.unwrap_or(*first),
        names,
        selector,
        rooms: rooms.unwrap_or_default(),
    })
}

fn told(status: &GateStatus) -> Told {
    let GateStatus { holds, pending, pending_count, targets, .. } = status;
    Told {
        holds: holds.clone(),
        pending: pending.clone(),
        pending_count: *pending_count,
        targets: *targets,
        untold: None,
    }
}

/// The windows of a status that a controller wrote. One whose end of knowledge cannot be read knows nothing.
fn known(status: GateStatus) -> Option<Ahead> {
    let GateStatus { windows, computed_until, observed_generation, .. } = status;
    observed_generation?;
    let computed_until = match computed_until {
        None => None,
        Some(text) => Some(Instant::parse(&text).ok()?),
    };
    let windows: Vec<Window> = windows;
    Some(Ahead { windows, computed_until })
}
