//! What is measured? The five workloads; each checks a peer's answers before it looks at the clock.

pub mod fleet;
pub mod list;
pub mod meet;
pub mod next;
pub mod worst;
pub mod zoned;

use crate::clock::Effort;
use crate::external::{Measured, Outcome};
use crate::grid::{Cell, Row};

/// What every workload needs to know.
pub struct Setting {
    pub effort: Effort,
    pub external: Vec<Outcome>,
}

impl Setting {
    /// Rows of the external peers that measured `workload`: a cell for each of `rules`, checked by `checksum(rule
    /// index, queries)`. A peer that did not run is a row without cells.
    pub fn external_rows(
        &self,
        workload: &str,
        rules: &[&str],
        checksum: impl Fn(usize, usize) -> i64,
    ) -> Vec<Row> {
        let mut rows = Vec::new();
        for outcome in self.external.iter().filter(|outcome| outcome.workloads.contains(&workload))
        {
            for peer in outcome.peers {
                match &outcome.result {
                    Err(reason) => {
                        rows.push(Row {
                            name: (*peer).to_owned(),
                            cells: Vec::new(),
                            note: format!("needs {reason}"),
                        });
                    }
                    Ok(printed) => rows.extend(external_row(
                        &printed.measured,
                        workload,
                        peer,
                        rules,
                        &checksum,
                    )),
                }
            }
        }
        rows
    }
}

fn external_row(
    measured: &[Measured],
    workload: &str,
    peer: &str,
    rules: &[&str],
    checksum: &impl Fn(usize, usize) -> i64,
) -> Option<Row> {
    let mine: Vec<_> =
        measured.iter().filter(|row| row.workload == workload && row.peer == peer).collect();
    if mine.is_empty() {
        return None;
    }
    let cells = rules
        .iter()
        .enumerate()
        .map(|(index, rule)| match mine.iter().find(|row| row.rule == *rule) {
            None => Cell::Inexpressible,
            Some(row) if row.checksum != checksum(index, row.queries) => Cell::Wrong,
            Some(row) => Cell::Time(row.ns / row.queries as f64),
        })
        .collect();
    Some(Row { name: peer.to_owned(), cells, note: "child process".to_owned() })
}
