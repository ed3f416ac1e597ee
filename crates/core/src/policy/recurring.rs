//! What comes again and again? Days, a time of day, a length and whose clock it is: what opens windows, and what excludes from them.

use schedule::{Length, Recurrence, Rrule, TimeOfDay, Windows, Zone};

/// Windows that recur, or exclusions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recurring {
    /// The days on which one opens.
    pub days: Days,
    /// When it opens.
    pub start: TimeOfDay,
    /// How long it stays open.
    pub length: Length,
    /// Whose days and times these are.
    pub zone: Zone,
}

/// The days on which windows open, as their author wrote them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Days {
    /// In the structured form.
    Recurrence(Recurrence),
    /// As a rule of RFC 5545.
    Rrule(Box<Rrule>),
}

impl Recurring {
    /// Its windows.
    pub(crate) fn windows(&self) -> Result<Windows, schedule::Error> {
        let Self { days, start, length, zone } = self;
        match days {
            Days::Recurrence(recurrence) => Windows::new(recurrence, *start, *length, zone.clone()),
            Days::Rrule(rule) => Windows::from_rrule(rule, *start, *length, zone.clone()),
        }
    }
}
