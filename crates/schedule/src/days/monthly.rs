//! Days of every n-th month, by date or by weekday.

use super::{Around, gcd, through};
use crate::civil::{self, CYCLE_MONTHS, Shape};

/// Days of the months whose number is `phase` more than a multiple of `every` (TIME-6, TIME-7).
///
/// What a month holds depends only on its [`Shape`]. A rule that selects nothing in some shapes (the 31st, the Fifth Monday) walks
/// to the next month of a shape that has something, a table lookup for each month on the way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Monthly {
    /// Five lanes of seven bits for the First to the Fifth week of the month, then one for the Last; bit 0 of a lane is Monday. Kept
    /// as two words, low first: one of eight bytes would add four of padding to every rule of a fleet.
    lanes: [u32; 2],
    /// Bit i: the date i + 1 counts.
    dates: u32,
    /// Bit i: months of this shape have at least one day.
    shapes: u32,
    every: u16,
    phase: u16,
}

/// Bit 0 of each of the five lanes.
const LANE_STARTS: u64 = 1 | 1 << 7 | 1 << 14 | 1 << 21 | 1 << 28;
/// All bits of the five lanes.
const FIVE_LANES: u64 = (1 << 35) - 1;
/// Where the lane of the last week stands.
const LAST_LANE: u32 = 35;

impl Monthly {
    /// Every `every`-th month from `phase`: these dates (bit 0 for the 1st) and these weekdays (`lanes`, see the field). None if no
    /// such month ever has such a day (TIME-7).
    pub(crate) fn new(every: u16, phase: u16, dates: u32, lanes: u64) -> Option<Self> {
        let lanes = [lanes as u32, (lanes >> 32) as u32];
        let mut rule = Self { lanes, dates, shapes: 0, every, phase };
        for index in 0..Shape::COUNT {
            if rule.days_in(Shape::from_index(index)) != 0 {
                rule.shapes |= 1 << index;
            }
        }
        rule.fires().then_some(rule)
    }

    /// The lanes for one weekday (0 for Monday) of one week (0 for First to 4 for Fifth, 5 for Last).
    pub(crate) const fn lane(week: u32, weekday: u32) -> u64 {
        1 << (week * 7 + weekday)
    }

    /// Whether any counting month has a counting day: one walk round the cycle, over at the first hit.
    fn fires(&self) -> bool {
        if self.shapes == (1 << Shape::COUNT) - 1 {
            return true;
        }
        let every = u32::from(self.every);
        let months = CYCLE_MONTHS as u32;
        let turns = months / gcd(i64::from(every), i64::from(months)) as u32;
        let mut index = u32::from(self.phase) % months;
        for _ in 0..turns {
            if self.has_days(index) {
                return true;
            }
            index = (index + every) % months;
        }
        false
    }

    #[inline]
    fn has_days(&self, cycle_index: u32) -> bool {
        self.shapes >> civil::shape_at(cycle_index).index() & 1 != 0
    }

    /// The counting days of a month of this shape, bit 0 for the 1st.
    #[inline]
    fn days_in(&self, shape: Shape) -> u32 {
        let (days, first) = (shape.days(), shape.first_weekday());
        let mut mask = self.dates;
        let lanes = u64::from(self.lanes[1]) << 32 | u64::from(self.lanes[0]);
        if lanes != 0 {
            // Day i of the month is weekday (first + i) of week i / 7: turn each lane round by the first weekday.
            let kept = LANE_STARTS * ((1 << (7 - first)) - 1);
            let five = lanes & FIVE_LANES;
            let turned = five >> first & kept | five << (7 - first) & !kept;
            mask |= turned as u32;
            // The last week is the last seven days, whatever weekday it begins on.
            let last = (lanes >> LAST_LANE) as u32;
            if last != 0 {
                let first_of_last = (first + days) % 7;
                let turned = (last >> first_of_last | last << (7 - first_of_last)) & 0x7f;
                mask |= turned << (days - 7);
            }
        }
        mask & through(days - 1)
    }

    #[inline]
    fn months_since(&self, month: i32) -> i32 {
        (month - i32::from(self.phase)).rem_euclid(i32::from(self.every))
    }

    #[inline]
    fn days_of(&self, month: i32) -> u32 {
        self.days_in(civil::shape_at(civil::cycle_index(month)))
    }

    /// The counting month nearest to `month`, itself a counting one, that has days, in steps of `step` months.
    #[inline]
    fn seek(&self, mut month: i32, step: i32) -> (i32, u32) {
        let mut index = civil::cycle_index(month);
        while !self.has_days(index) {
            month += step;
            let moved = index as i32 + step;
            index = if (0..CYCLE_MONTHS).contains(&moved) {
                moved as u32
            } else {
                civil::cycle_index(moved)
            };
        }
        (month, self.days_in(civil::shape_at(index)))
    }

    #[inline]
    fn first_from(&self, month: i32) -> i32 {
        let (month, days) = self.seek(month, i32::from(self.every));
        civil::first_day_of_month(month) + days.trailing_zeros() as i32
    }

    #[inline]
    fn last_until(&self, month: i32) -> i32 {
        let (month, days) = self.seek(month, -i32::from(self.every));
        civil::first_day_of_month(month) + days.ilog2() as i32
    }

    #[inline]
    pub(super) fn around(&self, day: i32) -> Around {
        let (month, begins) = civil::month_of(day);
        let since = self.months_since(month);
        let days = if since == 0 { self.days_of(month) } else { 0 };
        let today = through((day - begins) as u32);
        let (past, coming) = (days & today, days & !today);
        let every = i32::from(self.every);
        let before = if past != 0 {
            begins + past.ilog2() as i32
        } else {
            self.last_until(month - if since == 0 { every } else { since })
        };
        let after = if coming != 0 {
            begins + coming.trailing_zeros() as i32
        } else {
            self.first_from(month + every - since)
        };
        Around { before: Some(before), after: Some(after) }
    }

    #[inline]
    pub(super) fn after(&self, day: i32) -> i32 {
        let (month, begins) = civil::month_of(day);
        let since = self.months_since(month);
        if since == 0 {
            let coming = self.days_of(month) & !through((day - begins) as u32);
            if coming != 0 {
                return begins + coming.trailing_zeros() as i32;
            }
        }
        self.first_from(month + i32::from(self.every) - since)
    }

    #[inline]
    pub(super) fn at_or_before(&self, day: i32) -> i32 {
        let (month, begins) = civil::month_of(day);
        let since = self.months_since(month);
        if since == 0 {
            let past = self.days_of(month) & through((day - begins) as u32);
            if past != 0 {
                return begins + past.ilog2() as i32;
            }
        }
        self.last_until(month - if since == 0 { i32::from(self.every) } else { since })
    }

    /// Every how many months.
    pub(crate) fn every(&self) -> i32 {
        i32::from(self.every)
    }

    pub(super) fn period(&self) -> i64 {
        super::months_period(u32::from(self.every))
    }

    pub(super) fn mean_gap(&self) -> f64 {
        let most = (0..Shape::COUNT)
            .map(|index| self.days_in(Shape::from_index(index)).count_ones())
            .max();
        f64::from(self.every) * (f64::from(civil::CYCLE_DAYS) / f64::from(CYCLE_MONTHS))
            / f64::from(most.unwrap_or(1))
    }

    pub(super) fn cursor(&self, day: i32) -> Cursor<'_> {
        let (month, begins) = civil::month_of(day);
        let since = self.months_since(month);
        if since == 0 {
            let left = self.days_of(month) & !through((day - begins) as u32);
            return Cursor { rule: self, month, begins, left };
        }
        // One step before the next counting month: the first call moves there.
        Cursor { rule: self, month: month - since, begins, left: 0 }
    }
}

/// A place in a monthly rule.
#[derive(Debug)]
pub(crate) struct Cursor<'a> {
    rule: &'a Monthly,
    month: i32,
    begins: i32,
    left: u32,
}

impl Cursor<'_> {
    #[inline]
    pub(super) fn next(&mut self) -> i32 {
        if self.left == 0 {
            let every = i32::from(self.rule.every);
            (self.month, self.left) = self.rule.seek(self.month + every, every);
            self.begins = civil::first_day_of_month(self.month);
        }
        let day = self.begins + self.left.trailing_zeros() as i32;
        self.left &= self.left - 1;
        day
    }
}
