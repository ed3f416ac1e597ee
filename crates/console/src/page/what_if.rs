//! When would what waits be done, and which pool never gets there? The forecast of `tidegate simulate` for the cluster that is shown.

use std::ops::Range;

use maud::{Markup, html};
use schedule::Instant;
use tidegate_core::simulate::{Arrival, Course, Forecast, PoolChange, Settings, Single, foresight};
use views::{
    pool,
    simulation::{spoken as said, words},
    spoken, text,
};

use super::{Here, Page, pool::path, rows};
use crate::{
    asked::Asked,
    draw::{
        countdown, course, cut, free, icon,
        strip::{self, Strip},
        when,
    },
    forecast::{EVERY, Outcome, SPANS},
    view::View,
};

/// How many pools a page shows, and how many resources that are one step.
const SHOWN: usize = 50;

/// How many changes of a pool are told, at the beginning and at the end.
const FIRST: usize = 3;
const LAST: usize = 2;

/// The page.
pub(crate) fn page(view: &View<'_>, asked: &Asked, outcome: &Outcome) -> Page {
    let (title, sentence) = match outcome {
        Outcome::Told(told) => (said::title(&told.0), said::sentence(&told.0, &told.1, view.zone)),
        Outcome::Untold(_) => ("not told".to_owned(), "This is not told here.".to_owned()),
    };
    let mut page = Page::new(Here::WhatIf, title, sentence);
    page.add("answer", answer(view, &page.said, outcome));
    page.add("question", question(view, asked));
    if let Outcome::Told(told) = outcome {
        let (forecast, settings) = &**told;
        page.add("blocks", blocks(forecast));
        page.add("singles", singles(view, forecast));
        page.add("courses", courses(view, asked, forecast, settings));
    }
    page
}

fn answer(view: &View<'_>, said: &str, outcome: &Outcome) -> Markup {
    html! {
        div id="answer" class="answer" { div class="words" {
            h1 { (free(said)) }
            @match outcome {
                Outcome::Untold(why) => p { (free(why)) "." },
                Outcome::Told(told) => {
                    @let (forecast, settings) = &**told;
                    p {
                        "From " (when(settings.range.start, view.at, view.zone)) " until " (when(settings.range.end, view.at, view.zone))
                        "; nodes drain in about " (text::length(settings.lengths.drain)) " and are back about "
                        (text::length(settings.lengths.reboot)) " later. Nothing is written anywhere."
                    }
                    @if let Some(begun) = &forecast.under_way {
                        p { (free(begun)) " is under way, and how long it takes is not simulated." }
                    }
                },
            }
        } }
    }
}

/// What can be asked.
fn question(view: &View<'_>, asked: &Asked) -> Markup {
    let chosen =
        |name: &str, value: &str, usual: &str| asked.query.get(name).unwrap_or(usual) == value;
    html! {
        section id="question" class="card" aria-label="What is supposed" {
            div class="pad" {
                form class="inline" action="/what-if" {
                    div class="field" {
                        label for="for" { "How far ahead" }
                        select id="for" name="for" { @for (value, words, _) in SPANS {
                            option value=(value) selected[chosen("for", value, "1y")] { (words) }
                        } }
                    }
                    div class="field" {
                        label for="every" { "What arrives" }
                        select id="every" name="every" {
                            option value="" selected[chosen("every", "", "")] { "nothing new" }
                            @for (value, words, _) in EVERY { option value=(value) selected[chosen("every", value, "")] { (words) } }
                        }
                    }
                    div class="field" {
                        label for="pool" { "Where" }
                        select id="pool" name="pool" {
                            option value="" { "in every pool" }
                            @for pool in view.snapshot.pools().take(SHOWN) {
                                option value=(cut(&pool.name)) selected[chosen("pool", &pool.name, "")] { (cut(&pool.name)) }
                            }
                        }
                    }
                    button class="small" { "What then?" }
                }
            }
        }
    }
}

/// What will be in the way of updates of the control plane (CV-3).
fn blocks(forecast: &Forecast) -> Markup {
    let hops = forecast.updates.iter().flat_map(|updates| &updates.hops);
    let told: Vec<(String, String)> = hops
        .flat_map(|hop| hop.blocks.iter().map(move |block| foresight::sentence(hop, block)))
        .collect();
    html! {
        section id="blocks" class="card alarm" aria-labelledby="blocks-title" hidden[told.is_empty()] {
            header { h2 id="blocks-title" { "In the way of an update" } span class="count" { (told.len()) } }
            ul class="list" { @for (reason, hint) in told.iter().take(SHOWN) { li {
                (icon::triangle())
                div class="body" { div { (free(reason)) } div class="second" { (free(hint)) } }
            } } }
        }
    }
}

/// What is one step: an update of a control plane, or of hosted nodes.
fn singles(view: &View<'_>, forecast: &Forecast) -> Markup {
    let others = &forecast.others;
    html! {
        section id="singles" class="card" aria-labelledby="singles-title" hidden[others.is_empty()] {
            header { h2 id="singles-title" { "Starts" } span class="count" { (spoken::thousands(others.len())) } }
            ul class="list" { @for single in others.iter().take(SHOWN) { (starts(view, single)) } }
            @if others.len() > SHOWN { footer { "and " (spoken::thousands(others.len() - SHOWN)) " more" } }
        }
    }
}

fn starts(view: &View<'_>, single: &Single) -> Markup {
    html! {
        li {
            span class="when" { @match single.starts {
                Some(at) => (when(at, view.at, view.zone)),
                None => "not in this time",
            } }
            @if single.starts.is_some() { (icon::disc()) } @else { (icon::ring()) }
            div class="body" {
                div { b { (free(&single.object.to_string())) } ": " (free(&single.waiting.join("; "))) }
                div class="second" { (free(&single.reason)) }
            }
        }
    }
}

fn courses(view: &View<'_>, asked: &Asked, forecast: &Forecast, settings: &Settings) -> Markup {
    let only = asked.query.get("pool");
    let is_shown =
        |course: &&Course| only.is_none_or(|only| course.object.name.as_deref() == Some(only));
    let shown: Vec<&Course> = forecast.pools.iter().filter(is_shown).collect();
    html! {
        div id="courses" {
            @for course in shown.iter().take(SHOWN) { (drawn(view, course, settings)) }
            @if shown.len() > SHOWN { p class="second" { "and " (spoken::thousands(shown.len() - SHOWN)) " pools more" } }
        }
    }
}

/// The period, with the firsts of its months.
fn months(view: &View<'_>, range: &Range<Instant>) -> Vec<Instant> {
    let days = i32::try_from((range.end.unix() - range.start.unix()) / 86_400 + 1).unwrap_or(366);
    let (_, midnights) = strip::days(range.start, days, view.zone);
    let every = |at: &Instant| {
        let date = view.zone.date_of(*at);
        if days > 100 { date.day() == 1 } else { date.weekday() == schedule::Weekday::Monday }
    };
    midnights.into_iter().filter(|at| range.contains(at) && every(at)).collect()
}

fn drawn(view: &View<'_>, course: &Course, settings: &Settings) -> Markup {
    let name = course.object.name.as_deref().unwrap_or_default();
    let range = settings.range.clone();
    let marks = months(view, &range);
    let pieces = rows::pieces(view, &range, &pool::key(name));
    let label = strip::label(&pieces, view.at, view.zone);
    let line =
        Strip { pieces: &pieces, range: range.clone(), marks: &marks, now: None, height: 26 };
    let reason = words::reason(course, settings);
    html! {
        section class=(if course.verdict.is_fine() { "card" } else { "card alarm" }) {
            header {
                @if course.verdict.is_fine() { (icon::disc()) } @else { (icon::triangle()) }
                h2 { a href=(path(name)) { (free(name)) } }
                span class="aside" { (free(&words::result(course))) }
            }
            div class="pad" {
                div class="course" {
                    (super::resource::weeks(view, &range, &marks))
                    (line.draw(&label))
                    (course::lane(course, &range, &words::result(course)))
                }
                @if let Some((reason, hint)) = &reason {
                    p { (free(reason)) }
                    p class="second" { (free(hint)) }
                }
                dl class="sums inline-sums" {
                    dt { "Nodes" } dd { (spoken::thousands(course.machines.len())) ", " (course.at_once) " at once" }
                    dt { "Open in this time" } dd { (text::hours(course.open)) " in " (words::windows(course.windows)) }
                    dt { "One change needs" } dd { (text::length(course.need)) }
                }
            }
            (changes(view, course))
            footer { ul class="key" { (course::key()) } }
        }
    }
}

fn changes(view: &View<'_>, course: &Course) -> Markup {
    let count = course.changes.len();
    let whole = count <= FIRST + LAST + 1;
    let first = if whole { count } else { FIRST };
    html! {
        ul class="list" hidden[count == 0] {
            @for change in course.changes.iter().take(first) { (told(view, course, change)) }
            @if !whole {
                li { span class="second" { (count - FIRST - LAST) " more" } }
                @for change in course.changes.iter().skip(count - LAST) { (told(view, course, change)) }
            }
        }
    }
}

fn told(view: &View<'_>, course: &Course, change: &PoolChange) -> Markup {
    let arrives = match change.arrival {
        Arrival::Pending => html! { "waits now" },
        Arrival::At(at) => when(at, view.at, view.zone),
    };
    html! {
        li {
            span class="when" { (arrives) }
            @if change.finished.is_some() { (icon::disc()) } @else { (icon::ring()) }
            div class="body" {
                div {
                    span class="mono" { (free(&change.config)) } ": "
                    @match change.started {
                        Some(at) => { "starts " (when(at, view.at, view.zone)) " (" (countdown(at, view.at)) ")" },
                        None => "does not start in this time",
                    }
                    @match (change.finished, change.superseded) {
                        (Some(at), _) => { ", done " (when(at, view.at, view.zone)) },
                        (None, Some(at)) => { ", superseded " (when(at, view.at, view.zone)) },
                        (None, None) => { ", not done in this time" },
                    }
                }
                div class="second" {
                    (change.runs.len()) " of " (course.machines.len()) " nodes, in " (words::windows(change.windows(&course.gate)))
                }
            }
        }
    }
}
