//! Does each policy stand? One first write for each room, which somebody without any other business sends.

use api::names;
use serde_json::{Value, json};
use tidegate_core::reach::{
    rooms::{ROOMS, Room},
    trial::{self, FirstWrite, Write},
};

use super::{workloads, world::World};
use crate::rollout::writers::until;

/// Policies reach a server a moment after they were created: each kind of gate and of freeze is seen refusing for each room.
pub(super) async fn meet_every_policy(world: &World) {
    world.namespace("probe", &json!({"probe": "yes"})).await;
    for kind in workloads::KINDS {
        workloads::create(world, kind, "probe", names::PROBE).await;
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

/// A write that begins something, and is not kept: the one by which the operator tries too.
async fn first_write(world: &World, room: &Room) -> Result<Value, String> {
    let Some(FirstWrite { api_version, kind, write }) = trial::for_nothing(room.what, "suite")
    else {
        panic!("no first write is known for {}", room.name_of());
    };
    let group = match api_version {
        "apps/v1" => world.apps.clone(),
        "v1" => "/api/v1".to_owned(),
        other => format!("/apis/{other}"),
    };
    let all = format!("{group}/namespaces/probe/{}", names::plural(kind));
    match write {
        Write::Create(object) => world.post(&format!("{all}?dryRun=All"), &object).await,
        Write::Patch(name, change) => {
            world.writer.merge(&format!("{all}/{name}?dryRun=All"), &change).await
        }
    }
}
