//! Does this set ever change, and if so, until when?
//!
//! Decided once, when a set is built. Far from its irregular parts a set repeats (the calendar itself does, every 400 years), so one
//! period without a change is proof that none ever comes; no question about it need walk to the end of time.

use std::sync::Arc;

use super::{Kind, Node, TimeSet};
use crate::civil::DAY;
use crate::instant::Instant;
use crate::window::{HIGH, LOW, Rhythm};

impl TimeSet {
    /// The set of this kind, nothing proved about it.
    pub(super) fn leaf(kind: Kind) -> Self {
        Self(Arc::new(Node { kind, label: None, begun: LOW, settled: HIGH }))
    }

    /// The set of this kind, or simply all or nothing if that is what it comes to.
    pub(super) fn decided(kind: Kind) -> Self {
        if let Some(simple) = simplified(&kind) {
            return simple;
        }
        let set = Self::leaf(kind);
        let Rhythm { hull, period } = set.rhythm();
        let (first, last) = hull.unwrap_or((0, 0));
        let span = period.map_or(0, |days| days.saturating_mul(DAY));
        // One whole period on either side of what is irregular.
        let before = first.saturating_sub(1);
        let early = before.saturating_sub(span).max(Instant::MIN.unix());
        let late = last.saturating_add(span).min(Instant::MAX.unix());
        let settled =
            if set.forward(last, late).1 >= late { set.backward(last, early).1 } else { HIGH };
        let begun =
            if set.backward(before, early).1 <= early { set.forward(before, late).1 } else { LOW };
        if settled <= early {
            return if set.has(last) { Self::always() } else { Self::never() };
        }
        Self(Arc::new(Node { begun, settled, ..Arc::unwrap_or_clone(set.0) }))
    }
}

/// What needs no proof: operations with all or nothing, and the complement of a complement.
fn simplified(kind: &Kind) -> Option<TimeSet> {
    match kind {
        Kind::Complement(set) if set.is_always() => Some(TimeSet::never()),
        Kind::Complement(set) if set.is_never() => Some(TimeSet::always()),
        Kind::Ranges(ranges) if ranges.is_empty() => Some(TimeSet::never()),
        Kind::Complement(set) => match &set.0.kind {
            Kind::Complement(inner) => Some(inner.clone()),
            _ => None,
        },
        Kind::Union(a, b) if a.is_always() || b.is_never() => Some(a.clone()),
        Kind::Union(a, b) if b.is_always() || a.is_never() => Some(b.clone()),
        Kind::Intersection(a, b) if a.is_never() || b.is_always() => Some(a.clone()),
        Kind::Intersection(a, b) if b.is_never() || a.is_always() => Some(b.clone()),
        _ => None,
    }
}
