//! What is a set of days of a month called?
//!
//! A set is given for each shape a month can have. It has a name if the name selects the same days in all of them.

use crate::civil::Shape;
use crate::names::{Ordinal, Weekday};

/// The days of a month, bit 0 for the 1st, for each shape of month that occurs.
#[derive(Default)]
pub(super) struct Cases([Option<u32>; Shape::COUNT as usize]);

impl Cases {
    /// Adds a case. False if it contradicts what is known.
    pub(super) fn add(&mut self, shape: Shape, days: u32) -> bool {
        self.0.get_mut(shape.index() as usize).is_some_and(|case| *case.get_or_insert(days) == days)
    }

    /// Adds all cases of another set.
    pub(super) fn merge(&mut self, other: &Self) -> bool {
        other.iter().all(|(shape, days)| self.add(shape, days))
    }

    pub(super) fn are_empty(&self) -> bool {
        self.iter().all(|(_, days)| days == 0)
    }

    fn iter(&self) -> impl Iterator<Item = (Shape, u32)> {
        let shapes = (0..).map(Shape::from_index).zip(self.0);
        shapes.filter_map(|(shape, days)| days.map(|days| (shape, days)))
    }

    /// Whether a name selects these days in every shape.
    fn equal(&self, named: impl Fn(Shape) -> u32) -> bool {
        self.iter().all(|(shape, days)| named(shape) == days)
    }
}

impl FromIterator<(Shape, u32)> for Cases {
    fn from_iter<I: IntoIterator<Item = (Shape, u32)>>(cases: I) -> Self {
        let mut known = Self::default();
        for (shape, days) in cases {
            known.add(shape, days);
        }
        known
    }
}

/// The dates, if the same ones fire in every shape that has them.
pub(super) fn dates_of(cases: &Cases) -> Option<Vec<u8>> {
    let dates = cases.iter().fold(0, |dates, (_, days)| dates | days);
    let same = dates != 0 && cases.equal(|shape| dates & all_of(shape));
    same.then(|| (1..=31).filter(|date| dates >> (date - 1) & 1 != 0).collect())
}

/// The weekdays of the month, if they are what fires in every shape.
pub(super) fn weekdays_of(cases: &Cases) -> Option<Vec<(Ordinal, Weekday)>> {
    let mut found = Vec::new();
    for weekday in Weekday::ALL {
        let within = |week: &Ordinal| {
            cases.iter().all(|(shape, days)| {
                let named = nth(shape, *week, *weekday);
                named & days == named
            })
        };
        let mut weeks: Vec<Ordinal> = Ordinal::ALL.iter().copied().filter(within).collect();
        // Fourth and Fifth together always include the Last; otherwise the Last includes the Fifth.
        if weeks.contains(&Ordinal::Last) {
            let spare =
                if weeks.contains(&Ordinal::Fourth) { Ordinal::Last } else { Ordinal::Fifth };
            weeks.retain(|week| *week != spare);
        }
        found.extend(weeks.into_iter().map(|week| (week, *weekday)));
    }
    let same = !found.is_empty()
        && cases.equal(|shape| {
            found.iter().fold(0, |days, (week, weekday)| days | nth(shape, *week, *weekday))
        });
    same.then_some(found)
}

/// The weekdays, if all days that fall on them fire and no others.
pub(super) fn whole_weeks(cases: &Cases) -> Option<Vec<Weekday>> {
    let all = |shape: Shape, weekday: Weekday| {
        Ordinal::ALL.iter().fold(0, |days, week| days | nth(shape, *week, weekday))
    };
    let named = |weekday: &Weekday| {
        cases.iter().all(|(shape, days)| days & all(shape, *weekday) == all(shape, *weekday))
    };
    let weekdays: Vec<Weekday> = Weekday::ALL.iter().copied().filter(named).collect();
    let same = !weekdays.is_empty()
        && cases.equal(|shape| weekdays.iter().fold(0, |days, day| days | all(shape, *day)));
    same.then_some(weekdays)
}

fn all_of(shape: Shape) -> u32 {
    u32::MAX >> (32 - shape.days())
}

/// The one day that is this weekday of the month, if there is one.
fn nth(shape: Shape, week: Ordinal, weekday: Weekday) -> u32 {
    let first = (weekday as u32 + 7 - shape.first_weekday()) % 7;
    let place = match week {
        Ordinal::Last => first + (shape.days() - 1 - first) / 7 * 7,
        _ => first + week as u32 * 7,
    };
    1_u32.checked_shl(place).unwrap_or(0) & all_of(shape)
}
