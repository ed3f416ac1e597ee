//! `tidegate next`: when are the next windows?

use std::{fmt::Write as _, ops::Range};

use clap::{Args, FromArgMatches as _};
use schedule::{Instant, Span, Zone};
use serde::Serialize;
use tidegate_core::{
    forecast::{self, MonthTotal},
    problem::Object,
    read::Policy,
    verdict::Verdict,
};

use super::{Listed, Verb};
use crate::{
    args::{Ahead, Format, Formats, Sources, When},
    edge::Edge,
    output::{self, Colour, Items, Named, Output, Style},
    source::Found,
    text,
};

pub(crate) fn verb() -> Verb {
    Verb {
        name: "next",
        about: "List the next windows, and the hours of each month",
        more: "Every window that meets the range is listed whole, with its true edges.\n\n\
               Examples:\n  \
               tidegate next -f policy.yaml\n  \
               tidegate next -f policies/ --from 2026-12-01 --until 2027-01-01 -o json\n  \
               kubectl get changemanagementpolicies -o yaml | tidegate next -f - --for 1y",
        listed: Listed::Yes,
        args: Next::augment_args,
        run: |matches, edge| run(&Next::from_arg_matches(matches)?, edge),
    }
}

#[derive(Args, Debug)]
struct Next {
    #[command(flatten)]
    sources: Sources,
    #[command(flatten)]
    when: When,
    #[command(flatten)]
    formats: Formats,
}

/// The output for programs (docs/reference/json.md).
#[derive(Serialize)]
struct Item {
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

fn run(args: &Next, edge: &mut Edge) -> anyhow::Result<Output> {
    let range = args.when.range(edge, Ahead::days(30))?;
    let now = args.when.now(edge);
    let loaded = args.sources.load(edge)?;
    let text = match args.formats.output {
        Format::Json => output::json(&items(&loaded.policies, &range))?,
        Format::Yaml => output::yaml(&items(&loaded.policies, &range))?,
        format @ (Format::Table | Format::Wide) => {
            let show = |found: &Found| table(&found.policy, &range, now, format, edge.colour);
            loaded.policies.iter().map(show).collect::<Vec<_>>().join("\n")
        }
    };
    Ok(Output::done(text).with_problems(&loaded))
}

fn items(policies: &[Found], range: &Range<Instant>) -> Items<Item> {
    let edge = |edge: Option<Instant>| edge.map(|edge| edge.to_string());
    let item = |found: &Found| {
        let Policy { object, lowered, .. } = &found.policy;
        Item {
            object: Named::from(object),
            windows: lowered
                .set
                .spans(range.clone())
                .map(|span| Window { start: edge(span.start), end: edge(span.end) })
                .collect(),
            hours: hours(&found.policy, range)
                .iter()
                .map(|total| Hours {
                    month: month_name(total),
                    hours: total.permitted as f64 / 3600.0,
                })
                .collect(),
        }
    };
    Items { items: policies.iter().map(item).collect() }
}

/// Whole months: a month that is half over has not lost half its hours.
fn hours(policy: &Policy, range: &Range<Instant>) -> Vec<MonthTotal> {
    let zone = &policy.lowered.scheduled.zone;
    forecast::months(&policy.lowered.set, forecast::whole_months(range, zone), zone)
}

fn month_name(total: &MonthTotal) -> String {
    format!("{:04}-{:02}", total.month.year(), total.month.month())
}

fn table(
    policy: &Policy,
    range: &Range<Instant>,
    now: Instant,
    format: Format,
    colour: Colour,
) -> String {
    let mut text = heading(policy, now, colour);
    let spans: Vec<Span> = policy.lowered.set.spans(range.clone()).collect();
    if spans.is_empty() {
        let _ = writeln!(text, "\n  no window from {} until {}", range.start, range.end);
        let ahead = policy.lowered.set.next_change(range.start);
        if let Some(next) = ahead.filter(|_| !policy.lowered.set.contains(range.start)) {
            let zone = &policy.lowered.scheduled.zone;
            let when = text::edge(Some(next), zone, "never");
            let _ = writeln!(text, "  the next one opens at {when}, {}", text::relative(next, now));
        }
    } else {
        text.push('\n');
        text.push_str(&windows(policy, &spans, now, format));
    }
    text.push('\n');
    text.push_str(&month_rows(policy, range));
    text
}

/// The name of a policy and its state now.
pub(crate) fn heading(policy: &Policy, now: Instant, colour: Colour) -> String {
    let Policy { object, lowered, .. } = policy;
    let (verdict, until) = (Verdict::of(&lowered.set, now), lowered.set.next_change(now));
    headline(object, verdict, until, &lowered.scheduled.zone, now, colour)
}

/// The name of an object and its state now.
pub(crate) fn headline(
    object: &Object,
    verdict: Verdict,
    until: Option<Instant>,
    zone: &Zone,
    now: Instant,
    colour: Colour,
) -> String {
    let until = match until {
        Some(end) => {
            format!("until {}, {}", text::edge(Some(end), zone, ""), text::relative(end, now))
        }
        None => "for ever".into(),
    };
    let said = match verdict {
        Verdict::Permitted => {
            format!("changes are {} {until}", colour.paint(Style::Open, verdict.as_str()))
        }
        Verdict::Held => {
            format!("changes are {} {until}", colour.paint(Style::Paused, verdict.as_str()))
        }
        // Whatever its end, it is not known (GATE-12).
        Verdict::CannotTell => format!(
            "nobody {} whether changes are permitted, so they are held",
            colour.paint(Style::Paused, "can tell")
        ),
    };
    let object = colour.paint(Style::Strong, &output::printable(&object.to_string()));
    format!("{object}\n  at {now} {said}\n")
}

fn windows(policy: &Policy, spans: &[Span], now: Instant, format: Format) -> String {
    let zone = &policy.lowered.scheduled.zone;
    let mut head = vec!["OPENS", "CLOSES", "LENGTH", "WHEN"];
    if format == Format::Wide {
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
        if format == Format::Wide {
            let at = span.start.unwrap_or(now);
            row.push(output::printable(&tidegate_core::explain::sentence(&policy.lowered, at)));
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
