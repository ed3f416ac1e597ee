//! By which write is it tried whether the API server holds a room? The first write of whoever changes things there, as a dry run that nobody
//! keeps (GATE-13).
//!
//! Whoever asks with rights of their own tries on an object that is there ([`on`]). The operator has no business with what others own: it tries
//! in a namespace of its own, where nothing is but what it tries with ([`for_nothing`]).

use api::{
    machine::names::DESIRED_CONFIG,
    names::{PROBE, TRIED_BY},
    reach::What,
};
use serde_json::{Value, json};

use super::{
    called::Called,
    policies::Parameter,
    rooms::{ROOMS, Room},
};

/// A first write, for nothing.
#[derive(Clone, Debug, PartialEq)]
pub struct FirstWrite {
    /// The group and version of what is written.
    pub api_version: &'static str,
    /// Its kind.
    pub kind: &'static str,
    /// What is written.
    pub write: Write,
}

/// What is written.
#[derive(Clone, Debug, PartialEq)]
pub enum Write {
    /// A new object.
    Create(Value),
    /// A merge patch of the object of this name.
    Patch(String, Value),
}

/// The annotation that what is kured's lock is written to.
const LOCK: &str = "weave.works/kured-node-lock";

/// The first write of a room on an object that is there, held in this way; none where no object is needed, or nobody knows how.
pub fn on(what: What, how: &str, object: &Value) -> Option<FirstWrite> {
    let Called { api_version, kind, .. } = *Called::of_room(what)?;
    let name = object.pointer("/metadata/name").and_then(Value::as_str)?.to_owned();
    let patch = |change: Value| FirstWrite { api_version, kind, write: Write::Patch(name, change) };
    Some(match what {
        What::Deployments if how == "Queue" => replica_set(object),
        What::MachineDeployments => machine_set(object),
        What::Deployments | What::StatefulSets | What::DaemonSets => {
            patch(json!({"spec": {"template": {"metadata": {"annotations": {TRIED_BY: PROBE}}}}}))
        }
        What::Applications => patch(json!({"operation": {"sync": {"revision": PROBE}}})),
        What::KuredLock => patch(json!({"metadata": {"annotations": {LOCK: lock()}}})),
        // A new one, because what somebody asks of the one that is there may be queued instead of refused.
        What::ClusterVersion => {
            let made = json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": PROBE},
                "spec": {"clusterID": "00000000-0000-4000-8000-000000000000", "desiredUpdate": {"version": "0.0.1"}}});
            FirstWrite { api_version, kind, write: Write::Create(made) }
        }
        _ => return None,
    })
}

/// An order to one of these nodes, of a pool: a configuration that nobody rendered, by a name of that pool. None if no node is of it.
pub fn order<'a>(pool: &str, nodes: impl Iterator<Item = &'a Value>) -> Option<FirstWrite> {
    let told = |node: &&Value| {
        let noted = node.pointer("/metadata/annotations").and_then(|all| all.get(DESIRED_CONFIG));
        let noted = noted.and_then(Value::as_str).unwrap_or_default();
        noted.strip_prefix("rendered-").and_then(|rest| Some(rest.rsplit_once('-')?.0))
            == Some(pool)
    };
    let mut nodes = nodes.filter(|object| object["kind"] == "Node").filter(told);
    let node = nodes.next()?["metadata"]["name"].as_str()?.to_owned();
    let order = format!("rendered-{pool}-{}", PROBE.replace('-', ""));
    let write = Write::Patch(node, json!({"metadata": {"annotations": {DESIRED_CONFIG: order}}}));
    Some(FirstWrite { api_version: "v1", kind: "Node", write })
}

/// The first write of a room where nothing of anybody's is, marked by the label [`TRIED_BY`] with this value; none of rooms whose first write
/// is to something that belongs to the whole cluster.
///
/// What is patched has to be there: a `StatefulSet` and a `DaemonSet`, called [`PROBE`], that run nothing.
pub fn for_nothing(what: What, mark: &str) -> Option<FirstWrite> {
    if what == What::HelmReleases {
        let mut written = release(PROBE);
        if let Write::Create(record) = &mut written.write {
            record["metadata"]["labels"][TRIED_BY] = json!(mark);
        }
        return Some(written);
    }
    let marked = json!({TRIED_BY: mark});
    let pods = json!({"selector": {"matchLabels": marked},
        "template": {"metadata": {"labels": marked}, "spec": {"containers": [{"name": PROBE, "image": PROBE}]}}});
    let called = |object: Value, name: &str| {
        let mut object = object;
        object["metadata"]["name"] = json!(name);
        object["metadata"]["labels"][TRIED_BY] = json!(mark);
        object
    };
    let create =
        |api_version, kind, object| FirstWrite { api_version, kind, write: Write::Create(object) };
    Some(match what {
        What::Deployments => {
            replica_set(&json!({"metadata": {"name": PROBE, "uid": PROBE}, "spec": pods}))
        }
        What::StatefulSets | What::DaemonSets => {
            let Called { api_version, kind, .. } = *Called::of_room(what)?;
            let change = json!({"metadata": {"labels": marked},
                "spec": {"template": {"metadata": {"annotations": {TRIED_BY: mark}}}}});
            FirstWrite { api_version, kind, write: Write::Patch(PROBE.to_owned(), change) }
        }
        What::MachineDeployments => {
            let mut written = machine_set(
                &json!({"metadata": {"name": PROBE, "uid": PROBE, "labels": marked}, "spec": pods}),
            );
            if let Write::Create(set) = &mut written.write {
                // Nothing of it is kept, so the cluster that it names need not be there.
                set["spec"]["clusterName"] = json!(PROBE);
            }
            written
        }
        What::KuredLock => {
            let set = json!({"apiVersion": "apps/v1", "kind": "DaemonSet",
                "metadata": {"annotations": {LOCK: lock()}}, "spec": pods});
            create("apps/v1", "DaemonSet", called(set, "tidegate-probe-lock"))
        }
        What::Applications => {
            let application = json!({"apiVersion": "argoproj.io/v1alpha1", "kind": "Application",
                "spec": {"project": PROBE, "destination": {"namespace": PROBE}},
                "operation": {"sync": {"revision": PROBE}}});
            create("argoproj.io/v1alpha1", "Application", called(application, PROBE))
        }
        _ => return None,
    })
}

/// What a gate or a freeze says by which is tried: it selects what bears its mark, and nothing else does.
pub fn probe(parameter: Parameter) -> Value {
    let mark = parameter.slug();
    let tried = ROOMS.iter().filter(|room| for_nothing(room.what, mark).is_some());
    let hold = |room: &Room| json!({"what": room.name_of(), "selector": {"matchLabels": {TRIED_BY: mark}}});
    let mut holds: Vec<Value> = tried.map(hold).collect();
    let spec = match parameter {
        Parameter::ChangeGate | Parameter::ClusterChangeGate => {
            json!({"changeManagement": {"strategy": "Restrictive"}, "holds": holds, "nudge": false})
        }
        Parameter::ChangeFreeze | Parameter::ClusterChangeFreeze => {
            if parameter == Parameter::ClusterChangeFreeze {
                // For the policy that keeps nodes: no pool is called so.
                holds.push(json!({"what": "MachineConfigPools", "names": [PROBE]}));
            }
            json!({"reason": "the operator tries by this whether the API server refuses; it freezes nothing", "holds": holds})
        }
    };
    json!({"apiVersion": api::names::API_VERSION, "kind": parameter.kind(),
        "metadata": {"name": PROBE, "labels": {"app.kubernetes.io/name": "tidegate"}}, "spec": spec})
}

/// The record of a release that is pending.
pub fn release(name: &str) -> FirstWrite {
    let record = json!({"apiVersion": "v1", "kind": "Secret", "type": "helm.sh/release.v1",
        "metadata": {"name": format!("sh.helm.release.v1.{name}.{PROBE}"),
            "labels": {"owner": "helm", "name": name, "status": "pending-upgrade", "version": "2"}}});
    FirstWrite { api_version: "v1", kind: "Secret", write: Write::Create(record) }
}

/// The new set of a Deployment, as its controller would make it.
fn replica_set(deployment: &Value) -> FirstWrite {
    let part = |path: &str| deployment.pointer(path).cloned().unwrap_or_default();
    let name = part("/metadata/name");
    let owner = json!({"apiVersion": "apps/v1", "kind": "Deployment", "name": name,
        "uid": part("/metadata/uid"), "controller": true});
    let set = json!({"apiVersion": "apps/v1", "kind": "ReplicaSet",
        "metadata": {"name": format!("{}-try", name.as_str().unwrap_or_default()),
            "ownerReferences": [owner], "labels": part("/spec/template/metadata/labels"),
            "annotations": {"deployment.kubernetes.io/revision": "2"}},
        "spec": {"replicas": 0, "selector": part("/spec/selector"), "template": part("/spec/template")}});
    FirstWrite { api_version: "apps/v1", kind: "ReplicaSet", write: Write::Create(set) }
}

/// The new set of a `MachineDeployment`, as its controller would make it.
fn machine_set(deployment: &Value) -> FirstWrite {
    const API_VERSION: &str = "cluster.x-k8s.io/v1beta1";
    let part = |path: &str| deployment.pointer(path).cloned().unwrap_or_default();
    let name = part("/metadata/name");
    let owner = json!({"apiVersion": API_VERSION, "kind": "MachineDeployment", "name": name,
        "uid": part("/metadata/uid"), "controller": true});
    let set = json!({"apiVersion": API_VERSION, "kind": "MachineSet",
        "metadata": {"name": format!("{}-try", name.as_str().unwrap_or_default()),
            "ownerReferences": [owner], "labels": part("/metadata/labels"),
            "annotations": {"machinedeployment.clusters.x-k8s.io/revision": "2"}},
        "spec": {"replicas": 0, "clusterName": part("/spec/clusterName"), "selector": part("/spec/selector"),
            "template": part("/spec/template")}});
    FirstWrite { api_version: API_VERSION, kind: "MachineSet", write: Write::Create(set) }
}

/// The lock as kured writes it for a node.
fn lock() -> String {
    format!("{{\"nodeID\":\"{PROBE}\",\"metadata\":{{}},\"TTL\":0}}")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// GATE-13: a new room says how it is tried, or is among those that are tried by people alone.
    #[test]
    fn every_room_is_tried_by_somebody() {
        let of_cluster = ["MachineConfigPools", "ClusterVersion"];
        for room in ROOMS {
            let tried = for_nothing(room.what, "gate");
            assert_eq!(tried.is_none(), of_cluster.contains(&room.name_of()), "{}", room.name_of());
            let Some(FirstWrite { write, .. }) = tried else { continue };
            let (Write::Create(written) | Write::Patch(_, written)) = write;
            let text = written.to_string();
            assert!(text.contains(&format!("\"{TRIED_BY}\":\"gate\"")), "{text}");
        }
    }
}
