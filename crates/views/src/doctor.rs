//! What in a cluster is not held, and which doors stand open? The worst first, and what nobody looked at last (RCH-6, GATE-13).

use std::fmt::Write as _;

use api::reach::Mode;
use serde::Serialize;
use serde_json::Value;
use tidegate_core::{
    doctor::{
        begun::Begun,
        doors::{Expected, Open},
        movers::{Extent, Found, HeldRoom, MOVERS},
        probes::Proof,
    },
    document::key::Key,
    held::Holder,
    policy::verdict::Verdict,
    reach::rooms::known,
};

use crate::{
    drawing::{Colour, Detail, Style},
    items::Named,
    safe::printable,
};

/// How far two clocks may be apart before nothing is initiated (GATE-11).
const MOST_SKEW: i64 = 5;

/// How many rollouts that began outside are named, unless somebody wants all.
const MOST_BEGUN: usize = 10;

/// What was found.
#[derive(Clone, Debug)]
pub struct Findings<'a> {
    /// Which server answered; none for files.
    pub server: Option<String>,
    /// How many seconds the clock of whoever asks is ahead of the server's, if that is known.
    pub ahead: Option<i64>,
    /// The movers.
    pub movers: Vec<Found>,
    /// Gates and freezes.
    pub holders: &'a [Holder],
    /// Which gates were tried now; none from files.
    pub tried: Vec<Tried>,
    /// Rollouts that began outside, the last first.
    pub begun: Vec<Begun>,
    /// The doors.
    pub doors: Vec<Open>,
    /// What could not be looked at, and why.
    pub unseen: Vec<String>,
    /// What this command does not look at.
    pub not_looked_at: Vec<&'static str>,
}

/// A gate that was tried in a room.
#[derive(Clone, Debug)]
pub struct Tried {
    /// Which gate.
    pub gate: Key,
    /// The room.
    pub room: &'static str,
    /// What that proved.
    pub proof: Proof,
}

/// The output for programs (docs/reference/json.md).
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    verdict: &'static str,
    server: Option<String>,
    clock_ahead_seconds: Option<i64>,
    movers: Vec<MoverItem>,
    gates: Vec<GateItem>,
    begun_outside: Vec<BegunItem>,
    doors: Vec<DoorItem>,
    unseen: Vec<String>,
    not_looked_at: Vec<&'static str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct MoverItem {
    name: &'static str,
    changes: &'static str,
    found_by: Vec<String>,
    held: &'static str,
    rooms: Vec<RoomItem>,
    beyond: Option<&'static str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RoomItem {
    room: &'static str,
    held: &'static str,
    by: Vec<Named>,
    watched_by: Vec<Named>,
    not_held: &'static [&'static str],
}

#[derive(Serialize)]
struct GateItem {
    #[serde(flatten)]
    object: Named,
    mode: &'static str,
    enforced: String,
    tried: Vec<TriedItem>,
}

#[derive(Serialize)]
struct TriedItem {
    room: &'static str,
    proof: &'static str,
    reason: Option<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct BegunItem {
    deployment: String,
    replica_set: String,
    at: String,
    held_by: Named,
}

#[derive(Serialize)]
struct DoorItem {
    door: &'static str,
    subject: String,
    namespace: Option<String>,
    via: String,
    expected: bool,
}

impl Findings<'_> {
    /// Held if something is not held, or only in part, or a door stands open; cannot tell if something could not be looked at, or no server was seen refusing.
    pub fn verdict(&self) -> Verdict {
        let doors = self.doors.iter().any(|open| open.expected == Expected::No);
        let skewed = self.ahead.is_some_and(|ahead| ahead.abs() > MOST_SKEW);
        let failed = self.tried.iter().any(|tried| tried.proof == Proof::NotRefused);
        let is_loose = |found: &Found| found.extent() != Extent::Everywhere;
        let loose = self.movers.iter().any(is_loose) || !self.begun.is_empty();
        if loose || doors || skewed || failed {
            Verdict::Held
        } else if !self.unseen.is_empty() || self.gates().any(|gate| !self.is_proven(gate)) {
            Verdict::CannotTell
        } else {
            Verdict::Permitted
        }
    }

    /// Whether a gate was seen refusing in each of its rooms, now or by the operator.
    fn is_proven(&self, gate: &Holder) -> bool {
        let mut tried = self.tried_of(gate).peekable();
        enforced(gate) == "Proven"
            || tried.peek().is_some() && tried.all(|tried| tried.proof == Proof::Proven)
    }

    fn tried_of(&self, gate: &Holder) -> impl Iterator<Item = &Tried> {
        self.tried.iter().filter(move |tried| tried.gate == gate.key)
    }

    fn gates(&self) -> impl Iterator<Item = &Holder> {
        self.holders.iter().filter(|holder| holder.gate().is_some())
    }

    /// What was found, for programs.
    pub fn report(&self) -> Report {
        Report {
            verdict: match self.verdict() {
                Verdict::Permitted => "held",
                Verdict::Held => "not held",
                Verdict::CannotTell => "cannot tell",
            },
            server: self.server.clone(),
            clock_ahead_seconds: self.ahead,
            movers: self.movers.iter().map(mover).collect(),
            gates: self
                .gates()
                .map(|gate| GateItem {
                    object: Named::from(&gate.key),
                    mode: mode(gate.mode),
                    enforced: enforced(gate).to_owned(),
                    tried: self.tried_of(gate).map(tried_item).collect(),
                })
                .collect(),
            begun_outside: self
                .begun
                .iter()
                .map(|begun| BegunItem {
                    deployment: begun.deployment.clone(),
                    replica_set: begun.set.clone(),
                    at: begun.at.to_string(),
                    held_by: Named::from(&begun.by),
                })
                .collect(),
            doors: self
                .doors
                .iter()
                .map(|open| DoorItem {
                    door: open.door.as_str(),
                    subject: open.subject.to_string(),
                    namespace: open.namespace.clone(),
                    via: open.via.clone(),
                    expected: open.expected == Expected::Yes,
                })
                .collect(),
            unseen: self.unseen.clone(),
            not_looked_at: self.not_looked_at.clone(),
        }
    }

    /// The same for people.
    pub fn drawing(&self, detail: Detail, colour: Colour) -> String {
        let mut text = String::new();
        if let Some(server) = &self.server {
            let clock = match self.ahead {
                None => "it does not say what time it is".to_owned(),
                Some(0) => "its clock agrees with this one".to_owned(),
                Some(ahead) if ahead > 0 => format!("its clock is {ahead} s behind this one"),
                Some(ahead) => format!("its clock is {} s ahead of this one", -ahead),
            };
            let _ = writeln!(text, "{} answered; {clock}", printable(server));
        }
        let head = |text: &mut String, words: &str| {
            let _ = writeln!(text, "\n{}", colour.paint(Style::Strong, words));
        };
        let draw = |text: &mut String, words: &str, extent: Extent| {
            let of_it = self.movers.iter().filter(|found| found.extent() == extent);
            let of_it: Vec<&Found> = of_it.collect();
            if !of_it.is_empty() {
                head(text, words);
                draw_movers(text, &of_it);
            }
        };
        draw(&mut text, "NOT HELD", Extent::Nowhere);
        draw(&mut text, "HELD IN PART", Extent::Somewhere);
        let (open, expected): (Vec<&Open>, Vec<&Open>) =
            self.doors.iter().partition(|open| open.expected == Expected::No);
        if !open.is_empty() {
            head(&mut text, "OPEN DOORS");
            draw_doors(&mut text, &open);
        }
        draw(&mut text, "HELD", Extent::Everywhere);
        if !self.begun.is_empty() {
            head(&mut text, "BEGUN OUTSIDE");
            let shown = if detail == Detail::Full { self.begun.len() } else { MOST_BEGUN };
            for Begun { deployment, set, at, by } in self.begun.iter().take(shown) {
                let said =
                    format!("Deployment {deployment} at {at}, by ReplicaSet {set}: {by} was shut");
                let _ = writeln!(text, "  {}", printable(&said));
            }
            let more = self.begun.len().saturating_sub(shown);
            if more > 0 {
                let _ = writeln!(text, "  and {more} more; -o wide lists them");
            }
        }
        if self.gates().next().is_some() {
            head(&mut text, "GATES");
            for gate in self.gates() {
                let said = match enforced(gate) {
                    "Proven" => "the operator saw the API server refuse",
                    "NotReported" => "nobody has reported whether the API server refuses",
                    _ => "the operator did not see the API server refuse",
                };
                let key = printable(&gate.key.to_string());
                let (mode, reason) = (mode(gate.mode), printable(enforced(gate)));
                let _ = writeln!(text, "  {key}, {mode}: {reason}, {said}");
                for Tried { room, proof, .. } in self.tried_of(gate) {
                    let said = match proof {
                        Proof::Proven => "tried now, and the API server refused".to_owned(),
                        Proof::NotRefused => {
                            "tried now, and the API server did not refuse: nothing holds it"
                                .to_owned()
                        }
                        Proof::Otherwise(why) => {
                            format!("tried now, and refused for another reason: {why}")
                        }
                        Proof::NotTried(why) => format!("not tried: {why}"),
                    };
                    let _ = writeln!(text, "    {room}: {}", printable(&said));
                }
            }
        }
        if !expected.is_empty() {
            if detail == Detail::Full {
                head(
                    &mut text,
                    "DOORS THAT ARE MEANT TO BE OPEN: OF THE CLUSTER ITSELF, OF THE OPERATOR, OF TEAMS IN THEIR NAMESPACES",
                );
                draw_doors(&mut text, &expected);
            } else {
                let _ = writeln!(
                    text,
                    "\ndoors that are meant to be open: {}; -o wide lists them",
                    expected.len()
                );
            }
        }
        head(&mut text, "NOT LOOKED AT");
        for line in self.unseen.iter().map(String::as_str).chain(self.not_looked_at.iter().copied())
        {
            let _ = writeln!(text, "  {}", printable(line));
        }
        let names: Vec<&str> = MOVERS.iter().map(|mover| mover.name).collect();
        let _ = writeln!(text, "  other movers than these: {}", names.join(", "));
        text.trim_start().to_owned()
    }
}

fn tried_item(tried: &Tried) -> TriedItem {
    let (proof, reason) = match &tried.proof {
        Proof::Proven => ("Proven", None),
        Proof::NotRefused => ("NotRefused", None),
        Proof::Otherwise(why) => ("Otherwise", Some(why.clone())),
        Proof::NotTried(why) => ("NotTried", Some(why.clone())),
    };
    TriedItem { room: tried.room, proof, reason }
}

/// What each room does not hold (RCH-6).
pub fn not_held() -> String {
    let mut text = String::new();
    for room in known() {
        let _ = writeln!(text, "{} holds {}; it does not hold:", room.name_of(), room.held);
        for line in room.not_held {
            let _ = writeln!(text, "  - {line}");
        }
    }
    text
}

fn draw_movers(text: &mut String, movers: &[&Found]) {
    for found in movers {
        let _ = writeln!(text, "  {}: {}", found.mover.name, found.mover.changes);
        let _ = writeln!(text, "    found: {}", printable(&found.by.join(", ")));
        for room in &found.held {
            let _ = writeln!(text, "    {}: {}", room.room.name_of(), printable(&held_room(room)));
        }
        if let Some(beyond) = found.mover.beyond {
            let _ = writeln!(text, "    {beyond}");
        }
    }
}

fn held_room(room: &HeldRoom) -> String {
    let keys = |keys: &[Key]| keys.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let held = match room.extent {
        Extent::Nowhere => "nothing holds it".to_owned(),
        Extent::Somewhere => format!("held in part, by {}", keys(&room.by)),
        Extent::Everywhere => format!("held, by {}", keys(&room.by)),
    };
    if room.watched_by.is_empty() {
        return held;
    }
    format!("{held}; only watched by {}", keys(&room.watched_by))
}

fn draw_doors(text: &mut String, doors: &[&Open]) {
    for open in doors {
        let namespace = open.namespace.as_ref();
        let place = namespace.map_or_else(String::new, |one| format!(" in namespace {one}"));
        let said = format!("{} {}{place}: {}", open.subject, open.door.sentence(), open.via);
        let _ = writeln!(text, "  {}", printable(&said));
    }
}

fn mover(found: &Found) -> MoverItem {
    MoverItem {
        name: found.mover.name,
        changes: found.mover.changes,
        found_by: found.by.clone(),
        held: word(found.extent()),
        rooms: found
            .held
            .iter()
            .map(|room| RoomItem {
                room: room.room.name_of(),
                held: word(room.extent),
                by: room.by.iter().map(Named::from).collect(),
                watched_by: room.watched_by.iter().map(Named::from).collect(),
                not_held: room.room.not_held,
            })
            .collect(),
        beyond: found.mover.beyond,
    }
}

fn word(extent: Extent) -> &'static str {
    match extent {
        Extent::Nowhere => "no",
        Extent::Somewhere => "in part",
        Extent::Everywhere => "yes",
    }
}

fn mode(mode: Mode) -> &'static str {
    match mode {
        Mode::Enforce | Mode::Unknown => "Enforce",
        Mode::Warn => "Warn",
        Mode::Audit => "Audit",
    }
}

/// What the operator says of the proof of a gate.
fn enforced(gate: &Holder) -> &str {
    let conditions = gate.document.pointer("/status/conditions").and_then(Value::as_array);
    let found = conditions.into_iter().flatten().find(|one| one["type"] == "Enforced");
    found.and_then(|one| one["reason"].as_str()).unwrap_or("NotReported")
}
