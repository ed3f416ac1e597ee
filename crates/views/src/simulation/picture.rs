//! A timeline: for each pool the open windows, and a lane for each node with the bars of its changes.
//!
//! Nothing is said by colour alone: a bar has two heights, and a title that says it in words; a change that arrives is a line with a
//! title. The picture ends where everything is done, so that a change of a night is not a hair in a year.

use std::{fmt::Write as _, ops::Range};

use schedule::{Date, Instant, Zone};
use tidegate_core::{
    policy::forecast::{clipped, first_of_month, length, midnight, next_month},
    simulate::{Arrival, Course, Forecast, PoolChange, Settings, Single, verdict::Outlook},
};

use super::words;
use crate::{
    svg::{self, safe},
    text,
};

const MARGIN: usize = 32;
/// Room for the names of nodes, left of the chart.
const NAMES: usize = 170;
const CHART: usize = 1000;
const LANE: usize = 15;
/// How many nodes of a pool get a lane. Nobody reads more of them, and a picture is not a table.
const LANES: usize = 40;

const STYLE: &str = "
  .lane { fill: #f6f8fa } .drain { fill: #bf8700 } .boot { fill: #0969da } .arrival { stroke: #8250df; stroke-dasharray: 3 2 }
  .grid { stroke: #d8dee4 } .bad { fill: #cf222e; font-weight: 600 } .good { fill: #1a7f37; font-weight: 600 }
  @media (prefers-color-scheme: dark) {
    .lane { fill: #161b22 } .drain { fill: #d29922 } .boot { fill: #58a6ff } .arrival { stroke: #a371f7 }
    .grid { stroke: #30363d } .bad { fill: #ff7b72 } .good { fill: #3fb950 }
  }";

/// Draws a forecast.
pub fn picture(forecast: &Forecast, settings: &Settings) -> String {
    let axis = Axis::new(forecast, settings);
    let mut body = String::new();
    let mut y = head(&axis, settings, &mut body);
    let top = y;
    for single in &forecast.others {
        y = draw_single(single, &axis, y, &mut body);
    }
    for course in &forecast.pools {
        y = draw_pool(course, &axis, y, &mut body);
    }
    let grid = grid(&axis, top, y);
    let legend = legend(y + 8);
    let size = (2 * MARGIN + NAMES + CHART, y + 44);
    svg::page(size, "Forecast of changes", STYLE, &(grid + &body + &legend))
}

/// Which time is drawn, and where.
struct Axis {
    range: Range<Instant>,
}

impl Axis {
    /// From the start until a little after the last thing that happens, or until the end if something does not end.
    fn new(forecast: &Forecast, settings: &Settings) -> Self {
        let Range { start, end } = settings.range.clone();
        let settled =
            |course: &Course| matches!(course.verdict, Outlook::Idle | Outlook::Converges(_));
        if !forecast.pools.iter().all(settled) {
            return Self { range: start..end };
        }
        let changes = forecast.pools.iter().flat_map(|course| &course.changes);
        let ends = changes.filter_map(|change| change.finished);
        let last = ends.chain(forecast.others.iter().filter_map(|single| single.starts)).max();
        let shown = last.map_or(end, |last| {
            last.saturating_add((last.unix() - start.unix()) / 12 + 1800).min(end).max(last)
        });
        Self { range: start..shown }
    }

    fn x(&self, at: Instant) -> f64 {
        let share =
            (at.unix() - self.range.start.unix()) as f64 / length(&self.range).max(1) as f64;
        (MARGIN + NAMES) as f64 + share.clamp(0.0, 1.0) * CHART as f64
    }

    /// Where to draw lines, each with its label.
    fn ticks(&self) -> Vec<(Instant, String)> {
        const STEPS: &[i64] =
            &[900, 3600, 3 * 3600, 6 * 3600, 12 * 3600, 86_400, 2 * 86_400, 7 * 86_400];
        const MOST: i64 = 14;
        let span = length(&self.range);
        let zone = Zone::utc();
        if let Some(step) = STEPS.iter().find(|step| span / **step <= MOST) {
            let first = self.range.start.unix().div_euclid(*step) + 1;
            let instants = (first..).filter_map(|place| Instant::from_unix(place * step).ok());
            let label = |at: Instant| {
                let date = zone.date_of(at).to_string();
                let day = date.get(5..).unwrap_or(&date);
                if *step < 86_400 { format!("{day} {}", zone.time_of(at)) } else { date.clone() }
            };
            let inside = instants.take_while(|at| *at < self.range.end);
            return inside.map(|at| (at, label(at))).collect();
        }
        let first = first_of_month(zone.date_of(self.range.start));
        let months: Vec<Date> = std::iter::successors(next_month(first), |date| next_month(*date))
            .take_while(|date| midnight(*date, &zone) < self.range.end)
            .collect();
        let every = months.len() / MOST as usize + 1;
        let label = |date: &Date| format!("{:04}-{:02}", date.year(), date.month());
        months.iter().step_by(every).map(|date| (midnight(*date, &zone), label(date))).collect()
    }
}

fn head(axis: &Axis, settings: &Settings, body: &mut String) -> usize {
    let _ = writeln!(
        body,
        "<text class=\"name\" x=\"{MARGIN}\" y=\"{}\">Forecast</text>\n\
         <text class=\"faint\" x=\"{MARGIN}\" y=\"{}\">{} until {}, UTC; nodes drain in about {} and are back about {} later; seed {}</text>",
        MARGIN + 16,
        MARGIN + 38,
        axis.range.start,
        axis.range.end,
        text::length(settings.lengths.drain),
        text::length(settings.lengths.reboot),
        settings.seed
    );
    MARGIN + 94
}

fn grid(axis: &Axis, top: usize, bottom: usize) -> String {
    let mut drawn = String::new();
    for (at, label) in axis.ticks() {
        let x = axis.x(at);
        let _ = writeln!(
            drawn,
            "<line class=\"grid\" x1=\"{x:.1}\" y1=\"{}\" x2=\"{x:.1}\" y2=\"{bottom}\"/>\
             <text class=\"faint number\" x=\"{x:.1}\" y=\"{}\" text-anchor=\"middle\">{label}</text>",
            top - 22,
            top - 26
        );
    }
    drawn
}

fn draw_single(single: &Single, axis: &Axis, y: usize, body: &mut String) -> usize {
    let object = single.object.to_string();
    let waiting = single.waiting.join("; ");
    let (class, starts) = match single.starts {
        Some(at) => ("good", format!("starts {at}")),
        None => ("bad", "does not start in the period".to_owned()),
    };
    heading((&object, class, &format!("{starts}: {waiting}")), y, body);
    if let Some(at) = single.starts {
        let title = format!("{object}: {waiting} starts {at}");
        let x = axis.x(at);
        let (left, top, height) = (MARGIN + NAMES, y + 12, LANE - 3);
        let half = height / 2;
        let _ = writeln!(
            body,
            "<g><title>{}</title><rect class=\"lane\" x=\"{left}\" y=\"{top}\" width=\"{CHART}\" height=\"{height}\"/>\
             <path class=\"boot\" d=\"M{x:.1} {top} l{height} {half} l-{height} {half} z\"/></g>",
            safe(&title)
        );
    }
    y + 12 + LANE + 28
}

fn draw_pool(course: &Course, axis: &Axis, y: usize, body: &mut String) -> usize {
    let class = match course.verdict {
        Outlook::Idle => "faint",
        Outlook::Converges(_) | Outlook::Unfinished { .. } => "good",
        Outlook::Late { .. } | Outlook::Never { .. } => "bad",
    };
    heading((&course.object.to_string(), class, &words::result(course)), y, body);
    let top = y + 12;
    lane("open windows", top, body);
    for span in course.gate.set().spans(axis.range.clone()) {
        let part = clipped(&span, &axis.range);
        let title = format!("open from {} until {}", part.start, part.end);
        bar("open", &title, (axis.x(part.start), axis.x(part.end)), (top + 2, LANE - 7), body);
    }
    let shown = course.machines.len().min(LANES);
    for (place, (name, zone)) in course.machines.iter().take(LANES).enumerate() {
        let y = top + (place + 1) * LANE;
        let zone = zone.as_ref().map_or_else(String::new, |zone| format!(", {zone}"));
        lane(&format!("{name}{zone}"), y, body);
        for change in &course.changes {
            draw_runs(change, name, axis, y, body);
        }
    }
    let mut bottom = top + (shown + 1) * LANE;
    arrivals(course, axis, (top, bottom), body);
    if course.machines.len() > LANES {
        let more = format!("and {} nodes more", course.machines.len() - LANES);
        lane(&more, bottom, body);
        bottom += LANE;
    }
    bottom + 28
}

/// The name of a resource, and what becomes of it.
fn heading((name, class, words): (&str, &str, &str), y: usize, body: &mut String) {
    let _ = writeln!(
        body,
        "<text class=\"month\" x=\"{MARGIN}\" y=\"{y}\">{} <tspan class=\"{class}\" font-size=\"12\" dx=\"8\">{}</tspan></text>",
        safe(name),
        safe(words)
    );
}

fn lane(name: &str, y: usize, body: &mut String) {
    let _ = writeln!(
        body,
        "<text class=\"faint number\" x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>\
         <rect class=\"lane\" x=\"{}\" y=\"{y}\" width=\"{CHART}\" height=\"{}\"/>",
        MARGIN + NAMES - 8,
        y + LANE - 5,
        safe(&shortened(name)),
        MARGIN + NAMES,
        LANE - 3
    );
}

/// A name that fits into its column: the end of a node's name tells more than its middle.
fn shortened(name: &str) -> String {
    const MOST: usize = 24;
    let count = name.chars().count();
    if count <= MOST {
        return name.to_owned();
    }
    let first: String = name.chars().take(MOST / 2 - 1).collect();
    let last: String = name.chars().skip(count - MOST / 2).collect();
    format!("{first}…{last}")
}

fn draw_runs(change: &PoolChange, machine: &str, axis: &Axis, y: usize, body: &mut String) {
    for run in change.runs.iter().filter(|run| run.node == machine) {
        let title = format!(
            "{machine} to {}: begun {}, drained {}, back {}",
            change.config, run.start, run.drained, run.end
        );
        let [start, drained, end] = [run.start, run.drained, run.end].map(|at| axis.x(at));
        bar("drain", &title, (start, drained), (y + 3, LANE - 9), body);
        bar("boot", &title, (drained, end), (y + 1, LANE - 5), body);
    }
}

fn bar(
    class: &str,
    title: &str,
    (start, end): (f64, f64),
    (y, height): (usize, usize),
    body: &mut String,
) {
    let _ = writeln!(
        body,
        "<rect class=\"{class}\" x=\"{start:.1}\" y=\"{y}\" width=\"{:.1}\" height=\"{height}\"><title>{}</title></rect>",
        (end - start).max(1.5),
        safe(title)
    );
}

fn arrivals(course: &Course, axis: &Axis, (top, bottom): (usize, usize), body: &mut String) {
    for change in &course.changes {
        let Arrival::At(at) = change.arrival else { continue };
        let x = axis.x(at);
        let title = format!("{} arrives {at}", change.config);
        let _ = writeln!(
            body,
            "<line class=\"arrival\" x1=\"{x:.1}\" y1=\"{top}\" x2=\"{x:.1}\" y2=\"{bottom}\"><title>{}</title></line>",
            safe(&title)
        );
    }
}

fn legend(y: usize) -> String {
    let word = |x: usize, word: &str| {
        format!("<text class=\"faint\" x=\"{x}\" y=\"{}\">{word}</text>", y + 10)
    };
    let sign = |x: usize, class: &str, (dy, height): (usize, usize)| {
        format!(
            "<rect class=\"{class}\" x=\"{x}\" y=\"{}\" width=\"16\" height=\"{height}\"/>",
            y + dy
        )
    };
    let x = MARGIN + NAMES;
    [
        sign(x, "open", (2, LANE - 7)),
        word(x + 24, "window open"),
        sign(x + 130, "drain", (3, LANE - 9)),
        word(x + 154, "node drains"),
        sign(x + 270, "boot", (1, LANE - 5)),
        word(x + 294, "applies and restarts"),
        format!(
            "<line class=\"arrival\" x1=\"{0}\" y1=\"{y}\" x2=\"{0}\" y2=\"{1}\"/>",
            x + 446,
            y + 12
        ),
        word(x + 458, "a change arrives"),
    ]
    .concat()
        + "\n"
}
