//! What may an object of a kind hold? The JSON schema of each kind, derived from the wire types.
//!
//! One schema serves both the check of files and the CRDs, so that the two cannot disagree.

use std::{cmp::Ordering, fmt, sync::LazyLock};

use schemars::{JsonSchema, generate::SchemaSettings};
use serde_json::Value;

use crate::{kinds, stanza, version_management};

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
        policy: &'static Kind,
        /// Which half of a cluster changes with it.
        system: System,
        /// Who begins its changes by themselves, as the beginning of a sentence: what is said where nobody keeps a gate (GATE-13).
        begins: &'static str,
    },
    /// It says what nodes are made of, and is read for decisions about them.
    Part,
    /// It lets nothing start while it lasts, whatever policies say (OVR-1).
    Freeze,
    /// It opens one gate while it lasts, whatever policies say (OVR-2).
    Override,
    /// It says what the others must be like (GRD-1).
    Guardrail,
}

/// Half of a cluster: the label `system` of the metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum System {
    /// The control plane.
    ControlPlane,
    /// The worker nodes.
    WorkerNodes,
    /// What runs on them, and what others own: neither half.
    Workloads,
}

impl System {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ControlPlane => "control-plane",
            Self::WorkerNodes => "worker-nodes",
            Self::Workloads => "workloads",
        }
    }
}

/// A kind that change management knows; the rows of those that it always knows stand in [`kinds`].
///
/// A kind is its group and its name, whatever else a row says: others have kinds of the same name, Karpenter has a `NodePool` too.
/// Kinds are in the order of work and of lists: policies, then those who ask them, then what those are made of.
#[derive(Clone, Copy)]
pub struct Kind {
    /// Its place among those of its role, in lists and in the order of work.
    pub rank: u8,
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
    // A function and not a value that is filled later: keys hold kinds, and must not change.
    pub(crate) schema: fn() -> &'static Value,
}

impl Kind {
    /// A kind that others define, and that somebody here learned of while the program ran. It comes after all others of its role. Its
    /// names stay for as long as the program does: whoever makes kinds makes as many as there are definitions, and not one an object.
    pub fn foreign(api_version: String, name: String, scope: Scope, role: Role) -> Self {
        let name: &'static str = name.leak();
        let (rank, api_version) = (u8::MAX, api_version.leak());
        Self { rank, name, api_version, scope, short_name: name, role, schema: || &FOREIGN }
    }

    /// Its group.
    pub fn group(&self) -> &'static str {
        self.api_version.split_once('/').map_or("", |(group, _)| group)
    }

    /// Its version.
    pub fn version(&self) -> &'static str {
        self.api_version.split_once('/').map_or(self.api_version, |(_, version)| version)
    }

    /// Whether documents that name this group and version, and this kind, are of it in some version.
    pub fn is_named_by(&self, api_version: &str, name: &str) -> bool {
        let group = api_version.split_once('/').map_or("", |(group, _)| group);
        self.name == name && self.group() == group
    }

    /// The schema of the kind, with every reference resolved in place.
    pub fn schema(&self) -> &'static Value {
        (self.schema)()
    }
}

impl Kind {
    fn place(&self) -> (u8, u8, &str) {
        let role = match self.role {
            Role::Policy => 0,
            Role::Gated { .. } => 1,
            Role::Freeze => 2,
            Role::Override => 3,
            Role::Guardrail => 4,
            Role::Part => 5,
        };
        (role, self.rank, self.name)
    }
}

impl PartialEq for Kind {
    fn eq(&self, other: &Self) -> bool {
        // A group has to be cut out of its text, and every look at a map of objects comes here.
        self.name == other.name
            && (self.api_version == other.api_version || self.group() == other.group())
    }
}

impl Eq for Kind {}

impl PartialOrd for Kind {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Kind {
    fn cmp(&self, other: &Self) -> Ordering {
        if self == other {
            return Ordering::Equal;
        }
        self.place().cmp(&other.place()).then_with(|| self.group().cmp(other.group()))
    }
}

impl fmt::Debug for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.group(), self.name)
    }
}

static FOREIGN: LazyLock<Value> = LazyLock::new(kinds::anything);

// Made once and when first asked for.
static STANZA: LazyLock<Value> = LazyLock::new(schema_of::<stanza::Stanza>);
static VERSION_MANAGEMENT: LazyLock<Value> =
    LazyLock::new(schema_of::<version_management::VersionManagement>);

/// Every kind of policy, in the order they are shown.
pub const KINDS: &[Kind] =
    &[kinds::CHANGE_MANAGEMENT_POLICY, kinds::HOSTED_CHANGE_MANAGEMENT_POLICY];

/// Every kind under change management, in the order they are shown.
pub const GATED: &[Kind] = &[
    kinds::CLUSTER_VERSION,
    kinds::MACHINE_CONFIG_POOL,
    kinds::HOSTED_CLUSTER,
    kinds::NODE_POOL,
    kinds::CHANGE_GATE,
    kinds::CLUSTER_CHANGE_GATE,
];

/// Those of them that belong to others, who install their definitions: they carry a stanza of ours.
pub const STANZAS: &[Kind] =
    &[kinds::CLUSTER_VERSION, kinds::MACHINE_CONFIG_POOL, kinds::HOSTED_CLUSTER, kinds::NODE_POOL];

/// Those of them that are ours: gates on what others own.
pub const GATES: &[Kind] = &[kinds::CHANGE_GATE, kinds::CLUSTER_CHANGE_GATE];

/// What lets nothing start while it lasts (OVR-1).
pub const FREEZES: &[Kind] = &[kinds::CHANGE_FREEZE, kinds::CLUSTER_CHANGE_FREEZE];

/// What opens one gate while it lasts (OVR-2).
pub const OVERRIDES: &[Kind] = &[kinds::CHANGE_OVERRIDE, kinds::CLUSTER_CHANGE_OVERRIDE];

/// What the others must be like (GRD-1).
pub const GUARDRAILS: &[Kind] = &[kinds::CHANGE_GUARDRAIL];

/// What happened, page by page (HIST-1).
pub const RECORDS: &[Kind] = &[kinds::CHANGE_RECORD];

/// Where what lives in namespaces lives: their labels say which of them a freeze chooses.
pub const NAMESPACES: &[Kind] = &[kinds::NAMESPACE];

/// What pools are made of: configurations, nodes, and what changes may disrupt. Read only by whoever rolls configurations out.
pub const MACHINES: &[Kind] = &[kinds::MACHINE_CONFIG, kinds::NODE, kinds::MACHINE_CONFIGURATION];

/// What gates hold, and what its controllers make of it. Read only where a gate or a freeze holds it.
pub const TARGETS: &[Kind] = &[
    kinds::DEPLOYMENT,
    kinds::REPLICA_SET,
    kinds::STATEFUL_SET,
    kinds::DAEMON_SET,
    kinds::APPLICATION,
    kinds::MACHINE_DEPLOYMENT,
    kinds::UPGRADE_PLAN,
    kinds::KUBEADM_CONTROL_PLANE,
    kinds::CLUSTER,
];

/// The kind under change management of this name, if there is one.
pub fn gated_named(name: &str) -> Option<&'static Kind> {
    GATED.iter().find(|kind| kind.name == name)
}

/// The kind of freeze of this name, if there is one.
pub fn freeze_named(name: &str) -> Option<&'static Kind> {
    FREEZES.iter().find(|kind| kind.name == name)
}

/// The kind of override of this name, if there is one.
pub fn override_named(name: &str) -> Option<&'static Kind> {
    OVERRIDES.iter().find(|kind| kind.name == name)
}

/// The kind of guardrail of this name, if there is one.
pub fn guardrail_named(name: &str) -> Option<&'static Kind> {
    GUARDRAILS.iter().find(|kind| kind.name == name)
}

/// The kind of policy of this name, if there is one.
pub fn kind_named(name: &str) -> Option<&'static Kind> {
    KINDS.iter().find(|kind| kind.name == name)
}

/// The schema of the stanza, which is the same on every gated kind.
pub fn stanza() -> &'static Value {
    &STANZA
}

/// The schema of the stanza as an earlier design writes it (D4-1).
pub fn version_management() -> &'static Value {
    &VERSION_MANAGEMENT
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
