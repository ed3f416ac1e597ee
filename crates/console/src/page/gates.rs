//! Does anything refuse what a gate holds, or is the hold only said? (GATE-13) What a controller tried, for each kind.

use std::collections::BTreeMap;

use maud::{Markup, html};
use tidegate_core::{cluster::overview::Row, gate::enforced::Enforcement};
use views::spoken;

use super::{Here, Page};
use crate::{
    asked::{Asked, link},
    draw::{free, icon},
    view::View,
};

/// How many objects of a group are named.
const NAMED: usize = 8;

/// The page.
pub(crate) fn page(view: &View<'_>, _: &Asked) -> Page {
    let mut groups: BTreeMap<(bool, String), Vec<&Row>> = BTreeMap::new();
    for row in &view.rows.resources {
        let kept = row.enforced.unwrap_or_default();
        let said = format!("{}: {}", kept.reason(), kept.about(row.object.kind()));
        groups.entry((kept == Enforcement::Proven, said)).or_default().push(row);
    }
    let kept: usize =
        groups.iter().filter(|((proven, _), _)| *proven).map(|(_, rows)| rows.len()).sum();
    let total = view.rows.resources.len();
    let said = match (kept, total) {
        (_, 0) => "Nothing is gated yet.".to_owned(),
        (kept, total) if kept == total => "Every gate is kept by the API server.".to_owned(),
        (0, _) => "No gate is known to be kept: they are advice.".to_owned(),
        (kept, total) => {
            let kept = spoken::capital(&spoken::count(kept));
            format!("{kept} of {} gates are kept by the API server.", spoken::count(total))
        }
    };
    let mut page = Page::new(Here::Gates, format!("{kept} of {total} kept"), said);
    let said = page.said.clone();
    page.add("answer", html! {
        div id="answer" class="answer" { div class="words" {
            h1 { (said) }
            p {
                "What an operator tried, and saw refused or not. "
                code { "tidegate doctor" } " also finds the controllers that change things here, and who may remove the lock."
            }
        } }
    });
    page.add("groups", html! { div id="groups" { @for ((proven, said), rows) in &groups { (group(*proven, said, rows)) } } });
    page
}

fn group(proven: bool, said: &str, rows: &[&Row]) -> Markup {
    let (word, meaning) = said.split_once(": ").unwrap_or((said, ""));
    html! {
        section class="card" {
            header {
                @if proven { (icon::disc()) } @else { (icon::triangle()) }
                h2 { (word) } span class="count" { (spoken::thousands(rows.len())) }
            }
            p class="pad" { (free(meaning)) }
            ul class="list" { @for row in rows.iter().take(NAMED) {
                li { a href=(link(&row.object)) { (free(&row.object.to_string())) } }
            } }
            @if rows.len() > NAMED { footer { "and " (spoken::thousands(rows.len() - NAMED)) " more" } }
        }
    }
}
