//! Rows about the table: every kind has its row, and the row does what its role says.

use api::schema::{FREEZES, GATED, GUARDRAILS, KINDS, MACHINES, NAMESPACES, OVERRIDES, Scope};
use serde_json::json;

use super::super::*;
use crate::{cluster::overview, gate::action::Right};

#[test]
fn every_kind_has_its_row() {
    let lists = KINDS.iter().chain(GATED).chain(FREEZES).chain(OVERRIDES).chain(GUARDRAILS);
    let kinds: Vec<&Kind> = lists.chain(MACHINES).chain(NAMESPACES).collect();
    assert_eq!(ALL.iter().map(|row| &row.kind).collect::<Vec<_>>(), kinds);
    assert!(ALL.is_sorted_by(|one, other| one.kind < other.kind), "in the order of work");
    for row in ALL {
        let is_read = match row.role {
            Role::Policy => matches!(row.read, Read::Policy),
            Role::Gated { .. } => matches!(row.read, Read::Gated(_)),
            Role::Part | Role::Freeze | Role::Override | Role::Guardrail => {
                matches!(row.read, Read::Part(_))
            }
        };
        assert!(is_read, "{row:?}");
        assert_eq!(known(&row.kind).map(|found| &found.kind), Some(&row.kind));
    }
}

/// Others have kinds of the same name.
#[test]
fn a_kind_is_its_group_and_its_name() {
    let (scope, role) = (Scope::Cluster, Role::Part);
    let karpenter = Kind::foreign("karpenter.sh/v1".into(), "NodePool".into(), scope, role);
    let ours = Kind::foreign("hypershift.openshift.io/v9".into(), "NodePool".into(), scope, role);
    assert_eq!((known(&karpenter).is_none(), known(&ours).is_some()), (true, true));
    assert_ne!(karpenter, NODE_POOL.kind);
}

#[test]
fn where_pools_are_managed_they_are_rolled_out_and_disruptions_are_merged() {
    let rows = |pools| {
        let reads = |found: Controller| found.duty.reads.iter().map(|row| row.name).collect();
        let rows = controllers(pools).into_iter().map(|found| (found.row.name, reads(found)));
        rows.collect::<Vec<(&str, Vec<&str>)>>()
    };
    let (watched, managed) = (rows(Pools::Watched), rows(Pools::Managed));
    let decided = KINDS
        .iter()
        .chain(GATED)
        .chain(FREEZES)
        .chain(OVERRIDES)
        .chain(GUARDRAILS)
        .map(|kind| kind.name);
    assert!(watched.iter().map(|row| row.0).eq(decided));
    let differ: Vec<_> = managed.iter().filter(|row| !watched.contains(row)).collect();
    let pools = vec![
        "MachineConfig",
        "Node",
        "ClusterVersion",
        "MachineConfigPool",
        "ClusterChangeFreeze",
        "ClusterChangeOverride",
    ];
    assert_eq!(differ, [&("MachineConfigPool", pools), &("MachineConfiguration", vec![])]);
}

/// CV-2, GATE-12: the status that the operator writes tells of the same gate as the command does.
#[test]
fn master_pool_tells_the_gate_of_the_cluster_version() {
    let now = Instant::parse("2026-11-15T12:00:00Z").unwrap();
    for (version, own) in [("Restrictive", "Permissive"), ("Permissive", "Restrictive")] {
        let mut cluster = Snapshot::default();
        for (row, name, strategy) in
            [(&CLUSTER_VERSION, "version", version), (&MACHINE_CONFIG_POOL, "master", own)]
        {
            let spec = json!({"changeManagement": {"strategy": strategy}});
            cluster.add(row, &json!({"metadata": {"name": name}, "spec": spec}));
        }
        let masters = Key::new(&MACHINE_CONFIG_POOL, None, "master");
        let seen = cluster.get(&masters).unwrap();
        let told = overview::resource(&cluster, cluster.resource(&masters).unwrap(), now);
        let decide = |pools| {
            let found = MACHINE_CONFIG_POOL.controller(pools).unwrap();
            (found.duty.decide)(seen, &Surroundings::of(&cluster), now)
        };
        let written = json!(decide(Pools::Watched).status.unwrap().operations).to_string();
        let state = told.behavior.current.state;
        assert!(written.contains(json!(state).as_str().unwrap()), "{written}");
        assert!(written.contains(&format!("\"reason\":\"{version}\"")), "{written}");
        // Where pools are managed the stanza is put right first.
        let plan = decide(Pools::Managed);
        let [action] = plan.actions.as_slice() else { panic!("{plan:?}") };
        assert_eq!((&action.target, &action.right), (&masters, &Right::Upkeep));
    }
}
