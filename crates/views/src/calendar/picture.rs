//! A picture: a card for each month, a box for each day, the permitted hours as bars from left to right.
//!
//! Colours follow the reader's light or dark scheme. Nothing is said by colour alone: bars show the hours, excluded days are
//! hatched, today has a frame, and every day has a title that says it in words.

use std::fmt::Write as _;

use schedule::{Date, Weekday};
use tidegate_core::policy::{
    calendar::{Day, Month},
    explain,
    forecast::length,
};

use super::{PolicyMonths, excluded_when, month_name};
use crate::{
    svg::{self, safe},
    text,
};

const CELL: usize = 38;
const CELL_HEIGHT: usize = 34;
const CARD: usize = 7 * CELL + 32;
const CARD_FRAME: usize = 70;
const GAP: usize = 18;
const MARGIN: usize = 32;

/// Draws all policies, one below the other.
pub fn picture(drawings: &[PolicyMonths<'_>]) -> String {
    let columns = drawings.iter().map(|drawn| drawn.months.len()).max().unwrap_or(1).clamp(1, 3);
    let width = 2 * MARGIN + columns * CARD + (columns - 1) * GAP;
    let mut body = String::new();
    let mut y = MARGIN;
    for drawn in drawings {
        y = policy(drawn, columns, y, &mut body);
    }
    let legend = legend(y + 6);
    let height = y + 40;
    svg::page((width, height), "Maintenance calendar", "", &(body + &legend))
}

fn policy(drawn: &PolicyMonths<'_>, columns: usize, top: usize, body: &mut String) -> usize {
    let lowered = &drawn.policy.lowered;
    let name = drawn.policy.object.name.as_deref().unwrap_or_default();
    let what = explain::rule::sentences(&lowered.parts).unwrap_or_else(|| {
        format!("strategy {:?}, times in {}", lowered.strategy, lowered.zone.name())
    });
    let _ = writeln!(
        body,
        "<text class=\"name\" x=\"{MARGIN}\" y=\"{}\">{}</text>",
        top + 16,
        safe(name)
    );
    let line = format!("{}: {what}", drawn.policy.object.kind);
    let _ = writeln!(
        body,
        "<text class=\"faint\" x=\"{MARGIN}\" y=\"{}\">{}</text>",
        top + 38,
        safe(&line)
    );
    let mut y = top + 54;
    for row in drawn.months.chunks(columns) {
        // Cards of one row are as high as the month with the most weeks needs.
        let height = CARD_FRAME + row.iter().map(weeks).max().unwrap_or(0) * CELL_HEIGHT;
        for (place, month) in row.iter().enumerate() {
            card(month, drawn, (MARGIN + place * (CARD + GAP), y), height, body);
        }
        y += height + GAP;
    }
    for exclusion in drawn.exclusions() {
        let reason = exclusion.reason.as_deref().unwrap_or("no reason given");
        let line = format!("{}: {reason}", excluded_when(exclusion, &drawn.policy.lowered.zone));
        let _ = writeln!(
            body,
            "<rect class=\"shut\" x=\"{MARGIN}\" y=\"{0}\" width=\"16\" height=\"12\"/>\
             <rect fill=\"url(#hatch)\" x=\"{MARGIN}\" y=\"{0}\" width=\"16\" height=\"12\"/>\
             <text x=\"{1}\" y=\"{2}\">{3}</text>",
            y,
            MARGIN + 24,
            y + 10,
            safe(&line)
        );
        y += 22;
    }
    y + 14
}

/// How many weeks a month touches.
fn weeks(month: &Month) -> usize {
    let mondays = month.days.iter().skip(1).filter(|day| day.date.weekday() == Weekday::Monday);
    1 + mondays.count()
}

fn card(
    month: &Month,
    drawn: &PolicyMonths<'_>,
    (x, y): (usize, usize),
    height: usize,
    body: &mut String,
) {
    let _ = writeln!(
        body,
        "<g transform=\"translate({x} {y})\"><rect class=\"card\" width=\"{CARD}\" height=\"{height}\" rx=\"8\"/>\n\
         <text class=\"month\" x=\"16\" y=\"26\">{}</text>\
         <text class=\"faint\" x=\"{}\" y=\"26\" text-anchor=\"end\">{} permitted</text>",
        month_name(month.first),
        CARD - 16,
        text::hours(month.permitted())
    );
    for (column, weekday) in Weekday::ALL.iter().enumerate() {
        let _ = writeln!(
            body,
            "<text class=\"faint number\" x=\"{}\" y=\"48\" text-anchor=\"middle\">{}</text>",
            16 + column * CELL + CELL / 2,
            weekday.name().get(..2).unwrap_or_default()
        );
    }
    let mut row = 0;
    for day in &month.days {
        let column = day.date.weekday() as usize;
        if column == 0 && day.date.day() > 1 {
            row += 1;
        }
        cell(day, drawn, 16 + column * CELL, 56 + row * CELL_HEIGHT, body);
    }
    body.push_str("</g>\n");
}

fn cell(day: &Day, drawn: &PolicyMonths<'_>, x: usize, y: usize, body: &mut String) {
    let (width, height) = (CELL - 3, CELL_HEIGHT - 3);
    let _ = write!(
        body,
        "<g><title>{}</title><rect class=\"day\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"3\"/>",
        safe(&title(day, drawn))
    );
    if day.excluded.is_some() {
        let _ = write!(
            body,
            "<rect class=\"shut\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"3\"/>\
             <rect fill=\"url(#hatch)\" x=\"{x}\" y=\"{}\" width=\"{width}\" height=\"{}\" rx=\"2\"/>",
            y + 17,
            height - 17
        );
    }
    let span = length(&day.range).max(1) as f64;
    for part in &day.open {
        let from = (part.start.unix() - day.range.start.unix()) as f64 / span;
        let share = length(part) as f64 / span;
        let _ = write!(
            body,
            "<rect class=\"open\" x=\"{:.1}\" y=\"{}\" width=\"{:.1}\" height=\"{}\" rx=\"2\"/>",
            x as f64 + from * width as f64,
            y + 17,
            (share * width as f64).max(1.0),
            height - 17
        );
    }
    let _ = write!(
        body,
        "<text class=\"number\" x=\"{}\" y=\"{}\">{}</text>",
        x + 5,
        y + 13,
        day.date.day()
    );
    if day.date == drawn.today {
        let _ = write!(
            body,
            "<rect class=\"today\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"3\"/>"
        );
    }
    body.push_str("</g>\n");
}

/// A day in words.
fn title(day: &Day, drawn: &PolicyMonths<'_>) -> String {
    let lowered = &drawn.policy.lowered;
    let zone = &lowered.zone;
    let name: &str = day.date.weekday().name();
    let mut words = format!("{name} {}", day.date);
    let exclusion = day.excluded.and_then(|place| lowered.parts.exclusions().nth(place));
    if let Some(exclusion) = exclusion {
        let _ = write!(
            words,
            ": excluded, {}",
            exclusion.reason.as_deref().unwrap_or("no reason given")
        );
    } else if day.open.is_empty() {
        words.push_str(": paused");
    } else {
        let midnight = |date: Date, at: schedule::Instant| zone.date_of(at) > date;
        let hours: Vec<String> = day
            .open
            .iter()
            .map(|part| {
                let end = if midnight(day.date, part.end) {
                    "24:00".into()
                } else {
                    zone.time_of(part.end).to_string()
                };
                format!("{}-{end}", zone.time_of(part.start))
            })
            .collect();
        let _ = write!(words, ": permitted {}", hours.join(", "));
    }
    if day.date == drawn.today {
        words.push_str(" (today)");
    }
    words
}

fn legend(y: usize) -> String {
    let box_at = |x: usize, class: &str, extra: &str| {
        format!(
            "<rect class=\"{class}\" {extra} x=\"{x}\" y=\"{y}\" width=\"16\" height=\"12\" rx=\"2\"/>"
        )
    };
    let word = |x: usize, word: &str| {
        format!("<text class=\"faint\" x=\"{x}\" y=\"{}\">{word}</text>", y + 10)
    };
    let x = MARGIN;
    [
        box_at(x, "open", ""),
        word(x + 24, "permitted hours, midnight to midnight"),
        box_at(x + 276, "shut", ""),
        box_at(x + 276, "excluded", "fill=\"url(#hatch)\""),
        word(x + 300, "excluded"),
        box_at(x + 388, "today", ""),
        word(x + 412, "today"),
    ]
    .concat()
        + "\n"
}
