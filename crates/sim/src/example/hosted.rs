//! What does a cluster look like that hosts others? Two teams, each with a namespace, policies, a hosted cluster and pools of nodes; the policies have
//! the same names, and neither reaches the other (GATE-5).

use schedule::Instant;
use serde_json::{Value, json};

use super::{AGE, installed_at};
use crate::stock::Item;

/// The release that everything has, and the one that is asked for.
const OLD: &str = "4.20.6";
const NEW: &str = "4.20.10";

/// The API of hosted clusters.
const API: &str = "hypershift.openshift.io/v1beta1";

/// Both teams, with what they have.
pub fn objects(at: Instant) -> Vec<Item> {
    let all = [
        namespace("team-checkout"),
        policy("team-checkout", "control-planes", &[], "22:00", "4h"),
        policy("team-checkout", "nodes", &["Saturday"], "00:00", "8h"),
        cluster("team-checkout", "shop"),
        pool("team-checkout", "shop", "workers", 3, "RollingUpdate"),
        pool("team-checkout", "shop", "batch", 2, "OnDelete"),
        namespace("team-ledger"),
        policy("team-ledger", "control-planes", &["Sunday"], "02:00", "4h"),
        policy("team-ledger", "nodes", &["Sunday"], "08:00", "8h"),
        cluster("team-ledger", "books"),
        pool("team-ledger", "books", "workers", 3, "RollingUpdate"),
    ];
    installed_at(at.saturating_add(-AGE), all.into_iter())
}

/// What somebody asks for: another release of everything but the nodes of the second team.
pub fn asked() -> Vec<Value> {
    let asked = |kind: &str, namespace: &str, name: &str| {
        json!({"apiVersion": API, "kind": kind, "metadata": {"namespace": namespace, "name": name},
            "spec": {"release": {"image": image(NEW)}}})
    };
    vec![
        asked("HostedCluster", "team-checkout", "shop"),
        asked("NodePool", "team-checkout", "workers"),
        asked("NodePool", "team-checkout", "batch"),
        asked("HostedCluster", "team-ledger", "books"),
    ]
}

/// A release by digest, with its version beside it, because no graph of updates is asked here.
fn image(version: &str) -> String {
    let digits = version.bytes().fold(String::new(), |digits, byte| format!("{digits}{byte:02x}"));
    format!("registry.example.com/release:{version}@sha256:{digits:0<64}")
}

fn namespace(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
}

/// No days are all days.
fn policy(namespace: &str, name: &str, days: &[&str], start: &str, length: &str) -> Value {
    let mut permit = json!({"startTime": start, "duration": length});
    if !days.is_empty() {
        permit["recurrence"] = json!({"frequency": "Weekly", "weekly": {"daysOfWeek": days}});
    }
    json!({"apiVersion": api::names::API_VERSION, "kind": api::names::HOSTED_CHANGE_MANAGEMENT_POLICY,
        "metadata": {"namespace": namespace, "name": name},
        "spec": {"strategy": "MaintenanceSchedule", "maintenanceSchedule": {"permit": permit}}})
}

fn stanza(policy: &str) -> Value {
    json!({"strategy": "ByPolicy", "byPolicy": {"name": policy}})
}

fn cluster(namespace: &str, name: &str) -> Value {
    json!({"apiVersion": API, "kind": "HostedCluster", "metadata": {"namespace": namespace, "name": name},
        "spec": {"release": {"image": image(OLD)}, "changeManagement": stanza("control-planes")}})
}

fn pool(namespace: &str, cluster: &str, name: &str, replicas: u32, strategy: &str) -> Value {
    json!({"apiVersion": API, "kind": "NodePool", "metadata": {"namespace": namespace, "name": name},
        "spec": {"clusterName": cluster, "replicas": replicas, "release": {"image": image(OLD)},
            "management": {"upgradeType": "Replace", "replace": {"strategy": strategy}},
            "changeManagement": stanza("nodes")}})
}
