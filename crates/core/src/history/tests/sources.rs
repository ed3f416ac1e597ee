//! Does one source heal what another lost?

use api::record::{MOST_ENTRIES, MOST_PAGES};
use serde_json::{Value, json};

use super::{HOME, entries, fact, page_of};
use crate::history::{
    chain::{Tip, hash, written},
    verify::{Held, Source, verify},
};

/// Pages as a server holds them.
fn pages(entries: &[Value]) -> Vec<Value> {
    let page = |entries: &[Value]| {
        let name = page_of(entries[0]["number"].as_i64().unwrap());
        json!({"metadata": {"namespace": HOME, "name": name}, "spec": {"entries": entries}})
    };
    // Where the first is not the first of a page, the first page is a short one.
    let skipped = entries.first().map_or(0, |first| first["number"].as_i64().unwrap() - 1);
    let short = (MOST_ENTRIES - skipped as usize % MOST_ENTRIES).min(entries.len());
    let (first, rest) = entries.split_at(short);
    [first]
        .into_iter()
        .filter(|page| !page.is_empty())
        .chain(rest.chunks(MOST_ENTRIES))
        .map(page)
        .collect()
}

fn kept(entries: &[Value]) -> Source {
    Source::lines("kept.jsonl", Held::Kept, entries.iter().cloned().enumerate())
}

/// What is wrong with each source, as `source: why`.
fn found(sources: &[Source]) -> Vec<String> {
    let broken = verify(sources).into_iter().filter_map(|one| Some((one.source, one.broken?)));
    broken.map(|(source, broken)| format!("{source}: {}", broken.why)).collect()
}

/// HIST-1: whatever the cluster lost is told, although somebody kept it.
#[test]
fn an_export_heals_nothing_that_the_cluster_lost() {
    let all = entries(1010);
    let check = |held: &[&[Value]], kept_now: &[Value], expected: &[&str]| {
        let held: Vec<Value> = held.iter().flat_map(|some| pages(some)).collect();
        let server = Source::pages("the cluster", Held::ByServer, &held);
        assert_eq!(found(&[server.clone(), kept(kept_now)]), expected);
        // The same of an export that somebody made just now.
        let lines = server.entries.into_iter().map(|stored| stored.entry).enumerate();
        let now = Source::lines("-", Held::Now, lines);
        let by_hand = found(&[now, kept(kept_now)]);
        assert_eq!(by_hand.len(), expected.len(), "{by_hand:?}");
    };
    check(&[&all], &all, &[]);
    // What happened since was not kept.
    check(&[&all], &all[..500], &[]);
    let missing = "the cluster: entries 201 to 800 are missing";
    check(&[&all[..200], &all[800..]], &all, &[missing]);
    let gone =
        "the cluster: it holds no entry of this history, and kept.jsonl holds some up to 1010";
    check(&[], &all, &[gone]);
    let cut = "the cluster: it is cut off at the end: entries 801 to 1010 are missing, and kept.jsonl holds them";
    check(&[&all[..800]], &all, &[cut]);
    let cut =
        "the cluster: it is cut off at the end: entry 1010 is missing, and kept.jsonl holds them";
    check(&[&all[..1009]], &all, &[cut]);
    let beginning = "the cluster: entries 1 to 200 are missing at the beginning: the operator drops the oldest page only when there are more than 50";
    check(&[&all[200..]], &all, &[beginning]);
    check(&[&all], &[], &["kept.jsonl: it holds no entry"]);
    assert_eq!(found(&[Source::pages("the cluster", Held::ByServer, &[]), kept(&[])]), [""; 0]);
    assert!(verify(&[Source::pages("the cluster", Held::ByServer, &[])]).is_empty());
}

/// HIST-1: a chain that was made anew hangs together by itself, and differs from what somebody kept.
#[test]
fn a_history_made_anew_differs_from_what_was_kept() {
    let all = entries(5);
    let mut tip = Tip::default();
    let mut anew = |second| {
        let entry = tip.next(HOME, fact(second));
        tip = Tip::from(&entry);
        written(&entry)
    };
    let other: Vec<Value> = [0, 1, 7, 8, 9, 10].map(&mut anew).into();
    let now = Source::lines("now.jsonl", Held::Now, other.into_iter().enumerate());
    let said = "now.jsonl: entry 3 is another one than in kept.jsonl";
    assert_eq!(found(&[now, kept(&all)]), [said]);
}

/// HIST-1: the oldest pages go when there are too many, and what somebody kept of them says nothing else.
#[test]
fn what_the_operator_dropped_is_not_missed() {
    let all = entries((MOST_PAGES * MOST_ENTRIES) as i64 + 1);
    let server = |held: &[Value]| Source::pages("the cluster", Held::ByServer, &pages(held));
    assert_eq!(found(&[server(&all[200..]), kept(&all[..9000])]), [""; 0]);
    // Kept up to where the rest begins: the seam connects the two.
    assert_eq!(found(&[server(&all[200..]), kept(&all[..200])]), [""; 0]);
    // Kept before, and older than everything that is left: nobody can tell whether it is the same history.
    let said = "the cluster: nothing connects it with kept.jsonl, which ends at 100: entries 101 to 200 are held by nobody";
    assert_eq!(found(&[server(&all[200..]), kept(&all[..100])]), [said]);
    let mut tip = Tip { number: 200, hash: "f".repeat(64) };
    let forged: Vec<Value> = (0..(MOST_PAGES * MOST_ENTRIES) as i64 - 199)
        .map(|second| {
            let entry = tip.next(HOME, fact(second));
            tip = Tip::from(&entry);
            written(&entry)
        })
        .collect();
    let said = "the cluster: entry 201 does not follow the last one in kept.jsonl";
    assert_eq!(found(&[server(&forged), kept(&all[..200])]), [said]);
    assert_eq!(found(&[server(&all[400..]), kept(&all[..9000])]).len(), 1, "one page too many");
    assert_eq!(found(&[server(&all[201..])]).len(), 1, "no page begins there");
    // Of an export nobody knows that it is everything.
    let lines = all[400..].iter().cloned().enumerate();
    assert_eq!(found(&[Source::lines("some.jsonl", Held::Now, lines)]), [""; 0]);
}

/// HIST-1: an entry stands on the page that its number says, in the namespace whose history it is of.
#[test]
fn an_entry_that_was_moved_is_found() {
    let check = |change: &dyn Fn(&mut Value), expected: &str| {
        let mut page = pages(&entries(3)).remove(0);
        change(&mut page);
        assert_eq!(found(&[Source::pages("the cluster", Held::ByServer, [&page])]), [expected]);
    };
    check(
        &|page| page["metadata"]["namespace"] = "shop".into(),
        "the cluster: entry 1 is of the history of tidegate-system, and its page is in the namespace shop",
    );
    check(
        &|page| page["metadata"]["name"] = "history-000002".into(),
        "the cluster: entry 1 belongs to page history-000001, and stands on history-000002",
    );
}

/// HIST-1: what a later version wrote is not broken, and named.
#[test]
fn what_this_build_cannot_read_is_named() {
    let mut all = entries(2);
    all[1]["what"] = "Foretold".into();
    all[1]["hash"] = hash(&all[1]).into();
    let lines = all.into_iter().enumerate();
    let found = verify(&[Source::lines("export", Held::Now, lines)]).remove(0);
    assert_eq!((found.broken, found.unread, found.entries), (None, vec![2], 2));
}
