//! What is refused of Argo CD, and what goes on?
//!
//! Argo CD is played by its own writes, as its source has them: who starts a sync reads the Application, sets `operation`, takes
//! `status.operationState` away and replaces the whole; the application controller then adds the state by a JSON patch, and at the end takes the
//! operation away by another.

use serde_json::{Value, json};

use super::{
    rows::{held, passes},
    world::{World, cluster_gate_path, gate_path, open_now, open_tomorrow},
};
use crate::rollout::writers::{Writer, until};

const ARGO: &str = "/apis/argoproj.io/v1alpha1/namespaces";

/// The kind as loosely as the policies look at it; as in Argo CD, its status is no subresource.
pub(super) fn definition() -> Value {
    let any = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "applications.argoproj.io"},
        "spec": {
            "group": "argoproj.io",
            "scope": "Namespaced",
            "names": {"kind": "Application", "plural": "applications", "singular": "application", "listKind": "ApplicationList"},
            "versions": [{"name": "v1alpha1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {
                "type": "object",
                "properties": {"spec": any, "status": any, "operation": any},
            }}}],
        },
    })
}

pub(super) fn application(name: &str) -> Value {
    json!({
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "Application",
        "metadata": {"name": name, "labels": {"env": "prod"}},
        "spec": {"source": {"targetRevision": "main"}},
        "status": {"sync": {"status": "OutOfSync"}},
    })
}

pub(super) async fn are_judged(world: &World) {
    world.usual_namespaces().await;
    let argo = Argo { world, path: format!("{ARGO}/shop/applications/web") };
    world.admin.create(&format!("{ARGO}/shop/applications"), &application("web")).await;
    argo.shut(&json!({})).await;
    ways_to_start_one(&argo).await;
    states_by_hand(&argo).await;
    what_has_begun_ends(&argo).await;
    what_goes_on(&argo).await;
    argo.world.remove_gate("shop", "syncs").await;
    whoever_leaves_is_held(&argo).await;
    freezes_hold(&argo).await;
    cluster_gates_hold_everywhere(world).await;
}

struct Argo<'a> {
    world: &'a World,
    path: String,
}

impl Argo<'_> {
    async fn shut(&self, choice: &Value) {
        let mut hold = choice.clone();
        hold["what"] = json!("Applications");
        self.world.gate("shop", "syncs", json!({"holds": [hold]})).await;
        self.world.open(&gate_path("shop", "syncs"), &[open_tomorrow()]).await;
        until("it is shut until tomorrow", async || {
            let answer = self.start(&self.world.writer, &sync("abc")).await;
            answer
                .is_err_and(|said| said.contains("held by ChangeGate shop/syncs, which opens at "))
        })
        .await;
    }

    /// How Argo CD starts a sync, by whatever path. Not kept.
    async fn start(&self, writer: &Writer, operation: &Value) -> Result<Value, String> {
        let mut application = self.world.admin.get(&self.path).await;
        application["operation"] = operation.clone();
        application["status"].as_object_mut().unwrap().remove("operationState");
        let path = format!("{}?dryRun=All", self.path);
        writer.send("PUT", &path, "application/json", &application).await
    }

    async fn merge(&self, change: &Value) -> Result<Value, String> {
        self.world.writer.merge(&format!("{}?dryRun=All", self.path), change).await
    }

    /// As the application controller writes. Not kept.
    async fn patch(&self, operations: &Value) -> Result<Value, String> {
        let path = format!("{}?dryRun=All", self.path);
        self.world.writer.send("PATCH", &path, "application/json-patch+json", operations).await
    }

    /// Kept, by whoever no gate holds.
    async fn write(&self, change: &Value) {
        self.world.initiator.merge(&self.path, change).await.unwrap();
    }
}

fn sync(revision: &str) -> Value {
    json!({"initiatedBy": {"username": "ann"}, "sync": {"revision": revision}})
}

fn dry() -> Value {
    json!({"sync": {"revision": "abc", "dryRun": true}})
}

fn state(phase: &str, operation: &Value) -> Value {
    json!({"phase": phase, "operation": operation, "startedAt": "2026-11-16T00:00:00Z"})
}

fn stated(state: &Value) -> Value {
    json!([{"op": "add", "path": "/status/operationState", "value": state}])
}

async fn ways_to_start_one(argo: &Argo<'_>) {
    let world = argo.world;
    // Within the second of a write that was kept the server has no fresh stamp, and says that instead (RCH-10).
    let by = "held by ChangeGate shop/syncs";
    held(argo.start(&world.writer, &sync("abc")).await, by);
    held(argo.start(&world.admin, &sync("abc")).await, by);
    let account = "system:serviceaccount:argocd:argocd-application-controller";
    let controller = Writer::new(&world.client, account, &["system:masters"], None);
    held(argo.start(&controller, &sync("abc")).await, by);
    passes(argo.start(&world.initiator, &sync("abc")).await);
    held(argo.merge(&json!({"operation": sync("abc")})).await, by);
    held(argo.merge(&json!({"operation": {"initiatedBy": {"automated": true}}})).await, by);
    held(argo.patch(&json!([{"op": "add", "path": "/operation", "value": sync("abc")}])).await, by);
    let mut applied = application("web");
    applied["operation"] = sync("abc");
    let dry_run = format!("{}?dryRun=All", argo.path);
    held(world.writer.apply(&dry_run, &applied).await, by);
    let mut new = application("new");
    let created = format!("{ARGO}/shop/applications?dryRun=All");
    passes(world.post(&created, &new).await);
    new["operation"] = sync("abc");
    held(world.post(&created, &new).await, by);
    // A dry run changes nothing, until it is none any more.
    passes(argo.start(&world.writer, &dry()).await);
    argo.write(&json!({"operation": dry()})).await;
    passes(argo.merge(&json!({"operation": {"sync": {"revision": "def"}}})).await);
    held(argo.merge(&json!({"operation": {"sync": {"dryRun": false}}})).await, by);
    // By a removal there is no stamp, and it is refused for that (RCH-10).
    let removal = argo.merge(&json!({"operation": {"sync": {"dryRun": null}}})).await;
    held(removal, "no fresh stamp");
    // Nor does a state that claims to be of a sync pass with it.
    held(argo.patch(&stated(&state("Running", &sync("abc")))).await, by);
    passes(argo.patch(&stated(&state("Running", &dry()))).await);
    argo.write(&json!({"operation": null})).await;
}

/// A state that nobody admitted an operation for begins one.
async fn states_by_hand(argo: &Argo<'_>) {
    let by = "held by ChangeGate shop/syncs";
    for phase in ["Running", "Terminating", ""] {
        held(argo.patch(&stated(&state(phase, &sync("abc")))).await, by);
    }
    held(argo.patch(&stated(&json!({"operation": sync("abc")}))).await, by);
    held(
        argo.merge(&json!({"status": {"operationState": state("Running", &sync("abc"))}})).await,
        by,
    );
    for phase in ["Succeeded", "Failed", "Error"] {
        passes(argo.patch(&stated(&state(phase, &sync("abc")))).await);
    }
    // What has ended does not begin again, and a dry run does not become a sync while it runs.
    for before in [state("Failed", &sync("abc")), state("Running", &dry())] {
        argo.write(&json!({"status": {"operationState": null}})).await;
        argo.write(&json!({"status": {"operationState": before}})).await;
        held(argo.patch(&stated(&state("Running", &sync("abc")))).await, by);
    }
    argo.write(&json!({"status": {"operationState": null}})).await;
}

/// RCH-5: what was admitted is taken up, tried again and ended by its controller, whatever the window does.
async fn what_has_begun_ends(argo: &Argo<'_>) {
    let gate = gate_path("shop", "syncs");
    argo.world.open(&gate, &[open_now()]).await;
    until("it opens", async || argo.start(&argo.world.writer, &sync("abc")).await.is_ok()).await;
    let mut application = argo.world.admin.get(&argo.path).await;
    application["operation"] = sync("abc");
    argo.world.writer.send("PUT", &argo.path, "application/json", &application).await.unwrap();
    argo.world.open(&gate, &[open_tomorrow()]).await;
    let other = json!({"operation": {"sync": {"revision": "def"}}});
    until("it is shut", async || {
        argo.merge(&other).await.is_err_and(|said| said.contains("which opens at"))
    })
    .await;
    let carry_on = async |patch: &Value| {
        let path = &argo.path;
        passes(argo.world.writer.send("PATCH", path, "application/json-patch+json", patch).await);
    };
    carry_on(&stated(&state("Running", &sync("abc")))).await;
    let mut again = state("Running", &sync(""));
    again["retryCount"] = json!(1);
    carry_on(&stated(&again)).await;
    carry_on(&stated(&state("Terminating", &sync("abc")))).await;
    let mut end = stated(&state("Failed", &sync("abc")));
    end.as_array_mut().unwrap().push(json!({"op": "add", "path": "/operation", "value": null}));
    carry_on(&end).await;
    held(argo.start(&argo.world.writer, &sync("abc")).await, "held by ChangeGate shop/syncs");
}

/// RCH-6
async fn what_goes_on(argo: &Argo<'_>) {
    for change in [
        json!({"metadata": {"annotations": {"argocd.argoproj.io/refresh": "normal"}}}),
        json!({"metadata": {"labels": {"env": "test"}}}),
        json!({"spec": {"source": {"targetRevision": "v2"}}}),
        json!({"status": {"sync": {"status": "Synced"}, "reconciledAt": "2026-11-16T00:00:00Z"}}),
    ] {
        passes(argo.merge(&change).await);
    }
    let gone = format!("{}?dryRun=All", argo.path);
    passes(argo.world.writer.send("DELETE", &gone, "", &Value::Null).await);
}

/// RCH-12
async fn whoever_leaves_is_held(argo: &Argo<'_>) {
    until("it is gone", async || argo.start(&argo.world.writer, &sync("abc")).await.is_ok()).await;
    argo.shut(&json!({"selector": {"matchLabels": {"env": "prod"}}})).await;
    held(argo.merge(&json!({"metadata": {"labels": {"env": "test"}}})).await, "shop/syncs");
    held(argo.merge(&json!({"metadata": {"labels": {"env": null}}})).await, "shop/syncs");
    passes(argo.merge(&json!({"metadata": {"labels": {"other": "x"}}})).await);
    argo.world.remove_gate("shop", "syncs").await;
    until("it is gone", async || argo.start(&argo.world.writer, &sync("abc")).await.is_ok()).await;
}

async fn freezes_hold(argo: &Argo<'_>) {
    let spec = json!({"reason": "audit", "holds": [{"what": "Applications", "names": ["web"]}]});
    argo.world.freeze("shop", "stop", spec).await;
    until("it is frozen", async || {
        let answer = argo.start(&argo.world.writer, &sync("abc")).await;
        answer
            .is_err_and(|said| said.contains("held by ChangeFreeze shop/stop until further notice"))
    })
    .await;
    passes(argo.start(&argo.world.writer, &dry()).await);
    argo.world.thaw("shop", "stop").await;
    until("it is over", async || argo.start(&argo.world.writer, &sync("abc")).await.is_ok()).await;
}

/// RCH-13 names other rooms: Argo CD often runs in a namespace of the system.
async fn cluster_gates_hold_everywhere(world: &World) {
    world.cluster_gate("platform", json!({"holds": [{"what": "Applications"}]})).await;
    world.open(&cluster_gate_path("platform"), &[open_tomorrow()]).await;
    let mut application = application("web");
    application["operation"] = sync("abc");
    until("it holds", async || {
        let path = format!("{ARGO}/kube-part/applications?dryRun=All");
        let answer = world.post(&path, &application).await;
        answer.is_err_and(|said| said.contains("held by ClusterChangeGate platform"))
    })
    .await;
    world.remove_cluster_gate("platform").await;
}
