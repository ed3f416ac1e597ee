//! What will stand in the way of the update that waits? Remembered until something changes that it rests on, or a gate opens or shuts
//! (CV-3).

use std::cell::RefCell;

use schedule::Instant;
use tidegate_core::{cluster::snapshot::Snapshot, simulate::foresight::Kept, skew};

/// What was foreseen last.
#[derive(Debug, Default)]
pub(super) struct Forecasts {
    kept: RefCell<Option<Kept>>,
    made: RefCell<u64>,
}

impl Forecasts {
    /// What is foreseen at an instant.
    pub(super) fn at(&self, snapshot: &Snapshot, now: Instant) -> skew::Foresight {
        let mut kept = self.kept.borrow_mut();
        let kept = match &mut *kept {
            Some(kept) if kept.holds(snapshot, now) => kept,
            stale => {
                *self.made.borrow_mut() += 1;
                stale.insert(Kept::new(snapshot, now))
            }
        };
        kept.answer().clone()
    }

    /// How many forecasts were made.
    pub(super) fn made(&self) -> u64 {
        *self.made.borrow()
    }
}
