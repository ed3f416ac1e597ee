//! Who holds what others own? Every gate and every freeze on it, in the order of GATE-15: freezes first, then each gate.
//!
//! When one holds is told here, by the sets that the operator writes into `status.windows` and by the spans of freezes; *what* it selects is told
//! by the expressions of its room (RCH-14), or by [`selects`](crate::reach::selects) where there is no write to ask about.

use std::sync::Arc;

use api::reach::Mode;
use schedule::Instant;
use serde::Deserialize as _;
use serde_json::Value;

use crate::{
    cluster::{kinds::Row, snapshot::Snapshot},
    document::{identity::Identity, key::Key},
    gate::Gate,
    policy::{freeze::SeenFreeze, verdict::Verdict},
    reach::{
        policies::{PARAMETERS, Parameter},
        rooms::{Room, known},
        selector::Selects,
        selects::{Asked, names_room, selects},
    },
};

/// A gate or a freeze on what others own.
#[derive(Clone, Debug)]
pub struct Holder {
    /// Which object.
    pub key: Key,
    /// Its kind, as policies take it.
    pub parameter: Parameter,
    /// What it says.
    pub document: Value,
    /// The rooms that it holds.
    pub rooms: Vec<&'static Room>,
    /// Since when it stands; none if nobody has made it yet, or nobody knows.
    pub since: Option<Instant>,
    /// What becomes of a first write that it does not permit; of a freeze always `Enforce`.
    pub mode: Mode,
    time: Time,
}

#[derive(Clone, Debug)]
enum Time {
    Gate(Box<Gate>),
    Freeze(Arc<SeenFreeze>),
}

/// What a holder says at an instant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    /// Whether it holds.
    pub verdict: Verdict,
    /// Why nobody can tell, if nobody can.
    pub doubt: Option<String>,
    /// When it opens next, if it holds and that is known.
    pub opens: Option<Instant>,
    /// When it shuts next, if it is open and that is known; or when it shuts after it opened.
    pub closes: Option<Instant>,
}

/// Every gate and freeze among some documents of a cluster, in the order of GATE-15: freezes of the platform, freezes of teams, gates of teams, gates of the
/// platform.
pub fn holders<'a>(
    snapshot: &Snapshot,
    documents: impl IntoIterator<Item = (&'static Row, &'a Value)>,
) -> Vec<Holder> {
    let found = documents.into_iter().filter_map(|(row, document)| holder(snapshot, row, document));
    let mut found: Vec<Holder> = found.collect();
    found.sort_by(|a, b| (rank(a.parameter), &a.key).cmp(&(rank(b.parameter), &b.key)));
    found
}

fn rank(parameter: Parameter) -> u8 {
    match parameter {
        Parameter::ClusterChangeFreeze => 0,
        Parameter::ChangeFreeze => 1,
        Parameter::ChangeGate => 2,
        Parameter::ClusterChangeGate => 3,
    }
}

fn holder(snapshot: &Snapshot, row: &'static Row, document: &Value) -> Option<Holder> {
    let parameter = PARAMETERS.into_iter().find(|one| one.kind() == row.kind.name)?;
    let key = Identity::new(&row.kind, document).key;
    let time = match parameter {
        Parameter::ChangeGate | Parameter::ClusterChangeGate => {
            Time::Gate(Box::new(snapshot.gate(snapshot.resource(&key)?)))
        }
        Parameter::ChangeFreeze | Parameter::ClusterChangeFreeze => {
            Time::Freeze(Arc::clone(snapshot.freezes().find(|freeze| freeze.key == key)?))
        }
    };
    let holds = document.pointer("/spec/holds").and_then(Value::as_array);
    let rooms = known().filter(|room| match (holds, &time) {
        (None, Time::Freeze(_)) => true,
        (None, Time::Gate(_)) => false,
        (Some(holds), _) => holds.iter().any(|hold| hold["what"] == room.name_of()),
    });
    let created = document.pointer("/metadata/creationTimestamp").and_then(Value::as_str);
    let mode = document.pointer("/spec/mode").and_then(|mode| Mode::deserialize(mode).ok());
    Some(Holder {
        rooms: rooms.collect(),
        since: created.and_then(|text| Instant::parse(text).ok()),
        mode: mode.unwrap_or_default(),
        document: document.clone(),
        key,
        parameter,
        time,
    })
}

impl Holder {
    /// Whether it may hold a room in a namespace, as far as its kind and its rooms tell.
    pub fn may_hold(&self, room: &Room, namespace: Option<&str>) -> bool {
        let own = self.key.namespace.as_deref();
        (own.is_none() || own == namespace) && self.rooms.iter().any(|held| held.what == room.what)
    }

    /// What it says at an instant. Gates say what their windows say: freezes are asked for themselves.
    pub fn at(&self, at: Instant) -> Said {
        match &self.time {
            Time::Gate(gate) => {
                if let Some(doubt) = gate.own_doubt_at(at) {
                    let doubt = Some(doubt.message.clone());
                    return Said { verdict: Verdict::CannotTell, doubt, opens: None, closes: None };
                }
                let set = gate.own_set();
                let (now, verdict) = (set.stretch(at), Verdict::of(set, at));
                let (opens, closes) = if now.inside {
                    (None, now.end)
                } else {
                    (now.end, now.end.and_then(|opens| set.stretch(opens).end))
                };
                Said { verdict, doubt: None, opens, closes }
            }
            Time::Freeze(freeze) => {
                let doubt = (!freeze.is_usable()).then(|| {
                    format!("{} cannot be used, so it holds until somebody mends it", self.key)
                });
                let holds = freeze.is_in_force(at);
                let verdict = match (&doubt, holds) {
                    (Some(_), _) => Verdict::CannotTell,
                    (None, true) => Verdict::Held,
                    (None, false) => Verdict::Permitted,
                };
                let span = freeze.span();
                Said {
                    verdict,
                    doubt,
                    opens: span.end.filter(|_| holds),
                    closes: span.start.filter(|start| !holds && *start > at),
                }
            }
        }
    }

    /// Whether it refuses what it does not permit, and does not only warn or note it.
    pub fn enforces(&self) -> bool {
        matches!(self.mode, Mode::Enforce | Mode::Unknown)
    }

    /// Whether it selects something. A gate of which nobody can read what it holds may hold it (GATE-12).
    pub fn selects(&self, asked: &Asked<'_>) -> Selects {
        let spec = self.document.get("spec").unwrap_or(&Value::Null);
        let found = selects(spec, self.key.namespace.as_deref(), asked);
        let is_silent = spec.get("holds").is_none_or(Value::is_null);
        if is_silent && self.gate().is_some() { found.min(Selects::CannotTell) } else { found }
    }

    /// Whether everybody can read which rooms it holds.
    pub fn names_rooms(&self) -> bool {
        match self.document.pointer("/spec/holds").filter(|holds| !holds.is_null()) {
            None => self.gate().is_none(),
            Some(holds) => holds.as_array().is_some_and(|holds| holds.iter().all(names_room)),
        }
    }

    /// Whether it stood at an instant, as far as is known.
    pub fn stood_at(&self, at: Instant) -> bool {
        self.since.is_some_and(|since| since <= at)
    }

    /// The reason of a freeze, in the words of its author.
    pub fn reason(&self) -> Option<&str> {
        match &self.time {
            Time::Gate(_) => None,
            Time::Freeze(freeze) => Some(&freeze.reason),
        }
    }

    /// The gate, if it is one.
    pub fn gate(&self) -> Option<&Gate> {
        match &self.time {
            Time::Gate(gate) => Some(gate),
            Time::Freeze(_) => None,
        }
    }

    /// Whether it chooses namespaces by another label than their name.
    pub fn asks_for_labels(&self) -> bool {
        let chosen = self.document.pointer("/spec/namespaceSelector");
        let labels = chosen.and_then(|chosen| chosen.get("matchLabels")?.as_object());
        let others = chosen.and_then(|chosen| chosen.get("matchExpressions")?.as_array());
        let named = |key: Option<&str>| key == Some(NAME);
        labels.into_iter().flatten().any(|(key, _)| !named(Some(key)))
            || others.into_iter().flatten().any(|demand| !named(demand["key"].as_str()))
    }
}

/// The label by which every namespace is named.
const NAME: &str = "kubernetes.io/metadata.name";
