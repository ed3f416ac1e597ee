//! Does an override open for the operator itself, end to the second, and open nothing else? (OVR-2, GATE-11, GATE-15)
//!
//! No admission policy stands here: who may write one, and what the server makes of the windows, is shown elsewhere.

use std::time::Duration;

use api::machine::names::{PERMIT_BASIS, PERMIT_UNTIL};
use apiserver::Fault;
use serde_json::{Value, json};

use super::{
    common::{POOLS, Running, World, condition, pass, pool, settle, strike_each},
    rollout::{CONFIGS, NODES, config, marked, newest, waiting_machines},
};

const OVERRIDES: &str = "/apis/changemanagement.openshift.io/v1alpha1/clusterchangeoverrides";
const FREEZES: &str = "/apis/changemanagement.openshift.io/v1alpha1/clusterchangefreezes";
const GATES: &str = "/apis/changemanagement.openshift.io/v1alpha1/namespaces/shop/changegates";
const OF_TEAM: &str =
    "/apis/changemanagement.openshift.io/v1alpha1/namespaces/shop/changeoverrides";
const MACHINES: usize = 20;

fn opens(target: &Value, until: &str) -> Value {
    json!({"apiVersion": "changemanagement.openshift.io/v1alpha1", "kind": "ClusterChangeOverride",
        "metadata": {"name": "now"}, "spec": {"target": target, "until": until, "reason": "CVE-2026-1"}})
}

fn worker() -> Value {
    json!({"kind": "MachineConfigPool", "name": "worker"})
}

/// Twenty nodes that wait for Saturday and may all go at once, on a server that takes a second for each. It is Friday 23:00.
async fn held() -> (World, Running) {
    let (world, operator) = waiting_machines(MACHINES).await;
    world.merge(&format!("{POOLS}/worker"), &json!({"spec": {"maxUnavailable": MACHINES}}));
    strike_each(&world, "patch", "nodes", &Fault::Latency(Duration::from_secs(1)));
    pass(Duration::from_mins(1)).await;
    assert!(marked(&world).is_empty());
    (world, operator)
}

/// The same, opened, when a few have been told. With silent watches it is found when everything is listed again.
async fn rolling(watches: Watches) -> (World, Running) {
    let (world, operator) = held().await;
    if watches == Watches::Silent {
        for kind in ["clusterchangeoverrides", "clusterchangefreezes"] {
            strike_each(&world, "watch", kind, &Fault::SilenceWatch(0));
        }
        pass(Duration::from_secs(130)).await;
    }
    world.create(OVERRIDES, &opens(&worker(), "2026-11-13T23:50:00Z"));
    for _ in 0..150 {
        pass(Duration::from_millis(500)).await;
        if marked(&world).len() > 1 {
            break;
        }
    }
    let begun = marked(&world).len();
    assert!((2..6).contains(&begun), "{begun}");
    (world, operator)
}

/// Whether watches tell of overrides and freezes.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Watches {
    Telling,
    Silent,
}

fn permit(world: &World, name: &str) -> (Value, Value) {
    let node = world.get(&format!("{NODES}/{name}"));
    let noted = &node["metadata"]["annotations"];
    (noted[PERMIT_BASIS].clone(), noted[PERMIT_UNTIL].clone())
}

#[tokio::test(start_paused = true)]
async fn an_override_opens_a_pool_and_ends_on_its_second() {
    let (world, _operator) = held().await;
    world.create(OVERRIDES, &opens(&worker(), "2026-11-13T23:01:10Z"));
    pass(Duration::from_millis(3_500)).await;
    let basis = json!("override: ClusterChangeOverride/now");
    assert_eq!(permit(&world, &marked(&world)[0]), (basis, json!("2026-11-13T23:01:10Z")));
    assert_eq!(condition(&world.get(&format!("{OVERRIDES}/now")), "Ready"), "True AsExpected");
    pass(Duration::from_millis(6_500)).await;
    let begun = marked(&world).len();
    assert!((6..12).contains(&begun), "{begun}");
    pass(Duration::from_mins(50)).await;
    let after = marked(&world).len();
    assert!((begun..=begun + 1).contains(&after), "{begun} and then {after}");
    let held = world.get(&format!("{POOLS}/worker"));
    assert_eq!(condition(&held, "ChangesPaused"), "True MaintenanceSchedule");
    // The window lets the rest go.
    pass(Duration::from_mins(20)).await;
    assert_eq!(marked(&world).len(), MACHINES);
}

/// GATE-11: it is read again before each mark, whatever a watch says: ended, shortened, deleted, and beaten by a freeze.
#[tokio::test(start_paused = true)]
async fn an_override_that_ends_behind_a_silent_watch_opens_nothing_more() {
    type End = fn(&World);
    let ends: [(&str, End); 3] = [
        ("deleted", |world| world.delete(&format!("{OVERRIDES}/now"))),
        ("shortened", |world| {
            let earlier = json!({"spec": {"until": "2026-11-13T23:00:30Z"}});
            world.merge(&format!("{OVERRIDES}/now"), &earlier);
        }),
        ("beaten", |world| {
            let freeze = json!({"apiVersion": "changemanagement.openshift.io/v1alpha1",
                "kind": "ClusterChangeFreeze", "metadata": {"name": "stop"}, "spec": {"reason": "a storm"}});
            world.create(FREEZES, &freeze);
        }),
    ];
    for watches in [Watches::Telling, Watches::Silent] {
        for (how, end) in ends {
            let (world, _operator) = rolling(watches).await;
            let begun = marked(&world).len();
            end(&world);
            pass(Duration::from_secs(50)).await;
            let after = marked(&world).len();
            assert!(
                (begun..=begun + 1).contains(&after),
                "{how}, {watches:?}: {begun}, then {after}"
            );
        }
    }
}

/// OVR-2: one change alone; what somebody writes meanwhile waits.
#[tokio::test(start_paused = true)]
async fn an_override_for_one_configuration_lets_no_other_start() {
    let (world, _operator) = held().await;
    let mut only = opens(&worker(), "2026-11-13T23:50:00Z");
    only["spec"]["only"] = json!({"renderedConfig": newest(&world)});
    world.create(OVERRIDES, &only);
    pass(Duration::from_millis(3_500)).await;
    let begun = marked(&world).len();
    assert!((2..6).contains(&begun), "{begun}");
    let first = newest(&world);
    world.merge(&format!("{CONFIGS}/50-motd"), &config("three"));
    pass(Duration::from_mins(10)).await;
    assert_ne!(newest(&world), first);
    assert!(marked(&world).is_empty());
    let held = world.get(&format!("{POOLS}/worker"));
    assert_eq!(condition(&held, "ChangesPaused"), "True MaintenanceSchedule");
}

/// OVR-2, OVR-6: what is not there is said, until it is; and a day after its end an override goes.
#[tokio::test(start_paused = true)]
async fn an_override_says_whether_it_opens_anything_and_goes_a_day_after_its_end() {
    let world = World::new();
    world.create(OVERRIDES, &opens(&worker(), "2026-11-14T02:00:00Z"));
    let _operator = world.start();
    settle().await;
    let ready = || condition(&world.get(&format!("{OVERRIDES}/now")), "Ready");
    assert_eq!(ready(), "False TargetNotFound");
    world.create(POOLS, &pool("worker", &json!({"strategy": "Restrictive"})));
    settle().await;
    assert_eq!(ready(), "True AsExpected");
    let says = || condition(&world.get(&format!("{POOLS}/worker")), "ChangesPaused");
    assert_eq!(says(), "False Overridden");
    let told = world.get(&format!("{POOLS}/worker"));
    let reason = told["status"]["changeManagement"]["behavior"]["current"]["reason"].clone();
    let said =
        "opened by ClusterChangeOverride/now until 2026-11-14T02:00:00Z, unsigned: CVE-2026-1";
    assert_eq!(reason, said);
    world.writes();
    pass(Duration::from_mins(30)).await;
    assert_eq!(world.writes(), [""; 0], "an idle cluster is not written");
    pass(Duration::from_secs(9_000 - 5)).await;
    assert_eq!(says(), "False Overridden");
    pass(Duration::from_secs(6)).await;
    assert_eq!(says(), "True Restrictive");
    let left = || world.get(OVERRIDES)["items"].as_array().unwrap().len();
    pass(Duration::from_secs(24 * 3_600 - 30)).await;
    assert_eq!(left(), 1);
    pass(Duration::from_mins(1)).await;
    assert_eq!(left(), 0);
}

/// RCH-14, OVR-2: a gate on what others own gets the span among its windows, which the server goes by; from whichever layer it comes.
#[tokio::test(start_paused = true)]
async fn an_override_is_a_window_of_the_gate_that_it_names() {
    let gate = json!({"apiVersion": "changemanagement.openshift.io/v1alpha1", "kind": "ChangeGate",
        "metadata": {"name": "till"},
        "spec": {"changeManagement": {"strategy": "Restrictive"}, "holds": [{"what": "Deployments"}]}});
    for of_team in [true, false] {
        let world = World::new();
        let shop = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}});
        world.create("/api/v1/namespaces", &shop);
        world.create(GATES, &gate);
        let _operator = world.start();
        settle().await;
        let windows = || world.get(&format!("{GATES}/till"))["status"]["windows"].clone();
        assert_eq!(windows(), json!([]));
        let until = "2026-11-13T23:30:00Z";
        let (path, target) = if of_team {
            (OF_TEAM, json!({"kind": "ChangeGate", "name": "till"}))
        } else {
            (OVERRIDES, json!({"kind": "ChangeGate", "namespace": "shop", "name": "till"}))
        };
        let mut written = opens(&target, until);
        if of_team {
            written["kind"] = json!("ChangeOverride");
        }
        world.create(path, &written);
        settle().await;
        let start = world.get(&format!("{path}/now"))["metadata"]["creationTimestamp"].clone();
        assert_eq!(windows(), json!([{"startTime": start, "endTime": until}]));
        assert_eq!(condition(&world.get(&format!("{GATES}/till")), "Ready"), "True AsExpected");
        world.merge(&format!("{path}/now"), &json!({"spec": {"until": "2026-11-13T23:10:00Z"}}));
        settle().await;
        assert_eq!(windows()[0]["endTime"], "2026-11-13T23:10:00Z");
        world.delete(&format!("{path}/now"));
        settle().await;
        assert_eq!(windows(), json!([]));
    }
}
