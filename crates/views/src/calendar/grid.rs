//! Months as people know them: weeks as rows, with the windows of each week beside it.
//!
//! Every state has a sign of its own, so the drawing says the same without colour: `█` permitted all day, `▄` a part of the day,
//! `╱` excluded, brackets for today.

use std::fmt::Write as _;

use schedule::{Date, Instant, Span, TimeOfDay, Weekday, Zone};
use tidegate_core::policy::{
    calendar::{Cover, Day, Month},
    explain::rule,
    part::PartKind,
};

use super::{PolicyMonths, excluded_when, month_name};
use crate::{
    drawing::{Colour, Style},
    heading::heading,
    safe::printable,
    text,
};

/// Draws the months of a policy.
pub fn draw(drawn: &PolicyMonths<'_>, colour: Colour) -> String {
    let mut text = heading(drawn.policy, drawn.now, colour);
    let lowered = &drawn.policy.lowered;
    let rule = rule::sentences(&lowered.parts).unwrap_or_else(|| match lowered.parts.kind {
        PartKind::Plain => format!("strategy {:?}", lowered.strategy),
        _ => format!("times in {}", lowered.zone.name()),
    });
    let _ = writeln!(text, "  {rule}");
    for month in &drawn.months {
        text.push('\n');
        text.push_str(&draw_month(month, drawn, colour));
    }
    let exclusions = drawn.exclusions();
    if !exclusions.is_empty() {
        text.push('\n');
        for exclusion in exclusions {
            let reason = exclusion.reason.as_deref().unwrap_or("no reason given");
            let sign = colour.paint(Style::Excluded, "╱╱");
            let _ = writeln!(
                text,
                "  {sign} {}: {}",
                excluded_when(exclusion, &drawn.policy.lowered.zone),
                printable(reason)
            );
        }
    }
    text
}

/// What the signs mean.
pub fn legend(colour: Colour) -> String {
    format!(
        "  {} all day   {} part of the day   {} excluded   {} today\n",
        colour.paint(Style::OpenDay, " 1█"),
        colour.paint(Style::Open, " 1▄"),
        colour.paint(Style::Excluded, "╱1╱"),
        colour.paint(Style::Today, "[1]"),
    )
}

fn draw_month(month: &Month, drawn: &PolicyMonths<'_>, colour: Colour) -> String {
    let name = month_name(month.first);
    let hours = format!("{} permitted", text::hours(month.permitted()));
    let mut text = format!(
        "  {} {hours:>width$}\n",
        colour.paint(Style::Strong, &name),
        width = 34 - name.chars().count()
    );
    let _ = writeln!(text, "  {}", colour.paint(Style::Faint, " Mo   Tu   We   Th   Fr   Sa   Su"));
    for week in weeks(month) {
        let mut line = "  ".to_owned();
        let blank = week.first().map_or(0, |day| day.date.weekday() as usize);
        line.push_str(&"     ".repeat(blank));
        for day in week {
            line.push_str(&cell(day, drawn.today, colour));
        }
        let used = blank + week.len();
        let beside = beside(week, month, &drawn.policy.lowered.zone);
        if !beside.is_empty() {
            line.push_str(&"     ".repeat(7 - used));
            let _ = write!(line, "  {}", colour.paint(Style::Open, &beside));
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// The days of a month by weeks, which begin on Monday.
fn weeks(month: &Month) -> impl Iterator<Item = &[Day]> {
    month.days.chunk_by(|_, next| next.date.weekday() != Weekday::Monday)
}

/// A day in five columns.
fn cell(day: &Day, today: Date, colour: Colour) -> String {
    let number = day.date.day();
    let (mut left, sign, mut right, style) = match (day.excluded, day.cover()) {
        (Some(_), _) => ('╱', '╱', '╱', Some(Style::Excluded)),
        (None, Cover::Open) => (' ', '█', ' ', Some(Style::OpenDay)),
        (None, Cover::Part) => (' ', '▄', ' ', Some(Style::Open)),
        (None, Cover::Closed) => (' ', ' ', ' ', None),
    };
    let mut style = style;
    if day.date == today {
        (left, right) = ('[', ']');
        style = Some(Style::Today);
    }
    let text = format!("{left}{number:>2}{sign}{right}");
    style.map_or_else(|| text.clone(), |style| colour.paint(style, &text))
}

/// The windows that open in a week, those with the same hours together; in the first week also the one that was open before.
fn beside(week: &[Day], month: &Month, zone: &Zone) -> String {
    let (Some(first), Some(last)) = (week.first(), week.last()) else { return String::new() };
    let mut notes: Vec<String> = Vec::new();
    let mut groups: Vec<(String, Vec<Weekday>)> = Vec::new();
    for Span { start, end } in &month.spans {
        let begins_before = start.is_none_or(|start| start < first.range.start);
        match (start, end) {
            (_, Some(end)) if begins_before && first.date == month.first => {
                notes.push(format!("until {}", closing(zone, *end)));
            }
            (Some(start), None) if !begins_before && *start < last.range.end => {
                notes.push(format!(
                    "from {} {} on",
                    short(zone.date_of(*start)),
                    zone.time_of(*start)
                ));
            }
            (Some(start), Some(end)) if !begins_before && *start < last.range.end => {
                let hours = hours(zone, *start, *end);
                let day = zone.date_of(*start).weekday();
                match groups.iter_mut().find(|(known, _)| *known == hours) {
                    Some((_, days)) => days.push(day),
                    None => groups.push((hours, vec![day])),
                }
            }
            _ => {}
        }
    }
    notes.extend(groups.iter().map(|(hours, days)| format!("{}{hours}", day_names(days))));
    notes.join("; ")
}

/// From when to when a window lasts, to be written after the day it opens on.
fn hours(zone: &Zone, start: Instant, end: Instant) -> String {
    let nights = zone.date_of(end).days_since_epoch() - zone.date_of(start).days_since_epoch();
    let (from, to) = (zone.time_of(start), zone.time_of(end));
    let whole_days = from == TimeOfDay::MIDNIGHT && to == TimeOfDay::MIDNIGHT;
    match nights {
        0 => format!(" {from}-{to}"),
        1 if whole_days => " all day".into(),
        _ if whole_days => format!(" to {} all day", closing(zone, end).trim_end_matches(" 24:00")),
        1 if to == TimeOfDay::MIDNIGHT => format!(" {from}-24:00"),
        1 => format!(" {from}-{to} next day"),
        _ => format!(" {from} to {}", closing(zone, end)),
    }
}

/// `Su 8 04:00`; a midnight belongs to the day before it, as `Su 8 24:00`.
fn closing(zone: &Zone, end: Instant) -> String {
    let (date, time) = (zone.date_of(end), zone.time_of(end));
    let yesterday = Date::from_days_since_epoch(date.days_since_epoch() - 1);
    match yesterday {
        Ok(day) if time == TimeOfDay::MIDNIGHT => format!("{} 24:00", short(day)),
        _ => format!("{} {time}", short(date)),
    }
}

/// `Su 8`.
fn short(date: Date) -> String {
    format!("{} {}", date.weekday().name().get(..2).unwrap_or_default(), date.day())
}

/// `Sa`, `Mo Th`, `Mo-Fr`.
fn day_names(days: &[Weekday]) -> String {
    let short = |day: &Weekday| day.name().get(..2).unwrap_or_default().to_owned();
    let run = days.windows(2).all(|pair| matches!(pair, [a, b] if *a as usize + 1 == *b as usize));
    match days {
        [first, _, .., last] if run => format!("{}-{}", short(first), short(last)),
        days => days.iter().map(short).collect::<Vec<_>>().join(" "),
    }
}
