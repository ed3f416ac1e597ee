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
    /// What `walk` would give, if its windows repeat after `period` seconds and are few.
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
        // Where the range ends before the period does, nothing is known of the rest.
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

#[cfg(test)]
mod tests {
    use super::super::Windows;
    use super::*;
    use crate::{Length, Recurrence, TimeOfDay, Weekday, Zone};
    use Weekday::{Friday, Monday, Saturday, Sunday, Tuesday};

    const HOUR: u32 = 3_600;

    /// Passes over `step` seconds again and again, in the walk and in what repeats; both must give the same windows.
    fn check(rule: &Recurrence, start: &str, length: u32, count: usize) {
        let start = TimeOfDay::parse(start).unwrap();
        let windows = Windows::new(rule, start, Length::Elapsed(length), Zone::utc()).unwrap();
        let period = windows.days.period().unwrap() * 86_400;
        for from in (0..50).map(|hours| 1_770_000_000 + hours * 7 * 3_600) {
            for step in [0, 1, 40_000, 86_400, 250_000, period, 3 * period + 200_000] {
                let until = from + 40 * period;
                let mut walk = windows.walk(from, until);
                let mut repeated = Repeated::new(&mut windows.walk(from, until), period).unwrap();
                assert_eq!(repeated.count, count, "{rule:?}");
                let mut at = from;
                while at < until - 10 * period {
                    walk.skip(at);
                    repeated.skip(at);
                    let (walked, told) = (walk.next(), repeated.next());
                    // A walk that leaps may find itself in a window whose start it does not know.
                    assert_eq!(walked.1, told.1, "{rule:?} from {from} past {at}");
                    assert_eq!(walked.0.max(at), told.0.max(at), "{rule:?} from {from} past {at}");
                    at = told.1.max(at) + step;
                }
            }
        }
    }

    #[test]
    fn what_repeats_is_what_the_walk_finds() {
        let weekly = |every, days: &[Weekday]| Recurrence::weekly(every, days).unwrap();
        check(&Recurrence::every_day(), "20:00", 8 * HOUR, 1);
        check(&Recurrence::daily(5).unwrap(), "00:00", 24 * HOUR, 1);
        check(&weekly(1, &[Saturday, Sunday]), "00:00", 24 * HOUR, 1);
        check(&weekly(1, &[Monday, Tuesday, Friday]), "22:00", 4 * HOUR, 3);
        check(&weekly(2, &[Monday, Tuesday, Friday]), "22:00", 24 * HOUR, 2);
        // Sunday's window reaches over the end of the week into Monday's.
        check(&weekly(1, &[Monday, Friday, Sunday]), "12:00", 30 * HOUR, 2);
        check(&weekly(1, Weekday::ALL), "12:00", HOUR, 7);
    }

    #[test]
    fn many_windows_or_half_a_period_are_left_to_the_walk() {
        let windows = |rule: &Recurrence| {
            Windows::new(rule, TimeOfDay::MIDNIGHT, Length::Elapsed(HOUR), Zone::utc()).unwrap()
        };
        let firsts = windows(&Recurrence::monthly_by_date(1, &[1]).unwrap());
        let period = firsts.days.period().unwrap() * 86_400;
        assert!(Repeated::new(&mut firsts.walk(0, 4 * period), period).is_none());
        let daily = windows(&Recurrence::daily(700).unwrap());
        let last = crate::Instant::MAX.unix();
        let from = last - 900 * 86_400;
        assert!(Repeated::new(&mut daily.walk(from, last), 700 * 86_400).is_none());
    }
}
