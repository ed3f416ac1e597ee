//! What runs on the nodes? Replicas that move, daemons that stay, a pod that nobody would make anew, and the budgets over them; and what these
//! pods belong to, where the server knows such kinds.

use serde_json::{Value, json};

use super::{nodes::name, role, stanza};
use crate::deployments::plan::{DESIRED, HASH, MOST, REVISION};

/// What runs everywhere, unless somebody wants another.
const VERSION: &str = "1.4";

/// Replicas: namespace, name, what owns them, how many, and the role of the nodes they run on.
const REPLICAS: &[(&str, &str, &str, usize, &str)] = &[
    ("shop", "web", "ReplicaSet", 6, "worker"),
    ("shop", "cart", "ReplicaSet", 3, "worker"),
    ("shop", "orders-db", "StatefulSet", 3, "worker"),
    ("payments", "api", "ReplicaSet", 4, "worker"),
    ("openshift-ingress", "router-default", "ReplicaSet", 3, "infra"),
    ("openshift-monitoring", "prometheus-k8s", "StatefulSet", 2, "infra"),
    ("reports", "crunch", "ReplicaSet", 3, "batch"),
    ("reports", "ledger", "StatefulSet", 1, "batch"),
];

/// What somebody wants of a Deployment that has not begun: namespace, name, version.
const WANTED: &[(&str, &str, &str)] = &[("shop", "cart", "1.5")];

/// Daemons, one on each node.
const DAEMONS: &[(&str, &str)] =
    &[("openshift-dns", "dns-default"), ("openshift-multus", "multus")];

/// Budgets: namespace, the workload, and what they ask for. That of the ledger can never be kept while its one pod moves.
const BUDGETS: &[(&str, &str, &str, i64)] = &[
    ("shop", "web", "minAvailable", 5),
    ("shop", "orders-db", "maxUnavailable", 1),
    ("payments", "api", "maxUnavailable", 1),
    ("openshift-ingress", "router-default", "maxUnavailable", 1),
    ("reports", "ledger", "minAvailable", 1),
];

const MACHINES: &[(&str, usize)] = &[("master", 3), ("worker", 6), ("infra", 3), ("batch", 3)];

pub(super) fn workloads() -> Vec<Value> {
    let mut objects = Vec::new();
    let namespaces = REPLICAS.iter().map(|row| row.0).chain(DAEMONS.iter().map(|row| row.0));
    for namespace in namespaces.chain(["debug"]) {
        let object =
            json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}});
        if !objects.contains(&object) {
            objects.push(object);
        }
    }
    for (namespace, workload, owner, count, kind) in REPLICAS {
        let machines = MACHINES.iter().find(|row| row.0 == *kind).map_or(1, |row| row.1);
        for number in 0..*count {
            // Not all on the first nodes: each workload begins where its name says.
            let place = (number + workload.len()) % machines;
            let pod =
                Pod { namespace, workload, owner: Some(owner), kind, node: name(kind, place) };
            let suffix = match *owner {
                "StatefulSet" => number.to_string(),
                _ => format!("{}{number}", letters(&pod.called())),
            };
            objects.push(pod.object(&format!("{}-{suffix}", pod.called())));
        }
    }
    for (kind, count) in MACHINES {
        for number in 0..*count {
            for (namespace, workload) in DAEMONS {
                let node = name(kind, number);
                let called = format!("{workload}-{}{number}", letters(kind));
                let pod = Pod { namespace, workload, owner: Some("DaemonSet"), kind: "", node };
                objects.push(pod.object(&called));
            }
        }
    }
    let node = name("worker", 4);
    let bare = Pod { namespace: "debug", workload: "shell", owner: None, kind: "worker", node };
    objects.push(bare.object("shell"));
    for (namespace, workload, wanted, count) in BUDGETS {
        objects.push(json!({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget",
            "metadata": {"namespace": namespace, "name": workload},
            "spec": {(*wanted): count, "selector": {"matchLabels": {"app": workload}}}}));
    }
    objects
}

/// What the pods belong to, and who holds the rollouts of the shop (RCH-3). A rollout waits from the start.
pub(super) fn owners(policies: &[String]) -> Vec<Value> {
    let mut objects = Vec::new();
    for (namespace, workload, owner, count, kind) in REPLICAS {
        let node = String::new();
        let pod = Pod { namespace, workload, owner: Some(owner), kind, node };
        if *owner == "ReplicaSet" {
            objects.extend(rolled(&pod, *count));
        } else {
            let mut set = pod.owned_by(owner, &pod.called());
            set["spec"]["replicas"] = json!(count);
            set["spec"]["serviceName"] = json!(workload);
            set["status"] = json!({"replicas": count, "readyReplicas": count, "currentReplicas": count,
                "updatedReplicas": count, "availableReplicas": count, "observedGeneration": 1});
            objects.push(set);
        }
    }
    let everywhere: usize = MACHINES.iter().map(|row| row.1).sum();
    for (namespace, workload) in DAEMONS {
        let node = String::new();
        let pod = Pod { namespace, workload, owner: Some("DaemonSet"), kind: "", node };
        let mut set = pod.owned_by("DaemonSet", workload);
        set["status"] = json!({"currentNumberScheduled": everywhere, "desiredNumberScheduled": everywhere,
            "numberReady": everywhere, "numberAvailable": everywhere, "numberMisscheduled": 0,
            "updatedNumberScheduled": everywhere, "observedGeneration": 1});
        objects.push(set);
    }
    let held = stanza("berlin-nights", policies);
    if !held.is_null() {
        objects.push(
            json!({"apiVersion": api::names::API_VERSION, "kind": api::kinds::CHANGE_GATE.name,
            "metadata": {"namespace": "shop", "name": "rollouts"},
            "spec": {"changeManagement": held, "holds": [{"what": "Deployments"}]}}),
        );
    }
    objects
}

/// A Deployment and the set that runs.
fn rolled(pod: &Pod<'_>, count: usize) -> [Value; 2] {
    let Pod { namespace, workload, .. } = pod;
    let mut deployment = pod.owned_by("Deployment", workload);
    deployment["spec"]["replicas"] = json!(count);
    deployment["metadata"]["annotations"] = json!({REVISION: "1"});
    let mut set = pod.owned_by("ReplicaSet", &pod.called());
    set["spec"]["replicas"] = json!(count);
    for path in ["/metadata/labels", "/spec/selector/matchLabels", "/spec/template/metadata/labels"]
    {
        if let Some(labels) = set.pointer_mut(path) {
            labels[HASH] = json!(letters(workload));
        }
    }
    set["metadata"]["annotations"] = json!({REVISION: "1", DESIRED: count.to_string(),
        MOST: (count + count.div_ceil(4)).to_string()});
    set["metadata"]["ownerReferences"] = json!([{"apiVersion": "apps/v1", "kind": "Deployment",
        "name": workload, "uid": deployment["metadata"]["uid"], "controller": true,
        "blockOwnerDeletion": true}]);
    let wanted = WANTED.iter().find(|row| (row.0, row.1) == (*namespace, *workload));
    if let Some((_, _, version)) = wanted {
        deployment["spec"]["template"]["spec"]["containers"][0]["image"] =
            json!(image(namespace, workload, version));
    }
    [deployment, set]
}

fn image(namespace: &str, workload: &str, version: &str) -> String {
    format!("registry.example.com/{namespace}/{workload}:{version}")
}

/// Five letters that look as if they were drawn.
fn letters(name: &str) -> String {
    const LETTERS: &[u8] = b"bcdfghjklmnpqrstvwxz";
    let mut hash = runtime::backoff::spread(name.as_bytes());
    let letter = |_| {
        hash = hash.rotate_left(11).wrapping_mul(0x0000_0100_0000_01B3);
        char::from(LETTERS[(hash >> 40) as usize % LETTERS.len()])
    };
    (0..4).map(letter).collect()
}

struct Pod<'a> {
    namespace: &'a str,
    workload: &'a str,
    owner: Option<&'a str>,
    /// The role of the nodes it runs on; empty for all.
    kind: &'a str,
    node: String,
}

impl Pod<'_> {
    /// The name of what owns it: a set has the hash of its template behind the name.
    fn called(&self) -> String {
        let workload = self.workload;
        match self.owner {
            Some("ReplicaSet") => format!("{workload}-{}", letters(workload)),
            _ => workload.to_owned(),
        }
    }

    /// The identity of what owns it, until the server gives it another.
    fn identity(&self, owner: &str) -> String {
        format!("{owner}-{}-{}", self.namespace, self.workload).to_lowercase()
    }

    /// What has pods like this one.
    fn owned_by(&self, kind: &str, name: &str) -> Value {
        let labels = json!({"app": self.workload});
        json!({"apiVersion": "apps/v1", "kind": kind,
            "metadata": {"namespace": self.namespace, "name": name, "uid": self.identity(kind), "labels": labels},
            "spec": {"selector": {"matchLabels": labels},
                "template": {"metadata": {"labels": labels}, "spec": self.spec()}}})
    }

    fn spec(&self) -> Value {
        let Self { namespace, workload, kind, .. } = self;
        let image = image(namespace, workload, VERSION);
        let mut spec = json!({"terminationGracePeriodSeconds": 30,
            "containers": [{"name": workload, "image": image}]});
        if kind.is_empty() {
            spec["tolerations"] = json!([{"operator": "Exists"}]);
        } else {
            spec["nodeSelector"] = json!({role(kind): ""});
            spec["tolerations"] = json!([{"key": role(kind), "operator": "Exists"}]);
        }
        spec
    }

    fn object(&self, called: &str) -> Value {
        let Self { namespace, workload, owner, node, .. } = self;
        let mut metadata =
            json!({"namespace": namespace, "name": called, "labels": {"app": workload}});
        if let Some(owner) = owner {
            metadata["ownerReferences"] = json!([{"apiVersion": "apps/v1", "kind": owner,
                "name": self.called(), "uid": self.identity(owner), "controller": true,
                "blockOwnerDeletion": true}]);
        }
        if *owner == Some("ReplicaSet") {
            metadata["labels"][HASH] = json!(letters(workload));
        }
        let mut spec = self.spec();
        spec["nodeName"] = json!(node);
        let image = image(namespace, workload, VERSION);
        let conditions = ["Initialized", "PodScheduled", "ContainersReady", "Ready"]
            .map(|kind| json!({"type": kind, "status": "True"}));
        json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec,
            "status": {"phase": "Running",
                "conditions": conditions,
                "containerStatuses": [{"name": workload, "image": image, "imageID": "", "ready": true,
                    "restartCount": 0, "state": {"running": {}}}]}})
    }
}
