//! How does a node get its first configuration, and who keeps its annotations true? (GATE-16, NODE-3)

use std::collections::BTreeMap;

use api::machine::names::{self, NodeState, SINGLE_REPLICA};
use serde_json::{Value, json};

use super::world::{World, file_source, later, noon, open, shut, touch, window};
use crate::pool::{
    Effect, PoolPlan, Topology,
    ledger::{Entry, Ledger},
    seen::{Cordon, Order, SeenNode, SeenPool},
};

fn marked(plan: &PoolPlan) -> Vec<&str> {
    let marks = plan.effects.iter().filter_map(|action| match action {
        Effect::SetDesiredConfig { node, .. } => Some(node.as_str()),
        _ => None,
    });
    marks.collect()
}

/// What is noted on a node, and on which.
fn notes(plan: &PoolPlan) -> Vec<(&str, BTreeMap<&'static str, Option<String>>)> {
    let notes = plan.effects.iter().filter_map(|action| match action {
        Effect::Note { node, annotations, .. } => Some((node.as_str(), annotations.clone())),
        _ => None,
    });
    notes.collect()
}

fn node(annotations: &Value) -> SeenNode {
    SeenNode::new(&json!({"metadata": {"name": "n", "annotations": annotations}}))
}

/// A pool of three, of which the first has no configuration and says so.
fn with_a_blank_one() -> World {
    let mut world = World::new("worker", 3);
    let blank = world.node("n0");
    blank.current.clear();
    blank.desired.clear();
    blank.order = Order::NotGiven;
    touch(blank);
    world
}

/// POOL-1, GATE-16: the agent of a new node says what it runs, and nobody has said yet where it should go.
#[test]
fn a_machine_that_has_just_joined_is_where_it_should_be() {
    let runs = json!({names::CURRENT_CONFIG: "rendered-a", names::STATE: "Done"});
    assert!(node(&runs).is_done() && node(&runs).order == Order::NotGiven);
    let goes = json!({names::CURRENT_CONFIG: "rendered-a", names::DESIRED_CONFIG: "rendered-b",
        names::STATE: "Done"});
    assert!(!node(&goes).is_done() && node(&goes).order == Order::Given);
    let blank = node(&json!({names::STATE: "Done"}));
    assert!(!blank.is_done() && blank.is_blank() && !blank.is_silent(), "at nothing");
    assert!(!blank.is_unavailable());
    let silent = node(&json!({}));
    assert!(silent.is_silent() && !silent.is_blank() && !silent.is_unavailable());
    let told = node(&json!({names::DESIRED_CONFIG: "rendered-b"}));
    assert!(!told.is_silent() && !told.is_blank() && told.is_unavailable(), "told to go");
    let told = node(&json!({names::DESIRED_CONFIG: "rendered-b", names::STATE: "Done"}));
    assert!(!told.is_blank() && told.is_unavailable());
    let stuck = node(&json!({names::STATE: "Degraded"}));
    assert!(!stuck.is_blank() && !stuck.is_silent() && stuck.is_unavailable());
}

#[test]
fn records_on_a_machine_are_read() {
    let read = node(&json!({names::PERMIT_CHANGE: "rendered-b", names::PERMIT_BASIS: "window",
        names::PERMIT_UNTIL: "2026-11-15T12:05:00Z", names::BEGUN_RELEASE: "4.21.3",
        names::CONTROL_PLANE_TOPOLOGY: SINGLE_REPLICA}));
    assert_eq!(read.permit_change.as_deref(), Some("rendered-b"));
    assert_eq!(read.permit_basis.as_deref(), Some("window"));
    assert_eq!(read.permit_until, Some(later(300)));
    assert_eq!(read.begun_release.as_deref(), Some("4.21.3"));
    assert_eq!(read.topology.as_deref(), Some(SINGLE_REPLICA));
    assert_eq!(node(&json!({names::PERMIT_CHANGE: ""})).permit_change, None);
}

/// GATE-16, POOL-3: the first configuration is a change like any other, and the node without one is the oldest of all.
#[test]
fn first_configuration_waits_for_the_gate_and_then_goes_first() {
    let mut world = with_a_blank_one();
    world.settle(&shut(), noon());
    assert_eq!(world.moving(), [""; 0]);
    let plan = world.plan(&shut(), noon());
    assert_eq!(plan.pending.waiting.len(), 1, "{:?}", plan.pending);
    assert!(plan.pending.waiting[0].to_string().contains("on 1 of 3 nodes"), "{:?}", plan.pending);
    world.put(&file_source("50-change", "/etc/change", "1"));
    world.settle(&shut(), later(1));
    assert_eq!(marked(&world.plan(&window(600), later(2))), ["n0"], "within the budget of one");
    world.settle(&window(600), later(2));
    assert_eq!(world.moving(), ["n0"]);
    world.finish();
    assert_eq!(marked(&world.plan(&open(), later(60))), ["n1"], "and then the others");
}

/// POOL-2: a node at nothing is in the budget only once it was begun, or if workloads cannot count on it.
#[test]
fn machine_without_a_configuration_does_not_block_the_others() {
    let mut world = with_a_blank_one();
    world.put(&file_source("50-change", "/etc/change", "1"));
    world.settle(&shut(), noon());
    world.node("n0").cordon = Cordon::Cordoned;
    assert_eq!(marked(&world.plan(&open(), noon())), [""; 0], "cordoned takes room");
    world.set("/spec/maxUnavailable", &json!(2));
    assert_eq!(marked(&world.plan(&open(), noon())), ["n1"]);
}

/// NODE-3: what is on a node whose agent never spoke is not known: it is not begun, takes no room, and is named.
#[test]
fn silent_agent_is_seen_and_blocks_nobody() {
    let mut world = with_a_blank_one();
    world.node("n0").state = NodeState::Unknown;
    world.put(&file_source("50-change", "/etc/change", "1"));
    world.settle(&open(), noon());
    assert_eq!(world.moving(), ["n1"]);
    let said = "; no agent has spoken on Node/n0: nothing is begun there";
    let (status, message) = world.condition("Updating");
    assert_eq!(status, "True");
    assert!(message.ends_with(said), "{message}");
    world.finish();
    world.settle(&open(), later(1));
    world.finish();
    world.settle(&open(), later(2));
    let newest = world.newest();
    assert_eq!(
        world.condition("Updating"),
        ("False".to_owned(), format!("1 of 3 nodes lack {newest}{said}"))
    );
    assert_eq!(world.condition("Updated").0, "False");
    for machine in 3..7 {
        let mut other = world.nodes[0].clone();
        other.name = format!("n{machine}");
        world.nodes.push(other);
    }
    world.settle(&shut(), later(3));
    let (_, message) = world.condition("Updating");
    assert!(message.contains("Node/n0, Node/n3, Node/n4 and 2 more: nothing"), "{message}");
}

/// POOL-2: what a drain of ours cordoned and then failed gets another target; what an administrator cordoned does not.
#[test]
fn machine_that_failed_after_its_drain_is_given_the_mended_configuration() {
    let check = |cordon: Cordon, state: NodeState, expected: &[&str]| {
        let mut world = World::new("worker", 3);
        world.put(&file_source("50-change", "/etc/change", "broken"));
        world.settle(&open(), noon());
        let stuck = world.node("n0");
        (stuck.state, stuck.cordon) = (state, cordon);
        touch(stuck);
        world.put(&file_source("50-change", "/etc/change", "mended"));
        world.settle(&shut(), later(60));
        assert_eq!(marked(&world.plan(&open(), later(120))), expected, "{cordon:?} {state:?}");
        assert_eq!(marked(&world.plan(&shut(), later(120))), [""; 0]);
    };
    check(Cordon::Emptied, NodeState::Degraded, &["n0"]);
    check(Cordon::Emptied, NodeState::Unreconcilable, &["n0"]);
    check(Cordon::Cordoned, NodeState::Degraded, &[]);
    check(Cordon::Emptied, NodeState::Working, &[]);
}

#[test]
fn whose_cordon_it_is_is_read_from_the_record_of_the_drain() {
    let check = |unschedulable: bool, record: &str, expected: Cordon| {
        let node =
            SeenNode::new(&json!({"metadata": {"annotations": {names::DRAIN_RECORD: record}},
            "spec": {"unschedulable": unschedulable}}));
        assert_eq!(node.cordon, expected, "{record}");
    };
    check(false, "", Cordon::Open);
    check(true, "", Cordon::Cordoned);
    check(true, r#"{"since":"2026-11-15T12:00:00Z","cordonedBefore":false}"#, Cordon::Emptied);
    check(true, r#"{"since":"2026-11-15T12:00:00Z","cordonedBefore":true}"#, Cordon::Cordoned);
    check(true, "by hand", Cordon::Cordoned);
    check(false, r#"{"since":null,"cordonedBefore":false}"#, Cordon::Open);
}

/// GATE-16: adoption is upkeep: no permit, no record, once, and only where an agent said what it runs.
#[test]
fn machine_is_told_once_to_stay_at_what_it_runs() {
    let check = |change: fn(&mut SeenNode), expected: bool| {
        let mut world = World::new("worker", 2);
        let joined = world.node("n1");
        joined.order = Order::NotGiven;
        change(joined);
        touch(joined);
        let before = joined.permit_change.is_some();
        let plan = world.plan(&shut(), noon());
        let current = world.node("n1").current.clone();
        let adopted = plan.effects.iter().any(|action| {
            matches!(action, Effect::Adopt { node, config, .. } if node == "n1" && *config == current)
        });
        assert_eq!(adopted, expected, "{:?}", plan.effects);
        world.settle(&shut(), noon());
        assert_eq!(world.node("n1").permit_change.is_some(), before);
    };
    check(|_| {}, true);
    check(|node| node.permit_change = Some(node.current.clone()), false);
    check(|node| node.order = Order::Given, false);
    check(|node| node.state = NodeState::Working, false);
    check(|node| node.state = NodeState::Unknown, false);
    check(
        |node| {
            node.current.clear();
            node.desired.clear();
        },
        false,
    );
}

/// GATE-16: a node that 0.1.0 began gets the record that its agent now asks for, if the ledger proves it.
#[test]
fn machine_that_an_older_build_began_gets_its_record() {
    let check = |change: fn(&mut SeenNode), ledger: &str, expected: bool| {
        let mut world = World::new("worker", 2);
        world.put(&file_source("50-change", "/etc/change", "1"));
        world.settle(&shut(), noon());
        let newest = world.newest();
        let node = world.node("n0");
        node.desired.clone_from(&newest);
        node.state = NodeState::Working;
        change(node);
        let config = if ledger == "n0 to another" { "rendered-worker-other" } else { &newest };
        let mut written = Ledger::default();
        let name = ledger.split(' ').next().unwrap();
        written.reserve(name, Entry { config: config.to_owned(), until: later(300) });
        world.set("/metadata/annotations", &json!({names::LEDGER: written.text()}));
        let plan = world.plan(&shut(), later(1));
        let wanted = [("n0", BTreeMap::from([(names::PERMIT_CHANGE, Some(newest))]))];
        assert_eq!(notes(&plan), if expected { &wanted[..] } else { &[] }, "{ledger}");
    };
    check(|_| {}, "n0", true);
    check(|_| {}, "n0 to another", false);
    check(|_| {}, "n1", false);
    check(|node| node.permit_change = Some(node.desired.clone()), "n0", false);
    check(|node| node.permit_change = Some("rendered-worker-before".into()), "n0", false);
    check(|node| node.order = Order::NotGiven, "n0", false);
    check(
        |node| {
            node.current.clone_from(&node.desired);
            node.state = NodeState::Done;
        },
        "n0",
        false,
    );
}

/// DRAIN-2, STAT-3
#[test]
fn only_node_of_a_cluster_knows_that_it_is() {
    let mut world = World::new("worker", 1);
    world.topology = Topology::Single;
    let single = Some(SINGLE_REPLICA.to_owned());
    let noted = |value: &Option<String>| {
        vec![("n0", BTreeMap::from([(names::CONTROL_PLANE_TOPOLOGY, value.clone())]))]
    };
    assert_eq!(notes(&world.plan(&shut(), noon())), noted(&single));
    world.settle(&shut(), noon());
    assert_eq!(world.node("n0").topology, single);
    world.topology = Topology::Several;
    assert_eq!(notes(&world.plan(&shut(), noon())), noted(&None));
    world.settle(&shut(), noon());
    world.node("n0").topology = Some("HighlyAvailable".into());
    assert!(world.plan(&shut(), noon()).effects.is_empty(), "what others wrote is theirs");
    world.topology = Topology::Single;
    assert_eq!(notes(&world.plan(&shut(), noon())), noted(&single));
}

/// EXEC-1: one write for a node in a plan, because the second would be made from what the first replaced.
#[test]
fn machine_that_is_marked_is_not_noted_in_the_same_plan() {
    let mut world = World::new("worker", 1);
    world.put(&file_source("50-change", "/etc/change", "1"));
    world.settle(&shut(), noon());
    world.topology = Topology::Single;
    world.node("n0").order = Order::NotGiven;
    let plan = world.plan(&open(), noon());
    assert_eq!((marked(&plan), notes(&plan).len()), (vec!["n0"], 0));
    assert!(!plan.effects.iter().any(|action| matches!(action, Effect::Adopt { .. })));
    world.settle(&open(), noon());
    assert_eq!(world.node("n0").topology.as_deref(), Some(SINGLE_REPLICA));
}

/// POOL-4
#[test]
fn when_without_what_is_a_problem_that_names_the_field() {
    let check = |pin: &Value, expected: Option<&str>| {
        let pool = SeenPool::new(&json!({"metadata": {"name": "worker"}, "spec": {
            "nodeSelector": {"matchLabels": {"a": "b"}}, "machineConfig": pin}}));
        assert_eq!(pool.pin.is_some(), pin["name"].as_str().is_some_and(|name| !name.is_empty()));
        let field = pool.problems.first().map(|problem| problem.field.to_string());
        assert_eq!(field.as_deref(), expected, "{pin}");
    };
    let field = Some("spec.machineConfig.validAfter");
    check(&json!({"validAfter": "Immediate"}), field);
    check(&json!({"name": "", "validAfter": "CanaryUpgrade"}), field);
    check(&json!({"name": "a", "validAfter": "Tomorrow"}), field);
    check(&json!({"name": "a", "validAfter": "Immediate"}), None);
    check(&json!({"validAfter": null}), None);
    check(&json!({}), None);
}
