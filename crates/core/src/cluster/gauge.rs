//! What do the metrics say about a resource at an instant? Computed when asked, from the set and the clock (TIME-2).
//!
//! - METR-1: the time until changes are permitted is 0 exactly when the time that is left is not, except for -2, which both have.
//! - METR-2: at most one strategy is in force.

use api::{
    metrics::{self, Metric},
    policy::{State, Strategy},
};
use schedule::Instant;

use crate::{
    cluster::seen::SeenGated,
    gate::Gate,
    policy::{stanza::Form, strategy::STRATEGIES, verdict::Verdict},
};

/// Nobody can tell.
const CANNOT_TELL: i64 = -2;
/// There is no end to it, or nothing is known of it.
const FOR_EVER: i64 = -1;

/// The five metrics of a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gauges {
    /// 0 nothing pending; 1 being initiated, or under way; 2 pending and held back.
    pub change_pending: i64,
    /// -2 cannot tell; -1 paused with no end; 0 permitted now; else the seconds until changes are permitted.
    pub next_change_eta: i64,
    /// -2 cannot tell; -1 permitted with no end; 0 not permitted; else the seconds that are left.
    pub permissive_remaining: i64,
    /// -1 unknown; 0 permitted now; else the seconds since changes were last permitted or initiated.
    pub last_change: i64,
    /// The strategy in force; none without a stanza.
    pub strategy: Option<Strategy>,
}

/// One of the figures.
pub type Figure = fn(&Gauges) -> i64;

/// The figures of a resource, each with the metric that it is served as. Adding one is a row here and its row in [`metrics`].
pub const FIGURES: &[(&Metric, Figure)] = &[
    (&metrics::CHANGE_PENDING, |gauges| gauges.change_pending),
    (&metrics::NEXT_CHANGE_ETA, |gauges| gauges.next_change_eta),
    (&metrics::PERMISSIVE_REMAINING, |gauges| gauges.permissive_remaining),
    (&metrics::LAST_CHANGE, |gauges| gauges.last_change),
];

/// The metrics of a resource at an instant.
pub fn gauges(seen: &SeenGated, gate: &Gate, now: Instant) -> Gauges {
    let stretch = gate.set().stretch(now);
    let until = |end: Option<Instant>| end.map_or(FOR_EVER, |end| end.unix() - now.unix());
    let verdict = gate.verdict(now);
    let (next_change_eta, permissive_remaining) = match verdict {
        Verdict::CannotTell => (CANNOT_TELL, CANNOT_TELL),
        Verdict::Permitted => (0, until(stretch.end)),
        Verdict::Held => (until(stretch.end), 0),
    };
    Gauges {
        change_pending: seen.pending.stage(verdict).figure(),
        next_change_eta,
        permissive_remaining,
        last_change: match verdict {
            Verdict::Permitted => 0,
            Verdict::Held | Verdict::CannotTell => last_permitted(seen, gate, now),
        },
        strategy: (gate.form() != Form::NoStanza).then(|| gate.strategy(now)),
    }
}

/// The seconds since changes were last permitted, or initiated while the gate was shut. What was recorded counts first: a set says what would have been permitted, a
/// status what was.
fn last_permitted(seen: &SeenGated, gate: &Gate, now: Instant) -> i64 {
    let recorded = seen.behavior.as_ref().and_then(|behavior| {
        let current = (behavior.current.state, behavior.current.end_time.as_deref());
        let history =
            behavior.history.iter().map(|past| (past.state, Some(past.end_time.as_str())));
        let mut stretches = std::iter::once(current).chain(history);
        let (_, end) = stretches.find(|(state, _)| *state == State::ChangesUnpaused)?;
        Instant::parse(end?).ok()
    });
    let permitted = recorded.filter(|end| *end <= now).or_else(|| gate.set().previous_change(now));
    let initiated = seen.pending.initiated.filter(|at| *at <= now);
    let last = permitted.max(initiated);
    // 0 is the word for "permitted now", and this second is not.
    last.map_or(FOR_EVER, |last| (now.unix() - last.unix()).max(1))
}

impl Gauges {
    /// The value of `change_management_strategy_enabled` for each strategy.
    pub fn strategies(&self) -> impl Iterator<Item = (&'static str, i64)> + '_ {
        STRATEGIES.iter().map(|row| (row.name, i64::from(self.strategy == Some(row.strategy))))
    }
}

#[cfg(test)]
mod tests;
