use serde_json::{Value, json};

use super::*;
use crate::cluster::{kinds, snapshot::Snapshot};

fn at(text: &str) -> Instant {
    Instant::parse(text).unwrap()
}

fn pool(name: &str, updated: i64) -> Value {
    json!({
        "metadata": {"name": name, "generation": 1},
        "spec": {"configuration": {"name": format!("rendered-{name}-2")}},
        "status": {"observedGeneration": 1, "configuration": {"name": format!("rendered-{name}-1")},
            "machineCount": 3, "updatedMachineCount": updated},
    })
}

/// What is told of a gate of the platform with these holds, on a stock OpenShift whose pools and control plane wait.
fn told(strategy: &str, mode: &str, holds: &Value, listed: Listed) -> Option<Told> {
    let mut snapshot = Snapshot::default();
    for (name, updated) in [("master", 0), ("worker", 1), ("infra", 0)] {
        snapshot.add(&kinds::MACHINE_CONFIG_POOL, &pool(name, updated));
    }
    let version = json!({"metadata": {"name": "version"}, "spec": {"desiredUpdate": {"version": "4.20.7"}},
        "status": {"desired": {"version": "4.20.6"}}});
    snapshot.add(&kinds::CLUSTER_VERSION, &version);
    let gate = json!({"metadata": {"name": "openshift", "generation": 1},
        "spec": {"changeManagement": {"strategy": strategy}, "mode": mode, "holds": holds}});
    snapshot.add(&kinds::CLUSTER_CHANGE_GATE, &gate);
    let key = Key::new(&api::kinds::CLUSTER_CHANGE_GATE, None, "openshift");
    let seen = snapshot.resource(&key).unwrap();
    let listed = move |_: &Kind| listed;
    let around = Surroundings { listed: Some(&listed), ..Surroundings::of(&snapshot) };
    found(seen, &snapshot.gate(seen), &around, at("2026-11-18T00:00:00Z"))
}

/// RCH-12, POOL-6: pools but for the masters, and the control plane, are counted from what is seen of them anyway.
#[test]
fn a_gate_tells_which_pools_and_updates_of_a_stock_cluster_wait() {
    #[track_caller]
    fn check(told: &Told, expected: &[(&str, Option<i64>, Option<i64>)], waits: &[&str]) {
        let holds: Vec<_> = told
            .holds
            .iter()
            .map(|hold| (hold.what.as_str(), hold.targets, hold.pending))
            .collect();
        assert_eq!(holds, expected);
        let found: Vec<String> = told
            .pending
            .iter()
            .map(|change| {
                let what = change.change.as_deref().unwrap_or_default();
                format!("{}/{}: {what}", change.kind, change.name)
            })
            .collect();
        assert_eq!(found, waits);
    }

    let (pools, plane) = ("MachineConfigPools", "ClusterVersion");
    let infra = "MachineConfigPool/infra: rendered-infra-2 on 3 of 3 nodes";
    let worker = "MachineConfigPool/worker: rendered-worker-2 on 2 of 3 nodes";
    let update = "ClusterVersion/version: release 4.20.7 (now 4.20.6)";
    let both = json!([{"what": pools}, {"what": plane}]);
    let shut = told("Restrictive", "Enforce", &both, Listed::Known).unwrap();
    check(&shut, &[(pools, Some(2), Some(2)), (plane, Some(1), Some(1))], &[infra, worker, update]);
    assert_eq!((shut.targets, shut.pending_count), (Some(3), Some(3)));
    let words: Vec<String> = waiting(&shut, None).iter().map(ToString::to_string).collect();
    assert_eq!(words, ["2 of MachineConfigPools: infra, worker", "1 of ClusterVersion: version"]);
    let named = json!([{"what": pools, "names": ["worker"]}]);
    let named = told("Restrictive", "Enforce", &named, Listed::Known).unwrap();
    check(&named, &[(pools, Some(1), Some(1))], &[worker]);
    // What is open, or only noted, waits for nobody; who is refused waits by himself.
    let open = told("Permissive", "Enforce", &both, Listed::Known).unwrap();
    check(&open, &[(pools, Some(2), Some(0)), (plane, Some(1), Some(0))], &[]);
    let noted = told("Restrictive", "Audit", &both, Listed::Known).unwrap();
    check(&noted, &[(pools, Some(2), None), (plane, Some(1), None)], &[]);
    let refused = json!([{"what": plane, "how": "Refuse"}]);
    let refused = told("Restrictive", "Enforce", &refused, Listed::Known).unwrap();
    check(&refused, &[(plane, Some(1), None)], &[]);
    // A cluster that is no OpenShift.
    let absent = told("Restrictive", "Enforce", &both, Listed::Absent).unwrap();
    check(&absent, &[(pools, None, None), (plane, None, None)], &[]);
    let said = absent.holds.iter().filter_map(|hold| hold.message.as_deref());
    assert!(said.clone().count() == 2 && said.into_iter().all(|said| said.contains("has no kind")));
    assert!(told("Restrictive", "Enforce", &both, Listed::Unknown).is_none());
}

/// CV-2, GATE-10: what holds updates of a stock control plane tells which of its nodes wait, and while an update has begun what rides along with it.
#[test]
fn a_gate_on_updates_of_a_stock_cluster_tells_of_its_nodes_and_of_what_rides_along() {
    let told = |how: &str, mode: &str, strategy: &str, record: Option<&str>| {
        let mut snapshot = Snapshot::default();
        snapshot.add(&kinds::MACHINE_CONFIG_POOL, &pool("master", 1));
        let noted = record.map_or_else(
            || json!({}),
            |record| json!({api::machine::names::BEGUN_RELEASE: record}),
        );
        let version = json!({"metadata": {"name": "version", "annotations": noted}, "spec": {},
            "status": {"desired": {"version": "4.20.6"}}});
        snapshot.add(&kinds::STOCK_CLUSTER_VERSION, &version);
        let gate = json!({"metadata": {"name": "openshift", "generation": 1},
            "spec": {"changeManagement": {"strategy": strategy}, "mode": mode,
                "holds": [{"what": "ClusterVersion", "how": how}, {"what": "MachineConfigPools"}]}});
        snapshot.add(&kinds::CLUSTER_CHANGE_GATE, &gate);
        let key = Key::new(&api::kinds::CLUSTER_CHANGE_GATE, None, "openshift");
        let seen = snapshot.resource(&key).unwrap();
        let listed = |_: &Kind| Listed::Known;
        let around = Surroundings { listed: Some(&listed), ..Surroundings::of(&snapshot) };
        found(seen, &snapshot.gate(seen), &around, at("2026-11-18T00:00:00Z")).unwrap()
    };
    for how in ["Queue", "Refuse"] {
        let shut = told(how, "Enforce", "Restrictive", None);
        let counts: Vec<_> = shut.holds.iter().map(|hold| (hold.targets, hold.pending)).collect();
        assert_eq!(counts, [(Some(1), Some(1)), (Some(0), Some(0))], "{how}");
        let waits = &shut.pending[0];
        assert_eq!((waits.kind.as_str(), waits.name.as_str()), ("MachineConfigPool", "master"));
        assert_eq!(waits.change.as_deref(), Some("rendered-master-2 on 2 of 3 nodes"));
        let words: Vec<String> = waiting(&shut, None).iter().map(ToString::to_string).collect();
        assert_eq!(words, ["1 of ClusterVersion: master"]);
        assert_eq!(shut.holds[0].message, None);
    }
    assert_eq!(told("Queue", "Enforce", "Permissive", None).pending, []);
    assert_eq!(told("Queue", "Audit", "Restrictive", None).pending, []);
    let record =
        r#"{"release":"4.20.7","sources":{},"generated":{},"riding":{"50-a":"","99-b":"d"}}"#;
    for how in ["Queue", "Refuse"] {
        let begun = told(how, "Enforce", "Restrictive", Some(record));
        assert_eq!(begun.pending, [], "what has begun waits for nobody");
        assert_eq!(
            begun.holds[0].message.as_deref(),
            Some(
                "rides along with release 4.20.7, because people wrote it for the nodes of the control plane after that began: 50-a (taken away), 99-b"
            )
        );
    }
    assert_eq!(told("Queue", "Warn", "Restrictive", Some(record)).holds[0].message, None);
}
