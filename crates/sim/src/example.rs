//! What does a cluster look like that somebody could have? Three masters, twelve workers in three zones, two pools of their own, a
//! release, workloads, budgets, stanzas that hold something, and a gate on what somebody else rolls out.
//!
//! One budget allows nothing: that of the ledger, whose only pod runs on a node of the pool `batch`, and so that pool cannot finish
//! until somebody deals with it. All other pools roll.

pub mod hosted;
mod nodes;
mod pools;
mod workloads;

use schedule::Instant;
use serde_json::{Value, json};

use crate::stock::Item;

/// How long before the sandbox starts its cluster was installed.
const AGE: i64 = 200 * 86_400;

/// The whole cluster as it is at an instant. `policies` are the names of policies that are there; pools take what suits them.
pub fn objects(at: Instant, policies: &[String]) -> Vec<Item> {
    let installed = at.saturating_add(-AGE);
    let all = pools::cluster_version(installed, policies)
        .into_iter()
        .chain(pools::pools(policies))
        .chain(pools::configs())
        .chain(nodes::nodes())
        .chain(workloads::workloads());
    installed_at(installed, all)
}

/// What its pods belong to, and a gate on the rollouts of the shop, behind which one waits: for [`crate::Settings::with_workloads`].
pub fn owners(at: Instant, policies: &[String]) -> Vec<Item> {
    installed_at(at.saturating_add(-AGE), workloads::owners(policies).into_iter())
}

fn installed_at(installed: Instant, all: impl Iterator<Item = Value>) -> Vec<Item> {
    let origin = || "the example".to_owned();
    all.enumerate()
        .map(|(number, mut object)| {
            // One after the other, as an installer makes them.
            let made = installed.saturating_add(60 * number as i64);
            object["metadata"]["creationTimestamp"] = json!(made.to_string());
            Item { origin: origin(), object }
        })
        .collect()
}

/// The label of a role.
fn role(name: &str) -> String {
    format!("node-role.kubernetes.io/{name}")
}

/// The policy of this name, or else the first that is there.
fn policy<'a>(wanted: &str, policies: &'a [String]) -> Option<&'a str> {
    let found = policies.iter().find(|name| *name == wanted).or_else(|| policies.first());
    found.map(String::as_str)
}

/// The stanza that names a policy; null if there is none to name.
fn stanza(wanted: &str, policies: &[String]) -> Value {
    policy(wanted, policies)
        .map_or(Value::Null, |name| json!({"strategy": "ByPolicy", "byPolicy": {"name": name}}))
}
