//! Which kinds does the server know?
//!
//! Built-in kinds are rows of a table; custom kinds come and go with their definitions. Both end as [`ResourceType`], so
//! that no verb asks where a kind came from.

use std::{collections::BTreeMap, sync::Arc};

use serde_json::Value;

use crate::{name::NameRule, schema::Schema, status::Cause};

pub(crate) mod builtin;
pub(crate) mod crd;
pub(crate) mod definitions;
pub(crate) mod merge_keys;

/// What a kind does beyond being stored: defaults, validation and side effects of the built-in kinds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Nature {
    Custom,
    Namespace,
    Node,
    Pod,
    ConfigMap,
    Secret,
    ServiceAccount,
    Event,
    Lease,
    DisruptionBudget,
    Definition,
    Policy,
    Binding,
    Workload(Workload),
}

/// What runs pods: the kinds of `apps/v1`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Workload {
    Deployment,
    ReplicaSet,
    StatefulSet,
    DaemonSet,
}

/// A kind, in all its served versions.
#[derive(Debug)]
pub(crate) struct ResourceType {
    pub(crate) group: String,
    pub(crate) plural: String,
    pub(crate) singular: String,
    pub(crate) kind: String,
    pub(crate) list_kind: String,
    pub(crate) namespaced: bool,
    pub(crate) short_names: Vec<String>,
    pub(crate) categories: Vec<String>,
    pub(crate) storage_version: String,
    pub(crate) versions: Vec<Served>,
    pub(crate) nature: Nature,
    pub(crate) name_rule: NameRule,
    /// Where the objects lie; two kinds may show the same objects (events do).
    pub(crate) shelf: Arc<str>,
    /// Custom kinds that are being deleted still serve reads and deletes.
    pub(crate) terminating: bool,
}

/// One served version.
#[derive(Debug, Clone)]
pub(crate) struct Served {
    pub(crate) name: String,
    pub(crate) schema: Arc<Schema>,
    /// The schema as served to clients by `OpenAPI`.
    pub(crate) document: Arc<Value>,
    pub(crate) status: bool,
    pub(crate) columns: Vec<Column>,
    pub(crate) selectable: Vec<String>,
    /// The warning that goes with a deprecated version.
    pub(crate) deprecation: Option<String>,
}

/// An additional printer column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) kind: String,
    pub(crate) format: String,
    pub(crate) description: String,
    pub(crate) priority: i64,
    pub(crate) json_path: String,
}

/// A kind in the version that a request speaks.
#[derive(Debug, Clone)]
pub(crate) struct Resolved {
    pub(crate) ty: Arc<ResourceType>,
    pub(crate) version: Served,
}

impl Resolved {
    /// `v1`, or `example.com/v1`.
    pub(crate) fn api_version(&self) -> String {
        api_version(&self.ty.group, &self.version.name)
    }

    pub(crate) fn schema(&self) -> &Schema {
        &self.version.schema
    }

    /// `coordination.k8s.io/v1, Kind=Lease`, as Go prints a kind.
    pub(crate) fn go_name(&self) -> String {
        format!("{}/{}, Kind={}", self.ty.group, self.version.name, self.ty.kind)
    }

    /// The real server judges changed metadata of custom kinds twice, and says so twice.
    pub(crate) fn twice(&self, cause: Cause) -> Vec<Cause> {
        if self.is_custom() { vec![cause.clone(), cause] } else { vec![cause] }
    }

    pub(crate) fn is_custom(&self) -> bool {
        self.ty.nature == Nature::Custom
    }
}

impl ResourceType {
    pub(crate) fn storage_api_version(&self) -> String {
        api_version(&self.group, &self.storage_version)
    }

    /// `widgets.example.com`, or `configmaps`.
    pub(crate) fn qualified(&self) -> String {
        crate::status::qualified(&self.plural, &self.group)
    }

    /// Kinds whose spec carries a `generation`.
    pub(crate) fn counts_generations(&self) -> bool {
        matches!(
            self.nature,
            Nature::Custom
                | Nature::DisruptionBudget
                | Nature::Definition
                | Nature::Policy
                | Nature::Binding
                | Nature::Pod
                | Nature::Workload(_)
        )
    }
}

pub(crate) fn api_version(group: &str, version: &str) -> String {
    if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") }
}

/// All kinds that are served now.
#[derive(Debug)]
pub(crate) struct Registry {
    types: BTreeMap<(String, String), Arc<ResourceType>>,
    workloads: Workloads,
}

/// Whether the server has the kinds of `apps/v1`.
///
/// Where it has them, what they own goes with them, as in a real cluster: pods whose owner was never created are collected as garbage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Workloads {
    /// It serves them. Nothing rolls them out: a controller is a client.
    Served,
    /// It does not know them, and leaves alone what claims to be theirs.
    Absent,
}

impl Registry {
    /// The built-in kinds alone.
    pub(crate) fn built_in(workloads: Workloads) -> Self {
        let wanted = |ty: &Arc<ResourceType>| {
            workloads == Workloads::Served || !matches!(ty.nature, Nature::Workload(_))
        };
        let types = builtin::types().into_iter().filter(wanted);
        let types = types.map(|ty| ((ty.group.clone(), ty.plural.clone()), ty)).collect();
        Self { types, workloads }
    }

    /// The built-in kinds alone, once more.
    pub(crate) fn emptied(&self) -> Self {
        Self::built_in(self.workloads)
    }

    pub(crate) fn find(&self, group: &str, version: &str, plural: &str) -> Option<Resolved> {
        let ty = self.by_plural(group, plural)?;
        let served = ty.versions.iter().find(|v| v.name == version)?;
        Some(Resolved { ty: Arc::clone(ty), version: served.clone() })
    }

    pub(crate) fn by_plural(&self, group: &str, plural: &str) -> Option<&Arc<ResourceType>> {
        self.types.get(&(group.to_owned(), plural.to_owned()))
    }

    pub(crate) fn by_kind(&self, api_version: &str, kind: &str) -> Option<Resolved> {
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        let ty = self.types.values().find(|t| t.group == group && t.kind == kind)?;
        self.find(group, version, &ty.plural.clone())
    }

    pub(crate) fn by_shelf(&self, shelf: &str) -> Option<&Arc<ResourceType>> {
        self.types.values().find(|t| &*t.shelf == shelf)
    }

    /// The kind that lies on a shelf, in the version in which it lies there if that is served.
    pub(crate) fn stored_as(&self, shelf: &str) -> Option<Resolved> {
        let ty = self.by_shelf(shelf)?;
        let stored = ty.versions.iter().find(|v| v.name == ty.storage_version);
        let version = stored.or(ty.versions.first())?.clone();
        Some(Resolved { ty: Arc::clone(ty), version })
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &Arc<ResourceType>> {
        self.types.values()
    }

    pub(crate) fn install(&mut self, ty: ResourceType) {
        self.types.insert((ty.group.clone(), ty.plural.clone()), Arc::new(ty));
    }

    pub(crate) fn remove(&mut self, group: &str, plural: &str) {
        let key = (group.to_owned(), plural.to_owned());
        if self.types.get(&key).is_some_and(|t| t.nature == Nature::Custom) {
            self.types.remove(&key);
        }
    }

    /// Groups with their versions, most preferred version first.
    pub(crate) fn groups(&self) -> BTreeMap<String, Vec<String>> {
        let mut groups: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for ty in self.types.values() {
            let versions = groups.entry(ty.group.clone()).or_default();
            for served in &ty.versions {
                if !versions.contains(&served.name) {
                    versions.push(served.name.clone());
                }
            }
        }
        for versions in groups.values_mut() {
            versions.sort_by_key(|v| std::cmp::Reverse(precedence(v)));
        }
        groups
    }
}

/// Version precedence: stable before beta before alpha, newer first, anything else last.
pub(crate) fn precedence(version: &str) -> (u8, u32, u32) {
    let Some(rest) = version.strip_prefix('v') else {
        return (0, 0, 0);
    };
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    let Ok(major) = digits.parse() else {
        return (0, 0, 0);
    };
    let tail = rest.get(digits.len()..).unwrap_or_default();
    let minor = |stage: &str| tail.strip_prefix(stage).and_then(|n| n.parse().ok());
    match (tail.is_empty(), minor("beta"), minor("alpha")) {
        (true, _, _) => (3, major, 0),
        (_, Some(n), _) => (2, major, n),
        (_, _, Some(n)) => (1, major, n),
        _ => (0, 0, 0),
    }
}
