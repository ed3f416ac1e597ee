//! Does a node empty as it should, only when it should, and does what blocks it get its right name? (DRAIN-1, DRAIN-2)
//!
//! The same on both servers. There is no kubelet on either, so the suite plays one: it ends pods that were told to end.

use std::{collections::BTreeMap, sync::Arc};

use api::machine::names::{DESIRED_CONFIG, PERMIT_CHANGE};
use rig::{Cluster, Controllers, suite, suite::Kubectl};
use runtime::{
    caches::{self, Caches},
    drain::{Drainer, Passed},
    store::Trust,
};
use schedule::Instant;
use serde_json::{Value, json};
use tidegate_core::{
    cluster::kinds,
    drain::{Budgets, Settings},
};

use super::admin::Admin;

#[test]
fn real_drain() {
    suite::on_real("drain", Controllers::Running, drains);
}

#[test]
fn embedded_drain() {
    suite::on_embedded("drain-embedded", Kubectl::Unused, drains);
}

const PODS: &str = "/api/v1/namespaces/shop/pods";
const BUDGETS: &str = "/apis/policy/v1/namespaces/shop/poddisruptionbudgets";
const DESIRED: &str = "machineconfiguration.openshift.io/desiredDrain";
const APPLIED: &str = "machineconfiguration.openshift.io/lastAppliedDrain";

impl Admin {
    async fn pod(&self, name: &str, metadata: Value) {
        let mut metadata = metadata;
        metadata["name"] = json!(name);
        let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {
            "nodeName": "n1", "automountServiceAccountToken": false,
            "containers": [{"name": "c", "image": "example.com/none"}]}});
        self.create(PODS, &pod).await;
        let running = json!({"status": {"phase": "Running",
            "conditions": [{"type": "Ready", "status": "True"}]}});
        self.patch(&format!("{PODS}/{name}/status"), &running).await;
    }

    async fn budget(&self, name: &str, app: &str) {
        let budget = json!({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget",
            "metadata": {"name": name},
            "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": app}}}});
        self.create(BUDGETS, &budget).await;
    }

    /// What a kubelet does with pods that were told to end. A finalizer outlives that.
    async fn kubelet(&self, names: &[&str]) {
        for name in names {
            let path = format!("{PODS}/{name}");
            let pod = self.get(&path).await.unwrap();
            assert!(pod["metadata"]["deletionTimestamp"].is_string(), "{name} was not told to end");
            self.delete(&path).await;
        }
    }

    async fn ask_for(&self, request: &str) {
        let patch = json!({"metadata": {"annotations": {DESIRED: request}}});
        self.patch("/api/v1/nodes/n1", &patch).await;
    }

    /// What the permitted write of a rollout leaves on the node.
    async fn begin(&self, config: &str) {
        let patch =
            json!({"metadata": {"annotations": {DESIRED_CONFIG: config, PERMIT_CHANGE: config}}});
        self.patch("/api/v1/nodes/n1", &patch).await;
    }

    async fn node(&self) -> Value {
        self.get("/api/v1/nodes/n1").await.unwrap()
    }
}

/// What a drainer knows: a pool, and the nodes as they are now.
pub(crate) async fn known(admin: &Admin) -> Arc<Caches> {
    let pools = &kinds::MACHINE_CONFIG_POOL;
    let caches = Caches::of(vec![pools, &kinds::NODE]);
    let pool = json!({"metadata": {"name": "worker"}, "spec": {
        "nodeSelector": {"matchLabels": {"node-role.kubernetes.io/worker": ""}}}});
    let nodes = admin.get("/api/v1/nodes").await.unwrap();
    let nodes = nodes["items"].as_array().unwrap().iter();
    for (kind, documents) in [(pools, vec![&pool]), (&kinds::NODE, nodes.collect())] {
        let listed: BTreeMap<_, _> =
            documents.into_iter().filter_map(|document| caches::read(kind, document)).collect();
        caches.replace(kind, listed, "1", Trust::Newer);
    }
    Arc::new(caches)
}

fn waiting(passed: &Passed) -> Vec<String> {
    let Passed::Draining(pass) = passed else { return vec![format!("{passed:?}")] };
    let mut found: Vec<String> =
        pass.waiting.iter().map(|one| format!("{}: {}", one.pod.name, one.why.code())).collect();
    found.sort();
    found
}

async fn drains(cluster: &Cluster) {
    let admin = Admin::new(cluster).await;
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}});
    admin.create("/api/v1/namespaces", &namespace).await;
    let account =
        json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default"}});
    admin.create("/api/v1/namespaces/shop/serviceaccounts", &account).await;
    let worker = json!({"node-role.kubernetes.io/worker": ""});
    let node =
        json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1", "labels": worker}});
    let node = admin.create("/api/v1/nodes", &node).await;
    // Somebody who could take the pods.
    let another = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n2"}});
    admin.create("/api/v1/nodes", &another).await;
    let began = Instant::parse(node["metadata"]["creationTimestamp"].as_str().unwrap()).unwrap();

    admin.pod("bare", json!({})).await;
    admin.pod("held", json!({"finalizers": ["example.com/hold"]})).await;
    admin.pod("mirror", json!({"annotations": {"kubernetes.io/config.mirror": "x"}})).await;
    admin.pod("twice", json!({"labels": {"app": "twice"}})).await;
    admin.pod("web", json!({"labels": {"app": "web"}})).await;
    admin.budget("web-budget", "web").await;
    admin.budget("one", "twice").await;
    admin.budget("two", "twice").await;

    let drainer = Drainer::new(admin.0.clone(), known(&admin).await, Settings::default());
    let at = |seconds: i64| began.saturating_add(seconds);
    assert_eq!(drainer.pass("n1", at(0)).await.unwrap(), Passed::Nothing);

    refusals(&admin, &drainer, at(1)).await;
    admin.begin("rendered-b").await;
    admin.ask_for("drain-rendered-b").await;
    let passed = drainer.pass("n1", at(1)).await.unwrap();
    assert_eq!(waiting(&passed), ["twice: SeveralBudgets", "web: Budget"]);
    let node = admin.node().await;
    assert_eq!(node["spec"]["unschedulable"], true);
    let told =
        node["metadata"]["annotations"]["changemanagement.openshift.io/drain-blocked"].as_str();
    let expected = format!(
        "SeveralBudgets: pod shop/twice: several budgets cover it, and the server evicts no such pod, since {0}; \
         Budget: pod shop/web: its budget web-budget allows no disruption, since {0}",
        at(1)
    );
    assert_eq!(told, Some(expected.as_str()));

    // Hours later: the same two, and a pod that has ended and is held.
    admin.kubelet(&["bare", "held"]).await;
    let passed = drainer.pass("n1", at(7_200)).await.unwrap();
    assert_eq!(waiting(&passed), ["held: Finalizer", "twice: SeveralBudgets", "web: Budget"]);
    assert!(
        admin.get(&format!("{PODS}/web")).await.unwrap()["metadata"]["deletionTimestamp"].is_null()
    );

    // Each is mended by whom it belongs to.
    for name in ["one", "two"] {
        admin.delete(&format!("{BUDGETS}/{name}")).await;
    }
    admin.delete(&format!("{BUDGETS}/web-budget")).await;
    let free = json!({"metadata": {"finalizers": null}});
    admin.patch(&format!("{PODS}/held"), &free).await;
    let passed = drainer.pass("n1", at(7_210)).await.unwrap();
    assert!(matches!(passed, Passed::Draining(_)), "{passed:?}");
    admin.kubelet(&["twice", "web"]).await;
    assert_eq!(drainer.pass("n1", at(7_220)).await.unwrap(), Passed::Drained);
    let node = admin.node().await;
    assert_eq!(node["metadata"]["annotations"][APPLIED], "drain-rendered-b");
    assert!(
        node["metadata"]["annotations"]["changemanagement.openshift.io/drain-blocked"].is_null()
    );
    assert_eq!(node["spec"]["unschedulable"], true);
    admin.get(&format!("{PODS}/mirror")).await.unwrap();

    admin.ask_for("uncordon-rendered-b").await;
    assert_eq!(drainer.pass("n1", at(7_300)).await.unwrap(), Passed::Uncordoned);
    let node = admin.node().await;
    assert_ne!(node["spec"]["unschedulable"], true);
    assert_eq!(node["metadata"]["annotations"][APPLIED], "uncordon-rendered-b");

    prior_cordon(&admin, &drainer, at(8_000)).await;
    overridden_budget(&admin, at(9_000)).await;
}

/// DRAIN-2: whoever writes an annotation evicts nobody by that, and lifts no administrator's cordon.
async fn refusals(admin: &Admin, drainer: &Drainer, now: Instant) {
    let refused = async |why: &str| {
        let passed = drainer.pass("n1", now).await.unwrap();
        let told = format!("NotHonoured: drain-rendered-b: {why}");
        assert_eq!(passed, Passed::Refused(told.clone()));
        let node = admin.node().await;
        assert_eq!(
            node["metadata"]["annotations"]["changemanagement.openshift.io/drain-blocked"],
            told
        );
        assert_ne!(node["spec"]["unschedulable"], true);
        let pods = admin.get(PODS).await.unwrap();
        let pods = pods["items"].as_array().unwrap();
        assert!(pods.iter().all(|pod| pod["metadata"]["deletionTimestamp"].is_null()));
        node["metadata"]["resourceVersion"].clone()
    };
    admin.ask_for("drain-rendered-b").await;
    let told = refused("nobody told the node to go to a configuration").await;
    let again = refused("nobody told the node to go to a configuration").await;
    assert_eq!(told, again, "it is told once");
    let label =
        |value: Value| json!({"metadata": {"labels": {"node-role.kubernetes.io/worker": value}}});
    admin.patch("/api/v1/nodes/n1", &label(Value::Null)).await;
    refused("the node belongs to no pool").await;
    admin.patch("/api/v1/nodes/n1", &label(json!(""))).await;
    let desired = json!({"metadata": {"annotations": {DESIRED_CONFIG: "rendered-b"}}});
    admin.patch("/api/v1/nodes/n1", &desired).await;
    refused("permit-change names nothing, so no permitted write has begun that change").await;
    admin.begin("rendered-c").await;
    refused("the node is told to go to rendered-c").await;

    let cordon = |value: Value| json!({"spec": {"unschedulable": value}});
    admin.patch("/api/v1/nodes/n1", &cordon(json!(true))).await;
    admin.ask_for("uncordon-rendered-c").await;
    assert_eq!(drainer.pass("n1", now).await.unwrap(), Passed::Uncordoned);
    assert_eq!(admin.node().await["spec"]["unschedulable"], true, "it was no drain");
    admin.patch("/api/v1/nodes/n1", &cordon(Value::Null)).await;
}

/// What an administrator cordoned stays cordoned.
async fn prior_cordon(admin: &Admin, drainer: &Drainer, now: Instant) {
    let cordon = json!({"spec": {"unschedulable": true}});
    admin.patch("/api/v1/nodes/n1", &cordon).await;
    admin.begin("rendered-c").await;
    admin.ask_for("drain-rendered-c").await;
    assert_eq!(drainer.pass("n1", now).await.unwrap(), Passed::Drained);
    admin.ask_for("uncordon-rendered-c").await;
    assert_eq!(drainer.pass("n1", now).await.unwrap(), Passed::Uncordoned);
    assert_eq!(admin.node().await["spec"]["unschedulable"], true);
    let open = json!({"spec": {"unschedulable": null}});
    admin.patch("/api/v1/nodes/n1", &open).await;
}

/// A disruption policy that says so overrides a budget, after its grace and not before.
async fn overridden_budget(admin: &Admin, now: Instant) {
    admin.pod("last", json!({"labels": {"app": "last"}})).await;
    admin.budget("last-budget", "last").await;
    let settings = Settings { budgets: Budgets::OverriddenAfter(600), ..Settings::default() };
    let drainer = Drainer::new(admin.0.clone(), known(admin).await, settings);
    admin.begin("rendered-d").await;
    admin.ask_for("drain-rendered-d").await;
    let is_ending = async || {
        let pod = admin.get(&format!("{PODS}/last")).await.unwrap();
        pod["metadata"]["deletionTimestamp"].is_string()
    };
    drainer.pass("n1", now).await.unwrap();
    drainer.pass("n1", now.saturating_add(599)).await.unwrap();
    assert!(!is_ending().await);
    drainer.pass("n1", now.saturating_add(600)).await.unwrap();
    assert!(is_ending().await);
}
