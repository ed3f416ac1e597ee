//! Does the operator keep statuses true on each server, with the definitions as they are shipped?
//!
//! The clock of the operator is set by the suite: windows open and close when it says so, while the server lives in its own time.

use std::{sync::Arc, time::Duration};

use api::{
    crds, names,
    schema::{GATED, KINDS, Kind},
};
use kube::{Client, client::Body};
use operator::{Operator, Settings, View};
use rig::{
    Cluster, Controllers, User,
    suite::{self, Kubectl},
};
use runtime::{
    client::{configuration, connect},
    clock::SetClock,
    tempo::Tempo,
};
use schedule::Instant;
use serde_json::{Value, json};

#[test]
fn real_server_has_true_statuses() {
    suite::on_real("operator", Controllers::Absent, async |cluster| {
        statuses_are_true(cluster).await;
    });
}

#[test]
fn embedded_server_has_true_statuses() {
    suite::on_embedded("operator-embedded", Kubectl::Unused, async |cluster| {
        statuses_are_true(cluster).await;
    });
}

/// How long anything may take that takes a few calls.
const PATIENCE: Duration = Duration::from_secs(30);
const CRDS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const POLICIES: &str = "/apis/changemanagement.openshift.io/v1alpha1/changemanagementpolicies";
const POOLS: &str = "/apis/machineconfiguration.openshift.io/v1/machineconfigpools";
const CLUSTERS: &str = "/apis/hypershift.openshift.io/v1beta1/namespaces/default/hostedclusters";
const HOSTED: &str = "/apis/changemanagement.openshift.io/v1alpha1/namespaces/default/hostedchangemanagementpolicies";

/// A client and the words of a suite.
struct Admin(Client);

impl Admin {
    async fn send(&self, method: &str, path: &str, content: &str, body: &Value) -> (u16, Value) {
        let mut request = http::Request::builder().method(method).uri(path);
        if !content.is_empty() {
            request = request.header("Content-Type", content);
        }
        let body = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
        let response = self.0.send(request.body(Body::from(body)).unwrap()).await.unwrap();
        let code = response.status().as_u16();
        let body = response.into_body().collect_bytes().await.unwrap();
        (code, serde_json::from_slice(&body).unwrap_or_default())
    }

    async fn create(&self, path: &str, object: &Value) {
        let (code, answer) = self.send("POST", path, "application/json", object).await;
        assert!(code < 300, "{path}: {code} {answer}");
    }

    async fn merge(&self, path: &str, change: &Value) {
        let (code, answer) = self.send("PATCH", path, "application/merge-patch+json", change).await;
        assert!(code < 300, "{path}: {code} {answer}");
    }

    async fn get(&self, path: &str) -> Value {
        self.send("GET", path, "", &Value::Null).await.1
    }

    /// Adds a definition, and waits until it is served.
    async fn define(&self, kind: &Kind) {
        self.create(CRDS, &crds::definition(kind)).await;
        let path = format!("/apis/{}/{}", kind.api_version, names::plural(kind.name));
        until(&path, async || self.send("GET", &path, "", &Value::Null).await.0 == 200).await;
    }
}

/// Looks until it is so: a server over a network has no moment at which everything is settled.
async fn until(what: &str, is: impl AsyncFn() -> bool) {
    let began = tokio::time::Instant::now();
    while !is().await {
        assert!(began.elapsed() < PATIENCE, "{what}: not within {PATIENCE:?}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

fn condition(object: &Value, kind: &str) -> String {
    let conditions = object.pointer("/status/conditions").and_then(Value::as_array);
    let found = conditions.into_iter().flatten().find(|condition| condition["type"] == kind);
    found.map_or_else(String::new, |condition| {
        let text = |field: &str| condition[field].as_str().unwrap_or_default();
        format!("{} {}", text("status"), text("reason"))
    })
}

fn weekend(kind: &str, name: &str) -> Value {
    json!({
        "apiVersion": names::API_VERSION, "kind": kind, "metadata": {"name": name},
        "spec": {"strategy": "MaintenanceSchedule", "maintenanceSchedule": {"permit": {"recurrence": {
            "frequency": "Weekly", "weekly": {"daysOfWeek": ["Saturday", "Sunday"]},
        }}}},
    })
}

fn pool(name: &str, stanza: &Value) -> Value {
    json!({
        "apiVersion": "machineconfiguration.openshift.io/v1", "kind": "MachineConfigPool",
        "metadata": {"name": name}, "spec": {"changeManagement": stanza},
    })
}

async fn start(cluster: &Cluster, clock: &SetClock) -> (View, tokio::task::JoinHandle<()>) {
    let config = configuration(Some(cluster.kubeconfig(User::Admin))).await.unwrap();
    let second = Duration::from_secs(1);
    let tempo = Tempo { absent: second, freshness: second, ..Tempo::default() };
    let settings = Settings { tempo, ..Settings::alone("suite") };
    let operator = Operator::new(connect(config).unwrap(), Arc::new(clock.clone()), settings);
    let view = operator.view();
    let running = tokio::spawn(async move {
        operator.run(std::future::pending()).await.unwrap();
    });
    (view, running)
}

/// GATE-2, GATE-3, GATE-5, GATE-6, POL-3, POL-6, STAT-3
async fn statuses_are_true(cluster: &Cluster) {
    let admin = Admin(cluster.client(User::Admin).await.unwrap());
    let clock = SetClock::starting_at(Instant::parse("2026-11-13T23:00:00Z").unwrap());
    clock.speed(0);
    let (view, running) = start(cluster, &clock).await;
    until("ready without any kind", async || view.ready().is_ok()).await;

    // Policies first, then those who name them: kinds are picked up when they come.
    for kind in KINDS {
        admin.define(kind).await;
    }
    admin.create(POLICIES, &weekend("ChangeManagementPolicy", "weekend")).await;
    admin.create(HOSTED, &weekend("HostedChangeManagementPolicy", "weekend")).await;
    let is = async |path: &str, kind: &str, wanted: &str| {
        until(&format!("{path} {kind} {wanted}"), async || {
            condition(&admin.get(path).await, kind) == wanted
        })
        .await;
    };
    let (policy, worker) = (format!("{POLICIES}/weekend"), format!("{POOLS}/worker"));
    is(&policy, "Ready", "True AsExpected").await;
    is(&policy, "ChangesRestricted", "True MaintenanceSchedule").await;
    for kind in GATED {
        admin.define(kind).await;
    }
    let by_policy = json!({"strategy": "ByPolicy", "byPolicy": {"name": "weekend"}});
    admin.create(POOLS, &pool("worker", &by_policy)).await;
    admin.create(POOLS, &pool("free", &json!({"strategy": "Permissive"}))).await;
    let mut hosted = pool("hosted", &by_policy);
    hosted["apiVersion"] = json!("hypershift.openshift.io/v1beta1");
    hosted["kind"] = json!("HostedCluster");
    admin.create(CLUSTERS, &hosted).await;
    let hosted = format!("{CLUSTERS}/hosted");
    is(&worker, "ChangesPaused", "True MaintenanceSchedule").await;
    is(&hosted, "ChangesPaused", "True MaintenanceSchedule").await;
    is(&format!("{POOLS}/free"), "ChangesPaused", "False Permissive").await;

    // Midnight comes when the suite says so.
    clock.set(Instant::parse("2026-11-14T00:00:00Z").unwrap());
    is(&policy, "ChangesRestricted", "False MaintenanceSchedule").await;
    is(&worker, "ChangesPaused", "False MaintenanceSchedule").await;
    is(&hosted, "ChangesPaused", "False MaintenanceSchedule").await;

    // Everything decided anew, and nothing to write.
    let everything = async || {
        let mut versions = Vec::new();
        for path in [&policy, &worker, &hosted, &format!("{POOLS}/free")] {
            versions.push(admin.get(path).await["metadata"]["resourceVersion"].clone());
        }
        versions
    };
    let before = everything().await;
    let unchanged = || view.telemetry.reconciles(runtime::telemetry::ReconcileOutcome::Unchanged);
    let looked = unchanged();
    let stepped = tokio::time::Instant::now();
    clock.step(600);
    until("the loop has seen that", async || view.progress.silence() < stepped.elapsed()).await;
    clock.step(-300);
    until("everything is decided anew", async || unchanged() >= looked + 5).await;
    assert_eq!(everything().await, before, "an idle cluster is written zero times");

    // An edit of the policy reaches its gates.
    admin
        .merge(&policy, &json!({"spec": {"strategy": "Restrictive", "maintenanceSchedule": null}}))
        .await;
    is(&worker, "ChangesPaused", "True Restrictive").await;
    is(&hosted, "ChangesPaused", "False MaintenanceSchedule").await;
    let (code, _) = admin.send("DELETE", &policy, "", &Value::Null).await;
    assert_eq!(code, 200);
    is(&worker, "ChangesPaused", "True PolicyNotFound").await;

    // A stanza that disappears leaves the gate open, and says so.
    admin.merge(&worker, &json!({"spec": {"changeManagement": null}})).await;
    is(&worker, "ChangesPaused", "False StanzaRemoved").await;
    let said = async |reason: &str| {
        let events = admin.get("/apis/events.k8s.io/v1/namespaces/default/events").await;
        let events = events["items"].as_array().cloned().unwrap_or_default();
        events
            .iter()
            .filter(|event| event["reason"] == reason && event["regarding"]["name"] == "worker")
            .count()
    };
    for reason in ["ChangesUnpaused", "ChangesPaused", "PolicyNotFound", "StanzaRemoved"] {
        until(reason, async || said(reason).await == 1).await;
    }
    let page = operator::metrics::page(&view);
    assert!(
        page.contains(
            "\ntidegate_stanza_removed{kind=\"MachineConfigPool\",object=\"worker\"} 1\n"
        ),
        "{page}"
    );
    assert!(!page.contains("code=\"409\""), "nobody was in the way: {page}");
    running.abort();
    assert!(running.await.unwrap_err().is_cancelled(), "the operator ended by itself");
}
