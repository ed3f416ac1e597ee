//! Which ranges of time have to be looked at, so that nothing which a set ever does goes unseen? (GRD-2)
//!
//! Without months and zones a set repeats after days or weeks wherever nothing dated is near; one period after each dated part is enough.
//! With them it repeats after 400 years at the earliest, but a year is like any other year whose first day is the same weekday, which is as
//! long, in which the clocks change alike, and whose neighbours are such years too: of four centuries some forty years differ. Rules that
//! count days, weeks or months by other numbers add where they stand when the year begins.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::{Kind, TimeSet};
use crate::calendar::{Calendar, Count};
use crate::civil::{self, CYCLE_DAYS, DAY};
use crate::instant::Instant;
use crate::zone;

/// What has to be known of a set to tell which of its years are alike.
fn calendar_of(set: &TimeSet) -> Calendar {
    let mut calendar = Calendar::new();
    add(&mut calendar, set);
    calendar.settled()
}

fn add(calendar: &mut Calendar, set: &TimeSet) {
    match &set.0.kind {
        Kind::Never | Kind::Always => {}
        Kind::Before(end) => calendar.edge(*end),
        Kind::Ranges(ranges) => {
            ranges.iter().flat_map(|(start, end)| [*start, *end]).for_each(|at| calendar.edge(at));
        }
        Kind::Schedule(schedule) => schedule.calendar(calendar),
        Kind::Complement(set) => add(calendar, set),
        // A date that cuts a window decides about what is left of it on either side.
        Kind::ClosedEarly(set, cut) => {
            let before = calendar.dated.len();
            add(calendar, set);
            for part in calendar.dated.iter_mut().skip(before) {
                *part = (part.0.saturating_sub(*cut), part.1.saturating_add(*cut));
            }
        }
        Kind::Union(a, b) | Kind::Intersection(a, b) => {
            add(calendar, a);
            add(calendar, b);
        }
    }
}

impl TimeSet {
    /// How many seconds after an instant decide whether it is inside.
    fn looks_ahead(&self) -> i64 {
        match &self.0.kind {
            Kind::Never | Kind::Always | Kind::Before(_) | Kind::Ranges(_) | Kind::Schedule(_) => 0,
            Kind::Complement(set) => set.looks_ahead(),
            Kind::Union(a, b) | Kind::Intersection(a, b) => a.looks_ahead().max(b.looks_ahead()),
            Kind::ClosedEarly(set, cut) => set.looks_ahead().saturating_add(*cut),
        }
    }

    /// Ranges of starts, in order and apart: whatever the set does within `ahead` seconds of any start from `from` on, it does within as many
    /// seconds of a start in one of them. `ahead` is at most 366 days.
    pub(super) fn variety(&self, from: i64, ahead: i64) -> Box<dyn Iterator<Item = Range<i64>>> {
        let calendar = calendar_of(self);
        let ahead = ahead.saturating_add(self.looks_ahead());
        let last = (Instant::MAX.unix() - ahead).max(from + 1);
        // Months and zones make years differ; anything else repeats soon.
        if calendar.period % i64::from(CYCLE_DAYS) == 0 {
            return Box::new(Years::new(self.clone(), calendar, from..last, ahead));
        }
        let period = calendar.period.saturating_mul(DAY);
        let until = |at: i64| at.saturating_add(period).min(last);
        let mut ranges: Vec<Range<i64>> = std::iter::once(from..until(from)).collect();
        for (start, end) in calendar.dated {
            let range = start.saturating_sub(ahead).max(from)..until(end);
            if range.is_empty() {
                continue;
            }
            match ranges.last_mut() {
                Some(before) if range.start <= before.end => before.end = before.end.max(range.end),
                _ => ranges.push(range),
            }
        }
        Box::new(ranges.into_iter())
    }
}

/// The years that differ, one after the other.
struct Years {
    set: TimeSet,
    calendar: Calendar,
    range: Range<i64>,
    ahead: i64,
    /// The year to look at next.
    year: i32,
    /// The first of the years before it that are all plain.
    plain_since: i32,
    /// Which of the dated parts comes next.
    next_dated: usize,
    /// The years in which a clock does not follow its rule.
    irregular: Vec<i32>,
    /// On which side of its dated parts the year lies, for each leaf that has such parts; asked anew when one was passed.
    sides: Vec<bool>,
    /// What plain years were like, on these sides.
    seen: BTreeMap<Vec<bool>, Vec<bool>>,
    /// The same, where rules count by other numbers than weeks and years.
    counted: BTreeSet<(Vec<bool>, u16, Vec<i64>)>,
}

/// A year can only be told from its neighbours if two on either side are looked at: a window may have begun a year and two days before it,
/// and a span that starts at its end reaches a year and a day further.
const NEIGHBOURS: i32 = 2;

/// How many years the neighbourhood of one can be like, where clocks follow their rule: by the first weekday and which of the five are leap
/// years.
const KINDS: usize = 7 << (2 * NEIGHBOURS + 1);

impl Years {
    fn new(set: TimeSet, calendar: Calendar, range: Range<i64>, ahead: i64) -> Self {
        let (year, ..) = civil::date_of(civil::day_at(range.start));
        let regular = |year: &i32| calendar.zones.iter().all(|zone| zone.is_regular_in(*year));
        let irregular =
            (year - NEIGHBOURS..zone::SETTLED_YEAR).filter(|year| !regular(year)).collect();
        Self {
            irregular,
            sides: sides(&set, begin_of(year)),
            set,
            calendar,
            range,
            ahead,
            year,
            plain_since: year,
            next_dated: 0,
            seen: BTreeMap::new(),
            counted: BTreeSet::new(),
        }
    }

    /// Whether no dated part lies around the year and every clock follows its rule there.
    fn is_plain(&mut self) -> bool {
        let start = begin_of(self.year);
        let dated = &self.calendar.dated;
        let passed = self.next_dated;
        while dated.get(self.next_dated).is_some_and(|part| part.1 < start) {
            self.next_dated += 1;
        }
        if passed != self.next_dated {
            self.sides = sides(&self.set, start);
        }
        let end = begin_of(self.year + 1).saturating_add(self.ahead);
        if dated.get(self.next_dated).is_some_and(|part| part.0 < end) {
            return false;
        }
        let next = self.irregular.partition_point(|year| *year < self.year - NEIGHBOURS);
        self.irregular.get(next).is_none_or(|year| *year > self.year + NEIGHBOURS)
    }

    /// Whether a plain year is like none before it.
    fn is_new(&mut self) -> bool {
        let first = self.year - NEIGHBOURS;
        let mut kind = civil::weekday_of(civil::day_of(first, 1, 1)) as usize;
        for year in first..=self.year + NEIGHBOURS {
            kind = kind << 1 | usize::from(is_leap(year));
        }
        if self.calendar.counts.is_empty() {
            if !self.seen.contains_key(&self.sides) {
                self.seen.insert(self.sides.clone(), vec![false; KINDS]);
            }
            let seen = self.seen.get_mut(&self.sides).and_then(|seen| seen.get_mut(kind));
            return seen.is_none_or(|seen| !std::mem::replace(seen, true));
        }
        let stands = self.calendar.counts.iter().map(|count| match count {
            Count::Days(days) => i64::from(civil::day_of(first, 1, 1)).rem_euclid(*days),
            Count::Months(months) => i64::from(((first - 1970) * 12).rem_euclid(*months)),
        });
        self.counted.insert((self.sides.clone(), kind as u16, stands.collect()))
    }

    /// Passes over years that were all seen a period earlier, up to the next dated part.
    fn pass_over(&mut self) {
        let years = self.calendar.period / i64::from(CYCLE_DAYS) * 400;
        if i64::from(self.year - self.plain_since) >= years {
            let next = self.calendar.dated.get(self.next_dated);
            let next = next.map_or(LAST_YEAR + 1, |part| civil::date_of(civil::day_at(part.0)).0);
            // A span that starts two years before it ends before it.
            self.year = self.year.max(next - NEIGHBOURS);
        }
    }
}

/// The last year of all.
const LAST_YEAR: i32 = 9_999;

impl Iterator for Years {
    type Item = Range<i64>;

    fn next(&mut self) -> Option<Range<i64>> {
        loop {
            self.pass_over();
            let year = self.year;
            let start = begin_of(year).max(self.range.start);
            let range = start..begin_of(year + 1).min(self.range.end);
            if range.is_empty() {
                return None;
            }
            let plain = self.is_plain();
            // Only a part of the first year is looked at: one like it may have more to show.
            let whole = start == begin_of(year);
            let new = !plain || !whole || self.is_new();
            self.year += 1;
            if !plain {
                self.plain_since = self.year;
            }
            if new {
                return Some(range);
            }
        }
    }
}

/// On which side of its dated parts an instant lies, for each leaf that has such parts.
fn sides(set: &TimeSet, at: i64) -> Vec<bool> {
    let mut found = Vec::new();
    add_sides(set, at, &mut found);
    found
}

fn add_sides(set: &TimeSet, at: i64, found: &mut Vec<bool>) {
    match &set.0.kind {
        Kind::Never | Kind::Always => {}
        Kind::Before(_) | Kind::Ranges(_) => found.push(set.has(at)),
        Kind::Schedule(schedule) => found.extend(schedule.sides(at)),
        Kind::Complement(set) | Kind::ClosedEarly(set, _) => add_sides(set, at, found),
        Kind::Union(a, b) | Kind::Intersection(a, b) => {
            add_sides(a, at, found);
            add_sides(b, at, found);
        }
    }
}

fn begin_of(year: i32) -> i64 {
    i64::from(civil::day_of(year, 1, 1)) * DAY
}

fn is_leap(year: i32) -> bool {
    civil::day_of(year + 1, 1, 1) - civil::day_of(year, 1, 1) == 366
}

#[cfg(test)]
mod tests;
