//! When does a window open and close?
//!
//! Windows are half-open (TIME-1), start on the days of a rule at one time of day, last a length, and merge where they touch or
//! overlap (TIME-9). Whether they cover all time is found when they are built.

use crate::calendar::Calendar;
use crate::civil::{self, DAY};
use crate::date::TimeOfDay;
use crate::days::{Days, lcm};
use crate::error::Error;
use crate::instant::Instant;
use crate::recurrence::Recurrence;
use crate::rrule::Rrule;
use crate::zone::Zone;

mod estimate;
mod repeat;
mod spans;

pub(crate) use estimate::Estimate;
pub(crate) use spans::{END, Openings};

/// No later edge: the stretch has no end.
pub(crate) const HIGH: i64 = i64::MAX;
/// No earlier edge: the stretch has no beginning.
pub(crate) const LOW: i64 = i64::MIN;

/// The longest a window may be (TIME-8).
const LONGEST: u32 = 366 * DAY as u32;

/// How long a window stays open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    /// Until the end of the civil day it starts on: the default (TIME-8).
    RestOfDay,
    /// So many seconds of elapsed time, whatever the wall clock does meanwhile (TIME-12).
    Elapsed(u32),
    /// Until the wall clock reads this, on the next day if that is not after the start (TIME-12).
    Until(TimeOfDay),
}

/// Recurring windows.
///
/// ```
/// use schedule::{Instant, Length, Recurrence, TimeOfDay, Weekday, Windows, Zone};
///
/// let fridays = Recurrence::weekly(1, &[Weekday::Friday])?;
/// let nights = Windows::new(&fridays, TimeOfDay::parse("22:00")?, Length::Elapsed(4 * 3_600), Zone::utc())?;
/// let monday = Instant::parse("2026-11-16T00:00:00Z")?;
/// assert_eq!(nights.next_start(monday), Some(Instant::parse("2026-11-20T22:00:00Z")?));
/// # Ok::<(), schedule::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Windows {
    days: Days,
    /// Seconds after midnight at which a window starts.
    start: u32,
    reach: Reach,
    zone: Zone,
}

/// Where a window ends: after so many seconds of elapsed time, or so many civil seconds after the midnight of its day. One word,
/// because a fleet holds a hundred thousand of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Reach(u32);

impl Reach {
    const WALL: u32 = 1 << 31;

    fn new(start: TimeOfDay, length: Length, zone: &Zone) -> Result<Self, Error> {
        let wall = match length {
            Length::Elapsed(seconds) if seconds == 0 || seconds > LONGEST => {
                let message = format!(
                    "a window of {seconds} seconds is not longer than none and at most 366 days"
                );
                return Err(Error::range(message));
            }
            Length::Elapsed(seconds) => return Ok(Self(seconds)),
            Length::RestOfDay => DAY as u32,
            Length::Until(end) if end > start => end.seconds(),
            Length::Until(end) => end.seconds() + DAY as u32,
        };
        // In UTC elapsed and wall-clock time are the same.
        Ok(if zone.is_utc() { Self(wall - start.seconds()) } else { Self(wall | Self::WALL) })
    }
}

impl Windows {
    /// Windows that open at a time of day on the days of a recurrence.
    pub fn new(
        recurrence: &Recurrence,
        start: TimeOfDay,
        length: Length,
        zone: Zone,
    ) -> Result<Self, Error> {
        Self::on_days(recurrence.days(), start, length, zone)
    }

    /// Windows that open on the days of an RFC 5545 rule (TIME-13). The time and the zone of its DTSTART hold; `start` and `zone`
    /// are for rules that leave them open.
    ///
    /// ```
    /// use schedule::{Instant, Length, Rrule, TimeOfDay, Windows, Zone};
    ///
    /// let rule = Rrule::parse("DTSTART;TZID=Europe/Berlin:20260103T200000\nRRULE:FREQ=WEEKLY;INTERVAL=2")?;
    /// let nights = Windows::from_rrule(&rule, TimeOfDay::MIDNIGHT, Length::Elapsed(8 * 3_600), Zone::utc())?;
    /// let first = nights.next_start(Instant::EPOCH);
    /// assert_eq!(first, Some(Instant::parse("2026-01-03T19:00:00Z")?));
    /// # Ok::<(), schedule::Error>(())
    /// ```
    pub fn from_rrule(
        rule: &Rrule,
        start: TimeOfDay,
        length: Length,
        zone: Zone,
    ) -> Result<Self, Error> {
        let start = rule.start_time().unwrap_or(start);
        let zone = rule.zone().unwrap_or(zone);
        Self::on_days(rule.days(start, &zone), start, length, zone)
    }

    /// The same on any set of days.
    pub(crate) fn on_days(
        days: Days,
        start: TimeOfDay,
        length: Length,
        zone: Zone,
    ) -> Result<Self, Error> {
        let reach = Reach::new(start, length, &zone)?;
        let mut windows = Self { days, start: start.seconds(), reach, zone };
        windows.settle();
        Ok(windows)
    }

    /// All time: what a schedule with nothing but exclusions starts from (TIME-11).
    pub(crate) fn always(zone: &Zone) -> Self {
        Self { days: Days::Always, start: 0, reach: Reach(DAY as u32), zone: zone.clone() }
    }

    /// No time.
    pub(crate) fn never(zone: &Zone) -> Self {
        Self { days: Days::Never, ..Self::always(zone) }
    }

    /// The first start strictly after an instant, whether or not another window is still open then.
    #[inline]
    pub fn next_start(&self, after: Instant) -> Option<Instant> {
        // Decided when the windows were built, so not worth a look at the calendar.
        if self.is_never() {
            return None;
        }
        let day = self.days.after(self.last_started(after.unix()))?;
        Instant::of_edge(self.start_on(day))
    }

    /// The last start at or before an instant.
    pub fn previous_start(&self, at: Instant) -> Option<Instant> {
        let day = self.days.at_or_before(self.last_started(at.unix()))?;
        Instant::of_edge(self.start_on(day))
    }

    /// Whether no window ever opens (TIME-7).
    pub fn is_never(&self) -> bool {
        matches!(self.days, Days::Never)
    }

    /// Whether the windows cover all time (TIME-9). Found by calendar arithmetic; a schedule asks once, when it is built.
    pub fn is_always(&self) -> bool {
        self.is_everything() || self.cover_all_time()
    }

    /// Whether these stand for all time and no longer for windows.
    #[inline]
    pub(crate) fn is_everything(&self) -> bool {
        matches!(self.days, Days::Always)
    }

    /// The last day whose start time has come at an instant, whether or not the rule fires on it.
    #[inline]
    fn last_started(&self, at: i64) -> i32 {
        civil::day_at(self.zone.reached(at) - i64::from(self.start))
    }

    /// When the window of a day starts.
    #[inline]
    fn start_on(&self, day: i32) -> i64 {
        self.zone.instant_of(i64::from(day) * DAY + i64::from(self.start))
    }

    /// When the window of a day, which starts at `start`, ends. Never before `start`; at `start` if a gap swallows it whole.
    #[inline]
    fn end_of(&self, day: i32, start: i64) -> i64 {
        let Reach(reach) = self.reach;
        if reach & Reach::WALL == 0 {
            start + i64::from(reach)
        } else {
            self.zone.instant_of(i64::from(day) * DAY + i64::from(reach & !Reach::WALL))
        }
    }

    /// Whether a window is shorter than any distance between two starts, so that it cannot touch the next.
    #[inline]
    fn stands_alone(&self) -> bool {
        self.zone.is_utc() && i64::from(self.reach.0) < DAY
    }

    #[inline]
    pub(crate) fn contains(&self, at: i64) -> bool {
        match self.days {
            Days::Never => false,
            Days::Always => true,
            _ => self.open_at(at).is_some(),
        }
    }

    /// The window that is open at an instant: its day, its start and its end. Starts and ends rise with the day, so the one that
    /// started last is the one that ends last.
    #[inline]
    pub(crate) fn open_at(&self, at: i64) -> Option<(i32, i64, i64)> {
        let day = self.days.at_or_before(self.last_started(at))?;
        let start = self.start_on(day);
        let end = self.end_of(day, start);
        (end > at).then_some((day, start, end))
    }

    /// Whether an instant is inside, and when the stretch around it ends. An end at or beyond `limit` may be too early: windows that
    /// touch for thousands of years are not followed further than somebody needs (TIME-14).
    #[inline]
    pub(crate) fn forward(&self, at: i64, limit: i64) -> (bool, i64) {
        if matches!(self.days, Days::Never | Days::Always) {
            return (self.is_everything(), HIGH);
        }
        let around = self.days.around(self.last_started(at));
        if let Some(day) = around.before {
            let end = self.end_of(day, self.start_on(day));
            if end > at {
                return (true, if self.stands_alone() { end } else { self.grow(day, end, limit) });
            }
        }
        (false, around.after.map_or(HIGH, |day| self.opening_from(day)))
    }

    /// The start of the first window, from a day on, that a gap does not swallow.
    fn opening_from(&self, mut day: i32) -> i64 {
        loop {
            let start = self.start_on(day);
            if start > Instant::MAX.unix() {
                return HIGH;
            }
            if self.end_of(day, start) > start {
                return start;
            }
            match self.days.after(day) {
                Some(next) => day = next,
                None => return HIGH,
            }
        }
    }

    /// When the stretch ends that the window of a day, ending at `end`, belongs to; followed up to `limit`.
    fn grow(&self, day: i32, mut end: i64, limit: i64) -> i64 {
        if let Days::Bounded(rule) = &self.days
            && rule.solid
        {
            return self.end_of(rule.last, self.start_on(rule.last));
        }
        let mut following = self.days.cursor(day);
        while end <= Instant::MAX.unix() {
            if end >= limit {
                return end;
            }
            let Some(next) = following.next() else {
                return end;
            };
            let start = self.start_on(next);
            if start > end {
                return end;
            }
            end = self.end_of(next, start);
        }
        HIGH
    }

    /// Whether an instant is inside, and when the stretch around it started. A start at or before `limit` may be too late.
    pub(crate) fn backward(&self, at: i64, limit: i64) -> (bool, i64) {
        if matches!(self.days, Days::Never | Days::Always) {
            return (self.is_everything(), LOW);
        }
        let mut found = self.days.at_or_before(self.last_started(at));
        while let Some(day) = found {
            let start = self.start_on(day);
            let end = self.end_of(day, start);
            if end > at {
                return (true, self.shrink(day, start, limit));
            }
            if end > start {
                return (false, end);
            }
            if end < Instant::MIN.unix() {
                break;
            }
            found = self.days.at_or_before(day - 1);
        }
        (false, LOW)
    }

    /// When the stretch starts that the window of a day, starting at `start`, belongs to; followed back to `limit`.
    fn shrink(&self, mut day: i32, mut start: i64, limit: i64) -> i64 {
        if let Days::Bounded(rule) = &self.days
            && rule.solid
        {
            return self.start_on(rule.first);
        }
        if self.stands_alone() {
            return start;
        }
        while start >= Instant::MIN.unix() {
            if start <= limit {
                return start;
            }
            let Some(before) = self.days.at_or_before(day - 1) else {
                return start;
            };
            let earlier = self.start_on(before);
            if self.end_of(before, earlier) < start {
                return start;
            }
            (day, start) = (before, earlier);
        }
        LOW
    }

    /// Decides, once, whether the windows of a rule with a first and a last day are one stretch.
    fn settle(&mut self) {
        if let Days::Bounded(rule) = &self.days
            && self.may_touch()
        {
            // What touches for a whole period, and in a zone for one after its irregular years, touches for ever.
            let last = rule.days.period().map_or(i64::from(rule.last), |period| {
                let first = i64::from(rule.first);
                match self.zone.unsettled() {
                    None => first.saturating_add(period),
                    Some((_, until)) => first
                        .max(until.div_euclid(DAY) + 1)
                        .saturating_add(lcm(period, i64::from(civil::CYCLE_DAYS))),
                }
            });
            let solid = self.touch_throughout(rule.first, last.min(i64::from(rule.last)) as i32);
            let rule = crate::days::Bounded { solid, ..rule.as_ref().clone() };
            self.days = Days::Bounded(rule.into());
        }
    }

    /// The largest gap between starts is at least the mean one, so one comparison settles most windows: they do not all touch.
    fn may_touch(&self) -> bool {
        let Reach(reach) = self.reach;
        f64::from(reach & !Reach::WALL) >= self.days.mean_gap() * DAY as f64
    }

    /// Whether each window of a rule without end touches the next (TIME-9). The rule stays as it is: its starts can still be
    /// asked for, though none of them opens anything.
    fn cover_all_time(&self) -> bool {
        let Some(period) = self.days.period().filter(|_| self.may_touch()) else {
            return false;
        };
        if !self.zone.is_utc() && self.estimate(Estimate::AtLeast).is_everything() {
            return true;
        }
        let (first, last) = match self.zone.unsettled() {
            None => (0, period),
            Some((from, until)) => {
                let period = lcm(period, i64::from(civil::CYCLE_DAYS));
                (from.div_euclid(DAY) - 400, (until / DAY).saturating_add(period))
            }
        };
        let furthest = Instant::MAX.unix() / DAY;
        self.touch_throughout(first as i32, last.min(furthest) as i32)
    }

    /// Whether each window from the first day of the rule after `first` touches the next, up to the first one from `last` on.
    fn touch_throughout(&self, first: i32, last: i32) -> bool {
        let mut days = self.days.cursor(first - 1);
        let mut end = None;
        while let Some(day) = days.next() {
            let start = self.start_on(day);
            if end.is_some_and(|end| start > end) {
                return false;
            }
            if day >= last {
                return true;
            }
            end = Some(self.end_of(day, start));
        }
        end.is_some()
    }

    /// Whether the rule has begun and not ended at an instant; one without a beginning and an end always has.
    pub(crate) fn is_under_way(&self, at: i64) -> bool {
        let Days::Bounded(rule) = &self.days else { return true };
        let last = self.start_on(rule.last);
        self.start_on(rule.first) <= at && at < self.end_of(rule.last, last)
    }

    /// Tells what has to be known to say which of its years are alike.
    pub(crate) fn calendar(&self, calendar: &mut Calendar) {
        let ends = match &self.days {
            Days::Bounded(rule) => {
                let last = self.start_on(rule.last);
                Some((self.start_on(rule.first), self.end_of(rule.last, last)))
            }
            _ => None,
        };
        calendar.windows(&self.days, &self.zone, ends);
    }

    /// The instants outside which the windows merely repeat, and after how many days they do.
    pub(crate) fn rhythm(&self) -> Rhythm {
        match &self.days {
            Days::Never | Days::Always => Rhythm::CONSTANT,
            Days::Bounded(rule) => {
                let last = self.start_on(rule.last);
                let hull = Some((self.start_on(rule.first), self.end_of(rule.last, last)));
                Rhythm { hull, ..Rhythm::CONSTANT }
            }
            days => {
                let (hull, before) = (self.zone.unsettled(), days.period());
                // Before its first change the clock of a zone goes like any other.
                let cycle = hull.map_or(1, |_| i64::from(civil::CYCLE_DAYS));
                Rhythm { hull, before, after: before.map(|period| lcm(period, cycle)) }
            }
        }
    }

    /// The zone whose civil times these are.
    #[inline]
    pub(crate) fn zone(&self) -> &Zone {
        &self.zone
    }
}

/// Where a set is irregular and how it goes on elsewhere: what is needed to decide "never again" once and for all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rhythm {
    /// The first and the last instant of what does not repeat.
    pub(crate) hull: Option<(i64, i64)>,
    /// Days after which it repeats before that, and after that. None if it is constant there.
    pub(crate) before: Option<i64>,
    pub(crate) after: Option<i64>,
}

impl Rhythm {
    pub(crate) const CONSTANT: Self = Self { hull: None, before: None, after: None };

    /// The rhythm of two sets together.
    pub(crate) fn with(self, other: Self) -> Self {
        let hull = match (self.hull, other.hull) {
            (Some(a), Some(b)) => Some((a.0.min(b.0), a.1.max(b.1))),
            (a, b) => a.or(b),
        };
        let both = |a: Option<i64>, b: Option<i64>| match (a, b) {
            (Some(a), Some(b)) => Some(lcm(a, b)),
            (a, b) => a.or(b),
        };
        Self { hull, before: both(self.before, other.before), after: both(self.after, other.after) }
    }
}
