//! W1: when does the next window start? Strictly after random instants of 2026.

use std::hint::black_box;

use super::Setting;
use crate::clock;
use crate::grid::{Cell, Grid, Row};
use crate::naive::Checksum;
use crate::peers::{Engine, OURS, Peer, RIVALS};
use crate::rule::{Rule, Shape};
use crate::seed;

pub const SEQUENTIAL: &str = "tidegate, instants in order";

/// The whole table.
pub fn grid(setting: &Setting) -> Grid {
    let shapes = seed::shapes();
    let random = seed::instants();
    let mut ordered = random.clone();
    ordered.sort_unstable();
    let ours: Vec<_> = shapes.iter().map(|rule| (OURS.compile)(rule)).collect();
    let truth = |shape: usize, queries: usize| {
        ours[shape].as_ref().map_or(-1, |engine| checksum(engine.as_ref(), &random[..queries]))
    };
    let row = |peer: &Peer, name: &str, instants: &[i64]| {
        let cells = shapes
            .iter()
            .enumerate()
            .map(|(index, rule)| {
                let truth = |queries: usize| match &ours[index] {
                    Some(engine) => checksum(engine.as_ref(), &instants[..queries]),
                    None => -1,
                };
                cell(setting, peer, rule, instants, truth)
            })
            .collect();
        Row { name: name.to_owned(), cells, note: String::new() }
    };
    let mut rows = vec![row(&OURS, OURS.name, &random), row(&OURS, SEQUENTIAL, &ordered)];
    rows.extend(RIVALS.iter().map(|peer| row(peer, peer.name, &random)));
    let names: Vec<_> = shapes.iter().map(|rule| rule.id.as_str()).collect();
    rows.extend(setting.external_rows("W1", &names, truth));
    Grid {
        title: "W1: next window start strictly after t, CPU time per query".to_owned(),
        columns: shapes.iter().map(|rule| rule.id.clone()).collect(),
        rows,
        counted: (0..shapes.len())
            .filter(|index| !seed::CORNERS.contains(&shapes[*index].id.as_str()))
            .collect(),
    }
}

/// The columns that need a calendar: where a hand-written engine shows what its calendar crate costs.
pub fn calendar_columns() -> Vec<usize> {
    let needs_calendar =
        |rule: &Rule| !matches!(rule.shape, Shape::Daily { .. } | Shape::Weekly { .. });
    seed::shapes()
        .iter()
        .enumerate()
        .filter(|(_, rule)| needs_calendar(rule) && !seed::CORNERS.contains(&rule.id.as_str()))
        .map(|(index, _)| index)
        .collect()
}

fn cell(
    setting: &Setting,
    peer: &Peer,
    rule: &Rule,
    instants: &[i64],
    truth: impl Fn(usize) -> i64,
) -> Cell {
    let Some(engine) = (peer.compile)(rule) else { return Cell::Inexpressible };
    let pilot = clock::once(|| {
        black_box(engine.next(black_box(instants[0])));
    });
    let instants = &instants[..clock::how_many(pilot, instants.len())];
    if checksum(engine.as_ref(), instants) != truth(instants.len()) {
        return Cell::Wrong;
    }
    Cell::Time(per_query(setting, engine.as_ref(), instants))
}

/// The best time of one query, asked of each instant in turn.
pub fn per_query(setting: &Setting, engine: &dyn Engine, instants: &[i64]) -> f64 {
    let all = clock::best(setting.effort, || {
        let mut sum = 0i64;
        for at in instants {
            sum = sum.wrapping_add(engine.next(*at).unwrap_or(-1));
        }
        black_box(sum);
    });
    all / instants.len() as f64
}

fn checksum(engine: &dyn Engine, instants: &[i64]) -> i64 {
    let mut sum = Checksum::new();
    for at in instants {
        sum.add(engine.next(*at));
    }
    sum.value()
}
