//! What do the nodes look like? Three masters and twelve workers, spread over three zones.

use serde_json::{Value, json};

use super::role;

/// The nodes by role: how many, how large, and in which address range.
const MACHINES: &[(&str, usize, u32, u32, u32)] = &[
    ("master", 3, 8, 32, 10),
    ("worker", 6, 16, 64, 20),
    ("infra", 3, 8, 32, 30),
    ("batch", 3, 32, 128, 40),
];

pub(super) fn nodes() -> Vec<Value> {
    let mut nodes = Vec::new();
    for (kind, count, cores, memory, range) in MACHINES {
        for number in 0..*count {
            let zone = ["zone-a", "zone-b", "zone-c"][number % 3];
            nodes.push(node(kind, number, zone, (*cores, *memory), *range));
        }
    }
    nodes
}

/// The name of a node.
pub(super) fn name(kind: &str, number: usize) -> String {
    format!("{kind}-{number}")
}

fn node(kind: &str, number: usize, zone: &str, (cores, memory): (u32, u32), range: u32) -> Value {
    let name = name(kind, number);
    let mut labels = json!({
        "kubernetes.io/hostname": name, "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64",
        "topology.kubernetes.io/zone": zone, "topology.kubernetes.io/region": "region-1",
        role(kind): ""});
    let mut spec = json!({"providerID": format!("sandbox:///{zone}/{name}")});
    if kind == "master" {
        labels[role("control-plane")] = json!("");
    } else {
        labels[role("worker")] = json!("");
    }
    // Only what is meant for them runs on masters and on nodes of pools of their own.
    if kind != "worker" {
        spec["taints"] = json!([{"key": role(kind), "effect": "NoSchedule"}]);
    }
    let fine =
        |kind: &str, reason: &str| json!({"type": kind, "status": "False", "reason": reason});
    let capacity =
        json!({"cpu": cores.to_string(), "memory": format!("{memory}Gi"), "pods": "250"});
    json!({"apiVersion": "v1", "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "spec": spec,
        "status": {
            "capacity": capacity, "allocatable": capacity,
            "addresses": [{"type": "InternalIP", "address": format!("10.0.{range}.{}", 10 + number)},
                {"type": "Hostname", "address": name}],
            "nodeInfo": {"kubeletVersion": "v1.33.5", "osImage": "Red Hat Enterprise Linux CoreOS 9.6",
                "kernelVersion": "5.14.0-570.el9.x86_64", "containerRuntimeVersion": "cri-o://1.33.5",
                "operatingSystem": "linux", "architecture": "amd64", "machineID": name, "systemUUID": name,
                "bootID": name, "kubeProxyVersion": ""},
            "conditions": [
                fine("MemoryPressure", "KubeletHasSufficientMemory"),
                fine("DiskPressure", "KubeletHasNoDiskPressure"),
                fine("PIDPressure", "KubeletHasSufficientPID"),
                {"type": "Ready", "status": "True", "reason": "KubeletReady",
                 "message": "kubelet is posting ready status"}]}})
}
