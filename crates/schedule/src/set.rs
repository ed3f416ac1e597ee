//! Is an instant inside, and when does that change? Sets of instants and their algebra.
//!
//! Every strategy, override and schedule denotes such a set (TIME-2); state, next window, calendar, forecast and reasons are derived
//! from it by the few questions below and never computed a second way. `next_change` is the least later instant where membership
//! differs, and none means never again (SCHED-2).

use std::ops::Range;
use std::sync::Arc;

use crate::instant::Instant;
use crate::schedule::Schedule;
use crate::window::{HIGH, LOW, Rhythm};

mod decide;
mod early;
mod estimate;
mod least;
mod spans;
mod variety;
mod why;

pub use least::{Least, Rolling};
pub use spans::Spans;
pub use why::{Cause, Why};

/// A set of instants.
///
/// Built from leaves by set operations; "never" and "always" are found while it is built, not when it is asked. Cheap to clone.
///
/// ```
/// use schedule::{Instant, TimeSet};
///
/// let noon = Instant::parse("2026-11-15T12:00:00Z")?;
/// // An override that permits everything until noon, and nothing after it.
/// let permissive_until = TimeSet::before(noon).union(TimeSet::never());
/// assert!(permissive_until.contains(noon.saturating_add(-1)));
/// assert!(!permissive_until.contains(noon), "half-open: closed at the end instant (TIME-1)");
/// assert_eq!(permissive_until.next_change(noon), None);
/// assert!(permissive_until.clone().union(permissive_until.complement()).is_always());
/// # Ok::<(), schedule::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct TimeSet(Arc<Node>);

#[derive(Clone, Debug)]
struct Node {
    kind: Kind,
    label: Option<Arc<str>>,
    /// The set does not change before this instant, nor after `settled`, which is its last change: far from its irregular parts a
    /// question about it must not walk to the end of time to learn that nothing comes.
    begun: i64,
    settled: i64,
}

#[derive(Clone, Debug)]
enum Kind {
    Never,
    Always,
    Before(i64),
    /// Sorted, disjoint, not touching, not empty.
    Ranges(Box<[(i64, i64)]>),
    Schedule(Schedule),
    Complement(TimeSet),
    Union(TimeSet, TimeSet),
    Intersection(TimeSet, TimeSet),
    /// Each stretch of at least so many seconds ends so many seconds before it did.
    ClosedEarly(TimeSet, i64),
}

/// Whether an instant is inside, and until when that holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct State {
    /// Whether the instant is inside.
    pub inside: bool,
    /// The first later instant where that differs; none if never.
    pub until: Option<Instant>,
}

impl State {
    #[inline]
    pub(crate) fn of((inside, end): (bool, i64)) -> Self {
        Self { inside, until: Instant::of_edge(end) }
    }
}

/// The longest run of one state around an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// Whether the run is inside the set.
    pub inside: bool,
    /// When it started; none if it always was so.
    pub start: Option<Instant>,
    /// When it ends; none if it never does.
    pub end: Option<Instant>,
}

/// A run of instants inside a set, half-open (TIME-1), with its true edges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The first instant; none if there is no first.
    pub start: Option<Instant>,
    /// The first instant after it; none if it never ends.
    pub end: Option<Instant>,
}

impl Span {
    /// The instants from `start` until before `end`.
    pub fn new(start: Instant, end: Instant) -> Self {
        Self { start: Some(start), end: Some(end) }
    }
}

/// How a set is put together, for those who draw it.
#[derive(Clone, Copy, Debug)]
pub enum Parts<'a> {
    /// Not put together: a leaf.
    Leaf,
    /// What is not inside this one.
    Complement(&'a TimeSet),
    /// What is inside any of the two.
    Union(&'a TimeSet, &'a TimeSet),
    /// What is inside both.
    Intersection(&'a TimeSet, &'a TimeSet),
    /// This one without the end of its stretches.
    ClosedEarly(&'a TimeSet),
}

impl TimeSet {
    /// All instants.
    pub fn always() -> Self {
        Self::leaf(Kind::Always)
    }

    /// No instant.
    pub fn never() -> Self {
        Self::leaf(Kind::Never)
    }

    /// All instants before one.
    pub fn before(end: Instant) -> Self {
        Self::decided(Kind::Before(end.unix()))
    }

    /// The instants of these spans. They may come in any order, touch and overlap; those that end before they start are empty.
    pub fn ranges(spans: impl IntoIterator<Item = Span>) -> Self {
        let mut edges: Vec<(i64, i64)> = spans
            .into_iter()
            .map(|span| {
                (span.start.map_or(LOW, Instant::unix), span.end.map_or(HIGH, Instant::unix))
            })
            .filter(|(start, end)| start < end)
            .collect();
        edges.sort_unstable();
        edges.dedup_by(|next, merged| {
            let touches = next.0 <= merged.1;
            if touches {
                merged.1 = merged.1.max(next.1);
            }
            touches
        });
        Self::decided(Kind::Ranges(edges.into()))
    }

    /// What is inside any of the two.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        Self::decided(Kind::Union(self, other))
    }

    /// What is inside both.
    #[must_use]
    pub fn intersection(self, other: Self) -> Self {
        Self::decided(Kind::Intersection(self, other))
    }

    /// What is inside this one and not inside the other.
    #[must_use]
    pub fn difference(self, other: Self) -> Self {
        self.intersection(other.complement())
    }

    /// What is not inside.
    #[must_use]
    pub fn complement(self) -> Self {
        Self::decided(Kind::Complement(self))
    }

    /// The same set under a name, which [`TimeSet::why`] gives back when a leaf below it decides.
    #[must_use]
    pub fn labelled(self, label: impl Into<Arc<str>>) -> Self {
        Self(Arc::new(Node { label: Some(label.into()), ..Arc::unwrap_or_clone(self.0) }))
    }

    /// The name it was given.
    pub fn label(&self) -> Option<&str> {
        self.0.label.as_deref()
    }

    /// How it is put together.
    pub fn parts(&self) -> Parts<'_> {
        match &self.0.kind {
            Kind::Never | Kind::Always | Kind::Before(_) | Kind::Ranges(_) | Kind::Schedule(_) => {
                Parts::Leaf
            }
            Kind::Complement(set) => Parts::Complement(set),
            Kind::Union(a, b) => Parts::Union(a, b),
            Kind::Intersection(a, b) => Parts::Intersection(a, b),
            Kind::ClosedEarly(set, _) => Parts::ClosedEarly(set),
        }
    }

    /// Whether every instant is inside.
    pub fn is_always(&self) -> bool {
        matches!(self.0.kind, Kind::Always)
    }

    /// Whether no instant is inside.
    pub fn is_never(&self) -> bool {
        matches!(self.0.kind, Kind::Never)
    }

    /// Whether an instant is inside: what a brute-force reading of the rules says, without the walk (SCHED-1).
    pub fn contains(&self, at: Instant) -> bool {
        self.has(at.unix())
    }

    /// Whether an instant is inside, and until when that holds.
    pub fn state(&self, at: Instant) -> State {
        State::of(self.forward(at.unix(), HIGH))
    }

    /// The least later instant where membership differs; none means never again (SCHED-2).
    pub fn next_change(&self, after: Instant) -> Option<Instant> {
        self.state(after).until
    }

    /// The instant at which the current state began: the greatest one, not later, before which membership differs.
    pub fn previous_change(&self, at: Instant) -> Option<Instant> {
        Instant::of_edge(self.backward(at.unix(), LOW).1)
    }

    /// The longest run of one state around an instant (POL-4).
    pub fn stretch(&self, at: Instant) -> Stretch {
        let State { inside, until } = self.state(at);
        Stretch { inside, start: self.previous_change(at), end: until }
    }

    /// The spans inside the set that meet a range, in order, merged, with their true edges: a span that begins before the range or
    /// ends after it is given whole.
    pub fn spans(&self, range: Range<Instant>) -> Spans<'_> {
        Spans::new(self, range)
    }

    fn has(&self, at: i64) -> bool {
        match &self.0.kind {
            Kind::Never => false,
            Kind::Always => true,
            Kind::Before(end) => at < *end,
            Kind::Ranges(ranges) => {
                let next = ranges.partition_point(|(start, _)| *start <= at);
                next.checked_sub(1)
                    .and_then(|index| ranges.get(index))
                    .is_some_and(|(_, end)| at < *end)
            }
            Kind::Schedule(schedule) => schedule.has(at),
            Kind::Complement(set) => !set.has(at),
            Kind::Union(a, b) => a.has(at) || b.has(at),
            Kind::Intersection(a, b) => a.has(at) && b.has(at),
            Kind::ClosedEarly(set, cut) => early::has(set, *cut, at),
        }
    }

    /// Whether an instant is inside, and when the stretch around it ends. An end at or beyond `limit` may be too early.
    fn forward(&self, at: i64, limit: i64) -> (bool, i64) {
        if at >= self.0.settled {
            return (self.has(at), HIGH);
        }
        match &self.0.kind {
            Kind::Never => (false, HIGH),
            Kind::Always => (true, HIGH),
            Kind::Before(end) => {
                if at < *end {
                    (true, *end)
                } else {
                    (false, HIGH)
                }
            }
            Kind::Ranges(ranges) => {
                let next = ranges.partition_point(|(start, _)| *start <= at);
                match next.checked_sub(1).and_then(|index| ranges.get(index)) {
                    Some((_, end)) if at < *end => (true, *end),
                    _ => (false, ranges.get(next).map_or(HIGH, |(start, _)| *start)),
                }
            }
            Kind::Schedule(schedule) => schedule.forward(at, limit),
            Kind::Complement(set) => {
                let (inside, end) = set.forward(at, limit);
                (!inside, end)
            }
            Kind::Union(a, b) => forward_of_two(a, b, at, limit, Prevails::Inside),
            Kind::Intersection(a, b) => forward_of_two(a, b, at, limit, Prevails::Outside),
            Kind::ClosedEarly(set, cut) => early::forward(set, *cut, at, limit),
        }
    }

    /// Whether an instant is inside, and when the stretch around it started. A start at or before `limit` may be too late.
    fn backward(&self, at: i64, limit: i64) -> (bool, i64) {
        if at < self.0.begun {
            return (self.has(at), LOW);
        }
        if at >= self.0.settled {
            return (self.has(at), self.0.settled);
        }
        match &self.0.kind {
            Kind::Never => (false, LOW),
            Kind::Always => (true, LOW),
            Kind::Before(end) => {
                if at < *end {
                    (true, LOW)
                } else {
                    (false, *end)
                }
            }
            Kind::Ranges(ranges) => {
                let next = ranges.partition_point(|(start, _)| *start <= at);
                match next.checked_sub(1).and_then(|index| ranges.get(index)) {
                    Some((start, end)) if at < *end => (true, *start),
                    Some((_, end)) => (false, *end),
                    None => (false, LOW),
                }
            }
            Kind::Schedule(schedule) => schedule.backward(at, limit),
            Kind::Complement(set) => {
                let (inside, start) = set.backward(at, limit);
                (!inside, start)
            }
            Kind::Union(a, b) => backward_of_two(a, b, at, limit, Prevails::Inside),
            Kind::Intersection(a, b) => backward_of_two(a, b, at, limit, Prevails::Outside),
            Kind::ClosedEarly(set, cut) => early::backward(set, *cut, at, limit),
        }
    }

    /// Where it is irregular, and how it repeats elsewhere.
    fn rhythm(&self) -> Rhythm {
        match &self.0.kind {
            Kind::Never | Kind::Always => Rhythm::CONSTANT,
            Kind::Before(end) => Rhythm { hull: Some((*end, *end)), ..Rhythm::CONSTANT },
            Kind::Ranges(ranges) => {
                // Open ends are constant from there on.
                let finite = |edge: &i64| *edge != LOW && *edge != HIGH;
                let mut edges =
                    ranges.iter().flat_map(|(start, end)| [*start, *end]).filter(finite);
                let first = edges.next();
                let hull = first.map(|first| (first, edges.next_back().unwrap_or(first)));
                Rhythm { hull, ..Rhythm::CONSTANT }
            }
            Kind::Schedule(schedule) => schedule.rhythm(),
            Kind::Complement(set) => set.rhythm(),
            Kind::Union(a, b) | Kind::Intersection(a, b) => a.rhythm().with(b.rhythm()),
            // What is irregular decides about stretches that end after it, or began before it, and are short.
            Kind::ClosedEarly(set, cut) => {
                let rhythm = set.rhythm();
                let widened = |(first, last): (i64, i64)| {
                    (first.saturating_sub(*cut), last.saturating_add(*cut))
                };
                Rhythm { hull: rhythm.hull.map(widened), ..rhythm }
            }
        }
    }
}

impl From<Schedule> for TimeSet {
    fn from(schedule: Schedule) -> Self {
        Self::decided(Kind::Schedule(schedule))
    }
}

/// Which state of one part decides the whole: inside for a union, outside for an intersection.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Prevails {
    Inside,
    Outside,
}

/// One walk for both operations: an intersection is a union of what is outside (de Morgan, SCHED-3).
fn forward_of_two(
    a: &TimeSet,
    b: &TimeSet,
    at: i64,
    limit: i64,
    prevails: Prevails,
) -> (bool, i64) {
    let wanted = prevails == Prevails::Inside;
    let ((in_a, end_a), (in_b, end_b)) = (a.forward(at, limit), b.forward(at, limit));
    let mut end = match (in_a == wanted, in_b == wanted) {
        (false, false) => return (!wanted, end_a.min(end_b)),
        (true, false) => end_a,
        (false, true) => end_b,
        (true, true) => end_a.max(end_b),
    };
    // The state goes on for as long as either part takes it over from the other.
    while end < limit.min(Instant::MAX.unix()) {
        let (in_a, end_a) = a.forward(end, limit);
        if in_a == wanted {
            end = end_a;
            continue;
        }
        let (in_b, end_b) = b.forward(end, limit);
        if in_b != wanted {
            break;
        }
        end = end_b;
    }
    (wanted, end)
}

fn backward_of_two(
    a: &TimeSet,
    b: &TimeSet,
    at: i64,
    limit: i64,
    prevails: Prevails,
) -> (bool, i64) {
    let wanted = prevails == Prevails::Inside;
    let ((in_a, start_a), (in_b, start_b)) = (a.backward(at, limit), b.backward(at, limit));
    let mut start = match (in_a == wanted, in_b == wanted) {
        (false, false) => return (!wanted, start_a.max(start_b)),
        (true, false) => start_a,
        (false, true) => start_b,
        (true, true) => start_a.min(start_b),
    };
    while start > limit.max(Instant::MIN.unix()) {
        let (in_a, start_a) = a.backward(start - 1, limit);
        if in_a == wanted {
            start = start_a;
            continue;
        }
        let (in_b, start_b) = b.backward(start - 1, limit);
        if in_b != wanted {
            break;
        }
        start = start_b;
    }
    (wanted, start)
}

#[cfg(test)]
mod tests;
