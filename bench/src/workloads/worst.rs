//! W5: how bad can a legal rule be? The named corners, and the spread of cost over 4,000 random rules.

use std::hint::black_box;

use super::Setting;
use crate::clock;
use crate::grid::{Grid, nanoseconds, times};
use crate::peers::{Engine, OURS, ours};
use crate::seed;

/// The columns of W1 that are corners, as a table of their own.
pub fn corners(first: &Grid) -> Grid {
    const NAMES: [&str; 6] =
        ["Mon w26", "31st m11", "5th Mon m11", "Feb 29", "5th Mon Feb", "Feb 30"];
    let columns: Vec<_> = (0..first.columns.len())
        .filter(|index| NAMES.contains(&first.columns[*index].as_str()))
        .collect();
    let rows = first
        .rows
        .iter()
        .filter(|row| !row.cells.is_empty())
        .map(|row| {
            let mut row = row.clone();
            row.cells = columns.iter().map(|column| row.cells[*column]).collect();
            row
        })
        .collect();
    Grid {
        title: "W5: corners, CPU time per query (Feb 30 never comes)".to_owned(),
        columns: columns.iter().map(|column| first.columns[*column].clone()).collect(),
        rows,
        counted: (0..columns.len()).collect(),
    }
}

/// The spread of one question's cost over many rules.
pub struct Spread {
    pub question: &'static str,
    pub median: f64,
    pub worst: f64,
    pub worst_rule: String,
}

impl Spread {
    pub fn ratio(&self) -> f64 {
        self.worst / self.median
    }
}

/// Legal rules that are rarer or denser than the generator draws, as RFC 5545 text.
pub const RARE: [&str; 6] = [
    "FREQ=YEARLY;BYMONTH=2;BYDAY=5MO",
    "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29",
    "FREQ=YEARLY;INTERVAL=7;BYMONTH=2;BYMONTHDAY=29",
    "FREQ=MONTHLY;BYMONTHDAY=13;BYDAY=FR",
    "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1",
    "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29;BYDAY=SU",
];

/// Measures every rule briefly, then the dearest again with care.
pub fn spreads(setting: &Setting) -> [Spread; 2] {
    let instants = seed::instants();
    let mut engines: Vec<(String, Box<dyn Engine>)> = seed::rules()
        .iter()
        .chain(&seed::shapes())
        .filter_map(|rule| {
            let name = format!("{}, {} s long", rule.rrule(), rule.length);
            (OURS.compile)(rule).map(|engine| (name, engine))
        })
        .collect();
    engines.extend(
        RARE.iter()
            .filter_map(|text| ours::from_rrule(text).map(|engine| ((*text).to_owned(), engine))),
    );
    [
        spread(setting, "next start", &engines, &instants, |engine, at| {
            engine.next(at).unwrap_or(-1)
        }),
        spread(setting, "state", &engines, &instants, |engine, at| {
            engine.state(at).until.unwrap_or(-1)
        }),
    ]
}

fn spread(
    setting: &Setting,
    question: &'static str,
    engines: &[(String, Box<dyn Engine>)],
    instants: &[i64],
    ask: impl Fn(&dyn Engine, i64) -> i64,
) -> Spread {
    let pass = |engine: &dyn Engine, instants: &[i64]| {
        let mut sum = 0i64;
        for at in instants {
            sum = sum.wrapping_add(ask(engine, *at));
        }
        black_box(sum);
    };
    let brief = &instants[..256];
    let mut costs: Vec<(f64, usize)> = engines
        .iter()
        .enumerate()
        .map(|(index, (_, engine))| {
            let spent =
                (0..3).map(|_| clock::once(|| pass(engine.as_ref(), brief))).min().unwrap_or(0);
            (spent as f64 / brief.len() as f64, index)
        })
        .collect();
    costs.sort_by(|left, right| left.0.total_cmp(&right.0));
    let carefully = |index: usize| {
        let sample = &instants[..4_096];
        clock::best(setting.effort, || pass(engines[index].1.as_ref(), sample))
            / sample.len() as f64
    };
    // The median is one figure out of thousands and needs no care; a few around it, measured again, even it out.
    let middle = costs.len() / 2;
    let mut around: Vec<f64> =
        costs[middle - 4..=middle + 4].iter().map(|(_, index)| carefully(*index)).collect();
    around.sort_by(f64::total_cmp);
    let worst = costs[costs.len() - 12..]
        .iter()
        .map(|(_, index)| (carefully(*index), *index))
        .max_by(|left, right| left.0.total_cmp(&right.0))
        .unwrap_or((0.0, 0));
    Spread { question, median: around[4], worst: worst.0, worst_rule: engines[worst.1].0.clone() }
}

pub fn markdown(spreads: &[Spread]) -> String {
    let mut text = String::from(
        "### W5: our cost over 4,000 random rules, the named shapes and rare RFC 5545 rules\n\n\
         | question | median | worst | worst/median | the worst rule |\n|---|---|---|---|---|\n",
    );
    for spread in spreads {
        text += &format!(
            "| {} | {} | {} | {} | `{}` |\n",
            spread.question,
            nanoseconds(spread.median),
            nanoseconds(spread.worst),
            times(spread.ratio()),
            spread.worst_rule
        );
    }
    text
}
