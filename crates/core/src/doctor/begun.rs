//! What began outside a window, as far as objects remember it?
//!
//! A `ReplicaSet` is made once, and its `creationTimestamp` is the instant of the first write of a rollout (RCH-3). What else objects remember,
//! `managedFields`, tells when a manager last wrote any of its fields and not when it changed a template, so nothing is said by it.

use api::reach::What;
use schedule::Instant;
use serde_json::Value;

use crate::{
    document::key::Key,
    held::Holder,
    policy::verdict::Verdict,
    reach::{
        rooms,
        selector::{Labels, Selects},
        selects::{Asked, selects},
    },
};

/// A rollout that began while a gate or a freeze that stood then was shut.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Begun {
    /// The Deployment, as `namespace/name`.
    pub deployment: String,
    /// The new set.
    pub set: String,
    /// When it was made.
    pub at: Instant,
    /// The first that was shut, in the order of GATE-15.
    pub by: Key,
}

/// Every rollout that objects remember to have begun outside, the last first. Who began it may have been let pass (GATE-15): objects do not
/// remember who.
pub fn outside<'a>(
    documents: &[Value],
    holders: &[Holder],
    labels_of_namespace: impl Fn(&str) -> Option<&'a Labels>,
    operators: &str,
) -> Vec<Begun> {
    let Some(room) = rooms::room(What::Deployments) else { return Vec::new() };
    let sets = documents.iter().filter(|one| one["kind"] == "ReplicaSet");
    let begun = sets.filter_map(|set| {
        let text = |path: &str| set.pointer(path).and_then(Value::as_str);
        let at = Instant::parse(text("/metadata/creationTimestamp")?).ok()?;
        let owners = set.pointer("/metadata/ownerReferences").and_then(Value::as_array)?;
        let owner =
            owners.iter().find(|one| one["kind"] == "Deployment" && one["controller"] == true)?;
        // The number of a set moves when somebody goes back to it, so only that of the first install tells anything.
        let revision = text("/metadata/annotations/deployment.kubernetes.io~1revision")?;
        let again = text("/metadata/annotations/deployment.kubernetes.io~1revision-history");
        if revision == "1" || again.is_some_and(|history| history.split(',').any(|one| one == "1"))
        {
            return None;
        }
        let (name, namespace) = (owner["name"].as_str()?, text("/metadata/namespace")?);
        let labels = set.pointer("/spec/template/metadata/labels").and_then(Value::as_object);
        let pair =
            |(key, value): (&String, &Value)| Some((key.clone(), value.as_str()?.to_owned()));
        let labels: Labels = labels.into_iter().flatten().filter_map(pair).collect();
        let target = Asked {
            room,
            name,
            labels: Some(&labels),
            namespace: Some(namespace),
            namespace_labels: labels_of_namespace(namespace),
            operators,
        };
        let by = holders.iter().find(|holder| {
            let spec = holder.document.get("spec").unwrap_or(&Value::Null);
            holder.stood_at(at)
                && queues(spec)
                && holder.at(at).verdict == Verdict::Held
                && selects(spec, holder.key.namespace.as_deref(), &target) == Selects::Yes
        })?;
        let set = text("/metadata/name")?.to_owned();
        Some(Begun { deployment: format!("{namespace}/{name}"), set, at, by: by.key.clone() })
    });
    let mut begun: Vec<Begun> = begun.collect();
    begun.sort_by(|a, b| (b.at, &a.set).cmp(&(a.at, &b.set)));
    begun
}

/// Whether a gate or freeze refuses new sets: where the wish is refused, they pass.
fn queues(spec: &Value) -> bool {
    let holds = spec.get("holds").and_then(Value::as_array);
    holds.is_none_or(|holds| {
        holds.iter().any(|hold| hold["what"] == "Deployments" && hold["how"] != "Refuse")
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{
        cluster::{kinds, snapshot::Snapshot},
        held,
    };

    fn set(name: &str, revision: &str, created: &str) -> Value {
        json!({"kind": "ReplicaSet", "metadata": {"name": name, "namespace": "shop", "creationTimestamp": created,
            "annotations": {"deployment.kubernetes.io/revision": revision},
            "ownerReferences": [{"kind": "Deployment", "name": "web", "controller": true}]}})
    }

    /// GATE-13
    #[test]
    fn a_set_that_was_made_while_its_gate_was_shut_is_found() {
        let gate = json!({"metadata": {"name": "g", "namespace": "shop", "creationTimestamp": "2026-11-01T00:00:00Z"},
            "spec": {"changeManagement": {"strategy": "RestrictiveUntil", "restrictiveUntil": "2026-11-14T00:00:00Z"},
                "holds": [{"what": "Deployments"}]}});
        let mut snapshot = Snapshot::default();
        snapshot.add(&kinds::CHANGE_GATE, &gate);
        let holders = held::holders(&snapshot, [(&kinds::CHANGE_GATE, &gate)]);
        let mut again = set("web-6", "9", "2026-11-11T10:00:00Z");
        again["metadata"]["annotations"]["deployment.kubernetes.io/revision-history"] =
            json!("1,7");
        let sets = [
            set("web-1", "1", "2026-11-10T10:00:00Z"),
            set("web-2", "2", "2026-11-10T10:00:00Z"),
            set("web-3", "3", "2026-10-10T10:00:00Z"),
            set("web-4", "4", "2026-11-15T10:00:00Z"),
            set("web-5", "5", "2026-11-11T10:00:00Z"),
            again,
        ];
        let found = outside(&sets, &holders, |_| None, "tidegate-system");
        let names: Vec<&str> = found.iter().map(|one| one.set.as_str()).collect();
        assert_eq!(
            names,
            ["web-5", "web-2"],
            "neither the first install, nor before the gate, nor inside"
        );
        assert_eq!(found[0].deployment, "shop/web");
    }
}
