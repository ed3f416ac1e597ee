//! When does a maintenance schedule permit? Windows minus exclusions.
//!
//! This is the leaf that every policy lowers to, kept in a few words of memory because a fleet holds a hundred thousand of them.

use crate::calendar::Calendar;
use crate::civil::DAY;
use crate::date::Date;
use crate::error::Error;
use crate::exclude::{ExcludedDays, Exclusion, Upcoming};
use crate::instant::Instant;
use crate::set::State;
use crate::window::{END, Estimate, HIGH, LOW, Openings, Rhythm, Windows};
use crate::zone::Zone;

/// A maintenance schedule: recurring windows, dated exclusions, a zone.
///
/// ```
/// use schedule::{Date, Exclusion, Instant, Length, Recurrence, Schedule, TimeOfDay, Weekday, Windows, Zone};
///
/// let saturdays = Recurrence::weekly(1, &[Weekday::Saturday])?;
/// let windows = Windows::new(&saturdays, TimeOfDay::parse("20:00")?, Length::Elapsed(8 * 3_600), Zone::utc())?;
/// let christmas = Exclusion::new(Date::parse("2026-12-24")?, Some(Date::parse("2026-12-27")?), Some("Christmas"))?;
/// let schedule = Schedule::new(Some(windows), &[christmas], &Zone::utc())?;
/// // 26 December 2026 is a Saturday: excluded until Sunday 00:00, then the window is still open (TIME-10).
/// let state = schedule.state(Instant::parse("2026-12-26T21:00:00Z")?);
/// assert!(!state.inside);
/// assert_eq!(state.until, Some(Instant::parse("2026-12-27T00:00:00Z")?));
/// # Ok::<(), schedule::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    windows: Windows,
    excluded: ExcludedDays,
    /// The exclusions as they were written, where one has a reason to show. Apart, because no verdict reads them.
    reasons: Option<Box<Written>>,
}

/// The exclusions as their author wrote them.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Written(Vec<Exclusion>);

impl Schedule {
    /// The four rows of TIME-11: nothing at all is never, only windows are themselves, windows and exclusions are their difference,
    /// only exclusions are everything else. The zone says whose days are excluded (TIME-12); the windows must be of the same one.
    pub fn new(permit: Option<Windows>, exclude: &[Exclusion], zone: &Zone) -> Result<Self, Error> {
        let excluded = ExcludedDays::new(exclude, zone);
        let windows = match permit {
            Some(windows) if windows.is_always() => Windows::always(zone),
            Some(windows) if windows.is_never() => Windows::never(zone),
            Some(windows) if windows.zone() != zone => {
                let message =
                    format!("the windows are in {} and the exclusions in {zone}", windows.zone());
                return Err(Error::range(message));
            }
            Some(windows) => windows,
            None if exclude.is_empty() => Windows::never(zone),
            None => Windows::always(zone),
        };
        let reasons = exclude
            .iter()
            .any(|exclusion| exclusion.reason.is_some())
            .then(|| Box::new(Written(exclude.to_vec())));
        Ok(Self { windows, excluded, reasons })
    }

    /// The windows alone.
    pub fn windows(&self) -> &Windows {
        &self.windows
    }

    /// The zone of its civil times.
    #[inline]
    pub fn zone(&self) -> &Zone {
        self.windows.zone()
    }

    /// Whether an instant is permitted.
    #[inline]
    pub fn contains(&self, at: Instant) -> bool {
        self.has(at.unix())
    }

    /// Whether an instant is permitted, and until when that holds.
    #[inline]
    pub fn state(&self, at: Instant) -> State {
        State::of(self.forward(at.unix(), HIGH))
    }

    #[inline]
    pub(crate) fn has(&self, at: i64) -> bool {
        self.excluded.upcoming(at, self.zone()).0 > at && self.windows.contains(at)
    }

    /// Whether an instant is inside, and when the stretch around it ends. An end at or beyond `limit` may be too early.
    #[inline]
    pub(crate) fn forward(&self, at: i64, limit: i64) -> (bool, i64) {
        if self.excluded.is_empty() {
            return self.windows.forward(at, limit);
        }
        let (from, until) = self.excluded.upcoming(at, self.zone());
        if from <= at && at < until {
            return (false, self.opening_from(until));
        }
        match self.windows.forward(at, limit.min(from)) {
            (true, end) => (true, end.min(from)),
            // Most openings come before the next exclusion, and then there is nothing more to look at.
            (false, opening) if opening < from => (false, opening),
            (false, opening) => (false, self.opening_from(opening)),
        }
    }

    /// The first permitted instant at or after one.
    fn opening_from(&self, mut at: i64) -> i64 {
        while at < HIGH {
            let (from, until) = self.excluded.upcoming(at, self.zone());
            if from <= at {
                at = until;
                continue;
            }
            match self.windows.forward(at, at) {
                (true, _) => return at,
                (false, opening) => at = opening,
            }
            if at < from {
                return at;
            }
        }
        HIGH
    }

    /// Whether an instant is inside, and when the stretch around it started. A start at or before `limit` may be too late.
    pub(crate) fn backward(&self, at: i64, limit: i64) -> (bool, i64) {
        let (from, until) = self.excluded.latest(at, self.zone());
        if from <= at && at < until {
            return (false, self.closing_before(from));
        }
        match self.windows.backward(at, limit) {
            (true, start) => (true, start.max(until)),
            (false, closing) if closing > until => (false, closing),
            (false, closing) => (false, self.closing_before(closing)),
        }
    }

    /// The end of the last permitted stretch that ends at or before an instant.
    fn closing_before(&self, mut at: i64) -> i64 {
        while at > LOW {
            let (from, until) = self.excluded.latest(at - 1, self.zone());
            if from < at && at <= until {
                at = from;
                continue;
            }
            match self.windows.backward(at - 1, at) {
                (true, _) => return at,
                (false, closing) => at = closing,
            }
            if at > until {
                return at;
            }
        }
        LOW
    }

    /// The permitted stretches that meet a range. The first may start later than it truly does, the last may end earlier.
    pub(crate) fn openings(&self, from: i64, until: i64) -> Permitted<'_> {
        Permitted {
            windows: self.windows.openings(from, until),
            excluded: self.excluded.from(from, self.zone()),
        }
    }

    /// The exclusion that takes an instant out, if one does.
    pub(crate) fn exclusion_at(&self, at: i64) -> Option<ExcludedBy<'_>> {
        let (from, until) = self.excluded.upcoming(at, self.zone());
        if from > at || until == HIGH {
            return None;
        }
        let covers = |exclusion: &&Exclusion| {
            let edge =
                |date: Date| self.zone().instant_of(i64::from(date.days_since_epoch()) * DAY);
            edge(exclusion.from) <= at && at < edge(exclusion.until)
        };
        // Of several that cover it, the one that ends last holds longest; one with a reason says more than one without.
        let named = self.reasons.iter().flat_map(|written| written.0.iter()).filter(covers);
        let exclusion = named.max_by_key(|exclusion| (exclusion.until, exclusion.reason.is_some()));
        let date = |edge: i64| {
            Instant::of_edge(edge).map_or(Date::nearest(0), |at| self.zone().date_of(at))
        };
        Some(match exclusion {
            Some(found) => {
                ExcludedBy { from: found.from, until: found.until, reason: found.reason.as_deref() }
            }
            None => ExcludedBy { from: date(from), until: date(until), reason: None },
        })
    }

    /// A UTC schedule of what the wall clock of the zone reads; see [`Windows::estimate`]. Days are days on both clocks.
    pub(crate) fn estimate(&self, estimate: Estimate) -> Self {
        Self {
            windows: self.windows.estimate(estimate),
            excluded: self.excluded.clone(),
            reasons: None,
        }
    }

    /// Tells what has to be known to say which of its years are alike.
    pub(crate) fn calendar(&self, calendar: &mut Calendar) {
        self.windows.calendar(calendar);
        self.excluded.edges(self.zone()).for_each(|at| calendar.edge(at));
    }

    /// On which side of its dated parts an instant lies: whether it is excluded, and whether its rule has begun and not ended.
    pub(crate) fn sides(&self, at: i64) -> [bool; 2] {
        let excluded = self.excluded.upcoming(at, self.zone()).0 <= at;
        [excluded, self.windows.is_under_way(at)]
    }

    /// Where the schedule is irregular, and how it repeats elsewhere.
    pub(crate) fn rhythm(&self) -> Rhythm {
        let excluded = self.excluded.hull(self.zone());
        self.windows.rhythm().with(Rhythm { hull: excluded, ..Rhythm::CONSTANT })
    }
}

/// What takes an instant out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ExcludedBy<'a> {
    pub(crate) from: Date,
    pub(crate) until: Date,
    pub(crate) reason: Option<&'a str>,
}

/// Permitted stretches in order: windows with the exclusions cut out.
#[derive(Debug)]
pub(crate) struct Permitted<'a> {
    windows: Openings<'a>,
    excluded: Upcoming<'a>,
}

impl Permitted<'_> {
    /// The next stretch, or [`END`].
    #[inline]
    pub(crate) fn next(&mut self) -> (i64, i64) {
        let window = self.windows.ahead;
        // Nearly always the window ends before the next exclusion.
        if window.1 > self.excluded.start() {
            return self.cut();
        }
        self.windows.advance();
        window
    }

    /// The first stretch that ends after an instant, or [`END`]. It may start later than it truly does, but not after the instant.
    #[inline]
    pub(crate) fn next_after(&mut self, at: i64) -> (i64, i64) {
        let window = self.windows.ahead;
        if at < window.1 && window.1 <= self.excluded.start() {
            self.windows.advance();
            return window;
        }
        self.seek(at)
    }

    /// The same, where windows are to be passed over or cut.
    #[inline(never)]
    fn seek(&mut self, at: i64) -> (i64, i64) {
        self.windows.skip(at);
        loop {
            let stretch = self.next();
            if stretch.1 > at {
                return stretch;
            }
        }
    }

    /// What the exclusions leave of the next window, or of the first one after it that they leave something of.
    #[inline(never)]
    fn cut(&mut self) -> (i64, i64) {
        loop {
            let (start, end) = self.windows.ahead;
            if start == HIGH {
                return END;
            }
            let (from, until) = self.excluded.ending_after(start);
            if until < end {
                self.windows.ahead.0 = until;
            } else {
                self.windows.advance();
            }
            if start < from {
                return (start, end.min(from));
            }
        }
    }
}
