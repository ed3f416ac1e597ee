//! What does an update of the control plane take along? What stands in the record of it on `ClusterVersion`, and nothing later (GATE-10, CV-1,
//! CV-2).

use api::machine::names::{self, NodeState};
use serde_json::{Value, json};

use super::{
    records::{at, finish_all},
    world::{World, file_source, instant, later, noon, open, shut},
};
use crate::pool::{
    source::SeenConfig,
    update::{Record, SeenUpdate, Stage},
};

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
    let under_way = |riding: &[(&str, &str)]| {
        let riding = riding.iter().map(|(name, digest)| ((*name).into(), (*digest).into()));
        let (sources, generated) = (sources.clone().into(), generated.clone().into());
        let stage = Stage::UnderWay { sources, generated, riding: riding.collect() };
        Record { release: "4.21.3".into(), stage }
    };
    let record = under_way(&[]);
    let text = r#"{"release":"4.21.3","sources":{"50-user":"d1"},"generated":{"00-release":"d2"}}"#;
    assert_eq!(record.text(), text);
    let ridden = under_way(&[("50-user", ""), ("60-late", "d3")]);
    let noted = r#"{"release":"4.21.3","sources":{"50-user":"d1"},"generated":{"00-release":"d2"},"riding":{"50-user":"","60-late":"d3"}}"#;
    assert_eq!(ridden.text(), noted);
    let done = Record { release: "4.21.3".into(), stage: Stage::Converged };
    assert_eq!(done.text(), r#"{"release":"4.21.3","converged":true}"#);
    let check = |text: &str, expected: Option<&Record>| {
        let version = json!({"metadata": {"annotations": {names::BEGUN_RELEASE: text}}});
        let seen = SeenUpdate::new(&version);
        assert_eq!((seen.record.as_ref(), seen.problem), (expected, None), "{text}");
    };
    check(&record.text(), Some(&record));
    check(&ridden.text(), Some(&ridden));
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
