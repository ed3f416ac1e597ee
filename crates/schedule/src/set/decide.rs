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
        Self::proved(kind, Proof::AnyWay)
    }

    /// The same, proved by a walk and in no other way.
    pub(super) fn walked(kind: Kind) -> Self {
        Self::proved(kind, Proof::Walk)
    }

    fn proved(kind: Kind, proof: Proof) -> Self {
        if let Some(simple) = simplified(&kind) {
            return simple;
        }
        let set = Self::leaf(kind);
        let Rhythm { hull, before, after } = set.rhythm();
        let (first, last) = hull.unwrap_or((0, 0));
        let span = |days: Option<i64>| days.map_or(0, |days| days.saturating_mul(DAY));
        // One whole period on either side of what is irregular.
        let eve = first.saturating_sub(1);
        let early = eve.saturating_sub(span(before)).max(Instant::MIN.unix());
        let late = last.saturating_add(span(after)).min(Instant::MAX.unix());
        if proof == Proof::AnyWay
            && late - early > LONG
            && let Some(constant) = set.surely_constant()
        {
            return constant;
        }
        let settled =
            if set.forward(last, late).1 >= late { set.backward(last, early).1 } else { HIGH };
        if settled <= early {
            return if set.has(last) { Self::always() } else { Self::never() };
        }
        let begun =
            if set.backward(eve, early).1 <= early { set.forward(eve, late).1 } else { LOW };
        Self(Arc::new(Node { begun, settled, ..Arc::unwrap_or_clone(set.0) }))
    }
}

/// How a set may be proved constant.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Proof {
    AnyWay,
    Walk,
}

/// A walk of more seconds than these takes longer than estimates do, and they may make it needless.
const LONG: i64 = 100 * 366 * DAY;

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
        Kind::ClosedEarly(set, _) if set.is_always() || set.is_never() => Some(set.clone()),
        Kind::Union(a, b) if a.is_always() || b.is_never() => Some(a.clone()),
        Kind::Union(a, b) if b.is_always() || a.is_never() => Some(b.clone()),
        Kind::Intersection(a, b) if a.is_never() || b.is_always() => Some(a.clone()),
        Kind::Intersection(a, b) if b.is_never() || a.is_always() => Some(b.clone()),
        _ => None,
    }
}
