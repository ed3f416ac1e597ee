//! Who is emptied, who is not, and who waits for whom? (DRAIN-1, DRAIN-2)

use std::time::Duration;

use api::{
    kinds,
    machine::names::{
        API_VERSION, CURRENT_CONFIG, DESIRED_CONFIG, DESIRED_DRAIN, DRAIN_BLOCKED, DRAIN_RECORD,
        LAST_APPLIED_DRAIN, PERMIT_CHANGE, ROLE, STATE,
    },
};
use apiserver::{Fault, RequestMatch, Scripted};
use operator::{Pools, Settings};
use serde_json::{Value, json};

use super::{
    common::{POOLS, Running, World, pass, settle},
    rollout::{NODES, WORKER},
};

const PODS: &str = "/api/v1/namespaces/default/pods";

/// A pool, and an operator that manages it.
fn managed() -> (World, Running) {
    let world = World::new();
    world.define(&kinds::MACHINE_CONFIG);
    world.create(
        POOLS,
        &json!({"apiVersion": API_VERSION, "kind": "MachineConfigPool",
        "metadata": {"name": "worker"}, "spec": {"paused": true,
            "machineConfigSelector": {"matchLabels": {ROLE: "worker"}},
            "nodeSelector": {"matchLabels": {WORKER: ""}}}}),
    );
    let account =
        json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default"}});
    world.create("/api/v1/namespaces/default/serviceaccounts", &account);
    let operator = world.start_with(Settings::alone("one").with(Pools::Managed));
    (world, operator)
}

/// A node of the pool, at `a` and told to go to `b`.
fn machine(world: &World, name: &str) {
    world.create(
        NODES,
        &json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name,
        "labels": {WORKER: ""},
        "annotations": {CURRENT_CONFIG: "a", DESIRED_CONFIG: "b", PERMIT_CHANGE: "b", STATE: "Working"}}}),
    );
}

fn pod(world: &World, name: &str, node: &str) {
    world.create(
        PODS,
        &json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": {
            "nodeName": node, "automountServiceAccountToken": false,
            "containers": [{"name": "c", "image": "example.com/none"}]}}),
    );
}

fn asks(world: &World, node: &str, what: &str) {
    let change = json!({"metadata": {"annotations": {DESIRED_DRAIN: what}}});
    world.merge(&format!("{NODES}/{node}"), &change);
}

fn noted(world: &World, node: &str, key: &str) -> Value {
    world.get(&format!("{NODES}/{node}"))["metadata"]["annotations"][key].clone()
}

fn is_cordoned(world: &World, node: &str) -> bool {
    world.get(&format!("{NODES}/{node}"))["spec"]["unschedulable"] == true
}

/// The pods that were told to end.
fn ending(world: &World) -> Vec<String> {
    let pods = world.get(PODS);
    let pods = pods["items"].as_array().unwrap().iter();
    let ending = pods.filter(|pod| pod["metadata"]["deletionTimestamp"].is_string());
    ending.map(|pod| pod["metadata"]["name"].as_str().unwrap().to_owned()).collect()
}

/// What a kubelet does.
fn end(world: &World, pod: &str) {
    let now = json!({"gracePeriodSeconds": 0});
    let body = now.to_string().into_bytes();
    let path = format!("{PODS}/{pod}");
    let (code, _) = world.server.ask(http::Method::DELETE, &path, "application/json", &body);
    assert!(code < 300, "{pod}: {code}");
}

fn hang(world: &World, pod: &str) {
    for nth in 1..=20 {
        let matching = RequestMatch {
            verb: Some("create".into()),
            resource: Some("pods".into()),
            subresource: Some("eviction".into()),
            name: Some(pod.into()),
        };
        let fault = Fault::Latency(Duration::from_hours(24));
        world.server.script_fault(Scripted { matching, nth, fault });
    }
}

/// DRAIN-2
#[tokio::test(start_paused = true)]
async fn an_annotation_on_a_node_evicts_nobody() {
    let (world, _operator) = managed();
    machine(&world, "n1");
    machine(&world, "n2");
    // In no pool; in the pool and nothing begun; in the pool, and begun without a record.
    let stray = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "stray",
        "annotations": {CURRENT_CONFIG: "a", DESIRED_CONFIG: "b", PERMIT_CHANGE: "b"}}});
    world.create(NODES, &stray);
    machine(&world, "idle");
    let done = json!({"metadata": {"annotations": {DESIRED_CONFIG: "a", PERMIT_CHANGE: null}}});
    world.merge(&format!("{NODES}/idle"), &done);
    machine(&world, "unrecorded");
    let unrecorded = json!({"metadata": {"annotations": {PERMIT_CHANGE: null}}});
    world.merge(&format!("{NODES}/unrecorded"), &unrecorded);
    settle().await;
    let asked = [
        ("stray", "drain-b", "NotHonoured: drain-b: the node belongs to no pool"),
        ("idle", "drain-b", "NotHonoured: drain-b: the node is told to go to a"),
        (
            "unrecorded",
            "drain-b",
            "NotHonoured: drain-b: permit-change names nothing, so no permitted write has begun that change",
        ),
        ("n2", "drain-a", "NotHonoured: drain-a: the node is told to go to b"),
    ];
    for (node, what, _) in asked {
        pod(&world, &format!("pod-{node}"), node);
        asks(&world, node, what);
    }
    pass(Duration::from_mins(10)).await;
    assert_eq!(ending(&world), Vec::<String>::new());
    for (node, _, told) in asked {
        assert!(!is_cordoned(&world, node), "{node}");
        assert_eq!(noted(&world, node, DRAIN_BLOCKED), told, "{node}");
        assert_eq!(noted(&world, node, LAST_APPLIED_DRAIN), Value::Null, "{node}");
    }
    let told = world.writes().into_iter().filter(|line| line.contains("tidegate-drain"));
    assert_eq!(told.count(), 4, "each is told once");

    // The record comes, and with it the right to be emptied; a request that is withdrawn takes what was told with it.
    world.merge(
        &format!("{NODES}/unrecorded"),
        &json!({"metadata": {"annotations": {PERMIT_CHANGE: "b"}}}),
    );
    world.merge(
        &format!("{NODES}/stray"),
        &json!({"metadata": {"annotations": {DESIRED_DRAIN: null}}}),
    );
    pass(Duration::from_secs(10)).await;
    assert_eq!(ending(&world), ["pod-unrecorded"]);
    assert!(is_cordoned(&world, "unrecorded"));
    assert_eq!(noted(&world, "stray", DRAIN_BLOCKED), Value::Null);
}

/// DRAIN-2
#[tokio::test(start_paused = true)]
async fn an_eviction_that_hangs_delays_its_own_pod_alone() {
    let (world, _operator) = managed();
    for node in ["n1", "n2", "n3"] {
        machine(&world, node);
    }
    for (name, node) in [("a-hangs", "n1"), ("b", "n1"), ("c", "n1"), ("d", "n2")] {
        pod(&world, name, node);
    }
    settle().await;
    hang(&world, "a-hangs");
    asks(&world, "n1", "drain-b");
    asks(&world, "n2", "drain-b");
    pass(Duration::from_secs(3)).await;
    assert_eq!(ending(&world), ["b", "c", "d"]);
    let told = noted(&world, "n1", DRAIN_BLOCKED);
    let told = told.as_str().unwrap();
    assert!(
        told.starts_with("NoAnswer: pod default/a-hangs: its eviction is not answered"),
        "{told}"
    );
    for gone in ["b", "c", "d"] {
        end(&world, gone);
    }
    pass(Duration::from_secs(6)).await;
    assert_eq!(noted(&world, "n2", LAST_APPLIED_DRAIN), "drain-b");
    // It is asked again once the deadline of the first try is over, and never twice at once.
    let evictions = |world: &World| {
        let writes = world.writes();
        writes.iter().filter(|line| line.contains("pods/a-hangs/eviction")).count()
    };
    assert_eq!(evictions(&world), 1);
    pass(Duration::from_secs(32)).await;
    assert_eq!(evictions(&world), 1);
    assert_eq!(noted(&world, "n1", DRAIN_BLOCKED), told, "what is told stays the same");
    world.server.heal();
    pass(Duration::from_secs(45)).await;
    assert_eq!(ending(&world), ["a-hangs"]);
    end(&world, "a-hangs");
    pass(Duration::from_secs(6)).await;
    assert_eq!(noted(&world, "n1", LAST_APPLIED_DRAIN), "drain-b");
}

/// DRAIN-2
#[tokio::test(start_paused = true)]
async fn thirty_nodes_that_hang_keep_the_last_one_waiting_for_seconds() {
    let (world, _operator) = managed();
    for number in 0..30 {
        machine(&world, &format!("n{number:02}"));
        pod(&world, &format!("hangs-{number:02}"), &format!("n{number:02}"));
        hang(&world, &format!("hangs-{number:02}"));
    }
    machine(&world, "z1");
    machine(&world, "z2");
    pod(&world, "free", "z1");
    settle().await;
    for number in 0..30 {
        asks(&world, &format!("n{number:02}"), "drain-b");
    }
    asks(&world, "z1", "drain-b");
    pass(Duration::from_secs(6)).await;
    assert_eq!(ending(&world), ["free"]);
}

/// DRAIN-2
#[tokio::test(start_paused = true)]
async fn a_lone_node_keeps_its_pods_and_is_answered() {
    let (world, _operator) = managed();
    machine(&world, "n1");
    pod(&world, "web", "n1");
    settle().await;
    asks(&world, "n1", "drain-b");
    settle().await;
    assert_eq!(noted(&world, "n1", LAST_APPLIED_DRAIN), "drain-b");
    assert!(!is_cordoned(&world, "n1"));
    assert_eq!(ending(&world), Vec::<String>::new());
    assert_eq!(
        noted(&world, "n1", DRAIN_BLOCKED),
        "NoOtherNode: no other node of this cluster could take its pods, so none was evicted; they start anew with the node"
    );
    asks(&world, "n1", "uncordon-b");
    settle().await;
    assert_eq!(noted(&world, "n1", LAST_APPLIED_DRAIN), "uncordon-b");
    assert_eq!(noted(&world, "n1", DRAIN_BLOCKED), Value::Null);
}

/// DRAIN-2
#[tokio::test(start_paused = true)]
async fn two_nodes_that_ask_at_once_take_turns() {
    let (world, _operator) = managed();
    for node in ["n1", "n2"] {
        machine(&world, node);
        pod(&world, &format!("pod-{node}"), node);
    }
    settle().await;
    asks(&world, "n1", "drain-b");
    asks(&world, "n2", "drain-b");
    pass(Duration::from_secs(3)).await;
    assert_eq!(ending(&world), ["pod-n1"]);
    assert_eq!((is_cordoned(&world, "n1"), is_cordoned(&world, "n2")), (true, false));
    let told = noted(&world, "n2", DRAIN_BLOCKED);
    assert!(told.as_str().unwrap().contains("(n1 is being drained)"), "{told}");
    end(&world, "pod-n1");
    pass(Duration::from_secs(3)).await;
    assert_eq!(noted(&world, "n1", LAST_APPLIED_DRAIN), "drain-b");
    assert!(!is_cordoned(&world, "n2"), "the first is still shut");
    asks(&world, "n1", "uncordon-b");
    pass(Duration::from_secs(3)).await;
    assert_eq!(ending(&world), ["pod-n2"]);
    assert!(!is_cordoned(&world, "n1"));
}

/// DRAIN-2: both were cordoned, by two leaders for example.
#[tokio::test(start_paused = true)]
async fn two_nodes_that_wait_for_each_other_do_not_wait_for_ever() {
    let (world, _operator) = managed();
    for node in ["n1", "n2"] {
        machine(&world, node);
        pod(&world, &format!("pod-{node}"), node);
        let record = r#"{"since":"2026-11-13T22:00:00Z","cordonedBefore":false}"#;
        let shut = json!({"spec": {"unschedulable": true},
            "metadata": {"annotations": {DRAIN_RECORD: record, DESIRED_DRAIN: "drain-b"}}});
        world.merge(&format!("{NODES}/{node}"), &shut);
    }
    pass(Duration::from_secs(5)).await;
    assert_eq!(ending(&world).len(), 1, "one of them opened, and the other goes on");
    let open = ["n1", "n2"].into_iter().filter(|node| !is_cordoned(&world, node));
    assert_eq!(open.count(), 1);
}

/// DRAIN-1: the second pod of a pair follows soon after its budget has room.
#[tokio::test(start_paused = true)]
async fn a_refused_eviction_is_tried_again_within_seconds() {
    let (world, _operator) = managed();
    machine(&world, "n1");
    machine(&world, "n2");
    pod(&world, "web", "n1");
    settle().await;
    let matching = RequestMatch {
        verb: Some("create".into()),
        subresource: Some("eviction".into()),
        ..RequestMatch::default()
    };
    world.server.script_fault(Scripted { matching, nth: 1, fault: Fault::TooManyRequests(0) });
    asks(&world, "n1", "drain-b");
    pass(Duration::from_millis(2_500)).await;
    assert_eq!(ending(&world), ["web"]);
    end(&world, "web");
    pass(Duration::from_secs(2)).await;
    assert_eq!(noted(&world, "n1", LAST_APPLIED_DRAIN), "drain-b", "its end is seen soon, too");
}
