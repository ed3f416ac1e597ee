//! How fast, how small and how quiet is the operator? Ten thousand gated resources over a thousand policies, on each server.
//!
//! `cargo run --profile dist -p tidegate-tests --example operator_figures [embedded|real] [POLICIES RESOURCES ROUNDS]`
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
            let size = Size {
                policies: number(0, 1_000),
                resources: number(1, 10_000),
                rounds: number(2, WEEKENDS.len()),
            };
            println!("# {server}: {} resources over {} policies", size.resources, size.policies);
            if *server == "embedded" {
                suite::on_embedded("figures", Kubectl::Unused, async |cluster| {
                    figures(cluster, size).await;
                });
            } else {
                suite::on_real("figures", Controllers::Absent, async |cluster| {
                    figures(cluster, size).await;
                });
            }
        }
        _ => panic!("say embedded or real"),
    }
}

#[derive(Clone, Copy)]
struct Size {
    policies: usize,
    resources: usize,
    rounds: usize,
}

async fn figures(cluster: &Cluster, size: Size) {
    let Size { policies, resources, rounds } = size;
    let kubeconfig = cluster.kubeconfig(User::Admin);
    let world = World::new(kubeconfig).await;
    let began = Instant::now();
    world.fill(policies, resources).await;
    println!("created in {:.1} s", began.elapsed().as_secs_f64());
    let all = policies + resources;

    // From nothing: every status is written once.
    let mut replica = Replica::start(kubeconfig, "2026-11-13T23:59:00Z");
    replica.written(all as u64).await;
    drop(replica);

    // Turn and turn about, on a node that may have other things to do: the best of each counts.
    let mut ratios = (Duration::MAX, Duration::MAX);
    for (saturday, monday) in WEEKENDS.iter().take(rounds) {
        let mut replica = Replica::start(kubeconfig, &format!("{}T23:59:30Z", saturday.0));
        let ready = replica.ready().await;
        let edge = edge(&mut replica, &format!("{}T23:59:58Z", saturday.0), all).await;
        let counted = replica.count();
        replica.quiet().await;
        let more = replica.count() - counted;
        let lateness = replica.lateness();
        let memory = replica.peak_memory();
        drop(replica);
        let bare = world.bare(&format!("{monday}T00:00:00Z")).await;
        ratios = (ratios.0.min(edge), ratios.1.min(bare));
        println!(
            "start to ready {:.2} s; edge of {} to last status {:.2} s, {:.0}/s; bare loop {:.2} s, {:.0}/s; ratio {:.2}; \
             99 of 100 woken within {lateness} s; {more} written afterwards; {memory} KiB at most",
            ready.as_secs_f64(),
            saturday.1,
            edge.as_secs_f64(),
            rate(all, edge),
            bare.as_secs_f64(),
            rate(all, bare),
            bare.as_secs_f64() / edge.as_secs_f64(),
        );
    }
    println!("ratio of the best {:.2}", ratios.1.as_secs_f64() / ratios.0.as_secs_f64());

    let mut replica = Replica::start(kubeconfig, "2026-12-07T12:00:00Z");
    replica.ready().await;
    replica.quiet().await;
    let before = replica.count();
    let share = replica.idle_share(Duration::from_secs(30)).await;
    println!(
        "idle {:.2} % of a core, {} statuses written",
        share * 100.0,
        replica.count() - before
    );
    let (scrape, worked, bytes) = replica.scrape();
    println!(
        "scrape {:.1} ms at the median, {:.1} ms of a core, {bytes} bytes",
        scrape.as_secs_f64() * 1000.0,
        worked.as_secs_f64() * 1000.0
    );
    println!("memory {} KiB at most, {} KiB at rest", replica.peak_memory(), replica.memory());
}

/// The day before each weekend, the weekend, and the day after it.
const WEEKENDS: [((&str, &str), &str); 4] = [
    (("2026-11-13", "2026-11-14"), "2026-11-16"),
    (("2026-11-20", "2026-11-21"), "2026-11-23"),
    (("2026-11-27", "2026-11-28"), "2026-11-30"),
    (("2026-12-04", "2026-12-05"), "2026-12-07"),
];

/// From two seconds before an edge, in earnest time, until every status is written; counted from the edge.
async fn edge(replica: &mut Replica, before: &str, all: usize) -> Duration {
    let wanted = replica.count() + all as u64;
    replica.set(before);
    let began = Instant::now();
    replica.written(wanted).await;
    began.elapsed().saturating_sub(Duration::from_secs(2))
}

fn rate(all: usize, took: Duration) -> f64 {
    all as f64 / took.as_secs_f64()
}
