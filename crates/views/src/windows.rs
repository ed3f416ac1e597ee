//! When are the next windows, and how many hours has each month?

use std::{fmt::Write as _, ops::Range};

use schedule::{Instant, Span};
use serde::Serialize;
use tidegate_core::policy::{
    forecast::{self, MonthTotal},
    read::Policy,
};

use crate::{
    drawing::{Colour, Detail},
    heading::heading,
    items::{Items, Named},
    safe::printable,
    text,
};

/// The output for programs (docs/reference/json.md).
#[derive(Serialize)]
pub struct Item {
    #[serde(flatten)]
    object: Named,
    windows: Vec<Window>,
    hours: Vec<Hours>,
}

#[derive(Serialize)]
struct Window {
    start: Option<String>,
    end: Option<String>,
}

#[derive(Serialize)]
struct Hours {
    month: String,
    hours: f64,
}

/// The windows that meet a range and the hours of its months, for programs.
pub fn items<'a>(
    policies: impl IntoIterator<Item = &'a Policy>,
    range: &Range<Instant>,
) -> Items<Item> {
    let edge = |edge: Option<Instant>| edge.map(|edge| edge.to_string());
    let item = |policy: &Policy| {
        let Policy { object, lowered, .. } = policy;
        Item {
            object: Named::from(object),
            windows: lowered
                .set
                .spans(range.clone())
                .map(|span| Window { start: edge(span.start), end: edge(span.end) })
                .collect(),
            hours: hours(policy, range)
                .iter()
                .map(|total| Hours {
                    month: month_name(total),
                    hours: total.permitted as f64 / 3600.0,
                })
                .collect(),
        }
    };
    policies.into_iter().map(item).collect()
}

/// Whole months: a month that is half over has not lost half its hours.
fn hours(policy: &Policy, range: &Range<Instant>) -> Vec<MonthTotal> {
    let zone = &policy.lowered.zone;
    forecast::months(&policy.lowered.set, forecast::whole_months(range, zone), zone)
}

fn month_name(total: &MonthTotal) -> String {
    format!("{:04}-{:02}", total.month.year(), total.month.month())
}

/// The same for people, for one policy.
pub fn table(
    policy: &Policy,
    range: &Range<Instant>,
    now: Instant,
    detail: Detail,
    colour: Colour,
) -> String {
    let mut text = heading(policy, now, colour);
    let spans: Vec<Span> = policy.lowered.set.spans(range.clone()).collect();
    if spans.is_empty() {
        let _ = writeln!(text, "\n  no window from {} until {}", range.start, range.end);
        let ahead = policy.lowered.set.next_change(range.start);
        if let Some(next) = ahead.filter(|_| !policy.lowered.set.contains(range.start)) {
            let zone = &policy.lowered.zone;
            let when = text::edge(Some(next), zone, "never");
            let _ = writeln!(text, "  the next one opens at {when}, {}", text::relative(next, now));
        }
    } else {
        text.push('\n');
        text.push_str(&windows(policy, &spans, now, detail));
    }
    text.push('\n');
    text.push_str(&month_rows(policy, range));
    text
}

fn windows(policy: &Policy, spans: &[Span], now: Instant, detail: Detail) -> String {
    let zone = &policy.lowered.zone;
    let mut head = vec!["OPENS", "CLOSES", "LENGTH", "WHEN"];
    if detail == Detail::Full {
        head.push("WHY");
    }
    let mut rows = vec![head.into_iter().map(str::to_owned).collect::<Vec<_>>()];
    for span in spans {
        let length = match (span.start, span.end) {
            (Some(start), Some(end)) => text::length(end.unix() - start.unix()),
            (None, Some(_)) => "no start".into(),
            (Some(_), None) => "no end".into(),
            (None, None) => "always".into(),
        };
        let when = match (span.start, span.end) {
            (_, Some(end)) if end <= now => format!("closed {}", text::relative(end, now)),
            (Some(start), _) if start > now => text::relative(start, now),
            (_, Some(end)) => format!("open, closes {}", text::relative(end, now)),
            (_, None) => "open".into(),
        };
        let mut row = vec![
            text::edge(span.start, zone, "always was"),
            text::edge(span.end, zone, "never"),
            length,
            when,
        ];
        if detail == Detail::Full {
            let at = span.start.unwrap_or(now);
            row.push(printable(&tidegate_core::policy::explain::sentence(&policy.lowered, at)));
        }
        rows.push(row);
    }
    text::table(2, &rows)
}

fn month_rows(policy: &Policy, range: &Range<Instant>) -> String {
    let mut rows = vec![vec!["MONTH".to_owned(), "HOURS".to_owned(), "SHARE".to_owned()]];
    for total in hours(policy, range) {
        let share = total.permitted as f64 / total.total as f64 * 100.0;
        rows.push(vec![month_name(&total), text::hours(total.permitted), format!("{share:.1} %")]);
    }
    text::table(2, &rows)
}
