//! Which days does a policy name? The structured form of a recurrence, as the policies write it.

use crate::date::Date;
use crate::days::{Days, Monthly, Weekly};
use crate::error::Error;
use crate::names::{Month, Ordinal, Weekday};

/// A structured recurrence: the days on which windows start (TIME-4 to TIME-7).
///
/// ```
/// use schedule::{Ordinal, Recurrence, Weekday};
///
/// let weekends = Recurrence::weekly(1, &[Weekday::Saturday, Weekday::Sunday])?;
/// let patch_day = Recurrence::monthly_by_day(1, &[(Ordinal::Second, Weekday::Tuesday)])?;
/// assert!(Recurrence::daily(731).unwrap_err().is_range());
/// assert!(Recurrence::weekly(1, &[]).unwrap_err().is_range());
/// # let _ = (weekends, patch_day);
/// # Ok::<(), schedule::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recurrence(Form);

/// What a [`Recurrence`] says, for readers. Lists are sorted and free of repetitions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Form {
    /// Every n-th day since 1970-01-01 (TIME-4).
    Daily {
        /// How many days apart, 1 to 730.
        interval: u16,
    },
    /// Weekdays of every n-th week (TIME-5).
    Weekly {
        /// How many weeks apart, 1 to 26.
        interval: u16,
        /// Which weekdays.
        days: Vec<Weekday>,
    },
    /// Dates of every n-th month (TIME-6).
    MonthlyByDate {
        /// How many months apart, 1 to 11.
        interval: u16,
        /// Which dates, 1 to 31.
        dates: Vec<u8>,
    },
    /// Weekdays of every n-th month (TIME-6).
    MonthlyByDay {
        /// How many months apart, 1 to 11.
        interval: u16,
        /// Which weekdays of the month.
        days: Vec<(Ordinal, Weekday)>,
    },
    /// Dates of one month of every year (TIME-7).
    YearlyByDate {
        /// Which month.
        month: Month,
        /// Which dates, 1 to 31.
        dates: Vec<u8>,
    },
    /// Weekdays of one month of every year (TIME-7).
    YearlyByDay {
        /// Which month.
        month: Month,
        /// Which weekdays of the month.
        days: Vec<(Ordinal, Weekday)>,
    },
}

impl Recurrence {
    /// Every day: what a permit without a recurrence means (TIME-8).
    pub fn every_day() -> Self {
        Self(Form::Daily { interval: 1 })
    }

    /// Every n-th day, `0 < n < 731` (TIME-4).
    pub fn daily(interval: u16) -> Result<Self, Error> {
        Ok(Self(Form::Daily { interval: within(interval, 731, "days")? }))
    }

    /// Weekdays of every n-th week, `0 < n < 27` (TIME-5).
    pub fn weekly(interval: u16, days: &[Weekday]) -> Result<Self, Error> {
        Ok(Self(Form::Weekly {
            interval: within(interval, 27, "weeks")?,
            days: sorted(days, "weekdays")?,
        }))
    }

    /// Dates of every n-th month, `0 < n < 12` (TIME-6).
    pub fn monthly_by_date(interval: u16, dates: &[u8]) -> Result<Self, Error> {
        Ok(Self(Form::MonthlyByDate {
            interval: within(interval, 12, "months")?,
            dates: dates_of(dates)?,
        }))
    }

    /// Weekdays of every n-th month, `0 < n < 12` (TIME-6).
    pub fn monthly_by_day(interval: u16, days: &[(Ordinal, Weekday)]) -> Result<Self, Error> {
        Ok(Self(Form::MonthlyByDay {
            interval: within(interval, 12, "months")?,
            days: sorted(days, "days")?,
        }))
    }

    /// Dates of one month of the year (TIME-7).
    pub fn yearly_by_date(month: Month, dates: &[u8]) -> Result<Self, Error> {
        Ok(Self(Form::YearlyByDate { month, dates: dates_of(dates)? }))
    }

    /// Weekdays of one month of the year (TIME-7).
    pub fn yearly_by_day(month: Month, days: &[(Ordinal, Weekday)]) -> Result<Self, Error> {
        Ok(Self(Form::YearlyByDay { month, days: sorted(days, "days")? }))
    }

    /// What it says.
    pub fn form(&self) -> &Form {
        &self.0
    }

    /// Whether it names no day that ever comes, such as 30 February (TIME-7).
    pub fn never_fires(&self) -> bool {
        self.days() == Days::Never
    }

    /// The first day it names after a date. None if it never fires again before the year 10000.
    pub fn next_date(&self, after: Date) -> Option<Date> {
        self.days()
            .after(after.days_since_epoch())
            .and_then(|day| Date::from_days_since_epoch(day).ok())
    }

    /// The set of days it denotes.
    pub(crate) fn days(&self) -> Days {
        match &self.0 {
            Form::Daily { interval } => Days::Daily { every: *interval, phase: 0 },
            Form::Weekly { interval, days } => {
                let mask = days.iter().fold(0, |mask, day| mask | 1 << *day as u8);
                Days::Weekly(Weekly::new(*interval, mask))
            }
            Form::MonthlyByDate { interval, dates } => monthly(*interval, 0, mask_of(dates), 0),
            Form::MonthlyByDay { interval, days } => monthly(*interval, 0, 0, lanes_of(days)),
            Form::YearlyByDate { month, dates } => monthly(12, *month as u16, mask_of(dates), 0),
            Form::YearlyByDay { month, days } => monthly(12, *month as u16, 0, lanes_of(days)),
        }
    }
}

fn monthly(every: u16, phase: u16, dates: u32, lanes: u64) -> Days {
    Monthly::new(every, phase, dates, lanes).map_or(Days::Never, Days::Monthly)
}

fn mask_of(dates: &[u8]) -> u32 {
    dates.iter().fold(0, |mask, date| mask | 1 << (date - 1))
}

fn lanes_of(days: &[(Ordinal, Weekday)]) -> u64 {
    days.iter().fold(0, |lanes, (week, day)| lanes | Monthly::lane(*week as u32, *day as u32))
}

fn within(interval: u16, limit: u16, unit: &str) -> Result<u16, Error> {
    if interval == 0 || interval >= limit {
        let most = limit - 1;
        return Err(Error::range(format!(
            "an interval of {interval} {unit} is not between 1 and {most}"
        )));
    }
    Ok(interval)
}

fn dates_of(dates: &[u8]) -> Result<Vec<u8>, Error> {
    if let Some(date) = dates.iter().find(|date| !(1..=31).contains(*date)) {
        return Err(Error::range(format!("{date} is not a date of a month: expected 1 to 31")));
    }
    sorted(dates, "dates")
}

/// An empty list is refused: whether it means none or all is what users of other tools get wrong.
fn sorted<T: Ord + Clone>(items: &[T], what: &str) -> Result<Vec<T>, Error> {
    if items.is_empty() {
        return Err(Error::range(format!("the list of {what} is empty: name at least one")));
    }
    let mut items = items.to_vec();
    items.sort();
    items.dedup();
    Ok(items)
}
