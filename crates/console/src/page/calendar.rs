//! When is what open, over months? Policies as lanes, one subject as months, one day as layers. Days are those of the subject's own zone.

use std::ops::Range;

use maud::{Markup, html};
use schedule::{Date, Instant, TimeSet, Weekday, Zone};
use tidegate_core::{
    document::key::{self, Key},
    policy::{
        explain::rule,
        forecast::{self, first_of_month, midnight, next_month},
    },
};
use views::{
    calendar::month_name,
    spoken,
    stretches::{Line, Piece},
    text,
};

use super::{Here, Page, resource::pieces_of};
use crate::{
    asked::{Asked, called, link},
    draw::{
        free,
        strip::{self, Strip},
    },
    view::View,
};

/// How many lanes a page shows.
const LANES: usize = 50;

/// How many months.
const MONTHS: usize = 12;

/// The page.
pub(crate) fn page(view: &View<'_>, asked: &Asked) -> Page {
    let from = asked.query.get("from").and_then(|month| Date::parse(&format!("{month}-01")).ok());
    let months = months(first_of_month(from.unwrap_or_else(|| view.zone.date_of(view.at))));
    let (Some(first), Some(last)) = (months.first(), months.get(MONTHS - 1)) else {
        return Page::missing("no calendar reaches that far");
    };
    let said = format!("{} to {}", month_name(*first), month_name(*last));
    let mut page = Page::new(Here::Calendar, said.clone(), said);
    let subject = match subject(view, asked) {
        Ok(subject) => subject,
        Err(why) => return Page::missing(&why),
    };
    page.add("answer", answer(view, asked, &page.said, *first));
    page.add("lanes", lanes(view, asked, &months, subject.as_ref().map(|subject| &subject.key)));
    let days = if let Some(subject) = &subject {
        subject_months(view, asked, subject, &months)
    } else {
        html! { div id="days" {} }
    };
    page.add("days", days);
    page
}

/// Firsts of months, one more than are shown.
fn months(first: Date) -> Vec<Date> {
    let after = |date: &Date| next_month(*date);
    std::iter::successors(Some(first), after).take(MONTHS + 1).collect()
}

/// What the months are of.
struct Subject {
    key: Key,
    zone: Zone,
    set: TimeSet,
}

/// What was asked for, or the first policy that something names.
fn subject(view: &View<'_>, asked: &Asked) -> Result<Option<Subject>, String> {
    let key = match asked.query.get("subject") {
        Some(text) => key::named(text, None)?,
        None => match policies(view).into_iter().next() {
            Some(key) => key,
            None => return Ok(None),
        },
    };
    if let Some(seen) = view.snapshot.resource(&key) {
        let gate = view.snapshot.gate(seen);
        let zone = gate.lowered().map_or_else(Zone::utc, |lowered| lowered.zone.clone());
        return Ok(Some(Subject { key, zone, set: gate.set().clone() }));
    }
    let Some(seen) = view.snapshot.policy(&key) else {
        return Err(format!("there is no {key} in this cluster"));
    };
    let zone = seen.judged.policy.as_ref().map(|policy| policy.lowered.zone.clone());
    Ok(Some(Subject { key, zone: zone.unwrap_or_else(Zone::utc), set: seen.set() }))
}

/// Policies, those first that something names.
fn policies(view: &View<'_>) -> Vec<Key> {
    let mut all: Vec<Key> = view.rows.policies.iter().map(|row| row.object.clone()).collect();
    all.sort_by_key(|key| (view.snapshot.naming(key).next().is_none(), key.clone()));
    all
}

fn answer(view: &View<'_>, asked: &Asked, said: &str, first: Date) -> Markup {
    let all = policies(view);
    let gating = all.iter().filter(|key| view.snapshot.naming(key).next().is_some()).count();
    let month = |date: Date| format!("{:04}-{:02}", date.year(), date.month());
    let before = Date::from_days_since_epoch(first.days_since_epoch() - 1).map(first_of_month);
    html! {
        div id="answer" class="answer" {
            div class="words" {
                h1 { (said) }
                p {
                    (spoken::capital(&spoken::count(gating))) " of " (spoken::count(all.len()))
                    @if all.len() == 1 { " policy holds " } @else { " policies hold " }
                    (spoken::count(view.rows.resources.iter().filter(|row| row.policy.is_some()).count())) " resources."
                }
            }
            nav class="segments" aria-label="Months" {
                @if let Ok(before) = before { a href=(asked.with("from", Some(&month(before)))) { "◂ a month" } }
                a href=(asked.with("from", None)) { "This month" }
                @if let Some(after) = next_month(first) { a href=(asked.with("from", Some(&month(after)))) { "a month ▸" } }
            }
        }
    }
}

fn lanes(view: &View<'_>, asked: &Asked, months: &[Date], chosen: Option<&Key>) -> Markup {
    let edges: Vec<Instant> = months.iter().map(|month| midnight(*month, view.zone)).collect();
    let (Some(start), Some(end)) = (edges.first(), edges.last()) else { return html! {} };
    let range = *start..*end;
    let whole = (range.end.unix() - range.start.unix()).max(1) as f64;
    let all = policies(view);
    html! {
        section id="lanes" class="card" aria-labelledby="lanes-title" {
            header {
                h2 id="lanes-title" { "All policies" }
                @if all.len() > LANES { span class="aside" { "the first " (LANES) " of " (spoken::thousands(all.len())) } }
            }
            table class="gates lanes" {
                thead { tr {
                    th class="name" scope="col" { "Policy" }
                    th scope="col" {
                        span class="unseen" { "Twelve months" }
                        svg class="strip days" aria-hidden="true" height="18" {
                            @for (month, edge) in months.iter().zip(&edges).take(MONTHS) {
                                @let x = format!("{:.3}%", (edge.unix() - range.start.unix()) as f64 / whole * 100.0);
                                text x=(x) dx="3" y="13" { (spoken::short_month(*month)) }
                            }
                        }
                    }
                } }
                tbody { @for key in all.iter().take(LANES) {
                    (lane(view, asked, key, &range, &edges, chosen == Some(key)))
                } }
            }
        }
    }
}

fn lane(
    view: &View<'_>,
    asked: &Asked,
    key: &Key,
    range: &Range<Instant>,
    edges: &[Instant],
    chosen: bool,
) -> Markup {
    let pieces = pieces_of(view, key, range);
    let lowered = view
        .snapshot
        .policy(key)
        .and_then(|seen| seen.judged.policy.as_ref())
        .map(|policy| &policy.lowered);
    let gap = lowered.and_then(|lowered| {
        let gap = forecast::longest_gap(&lowered.set, range)?;
        Some((gap.end.unix() - gap.start.unix()) / 86_400)
    });
    let label = strip::label(&pieces, view.at, view.zone);
    let strip = Strip {
        pieces: &pieces,
        range: range.clone(),
        marks: edges,
        now: Some(view.at),
        height: 26,
    };
    html! {
        tr data-chosen=[chosen.then_some("")] {
            th class="what name" scope="row" {
                a href=(asked.with("subject", Some(&called(key)))) aria-current=[chosen.then_some("true")] { (free(&key.name)) }
                @if let Some(days) = gap.filter(|days| *days >= 60) { " " span class="tag alarm" { (days) " d closed" } }
                @if let Some(rule) = lowered.and_then(|lowered| rule::sentences(&lowered.parts)) {
                    span class="kind" { (free(&rule)) }
                }
            }
            td class="time" { (strip.draw(&label)) }
        }
    }
}

fn subject_months(view: &View<'_>, asked: &Asked, subject: &Subject, firsts: &[Date]) -> Markup {
    let Subject { key, zone, set } = subject;
    let today = zone.date_of(view.at);
    let day = asked.query.get("day").and_then(|day| Date::parse(day).ok()).unwrap_or(today);
    let (Some(first), Some(end)) = (firsts.first(), firsts.last()) else { return html! {} };
    let range = midnight(*first, zone)..midnight(*end, zone);
    let pieces = pieces_of(view, key, &range);
    let months = firsts.iter().zip(firsts.iter().skip(1));
    html! {
        div id="days" class="side" {
            section class="card" aria-labelledby="months-title" {
                header {
                    h2 id="months-title" { a href=(link(key)) { (free(&key.name)) } }
                    span class="aside" { "days of " (zone.name()) ", each from 00:00 at its left to 24:00" }
                }
                div class="months" {
                    @for (month, end) in months {
                        (month_of(view, asked, subject, &pieces, *month..*end, day))
                    }
                }
                footer { (strip::key()) }
            }
            aside {
                (panel(view, subject, &pieces, day))
                (sums(set, &pieces, &range))
            }
        }
    }
}

/// A month: weeks of seven days, each week one line.
fn month_of(
    view: &View<'_>,
    asked: &Asked,
    subject: &Subject,
    pieces: &[Piece],
    dates: Range<Date>,
    chosen: Date,
) -> Markup {
    let zone = &subject.zone;
    let range = midnight(dates.start, zone)..midnight(dates.end, zone);
    let open = text::hours(forecast::seconds(&subject.set, range));
    let offset = i32::from(place(dates.start.weekday()));
    let monday = dates.start.days_since_epoch() - offset;
    let weeks = (dates.end.days_since_epoch() - monday + 6) / 7;
    html! {
        div class="month" {
            div class="head" { h3 { (month_name(dates.start)) } span class="second" { (open) } }
            div class="week names" aria-hidden="true" { @for day in ["M", "T", "W", "T", "F", "S", "S"] { span { (day) } } }
            @for week in 0..weeks {
                (week_of(view, asked, subject, pieces, monday + week * 7, &dates, chosen))
            }
        }
    }
}

fn week_of(
    view: &View<'_>,
    asked: &Asked,
    subject: &Subject,
    pieces: &[Piece],
    monday: i32,
    month: &Range<Date>,
    chosen: Date,
) -> Markup {
    let zone = &subject.zone;
    let today = zone.date_of(view.at);
    let date = |day: i32| Date::from_days_since_epoch(monday + day).unwrap_or(today);
    let range = midnight(date(0), zone)..midnight(date(7), zone);
    let shown = midnight(date(0).max(month.start), zone)..midnight(date(7).min(month.end), zone);
    let clipped = clipped(pieces, &shown);
    let now = shown.contains(&view.at).then_some(view.at);
    let strip = Strip { pieces: &clipped, range, marks: &[], now, height: 16 };
    html! {
        div class="week" {
            (strip.draw(&strip::label(&clipped, view.at, zone)))
            @for day in 0..7 {
                @let date = date(day);
                @if !month.contains(&date) { span class="off" {} } @else {
                    @let words = day_words(pieces, date, zone);
                    @let turn = clock_change(date, zone);
                    a href=(asked.with("day", Some(&date.to_string()))) data-day=(date) class=(class(date, today))
                        tabindex=(if date == chosen { "0" } else { "-1" })
                        aria-current=[(date == chosen).then_some("date")]
                        aria-label=(format!("{}: {words}", spoken::short_date(date))) {
                        span { (date.day()) }
                        @if turn != 0 { i data-turn=(format!("{turn:+}")) {} }
                    }
                }
            }
        }
    }
}

/// Where a day stands in a week that begins with Monday.
fn place(day: Weekday) -> u8 {
    match day {
        Weekday::Monday => 0,
        Weekday::Tuesday => 1,
        Weekday::Wednesday => 2,
        Weekday::Thursday => 3,
        Weekday::Friday => 4,
        Weekday::Saturday => 5,
        Weekday::Sunday => 6,
    }
}

fn class(date: Date, today: Date) -> &'static str {
    match (date == today, date < today, place(date.weekday()) > 4) {
        (true, _, _) => "today",
        (_, true, _) => "past",
        (_, _, true) => "rest",
        _ => "",
    }
}

/// By how many hours the clocks of a zone change on a day.
fn clock_change(date: Date, zone: &Zone) -> i64 {
    let length = midnight(date.tomorrow(), zone).unix() - midnight(date, zone).unix();
    // A day with an hour less is one on which clocks go forward.
    (86_400 - length) / 3_600
}

fn clipped(pieces: &[Piece], range: &Range<Instant>) -> Vec<Piece> {
    let clip = |piece: &Piece| {
        let (start, end) = (piece.start.max(range.start), piece.end.min(range.end));
        (start < end).then(|| Piece { start, end, ..piece.clone() })
    };
    pieces.iter().filter_map(clip).collect()
}

/// A day in words: what is open of it, and why it is not.
fn day_words(pieces: &[Piece], date: Date, zone: &Zone) -> String {
    let range = midnight(date, zone)..midnight(date.tomorrow(), zone);
    let of_day = clipped(pieces, &range);
    let clock = |at: Instant| {
        if at == range.end { "24:00".to_owned() } else { spoken::clock(at, zone) }
    };
    let open: Vec<String> = of_day
        .iter()
        .filter(|piece| matches!(piece.state, Line::Open | Line::Overridden))
        .map(|piece| {
            format!("{} from {} to {}", piece.state.word(), clock(piece.start), clock(piece.end))
        })
        .collect();
    let frozen = of_day.iter().find(|piece| matches!(piece.state, Line::Frozen | Line::Lost));
    let frozen = frozen.map(|piece| {
        let reason = piece.reason.as_deref().unwrap_or_default();
        format!("frozen: {}", crate::draw::cut(reason))
    });
    let unknown = of_day.iter().any(|piece| piece.state == Line::Unknown);
    let said: Vec<String> = open.into_iter().chain(frozen).collect();
    match (said.is_empty(), unknown) {
        (_, true) => "nobody can tell".into(),
        (true, false) => "held all day".into(),
        (false, false) => said.join(", "),
    }
}

/// One day: what it says, and its layers above the result.
fn panel(view: &View<'_>, subject: &Subject, pieces: &[Piece], date: Date) -> Markup {
    let zone = &subject.zone;
    let range = midnight(date, zone)..midnight(date.tomorrow(), zone);
    let day = clipped(pieces, &range);
    let windows: Vec<Piece> =
        only(&day, |line| matches!(line, Line::Open | Line::Lost), Line::Open);
    let freezes: Vec<Piece> =
        only(&day, |line| matches!(line, Line::Frozen | Line::Lost), Line::Frozen);
    let overrides = only(&day, |line| line == Line::Overridden, Line::Overridden);
    let hours = (range.end.unix() - range.start.unix()) / 3_600;
    let draw = |pieces: &[Piece], label: &str| {
        let now = Some(view.at);
        Strip { pieces, range: range.clone(), marks: &[], now, height: 24 }.draw(label)
    };
    let words = day_words(pieces, date, zone);
    html! {
        section class="card" aria-labelledby="day-title" {
            header { h2 id="day-title" { (spoken::short_date(date)) " " (date.year()) } }
            div class="pad" {
                p { (spoken::capital(&words)) "." }
                @if hours != 24 { p class="second" { "This day has " (hours) " hours: the clocks change." } }
                div class="layers" {
                    span { "windows" } (draw(&windows, "windows of the rule"))
                    @if !freezes.is_empty() { span { "freeze" } (draw(&freezes, "frozen")) }
                    @if !overrides.is_empty() { span { "override" } (draw(&overrides, "overridden")) }
                    span { b { "result" } } (draw(&day, &words))
                    span {} div class="hours" aria-hidden="true" { @for hour in ["00", "06", "12", "18", "24"] { span { (hour) } } }
                }
            }
        }
    }
}

fn only(pieces: &[Piece], wanted: impl Fn(Line) -> bool, state: Line) -> Vec<Piece> {
    let found = pieces.iter().filter(|piece| wanted(piece.state));
    found.map(|piece| Piece { state, ..piece.clone() }).collect()
}

/// What the months come to.
fn sums(set: &TimeSet, pieces: &[Piece], range: &Range<Instant>) -> Markup {
    let open = forecast::seconds(set, range.clone());
    let windows = set.spans(range.clone()).count();
    let gap = forecast::longest_gap(set, range).map(|gap| gap.end.unix() - gap.start.unix());
    let lost: i64 = pieces
        .iter()
        .filter(|piece| piece.state == Line::Lost)
        .map(|piece| piece.end.unix() - piece.start.unix())
        .sum();
    html! {
        section class="card" aria-labelledby="sums-title" {
            header { h2 id="sums-title" { "These months" } }
            div class="pad" { dl class="sums" {
                dt { "Open" } dd { (text::hours(open)) }
                dt { "Windows" } dd { (spoken::thousands(windows)) }
                dt { "Longest wait" } dd { @if let Some(gap) = gap { (spoken::short_length(gap)) } @else { "none" } }
                dt { "Lost to freezes" } dd { (text::hours(lost)) }
            } }
        }
    }
}
