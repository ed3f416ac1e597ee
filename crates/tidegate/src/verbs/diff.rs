//! `tidegate diff`: what does an edit gain and lose?

use std::{collections::BTreeMap, fmt::Write as _, ops::Range, path::PathBuf};

use clap::{Args, FromArgMatches as _};
use schedule::{Instant, Span, TimeSet, Zone};
use serde::Serialize;
use tidegate_core::{
    forecast::{self, Change},
    problem::Object,
    read::Policy,
};
use views::{
    drawing::{Colour, Style},
    items::Named,
    safe::printable,
    text,
};

use super::{Listed, Verb};
use crate::{
    args::{Ahead, Format, Formats, When},
    edge::Edge,
    output::{self, Exit, Output},
    source::{self, Loaded},
};

pub(crate) fn verb() -> Verb {
    Verb {
        name: "diff",
        about: "Compare two versions of policies: windows, hours and the longest wait",
        more: "Policies are matched by kind, namespace and name; if each side holds one, those two are compared\n\
               whatever their names. A policy that is missing on one side permits nothing there.\n\
               With --exit-code the exit code is 1 if anything differs.\n\n\
               Examples:\n  \
               tidegate diff old.yaml new.yaml --for 1y\n  \
               git show HEAD:policy.yaml | tidegate diff - policy.yaml",
        listed: Listed::Yes,
        args: Diff::augment_args,
        run: |matches, edge| run(&Diff::from_arg_matches(matches)?, edge),
    }
}

#[derive(Args, Debug)]
struct Diff {
    /// The policies before the edit: a file, a folder, or - for standard input
    #[arg(value_name = "OLD")]
    old: PathBuf,
    /// The policies after it
    #[arg(value_name = "NEW")]
    new: PathBuf,
    #[command(flatten)]
    when: When,
    #[command(flatten)]
    formats: Formats,
    /// Exit with 1 if anything differs
    #[arg(long)]
    exit_code: bool,
}

/// Two versions of one policy, and what is between them.
struct Pair {
    object: Object,
    zone: Zone,
    old: TimeSet,
    new: TimeSet,
    presence: Presence,
    change: Change,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Presence {
    Both,
    OldOnly,
    NewOnly,
}

/// The output for programs (docs/reference/json.md).
#[derive(Serialize)]
struct Report {
    from: String,
    until: String,
    items: Vec<Item>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Item {
    #[serde(flatten)]
    object: Named,
    presence: &'static str,
    gained: Vec<Window>,
    lost: Vec<Window>,
    months: Vec<MonthItem>,
    hours: Figures,
    longest_gap_hours: Figures,
}

#[derive(Serialize)]
struct Window {
    start: Option<String>,
    end: Option<String>,
}

#[derive(Serialize)]
struct MonthItem {
    month: String,
    old: f64,
    new: f64,
}

#[derive(Serialize)]
struct Figures {
    old: f64,
    new: f64,
}

fn run(args: &Diff, edge: &mut Edge) -> anyhow::Result<Output> {
    let range = args.when.range(edge, Ahead::months(12))?;
    if args.old.as_os_str() == "-" && args.new.as_os_str() == "-" {
        anyhow::bail!(
            "standard input can be one side only\n  hint: write one of the two to a file"
        );
    }
    let old = source::load(std::slice::from_ref(&args.old), &mut edge.stdin);
    let new = source::load(std::slice::from_ref(&args.new), &mut edge.stdin);
    let pairs = pairs(&old, &new, &range);
    let text = match args.formats.output {
        Format::Json => output::json(&report(&pairs, &range))?,
        Format::Yaml => output::yaml(&report(&pairs, &range))?,
        format @ (Format::Table | Format::Wide) => {
            let show = |pair: &Pair| table(pair, &range, format, edge.colour);
            pairs.iter().map(show).collect::<Vec<_>>().join("\n")
        }
    };
    let mut output = Output::done(text);
    let differs = |pair: &Pair| {
        pair.presence != Presence::Both
            || !pair.change.gained.is_empty()
            || !pair.change.lost.is_empty()
    };
    if args.exit_code && pairs.iter().any(differs) {
        output.exit = Exit::No;
    }
    Ok(output.with_problems(&old).with_problems(&new))
}

fn pairs(old: &Loaded, new: &Loaded, range: &Range<Instant>) -> Vec<Pair> {
    let policies = |loaded: &Loaded| -> Vec<Policy> {
        loaded.policies.iter().map(|found| found.policy.clone()).collect()
    };
    let (old, new) = (policies(old), policies(new));
    if let ([old], [new]) = (old.as_slice(), new.as_slice()) {
        return vec![pair(Some(old), Some(new), range)].into_iter().flatten().collect();
    }
    let mut by_object: BTreeMap<&Object, (Option<&Policy>, Option<&Policy>)> = BTreeMap::new();
    for policy in &old {
        by_object.entry(&policy.object).or_default().0 = Some(policy);
    }
    for policy in &new {
        by_object.entry(&policy.object).or_default().1 = Some(policy);
    }
    by_object.into_values().filter_map(|(old, new)| pair(old, new, range)).collect()
}

fn pair(old: Option<&Policy>, new: Option<&Policy>, range: &Range<Instant>) -> Option<Pair> {
    let shown = new.or(old)?;
    let set = |policy: Option<&Policy>| {
        policy.map_or_else(TimeSet::never, |policy| policy.lowered.set.clone())
    };
    let presence = match (old, new) {
        (Some(_), None) => Presence::OldOnly,
        (None, Some(_)) => Presence::NewOnly,
        _ => Presence::Both,
    };
    let (old, new) = (set(old), set(new));
    Some(Pair {
        object: shown.object.clone(),
        zone: shown.lowered.scheduled.zone.clone(),
        change: forecast::change(&old, &new, range),
        old,
        new,
        presence,
    })
}

fn report(pairs: &[Pair], range: &Range<Instant>) -> Report {
    Report {
        from: range.start.to_string(),
        until: range.end.to_string(),
        items: pairs.iter().map(|pair| item(pair, range)).collect(),
    }
}

fn item(pair: &Pair, range: &Range<Instant>) -> Item {
    let edge = |edge: Option<Instant>| edge.map(|edge| edge.to_string());
    let windows = |spans: &[Span]| {
        spans.iter().map(|span| Window { start: edge(span.start), end: edge(span.end) }).collect()
    };
    let hours = |seconds: i64| seconds as f64 / 3600.0;
    let total = |set: &TimeSet| hours(forecast::seconds(set, range.clone()));
    let gap = |set: &TimeSet| {
        forecast::longest_gap(set, range).map_or(0.0, |gap| hours(forecast::length(&gap)))
    };
    Item {
        object: Named::from(&pair.object),
        presence: match pair.presence {
            Presence::Both => "both",
            Presence::OldOnly => "old",
            Presence::NewOnly => "new",
        },
        gained: windows(&pair.change.gained),
        lost: windows(&pair.change.lost),
        months: months(pair, range)
            .into_iter()
            .map(|(month, old, new)| MonthItem { month, old: hours(old), new: hours(new) })
            .collect(),
        hours: Figures { old: total(&pair.old), new: total(&pair.new) },
        longest_gap_hours: Figures { old: gap(&pair.old), new: gap(&pair.new) },
    }
}

/// The permitted seconds of each month, before and after.
fn months(pair: &Pair, range: &Range<Instant>) -> Vec<(String, i64, i64)> {
    let old = forecast::months(&pair.old, range.clone(), &pair.zone);
    let new = forecast::months(&pair.new, range.clone(), &pair.zone);
    old.iter()
        .zip(&new)
        .map(|(old, new)| {
            let month = format!("{:04}-{:02}", old.month.year(), old.month.month());
            (month, old.permitted, new.permitted)
        })
        .collect()
}

/// How many changed windows a table shows before it counts the rest.
const SHOWN: usize = 10;

fn table(pair: &Pair, range: &Range<Instant>, format: Format, colour: Colour) -> String {
    let mut text = colour.paint(Style::Strong, &printable(&pair.object.to_string()));
    let _ = writeln!(text, "\n  from {} until {}", range.start, range.end);
    match pair.presence {
        Presence::Both => {}
        Presence::OldOnly => text.push_str("  is in the old version only\n"),
        Presence::NewOnly => text.push_str("  is in the new version only\n"),
    }
    let Change { gained, lost } = &pair.change;
    if gained.is_empty() && lost.is_empty() {
        text.push_str("  nothing changes: both permit the same\n");
        return text;
    }
    let most = if format == Format::Wide { usize::MAX } else { SHOWN };
    changed(&mut text, "gained", "+", gained, pair, most, (colour, Style::Open));
    changed(&mut text, "lost", "-", lost, pair, most, (colour, Style::Paused));
    text.push('\n');
    let signed = |seconds: i64| {
        let sign = if seconds < 0 { "-" } else { "+" };
        if seconds == 0 { "=".to_owned() } else { format!("{sign}{}", text::hours(seconds.abs())) }
    };
    let row = |name: String, old: i64, new: i64| {
        vec![name, text::hours(old), text::hours(new), signed(new - old)]
    };
    let mut rows = vec![["MONTH", "OLD", "NEW", "CHANGE"].map(str::to_owned).to_vec()];
    rows.extend(months(pair, range).into_iter().map(|(month, old, new)| row(month, old, new)));
    let total = |set: &TimeSet| forecast::seconds(set, range.clone());
    rows.push(row("in all".into(), total(&pair.old), total(&pair.new)));
    text.push_str(&text::table(2, &rows));
    text.push('\n');
    for (name, set) in [("old", &pair.old), ("new", &pair.new)] {
        let gap = match forecast::longest_gap(set, range) {
            Some(gap) => {
                let length = text::length(forecast::length(&gap));
                format!("{length}, from {} until {}", gap.start, gap.end)
            }
            None => "none".into(),
        };
        let _ = writeln!(text, "  longest gap, {name}: {gap}");
    }
    text
}

fn changed(
    text: &mut String,
    name: &str,
    sign: &str,
    spans: &[Span],
    pair: &Pair,
    most: usize,
    (colour, style): (Colour, Style),
) {
    if spans.is_empty() {
        return;
    }
    let _ = writeln!(text, "\n  {name}: {}", spans.len());
    let mut rows = Vec::new();
    for span in spans.iter().take(most) {
        let length = match (span.start, span.end) {
            (Some(start), Some(end)) => text::length(end.unix() - start.unix()),
            (None, Some(_)) => "no start".into(),
            (Some(_), None) => "no end".into(),
            (None, None) => "always".into(),
        };
        let start = text::edge(span.start, &pair.zone, "always");
        let end = text::edge(span.end, &pair.zone, "for ever");
        rows.push(vec![sign.to_owned(), start, end, length]);
    }
    for line in text::table(2, &rows).lines() {
        let _ = writeln!(text, "{}", colour.paint(style, line));
    }
    if spans.len() > most {
        let _ = writeln!(text, "  {sign} and {} more (-o wide shows all)", spans.len() - most);
    }
}
