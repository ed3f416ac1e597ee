//! Does each policy stand? One first write for each room, which somebody without any other business sends.

use serde_json::{Value, json};
use tidegate_core::reach::rooms::{ROOMS, Room};

use super::{
    machines, releases, syncs, workloads,
    world::{LOCK, World, daemon_set, replica_set},
};
use crate::rollout::writers::until;

/// Policies reach a server a moment after they were created: each kind of gate and of freeze is seen refusing for each room.
pub(super) async fn meet_every_policy(world: &World) {
    world.namespace("probe", &json!({"probe": "yes"})).await;
    for kind in workloads::KINDS {
        workloads::create(world, kind, "probe", "probe").await;
    }
    let holds: Value = ROOMS.iter().map(|room| json!({"what": room.name_of()})).collect();
    let here = json!({"matchLabels": {"probe": "yes"}});
    world.gate("probe", "probe", json!({"holds": holds})).await;
    all_refuse(world, "gate").await;
    world.remove_gate("probe", "probe").await;
    world.cluster_gate("probe", json!({"holds": holds, "namespaceSelector": here})).await;
    all_refuse(world, "cluster-gate").await;
    world.remove_cluster_gate("probe").await;
    world.freeze("probe", "probe", json!({"reason": "probe"})).await;
    all_refuse(world, "freeze").await;
    world.thaw("probe", "probe").await;
    world.cluster_freeze("probe", json!({"reason": "probe", "namespaceSelector": here})).await;
    all_refuse(world, "cluster-freeze").await;
    world.thaw_cluster("probe").await;
}

async fn all_refuse(world: &World, kind: &str) {
    for room in ROOMS {
        let policy = format!("'tidegate-{kind}-{}'", room.slug);
        until(&policy, async || {
            first_write(world, room).await.is_err_and(|said| said.contains(&policy))
        })
        .await;
    }
}

/// A write that begins something, and is not kept.
async fn first_write(world: &World, room: &Room) -> Result<Value, String> {
    let path = |rest: &str| format!("{}/namespaces/probe/{rest}?dryRun=All", world.apps);
    match room.slug {
        "deployments" => {
            let set = replica_set("probe", "2", &json!({"app": "probe"}));
            world.post(&path("replicasets"), &set).await
        }
        "kured-lock" => {
            world.post(&path("daemonsets"), &daemon_set("new", &json!({LOCK: "x"}))).await
        }
        kind @ ("statefulsets" | "daemonsets") => {
            let change = workloads::image("app:2");
            world.writer.merge(&path(&format!("{kind}/probe")), &change).await
        }
        "helm-releases" => {
            let path = "/api/v1/namespaces/probe/secrets?dryRun=All";
            world.post(path, &releases::record("secrets", "pending-upgrade", "2")).await
        }
        "applications" => {
            let path = "/apis/argoproj.io/v1alpha1/namespaces/probe/applications?dryRun=All";
            let mut application = syncs::application("probe");
            application["operation"] = json!({"sync": {}});
            world.post(path, &application).await
        }
        "machinedeployments" => {
            let path = format!("{}/probe/machinesets?dryRun=All", machines::SETS);
            world.post(&path, &machines::set("probe", "2", 1, 3)).await
        }
        other => panic!("no first write is known for {other}"),
    }
}
