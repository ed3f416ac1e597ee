//! `tidegate explain`: may changes be initiated, and why or why not?

use std::fmt::Write as _;

use clap::{Args, FromArgMatches as _};
use schedule::{Instant, Zone};
use serde::Serialize;
use tidegate_core::{
    behavior::behavior,
    explain::{Reason, Verdict, explain},
    read::Policy,
};

use super::{Listed, Verb, next::heading};
use crate::{
    args::{At, Format, Formats, Sources},
    edge::Edge,
    output::{self, Colour, Exit, Output, Style},
};

pub(crate) fn verb() -> Verb {
    Verb {
        name: "explain",
        about: "Say whether changes are permitted at an instant, as a tree of reasons",
        more: "With --quiet nothing is printed and the exit code is the answer: 0 if every policy permits\n\
               changes, 1 if one does not, 2 if that cannot be told.\n\n\
               Examples:\n  \
               tidegate explain -f policy.yaml\n  \
               tidegate explain -f policies/ --at 2026-12-24T12:00:00Z -o json\n  \
               tidegate explain -q -f policy.yaml && ./upgrade.sh",
        listed: Listed::Yes,
        args: Explain::augment_args,
        run: |matches, edge| run(&Explain::from_arg_matches(matches)?, edge),
    }
}

#[derive(Args, Debug)]
struct Explain {
    #[command(flatten)]
    sources: Sources,
    #[command(flatten)]
    at: At,
    #[command(flatten)]
    formats: Formats,
    /// Print nothing: the exit code is the answer
    #[arg(short, long)]
    quiet: bool,
}

/// The output for programs (docs/reference/json.md).
#[derive(Serialize)]
struct Items {
    items: Vec<Item>,
}

#[derive(Serialize)]
struct Item {
    kind: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    namespace: Option<String>,
    name: String,
    at: String,
    behavior: api::policy::Behavior,
    reasons: Tree,
}

#[derive(Serialize)]
struct Tree {
    verdict: &'static str,
    text: String,
    until: Option<String>,
    because: Vec<Tree>,
}

fn run(args: &Explain, edge: &mut Edge) -> anyhow::Result<Output> {
    let at = args.at.instant(edge);
    let loaded = args.sources.load(edge)?;
    let policies = || loaded.policies.iter().map(|found| &found.policy);
    if args.quiet {
        let mut output = Output::done("");
        if !policies().all(|policy| policy.lowered.set.contains(at)) {
            output.exit = Exit::No;
        }
        return Ok(output.with_problems(&loaded));
    }
    let items = || Items { items: policies().map(|policy| item(policy, at)).collect() };
    let text = match args.formats.output {
        Format::Json => output::json(&items())?,
        Format::Yaml => output::yaml(&items())?,
        format @ (Format::Table | Format::Wide) => {
            let show = |policy: &Policy| drawing(policy, at, format, edge.colour);
            policies().map(show).collect::<Vec<_>>().join("\n")
        }
    };
    Ok(Output::done(text).with_problems(&loaded))
}

fn item(policy: &Policy, at: Instant) -> Item {
    Item {
        kind: policy.object.kind.clone(),
        namespace: policy.object.namespace.clone(),
        name: policy.object.name.clone().unwrap_or_default(),
        at: at.to_string(),
        behavior: behavior(&policy.lowered, at),
        reasons: tree(&explain(policy, at), &policy.lowered.scheduled.zone),
    }
}

fn tree(reason: &Reason, zone: &Zone) -> Tree {
    Tree {
        verdict: reason.verdict.as_str(),
        text: reason.text(zone),
        until: reason.until.map(|until| until.to_string()),
        because: reason.because.iter().map(|reason| tree(reason, zone)).collect(),
    }
}

fn drawing(policy: &Policy, at: Instant, format: Format, colour: Colour) -> String {
    let mut text = heading(policy, at, colour);
    let reason = explain(policy, at);
    draw(&reason.because, &policy.lowered.scheduled.zone, "  ", format, colour, &mut text);
    if let Some(next) = behavior(&policy.lowered, at).next {
        let until = next.end_time.map_or_else(String::new, |end| format!(" until {end}"));
        let _ = writeln!(
            text,
            "  then, from {}{until}: {}",
            next.start_time.unwrap_or_default(),
            output::printable(&next.reason)
        );
    }
    text
}

fn draw(
    reasons: &[Reason],
    zone: &Zone,
    indent: &str,
    format: Format,
    colour: Colour,
    text: &mut String,
) {
    for (place, reason) in reasons.iter().enumerate() {
        let last = place + 1 == reasons.len();
        let (branch, below) = if last { ("└─", "   ") } else { ("├─", "│  ") };
        let (sign, style) = match reason.verdict {
            Verdict::Permitted => ("✓ permits", Style::Open),
            Verdict::Paused => ("✗ pauses", Style::Paused),
        };
        let words = output::printable(&reason.text(zone));
        let _ = write!(text, "{indent}{branch} {}  {words}", colour.paint(style, sign));
        match reason.until {
            Some(until) if format == Format::Wide => {
                let _ = write!(text, "  [until {until}]");
            }
            _ => {}
        }
        text.push('\n');
        draw(&reason.because, zone, &format!("{indent}{below}"), format, colour, text);
    }
}
