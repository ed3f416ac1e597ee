//! What does a line of time look like? Open is where it is thick, frozen is hatched, an override is a double rail, cannot tell is dotted.

use std::ops::Range;

use maud::{Markup, html};
use schedule::{Date, Instant, Weekday, Zone};
use tidegate_core::policy::forecast::midnight;
use views::{
    spoken,
    stretches::{Line, Piece},
};

/// A line of time: what it shows, from when to when, and how high it is.
#[derive(Clone, Debug)]
pub(crate) struct Strip<'a> {
    pub(crate) pieces: &'a [Piece],
    pub(crate) range: Range<Instant>,
    /// Where lines stand across it: midnights, or firsts of months.
    pub(crate) marks: &'a [Instant],
    /// The instant that is now, if it is to be shown.
    pub(crate) now: Option<Instant>,
    pub(crate) height: u16,
}

impl Strip<'_> {
    /// The drawing, with what it shows as its name.
    pub(crate) fn draw(&self, label: &str) -> Markup {
        let Self { pieces, range, marks, now, height } = self;
        let bar = height / 2;
        let top = (height - bar) / 2;
        html! {
            svg class="strip" role="img" aria-label=(label) height=(height) {
                @for mark in *marks {
                    line class="grid" x1=(share(*mark, range)) x2=(share(*mark, range)) y1="0" y2=(height) {}
                }
                @for piece in *pieces {
                    (drawn(piece, range, top, bar))
                }
                @if let Some(now) = now.filter(|now| range.contains(now)) {
                    line class="now" x1=(share(now, range)) x2=(share(now, range)) y1="0" y2=(height) {}
                }
            }
        }
    }
}

fn drawn(piece: &Piece, range: &Range<Instant>, top: u16, bar: u16) -> Markup {
    let x = share(piece.start, range);
    let width = format!("{:.3}%", percent(piece.end, range) - percent(piece.start, range));
    let middle = top + bar / 2;
    html! {
        @match piece.state {
            Line::Open => rect class="p-open" x=(x) y=(top) width=(width) height=(bar) {},
            Line::Held => rect class="p-held" x=(x) y=(middle - 1) width=(width) height="2" {},
            Line::Frozen | Line::Lost => {
                rect class="p-frozen" x=(x) y=(top) width=(width) height=(bar) {}
                rect class="p-hatch" x=(x) y=(top) width=(width) height=(bar) {}
                @if piece.state == Line::Lost {
                    rect class="p-lost" x=(x) y=(top) width=(width) height=(bar) {}
                }
            },
            Line::Overridden => {
                rect class="p-override" x=(x) y=(top - 2) width=(width) height=(bar / 2 + 1) {}
                rect class="p-override" x=(x) y=(middle + 1) width=(width) height=(bar / 2 + 1) {}
            },
            Line::Unknown => {
                line class="p-unknown" x1=(x) x2=(format!("{:.3}%", percent(piece.end, range))) y1=(middle) y2=(middle) {}
            },
        }
    }
}

pub(crate) fn percent(at: Instant, range: &Range<Instant>) -> f64 {
    let whole = (range.end.unix() - range.start.unix()).max(1) as f64;
    (at.unix() - range.start.unix()) as f64 / whole * 100.0
}

pub(crate) fn share(at: Instant, range: &Range<Instant>) -> String {
    format!("{:.3}%", percent(at, range))
}

/// So many days of a zone, from that of an instant on.
pub(crate) fn days(at: Instant, days: i32, zone: &Zone) -> (Range<Instant>, Vec<Instant>) {
    let first = zone.date_of(at).days_since_epoch();
    let date = |day: i32| Date::from_days_since_epoch(day).unwrap_or_else(|_| zone.date_of(at));
    let midnights: Vec<Instant> = (0..=days).map(|day| midnight(date(first + day), zone)).collect();
    let (start, end) = (midnights.first().copied(), midnights.last().copied());
    (start.unwrap_or(at)..end.unwrap_or(at), midnights)
}

/// The names of days above their lines.
pub(crate) fn day_names(range: &Range<Instant>, midnights: &[Instant], zone: &Zone) -> Markup {
    html! {
        svg class="strip days" aria-hidden="true" height="18" {
            @for mark in midnights.iter().filter(|mark| range.contains(mark)) {
                @let date = zone.date_of(*mark);
                @let rest = matches!(date.weekday(), Weekday::Saturday | Weekday::Sunday);
                @let name: String = date.weekday().name().chars().take(3).collect();
                line class="grid" x1=(share(*mark, range)) x2=(share(*mark, range)) y1="0" y2="18" {}
                text class=(if rest { "rest" } else { "" }) x=(share(*mark, range)) dx="5" y="13" {
                    (name) " " (date.day())
                }
            }
        }
    }
}

/// What a line shows, in words: what is open in it, and what is not held by a schedule alone.
pub(crate) fn label(pieces: &[Piece], now: Instant, zone: &Zone) -> String {
    const SAID: usize = 4;
    let told: Vec<&Piece> = pieces.iter().filter(|piece| piece.state != Line::Held).collect();
    if told.is_empty() {
        return "held throughout".into();
    }
    let say = |piece: &&Piece| {
        let (from, until) =
            (spoken::when(piece.start, now, zone), spoken::when(piece.end, now, zone));
        format!("{} from {from} to {until}", piece.state.word())
    };
    let mut said: Vec<String> = told.iter().take(SAID).map(say).collect();
    if told.len() > SAID {
        said.push(format!("and {} more", told.len() - SAID));
    }
    said.join("; ")
}

/// What hatches a line; once on a page.
pub(crate) fn hatch() -> Markup {
    html! {
        svg class="unseen" width="0" height="0" aria-hidden="true" {
            defs {
                pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)" {
                    line class="hatch" x1="0" y1="0" x2="0" y2="6" {}
                }
            }
        }
    }
}

/// What each shape means.
pub(crate) fn key() -> Markup {
    html! {
        ul class="key" {
            li { svg viewBox="0 0 20 14" aria-hidden="true" { rect class="p-open" y="1" width="20" height="12" {} } "open" }
            li { svg viewBox="0 0 20 14" aria-hidden="true" { rect class="p-held" y="6" width="20" height="2" {} } "held" }
            li { svg viewBox="0 0 20 14" aria-hidden="true" {
                rect class="p-frozen" y="1" width="20" height="12" {} rect class="p-hatch" y="1" width="20" height="12" {}
            } "frozen" }
            li { svg viewBox="0 0 20 14" aria-hidden="true" {
                rect class="p-override" width="20" height="6" {} rect class="p-override" y="8" width="20" height="6" {}
            } "override" }
            li { svg viewBox="0 0 20 14" aria-hidden="true" { line class="p-unknown" y1="7" y2="7" x2="20" {} } "cannot tell" }
            li { svg viewBox="0 0 20 14" aria-hidden="true" {
                rect class="p-lost" x="1" y="1" width="18" height="12" {}
            } "window lost to a freeze" }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Instant {
        Instant::parse(text).unwrap()
    }

    /// States differ by what is drawn, not by its colour.
    #[test]
    fn every_state_has_a_shape_of_its_own() {
        let range = at("2026-11-18T00:00:00Z")..at("2026-11-25T00:00:00Z");
        let drawn = |state: Line| {
            let piece = Piece { start: range.start, end: range.end, state, reason: None };
            let strip =
                Strip { pieces: &[piece], range: range.clone(), marks: &[], now: None, height: 44 };
            let text = strip.draw("x").into_string();
            // Without classes there are no colours.
            let bare = ["p-open", "p-held", "p-frozen", "p-hatch", "p-lost", "p-override"];
            bare.iter().fold(text, |text, class| text.replace(class, ""))
        };
        let all =
            [Line::Open, Line::Held, Line::Frozen, Line::Lost, Line::Overridden, Line::Unknown];
        for (place, one) in all.iter().enumerate() {
            for other in &all[place + 1..] {
                assert_ne!(drawn(*one), drawn(*other), "{one:?} and {other:?}");
            }
        }
    }

    /// TIME-9: a week with a change of the clocks is an hour longer or shorter, and its midnights stand where they are.
    #[test]
    fn days_are_those_of_the_zone() {
        let berlin = Zone::named("Europe/Berlin").unwrap();
        let (range, midnights) = days(at("2026-10-24T12:00:00Z"), 7, &berlin);
        assert_eq!(range.end.unix() - range.start.unix(), 7 * 86_400 + 3_600);
        assert_eq!(midnights.len(), 8);
        assert_eq!(midnights[1].to_string(), "2026-10-24T22:00:00Z");
        assert_eq!(midnights[2].to_string(), "2026-10-25T23:00:00Z");
    }
}
