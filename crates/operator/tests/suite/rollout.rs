//! Are nodes told to change once, in time, and by somebody who knows what is going on?

use std::time::Duration;

use api::{
    kinds,
    machine::names::{API_VERSION, CURRENT_CONFIG, DESIRED_CONFIG, MACHINE_CONFIG, ROLE, STATE},
};
use apiserver::{Fault, RequestMatch, Scripted};
use operator::{Settings, run::Election};
use runtime::{
    clock::{Clock as _, SetClock},
    telemetry::ReconcileOutcome,
};
use serde_json::{Value, json};

use super::common::{
    POLICIES, POOLS, Running, World, by_policy, condition, managing, pass, settle, state, weekend,
};

pub(crate) const NODES: &str = "/api/v1/nodes";
pub(crate) const CONFIGS: &str = "/apis/machineconfiguration.openshift.io/v1/machineconfigs";
pub(crate) const WORKER: &str = "node-role.kubernetes.io/worker";

pub(crate) fn config(content: &str) -> Value {
    json!({"apiVersion": API_VERSION, "kind": MACHINE_CONFIG,
    "metadata": {"name": "50-motd", "labels": {ROLE: "worker"}},
    "spec": {"config": {"ignition": {"version": "3.4.0"}, "storage": {"files": [
        {"path": "/etc/motd", "contents": {"source": format!("data:,{content}")}},
    ]}}}})
}

/// A pool of two nodes under the policy of the weekend, on Friday evening, with a change that waits.
pub(crate) async fn waiting() -> (World, Running) {
    waiting_machines(2).await
}

/// The same, with as many nodes.
pub(crate) async fn waiting_machines(count: usize) -> (World, Running) {
    let world = World::new();
    world.define(&kinds::MACHINE_CONFIG);
    world.create(POLICIES, &weekend("weekend"));
    world.create(CONFIGS, &config("one"));
    world.create(
        POOLS,
        &json!({"apiVersion": API_VERSION, "kind": "MachineConfigPool",
        "metadata": {"name": "worker"}, "spec": {
            "changeManagement": by_policy("weekend"),
            "machineConfigSelector": {"matchLabels": {ROLE: "worker"}},
            "nodeSelector": {"matchLabels": {WORKER: ""}}}}),
    );
    let operator = world.start_with(managing("one"));
    settle().await;
    let first = newest(&world);
    for number in 1..=count {
        let name = format!("n{number}");
        world.create(
            NODES,
            &json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name,
            "labels": {WORKER: ""},
            "annotations": {CURRENT_CONFIG: first, DESIRED_CONFIG: first, STATE: "Done"}}}),
        );
    }
    world.merge(&format!("{CONFIGS}/50-motd"), &config("two"));
    settle().await;
    assert_ne!(newest(&world), first, "rendering goes on while held");
    assert!(marked(&world).is_empty());
    world.writes();
    (world, operator)
}

pub(crate) fn newest(world: &World) -> String {
    let pool = world.get(&format!("{POOLS}/worker"));
    pool["spec"]["configuration"]["name"].as_str().unwrap().to_owned()
}

/// The nodes that must go to the newest configuration.
pub(crate) fn marked(world: &World) -> Vec<String> {
    let (nodes, newest) = (world.get(NODES), newest(world));
    let nodes = nodes["items"].as_array().unwrap().iter();
    let marked = nodes.filter(|node| node["metadata"]["annotations"][DESIRED_CONFIG] == *newest);
    marked.map(|node| node["metadata"]["name"].as_str().unwrap().to_owned()).collect()
}

fn strike(world: &World, verb: &str, nth: u32, fault: Fault) {
    let matching = RequestMatch {
        verb: Some(verb.into()),
        resource: Some("nodes".into()),
        ..RequestMatch::default()
    };
    world.server.script_fault(Scripted { matching, nth, fault });
}

pub(crate) fn marks(world: &World) -> usize {
    let writes = world.writes();
    writes.iter().filter(|line| line.contains("tidegate-rollout")).count()
}

/// GATE-7: what a lost answer would have told is told, although what became of the mark could not be read at once either.
#[tokio::test(start_paused = true)]
async fn a_mark_whose_answer_and_reading_back_are_lost_is_told_all_the_same() {
    let (world, _operator) = waiting().await;
    strike(&world, "patch", 1, Fault::LoseAnswer);
    for nth in 1..=3 {
        strike(&world, "get", nth, Fault::ServerError(503));
    }
    pass(Duration::from_mins(65)).await;
    assert_eq!(marked(&world), ["n1"]);
    assert_eq!(marks(&world), 1);
    assert_eq!(told(&world, "SetDesiredConfig").len(), 1);
}

/// LIVE-1: the status follows what was begun, and nobody else tells of what was written here.
#[tokio::test(start_paused = true)]
async fn what_was_begun_is_told_at_once() {
    let (world, _operator) = waiting().await;
    pass(Duration::from_secs(3_602)).await;
    assert_eq!(marked(&world), ["n1"]);
    let pool = world.get(&format!("{POOLS}/worker"));
    assert_eq!(state(&pool), "ChangesUnpaused");
    assert_eq!(condition(&pool, "Updating").split(' ').next(), Some("True"), "{pool}");
}

/// LIVE-2, GATE-16: a node that was told to stay where it is goes on at once where the gate is open: nobody else tells of what was
/// written here.
#[tokio::test(start_paused = true)]
async fn a_machine_that_was_taken_in_goes_on_at_once() {
    let (world, _operator) = waiting_machines(0).await;
    pass(Duration::from_mins(61)).await;
    let (newest, configs) = (newest(&world), world.get(CONFIGS));
    let names = configs["items"].as_array().unwrap().iter();
    let mut names = names.map(|config| config["metadata"]["name"].as_str().unwrap());
    let first = names.find(|name| name.starts_with("rendered-") && **name != newest).unwrap();
    world.create(
        NODES,
        &json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1", "labels": {WORKER: ""},
            "annotations": {CURRENT_CONFIG: first, STATE: "Done"}}}),
    );
    pass(Duration::from_secs(3)).await;
    assert_eq!(marked(&world), ["n1"]);
}

/// EXEC-4, GATE-7
#[tokio::test(start_paused = true)]
async fn a_mark_whose_answer_is_lost_is_read_back_and_not_sent_again() {
    let (world, _operator) = waiting().await;
    strike(&world, "patch", 1, Fault::LoseAnswer);
    pass(Duration::from_mins(61)).await;
    assert_eq!(marked(&world), ["n1"]);
    assert_eq!(marks(&world), 1);
    let told = told(&world, "SetDesiredConfig");
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].starts_with("Node/n1 goes to "), "{told:?}");
}

/// EXEC-4, GATE-7: what did not happen is not told.
#[tokio::test(start_paused = true)]
async fn a_mark_that_was_lost_on_its_way_is_told_once_and_only_when_it_is_made() {
    let (world, _operator) = waiting().await;
    strike(&world, "patch", 1, Fault::ServerError(503));
    strike(&world, "patch", 2, Fault::LoseAnswer);
    strike(&world, "get", 2, Fault::ServerError(503));
    pass(Duration::from_mins(61)).await;
    assert_eq!((marked(&world), marks(&world)), (vec!["n1".into()], 2));
    assert_eq!(told(&world, "SetDesiredConfig").len(), 1);
}

/// EXEC-4: who loses the lease while the outcome of a mark is unknown, and leads again, looks first.
#[tokio::test(start_paused = true)]
async fn a_leader_that_comes_back_looks_what_became_of_its_mark() {
    let (world, alone) = waiting().await;
    drop(alone);
    let lease = Election::Lease { namespace: "default".into(), name: "tidegate".into() };
    let settings = Settings { election: lease, ..managing("two") };
    let operator = world.start_with(settings);
    // The mark does not arrive for an hour, and from then on the server answers nobody for long enough to lose the lease.
    strike(&world, "patch", 1, Fault::Latency(Duration::from_hours(1)));
    pass(Duration::from_secs(60 * 60 + 3)).await;
    assert_eq!(marks(&world), 1);
    let down = apiserver::Profile { server_error: 1.0, ..Default::default() };
    world.server.draw_faults(down, 1);
    pass(Duration::from_secs(40)).await;
    assert!(!operator.view.leads());
    world.server.heal();
    world.requests();
    pass(Duration::from_mins(3)).await;
    assert!(operator.view.leads());
    let requests = world.requests();
    let mark = requests.iter().position(|line| line.contains("tidegate-rollout")).unwrap();
    let looked = requests[..mark].iter().any(|line| line == &format!("GET {NODES}/n1"));
    assert!(looked, "{requests:#?}");
}

/// STAT-3: two that both lead and know different things take back each other's words; they do so once a while, and never in a circle.
#[tokio::test(start_paused = true)]
async fn two_that_disagree_about_a_status_do_not_write_in_a_circle() {
    let (world, _right) = waiting().await;
    let wrong = SetClock::starting_at(world.clock.now().saturating_add(400));
    let _wrong = world.start_by(&wrong, managing("two"));
    pass(Duration::from_secs(10)).await;
    world.writes();
    pass(Duration::from_mins(1)).await;
    let writes = world.writes().len();
    assert!((1..=400).contains(&writes), "{writes} writes in a minute");
}

/// The conditions that say why nothing begins.
pub(crate) fn blocked(pool: &Value) -> Vec<Value> {
    let conditions = pool["status"]["conditions"].as_array().unwrap().iter();
    conditions.filter(|it| it["type"] == "RolloutBlocked").cloned().collect()
}

/// What people were told for a reason.
fn told(world: &World, reason: &str) -> Vec<String> {
    let events = world.get("/apis/events.k8s.io/v1/events");
    let events = events["items"].as_array().unwrap().iter();
    let about = events.filter(|event| event["reason"] == reason);
    about.map(|event| event["note"].as_str().unwrap().to_owned()).collect()
}

/// STAT-1: what is written about a node that joins is told of the pool at once, and not when everything is decided anew.
#[tokio::test(start_paused = true)]
async fn status_of_a_pool_is_right_as_soon_as_a_node_has_joined() {
    let (world, _operator) = waiting().await;
    let first =
        world.get(&format!("{NODES}/n1"))["metadata"]["annotations"][CURRENT_CONFIG].clone();
    world.create(
        NODES,
        &json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n3",
            "labels": {WORKER: ""}, "annotations": {CURRENT_CONFIG: first, STATE: "Done"}}}),
    );
    pass(Duration::from_secs(2)).await;
    let soon = world.get(&format!("{POOLS}/worker"))["status"].clone();
    assert_eq!(soon["machineCount"], 3);
    world.writes();
    pass(Duration::from_mins(20)).await;
    assert_eq!(world.get(&format!("{POOLS}/worker"))["status"], soon);
    assert_eq!(world.writes(), [""; 0]);
}

/// EXEC-1
#[tokio::test(start_paused = true)]
async fn a_mark_that_conflicts_is_planned_again() {
    for fault in [Fault::Conflict, Fault::ServerError(503), Fault::TooManyRequests(3)] {
        let (world, _operator) = waiting().await;
        strike(&world, "patch", 1, fault.clone());
        pass(Duration::from_mins(61)).await;
        assert_eq!(marked(&world), ["n1"], "{fault:?}");
        assert_eq!(marks(&world), 2, "{fault:?}");
    }
}

/// LIVE-3: a node that somebody writes all the time, its own kubelet for one, keeps neither the others nor the status waiting.
#[tokio::test(start_paused = true)]
async fn a_machine_that_is_written_all_the_time_keeps_nobody_else_waiting() {
    let (world, _operator) = waiting_machines(3).await;
    world.merge(&format!("{POOLS}/worker"), &json!({"spec": {"maxUnavailable": 3}}));
    for nth in 1..=2000 {
        let matching = RequestMatch {
            verb: Some("patch".into()),
            resource: Some("nodes".into()),
            name: Some("n1".into()),
            ..RequestMatch::default()
        };
        world.server.script_fault(Scripted { matching, nth, fault: Fault::Conflict });
    }
    pass(Duration::from_mins(62)).await;
    assert_eq!(marked(&world), ["n2", "n3"]);
    let pool = world.get(&format!("{POOLS}/worker"));
    assert_eq!(state(&pool), "ChangesUnpaused");
    let (marks, told) = (marks(&world), told(&world, "SetDesiredConfig"));
    assert!((3..20).contains(&marks), "{marks} tries: not in a circle");
    assert_eq!(told.len(), 2, "{told:?}");
    world.server.heal();
    pass(Duration::from_mins(2)).await;
    assert_eq!(marked(&world), ["n1", "n2", "n3"]);
}

/// GATE-7: the request ends before the permit does.
#[tokio::test(start_paused = true)]
async fn a_mark_that_travels_too_long_is_given_up_before_the_window_closes() {
    let (world, _operator) = waiting().await;
    // The first of the two nodes takes the whole weekend.
    pass(Duration::from_mins(61)).await;
    assert_eq!(marked(&world), ["n1"]);
    pass(Duration::from_secs(48 * 3600 - 66)).await;
    strike(&world, "patch", 1, Fault::Latency(Duration::from_hours(1)));
    // Five seconds before the window closes it is done, and there is room for the second.
    let done = json!({"metadata": {"annotations": {CURRENT_CONFIG: newest(&world)}}});
    world.merge(&format!("{NODES}/n1"), &done);
    pass(Duration::from_hours(3)).await;
    assert_eq!(marked(&world), ["n1"], "nobody was begun after the window");
    assert_eq!(marks(&world), 2, "and nothing was sent again");
    let pool = world.get(&format!("{POOLS}/worker"));
    let ledger = &pool["metadata"]["annotations"][api::machine::names::LEDGER];
    assert_eq!(ledger, "[]", "the room is given back");
    pass(Duration::from_hours(120)).await;
    assert_eq!(marked(&world), ["n1", "n2"], "the next window is as good");
}

/// GATE-7: what is known of nodes is too old to begin one of them.
#[tokio::test(start_paused = true)]
async fn stale_knowledge_starts_nothing() {
    let (world, operator) = waiting().await;
    for nth in 1..=300 {
        strike(&world, "watch", nth, Fault::ServerError(500));
        strike(&world, "list", nth, Fault::ServerError(500));
    }
    pass(Duration::from_mins(64)).await;
    assert!(operator.view.ready().is_err());
    assert!(marked(&world).is_empty(), "the window is open, and nobody knows the nodes");
    let told = blocked(&world.get(&format!("{POOLS}/worker")));
    let message = told[0]["message"].as_str().unwrap();
    assert!(message.starts_with("the server has not confirmed what is known of Node"), "{message}");
    pass(Duration::from_hours(4)).await;
    assert_eq!(operator.view.ready(), Ok(()));
    assert_eq!(marked(&world), ["n1"]);
}

/// GATE-11, LIVE-3: what a gate does not rest on is not in its way.
#[tokio::test(start_paused = true)]
async fn kinds_that_nobody_needs_keep_nobody_waiting() {
    let (world, operator) = waiting().await;
    for verb in ["watch", "list"] {
        for nth in 1..=1000 {
            let matching = RequestMatch {
                verb: Some(verb.into()),
                resource: Some("hostedclusters".into()),
                ..RequestMatch::default()
            };
            let fault = Fault::ServerError(500);
            world.server.script_fault(Scripted { matching, nth, fault });
        }
    }
    pass(Duration::from_mins(61)).await;
    assert!(operator.view.ready().unwrap_err().starts_with("HostedCluster"));
    assert_eq!(marked(&world), ["n1"]);
}

/// LIVE-3: a node that the server refuses to touch is its own trouble.
#[tokio::test(start_paused = true)]
async fn a_machine_that_is_refused_keeps_neither_the_others_nor_the_status_waiting() {
    let (world, _operator) = waiting().await;
    world.merge(&format!("{POOLS}/worker"), &json!({"spec": {"maxUnavailable": 2}}));
    let rule = "object.metadata.name != 'n1' || object.metadata.annotations == oldObject.metadata.annotations";
    let admission = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies";
    world.create(
        admission,
        &json!({"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicy",
            "metadata": {"name": "no"}, "spec": {
                "matchConstraints": {"resourceRules": [{"apiGroups": [""], "apiVersions": ["v1"],
                    "operations": ["UPDATE"], "resources": ["nodes"]}]},
                "validations": [{"expression": rule, "message": "not this one"}]}}),
    );
    world.create(
        "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings",
        &json!({"apiVersion": "admissionregistration.k8s.io/v1",
            "kind": "ValidatingAdmissionPolicyBinding", "metadata": {"name": "no"},
            "spec": {"policyName": "no", "validationActions": ["Deny"]}}),
    );
    pass(Duration::from_millis(3_600_100)).await;
    assert_eq!(marked(&world), ["n2"]);
    let told_at_once = blocked(&world.get(&format!("{POOLS}/worker")));
    assert_eq!(told_at_once[0]["status"], "True", "{told_at_once:?}");
    pass(Duration::from_mins(3)).await;
    assert_eq!(marked(&world), ["n2"]);
    let pool = world.get(&format!("{POOLS}/worker"));
    assert_eq!(state(&pool), "ChangesUnpaused");
    assert_eq!(pool["status"]["unavailableMachineCount"], 1);
    let tried = marks(&world);
    assert!((3..20).contains(&tried), "tried again, and not in a circle: {tried}");

    // People are told, once, and what they read stays the same however often it is tried.
    let condition = blocked(&pool);
    assert_eq!((condition.len(), &condition[0]["status"]), (1, &json!("True")), "{condition:?}");
    let message = condition[0]["message"].as_str().unwrap();
    assert!(message.starts_with("the server refuses to let Node/n1 go to rendered-worker-"));
    assert!(message.ends_with("not this one"), "{message}");
    assert_eq!(told(&world, "RolloutBlocked"), [message]);
    let statuses = |world: &World| {
        world.writes().iter().filter(|line| line.contains("/worker/status")).count()
    };
    pass(Duration::from_hours(2)).await;
    assert!(marks(&world) > 2, "it is tried again");
    assert_eq!(told(&world, "RolloutBlocked").len(), 1);
    pass(Duration::from_hours(2)).await;
    assert_eq!(statuses(&world), 0, "and nothing is written about it");

    // What refused is gone: the node goes, and the pool says so.
    world.delete("/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings/no");
    pass(Duration::from_hours(1)).await;
    assert_eq!(marked(&world), ["n1", "n2"]);
    let condition = blocked(&world.get(&format!("{POOLS}/worker")));
    assert_eq!(condition[0]["status"], "False", "{condition:?}");
}

/// LIVE-3: thousands of kubelets write their nodes all the time.
#[tokio::test(start_paused = true)]
async fn heartbeats_wake_nobody() {
    let (world, operator) = waiting().await;
    let decided = || operator.view.telemetry.reconciles(ReconcileOutcome::Unchanged);
    let before = decided();
    for beat in 0..20 {
        let at = format!("2026-11-13T23:00:{beat:02}Z");
        let ready = json!([{"type": "Ready", "status": "True", "lastHeartbeatTime": at}]);
        world.merge(&format!("{NODES}/n1/status"), &json!({"status": {"conditions": ready}}));
        settle().await;
    }
    assert_eq!(decided(), before);
    let ready = json!([{"type": "Ready", "status": "False"}]);
    world.merge(&format!("{NODES}/n1/status"), &json!({"status": {"conditions": ready}}));
    settle().await;
    let pool = world.get(&format!("{POOLS}/worker"));
    assert_eq!(pool["status"]["unavailableMachineCount"], 1);
}

/// The node under the operator goes last of the masters: each change of it moves the operator.
#[tokio::test(start_paused = true)]
async fn the_master_under_the_operator_goes_last() {
    let world = World::new();
    world.define(&kinds::MACHINE_CONFIG);
    let role = "node-role.kubernetes.io/master";
    world.create(CONFIGS, &config("one"));
    world.create(
        POOLS,
        &json!({"apiVersion": API_VERSION, "kind": "MachineConfigPool",
        "metadata": {"name": "master"}, "spec": {
            "machineConfigSelector": {"matchLabels": {ROLE: "worker"}},
            "nodeSelector": {"matchLabels": {role: ""}}}}),
    );
    let settings = Settings { host: Some("m1".into()), ..managing("one") };
    let _operator = world.start_with(settings);
    settle().await;
    for name in ["m1", "m2"] {
        world.create(
            NODES,
            &json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name,
            "labels": {role: ""},
            "annotations": {CURRENT_CONFIG: "old", DESIRED_CONFIG: "old", STATE: "Done"}}}),
        );
    }
    settle().await;
    let desired = |name: &str| {
        let node = world.get(&format!("{NODES}/{name}"));
        node["metadata"]["annotations"][DESIRED_CONFIG].clone()
    };
    assert_eq!(desired("m1"), "old", "not yet");
    assert_ne!(desired("m2"), "old");
    let done = json!({"metadata": {"annotations": {CURRENT_CONFIG: desired("m2")}}});
    world.merge(&format!("{NODES}/m2"), &done);
    settle().await;
    assert_ne!(desired("m1"), "old", "now it does");
}
