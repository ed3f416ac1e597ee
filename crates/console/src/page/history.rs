//! What happened, who did it, and is the record of it as it was written? (HIST-1) Newest first, by object and time.

use api::record::{Entry, What};
use maud::{Markup, html};
use schedule::{Date, Instant, TimeOfDay};
use tidegate_core::history::{
    verify::Verified,
    wanted::{Called, Wanted},
};
use views::{
    history::{self, History},
    spoken,
};

use super::{Here, Page};
use crate::{
    asked::{Asked, query},
    draw::{cut, free, icon, when},
    record::{Record, Records},
    view::View,
};

/// How many entries a page shows.
const SHOWN: usize = 100;

/// What somebody asks for, and what of that cannot be read.
pub(crate) struct Question {
    pub(crate) wanted: Wanted,
    wrong: Vec<(&'static str, String)>,
}

impl Question {
    /// Reads the fields of a query. A day is one of the reader's zone.
    pub(crate) fn new(view: &View<'_>, asked: &Asked) -> Self {
        let mut wrong = Vec::new();
        let objects = match asked.query.get("object").map(Called::read) {
            None => Vec::new(),
            Some(Ok(called)) => vec![called],
            Some(Err(why)) => {
                wrong.push(("object", why));
                Vec::new()
            }
        };
        let mut moment = |name: &'static str| {
            let text = asked.query.get(name)?;
            let midnight = || {
                let date = Date::parse(text).ok()?;
                let begins = TimeOfDay::parse("00:00").ok()?;
                Some(view.zone.first_instant_of(date, begins))
            };
            let found = Instant::parse(text).ok().or_else(midnight);
            if found.is_none() {
                let why = format!("{text:?} is no day and no instant: write 2026-11-18");
                wrong.push((name, why));
            }
            found
        };
        let (from, until) = (moment("from"), moment("until"));
        Self { wanted: Wanted { objects, from, until }, wrong }
    }

    fn wrong(&self, field: &str) -> Option<&str> {
        self.wrong.iter().find(|(name, _)| *name == field).map(|(_, why)| why.as_str())
    }
}

/// The page.
pub(crate) fn page(view: &View<'_>, asked: &Asked, records: &Records) -> Page {
    let said = match records {
        Records::Read(record) => record.verified.sentence(),
        Records::Off => "Nothing is recorded: the history is switched off.".to_owned(),
        Records::Unread(_) => "The record cannot be read.".to_owned(),
    };
    let title = match records {
        Records::Read(record) => format!("{} entries", spoken::thousands(record.entries.len())),
        Records::Off | Records::Unread(_) => "no history".to_owned(),
    };
    let mut page = Page::new(Here::History, title, said);
    page.add("answer", answer(&page.said, records));
    match records {
        Records::Read(record) if !record.entries.is_empty() => {
            let question = Question::new(view, asked);
            page.add("chains", chains(&record.verified.chains));
            page.add("entries", entries(view, asked, record, &question));
        }
        Records::Read(_) | Records::Off => page.add("how", how()),
        Records::Unread(_) => {}
    }
    page
}

fn answer(said: &str, records: &Records) -> Markup {
    html! {
        div id="answer" class="answer" { div class="words" {
            h1 { (free(said)) }
            @match records {
                Records::Read(record) if record.entries.is_empty() => p {
                    "The kind ChangeRecord is there, and no operator has written to it."
                },
                Records::Read(_) => p {
                    "What the operator recorded of gates, changes, freezes and overrides, as it was when this page was asked for. The record is tamper-evident, not tamper-proof: keep an export elsewhere, and "
                    code { "tidegate history verify" } " compares."
                },
                Records::Off => p { "This cluster has no kind ChangeRecord." },
                Records::Unread(why) => p { (free(why)) },
            }
        } }
    }
}

/// How it is switched on.
fn how() -> Markup {
    html! {
        section id="how" class="card empty" {
            h2 { "How to switch it on" }
            p class="second" {
                "Install Tidegate with " code { "history.enabled=true" } ": "
                code { "helm upgrade tidegate deploy/chart --reuse-values --set history.enabled=true" }
                ". From then on the operator appends what happens; what happened before is recorded as far as objects remember it."
            }
        }
    }
}

/// Each history, and the first link of it that does not hold.
fn chains(chains: &[Verified]) -> Markup {
    html! {
        section id="chains" class=(if chains.iter().any(|one| one.broken.is_some()) { "card alarm" } else { "card" }) aria-labelledby="chains-title" {
            header { h2 id="chains-title" { "Does it hold?" } span class="aside" { "by namespace" } }
            ul class="list" { @for one in chains { li {
                @if one.broken.is_some() { (icon::triangle()) } @else { (icon::disc()) }
                div class="body" {
                    div {
                        b { (free(history::named(one))) } ": "
                        @match &one.broken {
                            None => { "intact; " (history::held(one)) },
                            Some(broken) => {
                                "broken: " (free(&broken.why))
                                @if let Some(page) = &broken.page { ", on page " (free(page)) }
                                "; " (history::held(one))
                            },
                        }
                    }
                    @if one.first > 1 && one.broken.is_none() {
                        div class="second" { "Older entries, up to " (one.first - 1) ", are not there any more." }
                    }
                    @if !one.last.1.is_empty() {
                        div class="second" { "The last hash that holds is " span class="mono" { (free(&one.last.1)) } }
                    }
                }
            } } }
        }
    }
}

fn entries(view: &View<'_>, asked: &Asked, record: &Record, question: &Question) -> Markup {
    let history = History::new(&record.entries, &question.wanted);
    let mut found: Vec<&Entry> = history.in_time().collect();
    found.reverse();
    let place = |entry: &&Entry| format!("{}/{}", entry.chain, entry.number);
    let after = asked.query.get("after");
    let begins = after
        .and_then(|after| found.iter().position(|entry| place(entry) == after))
        .map_or(0, |at| at + 1);
    let shown: Vec<&Entry> = found.iter().skip(begins).take(SHOWN).copied().collect();
    let more = begins + shown.len() < found.len();
    let last = shown.last().filter(|_| more).map(place);
    html! {
        section id="entries" class="card" aria-labelledby="entries-title" {
            header {
                h2 id="entries-title" { "Entries" }
                span class="count" {
                    @if found.len() == history.of { (spoken::thousands(history.of)) }
                    @else { (spoken::thousands(found.len())) " of " (spoken::thousands(history.of)) }
                }
                a class="end button small" href=(export(asked)) download="history.jsonl" { "Export as JSON lines" }
            }
            div class="pad" { (form(view, asked, question)) }
            @if !history.unreadable.is_empty() {
                p class="pad second" { (history.unreadable.len()) " entries cannot be read here and are not shown." }
            }
            @if shown.is_empty() {
                p class="pad second" { "Nothing is recorded of that." }
            } @else {
                table class="gates entries" {
                    thead { tr {
                        th class="since" scope="col" { "When" }
                        th class="phase" scope="col" { "What" }
                        th class="what" scope="col" { "Object" }
                        th class="why" scope="col" { "Change, and why" }
                        th class="waits" scope="col" { "By" }
                    } }
                    tbody { @for entry in &shown { (row(view, entry)) } }
                }
            }
            @if let Some(last) = last {
                footer class="pages" { span {} a href=(asked.with("after", Some(&last))) { "The hundred before" } }
            }
        }
    }
}

/// Where the same entries are as lines.
fn export(asked: &Asked) -> String {
    let fields: Vec<(&str, &str)> = ["object", "from", "until"]
        .into_iter()
        .filter_map(|name| Some((name, asked.query.get(name)?)))
        .collect();
    match fields.as_slice() {
        [] => "/history.jsonl".to_owned(),
        fields => format!("/history.jsonl?{}", query(fields)),
    }
}

fn form(view: &View<'_>, asked: &Asked, question: &Question) -> Markup {
    let value = |name: &str| asked.query.get(name).map(cut);
    let zone = spoken::place(view.zone);
    let fields = [
        ("object", "Object".to_owned(), "mcp/worker"),
        ("from", format!("From (day in {zone})"), "2026-11-01"),
        ("until", format!("Until before (day in {zone})"), "2026-12-01"),
    ];
    html! {
        form class="inline" action="/history" {
            @for (name, label, example) in &fields {
                div class="field" {
                    label for=(format!("by-{name}")) { (label) }
                    input id=(format!("by-{name}")) name=(name) value=[value(name)] placeholder=(example) autocomplete="off"
                        aria-invalid=[question.wrong(name).map(|_| "true")];
                    @if let Some(why) = question.wrong(name) { div class="wrong" { (free(why)) } }
                }
            }
            button class="small" { "Show" }
            @if asked.query.get("object").or(asked.query.get("from")).or(asked.query.get("until")).is_some() {
                a class="button small" href="/history" { "All" }
            }
        }
    }
}

fn row(view: &View<'_>, entry: &Entry) -> Markup {
    let object = history::object(entry);
    let at = Instant::parse(&entry.at).ok();
    let by = history::who(entry);
    html! {
        tr {
            td class="since" { @if let Some(at) = at { (when(at, view.at, view.zone)) } @else { (free(&entry.at)) } }
            td class="phase" { (sign(entry.what)) " " (entry.what.as_str()) }
            th class="what" scope="row" {
                span class="kind" { (free(&entry.chain)) " " (entry.number) }
                a href=(format!("/history?{}", query(&[("object", &object)]))) { (free(&object)) }
            }
            td class="why" {
                @if let Some(change) = &entry.change { span class="mono" { (free(change)) } ": " }
                (free(&entry.outcome))
                @if let Some(basis) = &entry.basis { span class="second" { (free(basis)) } }
            }
            td class="waits" { @if let Some(by) = by { (free(&by)) } @else { span class="second" { "—" } } }
        }
    }
}

fn sign(what: What) -> Markup {
    match what {
        What::Permitted | What::Finished => icon::disc(),
        What::Held | What::Removed | What::Initiated | What::Changed | What::Stands => icon::ring(),
        What::InitiatedOutside => icon::triangle(),
        What::Frozen | What::FreezeEnded => icon::flake(),
        What::Overridden | What::Approved | What::OverrideEnded => icon::diamond(),
    }
}

/// The entries that are asked for, as lines of JSON.
pub(crate) fn lines(view: &View<'_>, asked: &Asked, record: &Record) -> Result<String, String> {
    let question = Question::new(view, asked);
    if let Some((field, why)) = question.wrong.first() {
        return Err(format!("{field}: {why}"));
    }
    Ok(History::new(&record.entries, &question.wanted).lines())
}
