//! What does an edit do? Hours gained and lost, whom it concerns, the patch, and the last step.

use maud::{Markup, html};
use serde_json::Value;
use tidegate_core::policy::forecast;
use views::{
    change::{Stage, kubectl},
    diff::{self, Comparison},
    drawing::{Colour, Detail},
    editing::Editing,
    now::Manner,
    safe::escaped,
    spoken, status, text, yaml,
};

use super::{Draft, hours};
use crate::{
    asked::{called, link},
    draw::{edit as drawn, free, icon, strip},
    page::{Here, Page, deeds::Right, rows},
    view::View,
};

/// How many of those who follow a policy a page names.
const SHOWN: usize = 20;

/// What the edit does.
pub(super) fn preview(view: &View<'_>, draft: &Draft) -> Markup {
    let editing = draft.editing.as_ref().ok();
    let usable = editing.filter(|editing| editing.judged.policy.is_some());
    html! {
        div id="preview" data-unreadable=[usable.is_none().then_some("")] {
            p id="preview-note" class="said" hidden[usable.is_some()] { "What this edit does can be shown when it can be read." }
            @if let Some(editing) = usable {
                @if editing.differs() {
                    @if let Some(pair) = &editing.compared { (effect(view, editing, pair)) }
                    (followers(view, editing))
                    (patch(editing))
                    (apply(view, draft, editing))
                } @else {
                    section class="card" { div class="pad" {
                        h2 { "What an edit would do is shown here." }
                        p class="second" { "Hours gained and lost over a year, what waits and would start at another time, and the patch." }
                    } }
                }
            }
        }
    }
}

fn effect(view: &View<'_>, editing: &Editing, pair: &Comparison) -> Markup {
    let range = &editing.range;
    let (gained, lost) = (hours(&pair.change.gained, editing), hours(&pair.change.lost, editing));
    let open = |set| text::hours(forecast::seconds(set, range.clone()));
    let gap = |set| {
        forecast::longest_gap(set, range)
            .map_or_else(|| "none".to_owned(), |gap| spoken::short_length(forecast::length(&gap)))
    };
    let windows = |count: usize| {
        if count == 1 {
            "1 window".to_owned()
        } else {
            format!("{} windows", spoken::thousands(count))
        }
    };
    let week = drawn::week(pair, range);
    html! {
        section class="card" aria-labelledby="effect-title" {
            header { h2 id="effect-title" { "What this edit does, over a year" } }
            dl class="figures" {
                div { dt { "Gained" } dd class="gained" { (signed("+", gained)) } dd class="second" { (windows(pair.change.gained.len())) } }
                div { dt { "Lost" } dd class="lost" { (signed("−", lost)) } dd class="second" { (windows(pair.change.lost.len())) } }
                div { dt { "Open in all" } dd { (open(&pair.new)) } dd class="second" { "was " (open(&pair.old)) } }
                div { dt { "Longest wait" } dd { (gap(&pair.new)) } dd class="second" { "was " (gap(&pair.old)) } }
            }
            (remarks(view, editing, pair))
        }
        @if let Some((range, midnights)) = &week {
            section class="card" aria-labelledby="week-title" {
                header {
                    h2 id="week-title" { "The first week that differs" }
                    span class="aside" { "days of " (spoken::place(&pair.zone)) }
                }
                div class="pad" {
                    (strip::day_names(range, midnights, &pair.zone))
                    (drawn::line(pair, range, midnights, &format!("the week of {}, before and after", spoken::short_date(pair.zone.date_of(range.start)))))
                }
                footer { (drawn::key()) }
            }
            section class="card" aria-labelledby="months-title" {
                header { h2 id="months-title" { "Hours open, by month" } span class="aside" { "before and after" } }
                div class="pad" { (drawn::months(
                    &forecast::months(&pair.old, editing.range.clone(), &pair.zone),
                    &forecast::months(&pair.new, editing.range.clone(), &pair.zone),
                )) }
            }
        }
    }
}

fn signed(sign: &str, seconds: i64) -> String {
    if seconds == 0 { "none".into() } else { format!("{sign}{}", text::hours(seconds)) }
}

/// What somebody should know before they apply it.
fn remarks(view: &View<'_>, editing: &Editing, pair: &Comparison) -> Markup {
    let waiting: Vec<String> =
        editing.followers.iter().filter_map(|one| one.sentence(view.at, view.zone)).collect();
    let unmet: Vec<&String> = pair.guardrails.1.iter().collect();
    let stranded = editing.stranded.as_deref().unwrap_or_default();
    html! {
        @if !waiting.is_empty() || !unmet.is_empty() || !stranded.is_empty() || editing.stranded.is_none() {
            ul class="list" {
                @for said in waiting.iter().take(SHOWN) { li { (icon::diamond()) div class="body" { (free(said)) "." } } }
                @for (pool, reason) in stranded.iter().take(SHOWN) {
                    li { (icon::triangle()) div class="body" {
                        div { b { (free(pool)) } " would no longer get a change done within a year" }
                        div class="second" { (free(reason)) }
                    } }
                }
                @for said in unmet.iter().take(SHOWN) { li { (icon::triangle()) div class="body" { "A guardrail is not met: " (free(said)) } } }
                @if editing.stranded.is_none() {
                    li { (icon::ring()) div class="body second" { "There are too many nodes to tell here whether pools get a change done; tidegate simulate tells." } }
                }
            }
        }
    }
}

fn followers(view: &View<'_>, editing: &Editing) -> Markup {
    let shown: Vec<_> = editing.followers.iter().filter(|one| !one.is_same()).take(SHOWN).collect();
    let same = editing.followers.iter().filter(|one| one.is_same()).count();
    html! {
        section class="card" aria-labelledby="followers-title" {
            header { h2 id="followers-title" { "Who follows it" } span class="count" { (spoken::thousands(editing.following)) } }
            @if shown.is_empty() {
                p class="pad second" {
                    @if editing.following == 0 { "Nothing names this policy." } @else { "Nothing changes for them at this moment." }
                }
            } @else {
                table class="gates followers" {
                    thead { tr { th class="what" scope="col" { "Resource" } th scope="col" { "Now" } th scope="col" { "With this edit" } } }
                    tbody { @for one in &shown { tr {
                        th class="what" scope="row" {
                            span class="kind" { (one.before.object.kind().name) }
                            a href=(link(&one.before.object)) { (free(&one.before.object.name)) }
                        }
                        td { (rows::state(view, Manner::of(&one.before), status::end(&one.before))) }
                        td { (rows::state(view, Manner::of(&one.after), status::end(&one.after))) }
                    } } }
                }
                @if same > 0 { footer { "Nothing changes at this moment for " (spoken::thousands(same)) " more." } }
            }
        }
    }
}

fn patch(editing: &Editing) -> Markup {
    let undo = kubectl(&editing.object, &editing.change.undo);
    let told = editing
        .compared
        .as_ref()
        .map(|pair| diff::table(pair, &editing.range, Detail::Short, Colour::Off));
    html! {
        section class="card" aria-labelledby="patch-title" {
            header { h2 id="patch-title" { "The patch" } button class="small end" type="button" data-copy="patch" hidden { "Copy" } }
            pre id="patch" tabindex="0" { bdi { (kubectl(&editing.object, &editing.change.patch)) } }
            div class="pad" { p class="second" { "The way back" } }
            pre tabindex="0" { bdi { (undo) } }
            details { summary { "The whole object" } pre id="document" tabindex="0" { bdi { (escaped(&yaml::write(&editing.document))) } } }
            @if let Some(told) = told {
                details { summary { "As tidegate diff tells it" } pre id="told" tabindex="0" { bdi { (escaped(&told)) } } }
            }
        }
    }
}

/// The last step: with the person's rights, or by Git where that is what writes the object.
fn apply(view: &View<'_>, draft: &Draft, editing: &Editing) -> Markup {
    let spec = editing.document.get("spec").map(Value::to_string).unwrap_or_default();
    let hidden = html! {
        input type="hidden" name="token" value=(view.token);
        input type="hidden" name="object" value=(called(&draft.key));
        input type="hidden" name="version" value=(draft.version);
        input type="hidden" name="mode" value="text";
        input type="hidden" name="base" value=(draft.base);
        input type="hidden" name="text" value=(spec);
    };
    if let Some(owner) = &draft.owner {
        return html! {
            section class="card" aria-labelledby="apply-title" {
                header { h2 id="apply-title" { "By Git" } button class="small end" type="button" data-copy="document" hidden { "Copy for Git" } }
                form class="fields" method="post" action="/edit" {
                    (hidden)
                    input type="hidden" name="stage" value="file";
                    p {
                        (owner.tool) " writes this object from a repository (" code { (free(&owner.shown_by)) } "), and would put back what is changed here. "
                        "Change it there: the whole object stands above, and can be kept as a file."
                    }
                    div class="row" { button class="first" { "Keep as a file" } }
                }
            }
        };
    }
    let refused = match (&draft.right, &draft.refused) {
        (Right::Missing(why), _) => Some(why),
        (Right::Given, refused) => refused.as_ref(),
    };
    html! {
        section class="card" aria-labelledby="apply-title" {
            header { h2 id="apply-title" { "Apply it" } }
            form class="fields" method="post" action="/edit" {
                (hidden)
                input type="hidden" name="stage" value="do";
                @match refused {
                    Some(why) => p class="said alarm" role="alert" { (free(why)) },
                    None => p class="second" { "The API server tried it, and would take it." },
                }
                @if let Some(why) = editing.weighty() {
                    div class="field" {
                        label for="named" { "Type " (free(&draft.key.name)) " to apply it: " (why) }
                        input id="named" name="named" autocomplete="off" spellcheck="false" required;
                    }
                }
                div class="row" { button class="first" data-needs-live="" disabled[refused.is_some()] { "Apply" } }
            }
        }
    }
}

/// What was written.
pub(crate) fn done(editing: &Editing) -> Page {
    let said = format!("{} is changed.", editing.object);
    let mut page = Page::new(Here::Policies, said.clone(), said);
    let said = page.said.clone();
    page.add("answer", html! {
        div id="answer" class="answer" {
            div class="words" { h1 { (free(&said)) } p { "Every gate that names it follows as soon as the operator has read it." } }
            div class="deeds" { a class="button first" href=(link(&editing.object)) { "Look at it" } }
        }
    });
    page.add(
        "form",
        html! {
            section id="form" class="card" {
                header { h2 { "What was sent, and the way back" } }
                pre tabindex="0" { bdi { (escaped(&editing.change.told(Stage::Made))) } }
            }
        },
    );
    page
}
