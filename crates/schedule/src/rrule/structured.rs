//! Which structured recurrence says the same, and if none does, why not?
//!
//! The question is decided by meaning and not by spelling: the days the rule selects in months of every shape are compared with
//! those of the structured forms. So `BYDAY=MO;BYSETPOS=-1`, `BYDAY=-1MO` and `BYDAY=MO;BYMONTHDAY=-1,…,-7` are all the Last Monday.

mod month;

use month::{Cases, dates_of, weekdays_of};

use super::seek::{ALL_MONTHS, Pattern, Seek};
use super::{ByDay, End, Frequency, Rrule};
use crate::civil::{self, Shape};
use crate::date::Date;
use crate::error::Error;
use crate::names::{Month, Ordinal, Weekday};
use crate::recurrence::{Form, Recurrence};

/// So many months from the epoch on hold every shape of year: 28 years without a century among them.
const SAMPLE: i32 = 28 * 12;

/// What a rule is in structured form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lowered {
    /// The recurrence that fires on the same days, from the rule's beginning on.
    pub recurrence: Recurrence,
    /// Where the rule begins, which the structured form cannot say. None if it begins with the epoch or has no beginning (TIME-3).
    pub begins: Option<Date>,
}

impl Rrule {
    /// The structured form of the rule. An error says which part has none and why; its position is a byte of the rule as it
    /// prints.
    ///
    /// ```
    /// use schedule::{Ordinal, Recurrence, Rrule, Weekday};
    ///
    /// let rule = Rrule::parse("FREQ=MONTHLY;BYDAY=MO;BYSETPOS=-1")?;
    /// let last_monday = Recurrence::monthly_by_day(1, &[(Ordinal::Last, Weekday::Monday)])?;
    /// assert_eq!(rule.recurrence()?.recurrence, last_monday);
    ///
    /// let error = Rrule::parse("FREQ=DAILY;COUNT=3")?.recurrence().unwrap_err();
    /// assert!(error.is_unsupported());
    /// # Ok::<(), schedule::Error>(())
    /// ```
    pub fn recurrence(&self) -> Result<Lowered, Error> {
        match &self.end {
            Some(End::Count(_)) => {
                return Err(self.refuse("COUNT", "the structured form has no end: it cannot count"));
            }
            Some(End::Until(_)) => {
                return Err(self.refuse("UNTIL", "the structured form has no end"));
            }
            None => {}
        }
        let begins = self.start_date().filter(|date| date.days_since_epoch() > 0);
        Ok(Lowered { recurrence: self.form()?, begins })
    }

    /// The rule that fires on the days of a structured recurrence. It has no DTSTART: see [`Rrule::anchored`].
    pub fn from_recurrence(recurrence: &Recurrence) -> Self {
        let rule = |frequency, interval: u16| Self {
            start: None,
            frequency,
            interval: (interval > 1).then_some(interval),
            end: None,
            week_start: None,
            by_month: Vec::new(),
            by_day: Vec::new(),
            by_month_day: Vec::new(),
            by_set_pos: Vec::new(),
        };
        let dates_in = |dates: &[u8]| dates.iter().map(|date| *date as i8).collect();
        let days_in = |days: &[(Ordinal, Weekday)]| {
            let by_day = |(week, weekday): &(Ordinal, Weekday)| ByDay {
                ordinal: if *week == Ordinal::Last { -1 } else { *week as i8 + 1 },
                weekday: *weekday,
            };
            days.iter().map(by_day).collect()
        };
        let month_in = |month: Month| vec![month as u8 + 1];
        match recurrence.form() {
            Form::Daily { interval } => rule(Frequency::Daily, *interval),
            Form::Weekly { interval, days } => Self {
                by_day: days
                    .iter()
                    .map(|weekday| ByDay { ordinal: 0, weekday: *weekday })
                    .collect(),
                ..rule(Frequency::Weekly, *interval)
            },
            Form::MonthlyByDate { interval, dates } => {
                Self { by_month_day: dates_in(dates), ..rule(Frequency::Monthly, *interval) }
            }
            Form::MonthlyByDay { interval, days } => {
                Self { by_day: days_in(days), ..rule(Frequency::Monthly, *interval) }
            }
            Form::YearlyByDate { month, dates } => Self {
                by_month: month_in(*month),
                by_month_day: dates_in(dates),
                ..rule(Frequency::Yearly, 1)
            },
            Form::YearlyByDay { month, days } => Self {
                by_month: month_in(*month),
                by_day: days_in(days),
                ..rule(Frequency::Yearly, 1)
            },
        }
    }

    /// The recurrence that fires on the same days if beginning and end are left aside.
    pub(super) fn form(&self) -> Result<Recurrence, Error> {
        let interval = self.interval.unwrap_or(1);
        let seek = Seek::sample(self, 0, civil::first_day_of_month(SAMPLE));
        match seek.pattern() {
            Pattern::Days { anchor, .. } => {
                self.at_most(730, "daily")?;
                self.in_phase(anchor % i32::from(interval) == 0)?;
                Recurrence::daily(interval)
            }
            Pattern::Weeks { months: ALL_MONTHS, .. } if interval > 1 => {
                self.at_most(26, "weekly")?;
                self.weekly(interval, &seek)
            }
            Pattern::Months { anchor, months: ALL_MONTHS, shapes, .. } if interval > 1 => {
                if interval == 12 {
                    return self.of_the_year(&seek);
                }
                self.at_most(11, "monthly")?;
                self.in_phase(anchor % i32::from(interval) == 0)?;
                let cases = (0..).map(Shape::from_index).zip(shapes.iter().copied()).collect();
                named(interval, &cases).unwrap_or_else(|| Err(self.inexpressible()))
            }
            Pattern::Months { every, .. } if 12 % every != 0 => Err(self.inexpressible()),
            Pattern::Limited { .. } | Pattern::Weeks { .. } | Pattern::Years { .. }
                if interval > 1 =>
            {
                Err(self.inexpressible())
            }
            Pattern::Limited { .. }
            | Pattern::Weeks { .. }
            | Pattern::Months { .. }
            | Pattern::Years { .. } => self.of_the_year(&seek),
        }
    }

    /// Weekdays of every n-th week, if the weeks are those that the structured form counts (TIME-5).
    fn weekly(&self, interval: u16, seek: &Seek) -> Result<Recurrence, Error> {
        let every = i32::from(interval);
        let mut weekdays = Vec::new();
        for day in seek.days_of(0, 7 * every) {
            self.in_phase((day + 3).div_euclid(7) % every == 0)?;
            weekdays.push(weekday_of(day));
        }
        if weekdays.is_empty() {
            return Err(self.never_fires());
        }
        Recurrence::weekly(interval, &weekdays)
    }

    /// The form of a rule that is the same in all years of one shape.
    fn of_the_year(&self, seek: &Seek) -> Result<Recurrence, Error> {
        // What each month of the year holds, by its shape.
        let mut year: [Cases; 12] = Default::default();
        for month in 0..SAMPLE {
            let begins = civil::first_day_of_month(month);
            let shape = civil::shape_at(civil::cycle_index(month));
            let days = seek.days_of(begins, begins + shape.days() as i32);
            let mask = days.fold(0, |mask, day| mask | 1 << (day - begins));
            if let Some(cases) = year.get_mut(month.rem_euclid(12) as usize)
                && !cases.add(shape, mask)
            {
                return Err(self.inexpressible());
            }
        }
        let mut whole = Cases::default();
        if year.iter().all(|cases| whole.merge(cases))
            && let Some(weekdays) = month::whole_weeks(&whole)
        {
            return match weekdays.len() {
                7 => Ok(Recurrence::every_day()),
                _ => Recurrence::weekly(1, &weekdays),
            };
        }
        for interval in [1, 2, 3, 4, 6] {
            let mut counting = Cases::default();
            let alike = (0_u16..).zip(&year).all(|(month, cases)| {
                if month % interval == 0 { counting.merge(cases) } else { cases.are_empty() }
            });
            if alike && let Some(recurrence) = named(interval, &counting) {
                return recurrence;
            }
        }
        let mut firing = Month::ALL.iter().zip(&year).filter(|(_, cases)| !cases.are_empty());
        match (firing.next(), firing.next()) {
            (Some((month, cases)), None) => {
                if let Some(dates) = dates_of(cases) {
                    Recurrence::yearly_by_date(*month, &dates)
                } else if let Some(days) = weekdays_of(cases) {
                    Recurrence::yearly_by_day(*month, &days)
                } else {
                    Err(self.inexpressible())
                }
            }
            (None, _) => self.impossible_date(),
            _ => Err(self.inexpressible()),
        }
    }

    /// The form of a rule that never fires, if it is a date such as 30 February (TIME-7).
    fn impossible_date(&self) -> Result<Recurrence, Error> {
        let month = match self.by_month.as_slice() {
            [month] => Month::ALL.get(usize::from(*month) - 1),
            _ => None,
        };
        let dates: Option<Vec<u8>> =
            self.by_month_day.iter().map(|date| u8::try_from(*date).ok()).collect();
        month
            .zip(dates)
            .and_then(|(month, dates)| Recurrence::yearly_by_date(*month, &dates).ok())
            .filter(Recurrence::never_fires)
            .ok_or_else(|| self.never_fires())
    }

    fn at_most(&self, most: u16, kind: &str) -> Result<(), Error> {
        if self.interval.is_some_and(|interval| interval > most) {
            let message = format!("the structured form has {kind} intervals from 1 to {most}");
            return Err(self.refuse("INTERVAL", message));
        }
        Ok(())
    }

    /// The structured form counts from 1970-01-01, in weeks that begin on Monday (TIME-3, TIME-5).
    fn in_phase(&self, fits: bool) -> Result<(), Error> {
        if fits {
            return Ok(());
        }
        let interval = self.interval();
        let (part, from) =
            if self.start.is_some() { ("DTSTART", "DTSTART") } else { ("WKST", "WKST") };
        let message = format!(
            "every {interval} {} by {from} are not those counted from 1970-01-01, as the structured form counts",
            match self.frequency {
                Frequency::Daily => "days",
                Frequency::Weekly => "weeks",
                Frequency::Monthly => "months",
                Frequency::Yearly => "years",
            }
        );
        Err(self.refuse(part, message))
    }

    fn never_fires(&self) -> Error {
        self.refuse("FREQ", "the rule never fires, and no structured form says so")
    }

    /// Which part stands in the way. Asked only of rules that have no structured form.
    fn inexpressible(&self) -> Error {
        let ordinals = || self.by_day.iter().map(|by_day| by_day.ordinal);
        let of_year = self.frequency == Frequency::Yearly && self.by_month.is_empty();
        if self.frequency == Frequency::Yearly && self.interval() > 1 {
            self.refuse("INTERVAL", "the structured form repeats a month of the year every year")
        } else if self.frequency == Frequency::Daily && self.interval() > 1 {
            let message = "the structured form does not limit every n-th day to some weekdays, dates or months";
            self.refuse("INTERVAL", message)
        } else if !self.by_set_pos.is_empty() {
            let message = "BYSETPOS chooses from several days together; the structured form counts each weekday by itself, from First to Fifth and Last";
            self.refuse("BYSETPOS", message)
        } else if !self.by_day.is_empty() && !self.by_month_day.is_empty() {
            let message = "the structured form has dates or weekdays of a month, not weekdays that fall on some dates";
            self.refuse("BYMONTHDAY", message)
        } else if of_year && ordinals().any(|ordinal| ordinal != 0) {
            let message = "the structured form counts weekdays within a month, not within the year";
            self.refuse("BYDAY", message)
        } else if ordinals().any(|ordinal| ordinal < -1) {
            let message = "the structured form counts weekdays from the end of the month only as Last, which is -1";
            self.refuse("BYDAY", message)
        } else if self.by_month_day.iter().any(|date| *date < 0) {
            let message = "the structured form counts dates from the beginning of the month, and months differ in length";
            self.refuse("BYMONTHDAY", message)
        } else if !self.by_month.is_empty() {
            let message =
                "the structured form has one month of the year, or every n-th month from January";
            self.refuse("BYMONTH", message)
        } else {
            self.refuse("FREQ", "the structured form has no such recurrence")
        }
    }

    /// The part has no structured form, for this reason. Points at the part as the rule prints.
    fn refuse(&self, part: &str, reason: impl Into<String>) -> Error {
        let text = self.to_string();
        let names = [format!("{part}="), part.to_owned(), "FREQ=".to_owned()];
        let position = names.iter().find_map(|name| text.find(name.as_str()));
        Error::unsupported(reason).at(position.unwrap_or(0))
    }
}

/// Days of every n-th month, given for each shape that it has, if there is a name for them.
fn named(interval: u16, cases: &Cases) -> Option<Result<Recurrence, Error>> {
    if let Some(dates) = dates_of(cases) {
        return Some(Recurrence::monthly_by_date(interval, &dates));
    }
    weekdays_of(cases).map(|days| Recurrence::monthly_by_day(interval, &days))
}

fn weekday_of(day: i32) -> Weekday {
    let known = Weekday::ALL.get(civil::weekday_of(day) as usize);
    known.copied().unwrap_or(Weekday::Monday)
}

#[cfg(test)]
mod tests;
