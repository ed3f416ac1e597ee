//! Which arithmetic answers for the rule?
//!
//! Most rules that people write are every n-th day, week or month, and have arithmetic of their own that is faster than tables. The
//! rest is answered by [`Seek`]. Both denote the same days; tests compare them.

use std::sync::Arc;

use super::Rrule;
use super::seek::{Pattern, Seek};
use crate::date::TimeOfDay;
use crate::days::{Bounded, Days, Weekly};
use crate::zone::Zone;

impl Rrule {
    /// The days on which windows start that open at this time in this zone.
    pub(crate) fn days(&self, time: TimeOfDay, zone: &Zone) -> Days {
        let seek = Seek::new(self, time, zone);
        let Some((first, last)) = seek.hull() else {
            return Days::Never;
        };
        let days = self.fast(&seek).unwrap_or_else(|| Days::General(Arc::new(seek)));
        if self.start.is_none() && self.end.is_none() {
            return days;
        }
        Days::Bounded(Arc::new(Bounded { days, first, last, solid: false }))
    }

    /// The rule without its bounds by arithmetic of its own, if there is one.
    fn fast(&self, seek: &Seek) -> Option<Days> {
        match seek.pattern() {
            Pattern::Days { every, anchor } => {
                Some(Days::Daily { every: *every as u16, phase: anchor.rem_euclid(*every) as u16 })
            }
            Pattern::Weeks { every, starts_on, .. } => {
                let days = seek.pattern().weekdays()?;
                Some(Days::Weekly(Weekly::phased(
                    *every as u16,
                    self.anchor(),
                    days,
                    *starts_on as u8,
                )))
            }
            Pattern::Limited { .. } | Pattern::Months { .. } | Pattern::Years { .. } => {
                self.form().ok().map(|recurrence| recurrence.days())
            }
        }
    }
}
