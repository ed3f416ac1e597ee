//! `tidegate calendar`: what do the next months look like?

use std::ops::Range;

use clap::{Args, FromArgMatches as _, ValueEnum};
use schedule::{Date, Instant};
use tidegate_core::policy::read::Policy;
use views::{
    calendar::{self, PolicyMonths, grid, ics, picture, strip},
    drawing::Colour,
};

use super::{Listed, Verb};
use crate::{
    args::{Ahead, Sources, When},
    edge::Edge,
    output::{self, Output},
};

pub(crate) fn verb() -> Verb {
    Verb {
        name: "calendar",
        about: "Draw the months of a policy: permitted days and hours, exclusions, today",
        more: "Days and hours are those of the policy's own time zone. -o wide draws every hour; -o ics writes a \
               feed to subscribe to (a year ahead unless told otherwise); -o svg a picture.\n\n\
               Examples:\n  \
               tidegate calendar -f policy.yaml\n  \
               tidegate calendar -f policy.yaml --from 2026-12-01 --for 1y -o svg > year.svg\n  \
               tidegate calendar -f policies/ -o ics > windows.ics",
        listed: Listed::Yes,
        args: Calendar::augment_args,
        run: |matches, edge| run(&Calendar::from_arg_matches(matches)?, edge),
    }
}

#[derive(Args, Debug)]
struct Calendar {
    #[command(flatten)]
    sources: Sources,
    #[command(flatten)]
    when: When,
    /// How to write the output
    #[arg(short = 'o', long, value_name = "FORMAT", value_enum, default_value_t = CalendarFormat::Table)]
    output: CalendarFormat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum CalendarFormat {
    Table,
    Wide,
    Json,
    Yaml,
    Ics,
    Svg,
}

fn run(args: &Calendar, edge: &mut Edge) -> anyhow::Result<Output> {
    let now = args.when.now(edge);
    let default = match args.output {
        CalendarFormat::Ics => Ahead::months(12),
        CalendarFormat::Svg => Ahead::months(5),
        _ => Ahead::months(2),
    };
    let range = args.when.range(edge, default)?;
    let loaded = args.sources.load(edge)?;
    let policies: Vec<&Policy> = loaded.policies.iter().map(|found| &found.policy).collect();
    let months = || -> Vec<PolicyMonths<'_>> {
        let shown = policies.iter().map(|policy| (policy, days(policy, &args.when, &range)));
        shown.map(|(policy, (first, last))| PolicyMonths::new(policy, first, last, now)).collect()
    };
    let drawings = |draw: fn(&PolicyMonths<'_>, Colour) -> String, legend: fn(Colour) -> String| {
        let drawings = months();
        let drawings = drawings.iter().map(|drawn| draw(drawn, edge.colour));
        drawings.chain([legend(edge.colour)]).collect::<Vec<_>>().join("\n")
    };
    let text = match args.output {
        CalendarFormat::Ics => ics::feed(&policies, &range, now),
        CalendarFormat::Svg => picture::picture(&months()),
        CalendarFormat::Json => output::json(&calendar::items(&months()))?,
        CalendarFormat::Yaml => output::yaml(&calendar::items(&months()))?,
        CalendarFormat::Table => drawings(grid::draw, grid::legend),
        CalendarFormat::Wide => drawings(strip::draw, strip::legend),
    };
    Ok(Output::done(text).with_problems(&loaded))
}

/// The first and the last day that are shown of a policy.
fn days(policy: &Policy, when: &When, range: &Range<Instant>) -> (Date, Date) {
    let zone = &policy.lowered.zone;
    // A date names a day of the policy's zone, whatever its midnight is in UTC.
    let start = when.start().and_then(|moment| moment.date);
    let first = start.unwrap_or_else(|| zone.date_of(range.start));
    if !when.is_bounded() {
        return (first, zone.date_of(range.end));
    }
    // The end is not part of the range; the month that merely begins there is not either.
    let end = range.end.saturating_add(-1);
    let last = Date::from_days_since_epoch(end.unix().div_euclid(86_400) as i32);
    (first, last.unwrap_or(first))
}
