//! `tidegate status`: what is pending, why does it wait, and when will it start?

use std::{collections::BTreeMap, path::PathBuf, time::Duration};

use clap::{Args, FromArgMatches as _};
use schedule::Instant;
use serde::Serialize;
use tidegate_core::{
    enforced::Enforcement,
    explain::change::{each, joined},
    overview::{self, Overridden, Row},
    snapshot::Snapshot,
    verdict::Verdict,
};

use super::{Listed, Verb};
use crate::{
    args::{At, Format, Formats},
    cluster::{Extent, Reach, Shown},
    edge::Edge,
    output::{self, Colour, Items, Named, Output, Style},
    text,
};

/// How long a follower sleeps at most: clocks step, and relative times grow old.
const LONGEST_SLEEP: i64 = 60;

pub(crate) fn verb() -> Verb {
    Verb {
        name: "status",
        about: "Show every resource and policy: open or held, until when, what is next, what is pending",
        more: "Reads the cluster that kubectl would, or files with -f: a folder, or what `kubectl get -o yaml` printed.\n\n\
               Examples:\n  \
               tidegate status\n  \
               tidegate status -w\n  \
               tidegate status -o json\n  \
               tidegate status -f must-gather/ --at 2026-12-24T12:00:00Z",
        listed: Listed::Yes,
        args: Status::augment_args,
        run: |matches, edge| run(&Status::from_arg_matches(matches)?, edge),
    }
}

#[derive(Args, Debug)]
struct Status {
    /// A file of objects, a folder of them, or - for standard input, instead of a cluster; may be given several times
    #[arg(short = 'f', long = "file", value_name = "PATH")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    reach: Reach,
    #[command(flatten)]
    at: At,
    #[command(flatten)]
    formats: Formats,
    /// Keep looking, and show what changes; Ctrl-C ends it
    #[arg(short, long, conflicts_with_all = ["at", "files"])]
    watch: bool,
}

/// The output for programs (docs/reference/json.md).
#[derive(Serialize)]
struct Item {
    #[serde(flatten)]
    object: Named,
    state: &'static str,
    verdict: &'static str,
    strategy: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    policy: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    overridden: Option<bool>,
    behavior: api::policy::Behavior,
    #[serde(skip_serializing_if = "Option::is_none")]
    pending: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    enforced: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none", rename = "initiatedOutsideWindow")]
    outside: Option<String>,
}

fn run(args: &Status, edge: &mut Edge) -> anyhow::Result<Output> {
    if args.watch {
        return follow(args, edge);
    }
    let at = args.reach.instant(&args.at, &args.files, edge)?;
    let (world, loaded) = args.reach.snapshot(Extent::Gates, &args.files, edge, at)?;
    let text = written(&rows(&world, at), args.formats.output, at, edge.colour)?;
    Ok(Output::done(text).with_problems(&loaded))
}

fn follow(args: &Status, edge: &mut Edge) -> anyhow::Result<Output> {
    let (format, colour) = (args.formats.output, edge.colour);
    args.reach.connect()?.follow(Extent::Gates, edge, |world, now| {
        let rows = rows(world, now);
        let edges =
            rows.iter().flatten().filter_map(|row| row.behavior.current.end_time.as_deref());
        let next = edges.filter_map(|end| Instant::parse(end).ok()).filter(|end| *end > now).min();
        let sleep =
            next.map_or(LONGEST_SLEEP, |next| (next.unix() - now.unix()).min(LONGEST_SLEEP));
        Ok(Shown {
            facts: written(&rows, Format::Json, now, Colour::Off)?,
            text: written(&rows, format, now, colour)?,
            sleep: Duration::from_secs(sleep.unsigned_abs()),
        })
    })
}

pub(crate) fn rows(world: &Snapshot, at: Instant) -> [Vec<Row>; 2] {
    let resources = world.gated().map(|seen| overview::resource(world, seen, at));
    let policies = world.policies().map(|seen| overview::policy(seen, at));
    [resources.collect(), policies.collect()]
}

fn written(
    [resources, policies]: &[Vec<Row>; 2],
    format: Format,
    at: Instant,
    colour: Colour,
) -> anyhow::Result<String> {
    let items = || Items { items: resources.iter().chain(policies).map(item).collect() };
    Ok(match format {
        Format::Json => output::json(&items())?,
        Format::Yaml => output::yaml(&items())?,
        Format::Table | Format::Wide if resources.is_empty() && policies.is_empty() => {
            "nothing is under change management here: there is no policy, and no resource that could name one\n".into()
        }
        Format::Table | Format::Wide => {
            let tables = [("RESOURCE", resources), ("POLICY", policies)];
            let filled = tables.iter().filter(|(_, rows)| !rows.is_empty());
            let drawn = filled.map(|(head, rows)| table(head, rows, format, at, colour));
            drawn.collect::<Vec<_>>().join("\n")
        }
    })
}

fn item(row: &Row) -> Item {
    let is_resource = !row.object.is_policy();
    Item {
        object: Named::from(&row.object),
        state: row.verdict.state(),
        verdict: row.verdict.as_str(),
        strategy: row.strategy,
        policy: row.policy.as_ref().map(|policy| policy.name.to_string()),
        overridden: is_resource.then_some(row.overridden == Overridden::Yes),
        behavior: row.behavior.clone(),
        pending: is_resource.then(|| each(&row.pending.waiting)),
        enforced: row.enforced.map(Enforcement::reason),
        outside: row.outside.map(|began| began.to_string()),
    }
}

fn table(head: &str, rows: &[Row], format: Format, at: Instant, colour: Colour) -> String {
    let resources = head == "RESOURCE";
    let mut heads = vec![head, "STATE", "UNTIL", "NEXT", "BY"];
    if resources {
        heads.push("PENDING");
    }
    if format == Format::Wide {
        heads.push("WHY");
    }
    let mut cells = vec![heads.into_iter().map(str::to_owned).collect::<Vec<_>>()];
    for row in rows {
        let mut line = vec![
            output::printable(&row.object.to_string()),
            row.verdict.state().to_owned(),
            when(row.behavior.current.end_time.as_deref(), at, no_end(row.verdict)),
            next(row),
            by(row),
        ];
        if resources {
            line.push(pending(row));
        }
        if format == Format::Wide {
            line.push(output::printable(&row.behavior.current.reason));
        }
        cells.push(line);
    }
    coloured(&text::table(0, &cells), rows, colour) + &notes(rows)
}

/// What a table cannot say: gates that nothing keeps, with what that means, and changes that did not ask them (GATE-13).
fn notes(rows: &[Row]) -> String {
    let mut said: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for row in rows {
        let object = output::printable(&row.object.to_string());
        if let Some(kept) = row.enforced.filter(|kept| *kept != Enforcement::Proven) {
            let note = format!("{}: {}", kept.reason(), kept.about(row.object.kind().name));
            said.entry(note).or_default().push(object.clone());
        }
        if let Some(began) = row.outside {
            let note = format!("InitiatedOutsideWindow: at {began}, while changes were held");
            said.entry(note).or_default().push(object);
        }
    }
    let lines = said.iter().map(|(note, objects)| format!("{note}: {}\n", objects.join(", ")));
    lines.collect()
}

/// An instant and how far it is.
fn when(instant: Option<&str>, at: Instant, none: &str) -> String {
    match instant.and_then(|text| Instant::parse(text).ok()) {
        Some(instant) => format!("{instant} ({})", text::relative(instant, at)),
        None => none.to_owned(),
    }
}

/// What stands where the end of a state would: a state that nobody can tell has none that is known.
fn no_end(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Permitted | Verdict::Held => "no end",
        Verdict::CannotTell => "cannot tell",
    }
}

/// What comes after the present state.
fn next(row: &Row) -> String {
    let (Some(next), Some(verdict)) = (&row.behavior.next, row.next) else { return "-".into() };
    let word = verdict.state();
    match &next.end_time {
        Some(end) => format!("{word} until {end}"),
        None => word.to_owned(),
    }
}

/// What decides.
fn by(row: &Row) -> String {
    let strategy = row.strategy.unwrap_or(match row.verdict {
        Verdict::CannotTell => "unusable",
        Verdict::Permitted | Verdict::Held => "no stanza",
    });
    match row.policy.as_ref().map(|policy| &*policy.name) {
        Some(policy) if row.overridden == Overridden::Yes => format!("{strategy}, not {policy}"),
        Some(policy) if strategy == "ByPolicy" => policy.to_owned(),
        Some(policy) => format!("{strategy}, {policy}"),
        None => strategy.to_owned(),
    }
}

fn pending(row: &Row) -> String {
    match (row.pending.waiting.as_slice(), row.pending.begun.as_slice()) {
        ([], []) => "-".into(),
        ([], begun) => format!("under way: {}", output::printable(&joined(begun))),
        (waiting, _) => output::printable(&joined(waiting)),
    }
}

/// The states of a finished table in their colours: columns are as wide as their words, and colours have no width.
fn coloured(table: &str, rows: &[Row], colour: Colour) -> String {
    let mut lines = table.lines().map(str::to_owned).collect::<Vec<_>>();
    if let Some(head) = lines.first_mut() {
        *head = colour.paint(Style::Strong, head);
    }
    for (line, row) in lines.iter_mut().skip(1).zip(rows) {
        let style = match row.verdict {
            Verdict::Permitted => Style::Open,
            Verdict::Held | Verdict::CannotTell => Style::Paused,
        };
        let word = format!("  {}  ", row.verdict.state());
        let painted = format!("  {}  ", colour.paint(style, row.verdict.state()));
        *line = line.replacen(&word, &painted, 1);
    }
    lines.join("\n") + "\n"
}
