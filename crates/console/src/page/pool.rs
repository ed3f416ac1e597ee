//! How far is a pool? Its nodes live: what each has, is to have and waits for, who goes next and how many may be away.

use std::collections::BTreeMap;

use maud::{Markup, html};
use tidegate_core::cluster::phase::Phase;
use views::{
    now::Manner,
    pool::{self, NodeProgress, PoolProgress, words},
    spoken, status,
};

use super::{Here, Page, rows};
use crate::{
    asked::{Asked, called, encoded, link, query},
    draw::{free, icon, machine, when},
    view::View,
};

/// How many nodes a page shows.
const SHOWN: usize = 100;

/// How many signs a zone or a pool gets; what is more is counted.
const SIGNS: usize = 120;

/// How many of those who go next are named.
const NEXT: usize = 5;

/// The page: all pools, or one.
pub(crate) fn page(view: &View<'_>, asked: &Asked) -> Page {
    match asked.path.get(1..).unwrap_or_default() {
        [] => all(view),
        [name] => match pool::find(view.snapshot, name) {
            Ok(seen) => one(view, asked, &PoolProgress::new(seen, view.snapshot, view.at)),
            Err(why) => Page::missing(&why),
        },
        _ => Page::missing("a pool has no namespace"),
    }
}

fn all(view: &View<'_>) -> Page {
    let pools: Vec<PoolProgress> = pool::all(view.snapshot, view.at).collect();
    let said = words::sentence(&pools);
    let nodes: usize = pools.iter().map(|pool| pool.nodes.len()).sum();
    let done: usize = pools.iter().map(PoolProgress::done).sum();
    let mut page = Page::new(Here::Pools, format!("{done} of {nodes} nodes done"), said);
    let said = page.said.clone();
    page.add("answer", html! {
        div id="answer" class="answer" { div class="words" {
            h1 { (said) }
            p { "What " code { "tidegate worker-nodes status" } " tells. A node that was told to go finishes, whatever its gate does then." }
        } }
    });
    page.add("doubt", doubt(view));
    page.add("pools", html! { div id="pools" { @for pool in &pools { (card(view, pool)) } } });
    page
}

/// What is not known, and so must not be believed.
fn doubt(view: &View<'_>) -> Markup {
    let lacking = &view.reading.lacking;
    html! {
        div id="doubt" {
            @if !lacking.is_empty() {
                p class="said alarm" {
                    "Not read, or not yours to list: " (lacking.join(", "))
                    ". Without that nobody can tell here which nodes wait."
                }
            }
        }
    }
}

fn card(view: &View<'_>, pool: &PoolProgress) -> Markup {
    let signs = pool.nodes.iter().take(SIGNS).map(|node| (node.name.as_str(), &node.phase));
    html! {
        section class="card" {
            header {
                h2 { a href=(path(&pool.name)) { (free(&pool.name)) } }
                span class="count" { @if is_told(pool) { (pool.done()) " of " (pool.nodes.len()) " done" } @else { "cannot tell" } }
                @if let Some(row) = &pool.row {
                    span class="end" { (rows::state(view, Manner::of(row), status::end(row))) }
                }
            }
            div class="pad" {
                p { (free(&pool.sentence(view.at, view.zone))) }
                @if is_told(pool) { (machine::row(signs, &counted(&pool.nodes.iter().collect::<Vec<_>>()))) }
                @if pool.nodes.len() > SIGNS { p class="second" { "and " (spoken::thousands(pool.nodes.len() - SIGNS)) " more" } }
            }
        }
    }
}

/// Whether it is known where a pool goes: without that nobody can tell which of its nodes are there.
fn is_told(pool: &PoolProgress) -> bool {
    pool.target.is_some() && !pool.nodes.is_empty()
}

/// Where the page of a pool is.
pub(crate) fn path(name: &str) -> String {
    format!("/pools/{}", encoded(name))
}

fn one(view: &View<'_>, asked: &Asked, pool: &PoolProgress) -> Page {
    let said = pool.sentence(view.at, view.zone);
    let mut page = Page::new(Here::Pools, pool.title(), said);
    page.add("answer", answer(view, pool, &page.said));
    page.add("doubt", doubt(view));
    page.add("zones-of", zones(pool));
    page.add("nodes", nodes(view, asked, pool));
    page
}

fn answer(view: &View<'_>, pool: &PoolProgress, said: &str) -> Markup {
    let key = pool::key(&pool.name);
    let object = called(&key);
    html! {
        div id="answer" class="answer" {
            div class="words" {
                span class="second" { (key.kind().name) }
                h1 { (free(said)) }
                @if let Some(row) = &pool.row {
                    p {
                        (rows::state(view, Manner::of(row), status::end(row))) ": " (free(&row.behavior.current.reason)) ". "
                        a href=(link(&key)) { "Why?" }
                    }
                }
                p {
                    (pool.budget()) " "
                    @if let Some(next) = next(pool) { (next) }
                }
                @if let Some(target) = &pool.target { p { "It goes to " span class="mono" { (free(target)) } "." } }
            }
            div class="deeds" {
                a class="button" href=(format!("/calendar?{}", query(&[("subject", &object)]))) { "Calendar" }
                a class="button" href=(format!("/what-if?{}", query(&[("pool", &pool.name)]))) { "When is it done?" }
                a class="button" data-key="o" href=(format!("/override?{}", query(&[("object", &object)]))) { "Override…" }
                a class="button frost" data-key="f" href=(format!("/freeze?{}", query(&[("object", &object)]))) {
                    (icon::flake()) "Hold…"
                }
            }
        }
    }
}

/// Who goes next.
fn next(pool: &PoolProgress) -> Option<Markup> {
    let waiting = &pool.queue.as_ref()?.waiting;
    let first = waiting.first()?;
    Some(html! {
        "Next: " (free(first))
        @for name in waiting.iter().take(NEXT).skip(1) { ", " (free(name)) }
        @if waiting.len() > NEXT { " and " (spoken::thousands(waiting.len() - NEXT)) " more" }
        "."
    })
}

/// Nodes by the place where they stand.
fn zones(pool: &PoolProgress) -> Markup {
    let mut zones: BTreeMap<Option<&str>, Vec<&NodeProgress>> = BTreeMap::new();
    for node in &pool.nodes {
        zones.entry(node.zone.as_deref()).or_default().push(node);
    }
    html! {
        section id="zones-of" class="card" aria-labelledby="zones-title" hidden[!is_told(pool)] {
            header { h2 id="zones-title" { "By zone" } }
            ul class="list" { @for (zone, nodes) in &zones {
                @let signs = nodes.iter().take(SIGNS).map(|node| (node.name.as_str(), &node.phase));
                li {
                    span class="when" { @if let Some(zone) = zone { (free(zone)) } @else { "no zone" } }
                    div class="body" {
                        (machine::row(signs, &counted(nodes)))
                        span class="second" { (counted(nodes)) }
                    }
                }
            } }
            footer { (legend()) }
        }
    }
}

const PHASES: &[Phase] =
    &[Phase::Done, Phase::Applying, Phase::Draining(None), Phase::Waiting, Phase::Silent];

fn legend() -> Markup {
    html! {
        ul class="key" {
            @for phase in PHASES { li { (machine::phase(phase)) (phase.as_str()) } }
            li { (machine::phase(&Phase::Draining(Some(String::new())))) "draining, blocked" }
            li { (machine::phase(&Phase::Failing(String::new()))) "failing" }
        }
    }
}

/// `4 done, 2 waiting`.
fn counted(nodes: &[&NodeProgress]) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for node in nodes {
        *counts.entry(node.phase.as_str()).or_default() += 1;
    }
    let told = counts.iter().map(|(phase, count)| format!("{} {phase}", spoken::thousands(*count)));
    told.collect::<Vec<_>>().join(", ")
}

/// Those who need somebody first, then those under way, then those who wait in the order in which they go, then the rest.
fn rank(places: &BTreeMap<&str, usize>, node: &NodeProgress) -> (usize, usize) {
    match &node.phase {
        Phase::Failing(_) | Phase::Draining(Some(_)) => (0, 0),
        Phase::Draining(None) | Phase::Applying => (1, 0),
        Phase::Waiting => (2, places.get(node.name.as_str()).copied().unwrap_or(usize::MAX)),
        Phase::Silent => (3, 0),
        Phase::Done => (4, 0),
    }
}

fn nodes(view: &View<'_>, asked: &Asked, pool: &PoolProgress) -> Markup {
    let waiting = pool.queue.iter().flat_map(|queue| &queue.waiting);
    let places = waiting.enumerate().map(|(place, name)| (name.as_str(), place)).collect();
    let mut ordered: Vec<&NodeProgress> = pool.nodes.iter().collect();
    ordered.sort_by_key(|node| rank(&places, node));
    let after = asked.query.get("after");
    let begins = after.map_or(0, |after| {
        ordered.iter().position(|node| node.name == after).map_or(0, |at| at + 1)
    });
    let shown: Vec<&NodeProgress> = ordered.iter().skip(begins).take(SHOWN).copied().collect();
    let more = begins + shown.len() < ordered.len();
    let last = shown.last().filter(|_| more).map(|node| node.name.as_str());
    html! {
        section id="nodes" class="card" aria-labelledby="nodes-title" hidden[pool.nodes.is_empty()] {
            header { h2 id="nodes-title" { "Nodes" } span class="count" { (spoken::thousands(pool.nodes.len())) } }
            table class="gates nodes" {
                thead { tr {
                    th class="what" scope="col" { "Node" }
                    th class="phase" scope="col" { "Phase" }
                    th class="config" scope="col" { "Has, and is to have" }
                    th class="why" scope="col" { "Waits for" }
                    th class="since" scope="col" { "Since" }
                } }
                tbody { @for node in shown { (row(view, pool, node)) } }
            }
            @if let Some(last) = last {
                footer class="pages" { span {} a href=(asked.with("after", Some(last))) { "The next hundred" } }
            }
        }
    }
}

fn row(view: &View<'_>, pool: &PoolProgress, node: &NodeProgress) -> Markup {
    let wanted = pool.target.as_deref().filter(|_| node.phase == Phase::Waiting);
    let wanted = wanted.unwrap_or(&node.desired);
    let waits = pool.waits_for(node, view.at, view.zone);
    html! {
        tr {
            th class="what" scope="row" {
                span class="kind" { @if let Some(zone) = &node.zone { (free(zone)) } @else { "no zone" } }
                (free(&node.name))
            }
            td class="phase" {
                @if node.phase == Phase::Done && !is_told(pool) {
                    span class="state" { (icon::triangle()) " " b { "cannot tell" } }
                } @else {
                    span class=(format!("state {}", machine::class(&node.phase))) { (machine::phase(&node.phase)) " " b { (node.phase.as_str()) } }
                }
                @if node.away { span class="second" { "takes no workloads" } }
            }
            td class="config" {
                span class="mono" { @if node.current.is_empty() { "nothing" } @else { (free(&node.current)) } }
                @if node.current != wanted && !wanted.is_empty() {
                    span class="second" { "to " span class="mono" { (free(wanted)) } }
                }
            }
            td class="why" { @if let Some(waits) = &waits { (free(waits)) } @else { span class="second" { "nothing" } } }
            td class="since" { @if let Some(since) = node.since { (when(since, view.at, view.zone)) } @else { span class="second" { "—" } } }
        }
    }
}
