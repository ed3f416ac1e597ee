//! What is a policy made of? A tree of parts, each with its set and with the field that it comes from (TIME-2).
//!
//! Whoever explains or draws a policy walks this tree, so several windows, rules of RFC 5545 and parts that must all agree tell what
//! they decide, each by itself, and a front end that makes such parts needs no line elsewhere.

use schedule::{Exclusion, Length, Recurrence, Rrule, Schedule, TimeOfDay, TimeSet, Windows, Zone};

/// A part of what a policy means.
#[derive(Clone, Debug)]
pub struct Part {
    /// The field that says it, such as `spec.maintenanceSchedule.permit`.
    pub label: String,
    /// When it permits changes.
    pub set: TimeSet,
    /// What it is.
    pub kind: PartKind,
}

/// What a part is.
#[derive(Clone, Debug)]
pub enum PartKind {
    /// All time or none: there is nothing to add to the strategy that says so.
    Plain,
    /// Nothing is scheduled, so nothing is permitted (TIME-11).
    Nothing,
    /// No windows are given, so whatever nobody excludes is permitted (TIME-11).
    Everything,
    /// Windows that recur.
    Windows(Recurring),
    /// Every instant but these days of a zone (TIME-10).
    Excluded(Vec<Exclusion>, Zone),
    /// Permitted while every one of these permits.
    All(Vec<Part>),
    /// Permitted while one of these permits.
    Any(Vec<Part>),
}

/// Windows that recur.
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

impl Part {
    /// All time.
    pub fn always() -> Self {
        Self { label: String::new(), set: TimeSet::always(), kind: PartKind::Plain }
    }

    /// No time.
    pub fn never() -> Self {
        Self { label: String::new(), set: TimeSet::never(), kind: PartKind::Plain }
    }

    /// Windows that recur.
    pub fn windows(
        label: impl Into<String>,
        recurring: Recurring,
    ) -> Result<Self, schedule::Error> {
        let zone = recurring.zone.clone();
        let set = TimeSet::from(Schedule::new(Some(recurring.windows()?), &[], &zone)?);
        Ok(Self { label: label.into(), set, kind: PartKind::Windows(recurring) })
    }

    /// Every instant but these days.
    pub fn excluded(
        label: impl Into<String>,
        exclusions: Vec<Exclusion>,
        zone: Zone,
    ) -> Result<Self, schedule::Error> {
        let set = TimeSet::from(Schedule::new(None, &exclusions, &zone)?);
        Ok(Self { label: label.into(), set, kind: PartKind::Excluded(exclusions, zone) })
    }

    /// What all of these permit.
    pub fn all(label: impl Into<String>, parts: Vec<Self>) -> Self {
        let sets = parts.iter().map(|part| part.set.clone());
        let set = sets.reduce(TimeSet::intersection).unwrap_or_else(TimeSet::never);
        Self { label: label.into(), set, kind: PartKind::All(parts) }
    }

    /// What any of these permits.
    pub fn any(label: impl Into<String>, parts: Vec<Self>) -> Self {
        let sets = parts.iter().map(|part| part.set.clone());
        let set = sets.reduce(TimeSet::union).unwrap_or_else(TimeSet::never);
        Self { label: label.into(), set, kind: PartKind::Any(parts) }
    }

    /// This part and those it is made of, the whole before its parts.
    pub fn walk(&self) -> Box<dyn Iterator<Item = &Self> + '_> {
        let below: &[Self] = match &self.kind {
            PartKind::All(parts) | PartKind::Any(parts) => parts,
            PartKind::Plain
            | PartKind::Nothing
            | PartKind::Everything
            | PartKind::Windows(_)
            | PartKind::Excluded(..) => &[],
        };
        Box::new(std::iter::once(self).chain(below.iter().flat_map(Self::walk)))
    }

    /// Every kind of windows in it, in the order they were written.
    pub fn recurring(&self) -> impl Iterator<Item = &Recurring> {
        self.walk().filter_map(|part| match &part.kind {
            PartKind::Windows(recurring) => Some(recurring),
            _ => None,
        })
    }

    /// Every exclusion in it, in the order they were written.
    pub fn exclusions(&self) -> impl Iterator<Item = &Exclusion> {
        let excluded = self.walk().filter_map(|part| match &part.kind {
            PartKind::Excluded(exclusions, _) => Some(exclusions),
            _ => None,
        });
        excluded.flatten()
    }
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
