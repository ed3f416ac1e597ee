//! Why is an instant inside, or not? The leaf that decides, without a search through text.

use super::{Kind, State, TimeSet};
use crate::date::Date;
use crate::instant::Instant;
use crate::schedule::Schedule;
use crate::window::{HIGH, LOW};

/// Why an instant is inside or outside, and until when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Why<'a> {
    /// Whether the instant is inside the set that was asked.
    pub inside: bool,
    /// Until when that holds; none if for ever.
    pub until: Option<Instant>,
    /// The leaf that decides.
    pub cause: Cause<'a>,
    /// The name of the deciding leaf, or of the nearest named set around it.
    pub label: Option<&'a str>,
}

/// What a deciding leaf says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause<'a> {
    /// All instants are inside.
    Always,
    /// No instant is inside.
    Never,
    /// The instant is before this one.
    Before(Instant),
    /// The instant is not before this one.
    NotBefore(Instant),
    /// A dated range holds it.
    Range {
        /// Its first instant, if it has one.
        start: Option<Instant>,
        /// The first instant after it, if there is one.
        end: Option<Instant>,
    },
    /// No dated range holds it.
    NoRange,
    /// A window is open.
    Window {
        /// The civil date on which the window opened that closes last.
        date: Date,
        /// When that window opened.
        start: Instant,
        /// When it closes by itself, if nothing extends it; none if that is after the last instant there is.
        end: Option<Instant>,
    },
    /// No window is open.
    NoWindow {
        /// When the next one opens, excluded or not; none if never.
        next: Option<Instant>,
    },
    /// A window is open and about to close, too soon to begin anything (D4-3).
    Closing {
        /// When it closes.
        end: Option<Instant>,
    },
    /// A dated exclusion takes it out (TIME-10).
    Exclusion {
        /// The first day taken out.
        from: Date,
        /// The day after the last one.
        until: Date,
        /// Why, as its author wrote it.
        reason: Option<&'a str>,
    },
}

impl TimeSet {
    /// Which leaf decides about an instant, and until when the whole stays as it is.
    pub fn why(&self, at: Instant) -> Why<'_> {
        let State { inside, until } = self.state(at);
        let (leaf, label) = self.deciding(at.unix());
        Why { inside, until, cause: leaf.cause(at.unix()), label }
    }

    /// The leaf that decides: of the parts that force the state, the one that forces it longest; of parts that all must agree, the
    /// one that gives way first.
    fn deciding(&self, at: i64) -> (&Self, Option<&str>) {
        let (leaf, label) = match &self.0.kind {
            Kind::Union(a, b) | Kind::Intersection(a, b) => {
                let forcing = matches!(self.0.kind, Kind::Union(..));
                let ((in_a, end_a), (in_b, end_b)) = (a.forward(at, HIGH), b.forward(at, HIGH));
                let first = match (in_a == forcing, in_b == forcing) {
                    (true, false) => true,
                    (false, true) => false,
                    (true, true) => end_a >= end_b,
                    (false, false) => end_a <= end_b,
                };
                if first { a.deciding(at) } else { b.deciding(at) }
            }
            Kind::Complement(set) => set.deciding(at),
            // Where the window itself is open, it is its end that decides.
            Kind::ClosedEarly(set, _) if set.has(at) == self.has(at) => set.deciding(at),
            _ => (self, None),
        };
        (leaf, label.or(self.label()))
    }

    fn cause(&self, at: i64) -> Cause<'_> {
        let instant = |edge: i64| Instant::of_edge(edge).unwrap_or(Instant::MAX);
        match &self.0.kind {
            Kind::Before(end) if at < *end => Cause::Before(instant(*end)),
            Kind::Before(end) => Cause::NotBefore(instant(*end)),
            Kind::Ranges(_) => match (self.backward(at, LOW), self.forward(at, HIGH)) {
                ((true, start), (_, end)) => {
                    Cause::Range { start: Instant::of_edge(start), end: Instant::of_edge(end) }
                }
                _ => Cause::NoRange,
            },
            Kind::Schedule(schedule) => schedule.cause(at),
            Kind::Always => Cause::Always,
            Kind::ClosedEarly(set, _) => {
                Cause::Closing { end: Instant::of_edge(set.forward(at, HIGH).1) }
            }
            // Put-together sets are never a leaf.
            Kind::Never | Kind::Complement(_) | Kind::Union(..) | Kind::Intersection(..) => {
                Cause::Never
            }
        }
    }
}

impl Schedule {
    /// What this schedule says of an instant. The exclusion speaks first, because it beats permission (TIME-10).
    fn cause(&self, at: i64) -> Cause<'_> {
        if let Some(excluded) = self.exclusion_at(at) {
            return Cause::Exclusion {
                from: excluded.from,
                until: excluded.until,
                reason: excluded.reason,
            };
        }
        if self.windows().is_everything() {
            return Cause::Always;
        }
        if self.windows().is_never() {
            return Cause::Never;
        }
        match self.windows().open_at(at) {
            Some((day, start, end)) => Cause::Window {
                date: Date::nearest(day),
                start: Instant::of_edge(start).unwrap_or(Instant::MIN),
                end: Instant::of_edge(end),
            },
            None => Cause::NoWindow { next: Instant::of_edge(self.windows().forward(at, at).1) },
        }
    }
}
