//! Does the picture fit, and does it say what is so?

use api::machine::names::{CURRENT_CONFIG, DESIRED_CONFIG, DESIRED_DRAIN, DRAIN_BLOCKED, STATE};
use serde_json::{Value, json};
use tidegate_core::cluster::{kinds, snapshot::Snapshot};
use views::pool;

use super::*;

fn frame() -> Frame {
    let now = Instant::parse("2026-11-20T22:00:00Z").unwrap();
    let role = json!({"node-role.kubernetes.io/worker": ""});
    let pool = json!({
        "apiVersion": "machineconfiguration.openshift.io/v1", "kind": "MachineConfigPool",
        "metadata": {"name": "worker", "uid": "u", "generation": 1},
        "spec": {
            "nodeSelector": {"matchLabels": role},
            "configuration": {"name": "rendered-worker-b"},
            "changeManagement": {"strategy": "ByPolicy", "byPolicy": {"name": "weekend"}},
        },
    });
    let policy = json!({
        "apiVersion": api::names::API_VERSION, "kind": api::names::CHANGE_MANAGEMENT_POLICY,
        "metadata": {"name": "weekend", "generation": 1},
        "spec": {"strategy": "MaintenanceSchedule", "maintenanceSchedule": {"permit": {
            "recurrence": {"frequency": "Weekly", "weekly": {"daysOfWeek": ["Saturday"]}}}}},
    });
    let mut world = Snapshot::default();
    world.add_written(&kinds::CHANGE_MANAGEMENT_POLICY, &policy, now);
    world.add_written(&kinds::MACHINE_CONFIG_POOL, &pool, now);
    for name in ["rendered-worker-a", "rendered-worker-b"] {
        world.add(&kinds::MACHINE_CONFIG, &json!({"metadata": {"name": name, "ownerReferences": [
            {"apiVersion": "machineconfiguration.openshift.io/v1", "kind": "MachineConfigPool", "name": "worker",
             "controller": true, "uid": "u"}]}, "spec": {}}));
    }
    let node = |name: &str, annotations: Value| json!({"metadata": {"name": name, "labels": role, "annotations": annotations}});
    world.add(&kinds::NODE, &node("worker-0", json!({CURRENT_CONFIG: "rendered-worker-b", DESIRED_CONFIG: "rendered-worker-b", STATE: "Done"})));
    world.add(&kinds::NODE, &node("worker-1", json!({CURRENT_CONFIG: "rendered-worker-a", DESIRED_CONFIG: "rendered-worker-b", STATE: "Working",
        DESIRED_DRAIN: "drain-rendered-worker-b", DRAIN_BLOCKED: "budget db/quorum: pod db/db-0"})));
    world.add(&kinds::NODE, &node("worker-2", json!({CURRENT_CONFIG: "rendered-worker-a", DESIRED_CONFIG: "rendered-worker-a", STATE: "Done"})));
    Frame {
        now,
        speed: 60,
        ways: vec!["kubectl --kubeconfig k get mcp".into(), "http://127.0.0.1:6080/metrics".into()],
        pools: pool::all(&world, now).collect(),
        rows: Rows::new(&world, now),
        inside: Vec::new(),
    }
}

#[test]
fn picture_says_what_is_so() {
    let lines = frame().draw(140, 40, Colour::Off);
    let expected = "\
tidegate sandbox   Fri 2026-11-20T22:00:00Z   runs 60 times as fast

POOL       PROGRESS                     STATE                              PENDING
worker     ██████░░░░░░░░░░░░░░ 1/3     held, opens in 2h

worker     ● ◔ ○
           worker-1     draining  budget db/quorum: pod db/db-0

ChangeManagementPolicy/weekend                  held, opens in 2h

kubectl --kubeconfig k get mcp
http://127.0.0.1:6080/metrics
space stop/go   + - speed   m h d step a minute, an hour, a day   n to the next edge   c console   q end";
    let drawn: Vec<&str> = lines.iter().map(|line| line.trim_end()).collect();
    assert_eq!(drawn.join("\n"), expected);
    assert_eq!(frame().next_edge(), Instant::parse("2026-11-21T00:00:00Z").ok());
}

#[test]
fn picture_fits_any_terminal() {
    for (width, height) in [(0, 0), (1, 1), (20, 5), (80, 24), (500, 200)] {
        let lines = frame().draw(width, height, Colour::Off);
        assert!(lines.iter().all(|line| line.chars().count() <= width), "{width}x{height}");
        assert!(lines.len() < height.max(5), "{width}x{height}: {} lines", lines.len());
        if height > 1 {
            assert!(lines.last().is_some_and(|keys| KEYS.starts_with(keys.as_str())));
        }
    }
}
