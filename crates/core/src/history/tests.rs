use std::collections::BTreeMap;

use api::{
    kinds::CHANGE_RECORD,
    record::{Entry, LONGEST_TEXT, MOST_ENTRIES, MOST_PAGES, Subject, What},
};
use schedule::Instant;
use serde::Deserialize as _;
use serde_json::{Value, json};

use super::{
    chain::{Fact, GENESIS, Tip, hash, written},
    pages::{self, Chain, page_of},
    verify::{Held, Source, Verified},
    wanted::{Called, Wanted},
};
use crate::gate::action::{Action, Write};

mod due;
mod remembered;
mod sources;

const HOME: &str = "tidegate-system";

fn at(second: i64) -> Instant {
    Instant::parse("2026-11-14T00:00:00Z").unwrap().saturating_add(second)
}

fn subject(name: &str) -> Subject {
    let uid = Some(format!("uid-of-{name}"));
    Subject { kind: "MachineConfigPool".into(), namespace: None, name: name.into(), uid }
}

fn fact(second: i64) -> Fact {
    let fact = Fact::about(subject("worker"), What::Permitted, at(second), "changes may start");
    Fact { basis: Some("window".into()), ..fact }
}

/// A history of so many entries.
fn entries(count: i64) -> Vec<Value> {
    let mut tip = Tip::default();
    let entry = |second| {
        let entry = tip.next(HOME, fact(second));
        tip = Tip::from(&entry);
        written(&entry)
    };
    (0..count).map(entry).collect()
}

/// What is found of entries that stand in one export.
fn verify<'a>(entries: impl IntoIterator<Item = &'a Value>) -> Vec<Verified> {
    let lines = entries.into_iter().cloned().enumerate();
    super::verify::verify(&[Source::lines("export", Held::Now, lines)])
}

/// A server that keeps pages, and takes a write only if it was made from what is there.
#[derive(Default)]
struct Pages {
    stored: BTreeMap<String, Value>,
    version: u64,
}

impl Pages {
    fn take(&mut self, action: &Action) -> Result<Value, u16> {
        assert_eq!(action.initiation(), None, "what is recorded starts nothing");
        assert_eq!(action.target.kind(), &CHANGE_RECORD);
        let name = action.target.name.to_string();
        self.version += 1;
        let known = self.stored.get(&name).cloned();
        let version = known.as_ref().map(|page| page["metadata"]["resourceVersion"].clone());
        let mut page = match (&action.write, known) {
            (Write::Create(_), Some(_)) => return Err(409),
            (Write::Create(document), None) => {
                let mut page = document.clone();
                page["metadata"]["uid"] = format!("uid-of-{name}").into();
                page["metadata"]["managedFields"] = json!([{"manager": "tidegate"}]);
                page
            }
            (Write::JsonPatch(operations), Some(mut page)) => {
                let (first, added) = operations.split_first().unwrap();
                if Some(&first["value"]) != version.as_ref() {
                    return Err(409);
                }
                for add in added {
                    assert_eq!(
                        (&add["op"], &add["path"]),
                        (&json!("add"), &json!("/spec/entries/-"))
                    );
                    page["spec"]["entries"].as_array_mut().unwrap().push(add["value"].clone());
                }
                page
            }
            (Write::Delete { uid, version: given }, Some(page)) => {
                assert_eq!(page["metadata"]["uid"], uid.as_str());
                assert_eq!(page["metadata"]["resourceVersion"], given.as_str());
                self.stored.remove(&name);
                return Ok(page);
            }
            (other, known) => panic!("{other:?} of {known:?}"),
        };
        page["metadata"]["resourceVersion"] = self.version.to_string().into();
        self.stored.insert(name, page.clone());
        Ok(page)
    }

    /// What somebody knows who has just begun to lead.
    fn chain(&self) -> Chain {
        let mut chains = BTreeMap::new();
        for page in self.stored.values() {
            pages::read(&mut chains, page);
        }
        chains.remove(HOME).unwrap_or_default()
    }

    fn verified(&self) -> Verified {
        let held = Source::pages("the cluster", Held::ByServer, self.stored.values());
        let mut found = super::verify::verify(&[held]);
        assert_eq!(found.len(), 1);
        found.remove(0)
    }

    /// Appends until nothing is due.
    fn record(&mut self, chain: &mut Chain, facts: &[Fact]) -> usize {
        let mut writes = 0;
        for some in facts.chunks(MOST_ENTRIES) {
            let due = |chain: &Chain| chain.lacking(some.iter().cloned());
            while let Some(action) = chain.append(HOME, due(chain)) {
                chain.answered(&self.take(&action).unwrap());
                writes += 1;
                if let Some(drop) = chain.dropped(HOME) {
                    self.take(&drop).unwrap();
                    chain.forget_oldest();
                }
            }
        }
        writes
    }
}

/// HIST-1: anybody can make the hash without this program. The text below is what `jq -jcS 'del(.hash)'` prints.
#[test]
fn a_hash_is_that_of_the_entry_with_its_keys_in_order() {
    let entry = Tip::default().next(HOME, fact(0));
    let text = format!(
        "{{\"at\":\"2026-11-14T00:00:00Z\",\"basis\":\"window\",\"chain\":\"tidegate-system\",\"number\":1,\
         \"outcome\":\"changes may start\",\"previousHash\":\"{GENESIS}\",\
         \"subject\":{{\"kind\":\"MachineConfigPool\",\"name\":\"worker\",\"uid\":\"uid-of-worker\"}},\"what\":\"Permitted\"}}"
    );
    let expected: String = sha2_of(&text);
    assert_eq!(entry.hash, expected);
    // In whatever order it is stored.
    let mut turned = written(&entry);
    let fields = turned.as_object_mut().unwrap();
    let last = fields.remove("at").unwrap();
    fields.insert("at".into(), last);
    assert_eq!(hash(&turned), expected);
}

fn sha2_of(text: &str) -> String {
    use sha2::{Digest as _, Sha256};
    let digest = Sha256::digest(text.as_bytes());
    digest
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .map(|half| char::from(b"0123456789abcdef"[usize::from(half)]))
        .collect()
}

/// HIST-1: the first link that does not hold is named, whatever was done to it.
#[test]
fn whatever_is_done_to_a_history_is_found_where_it_was_done() {
    let check = |what: &str, change: &dyn Fn(&mut Vec<Value>), number: Option<i64>, why: &str| {
        let mut changed = entries(5);
        change(&mut changed);
        let found = verify(&changed).remove(0);
        let broken = found.broken.unwrap_or_else(|| panic!("{what}: nothing was found"));
        assert_eq!(broken.number, number, "{what}: {}", broken.why);
        assert!(broken.why.contains(why), "{what}: {}", broken.why);
        assert_eq!(broken.page, number.map(page_of), "{what}");
    };
    let changed = |field: &'static str, value: Value| {
        move |entries: &mut Vec<Value>| entries[2][field] = value.clone()
    };
    let not = "is not as it was written";
    check("a text", &changed("outcome", json!("nothing happened")), Some(3), not);
    check("an instant", &changed("at", json!("2026-11-14T00:00:09Z")), Some(3), not);
    check("a field that nobody knows", &changed("note", json!("x")), Some(3), not);
    check("a hash", &changed("hash", json!(GENESIS)), Some(3), not);
    check("a deeper field", &|all| all[2]["subject"]["name"] = json!("infra"), Some(3), not);
    check("one is gone", &|all| drop(all.remove(2)), Some(4), "entry 3 is missing");
    check("two are gone", &|all| drop(all.drain(1..3)), Some(4), "entries 2 to 3 are missing");
    check("no number", &changed("number", Value::Null), None, "has no number");
    // Who makes the hash anew breaks the next link.
    let made_anew = |all: &mut Vec<Value>| {
        all[2]["outcome"] = json!("nothing happened");
        all[2]["hash"] = hash(&all[2]).into();
    };
    check("a hash made anew", &made_anew, Some(4), "does not follow entry 3");
    // Who makes all of them anew differs from whoever kept an entry.
    let forked = |all: &mut Vec<Value>| {
        let mut other = all[2].clone();
        other["outcome"] = json!("nothing happened");
        other["hash"] = hash(&other).into();
        all.push(other);
    };
    check("two of one number", &forked, Some(3), "two different entries have the number 3");
    let replaced = |all: &mut Vec<Value>| {
        all[0]["previousHash"] = json!("1".repeat(64));
        all[0]["hash"] = hash(&all[0]).into();
    };
    check("another beginning", &replaced, Some(1), "entry 1 is not the first");
}

#[test]
fn a_history_that_was_not_touched_holds_also_without_its_beginning_and_read_twice() {
    let all = entries(5);
    let check = |read: Vec<&Value>, entries: usize, first: i64| {
        let found = verify(read).remove(0);
        assert_eq!((found.broken, found.entries, found.first), (None, entries, first));
        assert_eq!(found.last, (5, all[4]["hash"].as_str().unwrap().to_owned()));
    };
    check(all.iter().collect(), 5, 1);
    check(all.iter().rev().collect(), 5, 1);
    check(all.iter().chain(&all[2..]).collect(), 5, 1);
    check(all[3..].iter().collect(), 2, 4);
    assert_eq!(verify(&[]), []);
    // Each namespace has its own.
    let other = written(&Tip::default().next("shop", fact(0)));
    let found = verify(all.iter().chain([&other]));
    let found: Vec<_> = found.iter().map(|one| (one.chain.as_str(), one.entries)).collect();
    assert_eq!(found, [("shop", 1), (HOME, 5)]);
}

/// HIST-1: pages are bounded, the oldest goes, and what is left still hangs together.
#[test]
fn pages_are_filled_and_followed_and_the_oldest_goes() {
    let mut server = Pages::default();
    let mut chain = server.chain();
    let facts: Vec<Fact> = (0..250).map(fact).collect();
    assert_eq!(server.record(&mut chain, &facts[..3]), 1);
    assert_eq!(server.record(&mut chain, &facts[..3]), 0, "what is recorded is not recorded again");
    assert_eq!(server.record(&mut chain, &facts), 2);
    let sizes = |server: &Pages| {
        let pages = server.stored.iter();
        pages.map(|(name, page)| (name.clone(), pages::entries(page).count())).collect::<Vec<_>>()
    };
    let named = |name: &str, count| (name.to_owned(), count);
    assert_eq!(sizes(&server), [named("history-000001", 200), named("history-000002", 50)]);
    let found = server.verified();
    assert_eq!((found.broken, found.entries), (None, 250));

    let most = (MOST_PAGES * MOST_ENTRIES) as i64;
    let facts: Vec<Fact> = (0..most + 10).map(fact).collect();
    server.record(&mut chain, &facts);
    assert_eq!(server.stored.len(), MOST_PAGES);
    let found = server.verified();
    assert_eq!((found.broken, found.first, found.last.0), (None, 201, most + 10));
    // Who begins to lead now does not know what was dropped, and does not record it again; what is new it records.
    let mut next = server.chain();
    assert_eq!(server.record(&mut next, &facts), 0);
    let newer: Vec<Fact> = (0..most + 12).map(fact).collect();
    assert_eq!(server.record(&mut next, &newer), 1);
    assert_eq!(server.verified().last.0, most + 12);
}

/// HIST-1: what was noticed late is as old as what it is about.
#[test]
fn the_end_of_what_was_dropped_is_not_told_again() {
    let mut server = Pages::default();
    let mut chain = server.chain();
    let finished = Fact {
        since: at(0),
        basis: Some("begun at 2026-11-14T00:00:00Z".into()),
        ..Fact::about(subject("n1"), What::Finished, at(1), "done")
    };
    let most = (MOST_PAGES * MOST_ENTRIES) as i64;
    let all: Vec<Fact> = [finished.clone()].into_iter().chain((2..most + 3).map(fact)).collect();
    server.record(&mut chain, &all);
    assert_eq!(server.verified().first, 201);
    let later = Fact { at: at(most + 100), ..finished };
    assert_eq!(server.chain().lacking([later]), []);
}

/// HIST-1: two that both believe they lead write one chain, and each fact once.
#[test]
fn two_who_append_at_once_do_not_fork() {
    for start in [1, MOST_ENTRIES as i64] {
        let mut server = Pages::default();
        let mut chain = server.chain();
        let facts: Vec<Fact> = (0..start).map(fact).collect();
        server.record(&mut chain, &facts);
        let (mut one, mut other) = (server.chain(), server.chain());
        let news: Vec<Fact> = (0..=start).map(fact).collect();
        let write =
            |chain: &Chain| chain.append(HOME, chain.lacking(news.iter().cloned())).unwrap();
        let (first, second) = (write(&one), write(&other));
        one.answered(&server.take(&first).unwrap());
        assert_eq!(server.take(&second), Err(409), "after {start} entries");
        other = server.chain();
        assert_eq!(server.record(&mut other, &news), 0);
        let found = server.verified();
        assert_eq!((found.broken, found.entries), (None, news.len()));
    }
}

/// RCH-7: what stood and is gone is told once, and not while nobody has listed its kind.
#[test]
fn what_is_gone_is_told_once() {
    let mut server = Pages::default();
    let mut chain = server.chain();
    server.record(&mut chain, &[fact(0)]);
    assert_eq!(chain.gone(|_| false, at(9)), []);
    let gone = chain.gone(|subject| subject.name == "worker", at(9));
    assert_eq!(
        gone.iter().map(|fact| (fact.what, fact.at)).collect::<Vec<_>>(),
        [(What::Removed, at(9))]
    );
    chain.answered(&server.take(&chain.append(HOME, gone).unwrap()).unwrap());
    assert_eq!(chain.gone(|_| true, at(10)), []);
    assert_eq!(server.chain().gone(|_| true, at(10)), []);
    assert_eq!(chain, server.chain(), "what was answered is what is read");
}

#[test]
fn texts_of_any_length_fit_into_an_entry() {
    let long = "ä".repeat(LONGEST_TEXT);
    let entry = Tip::default().next(HOME, Fact { basis: Some(long), ..fact(0) });
    let basis = entry.basis.clone().unwrap();
    assert!(basis.len() <= LONGEST_TEXT && basis.contains("ä… (sha256 "), "{basis}");
    assert_eq!(verify(&[written(&entry)]).remove(0).broken, None);
}

/// HIST-1: a text is cut before anybody compares it, and two that differ only beyond the cut stay two.
#[test]
fn what_was_cut_is_recorded_once() {
    let mut server = Pages::default();
    let mut chain = server.chain();
    let long = |end: &str| format!("{}{end}", "a hole ".repeat(100));
    let of = |what: What, text: String| Fact {
        basis: Some(text.clone()),
        change: Some(text),
        ..Fact::about(subject("fix"), what, at(0), "told")
    };
    for what in [What::Finished, What::Overridden, What::Approved, What::Initiated] {
        for end in ["one", "other"] {
            let facts = [of(what, long(end))];
            assert_eq!(server.record(&mut chain, &facts), 1, "{what:?} {end}");
            assert_eq!(server.record(&mut chain, &facts), 0, "{what:?} {end}");
            assert_eq!(server.chain().lacking(facts), [], "{what:?} {end}");
        }
    }
}

/// OVR-3: what was approved is known by who approved it, whatever else is edited.
#[test]
fn an_approval_is_told_once_for_each_who_approves() {
    let mut server = Pages::default();
    let mut chain = server.chain();
    let approved = |by: &str, reason: &str| {
        let (by, basis) = (Some(by.to_owned()), Some(reason.to_owned()));
        [Fact { basis, by, ..Fact::about(subject("fix"), What::Approved, at(0), "approved") }]
    };
    assert_eq!(server.record(&mut chain, &approved("bob", "a hole")), 1);
    assert_eq!(server.record(&mut chain, &approved("bob", "a bigger hole")), 0);
    assert_eq!(server.record(&mut chain, &approved("eve", "a hole")), 1);
}

/// HIST-1: a page that somebody deleted leaves a gap that shows, and no beginning; in a namespace that went nothing is written.
#[test]
fn a_page_that_vanished_is_followed_from_the_tip_that_is_known() {
    let mut server = Pages::default();
    let mut chain = server.chain();
    server.record(&mut chain, &(0..3).map(fact).collect::<Vec<_>>());
    server.stored.clear();
    assert!(chain.forget_last());
    assert_eq!(server.record(&mut chain, &[fact(3)]), 1);
    let found = server.verified();
    assert_eq!((found.first, found.entries), (4, 1));
    let why = found.broken.unwrap().why;
    assert!(why.starts_with("entries 1 to 3 are missing at the beginning"), "{why}");
    server.stored.clear();
    assert!(chain.forget_last());
    assert!(!chain.forget_last(), "the namespace is gone");
    // The same where it was read again, because nobody knew what became of a write.
    let mut read = server.chain();
    assert!(read.follow(chain.tip()));
    assert_eq!(server.record(&mut read, &[fact(4)]), 1);
    assert_eq!(server.verified().first, 5);
    assert!(!server.chain().follow(chain.tip()));
}

/// HIST-1: what is known of pages that were read one by one is what is known of them all, and what was answered.
#[test]
fn pages_read_one_by_one_say_the_same_for_each_namespace() {
    let mut server = Pages::default();
    let mut chain = server.chain();
    server.record(&mut chain, &(0..450).map(fact).collect::<Vec<_>>());
    assert_eq!(chain, server.chain());
    let mut chains = BTreeMap::new();
    for page in server.stored.values() {
        let mut other = page.clone();
        other["metadata"]["namespace"] = "shop".into();
        // As a server lists them by namespace, or as it does not.
        pages::read(&mut chains, &other);
        pages::read(&mut chains, page);
    }
    assert_eq!((&chains[HOME], &chains["shop"]), (&chain, &chain));
    let found = server.stored.values().next().unwrap();
    assert!(found["metadata"]["managedFields"].is_array());
}

/// RCH-7: what stands is told again before the last page that tells of it goes, so that whoever begins to lead knows what there is to miss.
#[test]
fn what_stands_is_carried_on_before_its_page_goes() {
    let mut server = Pages::default();
    let mut chain = server.chain();
    let old = Fact::about(subject("old"), What::Held, at(0), "no change starts");
    let ended = Fact::about(subject("over"), What::Frozen, at(0), "nothing starts");
    let end = Fact::about(subject("over"), What::FreezeEnded, at(1), "it ended by itself");
    server.record(&mut chain, &[old, ended, end]);
    let most = (MOST_PAGES * MOST_ENTRIES) as i64;
    let nobody = |_: &Subject| false;
    server.record(&mut chain, &(3..most - 250).map(fact).collect::<Vec<_>>());
    assert_eq!(chain.carried(nobody, at(most)), [], "there is room");
    server.record(&mut chain, &(3..most - 100).map(fact).collect::<Vec<_>>());
    assert_eq!(chain.carried(|_| true, at(most)), [], "what is gone is told to be gone");
    let carried = chain.carried(nobody, at(most));
    let names: Vec<_> =
        carried.iter().map(|fact| (fact.what, fact.subject.name.as_str())).collect();
    assert_eq!(names, [(What::Stands, "old")]);
    chain.answered(&server.take(&chain.append(HOME, carried).unwrap()).unwrap());
    assert_eq!(chain.carried(nobody, at(most)), []);
    server.record(&mut chain, &(3..most + 100).map(fact).collect::<Vec<_>>());
    assert_eq!(server.verified().first, 201);
    let gone = server.chain().gone(|subject| subject.name != "worker", at(most + 200));
    let names: Vec<_> = gone.iter().map(|fact| fact.subject.name.as_str()).collect();
    assert_eq!(names, ["old"]);
}

#[test]
fn entries_are_asked_for_by_object_and_by_time() {
    let entry = Entry::deserialize(&entries(1)[0]).unwrap();
    let check = |objects: &[&str], from: Option<i64>, until: Option<i64>, expected: bool| {
        let objects = objects.iter().map(|text| Called::read(text).unwrap()).collect();
        let wanted = Wanted { objects, from: from.map(at), until: until.map(at) };
        assert_eq!(wanted.takes(&entry), expected, "{wanted:?}");
    };
    check(&[], None, None, true);
    check(&["mcp/worker"], None, None, true);
    check(&["MachineConfigPools"], None, None, true);
    check(&["mcp/infra"], None, None, false);
    check(&["mcp/infra", "mcp/worker"], None, None, true);
    check(&["node/worker"], None, None, false);
    check(&["np/shop/worker"], None, None, false);
    check(&[], Some(0), Some(1), true);
    check(&[], Some(1), None, false);
    check(&[], None, Some(0), false);
    let refused = |text: &str, why: &str| {
        let said = Called::read(text).unwrap_err();
        assert!(said.contains(why), "{said}");
    };
    refused("pod/x", "nothing is recorded of a kind \"pod\"");
    refused("mcp/", "names no object");
    refused("a/b/c/d", "is not KIND");
}
