//! When does a set hold that ends before its windows do? Stretches of at least a length are cut by that length at their end; shorter ones are
//! left whole (D4-3).
//!
//! Whoever needs an hour to finish begins nothing in the last hour of a window. An operation on sets like the others, so that whatever is
//! asked of the result is asked of one set (TIME-2).

use super::{Kind, TimeSet};
use crate::instant::Instant;
use crate::window::{HIGH, LOW};

impl TimeSet {
    /// The same set with the last so many seconds taken from each stretch that is at least as long. Of a stretch of just that length
    /// nothing is left; a shorter one stays as it is.
    ///
    /// ```
    /// use schedule::{Instant, Span, TimeSet};
    ///
    /// let at = |text| Instant::parse(text);
    /// let night = TimeSet::ranges([Span::new(at("2026-11-15T20:00:00Z")?, at("2026-11-16T00:00:00Z")?)]);
    /// let begun = night.closed_early(3_600);
    /// assert!(begun.contains(at("2026-11-15T22:59:59Z")?));
    /// assert!(!begun.contains(at("2026-11-15T23:00:00Z")?));
    /// # Ok::<(), schedule::Error>(())
    /// ```
    #[must_use]
    pub fn closed_early(self, seconds: u32) -> Self {
        if seconds == 0 {
            return self;
        }
        Self::decided(Kind::ClosedEarly(self, i64::from(seconds)))
    }
}

/// Where a stretch ends once its end is cut; where it starts if nothing is left of it.
pub(super) fn end_of((start, end): (i64, i64), cut: i64) -> i64 {
    if start == LOW || end == HIGH || end - start >= cut { earlier(end, cut) } else { end }
}

fn earlier(edge: i64, cut: i64) -> i64 {
    if edge == HIGH { HIGH } else { edge.saturating_sub(cut) }
}

/// The stretch of a set around an instant inside it. An edge that is further away than `cut` may be nearer than it truly is, which does not
/// matter to whoever asks whether the stretch is at least so long.
fn around(set: &TimeSet, at: i64, cut: i64, (low, high): (i64, i64)) -> (i64, i64) {
    let low = low.min(at).saturating_sub(cut);
    let high = high.max(at).saturating_add(cut + 1);
    (set.backward(at, low).1, set.forward(at, high).1)
}

pub(super) fn has(set: &TimeSet, cut: i64, at: i64) -> bool {
    set.has(at) && at < end_of(around(set, at, cut, (at, at)), cut)
}

/// See [`TimeSet::forward`].
pub(super) fn forward(set: &TimeSet, cut: i64, at: i64, limit: i64) -> (bool, i64) {
    let mut from = at;
    if set.has(at) {
        let stretch = around(set, at, cut, (at, limit));
        let end = end_of(stretch, cut);
        if at < end {
            return (true, end);
        }
        from = stretch.1;
    }
    // Outside, until a stretch starts of which something is left.
    while from < limit.min(Instant::MAX.unix()) {
        let start = set.forward(from, limit).1;
        if start >= limit {
            return (false, start);
        }
        let end = set.forward(start, start.saturating_add(cut + 1)).1;
        if end_of((start, end), cut) > start {
            return (false, start);
        }
        from = end;
    }
    (false, if from > Instant::MAX.unix() { HIGH } else { from })
}

/// See [`TimeSet::backward`].
pub(super) fn backward(set: &TimeSet, cut: i64, at: i64, limit: i64) -> (bool, i64) {
    let mut from = at;
    if set.has(at) {
        let stretch = around(set, at, cut, (limit, at));
        let end = end_of(stretch, cut);
        if at < end {
            return (true, stretch.0);
        }
        if end > stretch.0 {
            return (false, end);
        }
        from = stretch.0.saturating_sub(1);
    }
    // Outside, since a stretch ended of which something was left.
    while from > limit.max(Instant::MIN.unix()) {
        let end = set.backward(from, limit).1;
        if end <= limit {
            return (false, end);
        }
        let start = set.backward(end - 1, end.saturating_sub(cut + 2)).1;
        let cut_at = end_of((start, end), cut);
        if cut_at > start {
            return (false, cut_at);
        }
        from = start.saturating_sub(1);
    }
    (false, if from < Instant::MIN.unix() { LOW } else { from.saturating_add(1) })
}

#[cfg(test)]
mod tests;
