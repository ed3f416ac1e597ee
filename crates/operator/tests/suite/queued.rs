//! Does what was queued on a stock OpenShift begin once, when every gate on it is open, and never outside? (CV-4, CV-6, GATE-7, GATE-11)
//!
//! The policies are those that are shipped. What a mutating policy would note is written here by hand: the embedded server has none.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use api::{
    kinds,
    machine::names::{BEGUN_RELEASE, CURRENT_CONFIG, DESIRED_CONFIG, PERMIT_CHANGE, ROLE, STATE},
    names::{WANTED_IMAGE, WANTED_RELEASE},
};
use apiserver::{Fault, RequestMatch, Scripted};
use http::Method;
use operator::Settings;
use serde_json::{Value, json};

use super::{
    budget::install,
    common::{POLICIES, POOLS, Running, World, by_policy, condition, pass, settle, weekend},
};

const VERSIONS: &str = "/apis/config.openshift.io/v1/clusterversions";
const VERSION: &str = "/apis/config.openshift.io/v1/clusterversions/version";
const GATES: &str = "/apis/changemanagement.openshift.io/v1alpha1/clusterchangegates";
const PLANE: &str = "/apis/changemanagement.openshift.io/v1alpha1/clusterchangegates/plane";
const FREEZES: &str = "/apis/changemanagement.openshift.io/v1alpha1/clusterchangefreezes";
const SHIPPED: &str = include_str!("../../../../deploy/manifests/change-gates/change-gates.yaml");
const MASTERS: &str =
    include_str!("../../../../deploy/manifests/control-plane-nodes/control-plane-nodes.yaml");
const WISH: &str = r#"{"version":"4.20.7"}"#;

fn image(digit: char) -> String {
    format!("registry/release@sha256:{}", String::from(digit).repeat(64))
}

/// A stock cluster at 4.20.6 whose control plane changes at weekends, an hour before midnight on a Friday.
fn stock() -> World {
    let world = World::new();
    install(&world, SHIPPED, |name| name.ends_with("cluster-version"));
    world.create(POLICIES, &weekend("weekend"));
    let gate = json!({"apiVersion": "changemanagement.openshift.io/v1alpha1", "kind": "ClusterChangeGate",
        "metadata": {"name": "plane"},
        "spec": {"changeManagement": by_policy("weekend"), "holds": [{"what": "ClusterVersion"}]}});
    world.create(GATES, &gate);
    let version = json!({"apiVersion": "config.openshift.io/v1", "kind": "ClusterVersion",
        "metadata": {"name": "version"}, "spec": {"channel": "stable-4.20"}});
    world.create(VERSIONS, &version);
    let status = json!({"desired": {"version": "4.20.6", "image": image('6')},
        "availableUpdates": [{"version": "4.20.7", "image": image('7')}, {"version": "4.20.8", "image": image('8')}],
        "history": [{"state": "Completed", "version": "4.20.6", "image": image('6'), "startedTime": "2026-01-01T00:00:00Z"}]});
    world.merge(&format!("{VERSION}/status"), &json!({"status": status}));
    world
}

/// The same, where somebody queued 4.20.7.
fn asked() -> World {
    let world = stock();
    wish(&world, WISH);
    world
}

fn wish(world: &World, text: &str) {
    world.merge(VERSION, &json!({"metadata": {"annotations": {WANTED_RELEASE: text}}}));
}

fn start(world: &World, identity: &str) -> Running {
    world.start_with(Settings::alone(identity).starting_queued_updates())
}

/// The release that the cluster version operator is told to install.
fn told(world: &World) -> Option<String> {
    let version = world.get(VERSION);
    version.pointer("/spec/desiredUpdate/version").and_then(Value::as_str).map(str::to_owned)
}

fn noted(world: &World, key: &str) -> Value {
    world.get(VERSION)["metadata"]["annotations"][key].clone()
}

/// What was sent that would begin an update.
fn tries(world: &World) -> usize {
    world.requests().iter().filter(|line| line.contains("fieldManager=tidegate-rollout")).count()
}

fn events(world: &World, reason: &str) -> usize {
    let start = format!("version {reason}: ");
    world.events().iter().filter(|event| event.starts_with(&start)).count()
}

fn strike(world: &World, nth: u32, fault: Fault) {
    let matching = RequestMatch {
        verb: Some("patch".into()),
        resource: Some("clusterversions".into()),
        subresource: Some(String::new()),
        ..RequestMatch::default()
    };
    world.server.script_fault(Scripted { matching, nth, fault });
}

#[tokio::test(start_paused = true)]
async fn what_was_queued_begins_on_the_second_of_its_window_and_once() {
    let world = asked();
    let _operator = start(&world, "one");
    pass(Duration::from_mins(59)).await;
    assert_eq!(told(&world), None);
    let gate = world.get(PLANE);
    assert_eq!(condition(&gate, "ChangesPending"), "True Held");
    assert_eq!(gate["status"]["pending"][0]["name"], "version");
    assert!(gate["status"]["pending"][0]["change"].as_str().unwrap().contains("4.20.7"), "{gate}");
    assert_eq!((events(&world, "ReleaseQueued"), events(&world, "AcceptedRelease")), (1, 0));
    assert_eq!(world.get(VERSION)["status"].get("conditions"), None, "nothing is told there");
    pass(Duration::from_secs(61)).await;
    let version = world.get(VERSION);
    let update = json!({"version": "4.20.7", "image": image('7')});
    assert_eq!(version["spec"], json!({"channel": "stable-4.20", "desiredUpdate": update}));
    let annotations = version["metadata"]["annotations"].as_object().unwrap();
    assert!(!annotations.contains_key(WANTED_RELEASE) && !annotations.contains_key(WANTED_IMAGE));
    let record = annotations["changemanagement.openshift.io/permit-change"].as_str().unwrap();
    let record: Value = serde_json::from_str(record).unwrap();
    assert_eq!(
        (&record["version"], &record["at"]),
        (&json!("4.20.7"), &json!("2026-11-14T00:00:00Z"))
    );
    assert_eq!((tries(&world), events(&world, "AcceptedRelease")), (1, 1));
    // Whoever follows Git asks again, before the cluster version operator took it up and after: nothing begins twice.
    for round in 0..3 {
        wish(&world, WISH);
        pass(Duration::from_mins(1)).await;
        assert_eq!(noted(&world, WANTED_RELEASE), Value::Null, "round {round}");
        let newest = json!({"state": "Partial", "version": "4.20.7", "image": image('7'), "startedTime": "2026-11-14T00:02:00Z"});
        let status =
            json!({"desired": {"version": "4.20.7", "image": image('7')}, "history": [newest]});
        world.merge(&format!("{VERSION}/status"), &json!({"status": status}));
    }
    assert_eq!((tries(&world), events(&world, "AcceptedRelease")), (0, 1));
    assert_eq!(condition(&world.get(PLANE), "ChangesPending"), "False NothingPending");
}

/// CV-5: the server holds everybody to the gate, and what it lets pass without being asked begins nothing a second time.
#[tokio::test(start_paused = true)]
async fn a_wish_that_is_taken_back_never_began_and_another_is_asked_for_itself() {
    let world = asked();
    let _operator = start(&world, "one");
    pass(Duration::from_mins(50)).await;
    world.merge(VERSION, &json!({"metadata": {"annotations": {WANTED_RELEASE: null}}}));
    pass(Duration::from_mins(20)).await;
    assert_eq!((told(&world), tries(&world)), (None, 0));
    assert_eq!((noted(&world, WANTED_IMAGE), events(&world, "ReleaseWithdrawn")), (Value::Null, 1));
    wish(&world, r#"{"version":"4.20.8"}"#);
    pass(Duration::from_secs(5)).await;
    assert_eq!(told(&world).as_deref(), Some("4.20.8"));
}

#[tokio::test(start_paused = true)]
async fn a_wish_that_nobody_can_read_is_told_with_object_and_field_and_begins_nothing() {
    let world = stock();
    wish(&world, "4.20.7");
    let _operator = start(&world, "one");
    pass(Duration::from_hours(3)).await;
    assert_eq!((told(&world), tries(&world)), (None, 0));
    let expected = r#"metadata.annotations["changemanagement.openshift.io/wanted-release"]: the wish cannot be read"#;
    let gate = world.get(PLANE);
    assert_eq!(condition(&gate, "ChangesPending").split(' ').next(), Some("True"), "{gate}");
    let said = gate["status"]["holds"][0]["message"].as_str().unwrap_or_default();
    assert!(
        said.starts_with("ClusterVersion/version would not start") && said.contains(expected),
        "{said}"
    );
    let events = world.events();
    let stopped = events.iter().filter(|event| event.starts_with("version ReleaseStopped: "));
    let stopped: Vec<&String> = stopped.collect();
    assert!(stopped.len() == 1 && stopped[0].contains(expected), "{events:?}");
    // Mended in the window, it begins.
    wish(&world, WISH);
    pass(Duration::from_secs(5)).await;
    assert_eq!(told(&world).as_deref(), Some("4.20.7"));
    assert_eq!(world.get(PLANE)["status"]["holds"][0].get("message"), None);
}

/// OVR-1, RCH-1: a freeze holds it in its window, and so does a second gate.
#[tokio::test(start_paused = true)]
async fn a_freeze_or_another_gate_holds_it_in_its_window() {
    let world = asked();
    let _operator = start(&world, "one");
    let freeze = json!({"apiVersion": "changemanagement.openshift.io/v1alpha1", "kind": "ClusterChangeFreeze",
        "metadata": {"name": "stop"}, "spec": {"reason": "a storm", "holds": [{"what": "ClusterVersion"}]}});
    world.create(FREEZES, &freeze);
    let other = json!({"apiVersion": "changemanagement.openshift.io/v1alpha1", "kind": "ClusterChangeGate",
        "metadata": {"name": "other"},
        "spec": {"changeManagement": {"strategy": "Restrictive"}, "holds": [{"what": "ClusterVersion"}]}});
    world.create(GATES, &other);
    pass(Duration::from_hours(2)).await;
    assert_eq!(told(&world), None);
    world.delete(&format!("{FREEZES}/stop"));
    pass(Duration::from_mins(2)).await;
    assert_eq!(told(&world), None, "the other gate still holds it");
    world.delete(&format!("{GATES}/other"));
    pass(Duration::from_secs(5)).await;
    assert_eq!(told(&world).as_deref(), Some("4.20.7"));
    assert_eq!(tries(&world), 1, "the server was never asked in vain");
}

/// GATE-11: opened and shut before anybody was told of the first.
#[tokio::test(start_paused = true)]
async fn a_hold_that_is_committed_first_holds() {
    let world = asked();
    let _operator = start(&world, "one");
    settle().await;
    let strategy = |name: &str| json!({"spec": {"changeManagement": {"strategy": name}}});
    world.merge(PLANE, &strategy("Permissive"));
    world.merge(PLANE, &strategy("Restrictive"));
    pass(Duration::from_hours(3)).await;
    assert_eq!(told(&world), None);
    world.merge(PLANE, &strategy("Permissive"));
    pass(Duration::from_secs(5)).await;
    assert_eq!(told(&world).as_deref(), Some("4.20.7"));
}

#[tokio::test(start_paused = true)]
async fn an_operator_that_comes_back_in_the_window_begins_and_one_that_comes_too_late_waits() {
    for (hours, expected) in [(20, true), (60, false)] {
        let world = asked();
        let operator = start(&world, "one");
        pass(Duration::from_mins(30)).await;
        drop(operator);
        world.clock.step(hours * 3600);
        let _again = start(&world, "two");
        pass(Duration::from_mins(5)).await;
        assert_eq!(told(&world).is_some(), expected, "{hours}");
    }
}

/// EXEC-4: an answer that is lost is read back, and nothing is sent again.
#[tokio::test(start_paused = true)]
async fn a_begin_whose_answer_is_lost_is_read_back() {
    let world = asked();
    let _operator = start(&world, "one");
    pass(Duration::from_mins(59)).await;
    world.requests();
    strike(&world, 1, Fault::LoseAnswer);
    pass(Duration::from_mins(10)).await;
    assert_eq!(told(&world).as_deref(), Some("4.20.7"));
    assert_eq!((tries(&world), events(&world, "AcceptedRelease")), (1, 1), "told all the same");
}

#[tokio::test(start_paused = true)]
async fn two_who_both_believe_they_lead_begin_once() {
    for seed in 0..3 {
        let world = asked();
        let latency = Duration::from_millis(200);
        world.server.draw_faults(apiserver::Profile { latency, ..Default::default() }, seed);
        let _both: [Running; 2] = ["one", "two"].map(|name| start(&world, name));
        pass(Duration::from_mins(75)).await;
        assert_eq!(told(&world).as_deref(), Some("4.20.7"), "seed {seed}");
        assert_eq!(events(&world, "AcceptedRelease"), 1, "seed {seed}");
    }
}

/// CV-5: the server turns a mark that comes too late into a wish again, and nobody is told that it began.
#[tokio::test(start_paused = true)]
async fn a_mark_that_the_server_queues_again_is_not_told_as_begun() {
    let world = asked();
    let server = world.server.clone();
    let turned = Arc::new(AtomicUsize::new(0));
    let (count, most) = (Arc::clone(&turned), 3);
    // What the mutating policy does, which the embedded server has none of: the wish stays, what was asked for does not.
    let client = world.client_past(move |request| {
        let query = request.uri().query().unwrap_or_default();
        if !query.contains("fieldManager=tidegate-rollout") || count.load(Ordering::Relaxed) >= most
        {
            return None;
        }
        count.fetch_add(1, Ordering::Relaxed);
        let noted = json!({PERMIT_CHANGE: "too late", WANTED_IMAGE: null});
        let change = json!({"metadata": {"annotations": noted}}).to_string();
        let merge = "application/merge-patch+json";
        let (code, answer) = server.ask(Method::PATCH, VERSION, merge, change.as_bytes());
        let answer: &'static str = String::from_utf8(answer.to_vec()).unwrap().leak();
        Some((code, answer))
    });
    let settings = Settings::alone("one").starting_queued_updates();
    let _operator = World::start_on(client, &world.clock, settings);
    pass(Duration::from_secs(3602)).await;
    assert_eq!(turned.load(Ordering::Relaxed), 1, "it is not tried again at once");
    assert_eq!((told(&world), noted(&world, WANTED_RELEASE)), (None, json!(WISH)));
    assert_eq!(events(&world, "AcceptedRelease"), 0);
    // Once the server takes it, it begins, and that is told.
    pass(Duration::from_mins(2)).await;
    assert_eq!(turned.load(Ordering::Relaxed), most);
    assert_eq!(told(&world).as_deref(), Some("4.20.7"));
    assert_eq!(events(&world, "AcceptedRelease"), 1);
}

/// Without this duty the operator touches nothing: what was queued waits until somebody asks again.
#[tokio::test(start_paused = true)]
async fn an_operator_without_this_duty_leaves_what_was_queued_alone() {
    let world = asked();
    let _operator = world.start();
    pass(Duration::from_hours(3)).await;
    assert_eq!((told(&world), noted(&world, WANTED_IMAGE)), (None, Value::Null));
    assert_eq!(noted(&world, WANTED_RELEASE), WISH);
}

const NODES: &str = "/api/v1/nodes";

fn node(name: &str, role: &str) -> Value {
    let config = format!("rendered-{role}-1");
    json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name,
        "labels": {format!("node-role.kubernetes.io/{role}"): ""},
        "annotations": {CURRENT_CONFIG: config, DESIRED_CONFIG: config, STATE: "Done"}}})
}

/// Two masters and a worker, with their pools.
fn with_nodes(world: &World) {
    for role in ["master", "worker"] {
        let label = json!({format!("node-role.kubernetes.io/{role}"): ""});
        let pool = json!({"apiVersion": "machineconfiguration.openshift.io/v1", "kind": "MachineConfigPool",
            "metadata": {"name": role}, "spec": {"nodeSelector": {"matchLabels": label},
                "machineConfigSelector": {"matchLabels": {ROLE: role}},
                "configuration": {"name": format!("rendered-{role}-1")}}});
        world.create(POOLS, &pool);
    }
    for (name, role) in [("m1", "master"), ("m2", "master"), ("w1", "worker")] {
        world.create(NODES, &node(name, role));
    }
}

/// Which release each node carries the record of.
fn carried(world: &World) -> String {
    let of = |name: &str| {
        let node = world.get(&format!("{NODES}/{name}"));
        let noted = node["metadata"]["annotations"][BEGUN_RELEASE].as_str().unwrap_or("-");
        format!("{name} {noted}")
    };
    ["m1", "m2", "w1"].map(of).join(", ")
}

/// What the cluster version operator tells of a release.
fn installing(world: &World, state: &str) {
    let entry = |version: &str, digit, state: &str, started: &str| json!({"state": state, "version": version, "image": image(digit), "startedTime": started});
    let history = json!([
        entry("4.20.7", '7', state, "2026-11-13T23:10:00Z"),
        entry("4.20.6", '6', "Completed", "2026-01-01T00:00:00Z"),
    ]);
    let status = json!({"desired": {"version": "4.20.7", "image": image('7')}, "history": history});
    world.merge(&format!("{VERSION}/status"), &json!({"status": status}));
}

/// GATE-10: what began is noted once on those who have to finish it, and goes when they have it. Nothing else of nodes is written.
#[tokio::test(start_paused = true)]
async fn what_has_begun_is_noted_on_the_masters_until_they_have_converged() {
    let world = stock();
    with_nodes(&world);
    let operator = start(&world, "one");
    pass(Duration::from_mins(5)).await;
    assert_eq!(carried(&world), "m1 -, m2 -, w1 -");
    world.writes();
    installing(&world, "Partial");
    pass(Duration::from_secs(5)).await;
    assert_eq!(carried(&world), "m1 4.20.7, m2 4.20.7, w1 -");
    let record = noted(&world, BEGUN_RELEASE);
    assert!(record.as_str().is_some_and(|text| text.contains(r#""release":"4.20.7""#)), "{record}");
    assert_eq!(events(&world, "ReleaseBegan"), 1);
    let patched = world.writes().into_iter().filter(|line| line.starts_with("PATCH "));
    let patched: Vec<String> = patched.filter(|line| !line.contains("/status")).collect();
    assert_eq!(patched.len(), 3, "{patched:?}");
    pass(Duration::from_mins(20)).await;
    assert_eq!(world.writes(), [""; 0], "nothing is written while nothing happens");
    // The release brings a configuration, and one master after the other gets it.
    world.merge(
        &format!("{POOLS}/master"),
        &json!({"spec": {"configuration": {"name": "rendered-master-2"}}}),
    );
    let goes = |name: &str, key: &str| {
        let noted = json!({"metadata": {"annotations": {key: "rendered-master-2"}}});
        world.merge(&format!("{NODES}/{name}"), &noted);
    };
    goes("m1", DESIRED_CONFIG);
    goes("m1", CURRENT_CONFIG);
    installing(&world, "Completed");
    goes("m2", DESIRED_CONFIG);
    pass(Duration::from_mins(5)).await;
    assert_eq!(carried(&world), "m1 4.20.7, m2 4.20.7, w1 -", "one is on its way");
    goes("m2", CURRENT_CONFIG);
    pass(Duration::from_secs(5)).await;
    assert_eq!(carried(&world), "m1 -, m2 -, w1 -");
    assert_eq!((noted(&world, BEGUN_RELEASE), events(&world, "ReleaseFinished")), (Value::Null, 1));
    pass(Duration::from_mins(10)).await;
    assert_eq!(carried(&world), "m1 -, m2 -, w1 -", "and is not copied again");
    operator.view.ready().unwrap();
}

/// What the machine-config-controller tells a node; why the server does not let it, if it does not.
fn tells(world: &World, name: &str, config: &str) -> Result<(), String> {
    let order = json!({"metadata": {"annotations": {DESIRED_CONFIG: config}}}).to_string();
    let path = format!("{NODES}/{name}?fieldManager=machine-config-controller");
    let merge = "application/merge-patch+json";
    let (code, answer) = world.server.ask(Method::PATCH, &path, merge, order.as_bytes());
    let answer: Value = serde_json::from_slice(&answer).unwrap();
    if code < 300 { Ok(()) } else { Err(answer["message"].as_str().unwrap().to_owned()) }
}

/// The machine-config-operator rendered another configuration for the masters, and this many have it.
fn rendered(world: &World, config: &str, updated: usize) {
    let pool = format!("{POOLS}/master");
    world.merge(&pool, &json!({"spec": {"configuration": {"name": config}}}));
    let status = json!({"configuration": {"name": "rendered-master-1"}, "machineCount": 2, "updatedMachineCount": updated});
    world.merge(&format!("{pool}/status"), &json!({"status": status}));
}

/// CV-2: what people write for masters waits for whatever holds the control plane; CV-1, GATE-10: what has begun takes them along.
#[tokio::test(start_paused = true)]
async fn masters_wait_for_the_gate_of_the_control_plane_and_finish_what_has_begun() {
    let world = stock();
    install(&world, MASTERS, |_| true);
    with_nodes(&world);
    let _operator = start(&world, "one");
    pass(Duration::from_mins(5)).await;
    rendered(&world, "rendered-master-2", 0);
    pass(Duration::from_secs(5)).await;
    let said = tells(&world, "m1", "rendered-master-2").unwrap_err();
    let expected = "held by ClusterChangeGate plane, which opens at 2026-11-14T00:00:00Z; nodes of the control plane wait for what holds ClusterVersion";
    assert!(said.contains(expected), "{said}");
    assert_eq!(tells(&world, "w1", "rendered-worker-2"), Ok(()), "workers are no masters");
    let gate = world.get(PLANE);
    assert_eq!(condition(&gate, "ChangesPending"), "True Held");
    assert_eq!(gate["status"]["pending"][0]["kind"], "MachineConfigPool");
    assert_eq!(gate["status"]["pending"][0]["name"], "master");
    // An update that has begun takes them along, with the window shut.
    installing(&world, "Partial");
    pass(Duration::from_secs(5)).await;
    assert_eq!(carried(&world), "m1 4.20.7, m2 4.20.7, w1 -");
    assert_eq!(condition(&world.get(PLANE), "ChangesPending"), "False NothingPending");
    for name in ["m1", "m2"] {
        assert_eq!(tells(&world, name, "rendered-master-2"), Ok(()), "{name}");
        let done = json!({"metadata": {"annotations": {CURRENT_CONFIG: "rendered-master-2"}}});
        world.merge(&format!("{NODES}/{name}"), &done);
    }
    installing(&world, "Completed");
    pass(Duration::from_secs(5)).await;
    assert_eq!(carried(&world), "m1 -, m2 -, w1 -");
    // What comes later waits again, until its window.
    let said = tells(&world, "m1", "rendered-master-3").unwrap_err();
    assert!(said.contains(expected), "{said}");
    let freeze = json!({"apiVersion": "changemanagement.openshift.io/v1alpha1", "kind": "ClusterChangeFreeze",
        "metadata": {"name": "stop"}, "spec": {"reason": "a storm", "holds": [{"what": "ClusterVersion"}]}});
    world.create(FREEZES, &freeze);
    pass(Duration::from_hours(2)).await;
    let said = tells(&world, "m1", "rendered-master-3").unwrap_err();
    assert!(said.contains("held by ClusterChangeFreeze stop"), "{said}");
    world.delete(&format!("{FREEZES}/stop"));
    pass(Duration::from_secs(5)).await;
    assert_eq!(tells(&world, "m1", "rendered-master-3"), Ok(()));
}

/// GATE-10: what people write for masters while an update is under way cannot be kept apart: the gate lists it, and an event tells once.
#[tokio::test(start_paused = true)]
async fn what_people_write_for_masters_meanwhile_is_listed_by_the_gate_and_told_once() {
    let world = stock();
    world.define(&kinds::MACHINE_CONFIG);
    with_nodes(&world);
    let writes = |name: &str, role: &str| {
        let config = json!({"apiVersion": "machineconfiguration.openshift.io/v1", "kind": "MachineConfig",
            "metadata": {"name": name, "labels": {ROLE: role}}, "spec": {"kernelArguments": ["quiet"]}});
        world.create("/apis/machineconfiguration.openshift.io/v1/machineconfigs", &config);
    };
    writes("50-ours", "master");
    let operator = start(&world, "one");
    pass(Duration::from_mins(15)).await;
    installing(&world, "Partial");
    pass(Duration::from_secs(5)).await;
    let message = || world.get(PLANE)["status"]["holds"][0]["message"].clone();
    assert_eq!((message(), events(&world, "RidesAlong")), (Value::Null, 0));
    writes("60-workers", "worker");
    writes("99-late", "master");
    pass(Duration::from_secs(5)).await;
    let expected = "rides along with release 4.20.7, because people wrote it for the nodes of the control plane after that began: 99-late";
    assert_eq!((message(), events(&world, "RidesAlong")), (json!(expected), 1));
    world.writes();
    pass(Duration::from_mins(20)).await;
    assert_eq!(world.writes(), [""; 0], "nothing is written while nothing happens");
    installing(&world, "Completed");
    pass(Duration::from_secs(5)).await;
    assert_eq!((message(), events(&world, "RidesAlong")), (Value::Null, 1));
    operator.view.ready().unwrap();
}

/// Nodes that others roll out need no proof of ours: what was queued begins beside them.
#[tokio::test(start_paused = true)]
async fn nodes_that_others_roll_out_keep_nothing_from_beginning() {
    let world = asked();
    with_nodes(&world);
    let operator = start(&world, "one");
    pass(Duration::from_mins(61)).await;
    assert_eq!(told(&world).as_deref(), Some("4.20.7"));
    operator.view.ready().unwrap();
}

/// LIVE-3, EXEC-4: an operator that is killed in between is carried on by the next.
#[tokio::test(start_paused = true)]
async fn a_record_that_was_half_written_is_finished_by_the_next() {
    let world = stock();
    with_nodes(&world);
    installing(&world, "Partial");
    for name in ["one", "two", "three"] {
        strike_nodes(&world, Fault::LoseAnswer);
        let operator = start(&world, name);
        pass(Duration::from_millis(300)).await;
        drop(operator);
    }
    let _operator = start(&world, "four");
    pass(Duration::from_mins(2)).await;
    assert_eq!(carried(&world), "m1 4.20.7, m2 4.20.7, w1 -");
}

fn strike_nodes(world: &World, fault: Fault) {
    let matching = RequestMatch {
        verb: Some("patch".into()),
        resource: Some("nodes".into()),
        ..RequestMatch::default()
    };
    world.server.script_fault(Scripted { matching, nth: 1, fault });
}
