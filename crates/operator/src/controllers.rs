//! What is looked at, and what is decided about it? One row for each kind.

use api::{kinds, schema::Kind};
use runtime::{
    reconcile::{Controller, no_gate},
    store::Store,
};
use schedule::Instant;
use tidegate_core::{decide, enforced::Enforcement, plan::Plan, seen::Seen};

use crate::rollout;

/// Every controller, policies first.
pub const CONTROLLERS: &[Controller] = &[
    policies(&kinds::CHANGE_MANAGEMENT_POLICY),
    policies(&kinds::HOSTED_CHANGE_MANAGEMENT_POLICY),
    gated(&kinds::CLUSTER_VERSION),
    gated(&kinds::MACHINE_CONFIG_POOL),
    gated(&kinds::HOSTED_CLUSTER),
    gated(&kinds::NODE_POOL),
    // A team may go by a policy of its namespace too (RCH-11).
    Controller {
        reads: &[&kinds::HOSTED_CHANGE_MANAGEMENT_POLICY],
        ..gate(&kinds::CHANGE_GATE)
    },
    gate(&kinds::CLUSTER_CHANGE_GATE),
];

/// The same, for a cluster in which nobody else rolls configurations out to machines.
pub const MANAGING_POOLS: &[Controller] = &[
    policies(&kinds::CHANGE_MANAGEMENT_POLICY),
    policies(&kinds::HOSTED_CHANGE_MANAGEMENT_POLICY),
    gated(&kinds::CLUSTER_VERSION),
    Controller {
        kind: &kinds::MACHINE_CONFIG_POOL,
        // What the control plane does decides about its machines, and pools wait for each other.
        reads: &[
            &kinds::MACHINE_CONFIG,
            &kinds::NODE,
            &kinds::CLUSTER_VERSION,
            &kinds::MACHINE_CONFIG_POOL,
        ],
        decide: of_pool,
        rests_on: rollout::rests_on,
    },
    gated(&kinds::HOSTED_CLUSTER),
    gated(&kinds::NODE_POOL),
    // A team may go by a policy of its namespace too (RCH-11).
    Controller {
        reads: &[&kinds::HOSTED_CHANGE_MANAGEMENT_POLICY],
        ..gate(&kinds::CHANGE_GATE)
    },
    gate(&kinds::CLUSTER_CHANGE_GATE),
    Controller {
        kind: &kinds::MACHINE_CONFIGURATION,
        reads: &[],
        decide: of_disruption,
        rests_on: no_gate,
    },
];

const fn policies(kind: &'static Kind) -> Controller {
    Controller { kind, reads: &[], decide: of_policy, rests_on: no_gate }
}

const fn gated(kind: &'static Kind) -> Controller {
    Controller { kind, reads: &[], decide: of_gated, rests_on: no_gate }
}

const fn gate(kind: &'static Kind) -> Controller {
    Controller { kind, reads: &[], decide: of_gate, rests_on: no_gate }
}

fn of_policy(seen: &Seen, _: &Store, now: Instant) -> Plan {
    match seen {
        Seen::Policy(policy) => decide::policy(policy, now),
        Seen::Gated(_) | Seen::Part(_) => Plan::default(),
    }
}

fn of_gated(seen: &Seen, store: &Store, now: Instant) -> Plan {
    match seen {
        Seen::Policy(_) | Seen::Part(_) => Plan::default(),
        Seen::Gated(gated) => {
            // Nobody in the cluster asks these gates before they begin (GATE-13).
            decide::gated(gated, &rollout::gate_of(seen, gated, store), Enforcement::Advisory, now)
        }
    }
}

fn of_gate(seen: &Seen, store: &Store, now: Instant) -> Plan {
    match seen {
        Seen::Policy(_) | Seen::Part(_) => Plan::default(),
        Seen::Gated(gated) => {
            // The server keeps these gates if its admission policies stand, which nobody here has tried (GATE-13).
            decide::gated(gated, &rollout::gate_of(seen, gated, store), Enforcement::NotTried, now)
        }
    }
}

fn of_pool(seen: &Seen, store: &Store, now: Instant) -> Plan {
    let Seen::Gated(gated) = seen else { return Plan::default() };
    if let Some(follow) = rollout::follow(gated, store) {
        return Plan { actions: vec![follow], ..Plan::default() };
    }
    let gate = rollout::gate_of_pool(seen, gated, store);
    match rollout::planned(gated, &gate, store, now) {
        Some(mut planned) => {
            planned.enforcement = store.enforcement();
            planned.unrecorded = rollout::unrecorded(gated, store);
            decide::pool(gated, planned, &gate, now)
        }
        None => decide::gated(gated, &gate, store.enforcement(), now),
    }
}

fn of_disruption(seen: &Seen, _: &Store, now: Instant) -> Plan {
    match seen {
        Seen::Part(part) => decide::disruption::plan(part, now),
        Seen::Policy(_) | Seen::Gated(_) => Plan::default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_pools_are_managed_they_are_rolled_out_and_disruptions_are_merged() {
        let rows = CONTROLLERS.iter().zip(MANAGING_POOLS);
        assert!(rows.clone().all(|(row, managing)| row.kind.name == managing.kind.name));
        let different = rows.filter(|(row, managing)| row.reads.len() != managing.reads.len());
        assert_eq!(
            different.map(|(row, _)| row.kind.name).collect::<Vec<_>>(),
            ["MachineConfigPool"]
        );
        let added = &MANAGING_POOLS[CONTROLLERS.len()..];
        assert_eq!(
            added.iter().map(|row| row.kind.name).collect::<Vec<_>>(),
            ["MachineConfiguration"]
        );
    }

    #[test]
    fn every_kind_has_its_row() {
        let rows: Vec<&str> = CONTROLLERS.iter().map(|row| row.kind.name).collect();
        let kinds: Vec<&str> = runtime::key::kinds().map(|kind| kind.name).collect();
        assert_eq!(rows, kinds);
    }
}
