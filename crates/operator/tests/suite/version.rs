//! Do nodes go as `versionManagement` says? (D4-1, D4-3, D4-4)

use std::time::Duration;

use api::machine::names::{ASSISTED_UPDATE, CURRENT_CONFIG, STATE};
use serde_json::{Value, json};

use super::{
    common::{POOLS, World, pass, settle, state},
    rollout::{NODES, marked, newest, waiting},
};

const HOUR: Duration = Duration::from_hours(1);

/// The pool of those who wait, in the other spelling.
fn spelled(world: &World, stanza: &Value) {
    let change = json!({"spec": {"changeManagement": null, "versionManagement": stanza}});
    world.merge(&format!("{POOLS}/worker"), &change);
}

/// A node arrives.
fn arrives(world: &World, name: &str) {
    let has = json!({"metadata": {"annotations": {CURRENT_CONFIG: newest(world), STATE: "Done"}}});
    world.merge(&format!("{NODES}/{name}"), &has);
}

/// On Friday at eleven in the evening two nodes wait for windows from ten to midnight: the one that is open has only its last hour left.
#[tokio::test(start_paused = true)]
async fn nodes_go_in_the_windows_of_a_rule_and_not_in_their_last_hour() {
    let (world, _operator) = waiting().await;
    let rule = "DTSTART:20200101T220000Z\nRRULE:FREQ=DAILY";
    spelled(&world, &json!({"maintenanceWindows": {"permit": rule}}));
    pass(HOUR * 22 + Duration::from_mins(59)).await;
    assert!(marked(&world).is_empty());
    let pool = world.get(&format!("{POOLS}/worker"));
    let told = &pool["status"]["versionManagement"];
    assert_eq!(told["nextWindowDuration"], "2h", "{pool}");
    assert_eq!(told["changesPending"], true, "{pool}");
    pass(Duration::from_mins(2)).await;
    assert_eq!(marked(&world), ["n1"]);
    // The first arrives when the window has half an hour left: the second waits for the next one.
    pass(HOUR + Duration::from_mins(29)).await;
    arrives(&world, "n1");
    pass(Duration::from_mins(10)).await;
    assert_eq!(marked(&world), ["n1"]);
    assert_eq!(state(&world.get(&format!("{POOLS}/worker"))), "ChangesPaused");
    pass(HOUR * 23).await;
    assert_eq!(marked(&world), ["n1", "n2"]);
}

/// D4-4
#[tokio::test(start_paused = true)]
async fn an_assisted_update_pauses_again_when_every_node_has_arrived() {
    let (world, _operator) = waiting().await;
    spelled(&world, &json!({"pausedUntil": "assisted"}));
    pass(HOUR * 2).await;
    assert!(marked(&world).is_empty(), "nobody has started it");
    world.merge(
        &format!("{POOLS}/worker"),
        &json!({
            "metadata": {"annotations": {ASSISTED_UPDATE: "true"}},
            "spec": {"versionManagement": {"pausedUntil": false}},
        }),
    );
    settle().await;
    assert_eq!(marked(&world), ["n1"]);
    arrives(&world, "n1");
    pass(Duration::from_secs(5)).await;
    assert_eq!(marked(&world), ["n1", "n2"]);
    let pause = || {
        let pool = world.get(&format!("{POOLS}/worker"));
        let mark = pool["metadata"]["annotations"].get(ASSISTED_UPDATE).cloned();
        (pool["spec"]["versionManagement"]["pausedUntil"].clone(), mark)
    };
    assert_eq!(pause(), (json!(false), Some(json!("true"))));
    arrives(&world, "n2");
    pass(Duration::from_secs(5)).await;
    assert_eq!(pause(), (json!("assisted"), None));
    assert_eq!(state(&world.get(&format!("{POOLS}/worker"))), "ChangesPaused");
}

/// D4-1, GATE-11: a cluster that says when says it for a pool that says nothing, also where nobody tells of it.
#[tokio::test(start_paused = true)]
async fn a_pool_that_says_nothing_waits_for_the_windows_of_its_cluster() {
    let (world, _operator) = waiting().await;
    world.create(
        "/apis/config.openshift.io/v1/clusterversions",
        &json!({"apiVersion": "config.openshift.io/v1", "kind": "ClusterVersion",
            "metadata": {"name": "version"},
            "spec": {"clusterID": "c", "versionManagement": {"pausedUntil": true}}}),
    );
    settle().await;
    world.merge(&format!("{POOLS}/worker"), &json!({"spec": {"changeManagement": null}}));
    pass(HOUR * 3).await;
    assert!(marked(&world).is_empty());
    let set_aside = json!({"spec": {"versionManagement": {"enforcing": false}}});
    world.merge("/apis/config.openshift.io/v1/clusterversions/version", &set_aside);
    pass(Duration::from_secs(5)).await;
    assert_eq!(marked(&world), ["n1"]);
}
