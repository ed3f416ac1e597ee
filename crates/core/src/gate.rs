//! May a resource change? The verdict of its stanza and its policy, as one set of instants (GATE-1 to GATE-5).
//!
//! - GATE-1: no stanza is always. GATE-2: a policy that is missing, unusable, unready or lagging is never.
//! - GATE-3: the plain strategies are always and never. GATE-4: the until strategies hand over to the policy's set.
//! - GATE-7: a [`Permit`] is made here and nowhere else.
//! - GATE-15: while a freeze lasts it is never, whatever stanza and policy say; while an override lasts that no freeze beats it is always.
//!
//! Doubt closes the gate and is remembered, so that "cannot tell" never looks like "paused for ever".

use std::{marker::PhantomData, sync::Arc};

use api::{names, policy::Strategy};
use schedule::{Instant, TimeSet};

use crate::{
    document::{
        key::Key,
        problem::{FieldPath, Problem, problem_text},
    },
    gate::change::ChangeId,
    policy::{
        lower::Lowered,
        seen::SeenPolicy,
        stanza::{Form, Gating, SeenStanza, StanzaReading, form},
        strategy,
        verdict::Verdict,
        version::VersionManaged,
    },
};

pub mod action;
pub mod change;
mod constraint;
pub mod enforced;
pub mod explain;
mod layers;
pub mod note;
pub mod pending;
pub mod permit;
pub mod plan;
pub mod proof;
pub mod refusal;
mod what_if;
pub mod words;

use constraint::Constraint;
pub(crate) use layers::TeamFreezes;
use layers::{Frozen, Opening, Share, Within};
pub(crate) use permit::Proof;
pub use permit::{Basis, Hold, Permit};
pub use what_if::{Real, Supposed, WhatIf};

/// The verdict of a stanza and its policy. A [`Snapshot`](crate::cluster::snapshot::Snapshot) alone gives one, from what was seen; nobody else
/// can open it:
///
/// ```compile_fail
/// use schedule::TimeSet;
/// use tidegate_core::{policy::stanza::Form, gate::Gate};
///
/// let gate: Gate = Gate { set: TimeSet::always(), form: Form::NoStanza, policy: None, doubt: None };
/// ```
///
/// ```compile_fail
/// use schedule::TimeSet;
/// use tidegate_core::gate::Gate;
///
/// fn open(gate: &mut Gate) {
///     gate.set = TimeSet::always();
/// }
/// ```
///
/// What it says is for everybody to read, and it says yes with a [`Permit`]:
///
/// ```
/// use schedule::Instant;
/// use tidegate_core::gate::{Gate, Hold, Permit};
///
/// fn ask(gate: &Gate, now: Instant) -> Result<Permit, Hold> {
///     println!("{:?} {:?}", gate.set(), gate.form());
///     gate.permit(now)
/// }
/// ```
#[derive(Clone, Debug)]
pub struct Gate<R = Real> {
    /// With everything that lies above the stanza (GATE-15).
    set: TimeSet,
    /// The same without freezes.
    own: TimeSet,
    /// What the stanza says, with its policy.
    stanza: TimeSet,
    form: Form,
    policy: Option<Arc<SeenPolicy>>,
    /// What the stanza means, if it is spelled as an earlier design does (D4-1).
    version: Option<Arc<VersionManaged>>,
    /// The cluster whose windows it lies within (D4-1).
    constraint: Option<Arc<Constraint>>,
    doubt: Option<Doubt>,
    origin: Option<Origin>,
    freezes: Vec<Frozen>,
    shares: Vec<Share>,
    /// When freezes that each hold some of its rooms hold all of them together.
    together: TimeSet,
    openings: Vec<Opening>,
    within: Vec<Within>,
    team_freezes: TeamFreezes,
    right: PhantomData<R>,
}

/// Whose stanza a gate was made from, which is not always that of the object that it is the gate of (CV-2).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The object that has the stanza.
    pub object: Key,
    /// The policy that it names, whether it exists or not.
    pub policy: Option<Key>,
    /// Why somebody set the policy aside, in their own words.
    pub said: Option<String>,
    /// Where the stanza stands in the object.
    pub gating: &'static Gating,
}

/// Why it cannot be known whether changes are permitted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Doubt {
    /// One CamelCase word for programs: the reason of the condition.
    pub reason: &'static str,
    /// What is wrong: which object, which field, what to do.
    pub message: String,
}

/// The gate that a stanza makes, given the policy that it names, if that exists. Whose stanza decides about an object is for a
/// [`Snapshot`](crate::cluster::snapshot::Snapshot) to say.
pub(crate) fn gate(stanza: &SeenStanza, policy: Option<&Arc<SeenPolicy>>) -> Gate {
    let SeenStanza { object, gating, override_reason, .. } = stanza;
    let named = stanza.policy();
    let gate = made(stanza, named.as_ref(), policy);
    let origin =
        Origin { object: object.clone(), policy: named, said: override_reason.clone(), gating };
    Gate { origin: Some(origin), ..gate }
}

fn made(seen: &SeenStanza, named: Option<&Key>, policy: Option<&Arc<SeenPolicy>>) -> Gate {
    let stanza = match &seen.reading {
        StanzaReading::Absent => return Gate::plain(TimeSet::always(), Form::NoStanza),
        StanzaReading::Unusable(problems) => return Gate::unusable(problems),
        StanzaReading::Usable(stanza) => stanza,
        StanzaReading::Version(read) => return Gate::versioned(Arc::clone(read)),
    };
    let form = match form(stanza, seen.gating) {
        Ok(form) => form,
        Err(problem) => return Gate::unusable(&[*problem]),
    };
    let standing = match named {
        None => NamedPolicy::NotNamed,
        Some(named) => standing(named, policy),
    };
    let (named, policy, doubt) = match standing {
        NamedPolicy::NotNamed => (None, None, None),
        NamedPolicy::Ready(lowered) => (Some(lowered.set.clone()), policy.cloned(), None),
        NamedPolicy::Doubtful(doubt) => (Some(TimeSet::never()), None, Some(doubt)),
    };
    let set = match form {
        Form::NoStanza | Form::Permissive => TimeSet::always(),
        // Spelled otherwise, and made above.
        Form::Unusable | Form::Restrictive | Form::Version => TimeSet::never(),
        Form::ByPolicy => named.unwrap_or_else(TimeSet::never),
        Form::PermissiveUntil(until) => {
            TimeSet::before(until).union(named.unwrap_or_else(TimeSet::never))
        }
        Form::RestrictiveUntil(until) => {
            named.unwrap_or_else(TimeSet::always).difference(TimeSet::before(until))
        }
    };
    Gate { policy, doubt, ..Gate::plain(set, form) }
}

/// How a policy stands with the gates that name it.
enum NamedPolicy<'a> {
    NotNamed,
    Ready(&'a Lowered),
    Doubtful(Doubt),
}

fn standing<'a>(named: &Key, policy: Option<&'a Arc<SeenPolicy>>) -> NamedPolicy<'a> {
    let doubtful = |reason, message| NamedPolicy::Doubtful(Doubt { reason, message });
    let Some(policy) = policy else {
        let message =
            format!("{named} does not exist, so changes are held; create it or name another");
        return doubtful(names::POLICY_NOT_FOUND, message);
    };
    let Some(judged) = &policy.judged.policy else {
        let wrong = problem_text(&policy.judged.problems);
        return doubtful(names::POLICY_NOT_READY, format!("{named} cannot be used: {wrong}"));
    };
    match policy.ready() {
        Ok(()) => NamedPolicy::Ready(&judged.lowered),
        Err(why) => {
            doubtful(names::POLICY_NOT_READY, format!("{named} {why}, so changes are held"))
        }
    }
}

impl Gate {
    fn plain(set: TimeSet, form: Form) -> Self {
        Self {
            set: set.clone(),
            own: set.clone(),
            stanza: set,
            form,
            policy: None,
            version: None,
            constraint: None,
            doubt: None,
            origin: None,
            freezes: Vec::new(),
            shares: Vec::new(),
            together: TimeSet::never(),
            openings: Vec::new(),
            within: Vec::new(),
            team_freezes: TeamFreezes::Kept,
            right: PhantomData,
        }
    }

    fn unusable(problems: &[Problem]) -> Self {
        let message = format!("{}, so changes are held", problem_text(problems));
        let doubt = Doubt { reason: names::INVALID_STANZA, message };
        Self { doubt: Some(doubt), ..Self::plain(TimeSet::never(), Form::Unusable) }
    }

    /// A gate of which only the set matters. Outside tests a gate comes from what was seen.
    #[cfg(test)]
    pub(crate) fn of_test(set: TimeSet, form: Form) -> Self {
        Self::plain(set, form)
    }
}

impl<R> Gate<R> {
    /// When changes may be initiated.
    pub fn set(&self) -> &TimeSet {
        &self.set
    }

    /// When the stanza with its policy and the overrides that name it let changes be initiated, whatever freezes say: the API server reads
    /// those by itself, and lets pass whom they exempt (OVR-5).
    pub fn own_set(&self) -> &TimeSet {
        &self.own
    }

    /// When the stanza itself, with its policy, lets changes be initiated, whatever lies above it.
    pub fn stanza_set(&self) -> &TimeSet {
        &self.stanza
    }

    /// How the stanza decides.
    pub fn form(&self) -> Form {
        self.form
    }

    /// Whose stanza it was made from; none of a gate that was made from none.
    pub fn origin(&self) -> Option<&Origin> {
        self.origin.as_ref()
    }

    /// The field of the stanza, as people write it.
    pub(crate) fn field(&self) -> FieldPath {
        self.origin.as_ref().map_or(&Gating::USUAL, |origin| origin.gating).field()
    }

    /// The policy that the stanza names, whether it exists or not.
    pub fn named(&self) -> Option<&Key> {
        self.origin.as_ref()?.policy.as_ref()
    }

    /// The policy, where one is named and there is no doubt about it.
    pub fn policy(&self) -> Option<&Arc<SeenPolicy>> {
        self.policy.as_ref()
    }

    /// Why the gate is closed where it cannot be known whether it should be.
    pub fn doubt(&self) -> Option<&Doubt> {
        self.doubt.as_ref()
    }

    /// What the policy means, where one is named and there is no doubt about it.
    pub fn lowered(&self) -> Option<&Lowered> {
        let judged = self.policy.as_ref()?.judged.policy.as_ref()?;
        Some(&judged.lowered)
    }

    /// The strategy in force at an instant, as policies name them.
    pub fn strategy(&self, at: Instant) -> Strategy {
        if self.freeze_at(at).is_some() {
            return Strategy::Restrictive;
        }
        if self.override_at(at).is_some() {
            return Strategy::Permissive;
        }
        let policy = |without: Strategy| match (self.lowered(), &self.doubt) {
            (Some(lowered), _) => lowered.strategy,
            (None, Some(_)) => Strategy::Restrictive,
            (None, None) => without,
        };
        match self.form {
            Form::Version => {
                self.version.as_ref().map_or(Strategy::Restrictive, |read| read.strategy(at))
            }
            Form::NoStanza | Form::Permissive => Strategy::Permissive,
            Form::Unusable | Form::Restrictive => Strategy::Restrictive,
            Form::PermissiveUntil(until) if at < until => Strategy::Permissive,
            Form::ByPolicy | Form::PermissiveUntil(_) => policy(Strategy::Restrictive),
            Form::RestrictiveUntil(until) if at < until => Strategy::Restrictive,
            Form::RestrictiveUntil(_) => policy(Strategy::Permissive),
        }
    }

    /// Why the verdict at an instant rests on doubt, if it does. Where nobody can tell what comes after a freeze, its end is not promised.
    pub fn doubt_at(&self, at: Instant) -> Option<&Doubt> {
        let mut unclear = self.frozen_at(at).filter_map(|(_, doubt)| doubt);
        let beside = || self.within.iter().find_map(|within| within.doubt.as_ref());
        let beside = || beside().or_else(|| self.constraint_doubt_at(at));
        unclear.next().or_else(beside).or_else(|| self.own_doubt_at(at))
    }

    /// The same without freezes. An override that opens it leaves no doubt.
    pub(crate) fn own_doubt_at(&self, at: Instant) -> Option<&Doubt> {
        if self.own.contains(at) && !self.stanza.contains(at) {
            return None;
        }
        self.stanza_doubt_at(at).or_else(|| self.constraint_doubt_at(at))
    }

    /// The same of the stanza, whatever lies above it.
    pub(crate) fn stanza_doubt_at(&self, at: Instant) -> Option<&Doubt> {
        match self.form {
            Form::NoStanza | Form::Permissive | Form::Restrictive | Form::Version => None,
            // Permitted until then whatever the policy is.
            Form::PermissiveUntil(until) if at < until => None,
            // Paused now, and nobody knows when that ends.
            Form::PermissiveUntil(_)
            | Form::RestrictiveUntil(_)
            | Form::Unusable
            | Form::ByPolicy => self.doubt.as_ref(),
        }
    }

    /// What it says at an instant.
    pub fn verdict(&self, at: Instant) -> Verdict {
        match self.doubt_at(at) {
            Some(_) => Verdict::CannotTell,
            None => Verdict::of(self.set(), at),
        }
    }

    /// One CamelCase word for what decides at an instant: the reason of the condition.
    pub fn reason(&self, at: Instant) -> &'static str {
        if let Some(doubt) = self.doubt_at(at) {
            return doubt.reason;
        }
        if self.freeze_at(at).is_some() {
            return names::FROZEN;
        }
        if self.shut_by(at).is_some() {
            return names::GATE_SHUT;
        }
        if self.constrained_at(at).is_some() {
            return names::CLUSTER_CONSTRAINT;
        }
        if self.override_at(at).is_some() {
            return names::OVERRIDDEN;
        }
        match self.form {
            Form::NoStanza => names::NO_STANZA,
            Form::PermissiveUntil(until) if at < until => "PermissiveUntil",
            Form::RestrictiveUntil(until) if at < until => "RestrictiveUntil",
            Form::Unusable
            | Form::ByPolicy
            | Form::Permissive
            | Form::Restrictive
            | Form::Version
            | Form::PermissiveUntil(_)
            | Form::RestrictiveUntil(_) => {
                strategy::row(self.strategy(at)).map_or("Restrictive", |row| row.name)
            }
        }
    }

    /// Whether the stanza sets a policy that it names aside at an instant.
    pub fn overrides(&self, at: Instant) -> bool {
        let forced = match self.form {
            Form::NoStanza | Form::Unusable | Form::ByPolicy | Form::Version => false,
            Form::Permissive | Form::Restrictive => true,
            Form::PermissiveUntil(until) | Form::RestrictiveUntil(until) => at < until,
        };
        forced && self.named().is_some()
    }
}

#[cfg(test)]
mod tests;
