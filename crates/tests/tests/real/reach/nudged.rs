//! Does a rollout begin that its controller has given up, and who may touch what waits?

use std::{sync::Arc, time::Duration};

use api::names::{self, NUDGED_AT};
use operator::{Operator, Settings};
use runtime::{clock::SystemClock, tempo::Tempo};
use serde_json::{Value, json};
use tidy::Tree;

use super::{
    kept::{POLICY, define_policies, says},
    rollouts::Deployed,
    workloads,
    world::{World, gate_path},
};
use crate::rollout::writers::{OPERATOR, RIGHTS, Writer, until};

/// GATE-16: others write no touch, and the operator nothing else; a rollback brings the annotations of its revision along.
pub(super) async fn by_the_operator_alone(world: &World) {
    world.namespace("shop", &json!({})).await;
    let operator = Writer::new(&world.client, OPERATOR, &[RIGHTS], None);
    let labels = json!({"app": "web"});
    let deployment = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
        "spec": {"selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels},
            "spec": {"containers": [{"name": "app", "image": "app:1"}]}}}});
    let all = format!("{}/namespaces/shop/deployments", world.apps);
    world.post(&all, &deployment).await.unwrap();
    let path = format!("{all}/web");
    let note = |key: &str, value: &str| json!({"metadata": {"annotations": {key: value}}});
    let touch = |at: &str| note(NUDGED_AT, at);
    let refused = "only the operator writes when it touched something";
    // A policy reaches a server a moment after it was created.
    until(refused, async || {
        let dry = format!("{path}?dryRun=All");
        let answer = world.writer.merge(&dry, &touch("2026-11-14T00:00:00Z")).await;
        answer.is_err_and(|said| said.contains(refused))
    })
    .await;
    operator.merge(&path, &touch("2026-11-14T00:00:00Z")).await.unwrap();
    let said = world.writer.merge(&path, &touch("2026-11-14T00:00:01Z")).await.unwrap_err();
    assert!(said.contains(refused), "{said}");
    world.initiator.merge(&path, &touch("2026-11-14T00:00:02Z")).await.unwrap();
    world.writer.merge(&path, &note("example.com/touched", "yes")).await.unwrap();
    let mut rollback = touch("2026-11-13T00:00:00Z");
    rollback["spec"] = workloads::image("app:9")["spec"].clone();
    world.writer.merge(&path, &rollback).await.unwrap();
    world
        .writer
        .merge(&path, &json!({"metadata": {"annotations": {NUDGED_AT: null}}}))
        .await
        .unwrap();

    operator.merge(&path, &note("argocd.argoproj.io/refresh", "normal")).await.unwrap();
    for change in [
        workloads::image("app:2"),
        json!({"spec": {"paused": true}}),
        json!({"metadata": {"labels": {"a": "b"}}}),
        json!({"metadata": {"finalizers": ["example.com/a"]}}),
        note("example.com/touched", "no"),
        note("kubectl.kubernetes.io/restartedAt", "now"),
        json!({"metadata": {"annotations": {"example.com/touched": null}}}),
    ] {
        let said = operator.merge(&path, &change).await.unwrap_err();
        assert!(said.contains("changes nothing else of it"), "{change}: {said}");
    }
}

/// One that may be touched and one that may not, held until their controller has given both up. When the gates open the one begins by
/// itself, and the other does not before somebody touches it.
pub(super) async fn after_the_patience_of_their_controller(world: &World) {
    define_policies(world).await;
    for namespace in ["shop", "lab"] {
        world.namespace(namespace, &json!({})).await;
    }
    let policy = json!({"apiVersion": names::API_VERSION, "kind": names::CHANGE_MANAGEMENT_POLICY,
        "metadata": {"name": "agreed"}, "spec": {"strategy": "Restrictive"}});
    world.admin.create(POLICY, &policy).await;
    let stanza = json!({"strategy": "ByPolicy", "byPolicy": {"name": "agreed"}});
    for (namespace, nudge) in [("shop", true), ("lab", false)] {
        let spec =
            json!({"changeManagement": stanza, "holds": [{"what": "Deployments"}], "nudge": nudge});
        world.gate(namespace, "rollouts", spec).await;
    }
    let second = Duration::from_secs(1);
    let tempo = Tempo { absent: second, freshness: second, ..Tempo::default() };
    let settings = Settings { tempo, ..Settings::alone("suite") };
    // With the rights that are shipped, and no others.
    roles(world).await;
    let account = Writer::new(&world.client, OPERATOR, &["system:authenticated"], None).client();
    let operator = Operator::new(account, Arc::new(SystemClock), settings);
    let running = tokio::spawn(async move {
        operator.run(std::future::pending()).await.unwrap();
    });
    let (touched, left) = (Deployed::new(world, "shop", "web"), Deployed::new(world, "lab", "web"));
    for deployed in [&touched, &left] {
        deployed.create("RollingUpdate", 2).await;
        deployed.runs("app:1", 2).await;
    }
    let gate = gate_path("shop", "rollouts");
    says(world, &gate, "Ready", "True AsExpected").await;
    says(world, &gate_path("lab", "rollouts"), "Ready", "True AsExpected").await;
    for deployed in [&touched, &left] {
        deployed.set_image("app:2").await.unwrap();
    }
    says(world, &gate, "ChangesPending", "True Held").await;
    let status = world.admin.get(&gate).await["status"].clone();
    assert_eq!((&status["targets"], &status["pendingCount"]), (&json!(1), &json!(1)), "{status}");
    assert_eq!(status["pending"][0]["change"], "app:1 -> app:2");

    // It tries once and fifteen times more, each time after twice as long: nearly three minutes.
    for tries in 12..=16 {
        for namespace in ["shop", "lab"] {
            patiently(&format!("try {tries} in {namespace}"), async || {
                refusals(world, namespace).await >= tries
            })
            .await;
        }
    }
    assert_eq!((touched.sets().await.len(), left.sets().await.len()), (1, 1));
    let open = json!({"spec": {"strategy": "Permissive"}});
    world.admin.merge(&format!("{POLICY}/agreed"), &open).await.unwrap();
    touched.runs("app:2", 2).await;
    assert!(nudged(world, &touched).await.is_string());
    says(world, &gate, "ChangesPending", "False NothingPending").await;
    // The other gate is as open, and nothing began there.
    says(world, &gate_path("lab", "rollouts"), "ChangesPaused", "False Permissive").await;
    assert_eq!((left.sets().await.len(), nudged(world, &left).await), (1, Value::Null));
    assert_eq!(refusals(world, "lab").await, 16, "its controller has given up");
    let note = json!({"metadata": {"annotations": {"example.com/touched": "yes"}}});
    world.admin.merge(&left.path, &note).await.unwrap();
    left.runs("app:2", 2).await;
    running.abort();
    assert!(running.await.unwrap_err().is_cancelled(), "the operator ended by itself");
}

/// The roles of the operator, as they are shipped.
async fn roles(world: &World) {
    for file in ["operator.yaml", "change-gates/change-gates.yaml"] {
        let shipped = Tree::top().join("deploy/manifests").join(file);
        let shipped = std::fs::read_to_string(shipped).unwrap();
        let documents: Vec<Value> = serde_saphyr::from_multiple(&shipped).unwrap();
        for document in documents {
            let kind = document["kind"].as_str().unwrap_or_default();
            if ["ClusterRole", "ClusterRoleBinding"].contains(&kind) {
                let path = format!("/apis/rbac.authorization.k8s.io/v1/{}", names::plural(kind));
                world.admin.create(&path, &document).await;
            }
        }
    }
}

async fn nudged(world: &World, deployed: &Deployed<'_>) -> Value {
    world.admin.get(&deployed.path).await["metadata"]["annotations"][NUDGED_AT].clone()
}

/// How often the controller says that it was refused.
async fn refusals(world: &World, namespace: &str) -> i64 {
    let events = world.admin.get(&format!("/api/v1/namespaces/{namespace}/events")).await;
    let refused = events["items"].as_array().unwrap().iter();
    let refused = refused.filter(|event| event["reason"] == "ReplicaSetCreateError");
    refused.map(|event| event["count"].as_i64().unwrap_or(1)).sum()
}

/// The last pause of a controller that is refused is eighty seconds long.
async fn patiently(what: &str, is: impl AsyncFn() -> bool) {
    let began = tokio::time::Instant::now();
    while !is().await {
        assert!(began.elapsed() < Duration::from_mins(4), "{what}");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}
