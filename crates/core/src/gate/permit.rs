//! Who may start a change, and until when? A permit: the gate's written yes (GATE-7).
//!
//! Only [`Gate::permit`] makes one, so whoever holds one was let through; and, beside the gate, three rules that let single nodes
//! go while it is shut, each of which demands its proof: that a node lacks a configuration which bypasses change management
//! (POOL-5), that the control plane has begun this very change (CV-2), that an administrator named the node (POOL-7).
//!
//! A permit expires, and is checked again right before the write it is for.

use std::{fmt, marker::PhantomData, sync::Arc};

use schedule::Instant;

use super::{Form, Gate, Real};
use crate::gate::change::ChangeId;

/// How long a permit lasts that no window ends, in seconds. What it rests on is an annotation or a node under way, which can be
/// gone a minute later; long enough for a slow server and a few tries, short enough that nobody remembers giving it.
pub const LEASE: i64 = 300;

/// The gate's yes, with what it rests on and when it ends. Nobody but the gate writes one:
///
/// ```compile_fail
/// use schedule::Instant;
/// use tidegate_core::gate::{Basis, Permit};
///
/// fn forge(now: Instant) -> Permit {
///     Permit { basis: Basis::Window, issued: now, opened: None, expires: None }
/// }
/// ```
///
/// ```compile_fail
/// use tidegate_core::gate::{Permit, Supposed};
///
/// fn pass_off(supposed: Permit<Supposed>) -> Permit {
///     supposed
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Permit<R = Real> {
    basis: Basis,
    issued: Instant,
    opened: Option<Instant>,
    expires: Option<Instant>,
    right: PhantomData<R>,
}

/// What a permit rests on.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Basis {
    /// The resource has no stanza (GATE-1).
    NoStanza,
    /// The strategy permits always.
    Strategy,
    /// A window is open.
    Window,
    /// The stanza permits until an instant.
    Until,
    /// This override opens the gate, which would be shut otherwise (OVR-2).
    Override(Arc<str>),
    /// This change has begun, and all of it is one change (CV-2).
    AlreadyInitiated(ChangeId),
    /// This `MachineConfig` bypasses change management (POOL-5).
    Bypass(Arc<str>),
    /// An administrator let this node go (POOL-7).
    Consent(Arc<str>),
}

/// What lets single nodes go while the gate is shut: a value that only its own rule makes, once it has seen what it demands.
pub(crate) trait Proof {
    /// What a permit that is made from it rests on.
    fn basis(&self) -> Basis;
}

/// The gate's no: why, and when it ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hold {
    /// One CamelCase word for programs.
    pub reason: &'static str,
    /// When changes will be permitted; none if nobody can say.
    pub until: Option<Instant>,
}

impl<R> Gate<R> {
    /// Asks the gate. A freeze that began with its creation is in force because it is there, whatever the clock says that `at` was read
    /// from.
    pub fn permit(&self, at: Instant) -> Result<Permit<R>, Hold> {
        let frozen = self.freezes().filter(|freeze| freeze.holds(at) && !self.passes(freeze, at));
        let frozen = frozen.filter_map(|freeze| freeze.span().start).fold(at, Instant::max);
        let state = self.set.stretch(frozen);
        if !state.inside {
            return Err(Hold { reason: self.reason(frozen), until: state.end });
        }
        let (opened, expires) = (state.start, state.end);
        if let Some(one) = self.override_at(at) {
            // No later than the override itself says, whatever window comes then.
            let expires = expires.into_iter().chain(one.until).min();
            let basis = Basis::Override(one.key.to_string().into());
            return Ok(Permit { basis, issued: at, opened, expires, right: PhantomData });
        }
        let basis = match self.form {
            _ if self.beside().any(|(_, windows)| !windows.is_always()) => Basis::Window,
            _ if self.is_constrained() => Basis::Window,
            Form::NoStanza => Basis::NoStanza,
            Form::PermissiveUntil(until) if at < until => Basis::Until,
            _ if self.stanza_set().is_always() => Basis::Strategy,
            Form::Unusable
            | Form::ByPolicy
            | Form::Permissive
            | Form::Restrictive
            | Form::Version
            | Form::PermissiveUntil(_)
            | Form::RestrictiveUntil(_) => Basis::Window,
        };
        Ok(Permit { basis, issued: at, opened, expires, right: PhantomData })
    }
}

impl<R> Permit<R> {
    /// What it rests on.
    pub fn basis(&self) -> &Basis {
        &self.basis
    }

    /// For a node that may go although the gate is shut, by a rule that has its proof.
    pub(crate) fn proven(proof: &impl Proof, at: Instant) -> Self {
        let expires = Some(at.saturating_add(LEASE));
        Self { basis: proof.basis(), issued: at, opened: None, expires, right: PhantomData }
    }

    /// When a write under it must have been made: its own end, and no later than a lease from its issue. A write carries this
    /// instant, and the server refuses it from then on (GATE-7).
    pub fn write_by(&self) -> Instant {
        let lease = self.issued.saturating_add(LEASE);
        self.expires.map_or(lease, |expires| expires.min(lease))
    }

    /// When the gate opened that gave it; none if it always was open, or if the permit rests on something else. A write carries this
    /// instant too, and the server refuses it before then: the clock of whoever asked may have been ahead (GATE-7).
    pub fn opened(&self) -> Option<Instant> {
        self.opened
    }

    /// When it ends; none if the gate never closes.
    pub fn expires(&self) -> Option<Instant> {
        self.expires
    }

    /// Whether it is still good: asked again right before the write (GATE-7). A clock that has gone back behind the instant of
    /// issue proves nothing, so it is not good then either.
    pub fn is_live(&self, now: Instant) -> bool {
        self.issued <= now && self.expires.is_none_or(|expires| now < expires)
    }
}

impl Basis {
    /// The basis that a mark carries beside it, as it was written down; none if this build knows no such words.
    pub fn read(words: &str) -> Option<Self> {
        let plain = [Self::NoStanza, Self::Strategy, Self::Window, Self::Until];
        if let Some(basis) = plain.into_iter().find(|basis| basis.to_string() == words) {
            return Some(basis);
        }
        if let Some(change) = words.strip_prefix(ALREADY_INITIATED) {
            // No name of an object holds a space.
            let release = change.strip_prefix("release ").map(ChangeId::release);
            let change = release.unwrap_or_else(|| ChangeId::rendered(change));
            return Some(Self::AlreadyInitiated(change));
        }
        if let Some(key) = words.strip_prefix(OVERRIDE) {
            return Some(Self::Override(key.into()));
        }
        let bypass = words.strip_prefix(BYPASS).map(|source| Self::Bypass(source.into()));
        bypass.or_else(|| words.strip_prefix(CONSENT).map(|node| Self::Consent(node.into())))
    }

    /// Whether these words, as a mark carries them, tell of a permit that began this change for the whole pool: the gate's own, or one
    /// that followed from it (GATE-10).
    pub(crate) fn is_of_change(words: &str, config: &str) -> bool {
        Self::read(words).is_some_and(|basis| match basis {
            Self::AlreadyInitiated(change) => change == ChangeId::rendered(config),
            basis => basis.is_of_the_gate(),
        })
    }

    /// Whether the gate itself permitted it, and not a rule that sets the gate aside or follows from what has begun.
    pub(crate) fn is_of_the_gate(&self) -> bool {
        match self {
            Self::NoStanza | Self::Strategy | Self::Window | Self::Until | Self::Override(_) => {
                true
            }
            Self::AlreadyInitiated(_) | Self::Bypass(_) | Self::Consent(_) => false,
        }
    }

    /// Whether these words tell of a permit for single nodes: bypass or consent, which speak for nobody else.
    pub(crate) fn is_of_one(words: &str) -> bool {
        matches!(Self::read(words), Some(Self::Bypass(_) | Self::Consent(_)))
    }
}

/// How a basis begins that is an override (OVR-2).
const OVERRIDE: &str = "override: ";
/// How a basis begins that is a change which has begun (CV-2).
const ALREADY_INITIATED: &str = "already initiated: ";
/// How a basis begins that is a bypass (POOL-5).
const BYPASS: &str = "bypass of MachineConfig/";
/// How a basis begins that is consent (POOL-7).
const CONSENT: &str = "consent for Node/";

impl fmt::Display for Basis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoStanza => f.write_str("no stanza"),
            Self::Strategy => f.write_str("strategy"),
            Self::Window => f.write_str("window"),
            Self::Until => f.write_str("until"),
            Self::Override(key) => write!(f, "{OVERRIDE}{key}"),
            Self::Bypass(source) => write!(f, "{BYPASS}{source}"),
            Self::AlreadyInitiated(change) => write!(f, "{ALREADY_INITIATED}{change}"),
            Self::Consent(node) => write!(f, "{CONSENT}{node}"),
        }
    }
}
