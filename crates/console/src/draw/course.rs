//! What does the course of a pool look like? Its gate as a line, and under it a lane with the changes that go through.

use std::ops::Range;

use maud::{Markup, html};
use schedule::Instant;
use tidegate_core::simulate::{Arrival, Course, PoolChange};

/// How high a lane is.
const HEIGHT: u16 = 20;

/// The changes of a pool, over a period.
pub(crate) fn lane(course: &Course, range: &Range<Instant>, label: &str) -> Markup {
    html! {
        svg class="strip lane" role="img" aria-label=(label) height=(HEIGHT) {
            @for change in &course.changes { (drawn(change, range)) }
        }
    }
}

fn drawn(change: &PoolChange, range: &Range<Instant>) -> Markup {
    let arrives = match change.arrival {
        Arrival::Pending => range.start,
        Arrival::At(at) => at,
    };
    let until = change.finished.or(change.superseded).unwrap_or(range.end).min(range.end);
    html! {
        // From when it waits to when nobody waits for it any more.
        line class="c-waits" x1=(share(arrives, range)) x2=(share(change.started.unwrap_or(until).max(arrives), range)) y1="10" y2="10" {}
        line class="c-arrives" x1=(share(arrives, range)) x2=(share(arrives, range)) y1="3" y2="17" {}
        @if let Some(started) = change.started {
            rect class="c-goes" x=(share(started, range)) y="4" width=(width(started, until, range)) height="12" {}
        }
    }
}

fn percent(at: Instant, range: &Range<Instant>) -> f64 {
    let whole = (range.end.unix() - range.start.unix()).max(1) as f64;
    ((at.unix() - range.start.unix()) as f64 / whole * 100.0).clamp(0.0, 100.0)
}

fn share(at: Instant, range: &Range<Instant>) -> String {
    format!("{:.3}%", percent(at, range))
}

/// What is short is drawn wide enough to be seen.
fn width(start: Instant, end: Instant, range: &Range<Instant>) -> String {
    format!("{:.3}%", (percent(end, range) - percent(start, range)).max(0.25))
}

/// What each shape means.
pub(crate) fn key() -> Markup {
    html! {
        li { svg viewBox="0 0 20 14" aria-hidden="true" { line class="c-arrives" x1="4" x2="4" y1="1" y2="13" {} line class="c-waits" x1="4" x2="20" y1="7" y2="7" {} } "a change arrives and waits" }
        li { svg viewBox="0 0 20 14" aria-hidden="true" { rect class="c-goes" y="1" width="20" height="12" {} } "nodes take it" }
    }
}
