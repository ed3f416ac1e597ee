//! Every hour of every day: a row for each day, a column for each half hour.

use std::fmt::Write as _;

use schedule::Weekday;
use tidegate_core::policy::calendar::{Day, Month};

use super::{PolicyMonths, excluded_when, month_name};
use crate::{
    drawing::{Colour, Style},
    heading::heading,
    safe::printable,
    text,
};

/// Columns for a day.
const COLUMNS: i64 = 48;

/// Draws the months of a policy.
pub fn draw(drawn: &PolicyMonths<'_>, colour: Colour) -> String {
    let mut text = heading(drawn.policy, drawn.now, colour);
    let _ = writeln!(text, "  times in {}", drawn.policy.lowered.zone.name());
    for month in &drawn.months {
        text.push('\n');
        text.push_str(&draw_month(month, drawn, colour));
    }
    text
}

/// What the signs mean.
pub fn legend(colour: Colour) -> String {
    format!(
        "  {} permitted   {} part of the half hour   {} paused   {} excluded   {} today\n",
        colour.paint(Style::Open, "█"),
        colour.paint(Style::Open, "▄"),
        colour.paint(Style::Faint, "·"),
        colour.paint(Style::Excluded, "╱"),
        colour.paint(Style::Today, ">"),
    )
}

fn draw_month(month: &Month, drawn: &PolicyMonths<'_>, colour: Colour) -> String {
    let name = month_name(month.first);
    let mut text = format!(
        "  {}, {} permitted\n",
        colour.paint(Style::Strong, &name),
        text::hours(month.permitted())
    );
    let hours = (0..24).step_by(3).map(|hour| format!("{hour:<6}")).collect::<Vec<_>>().concat();
    let _ = writeln!(text, "           {}", colour.paint(Style::Faint, &format!("{hours}24")));
    for day in &month.days {
        if day.date.weekday() == Weekday::Monday && day.date.day() > 1 {
            text.push('\n');
        }
        text.push_str(&row(day, drawn, colour));
    }
    text
}

fn row(day: &Day, drawn: &PolicyMonths<'_>, colour: Colour) -> String {
    let today = day.date == drawn.today;
    let name = day.date.weekday().name().get(..2).unwrap_or_default();
    let mark = if today { ">" } else { " " };
    let label = format!("{mark} {name} {:>2}", day.date.day());
    let label = if today { colour.paint(Style::Today, &label) } else { label };
    let strip = if day.excluded.is_some() {
        colour.paint(Style::Excluded, &"╱".repeat(COLUMNS as usize))
    } else {
        strip(day, colour)
    };
    let mut line = format!("  {label}  {strip}");
    if day.permitted() > 0 {
        let _ = write!(line, "  {}", text::hours(day.permitted()));
    }
    let parts = &drawn.policy.lowered.parts;
    if let Some(exclusion) = day.excluded.and_then(|place| parts.exclusions().nth(place)) {
        let reason = exclusion
            .reason
            .as_deref()
            .map_or_else(|| excluded_when(exclusion, &drawn.policy.lowered.zone), printable);
        let _ = write!(line, "  {reason}");
    }
    line.push('\n');
    line
}

fn strip(day: &Day, colour: Colour) -> String {
    let (start, end) = (day.range.start.unix(), day.range.end.unix());
    let sign = |column: i64| {
        let from = start + (end - start) * column / COLUMNS;
        let to = start + (end - start) * (column + 1) / COLUMNS;
        let open: i64 = day
            .open
            .iter()
            .map(|part| (part.end.unix().min(to) - part.start.unix().max(from)).max(0))
            .sum();
        match open {
            0 => '·',
            seconds if seconds == to - from => '█',
            _ => '▄',
        }
    };
    let signs: Vec<char> = (0..COLUMNS).map(sign).collect();
    signs
        .chunk_by(|a, b| (*a == '·') == (*b == '·'))
        .map(|run| {
            let style = if run.first() == Some(&'·') { Style::Faint } else { Style::Open };
            colour.paint(style, &run.iter().collect::<String>())
        })
        .collect()
}
