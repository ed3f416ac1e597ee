//! What does a time zone cost? The same questions asked of schedules in Europe/Berlin and in UTC.

use std::hint::black_box;

use super::{Setting, next};
use crate::clock;
use crate::grid::{Cell, Grid, Row};
use crate::peers::ours;
use crate::seed::{self, NOW};

pub const BERLIN: &str = "tidegate, Europe/Berlin";

/// UTC first, so that the ratio column reads as the price of the zone.
pub fn grid(setting: &Setting) -> Grid {
    let shapes = seed::shapes();
    let instants = seed::instants();
    let policies = seed::policies(10_000);
    let row = |name: &str, zone: &str| {
        let mut cells: Vec<_> = shapes
            .iter()
            .map(|rule| {
                let engine = ours::compile_in(rule, zone);
                Cell::Time(next::per_query(setting, &engine, &instants[..16_384]))
            })
            .collect();
        let fleet = ours::Fleet::new_in(&policies, zone);
        let all = clock::best(setting.effort, || {
            for index in 0..fleet.len() {
                black_box(fleet.state(index, black_box(NOW)));
            }
        });
        cells.push(Cell::Time(all / policies.len() as f64));
        Row { name: name.to_owned(), cells, note: String::new() }
    };
    let mut columns: Vec<_> = shapes.iter().map(|rule| rule.id.clone()).collect();
    columns.push("state of 10,000".to_owned());
    let counted = (0..columns.len()).filter(|index| columns[*index] != "Feb 30").collect();
    Grid {
        title: "Zoned schedules beside UTC: W1 and W4, CPU time per query".to_owned(),
        rows: vec![row("tidegate, UTC", "UTC"), row(BERLIN, "Europe/Berlin")],
        columns,
        counted,
    }
}
