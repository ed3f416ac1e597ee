//! Who talks to the cluster, and what may they do?
//!
//! The administrator may do everything. The ordinary editor holds the rights of the role `edit` that every cluster has. Operator and agent begin
//! with read access alone: a suite that lets them write binds the roles under test, so that a missing right is seen.

use k8s_openapi::api::{core::v1::ConfigMap, rbac::v1::ClusterRoleBinding};
use kube::{
    Api, Client,
    api::{ListParams, Patch, PatchParams},
};
use serde_json::json;

use crate::cluster::Cluster;

/// A user of the cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum User {
    /// May do everything.
    Admin,
    /// The operator of the cluster's changes.
    Operator,
    /// The agent on a node.
    Agent,
    /// Somebody with ordinary rights in namespaces.
    Editor,
}

impl User {
    /// Every user.
    pub const ALL: [User; 4] = [User::Admin, User::Operator, User::Agent, User::Editor];

    /// The name the server knows the user by.
    pub fn name(self) -> &'static str {
        match self {
            User::Admin => "admin",
            User::Operator => "operator",
            User::Agent => "agent",
            User::Editor => "editor",
        }
    }

    /// The groups the user is in, beside those of every user.
    pub(crate) fn groups(self) -> &'static [&'static str] {
        match self {
            User::Admin => &["system:masters"],
            User::Operator | User::Agent | User::Editor => &[],
        }
    }

    /// The roles that the rig binds to the user. The well-known `view` and `edit` are put together from these by a controller that need
    /// not run here.
    fn roles(self) -> &'static [&'static str] {
        match self {
            User::Admin => &[],
            User::Operator | User::Agent => &["system:aggregate-to-view"],
            User::Editor => &["system:aggregate-to-view", "system:aggregate-to-edit"],
        }
    }
}

/// Gives every user the rights it begins with.
pub(crate) async fn bind_roles(admin: &Client) -> Result<(), kube::Error> {
    let bindings: Api<ClusterRoleBinding> = Api::all(admin.clone());
    for (user, role) in
        User::ALL.iter().flat_map(|user| user.roles().iter().map(move |role| (user, role)))
    {
        let name = format!("rig:{}:{role}", user.name());
        let binding = json!({
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRoleBinding",
            "metadata": { "name": name },
            "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role },
            "subjects": [{ "apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user.name() }],
        });
        bindings.patch(&name, &PatchParams::apply("rig").force(), &Patch::Apply(binding)).await?;
    }
    Ok(())
}

/// Whether every user may read by now: a server takes a moment to heed a new binding.
pub(crate) async fn have_rights(cluster: &Cluster) -> bool {
    for user in User::ALL {
        let Ok(client) = cluster.client(user).await else { return false };
        let maps: Api<ConfigMap> = Api::namespaced(client, "default");
        if maps.list(&ListParams::default().limit(1)).await.is_err() {
            return false;
        }
    }
    true
}
