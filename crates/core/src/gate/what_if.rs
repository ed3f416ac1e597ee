//! What would happen if a gate were another? A gate to suppose with: the same questions, and no right to act.
//!
//! Forecasts, examples and tests decide about pools as the operator does, under gates that no cluster has. Plans made with one carry
//! permits of another type, which nothing that writes to a cluster takes (GATE-7):
//!
//! ```compile_fail
//! use schedule::Instant;
//! use tidegate_core::{cluster::{decide, seen::SeenGated}, gate::{Gate, WhatIf, plan::Plan}, pool::{self, PoolView}};
//!
//! fn forge(seen: &SeenGated, view: &PoolView<'_>, gate: &Gate, now: Instant) -> Plan {
//!     decide::pool(seen, pool::decide(view, &WhatIf::open(), now), gate, now)
//! }
//! ```
//!
//! With a gate that was made from what was seen the same is a plan to act on:
//!
//! ```
//! use schedule::Instant;
//! use tidegate_core::{cluster::{decide, seen::SeenGated}, gate::{Gate, plan::Plan}, pool::{self, PoolView}};
//!
//! fn plan(seen: &SeenGated, view: &PoolView<'_>, gate: &Gate, now: Instant) -> Plan {
//!     decide::pool(seen, pool::decide(view, gate, now), gate, now)
//! }
//! ```

use std::marker::PhantomData;

use schedule::TimeSet;

use super::{Form, Gate};

/// What follows from a gate may be done: it was made from what was seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Real;

/// What follows from a gate is a supposition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Supposed;

/// A gate to suppose with.
pub type WhatIf = Gate<Supposed>;

impl WhatIf {
    /// One that is always open, as without a stanza.
    pub fn open() -> Self {
        Self::of(TimeSet::always(), Form::NoStanza)
    }

    /// One that never opens.
    pub fn shut() -> Self {
        Self::of(TimeSet::never(), Form::Restrictive)
    }

    /// One that is open as if a policy said so.
    pub fn by_policy(set: TimeSet) -> Self {
        Self::of(set, Form::ByPolicy)
    }

    fn of(set: TimeSet, form: Form) -> Self {
        let gate = Gate::plain(set, form);
        gate.suppose()
    }
}

impl Gate {
    /// The same gate, to suppose with.
    pub fn suppose(&self) -> WhatIf {
        let Self {
            set,
            own,
            stanza,
            form,
            policy,
            version,
            constraint,
            doubt,
            origin,
            freezes,
            shares,
            together,
            openings,
            within,
            team_freezes,
            right: _,
        } = self.clone();
        Gate {
            set,
            own,
            stanza,
            form,
            policy,
            version,
            constraint,
            doubt,
            origin,
            freezes,
            shares,
            together,
            openings,
            within,
            team_freezes,
            right: PhantomData,
        }
    }
}
