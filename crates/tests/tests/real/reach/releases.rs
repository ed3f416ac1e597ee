//! What is refused of Helm, and what goes on?
//!
//! Single records are rows, on both servers; then Helm itself installs, upgrades, rolls back and uninstalls, across an opening and a closing.

use std::fs;

use rig::{Cluster, Helm, User};
use serde_json::{Value, json};

use super::{
    rows::{held, passes},
    world::{World, gate_path, open_now, open_tomorrow},
};
use crate::rollout::writers::until;

const CORE: &str = "/api/v1/namespaces";

pub(super) async fn are_judged(world: &World) {
    world.usual_namespaces().await;
    world.gate("shop", "releases", json!({"holds": [{"what": "HelmReleases"}]})).await;
    world.open(&gate_path("shop", "releases"), &[open_tomorrow()]).await;
    until("it is shut until tomorrow", async || {
        upgrades(world, "shop").await.is_err_and(|said| {
            said.contains("held by ChangeGate shop/releases, which opens at ")
                && said.contains("; run it again then")
        })
    })
    .await;
    states_decide(world).await;
    options_allow(world).await;
    names_and_labels_choose(world).await;
    freezes_allow_nothing(world).await;
    cluster_gates_leave_the_system_alone(world).await;
}

async fn upgrades(world: &World, namespace: &str) -> Result<Value, String> {
    store(world, namespace, "secrets", &record("secrets", "pending-upgrade", "2")).await
}

/// Not kept: what is asked is whether the server would take it.
async fn store(
    world: &World,
    namespace: &str,
    collection: &str,
    record: &Value,
) -> Result<Value, String> {
    world.post(&format!("{CORE}/{namespace}/{collection}?dryRun=All"), record).await
}

/// A release as Helm stores it.
pub(super) fn record(collection: &str, state: &str, version: &str) -> Value {
    let labels =
        json!({"name": "web", "owner": "helm", "status": state, "version": version, "team": "a"});
    let name = format!("sh.helm.release.v1.web.v{version}");
    let metadata = json!({"name": name, "labels": labels});
    if collection == "secrets" {
        return json!({"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "type": "helm.sh/release.v1"});
    }
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata})
}

/// Only what is pending begins something, and what is pending already ends (RCH-5).
async fn states_decide(world: &World) {
    for collection in ["secrets", "configmaps"] {
        for state in ["pending-install", "pending-upgrade", "pending-rollback"] {
            let answer = store(world, "shop", collection, &record(collection, state, "1")).await;
            held(answer, "held by ChangeGate shop/releases, which opens at ");
        }
        for state in ["deployed", "superseded", "failed", "uninstalling", "uninstalled", "unknown"]
        {
            passes(store(world, "shop", collection, &record(collection, state, "1")).await);
        }
        passes(store(world, "lab", collection, &record(collection, "pending-upgrade", "2")).await);
        let path = format!("{CORE}/shop/{collection}");
        let mut begun = record(collection, "pending-upgrade", "7");
        begun["metadata"]["name"] = json!("sh.helm.release.v1.web.v7");
        world.initiator.create(&path, &begun).await;
        for state in ["deployed", "failed", "pending-upgrade"] {
            let change = json!({"metadata": {"labels": {"status": state, "modifiedAt": "1"}}});
            let begun = format!("{path}/sh.helm.release.v1.web.v7?dryRun=All");
            passes(world.writer.merge(&begun, &change).await);
        }
    }
    // Whatever else has such labels.
    let mut opaque = record("secrets", "pending-upgrade", "2");
    opaque["type"] = json!("Opaque");
    passes(store(world, "shop", "secrets", &opaque).await);
    let mut anybodys = record("configmaps", "pending-upgrade", "2");
    anybodys["metadata"]["labels"]["owner"] = json!("somebody");
    passes(store(world, "shop", "configmaps", &anybodys).await);
    let mut bare = record("configmaps", "pending-upgrade", "2");
    bare["metadata"].as_object_mut().unwrap().remove("labels");
    passes(store(world, "shop", "configmaps", &bare).await);
    bare = record("secrets", "pending-upgrade", "2");
    bare["metadata"].as_object_mut().unwrap().remove("labels");
    passes(store(world, "shop", "secrets", &bare).await);
    // Applied, it is created all the same; and who may pass everything does.
    let applied = record("secrets", "pending-upgrade", "2");
    let path = format!("{CORE}/shop/secrets/sh.helm.release.v1.web.v2?dryRun=All");
    held(world.writer.apply(&path, &applied).await, "shop/releases");
    let path = format!("{CORE}/shop/secrets?dryRun=All");
    passes(world.initiator.send("POST", &path, "application/json", &applied).await);
}

/// RCH-11
async fn options_allow(world: &World) {
    let records = [
        ("pending-install", "1"),
        ("pending-install", "3"),
        ("pending-upgrade", "1"),
        ("pending-upgrade", "2"),
        ("pending-rollback", "2"),
    ];
    for (allow, expected) in [
        (json!(["Rollback"]), [true, true, true, true, false]),
        (json!(["FirstInstall"]), [false, true, true, true, true]),
        (json!(["Rollback", "FirstInstall"]), [false, true, true, true, false]),
        (Value::Null, [true; 5]),
    ] {
        change_gate(world, &json!([{"what": "HelmReleases", "allow": allow}])).await;
        for ((state, version), is_held) in records.iter().zip(expected) {
            until(&format!("{allow}: {state} {version} held: {is_held}"), async || {
                let record = record("secrets", state, version);
                store(world, "shop", "secrets", &record).await.is_err() == is_held
            })
            .await;
        }
    }
}

/// An edit of the gate, and what its controller writes then.
async fn change_gate(world: &World, holds: &Value) {
    let gate = gate_path("shop", "releases");
    let mut holds = holds.clone();
    if holds[0]["allow"].is_null() {
        holds[0].as_object_mut().unwrap().remove("allow");
    }
    world.admin.merge(&gate, &json!({"spec": {"holds": holds}})).await.unwrap();
    world.open(&gate, &[open_tomorrow()]).await;
}

/// RCH-12: by the name of the release and the labels of its record, which `helm --labels` gives it.
async fn names_and_labels_choose(world: &World) {
    for (choice, is_held) in [
        (json!({"names": ["web"]}), true),
        (json!({"names": ["sh.helm.release.v1.web.v2"]}), false),
        (json!({"names": ["api"]}), false),
        (json!({"selector": {"matchLabels": {"team": "a"}}}), true),
        (json!({"selector": {"matchLabels": {"team": "b"}}}), false),
        (json!({"names": ["api"], "selector": {"matchLabels": {"team": "a"}}}), true),
    ] {
        let mut hold = choice.clone();
        hold["what"] = json!("HelmReleases");
        change_gate(world, &json!([hold])).await;
        until(&format!("{choice} holds: {is_held}"), async || {
            upgrades(world, "shop").await.is_err() == is_held
        })
        .await;
    }
    world.remove_gate("shop", "releases").await;
    until("it is gone", async || upgrades(world, "shop").await.is_ok()).await;
}

async fn freezes_allow_nothing(world: &World) {
    world.freeze("shop", "stop", json!({"reason": "audit"})).await;
    for state in ["pending-install", "pending-upgrade", "pending-rollback"] {
        let record = record("secrets", state, "1");
        until("it is frozen", async || {
            let answer = store(world, "shop", "secrets", &record).await;
            answer.is_err_and(|said| said.contains("held by ChangeFreeze shop/stop"))
        })
        .await;
    }
    passes(store(world, "shop", "secrets", &record("secrets", "deployed", "1")).await);
    world.thaw("shop", "stop").await;
    until("it is over", async || upgrades(world, "shop").await.is_ok()).await;
}

/// RCH-13
async fn cluster_gates_leave_the_system_alone(world: &World) {
    world.cluster_gate("platform", json!({"holds": [{"what": "HelmReleases"}]})).await;
    until("it holds", async || {
        let answer = upgrades(world, "shop").await;
        answer.is_err_and(|said| said.contains("held by ClusterChangeGate platform"))
    })
    .await;
    passes(upgrades(world, "kube-part").await);
    passes(upgrades(world, "tidegate-system").await);
    world.remove_cluster_gate("platform").await;
}

/// Helm itself: nothing of a chart is touched while the gate is shut.
pub(super) async fn of_helm_wait_for_their_gate(helm: &Helm, cluster: &Cluster, world: &World) {
    let chart = chart();
    let chart = chart.path().display().to_string();
    let kubeconfig = cluster.kubeconfig(User::Admin).display().to_string();
    let run = |namespace: &str, arguments: &[&str]| -> Result<String, String> {
        let access = ["--namespace", namespace, "--kubeconfig", &kubeconfig];
        helm.run(arguments.iter().chain(&access)).map_err(|refused| refused.to_string())
    };
    for namespace in ["shop", "lab"] {
        world.namespace(namespace, &json!({})).await;
    }
    let colour = async |namespace: &str| {
        let path = format!("{CORE}/{namespace}/configmaps/web");
        let found = world.admin.send("GET", &path, "", &Value::Null).await;
        found.ok().map(|map| map["data"]["colour"].as_str().unwrap().to_owned())
    };
    let gate = gate_path("shop", "releases");
    let hold = |allow: &Value| json!([{"what": "HelmReleases", "allow": allow}]);
    world.gate("shop", "releases", json!({"holds": [{"what": "HelmReleases"}]})).await;
    world.open(&gate, &[open_tomorrow()]).await;
    let shut = async || {
        until("it is shut", async || {
            upgrades(world, "shop").await.is_err_and(|said| said.contains("which opens at"))
        })
        .await;
    };
    shut().await;

    // Not installed, and nothing is left of it; in another namespace it is nobody's business.
    let said = run("shop", &["install", "web", &chart]).unwrap_err();
    assert!(said.contains("held by ChangeGate shop/releases, which opens at "), "{said}");
    let secrets = world.admin.get(&format!("{CORE}/shop/secrets")).await;
    assert_eq!((colour("shop").await, &secrets["items"]), (None, &json!([])));
    run("lab", &["install", "web", &chart]).unwrap();
    assert_eq!(colour("lab").await.as_deref(), Some("red"));

    // The first install, where that is allowed; not the upgrade.
    change_gate(world, &hold(&json!(["FirstInstall"]))).await;
    until("it is installed", async || run("shop", &["install", "web", &chart]).is_ok()).await;
    assert_eq!(colour("shop").await.as_deref(), Some("red"));
    let blue: &[&str] = &["upgrade", "web", &chart, "--set=colour=blue"];
    let said = run("shop", blue).unwrap_err();
    assert!(said.contains("held by ChangeGate shop/releases"), "{said}");
    let either: &[&str] = &["upgrade", "--install", "web", &chart, "--set=colour=blue"];
    assert!(run("shop", either).unwrap_err().contains("held by ChangeGate shop/releases"));
    assert_eq!(colour("shop").await.as_deref(), Some("red"));
    run("shop", &["upgrade", "web", &chart, "--set=colour=blue", "--dry-run=server"]).unwrap();

    // It opens, and closes again: the way back is held, unless it is allowed.
    world.open(&gate, &[open_now()]).await;
    until("it opens", async || upgrades(world, "shop").await.is_ok()).await;
    run("shop", blue).unwrap();
    assert_eq!(colour("shop").await.as_deref(), Some("blue"));
    world.open(&gate, &[open_tomorrow()]).await;
    shut().await;
    assert!(run("shop", &["rollback", "web", "1"]).unwrap_err().contains("shop/releases"));
    assert_eq!(colour("shop").await.as_deref(), Some("blue"));
    change_gate(world, &hold(&json!(["Rollback"]))).await;
    until("it is rolled back", async || run("shop", &["rollback", "web", "1"]).is_ok()).await;
    assert_eq!(colour("shop").await.as_deref(), Some("red"));
    assert!(run("shop", blue).unwrap_err().contains("shop/releases"));

    // What the room says that it does not hold.
    run("shop", &["uninstall", "web"]).unwrap();
    assert_eq!(colour("shop").await, None);
}

/// A chart of one object.
fn chart() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    fs::create_dir(folder.path().join("templates")).unwrap();
    write("Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.0.0\n");
    write("values.yaml", "colour: red\n");
    write(
        "templates/map.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\ndata: {colour: \"{{ .Values.colour }}\"}\n",
    );
    folder
}
