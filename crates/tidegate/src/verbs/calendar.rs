//! `tidegate calendar`: what do the next months look like?

use clap::{Args, FromArgMatches as _, ValueEnum};
use schedule::{Date, Instant};
use serde::Serialize;
use tidegate_core::{
    calendar::{self, Day, Month},
    forecast,
    read::Policy,
};
use views::items::{Items, Named};

use super::{Listed, Verb};
use crate::{
    args::{Ahead, Sources, When},
    edge::Edge,
    output::{self, Output},
    source::Found,
};

mod grid;
mod ics;
mod strip;
mod svg;

pub(crate) fn verb() -> Verb {
    Verb {
        name: "calendar",
        about: "Draw the months of a policy: permitted days and hours, exclusions, today",
        more: "Days and hours are those of the policy's own time zone. -o wide draws every hour; -o ics writes a\n\
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
    let drawings =
        || loaded.policies.iter().map(|found: &Found| Drawn::new(&found.policy, args, &range, now));
    let text = match args.output {
        CalendarFormat::Ics => ics::feed(&loaded.policies, &range, now),
        CalendarFormat::Svg => svg::picture(&drawings().collect::<Vec<_>>()),
        CalendarFormat::Json => output::json(&items(drawings()))?,
        CalendarFormat::Yaml => output::yaml(&items(drawings()))?,
        CalendarFormat::Table => {
            let mut text: Vec<String> =
                drawings().map(|drawn| grid::draw(&drawn, edge.colour)).collect();
            text.push(grid::legend(edge.colour));
            text.join("\n")
        }
        CalendarFormat::Wide => {
            let mut text: Vec<String> =
                drawings().map(|drawn| strip::draw(&drawn, edge.colour)).collect();
            text.push(strip::legend(edge.colour));
            text.join("\n")
        }
    };
    Ok(Output::done(text).with_problems(&loaded))
}

/// The months of one policy, ready to be drawn.
pub(crate) struct Drawn<'a> {
    /// The policy.
    pub(crate) policy: &'a Policy,
    /// Its months.
    pub(crate) months: Vec<Month>,
    /// The instant that counts as now.
    pub(crate) now: Instant,
    /// The day that holds it, in the policy's zone.
    pub(crate) today: Date,
}

impl<'a> Drawn<'a> {
    fn new(
        policy: &'a Policy,
        args: &Calendar,
        range: &std::ops::Range<Instant>,
        now: Instant,
    ) -> Self {
        let zone = &policy.lowered.scheduled.zone;
        // A date names a day of the policy's zone, whatever its midnight is in UTC.
        let start = args.when.start().and_then(|moment| moment.date);
        let first = start.unwrap_or_else(|| zone.date_of(range.start));
        let last = if args.when.is_bounded() {
            // The end is not part of the range; the month that merely begins there is not either.
            let end = range.end.saturating_add(-1);
            Date::from_days_since_epoch(end.unix().div_euclid(86_400) as i32).unwrap_or(first)
        } else {
            zone.date_of(range.end)
        };
        let months = calendar::months(&policy.lowered, first, last.max(first));
        Self { policy, months, now, today: zone.date_of(now) }
    }

    /// The exclusions that meet the months shown, in order.
    pub(crate) fn exclusions(&self) -> Vec<&schedule::Exclusion> {
        let all = &self.policy.lowered.scheduled.exclusions;
        let mut shown: Vec<usize> = self
            .months
            .iter()
            .flat_map(|month| &month.days)
            .filter_map(|day| day.excluded)
            .collect();
        shown.sort_unstable();
        shown.dedup();
        let mut shown: Vec<_> = shown.into_iter().filter_map(|place| all.get(place)).collect();
        shown.sort_by_key(|exclusion| exclusion.from);
        shown
    }
}

/// Excluded days in words: `2026-12-24`, or `2026-12-19 to 2027-01-03`, both of them excluded.
pub(crate) fn exclusion_days(exclusion: &schedule::Exclusion) -> String {
    let schedule::Exclusion { from, until, .. } = exclusion;
    let last = Date::from_days_since_epoch(until.days_since_epoch() - 1).unwrap_or(*from);
    if last == *from { from.to_string() } else { format!("{from} to {last}") }
}

/// `November 2026`.
pub(crate) fn month_name(first: Date) -> String {
    let place = usize::from(first.month()) - 1;
    let name = schedule::Month::ALL.get(place).map_or("", |month| month.name());
    format!("{name} {}", first.year())
}

/// The output for programs (docs/reference/json.md).
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Item {
    #[serde(flatten)]
    object: Named,
    time_zone: String,
    months: Vec<MonthItem>,
}

#[derive(Serialize)]
struct MonthItem {
    month: String,
    hours: f64,
    days: Vec<DayItem>,
}

#[derive(Serialize)]
struct DayItem {
    date: String,
    hours: f64,
    windows: Vec<Part>,
    excluded: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

/// The part of a window that lies on one day.
#[derive(Serialize)]
struct Part {
    start: String,
    end: String,
}

fn items<'a>(drawings: impl Iterator<Item = Drawn<'a>>) -> Items<Item> {
    let item = |drawn: Drawn<'_>| {
        let Policy { object, lowered, .. } = drawn.policy;
        Item {
            object: Named::from(object),
            time_zone: lowered.scheduled.zone.name().to_owned(),
            months: drawn.months.iter().map(|month| month_item(month, &drawn)).collect(),
        }
    };
    Items { items: drawings.map(item).collect() }
}

fn month_item(month: &Month, drawn: &Drawn<'_>) -> MonthItem {
    let exclusions = &drawn.policy.lowered.scheduled.exclusions;
    let day = |day: &Day| DayItem {
        date: day.date.to_string(),
        hours: day.permitted() as f64 / 3600.0,
        windows: day
            .open
            .iter()
            .map(|part| Part { start: part.start.to_string(), end: part.end.to_string() })
            .collect(),
        excluded: day.excluded.is_some(),
        reason: day
            .excluded
            .and_then(|place| exclusions.get(place)?.reason.as_deref().map(str::to_owned)),
    };
    MonthItem {
        month: format!("{:04}-{:02}", month.first.year(), month.first.month()),
        hours: forecast::seconds(&drawn.policy.lowered.set, month.range.clone()) as f64 / 3600.0,
        days: month.days.iter().map(day).collect(),
    }
}
