//! W3: when may workers and the control plane both change? Two schedules intersected, less 110 exclusions, ten years.

use std::hint::black_box;

use super::Setting;
use crate::clock;
use crate::grid::{Cell, Grid, Row};
use crate::naive::{self, Checksum};
use crate::peers::{MATERIALISED, OURS, Peer, RIVALS, ours};
use crate::rule::Rule;
use crate::seed::{self, FROM, UNTIL_10};

/// The whole table.
pub fn grid(setting: &Setting) -> Grid {
    let pairs = seed::pairs();
    let truth = |pair: &(Rule, Rule)| {
        Checksum::of_windows(&ours::Meet::new(&pair.0, &pair.1).windows(FROM, UNTIL_10))
    };
    let our_cells = pairs
        .iter()
        .map(|(worker, control)| {
            let meet = ours::Meet::new(worker, control);
            Cell::Time(clock::best(setting.effort, || {
                black_box(meet.open_seconds(black_box(FROM), black_box(UNTIL_10)));
            }))
        })
        .collect();
    let mut rows = vec![Row { name: OURS.name.to_owned(), cells: our_cells, note: String::new() }];
    let row = |peer: &Peer| {
        let cells = pairs.iter().map(|pair| cell(setting, peer, pair, truth(pair))).collect();
        Row { name: peer.name.to_owned(), cells, note: String::new() }
    };
    rows.extend(RIVALS.iter().filter(|peer| peer.name != MATERIALISED).map(row));
    let names: Vec<_> = pairs.iter().map(|(worker, _)| worker.id.as_str()).collect();
    rows.extend(setting.external_rows("W3", &names, |pair, _| truth(&pairs[pair]).value()));
    Grid {
        title:
            "W3: worker AND control plane minus 110 exclusions over ten years, CPU time per list"
                .to_owned(),
        columns: names.into_iter().map(str::to_owned).collect(),
        rows,
        counted: vec![0, 1],
    }
}

fn cell(setting: &Setting, peer: &Peer, (worker, control): &(Rule, Rule), truth: Checksum) -> Cell {
    let (Some(worker), Some(control)) = ((peer.compile)(worker), (peer.compile)(control)) else {
        return Cell::Inexpressible;
    };
    let list =
        || naive::intersect(&worker.windows(FROM, UNTIL_10), &control.windows(FROM, UNTIL_10));
    if Checksum::of_windows(&list()) != truth {
        return Cell::Wrong;
    }
    Cell::Time(clock::best(setting.effort, || {
        black_box(list().iter().map(|(start, end)| end - start).sum::<i64>());
    }))
}
