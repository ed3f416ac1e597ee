//! What stands around every page? Where one is, what time it is there, and the ways to the others.

use maud::{DOCTYPE, Markup, html};
use schedule::{Instant, Zone};
use sha2::{Digest as _, Sha256};
use views::spoken;

use super::{Here, Page, Part};
use crate::{
    asked::Asked,
    draw::{cut, icon, strip},
    session::digits,
    view::{Reading, View},
};

const PAGES: &[(Here, &str, &str)] = &[
    (Here::Now, "/", "Now"),
    (Here::Calendar, "/calendar", "Calendar"),
    (Here::Resources, "/resources", "Resources"),
    (Here::Pools, "/pools", "Pools"),
    (Here::Policies, "/policies", "Policies"),
    (Here::WhatIf, "/what-if", "What if"),
    (Here::Gates, "/gates", "What holds"),
    (Here::History, "/history", "History"),
];

const KEYS: &[(&str, &str)] = &[
    ("/", "search"),
    ("g n", "Now"),
    ("g c", "Calendar"),
    ("g r", "Resources"),
    ("g o", "Pools"),
    ("g p", "Policies"),
    ("g i", "What if"),
    ("g w", "What holds"),
    ("g h", "History"),
    ("t", "another zone"),
    ("f", "freeze"),
    ("o", "override"),
    ("arrows, PgUp, PgDn", "the days of a calendar"),
];

/// The speeds that people are offered.
const SPEEDS: &[u32] = &[1, 60, 600, 3600];

/// Every part of a page that may be sent again, those of the frame first.
pub(crate) fn parts(view: &View<'_>, asked: &Asked, page: Page) -> Vec<Part> {
    let mut parts = vec![
        Part { id: "bar", html: bar(view, asked) },
        Part { id: "where", html: place(view) },
        Part { id: "notes", html: notes(view.reading, view.at, view.zone) },
    ];
    parts.extend(page.parts);
    parts
}

/// A mark of what parts say: a page that has the same needs none of them.
pub(crate) fn mark(parts: &[Part]) -> String {
    let mut digest = Sha256::new();
    for part in parts {
        digest.update(part.html.0.as_bytes());
    }
    let digest: [u8; 32] = digest.finalize().into();
    digits(digest.get(..8).unwrap_or_default())
}

/// The whole page.
pub(crate) fn whole(view: &View<'_>, asked: &Asked, page: Page) -> Markup {
    let (title, here) = (title(&page), page.here);
    let parts = parts(view, asked, page);
    let mark = mark(&parts);
    let (bar, rest) = parts.split_at(1);
    let body = html! {
        body {
            a class="skip" href="#main" { "To the page" }
            (strip::hatch())
            @for part in bar { (part.html) }
            (top(view, asked, here))
            main id="main" class="wide" data-mark=(mark) data-at=(view.at.unix()) data-speed=(view.speed.unwrap_or(1)) {
                @for part in rest { (part.html) }
            }
            footer class="wide" {
                div class="bottom" {
                    span { "Tidegate " (env!("CARGO_PKG_VERSION")) }
                    form method="post" action="/leave" {
                        input type="hidden" name="token" value=(view.token);
                        button class="small" { "Leave" }
                    }
                    button class="small" type="button" data-keys="" { "Keys " kbd { "?" } }
                }
            }
            p id="spoken" class="unseen" role="status" aria-live="polite" {}
            dialog id="keys" aria-labelledby="keys-title" {
                h2 id="keys-title" { "Keys" }
                dl { @for (key, what) in KEYS { dt { kbd { (key) } } dd { (what) } } }
                form method="dialog" { button autofocus { "Close" } }
            }
        }
    };
    document(&title, &body)
}

/// The title of a page, with whose it is.
pub(crate) fn title(page: &Page) -> String {
    format!("{} · Tidegate", cut(&page.title))
}

/// A document with this body, and what every one of them brings along.
pub(crate) fn document(title: &str, body: &Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                title { (title) }
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                link rel="icon" href="/sign.svg";
                link rel="stylesheet" href="/console.css";
                script src="/console.js" defer {}
            }
            (body)
        }
    }
}

fn top(view: &View<'_>, asked: &Asked, here: Here) -> Markup {
    let current = |page: Here| (page == here).then_some("page");
    html! {
        header class="top" {
            div class="wide" {
                a class="brand" href="/" { (icon::sign()) "Tidegate" }
                nav class="nav" aria-label="Pages" {
                    ul { @for (page, path, name) in PAGES {
                        li { a href=(path) aria-current=[current(*page)] { (name) } }
                    } }
                }
                div class="tools" {
                    form class="search" action="/resources" role="search" {
                        input type="search" name="q" placeholder="Search" aria-label="Search resources"
                            value=[asked.query.get("q").map(cut)] autocomplete="off";
                        kbd aria-hidden="true" { "/" }
                    }
                    (zones(view, asked))
                }
            }
        }
    }
}

/// The zones in which times can be read.
fn zones(view: &View<'_>, asked: &Asked) -> Markup {
    let chosen = |zone: &Zone| if zone == view.zone { "true" } else { "false" };
    html! {
        form id="zones" method="post" action="/zone" {
            input type="hidden" name="token" value=(view.token);
            input type="hidden" name="back" value=(asked.with("", None));
            div class="segments" role="group" aria-label="Times in" {
                @for zone in view.zones {
                    button name="zone" value=(zone.name()) aria-pressed=(chosen(zone)) title=(zone.name()) {
                        (spoken::place(zone))
                    }
                }
            }
        }
    }
}

/// Where this is, and what time it is there.
fn place(view: &View<'_>) -> Markup {
    let View { at, zone, .. } = view;
    let date = spoken::short_date(zone.date_of(*at));
    let others = view.zones.iter().filter(|other| other != zone).take(2);
    // To the minute, as it is shown: a page that says the same is the same.
    let minute = at.saturating_add(-at.unix().rem_euclid(60));
    html! {
        p id="where" class="where" {
            b { (crate::draw::free(view.place)) }
            span { time datetime=(minute) { b { (date) " " (spoken::clock(*at, zone)) } } " " (spoken::place(zone)) }
            @for other in others {
                span { (spoken::clock(*at, other)) " " (spoken::place(other)) }
            }
            span id="light" class="live" { "live" }
        }
    }
}

/// What people should know about how well this is known.
fn notes(reading: &Reading, at: Instant, zone: &Zone) -> Markup {
    let Reading { unread, refused, stale_since, .. } = reading;
    html! {
        div id="notes" {
            @if let Some(since) = stale_since {
                p class="said alarm" {
                    "The cluster has not answered since " (spoken::when(*since, at, zone))
                    ". What you see was true then. Windows still open and close by themselves."
                }
            }
            @if !unread.is_empty() {
                p class="said" { "Not everything has been read yet: " (unread.join(", ")) "." }
            }
            @if !refused.is_empty() {
                p class="said alarm" { "You may not list " (refused.join(", ")) ", so nothing of them is shown." }
            }
        }
    }
}

/// The clock of a sandbox, in people's hands.
fn bar(view: &View<'_>, asked: &Asked) -> Markup {
    let Some(speed) = view.speed else { return html! { div id="bar" hidden {} } };
    let pressed = |is: bool| if is { "true" } else { "false" };
    html! {
        aside id="bar" class="bar" aria-label="Sandbox" {
            div class="wide" {
                span {
                    "This is a sandbox. It is " b { (spoken::short_date(view.zone.date_of(view.at))) " "
                    (spoken::clock(view.at, view.zone)) } " here."
                }
                form method="post" action="/clock" {
                    input type="hidden" name="token" value=(view.token);
                    input type="hidden" name="back" value=(asked.with("", None));
                    @if speed == 0 {
                        button name="turn" value="resume" { "▶ Go on" }
                    } @else {
                        button name="turn" value="pause" { "‖ Pause" }
                    }
                    button name="turn" value="step 3600" { "1 h ▸" }
                    button name="turn" value="step 86400" { "1 d ▸" }
                    button name="turn" value="edge" { "to the next edge ▸▸" }
                    span class="gap" { "Speed" }
                    @for known in SPEEDS {
                        button name="turn" value=(format!("speed {known}")) aria-pressed=(pressed(*known == speed)) {
                            (known) "×"
                        }
                    }
                }
            }
        }
    }
}
