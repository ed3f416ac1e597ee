//! Is a set constant, as far as its wall clock can tell?
//!
//! Two sets that are made like this one, of leaves that are simpler, enclose it: if the larger one is empty so is the set, and if the
//! smaller one is everything so is the set (TIME-14).

use super::{Kind, TimeSet};
use crate::window::Estimate;
use crate::zone::Zone;

impl TimeSet {
    /// All or nothing, if the estimates show that it is. Otherwise it may still be.
    pub(super) fn surely_constant(&self) -> Option<Self> {
        // A schedule alone has asked its windows already.
        let (Kind::Union(..) | Kind::Intersection(..)) = &self.0.kind else { return None };
        let zone = self.zone()?;
        if self.estimate(zone, Estimate::AtMost).is_never() {
            return Some(Self::never());
        }
        self.estimate(zone, Estimate::AtLeast).is_always().then(Self::always)
    }

    /// The zone of the first schedule in it.
    fn zone(&self) -> Option<&Zone> {
        match &self.0.kind {
            Kind::Never | Kind::Always | Kind::Before(_) | Kind::Ranges(_) => None,
            Kind::Schedule(schedule) => Some(schedule.zone()),
            Kind::Complement(set) | Kind::ClosedEarly(set, _) => set.zone(),
            Kind::Union(a, b) | Kind::Intersection(a, b) => a.zone().or_else(|| b.zone()),
        }
    }

    /// A set of what the wall clock of a zone reads: at most or at least what it reads at the instants inside this set.
    fn estimate(&self, zone: &Zone, estimate: Estimate) -> Self {
        let part = |set: &Self| set.estimate(zone, estimate);
        match &self.0.kind {
            Kind::Never => Self::never(),
            Kind::Always => Self::always(),
            Kind::Schedule(schedule) if schedule.zone() == zone => {
                Self::walked(Kind::Schedule(schedule.estimate(estimate)))
            }
            // Of what another clock tells, this one knows nothing.
            Kind::Schedule(_) | Kind::Before(_) | Kind::Ranges(_) => match estimate {
                Estimate::AtMost => Self::always(),
                Estimate::AtLeast => Self::never(),
            },
            Kind::Complement(set) => {
                Self::walked(Kind::Complement(set.estimate(zone, estimate.opposite())))
            }
            // It is never more than what it is made of; how much less depends on stretches that an estimate does not know.
            Kind::ClosedEarly(set, _) => match estimate {
                Estimate::AtMost => part(set),
                Estimate::AtLeast => Self::never(),
            },
            Kind::Union(a, b) => Self::walked(Kind::Union(part(a), part(b))),
            Kind::Intersection(a, b) => Self::walked(Kind::Intersection(part(a), part(b))),
        }
    }
}
