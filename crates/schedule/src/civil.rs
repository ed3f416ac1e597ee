//! Which day is it? Integer calendar arithmetic on the proleptic Gregorian calendar.
//!
//! A day is counted from 1970-01-01 (day 0, a Thursday), a month from January 1970 (month 0). Everything here is exact for the
//! whole range of [`Instant`](crate::Instant) and needs neither a table lookup in a calendar crate nor an allocation (TIME-14).

/// Seconds of a civil day that has neither a gap nor an overlap.
pub(crate) const DAY: i64 = 86_400;

/// Months in the 400 years after which the calendar, weekdays included, repeats.
pub(crate) const CYCLE_MONTHS: i32 = 4_800;

/// Days in the same 400 years; divisible by seven, which is why weekdays repeat too.
pub(crate) const CYCLE_DAYS: i32 = 146_097;

/// Whole cycles, more than any instant lies before 1970: days shifted by them are unsigned, and a quotient of unsigned numbers takes
/// a third of the instructions of one that rounds towards the past.
pub(crate) const SHIFT: i32 = 30 * CYCLE_DAYS;

/// The day that holds a second, both counted from 1970-01-01T00:00 of one clock.
#[inline]
pub(crate) const fn day_at(second: i64) -> i32 {
    ((second + SHIFT as i64 * DAY) as u64 / DAY as u64) as i32 - SHIFT
}

/// The day number of a civil date. The date must exist.
pub(crate) const fn day_of(year: i32, month: u8, day: u8) -> i32 {
    first_day_of_month((year - 1970) * 12 + month as i32 - 1) + day as i32 - 1
}

/// The civil date of a day number: year, month 1 to 12, day 1 to 31.
pub(crate) const fn date_of(day: i32) -> (i32, u8, u8) {
    let (month, first) = month_of(day);
    (1970 + month.div_euclid(12), month.rem_euclid(12) as u8 + 1, (day - first) as u8 + 1)
}

/// The month that holds a day, and the day that month begins on.
///
/// Counted in years that begin in March, so that the leap day comes last and month lengths follow one linear rule.
#[inline]
pub(crate) const fn month_of(day: i32) -> (i32, i32) {
    // Shifted by whole cycles so that every quotient below is of an unsigned number.
    const SHIFT_CYCLES: u32 = 30;
    const EPOCH_FROM_MARCH_0000: u32 = 719_468;
    let n = (day as i64 + (EPOCH_FROM_MARCH_0000 + SHIFT_CYCLES * CYCLE_DAYS as u32) as i64) as u32;
    let quarter = 4 * n + 3;
    let century = quarter / CYCLE_DAYS as u32;
    let of_century = (quarter % CYCLE_DAYS as u32) | 3;
    let year_of_century = of_century / 1_461;
    let day_of_year = (of_century % 1_461) / 4;
    let march_month = (5 * day_of_year + 2) / 153;
    let day_of_month = day_of_year - (153 * march_month + 2) / 5;
    // March is month 2 of its civil year, counted from zero; January and February fall into the next civil year by themselves.
    let months = (century * 100 + year_of_century) * 12 + march_month + 2;
    (months as i32 - ((1970 + SHIFT_CYCLES as i32 * 400) * 12), day - day_of_month as i32)
}

/// The day number on which a month begins.
#[inline]
pub(crate) const fn first_day_of_month(month: i32) -> i32 {
    const SHIFT_CYCLES: u32 = 30;
    // Months from March of year 0, shifted as above.
    let m = (month as i64 + (1970 + SHIFT_CYCLES as i64 * 400) * 12 - 2) as u32;
    let (year, march_month) = (m / 12, m % 12);
    let century = year / 100;
    let days = year * 365 + year / 4 - century + century / 4 + (153 * march_month + 2) / 5;
    days as i32 - (719_468 + SHIFT_CYCLES as i32 * CYCLE_DAYS)
}

/// The weekday of a day, 0 for Monday to 6 for Sunday.
#[inline]
pub(crate) const fn weekday_of(day: i32) -> u32 {
    (day + 3).rem_euclid(7) as u32
}

/// How many days a month has.
#[inline]
pub(crate) const fn days_in(month: i32) -> u32 {
    (first_day_of_month(month + 1) - first_day_of_month(month)) as u32
}

/// The shape of a month: its length and the weekday of its first day. There are only 28 of them, so what a monthly rule selects
/// in a month depends on nothing else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape(u8);

impl Shape {
    /// How many shapes there are.
    pub(crate) const COUNT: u32 = 28;

    const fn new(days: u32, first_weekday: u32) -> Self {
        Self(((days - 28) * 7 + first_weekday) as u8)
    }

    /// The shape with this index, below [`Shape::COUNT`].
    pub(crate) const fn from_index(index: u32) -> Self {
        Self(index as u8)
    }

    /// The index, below [`Shape::COUNT`].
    #[inline]
    pub(crate) const fn index(self) -> u32 {
        self.0 as u32
    }

    /// How many days the month has.
    #[inline]
    pub(crate) const fn days(self) -> u32 {
        28 + self.0 as u32 / 7
    }

    /// The weekday of its first day, 0 for Monday.
    #[inline]
    pub(crate) const fn first_weekday(self) -> u32 {
        self.0 as u32 % 7
    }
}

/// The shapes of one whole cycle of months, from January 1970. Walking a rare rule (Fifth Monday of February: gaps of up to 40
/// years) then costs a byte a step (perf goal P7).
static SHAPES: [u8; CYCLE_MONTHS as usize] = {
    let mut shapes = [0; CYCLE_MONTHS as usize];
    let mut month = 0;
    while month < CYCLE_MONTHS {
        let first = first_day_of_month(month);
        shapes[month as usize] = Shape::new(days_in(month), weekday_of(first)).0;
        month += 1;
    }
    shapes
};

/// The place of a month within its cycle, below [`CYCLE_MONTHS`].
#[inline]
pub(crate) const fn cycle_index(month: i32) -> u32 {
    // Shifted by whole cycles, as days are above.
    (month + 30 * CYCLE_MONTHS) as u32 % CYCLE_MONTHS as u32
}

/// The shape of the month at this place of the cycle.
#[inline]
pub(crate) fn shape_at(cycle_index: u32) -> Shape {
    Shape(SHAPES.get(cycle_index as usize).copied().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every day of twenty-five thousand years against a counter that knows only month lengths.
    #[test]
    fn agrees_with_counting_day_by_day() {
        let length = |year: i32, month: u8| match month {
            2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
            2 => 28,
            4 | 6 | 9 | 11 => 30,
            _ => 31,
        };
        let (mut year, mut month, mut date) = (-9_999, 1_u8, 1_u8);
        let mut day = day_of(year, month, date);
        let mut weekday = weekday_of(day);
        while year < 15_000 {
            assert_eq!(date_of(day), (year, month, date), "day {day}");
            assert_eq!(day_of(year, month, date), day);
            assert_eq!(weekday_of(day), weekday);
            if date == 1 {
                let index = (year - 1970) * 12 + i32::from(month) - 1;
                assert_eq!(month_of(day), (index, day));
                let shape = shape_at(cycle_index(index));
                assert_eq!((shape.days(), shape.first_weekday()), (days_in(index), weekday));
                assert_eq!(u32::from(length(year, month)), shape.days());
            }
            (day, weekday, date) = (day + 1, (weekday + 1) % 7, date + 1);
            if date > length(year, month) {
                (date, month) = (1, month + 1);
            }
            if month > 12 {
                (month, year) = (1, year + 1);
            }
        }
        assert_eq!(day_of(1970, 1, 1), 0);
        assert_eq!(weekday_of(0), 3, "1970-01-01 was a Thursday");
    }
}
