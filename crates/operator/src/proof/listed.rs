//! How do admission policies stand, as the server lists them, and is what was tried before still good? (GATE-13)

use std::collections::{BTreeMap, BTreeSet};

use runtime::{
    call::{Cluster, Collection},
    path::{ADMISSION_BINDING, ADMISSION_POLICY},
    tempo::Tempo,
};
use serde::Deserialize;
use serde_json::Value;
use tokio::time::Instant;

/// How admission policies stand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Listed {
    /// They were listed.
    Seen(Standing),
    /// The server is too old to have any.
    Unserved,
    /// The server would not say, or not now.
    Unseen,
}

/// What was listed. What has to stay the same: each policy and each binding, by name and version, and whatever else was looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Standing {
    bound: BTreeSet<String>,
    versions: BTreeMap<String, String>,
}

impl Standing {
    /// Whether a policy whose name ends so is there and bound, for whatever it looks at.
    pub(super) fn binds(&self, policy: &str) -> bool {
        self.bound.iter().any(|name| is_called(name, policy))
    }

    /// Something else has this version.
    pub(super) fn also(&mut self, what: &str, version: &str) {
        self.versions.insert(what.to_owned(), version.to_owned());
    }
}

/// Whether the name of a policy is that of a release with this end. What belongs to gates of the cluster ends as what belongs to those of teams.
pub(super) fn is_called(name: &str, policy: &str) -> bool {
    let release = name.strip_suffix(policy).and_then(|rest| rest.strip_suffix('-'));
    release.is_some_and(|release| !release.ends_with("-cluster"))
}

/// When it was last tried, and how things stood then.
#[derive(Debug)]
pub(super) struct Try {
    at: Instant,
    standing: Listed,
    /// Whether things stood the same at the try before. A server takes a second to heed a policy that changed: what is tried right after
    /// the change says little.
    is_settled: bool,
}

impl Try {
    pub(super) fn now(standing: Listed, last: Option<Self>) -> Self {
        let is_settled = last.is_none_or(|last| last.standing == standing);
        Self { at: Instant::now(), standing, is_settled }
    }

    /// Whether what was tried then still holds. Of what cannot be seen nobody knows when it changes.
    pub(super) fn is_good_for(&self, standing: &Listed, tempo: &Tempo) -> bool {
        let is_seen = matches!(standing, Listed::Seen(_));
        is_seen && self.is_settled && self.standing == *standing && self.at.elapsed() < tempo.proof
    }
}

/// Looks how admission policies stand.
pub(super) async fn look(cluster: &Cluster) -> Listed {
    let all = Collection::of(ADMISSION_POLICY.collection(None));
    let mut policies: Vec<Entry> = Vec::new();
    let listed = cluster.list_metadata(&all, |policy| policies.push(policy)).await;
    let all = Collection::of(ADMISSION_BINDING.collection(None));
    let bindings = cluster.list_all::<Entry>(&all).await;
    let bindings = match (listed, bindings) {
        (Ok(_), Ok(bindings)) => bindings.items,
        (Err(error), _) | (_, Err(error)) if error.code() == Some(404) => return Listed::Unserved,
        _ => return Listed::Unseen,
    };
    let whole = bindings.iter().filter(|one| one.spec.is_whole());
    let whole: BTreeSet<&str> = whole.map(|one| one.spec.policy_name.as_str()).collect();
    let bound = policies.iter().map(|policy| &policy.metadata.name);
    let bound = bound.filter(|name| whole.contains(name.as_str()));
    let mut standing = Standing { bound: bound.cloned().collect(), versions: BTreeMap::new() };
    for (what, entries) in [("policy", &policies), ("binding", &bindings)] {
        for Entry { metadata, .. } in entries {
            standing.also(&format!("{what} {}", metadata.name), &metadata.resource_version);
        }
    }
    Listed::Seen(standing)
}

/// What is read of policies and bindings. Every replica looks twice a minute, and all that a server notes beside it is many times as much.
#[derive(Deserialize)]
pub(super) struct Entry {
    pub(super) metadata: Metadata,
    /// Of a binding; metadata alone has none.
    #[serde(default)]
    spec: Spec,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Metadata {
    name: String,
    pub(super) resource_version: String,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Spec {
    policy_name: String,
    match_resources: Value,
    param_ref: Value,
}

impl Spec {
    /// Whether a binding leaves nothing out. Where is tried is one namespace, with gates and freezes of one name: a binding for these alone
    /// would refuse what is tried, and nothing else.
    fn is_whole(&self) -> bool {
        let narrows = |part: &Value, fields: &[&str]| {
            fields.iter().any(|field| part.get(field).is_some_and(|value| !is_empty(value)))
        };
        let resources =
            ["namespaceSelector", "objectSelector", "resourceRules", "excludeResourceRules"];
        !narrows(&self.match_resources, &resources)
            && !narrows(&self.param_ref, &["name", "namespace", "selector"])
    }
}

/// Whether a value says nothing: an empty selector chooses everything.
fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Object(fields) => fields.values().all(is_empty),
        Value::Array(values) => values.is_empty(),
        Value::String(text) => text.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_binding_that_leaves_something_out_proves_nothing() {
        use serde_json::json;
        let check = |spec: Value, expected: bool| {
            let read = Spec::deserialize(&spec).unwrap();
            assert_eq!(read.is_whole(), expected, "{spec}");
        };
        let here = json!({"matchLabels": {"kubernetes.io/metadata.name": "tidegate-probe"}});
        check(json!({"policyName": "a"}), true);
        check(json!({"paramRef": {"selector": {}, "parameterNotFoundAction": "Allow"}}), true);
        let whole =
            json!({"namespaceSelector": {}, "objectSelector": {}, "matchPolicy": "Equivalent"});
        check(json!({"matchResources": whole}), true);
        check(json!({"matchResources": {"namespaceSelector": here}}), false);
        check(json!({"matchResources": {"objectSelector": here}}), false);
        let rule = json!([{"apiGroups": ["apps"], "resources": ["replicasets"]}]);
        check(json!({"matchResources": {"resourceRules": rule}}), false);
        check(json!({"matchResources": {"excludeResourceRules": rule}}), false);
        check(json!({"paramRef": {"name": "tidegate-probe"}}), false);
        let labelled = json!({"matchLabels": {"app.kubernetes.io/name": "tidegate"}});
        check(json!({"paramRef": {"selector": labelled}}), false);
    }

    #[test]
    fn policies_of_teams_and_of_the_cluster_are_told_apart() {
        let rows = [
            ("tidegate-gate-deployments", "gate-deployments", true),
            ("tidegate-cluster-gate-deployments", "gate-deployments", false),
            ("tidegate-cluster-gate-deployments", "cluster-gate-deployments", true),
            ("t-tidegate-permits", "permits", true),
            ("permits", "permits", false),
            ("tidegate-gate-deployments-warn", "gate-deployments", false),
        ];
        for (name, policy, expected) in rows {
            assert_eq!(is_called(name, policy), expected, "{name} {policy}");
        }
    }
}
