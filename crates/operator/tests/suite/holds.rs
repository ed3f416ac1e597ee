//! Is it tried whether the server refuses what gates and freezes hold, and does every gate tell it? (GATE-13)
//!
//! Policies, namespace and sets are those that are shipped, on a server that has workloads itself.

use std::time::Duration;

use api::{kinds, names};
use operator::{Settings, metrics};
use serde_json::{Value, json};

use super::{
    budget::install,
    common::{CRDS, Running, World, condition, loose, pass, settle},
};

const SHIPPED: &str = include_str!("../../../../deploy/manifests/change-gates/change-gates.yaml");
const OURS: &str = "/apis/changemanagement.openshift.io/v1alpha1";
const GATE: &str = "/apis/changemanagement.openshift.io/v1alpha1/namespaces/shop/changegates/till";
const PLATFORM: &str = "/apis/changemanagement.openshift.io/v1alpha1/clusterchangegates/reboots";
const BINDINGS: &str = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings";

/// Everything that is shipped for gates, but for rights, which the embedded server does not judge here.
fn installed() -> World {
    let world = World::with_workloads();
    install(&world, SHIPPED, |_| true);
    let documents: Vec<Value> = serde_saphyr::from_multiple(SHIPPED).unwrap();
    for document in documents {
        let path = match document["kind"].as_str().unwrap_or_default() {
            "Namespace" => "/api/v1/namespaces",
            "StatefulSet" => "/apis/apps/v1/namespaces/tidegate-probe/statefulsets",
            "DaemonSet" => "/apis/apps/v1/namespaces/tidegate-probe/daemonsets",
            _ => continue,
        };
        world.create(path, &document);
    }
    let shop = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}});
    world.create("/api/v1/namespaces", &shop);
    world
}

fn gate(kind: &str, name: &str, strategy: &str, rooms: &[&str]) -> Value {
    let holds: Value = rooms.iter().map(|room| json!({"what": room})).collect();
    json!({"apiVersion": names::API_VERSION, "kind": kind, "metadata": {"name": name},
        "spec": {"changeManagement": {"strategy": strategy}, "holds": holds}})
}

fn with_gates(world: &World) {
    let till = gate("ChangeGate", "till", "Restrictive", &["Deployments", "StatefulSets"]);
    world.create(&format!("{OURS}/namespaces/shop/changegates"), &till);
    let reboots = gate("ClusterChangeGate", "reboots", "Permissive", &["KuredLock", "DaemonSets"]);
    world.create(&format!("{OURS}/clusterchangegates"), &reboots);
}

fn start(world: &World, identity: &str) -> Running {
    let probes = Some("tidegate-probe".to_owned());
    world.start_with(Settings { probes, ..Settings::alone(identity) })
}

fn enforced(world: &World, path: &str) -> String {
    condition(&world.get(path), "Enforced")
}

/// The value of a metric, by how its line begins.
fn metric(operator: &Running, start: &str) -> Option<String> {
    let page = metrics::page(&operator.view);
    let line = page.lines().find(|line| line.starts_with(start))?.to_owned();
    line.rsplit(' ').next().map(str::to_owned)
}

/// A gate that is open keeps its rooms' verdict, as one that is shut does; what is tried is told of by nobody, and costs no write.
#[tokio::test(start_paused = true)]
async fn gates_whose_rooms_were_seen_refusing_say_so_and_nothing_is_written_meanwhile() {
    let world = installed();
    with_gates(&world);
    let operator = start(&world, "one");
    pass(Duration::from_mins(1)).await;
    for path in [GATE, PLATFORM] {
        assert_eq!(enforced(&world, path), "True Proven", "{path}");
        let holds = world.get(path)["status"]["holds"].clone();
        let proven = |hold: &Value| hold["proven"].is_string();
        assert!(holds.as_array().unwrap().iter().all(proven), "{holds}");
    }
    let page = metrics::page(&operator.view);
    assert!(!page.contains("tidegate-probe"), "{page}");
    let proven = page.lines().filter(|line| line.starts_with("tidegate_policy_proven{"));
    let proven: Vec<&str> = proven.collect();
    // Nobody can try what the server does not have.
    let (seen, untried): (Vec<&str>, Vec<&str>) =
        proven.into_iter().partition(|line| line.ends_with(" 1"));
    assert_eq!((seen.len(), untried.len()), (20, 42), "{seen:?} {untried:?}");
    // Neither are kinds of Argo CD, of Cluster API and of others there, nor may the operator write what belongs to the whole cluster.
    let rooms = [
        "-applications",
        "-machinedeployments",
        "-machine-config-pools",
        "-cluster-version",
        "-install-plans",
        "-upgrade-plans",
        "-flux-revisions",
        "-karpenter-disruption",
        "-kubeadm-control-planes",
        "-cluster-topologies",
        "-hosted-clusters",
        "-node-pools",
    ];
    let known = |line: &&str| rooms.iter().any(|room| line.contains(room));
    assert!(untried.iter().all(known), "{untried:?}");
    let told =
        |kind: &str| metric(&operator, &format!("change_management_enforced{{kind=\"{kind}\""));
    assert_eq!(told("ChangeGate").as_deref(), Some("1"));

    world.writes();
    pass(Duration::from_mins(20)).await;
    let writes = world.writes();
    assert_eq!(writes.len(), 4 * 36, "each that can be tried every five minutes: {writes:?}");
    assert!(writes.iter().all(|line| line.contains("dryRun=All")), "{writes:?}");

    // Who starts anew has tried nothing yet, and takes nothing back.
    drop(operator);
    let _operator = start(&world, "two");
    pass(Duration::from_mins(2)).await;
    let written: Vec<String> =
        world.writes().into_iter().filter(|line| !line.contains("dryRun=All")).collect();
    assert_eq!(written, [""; 0]);
}

/// What somebody else freezes or holds everywhere answers for nobody.
#[tokio::test(start_paused = true)]
async fn freezes_and_gates_of_others_hide_no_proof() {
    let world = installed();
    with_gates(&world);
    let freeze = json!({"apiVersion": names::API_VERSION, "kind": "ClusterChangeFreeze",
        "metadata": {"name": "stop"}, "spec": {"reason": "a storm"}});
    world.create(&format!("{OURS}/clusterchangefreezes"), &freeze);
    let rooms = ["Deployments", "StatefulSets", "DaemonSets", "HelmReleases", "KuredLock"];
    let all = gate("ClusterChangeGate", "all", "Restrictive", &rooms);
    world.create(&format!("{OURS}/clusterchangegates"), &all);
    let _operator = start(&world, "one");
    pass(Duration::from_mins(1)).await;
    for path in [GATE, PLATFORM, &format!("{OURS}/clusterchangegates/all")] {
        assert_eq!(enforced(&world, path), "True Proven", "{path}");
    }
    // And what the operator tries by holds nobody.
    world.delete(&format!("{OURS}/clusterchangefreezes/stop"));
    world.delete(&format!("{OURS}/clusterchangegates/all"));
    let labels = json!({"app": "web", names::TRIED_BY: "cluster-freeze"});
    let set = json!({"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": "web-2",
            "annotations": {"deployment.kubernetes.io/revision": "2"},
            "ownerReferences": [{"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "uid": "u", "controller": true}]},
        "spec": {"replicas": 0, "selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels},
            "spec": {"containers": [{"name": "app", "image": "app:2"}]}}}});
    world.delete(GATE);
    world.create("/apis/apps/v1/namespaces/shop/replicasets?dryRun=All", &set);
}

/// A policy that goes or is weakened is noticed within 65 seconds, by those whom it concerns, and so is its return.
#[tokio::test(start_paused = true)]
async fn a_policy_of_a_room_that_goes_or_is_weakened_is_told_by_its_gates() {
    let world = installed();
    with_gates(&world);
    let operator = start(&world, "one");
    pass(Duration::from_mins(1)).await;
    let binding = format!("{BINDINGS}/tidegate-gate-deployments");
    world.merge(&binding, &json!({"spec": {"validationActions": ["Audit"]}}));
    pass(Duration::from_secs(65)).await;
    assert_eq!(enforced(&world, GATE), "False NotRefused");
    assert_eq!(enforced(&world, PLATFORM), "True Proven", "it has policies of its own");
    let till = world.get(GATE)["status"].clone();
    let proven = till["holds"].as_array().unwrap().iter().map(|hold| hold["proven"].is_string());
    assert_eq!(proven.collect::<Vec<bool>>(), [false, true], "{till}");
    let told = till["conditions"].to_string();
    assert!(told.contains("Deployments: the API server let a change pass"), "{told}");
    let metrics = |start: &str| metric(&operator, start);
    assert_eq!(metrics("tidegate_policy_proven{policy=\"gate-deployments\"").as_deref(), Some("0"));
    assert_eq!(metrics("change_management_enforced{kind=\"ChangeGate\"").as_deref(), Some("0"));

    world.merge(&binding, &json!({"spec": {"validationActions": ["Deny"]}}));
    pass(Duration::from_secs(65)).await;
    assert_eq!(enforced(&world, GATE), "True Proven");
    world.delete(&format!("{BINDINGS}/tidegate-gate-statefulsets"));
    pass(Duration::from_secs(65)).await;
    assert_eq!(enforced(&world, GATE), "False PolicyMissing");

    // A freeze has no status: the metric tells it.
    world.delete(&format!("{BINDINGS}/tidegate-freeze-deployments"));
    pass(Duration::from_secs(65)).await;
    let policy = "tidegate_policy_proven{policy=\"freeze-deployments\"";
    assert_eq!(metric(&operator, policy).as_deref(), Some("0"));
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_tried_is_not_claimed_and_says_why() {
    let world = installed();
    let syncs = gate("ChangeGate", "till", "Restrictive", &["Deployments", "Applications"]);
    world.create(&format!("{OURS}/namespaces/shop/changegates"), &syncs);
    let operator = start(&world, "one");
    pass(Duration::from_mins(1)).await;
    assert_eq!(enforced(&world, GATE), "Unknown NotTried");
    let told = world.get(GATE)["status"]["conditions"].to_string();
    assert!(told.contains("Applications: whether the API server refuses"), "{told}");
    let figure = metric(&operator, "change_management_enforced{kind=\"ChangeGate\"");
    assert_eq!(figure.as_deref(), Some("-1"));
    // Argo CD comes, and it is tried.
    let anything = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    world.create(CRDS, &loose(&kinds::APPLICATION, &anything));
    pass(Duration::from_mins(6)).await;
    assert_eq!(enforced(&world, GATE), "True Proven");
}

/// A gate that audits refuses nothing, and is not told as one that should.
#[tokio::test(start_paused = true)]
async fn a_gate_that_audits_is_advice() {
    let world = installed();
    with_gates(&world);
    let operator = start(&world, "one");
    pass(Duration::from_mins(1)).await;
    world.merge(GATE, &json!({"spec": {"mode": "Audit"}}));
    settle().await;
    assert_eq!(enforced(&world, GATE), "False Advisory");
    assert_eq!(metric(&operator, "change_management_enforced{kind=\"ChangeGate\""), None);
    world.merge(GATE, &json!({"spec": {"mode": "Enforce"}}));
    settle().await;
    assert_eq!(enforced(&world, GATE), "True Proven");
}

/// Nobody but the operator makes what it tries by, and it makes nothing else; where it tries it stores nothing.
#[tokio::test(start_paused = true)]
async fn the_server_keeps_the_operator_to_trying() {
    let world = installed();
    let _operator = start(&world, "one");
    pass(Duration::from_mins(1)).await;
    let operator = world.client();
    let stranger =
        kube::Client::new(world.server.service_as("jane", &["system:authenticated"]), "default");
    let post = async |client: &kube::Client, path: &str, body: &Value| {
        let request = http::Request::post(path).header("content-type", "application/json");
        let request = request.body(body.to_string().into_bytes()).unwrap();
        client.request::<Value>(request).await.map_err(|error| error.to_string())
    };
    let gates = format!("{OURS}/namespaces/shop/changegates");
    let probe = gate("ChangeGate", "tidegate-probe", "Restrictive", &["Deployments"]);
    let said = post(&stranger, &gates, &probe).await.unwrap_err();
    assert!(said.contains("hint: choose another name"), "{said}");
    let other = gate("ChangeGate", "other", "Restrictive", &["Deployments"]);
    let said = post(&operator, &gates, &other).await.unwrap_err();
    assert!(said.contains("makes no other gate or freeze"), "{said}");
    post(&stranger, &gates, &other).await.unwrap();
    let secrets = "/api/v1/namespaces/tidegate-probe/secrets";
    let secret = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}});
    let said = post(&operator, secrets, &secret).await.unwrap_err();
    assert!(said.contains("the operator only tries here"), "{said}");
    post(&operator, &format!("{secrets}?dryRun=All"), &secret).await.unwrap();
}
