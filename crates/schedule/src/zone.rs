//! When does a wall clock of some place reach a civil time?
//!
//! TIME-12 in one definition: a civil time begins at *the first instant at which the zone's wall clock reads it or later*. A time that
//! a gap skips so becomes the first instant after the gap, and a time that occurs twice becomes the first of the two. The map from
//! civil times to instants is then monotone, and so is its inverse, [`Zone::reached`]: a zoned schedule is a UTC schedule seen
//! through a warped clock, with the same arithmetic and no special case for either day of the year.

use std::fmt;
use std::sync::Arc;

use crate::civil::{self, DAY};
use crate::date::{Date, TimeOfDay};
use crate::error::Error;
use crate::instant::Instant;

/// Seconds after which a zone that follows a yearly rule repeats.
const CYCLE: i64 = civil::CYCLE_DAYS as i64 * DAY;
/// From here on every zone of the database follows its yearly rule; the last written-out transitions are Morocco's, in 2087.
const SETTLED: i64 = civil::day_of(SETTLED_YEAR, 1, 1) as i64 * DAY;
/// The first year of that.
pub(crate) const SETTLED_YEAR: i32 = 2100;
/// The table holds one cycle after that, and a year more so that nothing is looked up at its rim.
const TABLE_END: i64 = SETTLED + CYCLE + 366 * DAY;

/// A time zone of the IANA database, or UTC. Cheap to clone.
///
/// ```
/// use schedule::{Date, Instant, TimeOfDay, Zone};
///
/// let berlin = Zone::named("Europe/Berlin")?;
/// // 02:30 does not exist on the day the clocks go forward: it becomes 03:00 summer time.
/// let skipped = berlin.first_instant_of(Date::parse("2026-03-29")?, TimeOfDay::parse("02:30")?);
/// assert_eq!(skipped, Instant::parse("2026-03-29T01:00:00Z")?);
/// assert!(Zone::named("Mars/Base").unwrap_err().is_unknown_zone());
/// # Ok::<(), schedule::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Zone(Option<Arc<Table>>);

/// The offsets of a zone as sorted arrays: no calendar arithmetic and no allocation when asked.
#[derive(PartialEq, Eq)]
struct Table {
    name: Box<str>,
    /// Where each offset but the first begins.
    begins: Box<[i64]>,
    /// The offsets in seconds east of UTC, one more than `begins`.
    offsets: Box<[i32]>,
    /// For each offset: how far the wall clock has ever got when it ends (exclusive). Rising, because it is a running maximum.
    reaches: Box<[i64]>,
    /// For each year since the first change: which offset holds when it begins. Two or three steps from there find the right one,
    /// where a search through six centuries of changes takes eleven.
    years: Box<[u16]>,
    /// The largest difference between two offsets.
    sway: u32,
}

/// A year as the table counts it, a power of two of seconds: 1.06 years.
const YEAR_BITS: u32 = 25;

impl Zone {
    /// Coordinated universal time.
    pub const fn utc() -> Self {
        Self(None)
    }

    /// The zone with this IANA name. An unknown name is refused, never read as UTC (TIME-12).
    pub fn named(name: &str) -> Result<Self, Error> {
        // Names that promise no more than UTC need no table.
        if matches!(name, "UTC" | "Etc/UTC") {
            return Ok(Self::utc());
        }
        let unknown = || {
            Error::unknown_zone(format!(
                "`{name}` is not a time zone of the IANA database: expected a name such as Europe/Berlin"
            ))
            .at(0)
        };
        let zone = jiff::tz::TimeZone::get(name).map_err(|_| unknown())?;
        let canonical = zone.iana_name().ok_or_else(unknown)?;
        // Spelling is exact: a policy must mean the same to every reader.
        if canonical != name {
            return Err(unknown());
        }
        Ok(Self(Some(Arc::new(Table::new(name, &zone)))))
    }

    /// The IANA name.
    pub fn name(&self) -> &str {
        self.0.as_ref().map_or("UTC", |table| &table.name)
    }

    /// Whether this is UTC itself.
    pub fn is_utc(&self) -> bool {
        self.0.is_none()
    }

    /// Seconds east of UTC at an instant.
    pub fn offset_at(&self, at: Instant) -> i32 {
        self.0.as_ref().map_or(0, |table| table.offset_at(at.unix()))
    }

    /// The civil date that the wall clock shows at an instant.
    pub fn date_of(&self, at: Instant) -> Date {
        Date::nearest(civil::day_at(at.unix() + i64::from(self.offset_at(at))))
    }

    /// The time of day that the wall clock shows at an instant.
    pub fn time_of(&self, at: Instant) -> TimeOfDay {
        let seconds = (at.unix() + i64::from(self.offset_at(at))).rem_euclid(DAY);
        TimeOfDay::from_seconds(seconds as u32).unwrap_or_default()
    }

    /// The first instant at which the wall clock reads this time of this date, or later (TIME-12).
    pub fn first_instant_of(&self, date: Date, time: TimeOfDay) -> Instant {
        let civil = i64::from(date.days_since_epoch()) * DAY + i64::from(time.seconds());
        let instant = self.instant_of(civil).clamp(Instant::MIN.unix(), Instant::MAX.unix());
        Instant::of_edge(instant).unwrap_or(Instant::MIN)
    }

    /// The same for civil seconds since 1970-01-01T00:00 of the zone.
    #[inline]
    pub(crate) fn instant_of(&self, civil: i64) -> i64 {
        match &self.0 {
            None => civil,
            Some(table) => table.instant_of(civil),
        }
    }

    /// The latest civil second that the wall clock has read at or before `at`. During the repeated hour of an overlap this is not
    /// what the clock shows, but what it had shown already; so `civil <= reached(t)` exactly when `instant_of(civil) <= t`.
    #[inline]
    pub(crate) fn reached(&self, at: i64) -> i64 {
        match &self.0 {
            None => at,
            Some(table) => table.reached(at),
        }
    }

    /// The most seconds by which what the wall clock has reached may gain or lose on elapsed time, whenever one looks: it is ahead of
    /// UTC by no more than the largest offset and by no less than the smallest.
    pub(crate) fn sway(&self) -> u32 {
        self.0.as_ref().map_or(0, |table| table.sway)
    }

    /// Whether the clock changes in a year as it does in every year from 2101 on that begins on the same weekday and is as long.
    pub(crate) fn is_regular_in(&self, year: i32) -> bool {
        let Some(table) = &self.0 else { return true };
        year >= SETTLED_YEAR || table.changes_alike(year, like(year))
    }

    /// The instants between which the zone's offset follows no yearly rule, if there are any.
    pub(crate) fn unsettled(&self) -> Option<(i64, i64)> {
        let table = self.0.as_ref()?;
        Some((table.begins.first().map_or(SETTLED, |begins| begins - 2 * DAY), SETTLED))
    }
}

/// The years from 2101 on that stand for all years which begin on the same weekday and are as long, by [`kind_of`].
static LIKE: [i32; 14] = {
    let mut like = [0; 14];
    // Twenty-eight years without a change of centuries hold every kind.
    let mut year = SETTLED_YEAR + 28;
    while year > SETTLED_YEAR {
        like[kind_of(year)] = year;
        year -= 1;
    }
    like
};

/// The kind of a year: the weekday that it begins on, and whether it is a leap year.
const fn kind_of(year: i32) -> usize {
    let first = civil::day_of(year, 1, 1);
    let days = civil::day_of(year + 1, 1, 1) - first;
    civil::weekday_of(first) as usize * 2 + (days - 365) as usize
}

fn like(year: i32) -> i32 {
    LIKE.get(kind_of(year)).copied().unwrap_or(SETTLED_YEAR)
}

impl Table {
    fn new(name: &str, zone: &jiff::tz::TimeZone) -> Self {
        let mut begins = Vec::new();
        let mut offsets = vec![zone.to_offset(jiff::Timestamp::MIN).seconds()];
        for transition in zone.following(jiff::Timestamp::MIN) {
            let at = transition.timestamp().as_second();
            if at >= TABLE_END {
                break;
            }
            // Transitions that only rename the zone do not move its clock.
            if offsets.last() != Some(&transition.offset().seconds()) {
                begins.push(at);
                offsets.push(transition.offset().seconds());
            }
        }
        let mut furthest = i64::MIN;
        let reaches = offsets
            .iter()
            .enumerate()
            .map(|(index, offset)| {
                let ends = begins.get(index).map_or(i64::MAX, |end| end + i64::from(*offset));
                furthest = furthest.max(ends);
                furthest
            })
            .collect();
        let first = begins.first().copied().unwrap_or(TABLE_END);
        let years = (first..TABLE_END)
            .step_by(1 << YEAR_BITS)
            .map(|year| begins.partition_point(|begins| *begins < year) as u16)
            .collect();
        let (least, most) = (offsets.iter().min(), offsets.iter().max());
        let sway = most.zip(least).map_or(0, |(most, least)| most.abs_diff(*least));
        Self {
            name: name.into(),
            begins: begins.into(),
            offsets: offsets.into(),
            reaches,
            years,
            sway,
        }
    }

    fn changes_alike(&self, a: i32, b: i32) -> bool {
        let ((first_a, changes_a), (first_b, changes_b)) = (self.changes(a), self.changes(b));
        first_a == first_b && changes_a.eq(changes_b)
    }

    /// What the clock does in a year: the offset with which it begins, and the changes, seconds after its beginning.
    fn changes(&self, year: i32) -> (i64, impl Iterator<Item = (i64, i64)> + '_) {
        let begin = i64::from(civil::day_of(year, 1, 1)) * DAY;
        let end = i64::from(civil::day_of(year + 1, 1, 1)) * DAY;
        let first = self.index_at(begin);
        let changes = (first..).map_while(move |index| {
            let at = self.begins.get(index).filter(|at| **at < end)?;
            Some((at - begin, self.offset(index + 1)))
        });
        (self.offset(first), changes)
    }

    /// The offset that holds when the year of an instant within the table begins: not after the right one, and near it.
    #[inline]
    fn index_near(&self, at: i64) -> usize {
        let first = self.begins.first().copied().unwrap_or(TABLE_END);
        let year = if at < first { 0 } else { (at - first) >> YEAR_BITS };
        self.years.get(year as usize).copied().map_or(0, usize::from)
    }

    /// How far to move a second back by whole cycles so that it falls into the table.
    #[inline]
    const fn cycles_beyond(at: i64) -> i64 {
        if at < SETTLED + CYCLE { 0 } else { (at - SETTLED) / CYCLE * CYCLE }
    }

    /// Which offset holds at an instant within the table.
    #[inline]
    fn index_at(&self, at: i64) -> usize {
        let mut index = self.index_near(at);
        while self.begins.get(index).is_some_and(|begins| *begins <= at) {
            index += 1;
        }
        index
    }

    #[inline]
    fn offset(&self, index: usize) -> i64 {
        self.offsets.get(index).copied().map_or(0, i64::from)
    }

    fn offset_at(&self, at: i64) -> i32 {
        self.offset(self.index_at(at - Self::cycles_beyond(at))) as i32
    }

    #[inline(never)] // Out of the way of UTC, which needs the registers.
    fn instant_of(&self, civil: i64) -> i64 {
        let beyond = Self::cycles_beyond(civil);
        let civil = civil - beyond;
        // No offset is as long as two days, so that the one of two days earlier is not after the right one.
        let mut index = self.index_near(civil - 2 * DAY);
        while self.reaches.get(index).is_some_and(|reach| *reach <= civil) {
            index += 1;
        }
        let instant = civil - self.offset(index);
        let begins = index.checked_sub(1).and_then(|before| self.begins.get(before));
        beyond + begins.map_or(instant, |begins| instant.max(*begins))
    }

    #[inline(never)]
    fn reached(&self, at: i64) -> i64 {
        let beyond = Self::cycles_beyond(at);
        let at = at - beyond;
        let index = self.index_at(at);
        let shown = at + self.offset(index);
        let before = index.checked_sub(1).and_then(|before| self.reaches.get(before));
        beyond + before.map_or(shown, |reach| shown.max(reach - 1))
    }
}

impl fmt::Debug for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests;
