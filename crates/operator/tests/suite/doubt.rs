//! Does doubt about who decides, or about who belongs where, ever open a gate? (GATE-11, GATE-12, CV-2)

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use api::{
    kinds,
    machine::names::{API_VERSION, CURRENT_CONFIG, DESIRED_CONFIG, MACHINE_CONFIG, ROLE, STATE},
    schema::{GATED, KINDS},
};
use apiserver::{Fault, RequestMatch, Scripted};
use serde_json::{Value, json};

use super::{
    common::{
        CRDS, POLICIES, POOLS, Running, World, by_policy, loose, managing, pass, settle, weekend,
    },
    rollout::{NODES, blocked, marked, waiting},
};

const CONFIGS: &str = "/apis/machineconfiguration.openshift.io/v1/machineconfigs";
const VERSIONS: &str = "/apis/config.openshift.io/v1/clusterversions";

fn config(role: &str, content: &str) -> Value {
    json!({"apiVersion": API_VERSION, "kind": MACHINE_CONFIG,
    "metadata": {"name": format!("50-{role}"), "labels": {ROLE: role}},
    "spec": {"config": {"ignition": {"version": "3.4.0"}, "storage": {"files": [
        {"path": "/etc/motd", "contents": {"source": format!("data:,{content}")}},
    ]}}}})
}

fn version(name: &str, strategy: &str) -> Value {
    json!({"apiVersion": "config.openshift.io/v1", "kind": "ClusterVersion",
        "metadata": {"name": name}, "spec": {"changeManagement": {"strategy": strategy}}})
}

fn role(name: &str) -> String {
    format!("node-role.kubernetes.io/{name}")
}

/// A pool that holds everything, and selects nodes by its role.
fn add_pool(world: &World, name: &str, stanza: &Value) {
    let pool = json!({"apiVersion": API_VERSION, "kind": "MachineConfigPool",
    "metadata": {"name": name}, "spec": {
        "changeManagement": stanza,
        "machineConfigSelector": {"matchExpressions": [
            {"key": ROLE, "operator": "In", "values": ["worker", name]}]},
        "nodeSelector": {"matchExpressions": [{"key": role(name), "operator": "Exists"}]}}});
    world.create(POOLS, &pool);
}

fn add_machine(world: &World, name: &str, roles: &[&str], at: &str) {
    let labels: Value = roles.iter().map(|name| (role(name), json!(""))).collect();
    world.create(
        NODES,
        &json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels,
        "annotations": {CURRENT_CONFIG: at, DESIRED_CONFIG: at, STATE: "Done"}}}),
    );
}

fn newest(world: &World, pool: &str) -> String {
    let pool = world.get(&format!("{POOLS}/{pool}"));
    pool["spec"]["configuration"]["name"].as_str().unwrap().to_owned()
}

fn desired(world: &World, node: &str) -> String {
    let node = world.get(&format!("{NODES}/{node}"));
    node["metadata"]["annotations"][DESIRED_CONFIG].as_str().unwrap().to_owned()
}

/// Three masters that wait for a change, with this stanza on their pool.
async fn waiting_masters(world: &World, stanza: &Value) -> (Running, String) {
    waiting_masters_past(world, stanza, world.client()).await
}

/// The same, for an operator with a line to the server of its own.
async fn waiting_masters_past(
    world: &World,
    stanza: &Value,
    client: kube::Client,
) -> (Running, String) {
    world.define(&kinds::MACHINE_CONFIG);
    world.create(CONFIGS, &config("master", "one"));
    add_pool(world, "master", stanza);
    let operator = World::start_on(client, &world.clock, managing("one"));
    settle().await;
    let first = newest(world, "master");
    for name in ["m1", "m2", "m3"] {
        add_machine(world, name, &["master"], &first);
    }
    world.merge(&format!("{CONFIGS}/50-master"), &config("master", "two"));
    settle().await;
    assert_ne!(newest(world, "master"), first);
    (operator, first)
}

/// GATE-12: a node that two pools claim waits, and both say so; when somebody has said whose it is, neither does.
#[tokio::test(start_paused = true)]
async fn a_machine_that_two_pools_claim_is_named_by_both() {
    let world = World::new();
    world.define(&kinds::MACHINE_CONFIG);
    for name in ["worker", "infra", "gpu"] {
        world.create(CONFIGS, &config(name, "one"));
        add_pool(&world, name, &Value::Null);
    }
    let _operator = world.start_with(managing("one"));
    settle().await;
    let first = newest(&world, "infra");
    for (name, roles) in
        [("a", vec!["worker"]), ("b", vec!["infra"]), ("n1", vec!["infra", "gpu", "worker"])]
    {
        add_machine(&world, name, &roles, &first);
    }
    settle().await;
    let said = |pool: &str| {
        let pool = world.get(&format!("{POOLS}/{pool}"));
        let conditions = pool["status"]["conditions"].as_array().unwrap().clone();
        let blocked = conditions.into_iter().find(|found| found["type"] == "RolloutBlocked");
        blocked.map_or_else(String::new, |found| {
            format!("{} {}: {}", found["status"], found["reason"], found["message"])
        })
    };
    for pool in ["infra", "gpu"] {
        assert_eq!(
            said(pool),
            r#""True" "Conflict": "Node/n1 belongs to no pool, and nothing is begun there: it is claimed by MachineConfigPool/gpu and MachineConfigPool/infra""#
        );
    }
    assert_eq!(said("worker"), "");
    assert_eq!(desired(&world, "n1"), first);
    world.merge(&format!("{NODES}/n1"), &json!({"metadata": {"labels": {role("gpu"): null}}}));
    settle().await;
    for pool in ["infra", "gpu"] {
        assert!(said(pool).starts_with(r#""False" "AsExpected""#), "{}", said(pool));
    }
}

/// CV-2, EXEC-4: a definition that drops the stanza of the masters' pool is a failure with a pause, and not a write without end.
#[tokio::test(start_paused = true)]
async fn a_write_of_which_the_server_keeps_nothing_is_tried_again_after_a_pause() {
    let world = World::empty();
    for kind in KINDS.iter().chain(GATED).filter(|kind| **kind != kinds::MACHINE_CONFIG_POOL) {
        world.define(kind);
    }
    let kept = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    let schema = json!({"type": "object", "properties": {
        "spec": {"type": "object", "properties": {"nodeSelector": kept, "machineConfigSelector": kept,
            "configuration": kept, "paused": {"type": "boolean"}}},
        "status": kept}});
    world.create(CRDS, &loose(&kinds::MACHINE_CONFIG_POOL, &schema));
    world.define(&kinds::MACHINE_CONFIG);
    world.create(VERSIONS, &version("version", "Restrictive"));
    add_pool(&world, "master", &Value::Null);
    let _operator = world.start_with(managing("one"));
    settle().await;
    world.requests();
    pass(Duration::from_hours(1)).await;
    let requests = world.requests();
    let tries = requests.iter().filter(|line| line.contains("PATCH") && line.contains("/master"));
    let tries = tries.count();
    assert!((1..=60).contains(&tries), "{tries} times");
}

/// CV-2: masters wait for the `ClusterVersion` of the cluster, and for no other object that somebody calls one.
#[tokio::test(start_paused = true)]
async fn a_second_cluster_version_opens_no_gate() {
    let world = World::new();
    world.create(VERSIONS, &version("version", "Restrictive"));
    let (_operator, first) = waiting_masters(&world, &json!({"strategy": "Restrictive"})).await;
    world.create(VERSIONS, &version("a-copy", "Permissive"));
    pass(Duration::from_mins(5)).await;
    for master in ["m1", "m2", "m3"] {
        assert_eq!(desired(&world, master), first, "{master}");
    }
    let pool = world.get(&format!("{POOLS}/master"));
    assert_eq!(pool["spec"]["changeManagement"]["strategy"], "Restrictive");
}

/// GATE-11: that there was no `ClusterVersion` a while ago proves nothing. Watches are silent and lists old, so nobody tells of the new one.
#[tokio::test(start_paused = true)]
async fn a_cluster_version_that_nobody_tells_of_holds_the_masters() {
    let world = World::new();
    world.create(POLICIES, &weekend("weekend"));
    let (_operator, first) = waiting_masters(&world, &by_policy("weekend")).await;
    for (verb, fault) in [("watch", Fault::SilenceWatch(0)), ("list", Fault::ServerError(503))] {
        for nth in 1..=500 {
            let matching = RequestMatch {
                verb: Some(verb.into()),
                resource: Some("clusterversions".into()),
                ..RequestMatch::default()
            };
            world.server.script_fault(Scripted { matching, nth, fault: fault.clone() });
        }
    }
    pass(Duration::from_mins(15)).await;
    world.create(VERSIONS, &version("version", "Restrictive"));
    // The window of the pool's own policy opens.
    world.clock.step(3600);
    pass(Duration::from_mins(5)).await;
    for master in ["m1", "m2", "m3"] {
        assert_eq!(desired(&world, master), first, "{master}");
    }
}

/// GATE-11, GATE-12: a 404 of somebody who knows no path, and an answer about nothing, do not say that there is no `ClusterVersion`: they say
/// nothing, so masters wait. Nobody tells of the hold on it, and their pool still has the stanza of before.
#[tokio::test(start_paused = true)]
async fn what_nobody_on_the_way_knows_is_not_gone() {
    let another = r#"{"apiVersion":"config.openshift.io/v1","kind":"ClusterVersion",
        "metadata":{"name":"another","uid":"u","resourceVersion":"999999","generation":1},"spec":{}}"#;
    for junk in [
        (404, "404 page not found"),
        (404, "{}"),
        (200, "{}"),
        (200, r#"{"kind":"Status"}"#),
        (200, another),
    ] {
        let world = World::new();
        world.create(POLICIES, &weekend("weekend"));
        if junk.0 == 404 {
            let held = json!({"apiVersion": "config.openshift.io/v1", "kind": "ClusterVersion",
                "metadata": {"name": "version"}, "spec": {"changeManagement": by_policy("weekend")}});
            world.create(VERSIONS, &held);
        }
        let struck = Arc::new(AtomicBool::new(false));
        let strikes = Arc::clone(&struck);
        let client = world.client_past(move |request| {
            let (path, query) = (request.uri().path(), request.uri().query().unwrap_or_default());
            match path.strip_prefix(VERSIONS).filter(|_| strikes.load(Ordering::SeqCst)) {
                // Neither watches nor lists tell of it.
                Some("") if query.contains("watch=") => None,
                Some("") => Some((503, "later")),
                Some(_) => Some(junk),
                None => None,
            }
        });
        for nth in 1..=500 {
            let matching = RequestMatch {
                verb: Some("watch".into()),
                resource: Some("clusterversions".into()),
                ..RequestMatch::default()
            };
            let fault = Fault::SilenceWatch(1);
            world.server.script_fault(Scripted { matching, nth, fault });
        }
        let (_operator, first) = waiting_masters_past(&world, &by_policy("weekend"), client).await;
        // The window opens, and within the minute for which what is known may be relied on somebody closes the gate.
        world.clock.step(3590);
        settle().await;
        struck.store(true, Ordering::SeqCst);
        let held = version("version", "Restrictive");
        if junk.0 == 404 {
            world.merge(&format!("{VERSIONS}/version"), &held);
        } else {
            world.create(VERSIONS, &held);
        }
        pass(Duration::from_mins(5)).await;
        for master in ["m1", "m2", "m3"] {
            assert_eq!(desired(&world, master), first, "{master}: {junk:?}");
        }
    }
}

/// CV-2, LIVE-1: a server that does not have the kind says so in its own way, and the masters' own stanza decides.
#[tokio::test(start_paused = true)]
async fn where_there_is_no_cluster_version_at_all_masters_go_by_their_own_stanza() {
    let world = World::empty();
    let others = GATED.iter().filter(|kind| **kind != kinds::CLUSTER_VERSION);
    KINDS.iter().chain(others).for_each(|kind| world.define(kind));
    world.create(POLICIES, &weekend("weekend"));
    let (_operator, first) = waiting_masters(&world, &by_policy("weekend")).await;
    pass(Duration::from_mins(59)).await;
    assert_eq!(desired(&world, "m1"), first);
    pass(Duration::from_mins(2)).await;
    assert_eq!(desired(&world, "m1"), newest(&world, "master"));
}

/// GATE-11: an answer that is older than what is known proves nothing: somebody on the way remembers it, or the store went back.
#[tokio::test(start_paused = true)]
async fn an_answer_of_before_starts_nothing() {
    const OLD: &str = r#"{"apiVersion":"changemanagement.openshift.io/v1alpha1",
        "kind":"ChangeManagementPolicy","metadata":{"name":"weekend","uid":"u","resourceVersion":"1","generation":1},
        "spec":{"strategy":"Permissive"}}"#;
    let (world, ended) = waiting().await;
    drop(ended);
    let remembers = Arc::new(AtomicBool::new(true));
    let struck = Arc::clone(&remembers);
    let client = world.client_past(move |request| {
        let by_name = request.uri().path().ends_with("/weekend") && request.method() == "GET";
        (by_name && struck.load(Ordering::SeqCst)).then_some((200, OLD))
    });
    let _operator = World::start_on(client, &world.clock, managing("two"));
    pass(Duration::from_mins(65)).await;
    assert!(marked(&world).is_empty());
    remembers.store(false, Ordering::SeqCst);
    pass(Duration::from_mins(2)).await;
    assert_eq!(marked(&world), ["n1"]);
}

/// GATE-12: an answer about another object says nothing about the one that was asked for.
#[tokio::test(start_paused = true)]
async fn an_answer_about_another_policy_starts_nothing() {
    const ANOTHER: &str = r#"{"apiVersion":"changemanagement.openshift.io/v1alpha1",
        "kind":"ChangeManagementPolicy","metadata":{"name":"open","uid":"u","resourceVersion":"900000","generation":1},
        "spec":{"strategy":"Permissive"}}"#;
    let (world, ended) = waiting().await;
    drop(ended);
    let client = world.client_past(move |request| {
        let by_name = request.uri().path().ends_with("/weekend") && request.method() == "GET";
        by_name.then_some((200, ANOTHER))
    });
    let _operator = World::start_on(client, &world.clock, managing("two"));
    pass(Duration::from_mins(65)).await;
    assert!(marked(&world).is_empty());
    let why = blocked(&world.get(&format!("{POOLS}/worker")));
    let message = why[0]["message"].as_str().unwrap();
    assert!(message.contains("/weekend cannot be read: "), "{message}");
}

/// GATE-12: whose nodes they are cannot be told while a selector cannot be read, so they are not taken for those of another pool.
#[tokio::test(start_paused = true)]
async fn a_typo_in_a_selector_gives_no_machine_to_an_open_pool() {
    let world = World::new();
    world.define(&kinds::MACHINE_CONFIG);
    world.create(CONFIGS, &config("worker", "one"));
    world.create(CONFIGS, &config("infra", "held"));
    add_pool(&world, "worker", &json!({"strategy": "Permissive"}));
    add_pool(&world, "infra", &json!({"strategy": "Restrictive"}));
    let _operator = world.start_with(managing("one"));
    settle().await;
    let first = newest(&world, "infra");
    add_machine(&world, "i1", &["worker", "infra"], &first);
    settle().await;
    world.merge(
        &format!("{POOLS}/infra"),
        &json!({"spec": {"nodeSelector": {"matchExpressions": [
            {"key": role("infra"), "operator": "exists"}]}}}),
    );
    pass(Duration::from_mins(5)).await;
    assert_eq!(desired(&world, "i1"), first, "held by infra, not given to worker");
    // Mended, and all is as before.
    world.merge(
        &format!("{POOLS}/infra"),
        &json!({"spec": {"nodeSelector": {"matchExpressions": [
            {"key": role("infra"), "operator": "Exists"}]}}}),
    );
    pass(Duration::from_mins(5)).await;
    assert_eq!(desired(&world, "i1"), first);
}
