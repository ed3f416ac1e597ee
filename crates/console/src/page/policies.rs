//! What do the policies say, and who follows them? A row each, with four weeks of it.

use maud::{Markup, html};
use tidegate_core::{cluster::overview::Row, policy::explain::rule};
use views::{now::Manner, spoken, status};

use super::{Here, Page, resource::pieces_of, rows};
use crate::{
    asked::{Asked, called, link, query},
    draw::{
        free,
        strip::{self, Strip},
    },
    view::View,
};

/// How many policies a page shows.
const SHOWN: usize = 50;

/// How many days their lines show.
const DAYS: i32 = 28;

/// The page.
pub(crate) fn page(view: &View<'_>, asked: &Asked) -> Page {
    let policies = &view.rows.policies;
    let said = match policies.len() {
        0 => "No policy yet.".to_owned(),
        1 => "One policy says when.".to_owned(),
        many => format!("{} policies say when.", spoken::capital(&spoken::count(many))),
    };
    let mut page = Page::new(Here::Policies, format!("{} policies", policies.len()), said);
    let said = page.said.clone();
    page.add("answer", html! {
        div id="answer" class="answer" { div class="words" {
            h1 { (said) }
            p { "A policy is an object. Whoever edits one here sees first what that would do, as " code { "tidegate diff" } " tells it." }
        } }
    });
    let after = asked.query.get("after");
    let begins = after.map_or(0, |after| {
        policies.iter().position(|row| row.object.to_string() == after).map_or(0, |at| at + 1)
    });
    let shown: Vec<&Row> = policies.iter().skip(begins).take(SHOWN).collect();
    let more = begins + shown.len() < policies.len();
    let last = shown.last().filter(|_| more).map(|row| row.object.to_string());
    page.add("policies", table(view, asked, &shown, last.as_deref()));
    page
}

fn table(view: &View<'_>, asked: &Asked, shown: &[&Row], last: Option<&str>) -> Markup {
    let (range, midnights) = strip::days(view.at, DAYS, view.zone);
    let monday =
        |at: &&schedule::Instant| view.zone.date_of(**at).weekday() == schedule::Weekday::Monday;
    let marks: Vec<schedule::Instant> = midnights.iter().filter(monday).copied().collect();
    html! {
        section id="policies" class="card" aria-label="Policies" {
            @if shown.is_empty() {
                div class="pad" {
                    h2 { "No policy yet." }
                    p class="second" { "Three ready ones stand in " code { "examples/" } ": nights, weekends, the first Saturday." }
                }
            } @else {
                table class="gates" {
                    thead { tr {
                        th class="what" scope="col" { "Policy" }
                        th class="why" scope="col" { "State and rule" }
                        th class="time" scope="col" { "Four weeks" }
                        th class="waits" scope="col" { "Followed by" }
                    } }
                    tbody { @for row in shown {
                        @let key = &row.object;
                        @let pieces = pieces_of(view, key, &range);
                        @let label = strip::label(&pieces, view.at, view.zone);
                        @let rule = view.snapshot.policy(key).and_then(|seen| seen.judged.policy.as_ref())
                            .and_then(|policy| rule::sentences(&policy.lowered.parts));
                        @let following = view.snapshot.naming(key).count();
                        tr {
                            th class="what" scope="row" {
                                span class="kind" { (key.kind().name) @if let Some(namespace) = &key.namespace { " in " (free(namespace)) } }
                                a href=(link(key)) { (free(&key.name)) }
                            }
                            td class="why" {
                                (rows::state(view, Manner::of(row), status::end(row)))
                                span class="second" { (free(rule.as_deref().unwrap_or(&row.behavior.current.reason))) }
                            }
                            td class="time" {
                                (Strip { pieces: &pieces, range: range.clone(), marks: &marks, now: Some(view.at), height: 32 }.draw(&label))
                            }
                            td class="waits" {
                                @match following {
                                    0 => span class="second" { "nothing names it" },
                                    1 => "1 resource",
                                    many => { (spoken::thousands(many)) " resources" },
                                }
                                span class="second" { a href=(format!("/calendar?{}", query(&[("subject", &called(key))]))) { "Calendar" } " · " a href=(format!("/edit?{}", query(&[("object", &called(key))]))) { "Edit" } }
                            }
                        }
                    } }
                }
            }
            footer class="pages" {
                (strip::key())
                @if let Some(last) = last { a href=(asked.with("after", Some(last))) { "The next fifty" } }
            }
        }
    }
}
