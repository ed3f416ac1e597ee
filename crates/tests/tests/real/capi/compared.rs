//! Does the model that the sandbox plays do what Cluster API does, step by step?

use std::collections::BTreeMap;

use serde_json::Value;
use sim::machine_api::plan::{self, Deed, Seen};

use super::{
    history::{Told, step},
    management::{Management, NEW, until},
    model::{Gate, Played},
};

/// The same start, the same writes by people, and the same steps: where machines that boot together cannot change their order.
pub(super) async fn with_what_it_does(management: &Management) {
    tokio::join!(
        roll_out(management, "surging", (1, 0)),
        roll_out(management, "missing", (0, 1)),
        scale_out_in_the_middle(management),
    );
}

async fn roll_out(management: &Management, name: &str, limits: (i64, i64)) {
    let pool = management.pool(name, 3, limits).await;
    pool.hand_over(NEW).await;
    pool.runs(NEW, 3).await;
    let mut played = Played::begin(3, limits);
    played.hand_over(NEW);
    played.settle(Gate::Open);
    assert_eq!(steps(management, name), played.steps, "{name}");
}

async fn scale_out_in_the_middle(management: &Management) {
    let name = "scaled-midway";
    let pool = management.pool(name, 3, (1, 0)).await;
    let mut played = Played::begin(3, (1, 0));
    management.machines.keep_from_booting(name);
    pool.hand_over(NEW).await;
    until("it begins", async || pool.sets().await.len() == 2).await;
    played.hand_over(NEW);
    played.settle_without_boots(Gate::Open);
    pool.scale(4).await;
    until("it grows", async || steps(management, name).last() == Some(&(2, 2))).await;
    played.scale(4);
    played.settle_without_boots(Gate::Open);
    management.machines.let_boot(name);
    pool.runs(NEW, 4).await;
    played.settle(Gate::Open);
    assert_eq!(steps(management, name), played.steps);
}

/// What became of a pool that was held in the middle, scaled out, scaled in and let go on.
pub(super) fn held_and_scaled() -> Vec<(i64, i64)> {
    let mut played = Played::begin(3, (1, 0));
    played.hand_over(NEW);
    played.settle(Gate::Shut);
    played.scale(4);
    played.settle(Gate::Shut);
    played.scale(3);
    played.settle_without_boots(Gate::Open);
    played.settle(Gate::Shut);
    for replicas in [5, 4] {
        played.scale(replicas);
        played.settle(Gate::Shut);
    }
    played.settle(Gate::Open);
    played.steps
}

pub(super) fn steps(management: &Management, name: &str) -> Vec<(i64, i64)> {
    management.history.steps(name).iter().map(|step| (step.revision, step.replicas)).collect()
}

/// Whatever the order in which machines came and went, in every scene: each step is what the model does with what was there when the controller
/// looked. It may have looked just before the step before this one: it writes several sets in one go.
pub(super) fn every_step_is_one_of_the_model(management: &Management) {
    let mut compared = 0;
    for pool in management.history.pools() {
        let told = management.history.of(&pool);
        let steps: Vec<usize> =
            (0..told.len()).filter(|index| step(&told, *index).is_some()).collect();
        for (nth, index) in steps.iter().enumerate() {
            let since = nth.checked_sub(2).map_or(0, |earlier| steps[earlier]);
            let set = &told[*index].object;
            let same = (since..*index).any(|look| does(&told[..=look], set));
            assert!(same, "{pool}: no step of the model: {:?}", step(&told, *index));
            compared += 1;
        }
    }
    println!("cluster-api: {compared} steps compared with the model");
    assert!(compared > 30, "{compared}");
}

/// Whether the model, with what was there then, does to this set what was done.
fn does(told: &[Told], set: &Value) -> bool {
    let mut objects: BTreeMap<String, &Told> = BTreeMap::new();
    for told in told {
        let name = told.object["metadata"]["name"].as_str().unwrap();
        objects.insert(format!("{} {name}", told.kind), told);
    }
    let of = |kind: &str| -> Vec<Value> {
        let here = objects.values().filter(|told| {
            told.kind == kind
                && !told.gone
                && told.object["metadata"].get("deletionTimestamp").is_none()
        });
        here.map(|told| told.object.clone()).collect()
    };
    let Some(mut deployment) = of("MachineDeployment").pop() else { return false };
    // The model reads the version that HyperShift writes, in which this stands elsewhere.
    deployment["spec"]["strategy"] = deployment["spec"]["rollout"]["strategy"].clone();
    let sets = of("MachineSet");
    let known = sets.iter().any(|one| one["metadata"]["name"] == set["metadata"]["name"]);
    let deeds = plan::deployment(Seen { deployment: &deployment, sets: &sets, machines: &[] });
    deeds.iter().any(|deed| match deed {
        Deed::CreateSet(made) => !known && made["spec"]["replicas"] == set["spec"]["replicas"],
        Deed::ScaleSet(name, change) => {
            set["metadata"]["name"] == **name
                && change["spec"]["replicas"] == set["spec"]["replicas"]
        }
        _ => false,
    })
}
