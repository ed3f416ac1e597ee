//! Does the server itself keep a node from being changed without a live permit, and does the operator stay within the budget?
//!
//! GATE-7 with the policy as it is shipped, on both servers and in their own time: first with no operator at all, then with two that
//! both believe they lead.

pub(crate) mod writers;

use std::sync::Arc;

use api::{
    crds, kinds,
    machine::definitions::definitions,
    machine::names::{
        API_VERSION, CURRENT_CONFIG, DESIRED_CONFIG, DESIRED_DRAIN, LAST_APPLIED_DRAIN,
        MACHINE_CONFIG, PERMIT_CHANGE, PERMIT_FROM, PERMIT_UNTIL, ROLE, STATE,
    },
    names,
    schema::{GATED, KINDS},
};
use jiff::{Timestamp, ToSpan as _};
use operator::{Operator, Pools, Settings};
use rig::{Cluster, Controllers, suite};
use runtime::clock::SystemClock;
use serde_json::{Value, json};
use tidy::permits;
use writers::{Writer, Writers, until};

#[test]
fn real_server_refuses_changes_without_a_live_permit() {
    suite::on_real("permits", Controllers::Absent, async |cluster: &Cluster| {
        let writers = Writers::of(&writers::of_real(cluster).await);
        permits_are_kept(&writers).await;
        budget_is_kept_by_two_leaders(&writers).await;
    });
}

#[test]
fn embedded_server_refuses_changes_without_a_live_permit() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let writers = Writers::of(&writers::of_embedded());
        permits_are_kept(&writers).await;
        budget_is_kept_by_two_leaders(&writers).await;
    });
}

pub(crate) const NODES: &str = "/api/v1/nodes";
pub(crate) const POOLS: &str = "/apis/machineconfiguration.openshift.io/v1/machineconfigpools";
pub(crate) const CONFIGS: &str = "/apis/machineconfiguration.openshift.io/v1/machineconfigs";
const LONG_PAST: &str = "2001-01-01T00:00:00Z";
const FAR_AHEAD: &str = "2101-01-01T00:00:00Z";

/// The policies and their bindings, as they are shipped; they stand once they were seen refusing.
async fn install(writers: &Writers) {
    for (collection, document) in permits::shipped() {
        writers.admin.create(collection, &document).await;
    }
    let probe = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "probe"}});
    writers.admin.create(NODES, &probe).await;
    until("the policy refuses", async || {
        let change = marked("probe", "x", None);
        writers.operator.apply(&format!("{NODES}/probe?dryRun=All"), &change).await.is_err()
    })
    .await;
    writers.admin.send("DELETE", &format!("{NODES}/probe"), "", &Value::Null).await.unwrap();
}

fn marked(name: &str, desired: &str, until: Option<&str>) -> Value {
    let mut annotations = json!({DESIRED_CONFIG: desired, PERMIT_CHANGE: desired});
    if let Some(until) = until {
        annotations[PERMIT_UNTIL] = json!(until);
    }
    json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "annotations": annotations}})
}

fn expect(what: &str, answer: Result<Value, String>, refusal: Option<&str>) {
    match (answer, refusal) {
        (Ok(_), None) => {}
        (Err(said), Some(part)) if said.contains(part) => {}
        (answer, refusal) => panic!("{what}: expected {refusal:?}, the server said {answer:?}"),
    }
}

/// GATE-7, with nothing of ours running: in which words is a mark refused? That every door is shut is shown beside, in `doors.rs`.
async fn permits_are_kept(writers: &Writers) {
    install(writers).await;
    let Writers { admin, operator, by_hand, stranger } = writers;
    let pier = format!("{NODES}/pier");
    let node = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "pier"}});
    admin.create(NODES, &node).await;
    let joins = json!({"metadata": {"annotations": {CURRENT_CONFIG: "a", DESIRED_CONFIG: "a"}}});
    let refusal = Some("permit-change=RENDERED");
    expect("a node that says what it runs", stranger.merge(&pier, &joins).await, refusal);
    let runs = json!({"metadata": {"annotations": {CURRENT_CONFIG: "a"}}});
    stranger.merge(&pier, &runs).await.unwrap();
    let mut adopted = marked("pier", "a", None);
    adopted["metadata"]["annotations"].as_object_mut().unwrap().remove(PERMIT_CHANGE);
    expect("adopted with what it runs", operator.apply(&pier, &adopted).await, None);
    let refusal = Some("the permit is for nothing, and the order is b");
    let mut bare = adopted.clone();
    bare["metadata"]["annotations"][DESIRED_CONFIG] = json!("b");
    expect("without a record", operator.apply(&pier, &bare).await, refusal);

    let soon = (Timestamp::now() + 5.minutes()).strftime("%FT%TZ").to_string();
    for (what, writer, desired, permit, refusal) in [
        ("without a permit", operator, "b", None, Some("there is no permit")),
        ("late", operator, "b", Some(LONG_PAST), Some("the permit ended at 2001-01-01T00:00:00Z")),
        ("good for ever", operator, "b", Some(FAR_AHEAD), Some("no permit is good for longer")),
        ("by a stranger", stranger, "b", Some(soon.as_str()), Some("only the operator")),
        ("by an administrator in passing", admin, "b", Some(&soon), Some("only the operator")),
        ("with a live permit", operator, "b", Some(&soon), None),
        ("nothing new, and the permit is over", operator, "b", Some(LONG_PAST), None),
        ("late again, by the same owner", operator, "c", Some(LONG_PAST), Some("the permit ended")),
        ("by hand, with the right to it", by_hand, "c", None, None),
    ] {
        expect(what, settled(writer, &pier, &marked("pier", desired, permit)).await, refusal);
    }
    for (what, from, refusal) in [
        ("early, by a clock that is ahead", &*soon, Some("the window opens at")),
        ("in its window", LONG_PAST, None),
    ] {
        let mut mark = marked("pier", "d", Some(&soon));
        mark["metadata"]["annotations"][PERMIT_FROM] = json!(from);
        expect(what, settled(operator, &pier, &mark).await, refusal);
    }
    replayed_write_is_refused(writers, &pier).await;

    let wiped = json!({"metadata": {"managedFields": [{}]}});
    by_hand.merge(&pier, &wiped).await.unwrap();
    let order = json!({"metadata": {"annotations":
        {DESIRED_CONFIG: "z", PERMIT_CHANGE: "z", PERMIT_UNTIL: soon}}});
    expect("untracked", operator.merge(&pier, &order).await, Some("apply server-side"));
    let mark = marked("pier", "z", Some(&soon));
    expect("untracked, and applied", operator.apply(&pier, &mark).await, None);
    admin.send("DELETE", &pier, "", &Value::Null).await.unwrap();
}

/// The second of two marks by one owner within a second has no stamp of its own; it is sent again, as the refusal says.
async fn settled(writer: &Writer, path: &str, mark: &Value) -> Result<Value, String> {
    loop {
        match writer.apply(path, mark).await {
            Err(said) if said.contains("a second later") => {
                tokio::time::sleep(std::time::Duration::from_millis(200)).await;
            }
            answer => return answer,
        }
    }
}

/// The very bytes that were good are not good once their permit has ended.
async fn replayed_write_is_refused(writers: &Writers, pier: &str) {
    let Writers { operator, by_hand, .. } = writers;
    let end = (Timestamp::now() + 4.seconds()).strftime("%FT%TZ").to_string();
    let packet = marked("pier", "replayed", Some(&end));
    expect("the first time", settled(operator, pier, &packet).await, None);
    expect("undone by hand", by_hand.apply(pier, &marked("pier", "undone", None)).await, None);
    let dry = format!("{pier}?dryRun=All");
    let ended = "the permit ended at";
    until("the permit ends", async || {
        operator.apply(&dry, &packet).await.is_err_and(|said| said.contains(ended))
    })
    .await;
    expect("replayed", operator.apply(pier, &packet).await, Some(ended));
}

/// POOL-2: two operators that both lead, an administrator's cordon, and nodes that finish one after the other.
async fn budget_is_kept_by_two_leaders(writers: &Writers) {
    let admin = &writers.admin;
    let ours = KINDS.iter().chain(GATED).map(crds::definition);
    for definition in ours.chain(definitions()) {
        let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
        admin.create(path, &definition).await;
    }
    for kind in KINDS.iter().chain(GATED).chain([&kinds::MACHINE_CONFIG]) {
        let served = format!("/apis/{}/{}", kind.api_version, names::plural(kind.name));
        until(&served, async || admin.send("GET", &served, "", &Value::Null).await.is_ok()).await;
    }
    admin.create(CONFIGS, &config("one")).await;
    let role = "node-role.kubernetes.io/worker";
    admin
        .create(
            POOLS,
            &json!({"apiVersion": API_VERSION, "kind": names::MACHINE_CONFIG_POOL,
            "metadata": {"name": "worker"}, "spec": {"maxUnavailable": 2,
            "machineConfigSelector": {"matchLabels": {ROLE: "worker"}},
            "nodeSelector": {"matchLabels": {role: ""}}}}),
        )
        .await;
    let running: Vec<_> = ["one", "two"].map(|name| start(&writers.operator, name)).into();
    let pool = format!("{POOLS}/worker");
    let newest = async || {
        let pool = admin.get(&pool).await;
        pool.pointer("/spec/configuration/name").and_then(Value::as_str).map(str::to_owned)
    };
    until("the pool is rendered", async || newest().await.is_some()).await;
    let first = newest().await.unwrap();
    for name in ["n1", "n2", "n3", "n4", "n5", "n6"] {
        let node = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name,
            "labels": {role: ""},
            "annotations": {CURRENT_CONFIG: first, DESIRED_CONFIG: first, STATE: "Done"}}});
        writers.by_hand.create(NODES, &node).await;
    }
    let cordon = json!({"spec": {"unschedulable": true}});
    admin.merge(&format!("{NODES}/n6"), &cordon).await.unwrap();
    until("all nodes are counted", async || {
        let pool = admin.get(&pool).await;
        pool["status"]["machineCount"] == 6 && pool["status"]["unavailableMachineCount"] == 1
    })
    .await;

    admin.merge(&format!("{CONFIGS}/50-motd"), &config("two")).await.unwrap();
    // Nodes are only ever begun between two looks, and finished by this suite alone: a look before each finish sees the most.
    for round in 0..5 {
        let mut moving = Vec::new();
        until("a node is begun", async || !under_way(admin).await.is_empty()).await;
        moving.extend(under_way(admin).await);
        assert_eq!(
            moving.len(),
            1,
            "with one cordoned and room for two, in round {round}: {moving:?}"
        );
        finish(admin, &moving[0]).await;
    }
    assert!(under_way(admin).await.is_empty(), "the cordoned node is left alone");
    admin.merge(&format!("{NODES}/n6"), &json!({"spec": {"unschedulable": null}})).await.unwrap();
    until("the last node is begun", async || under_way(admin).await == ["n6"]).await;

    let second = newest().await.unwrap();
    drained_on_request(admin, &second).await;
    finish(admin, "n6").await;
    assert_ne!(first, second);
    until("the pool says that all is done", async || {
        let pool = admin.get(&pool).await;
        pool["status"]["updatedMachineCount"] == 6
            && pool["status"]["configuration"]["name"] == second
    })
    .await;
    for task in running {
        task.abort();
        assert!(task.await.unwrap_err().is_cancelled(), "the operator ended by itself");
    }
}

/// DRAIN-1: the agent asks, the operator answers.
async fn drained_on_request(admin: &Writer, config: &str) {
    let path = format!("{NODES}/n6");
    let ask = |what: &str| json!({"metadata": {"annotations": {DESIRED_DRAIN: what}}});
    let answered = async |what: &str, cordoned: bool| {
        let node = admin.get(&path).await;
        node["metadata"]["annotations"][LAST_APPLIED_DRAIN] == what
            && (node["spec"]["unschedulable"] == true) == cordoned
    };
    let (drain, uncordon) = (format!("drain-{config}"), format!("uncordon-{config}"));
    admin.merge(&path, &ask(&drain)).await.unwrap();
    until("the node is empty", async || answered(&drain, true).await).await;
    admin.merge(&path, &ask(&uncordon)).await.unwrap();
    until("the node is open", async || answered(&uncordon, false).await).await;
}

fn start(writer: &Writer, name: &str) -> tokio::task::JoinHandle<()> {
    let settings = Settings::alone(name).with(Pools::Managed);
    let operator = Operator::new(writer.client(), Arc::new(SystemClock), settings);
    tokio::spawn(async move { operator.run(std::future::pending()).await.unwrap() })
}

fn config(content: &str) -> Value {
    json!({"apiVersion": API_VERSION, "kind": MACHINE_CONFIG,
    "metadata": {"name": "50-motd", "labels": {ROLE: "worker"}},
    "spec": {"config": {"ignition": {"version": "3.4.0"}, "storage": {"files": [
        {"path": "/etc/motd", "contents": {"source": format!("data:,{content}")}},
    ]}}}})
}

/// The nodes that were told to go somewhere and are not there.
pub(crate) async fn under_way(admin: &Writer) -> Vec<String> {
    let nodes = admin.get(NODES).await;
    let nodes = nodes["items"].as_array().unwrap().iter();
    let moving = nodes.filter(|node| {
        let noted = &node["metadata"]["annotations"];
        noted[CURRENT_CONFIG] != noted[DESIRED_CONFIG]
    });
    moving.map(|node| node["metadata"]["name"].as_str().unwrap().to_owned()).collect()
}

/// Plays the agent of a node.
pub(crate) async fn finish(admin: &Writer, name: &str) {
    let path = format!("{NODES}/{name}");
    let node = admin.get(&path).await;
    let desired = &node["metadata"]["annotations"][DESIRED_CONFIG];
    let done = json!({"metadata": {"annotations": {CURRENT_CONFIG: desired, STATE: "Done"}}});
    admin.merge(&path, &done).await.unwrap();
}
