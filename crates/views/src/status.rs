//! What is pending, why does it wait, and when will it start? Every resource and every policy, a row each.

use std::collections::BTreeMap;

use schedule::Instant;
use serde::Serialize;
use tidegate_core::{
    cluster::{
        overview::{self, Overridden, Row},
        snapshot::Snapshot,
    },
    gate::{
        enforced::Enforcement,
        words::{each, joined},
    },
    policy::verdict::Verdict,
};

use crate::{
    drawing::{Colour, Detail, Style},
    items::{Items, Named},
    safe::printable,
    text,
};

/// Every resource under change management and every policy, at an instant.
#[derive(Clone, Debug)]
pub struct Rows {
    /// The resources.
    pub resources: Vec<Row>,
    /// The policies.
    pub policies: Vec<Row>,
}

impl Rows {
    /// The rows of a cluster.
    pub fn new(snapshot: &Snapshot, at: Instant) -> Self {
        let resources = snapshot.gated().map(|seen| overview::resource(snapshot, seen, at));
        let policies = snapshot.policies().map(|seen| overview::policy(seen, at));
        Self { resources: resources.collect(), policies: policies.collect() }
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &Row> {
        self.resources.iter().chain(&self.policies)
    }

    /// The next instant at which something opens or closes.
    pub fn next_edge(&self, now: Instant) -> Option<Instant> {
        self.iter().filter_map(end).filter(|end| *end > now).min()
    }

    /// The rows for programs.
    pub fn items(&self) -> Items<Item> {
        self.iter().map(item).collect()
    }

    /// The rows for people, and what a table cannot say.
    pub fn drawing(&self, at: Instant, detail: Detail, colour: Colour) -> String {
        let tables = [("RESOURCE", &self.resources), ("POLICY", &self.policies)];
        let filled = tables.iter().filter(|(_, rows)| !rows.is_empty());
        let drawn = filled.map(|(head, rows)| table(head, rows, detail, at, colour));
        let drawn = drawn.collect::<Vec<_>>();
        if drawn.is_empty() {
            return "nothing is under change management here: there is no policy, and no resource that could name one\n".into();
        }
        drawn.join("\n")
    }
}

/// When the present state of a row ends, if it does.
pub fn end(row: &Row) -> Option<Instant> {
    row.behavior.current.end_time.as_deref().and_then(|end| Instant::parse(end).ok())
}

/// The output for programs (docs/reference/json.md).
#[derive(Serialize)]
pub struct Item {
    #[serde(flatten)]
    object: Named,
    state: &'static str,
    verdict: &'static str,
    strategy: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    policy: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    overridden: Option<bool>,
    behavior: api::policy::Behavior,
    #[serde(skip_serializing_if = "Option::is_none")]
    pending: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stopped: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    enforced: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    differs: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", rename = "initiatedOutsideWindow")]
    outside: Option<String>,
}

fn item(row: &Row) -> Item {
    let is_resource = !row.object.is_policy();
    Item {
        object: Named::from(&row.object),
        state: row.verdict.state(),
        verdict: row.verdict.as_str(),
        strategy: row.strategy,
        policy: row.policy.as_ref().map(|policy| policy.name.to_string()),
        overridden: is_resource.then_some(row.overridden == Overridden::Yes),
        behavior: row.behavior.clone(),
        pending: is_resource.then(|| each(&row.pending.waiting)),
        stopped: row.unmet.clone(),
        enforced: row.enforced.map(Enforcement::reason),
        differs: row.differs.clone(),
        outside: row.outside.map(|began| began.to_string()),
    }
}

fn table(head: &str, rows: &[Row], detail: Detail, at: Instant, colour: Colour) -> String {
    let resources = head == "RESOURCE";
    let mut heads = vec![head, "STATE", "UNTIL", "NEXT", "BY"];
    if resources {
        heads.push("PENDING");
    }
    if detail == Detail::Full {
        heads.push("WHY");
    }
    let mut cells = vec![heads.into_iter().map(str::to_owned).collect::<Vec<_>>()];
    for row in rows {
        let mut line = vec![
            printable(&row.object.to_string()),
            row.verdict.state().to_owned(),
            when(row.behavior.current.end_time.as_deref(), at, no_end(row.verdict)),
            next(row),
            by(row),
        ];
        if resources {
            line.push(pending(row));
        }
        if detail == Detail::Full {
            line.push(printable(&row.behavior.current.reason));
        }
        cells.push(line);
    }
    coloured(&text::table(0, &cells), rows, colour) + &notes(rows)
}

/// What a table cannot say: gates that nothing keeps, with what that means, changes that did not ask them (GATE-13), and updates that would
/// not start if their gate were open (CV-4).
fn notes(rows: &[Row]) -> String {
    let mut said: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for row in rows {
        let object = printable(&row.object.to_string());
        if let Some(kept) = row.enforced.filter(|kept| *kept != Enforcement::Proven) {
            let about = || kept.about(row.object.kind());
            let about = row.kept.as_deref().map_or_else(about, printable);
            let note = format!("{}: {about}", kept.reason());
            said.entry(note).or_default().push(object.clone());
        }
        if let Some(differs) = &row.differs {
            let note = format!("Differs: {}", printable(differs));
            said.entry(note).or_default().push(object.clone());
        }
        if let Some(why) = &row.unmet {
            let note = format!("Stopped: {}", printable(why));
            said.entry(note).or_default().push(object.clone());
        }
        if let Some(began) = row.outside {
            let note = format!("InitiatedOutsideWindow: at {began}, while changes were held");
            said.entry(note).or_default().push(object);
        }
    }
    let lines = said.iter().map(|(note, objects)| format!("{note}: {}\n", objects.join(", ")));
    lines.collect()
}

/// An instant and how far it is.
fn when(instant: Option<&str>, at: Instant, none: &str) -> String {
    match instant.and_then(|text| Instant::parse(text).ok()) {
        Some(instant) => format!("{instant} ({})", text::relative(instant, at)),
        None => none.to_owned(),
    }
}

/// What stands where the end of a state would: a state that nobody can tell has none that is known.
fn no_end(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Permitted | Verdict::Held => "no end",
        Verdict::CannotTell => "cannot tell",
    }
}

/// What comes after the present state.
fn next(row: &Row) -> String {
    let (Some(next), Some(verdict)) = (&row.behavior.next, row.next) else { return "-".into() };
    let word = verdict.state();
    match &next.end_time {
        Some(end) => format!("{word} until {end}"),
        None => word.to_owned(),
    }
}

/// What decides.
fn by(row: &Row) -> String {
    if let Some(freeze) = &row.frozen {
        return format!("freeze {}", freeze.name);
    }
    if let Some(overriding) = &row.opened {
        return format!("override {}", overriding.name);
    }
    let strategy = row.strategy.unwrap_or(match row.verdict {
        Verdict::CannotTell => "unusable",
        Verdict::Permitted | Verdict::Held => "no stanza",
    });
    match row.policy.as_ref().map(|policy| &*policy.name) {
        Some(policy) if row.overridden == Overridden::Yes => format!("{strategy}, not {policy}"),
        Some(policy) if strategy == "ByPolicy" => policy.to_owned(),
        Some(policy) => format!("{strategy}, {policy}"),
        None => strategy.to_owned(),
    }
}

fn pending(row: &Row) -> String {
    match (row.pending.waiting.as_slice(), row.pending.begun.as_slice()) {
        ([], []) => "-".into(),
        ([], begun) => format!("under way: {}", printable(&joined(begun))),
        (waiting, _) => printable(&joined(waiting)),
    }
}

/// The states of a finished table in their colours: columns are as wide as their words, and colours have no width.
fn coloured(table: &str, rows: &[Row], colour: Colour) -> String {
    let mut lines = table.lines().map(str::to_owned).collect::<Vec<_>>();
    if let Some(head) = lines.first_mut() {
        *head = colour.paint(Style::Strong, head);
    }
    for (line, row) in lines.iter_mut().skip(1).zip(rows) {
        let style = match row.verdict {
            Verdict::Permitted => Style::Open,
            Verdict::Held | Verdict::CannotTell => Style::Paused,
        };
        let word = format!("  {}  ", row.verdict.state());
        let painted = format!("  {}  ", colour.paint(style, row.verdict.state()));
        *line = line.replacen(&word, &painted, 1);
    }
    lines.join("\n") + "\n"
}
