//! Rows: with fifty pools, whom does a change concern?

use serde_json::{Value, json};

use super::*;
use crate::cluster::kinds::{self, Row};

const POOLS: usize = 50;

fn role(name: &str) -> Value {
    json!({format!("node-role.kubernetes.io/{name}"): ""})
}

fn pool(name: &str, selector: &Value) -> Value {
    json!({"metadata": {"name": name}, "spec": {
        "nodeSelector": selector,
        "machineConfigSelector": {"matchLabels": {"role": name}}}})
}

fn named(name: &str) -> Value {
    pool(name, &json!({"matchLabels": role(name)}))
}

fn node(name: &str, labels: &Value, desired: &str) -> Value {
    json!({"metadata": {"name": name, "labels": labels, "annotations": {
        "machineconfiguration.openshift.io/desiredConfig": desired}}})
}

fn config(name: &str, role: &str) -> Value {
    json!({"metadata": {"name": name, "labels": {"role": role}}, "spec": {}})
}

fn rendered(name: &str, pool: &str) -> Value {
    json!({"metadata": {"name": name, "ownerReferences": [
        {"apiVersion": "machineconfiguration.openshift.io/v1", "kind": "MachineConfigPool",
         "name": pool, "controller": true, "uid": "u"}]}, "spec": {}})
}

/// Fifty pools of two nodes each, masters and arbiters among them.
fn cluster() -> Snapshot {
    let mut cluster = Snapshot::default();
    let custom = (3..POOLS).map(|number| format!("p{number}"));
    let names = ["master", "arbiter", "worker"].map(str::to_owned).into_iter().chain(custom);
    for name in names {
        cluster.add(&kinds::MACHINE_CONFIG_POOL, &named(&name));
        for place in ["a", "b"] {
            let of = format!("rendered-{name}-1");
            cluster.add(&kinds::NODE, &node(&format!("{name}-{place}"), &role(&name), &of));
        }
        cluster.add(&kinds::MACHINE_CONFIG, &rendered(&format!("rendered-{name}-1"), &name));
        cluster.add(&kinds::MACHINE_CONFIG, &config(&format!("50-{name}"), &name));
    }
    assert_eq!(cluster.pools().count(), POOLS);
    cluster
}

fn names(concerned: &BTreeSet<Key>) -> Vec<&str> {
    concerned.iter().map(|key| &*key.name).collect()
}

fn check(cluster: &mut Snapshot, row: &'static Row, document: &Value, expected: &[&str]) {
    let concerned = cluster.learn(row.see(document));
    assert_eq!(names(&concerned), expected, "{document}");
}

#[test]
fn a_change_of_one_node_concerns_its_pool_and_the_one_it_was_in() {
    let mut cluster = cluster();
    let all = &mut cluster;
    let of = |labels: &Value, desired: &str| node("p7-a", labels, desired);
    check(all, &kinds::NODE, &of(&role("p7"), "other"), &["p7"]);
    check(all, &kinds::NODE, &of(&role("p8"), "other"), &["p7", "p8"]);
    check(all, &kinds::NODE, &of(&role("p8"), "another"), &["p8"]);
    check(all, &kinds::NODE, &of(&json!({}), "another"), &["p8"]);
    check(all, &kinds::NODE, &of(&json!({}), "other"), &[]);
    // Two pools that claim it both say so.
    let both = json!({"node-role.kubernetes.io/p8": "", "node-role.kubernetes.io/p9": ""});
    check(all, &kinds::NODE, &of(&both, "other"), &["p8", "p9"]);
    let key = Key::new(&kinds::NODE, None, "p7-a");
    assert_eq!(names(&all.forget(&key).unwrap().1), ["p8", "p9"]);
    // Voters of two kinds are never away together, so each waits for the other.
    let master = node("master-a", &role("master"), "other");
    check(all, &kinds::NODE, &master, &["arbiter", "master"]);
}

/// LIVE-2: whoever lets a node go has it in its ledger, wherever the node went.
#[test]
fn a_node_that_left_still_concerns_the_pool_that_began_it() {
    let mut cluster = cluster();
    let mut began = named("p7");
    let ledger =
        json!([{"node": "p7-a", "config": "rendered-p7-2", "until": "2026-11-15T00:00:00Z"}]);
    began["metadata"]["annotations"] = json!({api::machine::names::LEDGER: ledger.to_string()});
    check(&mut cluster, &kinds::MACHINE_CONFIG_POOL, &began, &[]);
    let known = cluster.pool("p7").unwrap();
    assert!(known.ledger.get("p7-a").is_some(), "{:?}", known.ledger);
    check(&mut cluster, &kinds::NODE, &node("p7-a", &role("p8"), "x"), &["p7", "p8"]);
    check(&mut cluster, &kinds::NODE, &node("p7-a", &role("p8"), "y"), &["p7", "p8"]);
}

#[test]
fn a_configuration_concerns_those_who_select_it_or_did() {
    let mut cluster = cluster();
    let all = &mut cluster;
    check(all, &kinds::MACHINE_CONFIG, &config("99-x", "p7"), &["p7"]);
    check(all, &kinds::MACHINE_CONFIG, &config("99-x", "p8"), &["p7", "p8"]);
    check(all, &kinds::MACHINE_CONFIG, &config("99-x", "nobody"), &["p8"]);
    check(all, &kinds::MACHINE_CONFIG, &config("99-x", "nobody"), &[]);
    // What was rendered concerns its pool, and the pool of a node that has it from where it was before.
    check(all, &kinds::MACHINE_CONFIG, &rendered("rendered-p7-1", "p7"), &["p7"]);
    check(all, &kinds::NODE, &node("p7-a", &role("p8"), "rendered-p7-1"), &["p7", "p8"]);
    check(all, &kinds::MACHINE_CONFIG, &rendered("rendered-p7-1", "p7"), &["p7", "p8"]);
    let key = Key::new(&kinds::MACHINE_CONFIG, None, "50-p9");
    assert_eq!(names(&all.forget(&key).unwrap().1), ["p9"]);
}

/// CV-2
#[test]
fn the_control_plane_concerns_the_masters() {
    let mut cluster = cluster();
    let version = |name: &str| json!({"metadata": {"name": name}});
    check(&mut cluster, &kinds::CLUSTER_VERSION, &version("version"), &["master"]);
    check(&mut cluster, &kinds::CLUSTER_VERSION, &version("other"), &[]);
    let key = Key::new(&kinds::CLUSTER_VERSION, None, "version");
    assert_eq!(names(&cluster.forget(&key).unwrap().1), ["master"]);
}

/// LIVE-2: where nobody can tell, all might be concerned.
#[test]
fn a_pool_that_selects_others_concerns_all_and_one_that_does_not_concerns_nobody() {
    let mut cluster = cluster();
    let all = &mut cluster;
    let mut paused = named("p7");
    paused["spec"]["paused"] = json!(true);
    check(all, &kinds::MACHINE_CONFIG_POOL, &paused, &[]);
    let mut masters = named("master");
    masters["spec"]["paused"] = json!(true);
    check(all, &kinds::MACHINE_CONFIG_POOL, &masters, &["arbiter"]);
    let count = |all: &mut Snapshot, document: &Value| {
        all.learn(kinds::MACHINE_CONFIG_POOL.see(document)).len()
    };
    let typo = json!({"matchExpressions": [{"key": "role", "operator": "exists"}]});
    assert_eq!(count(all, &pool("p7", &typo)), POOLS - 1);
    // While its selector cannot be read it may claim any node, beside the one that does.
    check(all, &kinds::NODE, &node("p9-a", &role("p9"), "x"), &["p7", "p9"]);
    assert_eq!(count(all, &named("p7")), POOLS - 1);
    assert_eq!(count(all, &named("new")), POOLS);
    let key = Key::new(&kinds::MACHINE_CONFIG_POOL, None, "new");
    assert_eq!(all.forget(&key).unwrap().1.len(), POOLS);
    check(all, &kinds::NODE, &node("p9-a", &role("p9"), "y"), &["p9"]);
}

/// A configuration whose pool cannot be read may be any of its.
#[test]
fn a_selector_of_configurations_that_cannot_be_read_may_choose_any() {
    let mut cluster = cluster();
    let mut unreadable = named("p7");
    unreadable["spec"]["machineConfigSelector"] =
        json!({"matchExpressions": [{"key": "role", "operator": "exists"}]});
    cluster.add(&kinds::MACHINE_CONFIG_POOL, &unreadable);
    check(&mut cluster, &kinds::MACHINE_CONFIG, &config("99-x", "p8"), &["p7", "p8"]);
}

/// OVR-1: the pools that a freeze selects, as it was and as it is.
#[test]
fn a_freeze_concerns_those_that_it_stops() {
    let mut cluster = cluster();
    let row = &kinds::CLUSTER_CHANGE_FREEZE;
    let freeze = |holds: Value| json!({"metadata": {"name": "stop"}, "spec": {"reason": "a storm", "holds": holds}});
    let pools = |name: &str| json!([{"what": "MachineConfigPools", "names": [name]}]);
    let learned = |cluster: &mut Snapshot, holds| cluster.learn(row.see(&freeze(holds)));
    assert_eq!(names(&learned(&mut cluster, pools("p3"))), ["p3"]);
    assert_eq!(names(&learned(&mut cluster, pools("p4"))), ["p3", "p4"]);
    assert_eq!(names(&learned(&mut cluster, json!([{"what": "KuredLock"}]))), ["p4"]);
    assert_eq!(learned(&mut cluster, Value::Null).len(), POOLS);
    let (_, concerned) = cluster.forget(&Key::new(row, None, "stop")).unwrap();
    assert_eq!(concerned.len(), POOLS);
}
