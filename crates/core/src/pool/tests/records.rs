//! What has begun? Read from records, never from what masters look like (GATE-10, CV-1, CV-2).

use api::machine::names::{self, NodeState};
use serde_json::{Value, json};

use super::world::{
    World, file_source, frozen, instant, later, machine, noon, open, shut, touch, window,
};
use crate::{
    gate::Gate,
    pool::{
        Effect, PoolPlan,
        ledger::{Change, Ledger},
        seen::Cordon,
        source::SeenConfig,
        update::{Record, SeenUpdate, Stage},
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

/// A file that the release brings.
pub(super) fn generated(name: &str, text: &str) -> Value {
    let mut source = file_source(name, &format!("/etc/{name}"), text);
    source["metadata"]["annotations"] = json!({names::GENERATED_BY: ""});
    source
}

/// Masters with a release whose update began at noon.
pub(super) fn updating() -> World {
    let mut world = World::new("master", 3);
    world.put(&generated("00-release", "4.20"));
    world.put(&file_source("50-user", "/etc/user", "1"));
    world.settle(&shut(), later(-60));
    world.settle(&open(), later(-50));
    finish_all(&mut world, &open(), -40);
    world.update("Partial", "4.21.3", "2026-11-15T12:00:00Z");
    world.settle(&shut(), noon());
    world
}

/// GATE-10: recorded once, with the sources of that moment, on `ClusterVersion` and on each master; workers have nothing to do with it.
#[test]
fn update_is_recorded_once_when_it_is_seen() {
    let mut world = updating();
    let record = world.record();
    assert_eq!(record["release"], "4.21.3");
    assert_eq!(
        record["sources"].as_object().unwrap().keys().collect::<Vec<_>>(),
        ["00-base", "50-user"]
    );
    assert_eq!(record["generated"].as_object().unwrap().keys().collect::<Vec<_>>(), ["00-release"]);
    assert!(world.nodes.iter().all(|node| node.begun_release.as_deref() == Some("4.21.3")));
    world.put(&file_source("50-user", "/etc/user", "2"));
    world.settle(&shut(), later(60));
    assert_eq!(world.record(), record, "once");
    let mut workers = World::new("worker", 3);
    workers.put(&file_source("50-user", "/etc/user", "1"));
    workers.update("Partial", "4.21.3", "2026-11-15T12:00:00Z");
    workers.node("n0").begun_release = Some("4.21.3".into());
    workers.settle(&shut(), noon());
    assert_eq!((workers.moving(), workers.record()), (Vec::new(), Value::Null));
    assert_eq!(workers.node("n0").begun_release, None, "it was a master once");
}

/// CV-1: what the release brings reaches the masters, whatever the gate says; the record ends when all have it.
#[test]
fn release_takes_the_masters_along_until_they_converge() {
    let mut world = updating();
    assert_eq!(world.record()["converged"], Value::Null, "nothing has been brought yet");
    world.put(&generated("00-release", "4.21.3"));
    world.settle(&shut(), later(60));
    assert_eq!(world.moving(), ["n0"]);
    let basis = world.node("n0").permit_basis.clone();
    assert_eq!(basis.as_deref(), Some("already initiated: release 4.21.3"));
    assert_eq!(
        world.condition("Updating").1,
        format!("All nodes are updating to {}", world.newest())
    );
    finish_all(&mut world, &shut(), 120);
    assert_eq!(at(&world), [&*world.newest(); 3]);
    assert_eq!(world.record(), json!({"release": "4.21.3", "converged": true}));
    assert!(world.nodes.iter().all(|node| node.begun_release.is_none()));
    // Stuck for weeks: what is generated later is another change.
    world.put(&generated("00-release", "changed by a person's KubeletConfig"));
    world.settle(&shut(), later(1_000_000));
    assert_eq!(world.moving(), [""; 0]);
    world.update("Completed", "4.21.3", "2026-11-15T12:00:00Z");
    world.settle(&shut(), later(1_000_060));
    assert_eq!(world.record(), Value::Null);
}

/// CV-2, GATE-10: what a person writes after the update began waits for the gate; the release goes on with what was there.
#[test]
fn edit_after_the_update_began_waits() {
    let mut world = updating();
    world.put(&generated("00-release", "4.21.3"));
    world.settle(&shut(), later(60));
    let covered = world.newest();
    world.put(&file_source("50-user", "/etc/user", "2"));
    world.settle(&shut(), later(70));
    let (_, message) = world.condition("Updating");
    let said = "; release 4.21.3 has begun and goes on; written later, and waits: 50-user";
    assert!(message.ends_with(said), "{message}");
    finish_all(&mut world, &shut(), 120);
    assert_eq!(at(&world), [&*covered; 3]);
    assert_eq!(world.record()["converged"], true);
    world.settle(&open(), later(900));
    assert_eq!(world.nodes[0].desired, world.newest());
}

/// Why a configuration is not deleted.
fn kept(world: &World, config: &str) -> Vec<String> {
    let (pool, update) = (world.seen(), SeenUpdate::new(&world.version));
    let verdicts = world.prune(&pool, Some(&update));
    let verdict = verdicts.into_iter().find(|verdict| verdict.config == config).unwrap();
    verdict.kept_by.iter().map(ToString::to_string).collect()
}

/// POOL-9, GATE-10: a person edits before any master has gone to what the release brought. One configuration has the release without the
/// edit, and no pool, node or ledger names it; if it were deleted, the masters would wait for the gate with half an update.
#[test]
fn what_an_update_may_need_is_never_pruned() {
    let said = ["the update to 4.21.3 has begun, and masters may go to it"];
    let mut world = updating();
    let old = world.newest();
    // Nobody can go now, so nothing names what comes next.
    world.set("/spec/paused", &json!(true));
    world.put(&generated("00-release", "4.21.3"));
    world.settle(&shut(), later(60));
    let covered = world.newest();
    world.put(&file_source("50-user", "/etc/user", "2"));
    world.settle(&shut(), later(70));
    let edited = world.newest();
    world.put(&file_source("50-user", "/etc/user", "3"));
    world.settle(&shut(), later(80));
    assert_eq!(kept(&world, &covered), said);
    assert_eq!(kept(&world, &edited), [""; 0], "it holds what was written later");

    // Seen and not yet recorded is as good; a record that nobody can read keeps everything.
    let recorded = world.version.clone();
    world.version["metadata"]["annotations"] = Value::Null;
    assert_eq!(
        kept(&world, &covered),
        said,
        "it holds what the masters have, and what is generated"
    );
    world.version["metadata"]["annotations"] = json!({names::BEGUN_RELEASE: "4.21.3"});
    let unreadable = "the record of an update on ClusterVersion cannot be read, and may need it";
    assert_eq!(kept(&world, &covered), [unreadable]);
    assert_eq!(kept(&world, &edited), [unreadable]);

    // It goes there, and when all have arrived the update keeps nothing.
    world.version = recorded;
    world.set("/spec/paused", &json!(false));
    world.settle(&shut(), later(90));
    assert_eq!(world.moving(), ["n0"]);
    assert_eq!(world.node("n0").desired, covered);
    finish_all(&mut world, &shut(), 120);
    assert_eq!(world.record()["converged"], true);
    assert_eq!(kept(&world, &old), ["all nodes of MachineConfigPool/master last had it"]);
    assert_eq!(kept(&world, &edited), [""; 0]);
}

/// Stuck before the release brought anything: a later edit waits, however long; and what then comes together with it does too.
#[test]
fn update_that_is_stuck_for_weeks_lets_no_later_edit_pass() {
    let mut world = updating();
    world.put(&file_source("50-user", "/etc/user", "2"));
    world.settle(&shut(), later(2_000_000));
    assert_eq!(world.moving(), [""; 0]);
    world.put(&generated("00-release", "4.21.3"));
    world.settle(&shut(), later(2_000_060));
    assert_eq!(world.moving(), [""; 0], "no configuration has the one without the other");
    let (_, message) = world.condition("Updating");
    assert!(message.ends_with("written later, and waits: 50-user"), "{message}");
    // Complete or not: the masters have not got there, and the record stays until the gate has let them.
    world.update("Completed", "4.21.3", "2026-11-15T12:00:00Z");
    world.settle(&shut(), later(2_000_070));
    assert_eq!(world.record()["release"], "4.21.3");
    world.put(&file_source("50-user", "/etc/user", "1"));
    world.settle(&shut(), later(2_000_080));
    assert_eq!(world.moving(), ["n0"], "taken back, it is what was there");
    finish_all(&mut world, &shut(), 2_000_100);
    assert_eq!(world.record(), Value::Null);
}

/// GATE-10: a source that was there when the update was marked rides along; one that was added, changed or removed since does not.
#[test]
fn what_rides_along_was_there_when_the_update_was_marked() {
    let check = |before: &[Value], after: fn(&mut World), expected: bool| {
        let mut world = World::new("master", 3);
        for source in before {
            world.put(source);
        }
        world.settle(&shut(), later(-60));
        world.update("Partial", "4.21.3", "2026-11-15T12:00:00Z");
        world.settle(&shut(), later(-50));
        after(&mut world);
        world.settle(&shut(), noon());
        let there = world.nodes[0].desired == world.newest();
        assert_eq!(there, expected, "{before:?}");
    };
    let stamped = |at: &str| {
        let mut source = file_source("50-user", "/etc/user", "1");
        source["metadata"]["creationTimestamp"] = at.into();
        source
    };
    let held = [file_source("50-user", "/etc/user", "1")];
    check(&held, |_| {}, true);
    check(&[stamped("2026-11-15T11:59:59Z")], |_| {}, true);
    // Before or after it began within that second: nobody can tell.
    check(&[stamped("2026-11-15T12:00:00Z")], |_| {}, false);
    check(&[stamped("2026-11-15T12:00:01Z")], |_| {}, false);
    check(&held, |world| world.put(&file_source("60-more", "/etc/more", "1")), false);
    check(&[], |world| world.put(&file_source("50-user", "/etc/user", "1")), false);
    check(&[], |world| world.put(&generated("50-new", "1")), true);
}

/// What is removed later waits too; what nobody has any more needs no gate.
#[test]
fn what_a_person_removes_after_the_update_began_stays_on_the_masters() {
    let mut world = updating();
    let had = world.newest();
    world.sources.retain(|source| source.name != "50-user");
    world.settle(&shut(), later(60));
    assert_ne!(world.newest(), had);
    assert_eq!(at(&world), [&*had; 3]);
}

/// What the gate let in while the update went on is what the masters have: it does not keep the release from them.
#[test]
fn what_was_permitted_meanwhile_does_not_stop_the_release() {
    let mut world = updating();
    world.put(&file_source("50-user", "/etc/user", "2"));
    world.settle(&open(), later(60));
    finish_all(&mut world, &open(), 70);
    let permitted = world.newest();
    world.settle(&shut(), later(100));
    assert_eq!(at(&world), [&*permitted; 3], "and nobody goes back to what was there");
    world.put(&generated("00-release", "4.21.3"));
    world.settle(&shut(), later(200));
    finish_all(&mut world, &shut(), 300);
    assert_eq!(at(&world), [&*world.newest(); 3]);
}

/// GATE-10: masters that have the release have converged on it. Somebody took an edit back that the gate had let in: what was there when the
/// update began is no way for those to go back behind the gate.
#[test]
fn masters_with_the_release_do_not_go_back_to_what_was_there_when_it_began() {
    let mut world = updating();
    world.put(&file_source("50-user", "/etc/user", "2"));
    world.put(&generated("00-release", "4.21.3"));
    world.settle(&shut(), later(60));
    let permitted = world.newest();
    for name in ["n0", "n1"] {
        let node = world.node(name);
        (node.desired, node.current) = (permitted.clone(), permitted.clone());
    }
    world.put(&file_source("50-user", "/etc/user", "1"));
    world.settle(&shut(), later(90));
    let taken_back = world.newest();
    finish_all(&mut world, &shut(), 100);
    assert_eq!(at(&world), [&*permitted, &*permitted, &*taken_back]);
    assert_eq!(world.record()["converged"], true);
}

/// Consent for one master does not let the update carry the rest along.
#[test]
fn consent_during_an_update_is_for_one_master() {
    let mut world = updating();
    world.put(&file_source("50-user", "/etc/user", "2"));
    world.settle(&shut(), later(60));
    let (first, newest) = (world.node("n0").desired.clone(), world.newest());
    world.node("n2").allowed = Some(newest.clone());
    world.settle(&shut(), later(61));
    finish_all(&mut world, &shut(), 70);
    assert_eq!(at(&world), [&*first, &*first, &*newest]);
}

/// POOL-4: a pin chooses the only target, and an update is no right to go back there.
#[test]
fn pin_during_an_update_starts_nothing() {
    let mut world = updating();
    let old = world
        .rendered
        .iter()
        .map(|config| config.name.clone())
        .find(|name| *name != world.newest());
    world.set("/spec/machineConfig", &json!({"name": old}));
    world.settle(&shut(), later(60));
    assert_eq!(world.moving(), [""; 0]);
}

/// A new update is recorded for itself, with what is there then.
#[test]
fn another_release_is_another_record() {
    let mut world = updating();
    world.put(&file_source("50-user", "/etc/user", "2"));
    world.settle(&shut(), later(60));
    assert_eq!(world.moving(), [""; 0]);
    world.update("Partial", "4.21.4", "2026-11-15T12:02:00Z");
    world.settle(&shut(), later(120));
    assert_eq!(world.record()["release"], "4.21.4");
    assert_eq!(world.moving(), ["n0"], "it was there when this one began");
    assert_eq!(world.node("n1").begun_release.as_deref(), Some("4.21.4"));
}

/// The record ends when the update is complete and the masters have arrived, and not before.
#[test]
fn complete_update_without_anything_for_masters_leaves_no_record() {
    let mut world = updating();
    world.node("n1").state = NodeState::Working;
    world.update("Completed", "4.21.3", "2026-11-15T12:00:00Z");
    world.settle(&shut(), later(60));
    assert_eq!(world.record()["release"], "4.21.3", "one of them is on its way");
    world.node("n1").state = NodeState::Done;
    world.settle(&shut(), later(70));
    assert_eq!(world.record(), Value::Null);
}

#[test]
fn record_that_cannot_be_read_proves_nothing_and_is_named() {
    for text in ["4.21.3", "{}", r#"{"release":"4.21.3"}"#, r#"{"sources":{}}"#] {
        let mut world = updating();
        world.version["metadata"]["annotations"] = json!({names::BEGUN_RELEASE: text});
        world.put(&generated("00-release", "4.21.3"));
        world.settle(&shut(), later(60));
        assert_eq!(world.moving(), [""; 0], "{text}");
        let (status, message) = world.condition("RolloutBlocked");
        assert_eq!(status, "True");
        let field = r#"metadata.annotations["changemanagement.openshift.io/begun-release"]"#;
        assert!(message.contains(field), "{message}");
        let problem = SeenUpdate::new(&world.version).problem.unwrap();
        assert_eq!(problem.object.unwrap().to_string(), "ClusterVersion/version");
    }
}

#[test]
fn record_is_read_as_it_was_written() {
    let sources = [("50-user".to_owned(), "d1".to_owned())];
    let generated = [("00-release".to_owned(), "d2".to_owned())];
    let stage = Stage::UnderWay { sources: sources.into(), generated: generated.into() };
    let record = Record { release: "4.21.3".into(), stage };
    let text = r#"{"release":"4.21.3","sources":{"50-user":"d1"},"generated":{"00-release":"d2"}}"#;
    assert_eq!(record.text(), text);
    let done = Record { release: "4.21.3".into(), stage: Stage::Converged };
    assert_eq!(done.text(), r#"{"release":"4.21.3","converged":true}"#);
    let check = |text: &str, expected: Option<&Record>| {
        let version = json!({"metadata": {"annotations": {names::BEGUN_RELEASE: text}}});
        let seen = SeenUpdate::new(&version);
        assert_eq!((seen.record.as_ref(), seen.problem), (expected, None), "{text}");
    };
    check(&record.text(), Some(&record));
    check(&done.text(), Some(&done));
    check("", None);
    // As nobody writes it, and as it would be meant.
    check(&text.replace("}}", r#"},"converged":false}"#), Some(&record));
}

#[test]
fn when_a_source_was_written_is_what_the_server_stamped_last() {
    let source = json!({"metadata": {"name": "a", "creationTimestamp": "2026-11-15T12:00:00Z",
        "managedFields": [{"time": "2026-11-15T12:30:00Z"}]}, "spec": {}});
    let SeenConfig::Source(source) = SeenConfig::new(&source) else { panic!() };
    assert_eq!(source.changed, Some(instant("2026-11-15T12:30:00Z")));
}
