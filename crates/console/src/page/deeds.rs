//! What can somebody do here? Freeze, hold, override, and end either: a form, then what would be written and how to undo it, then the word that it is done.

use api::{kinds, schema::Scope};
use http::StatusCode;
use maud::{Markup, html};
use schedule::Instant;
use tidegate_core::document::key::Key;
use views::{
    change::Stage,
    object::{Deed, Writing},
    safe::escaped,
    spoken,
};

use super::{Here, Page};
use crate::{
    asked::{Fields, called, link},
    draw::{free, icon},
    view::View,
};

/// What is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Freeze,
    Override,
    End,
}

impl Kind {
    fn path(self) -> &'static str {
        match self {
            Self::Freeze => "/freeze",
            Self::Override => "/override",
            Self::End => "/end",
        }
    }
}

/// Whether the person may do it, as the API server says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Right {
    Given,
    /// They may not, and this is why.
    Missing(String),
}

/// How long something lasts, as forms offer it.
pub(crate) const LENGTHS: &[(&str, &str, i64)] = &[
    ("1h", "1 hour", 3_600),
    ("4h", "4 hours", 14_400),
    ("24h", "24 hours", 86_400),
    ("7d", "7 days", 604_800),
];

/// A form, with what was typed into it so far and what is wrong with that.
pub(crate) fn form(
    view: &View<'_>,
    kind: Kind,
    object: Option<&Key>,
    typed: &Fields,
    wrong: Option<&str>,
    right: &Right,
) -> Page {
    let said = match (kind, object) {
        (Kind::Freeze, None) => "Let nothing new begin.".to_owned(),
        (Kind::Freeze, Some(key)) => format!("Hold {}.", key.name),
        (Kind::Override, Some(key)) => format!("Open {}, whatever its windows are.", key.name),
        (Kind::Override | Kind::End, _) => {
            "Open one resource, whatever its windows are.".to_owned()
        }
    };
    let mut page = Page::new(Here::Elsewhere, said.trim_end_matches('.').to_owned(), said);
    let meaning = match kind {
        Kind::Freeze => {
            "What has begun finishes. One object is written; nothing is written before you have seen it."
        }
        Kind::Override | Kind::End => {
            "One object is written that ends by itself; no freeze of the platform is passed. Nothing is written before you have seen it."
        }
    };
    let said = page.said.clone();
    page.add("answer", html! {
        div id="answer" class="answer" { div class="words" { h1 { (free(&said)) } p { (meaning) } } }
    });
    page.add("form", html! {
        section id="form" class="card" {
            form class="fields" method="post" action=(kind.path()) {
                input type="hidden" name="token" value=(view.token);
                input type="hidden" name="stage" value="look";
                @if let Right::Missing(why) = right { p class="said alarm" { (free(why)) } }
                @if let Some(wrong) = wrong { p class="said alarm" role="alert" { (free(wrong)) } }
                (subject(view, kind, object, typed))
                (until(view, kind, typed))
                div class="field" {
                    label for="reason" { "Why" }
                    input id="reason" name="reason" required maxlength="500" value=[typed.get("reason")]
                        aria-describedby="reason-hint" autocomplete="off";
                    p class="hint" id="reason-hint" { "Whoever is held or let through reads it." }
                }
                div class="row" {
                    button class="first" { "Look at it first" }
                    a class="button" href="/" { "Give up" }
                }
            }
        }
    });
    page
}

fn subject(view: &View<'_>, kind: Kind, object: Option<&Key>, typed: &Fields) -> Markup {
    if let Some(key) = object {
        return html! {
            input type="hidden" name="object" value=(called(key));
            div class="field" { span class="label" { "What" } a href=(link(key)) { (free(&key.to_string())) } }
        };
    }
    if kind == Kind::Override {
        return html! {
            div class="field" {
                label for="object" { "What" }
                input id="object" name="object" required list="objects" value=[typed.get("object")] placeholder="mcp/worker"
                    autocomplete="off";
                datalist id="objects" { @for row in view.rows.resources.iter().take(100) { option value=(called(&row.object)) {} } }
            }
        };
    }
    let count = view.rows.resources.len();
    html! {
        div class="field" {
            label for="scope" { "What" }
            select id="scope" name="scope" {
                option value="" { "The whole cluster (" (spoken::thousands(count)) " resources)" }
                @for namespace in namespaces(view) {
                    option value=(namespace) selected[typed.get("scope") == Some(&namespace)] { "Namespace " (namespace) }
                }
            }
        }
    }
}

/// The namespaces in which something is gated.
fn namespaces(view: &View<'_>) -> Vec<String> {
    let all = view.rows.resources.iter().filter(|row| row.object.kind().scope == Scope::Namespaced);
    let mut names: Vec<String> =
        all.filter_map(|row| row.object.namespace.as_deref().map(str::to_owned)).collect();
    names.sort();
    names.dedup();
    names.truncate(100);
    names
}

fn until(view: &View<'_>, kind: Kind, typed: &Fields) -> Markup {
    let chosen = typed.get("for").unwrap_or("4h");
    html! {
        div class="pair" {
            div class="field" {
                label for="for" { "For" }
                select id="for" name="for" {
                    @for (value, words, _) in LENGTHS { option value=(value) selected[*value == chosen] { (words) } }
                    @if kind == Kind::Freeze { option value="-" selected[chosen == "-"] { "until somebody ends it" } }
                }
                @if kind == Kind::Freeze { p class="hint" { "Without an end somebody has to remember it." } }
            }
            div class="field" {
                label for="until" { "Or until (" (spoken::place(view.zone)) ")" }
                input id="until" name="until" type="datetime-local" value=[typed.get("until")];
            }
        }
    }
}

/// What would be written, and how to undo it.
pub(crate) fn proposal(
    view: &View<'_>,
    kind: Kind,
    writing: &Writing,
    selected: Option<usize>,
    refused: Option<&str>,
    kept: &[(&str, String)],
) -> Page {
    let verb = match (kind, &writing.deed) {
        (_, Deed::Deleted { .. }) => "End it",
        (Kind::Freeze, _) => "Freeze",
        (Kind::Override | Kind::End, _) => "Override",
    };
    let said = "Nothing has been written yet.".to_owned();
    let mut page = Page::new(Here::Elsewhere, "look at it first", said);
    let said = page.said.clone();
    page.add("answer", html! {
        div id="answer" class="answer" { div class="words" {
            h1 { (said) }
            p {
                @if matches!(writing.deed, Deed::Made) { "With this object " } @else { "Without this object " }
                (free(&writing.meaning)) "."
                @if let Some(selected) = selected {
                    " It selects " b { (spoken::count(selected)) } @if selected == 1 { " resource." } @else { " resources." }
                }
            }
        } }
    });
    page.add("form", html! {
        section id="form" class="card" {
            header { h2 { "The object" } span class="aside" { (free(&writing.object.to_string())) } }
            pre tabindex="0" { bdi { (escaped(&format!("{:#}", writing.document))) } }
            div class="pad" {
                p class="second" { "The way back" }
                p { code { (free(&writing.way_back)) } }
            }
            form class="fields" method="post" action=(kind.path()) {
                input type="hidden" name="token" value=(view.token);
                input type="hidden" name="stage" value="do";
                @for (name, value) in kept { input type="hidden" name=(name) value=(value); }
                @match refused {
                    Some(why) => p class="said alarm" role="alert" { (free(why)) },
                    None => p class="second" { "The API server tried it, and would take it." },
                }
                div class="row" {
                    a class="button" href="/" autofocus { "Give up" }
                    button class="first" disabled[refused.is_some()] { @if kind == Kind::Freeze { (icon::flake()) } (verb) }
                }
            }
        }
    });
    page
}

/// What was written.
pub(crate) fn done(writing: &Writing) -> Page {
    let said = match &writing.deed {
        Deed::Made => format!("{} is written.", writing.object),
        Deed::Deleted { .. } => format!("{} is gone.", writing.object),
    };
    let mut page = Page::new(Here::Elsewhere, said.clone(), said);
    let said = page.said.clone();
    page.add(
        "answer",
        html! {
            div id="answer" class="answer" {
                div class="words" { h1 { (free(&said)) } p { (free(&writing.meaning)) "." } }
                div class="deeds" { a class="button first" href="/" { "Now" } }
            }
        },
    );
    page.add(
        "form",
        html! {
            section id="form" class="card" {
                header { h2 { "What was sent, and the way back" } }
                pre tabindex="0" { bdi { (escaped(&writing.told(Stage::Made))) } }
            }
        },
    );
    page
}

/// Why nothing was written.
pub(crate) fn failed(why: &str, conflict: bool) -> Page {
    let said = if conflict { "Somebody changed it meanwhile." } else { "Nothing was written." };
    let mut page = Page::new(Here::Elsewhere, said.trim_end_matches('.'), said);
    page.code = if conflict { StatusCode::CONFLICT } else { StatusCode::BAD_REQUEST };
    page.add(
        "answer",
        html! {
            div id="answer" class="answer" { div class="words" {
                h1 { (said) }
                p { (free(why)) }
                p { a href="/" { "Now" } }
            } }
        },
    );
    page
}

/// When something ends that is asked for like this; none for no end.
pub(crate) fn ends(view: &View<'_>, form: &Fields) -> Result<Option<Instant>, String> {
    if let Some(text) = form.get("until") {
        let (date, time) = text.split_once('T').unwrap_or((text, "00:00"));
        let date = schedule::Date::parse(date).map_err(|error| format!("until: {error}"))?;
        let time = schedule::TimeOfDay::parse(time.get(..5).unwrap_or(time))
            .map_err(|error| format!("until: {error}"))?;
        return Ok(Some(view.zone.first_instant_of(date, time)));
    }
    let wanted = form.get("for").unwrap_or("4h");
    if wanted == "-" {
        return Ok(None);
    }
    let length = LENGTHS.iter().find(|(value, ..)| *value == wanted);
    let (.., seconds) = length.ok_or_else(|| format!("for: {wanted:?} is no length of time"))?;
    Ok(Some(view.at.saturating_add(*seconds)))
}

/// What holds one object by itself, where that can be; a freeze of its namespace, where it cannot.
pub(crate) fn holds_alone(key: &Key) -> bool {
    *key.kind() == kinds::CLUSTER_VERSION || *key.kind() == kinds::MACHINE_CONFIG_POOL
}
