//! Which gates hold what others own, and when do they open? Each gate, a row; and for one object everybody who holds it, in the order of
//! GATE-15.

use std::fmt::Write as _;

use api::reach::Mode;
use schedule::Instant;
use serde::Serialize;
use serde_json::Value;
use tidegate_core::{
    held::{Holder, Said},
    policy::verdict::Verdict,
    reach::{selector::Selects, selects::Asked},
};

use crate::{
    drawing::{Colour, Detail, Style},
    items::{Items, Named},
    safe::printable,
    text,
};

/// Every gate, at an instant.
#[derive(Clone, Debug)]
pub struct Gates<'a> {
    /// The gates, in the order of GATE-15.
    pub gates: Vec<(&'a Holder, Said)>,
}

impl<'a> Gates<'a> {
    /// The gates among some holders.
    pub fn new(holders: &'a [Holder], at: Instant) -> Self {
        let gates = holders.iter().filter(|holder| holder.gate().is_some());
        Self { gates: gates.map(|gate| (gate, gate.at(at))).collect() }
    }

    /// The gates for programs.
    pub fn items(&self) -> Items<Item> {
        self.gates.iter().map(|(gate, said)| item(gate, said)).collect()
    }

    /// The gates for people.
    pub fn drawing(&self, at: Instant, detail: Detail, colour: Colour) -> String {
        if self.gates.is_empty() {
            return "there is no gate: nothing that others own is held here, but by freezes\n"
                .into();
        }
        let mut heads =
            vec!["GATE", "HOLDS", "POLICY", "STATE", "OPENS", "CLOSES", "PENDING", "MODE"];
        if detail == Detail::Full {
            heads.push("WHY");
        }
        let mut cells = vec![heads.into_iter().map(str::to_owned).collect::<Vec<_>>()];
        for (gate, said) in &self.gates {
            let when = |instant: Option<Instant>| {
                instant.map_or_else(
                    || "-".to_owned(),
                    |instant| format!("{instant} ({})", text::relative(instant, at)),
                )
            };
            let mut line = vec![
                printable(&gate.key.to_string()),
                printable(&holds(gate).join(",")),
                printable(&policy(gate).unwrap_or_else(|| "-".to_owned())),
                said.verdict.state().to_owned(),
                when(said.opens),
                when(said.closes),
                pending(gate).map_or_else(|| "-".to_owned(), |count| count.to_string()),
                mode(gate.mode).to_owned(),
            ];
            if detail == Detail::Full {
                line.push(printable(said.doubt.as_deref().unwrap_or("-")));
            }
            cells.push(line);
        }
        let table = text::table(0, &cells);
        let (head, rest) = table.split_once('\n').unwrap_or((&table, ""));
        let mut text = format!("{}\n{rest}", colour.paint(Style::Strong, head));
        for (gate, said) in &self.gates {
            if let Some(doubt) = &said.doubt
                && detail == Detail::Short
            {
                let _ =
                    writeln!(text, "{}: {}", printable(&gate.key.to_string()), printable(doubt));
            }
        }
        text
    }
}

/// The output for programs (docs/reference/json.md).
#[derive(Serialize)]
pub struct Item {
    #[serde(flatten)]
    object: Named,
    holds: Vec<String>,
    policy: Option<String>,
    state: &'static str,
    verdict: &'static str,
    reason: Option<String>,
    opens: Option<String>,
    closes: Option<String>,
    pending: Option<i64>,
    mode: &'static str,
}

fn item(gate: &Holder, said: &Said) -> Item {
    Item {
        object: Named::from(&gate.key),
        holds: holds(gate),
        policy: policy(gate),
        state: said.verdict.state(),
        verdict: said.verdict.as_str(),
        reason: said.doubt.clone(),
        opens: said.opens.map(|at| at.to_string()),
        closes: said.closes.map(|at| at.to_string()),
        pending: pending(gate),
        mode: mode(gate.mode),
    }
}

/// What a gate holds, as it says; rooms that this build does not know, too.
fn holds(gate: &Holder) -> Vec<String> {
    let holds = gate.document.pointer("/spec/holds").and_then(Value::as_array);
    let what = holds.into_iter().flatten().filter_map(|hold| hold["what"].as_str());
    what.map(str::to_owned).collect()
}

fn policy(gate: &Holder) -> Option<String> {
    gate.gate()?.named().map(|policy| policy.name.to_string())
}

fn pending(gate: &Holder) -> Option<i64> {
    gate.document.pointer("/status/pendingCount").and_then(Value::as_i64)
}

fn mode(mode: Mode) -> &'static str {
    match mode {
        Mode::Enforce | Mode::Unknown => "Enforce",
        Mode::Warn => "Warn",
        Mode::Audit => "Audit",
    }
}

/// Why one object is held, at an instant, or not.
#[derive(Clone, Debug)]
pub struct Why<'a> {
    /// What it is called.
    pub object: String,
    /// Everybody who selects it, or of whom nobody can tell, in the order of GATE-15.
    pub by: Vec<Part<'a>>,
}

/// One that selects an object.
#[derive(Clone, Debug)]
pub struct Part<'a> {
    /// Which.
    pub holder: &'a Holder,
    /// The rooms by which.
    pub rooms: Vec<&'static str>,
    /// Whether it does.
    pub selects: Selects,
    /// What it says.
    pub said: Said,
}

impl<'a> Why<'a> {
    /// Asks every holder about an object, in each room that may hold it.
    pub fn new(holders: &'a [Holder], object: String, targets: &[Asked<'_>], at: Instant) -> Self {
        let by = holders.iter().filter_map(|holder| {
            let asked = targets.iter();
            let asked = asked.map(|target| (holder.selects(target), target.room.name_of()));
            let asked: Vec<_> = asked.filter(|(selects, _)| *selects != Selects::No).collect();
            let selects = asked.iter().map(|(selects, _)| *selects).max()?;
            let rooms = asked.into_iter().map(|(_, room)| room).collect();
            Some(Part { holder, rooms, selects, said: holder.at(at) })
        });
        Self { object, by: by.collect() }
    }

    /// Whether it may change (GATE-15): freezes and every gate must permit, and "cannot tell" of any one holds. Gates that only warn or audit
    /// stand in nobody's way.
    pub fn verdict(&self) -> Verdict {
        let each = self.by.iter().filter(|part| part.enforces()).map(Part::verdict);
        each.fold(Verdict::Permitted, |all, one| match (all, one) {
            (Verdict::Held, _) | (_, Verdict::Held) => Verdict::Held,
            (Verdict::CannotTell, _) | (_, Verdict::CannotTell) => Verdict::CannotTell,
            (Verdict::Permitted, Verdict::Permitted) => Verdict::Permitted,
        })
    }

    /// The first instant from one on at which all of them permit it; none if that is not known.
    pub fn opens(&self, at: Instant) -> Option<Instant> {
        /// More edges than people wait for.
        const MOST: usize = 1_000;
        let mut at = at;
        for _ in 0..MOST {
            let enforcing = self.by.iter().filter(|part| part.enforces());
            let shut = enforcing.map(|part| part.holder.at(at));
            let shut: Vec<Said> = shut.filter(|said| said.verdict != Verdict::Permitted).collect();
            if shut.is_empty() {
                return Some(at);
            }
            at = shut
                .iter()
                .map(|said| said.opens)
                .collect::<Option<Vec<_>>>()?
                .into_iter()
                .max()?;
        }
        None
    }

    /// The answer for programs.
    pub fn report(&self, at: Instant) -> Report {
        let verdict = self.verdict();
        let opens = self.opens(at).filter(|_| verdict == Verdict::Held);
        Report {
            object: self.object.clone(),
            at: at.to_string(),
            verdict: verdict.as_str(),
            opens: opens.map(|opens| opens.to_string()),
            held_by: self.by.iter().map(Part::item).collect(),
        }
    }

    /// The answer for people.
    pub fn drawing(&self, at: Instant, colour: Colour) -> String {
        let verdict = self.verdict();
        let style = if verdict == Verdict::Permitted { Style::Open } else { Style::Paused };
        let until = match (verdict, self.opens(at)) {
            (Verdict::Held, Some(opens)) => {
                format!(", opens at {opens} ({})", text::relative(opens, at))
            }
            (Verdict::Held, None) => ", no opening is known".to_owned(),
            _ => String::new(),
        };
        let object = printable(&self.object);
        let mut text = format!("{object}: {}{until}\n", colour.paint(style, verdict.as_str()));
        if self.by.is_empty() {
            text.push_str("  no gate and no freeze selects it\n");
            return text;
        }
        text.push_str("  1. members of tidegate:initiators and what has begun pass everything\n");
        for (number, freezes) in [(2, true), (3, false)] {
            let parts = self.by.iter().filter(|part| part.holder.gate().is_none() == freezes);
            let parts: Vec<&Part<'_>> = parts.collect();
            let (none, head) = match number {
                2 => ("no freeze selects it", "a freeze in force that selects it holds"),
                _ => ("no gate selects it", "every gate that selects it must permit"),
            };
            let _ = writeln!(text, "  {number}. {}", if parts.is_empty() { none } else { head });
            for part in parts {
                let _ = writeln!(text, "     {}", printable(&part.sentence(at)));
            }
        }
        text
    }
}

/// The output for programs (docs/reference/json.md).
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    object: String,
    at: String,
    verdict: &'static str,
    opens: Option<String>,
    held_by: Vec<PartItem>,
}

#[derive(Serialize)]
struct PartItem {
    #[serde(flatten)]
    object: Named,
    rooms: Vec<&'static str>,
    selects: &'static str,
    verdict: &'static str,
    mode: &'static str,
    reason: Option<String>,
    opens: Option<String>,
    closes: Option<String>,
}

impl Part<'_> {
    fn enforces(&self) -> bool {
        self.holder.enforces()
    }

    /// What it says of the object: where nobody can tell whether it selects it, an open one permits all the same.
    fn verdict(&self) -> Verdict {
        match (self.selects, self.said.verdict) {
            (_, Verdict::Permitted) => Verdict::Permitted,
            (Selects::CannotTell, _) => Verdict::CannotTell,
            (_, verdict) => verdict,
        }
    }

    fn item(&self) -> PartItem {
        let reason = self.said.doubt.clone().or_else(|| self.holder.reason().map(str::to_owned));
        PartItem {
            object: Named::from(&self.holder.key),
            rooms: self.rooms.clone(),
            selects: match self.selects {
                Selects::Yes => "yes",
                Selects::CannotTell => "cannot tell",
                Selects::No => "no",
            },
            verdict: self.verdict().as_str(),
            mode: mode(self.holder.mode),
            reason,
            opens: self.said.opens.map(|at| at.to_string()),
            closes: self.said.closes.map(|at| at.to_string()),
        }
    }

    fn sentence(&self, at: Instant) -> String {
        let Self { holder, rooms, selects, said } = self;
        let mut text =
            format!("{} ({}): {}", holder.key, rooms.join(", "), self.verdict().as_str());
        let edge = |word: &str, at_edge: Option<Instant>| {
            at_edge.map_or_else(String::new, |edge| {
                format!(", {word} at {edge} ({})", text::relative(edge, at))
            })
        };
        text.push_str(&edge("opens", said.opens));
        text.push_str(&edge("closes", said.closes));
        if *selects == Selects::CannotTell {
            let why = if holder.names_rooms() {
                "labels are not known"
            } else {
                "what it holds cannot be read"
            };
            let _ = write!(text, "; whether it selects the object cannot be told, because {why}");
        }
        if !self.enforces() {
            let _ = write!(text, "; mode {} lets it pass", mode(holder.mode));
        }
        if let Some(why) = said.doubt.as_deref().or_else(|| holder.reason()) {
            let _ = write!(text, ": {why}");
        }
        text
    }
}
