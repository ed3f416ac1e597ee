//! How long do decisions about nodes take? Run with `cargo run --profile dist -p tidegate-core --example decision_figures`.
//!
//! Each figure stands beside its limit, and the program fails if one is missed.
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::unwrap_used,
    reason = "this program measures the crate and is no part of it"
)]

use std::{
    collections::BTreeSet,
    hint::black_box,
    io::{Write as _, stdout},
    process::ExitCode,
    time::{Duration, Instant as Clock},
};

use api::machine::names;
use schedule::{Instant, TimeSet};
use serde_json::{Value, json};
use tidegate_core::{
    cluster::{kinds, snapshot::Snapshot},
    gate::WhatIf,
    pool::{
        decide,
        merge::Base,
        render::{Rendering, render},
        seen::SeenPool,
        source::{SeenConfig, Source},
    },
    simulate::{Lengths, Settings, simulate},
};

const ROUNDS: usize = 51;

fn main() -> ExitCode {
    let documents: Vec<Value> = (0..500).map(source).collect();
    let pool = SeenPool::new(&pool(None));
    let sources = read(&documents);
    let rows = [
        row("read 500 MachineConfigs", 50, || read(&documents).len()),
        row("render 500 MachineConfigs", 50, || {
            render(&pool, &sources, &Base::default(), None).config.unwrap().name.len()
        }),
        row("read and render 500 MachineConfigs", 50, || {
            render(&pool, &read(&documents), &Base::default(), None).config.unwrap().name.len()
        }),
        plan_row("plan 5,000 nodes, all waiting, gate open", None, TimeSet::always(), 0),
        plan_row("plan 5,000 nodes, 450 begun, gate open", None, TimeSet::always(), 450),
        plan_row("plan 5,000 nodes, all waiting, gate shut", None, TimeSet::never(), 0),
        plan_row("plan 5,000 nodes, a bypass, gate shut", Some("urgent"), TimeSet::never(), 0),
        simulation_row(),
        large_row(),
    ];
    let met = rows.iter().all(|(_, median, limit)| median <= limit);
    let mut out = stdout().lock();
    for (name, median, limit) in rows {
        writeln!(out, "{name:<46} {median:>10.2?}  (limit {limit:?})").unwrap();
    }
    if met { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The median of some rounds, and the limit in milliseconds.
fn row(
    name: &'static str,
    limit: u64,
    run: impl Fn() -> usize,
) -> (&'static str, Duration, Duration) {
    rounds(name, (ROUNDS, limit), run)
}

fn rounds(
    name: &'static str,
    (count, limit): (usize, u64),
    run: impl Fn() -> usize,
) -> (&'static str, Duration, Duration) {
    let mut times: Vec<Duration> = (0..count)
        .map(|_| {
            let start = Clock::now();
            black_box(run());
            start.elapsed()
        })
        .collect();
    times.sort_unstable();
    (name, times[count / 2], Duration::from_millis(limit))
}

fn plan_row(
    name: &'static str,
    bypass: Option<&str>,
    set: TimeSet,
    begun: usize,
) -> (&'static str, Duration, Duration) {
    let documents: Vec<Value> = (0..500).map(source).collect();
    let first = SeenPool::new(&pool(None));
    let old = stored(&first, &render(&first, &read(&documents[1..]), &Base::default(), None), 1);
    let rendering = render(&first, &read(&documents), &Base::default(), None);
    let new = stored(&first, &rendering, 2);
    let called = |document: &Value| document["metadata"]["name"].as_str().unwrap().to_owned();
    let mut cluster = Snapshot::default();
    for mut document in documents {
        if called(&document) == "000-source"
            && let Some(why) = bypass
        {
            document["metadata"]["annotations"] = json!({names::BYPASS: why});
        }
        cluster.add(&kinds::MACHINE_CONFIG, &document);
    }
    let mut ledger = Vec::new();
    for place in 0..5000 {
        let mut node = node(place, &called(&old));
        if place < begun {
            node["metadata"]["annotations"][names::DESIRED_CONFIG] = json!(called(&new));
            ledger.push(json!({
                "node": called(&node), "config": called(&new), "until": "2026-11-15T12:05:00Z",
            }));
        }
        cluster.add(&kinds::NODE, &node);
    }
    let mut document = pool(Some(&called(&new)));
    document["metadata"]["annotations"] = json!({names::LEDGER: json!(ledger).to_string()});
    cluster.add(&kinds::MACHINE_CONFIG_POOL, &document);
    cluster.add(&kinds::MACHINE_CONFIG, &old);
    cluster.add(&kinds::MACHINE_CONFIG, &new);
    let (pool, base) = (cluster.pool("worker").unwrap(), Base::default());
    let gate = WhatIf::by_policy(set);
    let now = Instant::parse("2026-11-15T12:00:00Z").unwrap();
    row(name, 5, || {
        let plan = decide(&cluster.view(pool, &rendering, &base), &gate, now);
        plan.effects.len() + usize::from(plan.status.is_some())
    })
}

/// Three masters, twelve workers, two pools more, and a change in each of them every two weeks. The limit is a hundred days a second.
fn simulation_row() -> (&'static str, Duration, Duration) {
    let (cluster, settings) = year(&[("master", 3), ("worker", 12), ("infra", 3), ("gpu", 4)]);
    row("simulate a year: 22 nodes, 104 changes", 3_650, || runs(&cluster, &settings))
}

/// A thousand workers, a change every two weeks, and an hour each night, which is too little: three larger budgets are tried as well.
fn large_row() -> (&'static str, Duration, Duration) {
    let (cluster, settings) = year(&[("worker", 1000)]);
    let name = "simulate a year: 1,000 nodes, 26 changes";
    rounds(name, (3, 2_000), || runs(&cluster, &settings))
}

fn runs(cluster: &Snapshot, settings: &Settings) -> usize {
    let forecast = simulate(cluster, settings);
    forecast.pools.iter().flat_map(|course| &course.changes).map(|one| one.runs.len()).sum()
}

/// A cluster whose gates are open for an hour each night, with so many nodes in each pool, and a year with a change every two weeks.
fn year(machines: &[(&str, usize)]) -> (Snapshot, Settings) {
    let start = Instant::parse("2026-11-15T12:00:00Z").unwrap();
    let mut cluster = Snapshot::default();
    let policy = json!({
        "apiVersion": api::names::API_VERSION, "kind": "ChangeManagementPolicy", "metadata": {"name": "nights"},
        "spec": {"strategy": "MaintenanceSchedule", "maintenanceSchedule": {
            "timeZone": "Europe/Berlin", "permit": {"startTime": "22:00", "duration": "1h"}}},
    });
    cluster.add_written(&kinds::CHANGE_MANAGEMENT_POLICY, &policy, start);
    for (name, _) in machines {
        let pool = json!({"metadata": {"name": name}, "spec": {
            "changeManagement": {"strategy": "ByPolicy", "byPolicy": {"name": "nights"}}}});
        cluster.add_written(&kinds::MACHINE_CONFIG_POOL, &pool, start);
    }
    let fortnight = |place: i64| start.saturating_add(place * 14 * 86_400);
    let settings = Settings {
        range: start..start.saturating_add(365 * 86_400),
        seed: 1,
        lengths: Lengths { drain: 300, reboot: 480, payload: 3600 },
        machines: machines.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect(),
        arrivals: (0..26).map(fortnight).collect(),
        pools: BTreeSet::new(),
        updates: Vec::new(),
    };
    (cluster, settings)
}

fn read(documents: &[Value]) -> Vec<Source> {
    let read = documents.iter().map(SeenConfig::new).filter_map(|config| match config {
        SeenConfig::Source(source) => Some(source),
        SeenConfig::Rendered(_) => None,
    });
    read.collect()
}

fn stored(pool: &SeenPool, rendering: &Rendering, day: u32) -> Value {
    let fresh = rendering.config.as_ref().unwrap();
    let mut document = fresh.document(pool, &Base::default());
    document["metadata"]["creationTimestamp"] = format!("2026-11-0{day}T00:00:00Z").into();
    document
}

fn pool(newest: Option<&str>) -> Value {
    json!({
        "metadata": {"name": "worker", "uid": "u", "resourceVersion": "1"},
        "spec": {
            "machineConfigSelector": {"matchLabels": {names::ROLE: "worker"}},
            "nodeSelector": {"matchLabels": {"node-role.kubernetes.io/worker": ""}},
            "configuration": {"name": newest},
            "maxUnavailable": "10%",
        },
    })
}

/// Two files of a kibibyte, and a unit with a drop-in; every tenth writes over one that came before.
fn source(place: usize) -> Value {
    let path = if place % 10 == 9 { place - 1 } else { place };
    let text = "a".repeat(1024);
    json!({
        "metadata": {"name": format!("{place:03}-source"), "labels": {names::ROLE: "worker"}},
        "spec": {"config": {
            "ignition": {"version": "3.4.0"},
            "storage": {"files": [
                {"path": format!("/etc/app/{path}"), "mode": 420, "contents": {"source": format!("data:,{text}")}},
                {"path": format!("/etc/app.d/{path}"), "mode": 420, "contents": {"source": format!("data:,{text}")}},
            ]},
            "systemd": {"units": [{"name": format!("app-{path}.service"), "enabled": true, "contents": "[Install]",
                "dropins": [{"name": "10-a.conf", "contents": "[Service]"}]}]},
        }},
    })
}

fn node(place: usize, config: &str) -> Value {
    json!({
        "metadata": {
            "name": format!("node-{place:05}"),
            "resourceVersion": "1",
            "creationTimestamp": format!("2026-01-{:02}T00:00:00Z", 1 + place % 28),
            "labels": {names::ZONE: format!("zone-{}", place % 3), "node-role.kubernetes.io/worker": ""},
            "annotations": {
                names::CURRENT_CONFIG: config, names::DESIRED_CONFIG: config, names::STATE: "Done",
            },
        },
        "status": {"conditions": [{"type": "Ready", "status": "True"}]},
    })
}
