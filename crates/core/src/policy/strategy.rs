//! What does a strategy mean?
//!
//! One row for each strategy. Adding one is a row here and its variant on the wire; status, calendar, forecast and explanation
//! follow from the parts (TIME-2).

use api::policy::Strategy;

use crate::policy::part::Part;

/// A strategy and what it means.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The strategy.
    pub strategy: Strategy,
    /// Its name on the wire.
    pub name: &'static str,
    /// What it says, as a sentence without its full stop.
    pub meaning: &'static str,
    /// What it is made of, given the maintenance schedule.
    pub parts: fn(schedule: Part) -> Part,
}

/// Every strategy of a policy (POL-1).
pub const STRATEGIES: &[Row] = &[
    Row {
        strategy: Strategy::Permissive,
        name: "Permissive",
        meaning: "changes are always permitted",
        parts: |_| Part::always(),
    },
    Row {
        strategy: Strategy::Restrictive,
        name: "Restrictive",
        meaning: "changes are never permitted",
        parts: |_| Part::never(),
    },
    Row {
        strategy: Strategy::MaintenanceSchedule,
        name: "MaintenanceSchedule",
        meaning: "changes are permitted as the maintenance schedule says",
        parts: |schedule| schedule,
    },
];

/// The row of a strategy; none for one that this build does not know.
pub fn row(strategy: Strategy) -> Option<&'static Row> {
    STRATEGIES.iter().find(|row| row.strategy == strategy)
}
