//! What is refused of those who upgrade operators, nodes and control planes, and of Flux, and what goes on? (RCH-3, RCH-5, RCH-6, RCH-10, RCH-12)
//!
//! Their controllers are played by their own writes: the catalog operator of OLM, the system-upgrade-controller, the source-controller of Flux,
//! Karpenter, and whoever changes a `KubeadmControlPlane`.

use serde_json::{Value, json};

use super::{
    rows::{held, passes},
    world::{World, cluster_gate_path, gate_path, open_now, open_tomorrow},
};
use crate::rollout::writers::until;

const NODES: &str = "/api/v1/nodes";
const DRY: &str = "?dryRun=All";
const LATE: &str = "2026-11-18T06:00:00Z";

/// The kinds as loosely as the policies look at them.
pub(super) fn definitions() -> Vec<Value> {
    let kinds = [
        ("operators.coreos.com", "v1alpha1", "InstallPlan"),
        ("source.toolkit.fluxcd.io", "v1", "GitRepository"),
        ("source.toolkit.fluxcd.io", "v1", "OCIRepository"),
        ("source.toolkit.fluxcd.io", "v1", "Bucket"),
        ("source.toolkit.fluxcd.io", "v1", "HelmChart"),
        ("controlplane.cluster.x-k8s.io", "v1beta1", "KubeadmControlPlane"),
    ];
    kinds.map(|(group, version, kind)| definition(group, version, kind)).into()
}

pub(super) fn definition(group: &str, version: &str, kind: &str) -> Value {
    let plural = api::names::plural(kind);
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{plural}.{group}")},
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {"kind": kind, "plural": plural, "singular": kind.to_lowercase(), "listKind": format!("{kind}List")},
            "versions": [{"name": version, "served": true, "storage": true, "subresources": {"status": {}},
                "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}],
        },
    })
}

/// Where the kinds are served.
pub(super) fn served() -> Vec<String> {
    let kinds = ["gitrepositories", "ocirepositories", "buckets", "helmcharts"];
    let sources = kinds.map(|kind| format!("/apis/source.toolkit.fluxcd.io/v1/{kind}"));
    let others = [
        "/apis/operators.coreos.com/v1alpha1/installplans".to_owned(),
        "/apis/controlplane.cluster.x-k8s.io/v1beta1/kubeadmcontrolplanes".to_owned(),
    ];
    sources.into_iter().chain(others).collect()
}

fn plans(namespace: &str) -> String {
    format!("/apis/operators.coreos.com/v1alpha1/namespaces/{namespace}/installplans")
}

fn sources(namespace: &str, kind: &str) -> String {
    format!("/apis/source.toolkit.fluxcd.io/v1/namespaces/{namespace}/{}", api::names::plural(kind))
}

fn planes(namespace: &str) -> String {
    format!(
        "/apis/controlplane.cluster.x-k8s.io/v1beta1/namespaces/{namespace}/kubeadmcontrolplanes"
    )
}

/// What has to be there before a first write can be tried.
pub(super) async fn stand(world: &World, namespace: &str) {
    source(world, namespace, "GitRepository", "apps").await;
    plane(world, namespace).await;
}

async fn source(world: &World, namespace: &str, kind: &str, name: &str) {
    let source = json!({"apiVersion": "source.toolkit.fluxcd.io/v1", "kind": kind,
        "metadata": {"name": name, "labels": {"env": "prod"}}, "spec": {"interval": "1m"}});
    world.initiator.create(&sources(namespace, kind), &source).await;
}

async fn plane(world: &World, namespace: &str) {
    let plane = json!({"apiVersion": "controlplane.cluster.x-k8s.io/v1beta1", "kind": "KubeadmControlPlane",
        "metadata": {"name": "prod", "labels": {"env": "prod"}},
        "spec": {"version": "v1.35.0", "replicas": 3, "kubeadmConfigSpec": {"format": "cloud-config"},
            "rolloutBefore": {"certificatesExpiryDays": 21},
            "machineTemplate": {"infrastructureRef": {"kind": "MachineTemplate", "name": "small"}}}});
    world.initiator.create(&planes(namespace), &plane).await;
}

/// What the source-controller writes when it has fetched something; asked, and not kept.
pub(super) async fn revises(
    world: &World,
    namespace: &str,
    revision: &str,
) -> Result<Value, String> {
    let path = format!("{}/apps", sources(namespace, "GitRepository"));
    revised(world, &path, revision, revision).await
}

async fn revised(world: &World, path: &str, revision: &str, digest: &str) -> Result<Value, String> {
    world.writer.merge(&format!("{path}/status{DRY}"), &artifact(revision, digest)).await
}

fn artifact(revision: &str, digest: &str) -> Value {
    json!({"status": {"artifact": {"revision": revision, "digest": digest, "lastUpdateTime": LATE}}})
}

/// What somebody writes who wants another version; asked, and not kept.
pub(super) async fn upgrades(
    world: &World,
    namespace: &str,
    version: &str,
) -> Result<Value, String> {
    let change = json!({"spec": {"version": version}});
    world.writer.merge(&format!("{}/prod{DRY}", planes(namespace)), &change).await
}

/// What Karpenter writes before it does anything to a node; asked, and not kept.
pub(super) async fn disrupts(world: &World, node: &str) -> Result<Value, String> {
    tainted(world, node, &["karpenter.sh/disrupted"]).await
}

async fn tainted(world: &World, node: &str, keys: &[&str]) -> Result<Value, String> {
    let taints: Vec<Value> =
        keys.iter().map(|key| json!({"key": key, "effect": "NoSchedule"})).collect();
    world.writer.merge(&format!("{NODES}/{node}{DRY}"), &json!({"spec": {"taints": taints}})).await
}

/// The Job of a plan for a node, as the system-upgrade-controller makes it.
fn job(plan: &str) -> Value {
    let labels = json!({"upgrade.cattle.io/controller": "system-upgrade-controller", "upgrade.cattle.io/plan": plan,
        "upgrade.cattle.io/node": "n1", "upgrade.cattle.io/version": "v1.36.1-k3s1", "tier": plan});
    json!({"apiVersion": "batch/v1", "kind": "Job",
        "metadata": {"name": format!("apply-{plan}-on-n1"), "labels": labels},
        "spec": {"parallelism": 0, "completions": 1, "template": {"metadata": {"labels": labels},
            "spec": {"restartPolicy": "Never", "containers": [{"name": "upgrade", "image": "rancher/k3s-upgrade"}]}}}})
}

pub(super) async fn are_judged(world: &World) {
    world.usual_namespaces().await;
    approvals_wait(world).await;
    jobs_wait(world).await;
    revisions_wait(world).await;
    control_planes_wait(world).await;
    disruptions_wait(world).await;
    what_a_room_does_not_know_is_refused(world).await;
}

/// Makes a gate that is shut until tomorrow, and waits until the server goes by it.
pub(super) async fn shut(
    world: &World,
    name: &str,
    hold: Value,
    first: &impl AsyncFn() -> Result<Value, String>,
) {
    world.gate("shop", name, json!({"holds": [hold]})).await;
    world.open(&gate_path("shop", name), &[open_tomorrow()]).await;
    let by = format!("held by ChangeGate shop/{name}, which opens at ");
    until(&by, async || first().await.is_err_and(|said| said.contains(&by))).await;
}

pub(super) async fn opens(
    world: &World,
    name: &str,
    first: &impl AsyncFn() -> Result<Value, String>,
) {
    world.open(&gate_path("shop", name), &[open_now()]).await;
    // RCH-10: within the second in which the same manager wrote the object, the server has no fresh stamp.
    until("it is open", async || first().await.is_ok()).await;
    world.remove_gate("shop", name).await;
}

/// Neither does somebody approve, nor does the catalog operator create what is approved.
async fn approvals_wait(world: &World) {
    let all = plans("shop");
    let plan = |name: &str, approved: bool| {
        json!({"apiVersion": "operators.coreos.com/v1alpha1", "kind": "InstallPlan",
            "metadata": {"name": name, "labels": {"env": "prod"}},
            "spec": {"approval": if approved { "Automatic" } else { "Manual" }, "approved": approved,
                "clusterServiceVersionNames": ["etcdoperator.v0.9.4"]}})
    };
    for (name, approved) in [("waits", false), ("begun", true)] {
        world.initiator.create(&all, &plan(name, approved)).await;
    }
    let (dry, by) = (format!("{all}{DRY}"), "held by ChangeGate shop/plans");
    let create = async || world.post(&dry, &plan("new", true)).await;
    passes(create().await);
    shut(world, "plans", json!({"what": "InstallPlans"}), &create).await;
    let patch = async |name: &str, change: Value| {
        world.writer.merge(&format!("{all}/{name}{DRY}"), &change).await
    };
    let status = async |name: &str, phase: &str| {
        let change = json!({"status": {"phase": phase}});
        world.writer.merge(&format!("{all}/{name}/status{DRY}"), &change).await
    };
    let approve = || json!({"spec": {"approved": true}});
    held(patch("waits", approve()).await, by);
    held(world.writer.apply(&format!("{all}/waits{DRY}"), &plan("waits", true)).await, by);
    // What nobody approved is not carried out: its controller goes by the phase.
    held(status("waits", "Installing").await, by);
    // Plans come and wait, what was approved is carried out, and another namespace is another's.
    passes(world.post(&dry, &plan("new", false)).await);
    passes(status("waits", "RequiresApproval").await);
    passes(status("begun", "Installing").await);
    passes(status("begun", "Complete").await);
    passes(patch("begun", json!({"spec": {"generation": 2}})).await);
    passes(patch("waits", json!({"metadata": {"labels": {"a": "b"}}})).await);
    passes(world.post(&format!("{}{DRY}", plans("lab")), &plan("new", true)).await);
    passes(world.initiator.merge(&format!("{all}/waits{DRY}"), &approve()).await);
    opens(world, "plans", &async || patch("waits", approve()).await).await;
}

/// Each Job of a plan is judged by itself, and no other.
async fn jobs_wait(world: &World) {
    let all = format!("{}/namespaces/shop/jobs{DRY}", world.batch());
    let create = async |job: &Value| world.post(&all, job).await;
    let k3s = job("k3s");
    passes(create(&k3s).await);
    shut(world, "upgrades", json!({"what": "UpgradePlans", "names": ["k3s"]}), &async || {
        create(&k3s).await
    })
    .await;
    passes(create(&job("os")).await);
    let mut plain = job("k3s");
    plain["metadata"]["labels"].as_object_mut().unwrap().remove("upgrade.cattle.io/plan");
    passes(create(&plain).await);
    let elsewhere = format!("{}/namespaces/lab/jobs{DRY}", world.batch());
    passes(world.post(&elsewhere, &k3s).await);
    opens(world, "upgrades", &async || create(&k3s).await).await;
    // By the labels of the plan, which its controller copies.
    let chosen = json!({"what": "UpgradePlans", "selector": {"matchLabels": {"tier": "os"}}});
    shut(world, "upgrades", chosen, &async || create(&job("os")).await).await;
    passes(create(&k3s).await);
    opens(world, "upgrades", &async || create(&job("os")).await).await;
}

/// Of every kind of source; what has been let in stays, and is corrected.
async fn revisions_wait(world: &World) {
    let kinds = ["GitRepository", "OCIRepository", "Bucket", "HelmChart"];
    for kind in kinds {
        source(world, "shop", kind, "apps").await;
        let path = format!("{}/apps", sources("shop", kind));
        let first = artifact("main@sha1:1", "sha256:1");
        world.initiator.merge(&format!("{path}/status"), &first).await.unwrap();
    }
    source(world, "shop", "GitRepository", "fresh").await;
    let git = sources("shop", "GitRepository");
    let (apps, fresh) = (format!("{git}/apps"), format!("{git}/fresh"));
    let next = async || revised(world, &apps, "main@sha1:2", "sha256:2").await;
    let by = "held by ChangeGate shop/revisions";
    until("nothing holds", async || next().await.is_ok()).await;
    let hold = json!({"what": "FluxRevisions", "names": ["fresh"], "selector": {"matchLabels": {"env": "prod"}}});
    shut(world, "revisions", hold, &next).await;
    for kind in kinds {
        let path = format!("{}/apps", sources("shop", kind));
        held(revised(world, &path, "main@sha1:2", "sha256:2").await, by);
        // Other content under the same revision.
        held(revised(world, &path, "main@sha1:1", "sha256:2").await, by);
        passes(revised(world, &path, "main@sha1:1", "sha256:1").await);
    }
    let merge = async |path: &str, change: Value| {
        world.writer.merge(&format!("{path}{DRY}"), &change).await
    };
    // The storage of the controller may be lost, and the newest revision is not let in for that.
    held(revised(world, &fresh, "main@sha1:1", "sha256:1").await, by);
    let lost = json!({"status": {"artifact": null, "conditions": [{"type": "Ready", "status": "Unknown"}]}});
    passes(merge(&format!("{apps}/status"), lost).await);
    let told = json!({"status": {"conditions": [{"type": "Ready", "status": "True"}]}});
    passes(merge(&format!("{apps}/status"), told).await);
    passes(merge(&apps, json!({"spec": {"ref": {"branch": "next"}}})).await);
    passes(merge(&apps, json!({"spec": {"suspend": true}})).await);
    // Nobody leaves the gate by a label.
    held(merge(&apps, json!({"metadata": {"labels": {"env": "test"}}})).await, by);
    passes(merge(&apps, json!({"metadata": {"labels": {"other": "x"}}})).await);
    passes(merge(&fresh, json!({"metadata": {"labels": {"env": "test"}}})).await);
    opens(world, "revisions", &next).await;

    let allowing = json!({"what": "FluxRevisions", "allow": ["FirstInstall"]});
    shut(world, "revisions", allowing, &next).await;
    passes(revised(world, &fresh, "main@sha1:1", "sha256:1").await);
    opens(world, "revisions", &next).await;
}

/// What replaces machines, in both versions of the kind, and nothing else.
async fn control_planes_wait(world: &World) {
    plane(world, "shop").await;
    let at = format!("{}/prod", planes("shop"));
    let by = "held by ChangeGate shop/planes";
    let merge = async |change: Value| world.writer.merge(&format!("{at}{DRY}"), &change).await;
    let upgrade = async || upgrades(world, "shop", "v1.36.0").await;
    until("nothing holds", async || upgrade().await.is_ok()).await;
    shut(world, "planes", json!({"what": "KubeadmControlPlanes"}), &upgrade).await;
    for change in [
        json!({"version": "v1.36.0", "replicas": 5}),
        json!({"kubeadmConfigSpec": {"format": "ignition"}}),
        json!({"machineTemplate": {"infrastructureRef": {"name": "large"}}}),
        json!({"machineTemplate": {"infrastructureRef": null, "spec": {"infrastructureRef": {"name": "large"}}}}),
        json!({"rolloutAfter": LATE}),
        json!({"rollout": {"after": LATE}}),
        // As good as a rollout of every machine that is a day old.
        json!({"rolloutBefore": {"certificatesExpiryDays": 364}}),
        json!({"rolloutBefore": null, "rollout": {"before": {"certificatesExpiryDays": 364}}}),
    ] {
        held(merge(json!({"spec": change})).await, by);
    }
    for change in [
        json!({"spec": {"replicas": 5}}),
        json!({"spec": {"machineTemplate": {"nodeDrainTimeout": "5m"}}}),
        json!({"spec": {"rolloutBefore": {"certificatesExpiryDays": 20}}}),
        json!({"spec": {"rolloutBefore": null, "rollout": {"before": {"certificatesExpiryDays": 20}}}}),
        json!({"spec": {"version": "v1.35.0"}}),
        json!({"metadata": {"labels": {"env": "test"}}}),
    ] {
        passes(merge(change).await);
    }
    let status = json!({"status": {"version": "v1.36.0"}});
    passes(world.writer.merge(&format!("{at}/status{DRY}"), &status).await);
    opens(world, "planes", &upgrade).await;
}

/// Consolidation and drift wait, and so does the drain of an expired node; what cannot wait does not.
async fn disruptions_wait(world: &World) {
    let node = |name: &str, pool: &str, capacity: &str| {
        json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "finalizers": ["karpenter.sh/termination"],
            "labels": {"karpenter.sh/nodepool": pool, "karpenter.sh/capacity-type": capacity}}})
    };
    let going = [("expired", "on-demand"), ("taken", "spot"), ("broken", "on-demand")];
    world.initiator.create(NODES, &node("general", "general", "spot")).await;
    world.initiator.create(NODES, &node("other", "other", "on-demand")).await;
    for (name, capacity) in going {
        world.initiator.create(NODES, &node(name, "general", capacity)).await;
        let ready = if name == "broken" { "False" } else { "True" };
        let status = json!({"status": {"conditions": [{"type": "Ready", "status": ready, "reason": "x", "message": "x",
            "lastHeartbeatTime": LATE, "lastTransitionTime": LATE}]}});
        world.admin.merge(&format!("{NODES}/{name}/status"), &status).await.unwrap();
    }
    passes(disrupts(world, "general").await);
    let hold = json!({"what": "KarpenterDisruption", "names": ["general"]});
    world.cluster_gate("churn", json!({"holds": [hold]})).await;
    world.open(&cluster_gate_path("churn"), &[open_tomorrow()]).await;
    let by = "held by ClusterChangeGate churn, which opens at ";
    until(by, async || disrupts(world, "general").await.is_err_and(|said| said.contains(by))).await;
    held(tainted(world, "general", &["own", "karpenter.sh/disrupted"]).await, by);
    passes(tainted(world, "general", &["own"]).await);
    passes(disrupts(world, "other").await);
    // None of them is being deleted yet.
    for (name, _) in going {
        held(disrupts(world, name).await, by);
        world.admin.send("DELETE", &format!("{NODES}/{name}"), "", &Value::Null).await.unwrap();
    }
    held(disrupts(world, "expired").await, by);
    passes(disrupts(world, "taken").await);
    passes(disrupts(world, "broken").await);
    world.open(&cluster_gate_path("churn"), &[open_now()]).await;
    until("it is open", async || disrupts(world, "general").await.is_ok()).await;
    // What bears the taint is done with, whatever the window does.
    let taints =
        json!({"spec": {"taints": [{"key": "karpenter.sh/disrupted", "effect": "NoSchedule"}]}});
    world.initiator.merge(&format!("{NODES}/general"), &taints).await.unwrap();
    world.open(&cluster_gate_path("churn"), &[open_tomorrow()]).await;
    until(by, async || disrupts(world, "expired").await.is_err_and(|said| said.contains(by))).await;
    passes(tainted(world, "general", &["karpenter.sh/disrupted", "own"]).await);
    passes(tainted(world, "general", &[]).await);
    world.remove_cluster_gate("churn").await;
}

/// RCH-11, RCH-13
async fn what_a_room_does_not_know_is_refused(world: &World) {
    let group = "/apis/changemanagement.openshift.io/v1alpha1";
    let team = format!("{group}/namespaces/shop/changegates{DRY}");
    let wide = format!("{group}/clusterchangegates{DRY}");
    let gate =
        |kind: &str, hold: Value| super::world::gate(kind, "tried", json!({"holds": [hold]}));
    for (hold, refusal) in [
        (json!({"what": "InstallPlans", "how": "Queue"}), "how must be Refuse for InstallPlans"),
        (json!({"what": "UpgradePlans", "how": "Refuse"}), "how must be Queue for UpgradePlans"),
        (json!({"what": "FluxRevisions", "allow": ["Rollback"]}), "allow must be of FirstInstall"),
        (json!({"what": "KubeadmControlPlanes", "how": "Queue"}), "how must be Refuse for Kubeadm"),
        (json!({"what": "KarpenterDisruption"}), "belong to the cluster"),
    ] {
        held(world.post(&team, &gate("ChangeGate", hold)).await, refusal);
    }
    let by_label = json!({"what": "KarpenterDisruption", "selector": {"matchLabels": {"a": "b"}}});
    held(
        world.post(&wide, &gate("ClusterChangeGate", by_label)).await,
        "by those of its NodePools",
    );
    let mut chosen = gate("ClusterChangeGate", json!({"what": "KarpenterDisruption"}));
    passes(world.post(&wide, &chosen).await);
    chosen["spec"]["namespaceSelector"] = json!({"matchLabels": {"env": "prod"}});
    held(world.post(&wide, &chosen).await, "are in no namespace");
}
