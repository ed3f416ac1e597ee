//! Does the operator write the windows that the server then goes by, and does the gate hold on without it?

use std::{sync::Arc, time::Duration};

use api::{crds, names, schema::KINDS};
use jiff::ToSpan as _;
use operator::{Operator, Settings};
use runtime::{clock::SystemClock, tempo::Tempo};
use serde_json::{Value, json};

use super::{
    overrides::overriding,
    world::{GROUP, World, cluster_gate_path, gate_path, replica_set},
};
use crate::rollout::writers::{Writer, until};

pub(crate) const POLICY: &str =
    "/apis/changemanagement.openshift.io/v1alpha1/changemanagementpolicies";

pub(super) async fn by_the_operator(world: &World) {
    define_policies(world).await;
    world.namespace("shop", &json!({})).await;
    let second = Duration::from_secs(1);
    let tempo = Tempo { absent: second, freshness: second, ..Tempo::default() };
    let settings = Settings { tempo, ..Settings::alone("suite") };
    let operator = Operator::new(world.client.clone(), Arc::new(SystemClock), settings);
    let running = tokio::spawn(async move {
        operator.run(std::future::pending()).await.unwrap();
    });

    // Written before its policy: nobody can tell, so it is shut.
    let stanza = json!({"strategy": "ByPolicy", "byPolicy": {"name": "agreed"}});
    let spec = json!({"changeManagement": stanza, "holds": [{"what": "Deployments"}]});
    world.gate("shop", "rollouts", spec.clone()).await;
    let gate = gate_path("shop", "rollouts");
    answers(
        world,
        "held by ChangeGate shop/rollouts, whose windows are not known: it is not Ready",
    )
    .await;
    says(world, &gate, "Ready", "False PolicyNotFound").await;

    let policy = json!({"apiVersion": names::API_VERSION, "kind": names::CHANGE_MANAGEMENT_POLICY,
        "metadata": {"name": "agreed"}, "spec": {"strategy": "Permissive"}});
    world.admin.create(POLICY, &policy).await;
    answers(world, "").await;
    assert_eq!(world.admin.get(&gate).await["status"]["windows"], json!([{}]));
    says(world, &gate, "ChangesPaused", "False Permissive").await;
    says(world, &gate, "Enforced", "Unknown NotTried").await;

    // An edit of the policy reaches the server by the windows.
    let agreed = format!("{POLICY}/agreed");
    let edit =
        async |spec: Value| world.admin.merge(&agreed, &json!({"spec": spec})).await.unwrap();
    edit(json!({"strategy": "Restrictive"})).await;
    answers(world, "held by ChangeGate shop/rollouts, for which no opening is known").await;
    let yearly = json!({"frequency": "Yearly", "yearly": {"by": "Date", "date": {"month": "January", "datesOfMonth": [1]}}});
    let rarely = json!({"strategy": "MaintenanceSchedule", "maintenanceSchedule": {"permit": {"recurrence": yearly, "duration": "1h"}}});
    edit(rarely).await;
    answers(world, "held by ChangeGate shop/rollouts, which opens at ").await;
    let status = world.admin.get(&gate).await["status"].clone();
    assert_eq!(status["windows"].as_array().unwrap().len(), 1, "400 days ahead: {status}");
    assert!(
        status["computedUntil"].is_string() && status["behavior"]["next"].is_object(),
        "{status}"
    );

    // A gate of the cluster beside it, of its own mind.
    world.cluster_gate("platform", json!({"holds": [{"what": "Deployments"}]})).await;
    says(world, &cluster_gate_path("platform"), "ChangesPaused", "True Restrictive").await;
    edit(json!({"strategy": "Permissive"})).await;
    answers(world, "held by ClusterChangeGate platform, for which no opening is known").await;
    world.remove_cluster_gate("platform").await;
    answers(world, "").await;

    // An edit of the gate is understood, or it is shut and says why (GATE-14).
    let mistyped = json!({"spec": {"holds": [{"what": "Deployments", "selektor": {}}]}});
    world.admin.merge(&gate, &mistyped).await.unwrap();
    says(world, &gate, "Ready", "False InvalidSpec").await;
    answers(world, "held by ChangeGate shop/rollouts").await;
    world.admin.merge(&gate, &json!({"spec": {"holds": [{"what": "Deployments"}]}})).await.unwrap();
    answers(world, "").await;

    opens_by_an_override(world, &gate).await;

    // Nothing is written while nothing happens, and without the operator the server goes on by what was written.
    let version = async || world.admin.get(&gate).await["metadata"]["resourceVersion"].clone();
    says(world, &gate, "Ready", "True AsExpected").await;
    let before = version().await;
    for _ in 0..20 {
        answers(world, "").await;
    }
    assert_eq!(version().await, before);
    running.abort();
    assert!(running.await.unwrap_err().is_cancelled(), "the operator ended by itself");
    answers(world, "").await;
    world.admin.merge(&gate, &json!({"spec": {"nudge": false}})).await.unwrap();
    answers(world, "its status is older than its specification").await;
}

/// What gates go by.
pub(super) async fn define_policies(world: &World) {
    define_ours(&world.admin).await;
}

/// Every kind of ours that is not a gate.
pub(crate) async fn define_ours(admin: &Writer) {
    for kind in KINDS {
        let definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
        admin.create(definitions, &crds::definition(kind)).await;
        let served = format!("{GROUP}/{}", names::plural(kind.name));
        until(&served, async || admin.send("GET", &served, "", &Value::Null).await.is_ok()).await;
    }
}

/// OVR-2, GATE-15: an override is a window of the gate that it names, of no other, passes no freeze, and ends on its second.
async fn opens_by_an_override(world: &World, gate: &str) {
    let policy = format!("{POLICY}/agreed");
    let edit = async |strategy: &str| {
        world.admin.merge(&policy, &json!({"spec": {"strategy": strategy}})).await.unwrap();
    };
    edit("Restrictive").await;
    let shut = "held by ChangeGate shop/rollouts, for which no opening is known";
    answers(world, shut).await;
    let path = format!("{GROUP}/namespaces/shop/changeoverrides");
    let open = async |name: &str, seconds: i64| {
        let end = world.server_time().await + seconds.seconds();
        let spec = json!({"target": {"kind": "ChangeGate", "name": "rollouts"},
            "until": end.to_string(), "reason": "a hotfix"});
        world.admin.create(&path, &overriding(names::CHANGE_OVERRIDE, name, &spec)).await;
        end
    };
    open("long", 3_600).await;
    answers(world, "").await;
    says(world, gate, "ChangesPaused", "False Overridden").await;
    says(world, &format!("{path}/long"), "Ready", "True AsExpected").await;
    world.cluster_gate("platform", json!({"holds": [{"what": "Deployments"}]})).await;
    answers(world, "held by ClusterChangeGate platform, for which no opening is known").await;
    world.remove_cluster_gate("platform").await;
    answers(world, "").await;
    world.freeze("shop", "stop", json!({"reason": "a storm"})).await;
    answers(world, "held by ChangeFreeze shop/stop").await;
    world.thaw("shop", "stop").await;
    answers(world, "").await;
    world.admin.send("DELETE", &format!("{path}/long"), "", &Value::Null).await.unwrap();
    answers(world, shut).await;
    let end = open("short", 5).await;
    answers(world, "").await;
    let set = replica_set("web", "2", &json!({"app": "web"}));
    let rollouts = format!("{}/namespaces/shop/replicasets?dryRun=All", world.apps);
    loop {
        let before = world.server_time().await;
        match world.post(&rollouts, &set).await {
            Ok(_) => assert!(before < end, "open at {before}, which is after {end}"),
            Err(said) => {
                assert!(said.contains("held by ChangeGate shop/rollouts"), "{said}");
                assert!(world.server_time().await >= end);
                break;
            }
        }
    }
    answers(world, shut).await;
    says(world, gate, "ChangesPaused", "True Restrictive").await;
    edit("Permissive").await;
    answers(world, "").await;
    says(world, gate, "ChangesPaused", "False Permissive").await;
}

/// What comes of a rollout: these words, or nothing against it.
async fn answers(world: &World, part: &str) {
    let path = format!("{}/namespaces/shop/replicasets?dryRun=All", world.apps);
    let set = replica_set("web", "2", &json!({"app": "web"}));
    until(part, async || match world.post(&path, &set).await {
        Ok(_) => part.is_empty(),
        Err(said) => !part.is_empty() && said.contains(part),
    })
    .await;
}

pub(super) async fn says(world: &World, path: &str, kind: &str, expected: &str) {
    until(&format!("{path} {kind} {expected}"), async || {
        let object = world.admin.get(path).await;
        let conditions = object["status"]["conditions"].as_array().cloned().unwrap_or_default();
        let found = conditions.iter().find(|condition| condition["type"] == kind);
        found.is_some_and(|found| {
            let text = |key: &str| found[key].as_str().unwrap_or_default().to_owned();
            text("status") + " " + &text("reason") == expected
        })
    })
    .await;
}
