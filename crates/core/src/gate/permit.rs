//! Who may start a change, and until when? A permit: the gate's written yes (GATE-7).
//!
//! Only [`Gate::permit`] makes one, so whoever holds one was let through. It expires with the stretch it was given in, and is checked
//! again right before the write it is for.

use std::fmt;

use schedule::Instant;

use super::{Form, Gate};

/// The gate's yes, with what it rests on and when it ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Permit {
    basis: Basis,
    issued: Instant,
    expires: Option<Instant>,
}

/// What a permit rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    /// The resource has no stanza (GATE-1).
    NoStanza,
    /// The strategy permits always.
    Strategy,
    /// A window is open.
    Window,
    /// The stanza permits until an instant.
    Until,
}

/// The gate's no: why, and when it ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hold {
    /// One CamelCase word for programs.
    pub reason: &'static str,
    /// When changes will be permitted; none if nobody can say.
    pub until: Option<Instant>,
}

impl Gate {
    /// Asks the gate.
    pub fn permit(&self, at: Instant) -> Result<Permit, Hold> {
        let state = self.set.stretch(at);
        if !state.inside {
            return Err(Hold { reason: self.reason(at), until: state.end });
        }
        let basis = match self.form {
            Form::NoStanza => Basis::NoStanza,
            Form::PermissiveUntil(until) if at < until => Basis::Until,
            _ if self.set.is_always() => Basis::Strategy,
            Form::Unusable
            | Form::ByPolicy
            | Form::Permissive
            | Form::Restrictive
            | Form::PermissiveUntil(_)
            | Form::RestrictiveUntil(_) => Basis::Window,
        };
        Ok(Permit { basis, issued: at, expires: state.end })
    }
}

impl Permit {
    /// What it rests on.
    pub fn basis(&self) -> Basis {
        self.basis
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

impl fmt::Display for Basis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoStanza => "no stanza",
            Self::Strategy => "strategy",
            Self::Window => "window",
            Self::Until => "until",
        })
    }
}
