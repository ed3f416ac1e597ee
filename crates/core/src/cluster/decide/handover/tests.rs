//! When is what a pool of hosted nodes is to become withheld, handed over, stopped? Who holds its steps? (HOST-1, HOST-3, RCH-8)

use std::collections::BTreeMap;

use super::*;
use crate::{
    cluster::kinds::{
        CHANGE_GATE, CONFIG_MAP, HOSTED_CHANGE_MANAGEMENT_POLICY, HOSTED_CLUSTER, NAMESPACE,
        NODE_POOL, Row,
    },
    gate::action::{Owner, Right},
    hosted::pool::CURRENT,
    policy::verdict::Verdict,
    release::tests::{cluster, image},
    skew::Foresight,
};

/// A Wednesday, and the Saturday after it.
const WEDNESDAY: &str = "2026-11-18T12:00:00Z";
const SATURDAY: &str = "2026-11-21T12:00:00Z";

fn at(text: &str) -> Instant {
    Instant::parse(text).unwrap()
}

struct World {
    pool: Value,
    others: Vec<(&'static Row, Value)>,
}

impl World {
    /// A pool at 4.20.6 below a control plane at 4.20.6, which permits Saturdays, with a configuration of its own. All of its nodes have what
    /// is wanted.
    fn at_rest() -> Self {
        let status = cluster(Value::Null)["status"].clone();
        let host = json!({"metadata": {"name": "shop", "namespace": "tenants"},
            "spec": {"release": {"image": image("4.20.6")}}, "status": {"version": status}});
        let policy = json!({"apiVersion": names::API_VERSION, "kind": names::HOSTED_CHANGE_MANAGEMENT_POLICY,
            "metadata": {"name": "weekend", "namespace": "tenants", "generation": 1}, "spec": {
            "strategy": "MaintenanceSchedule", "maintenanceSchedule": {"permit": {
                "recurrence": {"frequency": "Weekly", "weekly": {"daysOfWeek": ["Saturday"]}}}}}});
        let map = json!({"metadata": {"name": "motd", "namespace": "tenants"}, "data": {"config": "hello"}});
        let pool = json!({"metadata": {"name": "workers", "namespace": "tenants", "uid": "u5", "resourceVersion": "3",
                "annotations": {}},
            "spec": {"clusterName": "shop", "release": {"image": image("4.20.6")}, "config": [{"name": "motd"}],
                "changeManagement": {"strategy": "ByPolicy", "byPolicy": {"name": "weekend"}}},
            "status": {"version": "4.20.6"}});
        let mut world = Self {
            pool,
            others: vec![
                (&HOSTED_CLUSTER, host),
                (&HOSTED_CHANGE_MANAGEMENT_POLICY, policy),
                (&CONFIG_MAP, map),
                (&NAMESPACE, json!({"metadata": {"name": "tenants-shop"}})),
            ],
        };
        world.derive();
        let wanted = world.snapshot(WEDNESDAY).wanted(world.seen(&world.snapshot(WEDNESDAY)));
        world.pool["metadata"]["annotations"][CURRENT] = json!(wanted.target.unwrap().config);
        world
    }

    /// The gate that the operator derives.
    fn derive(&mut self) {
        let source = Key::new(&kinds::NODE_POOL, Some("tenants"), "workers");
        self.others.push((&CHANGE_GATE, derived_gate(&source, "tenants-shop")));
    }

    fn wants(version: &str) -> Self {
        let mut world = Self::at_rest();
        world.pool["spec"]["release"]["image"] = json!(image(version));
        // Its control plane was updated before.
        let (_, host) = &mut world.others[0];
        let release = json!({"version": "4.20.8", "image": image("4.20.8")});
        host["status"]["version"]["desired"] = release;
        let entry = json!({"state": "Completed", "version": "4.20.8", "image": image("4.20.8"), "startedTime": "2025-02-01T00:00:00Z"});
        host["status"]["version"]["history"].as_array_mut().unwrap().insert(0, entry);
        world
    }

    fn snapshot(&self, now: &str) -> Snapshot {
        let mut snapshot = Snapshot::default();
        for (row, document) in &self.others {
            snapshot.add_written(row, document, at(now));
        }
        snapshot.add(&NODE_POOL, &self.pool);
        snapshot
    }

    #[expect(clippy::unused_self, reason = "it reads as the others do")]
    fn seen<'a>(&self, snapshot: &'a Snapshot) -> &'a SeenGated {
        snapshot.resource(&Key::new(&kinds::NODE_POOL, Some("tenants"), "workers")).unwrap()
    }

    fn plan(&self, now: &str) -> Plan {
        let snapshot = self.snapshot(now);
        let seen = self.seen(&snapshot);
        let refusals = BTreeMap::new();
        let around = Around {
            snapshot: &snapshot,
            refusals: &refusals,
            held_back: None,
            enforcement: None,
            foresight: Foresight::default(),
        };
        decided(seen, &snapshot.gate(seen), &around, at(now))
    }

    /// Pins what is wanted, and gives what is left to do.
    fn settled(&mut self, now: &str) -> Plan {
        for _ in 0..3 {
            let plan = self.plan(now);
            let [Action { write: Write::MergePatch(change), right: Right::Upkeep, .. }] =
                plan.actions.as_slice()
            else {
                return plan;
            };
            let pin = &change["metadata"]["annotations"][names::WANTED_IMAGE];
            self.pool["metadata"]["annotations"][names::WANTED_IMAGE] = pin.clone();
        }
        panic!("it never settles")
    }

    fn told(&mut self, now: &str) -> String {
        let plan = self.settled(now);
        assert_eq!(plan.actions, [], "{now}");
        let operations = plan.status.expect("it is told").operations;
        let mut told = operations.iter().map(|one| &one["value"]);
        let told = told.find(|value| value["type"] == names::CHANGES_PENDING).cloned();
        told.unwrap_or_default()["message"].as_str().unwrap_or_default().to_owned()
    }

    /// Takes the mark of a plan, as the server would.
    fn marked(&mut self, plan: &Plan) -> Value {
        let [mark] = plan.actions.as_slice() else { panic!("{plan:?}") };
        assert!(mark.initiation().is_some());
        let Write::Apply(Owner::Initiator, document) = &mark.write else { panic!("{mark:?}") };
        let text = document["metadata"]["annotations"][names::ACCEPTED_CONFIG].clone();
        self.pool["metadata"]["annotations"][names::ACCEPTED_CONFIG] = text.clone();
        serde_json::from_str(text.as_str().unwrap()).unwrap()
    }
}

/// Scenario 1 and 7 of the design: held on Wednesday, handed over on Saturday, and another that comes meanwhile waits for itself.
#[test]
fn a_release_of_nodes_is_withheld_until_its_window_and_handed_over_once() {
    let mut world = World::wants("4.20.7");
    assert_eq!(
        world.told(WEDNESDAY),
        "held until 2026-11-21T00:00:00Z: release 4.20.7 (now 4.20.6) (HostedChangeManagementPolicy/tenants/weekend: no maintenance window is open: every Saturday, all day, UTC)"
    );
    let plan = world.settled(SATURDAY);
    let mark = world.marked(&plan);
    let current = world.pool["metadata"]["annotations"][CURRENT].clone();
    assert_eq!(
        (&mark["uid"], &mark["after"], &mark["at"]),
        (&json!("u5"), &current, &json!(SATURDAY))
    );
    assert_eq!((&mark["version"], &mark["image"]), (&json!("4.20.7"), &json!(image("4.20.7"))));
    assert_eq!(world.told(SATURDAY), "nothing waits; under way: release 4.20.7");
    // It is mid-rollout, outside the window, when a second one is wanted: one hand-over in the next.
    world.pool["spec"]["release"]["image"] = json!(image("4.20.8"));
    assert!(world.told(WEDNESDAY).starts_with("held until 2026-11-21T00:00:00Z: release 4.20.8"));
    let plan = world.settled(SATURDAY);
    let second = world.marked(&plan);
    assert_eq!((&second["version"], &second["after"]), (&json!("4.20.8"), &current));
    // It arrives.
    world.pool["metadata"]["annotations"][CURRENT] = second["config"].clone();
    world.pool["status"]["version"] = json!("4.20.8");
    assert_eq!(world.told(WEDNESDAY), "nothing waits");
}

/// HOST-1, GATE-8: a configuration is a change too, and scaling is none.
#[test]
fn a_configuration_of_nodes_waits_as_a_release_does_and_scaling_never() {
    let mut world = World::at_rest();
    world.pool["spec"]["replicas"] = json!(9);
    assert_eq!(world.told(WEDNESDAY), "nothing waits");
    let (_, map) = &mut world.others[2];
    map["data"]["config"] = json!("good bye");
    let told = world.told(WEDNESDAY);
    assert!(told.starts_with("held until 2026-11-21T00:00:00Z: a new configuration: "), "{told}");
    let plan = world.settled(SATURDAY);
    assert!(plan.actions[0].initiation().is_some());
    // Somebody takes it back before its window: it never began.
    let (_, map) = &mut world.others[2];
    map["data"]["config"] = json!("hello");
    assert_eq!(world.told(SATURDAY), "nothing waits");
}

/// HOST-1, CV-4: told on Wednesday, and nothing is handed over on Saturday.
#[test]
fn what_stands_in_the_way_of_a_hand_over_is_told_before_its_window() {
    let check = |mut world: World, expected: &str| {
        let told = world.told(WEDNESDAY);
        assert!(told.contains("and it would not start then: "), "{told}");
        assert!(told.contains(expected), "{expected}: {told}");
        assert_eq!(world.settled(SATURDAY).actions, []);
    };
    let tagged = |version: &str| image(version).replace('@', &format!(":{version}@"));
    let asked = |image: &str| {
        let mut world = World::wants("4.20.7");
        world.pool["spec"]["release"]["image"] = json!(image);
        world
    };
    check(asked("r:4.20.7"), "has no digest");
    check(asked(&image("9.9.9")), "nobody can tell which version it is");
    check(
        asked(&tagged("4.20.9")),
        "4.20.9 is ahead of 4.20.8, which the control plane has (hint: update the control plane first",
    );
    check(asked(&tagged("4.16.1")), "4.16.1 is 4 minor versions behind 4.20.8");
    let mut taken = World::wants("4.20.7");
    let own = json!({"metadata": {"name": "workers", "namespace": "tenants-shop"}, "spec": {
        "changeManagement": {"strategy": "Permissive"}, "holds": [{"what": "Deployments"}]}});
    taken.others.retain(|(row, _)| row.kind != CHANGE_GATE.kind);
    taken.others.push((&CHANGE_GATE, own));
    check(
        taken,
        "nothing would hold the steps of its rollout: ChangeGate/tenants-shop/workers is not there, or is somebody's own",
    );
    // Of what cannot be told nothing is pinned, so nothing waits.
    let mut missing = World::wants("4.20.7");
    missing.others.retain(|(row, _)| row.kind != CONFIG_MAP.kind);
    assert_eq!(missing.told(WEDNESDAY), "nothing waits");
    assert_eq!(missing.settled(SATURDAY).actions, []);
}

/// RCH-8: it stands where the machines are before anything is handed over, and goes with what it was derived from.
#[test]
fn the_gate_of_the_steps_comes_before_the_hand_over_and_goes_with_its_pool() {
    let mut world = World::wants("4.20.7");
    world.others.retain(|(row, _)| row.kind != CHANGE_GATE.kind);
    let plan = world.plan(SATURDAY);
    let [Action { target, write: Write::Create(made), right: Right::Upkeep, .. }] =
        plan.actions.as_slice()
    else {
        panic!("{plan:?}")
    };
    assert_eq!(target.to_string(), "ChangeGate/tenants-shop/workers");
    assert_eq!(
        made["spec"],
        json!({"derivedFrom": {"kind": "NodePool", "namespace": "tenants", "name": "workers"},
            "holds": [{"what": "MachineDeployments", "names": ["workers"]}]})
    );
    world.derive();
    assert!(world.settled(SATURDAY).actions[0].initiation().is_some());
    // Whoever takes the stanza away is held by nothing any more (GATE-1).
    world.pool["spec"]["changeManagement"] = Value::Null;
    let plan = world.plan(SATURDAY);
    assert!(matches!(plan.actions[0].write, Write::Delete { .. }), "{plan:?}");
    // Nodes that are changed in place have no steps of machines.
    let mut world = World::wants("4.20.7");
    world.others.retain(|(row, _)| row.kind != CHANGE_GATE.kind);
    world.pool["spec"]["management"] = json!({"upgradeType": "InPlace"});
    assert!(world.settled(SATURDAY).actions[0].initiation().is_some());
}

/// RCH-8: the derived gate says when as its pool does, whatever freezes it, and is closed without it.
#[test]
fn a_derived_gate_goes_by_what_it_was_derived_from() {
    let verdict = |world: &World, now: &str| {
        let snapshot = world.snapshot(now);
        let key = Key::new(&kinds::CHANGE_GATE, Some("tenants-shop"), "workers");
        snapshot.gate(snapshot.resource(&key).unwrap()).verdict(at(now))
    };
    let mut world = World::at_rest();
    assert_eq!(verdict(&world, WEDNESDAY), Verdict::Held);
    assert_eq!(verdict(&world, SATURDAY), Verdict::Permitted);
    let freeze = json!({"apiVersion": names::API_VERSION, "kind": names::CHANGE_FREEZE,
        "metadata": {"name": "stop", "namespace": "tenants", "creationTimestamp": "2026-11-01T00:00:00Z"},
        "spec": {"reason": "a fair"}});
    world.others.push((&crate::cluster::kinds::CHANGE_FREEZE, freeze));
    assert_eq!(verdict(&world, SATURDAY), Verdict::Held);
    world.others.pop();
    world.pool["metadata"]["name"] = json!("another");
    assert_eq!(verdict(&world, SATURDAY), Verdict::CannotTell);
}

/// A pool that is being created gets what is wanted, and creation is not held.
#[test]
fn a_pool_that_is_being_created_is_not_held() {
    let mut world = World::wants("4.20.7");
    world.pool["metadata"]["annotations"] = json!({});
    assert_eq!(world.told(WEDNESDAY), "nothing waits");
}

/// GATE-5, RCH-8: `tenants` with the cluster `shop` and somebody's own namespace `tenants-shop` are one name. Who makes a pool of a hosted
/// cluster that is not there gets no gate beside what others own.
#[test]
fn no_gate_is_derived_into_a_namespace_that_no_hosted_cluster_has() {
    let mut world = World::wants("4.20.7");
    world.others.retain(|(row, _)| row.kind != kinds::CHANGE_GATE);
    let derives = |world: &World| {
        let snapshot = world.snapshot(WEDNESDAY);
        let name = world.pool["metadata"]["name"].as_str().unwrap();
        let key = Key::new(&kinds::NODE_POOL, Some("tenants"), name);
        let pool = snapshot.resource(&key).unwrap();
        let action = derived(pool, pool.node_pool().unwrap(), &snapshot);
        action.is_some_and(|action| matches!(action.write, Write::Create(_)))
    };
    assert!(derives(&world));
    world.pool["metadata"]["name"] = json!(names::PROBE);
    assert!(!derives(&world), "no server asks a gate of that name there");
    world.pool["metadata"]["name"] = json!("workers");
    world.others.retain(|(row, _)| row.kind != kinds::HOSTED_CLUSTER);
    assert!(!derives(&world));
}
