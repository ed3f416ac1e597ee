//! What lets the API server itself refuse marks without a live permit (GATE-7), and records by anybody but the operator (GATE-16)? The
//! policies and their bindings, as they are shipped.

use serde_json::Value;

use crate::Tree;

/// Each of the shipped admission objects for pools that the operator manages, with the collection that it is created in.
///
/// # Panics
///
/// If what is shipped cannot be read: then there is nothing to test.
pub fn shipped() -> Vec<(&'static str, Value)> {
    admission("deploy/manifests/manage-pools/manage-pools.yaml")
}

/// The same for updates of the control plane that the operator lets begin (CV-4).
///
/// # Panics
///
/// As [`shipped`].
pub fn shipped_for_updates() -> Vec<(&'static str, Value)> {
    admission("deploy/manifests/manage-updates/manage-updates.yaml")
}

/// The same for changes of hosted clusters that the operator lets begin (HOST-1).
///
/// # Panics
///
/// As [`shipped`].
pub fn shipped_for_hosted() -> Vec<(&'static str, Value)> {
    admission("deploy/manifests/manage-hosted/manage-hosted.yaml")
}

/// The same for what agents may write, and who else may not speak for a machine (NODE-3).
///
/// # Panics
///
/// As [`shipped`].
pub fn shipped_for_agents() -> Vec<(&'static str, Value)> {
    let mut found = admission("deploy/manifests/agent/agent.yaml");
    found.extend(admission("deploy/manifests/manage-pools/reports.yaml"));
    found
}

/// The admission objects of a manifest, each with the collection that it is created in.
///
/// # Panics
///
/// As [`shipped`].
pub fn admission(manifest: &str) -> Vec<(&'static str, Value)> {
    let path = Tree::top().join(manifest);
    let text = std::fs::read_to_string(path).expect("the manifests are in the repository");
    let documents: Vec<Value> = serde_saphyr::from_multiple(&text)
        .expect("the manifests are checked when they are rendered");
    let collected = |document: Value| {
        let collection = match document["kind"].as_str() {
            Some("ValidatingAdmissionPolicy") => {
                "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies"
            }
            Some("ValidatingAdmissionPolicyBinding") => {
                "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings"
            }
            Some("MutatingAdmissionPolicy") => {
                "/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicies"
            }
            Some("MutatingAdmissionPolicyBinding") => {
                "/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicybindings"
            }
            _ => return None,
        };
        Some((collection, document))
    };
    let found: Vec<_> = documents.into_iter().filter_map(collected).collect();
    assert!(!found.is_empty(), "no admission policy is shipped in {manifest}");
    found
}
