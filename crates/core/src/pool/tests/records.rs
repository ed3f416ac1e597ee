//! Which change has begun? Read from the ledger's record, never from what masters look like (GATE-10, CV-2).

use api::machine::names;
use serde_json::{Value, json};

use super::world::{World, file_source, frozen, later, machine, noon, open, shut, touch, window};
use crate::{
    gate::Gate,
    pool::{
        Effect, PoolPlan,
        ledger::{Change, Ledger},
        seen::Cordon,
    },
};

pub(super) fn marks(plan: &PoolPlan) -> Vec<(&str, String)> {
    let marks = plan.effects.iter().filter_map(|action| match action {
        Effect::SetDesiredConfig { node, permit, .. } => {
            Some((node.as_str(), permit.basis().to_string()))
        }
        _ => None,
    });
    marks.collect()
}

/// Three masters, and a change that waits.
fn masters() -> World {
    let mut world = World::new("master", 3);
    world.put(&file_source("50-change", "/etc/change", "1"));
    world.settle(&shut(), later(-60));
    world
}

/// Lets what was begun go on, and then says where everybody is.
pub(super) fn finish_all(world: &mut World, gate: &Gate, from: i64) {
    for round in 0..4 {
        world.finish();
        world.settle(gate, later(from + round));
    }
}

pub(super) fn at(world: &World) -> Vec<&str> {
    world.nodes.iter().map(|node| node.desired.as_str()).collect()
}

/// CV-2: the record is written with the first reservation, and ends with the last master's order.
#[test]
fn masters_finish_what_the_gate_let_begin() {
    let mut world = masters();
    let (begun, gate) = (world.newest(), window(600));
    let plan = world.plan(&gate, noon());
    let Some(Effect::WriteLedger { ledger, .. }) = plan.effects.first() else { panic!("{plan:?}") };
    let change = Change { config: begun.clone(), basis: "window".into(), at: noon() };
    assert_eq!(ledger.change(), Some(&change));
    world.settle(&gate, noon());
    assert_eq!(world.node("n0").permit_change.as_ref(), Some(&begun));
    world.put(&file_source("50-change", "/etc/change", "of a user"));
    world.finish();
    world.settle(&gate, later(900));
    assert_eq!(world.moving(), ["n1"]);
    let (_, message) = world.condition("Updating");
    assert!(message.ends_with(&format!("; {begun} has begun and goes on")), "{message}");
    assert_eq!(
        world.node("n1").permit_basis.as_deref(),
        Some(&*format!("already initiated: {begun}"))
    );
    assert_eq!(world.seen().ledger.change(), Some(&change), "the same change, since it began");
    finish_all(&mut world, &gate, 1000);
    assert_eq!(at(&world), [&*begun; 3]);
    assert_ne!(world.newest(), begun, "the user's change waits for the gate");
    assert_eq!(world.seen().ledger.text(), "[]", "nothing is left of it");
}

/// OVR-1, CV-2: what has begun finishes, whatever is frozen since.
#[test]
fn masters_that_have_begun_finish_while_they_are_frozen() {
    let mut world = masters();
    let begun = world.newest();
    world.settle(&window(600), noon());
    assert_eq!(world.moving(), ["n0"]);
    finish_all(&mut world, &frozen(), 60);
    assert_eq!(at(&world), [&*begun; 3]);
}

/// Side door a: a node that is labelled `master`, or joins with another configuration, starts nobody.
#[test]
fn label_that_moves_starts_nothing() {
    let mut world = masters();
    let mut moved = machine(3, "rendered-infra-1");
    moved.permit_change = Some("rendered-infra-1".into());
    moved.permit_until = Some(later(300));
    moved.permit_basis = Some("window".into());
    world.nodes.push(moved);
    world.settle(&shut(), noon());
    assert_eq!(world.moving(), [""; 0]);
}

/// Side door b: a master that ignites with the target, because somebody asked for that, starts nobody.
#[test]
fn machine_that_joins_with_the_target_starts_nothing() {
    let mut world = masters();
    let newest = world.newest();
    world.set("/spec/machineConfig", &json!({"name": newest, "validAfter": "Immediate"}));
    world.nodes.push(machine(3, &newest));
    world.settle(&shut(), noon());
    assert_eq!(world.moving(), [""; 0]);
}

/// Side door c: a rollback ends what had begun, and starts nothing; nor does it come back when the pin goes.
#[test]
fn pin_that_names_another_target_ends_the_change_and_starts_nothing() {
    let mut world = masters();
    let (begun, gate) = (world.newest(), window(600));
    let first = world.node("n1").desired.clone();
    world.settle(&gate, noon());
    world.finish();
    world.set("/spec/machineConfig", &json!({"name": first}));
    world.settle(&gate, later(900));
    assert_eq!(at(&world), [&*begun, &*first, &*first]);
    assert_eq!(world.seen().ledger.text(), "[]");
    world.set("/spec/machineConfig", &Value::Null);
    world.settle(&gate, later(901));
    assert_eq!(world.moving(), [""; 0], "it ended");
    // One that the gate lets begin is finished like any other.
    world.set("/spec/machineConfig", &json!({"name": first}));
    world.node("n1").desired.clone_from(&begun);
    world.node("n1").current.clone_from(&begun);
    world.settle(&open(), later(902));
    assert_eq!(world.moving(), ["n0"]);
    finish_all(&mut world, &shut(), 1000);
    assert_eq!(at(&world), [&*first; 3]);
}

/// Side door d, POOL-7: consent for one master is for one master.
#[test]
fn consent_for_one_master_starts_nobody_else() {
    let mut world = masters();
    let (first, target) = (world.node("n0").desired.clone(), world.newest());
    world.node("n1").allowed = Some(target.clone());
    let plan = world.plan(&shut(), noon());
    assert_eq!(marks(&plan), [("n1", "consent for Node/n1".to_owned())]);
    world.settle(&shut(), noon());
    assert_eq!(world.seen().ledger.change(), None);
    finish_all(&mut world, &shut(), 60);
    assert_eq!(at(&world), [&*first, &*target, &*first]);
}

/// POOL-5: nor does a bypass record a change.
#[test]
fn bypass_records_no_change() {
    let mut world = masters();
    let mut urgent = file_source("90-urgent", "/etc/urgent", "1");
    urgent["metadata"]["annotations"] = json!({names::BYPASS: "CVE-2026-1"});
    world.put(&urgent);
    world.settle(&shut(), noon());
    assert_eq!(world.moving(), ["n0"]);
    assert_eq!(world.seen().ledger.change(), None);
}

/// A reservation whose mark never was committed began nothing; nor does consent that comes later make it begun.
#[test]
fn reservation_without_its_mark_proves_nothing() {
    let mut world = masters();
    let (target, gate) = (world.newest(), window(60));
    let plan = world.plan(&gate, noon());
    world.act(&plan.effects[0], noon()).unwrap();
    assert_eq!(world.seen().ledger.change().map(|change| change.config.as_str()), Some(&*target));
    world.settle(&gate, later(90));
    assert_eq!(world.moving(), [""; 0]);
    world.node("n2").allowed = Some(target.clone());
    world.settle(&gate, later(100));
    assert_eq!(world.moving(), ["n2"]);
    finish_all(&mut world, &gate, 200);
    assert_eq!(at(&world).iter().filter(|desired| **desired == target).count(), 1);
}

/// What a mark must say to prove that the recorded change has begun.
#[test]
fn only_the_mark_of_the_recorded_change_proves_it() {
    let check = |basis: &str, until: Option<i64>, config: Option<&str>, expected: bool| {
        let mut world = masters();
        let newest = world.newest();
        let mut ledger = Ledger::default();
        ledger.record(Change { config: newest.clone(), basis: "window".into(), at: noon() });
        world.set("/metadata/annotations", &json!({names::LEDGER: ledger.text()}));
        let node = world.node("n0");
        node.desired.clone_from(&newest);
        node.current.clone_from(&newest);
        node.permit_change = Some(config.unwrap_or(&newest).to_owned());
        node.permit_basis = Some(basis.replace("NEWEST", &newest));
        node.permit_until = until.map(later);
        let plan = world.plan(&shut(), later(900));
        assert_eq!(!marks(&plan).is_empty(), expected, "{basis} {until:?} {config:?}");
    };
    for basis in ["no stanza", "strategy", "window", "until", "already initiated: NEWEST"] {
        check(basis, Some(300), None, true);
        check(basis, Some(1), None, true);
        check(basis, Some(0), None, false);
        check(basis, None, None, false);
        check(basis, Some(300), Some("rendered-master-other"), false);
    }
    for basis in [
        "",
        "consent for Node/n0",
        "bypass of MachineConfig/90-urgent",
        "already initiated: release 4.21.3",
        "already initiated: rendered-master-other",
    ] {
        check(basis, Some(300), None, false);
    }
}

/// What the gate permits later replaces what it permitted before, and nobody is sent back.
#[test]
fn later_permitted_change_replaces_the_earlier() {
    let mut world = masters();
    world.settle(&open(), noon());
    world.finish();
    world.put(&file_source("50-change", "/etc/change", "2"));
    world.settle(&shut(), later(10));
    world.node("n0").cordon = Cordon::Open;
    let second = world.newest();
    // The gate opens while n1 is on its way to the first.
    assert_eq!(world.moving(), ["n1"]);
    world.finish();
    world.settle(&open(), later(400));
    assert_eq!(world.seen().ledger.change().map(|change| change.config.as_str()), Some(&*second));
    finish_all(&mut world, &shut(), 500);
    assert_eq!(at(&world), [&*second; 3]);
}

/// A node that bypass or consent sent further is not brought back by the change that goes on beside it.
#[test]
fn begun_change_takes_nobody_back() {
    let check = |basis: &str, until: Option<i64>, expected: &[&str]| {
        let mut world = masters();
        world.settle(&open(), noon());
        world.finish();
        world.put(&file_source("50-change", "/etc/change", "2"));
        world.settle(&shut(), later(0));
        world.finish();
        let newest = world.newest();
        let node = world.node("n2");
        node.desired.clone_from(&newest);
        node.current.clone_from(&newest);
        node.permit_change = Some(newest);
        node.permit_basis = Some(basis.into());
        node.permit_until = until.map(later);
        touch(node);
        let plan = world.plan(&shut(), later(900));
        let marked: Vec<&str> = marks(&plan).into_iter().map(|(node, _)| node).collect();
        assert_eq!(marked, expected, "{basis} {until:?}");
    };
    check("consent for Node/n2", Some(1200), &[]);
    check("bypass of MachineConfig/90-urgent", Some(1200), &[]);
    check("window", Some(1200), &["n2"]);
    check("consent for Node/n2", Some(0), &["n2"]);
    check("consent for Node/n2", None, &["n2"]);
}
