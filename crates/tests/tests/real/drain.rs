//! Does a node empty as it should, and does what blocks it get its right name? (DRAIN-1)
//!
//! The same on both servers. There is no kubelet on either, so the suite plays one: it ends pods that were told to end.

use rig::{Cluster, Controllers, suite, suite::Kubectl};
use runtime::drain::{Drainer, Passed};
use schedule::Instant;
use serde_json::{Value, json};
use tidegate_core::drain::{Budgets, Settings};

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

    async fn node(&self) -> Value {
        self.get("/api/v1/nodes/n1").await.unwrap()
    }
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
    let node = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}});
    let node = admin.create("/api/v1/nodes", &node).await;
    let began = Instant::parse(node["metadata"]["creationTimestamp"].as_str().unwrap()).unwrap();

    admin.pod("bare", json!({})).await;
    admin.pod("held", json!({"finalizers": ["example.com/hold"]})).await;
    admin.pod("mirror", json!({"annotations": {"kubernetes.io/config.mirror": "x"}})).await;
    admin.pod("twice", json!({"labels": {"app": "twice"}})).await;
    admin.pod("web", json!({"labels": {"app": "web"}})).await;
    admin.budget("web-budget", "web").await;
    admin.budget("one", "twice").await;
    admin.budget("two", "twice").await;

    let mut drainer = Drainer::new(admin.0.clone(), Settings::default());
    let at = |seconds: i64| began.saturating_add(seconds);
    assert_eq!(drainer.pass("n1", at(0)).await.unwrap(), Passed::Nothing);

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

    prior_cordon(&admin, &mut drainer, at(8_000)).await;
    overridden_budget(&admin, at(9_000)).await;
}

/// What an administrator cordoned stays cordoned.
async fn prior_cordon(admin: &Admin, drainer: &mut Drainer, now: Instant) {
    let cordon = json!({"spec": {"unschedulable": true}});
    admin.patch("/api/v1/nodes/n1", &cordon).await;
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
    let mut drainer = Drainer::new(admin.0.clone(), settings);
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
