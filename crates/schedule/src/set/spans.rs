//! The spans of a set, in order, without asking it anew for each.

use std::ops::Range;

use super::{Kind, Span, TimeSet};
use crate::instant::Instant;
use crate::schedule::Permitted;
use crate::window::{HIGH, LOW};

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
        let walk = if range.is_empty() { Walk::Slice([].iter()) } else { Walk::new(set, &range) };
        Self { set, range, walk }
    }
}

impl Iterator for Spans<'_> {
    type Item = Span;

    #[inline]
    fn next(&mut self) -> Option<Span> {
        let (mut start, mut end) = self.walk.next().filter(|(start, _)| *start < self.range.end)?;
        // Inside the range the walk's edges are true. At its rims they may be cut short: ask the set.
        if start <= self.range.start {
            start = self.set.backward(self.range.start, LOW).1;
        }
        if end >= self.range.end {
            end = self.set.forward(start.max(self.range.start), HIGH).1;
            self.walk = Walk::Slice([].iter());
        }
        Some(Span { start: Instant::of_edge(start), end: Instant::of_edge(end) })
    }
}

/// A place in a set that moves forward. Each kind gives sorted spans that do not touch, true between the rims of the range.
#[derive(Debug)]
enum Walk<'a> {
    One(Option<(i64, i64)>),
    Slice(std::slice::Iter<'a, (i64, i64)>),
    Schedule(Permitted<'a>, i64),
    Complement(Box<Gaps<'a>>),
    Union(Box<Pair<'a>>),
    Intersection(Box<Pair<'a>>),
}

#[derive(Debug)]
struct Gaps<'a> {
    walk: Walk<'a>,
    /// Where the last span ended: where the next gap starts. None once there is none.
    from: Option<i64>,
    end: i64,
}

#[derive(Debug)]
struct Pair<'a> {
    a: Walk<'a>,
    b: Walk<'a>,
    next_a: Option<(i64, i64)>,
    next_b: Option<(i64, i64)>,
}

impl<'a> Walk<'a> {
    fn new(set: &'a TimeSet, range: &Range<i64>) -> Self {
        let pair = |a: &'a TimeSet, b: &'a TimeSet| {
            let (mut a, mut b) = (Self::new(a, range), Self::new(b, range));
            let (next_a, next_b) = (a.next(), b.next());
            Box::new(Pair { a, b, next_a, next_b })
        };
        match &set.0.kind {
            Kind::Never => Self::One(None),
            Kind::Always => Self::One(Some((LOW, HIGH))),
            Kind::Before(end) => Self::One((range.start < *end).then_some((LOW, *end))),
            Kind::Ranges(ranges) => {
                let first = ranges.partition_point(|(_, end)| *end <= range.start);
                Self::Slice(ranges.get(first..).unwrap_or(&[]).iter())
            }
            Kind::Schedule(schedule) => Self::Schedule(schedule.openings(range.start), range.end),
            Kind::Complement(inner) => {
                let walk = Self::new(inner, range);
                Self::Complement(Box::new(Gaps { walk, from: Some(range.start), end: range.end }))
            }
            Kind::Union(a, b) => Self::Union(pair(a, b)),
            Kind::Intersection(a, b) => Self::Intersection(pair(a, b)),
        }
    }

    #[inline]
    fn next(&mut self) -> Option<(i64, i64)> {
        match self {
            Self::One(span) => span.take(),
            Self::Slice(spans) => spans.next().copied(),
            Self::Schedule(spans, end) => spans.next().filter(|(start, _)| start < end),
            Self::Complement(gaps) => gaps.next(),
            Self::Union(pair) => pair.next_union(),
            Self::Intersection(pair) => pair.next_intersection(),
        }
    }
}

impl Gaps<'_> {
    fn next(&mut self) -> Option<(i64, i64)> {
        while let Some(from) = self.from.take() {
            let Some((start, end)) = self.walk.next() else { return Some((from, self.end)) };
            self.from = (end < self.end).then_some(end);
            if from < start {
                return Some((from, start));
            }
        }
        None
    }
}

impl Pair<'_> {
    fn next_union(&mut self) -> Option<(i64, i64)> {
        let (start, mut end) = match (self.next_a, self.next_b) {
            (Some(a), Some(b)) if a.0 <= b.0 => self.take_a(a),
            (Some(a), None) => self.take_a(a),
            (_, Some(b)) => self.take_b(b),
            (None, None) => return None,
        };
        loop {
            if let Some(a) = self.next_a
                && a.0 <= end
            {
                end = end.max(self.take_a(a).1);
            } else if let Some(b) = self.next_b
                && b.0 <= end
            {
                end = end.max(self.take_b(b).1);
            } else {
                return Some((start, end));
            }
        }
    }

    #[inline]
    fn next_intersection(&mut self) -> Option<(i64, i64)> {
        loop {
            let (a, b) = (self.next_a?, self.next_b?);
            let (start, end) = (a.0.max(b.0), a.1.min(b.1));
            if a.1 <= b.1 {
                self.take_a(a);
            } else {
                self.take_b(b);
            }
            if start < end {
                return Some((start, end));
            }
        }
    }

    #[inline]
    fn take_a(&mut self, span: (i64, i64)) -> (i64, i64) {
        self.next_a = self.a.next();
        span
    }

    #[inline]
    fn take_b(&mut self, span: (i64, i64)) -> (i64, i64) {
        self.next_b = self.b.next();
        span
    }
}
