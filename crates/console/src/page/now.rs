//! What is the case, and does it need me? The answer as a sentence, what needs somebody, the gates on a week, what comes next.

use maud::{Markup, html};
use tidegate_core::document::key::Key;
use views::{
    now::{Deed, Edge, Manner, Trouble, Turn},
    spoken,
};

use super::{
    Here, Page,
    rows::{self, Days},
};
use crate::{
    asked::{Asked, called, link, query},
    draw::{free, icon, strip, when},
    view::View,
};

/// From so many resources on causes are shown instead of resources.
const MANY: usize = 30;

/// How many rows or causes a page shows.
const SHOWN: usize = 100;

/// How many troubles are shown before the rest is counted.
const TROUBLES: usize = 5;

/// The page.
pub(crate) fn page(view: &View<'_>, asked: &Asked) -> Page {
    let now = view.now;
    let said = if view.reading.unread.is_empty() || now.counts.total > 0 {
        now.sentence(view.at, view.zone)
    } else {
        "Not everything has been read yet.".to_owned()
    };
    let mut page = Page::new(Here::Now, now.title(), said);
    page.add("answer", answer(view, &page.said));
    page.add("troubles", troubles(view, asked));
    page.add("gates", gates(view, asked));
    page.add("lower", lower(view));
    page
}

fn answer(view: &View<'_>, said: &str) -> Markup {
    html! {
        div id="answer" class="answer" {
            div class="words" {
                h1 { (said) }
                p { (view.now.details(view.at, view.zone).join(" ")) }
            }
            div class="deeds" {
                a class="button" data-key="o" href="/override" { "Override…" }
                a class="button frost" data-key="f" href="/freeze" { (icon::flake()) "Freeze now…" }
            }
        }
    }
}

fn troubles(view: &View<'_>, asked: &Asked) -> Markup {
    let troubles = &view.now.troubles;
    let all = asked.query.get("troubles") == Some("all");
    let shown = if all { SHOWN } else { TROUBLES };
    html! {
        section id="troubles" class="card alarm" aria-labelledby="troubles-title" hidden[troubles.is_empty()] {
            header {
                h2 id="troubles-title" { "Needs somebody" } span class="count" { (troubles.len()) }
                @if troubles.len() > shown {
                    a class="end" href=(asked.with("troubles", Some("all"))) { "All " (troubles.len()) }
                }
            }
            ul class="list" { @for trouble in troubles.iter().take(shown) { (told(trouble)) } }
        }
    }
}

fn told(trouble: &Trouble) -> Markup {
    let Trouble { object, count, what, meaning } = trouble;
    html! {
        li {
            (icon::triangle())
            div class="body" {
                div {
                    b { (name(object)) @if *count > 1 { " and " (spoken::thousands(count - 1)) " more" } } ": " (free(what))
                }
                div class="second" { (meaning) }
            }
            div class="acts" { a class="button small" href=(link(object)) { "Why?" span class="unseen" { " " (name(object)) } } }
        }
    }
}

fn name(key: &Key) -> Markup {
    free(&key.to_string())
}

/// Which resources are shown.
const FILTERS: &[(&str, &str)] =
    &[("all", "All"), ("held", "Held"), ("open", "Open"), ("changes", "With changes")];

fn gates(view: &View<'_>, asked: &Asked) -> Markup {
    let counts = view.now.counts;
    if counts.total == 0 {
        return html! {
            section id="gates" class="card empty" {
                h2 { "Nothing is gated yet." }
                p class="second" {
                    "A policy says when; three lines in a resource name it: "
                    code { "spec.changeManagement: {strategy: ByPolicy, byPolicy: {name: weekend}}" }
                }
            }
        };
    }
    let filter = asked.query.get("show").unwrap_or("all");
    let grouped = match asked.query.get("by") {
        Some("cause") => true,
        Some(_) => false,
        None => counts.total > MANY,
    };
    let days = Days::of(view);
    let count = |filter: &str| match filter {
        "held" => counts.held(),
        "open" => counts.open,
        "changes" => counts.waiting,
        _ => counts.total,
    };
    let chosen = |is: bool| is.then_some("true");
    html! {
        section id="gates" class="card" aria-labelledby="gates-title" {
            header {
                h2 id="gates-title" { "Gates" }
                @if grouped { span class="aside" { "by cause" } }
                nav class="chips" aria-label="Which gates" {
                    @for (value, word) in FILTERS {
                        a href=(asked.with("show", Some(value).filter(|value| **value != "all").copied()))
                            aria-current=[chosen(*value == filter)] { (word) " " (spoken::thousands(count(value))) }
                    }
                }
                @if counts.total > MANY {
                    div class="segments small" role="group" aria-label="Grouped by" {
                        a href=(asked.with("by", Some("cause"))) aria-current=[chosen(grouped)] { "Cause" }
                        a href=(asked.with("by", Some("none"))) aria-current=[chosen(!grouped)] { "None" }
                    }
                }
            }
            @if grouped { (causes(view, &days, filter)) } @else { (each(view, &days, filter)) }
            footer { (strip::key()) }
        }
    }
}

fn causes(view: &View<'_>, days: &Days, filter: &str) -> Markup {
    let shown = view.now.causes.iter().filter(|cause| match filter {
        "held" => !matches!(cause.key.manner, Manner::Open | Manner::Overridden),
        "open" => matches!(cause.key.manner, Manner::Open | Manner::Overridden),
        "changes" => cause.waiting > 0,
        _ => true,
    });
    let body = html! { @for cause in shown.take(SHOWN) { (rows::cause(view, days, cause)) } };
    rows::table(view, days, "How many", &body)
}

fn each(view: &View<'_>, days: &Days, filter: &str) -> Markup {
    let shown = view.rows.resources.iter().filter(|row| match (filter, Manner::of(row)) {
        ("open", manner) => matches!(manner, Manner::Open | Manner::Overridden),
        ("held", manner) => !matches!(manner, Manner::Open | Manner::Overridden),
        ("changes", _) => !row.pending.waiting.is_empty(),
        _ => true,
    });
    let body = html! { @for row in shown.take(SHOWN) { (rows::resource(view, days, row)) } };
    html! {
        (rows::table(view, days, "Resource", &body))
        @if view.rows.resources.len() > SHOWN {
            footer { a href="/resources" { "All " (spoken::thousands(view.rows.resources.len())) " resources" } }
        }
    }
}

fn lower(view: &View<'_>) -> Markup {
    html! {
        div id="lower" class="pair" {
            section class="card" aria-labelledby="next-title" {
                header { h2 id="next-title" { "Next" } }
                @if view.now.edges.is_empty() {
                    p class="pad second" { "Nothing opens or shuts by itself." }
                } @else {
                    ul class="list" { @for edge in &view.now.edges { (next(view, edge)) } }
                }
            }
            section class="card" aria-labelledby="deeds-title" {
                header { h2 id="deeds-title" { "Done by people" } }
                @if view.now.deeds.is_empty() {
                    p class="pad second" { "No freeze and no override is in force or ahead." }
                } @else {
                    ul class="list" { @for deed in &view.now.deeds { (done(view, deed)) } }
                }
            }
        }
    }
}

fn next(view: &View<'_>, edge: &Edge) -> Markup {
    let icon = match edge.turn {
        Turn::Opens => icon::disc(),
        Turn::Shuts => icon::ring(),
        Turn::FreezeBegins | Turn::FreezeEnds => icon::flake(),
        Turn::OverrideEnds => icon::diamond(),
    };
    let length = edge.until.map(|until| spoken::short_length(until.unix() - edge.at.unix()));
    html! {
        li {
            span class="when" { (when(edge.at, view.at, view.zone)) }
            (icon)
            div class="body" {
                div {
                    b { (free(&edge.first.to_string())) }
                    @if edge.count > 1 { " and " (spoken::count(edge.count - 1)) " more" }
                    " " (edge.turn.word()) @if let Some(length) = length { " for " (length) }
                }
                @if edge.turn == Turn::Opens {
                    div class="second" {
                        @match edge.waiting {
                            0 => "nothing waits for it",
                            1 => "one change waits for it",
                            many => { (spoken::count(many)) " changes wait for it" },
                        }
                    }
                }
            }
        }
    }
}

fn done(view: &View<'_>, deed: &Deed) -> Markup {
    let begins = |from| when(from, view.at, view.zone);
    let who = deed.by.as_deref().unwrap_or("somebody");
    html! {
        li {
            span class="when" { @if let Some(from) = deed.from { (begins(from)) } @else { "—" } }
            @if deed.stops { (icon::flake()) } @else { (icon::diamond()) }
            div class="body" {
                div {
                    (free(who)) @if deed.stops { @if deed.begun { " froze " } @else { " will freeze " } } @else { " opened " }
                    b { @match &deed.target {
                        Some(target) => (free(&target.to_string())),
                        None => (free(&deed.key.to_string())),
                    } }
                    @match deed.until {
                        Some(until) => { " until " (when(until, view.at, view.zone)) },
                        None => { " until further notice" },
                    }
                }
                div class="second" { "“" (free(&deed.reason)) "”" }
            }
            div class="acts" {
                a class="button small" href=(format!("/end?{}", query(&[("object", &ending(&deed.key))]))) {
                    "End…" span class="unseen" { " " (free(&deed.key.to_string())) }
                }
            }
        }
    }
}

/// A freeze or an override, as the page that ends it is asked for it.
fn ending(key: &Key) -> String {
    called(key)
}
