//! What is a policy made of? A tree of parts, each with its set and with the field that it comes from (TIME-2).
//!
//! Whoever explains or draws a policy walks this tree, so several windows, rules of RFC 5545 and parts that must all agree tell what
//! they decide, each by itself, and a front end that makes such parts needs no line elsewhere.

use schedule::{Schedule, TimeSet, Zone};

use crate::policy::exclusion::{Exclusion, windows_without};
pub use crate::policy::recurring::{Days, Recurring};

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
    /// Every instant but these (TIME-10).
    Excluded(Vec<Exclusion>),
    /// A field that opens or shuts by itself, and its sentence.
    Stated(String),
    /// These windows without their last hour (D4-3).
    ClosesEarly(Box<Part>),
    /// Permitted while every one of these permits.
    All(Vec<Part>),
    /// Permitted while one of these permits.
    Any(Vec<Part>),
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

    /// Every instant but these.
    pub fn excluded(
        label: impl Into<String>,
        exclusions: Vec<Exclusion>,
        zone: &Zone,
    ) -> Result<Self, schedule::Error> {
        let set = windows_without(None, &exclusions, zone)?;
        Ok(Self { label: label.into(), set, kind: PartKind::Excluded(exclusions) })
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
            PartKind::ClosesEarly(part) => std::slice::from_ref(part),
            PartKind::Plain
            | PartKind::Nothing
            | PartKind::Everything
            | PartKind::Stated(_)
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
            PartKind::Excluded(exclusions) => Some(exclusions),
            _ => None,
        });
        excluded.flatten()
    }
}
