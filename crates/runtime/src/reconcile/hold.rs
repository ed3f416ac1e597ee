//! What is in the way of initiating anything about an object, whatever its gate says? (GATE-11, GATE-13)
//!
//! Asked before each decision, so that a status tells it, and again right before each write that starts a change. The words stay the
//! same for as long as the reason does: a status must not change with the seconds (STAT-3).

use std::{collections::BTreeSet, time::Duration};

use api::{
    kinds,
    schema::{Kind, Role},
};
use tidegate_core::{
    cluster::seen::Seen, document::key::Key, gate::enforced::Enforcement, release::of::Of,
};

use super::Duty;
use crate::store::Store;

/// The furthest that a clock may be from the server's, in seconds. It is measured by headers that tell whole seconds, so it cannot be
/// much less; and windows are minutes long.
const FURTHEST: f64 = 5.0;
/// Who was further is believed to be back only when it is nearer than that by this much: what is measured jumps by a second.
const JUMP: f64 = 1.0;
/// How what is said about a clock begins.
const CLOCK: &str = "the clock of the operator";

/// What is said before the clock was compared with the server's.
const UNTOLD: &str = "the API server has not told what time it is, so nothing is initiated: let the header Date of its answers pass every proxy before it";

/// Whether changes are initiated only where the server was seen refusing one that nobody permitted (GATE-13).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proof {
    /// They are.
    Required,
    /// They are initiated anyway: for sandboxes and tests, whose servers have no admission policy.
    Waived,
}

/// What has to be so before anything is initiated.
#[derive(Clone, Copy, Debug)]
pub(super) struct Terms {
    /// From which age on what is known starts no change.
    pub(super) stale: Duration,
    /// Whether the server must have been seen refusing.
    pub(super) proof: Proof,
}

impl Terms {
    /// Why nothing may be initiated about an object; none if nothing is in the way, or if nothing ever is initiated about its kind.
    /// `skew` is how many seconds our clock is ahead of the server's; none before that was measured, and then the clock may say anything.
    pub(super) fn held_back(
        self,
        duty: &Duty,
        seen: &Seen,
        store: &Store,
        skew: Option<f64>,
    ) -> Option<String> {
        let resting = (duty.rests_on)(seen, store.snapshot());
        if resting.is_empty() {
            return None;
        }
        let key = &seen.identity().key;
        let off = off(skew, store.held_back(key));
        if off.is_some() {
            return off;
        }
        let proof = if is_stock(seen) { Proof::Waived } else { self.proof };
        if proof == Proof::Required && store.enforcement() != Enforcement::Proven {
            return unproven(seen, store);
        }
        let unread = store.unread(key).map(str::to_owned);
        let doubt = unread.or_else(|| store.doubt(needed(duty, &resting), self.stale))?;
        Some(format!("{doubt}, so nothing is initiated"))
    }
}

/// Whether it is a stock control plane (CV-6). What holds that are gates and freezes, which the server judges every write by, ours too: there is no
/// permit of which it had to be seen that the server asks for it.
fn is_stock(seen: &Seen) -> bool {
    match seen {
        Seen::Gated(gated) => gated.plane().is_some_and(|plane| plane.of == Of::Stock),
        Seen::Policy(_) | Seen::Part(_) => false,
    }
}

/// What is wrong with a clock that is so many seconds ahead of the server's, given what was said before.
pub(super) fn off(skew: Option<f64>, before: Option<&str>) -> Option<String> {
    let Some(skew) = skew else {
        return Some(UNTOLD.to_owned());
    };
    let was_off = before.is_some_and(|why| why.starts_with(CLOCK));
    let limit = if was_off { FURTHEST - JUMP } else { FURTHEST };
    let side = if skew.is_sign_positive() { "ahead of" } else { "behind" };
    (skew.abs() > limit).then(|| {
        format!(
            "{CLOCK} is more than {FURTHEST} s {side} the API server's, so nothing is initiated: set the clock of its node right"
        )
    })
}

/// Why an unproven refusal holds everything back.
fn unproven(seen: &Seen, store: &Store) -> Option<String> {
    // Without nodes there is nothing to try it on, and nothing to begin; what is hosted is tried on itself.
    let is_hosted = matches!(seen, Seen::Gated(gated) if gated.hosted.is_some());
    if !is_hosted {
        store.snapshot().of_kind(&kinds::NODE).next()?;
    }
    let Some(enforcement) = store.enforcement_tried() else { return Some(String::new()) };
    let (reason, sentence) = (enforcement.reason(), enforcement.sentence());
    Some(format!("{sentence} ({reason}), so nothing is initiated"))
}

/// The kinds that a decision to initiate rests on: those of the gate's objects, and the nodes and configurations that the row reads.
fn needed(duty: &Duty, resting: &[Key]) -> BTreeSet<&'static Kind> {
    let parts = duty.reads.iter().filter(|row| row.role == Role::Part).map(|row| &row.kind);
    parts.chain(resting.iter().map(Key::kind)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// GATE-11: more than five seconds are too far, and who was too far has to come back to four.
    #[test]
    fn a_clock_is_off_from_five_seconds_on_and_right_again_below_four() {
        let ahead = "the clock of the operator is more than 5 s ahead of the API server's";
        let behind = "the clock of the operator is more than 5 s behind the API server's";
        for (skew, before, expected) in [
            (Some(0.0), None, None),
            (Some(5.0), None, None),
            (Some(-5.0), None, None),
            (Some(5.1), None, Some(ahead)),
            (Some(-5.1), None, Some(behind)),
            (Some(4.5), Some("something else"), None),
            (Some(4.5), Some(ahead), Some(ahead)),
            (Some(-4.5), Some(behind), Some(behind)),
            (Some(5.5), Some(ahead), Some(ahead)),
            (Some(4.0), Some(ahead), None),
            (Some(3.0), Some(ahead), None),
            (None, None, Some("the API server has not told what time it is")),
        ] {
            let found = off(skew, before);
            let told = found.as_deref().zip(expected).is_some_and(|(a, b)| a.starts_with(b));
            assert_eq!(
                (told, found.is_some()),
                (expected.is_some(), expected.is_some()),
                "{skew:?} after {before:?}: {found:?}"
            );
        }
    }
}
