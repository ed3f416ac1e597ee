//! Do an agent and whoever drains its node understand each other, on both servers? (POOL-1, DRAIN-1, NODE-1)
//!
//! The whole way of one node: an order, a drain that a budget holds up, the change, a new start of the node, and workloads that
//! come back.

use std::time::Duration;

use agent::{
    host::recording::Recording,
    next::{Awaited, NextStep},
    run::{Agent, Turn},
};
use api::machine::names::PERMIT_CHANGE;
use rig::{Cluster, Controllers, suite, suite::Kubectl};
use runtime::{
    call::Collection,
    drain::{Drainer, Passed},
};
use schedule::Instant;
use serde_json::json;
use tidegate_core::drain::Settings;

use super::{admin::Admin, drain::known};

#[test]
fn real_node() {
    suite::on_real("node", Controllers::Running, changes);
}

#[test]
fn embedded_node() {
    suite::on_embedded("node-embedded", Kubectl::Unused, changes);
}

const PREFIX: &str = "machineconfiguration.openshift.io";
const NODE: &str = "/api/v1/nodes/n1";
const PODS: &str = "/api/v1/namespaces/pier/pods";
const BUDGETS: &str = "/apis/policy/v1/namespaces/pier/poddisruptionbudgets";

impl Admin {
    async fn says(&self, key: &str) -> String {
        let node = self.get(NODE).await.unwrap();
        let said = node["metadata"]["annotations"][format!("{PREFIX}/{key}")].as_str();
        said.unwrap_or_default().to_owned()
    }

    async fn desire(&self, config: &str) {
        let annotations = json!({format!("{PREFIX}/desiredConfig"): config, PERMIT_CHANGE: config});
        self.patch(NODE, &json!({"metadata": {"annotations": annotations}})).await;
    }

    /// Installs the kind, and waits until the server serves it.
    async fn install(&self) {
        let any = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
        let schema = json!({"type": "object", "properties": {"spec": any}});
        let definition = json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": format!("machineconfigs.{PREFIX}")},
            "spec": {"group": PREFIX, "scope": "Cluster",
                "names": {"plural": "machineconfigs", "kind": "MachineConfig"},
                "versions": [{"name": "v1", "served": true, "storage": true,
                    "schema": {"openAPIV3Schema": schema}}]}});
        self.create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", &definition).await;
        let path = format!("/apis/{PREFIX}/v1/machineconfigs");
        for _ in 0..300 {
            if self.0.version_of(&Collection::of(&*path)).await.is_ok() {
                return;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        panic!("the kind is not served after half a minute");
    }

    async fn config(&self, name: &str, says: &str) {
        let file =
            json!({"path": "/etc/harbour.conf", "contents": {"source": format!("data:,{says}")}});
        let config = json!({"apiVersion": format!("{PREFIX}/v1"), "kind": "MachineConfig",
            "metadata": {"name": name},
            "spec": {"config": {"ignition": {"version": "3.5.0"}, "storage": {"files": [file]}}}});
        self.create(&format!("/apis/{PREFIX}/v1/machineconfigs"), &config).await;
    }
}

async fn turns(agent: &mut Agent<Recording>) -> Turn {
    for _ in 0..30 {
        match agent.turn().await.unwrap() {
            Turn::Did(_) => {}
            turn => return turn,
        }
    }
    panic!("no end in sight");
}

async fn idle(agent: &mut Agent<Recording>) -> NextStep {
    match turns(agent).await {
        Turn::Idle { step, .. } => step,
        turn => panic!("{turn:?}"),
    }
}

async fn changes(cluster: &Cluster) {
    let admin = Admin::new(cluster).await;
    admin.install().await;
    admin.config("rendered-a", "one").await;
    admin.config("rendered-b", "two").await;
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "pier"}});
    admin.create("/api/v1/namespaces", &namespace).await;
    let account =
        json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default"}});
    admin.create("/api/v1/namespaces/pier/serviceaccounts", &account).await;
    for name in ["n1", "n2"] {
        let node = json!({"apiVersion": "v1", "kind": "Node",
            "metadata": {"name": name, "labels": {"node-role.kubernetes.io/worker": ""}}});
        admin.create("/api/v1/nodes", &node).await;
    }

    // A fresh host goes to its first configuration; nobody is on it yet.
    let mut agent = Agent::new(Recording::default(), admin.0.clone(), "n1");
    let drainer = Drainer::new(admin.0.clone(), known(&admin).await, Settings::default());
    let now = Instant::parse("2030-01-01T00:00:00Z").unwrap();
    assert_eq!(idle(&mut agent).await, NextStep::Rest);
    admin.desire("rendered-a").await;
    assert_eq!(idle(&mut agent).await, NextStep::Await(Awaited::Drain));
    assert_eq!(drainer.pass("n1", now).await.unwrap(), Passed::Drained);
    assert_eq!(turns(&mut agent).await, Turn::Restarting);
    agent.host().restart();
    assert_eq!(idle(&mut agent).await, NextStep::Await(Awaited::Uncordon));
    assert_eq!(drainer.pass("n1", now).await.unwrap(), Passed::Uncordoned);
    assert_eq!(idle(&mut agent).await, NextStep::Rest);
    assert_eq!(
        (admin.says("currentConfig").await, admin.says("state").await),
        ("rendered-a".into(), "Done".into())
    );

    // The second change finds a pod that its budget holds.
    let pod = json!({"apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": "crane", "labels": {"app": "crane"}},
        "spec": {"nodeName": "n1", "automountServiceAccountToken": false,
            "containers": [{"name": "c", "image": "example.com/none"}]}});
    admin.create(PODS, &pod).await;
    let ready = json!({"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}});
    admin.patch(&format!("{PODS}/crane/status"), &ready).await;
    let budget = json!({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget",
        "metadata": {"name": "crane"},
        "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "crane"}}}});
    admin.create(BUDGETS, &budget).await;
    agent.host().take_performed();
    admin.desire("rendered-b").await;
    assert_eq!(idle(&mut agent).await, NextStep::Await(Awaited::Drain));
    for seconds in [0, 60, 3_600] {
        let passed = drainer.pass("n1", now.saturating_add(seconds)).await.unwrap();
        assert!(matches!(passed, Passed::Draining(_)), "{passed:?}");
        assert_eq!(idle(&mut agent).await, NextStep::Await(Awaited::Drain));
    }
    assert!(agent.host().performed().is_empty(), "nothing is done before the last has left");
    assert_eq!(admin.says("state").await, "Working");
    admin.delete(&format!("{BUDGETS}/crane")).await;
    drainer.pass("n1", now.saturating_add(3_700)).await.unwrap();
    admin.delete(&format!("{PODS}/crane")).await;
    assert_eq!(drainer.pass("n1", now.saturating_add(3_710)).await.unwrap(), Passed::Drained);
    assert_eq!(turns(&mut agent).await, Turn::Restarting);
    assert_eq!(
        agent.host().take_performed(),
        ["write /etc/harbour.conf", "reboot: going to rendered-b"]
    );
    agent.host().restart();
    assert_eq!(idle(&mut agent).await, NextStep::Await(Awaited::Uncordon));
    assert_eq!(admin.get(NODE).await.unwrap()["spec"]["unschedulable"], true);
    assert_eq!(drainer.pass("n1", now.saturating_add(3_720)).await.unwrap(), Passed::Uncordoned);
    assert_eq!(idle(&mut agent).await, NextStep::Rest);
    assert_eq!(
        (admin.says("currentConfig").await, admin.says("state").await),
        ("rendered-b".into(), "Done".into())
    );
    assert_ne!(admin.get(NODE).await.unwrap()["spec"]["unschedulable"], true);
}
