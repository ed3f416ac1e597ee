//! Does each policy stand? One first write for each room, which somebody without any other business sends.

use api::{names, reach::What, schema::Scope};
use serde_json::{Value, json};
use tidegate_core::reach::{
    rooms::{ROOMS, Room},
    trial::{self, FirstWrite, Write},
};

use super::{clusters, stock, upgraders, workloads, world::World};
use crate::rollout::writers::until;

/// Policies reach a server a moment after they were created: each kind of gate and of freeze is seen refusing for each room.
pub(super) async fn meet_every_policy(world: &World) {
    world.namespace("probe", &json!({"probe": "yes"})).await;
    for kind in workloads::KINDS {
        workloads::create(world, kind, "probe", names::PROBE).await;
    }
    upgraders::stand(world, "probe").await;
    clusters::stand(world, "probe").await;
    let of = |scope: Scope| -> Value {
        let rooms = ROOMS.iter().filter(|room| room.scope() == scope);
        rooms.map(|room| json!({"what": room.name_of()})).collect()
    };
    let (holds, wide) = (of(Scope::Namespaced), of(Scope::Cluster));
    stock::node(world, "probe", "rendered-probe-1").await;
    stock::control_plane(world).await;
    let here = json!({"matchLabels": {"probe": "yes"}});
    world.gate("probe", "probe", json!({"holds": holds})).await;
    all_refuse(world, "gate", Scope::Namespaced).await;
    world.remove_gate("probe", "probe").await;
    world.cluster_gate("probe", json!({"holds": holds, "namespaceSelector": here})).await;
    all_refuse(world, "cluster-gate", Scope::Namespaced).await;
    world.remove_cluster_gate("probe").await;
    world.cluster_gate("probe", json!({"holds": wide})).await;
    all_refuse(world, "cluster-gate", Scope::Cluster).await;
    world.remove_cluster_gate("probe").await;
    world.freeze("probe", "probe", json!({"reason": "probe"})).await;
    all_refuse(world, "freeze", Scope::Namespaced).await;
    world.thaw("probe", "probe").await;
    world.cluster_freeze("probe", json!({"reason": "probe", "namespaceSelector": here})).await;
    all_refuse(world, "cluster-freeze", Scope::Namespaced).await;
    world.thaw_cluster("probe").await;
    world.cluster_freeze("probe", json!({"reason": "probe", "holds": wide})).await;
    all_refuse(world, "cluster-freeze", Scope::Cluster).await;
    world.thaw_cluster("probe").await;
    stock::without_node(world, "probe").await;
}

async fn all_refuse(world: &World, kind: &str, scope: Scope) {
    for room in ROOMS.iter().filter(|room| room.scope() == scope) {
        let policy = format!("'tidegate-{kind}-{}'", room.slug);
        until(&policy, async || {
            first_write(world, room).await.is_err_and(|said| said.contains(&policy))
        })
        .await;
    }
}

/// A write that begins something, and is not kept: the one by which the operator tries too.
async fn first_write(world: &World, room: &Room) -> Result<Value, String> {
    match room.what {
        What::MachineConfigPools => {
            return stock::told(&world.writer, "probe", "rendered-probe-2").await;
        }
        What::ClusterVersion => return stock::asked(&world.writer, "9.9.9").await,
        What::FluxRevisions => return upgraders::revises(world, "probe", "probe").await,
        What::KarpenterDisruption => return upgraders::disrupts(world, "probe").await,
        What::KubeadmControlPlanes => return upgraders::upgrades(world, "probe", "v9.9.9").await,
        What::ClusterTopologies => return clusters::upgrades(world, "probe", "v9.9.9").await,
        What::HostedClusters => return clusters::releases(world, "HostedCluster", "probe").await,
        What::NodePools => return clusters::releases(world, "NodePool", "probe").await,
        _ => {}
    }
    let Some(FirstWrite { api_version, kind, write }) = trial::for_nothing(room.what, "suite")
    else {
        panic!("no first write is known for {}", room.name_of());
    };
    let group = match api_version {
        "apps/v1" => world.apps.clone(),
        "batch/v1" => world.batch(),
        "v1" => "/api/v1".to_owned(),
        other => format!("/apis/{other}"),
    };
    let all = format!("{group}/namespaces/probe/{}", names::plural(kind));
    match write {
        Write::Create(object) => world.post(&format!("{all}?dryRun=All"), &object).await,
        Write::Patch(name, change) => {
            world.writer.merge(&format!("{all}/{name}?dryRun=All"), &change).await
        }
        Write::PatchStatus(name, change) => {
            world.writer.merge(&format!("{all}/{name}/status?dryRun=All"), &change).await
        }
    }
}
