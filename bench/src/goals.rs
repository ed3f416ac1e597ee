//! Is the engine as fast as it must be? Goals P1 to P8, each with the figure found.

use serde_json::{Value, json};

/// One goal and what was measured for it.
pub struct Goal {
    pub id: &'static str,
    pub what: String,
    pub found: String,
    pub verdict: Verdict,
}

/// A goal that could not be measured is not met and not missed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    Met,
    Missed,
    NotMeasured,
}

impl Goal {
    /// Met if `found` is at least `wanted`.
    pub fn at_least(
        id: &'static str,
        what: &str,
        found: Option<f64>,
        wanted: f64,
        show: fn(f64) -> String,
    ) -> Self {
        Self::judge(
            id,
            &format!("{what} >= {}", show(wanted)),
            found,
            |found| found >= wanted,
            show,
        )
    }

    /// Met if `found` is at most `wanted`.
    pub fn at_most(
        id: &'static str,
        what: &str,
        found: Option<f64>,
        wanted: f64,
        show: fn(f64) -> String,
    ) -> Self {
        Self::judge(
            id,
            &format!("{what} <= {}", show(wanted)),
            found,
            |found| found <= wanted,
            show,
        )
    }

    fn judge(
        id: &'static str,
        what: &str,
        found: Option<f64>,
        met: impl Fn(f64) -> bool,
        show: fn(f64) -> String,
    ) -> Self {
        let verdict = match found {
            None => Verdict::NotMeasured,
            Some(found) if met(found) => Verdict::Met,
            Some(_) => Verdict::Missed,
        };
        Self {
            id,
            what: what.to_owned(),
            found: found.map_or_else(|| "-".to_owned(), show),
            verdict,
        }
    }
}

impl Verdict {
    fn show(self) -> &'static str {
        match self {
            Self::Met => "met",
            Self::Missed => "**NOT MET**",
            Self::NotMeasured => "not measured",
        }
    }
}

/// A plain count, for instructions and bytes.
pub fn count(value: f64) -> String {
    format!("{value:.0}")
}

pub fn markdown(goals: &[Goal]) -> String {
    let mut text = String::from("| goal | wanted | found | verdict |\n|---|---|---|---|\n");
    for goal in goals {
        text += &format!(
            "| {} | {} | {} | {} |\n",
            goal.id,
            goal.what,
            goal.found,
            goal.verdict.show()
        );
    }
    text
}

pub fn json(goals: &[Goal]) -> Value {
    goals
        .iter()
        .map(|goal| {
            let verdict = goal.verdict.show().trim_matches('*').to_lowercase();
            json!({ "id": goal.id, "wanted": goal.what, "found": goal.found, "verdict": verdict })
        })
        .collect()
}
