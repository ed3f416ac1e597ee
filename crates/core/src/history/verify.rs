//! Is a history as it was written? Every hash is made anew, and every link followed; the first that does not hold is named (HIST-1).
//!
//! Sources are kept apart: each is a chain of its own, and one never mends another. What is held now must hold everything that somebody kept, with
//! the same hashes, but for the oldest pages, which the operator drops when there are too many (`compare`). What nobody kept, nobody can
//! miss: entries that were cut off at the end leave no trace in the rest.

use std::collections::BTreeMap;

use api::record::{Entry, MOST_ENTRIES, MOST_PAGES};
use serde::Deserialize as _;
use serde_json::Value;

use super::{
    chain::{self, GENESIS},
    pages::{self, page_of},
};

mod compare;

/// Where entries were read.
#[derive(Clone, Debug, PartialEq)]
pub struct Source {
    /// What people call it: the cluster, or a file.
    pub name: String,
    /// What it is.
    pub held: Held,
    /// What it holds, in whatever order it was read.
    pub entries: Vec<Stored>,
}

/// What a source is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Held {
    /// All pages that a server holds now.
    ByServer,
    /// What somebody wrote down of it just now.
    Now,
    /// What somebody kept: it may end before the others do.
    Kept,
}

/// An entry as it is stored, and where.
#[derive(Clone, Debug, PartialEq)]
pub struct Stored {
    /// The entry.
    pub entry: Value,
    /// Where it stands.
    pub place: Place,
}

/// Where an entry stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// On a page, by the page's namespace and name.
    Page(String, String),
    /// On a line of an export.
    Line(usize),
}

/// What became of looking at the history of one namespace in one source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verified {
    /// The name of the source.
    pub source: String,
    /// The namespace; empty for a source that holds nothing.
    pub chain: String,
    /// How many entries hold, from the first on.
    pub entries: usize,
    /// The number of the first; more than 1 if older ones were dropped.
    pub first: i64,
    /// The number and the hash of the last that holds.
    pub last: (i64, String),
    /// The numbers of those whose hashes hold and whose words this build does not know.
    pub unread: Vec<i64>,
    /// What is wrong after that; none if nothing is.
    pub broken: Option<Break>,
}

/// The first link that does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Break {
    /// The number of the entry; none if it has none that can be read.
    pub number: Option<i64>,
    /// The page that it stands on, or should.
    pub page: Option<String>,
    /// What is wrong.
    pub why: String,
}

impl Source {
    /// What an export holds: an entry on each line, of which these have the number.
    pub fn lines(name: &str, held: Held, lines: impl IntoIterator<Item = (usize, Value)>) -> Self {
        let stored = |(line, entry)| Stored { entry, place: Place::Line(line) };
        let entries = lines.into_iter().map(stored).collect();
        Self { name: name.to_owned(), held, entries }
    }

    /// What pages hold.
    pub fn pages<'a>(name: &str, held: Held, pages: impl IntoIterator<Item = &'a Value>) -> Self {
        let entries = pages.into_iter().flat_map(Stored::of_page).collect();
        Self { name: name.to_owned(), held, entries }
    }
}

impl Stored {
    fn of_page(page: &Value) -> impl Iterator<Item = Self> {
        let text = |path| page.pointer(path).and_then(Value::as_str).unwrap_or_default().to_owned();
        let place = Place::Page(text("/metadata/namespace"), text("/metadata/name"));
        pages::entries(page).map(move |entry| Self { entry: entry.clone(), place: place.clone() })
    }

    /// Whose history it stands in: that of the page's namespace, whatever the entry says.
    fn chain(&self) -> &str {
        match &self.place {
            Place::Page(namespace, _) if !namespace.is_empty() => namespace,
            Place::Page(..) | Place::Line(_) => text(&self.entry, "chain"),
        }
    }
}

/// Looks at every history in each of these sources, and compares them.
pub fn verify(sources: &[Source]) -> Vec<Verified> {
    let mut found: Vec<(usize, Verified)> = Vec::new();
    for (index, source) in sources.iter().enumerate() {
        let mut chains: BTreeMap<&str, Vec<&Stored>> = BTreeMap::new();
        for stored in &source.entries {
            chains.entry(stored.chain()).or_default().push(stored);
        }
        let looked =
            chains.into_iter().map(|(chain, entries)| (index, one(source, chain, entries)));
        found.extend(looked);
    }
    compare::compare(sources, &mut found);
    found.sort_by(|(one_index, one), (other_index, other)| {
        (&one.chain, one_index).cmp(&(&other.chain, other_index))
    });
    found.into_iter().map(|(_, verified)| verified).collect()
}

fn one(source: &Source, chain: &str, mut entries: Vec<&Stored>) -> Verified {
    // What has no number comes first, and is told.
    entries.sort_by_key(|stored| number(&stored.entry));
    entries.dedup_by(|one, other| one.entry == other.entry);
    let first = entries.first().and_then(|stored| number(&stored.entry)).unwrap_or(0);
    let mut verified = Verified {
        source: source.name.clone(),
        chain: chain.to_owned(),
        entries: 0,
        first,
        last: (first - 1, String::new()),
        unread: Vec::new(),
        broken: None,
    };
    for stored in entries {
        let number = number(&stored.entry);
        if let Some(why) = fault(&verified, stored) {
            let page = match &stored.place {
                Place::Page(_, name) => Some(name.clone()),
                Place::Line(_) => number.map(page_of),
            };
            verified.broken = Some(Break { number, page, why });
            break;
        }
        verified.entries += 1;
        verified.last = (number.unwrap_or_default(), text(&stored.entry, "hash").to_owned());
        if Entry::deserialize(&stored.entry).is_err() {
            verified.unread.extend(number);
        }
    }
    if source.held == Held::ByServer && verified.broken.is_none() && !is_dropped_from(&verified) {
        let why = format!(
            "entries 1 to {} are missing at the beginning: the operator drops the oldest page only when there are more than {MOST_PAGES}",
            first - 1
        );
        verified.broken = Some(Break { number: Some(1), page: Some(page_of(1)), why });
    }
    verified
}

/// Whether a history begins where one does, or where one begins of which the operator dropped the oldest pages.
fn is_dropped_from(verified: &Verified) -> bool {
    let page = |number: i64| (number - 1).div_euclid(MOST_ENTRIES as i64);
    let (first, last) = (verified.first, verified.last.0);
    let begins_a_page = (first - 1).rem_euclid(MOST_ENTRIES as i64) == 0;
    first <= 1 || (begins_a_page && page(last) - page(first) + 1 >= MOST_PAGES as i64)
}

/// What is wrong with an entry that comes after what was looked at; none if nothing is.
fn fault(before: &Verified, Stored { entry, place }: &Stored) -> Option<String> {
    let Some(number) = number(entry).filter(|number| *number >= 1) else {
        return Some(match place {
            Place::Line(line) => format!("the entry on line {line} has no number"),
            Place::Page(..) => "an entry has no number".to_owned(),
        });
    };
    let (last, last_hash) = &before.last;
    if number == *last {
        return Some(format!("two different entries have the number {number}"));
    }
    if number != last + 1 {
        return Some(format!("{} missing", numbers(last + 1, number - 1)));
    }
    let (carried, made) = (text(entry, "hash"), chain::hash(entry));
    if carried != made {
        return Some(format!(
            "entry {number} is not as it was written: it carries the hash {carried}, and its content gives {made}"
        ));
    }
    if let Some(why) = misplaced(number, entry, place) {
        return Some(why);
    }
    let previous = text(entry, "previousHash");
    // Of what was dropped nothing is left but the hash that the first entry carries.
    let expected = match before.entries {
        0 if number == 1 => GENESIS,
        0 => return None,
        _ => last_hash.as_str(),
    };
    (previous != expected).then(|| match before.entries {
        0 => format!("entry 1 is not the first: it follows an entry with the hash {previous}"),
        _ => format!(
            "entry {number} does not follow entry {last}: it follows one with the hash {previous}, and that has {expected}"
        ),
    })
}

/// Why an entry does not belong where it stands; none if it does.
fn misplaced(number: i64, entry: &Value, place: &Place) -> Option<String> {
    let Place::Page(namespace, name) = place else { return None };
    let chain = text(entry, "chain");
    if !namespace.is_empty() && chain != namespace {
        return Some(format!(
            "entry {number} is of the history of {chain}, and its page is in the namespace {namespace}"
        ));
    }
    let belongs = page_of(number);
    (*name != belongs)
        .then(|| format!("entry {number} belongs to page {belongs}, and stands on {name}"))
}

/// Some numbers, as the beginning of a sentence.
fn numbers(from: i64, to: i64) -> String {
    if from == to { format!("entry {from} is") } else { format!("entries {from} to {to} are") }
}

fn number(entry: &Value) -> Option<i64> {
    entry.get("number").and_then(Value::as_i64)
}

fn text<'a>(entry: &'a Value, field: &str) -> &'a str {
    entry.get(field).and_then(Value::as_str).unwrap_or_default()
}
