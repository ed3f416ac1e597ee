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
    /// The same of its status.
    PatchStatus(String, Value),
}

/// The label by which a Job of the system-upgrade-controller names its plan.
const PLAN: &str = "upgrade.cattle.io/plan";

/// The label by which a node names its `NodePool`, and the taint by which Karpenter begins.
const NODE_POOL: &str = "karpenter.sh/nodepool";
const DISRUPTED: &str = "karpenter.sh/disrupted";

/// The annotation that what is kured's lock is written to.
const LOCK: &str = "weave.works/kured-node-lock";

/// The first write of a room on an object of a kind that is there, held in this way; none where no object is needed, or nobody knows how.
pub fn on(what: What, how: &str, kind: &Called, object: &Value) -> Option<FirstWrite> {
    let Called { api_version, kind, .. } = *kind;
    let name = object.pointer("/metadata/name").and_then(Value::as_str)?.to_owned();
    let patch =
        |change: Value| FirstWrite { api_version, kind, write: Write::Patch(name.clone(), change) };
    let labels = || object.pointer("/metadata/labels").cloned().unwrap_or_else(|| json!({}));
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
        // Under the name of the one that is there, because that one may have been approved long ago.
        What::InstallPlans => install_plan(&name, &labels()),
        What::UpgradePlans => job(&name, labels()),
        What::FluxRevisions => {
            let artifact = json!({"revision": PROBE, "digest": PROBE, "path": PROBE, "url": PROBE,
                "lastUpdateTime": "2000-01-01T00:00:00Z"});
            let write = Write::PatchStatus(name, json!({"status": {"artifact": artifact}}));
            FirstWrite { api_version, kind, write }
        }
        What::KubeadmControlPlanes => patch(json!({"spec": {"version": "v0.0.1"}})),
        // Without a topology it would have to name a class.
        What::ClusterTopologies => {
            object.pointer("/spec/topology").filter(|topology| !topology.is_null())?;
            patch(json!({"spec": {"topology": {"version": "v0.0.1"}}}))
        }
        What::HostedClusters | What::NodePools => {
            patch(json!({"spec": {"release": {"image": PROBE}}}))
        }
        _ => return None,
    })
}

/// The taint by which Karpenter would begin to replace one of these nodes, of a `NodePool`. None if no node is of it, or all bear it.
pub fn disruption<'a>(pool: &str, nodes: impl Iterator<Item = &'a Value>) -> Option<FirstWrite> {
    let of_it = |node: &&Value| {
        let labels = node.pointer("/metadata/labels");
        labels.and_then(|labels| labels.get(NODE_POOL)).and_then(Value::as_str) == Some(pool)
    };
    let taints = |node: &Value| {
        node.pointer("/spec/taints").and_then(Value::as_array).cloned().unwrap_or_default()
    };
    let is_begun = |node: &&Value| taints(node).iter().any(|taint| taint["key"] == DISRUPTED);
    let mut nodes = nodes.filter(|object| object["kind"] == "Node").filter(of_it);
    let node = nodes.find(|node| !is_begun(node))?;
    let mut taints = taints(node);
    taints.push(json!({"key": DISRUPTED, "effect": "NoSchedule"}));
    let name = node["metadata"]["name"].as_str()?.to_owned();
    let write = Write::Patch(name, json!({"spec": {"taints": taints}}));
    Some(FirstWrite { api_version: "v1", kind: "Node", write })
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
/// is to something that belongs to the whole cluster, or to something that only its owner has there.
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
        What::InstallPlans => install_plan(PROBE, &marked),
        What::UpgradePlans => job(PROBE, marked),
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

/// A plan that is approved, as the catalog operator makes it where approval is automatic.
fn install_plan(name: &str, labels: &Value) -> FirstWrite {
    const API_VERSION: &str = "operators.coreos.com/v1alpha1";
    let plan = json!({"apiVersion": API_VERSION, "kind": "InstallPlan",
        "metadata": {"name": name, "labels": labels},
        "spec": {"approval": "Automatic", "approved": true, "clusterServiceVersionNames": [PROBE]}});
    FirstWrite { api_version: API_VERSION, kind: "InstallPlan", write: Write::Create(plan) }
}

/// The Job of a plan for a node, as the system-upgrade-controller makes it: paused.
fn job(plan: &str, mut labels: Value) -> FirstWrite {
    labels[PLAN] = json!(plan);
    let job = json!({"apiVersion": "batch/v1", "kind": "Job",
        "metadata": {"name": PROBE, "labels": labels},
        "spec": {"parallelism": 0, "template": {"spec": {"restartPolicy": "Never",
            "containers": [{"name": PROBE, "image": PROBE}]}}}});
    FirstWrite { api_version: "batch/v1", kind: "Job", write: Write::Create(job) }
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
        // What belongs to the whole cluster, and what begins by a change of something that has to be there.
        let by_people = [
            "MachineConfigPools",
            "ClusterVersion",
            "FluxRevisions",
            "KarpenterDisruption",
            "KubeadmControlPlanes",
            "ClusterTopologies",
            "HostedClusters",
            "NodePools",
        ];
        for room in ROOMS {
            let tried = for_nothing(room.what, "gate");
            assert_eq!(tried.is_none(), by_people.contains(&room.name_of()), "{}", room.name_of());
            let Some(FirstWrite { write, .. }) = tried else { continue };
            let (Write::Create(written)
            | Write::Patch(_, written)
            | Write::PatchStatus(_, written)) = write;
            let text = written.to_string();
            assert!(text.contains(&format!("\"{TRIED_BY}\":\"gate\"")), "{text}");
        }
    }
}
