use api::machine::names::LEDGER;
use serde_json::json;

use super::*;
use crate::gate::words::each;

mod made;
mod table;

pub(crate) fn gated(row: &'static Row, document: &Value) -> SeenGated {
    let Seen::Gated(gated) = row.see(document) else { panic!("{row:?} asks no policy") };
    SeenGated::clone(&gated)
}

pub(crate) fn part(row: &'static Row, document: &Value) -> SeenPart {
    let Seen::Part(part) = row.see(document) else { panic!("{row:?} is no part") };
    SeenPart::clone(&part)
}

fn check(row: &'static Row, document: &Value, waiting: &[&str], begun: &[&str]) {
    let found = gated(row, document).pending;
    assert_eq!(
        (each(&found.waiting), each(&found.begun)),
        (
            waiting.iter().map(ToString::to_string).collect(),
            begun.iter().map(ToString::to_string).collect()
        ),
        "{document}"
    );
}

/// What waits for a gate is what its status tells, so that every view shows it.
#[test]
fn what_waits_for_a_gate_is_read_from_its_status() {
    let gate = |namespace: Value, pending: i64| {
        let named = |name: &str| json!({"kind": "Deployment", "namespace": "shop", "name": name});
        json!({"metadata": {"name": "rollouts", "namespace": namespace}, "status": {
            "holds": [{"what": "Deployments", "targets": 9, "pending": pending}, {"what": "KuredLock"}],
            "pending": if pending == 0 { json!([]) } else { json!([named("api"), named("web")]) }}})
    };
    check(&CHANGE_GATE, &gate(json!("shop"), 0), &[], &[]);
    check(&CHANGE_GATE, &gate(json!("shop"), 2), &["2 of Deployments: api, web"], &[]);
    check(&CHANGE_GATE, &gate(json!("shop"), 7), &["7 of Deployments: api, web, and 5 more"], &[]);
    let of_cluster = gate(Value::Null, 2);
    check(&CLUSTER_CHANGE_GATE, &of_cluster, &["2 of Deployments: shop/api, shop/web"], &[]);
    check(&CHANGE_GATE, &json!({}), &[], &[]);
}

/// POOL-6
#[test]
fn a_requested_release_waits_until_it_is_accepted() {
    let kind = &CLUSTER_VERSION;
    let with = |wanted: Value, accepted: Value, state: &str| json!({"spec": {"desiredUpdate": wanted}, "status": {"desired": accepted, "history": [{"state": state}]}});
    let now = json!({"version": "4.20.8", "image": "r@a"});
    check(kind, &json!({}), &[], &[]);
    check(kind, &with(Value::Null, now.clone(), "Completed"), &[], &[]);
    check(kind, &with(json!({"version": "4.20.8"}), now.clone(), "Completed"), &[], &[]);
    check(
        kind,
        &with(json!({"version": "4.21.3"}), now.clone(), "Completed"),
        &["release 4.21.3 (now 4.20.8)"],
        &[],
    );
    check(
        kind,
        &with(json!({"version": "4.20.8", "image": "r@b"}), now.clone(), "Completed"),
        &["release 4.20.8 (now 4.20.8)"],
        &[],
    );
    check(
        kind,
        &with(json!({"image": "r@b"}), now.clone(), "Completed"),
        &["release r@b (now 4.20.8)"],
        &[],
    );
    // CV-1: accepted is begun, and a new request meanwhile is a new change.
    check(kind, &with(Value::Null, now.clone(), "Partial"), &[], &["release 4.20.8"]);
    check(
        kind,
        &with(json!({"version": "4.21.3"}), now, "Partial"),
        &["release 4.21.3 (now 4.20.8)"],
        &["release 4.20.8"],
    );
}

/// POOL-6
#[test]
fn machines_without_the_newest_configuration_are_what_waits_in_a_pool() {
    let kind = &MACHINE_CONFIG_POOL;
    let with = |target: &str, reached: &str, machines: i64, updated: i64| {
        json!({"spec": {"configuration": {"name": target}},
            "status": {"configuration": {"name": reached}, "machineCount": machines, "updatedMachineCount": updated}})
    };
    check(kind, &with("rendered-a", "rendered-a", 3, 3), &[], &[]);
    check(kind, &with("rendered-b", "rendered-a", 3, 1), &["rendered-b on 2 of 3 nodes"], &[]);
    check(kind, &with("rendered-b", "rendered-b", 3, 2), &["rendered-b on 1 of 3 nodes"], &[]);
    check(kind, &with("rendered-b", "rendered-a", 0, 0), &[], &[]);
    // What has begun is under way, and does not wait.
    let moving = |updated: i64| {
        let mut pool = with("rendered-b", "rendered-a", 3, updated);
        pool["metadata"]["annotations"] = json!({LEDGER: json!([
            {"node": "n1", "config": "rendered-b", "until": "2026-11-15T12:05:00Z"},
            {"node": "n2", "config": "rendered-a", "until": "2026-11-15T12:05:00Z"},
        ]).to_string()});
        pool
    };
    let begun = "rendered-b on 1 of 3 nodes";
    check(kind, &moving(1), &["rendered-b on 1 of 3 nodes"], &[begun]);
    check(kind, &moving(2), &[], &[begun]);
    check(kind, &moving(3), &[], &[]);
    // Counts of before the newest was rendered are not about it.
    let mut stale = with("rendered-b", "rendered-a", 3, 3);
    stale["metadata"]["generation"] = json!(2);
    stale["status"]["observedGeneration"] = json!(1);
    check(kind, &stale, &["rendered-b on 3 of 3 nodes"], &[]);
    stale["status"]["observedGeneration"] = json!(2);
    check(kind, &stale, &[], &[]);
    let chosen = |name: &str, newest: &str| {
        let mut pool = with(newest, "rendered-a", 3, 3);
        pool["spec"]["machineConfig"] = json!({"name": name});
        pool
    };
    check(kind, &chosen("rendered-a", "rendered-a"), &[], &[]);
    check(
        kind,
        &chosen("rendered-a", "rendered-b"),
        &["rendered-b, while spec.machineConfig names rendered-a"],
        &[],
    );
    check(kind, &json!({"spec": {"configuration": "broken"}, "status": []}), &[], &[]);
}

#[test]
fn a_hosted_cluster_that_is_being_created_has_nothing_pending() {
    let kind = &HOSTED_CLUSTER;
    let with = |image: &str, status: Value| json!({"spec": {"release": {"image": image}}, "status": status});
    let version = |state: &str| json!({"version": {"desired": {"image": "r@a", "version": "4.20.8"}, "history": [{"state": state}]}});
    check(kind, &with("r@b", json!({})), &[], &[]);
    check(kind, &with("r@a", version("Completed")), &[], &[]);
    check(kind, &with("r@b", version("Completed")), &["release r@b (now 4.20.8)"], &[]);
    check(kind, &with("r@a", version("Partial")), &[], &["release 4.20.8"]);
}

/// GATE-8: scaling is not material, so it is never pending.
#[test]
fn a_node_pool_says_itself_what_it_wants_to_change() {
    let kind = &NODE_POOL;
    let with = |name: &str, status: &str, message: &str| {
        json!({"spec": {"replicas": 7}, "status": {"replicas": 3,
            "conditions": [{"type": name, "status": status, "message": message}]}})
    };
    check(kind, &with("Ready", "True", ""), &[], &[]);
    check(kind, &with("UpdatingVersion", "False", ""), &[], &[]);
    check(
        kind,
        &with("UpdatingVersion", "True", "Updating to 4.21.3"),
        &["a new release: Updating to 4.21.3"],
        &[],
    );
    check(kind, &with("UpdatingConfig", "True", ""), &["a new configuration"], &[]);
    check(
        kind,
        &with("UpdatingPlatformMachineTemplate", "True", ""),
        &["a new machine template"],
        &[],
    );
}
