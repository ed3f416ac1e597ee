//! What may an object of a kind hold? The JSON schema of each kind, derived from the wire types.
//!
//! One schema serves both the check of files and the CRDs, so that the two cannot disagree.

use std::sync::LazyLock;

use schemars::{JsonSchema, generate::SchemaSettings};
use serde_json::Value;

use crate::{gated, machine, names, policy, stanza};

/// Whether objects of a kind live in a namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// One set of names for the whole cluster.
    Cluster,
    /// One set of names for each namespace.
    Namespaced,
}

/// What a kind is to change management.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It says when.
    Policy,
    /// It changes, and asks a policy when it may (GATE-5).
    Gated {
        /// The kind of policy that its stanza names.
        policy: &'static str,
        /// Which half of a cluster changes with it.
        system: System,
    },
    /// It says what machines are made of, and is read for decisions about them.
    Part,
}

/// Half of a cluster: the label `system` of the metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum System {
    /// The control plane.
    ControlPlane,
    /// The worker nodes.
    WorkerNodes,
}

impl System {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ControlPlane => "control-plane",
            Self::WorkerNodes => "worker-nodes",
        }
    }
}

/// A kind that change management knows.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    /// The name of the kind, as in `kind:`.
    pub name: &'static str,
    /// Its group and version, as in `apiVersion:`.
    pub api_version: &'static str,
    /// Whether its objects live in a namespace.
    pub scope: Scope,
    /// What it is called on the command line, besides its name.
    pub short_name: &'static str,
    /// What it is to change management.
    pub role: Role,
    schema: &'static LazyLock<Value>,
}

impl Kind {
    /// Its group.
    pub fn group(&self) -> &'static str {
        self.api_version.split_once('/').map_or("", |(group, _)| group)
    }

    /// Its version.
    pub fn version(&self) -> &'static str {
        self.api_version.split_once('/').map_or(self.api_version, |(_, version)| version)
    }

    /// The schema of the kind, with every reference resolved in place.
    pub fn schema(&self) -> &'static Value {
        self.schema
    }
}

// Made once and when first asked for: a file may hold thousands of policies, and most verbs need one kind.
static CHANGE_MANAGEMENT_POLICY: LazyLock<Value> =
    LazyLock::new(schema_of::<policy::ChangeManagementPolicy>);
static HOSTED_CHANGE_MANAGEMENT_POLICY: LazyLock<Value> =
    LazyLock::new(schema_of::<policy::HostedChangeManagementPolicy>);

static STANZA: LazyLock<Value> = LazyLock::new(schema_of::<stanza::Stanza>);
static CLUSTER_VERSION: LazyLock<Value> = LazyLock::new(schema_of::<gated::ClusterVersion>);
static MACHINE_CONFIG_POOL: LazyLock<Value> = LazyLock::new(schema_of::<gated::MachineConfigPool>);
static HOSTED_CLUSTER: LazyLock<Value> = LazyLock::new(schema_of::<gated::HostedCluster>);
static NODE_POOL: LazyLock<Value> = LazyLock::new(schema_of::<gated::NodePool>);
static MACHINE_CONFIG: LazyLock<Value> = LazyLock::new(schema_of::<machine::MachineConfig>);
static MACHINE_CONFIGURATION: LazyLock<Value> =
    LazyLock::new(schema_of::<machine::disruption::MachineConfiguration>);
// Built into every server, which judges it better than anybody else.
static NODE: LazyLock<Value> = LazyLock::new(|| serde_json::json!({"type": "object"}));

/// Every kind of policy, in the order they are shown.
pub const KINDS: &[Kind] = &[
    Kind {
        name: names::CHANGE_MANAGEMENT_POLICY,
        api_version: names::API_VERSION,
        scope: Scope::Cluster,
        short_name: "cmp",
        role: Role::Policy,
        schema: &CHANGE_MANAGEMENT_POLICY,
    },
    Kind {
        name: names::HOSTED_CHANGE_MANAGEMENT_POLICY,
        api_version: names::API_VERSION,
        scope: Scope::Namespaced,
        short_name: "hcmp",
        role: Role::Policy,
        schema: &HOSTED_CHANGE_MANAGEMENT_POLICY,
    },
];

/// Every kind under change management, in the order they are shown. They belong to others, who install their definitions.
pub const GATED: &[Kind] = &[
    Kind {
        name: names::CLUSTER_VERSION,
        api_version: "config.openshift.io/v1",
        scope: Scope::Cluster,
        short_name: "cv",
        role: Role::Gated { policy: names::CHANGE_MANAGEMENT_POLICY, system: System::ControlPlane },
        schema: &CLUSTER_VERSION,
    },
    Kind {
        name: names::MACHINE_CONFIG_POOL,
        api_version: "machineconfiguration.openshift.io/v1",
        scope: Scope::Cluster,
        short_name: "mcp",
        role: Role::Gated { policy: names::CHANGE_MANAGEMENT_POLICY, system: System::WorkerNodes },
        schema: &MACHINE_CONFIG_POOL,
    },
    Kind {
        name: names::HOSTED_CLUSTER,
        api_version: "hypershift.openshift.io/v1beta1",
        scope: Scope::Namespaced,
        short_name: "hc",
        role: Role::Gated {
            policy: names::HOSTED_CHANGE_MANAGEMENT_POLICY,
            system: System::ControlPlane,
        },
        schema: &HOSTED_CLUSTER,
    },
    Kind {
        name: names::NODE_POOL,
        api_version: "hypershift.openshift.io/v1beta1",
        scope: Scope::Namespaced,
        short_name: "np",
        role: Role::Gated {
            policy: names::HOSTED_CHANGE_MANAGEMENT_POLICY,
            system: System::WorkerNodes,
        },
        schema: &NODE_POOL,
    },
];

/// What pools are made of: configurations, machines, and what changes may disrupt. Read only by whoever rolls configurations out.
pub const MACHINES: &[Kind] = &[
    Kind {
        name: machine::names::MACHINE_CONFIG,
        api_version: machine::names::API_VERSION,
        scope: Scope::Cluster,
        short_name: "mc",
        role: Role::Part,
        schema: &MACHINE_CONFIG,
    },
    Kind {
        name: machine::names::NODE,
        api_version: "v1",
        scope: Scope::Cluster,
        short_name: "no",
        role: Role::Part,
        schema: &NODE,
    },
    Kind {
        name: machine::names::MACHINE_CONFIGURATION,
        api_version: machine::names::OPERATOR_API_VERSION,
        scope: Scope::Cluster,
        // Upstream gives it none.
        short_name: "machineconfiguration",
        role: Role::Part,
        schema: &MACHINE_CONFIGURATION,
    },
];

/// The kind under change management of this name, if there is one.
pub fn gated_named(name: &str) -> Option<&'static Kind> {
    GATED.iter().find(|kind| kind.name == name)
}

/// The kind of policy of this name, if there is one.
pub fn kind_named(name: &str) -> Option<&'static Kind> {
    KINDS.iter().find(|kind| kind.name == name)
}

/// The schema of the stanza, which is the same on every gated kind.
pub fn stanza() -> &'static Value {
    &STANZA
}

pub(crate) fn schema_of<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        // A structural schema has no references, and the check needs no resolver.
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    plain(&mut schema);
    schema
}

/// Makes a schema as plain as a structural one has to be.
///
/// - The described alternatives of an enum become one list of values: a structural schema knows no `oneOf` of constants.
/// - Something or null is that something: a null is the same as leaving a field out.
/// - A description is a paragraph, and whoever shows it breaks the lines.
fn plain(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            if let Some(Value::Array(arms)) = fields.remove("anyOf") {
                let something = arms.into_iter().filter_map(|arm| match arm {
                    Value::Object(arm) if arm.get("type") != Some(&"null".into()) => Some(arm),
                    _ => None,
                });
                for (key, value) in something.flatten() {
                    fields.entry(key).or_insert(value);
                }
            }
            let values: Option<Vec<Value>> =
                fields.get("oneOf").and_then(Value::as_array).map(|arms| {
                    arms.iter()
                        .flat_map(|arm| match arm.get("enum") {
                            Some(Value::Array(values)) => values.clone(),
                            _ => arm.get("const").cloned().into_iter().collect(),
                        })
                        .collect()
                });
            if let Some(values) = values.filter(|values| !values.is_empty()) {
                fields.remove("oneOf");
                fields.insert("type".into(), "string".into());
                fields.insert("enum".into(), values.into());
            }
            if let Some(Value::String(description)) = fields.get_mut("description") {
                *description = description.replace('\n', " ");
            }
            fields.values_mut().for_each(plain);
        }
        Value::Array(items) => items.iter_mut().for_each(plain),
        _ => {}
    }
}

#[cfg(test)]
mod tests;
