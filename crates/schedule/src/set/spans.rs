//! The spans of a set, in order, without asking it anew for each.

use std::ops::Range;

use super::{Kind, Span, TimeSet, early};
use crate::instant::Instant;
use crate::schedule::Permitted;
use crate::window::{END, HIGH, LOW};

/// The spans of a set that meet a range; see [`TimeSet::spans`].
#[derive(Debug)]
pub struct Spans<'a> {
    set: &'a TimeSet,
    range: Range<i64>,
    walk: Walk<'a>,
}

impl<'a> Spans<'a> {
    pub(super) fn new(set: &'a TimeSet, range: Range<Instant>) -> Self {
        let range = range.start.unix()..range.end.unix();
        let walk = if range.is_empty() { Walk::One(END) } else { Walk::new(set, &range) };
        Self { set, range, walk }
    }
}

impl Iterator for Spans<'_> {
    type Item = Span;

    #[expect(
        clippy::inline_always,
        reason = "a span is cheaper to find than to hand to a caller in memory"
    )]
    #[inline(always)]
    fn next(&mut self) -> Option<Span> {
        let (start, end) = self.walk.next();
        if self.range.start < start && end < self.range.end {
            return Some(Span::new(Instant::within_range(start), Instant::within_range(end)));
        }
        self.at_rim(start, end)
    }
}

impl Spans<'_> {
    /// Inside the range the walk's edges are true. At its rims they may be cut short: ask the set.
    #[inline(never)]
    fn at_rim(&mut self, mut start: i64, mut end: i64) -> Option<Span> {
        if start >= self.range.end {
            return None;
        }
        if start <= self.range.start {
            start = self.set.backward(self.range.start, LOW).1;
        }
        if end >= self.range.end {
            end = self.set.forward(start.max(self.range.start), HIGH).1;
            self.walk = Walk::One(END);
        }
        Some(Span { start: Instant::of_edge(start), end: Instant::of_edge(end) })
    }
}

/// A place in a set that moves forward. Each kind gives sorted spans that do not touch, true between the rims of the range, and then
/// [`END`] for ever.
#[derive(Debug)]
pub(super) enum Walk<'a> {
    One((i64, i64)),
    Slice(std::slice::Iter<'a, (i64, i64)>),
    Schedule(Permitted<'a>, i64),
    Complement(Box<Gaps<'a>>),
    Union(Box<Pair<'a>>),
    Intersection(Box<Pair<'a>>),
    ClosedEarly(Box<Cut<'a>>),
}

#[derive(Debug)]
pub(super) struct Cut<'a> {
    /// Of a wider range: how long a stretch is decides how much of it is left.
    walk: Walk<'a>,
    /// How much of the end of a stretch is left out.
    early: i64,
    from: i64,
    end: i64,
}

#[derive(Debug)]
pub(super) struct Gaps<'a> {
    walk: Walk<'a>,
    /// Where the last span ended: where the next gap starts. `HIGH` once there is none.
    from: i64,
    end: i64,
}

#[derive(Debug)]
pub(super) struct Pair<'a> {
    a: Walk<'a>,
    b: Walk<'a>,
    next_a: (i64, i64),
    next_b: (i64, i64),
}

impl<'a> Walk<'a> {
    pub(super) fn new(set: &'a TimeSet, range: &Range<i64>) -> Self {
        let pair = |a: &'a TimeSet, b: &'a TimeSet| {
            let (mut a, mut b) = (Self::new(a, range), Self::new(b, range));
            let (next_a, next_b) = (a.next(), b.next());
            Box::new(Pair { a, b, next_a, next_b })
        };
        match &set.0.kind {
            Kind::Never => Self::One(END),
            Kind::Always => Self::One((LOW, HIGH)),
            Kind::Before(end) => Self::One(if range.start < *end { (LOW, *end) } else { END }),
            Kind::Ranges(ranges) => {
                let first = ranges.partition_point(|(_, end)| *end <= range.start);
                Self::Slice(ranges.get(first..).unwrap_or(&[]).iter())
            }
            Kind::Schedule(schedule) => {
                Self::Schedule(schedule.openings(range.start, range.end), range.end)
            }
            Kind::Complement(inner) => {
                let walk = Self::new(inner, range);
                Self::Complement(Box::new(Gaps { walk, from: range.start, end: range.end }))
            }
            Kind::Union(a, b) => Self::Union(pair(a, b)),
            Kind::Intersection(a, b) => Self::Intersection(pair(a, b)),
            Kind::ClosedEarly(inner, cut) => {
                let wider = range.start.saturating_sub(cut + 1)..range.end.saturating_add(cut + 1);
                let walk = Self::new(inner, &wider);
                let (from, end) = (range.start, range.end);
                Self::ClosedEarly(Box::new(Cut { walk, early: *cut, from, end }))
            }
        }
    }

    #[inline]
    pub(super) fn next(&mut self) -> (i64, i64) {
        match self {
            Self::Schedule(spans, end) => {
                let span = spans.next();
                if span.0 < *end { span } else { END }
            }
            other => other.next_of_others(),
        }
    }

    /// The first span that ends after an instant. It may start later than it truly does, but not after the instant.
    #[inline]
    fn next_after(&mut self, at: i64) -> (i64, i64) {
        match self {
            Self::Schedule(spans, end) => {
                let span = spans.next_after(at);
                if span.0 < *end { span } else { END }
            }
            other => other.next_of_others_after(at),
        }
    }

    #[inline(never)]
    fn next_of_others_after(&mut self, at: i64) -> (i64, i64) {
        loop {
            let span = self.next_of_others();
            if span.1 > at {
                return span;
            }
        }
    }

    /// Apart from schedules, which nearly all spans come from.
    #[inline(never)]
    fn next_of_others(&mut self) -> (i64, i64) {
        match self {
            Self::One(span) => std::mem::replace(span, END),
            Self::Slice(spans) => spans.next().copied().unwrap_or(END),
            Self::Schedule(..) => END,
            Self::Complement(gaps) => gaps.next(),
            Self::Union(pair) => pair.next_union(),
            Self::Intersection(pair) => pair.next_intersection(),
            Self::ClosedEarly(cut) => cut.next(),
        }
    }
}

impl Gaps<'_> {
    #[inline(never)]
    fn next(&mut self) -> (i64, i64) {
        while self.from != HIGH {
            let from = self.from;
            let (start, end) = self.walk.next();
            if start == HIGH {
                self.from = HIGH;
                return (from, self.end);
            }
            self.from = if end < self.end { end } else { HIGH };
            if from < start {
                return (from, start);
            }
        }
        END
    }
}

impl Cut<'_> {
    #[inline(never)]
    fn next(&mut self) -> (i64, i64) {
        loop {
            let (start, end) = self.walk.next();
            if start >= self.end {
                return END;
            }
            let end = early::end_of((start, end), self.early);
            if start < end && end > self.from {
                return (start, end);
            }
        }
    }
}

impl Pair<'_> {
    #[inline(never)]
    fn next_union(&mut self) -> (i64, i64) {
        let (start, mut end) =
            if self.next_a.0 <= self.next_b.0 { self.take_a() } else { self.take_b() };
        let touches = |span: (i64, i64), end| span.0 <= end && span.0 != HIGH;
        loop {
            if touches(self.next_a, end) {
                end = end.max(self.take_a().1);
            } else if touches(self.next_b, end) {
                end = end.max(self.take_b().1);
            } else {
                return (start, end);
            }
        }
    }

    #[inline(never)]
    fn next_intersection(&mut self) -> (i64, i64) {
        loop {
            let (a, b) = (self.next_a, self.next_b);
            let (start, end) = (a.0.max(b.0), a.1.min(b.1));
            if start == HIGH {
                return END;
            }
            // What ends before the other one starts is passed over: a frequent set does not hold up a rare one.
            if a.1 <= b.1 {
                self.next_a = self.a.next_after(b.0);
            } else {
                self.next_b = self.b.next_after(a.0);
            }
            if start < end {
                return (start, end);
            }
        }
    }

    #[inline]
    fn take_a(&mut self) -> (i64, i64) {
        std::mem::replace(&mut self.next_a, self.a.next())
    }

    #[inline]
    fn take_b(&mut self) -> (i64, i64) {
        std::mem::replace(&mut self.next_b, self.b.next())
    }
}
