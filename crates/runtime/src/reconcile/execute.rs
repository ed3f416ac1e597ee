//! How is a plan carried out? As it stands, in its order, once, under the versions it was made from.
//!
//! The first thing that fails ends it: what comes after was decided for a world in which that had worked. Some
//! writes are the affair of their object alone: one that the server refuses is passed over, and neither the others nor the status wait for
//! it (LIVE-3).
//!
//! GATE-11: what starts a change is asked about again right before ([`fresh`]).

use std::sync::Arc;

use futures_util::future::{BoxFuture, FutureExt as _};
use tidegate_core::{
    cluster::seen::Seen,
    document::{key::Key, patch::StatusPatch},
    gate::{
        action::{Initiation, Owner, Refused, Right, Write},
        change::ChangeId,
        note::Note,
        plan::Plan,
        refusal::Refusal,
    },
};
use tokio::{sync::watch, time::Instant};
use tracing::Instrument as _;

use super::{
    Duty,
    act::{self, Acted},
    fresh::{self, Asked},
    hold::Terms,
};
use crate::{
    caches::Caches,
    call::{CallError, Cluster, Outcome, Patch},
    key::status_path,
    lease::Leadership,
    report::Reports,
};

/// What carrying out needs.
#[derive(Debug)]
pub(super) struct Hands {
    pub(super) cluster: Cluster,
    pub(super) caches: Arc<Caches>,
    pub(super) reports: Reports,
    /// What decided, and decides again.
    pub(super) duty: Duty,
    pub(super) terms: Terms,
    /// Who led when this was decided.
    pub(super) led: Leadership,
    pub(super) leadership: watch::Receiver<Leadership>,
}

impl Hands {
    /// Whether this replica still leads, without a break since it decided.
    pub(super) fn still_leads(&self) -> bool {
        *self.leadership.borrow() == self.led
    }
}

/// What one step took, and brought.
#[derive(Debug)]
pub(super) struct Took {
    pub(super) key: Key,
    pub(super) began: Instant,
    pub(super) step: Step,
}

/// What a step brought.
#[derive(Debug)]
pub(super) enum Step {
    /// The status was written; the answer is what the server kept.
    Written { seen: Seen, before: Seen, patch: StatusPatch, notes: Vec<Note>, again: Again },
    /// Everything was done, and there was no status to write.
    Acted { before: Seen, notes: Vec<Note>, again: Again },
    /// Changes that were decided are not right any more, and were not initiated.
    Stopped { before: Seen, notes: Vec<Note> },
    /// A change was not initiated: its permit has ended, or it is too early by the server's clock.
    HeldBack { why: String },
    /// An object was read; none if it is gone.
    Read { object: Key, seen: Option<Seen> },
    /// It failed, at this object.
    Failed { object: Key, error: CallError, unsaid: Unsaid, phase: Phase },
}

/// What people are to be told if it turns out that a write of unknown outcome was carried out.
#[derive(Debug, Default)]
pub(super) enum Unsaid {
    #[default]
    Nothing,
    /// Once the status reads as it should.
    Status(Vec<Note>),
    /// Once the object is seen with this change before it.
    Start { change: ChangeId, note: Note },
}

/// When to look again after everything was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Again {
    /// Now: the answers are known, and nobody else will tell.
    Now,
    /// When the news of what was created arrives.
    OnNews,
}

/// What was tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Writing,
    Reading,
}

/// Does what a plan says, and then writes the status.
pub(super) fn carry_out(
    hands: Hands,
    key: Key,
    before: Seen,
    plan: Plan,
    began: Instant,
) -> BoxFuture<'static, Took> {
    let generation = before.identity().generation;
    let span = tracing::info_span!("reconcile", object = %key, generation, verb = "execute");
    async move {
        let step = steps(&hands, &key, before, plan).await;
        Took { key, began, step }
    }
    .instrument(span)
    .boxed()
}

async fn steps(hands: &Hands, key: &Key, before: Seen, plan: Plan) -> Step {
    let Plan { actions, status, notes, .. } = plan;
    let mut again = Again::OnNews;
    let mut created = false;
    let mut refused = None;
    let mut news = false;
    let mut starts = Starts::Sent;
    for action in actions {
        let action = match action.right {
            Right::Upkeep => action,
            Right::Initiates(_) if starts == Starts::Stopped => continue,
            Right::Initiates(_) => match fresh::ask_again(hands, key, &action).await {
                Asked::Go(fresh) => *fresh,
                Asked::PassOver => {
                    starts = Starts::PassedOver;
                    continue;
                }
                Asked::Stop => {
                    starts = Starts::Stopped;
                    continue;
                }
                Asked::Lost { object, error } => {
                    let unsaid = Unsaid::Nothing;
                    return Step::Failed { object, error, unsaid, phase: Phase::Reading };
                }
            },
        };
        match act::act(hands, key, &action).await {
            Acted::Done => {
                if let Some(started) = action.initiation() {
                    let (told, at) = (vec![started.note.clone()], hands.cluster.clock().exact());
                    hands.reports.say(key, before.identity(), told, at);
                    hands.caches.store().accept(&action.target);
                } else if action.target == *key && hands.caches.store().accept(key) {
                    hands.caches.turned(key);
                }
            }
            Acted::HeldBack(why) => return Step::HeldBack { why },
            Acted::Failed { object, error } if is_passed_over(action.refused, &error) => {
                let change = action.initiation().map(|started| started.change.clone());
                let (starts, touches) = (change.is_some(), action.target == *key);
                if error.code() != Some(409) && (starts || touches) {
                    let refusal = Refusal { change, said: said(&error) };
                    let is_new = hands.caches.store().refuse(&action.target, refusal);
                    news |= is_new && starts;
                    if is_new && touches {
                        hands.caches.turned(key);
                    }
                }
                refused = refused.or(Some((object, error)));
                continue;
            }
            Acted::Failed { object, error } => {
                let unsaid = action.initiation().map_or(Unsaid::Nothing, |started| {
                    let Initiation { change, note, .. } = started.clone();
                    Unsaid::Start { change, note }
                });
                return Step::Failed { object, error, unsaid, phase: Phase::Writing };
            }
        }
        match action.write {
            Write::Create(_) => created = true,
            // The news tells.
            Write::Delete { .. } => {}
            Write::JsonPatch(_)
            | Write::MergePatch(_)
            | Write::MergePatchBy(..)
            | Write::Apply(..) => again = Again::Now,
        }
    }
    if starts != Starts::Sent {
        // What was decided is not so any more; and what it would tell, the next decision tells too.
        let notes = if status.is_some() { Vec::new() } else { notes };
        return Step::Stopped { before, notes };
    }
    if news {
        // What was decided does not tell of the refusal yet; and what it would tell, the next decision tells too.
        let notes = if status.is_some() { Vec::new() } else { notes };
        return Step::Acted { before, notes, again: Again::Now };
    }
    // A status that was decided without what was just created would be taken back with the news of it.
    let step = match status.filter(|_| !created) {
        Some(patch) => write_status(hands, key, before, (patch, notes, again)).await,
        None => Step::Acted { before, notes, again },
    };
    match (step, refused) {
        (Step::Written { seen, before, notes, .. }, Some((object, error))) => {
            hands.reports.say(key, before.identity(), notes, hands.cluster.clock().exact());
            hands.caches.answered(key, seen);
            Step::Failed { object, error, unsaid: Unsaid::Nothing, phase: Phase::Writing }
        }
        (Step::Acted { .. }, Some((object, error))) => {
            Step::Failed { object, error, unsaid: Unsaid::Nothing, phase: Phase::Writing }
        }
        (step, _) => step,
    }
}

/// What became of the changes that a plan starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Starts {
    /// All were sent, as far as the plan was carried out.
    Sent,
    /// Some were not right any more.
    PassedOver,
    /// None was, from one of them on.
    Stopped,
}

/// Whether a failure is the trouble of the written object alone: the server said no to it, or somebody else writes it all the time, as a
/// kubelet may. It is read again, and the others do not wait for that. What the server made another of was no no: it is decided about anew, a
/// while later.
fn is_passed_over(refused: Refused, error: &CallError) -> bool {
    let said_no = error.outcome() == Outcome::NotDone && error.code() != Some(429);
    let diverted = matches!(error, CallError::Diverted);
    refused == Refused::ConcernsTheTargetAlone && said_no && !diverted
}

/// What the server said when it refused, in one line.
fn said(error: &CallError) -> String {
    /// A condition is read in one line; the rest is in the log.
    const LONGEST: usize = 300;
    let text = match error {
        CallError::Refused { message, .. } => message.clone(),
        other => other.to_string(),
    };
    let line = text.chars().map(|letter| if letter.is_control() { ' ' } else { letter });
    line.take(LONGEST).collect()
}

async fn write_status(
    hands: &Hands,
    key: &Key,
    before: Seen,
    (patch, notes, again): (StatusPatch, Vec<Note>, Again),
) -> Step {
    let change = Patch::json(Owner::Upkeep.as_str(), &patch.operations);
    let answered = hands.cluster.patch(&status_path(key), change).await.and_then(|document| {
        let seen = hands.caches.read(key.kind(), &document);
        seen.ok_or_else(|| CallError::garbled("an answer about nothing"))
    });
    match answered {
        Ok(seen) => Step::Written { seen, before, patch, notes, again },
        Err(error) => {
            let unsaid = Unsaid::Status(notes);
            Step::Failed { object: key.clone(), error, unsaid, phase: Phase::Writing }
        }
    }
}

/// What has to be read before anything else.
#[derive(Clone, Debug)]
pub(super) struct Unknown {
    pub(super) object: Key,
    /// What failed: a write, of which nobody knows what became, or the reading before one.
    pub(super) since: Phase,
}

/// Reads an object from the store behind the server, not from a cache.
pub(super) fn read_back(
    hands: Hands,
    key: Key,
    unknown: Unknown,
    began: Instant,
) -> BoxFuture<'static, Took> {
    let Unknown { object, since } = unknown;
    let span = tracing::info_span!("reconcile", object = %key, at = %object, verb = "observe");
    async move {
        let read = if object.is_of_all() {
            fresh::list_anew(&hands, &object).await.map(|()| None)
        } else {
            fresh::read_by_name(&hands, &object).await
        };
        let step = match read {
            Ok(seen) => Step::Read { object, seen },
            Err(error) => {
                if since == Phase::Reading {
                    tell(&hands, &key, format!("{object} cannot be read: {}", said(&error))).await;
                }
                Step::Failed { object, error, unsaid: Unsaid::Nothing, phase: Phase::Reading }
            }
        };
        Took { key, began, step }
    }
    .instrument(span)
    .boxed()
}

/// Says in the status that nothing is initiated because something cannot be read (GATE-11). Nothing else is done: all that was decided
/// waits for what could not be read.
async fn tell(hands: &Hands, key: &Key, unread: String) {
    hands.caches.store().set_unread(key, unread);
    let Some((before, plan)) = fresh::decide_anew(hands, key) else { return };
    // Who would create something first tells nothing: see `steps`.
    let creates = plan.actions.iter().any(|action| matches!(action.write, Write::Create(_)));
    let Some(patch) = plan.status.filter(|_| !creates && hands.still_leads()) else { return };
    let told = write_status(hands, key, before, (patch, plan.notes, Again::OnNews)).await;
    if let Step::Written { seen, before, notes, .. } = told {
        hands.caches.answered(key, seen);
        hands.reports.say(key, before.identity(), notes, hands.cluster.clock().exact());
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn refused(code: u16, message: &str) -> CallError {
        let (reason, message) = (String::new(), message.to_owned());
        CallError::Refused { code, reason, message, retry_after: None }
    }

    /// LIVE-3: a no about one node is passed over; what nobody knows, a server that has no time, and a no about the plan are not.
    #[test]
    fn only_a_no_about_the_written_object_alone_is_passed_over() {
        let (alone, plan) = (Refused::ConcernsTheTargetAlone, Refused::EndsThePlan);
        for (concerns, error, expected) in [
            (alone, refused(403, ""), true),
            (alone, refused(409, ""), true),
            (alone, CallError::Unchanged, true),
            (alone, CallError::Diverted, false),
            (alone, refused(429, ""), false),
            (alone, refused(503, ""), false),
            (alone, CallError::Late(Duration::from_secs(10)), false),
            (plan, refused(403, ""), false),
            (plan, refused(409, ""), false),
            (plan, refused(503, ""), false),
        ] {
            assert_eq!(is_passed_over(concerns, &error), expected, "{concerns:?} {error:?}");
        }
    }

    #[test]
    fn what_the_server_said_is_one_line_of_some_length() {
        assert_eq!(said(&refused(403, "no\nand \u{1b}[31mno")), "no and  [31mno");
        assert_eq!(said(&refused(403, &"a".repeat(1_000))).len(), 300);
        assert!(said(&CallError::Unchanged).contains("kept nothing of it"));
    }
}
