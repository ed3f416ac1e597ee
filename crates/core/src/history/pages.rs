//! How is a history kept in bounded objects, appended to once, and never forked? (HIST-1)
//!
//! - A page is filled before the next begins, and its name follows from the numbers of its entries: two operators that both believe they lead
//!   want to write the same page. Whoever comes second conflicts, by the version that an addition was made from or by the name of a new
//!   page, and reads again.
//! - What is recorded is told from what is not by what an entry says, so whoever reads the pages knows it, whoever wrote them (`lacking`).
//! - Of the oldest page, which goes when there are too many, the last hash stays: the first entry of the next page carries it.

use std::collections::{BTreeMap, BTreeSet};

use api::{
    kinds::CHANGE_RECORD,
    record::{Entry, MOST_ENTRIES, MOST_PAGES, Subject, What},
};
use schedule::Instant;
use serde::Deserialize as _;
use serde_json::{Value, json};

use super::chain::{Fact, Tip, written};
use crate::{
    document::{key::Key, patch::made_from},
    gate::action::{Action, Write},
};
use lacking::{Course, Digest};

mod lacking;

/// What an operator knows of the history of one namespace: enough to append to it, and to tell what it holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chain {
    /// The pages, oldest first.
    pages: Vec<Page>,
    /// The last entry.
    tip: Tip,
    /// What is recorded, as digests: ten thousand entries must fit into a small pod.
    known: BTreeSet<Digest>,
    /// What entries tell of each object that is not told to be gone.
    courses: BTreeMap<Subject, Course>,
    /// When the first entry that is left happened, if older ones were dropped: whatever is older has been recorded.
    horizon: Option<Instant>,
    /// Whether the last page was found to be gone, and none was made anew yet.
    is_torn: bool,
}

/// A page, by what a write needs of it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Page {
    name: String,
    /// The number of its first entry.
    first: i64,
    uid: String,
    version: String,
    entries: usize,
}

/// How many objects may stand whose entries are carried on before they go with the oldest page: with more, carrying on would itself fill
/// the history.
const MOST_CARRIED: usize = MOST_PAGES * MOST_ENTRIES / 4;

/// Adds a page to the histories that were read so far. The server lists pages in the order of their names, which is that of their numbers, so nothing
/// but what is known of them has to be kept: all pages of many namespaces are more than a small pod holds.
pub fn read(chains: &mut BTreeMap<String, Chain>, page: &Value) {
    chains.entry(text(page, "/metadata/namespace").to_owned()).or_default().read(page);
}

/// What pages hold, as it is stored, in the order of the pages.
pub fn entries(page: &Value) -> impl Iterator<Item = &Value> {
    page.pointer("/spec/entries").and_then(Value::as_array).into_iter().flatten()
}

/// The name of the page that an entry stands on, by its number.
pub fn page_of(number: i64) -> String {
    let page = (number - 1).div_euclid(MOST_ENTRIES as i64) + 1;
    format!("history-{page:06}")
}

impl Chain {
    /// Adds a page that comes after all that were read.
    fn read(&mut self, page: &Value) {
        self.pages.push(Page::of(page));
        for entry in entries(page) {
            // One that this build cannot read is somebody's who looks at hashes; the next still comes after it.
            let Ok(entry) = Entry::deserialize(entry) else {
                let number = entry["number"].as_i64().unwrap_or(self.tip.number + 1);
                self.tip = Tip { number, hash: text(entry, "/hash").to_owned() };
                continue;
            };
            if self.known.is_empty() && entry.number > 1 {
                self.horizon = Instant::parse(&entry.at).ok();
            }
            // Whatever came out of its turn moves nothing back.
            if entry.number > self.tip.number {
                self.tip = Tip::from(&entry);
            }
            self.learn(&entry);
        }
    }

    /// Which objects are gone: those that entries tell of and that `is_gone` knows to be there no more.
    pub fn gone(&self, is_gone: impl Fn(&Subject) -> bool, now: Instant) -> Vec<Fact> {
        let gone = self.standing().filter(|(subject, _)| is_gone(subject));
        let outcome = "it is not there any more";
        gone.map(|(gone, _)| Fact::about(gone.clone(), What::Removed, now, outcome)).collect()
    }

    /// What still stands, and of which the oldest page alone tells when that is about to go: it is told again, so that whoever reads what is
    /// left knows what there is to miss (RCH-7).
    pub fn carried(&self, is_gone: impl Fn(&Subject) -> bool, now: Instant) -> Vec<Fact> {
        let Some(next) = self.pages.get(1).filter(|_| self.pages.len() >= MOST_PAGES) else {
            return Vec::new();
        };
        if self.standing().count() > MOST_CARRIED {
            return Vec::new();
        }
        let old = self
            .standing()
            .filter(|(subject, course)| course.last < next.first && !is_gone(subject));
        let outcome = "it is still there; what was recorded of it goes with the oldest page";
        old.map(|(old, _)| Fact::about(old.clone(), What::Stands, now, outcome)).collect()
    }

    /// The page that was to be added to is not there any more, and the namespace may be: the next entry follows the last one that is known, on a page
    /// that is made anew, and whoever verifies sees what is missing. False if no page was added to, or the new one finds no place either: then the
    /// namespace is gone.
    pub fn forget_last(&mut self) -> bool {
        let forgets = !self.is_torn && self.pages.pop().is_some();
        self.is_torn = forgets;
        forgets
    }

    /// The one write that appends the first of these facts, as many as the page takes, to the history of a namespace; none if there are none. The
    /// rest is for the next write.
    pub fn append(&self, namespace: &str, facts: Vec<Fact>) -> Option<Action> {
        let last = self.pages.last().filter(|page| page.entries < MOST_ENTRIES);
        // Whatever made the numbers of a page another's, its successor begins where a page begins.
        let next = self.tip.number + 1;
        let room = MOST_ENTRIES - (next - 1).rem_euclid(MOST_ENTRIES as i64) as usize;
        let room = last.map_or(room, |page| (MOST_ENTRIES - page.entries).min(room));
        let mut tip = self.tip.clone();
        let entries: Vec<Value> = facts
            .into_iter()
            .take(room)
            .map(|fact| {
                let entry = tip.next(namespace, fact);
                tip = Tip::from(&entry);
                written(&entry)
            })
            .collect();
        if entries.is_empty() {
            return None;
        }
        let name = page_of(next);
        let Some(page) = last.filter(|page| page.name == name) else {
            let target = Key::new(&CHANGE_RECORD, Some(namespace), &name);
            let document = json!({
                "apiVersion": CHANGE_RECORD.api_version,
                "kind": CHANGE_RECORD.name,
                "metadata": {"namespace": namespace, "name": name},
                "spec": {"entries": entries},
            });
            return Some(Action::upkeep(target, Write::Create(document)));
        };
        let added = entries
            .into_iter()
            .map(|entry| json!({"op": "add", "path": "/spec/entries/-", "value": entry}));
        let operations = [made_from(&page.version)].into_iter().chain(added).collect();
        let target = Key::new(&CHANGE_RECORD, Some(namespace), &page.name);
        Some(Action::upkeep(target, Write::JsonPatch(operations)))
    }

    /// The end of the oldest page, while there are too many.
    pub fn dropped(&self, namespace: &str) -> Option<Action> {
        let oldest = self.pages.first().filter(|_| self.pages.len() > MOST_PAGES)?;
        let target = Key::new(&CHANGE_RECORD, Some(namespace), &oldest.name);
        let (uid, version) = (oldest.uid.clone(), oldest.version.clone());
        Some(Action::upkeep(target, Write::Delete { uid, version }))
    }

    /// Goes on from what was known before it was read again, where that is more than is left; whether it is. A gap shows what is missing.
    pub fn follow(&mut self, known: &Tip) -> bool {
        let lost = known.number > self.tip.number;
        if lost {
            self.tip = known.clone();
        }
        lost
    }

    /// The last entry.
    pub fn tip(&self) -> &Tip {
        &self.tip
    }

    /// A page as the server answered after a write. What it holds beyond the last entry is known from here on.
    pub fn answered(&mut self, page: &Value) {
        let name = text(page, "/metadata/name");
        for entry in entries(page).filter_map(|entry| Entry::deserialize(entry).ok()) {
            if entry.number > self.tip.number {
                self.tip = Tip::from(&entry);
                self.learn(&entry);
            }
        }
        self.is_torn = false;
        let page = Page::of(page);
        match self.pages.iter_mut().find(|known| known.name == name) {
            Some(known) => *known = page,
            None => self.pages.push(page),
        }
    }

    /// The oldest page is gone.
    pub fn forget_oldest(&mut self) {
        if !self.pages.is_empty() {
            self.pages.remove(0);
        }
        // Of what has ended nobody has to know more than is left; what stands is carried on.
        let first = self.pages.first().map_or(0, |page| page.first);
        self.courses.retain(|_, course| !course.ended || course.last >= first);
    }
}

impl Page {
    fn of(page: &Value) -> Self {
        let first = entries(page).next().and_then(|entry| entry["number"].as_i64());
        Self {
            name: text(page, "/metadata/name").to_owned(),
            first: first.unwrap_or_default(),
            uid: text(page, "/metadata/uid").to_owned(),
            version: text(page, "/metadata/resourceVersion").to_owned(),
            entries: entries(page).count(),
        }
    }
}

fn text<'a>(document: &'a Value, path: &str) -> &'a str {
    document.pointer(path).and_then(Value::as_str).unwrap_or_default()
}
