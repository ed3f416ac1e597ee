//! Which release and configuration would the nodes of a pool get? One hash over everything that makes a node another one (HOST-1).
//!
//! It is a pure function, so that whoever lets a hand-over begin and whoever carries it out speak of the same: what was let begin is handed
//! over, and nothing that came later. How many nodes there are, their labels, taints and time limits count for nothing: they change no node that is there.

use serde::Serialize;
use serde_json::{Value, json};

use crate::pool::digest::digest;

/// What a hash is made of.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Parts<'a> {
    /// The image of the release.
    pub release: &'a str,
    /// What the pool itself says of its nodes: platform, architecture, stream of the operating system.
    pub own: &'a str,
    /// What its hosted cluster says of all nodes: names of the pull secret and of the trust bundle, proxy and image configuration.
    pub global: &'a str,
    /// The configurations that the pool names, in its order, each by the digest of its text.
    pub configs: &'a [&'a str],
}

/// The hash.
pub fn hash(parts: &Parts<'_>) -> String {
    digest(parts).text
}

/// What a `NodePool` itself says of its nodes, as a digest.
pub fn own(pool: &Value) -> String {
    let field = |path: &str| pool.pointer(path).cloned().unwrap_or_default();
    let fields = ["/spec/platform", "/spec/arch", "/spec/osImageStream"];
    digest(&json!(fields.map(field))).text
}

/// What a `HostedCluster` says of all nodes, as a digest.
pub fn global(cluster: &Value) -> String {
    let field = |path: &str| cluster.pointer(path).cloned().unwrap_or_default();
    let fields = [
        "/spec/pullSecret/name",
        "/spec/additionalTrustBundle/name",
        "/spec/configuration/proxy",
        "/spec/configuration/image",
    ];
    digest(&json!(fields.map(field))).text
}

/// What a `ConfigMap` holds for nodes, as a digest; none if it holds nothing for them.
pub fn text(map: &Value) -> Option<String> {
    Some(digest(&map.pointer("/data/config")?.as_str()?).text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hashed(pool: &Value, cluster: &Value, configs: &[&str]) -> String {
        let release = pool["spec"]["release"]["image"].as_str().unwrap_or_default();
        let (own, global) = (own(pool), global(cluster));
        hash(&Parts { release, own: &own, global: &global, configs })
    }

    /// HOST-1, GATE-8: what makes another node is in it, and scaling is not.
    #[test]
    fn whatever_makes_another_node_makes_another_hash_and_nothing_else_does() {
        let pool = json!({"spec": {"release": {"image": "r@sha256:0"}, "replicas": 3, "platform": {"type": "KubeVirt"}}});
        let cluster =
            json!({"spec": {"pullSecret": {"name": "pull"}, "release": {"image": "c@sha256:0"}}});
        let before = hashed(&pool, &cluster, &["a", "b"]);
        assert_eq!(before.len(), 32);
        for (path, value, differs) in [
            ("/spec/release/image", json!("r@sha256:1"), true),
            ("/spec/platform/type", json!("AWS"), true),
            ("/spec/replicas", json!(7), false),
        ] {
            let mut other = pool.clone();
            *other.pointer_mut(path).unwrap() = value;
            assert_eq!(hashed(&other, &cluster, &["a", "b"]) != before, differs, "{path}");
        }
        for (path, value, differs) in [
            ("/spec/pullSecret/name", json!("another"), true),
            // Its control plane is another change.
            ("/spec/release/image", json!("c@sha256:1"), false),
        ] {
            let mut other = cluster.clone();
            *other.pointer_mut(path).unwrap() = value;
            assert_eq!(hashed(&pool, &other, &["a", "b"]) != before, differs, "{path}");
        }
        for configs in [&["a"][..], &["b", "a"], &["a", "c"], &["ab"], &[]] {
            assert_ne!(hashed(&pool, &cluster, configs), before, "{configs:?}");
        }
        for added in [
            "nodeLabels",
            "taints",
            "nodeDrainTimeout",
            "autoScaling",
            "pausedUntil",
            "changeManagement",
            "versionManagement",
        ] {
            let mut other = pool.clone();
            other["spec"][added] = json!({"a": 1});
            assert_eq!(hashed(&other, &cluster, &["a", "b"]), before, "{added}");
        }
    }

    #[test]
    fn a_config_map_counts_by_its_text_alone() {
        let map = |text: &str| json!({"metadata": {"resourceVersion": text}, "data": {"config": "x", "other": text}});
        assert_eq!(text(&map("1")), text(&map("2")));
        assert_ne!(text(&map("1")), text(&json!({"data": {"config": "y"}})));
        assert_eq!(text(&json!({"data": {}})), None);
    }
}
