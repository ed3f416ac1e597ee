//! How fast, how small and how quiet is the operator? Ten thousand gated resources over a thousand policies, on each server.
//!
//! `cargo run --release -p tidegate-tests --example operator_figures [embedded|real] [POLICIES RESOURCES]`
//!
//! The operator runs as a process of its own, so that its memory and its time are its own. What it is compared with is a bare loop
//! that sends the very patches that the operator would, made beforehand, from the same number of hands.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a benchmark that cannot go on has failed, and its output is its purpose"
)]

mod replica;
mod world;

use std::{
    path::Path,
    time::{Duration, Instant},
};

use rig::{
    Cluster, Controllers, User,
    suite::{self, Kubectl},
};
use world::World;

use crate::replica::Replica;

/// The same as the operator's own.
pub(crate) const HANDS: usize = 16;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["replica", kubeconfig, now] => replica::run(Path::new(kubeconfig), now),
        [server @ ("embedded" | "real"), rest @ ..] => {
            let number =
                |place: usize, usual| rest.get(place).map_or(usual, |text| text.parse().unwrap());
            let size = (number(0, 1_000), number(1, 10_000));
            println!("# {server}: {} resources over {} policies", size.1, size.0);
            if *server == "embedded" {
                suite::on_embedded("figures", Kubectl::Unused, async |cluster| {
                    figures(cluster, size).await
                });
            } else {
                suite::on_real("figures", Controllers::Absent, async |cluster| {
                    figures(cluster, size).await
                });
            }
        }
        _ => panic!("say embedded or real"),
    }
}

async fn figures(cluster: &Cluster, (policies, resources): (usize, usize)) {
    let kubeconfig = cluster.kubeconfig(User::Admin);
    let world = World::new(kubeconfig).await;
    let began = Instant::now();
    world.fill(policies, resources).await;
    println!("created in {:.1} s", began.elapsed().as_secs_f64());
    let all = policies + resources;

    // From nothing: every status is written once.
    let mut replica = Replica::start(kubeconfig, "2026-11-13T23:59:00Z");
    let ready = replica.ready().await;
    replica.written(all as u64).await;
    println!("start to ready {:.2} s (statuses still to be written)", ready.as_secs_f64());
    let edge = edge(&mut replica, "2026-11-13T23:59:58Z", all).await;
    println!("edge to last status {:.2} s: {:.0}/s", edge.as_secs_f64(), rate(all, edge));
    replica.quiet().await;
    println!("memory {} KiB at most", replica.peak_memory());
    drop(replica);

    let bare = world.bare("2026-11-16T00:00:00Z").await;
    println!("bare loop {:.2} s: {:.0}/s", bare.as_secs_f64(), rate(all, bare));
    println!("ratio {:.2}", bare.as_secs_f64() / edge.as_secs_f64());

    // Once more, with everything true at the start.
    let mut replica = Replica::start(kubeconfig, "2026-11-16T00:00:30Z");
    println!("start to ready {:.2} s", replica.ready().await.as_secs_f64());
    replica.settle().await;
    println!("written at the start {}", replica.count().await);
    let second = self::edge(&mut replica, "2026-11-20T23:59:58Z", all).await;
    println!("edge to last status {:.2} s: {:.0}/s", second.as_secs_f64(), rate(all, second));
    replica.quiet().await;
    let before = replica.count().await;
    let (share, scrape) =
        (replica.idle_share(Duration::from_secs(30)).await, replica.scrape().await);
    println!(
        "idle {:.2} % of a core, {} statuses written meanwhile",
        share * 100.0,
        replica.count().await - before
    );
    println!("scrape {:.1} ms at the median, {} bytes", scrape.0.as_secs_f64() * 1000.0, scrape.1);
    println!("lateness: 99 of 100 within {} s", replica.lateness().await);
    println!("memory {} KiB at most, {} KiB at rest", replica.peak_memory(), replica.memory());
    drop(replica);
    let again = world.bare_again().await;
    println!(
        "bare loop {:.2} s: {:.0}/s; ratio {:.2}",
        again.as_secs_f64(),
        rate(all, again),
        again.as_secs_f64() / second.as_secs_f64()
    );
}

/// From two seconds before an edge, in earnest time, until every status is written; counted from the edge.
async fn edge(replica: &mut Replica, before: &str, all: usize) -> Duration {
    let wanted = replica.count().await + all as u64;
    replica.set(before);
    let began = Instant::now();
    replica.written(wanted).await;
    began.elapsed().saturating_sub(Duration::from_secs(2))
}

fn rate(all: usize, took: Duration) -> f64 {
    all as f64 / took.as_secs_f64()
}
