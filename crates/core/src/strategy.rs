//! Which set of instants does a strategy denote?
//!
//! One row for each strategy. Adding one is a row here and its variant on the wire; status, calendar, forecast and explanation
//! follow from the set (TIME-2).

use api::policy::Strategy;
use schedule::TimeSet;

/// A strategy and the set it denotes.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The strategy.
    pub strategy: Strategy,
    /// Its name on the wire.
    pub name: &'static str,
    /// What it says, as a sentence without its full stop.
    pub meaning: &'static str,
    /// The set, given the set of the maintenance schedule.
    pub set: fn(scheduled: TimeSet) -> TimeSet,
}

/// Every strategy of a policy (POL-1).
pub const STRATEGIES: &[Row] = &[
    Row {
        strategy: Strategy::Permissive,
        name: "Permissive",
        meaning: "changes are always permitted",
        set: |_| TimeSet::always(),
    },
    Row {
        strategy: Strategy::Restrictive,
        name: "Restrictive",
        meaning: "changes are never permitted",
        set: |_| TimeSet::never(),
    },
    Row {
        strategy: Strategy::MaintenanceSchedule,
        name: "MaintenanceSchedule",
        meaning: "changes are permitted as the maintenance schedule says",
        set: |scheduled| scheduled,
    },
];

/// The row of a strategy; none for one that this build does not know.
pub fn row(strategy: Strategy) -> Option<&'static Row> {
    STRATEGIES.iter().find(|row| row.strategy == strategy)
}
