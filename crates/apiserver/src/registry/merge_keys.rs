//! How do the lists of the built-in kinds merge?
//!
//! A closed table: it stands in the Go sources as tags that the published definitions of the client library do not carry.
//! Lists that are not named here are replaced as a whole.

use crate::schema::{ListKind, Schema};

/// How one list merges.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Merge {
    definition: &'static str,
    field: &'static str,
    /// Keys under server-side apply; empty is a set.
    keys: &'static [&'static str],
    /// The key of strategic merge patches, where lists merge there too.
    patch: Option<&'static str>,
}

impl Merge {
    pub(crate) fn apply(&self, schema: &mut Schema) {
        schema.list = match self.keys {
            ["atomic"] => ListKind::Atomic,
            [] => ListKind::Set,
            keys => ListKind::Map(keys.iter().map(|k| (*k).to_owned()).collect()),
        };
        schema.patch_merge_key = self.patch.map(str::to_owned);
    }
}

const META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";

macro_rules! core {
    ($name:literal) => {
        concat!("io.k8s.api.core.v1.", $name)
    };
}

macro_rules! apps {
    ($name:literal) => {
        concat!("io.k8s.api.apps.v1.", $name)
    };
}

macro_rules! admission {
    ($name:literal) => {
        concat!("io.k8s.api.admissionregistration.v1.", $name)
    };
}

const fn row(
    definition: &'static str,
    field: &'static str,
    keys: &'static [&'static str],
    patch: Option<&'static str>,
) -> Merge {
    Merge { definition, field, keys, patch }
}

const TABLE: &[Merge] = &[
    row(META, "finalizers", &[], Some("")),
    row(META, "ownerReferences", &["uid"], Some("uid")),
    row(core!("NamespaceStatus"), "conditions", &["type"], Some("type")),
    row(core!("NodeSpec"), "podCIDRs", &[], Some("")),
    row(core!("NodeStatus"), "addresses", &["type"], Some("type")),
    row(core!("NodeStatus"), "conditions", &["type"], Some("type")),
    row(core!("PodSpec"), "containers", &["name"], Some("name")),
    row(core!("PodSpec"), "initContainers", &["name"], Some("name")),
    row(core!("PodSpec"), "ephemeralContainers", &["name"], Some("name")),
    row(core!("PodSpec"), "volumes", &["name"], Some("name")),
    row(core!("PodSpec"), "imagePullSecrets", &["name"], Some("name")),
    row(core!("PodSpec"), "hostAliases", &["ip"], Some("ip")),
    row(core!("PodSpec"), "schedulingGates", &["name"], Some("name")),
    row(core!("PodSpec"), "resourceClaims", &["name"], Some("name")),
    row(
        core!("PodSpec"),
        "topologySpreadConstraints",
        &["topologyKey", "whenUnsatisfiable"],
        Some("topologyKey"),
    ),
    row(core!("PodStatus"), "conditions", &["type"], Some("type")),
    row(core!("PodStatus"), "podIPs", &["ip"], Some("ip")),
    row(core!("PodStatus"), "hostIPs", &["atomic"], Some("ip")),
    row(core!("Container"), "env", &["name"], Some("name")),
    row(core!("Container"), "ports", &["containerPort", "protocol"], Some("containerPort")),
    row(core!("Container"), "volumeMounts", &["mountPath"], Some("mountPath")),
    row(core!("Container"), "volumeDevices", &["devicePath"], Some("devicePath")),
    row(core!("EphemeralContainer"), "env", &["name"], Some("name")),
    row(core!("EphemeralContainer"), "volumeMounts", &["mountPath"], Some("mountPath")),
    row(core!("ServiceAccount"), "secrets", &["name"], Some("name")),
    row(apps!("DeploymentStatus"), "conditions", &["type"], Some("type")),
    row(apps!("ReplicaSetStatus"), "conditions", &["type"], Some("type")),
    row(apps!("StatefulSetStatus"), "conditions", &["type"], Some("type")),
    row(apps!("DaemonSetStatus"), "conditions", &["type"], Some("type")),
    row("io.k8s.api.policy.v1.PodDisruptionBudgetStatus", "conditions", &["type"], Some("type")),
    row(
        "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinitionStatus",
        "conditions",
        &["type"],
        None,
    ),
    row(admission!("ValidatingAdmissionPolicySpec"), "matchConditions", &["name"], Some("name")),
    row(admission!("ValidatingAdmissionPolicySpec"), "variables", &["name"], Some("name")),
    row(admission!("ValidatingAdmissionPolicyBindingSpec"), "validationActions", &[], None),
    row(admission!("ValidatingAdmissionPolicyStatus"), "conditions", &["type"], Some("type")),
];

/// Objects that have one owner as a whole.
pub(crate) const ATOMIC_DEFINITIONS: [&str; 11] = [
    admission!("MatchResources"),
    "io.k8s.apimachinery.pkg.apis.meta.v1.OwnerReference",
    core!("ObjectReference"),
    core!("LocalObjectReference"),
    core!("NodeSelector"),
    core!("NodeSelectorTerm"),
    core!("SecretKeySelector"),
    core!("ConfigMapKeySelector"),
    core!("ObjectFieldSelector"),
    "io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelector",
    admission!("ParamKind"),
];

pub(crate) fn find(definition: &str, field: &str) -> Option<&'static Merge> {
    TABLE.iter().find(|row| row.definition == definition && row.field == field)
}
