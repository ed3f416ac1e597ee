//! What does a cluster hold on which the product was installed? Its admission policies, byte for byte as they are shipped, and the accounts
//! that they know.
//!
//! GATE-7: so that what people try here is what they get: the server refuses a stranger's order, and so does nobody else.

use apiserver::Server;
use http::Method;
use runtime::path::{ADMISSION_BINDING, ADMISSION_POLICY};
use serde_json::Value;

use crate::{mirror::text, stock::Refused};

/// Who the operator is to the server.
pub(crate) const OPERATOR: &str = "system:serviceaccount:tidegate-system:tidegate";

/// Who every agent is to the server. Which node it is on stands in its token.
pub(crate) const AGENT: &str = "system:serviceaccount:tidegate-system:tidegate-agent";

/// The groups of every account in the namespace of the product.
pub(crate) const ACCOUNTS: &[&str] =
    &["system:serviceaccounts", "system:serviceaccounts:tidegate-system", "system:authenticated"];

const MANIFESTS: &[(&str, &str)] = &[
    (
        "deploy/manifests/manage-pools/manage-pools.yaml",
        include_str!("../../../deploy/manifests/manage-pools/manage-pools.yaml"),
    ),
    (
        "deploy/manifests/manage-pools/reports.yaml",
        include_str!("../../../deploy/manifests/manage-pools/reports.yaml"),
    ),
    (
        "deploy/manifests/change-gates/change-gates.yaml",
        include_str!("../../../deploy/manifests/change-gates/change-gates.yaml"),
    ),
    (
        "deploy/manifests/node-freezes/node-freezes.yaml",
        include_str!("../../../deploy/manifests/node-freezes/node-freezes.yaml"),
    ),
    (
        "deploy/manifests/manage-updates/manage-updates.yaml",
        include_str!("../../../deploy/manifests/manage-updates/manage-updates.yaml"),
    ),
    (
        "deploy/manifests/update-freezes/update-freezes.yaml",
        include_str!("../../../deploy/manifests/update-freezes/update-freezes.yaml"),
    ),
    (
        "deploy/manifests/manage-hosted/manage-hosted.yaml",
        include_str!("../../../deploy/manifests/manage-hosted/manage-hosted.yaml"),
    ),
    (
        "deploy/manifests/hosted-freezes/hosted-freezes.yaml",
        include_str!("../../../deploy/manifests/hosted-freezes/hosted-freezes.yaml"),
    ),
    (
        "deploy/manifests/agent/agent.yaml",
        include_str!("../../../deploy/manifests/agent/agent.yaml"),
    ),
];

/// Lets the server refuse what it refuses where the product was installed. One of the same name that came with somebody's own objects is
/// replaced: it is of another release, perhaps.
pub(crate) fn install(server: &Server) -> Result<(), Refused> {
    for (origin, manifest) in MANIFESTS {
        let refused = |object: &str, message: String| Refused {
            origin: (*origin).into(),
            object: object.into(),
            message,
        };
        let documents: Vec<Value> = serde_saphyr::from_multiple(manifest)
            .map_err(|error| refused("the manifest", error.to_string()))?;
        for document in documents {
            let known = [ADMISSION_POLICY, ADMISSION_BINDING];
            let kind = text(&document, "/kind");
            let Some(known) = known.into_iter().find(|known| known.kind() == kind) else {
                continue;
            };
            let name = text(&document, "/metadata/name");
            // CV-6: here updates begin by marks, and then the chart renders nothing of the room that holds wishes of a stock OpenShift.
            if name.trim_end_matches("-warn").ends_with("-cluster-version") {
                continue;
            }
            let path = known.object(None, name);
            let path = format!("{path}?fieldManager=tidegate-sandbox&force=true");
            let body = document.to_string();
            let content = "application/apply-patch+yaml";
            let (code, answer) = server.ask(Method::PATCH, &path, content, body.as_bytes());
            if code >= 300 {
                return Err(refused(name, String::from_utf8_lossy(&answer).into_owned()));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An operator or an agent under another name would be a stranger.
    #[test]
    fn the_policies_know_the_accounts_that_are_used_here() {
        let manifests: String = MANIFESTS.iter().map(|(_, manifest)| *manifest).collect();
        for known in [OPERATOR, AGENT] {
            assert!(manifests.contains(&format!("'{known}'")), "{known}");
        }
    }
}
