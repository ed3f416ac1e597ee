//! What does the server itself refuse? Every admission policy that is shipped, read from the manifests, with its binding.

use std::{
    path::{Path, PathBuf},
    sync::LazyLock,
};

use serde_json::Value;
use tidy::Tree;

const POLICIES: &str = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies";
const BINDINGS: &str = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings";

/// Each policy and binding, once, with the collection that it is created in.
pub(crate) fn admission() -> Vec<(&'static str, Value)> {
    static READ: LazyLock<Vec<(&'static str, Value)>> = LazyLock::new(read);
    READ.clone()
}

fn read() -> Vec<(&'static str, Value)> {
    let mut files = Vec::new();
    files_below(&Tree::top().join("deploy/manifests"), &mut files);
    files.sort();
    let mut found: Vec<(&'static str, Value)> = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        let documents: Vec<Value> = serde_saphyr::from_multiple(&text).unwrap();
        for document in documents {
            let collection = match document["kind"].as_str() {
                Some("ValidatingAdmissionPolicy") => POLICIES,
                Some("ValidatingAdmissionPolicyBinding") => BINDINGS,
                _ => continue,
            };
            // Where updates begin by marks the chart renders nothing of what holds wishes of a stock OpenShift, its nodes, and a stock HyperShift (CV-2, CV-6,
            // HOST-1).
            let name = document["metadata"]["name"].as_str().unwrap_or_default();
            let stock =
                ["-cluster-version", "-control-plane-nodes", "-hosted-clusters", "-node-pools"];
            if stock.iter().any(|end| name.trim_end_matches("-warn").ends_with(end)) {
                continue;
            }
            // A file that repeats what another has ships it once.
            let is_known = found.iter().any(|(known, one)| {
                *known == collection && one["metadata"]["name"] == document["metadata"]["name"]
            });
            if !is_known {
                found.push((collection, document));
            }
        }
    }
    assert!(found.len() > 3, "the admission policies are shipped in deploy/manifests");
    found
}

fn files_below(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files_below(&path, files);
        } else if path.extension().is_some_and(|end| end == "yaml") {
            files.push(path);
        }
    }
}
