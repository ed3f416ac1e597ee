//! The table: what was wanted, what was found, and whether that is enough.

use std::fmt;

/// What a figure has to keep to.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Goal {
    /// The embedded server inside the process must be so many times as fast as the real one.
    Times(f64),
    /// A bound on the embedded server inside the process.
    AtMost(f64),
    /// It is enough that it happens.
    None,
}

/// Rows of the table.
#[derive(Debug, Default)]
pub(crate) struct Report {
    rows: Vec<[String; 7]>,
    missed: usize,
}

impl Report {
    /// A figure of all three servers where more is better.
    pub(crate) fn rates(&mut self, what: &str, goal: Goal, [inside, outside, real]: [f64; 3]) {
        let told = [inside, outside, real].map(|rate| format!("{rate:.0}/s"));
        self.three(what, goal, told, inside, inside / real, "");
    }

    /// A figure of all three servers where less is better.
    pub(crate) fn lengths(
        &mut self,
        what: &str,
        goal: Goal,
        [inside, outside, real]: [f64; 3],
        unit: &str,
    ) {
        let told = [inside, outside, real].map(|length| format!("{length:.1} {unit}"));
        self.three(what, goal, told, inside, real / inside, unit);
    }

    fn three(
        &mut self,
        what: &str,
        goal: Goal,
        [inside, outside, real]: [String; 3],
        found: f64,
        ratio: f64,
        unit: &str,
    ) {
        let (wanted, met) = match goal {
            Goal::Times(times) => (format!(">= {times} times the real server"), ratio >= times),
            Goal::AtMost(most) => (format!("<= {most} {unit}"), found <= most),
            Goal::None => ("all of them".to_owned(), true),
        };
        self.row([what.to_owned(), wanted, inside, outside, real, format!("{ratio:.1}x")], met);
    }

    /// A figure of the embedded server alone.
    pub(crate) fn one(&mut self, what: &str, goal: Goal, found: f64, unit: &str) {
        let (wanted, met) = match goal {
            Goal::AtMost(most) => (format!("<= {most} {unit}"), found <= most),
            Goal::Times(_) | Goal::None => (String::new(), true),
        };
        self.alone(what, wanted, format!("{found:.2} {unit}"), met);
    }

    /// Something that holds or does not.
    pub(crate) fn fact(&mut self, what: &str, wanted: &str, found: String, holds: bool) {
        self.alone(what, wanted.to_owned(), found, holds);
    }

    fn alone(&mut self, what: &str, wanted: String, found: String, met: bool) {
        let dash = || "-".to_owned();
        self.row([what.to_owned(), wanted, found, dash(), dash(), dash()], met);
    }

    fn row(&mut self, [what, wanted, inside, outside, real, ratio]: [String; 6], met: bool) {
        self.missed += usize::from(!met);
        let verdict = if met { "met" } else { "**NOT MET**" }.to_owned();
        self.rows.push([what, wanted, inside, outside, real, ratio, verdict]);
    }

    pub(crate) fn all_met(&self) -> bool {
        self.missed == 0
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "| figure | wanted | in the process | behind its port | real server | times the real server | verdict |"
        )?;
        write!(f, "|---|---|---|---|---|---|---|")?;
        for row in &self.rows {
            write!(f, "\n| {} |", row.join(" | "))?;
        }
        Ok(())
    }
}
