//! What does whoever runs hosted clusters do next? Decided from what the cluster holds and an instant, and from nothing else.
//!
//! As `HyperShift` does, but it knows us: a release reaches a hosted control plane by its mark alone (HOST-1), and a template reaches
//! `MachineDeployments` when the mark of the pool names the very hash that would be handed over (HOST-3). And it does better than the
//! stock one in one thing, and says so: user data stays while any set or deployment names it, so that a held pool goes on to scale and heal.

use std::ops::Range;

use schedule::Instant;
use serde_json::{Value, json};
use tidegate_core::{
    hosted::{
        hash::{self, Parts},
        pool::{CURRENT, SeenNodePool},
    },
    release::{SeenPlane, of::pulled},
};

use crate::{lengths::Lengths, machine_api::plan::is_complete, mirror::text};

/// How long a hosted control plane takes to be updated.
const UPDATE: Range<i64> = 1_200..2_400;

/// What it does about a hosted control plane: a merge patch of the status, and when it looks again by itself.
pub fn cluster(
    document: &Value,
    now: Instant,
    lengths: &Lengths,
) -> (Option<Value>, Option<Instant>) {
    let plane = SeenPlane::hosted(document);
    let version = &document["metadata"]["resourceVersion"];
    let patch = |desired: Value, history: Value| {
        Some(json!({"metadata": {"resourceVersion": version},
            "status": {"version": {"desired": desired, "history": history}}}))
    };
    let mut history = document.pointer("/status/version/history").cloned().unwrap_or(json!([]));
    let entry = |version: &str, image: &str, state: &str| {
        json!({"state": state, "version": version, "image": image, "startedTime": now.to_string(),
            "completionTime": (state == "Completed").then(|| now.to_string()), "verified": true})
    };
    if plane.history.is_empty() {
        // It is created with what is wanted, which nobody holds.
        let asked = pulled(text(document, "/spec/release/image"));
        let named = json!({"version": asked.version, "image": asked.image});
        return (patch(named, json!([entry(&asked.version, &asked.image, "Completed")])), None);
    }
    if let Some(mark) = plane.open_mark() {
        let release = &mark.release;
        if let Some(first) = history.get_mut(0).filter(|first| first["completionTime"].is_null()) {
            first["completionTime"] = json!(now.to_string());
        }
        let Some(entries) = history.as_array_mut() else { return (None, None) };
        entries.insert(0, entry(&release.version, &release.image, "Partial"));
        let named = json!({"version": release.version, "image": release.image});
        return (patch(named, history), None);
    }
    let newest = &plane.history[0];
    if text(document, "/status/version/history/0/state") != "Partial" {
        return (None, None);
    }
    let Ok(started) = Instant::parse(&newest.started) else { return (None, None) };
    let due = started.saturating_add(lengths.draw(&UPDATE, newest.release.name()));
    if now < due {
        return (None, Some(due));
    }
    history[0]["state"] = json!("Completed");
    history[0]["completionTime"] = json!(now.to_string());
    (patch(document["status"]["version"]["desired"].clone(), history), None)
}

/// What it looks at beside a pool.
#[derive(Clone, Copy, Debug)]
pub struct Around<'a> {
    /// Its hosted cluster.
    pub host: &'a Value,
    /// The configurations that it names, in its order; none if one is missing.
    pub configs: Option<&'a [Value]>,
    /// What was handed over to Cluster API, if anything was.
    pub deployment: Option<&'a Value>,
}

/// What it does about a pool.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// The user data that must be there, by name.
    pub secret: Option<String>,
    /// The deployment, to be made.
    pub create: Option<Value>,
    /// A merge patch of the deployment: how many, within which limits, and the hand-over.
    pub patch: Option<Value>,
    /// Annotations of the pool, as a merge patch.
    pub noted: Option<Value>,
    /// The status of the pool, as a merge patch.
    pub status: Option<Value>,
}

/// What is to be done next about a pool whose nodes are replaced.
pub fn pool(document: &Value, around: Around<'_>) -> Plan {
    let pool = SeenNodePool::new(document);
    let Some(target) = wanted(&pool, around) else { return Plan::default() };
    let name = text(document, "/metadata/name");
    let secret = |config: &str| format!("user-data-{name}-{config}");
    let has = around
        .deployment
        .map(|deployment| text(deployment, "/spec/template/spec/bootstrap/dataSecretName"));
    let has = has.and_then(|named| named.strip_prefix(&format!("user-data-{name}-")));
    let version = |image: &str| pulled(image).version;
    let wanted_version = {
        let own = version(text(document, "/spec/release/image"));
        if own.is_empty() {
            pool.pin.as_ref().map(|pin| pin.release.version.clone()).unwrap_or_default()
        } else {
            own
        }
    };
    let Some((deployment, has)) = around.deployment.zip(has) else {
        // It is created with what is wanted.
        return Plan {
            secret: Some(secret(&target)),
            create: Some(deployment(document, name, &secret(&target), &wanted_version)),
            ..Plan::default()
        };
    };
    // Handed over is what the mark names, if it is what would be handed over; else what was before.
    let marked = pool.mark.as_ref().filter(|mark| mark.after == pool.current);
    let handed = marked.filter(|mark| mark.target.config == target && has != target);
    let (config, release) = match handed {
        Some(mark) => (mark.target.config.as_str(), mark.target.release.version.as_str()),
        None => (has, text(deployment, "/spec/template/spec/version")),
    };
    let mut change =
        json!({"spec": {"replicas": document["spec"]["replicas"], "strategy": strategy(document)}});
    let differs =
        |field: &str| deployment["spec"]["strategy"][field] != change["spec"]["strategy"][field];
    let scaled = deployment["spec"]["replicas"] != document["spec"]["replicas"]
        || differs("type")
        || differs("rollingUpdate");
    if handed.is_some() {
        change["spec"]["template"] = template(&secret(config), release);
    }
    let mut plan = Plan {
        secret: Some(secret(config)),
        patch: (scaled || handed.is_some()).then_some(change),
        ..Plan::default()
    };
    if plan.patch.is_none() && is_complete(deployment) && pool.current != config {
        plan.noted =
            Some(json!({"metadata": {"resourceVersion": document["metadata"]["resourceVersion"],
            "annotations": {CURRENT: config}}}));
    }
    if plan.patch.is_none()
        && is_complete(deployment)
        && pool.version != release
        && !release.is_empty()
    {
        plan.status = Some(json!({"status": {"version": release}}));
    }
    plan
}

/// The hash that would be handed over.
pub fn wanted(pool: &SeenNodePool, around: Around<'_>) -> Option<String> {
    let texts: Option<Vec<String>> = around.configs?.iter().map(hash::text).collect();
    let texts = texts?;
    let configs: Vec<&str> = texts.iter().map(String::as_str).collect();
    let global = hash::global(around.host);
    let parts =
        Parts { release: &pool.release.image, own: &pool.own, global: &global, configs: &configs };
    Some(hash::hash(&parts))
}

fn template(secret: &str, version: &str) -> Value {
    json!({"spec": {"version": version, "bootstrap": {"dataSecretName": secret}}})
}

fn strategy(pool: &Value) -> Value {
    let replace = pool.pointer("/spec/management/replace").cloned().unwrap_or_default();
    if text(&replace, "/strategy") == "OnDelete" {
        // It has no limits, and none that it had before.
        return json!({"type": "OnDelete", "rollingUpdate": null});
    }
    let limit = |name: &str, otherwise: i64| {
        let limit = replace.pointer(&format!("/rollingUpdate/{name}")).cloned();
        limit.unwrap_or(json!(otherwise))
    };
    json!({"type": "RollingUpdate", "rollingUpdate":
        {"maxSurge": limit("maxSurge", 1), "maxUnavailable": limit("maxUnavailable", 0)}})
}

fn deployment(pool: &Value, name: &str, secret: &str, version: &str) -> Value {
    let namespace = text(pool, "/metadata/namespace");
    let cluster = text(pool, "/spec/clusterName");
    json!({"apiVersion": "cluster.x-k8s.io/v1beta1", "kind": "MachineDeployment",
        "metadata": {"name": name, "namespace": format!("{namespace}-{}", cluster.replace('.', "-")),
            "annotations": {"hypershift.openshift.io/nodePool": format!("{namespace}/{name}")}},
        "spec": {"clusterName": cluster, "replicas": pool["spec"]["replicas"], "strategy": strategy(pool),
            "template": template(secret, version)}})
}

#[cfg(test)]
mod tests;
