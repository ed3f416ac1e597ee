//! What is looked at, and what is decided about it? One row for each kind.

use api::schema::{GATED, KINDS};
use runtime::{
    reconcile::Controller,
    store::{Store, policy_of},
};
use schedule::Instant;
use tidegate_core::{
    decide,
    gate::{self, Gate},
    plan::Plan,
    seen::{Seen, SeenGated},
};

/// Every controller, policies first.
pub const CONTROLLERS: &[Controller] = &[
    Controller { kind: &KINDS[0], decide: of_policy },
    Controller { kind: &KINDS[1], decide: of_policy },
    Controller { kind: &GATED[0], decide: of_gated },
    Controller { kind: &GATED[1], decide: of_gated },
    Controller { kind: &GATED[2], decide: of_gated },
    Controller { kind: &GATED[3], decide: of_gated },
];

fn of_policy(seen: &Seen, _: &Store, now: Instant) -> Plan {
    match seen {
        Seen::Policy(policy) => decide::policy(policy, now),
        Seen::Gated(_) => Plan::default(),
    }
}

fn of_gated(seen: &Seen, store: &Store, now: Instant) -> Plan {
    match seen {
        Seen::Policy(_) => Plan::default(),
        Seen::Gated(gated) => decide::gated(gated, &gate_of(seen, gated, store), now),
    }
}

/// The gate of a resource, from what is known.
pub fn gate_of(seen: &Seen, gated: &SeenGated, store: &Store) -> Gate {
    let policy = policy_of(seen);
    gate::gate(gated, policy.as_ref().and_then(|policy| store.policy(policy)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_its_row() {
        let rows: Vec<&str> = CONTROLLERS.iter().map(|row| row.kind.name).collect();
        let kinds: Vec<&str> = runtime::key::kinds().map(|kind| kind.name).collect();
        assert_eq!(rows, kinds);
    }
}
