//! How does an administrator say what a change may disrupt? `MachineConfiguration`, one for the cluster, with the node disruption
//! policy that is wanted and the one that acts (NDP-1).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::or_default;
use crate::meta::{Condition, ObjectMeta};

/// Settings for all nodes of the cluster.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-preserve-unknown-fields" = true, "x-tidegate-rules" = [{
    "rule": "self.metadata.name == 'cluster'",
    "message": "there is one MachineConfiguration, and its name is cluster",
}]))]
pub struct MachineConfiguration {
    /// The group and version: `operator.openshift.io/v1`.
    pub api_version: String,
    /// `MachineConfiguration`.
    pub kind: String,
    /// Standard object metadata.
    pub metadata: ObjectMeta,
    /// What is wanted.
    #[serde(default, deserialize_with = "or_default")]
    pub spec: MachineConfigurationSpec,
    /// What acts.
    #[serde(default, deserialize_with = "or_default")]
    pub status: MachineConfigurationStatus,
}

/// What is wanted of all nodes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-preserve-unknown-fields" = true))]
pub struct MachineConfigurationSpec {
    /// What is done on a node after a change, in place of a reboot.
    #[serde(default, deserialize_with = "or_default")]
    #[schemars(extend("x-tidegate-rules" = wish_rules()))]
    pub node_disruption_policy: Policies,
}

/// What acts on all nodes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-preserve-unknown-fields" = true))]
pub struct MachineConfigurationStatus {
    /// The generation of the specification that this status was made from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// Conditions of whoever writes this status.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "or_default")]
    pub conditions: Vec<Condition>,
    /// What is done on a node after a change.
    #[serde(default, deserialize_with = "or_default")]
    pub node_disruption_policy_status: PolicyStatus,
}

/// What is done on a node after a change.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PolicyStatus {
    /// The policies of the release with those of the administrator over them.
    #[serde(default, deserialize_with = "or_default")]
    pub cluster_policies: Policies,
}

/// What is done for which change.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Policies {
    /// For files, by path. A directory stands for all that lies in it; of several, the longest path decides.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "or_default")]
    #[schemars(length(max = 100))]
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["path"]))]
    pub files: Vec<FilePolicy>,
    /// For units, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "or_default")]
    #[schemars(length(max = 100))]
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub units: Vec<UnitPolicy>,
    /// For the keys that may log in, and the password.
    #[serde(
        default,
        skip_serializing_if = "SshKeyPolicy::is_empty",
        deserialize_with = "or_default"
    )]
    pub sshkey: SshKeyPolicy,
}

/// What is done when a file changes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct FilePolicy {
    /// The file or the directory: an absolute path.
    pub path: String,
    /// What is done, in order.
    #[serde(default, deserialize_with = "or_default")]
    #[schemars(length(max = 10), extend("x-tidegate-rules" = action_rules()))]
    pub actions: Vec<Action>,
}

/// What is done when a unit changes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct UnitPolicy {
    /// The unit, with its suffix.
    pub name: String,
    /// What is done, in order.
    #[serde(default, deserialize_with = "or_default")]
    #[schemars(length(max = 10), extend("x-tidegate-rules" = action_rules()))]
    pub actions: Vec<Action>,
}

/// What is done when the keys that may log in change.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct SshKeyPolicy {
    /// What is done, in order. Empty: as the release says.
    #[serde(default, deserialize_with = "or_default")]
    #[schemars(length(max = 10), extend("x-tidegate-rules" = action_rules()))]
    pub actions: Vec<Action>,
}

impl SshKeyPolicy {
    fn is_empty(&self) -> bool {
        self.actions.is_empty()
    }
}

/// One thing that is done on a node after a change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
#[schemars(extend("x-tidegate-union" = {
    "discriminator": "type",
    "arms": { "Reload": "reload", "Restart": "restart" },
}))]
pub struct Action {
    /// What is done.
    #[serde(rename = "type")]
    pub kind: ActionKind,
    /// The service that reads its configuration again; exactly with `Reload`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reload: Option<Service>,
    /// The service that is started anew; exactly with `Restart`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restart: Option<Service>,
}

/// What is done on a node after a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum ActionKind {
    /// The node is drained and restarted. Stands alone.
    Reboot,
    /// Workloads leave the node first.
    Drain,
    /// A service reads its configuration again.
    Reload,
    /// A service is started anew.
    Restart,
    /// systemd reads its units again.
    DaemonReload,
    /// Nothing. Stands alone.
    None,
    /// What the release does for the registries of images. Only ever in a status.
    Special,
    /// Written by something newer than this build; is read as a reboot.
    #[serde(other)]
    #[schemars(skip)]
    Unknown,
}

/// A service, by the name of its unit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct Service {
    /// The unit, with its suffix.
    #[schemars(length(max = 255))]
    pub service_name: String,
}

/// What a list of actions must keep to: nothing beside a reboot, nothing beside nothing.
fn action_rules() -> serde_json::Value {
    serde_json::json!([
        {
            "rule": "self.size() == 1 || !self.exists(a, a.type == 'Reboot')",
            "message": "Reboot stands alone: remove the other actions",
        },
        {
            "rule": "self.size() == 1 || !self.exists(a, a.type == 'None')",
            "message": "None stands alone: remove the other actions",
        },
    ])
}

/// What an administrator may not ask for, though a status may hold it: more entries than leave room for those of the release, and what
/// only a release can do.
fn wish_rules() -> serde_json::Value {
    let special = |list: &str| {
        format!(
            "!has(self.{list}) || !self.{list}.exists(p, has(p.actions) && p.actions.exists(a, a.type == 'Special'))"
        )
    };
    serde_json::json!([
        {
            "rule": "(!has(self.files) || self.files.size() <= 50) && (!has(self.units) || self.units.size() <= 50)",
            "message": "at most 50 entries: a directory stands for all that lies in it",
        },
        { "rule": special("files"), "message": "Special cannot be asked for" },
        { "rule": special("units"), "message": "Special cannot be asked for" },
        {
            "rule": "!has(self.sshkey) || !has(self.sshkey.actions) || !self.sshkey.actions.exists(a, a.type == 'Special')",
            "message": "Special cannot be asked for",
        },
    ])
}
