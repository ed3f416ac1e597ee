//! What do gates cost the API server, and how large and how quick is the operator with many of them?
//!
//! `cargo run --profile dist -p tidegate-tests --example gate_figures [NAMESPACES DEPLOYMENTS ROUNDS]`, on the real server.
//!
//! Everything is compared in one run, turn and turn about: what other work does to the computer it does to all of them. First writes are dry runs by a manager
//! of their own, inside a window, so that each has a stamp of its own and none is refused.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark that cannot go on has failed, and its output is its purpose"
)]

#[path = "../operator_figures/replica.rs"]
#[expect(dead_code, reason = "the figures of statuses need all of it")]
mod replica;
mod world;

use std::{
    path::Path,
    time::{Duration, Instant},
};

use rig::{Cluster, Controllers, User, suite};
use world::World;

use crate::replica::Replica;

/// How many gates are in each namespace whose writes are compared.
const GATES: [usize; 4] = [0, 1, 5, 10];

#[derive(Clone, Copy)]
struct Size {
    namespaces: usize,
    deployments: usize,
    rounds: usize,
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [replica, kubeconfig, now] = arguments.as_slice()
        && replica == "replica"
    {
        return replica::run(Path::new(kubeconfig), now);
    }
    let number =
        |place: usize, usual| arguments.get(place).map_or(usual, |text| text.parse().unwrap());
    let size = Size {
        namespaces: number(0, 1_000),
        deployments: number(1, 10_000),
        rounds: number(2, 300),
    };
    suite::on_real("gate-figures", Controllers::Absent, async |cluster| {
        cost(cluster, size.rounds).await;
    });
    suite::on_real("gate-figures-many", Controllers::Absent, async |cluster| {
        many(cluster, size).await;
    });
}

/// What a write costs with so many gates on it, one of another kind, and the same before there were policies.
async fn cost(cluster: &Cluster, rounds: usize) {
    let world = World::new(cluster.kubeconfig(User::Admin)).await;
    world.define().await;
    for gates in GATES {
        world.namespace(&format!("gates-{gates}")).await;
        world.stateful_set(&format!("gates-{gates}")).await;
    }
    let bare = times(&world, rounds).await;
    world.policies().await;
    for gates in GATES {
        for number in 0..gates {
            world.open_gate(&format!("gates-{gates}"), number).await;
        }
    }
    let held = times(&world, rounds).await;
    println!(
        "write, {rounds} times each in turn | before policies, ms at p10 | p50 | with policies and gates, ms at p10 | p50 | p95"
    );
    for ((name, before), (_, after)) in bare.iter().zip(&held) {
        println!(
            "{name} | {:.2} | {:.2} | {:.2} | {:.2} | {:.2}",
            at(before, 10),
            at(before, 50),
            at(after, 10),
            at(after, 50),
            at(after, 95)
        );
    }
}

/// What each write takes, one after the other, in turn.
async fn times(world: &World, rounds: usize) -> Vec<(String, Vec<Duration>)> {
    let mut all: Vec<(String, Vec<Duration>)> = GATES
        .iter()
        .map(|gates| (format!("template of a StatefulSet, {gates} gates"), Vec::new()))
        .chain(GATES.iter().map(|gates| (format!("replicas of it, {gates} gates"), Vec::new())))
        .chain([("a ConfigMap beside five gates".to_owned(), Vec::new())])
        .collect();
    for round in 0..rounds + 20 {
        for (place, (_, took)) in all.iter_mut().enumerate() {
            let began = Instant::now();
            match place {
                place if place < GATES.len() => world.template(GATES[place], round).await,
                place if place < 2 * GATES.len() => {
                    world.scale(GATES[place - GATES.len()], round).await;
                }
                _ => world.config_map(round).await,
            }
            // The first ones fill caches.
            if round >= 20 {
                took.push(began.elapsed());
            }
        }
    }
    all
}

fn at(took: &[Duration], percent: usize) -> f64 {
    let mut sorted = took.to_vec();
    sorted.sort();
    let place = (sorted.len() * percent / 100).min(sorted.len() - 1);
    sorted[place].as_secs_f64() * 1000.0
}

/// A gate in each of many namespaces, and what it holds there.
async fn many(cluster: &Cluster, size: Size) {
    let Size { namespaces, deployments, .. } = size;
    let kubeconfig = cluster.kubeconfig(User::Admin);
    let world = World::new(kubeconfig).await;
    world.define().await;
    world.policies().await;
    let began = Instant::now();
    world.fill(namespaces, deployments / namespaces).await;
    println!(
        "{namespaces} gates over {deployments} Deployments and their ReplicaSets created in {:.0} s",
        began.elapsed().as_secs_f64()
    );
    let mut replica = Replica::start(kubeconfig, "2026-11-18T12:00:00Z");
    let ready = replica.ready().await;
    replica.written(namespaces as u64).await;
    replica.quiet().await;
    let mut took = Vec::new();
    for number in 0..20 {
        let namespace = format!("team-{}", number * namespaces / 20);
        assert_eq!(world.pending(&namespace).await, 0);
        let began = Instant::now();
        world.change(&namespace).await;
        while world.pending(&namespace).await != 1 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        took.push(began.elapsed());
    }
    replica.quiet().await;
    let before = replica.count();
    let share = replica.idle_share(Duration::from_secs(20)).await;
    println!(
        "operator: ready after {:.1} s; pending told {:.0} ms after a change at the median, {:.0} ms at most of 20; {} KiB at most, {} KiB at rest; \
         idle for 20 s: {} statuses written, {:.1} % of a core",
        ready.as_secs_f64(),
        at(&took, 50),
        at(&took, 100),
        replica.peak_memory(),
        replica.memory(),
        replica.count() - before,
        share * 100.0
    );
}
