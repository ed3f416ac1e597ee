//! How do many peers compare over many columns? A grid of times whose first row is ours, and the means of their ratios.

use serde_json::{Value, json};

/// What became of one peer on one column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cell {
    /// Nanoseconds, of an answer that was checked.
    Time(f64),
    /// The peer cannot express the rule.
    Inexpressible,
    /// The answer differs from ours, so its time means nothing.
    Wrong,
}

/// One peer's cells, and what a reader should know about them.
#[derive(Clone, Debug)]
pub struct Row {
    pub name: String,
    pub cells: Vec<Cell>,
    pub note: String,
}

/// A table of times.
pub struct Grid {
    pub title: String,
    pub columns: Vec<String>,
    /// Ours first.
    pub rows: Vec<Row>,
    /// The columns that count in the mean.
    pub counted: Vec<usize>,
}

impl Grid {
    pub fn row(&self, name: &str) -> Option<&Row> {
        self.rows.iter().find(|row| row.name == name)
    }

    /// How many times longer than ours a peer takes: the geometric mean over the counted columns it can answer.
    /// `None` if it answers none, or if any answer was wrong.
    pub fn ratio(&self, name: &str) -> Option<f64> {
        self.ratio_over(name, &self.counted)
    }

    /// The same over chosen columns.
    pub fn ratio_over(&self, name: &str, columns: &[usize]) -> Option<f64> {
        let ours = self.rows.first()?;
        let row = self.row(name)?;
        let mut logs = Vec::new();
        for column in columns {
            match (ours.cells.get(*column)?, row.cells.get(*column)?) {
                (Cell::Time(ours), Cell::Time(theirs)) => logs.push((theirs / ours).ln()),
                (_, Cell::Inexpressible) => {}
                _ => return None,
            }
        }
        (!logs.is_empty()).then(|| (logs.iter().sum::<f64>() / logs.len() as f64).exp())
    }

    pub fn markdown(&self) -> String {
        let mut text = format!(
            "### {}\n\n| peer | {} | ratio | note |\n",
            self.title,
            self.columns.join(" | ")
        );
        text += &format!("|---|{}---|---|\n", "---|".repeat(self.columns.len()));
        for row in &self.rows {
            let cells = if row.cells.is_empty() {
                vec!["SKIPPED"; self.columns.len()].join(" | ")
            } else {
                row.cells.iter().map(|cell| cell.show()).collect::<Vec<_>>().join(" | ")
            };
            let ratio = self.ratio(&row.name).map_or_else(|| "-".to_owned(), times);
            text += &format!("| {} | {cells} | {ratio} | {} |\n", row.name, row.note);
        }
        text
    }

    pub fn json(&self) -> Value {
        let rows: Vec<_> = self
            .rows
            .iter()
            .map(|row| {
                let cells: Vec<_> = row.cells.iter().map(|cell| cell.json()).collect();
                json!({ "peer": row.name, "cells": cells, "ratio": self.ratio(&row.name), "note": row.note })
            })
            .collect();
        json!({ "title": self.title, "columns": self.columns, "rows": rows })
    }
}

impl Cell {
    fn show(self) -> String {
        match self {
            Self::Time(ns) => nanoseconds(ns),
            Self::Inexpressible => "-".to_owned(),
            Self::Wrong => "WRONG".to_owned(),
        }
    }

    fn json(self) -> Value {
        match self {
            Self::Time(ns) => json!(ns),
            Self::Inexpressible => Value::Null,
            Self::Wrong => json!("WRONG"),
        }
    }
}

/// A duration with three figures and a unit.
pub fn nanoseconds(ns: f64) -> String {
    match ns {
        ns if ns < 1e3 => format!("{} ns", figures(ns)),
        ns if ns < 1e6 => format!("{} us", figures(ns / 1e3)),
        ns if ns < 1e9 => format!("{} ms", figures(ns / 1e6)),
        ns => format!("{} s", figures(ns / 1e9)),
    }
}

/// A ratio, such as `146x`.
pub fn times(ratio: f64) -> String {
    if ratio >= 1_000.0 {
        let rounded = 10f64.powf(ratio.log10().floor() - 2.0);
        let whole = ((ratio / rounded).round() * rounded) as u64;
        return format!("{} {:03}x", whole / 1_000, whole % 1_000);
    }
    format!("{}x", figures(ratio))
}

fn figures(value: f64) -> String {
    match value {
        value if value < 10.0 => format!("{value:.2}"),
        value if value < 100.0 => format!("{value:.1}"),
        value => format!("{value:.0}"),
    }
}
