//! What happened, and is the record of it as it was written? (HIST-1)

use std::fmt::Write as _;

use api::record::{Entry, What};
use serde::{Deserialize as _, Serialize};
use serde_json::Value;
use tidegate_core::history::{verify::Verified, wanted::Wanted};

use crate::{
    drawing::{Colour, Detail, Style},
    items::Items,
    safe::{escaped, printable},
    spoken, text,
};

/// Entries that somebody asked for.
#[derive(Clone, Debug)]
pub struct History<'a> {
    /// The entries as they are stored, each with what this build reads of it, in the order of their chains and numbers.
    pub entries: Vec<(&'a Value, Entry)>,
    /// How many were asked about: those that are not wanted are among them.
    pub of: usize,
    /// Those that this build cannot read. They are not shown, and exported all the same.
    pub unreadable: Vec<&'a Value>,
}

impl<'a> History<'a> {
    /// What is wanted of these entries, however they were read; one that was read twice is there once.
    pub fn new(stored: impl IntoIterator<Item = &'a Value>, wanted: &Wanted) -> Self {
        let mut history = Self { entries: Vec::new(), of: 0, unreadable: Vec::new() };
        let mut read: Vec<(&Value, Entry)> = Vec::new();
        for stored in stored {
            match Entry::deserialize(stored) {
                Ok(entry) => read.push((stored, entry)),
                Err(_) => history.unreadable.push(stored),
            }
        }
        read.sort_by(|(_, one), (_, other)| {
            (&one.chain, one.number, &one.hash).cmp(&(&other.chain, other.number, &other.hash))
        });
        read.dedup_by(|(one, _), (other, _)| one == other);
        history.of = read.len() + history.unreadable.len();
        read.retain(|(_, entry)| wanted.takes(entry));
        history.entries = read;
        history
    }

    /// The entries for programs (docs/reference/json.md), in the order in which they happened.
    pub fn items(&self) -> Items<&Entry> {
        self.in_time().collect()
    }

    /// The same as lines of JSON, each as it is stored, so that whoever keeps them can verify them: what this build cannot read among them.
    pub fn lines(&self) -> String {
        let mut stored: Vec<&Value> = self.entries.iter().map(|(stored, _)| *stored).collect();
        stored.extend(&self.unreadable);
        let place = |stored: &Value| {
            (stored["chain"].as_str().map(str::to_owned), stored["number"].as_i64())
        };
        stored.sort_by_cached_key(|stored| place(stored));
        stored.into_iter().map(|stored| escaped(&stored.to_string()) + "\n").collect()
    }

    /// The same for people.
    pub fn drawing(&self, detail: Detail, colour: Colour) -> String {
        let mut drawn = String::new();
        if self.entries.is_empty() {
            let _ =
                writeln!(drawn, "nothing is recorded{}", if self.of > 0 { " of that" } else { "" });
        } else {
            let mut head = vec!["WHEN", "WHAT", "OBJECT", "CHANGE", "BASIS", "BY", "OUTCOME"];
            if detail == Detail::Full {
                head.extend(["NAMESPACE", "ENTRY", "HASH"]);
            }
            let head = head.into_iter().map(str::to_owned).collect();
            let rows: Vec<Vec<String>> =
                [head].into_iter().chain(self.in_time().map(|entry| row(entry, detail))).collect();
            drawn = text::table(0, &rows);
        }
        if !self.unreadable.is_empty() {
            let warning = format!(
                "{} could not be read and are not shown; tidegate history verify names them",
                self.unreadable.len()
            );
            let _ = writeln!(drawn, "{}", colour.paint(Style::Paused, &warning));
        }
        drawn
    }

    /// The entries in the order in which they happened.
    pub fn in_time(&self) -> impl Iterator<Item = &Entry> {
        let mut entries: Vec<&Entry> = self.entries.iter().map(|(_, entry)| entry).collect();
        // Every instant is written alike, so their texts are in the order of time. What happened in one second stays in its order.
        entries.sort_by(|one, other| one.at.cmp(&other.at));
        entries.into_iter()
    }
}

fn row(entry: &Entry, detail: Detail) -> Vec<String> {
    let given = |text: &Option<String>| text.as_deref().map_or_else(|| "-".to_owned(), printable);
    let who = who(entry).unwrap_or_else(|| "-".to_owned());
    let mut row = vec![
        printable(&entry.at),
        entry.what.as_str().to_owned(),
        object(entry),
        given(&entry.change),
        given(&entry.basis),
        who,
        printable(&entry.outcome),
    ];
    if detail == Detail::Full {
        let hash = entry.hash.get(..12).unwrap_or_default();
        row.extend([printable(&entry.chain), entry.number.to_string(), printable(hash)]);
    }
    row
}

/// Who did it, as far as that is told.
pub fn who(entry: &Entry) -> Option<String> {
    match (entry.what, &entry.by) {
        (What::Frozen | What::Overridden, None) => Some("unsigned".to_owned()),
        (_, by) => by.as_deref().map(printable),
    }
}

/// What an entry is about, as people name it.
pub fn object(entry: &Entry) -> String {
    let subject = &entry.subject;
    let parts = [Some(&subject.kind), subject.namespace.as_ref(), Some(&subject.name)];
    printable(&parts.into_iter().flatten().map(String::as_str).collect::<Vec<_>>().join("/"))
}

/// The namespace of a history.
pub fn named(one: &Verified) -> &str {
    if one.chain.is_empty() { "no namespace" } else { &one.chain }
}

/// Which entries of a history hold.
pub fn held(one: &Verified) -> String {
    match one.entries {
        0 => "no entry holds".to_owned(),
        1 => format!("entry {} holds", one.first),
        _ => format!("entries {} to {} hold", one.first, one.last.0),
    }
}

/// What became of looking at every history.
#[derive(Clone, Debug)]
pub struct Verification {
    /// Each of them.
    pub chains: Vec<Verified>,
}

/// What looking came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Soundness {
    /// Every link holds.
    Intact,
    /// One does not.
    Broken,
    /// There was nothing to look at.
    CannotTell,
}

/// The output for programs (docs/reference/json.md).
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    verdict: &'static str,
    chains: Vec<ChainItem>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ChainItem {
    namespace: String,
    source: String,
    verdict: &'static str,
    entries: usize,
    first: i64,
    last: i64,
    last_hash: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unread: Vec<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    broken: Option<BreakItem>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct BreakItem {
    entry: Option<i64>,
    page: Option<String>,
    message: String,
}

impl Verification {
    /// What it comes to.
    pub fn soundness(&self) -> Soundness {
        match self.chains.as_slice() {
            [] => Soundness::CannotTell,
            chains if chains.iter().any(|chain| chain.broken.is_some()) => Soundness::Broken,
            _ => Soundness::Intact,
        }
    }

    /// The same in a sentence; the first link that does not hold is named.
    pub fn sentence(&self) -> String {
        let broken = self.chains.iter().find_map(|chain| Some((chain, chain.broken.as_ref()?)));
        if let Some((chain, broken)) = broken {
            return format!("The record of {} is broken: {}.", named(chain), broken.why);
        }
        let entries: usize = self.chains.iter().map(|chain| chain.entries).sum();
        match (self.chains.len(), entries) {
            (0, _) => "Nothing is recorded.".to_owned(),
            (_, 1) => "The record is as it was written: its one entry holds.".to_owned(),
            (1, all) => {
                let all = spoken::count(all);
                format!("The record is as it was written: all {all} entries hold.")
            }
            (chains, all) => {
                let (all, chains) = (spoken::count(all), spoken::count(chains));
                format!(
                    "The records of {chains} namespaces are as they were written: all {all} entries hold."
                )
            }
        }
    }

    /// The same for programs.
    pub fn report(&self) -> Report {
        let chain = |one: &Verified| ChainItem {
            namespace: one.chain.clone(),
            source: one.source.clone(),
            verdict: if one.broken.is_some() { "Broken" } else { "Intact" },
            entries: one.entries,
            first: one.first,
            last: one.last.0,
            last_hash: one.last.1.clone(),
            unread: one.unread.clone(),
            broken: one.broken.as_ref().map(|broken| BreakItem {
                entry: broken.number,
                page: broken.page.clone(),
                message: broken.why.clone(),
            }),
        };
        Report {
            verdict: match self.soundness() {
                Soundness::Intact => "Intact",
                Soundness::Broken => "Broken",
                Soundness::CannotTell => "CannotTell",
            },
            chains: self.chains.iter().map(chain).collect(),
        }
    }

    /// The same for people.
    pub fn drawing(&self, colour: Colour) -> String {
        let mut drawn = String::new();
        for one in &self.chains {
            let chain = format!("{} in {}", printable(named(one)), printable(&one.source));
            let held = held(one);
            match &one.broken {
                None => {
                    let intact = colour.paint(Style::Open, "intact");
                    let hash = printable(&one.last.1);
                    let _ = writeln!(drawn, "{intact}: {chain}: {held}; the last hash is {hash}");
                    if one.first > 1 {
                        let before = one.first - 1;
                        let _ = writeln!(
                            drawn,
                            "  older entries, up to {before}, are not among what was read"
                        );
                    }
                }
                Some(broken) => {
                    let word = colour.paint(Style::Paused, "broken");
                    let page = broken.page.as_ref().map(|page| format!(", on page {page}"));
                    let why = printable(&broken.why);
                    let page = page.unwrap_or_default();
                    let _ = writeln!(drawn, "{word}: {chain}: {why}{page}; {held}");
                }
            }
            if !one.unread.is_empty() {
                let numbers: Vec<String> = one.unread.iter().map(i64::to_string).collect();
                let numbers = numbers.join(", ");
                let _ = writeln!(
                    drawn,
                    "  this build cannot read the words of {numbers}; the hashes hold"
                );
            }
        }
        if self.chains.is_empty() {
            drawn.push_str("cannot tell: there is no entry\n");
        }
        drawn
    }
}
