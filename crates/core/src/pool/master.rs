//! What is special about the nodes of the control plane?
//!
//! - CV-2: their pool has the stanza of `ClusterVersion`, whatever anybody writes into it.
//! - Nodes that only vote wait for the masters, and masters for them, so that never two kinds of voters are away together.

use api::machine::names::{ARBITER, MASTER};
use serde_json::{Value, json};

use super::seen::SeenNode;
use crate::policy::stanza::SPELLINGS;

/// A JSON patch that gives the master pool the stanza of `ClusterVersion`, in whichever spelling that is; none if it has it.
pub fn follow(cluster_version: &Value, pool: &Value) -> Option<Vec<Value>> {
    let changes: Vec<Value> = SPELLINGS
        .into_iter()
        .filter_map(|field| {
            let path = format!("/spec/{field}");
            let stanza =
                |document: &Value| document.pointer(&path).filter(|part| !part.is_null()).cloned();
            match (stanza(cluster_version), stanza(pool)) {
                (wanted, found) if wanted == found => None,
                (Some(wanted), _) => Some(json!({"op": "add", "path": path, "value": wanted})),
                (None, _) => Some(json!({"op": "remove", "path": path})),
            }
        })
        .collect();
    if changes.is_empty() {
        return None;
    }
    let version = pool.pointer("/metadata/resourceVersion").cloned().unwrap_or_default();
    let version = json!({"op": "replace", "path": "/metadata/resourceVersion", "value": version});
    Some(std::iter::once(version).chain(changes).collect())
}

/// The pool that a pool must wait for before it begins a node, if any. `target` is where the masters go.
pub fn waits_for(
    pool: &str,
    masters: &[&SeenNode],
    arbiters: &[&SeenNode],
    target: Option<&str>,
) -> Option<&'static str> {
    let away = |nodes: &[&SeenNode]| nodes.iter().any(|node| node.is_unavailable());
    let behind = masters.iter().any(|node| Some(node.desired.as_str()) != target);
    match pool {
        ARBITER if away(masters) || behind => Some(MASTER),
        MASTER if away(arbiters) => Some(ARBITER),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CV-2
    #[test]
    fn master_pool_gets_the_stanza_of_the_cluster_version() {
        let version = |stanza: Value| json!({"spec": {"changeManagement": stanza}});
        let pool = |stanza: Value| json!({"metadata": {"resourceVersion": "7"}, "spec": {"changeManagement": stanza}});
        let nights = json!({"strategy": "ByPolicy", "byPolicy": {"name": "nights"}});
        assert_eq!(follow(&version(nights.clone()), &pool(nights.clone())), None);
        assert_eq!(follow(&json!({"spec": {}}), &json!({"spec": {}})), None);
        let patch =
            follow(&version(nights.clone()), &pool(json!({"strategy": "Permissive"}))).unwrap();
        assert_eq!(patch[0]["value"], "7");
        assert_eq!(
            patch[1],
            json!({"op": "add", "path": "/spec/changeManagement", "value": nights})
        );
        let patch = follow(&json!({"spec": {}}), &pool(nights)).unwrap();
        assert_eq!(patch[1], json!({"op": "remove", "path": "/spec/changeManagement"}));
        // D4-1: one spelling gives way to the other in one write.
        let older = json!({"spec": {"versionManagement": {"pausedUntil": true}}});
        let patch = follow(&older, &pool(json!({"strategy": "Permissive"}))).unwrap();
        assert_eq!(patch[1], json!({"op": "remove", "path": "/spec/changeManagement"}));
        assert_eq!(
            patch[2],
            json!({"op": "add", "path": "/spec/versionManagement", "value": {"pausedUntil": true}})
        );
    }

    #[test]
    fn voters_of_two_kinds_are_never_away_together() {
        let node = |current: &str, desired: &str| {
            use api::machine::names::{CURRENT_CONFIG, DESIRED_CONFIG, STATE};
            SeenNode::new(&json!({"metadata": {"annotations": {
                CURRENT_CONFIG: current, DESIRED_CONFIG: desired, STATE: "Done"}}}))
        };
        let (old, moving, new) = (node("a", "a"), node("a", "b"), node("b", "b"));
        let check = |pool, master: &SeenNode, arbiter: &SeenNode, expected| {
            assert_eq!(waits_for(pool, &[master], &[arbiter], Some("b")), expected);
        };
        check(ARBITER, &old, &old, Some(MASTER));
        check(ARBITER, &moving, &old, Some(MASTER));
        check(ARBITER, &new, &old, None);
        check(MASTER, &old, &moving, Some(ARBITER));
        check(MASTER, &old, &old, None);
        check("worker", &moving, &moving, None);
    }
}
