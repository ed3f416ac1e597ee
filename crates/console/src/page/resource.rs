//! Why may this change, or why not, and when will it? One resource or policy, at any instant.

use api::policy::State;
use maud::{Markup, html};
use schedule::{Instant, Zone};
use tidegate_core::{
    cluster::overview::{self, Row},
    document::key::Key,
    gate::words::each,
    policy::{explain::Reason, stanza::StanzaReading, verdict::Verdict},
};
use views::{
    explain::{self, Answer},
    now::Manner,
    safe::escaped,
    spoken, status, stretches,
};

use super::{Here, Page, rows};
use crate::{
    asked::{Asked, called, link, query},
    draw::{
        countdown, free, icon,
        strip::{self, Strip},
        when,
    },
    view::View,
};

/// How far back and ahead the line of a resource goes, in days.
const BACK: i64 = 14;
const AHEAD: i32 = 56;

/// The page.
pub(crate) fn page(view: &View<'_>, asked: &Asked) -> Page {
    let key = match asked.object() {
        Ok(key) => key,
        Err(why) => return Page::missing(&why),
    };
    let row = match (view.snapshot.resource(&key), view.snapshot.policy(&key)) {
        (Some(seen), _) => overview::resource(view.snapshot, seen, view.at),
        (None, Some(seen)) => overview::policy(seen, view.at),
        (None, None) => return Page::missing(&format!("there is no {key} in this cluster")),
    };
    let said = sentence(&row, view.at, view.zone);
    let mut page =
        Page::new(Here::Resources, format!("{}: {}", key.name, row.verdict.state()), said);
    page.add("answer", answer(view, &row, &page.said));
    page.add("line", line(view, &key));
    let (at, wrong) = instant(view, asked);
    let why = explain::of_object(&key, view.snapshot, at);
    let html = html! {
        div id="lower" class="pair" {
            (reasons(view, asked, why.as_ref(), at, wrong))
            div { (waits(&row)) (earlier(view, &row)) (written(view, &key)) }
        }
    };
    page.add("lower", html);
    page
}

/// The answer in a sentence.
fn sentence(row: &Row, at: Instant, zone: &Zone) -> String {
    let name = &row.object.name;
    let until = status::end(row).map(|end| {
        let length = spoken::length(end.unix() - at.unix());
        format!("until {}, in {length}", spoken::when(end, at, zone))
    });
    match (Manner::of(row), until) {
        (Manner::Unknown, _) => format!("Nobody can tell until when {name} is held."),
        (Manner::Frozen, Some(until)) => format!("{name} is frozen {until}."),
        (Manner::Frozen, None) => format!("{name} is frozen until further notice."),
        (Manner::Held | Manner::HeldByHand, Some(until)) => format!("{name} is held {until}."),
        (Manner::Held | Manner::HeldByHand, None) => format!("{name} is held, without an end."),
        (Manner::Open, None) => format!("{name} may change at any time."),
        (Manner::Overridden, None) => format!("{name} is open by override, without an end."),
        (Manner::Open, Some(until)) => format!("{name} may change {until}."),
        (Manner::Overridden, Some(until)) => format!("{name} is open by override {until}."),
    }
}

fn answer(view: &View<'_>, row: &Row, said: &str) -> Markup {
    let key = &row.object;
    html! {
        div id="answer" class="answer" {
            div class="words" {
                span class="second" { (key.kind().name) @if let Some(namespace) = &key.namespace { " in " (free(namespace)) } }
                h1 { (free(said)) }
                p { (free(&row.behavior.current.reason)) "." }
                @if let Some(next) = row.behavior.next.as_ref().and_then(|next| next.start_time.as_deref())
                    .and_then(|start| Instant::parse(start).ok()) {
                    @if let Some(verdict) = row.next {
                        p { "Then " (verdict.state()) ", from " (when(next, view.at, view.zone)) " (" (countdown(next, view.at)) ")." }
                    }
                }
            }
            div class="deeds" {
                @if key.is_policy() {
                    a class="button" href=(format!("/edit?{}", query(&[("object", &called(key))]))) { "Edit…" }
                    a class="button" href=(format!("/calendar?{}", query(&[("subject", &called(key))]))) { "Calendar" }
                } @else {
                    a class="button" href=(format!("/calendar?{}", query(&[("subject", &called(key))]))) { "Calendar" }
                    a class="button" data-key="o" href=(format!("/override?{}", query(&[("object", &called(key))]))) { "Override…" }
                    a class="button frost" data-key="f" href=(format!("/freeze?{}", query(&[("object", &called(key))]))) {
                        (icon::flake()) "Hold…"
                    }
                }
            }
        }
    }
}

/// The stretches of a resource or a policy.
pub(super) fn pieces_of(
    view: &View<'_>,
    key: &Key,
    range: &std::ops::Range<Instant>,
) -> Vec<stretches::Piece> {
    if !key.is_policy() {
        return rows::pieces(view, range, key);
    }
    let policy = view.snapshot.policy(key).and_then(|seen| seen.judged.policy.as_ref());
    let unknown = || {
        let (start, end) = (range.start, range.end);
        vec![stretches::Piece { start, end, state: stretches::Line::Unknown, reason: None }]
    };
    policy.map_or_else(unknown, |policy| stretches::of_policy(&policy.lowered, range))
}

fn line(view: &View<'_>, key: &Key) -> Markup {
    let from = view.at.saturating_add(-BACK * 86_400);
    let (range, midnights) = strip::days(from, AHEAD, view.zone);
    let pieces = pieces_of(view, key, &range);
    let monday = |at: &&Instant| view.zone.date_of(**at).weekday() == schedule::Weekday::Monday;
    let marks: Vec<Instant> = midnights.iter().filter(monday).copied().collect();
    let label = strip::label(&pieces, view.at, view.zone);
    let drawn = Strip {
        pieces: &pieces,
        range: range.clone(),
        marks: &marks,
        now: Some(view.at),
        height: 44,
    };
    html! {
        section id="line" class="card" aria-label="Two weeks back, six weeks ahead" {
            div class="pad" {
                (weeks(view, &range, &marks))
                (drawn.draw(&label))
            }
            footer { (strip::key()) }
        }
    }
}

/// Days under their marks.
pub(super) fn weeks(
    view: &View<'_>,
    range: &std::ops::Range<Instant>,
    marks: &[Instant],
) -> Markup {
    let whole = (range.end.unix() - range.start.unix()).max(1) as f64;
    html! {
        svg class="strip days" aria-hidden="true" height="18" {
            @for (place, mark) in marks.iter().enumerate() {
                @let x = format!("{:.3}%", (mark.unix() - range.start.unix()) as f64 / whole * 100.0);
                @let date = view.zone.date_of(*mark);
                // Where it is narrow every second one is enough.
                text class=(if place % 2 == 0 { "" } else { "odd" }) x=(x) dx="4" y="13" { (date.day()) " " (spoken::short_month(date)) }
            }
        }
    }
}

/// The instant that is asked about, and why it cannot be read, if it cannot.
fn instant(view: &View<'_>, asked: &Asked) -> (Instant, Option<String>) {
    let Some(text) = asked.query.get("when") else { return (view.at, None) };
    // A browser's own field tells a date and a time of nowhere: they are those of the zone that is read in.
    let local = || {
        let (date, time) = text.split_once('T').unwrap_or((text, "00:00"));
        let date = schedule::Date::parse(date).ok()?;
        let time = schedule::TimeOfDay::parse(time.get(..5)?).ok()?;
        Some(view.zone.first_instant_of(date, time))
    };
    match Instant::parse(text).ok().or_else(local) {
        Some(at) => (at, None),
        None => (view.at, Some(format!("{text:?} is no instant; this is how it is now"))),
    }
}

fn reasons(
    view: &View<'_>,
    asked: &Asked,
    why: Option<&Answer>,
    at: Instant,
    wrong: Option<String>,
) -> Markup {
    let (date, clock) = (view.zone.date_of(at), spoken::clock(at, view.zone));
    let step = |seconds: i64| asked.with("when", Some(&at.saturating_add(seconds).to_string()));
    html! {
        section class="card" aria-labelledby="why-title" {
            header {
                h2 id="why-title" { "Why" }
                span class="aside" { @if at == view.at { "now" } @else { (spoken::when(at, view.at, view.zone)) } }
            }
            div class="pad" {
                form class="inline" {
                    div class="field" {
                        label for="when" { "At another time (" (spoken::place(view.zone)) ")" }
                        input id="when" name="when" type="datetime-local" value=(format!("{date}T{clock}"))
                            aria-invalid=[wrong.as_ref().map(|_| "true")];
                    }
                    button class="small" { "Why then?" }
                    a class="button small" href=(step(-86_400)) { "◂ 1 d" }
                    a class="button small" href=(step(86_400)) { "1 d ▸" }
                    @if at != view.at { a class="button small" href=(asked.with("when", None)) { "Now" } }
                }
                @if let Some(wrong) = wrong { p class="field" { span class="wrong" { (free(&wrong)) } } }
            }
            @if let Some(Answer { reason, zone, enforced, stopped, object, .. }) = why {
                div class="pad tree" {
                    ul { (node(reason, zone)) }
                    @if let Some(why) = stopped { p class="second" { "What waits would not start if changes were permitted: " (free(why)) } }
                    @if let Some(enforced) = enforced {
                        p class="second" { (enforced.reason()) ": " (free(&match api::schema::gated_named(&object.kind) {
                            Some(kind) => enforced.about(kind),
                            None => enforced.sentence().to_owned(),
                        })) }
                    }
                }
            }
        }
    }
}

/// A reason and those it rests on, in the words of `tidegate explain`.
fn node(reason: &Reason, zone: &Zone) -> Markup {
    let (icon, word) = match reason.verdict {
        Verdict::Permitted => (icon::disc(), "permits"),
        Verdict::Held => (icon::ring(), "holds"),
        Verdict::CannotTell => (icon::triangle(), "cannot tell"),
    };
    html! {
        li {
            (icon) span class="verdict" { (word) } (free(&reason.text(zone)))
            @if !reason.because.is_empty() { ul { @for below in &reason.because { (node(below, zone)) } } }
        }
    }
}

fn waits(row: &Row) -> Markup {
    if row.object.is_policy() {
        return html! {};
    }
    let (waiting, begun) = (each(&row.pending.waiting), each(&row.pending.begun));
    html! {
        section class="card" aria-labelledby="waits-title" {
            header { h2 id="waits-title" { "What waits" } }
            @if waiting.is_empty() && begun.is_empty() {
                p class="pad second" { "Nothing waits." }
            } @else {
                ul class="list" {
                    @for one in &begun { li { (icon::disc()) div class="body" { "under way: " (free(one)) } } }
                    @for one in &waiting { li { (icon::ring()) div class="body" { (free(one)) } } }
                }
            }
        }
    }
}

fn earlier(view: &View<'_>, row: &Row) -> Markup {
    let instant = |text: &str| Instant::parse(text).ok();
    html! {
        section class="card" aria-labelledby="earlier-title" {
            header { h2 id="earlier-title" { "Earlier" } }
            @if row.behavior.history.is_empty() {
                p class="pad second" { "No stretch has ended since the operator looks." }
            } @else {
                ul class="list" { @for past in &row.behavior.history {
                    li {
                        @let open = past.state == State::ChangesUnpaused;
                        @if open { (icon::disc()) } @else { (icon::ring()) }
                        div class="body" {
                            @if open { "open" } @else { "held" }
                            @if let Some(start) = past.start_time.as_deref().and_then(instant) {
                                " from " (when(start, view.at, view.zone))
                            }
                            @if let Some(end) = instant(&past.end_time) { " until " (when(end, view.at, view.zone)) }
                        }
                    }
                } }
            }
        }
    }
}

/// What somebody wrote: the stanza of a resource, the specification of a policy.
fn written(view: &View<'_>, key: &Key) -> Markup {
    let resource = view.snapshot.resource(key);
    let stanza = resource.map(|seen| &view.snapshot.decides(seen).stanza);
    let text = match stanza.map(|stanza| &stanza.reading) {
        Some(StanzaReading::Usable(stanza)) => {
            serde_json::to_string_pretty(stanza).unwrap_or_default()
        }
        Some(StanzaReading::Version(read)) => {
            serde_json::to_string_pretty(&read.given).unwrap_or_default()
        }
        Some(StanzaReading::Absent) => "(no stanza: changes are always permitted)".to_owned(),
        Some(StanzaReading::Unusable(_)) => "(it cannot be read)".to_owned(),
        None => {
            let policy = view.snapshot.policy(key).and_then(|seen| seen.judged.policy.as_ref());
            let spec = policy.map(|policy| serde_json::to_string_pretty(&policy.spec));
            spec.and_then(Result::ok).unwrap_or_else(|| "(it cannot be read)".to_owned())
        }
    };
    let named = view.snapshot.policy(key).is_some().then(|| view.snapshot.naming(key).take(20));
    html! {
        section class="card" aria-labelledby="stanza-title" {
            header { h2 id="stanza-title" { @if key.is_policy() { "Specification" } @else { "Stanza" } } }
            pre tabindex="0" { bdi { (escaped(&text)) } }
        }
        @if let Some(named) = named {
            section class="card" aria-labelledby="named-title" {
                header { h2 id="named-title" { "Resources that name it" } }
                ul class="list" { @for one in named { li { a href=(link(one)) { (free(&one.to_string())) } } } }
            }
        }
    }
}
