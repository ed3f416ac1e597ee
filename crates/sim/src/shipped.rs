//! What does a cluster hold on which the product was installed? Its admission policies, byte for byte as they are shipped, and the accounts
//! that they know.
//!
//! GATE-7: so that what people try here is what they get: the server refuses a stranger's order, and so does nobody else.

use api::names::PROBE;
use apiserver::{Server, Workloads};
use http::Method;
use runtime::path::{ADMISSION_BINDING, ADMISSION_POLICY, NAMESPACE, Resource};
use serde_json::Value;

use crate::{control_plane::plan::Follows, mirror::text, stock::Refused};

/// Who the operator is to the server.
pub(crate) const OPERATOR: &str = "system:serviceaccount:tidegate-system:tidegate";

/// Who every agent is to the server. Which node it is on stands in its token.
pub(crate) const AGENT: &str = "system:serviceaccount:tidegate-system:tidegate-agent";

/// The groups of every account in the namespace of the product.
pub(crate) const ACCOUNTS: &[&str] =
    &["system:serviceaccounts", "system:serviceaccounts:tidegate-system", "system:authenticated"];

const BY_MARKS: &[Follows] = &[Follows::Marks];
const STOCK: &[Follows] = &[Follows::Wishes];
const ON_BOTH: &[Follows] = &[Follows::Marks, Follows::Wishes];

/// What is installed where whoever installs releases follows this. The policy that queues is a mutating one, which the server here has none of (CV-6).
const MANIFESTS: &[(&[Follows], &str, &str)] = &[
    (
        BY_MARKS,
        "deploy/manifests/manage-pools/manage-pools.yaml",
        include_str!("../../../deploy/manifests/manage-pools/manage-pools.yaml"),
    ),
    (
        BY_MARKS,
        "deploy/manifests/manage-pools/reports.yaml",
        include_str!("../../../deploy/manifests/manage-pools/reports.yaml"),
    ),
    (
        ON_BOTH,
        "deploy/manifests/change-gates/change-gates.yaml",
        include_str!("../../../deploy/manifests/change-gates/change-gates.yaml"),
    ),
    (
        BY_MARKS,
        "deploy/manifests/node-freezes/node-freezes.yaml",
        include_str!("../../../deploy/manifests/node-freezes/node-freezes.yaml"),
    ),
    (
        BY_MARKS,
        "deploy/manifests/manage-updates/manage-updates.yaml",
        include_str!("../../../deploy/manifests/manage-updates/manage-updates.yaml"),
    ),
    (
        BY_MARKS,
        "deploy/manifests/update-freezes/update-freezes.yaml",
        include_str!("../../../deploy/manifests/update-freezes/update-freezes.yaml"),
    ),
    (
        BY_MARKS,
        "deploy/manifests/manage-hosted/manage-hosted.yaml",
        include_str!("../../../deploy/manifests/manage-hosted/manage-hosted.yaml"),
    ),
    (
        BY_MARKS,
        "deploy/manifests/hosted-freezes/hosted-freezes.yaml",
        include_str!("../../../deploy/manifests/hosted-freezes/hosted-freezes.yaml"),
    ),
    (
        BY_MARKS,
        "deploy/manifests/agent/agent.yaml",
        include_str!("../../../deploy/manifests/agent/agent.yaml"),
    ),
    (
        STOCK,
        "deploy/manifests/queued-updates/queued-updates.yaml",
        include_str!("../../../deploy/manifests/queued-updates/queued-updates.yaml"),
    ),
    (
        STOCK,
        "deploy/manifests/control-plane-nodes/control-plane-nodes.yaml",
        include_str!("../../../deploy/manifests/control-plane-nodes/control-plane-nodes.yaml"),
    ),
];

/// What stands in the namespace in which is tried whether the server refuses what gates hold (GATE-13).
const PROBED: &[Resource<'_>] =
    &[NAMESPACE, Resource::new("apps/v1", "StatefulSet"), Resource::new("apps/v1", "DaemonSet")];

/// Lets the server refuse what it refuses where the product was installed. One of the same name that came with somebody's own objects is
/// replaced: it is of another release, perhaps.
pub(crate) fn install(
    server: &Server,
    workloads: Workloads,
    follows: Follows,
) -> Result<(), Refused> {
    let installed = MANIFESTS.iter().filter(|(on, ..)| on.contains(&follows));
    for (_, origin, manifest) in installed {
        let refused = |object: &str, message: String| Refused {
            origin: (*origin).into(),
            object: object.into(),
            message,
        };
        let documents: Vec<Value> = serde_saphyr::from_multiple(manifest)
            .map_err(|error| refused("the manifest", error.to_string()))?;
        for document in documents {
            let (kind, name) = (text(&document, "/kind"), text(&document, "/metadata/name"));
            let policies = [ADMISSION_POLICY, ADMISSION_BINDING];
            // All that is tried is called alike, and so is where that is.
            let probed = PROBED.iter().filter(|_| workloads == Workloads::Served && name == PROBE);
            let mut known = policies.iter().chain(probed);
            let Some(known) = known.find(|known| known.kind() == kind) else {
                continue;
            };
            // CV-6: where updates begin by marks the chart renders nothing of the room that holds wishes of a stock OpenShift.
            let of_stock = name.trim_end_matches("-warn").ends_with("-cluster-version");
            if of_stock && follows == Follows::Marks {
                continue;
            }
            let namespace = text(&document, "/metadata/namespace");
            let path =
                known.object(Some(namespace).filter(|namespace| !namespace.is_empty()), name);
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
        let manifests: String = MANIFESTS.iter().map(|(.., manifest)| *manifest).collect();
        for known in [OPERATOR, AGENT] {
            assert!(manifests.contains(&format!("'{known}'")), "{known}");
        }
    }
}
