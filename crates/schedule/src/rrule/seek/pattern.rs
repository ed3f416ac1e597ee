//! Which days of which period?
//!
//! What a month holds depends only on its length and first weekday, what a year holds on whether it is a leap year and on its first
//! weekday. So each is a table with a mask of days for each shape, made once. Periods are numbered: days and months from the epoch,
//! weeks from the one that holds it, years by their number.

use std::sync::Arc;

use crate::civil::{self, CYCLE_DAYS, Shape};
use crate::days::lcm;

/// The days of a year, bit 0 of the first word for 1 January.
pub(super) type YearMask = [u64; 6];

/// How many shapes a year has.
pub(super) const YEAR_SHAPES: usize = 14;

/// The months of the year that count, bit 0 for January.
pub(crate) const ALL_MONTHS: u16 = 0xfff;

/// A set of days without beginning or end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Pattern {
    /// Every `every`-th day.
    Days { every: i32, anchor: i32 },
    /// Every `every`-th day, if its month and its place there count.
    Limited { every: i32, anchor: i32, months: u16, shapes: [u32; Shape::COUNT as usize] },
    /// Days of every `every`-th week.
    Weeks {
        every: i32,
        /// The week that gives the phase.
        anchor: i32,
        /// The weekday weeks start on, 0 for Monday.
        starts_on: i32,
        /// The days that count, bit 0 for the one the week starts on.
        days: u8,
        months: u16,
        /// What BYSETPOS leaves of each set of days of a week. None: all.
        chosen: Option<Arc<[u8; 128]>>,
    },
    /// Days of every `every`-th month, if it is one that counts.
    Months { every: i32, anchor: i32, months: u16, shapes: [u32; Shape::COUNT as usize] },
    /// Days of every `every`-th year.
    Years { every: i32, anchor: i32, shapes: Arc<[YearMask; YEAR_SHAPES]> },
}

impl Pattern {
    /// The period that holds a day, whether it counts or not.
    pub(super) fn holding(&self, day: i32) -> i32 {
        match self {
            Self::Days { .. } => day,
            Self::Weeks { starts_on, .. } => week_of(day, *starts_on),
            Self::Limited { .. } | Self::Months { .. } => civil::month_of(day).0,
            Self::Years { .. } => civil::date_of(day).0,
        }
    }

    /// The day a period begins on.
    pub(super) fn first_day(&self, period: i32) -> i32 {
        match self {
            Self::Days { .. } => period,
            Self::Weeks { starts_on, .. } => first_day_of_week(period, *starts_on),
            Self::Limited { .. } | Self::Months { .. } => civil::first_day_of_month(period),
            Self::Years { .. } => civil::day_of(period, 1, 1),
        }
    }

    /// Every how many periods one counts, and one that does.
    fn step(&self) -> (i32, i32) {
        match self {
            Self::Days { every, anchor }
            | Self::Weeks { every, anchor, .. }
            | Self::Months { every, anchor, .. }
            | Self::Years { every, anchor, .. } => (*every, *anchor),
            Self::Limited { .. } => (1, 0),
        }
    }

    /// The first period at or after this one that counts.
    pub(super) fn counting_from(&self, period: i32) -> i32 {
        let (every, anchor) = self.step();
        period + (anchor - period).rem_euclid(every)
    }

    /// The last period at or before this one that counts.
    pub(super) fn counting_until(&self, period: i32) -> i32 {
        let (every, anchor) = self.step();
        period - (period - anchor).rem_euclid(every)
    }

    /// The next period that may have days, after one that counts.
    pub(super) fn following(&self, period: i32) -> i32 {
        match self {
            // Every n-th day for a large n skips months: go where the next such day is.
            Self::Limited { every, anchor, .. } if *every > 31 => {
                let next = civil::first_day_of_month(period + 1);
                civil::month_of(next + (anchor - next).rem_euclid(*every)).0
            }
            _ => period + self.step().0,
        }
    }

    /// The last period before one that counts that may have days.
    pub(super) fn preceding(&self, period: i32) -> i32 {
        match self {
            Self::Limited { every, anchor, .. } if *every > 31 => {
                let last = civil::first_day_of_month(period) - 1;
                civil::month_of(last - (last - anchor).rem_euclid(*every)).0
            }
            _ => period - self.step().0,
        }
    }

    /// The days that fire in a period that counts.
    pub(super) fn days_in(&self, period: i32) -> Mask<'_> {
        match self {
            Self::Days { .. } => Mask::Short(1),
            Self::Limited { every, anchor, months, shapes } => {
                match month_mask(period, *months, shapes) {
                    0 => Mask::Short(0),
                    days => Mask::Short(days & every_nth(period, *every, *anchor)),
                }
            }
            Self::Weeks { starts_on, days, months, chosen, .. } => {
                let mut mask = *days;
                if *months != ALL_MONTHS {
                    mask &= days_of_months(first_day_of_week(period, *starts_on), *months);
                }
                if let Some(chosen) = chosen {
                    mask = chosen.get(mask as usize).copied().unwrap_or(0);
                }
                Mask::Short(u32::from(mask))
            }
            Self::Months { months, shapes, .. } => Mask::Short(month_mask(period, *months, shapes)),
            Self::Years { shapes, .. } => {
                shapes.get(year_shape(period)).map_or(Mask::Short(0), Mask::Year)
            }
        }
    }

    /// Every how many days the rule fires, if that is all there is to it.
    pub(super) fn is_daily(&self) -> Option<i32> {
        match self {
            Self::Days { every, .. } => Some(*every),
            Self::Limited { .. }
            | Self::Weeks { .. }
            | Self::Months { .. }
            | Self::Years { .. } => None,
        }
    }

    /// The weekdays that fire in every week that counts, bit 0 for Monday, if they are the same in all of them and not none.
    pub(crate) fn weekdays(&self) -> Option<u8> {
        let Self::Weeks { starts_on, months: ALL_MONTHS, .. } = self else {
            return None;
        };
        let Mask::Short(days) = self.days_in(0) else {
            return None;
        };
        let turned = (days << starts_on | days >> (7 - starts_on)) & 0x7f;
        (turned != 0).then_some(turned as u8)
    }

    /// After how many days the pattern repeats.
    pub(super) fn period_days(&self) -> i64 {
        let cycle = i64::from(CYCLE_DAYS);
        match self {
            Self::Days { every, .. } => i64::from(*every),
            Self::Limited { every, .. } => lcm(i64::from(*every), cycle),
            Self::Weeks { every, months, .. } if *months == ALL_MONTHS => 7 * i64::from(*every),
            Self::Weeks { every, .. } => lcm(7 * i64::from(*every), cycle),
            Self::Months { every, .. } => {
                lcm(i64::from(*every), i64::from(civil::CYCLE_MONTHS))
                    / i64::from(civil::CYCLE_MONTHS)
                    * cycle
            }
            Self::Years { every, .. } => lcm(i64::from(*every), 400) / 400 * cycle,
        }
    }
}

/// The days of one period, bit 0 for its first.
pub(super) enum Mask<'a> {
    Short(u32),
    Year(&'a YearMask),
}

impl Mask<'_> {
    /// The lowest bit at or above `from`.
    pub(super) fn lowest_from(&self, from: u32) -> Option<u32> {
        match self {
            Self::Short(mask) => {
                let left = mask & u32::MAX.checked_shl(from).unwrap_or(0);
                (left != 0).then(|| left.trailing_zeros())
            }
            Self::Year(words) => {
                let mut cut = u64::MAX << (from % 64);
                (from / 64..6).find_map(|index| {
                    let left = words.get(index as usize).copied().unwrap_or(0) & cut;
                    cut = u64::MAX;
                    (left != 0).then(|| index * 64 + left.trailing_zeros())
                })
            }
        }
    }

    /// The highest bit at or below `until`.
    pub(super) fn highest_until(&self, until: u32) -> Option<u32> {
        match self {
            Self::Short(mask) => {
                let left = mask & (u32::MAX >> (31 - until.min(31)));
                (left != 0).then(|| left.ilog2())
            }
            Self::Year(words) => {
                let until = until.min(383);
                let mut cut = u64::MAX >> (63 - until % 64);
                (0..=until / 64).rev().find_map(|index| {
                    let left = words.get(index as usize).copied().unwrap_or(0) & cut;
                    cut = u64::MAX;
                    (left != 0).then(|| index * 64 + left.ilog2())
                })
            }
        }
    }

    /// How many bits stand at or above `from`.
    pub(super) fn count_from(&self, from: u32) -> u32 {
        match self {
            Self::Short(mask) => (mask & u32::MAX.checked_shl(from).unwrap_or(0)).count_ones(),
            Self::Year(words) => {
                let mut cut = u64::MAX << (from % 64);
                words.iter().skip(from as usize / 64).fold(0, |count, word| {
                    let left = word & cut;
                    cut = u64::MAX;
                    count + left.count_ones()
                })
            }
        }
    }
}

/// The number of the week that holds a day; week 0 holds 1970-01-01, a Thursday.
pub(super) fn week_of(day: i32, starts_on: i32) -> i32 {
    (day + (3 - starts_on).rem_euclid(7)).div_euclid(7)
}

fn first_day_of_week(week: i32, starts_on: i32) -> i32 {
    week * 7 - (3 - starts_on).rem_euclid(7)
}

/// The shape of a year: its first weekday, and seven more if it is a leap year.
pub(super) fn year_shape(year: i32) -> usize {
    let begins = civil::day_of(year, 1, 1);
    let leap = civil::day_of(year + 1, 1, 1) - begins == 366;
    civil::weekday_of(begins) as usize + if leap { 7 } else { 0 }
}

fn month_mask(month: i32, months: u16, shapes: &[u32; Shape::COUNT as usize]) -> u32 {
    if months >> month.rem_euclid(12) & 1 == 0 {
        return 0;
    }
    let shape = civil::shape_at(civil::cycle_index(month)).index();
    shapes.get(shape as usize).copied().unwrap_or(0)
}

/// The days of a month that are a multiple of `every` days away from the anchor.
fn every_nth(month: i32, every: i32, anchor: i32) -> u32 {
    if every == 1 {
        return u32::MAX;
    }
    let mut place = (anchor - civil::first_day_of_month(month)).rem_euclid(every);
    let mut mask = 0;
    while place < 32 {
        mask |= 1_u32 << place;
        place += every;
    }
    mask
}

/// The days of a week that fall into these months.
fn days_of_months(first_day: i32, months: u16) -> u8 {
    let (month, begins) = civil::month_of(first_day);
    let counts = |month: i32| months >> month.rem_euclid(12) & 1 != 0;
    // Days of the week before the next month begins, at least one.
    let days = civil::shape_at(civil::cycle_index(month)).days() as i32;
    let before = (begins + days - first_day).min(7);
    let these = 0x7f_u8 >> (7 - before);
    (if counts(month) { these } else { 0 }) | (if counts(month + 1) { 0x7f & !these } else { 0 })
}
