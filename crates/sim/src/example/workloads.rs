//! What runs on the nodes? Replicas that move, daemons that stay, a pod that nobody would make anew, and the budgets over them.

use serde_json::{Value, json};

use super::{nodes::name, role};

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
            let suffix = match *owner {
                "StatefulSet" => number.to_string(),
                _ => format!("{}{number}", letters(workload)),
            };
            let pod =
                Pod { namespace, workload, owner: Some(owner), kind, node: name(kind, place) };
            objects.push(pod.object(&format!("{workload}-{suffix}")));
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
    fn object(&self, called: &str) -> Value {
        let Self { namespace, workload, owner, kind, node } = self;
        let mut metadata =
            json!({"namespace": namespace, "name": called, "labels": {"app": workload}});
        if let Some(owner) = owner {
            metadata["ownerReferences"] = json!([{"apiVersion": "apps/v1", "kind": owner, "name": workload,
                "uid": format!("{owner}-{namespace}-{workload}").to_lowercase(), "controller": true,
                "blockOwnerDeletion": true}]);
        }
        let image = format!("registry.example.com/{namespace}/{workload}:1.4");
        let mut spec = json!({"nodeName": node, "terminationGracePeriodSeconds": 30,
            "containers": [{"name": workload, "image": image}]});
        if kind.is_empty() {
            spec["tolerations"] = json!([{"operator": "Exists"}]);
        } else {
            spec["nodeSelector"] = json!({role(kind): ""});
            spec["tolerations"] = json!([{"key": role(kind), "operator": "Exists"}]);
        }
        let conditions = ["Initialized", "PodScheduled", "ContainersReady", "Ready"]
            .map(|kind| json!({"type": kind, "status": "True"}));
        json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec,
            "status": {"phase": "Running",
                "conditions": conditions,
                "containerStatuses": [{"name": workload, "image": image, "imageID": "", "ready": true,
                    "restartCount": 0, "state": {"running": {}}}]}})
    }
}
