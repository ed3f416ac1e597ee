//! What came of what was sent, and when is an object looked at again?
//!
//! - EXEC-4: what nobody knows the outcome of is read before anything else happens; so is what could not be read before a change (GATE-11).
//! - LIVE-1: whatever failed is tried again, once at once and then after ever longer pauses.
//! - What a lost answer would have told people is told when the object itself shows what became of it.

use std::time::Duration;

use api::schema::Role;
use tidegate_core::{
    cluster::seen::Seen,
    document::{key::Key, patch::StatusPatch},
    gate::{
        note::{Note, Weight},
        plan::Plan,
    },
};

use super::{
    Reconciler,
    execute::{Again, Phase, Step, Took, Unknown, Unsaid},
};
use crate::{
    backoff,
    call::{CallError, Outcome},
    telemetry::ReconcileOutcome,
};

/// What is wrong with an object's last reconciles.
#[derive(Debug, Default)]
pub(super) struct Trouble {
    failures: u32,
    /// The specification that they were about: another one is tried at once.
    pub(super) generation: i64,
    /// What to say once it is known that a write of unknown outcome was carried out.
    unsaid: Unsaid,
    /// What has to be read before anything else, because nobody knows what became of a write to it, or because it could not be read
    /// before one.
    pub(super) unknown: Option<Unknown>,
}

impl Reconciler {
    /// A write or a read has ended.
    pub(super) fn finish(&mut self, took: Took) {
        let Took { key, began, step } = took;
        let verdict = match step {
            Step::Written { seen, before, patch, notes, again } => {
                match &seen {
                    // What waits for a gate goes by its status.
                    Seen::Gated(gated) if gated.gate.is_some() => {
                        self.caches.changed_by_us(&key, seen);
                    }
                    Seen::Policy(_) | Seen::Gated(_) | Seen::Part(_) => {
                        self.caches.answered(&key, seen);
                    }
                }
                self.reports.say(&key, before.identity(), notes, self.clock.exact());
                self.written.insert(key.clone(), digest(&patch));
                if self.is_pruned(&key, &patch) {
                    tracing::warn!(object = %key, "the server keeps less of the status than was written: its definition is older than this build");
                    self.progress.pruned(&key, true);
                    self.fail(&key, self.tempo.refused_at_most, self.tempo.retry_at_most);
                    ReconcileOutcome::Pruned
                } else {
                    self.progress.pruned(&key, false);
                    self.troubles.remove(&key);
                    self.settled(&key);
                    self.go_on(&key, again);
                    ReconcileOutcome::Written
                }
            }
            Step::Acted { before, notes, again } => {
                self.reports.say(&key, before.identity(), notes, self.clock.exact());
                self.troubles.remove(&key);
                self.queue.release(&key);
                self.go_on(&key, again);
                ReconcileOutcome::Written
            }
            Step::Stopped { before, notes } => {
                tracing::info!(object = %key, "a change is not initiated any more: deciding anew");
                self.reports.say(&key, before.identity(), notes, self.clock.exact());
                // Once at once: the next decision knows why, and says so. Never in a circle.
                self.once_more(&key, self.tempo.retry_at_most, Duration::ZERO);
                ReconcileOutcome::Refused
            }
            Step::HeldBack { why } => {
                tracing::warn!(object = %key, why, "a change was not initiated after all");
                self.fail(&key, self.tempo.retry_at_most, Duration::ZERO);
                ReconcileOutcome::Refused
            }
            Step::Read { object, seen } => {
                self.say_start(&key, seen.as_ref());
                if let Some(seen) = seen {
                    self.caches.answered(&object, seen);
                }
                self.caches.store().set_read(&key);
                if let Some(trouble) = self.troubles.get_mut(&key) {
                    trouble.unknown = None;
                }
                // What was read may be what was wanted, or not: decide again, now.
                self.queue.release(&key);
                self.queue.hurry(key);
                return;
            }
            Step::Failed { object, error, unsaid, phase } => {
                self.failed(&key, object, &error, unsaid, phase)
            }
        };
        self.telemetry.reconciled(key.kind().name, verdict, began.elapsed());
    }

    fn failed(
        &mut self,
        key: &Key,
        object: Key,
        error: &CallError,
        unsaid: Unsaid,
        phase: Phase,
    ) -> ReconcileOutcome {
        tracing::warn!(object = %key, at = %object, %error, cause = ?error, "the plan was not carried out");
        let (verdict, pause) = judged(phase, error, object.kind().role);
        // What only touches an object and may not keeps nobody else waiting.
        let touches = object == *key && object.kind().role == Role::Part;
        let pause = if touches && error.code() == Some(403) { Pause::Lasting } else { pause };
        let at_most = match pause {
            Pause::Passing => self.tempo.retry_at_most,
            Pause::Lasting => self.tempo.refused_at_most,
        };
        let first = !self.troubles.contains_key(key);
        if first && touches && pause == Pause::Lasting {
            self.tell_of_refused_touch(key, error);
        }
        let trouble = self.troubles.entry(key.clone()).or_default();
        let since = match (phase, trouble.unknown.take()) {
            (Phase::Reading, Some(before)) => before.since,
            (phase, _) => phase,
        };
        trouble.unknown =
            (verdict != ReconcileOutcome::Refused).then_some(Unknown { object, since });
        if verdict == ReconcileOutcome::Unknown && phase == Phase::Writing {
            trouble.unsaid = unsaid;
        }
        if first && verdict != ReconcileOutcome::Refused {
            // Once at once: most conflicts and lost answers are over by then.
            trouble.failures = 1;
            self.queue.release(key);
            self.queue.hurry(key.clone());
        } else {
            self.fail(key, at_most, error.retry_after());
        }
        verdict
    }

    /// RCH-15: what waits goes on waiting, and somebody has to know.
    fn tell_of_refused_touch(&self, key: &Key, error: &CallError) {
        let store = self.caches.store();
        let Some(seen) = store.snapshot().get(key) else { return };
        let note = Note {
            weight: Weight::Warning,
            reason: "NudgeRefused",
            message: format!(
                "it waits, its gates are open, and the operator could not touch it: {error}"
            ),
        };
        self.reports.say(key, seen.identity(), vec![note], self.clock.exact());
    }

    /// What was done may lead to more, and nobody else will tell.
    fn go_on(&mut self, key: &Key, again: Again) {
        if again == Again::Now {
            self.queue.hurry(key.clone());
        }
    }

    /// An object is looked at again: at once if nothing was wrong with it before, after a while otherwise.
    fn once_more(&mut self, key: &Key, at_most: Duration, at_least: Duration) {
        if self.troubles.contains_key(key) {
            return self.fail(key, at_most, at_least);
        }
        self.troubles.insert(key.clone(), Trouble::default());
        self.queue.release(key);
        self.queue.hurry(key.clone());
    }

    /// An object is left alone for a while.
    pub(super) fn fail(&mut self, key: &Key, at_most: Duration, at_least: Duration) {
        let generation =
            self.caches.store().snapshot().get(key).map_or(0, |seen| seen.identity().generation);
        let trouble = self.troubles.entry(key.clone()).or_default();
        trouble.generation = generation;
        let seed = backoff::spread(key.to_string().as_bytes());
        let delay = backoff::delay(self.tempo.retry, at_most, trouble.failures, seed);
        trouble.failures = trouble.failures.saturating_add(1);
        self.queue.release(key);
        self.queue.delay(key, delay.max(at_least));
        if key.is_policy() {
            // Those who waited for this policy wait no longer.
            self.settled(key);
        }
    }

    /// Whether deciding again, from the very answer of the server, wants the same written again.
    fn is_pruned(&self, key: &Key, patch: &StatusPatch) -> bool {
        let Some((Ok(Plan { status: Some(again), .. }), _)) = self.decide(key) else {
            return false;
        };
        // The first operation is the version.
        again.operations.iter().skip(1).eq(patch.operations.iter().skip(1))
    }

    /// Sends the events of a status whose write failed, now that the object reads as it should.
    pub(super) fn tell_what_was_left_untold(&mut self, key: &Key, seen: &Seen) {
        if let Some(trouble) = self.troubles.remove(key) {
            if let Unsaid::Status(notes) = trouble.unsaid {
                self.reports.say(key, seen.identity(), notes, self.clock.exact());
            }
            self.progress.pruned(key, false);
        }
    }

    /// Tells of a start whose answer was lost, now that the object itself tells what became of it (GATE-7).
    fn say_start(&mut self, key: &Key, written: Option<&Seen>) {
        let Some(trouble) = self.troubles.get_mut(key) else { return };
        let Unsaid::Start { .. } = trouble.unsaid else { return };
        let Unsaid::Start { change, note } = std::mem::take(&mut trouble.unsaid) else { return };
        if !written.is_some_and(|written| written.goes_to(&change)) {
            return;
        }
        if let Some(planned) = self.caches.store().snapshot().get(key) {
            self.reports.say(key, planned.identity(), vec![note], self.clock.exact());
        }
    }
}

/// How long a failure may last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pause {
    /// It passes by itself.
    Passing,
    /// Until somebody acts.
    Lasting,
}

/// What a failure of a request about an object of this role means. What was not refused has to be read before anything else (EXEC-4).
fn judged(phase: Phase, error: &CallError, role: Role) -> (ReconcileOutcome, Pause) {
    match (phase, error.code(), error.outcome(), role) {
        (Phase::Reading, ..) | (_, _, Outcome::Unknown, _) => {
            (ReconcileOutcome::Unknown, Pause::Passing)
        }
        (_, Some(409), ..) => (ReconcileOutcome::Conflict, Pause::Passing),
        // The trouble of one node must not keep its whole pool waiting.
        (_, Some(429), ..) | (_, _, _, Role::Part) => (ReconcileOutcome::Refused, Pause::Passing),
        (_, _, Outcome::NotDone, _) => (ReconcileOutcome::Refused, Pause::Lasting),
    }
}

/// What a patch writes, whatever version it was made from.
pub(super) fn digest(patch: &StatusPatch) -> u64 {
    let operations = patch.operations.iter().skip(1).map(ToString::to_string);
    backoff::spread(operations.collect::<Vec<_>>().join("\n").as_bytes())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// EXEC-4, LIVE-1: what is read back, and what waits for long.
    #[test]
    fn a_failure_is_judged_by_what_may_have_happened_and_whom_it_concerns() {
        let refused = |code: u16| CallError::Refused {
            code,
            reason: String::new(),
            message: String::new(),
            retry_after: None,
        };
        let late = || CallError::Late(Duration::from_secs(10));
        let (whole, part) = (Role::Policy, Role::Part);
        for (phase, error, role, expected) in [
            (Phase::Writing, refused(409), whole, (ReconcileOutcome::Conflict, Pause::Passing)),
            (Phase::Writing, refused(409), part, (ReconcileOutcome::Conflict, Pause::Passing)),
            (Phase::Writing, refused(503), whole, (ReconcileOutcome::Unknown, Pause::Passing)),
            (Phase::Writing, late(), part, (ReconcileOutcome::Unknown, Pause::Passing)),
            (Phase::Writing, refused(429), whole, (ReconcileOutcome::Refused, Pause::Passing)),
            (Phase::Writing, refused(403), part, (ReconcileOutcome::Refused, Pause::Passing)),
            (Phase::Writing, refused(403), whole, (ReconcileOutcome::Refused, Pause::Lasting)),
            (
                Phase::Writing,
                CallError::Unchanged,
                whole,
                (ReconcileOutcome::Refused, Pause::Lasting),
            ),
            (Phase::Reading, refused(403), whole, (ReconcileOutcome::Unknown, Pause::Passing)),
            (Phase::Reading, refused(409), whole, (ReconcileOutcome::Unknown, Pause::Passing)),
        ] {
            assert_eq!(judged(phase, &error, role), expected, "{phase:?} {error:?} {role:?}");
        }
    }
}
