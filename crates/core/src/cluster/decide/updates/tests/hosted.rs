//! The same for a hosted control plane: when is its wish pinned, held, stopped, marked? (HOST-1, CV-4, GATE-5)

use super::*;
use crate::cluster::kinds::{
    CHANGE_FREEZE, HOSTED_CHANGE_MANAGEMENT_POLICY, HOSTED_CLUSTER, NAMESPACE, NODE_POOL, Row,
};

struct Host {
    cluster: Value,
    others: Vec<(&'static Row, Value)>,
}

impl Host {
    /// A hosted cluster at 4.20.6 that permits Saturdays, and is asked for this image.
    fn asked(wanted: &str) -> Self {
        let status = cluster(Value::Null)["status"].clone();
        let cluster = json!({"metadata": {"name": "shop", "namespace": "tenants", "uid": "u9", "resourceVersion": "7"},
            "spec": {"release": {"image": wanted},
                "changeManagement": {"strategy": "ByPolicy", "byPolicy": {"name": "weekend"}}},
            "status": {"version": status}});
        let policy = |namespace: &str, day: &str| {
            json!({"apiVersion": names::API_VERSION, "kind": names::HOSTED_CHANGE_MANAGEMENT_POLICY,
            "metadata": {"name": "weekend", "namespace": namespace, "generation": 1}, "spec": {
            "strategy": "MaintenanceSchedule", "maintenanceSchedule": {"permit": {
                "recurrence": {"frequency": "Weekly", "weekly": {"daysOfWeek": [day]}}}}}})
        };
        let row = &HOSTED_CHANGE_MANAGEMENT_POLICY;
        // GATE-5: another namespace has one of the same name, which is open on Wednesdays.
        let policies = [policy("tenants", "Saturday"), policy("others", "Wednesday")];
        Self { cluster, others: policies.map(|policy| (row, policy)).into() }
    }

    fn with_pool(mut self, namespace: &str, version: &str) -> Self {
        let pool = json!({"metadata": {"name": "workers", "namespace": namespace},
            "spec": {"clusterName": "shop"}, "status": {"version": version}});
        self.others.push((&NODE_POOL, pool));
        self
    }

    fn snapshot(&self, now: &str) -> Snapshot {
        let mut snapshot = Snapshot::default();
        for (row, document) in &self.others {
            snapshot.add_written(row, document, at(now));
        }
        snapshot.add(&HOSTED_CLUSTER, &self.cluster);
        snapshot
    }

    /// Does what is upkeep, and gives what is left to do.
    fn settled(&mut self, now: &str) -> Plan {
        for _ in 0..3 {
            let snapshot = self.snapshot(now);
            let key = Key::new(&HOSTED_CLUSTER.kind, Some("tenants"), "shop");
            let seen = snapshot.resource(&key).unwrap();
            let around = Around {
                snapshot: &snapshot,
                refusals: &BTreeMap::new(),
                held_back: None,
                enforcement: None,
                foresight: Foresight::default(),
            };
            let plan = decided(seen, &snapshot.gate(seen), &around, at(now));
            let [Action { write: Write::MergePatch(change), right: Right::Upkeep, .. }] =
                plan.actions.as_slice()
            else {
                return plan;
            };
            let pin = &change["metadata"]["annotations"][names::WANTED_IMAGE];
            self.cluster["metadata"]["annotations"][names::WANTED_IMAGE] = pin.clone();
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
}

#[test]
fn a_hosted_release_is_held_by_the_policy_of_its_namespace_and_marked_in_its_window() {
    let mut host = Host::asked(&image("4.20.7"));
    assert_eq!(
        host.told(WEDNESDAY),
        "held until 2026-11-21T00:00:00Z: release 4.20.7 (now 4.20.6) (HostedChangeManagementPolicy/tenants/weekend: no maintenance window is open: every Saturday, all day, UTC)"
    );
    let plan = host.settled(SATURDAY);
    let [mark] = plan.actions.as_slice() else { panic!("{plan:?}") };
    let Write::Apply(Owner::Initiator, document) = &mark.write else { panic!("{mark:?}") };
    assert_eq!(document["kind"], "HostedCluster");
    assert_eq!(document["metadata"]["namespace"], "tenants");
    let noted = annotations(mark);
    let accepted: Value =
        serde_json::from_str(noted[names::ACCEPTED_RELEASE].as_str().unwrap()).unwrap();
    assert_eq!(
        accepted,
        json!({"version": "4.20.7", "image": image("4.20.7"), "uid": "u9",
            "after": "2025-01-02T00:00:00Z", "at": SATURDAY, "until": "2026-11-21T13:00:00Z"})
    );
    assert_eq!(noted[PERMIT_CHANGE], noted[names::ACCEPTED_RELEASE]);
    assert_eq!(noted[PERMIT_FROM], "2026-11-21T00:00:00Z");
    assert_eq!(noted.get(BEGUN_RELEASE), None, "a hosted control plane has no masters");
    // Marked, it is one change: nothing more is asked, and another wish waits for itself.
    host.cluster["metadata"]["annotations"][names::ACCEPTED_RELEASE] =
        noted[names::ACCEPTED_RELEASE].clone();
    assert_eq!(host.told(WEDNESDAY), "nothing waits; under way: release 4.20.7");
    host.cluster["spec"]["release"]["image"] = json!(image("4.20.8"));
    assert!(host.told(WEDNESDAY).starts_with("held until 2026-11-21T00:00:00Z: release 4.20.8"));
    // GATE-16: restored elsewhere, it starts nothing.
    host.cluster["metadata"]["uid"] = json!("u10");
    host.cluster["spec"]["release"]["image"] = json!(image("4.20.7"));
    assert!(host.told(WEDNESDAY).starts_with("held until"));
}

/// HOST-1, CV-4: told on Wednesday, with the field and what to do.
#[test]
fn what_stands_in_the_way_of_a_hosted_release_is_told_before_its_window() {
    let check = |mut host: Host, expected: &str| {
        let told = host.told(WEDNESDAY);
        assert!(told.contains("and it would not start then: spec.release.image: "), "{told}");
        assert!(told.contains(expected), "{expected}: {told}");
        // And it does not, whatever the gate says.
        assert_eq!(host.settled(SATURDAY).actions, []);
    };
    check(Host::asked("registry/release:4.20.7"), "has no digest");
    check(
        Host::asked(&image("9.9.9")),
        "nobody can tell which version it is (hint: write the version as the tag",
    );
    check(Host::asked(&image("4.19.9")), "4.19.9 is older than 4.20.6");
    let tagged = |version: &str| image(version).replace('@', &format!(":{version}-x86_64@"));
    check(Host::asked(&tagged("4.22.1")), "4.22.1 skips 4.21");
    let other = image("4.21.2").replace('@', ":4.20.7@");
    check(Host::asked(&other), "is release 4.21.2, and not 4.20.7");
    let mut not = Host::asked(&image("4.21.2"));
    not.cluster["status"]["conditions"] = json!([{"type": "ClusterVersionUpgradeable", "status": "False",
        "reason": "AdminAckRequired", "message": "acknowledge it"}]);
    check(not, "the cluster is not upgradeable to 4.21.2 (AdminAckRequired): acknowledge it");
    check(
        Host::asked(&image("4.21.2")).with_pool("tenants", "4.17.3"),
        "NodePool/tenants/workers is at 4.17.3, 4 minor versions behind 4.21.2 (hint: update the node pool first",
    );
    check(
        Host::asked(&image("4.20.3")).with_pool("tenants", "4.20.6"),
        "NodePool/tenants/workers is at 4.20.6, ahead of 4.20.3",
    );
}

#[test]
fn what_does_not_stand_in_the_way_of_a_hosted_release_lets_it_begin() {
    let forced = |wanted: &str| {
        let mut host = Host::asked(wanted).with_pool("tenants", "4.17.3");
        host.cluster["metadata"]["annotations"] = json!({crate::release::of::FORCED: wanted});
        host
    };
    for mut host in [
        // Nodes three minor versions behind are supported, and those of another namespace are another's (GATE-5).
        Host::asked(&image("4.21.2")).with_pool("tenants", "4.18.3"),
        Host::asked(&image("4.21.2")).with_pool("others", "4.12.0"),
        Host::asked(&image("4.20.3")),
        // A tag beside the digest says which version it is, and its owner may set aside what speaks against it.
        Host::asked(&image("4.20.9").replace('@', ":4.20.9-multi@")),
        forced(&image("4.21.2")),
    ] {
        let plan = host.settled(SATURDAY);
        assert!(plan.actions[0].initiation().is_some(), "{}", host.cluster);
    }
}

/// OVR-1: freezes of the team and of the platform hold it, and it is asked again about both right before the mark (GATE-11).
#[test]
fn a_freeze_of_the_team_holds_what_it_hosts() {
    let mut host = Host::asked(&image("4.20.7"));
    let freeze = |namespace: &str| {
        json!({"apiVersion": names::API_VERSION, "kind": names::CHANGE_FREEZE,
        "metadata": {"name": "stop", "namespace": namespace, "creationTimestamp": "2026-11-01T00:00:00Z"},
        "spec": {"reason": "a fair"}})
    };
    host.others.push((&NAMESPACE, json!({"metadata": {"name": "tenants"}})));
    host.others.push((&CHANGE_FREEZE, freeze("others")));
    assert_eq!(host.settled(SATURDAY).actions.len(), 1, "another team's");
    host.others.push((&CHANGE_FREEZE, freeze("tenants")));
    assert!(host.told(SATURDAY).contains("a fair"));
    let snapshot = host.snapshot(SATURDAY);
    let key = Key::new(&HOSTED_CLUSTER.kind, Some("tenants"), "shop");
    let resting = snapshot.rests_on(snapshot.get(&key).unwrap());
    let resting: Vec<String> = resting.iter().map(Key::to_string).collect();
    assert_eq!(
        resting,
        [
            "HostedCluster/tenants/shop",
            "HostedChangeManagementPolicy/tenants/weekend",
            "ClusterChangeFreeze",
            "ChangeFreeze"
        ]
    );
}

/// LIVE-2: whom what happens concerns.
#[test]
fn a_hosted_cluster_and_its_nodes_concern_each_other_and_nobody_elses() {
    let host =
        Host::asked(&image("4.20.7")).with_pool("tenants", "4.20.6").with_pool("others", "4.20.6");
    let snapshot = host.snapshot(WEDNESDAY);
    let cluster = Key::new(&HOSTED_CLUSTER.kind, Some("tenants"), "shop");
    let pool = |namespace| Key::new(&NODE_POOL.kind, Some(namespace), "workers");
    let concerned = |key: &Key| snapshot.concerned(key).into_iter().collect::<Vec<_>>();
    assert_eq!(concerned(&cluster), [pool("tenants")]);
    assert_eq!(concerned(&pool("tenants")), [cluster]);
    assert_eq!(concerned(&pool("others")), []);
}
