//! The built-in kinds, one row each.

use std::sync::Arc;

use super::{Nature, ResourceType, Served, Workload, definitions::Definitions};
use crate::name::NameRule;

struct Row {
    nature: Nature,
    group: &'static str,
    kind: &'static str,
    plural: &'static str,
    short: &'static [&'static str],
    namespaced: bool,
    status: bool,
    definition: &'static str,
    shelf: &'static str,
    /// Field labels beside `metadata.name` and `metadata.namespace`.
    selectable: &'static [&'static str],
}

const EVENT_FIELDS: &[&str] = &[
    "involvedObject.kind",
    "involvedObject.namespace",
    "involvedObject.name",
    "involvedObject.uid",
    "involvedObject.apiVersion",
    "involvedObject.resourceVersion",
    "involvedObject.fieldPath",
    "reason",
    "reportingComponent",
    "source",
    "type",
];

const REGARDING_FIELDS: &[&str] = &[
    "regarding.kind",
    "regarding.namespace",
    "regarding.name",
    "regarding.uid",
    "regarding.apiVersion",
    "regarding.resourceVersion",
    "regarding.fieldPath",
    "reason",
    "reportingController",
    "type",
];

const ADMISSION: &str = "admissionregistration.k8s.io";

#[rustfmt::skip]
const ROWS: &[Row] = &[
    Row { nature: Nature::ConfigMap, group: "", kind: "ConfigMap", plural: "configmaps", short: &["cm"], namespaced: true, status: false, definition: "io.k8s.api.core.v1.ConfigMap", shelf: "configmaps", selectable: &[] },
    Row { nature: Nature::Event, group: "", kind: "Event", plural: "events", short: &["ev"], namespaced: true, status: false, definition: "io.k8s.api.core.v1.Event", shelf: "events", selectable: EVENT_FIELDS },
    Row { nature: Nature::Namespace, group: "", kind: "Namespace", plural: "namespaces", short: &["ns"], namespaced: false, status: true, definition: "io.k8s.api.core.v1.Namespace", shelf: "namespaces", selectable: &["status.phase"] },
    Row { nature: Nature::Node, group: "", kind: "Node", plural: "nodes", short: &["no"], namespaced: false, status: true, definition: "io.k8s.api.core.v1.Node", shelf: "nodes", selectable: &["spec.unschedulable"] },
    Row { nature: Nature::Pod, group: "", kind: "Pod", plural: "pods", short: &["po"], namespaced: true, status: true, definition: "io.k8s.api.core.v1.Pod", shelf: "pods", selectable: &["spec.nodeName", "spec.restartPolicy", "spec.schedulerName", "spec.serviceAccountName", "spec.hostNetwork", "status.phase", "status.podIP", "status.nominatedNodeName"] },
    Row { nature: Nature::Secret, group: "", kind: "Secret", plural: "secrets", short: &[], namespaced: true, status: false, definition: "io.k8s.api.core.v1.Secret", shelf: "secrets", selectable: &["type"] },
    Row { nature: Nature::ServiceAccount, group: "", kind: "ServiceAccount", plural: "serviceaccounts", short: &["sa"], namespaced: true, status: false, definition: "io.k8s.api.core.v1.ServiceAccount", shelf: "serviceaccounts", selectable: &[] },
    Row { nature: Nature::Policy, group: ADMISSION, kind: "ValidatingAdmissionPolicy", plural: "validatingadmissionpolicies", short: &[], namespaced: false, status: true, definition: "io.k8s.api.admissionregistration.v1.ValidatingAdmissionPolicy", shelf: "validatingadmissionpolicies", selectable: &[] },
    Row { nature: Nature::Binding, group: ADMISSION, kind: "ValidatingAdmissionPolicyBinding", plural: "validatingadmissionpolicybindings", short: &[], namespaced: false, status: false, definition: "io.k8s.api.admissionregistration.v1.ValidatingAdmissionPolicyBinding", shelf: "validatingadmissionpolicybindings", selectable: &[] },
    Row { nature: Nature::Definition, group: "apiextensions.k8s.io", kind: "CustomResourceDefinition", plural: "customresourcedefinitions", short: &["crd", "crds"], namespaced: false, status: true, definition: "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinition", shelf: "customresourcedefinitions", selectable: &[] },
    Row { nature: Nature::Workload(Workload::DaemonSet), group: "apps", kind: "DaemonSet", plural: "daemonsets", short: &["ds"], namespaced: true, status: true, definition: "io.k8s.api.apps.v1.DaemonSet", shelf: "daemonsets", selectable: &[] },
    Row { nature: Nature::Workload(Workload::Deployment), group: "apps", kind: "Deployment", plural: "deployments", short: &["deploy"], namespaced: true, status: true, definition: "io.k8s.api.apps.v1.Deployment", shelf: "deployments", selectable: &[] },
    Row { nature: Nature::Workload(Workload::ReplicaSet), group: "apps", kind: "ReplicaSet", plural: "replicasets", short: &["rs"], namespaced: true, status: true, definition: "io.k8s.api.apps.v1.ReplicaSet", shelf: "replicasets", selectable: &[] },
    Row { nature: Nature::Workload(Workload::StatefulSet), group: "apps", kind: "StatefulSet", plural: "statefulsets", short: &["sts"], namespaced: true, status: true, definition: "io.k8s.api.apps.v1.StatefulSet", shelf: "statefulsets", selectable: &[] },
    Row { nature: Nature::Lease, group: "coordination.k8s.io", kind: "Lease", plural: "leases", short: &[], namespaced: true, status: false, definition: "io.k8s.api.coordination.v1.Lease", shelf: "leases", selectable: &[] },
    Row { nature: Nature::Event, group: "events.k8s.io", kind: "Event", plural: "events", short: &["ev"], namespaced: true, status: false, definition: "io.k8s.api.events.v1.Event", shelf: "events", selectable: REGARDING_FIELDS },
    Row { nature: Nature::DisruptionBudget, group: "policy", kind: "PodDisruptionBudget", plural: "poddisruptionbudgets", short: &["pdb"], namespaced: true, status: true, definition: "io.k8s.api.policy.v1.PodDisruptionBudget", shelf: "poddisruptionbudgets", selectable: &[] },
];

/// Every built-in kind.
pub(crate) fn types() -> Vec<Arc<ResourceType>> {
    ROWS.iter().map(|row| Arc::new(read(row))).collect()
}

fn read(row: &Row) -> ResourceType {
    let categories: &[&str] = match row.nature {
        Nature::Pod | Nature::Workload(_) => &["all"],
        Nature::Policy | Nature::Binding | Nature::Definition => &["api-extensions"],
        _ => &[],
    };
    let owned = |list: &[&str]| list.iter().map(|s| (*s).to_owned()).collect::<Vec<String>>();
    ResourceType {
        group: row.group.to_owned(),
        plural: row.plural.to_owned(),
        singular: row.kind.to_lowercase(),
        kind: row.kind.to_owned(),
        list_kind: format!("{}List", row.kind),
        namespaced: row.namespaced,
        short_names: owned(row.short),
        categories: owned(categories),
        storage_version: "v1".to_owned(),
        versions: vec![Served {
            name: "v1".to_owned(),
            schema: Definitions::shared().schema(row.definition),
            document: Arc::new(serde_json::json!({
                "$ref": format!("#/components/schemas/{}", row.definition)
            })),
            status: row.status,
            columns: Vec::new(),
            selectable: owned(row.selectable),
            deprecation: None,
        }],
        nature: row.nature,
        name_rule: match row.nature {
            Nature::Namespace => NameRule::Label,
            Nature::DisruptionBudget => NameRule::PathSegment,
            _ => NameRule::Subdomain,
        },
        shelf: row.shelf.into(),
        terminating: false,
    }
}
