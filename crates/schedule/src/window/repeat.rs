//! The windows of one period, told again and again.
//!
//! A rule of days or weeks has at most seven merged windows a period, in UTC all periods are alike, and so the next window is one of
//! these seven and an addition.

use super::spans::Walked;
use super::{END, HIGH};

/// At most how many windows a period may have to be kept: those of a weekly rule.
const MOST: usize = 7;

/// Windows that come again after a period, from some window on and without end.
#[derive(Debug)]
pub(super) struct Repeated {
    /// The windows of one period, seconds after its `begin`; the first `count` are there.
    windows: [(i64, i64); MOST],
    count: usize,
    /// The next of them to give.
    next: usize,
    begin: i64,
    period: i64,
}

impl Repeated {
    /// What `walk` would give, if its windows repeat after `period` seconds and are few. Every window it gives before three periods
    /// have passed must have its true end.
    pub(super) fn new(walk: &mut Walked<'_>, period: i64) -> Option<Self> {
        // The first may lack its true start, but a period later it comes again.
        let _ = walk.next();
        let first = walk.next();
        let mut windows = [END; MOST];
        let (mut window, mut count) = (first, 0);
        while window.0 < first.0.saturating_add(period) {
            *windows.get_mut(count)? = (window.0 - first.0, window.1 - first.0);
            count += 1;
            window = walk.next();
        }
        // Where time ends before the period does, nothing is known of the rest.
        let whole = count > 0 && window != END;
        whole.then(|| Self { windows, count, next: count - 1, begin: first.0 - period, period })
    }

    #[inline]
    pub(super) fn next(&mut self) -> (i64, i64) {
        let (start, end) = self.windows.get(self.next).copied().unwrap_or(END);
        let window = (self.begin + start, self.begin + end);
        self.next += 1;
        if self.next == self.count {
            (self.next, self.begin) = (0, self.begin + self.period);
        }
        window
    }

    /// Passes over windows that end at or before an instant.
    pub(super) fn skip(&mut self, at: i64) {
        let end = |it: &Self| it.windows.get(it.next).map_or(HIGH, |window| it.begin + window.1);
        let late = at - end(self);
        if late >= self.period {
            self.begin += late / self.period * self.period;
        }
        while end(self) <= at {
            self.next();
        }
    }
}
