//! What lets the API server itself refuse marks without a live permit (GATE-7)? The policy and its binding, as they are shipped.

use serde_json::Value;

use crate::Tree;

/// Each of the shipped admission objects, with the collection that it is created in.
///
/// # Panics
///
/// If what is shipped cannot be read: then there is nothing to test.
pub fn shipped() -> Vec<(&'static str, Value)> {
    let path = Tree::top().join("deploy/manifests/manage-pools/manage-pools.yaml");
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
            _ => return None,
        };
        Some((collection, document))
    };
    let found: Vec<_> = documents.into_iter().filter_map(collected).collect();
    assert!(!found.is_empty(), "no admission policy is shipped");
    found
}
