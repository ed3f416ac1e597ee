//! Is the budget kept and the window respected, whatever goes wrong, and does the rollout end all the same?

use std::time::Duration;

use api::machine::names::{CURRENT_CONFIG, DESIRED_CONFIG};
use serde_json::{Value, json};

use super::{
    common::{POOLS, World, managing, pass},
    rollout::{NODES, WORKER, marked, newest, waiting_machines},
};

const LIMIT: usize = 3;
const MACHINES: usize = 20;

/// The nodes that were told to go somewhere and are not there. They are begun by operators and finished by the test alone, so a
/// look before each finish sees the most there ever were.
fn under_way(world: &World) -> Vec<String> {
    let nodes = world.get(NODES);
    let nodes = nodes["items"].as_array().unwrap().iter();
    let moving = nodes.filter(|node| {
        let noted = &node["metadata"]["annotations"];
        noted[CURRENT_CONFIG] != noted[DESIRED_CONFIG]
    });
    moving.map(|node| node["metadata"]["name"].as_str().unwrap().to_owned()).collect()
}

/// Checks the budget, and plays the agents of some of those under way.
fn finish(world: &World, count: usize, what: &str) {
    let moving = under_way(world);
    assert!(moving.len() <= LIMIT, "{what}: {moving:?}");
    let done = json!({"metadata": {"annotations": {CURRENT_CONFIG: newest(world)}}});
    for name in moving.iter().take(count) {
        world.merge(&format!("{NODES}/{name}"), &done);
    }
}

/// The node whose turn is next leaves the pool, or comes back to it when there has just been room: a planner whose mark is on its way and
/// one that was held up find room for two different nodes.
fn change_pools(world: &World, away: Option<String>) -> Option<String> {
    let label = |name: &str, value: Value| {
        let change = json!({"metadata": {"labels": {WORKER: value}}});
        world.merge(&format!("{NODES}/{name}"), &change);
    };
    if let Some(name) = away {
        label(&name, json!(""));
        return None;
    }
    let marked = marked(world);
    let waits = |name: &String| !marked.contains(name);
    let next = (1..=MACHINES).map(|number| format!("n{number}")).find(waits)?;
    label(&next, Value::Null);
    Some(next)
}

/// The policy that refuses marks without a live permit, as it is shipped.
pub(crate) fn refuse_late_marks(world: &World) {
    install(world, SHIPPED, |_| true);
}

/// What is shipped for pools that the operator manages.
pub(crate) const SHIPPED: &str =
    include_str!("../../../../deploy/manifests/manage-pools/manage-pools.yaml");

/// Installs the admission policies of a manifest, and their bindings, whose names are wanted.
pub(crate) fn install(world: &World, manifest: &str, wanted: impl Fn(&str) -> bool) {
    let documents: Vec<Value> = serde_saphyr::from_multiple(manifest).unwrap();
    let admission = "/apis/admissionregistration.k8s.io/v1";
    for document in documents {
        let plural = match document["kind"].as_str() {
            Some("ValidatingAdmissionPolicy") => "validatingadmissionpolicies",
            Some("ValidatingAdmissionPolicyBinding") => "validatingadmissionpolicybindings",
            _ => continue,
        };
        if wanted(document["metadata"]["name"].as_str().unwrap()) {
            world.create(&format!("{admission}/{plural}"), &document);
        }
    }
}

/// POOL-1, POOL-2, GATE-7, EXEC-1, EXEC-4: two operators that both believe they lead, and a server and a network at their worst.
#[tokio::test(start_paused = true)]
async fn budget_and_window_are_kept_whatever_goes_wrong() {
    for seed in 0..4 {
        let (world, _one) = waiting_machines(MACHINES).await;
        refuse_late_marks(&world);
        let limit = json!({"spec": {"maxUnavailable": LIMIT}});
        world.merge(&format!("{POOLS}/worker"), &limit);
        let profile = apiserver::Profile {
            latency: Duration::from_secs(3),
            lose_answer: 0.1,
            conflict: 0.1,
            too_many_requests: 0.05,
            server_error: 0.1,
            cut_watch: 0.2,
            silence_watch: 0.2,
            stale_list: 0.1,
            compact: 0.02,
        };
        world.server.draw_faults(profile, seed);
        let _two = world.start_with(managing("two"));
        pass(Duration::from_mins(2)).await;
        assert!(marked(&world).is_empty(), "seed {seed}: the window is shut");

        world.clock.step(3600);
        let mut away = None;
        for round in 0..12 {
            pass(Duration::from_secs(40)).await;
            finish(&world, 1, &format!("seed {seed}, round {round}"));
            // While marks for the room that this made are on their way.
            pass(Duration::from_secs(1)).await;
            away = change_pools(&world, away);
        }
        change_pools(&world, away.or(Some("n1".into())));
        let begun = marked(&world);
        assert!((2..MACHINES).contains(&begun.len()), "seed {seed}: {begun:?}");

        // Monday, from one moment to the next, so that marks may still be on their way: whoever has begun finishes, and nobody else
        // begins.
        world.clock.step(48 * 3600);
        for _ in 0..4 {
            pass(Duration::from_secs(90)).await;
            finish(&world, LIMIT, &format!("seed {seed}, on Monday"));
        }
        assert_eq!(marked(&world), begun, "seed {seed}");

        world.server.heal();
        world.clock.step(5 * 24 * 3600);
        for _ in 0..MACHINES {
            pass(Duration::from_secs(90)).await;
            finish(&world, LIMIT, &format!("seed {seed}, the next weekend"));
        }
        pass(Duration::from_secs(90)).await;
        let pool = world.get(&format!("{POOLS}/worker"));
        assert_eq!(pool["status"]["updatedMachineCount"], MACHINES, "seed {seed}");
        assert_eq!(pool["status"]["configuration"]["name"], Value::from(newest(&world)));
        world.writes();
        pass(Duration::from_hours(1)).await;
        assert_eq!(world.writes(), [""; 0], "seed {seed}: and then it is quiet");
    }
}
