//! W2: which windows does a range hold? All of 2026, and all of 2026 to 2035.

use std::hint::black_box;

use super::Setting;
use crate::clock;
use crate::grid::{Cell, Grid, Row};
use crate::naive::Checksum;
use crate::peers::{MATERIALISED, OURS, Peer, RIVALS};
use crate::rule::Rule;
use crate::seed::{self, FROM, UNTIL, UNTIL_10};

/// The shapes worth listing: the corner cases have nothing to list.
const LISTED: [&str; 6] = ["daily 1", "Sat w1", "MTW w2", "1,15 m1", "1st Sat m1", "Dec 24-26"];

/// One year, then ten.
pub fn grids(setting: &Setting) -> [Grid; 2] {
    [("W2", UNTIL, "2026"), ("W2x10", UNTIL_10, "2026 to 2035")]
        .map(|(workload, until, years)| grid(setting, workload, until, years))
}

fn grid(setting: &Setting, workload: &str, until: i64, years: &str) -> Grid {
    let shapes: Vec<Rule> =
        seed::shapes().into_iter().filter(|rule| LISTED.contains(&rule.id.as_str())).collect();
    let truth = |rule: &Rule| {
        (OURS.compile)(rule).map(|engine| Checksum::of_windows(&engine.windows(FROM, until)))
    };
    let row = |peer: &Peer| {
        let cells = shapes
            .iter()
            .map(|rule| {
                let Some(engine) = (peer.compile)(rule) else { return Cell::Inexpressible };
                if Some(Checksum::of_windows(&engine.windows(FROM, until))) != truth(rule) {
                    return Cell::Wrong;
                }
                Cell::Time(clock::best(setting.effort, || {
                    black_box(engine.open_seconds(black_box(FROM), black_box(until)));
                }))
            })
            .collect();
        Row { name: peer.name.to_owned(), cells, note: String::new() }
    };
    let mut rows = vec![row(&OURS)];
    rows.extend(RIVALS.iter().filter(|peer| peer.name != MATERIALISED).map(row));
    let names: Vec<_> = shapes.iter().map(|rule| rule.id.as_str()).collect();
    rows.extend(setting.external_rows(workload, &names, |rule, _| {
        truth(&shapes[rule]).map_or(-1, Checksum::value)
    }));
    Grid {
        title: format!("W2: all merged windows of {years}, CPU time per list"),
        columns: shapes.iter().map(|rule| rule.id.clone()).collect(),
        rows,
        counted: (0..shapes.len()).collect(),
    }
}
