//! Rows of entries, and the page that tells whether they hold.

use serde_json::{Value, json};
use tidegate_core::history::{
    chain,
    verify::{Held, Source},
};

use super::{World, cluster, says, shown};
use crate::{
    asked::Asked,
    page::{Page, history},
    record::{Record, Records},
    view::View,
};

/// A history of so many entries, each with its hash.
fn entries(count: i64, text: &str) -> Vec<Value> {
    let mut all: Vec<Value> = Vec::new();
    for number in 1..=count {
        let previous =
            all.last().map_or("0".repeat(64), |last| last["hash"].as_str().unwrap().to_owned());
        let mut entry = json!({"number": number, "chain": "tidegate", "at": format!("2026-11-{:02}T21:00:00Z", number % 28 + 1),
            "what": "Frozen", "subject": {"kind": "MachineConfigPool", "name": format!("pool-{}", number % 2)},
            "change": "rendered-b", "basis": text, "by": text, "outcome": text, "previousHash": previous});
        let hash = chain::hash(&entry);
        entry["hash"] = json!(hash);
        all.push(entry);
    }
    all
}

fn of(entries: Vec<Value>) -> Records {
    Records::Read(Record::new(Source::lines(
        "the cluster",
        Held::Now,
        entries.into_iter().enumerate(),
    )))
}

/// A history that somebody tries to write elements with.
pub(super) fn hostile(view: &View<'_>, asked: &Asked) -> Page {
    let text = format!("<script>alert(1)</script>\"'>\u{202e}{}", "x".repeat(1_000));
    history::page(view, asked, &of(entries(3, &text)))
}

fn whole(view: &View<'_>, asked: &Asked) -> Page {
    history::page(view, asked, &of(entries(250, "Black Friday")))
}

fn rewritten(view: &View<'_>, asked: &Asked) -> Page {
    let mut entries = entries(9, "Black Friday");
    entries[4]["outcome"] = json!("nothing happened");
    history::page(view, asked, &of(entries))
}

/// HIST-1
#[test]
fn a_history_says_whether_it_holds_and_what_happened() {
    let world = World::from(cluster(1, 1));
    let page = shown(&world, "/history", whole);
    says(&page, "<h1><bdi>The record is as it was written: all 250 entries hold.</bdi></h1>");
    says(&page, "entries 1 to 250 hold");
    says(&page, "href=\"/history.jsonl\" download=\"history.jsonl\"");
    assert_eq!(page.matches("<tr>").count(), 101);
    says(&page, "Frozen");
    says(&page, "Black Friday");
    // The next page begins where this one ends.
    let (_, after) = page.rsplit_once("after=").unwrap();
    let after = after.split('"').next().unwrap();
    let second = shown(&world, &format!("/history?after={after}"), whole);
    assert_eq!(second.matches("<tr>").count(), 101);
    let (_, after) = second.rsplit_once("after=").unwrap();
    let third =
        shown(&world, &format!("/history?after={}", after.split('"').next().unwrap()), whole);
    assert_eq!(third.matches("<tr>").count(), 51);
    assert!(!third.contains("The hundred before"), "that is all");
}

#[test]
fn entries_are_found_by_object_and_time() {
    let world = World::from(cluster(1, 1));
    let page = shown(&world, "/history?object=mcp/pool-1&from=2026-11-02&until=2026-11-03", whole);
    // Every 28th of 250, beginning with the first, and only those with an odd number.
    says(&page, "9 of 250");
    assert!(!page.contains("<bdi>MachineConfigPool/pool-0</bdi>"));
    says(&page, "/history.jsonl?object=mcp%2Fpool-1&amp;from=2026-11-02&amp;until=2026-11-03");
    says(&shown(&world, "/history?object=mcp/gone", whole), "Nothing is recorded of that.");
    let page = shown(&world, "/history?object=elephant&until=soon", whole);
    says(&page, "nothing is recorded of a kind");
    says(&page, "is no day and no instant: write 2026-11-18");
}

/// HIST-1: the first link that does not hold is named.
#[test]
fn a_rewritten_history_is_told() {
    let world = World::from(cluster(1, 1));
    let page = shown(&world, "/history", rewritten);
    says(&page, "The record of tidegate is broken: entry 5 is not as it was written");
    says(&page, "on page <bdi>history-000001</bdi>; entries 1 to 4 hold");
}

#[test]
fn a_history_that_is_off_says_how_it_is_switched_on() {
    let world = World::from(cluster(1, 1));
    let off = |view: &View<'_>, asked: &Asked| history::page(view, asked, &Records::Off);
    let page = shown(&world, "/history", off);
    says(&page, "Nothing is recorded: the history is switched off.");
    says(&page, "history.enabled=true");
    let unread = |view: &View<'_>, asked: &Asked| {
        history::page(view, asked, &Records::Unread("changerecords is forbidden".into()))
    };
    let page = shown(&world, "/history", unread);
    says(&page, "The record cannot be read.");
    says(&page, "changerecords is forbidden");
    let empty = |view: &View<'_>, asked: &Asked| history::page(view, asked, &of(Vec::new()));
    says(&shown(&world, "/history", empty), "Nothing is recorded.");
}
