//! What do the parts of a rule select within one period?
//!
//! RFC 5545 says for each part and frequency whether it expands or limits. Over whole days both come to the same: a day of the
//! period fires if its month, its date and its weekday each pass their part, where a part that is absent passes everything, and
//! where a rule that names no day at all takes it from DTSTART. BYSETPOS then chooses among the days of the period, in order.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::super::{Frequency, Rrule};
use super::pattern::{ALL_MONTHS, Pattern, YEAR_SHAPES, YearMask, week_of};
use crate::civil::{self, Shape};

/// A rule's parts as sets, with what DTSTART supplies filled in.
pub(super) struct Selection {
    frequency: Frequency,
    every: i32,
    anchor: i32,
    starts_on: i32,
    /// Bit 0 for January.
    months: u16,
    /// None: any date.
    dates: Option<Dates>,
    /// None: any weekday.
    weekdays: Option<Weekdays>,
    positions: BTreeSet<i16>,
}

#[derive(Default)]
struct Dates {
    /// Bit 0 for the 1st.
    from_start: u32,
    /// Bit 0 for the last.
    from_end: u32,
}

#[derive(Default)]
struct Weekdays {
    /// All of them in the period; bit 0 for Monday.
    all: u8,
    /// For each weekday the ordinals from the beginning of the period, bit 1 for the first.
    from_start: [u64; 7],
    /// The same from its end, bit 1 for the last.
    from_end: [u64; 7],
    /// Whether the ordinals count within the year, not the month.
    of_year: bool,
}

/// A day as the parts see it.
struct Day {
    weekday: u32,
    /// Places counted from 0, in the month and in the year.
    in_month: u32,
    in_year: u32,
    month_days: u32,
    year_days: u32,
}

impl Selection {
    pub(super) fn of(rule: &Rrule) -> Self {
        let anchor = rule.anchor();
        let (_, month, date) = civil::date_of(anchor);
        let bit = |count: u8| 1_u32 << (count - 1);
        let mut months = rule.by_month.iter().fold(0, |mask, month| mask | bit(*month) as u16);
        let mut dates = (!rule.by_month_day.is_empty()).then(|| {
            rule.by_month_day.iter().fold(Dates::default(), |mut dates, date| {
                let side = if *date > 0 { &mut dates.from_start } else { &mut dates.from_end };
                *side |= bit(date.unsigned_abs());
                dates
            })
        });
        let mut weekdays = (!rule.by_day.is_empty()).then(|| Weekdays::of(rule));
        // A rule that names no day takes it from DTSTART.
        if dates.is_none() && weekdays.is_none() {
            let start = Dates { from_start: bit(date), from_end: 0 };
            match rule.frequency {
                Frequency::Yearly => {
                    dates = Some(start);
                    if months == 0 {
                        months = bit(month) as u16;
                    }
                }
                Frequency::Monthly => dates = Some(start),
                Frequency::Weekly => {
                    weekdays = Some(Weekdays {
                        all: 1 << civil::weekday_of(anchor),
                        ..Weekdays::default()
                    });
                }
                Frequency::Daily => {}
            }
        }
        Self {
            frequency: rule.frequency,
            every: rule.interval(),
            anchor,
            starts_on: rule.week_start() as i32,
            months: if months == 0 { ALL_MONTHS } else { months },
            dates,
            weekdays,
            positions: rule.by_set_pos.iter().copied().collect(),
        }
    }

    /// The days the parts select, without beginning or end.
    pub(super) fn pattern(&self) -> Pattern {
        match self.frequency {
            Frequency::Daily => self.daily(),
            Frequency::Weekly => self.weekly(),
            Frequency::Monthly => Pattern::Months {
                every: self.every,
                anchor: civil::month_of(self.anchor).0,
                months: self.months,
                shapes: self.month_shapes(),
            },
            Frequency::Yearly => Pattern::Years {
                every: self.every,
                anchor: civil::date_of(self.anchor).0,
                shapes: Arc::new(self.year_shapes()),
            },
        }
    }

    fn daily(&self) -> Pattern {
        let (every, anchor) = (self.every, self.anchor);
        // The set of one day has one place, which is the first and the last.
        let chosen = self.positions.is_empty()
            || self.positions.contains(&1)
            || self.positions.contains(&-1);
        if chosen && self.months == ALL_MONTHS && self.dates.is_none() && self.weekdays.is_none() {
            return Pattern::Days { every, anchor };
        }
        Pattern::Limited {
            every,
            anchor,
            months: if chosen { self.months } else { 0 },
            shapes: self.month_shapes(),
        }
    }

    fn weekly(&self) -> Pattern {
        let weekdays = self.weekdays.as_ref().map_or(0x7f, |weekdays| weekdays.all);
        let days = weekdays >> self.starts_on | weekdays << (7 - self.starts_on);
        let chosen = (!self.positions.is_empty()).then(|| {
            let mut chosen = [0; 128];
            for (set, left) in (0_u8..).zip(chosen.iter_mut()) {
                let days = (0..7).filter(|day| set >> day & 1 != 0).collect();
                *left = self.choose(days).iter().fold(0, |mask, day| mask | 1 << day);
            }
            Arc::new(chosen)
        });
        Pattern::Weeks {
            every: self.every,
            anchor: week_of(self.anchor, self.starts_on),
            starts_on: self.starts_on,
            days: days & 0x7f,
            months: self.months,
            chosen,
        }
    }

    /// What fires in a month of each shape, its name aside.
    fn month_shapes(&self) -> [u32; Shape::COUNT as usize] {
        let mut shapes = [0; Shape::COUNT as usize];
        for (index, mask) in (0..).zip(shapes.iter_mut()) {
            let shape = Shape::from_index(index);
            let passing = (0..shape.days()).filter(|place| {
                self.passes(&Day {
                    weekday: (shape.first_weekday() + place) % 7,
                    in_month: *place,
                    in_year: *place,
                    month_days: shape.days(),
                    year_days: shape.days(),
                })
            });
            let days = passing.collect();
            let days = if self.frequency == Frequency::Daily { days } else { self.choose(days) };
            *mask = days.iter().fold(0, |mask, day| mask | 1 << day);
        }
        shapes
    }

    /// What fires in a year of each shape.
    fn year_shapes(&self) -> [YearMask; YEAR_SHAPES] {
        let mut shapes = [YearMask::default(); YEAR_SHAPES];
        for (index, words) in (0_u32..).zip(shapes.iter_mut()) {
            // A year of each kind, for the lengths of its months: 1970 and 1972.
            let first_month = if index < 7 { 0 } else { 2 * 12 };
            let mut days = Vec::new();
            let mut in_year = 0;
            for month in 0..12 {
                let month_days = civil::days_in(first_month + month);
                for in_month in 0..month_days {
                    let day = Day {
                        weekday: (index + in_year) % 7,
                        in_month,
                        in_year,
                        month_days,
                        year_days: if index < 7 { 365 } else { 366 },
                    };
                    if self.months >> month & 1 != 0 && self.passes(&day) {
                        days.push(in_year);
                    }
                    in_year += 1;
                }
            }
            for day in self.choose(days) {
                if let Some(word) = words.get_mut(day as usize / 64) {
                    *word |= 1 << (day % 64);
                }
            }
        }
        shapes
    }

    /// Whether date and weekday pass.
    fn passes(&self, day: &Day) -> bool {
        self.dates.as_ref().is_none_or(|dates| {
            dates.from_start >> day.in_month & 1 != 0
                || dates.from_end >> (day.month_days - 1 - day.in_month) & 1 != 0
        }) && self.weekdays.as_ref().is_none_or(|weekdays| weekdays.pass(day))
    }

    /// What BYSETPOS leaves of the days of a period, given in order.
    fn choose(&self, mut days: Vec<u32>) -> Vec<u32> {
        if self.positions.is_empty() {
            return days;
        }
        let count = days.len() as i16;
        let mut place = 0;
        days.retain(|_| {
            place += 1;
            self.positions.contains(&place) || self.positions.contains(&(place - 1 - count))
        });
        days
    }
}

impl Weekdays {
    fn of(rule: &Rrule) -> Self {
        let mut weekdays = Self {
            of_year: rule.frequency == Frequency::Yearly && rule.by_month.is_empty(),
            ..Self::default()
        };
        for by_day in &rule.by_day {
            let weekday = by_day.weekday as usize;
            let side = match by_day.ordinal {
                0 => {
                    weekdays.all |= 1 << weekday;
                    continue;
                }
                1.. => &mut weekdays.from_start,
                _ => &mut weekdays.from_end,
            };
            if let Some(ordinals) = side.get_mut(weekday) {
                *ordinals |= 1 << by_day.ordinal.unsigned_abs();
            }
        }
        weekdays
    }

    fn pass(&self, day: &Day) -> bool {
        let (place, days) = if self.of_year {
            (day.in_year, day.year_days)
        } else {
            (day.in_month, day.month_days)
        };
        let named = |side: &[u64; 7], nth: u32| {
            side.get(day.weekday as usize).is_some_and(|ordinals| ordinals >> nth & 1 != 0)
        };
        self.all >> day.weekday & 1 != 0
            || named(&self.from_start, place / 7 + 1)
            || named(&self.from_end, (days - 1 - place) / 7 + 1)
    }
}
