//! Which resources are there, and how is each? A hundred a page, searched and filtered here and not in the browser.

use maud::{Markup, html};
use tidegate_core::cluster::overview::Row;
use views::{now::Manner, spoken, status};

use super::{
    Here, Page,
    rows::{self, Days},
};
use crate::{
    asked::Asked,
    draw::{free, icon, strip},
    view::View,
};

/// How many rows a page shows.
const SHOWN: usize = 100;

/// The states that can be asked for.
const STATES: &[Manner] = &[
    Manner::Held,
    Manner::Open,
    Manner::Frozen,
    Manner::Overridden,
    Manner::HeldByHand,
    Manner::Unknown,
];

/// The page.
pub(crate) fn page(view: &View<'_>, asked: &Asked) -> Page {
    let found: Vec<&Row> = view.rows.resources.iter().filter(|row| matches(row, asked)).collect();
    // By key and not by number: what comes and goes before it moves nothing.
    let after = asked.query.get("after");
    let begins = after.map_or(0, |after| {
        found.iter().position(|row| row.object.to_string() == after).map_or(0, |at| at + 1)
    });
    let shown: Vec<&Row> = found.iter().skip(begins).take(SHOWN).copied().collect();
    let said = match (found.len(), view.rows.resources.len()) {
        (found, all) if found == all => format!("{} resources", spoken::thousands(all)),
        (found, all) => {
            format!("{} of {} resources", spoken::thousands(found), spoken::thousands(all))
        }
    };
    let mut page = Page::new(Here::Resources, said.clone(), said);
    let said = page.said.clone();
    page.add("answer", html! {
        div id="answer" class="answer" { div class="words" {
            h1 { (said) }
            @if let Some(asked) = asked.query.get("q") { p { "whose name, policy or reason holds “" (free(asked)) "”" } }
        } }
    });
    let last = shown.last().map(|row| row.object.to_string());
    let more = begins + shown.len() < found.len();
    page.add("gates", list(view, asked, &shown, last.filter(|_| more).as_deref()));
    page
}

fn matches(row: &Row, asked: &Asked) -> bool {
    let query = &asked.query;
    let state = query.get("state").is_none_or(|state| icon::class(Manner::of(row)) == state);
    let end = query
        .get("end")
        .is_none_or(|end| status::end(row).is_some_and(|found| found.to_string() == end));
    let freeze = query
        .get("freeze")
        .is_none_or(|freeze| row.frozen.as_ref().is_some_and(|found| found.to_string() == freeze));
    let holds = query.get("q").is_none_or(|wanted| {
        let wanted = wanted.to_lowercase();
        let policy = row.policy.as_ref().map(ToString::to_string).unwrap_or_default();
        [row.object.to_string(), policy, row.behavior.current.reason.clone()]
            .iter()
            .any(|text| text.to_lowercase().contains(&wanted))
    });
    state && end && freeze && holds
}

fn list(view: &View<'_>, asked: &Asked, shown: &[&Row], last: Option<&str>) -> Markup {
    let days = Days::of(view);
    let chosen = asked.query.get("state");
    let current = |is: bool| is.then_some("true");
    let body = html! { @for row in shown { (rows::resource(view, &days, row)) } };
    html! {
        section id="gates" class="card" aria-label="Resources" {
            header {
                nav class="chips" aria-label="Which state" {
                    a href=(asked.with("state", None)) aria-current=[current(chosen.is_none())] { "All" }
                    @for manner in STATES {
                        @let class = icon::class(*manner);
                        a href=(asked.with("state", Some(class))) aria-current=[current(chosen == Some(class))] { (manner.words()) }
                    }
                }
            }
            @if shown.is_empty() {
                p class="pad second" { "No resource is like that." }
            } @else {
                (rows::table(view, &days, "Resource", &body))
            }
            footer class="pages" {
                (strip::key())
                @if let Some(last) = last { a href=(asked.with("after", Some(last))) { "The next hundred" } }
            }
        }
    }
}
