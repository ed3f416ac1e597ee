//! What does an edit look like? What is gained stands taller, what stays is grey, what is lost is only an outline.

use std::ops::Range;

use maud::{Markup, html};
use schedule::{Date, Instant, Span, TimeSet, Weekday};
use tidegate_core::policy::forecast::{MonthTotal, clipped, midnight};
use views::{diff::Comparison, spoken, text};

use super::strip;

const HEIGHT: u16 = 56;

/// The first week that differs, in the zone of the policy; none if none does.
pub(crate) fn week(
    pair: &Comparison,
    within: &Range<Instant>,
) -> Option<(Range<Instant>, Vec<Instant>)> {
    let changed = pair.change.gained.iter().chain(&pair.change.lost);
    let first = changed.map(|span| clipped(span, within).start).min()?;
    let date = pair.zone.date_of(first);
    let day = |back: i32| Date::from_days_since_epoch(date.days_since_epoch() - back).ok();
    let monday =
        (0..7).filter_map(day).find(|day| day.weekday() == Weekday::Monday).unwrap_or(date);
    Some(strip::days(midnight(monday, &pair.zone), 7, &pair.zone))
}

/// A week before and after.
pub(crate) fn line(
    pair: &Comparison,
    range: &Range<Instant>,
    midnights: &[Instant],
    label: &str,
) -> Markup {
    let spans = |set: TimeSet| -> Vec<Range<Instant>> {
        set.spans(range.clone()).map(|span: Span| clipped(&span, range)).collect()
    };
    let (old, new) = (pair.old.clone(), pair.new.clone());
    let same = spans(old.clone().intersection(new.clone()));
    let gained = spans(new.clone().difference(old.clone()));
    let lost = spans(old.difference(new));
    let draw = |class: &str, one: &Range<Instant>, top: u16| {
        let x = strip::share(one.start, range);
        let width = strip::percent(one.end, range) - strip::percent(one.start, range);
        html! { rect class=(class) x=(x) y=(top) width=(format!("{width:.3}%")) height=(HEIGHT - 2 * top) {} }
    };
    html! {
        svg class="strip edited" role="img" aria-label=(label) height=(HEIGHT) {
            @for mark in midnights { line class="grid" x1=(strip::share(*mark, range)) x2=(strip::share(*mark, range)) y1="0" y2=(HEIGHT) {} }
            rect class="p-held" x="0" y=(HEIGHT / 2 - 1) width="100%" height="2" {}
            @for one in &same { (draw("e-same", one, 14)) }
            @for one in &gained { (draw("e-gained", one, 6)) }
            @for one in &lost { (draw("e-lost", one, 14)) }
        }
    }
}

/// What each shape means.
pub(crate) fn key() -> Markup {
    html! {
        ul class="key" {
            li { svg viewBox="0 0 20 14" aria-hidden="true" { rect class="e-gained" width="20" height="14" {} } "gained" }
            li { svg viewBox="0 0 20 14" aria-hidden="true" { rect class="e-same" y="2" width="20" height="10" {} } "as before" }
            li { svg viewBox="0 0 20 14" aria-hidden="true" { rect class="e-lost" x="1" y="2" width="18" height="10" {} } "lost" }
        }
    }
}

/// Hours of each month, before and after.
pub(crate) fn months(old: &[MonthTotal], new: &[MonthTotal]) -> Markup {
    const HIGH: i64 = 64;
    let most = old.iter().chain(new).map(|month| month.permitted).max().unwrap_or(0).max(1);
    let high = |seconds: i64| seconds * HIGH / most;
    html! {
        ul class="bars" { @for (old, new) in old.iter().zip(new) {
            @let by = new.permitted - old.permitted;
            @let said = match by { 0 => "as before".to_owned(), more if more > 0 => format!("+{}", text::hours(more)), less => format!("−{}", text::hours(-less)) };
            li {
                svg viewBox="0 0 40 66" aria-hidden="true" {
                    rect class="e-same" x="6" width="12" y=(66 - high(old.permitted)) height=(high(old.permitted)) {}
                    rect class="e-gained" x="22" width="12" y=(66 - high(new.permitted)) height=(high(new.permitted)) {}
                }
                b { (spoken::short_month(new.month)) }
                span class="unseen" { (text::hours(old.permitted)) " before, " (text::hours(new.permitted)) " after" }
                span class="third" { (said) }
            }
        } }
    }
}
