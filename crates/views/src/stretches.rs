//! What does a line of time look like? Stretches of one state each, in order and without gaps, for anyone who draws one.
//!
//! Everything is read off the gate: its set, the freezes and overrides above it, the excluded days of its policy (GATE-15). Nothing is
//! decided here; where two would differ, the set wins.

use std::{collections::BTreeSet, ops::Range};

use schedule::{Instant, Span, TimeSet};
use tidegate_core::{
    gate::Gate,
    policy::{
        exclusion::{self, When},
        lower::Lowered,
        part::PartKind,
        stanza::Form,
    },
};

/// A stretch of one state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// When it begins, within what was asked for.
    pub start: Instant,
    /// When it ends, within what was asked for.
    pub end: Instant,
    /// Which state.
    pub state: Line,
    /// Why, where somebody gave a reason: of a freeze or an excluded day.
    pub reason: Option<String>,
}

/// How a stretch of time is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Line {
    /// Changes may start.
    Open,
    /// They may not.
    Held,
    /// They may not, because somebody froze them or excluded the day.
    Frozen,
    /// The same, and a window would have been open.
    Lost,
    /// They may start, because somebody set windows aside.
    Overridden,
    /// Nobody can tell.
    Unknown,
}

impl Line {
    /// In one word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Held => "held",
            Self::Frozen => "frozen",
            Self::Lost => "window lost to a freeze",
            Self::Overridden => "open by override",
            Self::Unknown => "cannot tell",
        }
    }
}

/// The stretches of a gate.
pub fn of_gate(gate: &Gate, range: &Range<Instant>) -> Vec<Piece> {
    let mut edges = Edges::new(range);
    edges.of_set(gate.set());
    for freeze in gate.freezes().chain(gate.shares()) {
        edges.of_span(freeze.span());
    }
    for overriding in gate.openings() {
        overriding.span().into_iter().for_each(|span| edges.of_span(span));
    }
    let until = match gate.form() {
        Form::PermissiveUntil(until) | Form::RestrictiveUntil(until) => Some(until),
        Form::NoStanza
        | Form::Unusable
        | Form::ByPolicy
        | Form::Permissive
        | Form::Restrictive
        | Form::Version => None,
    };
    if let Some(until) = until {
        edges.add(until);
    }
    let windows = gate.lowered().map(|lowered| {
        edges.of_exclusions(lowered);
        windows(lowered)
    });
    let windows = windows.flatten();
    // What a freeze takes away is what would be open without it.
    let would = |at: Instant| {
        let own = gate.own_set();
        own.contains(at) || windows.as_ref().is_some_and(|windows| windows.contains(at))
    };
    if let Some(windows) = &windows {
        edges.of_set(windows);
    }
    edges.of_set(gate.own_set());
    edges.pieces(|at| {
        if gate.doubt_at(at).is_some() {
            return (Line::Unknown, None);
        }
        let by_hand = matches!(gate.form(), Form::PermissiveUntil(until) if at < until)
            || gate.form() == Form::Permissive && gate.named().is_some();
        match (gate.set().contains(at), gate.freeze_at(at)) {
            (true, _) if by_hand || gate.override_at(at).is_some() => (Line::Overridden, None),
            (true, _) => (Line::Open, None),
            (false, Some(freeze)) => {
                let line = if would(at) { Line::Lost } else { Line::Frozen };
                (line, Some(freeze.reason.clone()))
            }
            (false, None) => match gate.lowered().and_then(|lowered| excluded(lowered, at)) {
                Some(_) if gate.overrides(at) => (Line::Held, None),
                Some(reason) if would(at) => (Line::Lost, Some(reason)),
                Some(reason) => (Line::Frozen, Some(reason)),
                None => (Line::Held, None),
            },
        }
    })
}

/// The stretches of a policy by itself, whoever names it.
pub fn of_policy(lowered: &Lowered, range: &Range<Instant>) -> Vec<Piece> {
    let mut edges = Edges::new(range);
    edges.of_set(&lowered.set);
    edges.of_exclusions(lowered);
    let windows = windows(lowered);
    if let Some(windows) = &windows {
        edges.of_set(windows);
    }
    edges.pieces(|at| {
        let lost = windows.as_ref().is_some_and(|windows| windows.contains(at));
        match (lowered.set.contains(at), excluded(lowered, at)) {
            (true, _) => (Line::Open, None),
            (false, Some(reason)) if lost => (Line::Lost, Some(reason)),
            (false, Some(reason)) => (Line::Frozen, Some(reason)),
            (false, None) => (Line::Held, None),
        }
    })
}

/// The windows of a policy, with those on excluded days; none where its strategy heeds no schedule.
fn windows(lowered: &Lowered) -> Option<TimeSet> {
    let windows = lowered.parts.walk().filter(|part| matches!(part.kind, PartKind::Windows(_)));
    windows.map(|part| part.set.clone()).reduce(TimeSet::union)
}

/// Why an instant is excluded, if it is.
fn excluded(lowered: &Lowered, at: Instant) -> Option<String> {
    let (found, _) = exclusion::holding(lowered.parts.exclusions(), at)?;
    let unnamed = match found.when {
        When::Days { .. } => "an excluded day",
        When::Instants(_) | When::Recurring { .. } => "an exclusion",
    };
    Some(found.reason.as_deref().unwrap_or(unnamed).to_owned())
}

/// Where something may begin or end.
struct Edges<'a> {
    range: &'a Range<Instant>,
    at: BTreeSet<Instant>,
}

impl<'a> Edges<'a> {
    fn new(range: &'a Range<Instant>) -> Self {
        Self { range, at: [range.start, range.end].into() }
    }

    fn add(&mut self, at: Instant) {
        if self.range.contains(&at) {
            self.at.insert(at);
        }
    }

    fn of_span(&mut self, span: Span) {
        span.start.into_iter().chain(span.end).for_each(|at| self.add(at));
    }

    fn of_set(&mut self, set: &TimeSet) {
        for span in set.spans(self.range.clone()) {
            self.of_span(span);
        }
    }

    fn of_exclusions(&mut self, lowered: &Lowered) {
        for exclusion in lowered.parts.exclusions() {
            exclusion.spans(self.range).into_iter().for_each(|span| self.of_span(span));
        }
    }

    fn pieces(self, state: impl Fn(Instant) -> (Line, Option<String>)) -> Vec<Piece> {
        let mut pieces: Vec<Piece> = Vec::new();
        let ends = self.at.iter().skip(1);
        for (start, end) in self.at.iter().zip(ends) {
            let (line, reason) = state(*start);
            match pieces.last_mut() {
                Some(last) if (last.state, &last.reason) == (line, &reason) => last.end = *end,
                _ => pieces.push(Piece { start: *start, end: *end, state: line, reason }),
            }
        }
        pieces
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use tidegate_core::{
        cluster::{kinds, snapshot::Snapshot},
        document::key::Key,
    };

    use super::*;

    fn at(text: &str) -> Instant {
        Instant::parse(text).unwrap()
    }

    /// Saturdays and Sundays, without the 28th of November.
    fn world(stanza: &Value) -> Snapshot {
        let mut world = Snapshot::default();
        let policy = json!({"apiVersion": "changemanagement.openshift.io/v1alpha1",
            "kind": "ChangeManagementPolicy", "metadata": {"name": "weekend"},
            "spec": {"strategy": "MaintenanceSchedule", "maintenanceSchedule": {
                "permit": {"recurrence": {"frequency": "Weekly",
                    "weekly": {"daysOfWeek": ["Saturday", "Sunday"]}}},
                "exclude": [{"fromDate": "2026-11-27", "untilDate": "2026-11-29", "reason": "sale"}]}}});
        let now = at("2026-11-18T09:00:00Z");
        world.add_written(&kinds::CHANGE_MANAGEMENT_POLICY, &policy, now);
        let pool = json!({"metadata": {"name": "worker"}, "spec": {"changeManagement": stanza}});
        world.add(&kinds::MACHINE_CONFIG_POOL, &pool);
        world
    }

    #[track_caller]
    fn check(world: &Snapshot, expected: &[(&str, Line)]) {
        let key = Key::new(&api::kinds::MACHINE_CONFIG_POOL, None, "worker");
        let gate = world.gate(world.resource(&key).unwrap());
        let range = at("2026-11-20T00:00:00Z")..at("2026-12-01T00:00:00Z");
        let pieces = of_gate(&gate, &range);
        let found: Vec<(String, Line)> =
            pieces.iter().map(|piece| (piece.start.to_string(), piece.state)).collect();
        let expected: Vec<(String, Line)> =
            expected.iter().map(|(from, line)| (format!("2026-{from}:00Z"), *line)).collect();
        assert_eq!(found, expected);
        assert_eq!(pieces.last().unwrap().end, range.end);
        for pair in pieces.windows(2) {
            assert_eq!(pair[0].end, pair[1].start, "no gap");
        }
        for piece in &pieces {
            let open = matches!(piece.state, Line::Open | Line::Overridden);
            assert_eq!(gate.set().contains(piece.start), open, "the set wins: {piece:?}");
        }
    }

    /// TIME-2, GATE-15
    #[test]
    fn a_line_says_what_the_gate_says_and_what_was_lost() {
        let by_policy = json!({"strategy": "ByPolicy", "byPolicy": {"name": "weekend"}});
        let mut world = world(&by_policy);
        check(
            &world,
            &[
                ("11-20T00:00", Line::Held),
                ("11-21T00:00", Line::Open),
                ("11-23T00:00", Line::Held),
                ("11-27T00:00", Line::Frozen),
                ("11-28T00:00", Line::Lost),
                ("11-29T00:00", Line::Open),
                ("11-30T00:00", Line::Held),
            ],
        );
        let freeze = json!({"metadata": {"name": "stop"}, "spec": {"reason": "a storm",
            "from": "2026-11-22T12:00:00Z", "until": "2026-11-24T00:00:00Z"}});
        world.add(&kinds::CLUSTER_CHANGE_FREEZE, &freeze);
        let overriding = json!({"metadata": {"name": "now", "creationTimestamp": "2026-11-20T06:00:00Z"},
            "spec": {"target": {"kind": "MachineConfigPool", "name": "worker"},
                "until": "2026-11-20T18:00:00Z", "reason": "CVE"}});
        world.add(&kinds::CLUSTER_CHANGE_OVERRIDE, &overriding);
        check(
            &world,
            &[
                ("11-20T00:00", Line::Held),
                ("11-20T06:00", Line::Overridden),
                ("11-20T18:00", Line::Held),
                ("11-21T00:00", Line::Open),
                ("11-22T12:00", Line::Lost),
                ("11-23T00:00", Line::Frozen),
                ("11-24T00:00", Line::Held),
                ("11-27T00:00", Line::Frozen),
                ("11-28T00:00", Line::Lost),
                ("11-29T00:00", Line::Open),
                ("11-30T00:00", Line::Held),
            ],
        );
    }

    /// GATE-12: what nobody can tell is drawn as nothing else.
    #[test]
    fn doubt_is_a_line_of_its_own() {
        let gone = json!({"strategy": "ByPolicy", "byPolicy": {"name": "gone"}});
        check(&world(&gone), &[("11-20T00:00", Line::Unknown)]);
        check(&world(&Value::Null), &[("11-20T00:00", Line::Open)]);
    }
}
