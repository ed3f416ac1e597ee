//! How is a resource shown among others, and a cause among causes? As a row of a table, with its line of time.

use std::ops::Range;

use maud::{Markup, html};
use schedule::Instant;
use tidegate_core::{cluster::overview::Row, document::key::Key, gate::words::each};
use views::{
    now::{Cause, Manner},
    spoken, status,
    stretches::{self, Piece},
};

use crate::{
    asked::{link, query},
    draw::{
        countdown, cut, free, icon,
        strip::{self, Strip},
        when,
    },
    view::View,
};

/// How many days the lines of a table show.
const DAYS: i32 = 7;

/// The days that the lines of a table show.
pub(super) struct Days {
    pub(super) range: Range<Instant>,
    midnights: Vec<Instant>,
}

impl Days {
    pub(super) fn of(view: &View<'_>) -> Self {
        let (range, midnights) = strip::days(view.at, DAYS, view.zone);
        Self { range, midnights }
    }
}

/// A table of rows or causes.
pub(super) fn table(view: &View<'_>, days: &Days, first: &str, body: &Markup) -> Markup {
    html! {
        table class="gates" {
            thead { tr {
                th class="what" scope="col" { (first) }
                th class="why" scope="col" { "State and why" }
                th class="time" scope="col" {
                    span class="unseen" { "The next seven days" }
                    (strip::day_names(&days.range, &days.midnights, view.zone))
                }
                th class="waits" scope="col" { "Waits" }
            } }
            tbody { (body) }
        }
    }
}

/// The row of a resource.
pub(super) fn resource(view: &View<'_>, days: &Days, row: &Row) -> Markup {
    let key = &row.object;
    let manner = Manner::of(row);
    html! {
        tr id=(id(key)) {
            th class="what" scope="row" {
                span class="kind" { (key.kind().name) @if let Some(namespace) = &key.namespace { " in " (free(namespace)) } }
                a href=(link(key)) { (free(&key.name)) }
            }
            td class="why" { (state(view, manner, status::end(row))) (reason(view, row)) }
            td class="time" { (line(view, days, key)) }
            td class="waits" { (waits(row)) }
        }
    }
}

/// An id that no other row of a page has, and that says nothing to a stylesheet.
fn id(key: &Key) -> String {
    let name = format!(
        "{}-{}-{}",
        key.kind().short_name,
        key.namespace.as_deref().unwrap_or(""),
        key.name
    );
    let safe = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    format!("row-{}", name.chars().map(safe).collect::<String>())
}

/// How something is, and until when.
pub(super) fn state(view: &View<'_>, manner: Manner, end: Option<Instant>) -> Markup {
    html! {
        span class=(format!("state {}", icon::class(manner))) {
            (icon::manner(manner)) " " b { (manner.words()) }
            @match (manner, end) {
                (Manner::Unknown, _) => {},
                (_, Some(end)) => { " until " (when(end, view.at, view.zone)) },
                (_, None) => { ", no end" },
            }
        }
    }
}

/// Why, in the words of `tidegate status`; the policy that decides is a way to its page.
fn reason(view: &View<'_>, row: &Row) -> Markup {
    let said = &row.behavior.current.reason;
    let policy = row.policy.as_ref();
    let by_policy = policy.and_then(|policy| said.strip_prefix(&format!("{policy}: ")));
    let end = status::end(row).filter(|_| Manner::of(row) != Manner::Unknown);
    html! {
        span class="second" {
            @if let Some(end) = end { (countdown(end, view.at)) " · " }
            @if let (Some(policy), Some(rest)) = (policy, by_policy) {
                a href=(link(policy)) { (free(&policy.name)) } ": " (free(rest))
            } @else {
                (free(said))
            }
        }
    }
}

/// The line of a resource.
fn line(view: &View<'_>, days: &Days, key: &Key) -> Markup {
    let pieces = pieces(view, &days.range, key);
    drawn(view, days, &pieces)
}

fn drawn(view: &View<'_>, days: &Days, pieces: &[Piece]) -> Markup {
    let label = strip::label(pieces, view.at, view.zone);
    let (range, marks) = (days.range.clone(), days.midnights.as_slice());
    Strip { pieces, range, marks, now: Some(view.at), height: 44 }.draw(&label)
}

/// The stretches of a resource.
pub(super) fn pieces(view: &View<'_>, range: &Range<Instant>, key: &Key) -> Vec<Piece> {
    let seen = view.snapshot.resource(key);
    seen.map(|seen| stretches::of_gate(&view.snapshot.gate(seen), range)).unwrap_or_default()
}

/// What waits, in few words; all of it stands on the page of the resource.
fn waits(row: &Row) -> Markup {
    let waiting = each(&row.pending.waiting);
    let begun = each(&row.pending.begun);
    html! {
        @if let Some(first) = waiting.first() {
            @let (name, rest) = first.split_once(' ').unwrap_or((first, ""));
            @let (name, rest) = if name == "release" { rest.split_once(' ').unwrap_or((rest, "")) } else { (name, rest) };
            span class="mono" title=(cut(first)) { (short(name)) }
            span class="second" { (free(rest.split(':').next().unwrap_or_default())) }
            @if waiting.len() > 1 { span class="second" { "and " (waiting.len() - 1) " more" } }
        } @else if let Some(first) = begun.first() {
            span class="second" { "under way" }
            span class="mono" title=(cut(first)) { (short(first.split(' ').next().unwrap_or_default())) }
        } @else {
            span class="second" { "nothing waits" }
        }
    }
}

/// A rendered configuration by the beginning of its digest, as people tell them apart.
fn short(name: &str) -> String {
    let digest = name.strip_prefix("rendered-").and_then(|rest| rest.rsplit('-').next());
    digest.map_or_else(|| cut(name), |digest| digest.chars().take(8).collect())
}

/// The row of a cause.
pub(super) fn cause(view: &View<'_>, days: &Days, cause: &Cause) -> Markup {
    let Some(first) = cause.rows.first().and_then(|place| view.rows.resources.get(*place)) else {
        return html! {};
    };
    let count = cause.rows.len();
    let end = cause.first_end.filter(|_| cause.same_end);
    let said = &first.behavior.current.reason;
    let rest = first.policy.as_ref().and_then(|policy| said.strip_prefix(&format!("{policy}: ")));
    html! {
        tr {
            th class="what" scope="row" {
                @if count == 1 {
                    span class="kind" { (first.object.kind().name) }
                    a href=(link(&first.object)) { (free(&first.object.name)) }
                } @else {
                    a class="big" href=(all_of(cause)) { (spoken::thousands(count)) }
                    span class="kind" { "resources" }
                }
            }
            td class="why" {
                @if cause.same_end {
                    (state(view, cause.key.manner, end))
                } @else {
                    span class=(format!("state {}", icon::class(cause.key.manner))) {
                        (icon::manner(cause.key.manner)) " " b { (cause.key.manner.words()) } ", ends differ"
                        @if let Some(end) = cause.first_end { ", first " (when(end, view.at, view.zone)) }
                    }
                }
                span class="second" {
                    @if let Some(end) = cause.first_end.filter(|_| cause.key.manner != Manner::Unknown) {
                        (countdown(end, view.at)) " · "
                    }
                    @if let Some(policy) = cause.policies.first() {
                        a href=(link(policy)) { (free(&policy.name)) }
                        @if cause.policies.len() > 1 { " and " (spoken::thousands(cause.policies.len() - 1)) " more" }
                        ": "
                    }
                    (free(rest.unwrap_or(said)))
                }
            }
            td class="time" { (line(view, days, &first.object)) }
            td class="waits" {
                @if cause.waiting == 0 {
                    span class="second" { "nothing waits" }
                } @else {
                    (spoken::thousands(cause.waiting)) @if cause.waiting == 1 { " change" } @else { " changes" }
                    span class="second" { "of " (spoken::thousands(count)) }
                }
            }
        }
    }
}

/// The page with all resources of a cause.
fn all_of(cause: &Cause) -> String {
    let end = cause.key.end.map(|end| end.to_string());
    let freeze = cause.key.freeze.as_ref().map(ToString::to_string);
    let mut fields = vec![("state", icon::class(cause.key.manner))];
    fields.extend(end.as_deref().map(|end| ("end", end)));
    fields.extend(freeze.as_deref().map(|freeze| ("freeze", freeze)));
    format!("/resources?{}", query(&fields))
}
