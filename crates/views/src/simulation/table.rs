//! The forecast for people: a line for each resource, a strip of the period, a line for each change, and what is in the way.

use std::fmt::Write as _;

use schedule::{Instant, Zone};
use tidegate_core::simulate::{
    Arrival, Course, Forecast, PoolChange, Settings, Single, verdict::Outlook,
};

use super::{updates, words};
use crate::{
    drawing::{Colour, Detail, Style},
    safe::printable,
    text::{self, hours, length, relative},
};

/// How wide the strip of the period is.
const STRIP: usize = 72;

/// How many changes of a pool are shown of many, at the beginning and at the end.
const FIRST: usize = 3;
const LAST: usize = 2;

/// Everything but the nodes.
pub fn overview(
    forecast: &Forecast,
    settings: &Settings,
    colour: Colour,
    detail: Detail,
) -> String {
    let lengths = settings.lengths;
    let head = format!(
        "from {} until {}; nodes drain in about {} and are back about {} later; seed {}",
        settings.range.start,
        settings.range.end,
        length(lengths.drain),
        length(lengths.reboot),
        settings.seed
    );
    let mut parts = vec![colour.paint(Style::Faint, &head) + "\n"];
    if let Some(skew) = &forecast.skew {
        parts.push(printable(&format!("{}: {}", skew.class.reason(), skew.message)) + "\n");
    }
    if let Some(under_way) = &forecast.under_way {
        let told = "is under way, and how long it takes is not simulated";
        parts.push(printable(&format!("ClusterVersion/version: {under_way} {told}")) + "\n");
    }
    if !forecast.others.is_empty() {
        parts.push(singles(&forecast.others, settings, colour));
    }
    if let Some(updates) = &forecast.updates {
        parts.push(strong_head(&updates::table(updates, settings), colour));
    }
    if !forecast.pools.is_empty() {
        parts.push(pools(&forecast.pools, settings, colour));
    }
    if forecast.pools.iter().any(|course| !course.changes.is_empty()) {
        parts.push(strips(&forecast.pools, settings, colour));
        parts.push(changes(&forecast.pools, settings, colour, detail));
    } else if !forecast.pools.is_empty() {
        parts.push(
            "nothing is pending in any pool\n  hint: --change POOL or --change-every 2w makes believe that something is\n"
                .into(),
        );
    }
    let reasons = forecast.pools.iter().filter_map(|course| {
        let (reason, hint) = words::reason(course, settings)?;
        let name = printable(&course.object.to_string());
        Some(format!("{name}: {reason}\n  hint: {hint}\n"))
    });
    let reasons = updates::warnings(forecast) + &reasons.collect::<Vec<_>>().concat();
    if !reasons.is_empty() {
        parts.push(reasons);
    }
    parts.join("\n")
}

/// Every node of every change.
pub fn machines(forecast: &Forecast, settings: &Settings, colour: Colour) -> String {
    let mut rows = vec![head(&["MACHINE", "CHANGE", "BEGINS", "DRAINED", "BACK", "TAKES", "BY"])];
    for course in &forecast.pools {
        for change in &course.changes {
            rows.extend(change.runs.iter().map(|run| {
                vec![
                    printable(&run.node),
                    printable(&change.config),
                    format!("{} ({})", run.start, relative(run.start, settings.range.start)),
                    run.drained.to_string(),
                    run.end.to_string(),
                    length(run.end.unix() - run.start.unix()),
                    printable(run.basis.as_deref().unwrap_or("under way at the start")),
                ]
            }));
        }
    }
    if rows.len() == 1 {
        return String::new();
    }
    format!("\n{}", strong_head(&text::table(0, &rows), colour))
}

fn singles(others: &[Single], settings: &Settings, colour: Colour) -> String {
    let start = settings.range.start;
    let mut rows = vec![head(&["RESOURCE", "PENDING", "STARTS", "WHY"])];
    rows.extend(others.iter().map(|single| {
        vec![
            printable(&single.object.to_string()),
            printable(&single.waiting.join("; ")),
            single.starts.map_or("not in the period".into(), |at| from_start(at, start)),
            printable(&single.reason),
        ]
    }));
    strong_head(&text::table(0, &rows), colour)
}

fn pools(courses: &[Course], settings: &Settings, colour: Colour) -> String {
    let mut rows = vec![head(&[
        "POOL",
        "MACHINES",
        "AT ONCE",
        "OPEN",
        "A CHANGE TAKES",
        "CHANGES",
        "FINISHED",
        "RESULT",
    ])];
    for course in courses {
        let done = course.changes.iter().filter(|change| change.finished.is_some()).count();
        let idle = course.changes.is_empty();
        rows.push(vec![
            printable(course.object.name.as_deref().unwrap_or_default()),
            course.machines.len().to_string(),
            course.at_once.to_string(),
            if course.gate.set().is_always() {
                "always".into()
            } else {
                format!("{} a month", hours(course.open_a_month(settings)))
            },
            if idle { "-".into() } else { length(course.need) },
            course.changes.len().to_string(),
            done.to_string(),
            words::result(course),
        ]);
    }
    let drawn = strong_head(&text::table(0, &rows), colour);
    let painted = drawn.lines().zip(std::iter::once(None).chain(courses.iter().map(Some)));
    let painted = painted.map(|(line, course)| match course {
        Some(course) => {
            let result = words::result(course);
            let style = match course.verdict {
                Outlook::Idle => Style::Faint,
                Outlook::Converges(_) | Outlook::Unfinished { .. } => Style::Open,
                Outlook::Late { .. } => Style::Excluded,
                Outlook::Never { .. } => Style::Paused,
            };
            line.replacen(&result, &colour.paint(style, &result), 1) + "\n"
        }
        None => format!("{line}\n"),
    });
    painted.collect()
}

/// The period of each pool as a line of signs.
fn strips(courses: &[Course], settings: &Settings, colour: Colour) -> String {
    let shown = || courses.iter().filter(|course| !course.changes.is_empty());
    let name = |course: &Course| printable(course.object.name.as_deref().unwrap_or_default());
    let indent = shown().map(|course| name(course).chars().count()).max().unwrap_or(0);
    let range = &settings.range;
    let date = |at: Instant| Zone::utc().date_of(at).to_string();
    let (start, end) = (date(range.start), date(range.end));
    let room = STRIP.saturating_sub(start.len() + end.len());
    let axis = format!("{start}{}{end}", " ".repeat(room));
    let mut text =
        format!("{}  {}\n", " ".repeat(indent), colour.paint(Style::Faint, axis.trim_end()));
    for course in shown() {
        let name = name(course);
        let pad = " ".repeat(indent - name.chars().count());
        let _ = writeln!(text, "{name}{pad}  {}", strip(course, settings, colour));
    }
    let legend = format!(
        "{}  {} nodes change   {} a change waits   {} at rest\n",
        " ".repeat(indent),
        colour.paint(Style::Open, "█"),
        colour.paint(Style::Excluded, "╱"),
        colour.paint(Style::Faint, "·"),
    );
    text + &legend
}

fn strip(course: &Course, settings: &Settings, colour: Colour) -> String {
    let (start, end) = (settings.range.start.unix(), settings.range.end.unix());
    let edge = |place: usize| start + (end - start) * place as i64 / STRIP as i64;
    let cell = |place: usize| {
        let (from, until) = (edge(place), edge(place + 1));
        let meets = |first: i64, last: i64| first < until && last > from;
        let mut changes = course.changes.iter();
        if changes
            .clone()
            .flat_map(|change| &change.runs)
            .any(|run| meets(run.start.unix(), run.end.unix()))
        {
            return colour.paint(Style::Open, "█");
        }
        if changes.any(|change| meets(arrives(change, settings).unix(), waits_until(change))) {
            return colour.paint(Style::Excluded, "╱");
        }
        colour.paint(Style::Faint, "·")
    };
    (0..STRIP).map(cell).collect()
}

/// When nobody waits for a change any more.
fn waits_until(change: &PoolChange) -> i64 {
    change.finished.or(change.superseded).map_or(i64::MAX, Instant::unix)
}

fn arrives(change: &PoolChange, settings: &Settings) -> Instant {
    match change.arrival {
        Arrival::Pending => settings.range.start,
        Arrival::At(at) => at,
    }
}

fn changes(courses: &[Course], settings: &Settings, colour: Colour, detail: Detail) -> String {
    let mut rows = vec![head(&["CHANGE", "ARRIVES", "STARTS", "FINISHES", "WINDOWS", "MACHINES"])];
    for course in courses {
        let count = course.changes.len();
        let whole = detail == Detail::Full || count <= FIRST + LAST + 1;
        let first = if whole { count } else { FIRST };
        rows.extend(course.changes.iter().take(first).map(|one| row(one, course, settings)));
        if !whole {
            rows.push(vec![format!("... {} more, shown by -o wide", count - FIRST - LAST)]);
            let last = course.changes.iter().skip(count - LAST);
            rows.extend(last.map(|one| row(one, course, settings)));
        }
    }
    strong_head(&text::table(0, &rows), colour)
}

fn row(change: &PoolChange, course: &Course, settings: &Settings) -> Vec<String> {
    let arrives = arrives(change, settings);
    let after = |at: Instant| words::after(at, arrives);
    vec![
        printable(&change.config),
        match change.arrival {
            Arrival::Pending => "pending".into(),
            Arrival::At(at) => at.to_string(),
        },
        change.started.map_or("-".into(), after),
        match (change.finished, change.superseded) {
            (Some(at), _) => after(at),
            (None, Some(at)) => format!("superseded {at}"),
            (None, None) => "not in the period".into(),
        },
        change.windows(&course.gate).to_string(),
        format!("{} of {}", change.runs.len(), course.machines.len()),
    ]
}

/// An instant, and how far from the start of the period.
fn from_start(at: Instant, start: Instant) -> String {
    format!("{at} ({})", relative(at, start))
}

fn head(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn strong_head(table: &str, colour: Colour) -> String {
    match table.split_once('\n') {
        Some((head, rest)) => format!("{}\n{rest}", colour.paint(Style::Strong, head)),
        None => table.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use tidegate_core::simulate::Lengths;

    use super::*;

    /// An update that has begun has no row of its own, so a line says that it is there.
    #[test]
    fn an_update_that_is_under_way_is_told() {
        let at = |text: &str| Instant::parse(text).unwrap();
        let settings = Settings {
            range: at("2026-11-16T12:00:00Z")..at("2026-11-17T12:00:00Z"),
            seed: 1,
            lengths: Lengths { drain: 300, reboot: 480, payload: 3600 },
            machines: std::collections::BTreeMap::new(),
            arrivals: Vec::new(),
            pools: std::collections::BTreeSet::new(),
            updates: Vec::new(),
        };
        let told = |under_way: Option<&str>| {
            let forecast = Forecast {
                pools: Vec::new(),
                others: Vec::new(),
                updates: None,
                under_way: under_way.map(str::to_owned),
                skew: None,
            };
            overview(&forecast, &settings, Colour::Off, Detail::Short)
        };
        let line = "ClusterVersion/version: release 4.20.10 is under way, and how long it takes is not simulated\n";
        assert!(told(Some("release 4.20.10")).ends_with(line));
        assert!(!told(None).contains("under way"));
    }
}
