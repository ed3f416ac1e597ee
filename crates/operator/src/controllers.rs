//! What is looked at, and what is decided about it? One row for each kind.

use api::{kinds, schema::Kind};
use runtime::{
    reconcile::{Controller, no_gate},
    store::Store,
};
use schedule::Instant;
use tidegate_core::{
    decide::{self, outside},
    enforced::Enforcement,
    plan::Plan,
    seen::Seen,
};

use crate::rollout;

/// Every controller, policies first.
pub const CONTROLLERS: &[Controller] = &[
    policies(&kinds::CHANGE_MANAGEMENT_POLICY),
    policies(&kinds::HOSTED_CHANGE_MANAGEMENT_POLICY),
    gated(&kinds::CLUSTER_VERSION),
    // What the control plane may do, its nodes may (CV-2).
    Controller { reads: &[&kinds::CLUSTER_VERSION], ..gated(&kinds::MACHINE_CONFIG_POOL) },
    gated(&kinds::HOSTED_CLUSTER),
    gated(&kinds::NODE_POOL),
    // A team may go by a policy of its namespace too (RCH-11).
    Controller { reads: &[&kinds::HOSTED_CHANGE_MANAGEMENT_POLICY], ..gate(&kinds::CHANGE_GATE) },
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
        rests_on: |seen, store| store.snapshot().rests_on(seen),
    },
    gated(&kinds::HOSTED_CLUSTER),
    gated(&kinds::NODE_POOL),
    // A team may go by a policy of its namespace too (RCH-11).
    Controller { reads: &[&kinds::HOSTED_CHANGE_MANAGEMENT_POLICY], ..gate(&kinds::CHANGE_GATE) },
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
            decide::gated(gated, &store.snapshot().gate(gated), Enforcement::Advisory, now)
        }
    }
}

fn of_gate(seen: &Seen, store: &Store, now: Instant) -> Plan {
    match seen {
        Seen::Policy(_) | Seen::Part(_) => Plan::default(),
        Seen::Gated(gated) => {
            // The server keeps these gates if its admission policies stand, which nobody here has tried (GATE-13).
            decide::gated(gated, &store.snapshot().gate(gated), Enforcement::NotTried, now)
        }
    }
}

fn of_pool(seen: &Seen, store: &Store, now: Instant) -> Plan {
    let Seen::Gated(gated) = seen else { return Plan::default() };
    if let Some(follow) = store.snapshot().follow(gated) {
        return Plan { actions: vec![follow], ..Plan::default() };
    }
    let gate = store.snapshot().gate(gated);
    let kept = gated.kept(store.enforcement_tried());
    match rollout::planned(gated, &gate, store, now) {
        Some(mut planned) => {
            planned.enforcement = kept;
            planned.unrecorded = gated.pool.as_deref().map_or_else(Vec::new, |pool| {
                outside::unrecorded(pool, store.snapshot().machines_of(&pool.name))
            });
            decide::pool(gated, planned, &gate, now)
        }
        None => decide::gated(gated, &gate, kept, now),
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
    use api::schema::{GATED, KINDS};
    use runtime::caches::read;
    use serde_json::json;
    use tidegate_core::{action::Right, key::Key, overview};

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

    /// CV-2, GATE-12: the status that the operator writes tells of the same gate as the command does.
    #[test]
    fn master_pool_tells_the_gate_of_the_cluster_version() {
        let document = |kind: &Kind, name: &str, strategy: &str| {
            json!({"apiVersion": kind.api_version, "kind": kind.name, "metadata": {"name": name},
                "spec": {"changeManagement": {"strategy": strategy}}})
        };
        let now = Instant::parse("2026-11-15T12:00:00Z").unwrap();
        for (version, own) in [("Restrictive", "Permissive"), ("Permissive", "Restrictive")] {
            let mut store = Store::default();
            for (kind, name, strategy) in [
                (&kinds::CLUSTER_VERSION, "version", version),
                (&kinds::MACHINE_CONFIG_POOL, "master", own),
            ] {
                let (key, seen) = read(kind, &document(kind, name, strategy)).unwrap();
                store.learn(&key, seen);
            }
            let masters = Key::new(&kinds::MACHINE_CONFIG_POOL, None, "master");
            let told = overview::resource(
                store.snapshot(),
                store.snapshot().resource(&masters).unwrap(),
                now,
            );
            let row = CONTROLLERS.iter().find(|row| row.kind.id == masters.id).unwrap();
            let plan = (row.decide)(store.snapshot().get(&masters).unwrap(), &store, now);
            let written = json!(plan.status.unwrap().operations).to_string();
            let state = told.behavior.current.state;
            assert!(written.contains(json!(state).as_str().unwrap()), "{written}");
            assert!(written.contains(&format!("\"reason\":\"{version}\"")), "{written}");
            // Where pools are managed the stanza is put right first.
            let row = MANAGING_POOLS.iter().find(|row| row.kind.id == masters.id).unwrap();
            let plan = (row.decide)(store.snapshot().get(&masters).unwrap(), &store, now);
            let [action] = plan.actions.as_slice() else { panic!("{plan:?}") };
            assert_eq!((&action.target, &action.right), (&masters, &Right::Upkeep));
        }
    }

    #[test]
    fn every_kind_has_its_row() {
        let rows: Vec<&str> = CONTROLLERS.iter().map(|row| row.kind.name).collect();
        let kinds: Vec<&str> = KINDS.iter().chain(GATED).map(|kind| kind.name).collect();
        assert_eq!(rows, kinds);
    }
}
