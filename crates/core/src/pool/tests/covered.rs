//! What does the record of an update let the masters get? Row by row (GATE-10, CV-1).

use api::machine::names::{self, NodeState};
use serde_json::{Value, json};

use super::{
    records::{at, finish_all, marks},
    updates::{generated, updating},
    world::{World, file_source, later, open, shut, touch},
};
use crate::pool::{seen::Order, source::Rendered, update::SeenUpdate};

/// What a plan would mark.
fn marked(world: &World, seconds: i64) -> Vec<String> {
    let plan = world.plan(&shut(), later(seconds));
    marks(&plan).into_iter().map(|(node, _)| node.to_owned()).collect()
}

/// CV-1: which release is being installed, as its owner says, and whether it still is.
#[test]
fn release_is_what_its_owner_says_is_being_installed() {
    let check = |desired: Value, state: &str, expected: Option<&str>| {
        let history = json!([{"state": state, "version": "4.21.2"}, {"state": "Partial", "version": "4.20.9"}]);
        let version = json!({"status": {"desired": desired, "history": history}});
        assert_eq!(SeenUpdate::new(&version).release.as_deref(), expected, "{version}");
    };
    let wanted = json!({"version": "4.21.3", "image": "quay.io/release@sha256:1"});
    check(wanted.clone(), "Partial", Some("4.21.3"));
    check(wanted.clone(), "Completed", None);
    check(wanted, "", None);
    check(
        json!({"image": "quay.io/release@sha256:1"}),
        "Partial",
        Some("quay.io/release@sha256:1"),
    );
    check(
        json!({"version": "", "image": "quay.io/a@sha256:1"}),
        "Partial",
        Some("quay.io/a@sha256:1"),
    );
    check(Value::Null, "Partial", Some("4.21.2"));
    check(Value::Null, "Completed", None);
    assert_eq!(
        SeenUpdate::new(&json!({"status": {"desired": {"version": "4.21.3"}}})).release,
        None
    );
}

/// GATE-10: what was written after the update began is not in its record, whoever wrote it: whoever records may have been away.
#[test]
fn record_holds_what_was_written_when_the_update_began() {
    let check = |source: Value, written: &str, sources: &[&str], brought: &[&str]| {
        let mut world = World::new("master", 1);
        let mut source = source;
        source["metadata"]["creationTimestamp"] = written.into();
        world.put(&source);
        world.settle(&shut(), later(-60));
        world.update("Partial", "4.21.3", "2026-11-15T12:00:00Z");
        world.settle(&shut(), later(300));
        let record = world.record();
        let names =
            |part: &str| record[part].as_object().unwrap().keys().cloned().collect::<Vec<_>>();
        assert_eq!(
            (names("sources"), names("generated")),
            (owned(sources), owned(brought)),
            "{written}"
        );
    };
    let user = || file_source("50-user", "/etc/user", "1");
    let of_release = || generated("00-release", "1");
    let (before, then, after) =
        ("2026-11-15T11:59:59Z", "2026-11-15T12:00:00Z", "2026-11-15T12:00:01Z");
    check(user(), before, &["00-base", "50-user"], &[]);
    // In the very second nobody can tell which came first, and doubt holds; what is generated needs no gate.
    check(user(), then, &["00-base"], &[]);
    check(user(), after, &["00-base"], &[]);
    check(of_release(), before, &["00-base"], &["00-release"]);
    check(of_release(), then, &["00-base"], &["00-release"]);
    check(of_release(), after, &["00-base"], &[]);
}

fn owned(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

/// GATE-10: where another operator renders, nobody can tell apart what a configuration holds, and all of it rides along. One that tells
/// is judged by what it tells, and where we render, one that does not is given to nobody.
#[test]
fn only_what_another_operator_rendered_rides_along_unread() {
    let check = |ours: bool, tells: bool, expected: &[&str]| {
        let mut world = updating();
        world.put(&generated("00-release", "4.21.3"));
        world.put(&file_source("50-user", "/etc/user", "2"));
        world.settle(&shut(), later(60));
        if !ours {
            world.sources.clear();
        }
        if !tells {
            stored(&mut world).digests.clear();
        }
        assert_eq!(marked(&world, 70), expected, "ours: {ours}, tells what it holds: {tells}");
    };
    check(false, false, &["n0"]);
    check(false, true, &[]);
    check(true, false, &[]);
    check(true, true, &[]);
}

/// The newest configuration.
fn stored(world: &mut World) -> &mut Rendered {
    let newest = world.newest();
    world.rendered.iter_mut().find(|config| config.name == newest).unwrap()
}

/// GATE-10: masters whose release people's edits overtook go on to the newest that is covered, and to none that may be older than theirs.
#[test]
fn masters_go_on_to_the_newest_that_is_covered_and_newer_than_theirs() {
    let check = |shelf: &[(&str, Option<i64>)], still_brought: bool, expected: Option<&str>| {
        let mut world = updating();
        let own = stored(&mut world).clone();
        for (name, seconds) in shelf {
            let mut covered = own.clone();
            covered.name = (*name).to_owned();
            covered.created = seconds.map(|seconds| own.created.unwrap().saturating_add(seconds));
            covered.digests.insert("00-release".into(), format!("of {name}"));
            world.rendered.push(covered);
        }
        if !still_brought {
            world.sources.retain(|source| source.name != "00-release");
        }
        world.put(&file_source("50-user", "/etc/user", "2"));
        world.settle(&shut(), later(60));
        let goes = world.nodes.iter().map(|node| node.desired.as_str()).find(|at| *at != own.name);
        assert_eq!(goes, expected, "{shelf:?}, {still_brought}");
    };
    check(&[("z", Some(1))], true, Some("z"));
    check(&[("z", Some(0))], true, None);
    check(&[("z", Some(-1))], true, None);
    check(&[("z", None)], true, None);
    check(&[("a", Some(2)), ("z", Some(1))], true, Some("a"));
    check(&[("a", Some(1)), ("z", Some(1))], true, Some("z"));
    // What the release brought when it began is its own, even if it has taken it away since.
    check(&[("z", Some(1))], false, Some("z"));
}

/// GATE-10: what a master has that nobody knows any more excuses nothing, and proves no arrival.
#[test]
fn master_at_a_configuration_that_is_gone_gets_what_is_covered() {
    let mut world = updating();
    let covered = world.newest();
    world.put(&file_source("50-user", "/etc/user", "2"));
    let gone = "rendered-master-gone";
    let node = world.node("n0");
    (node.current, node.desired) = (gone.to_owned(), gone.to_owned());
    world.settle(&shut(), later(60));
    assert_ne!(world.newest(), covered);
    assert_eq!(at(&world), [&*covered; 3]);

    let mut world = updating();
    for node in &mut world.nodes {
        (node.current, node.desired) = (gone.to_owned(), gone.to_owned());
    }
    // A pin: the update leads nobody anywhere.
    let first = world.rendered[0].name.clone();
    world.set("/spec/machineConfig", &json!({"name": first}));
    world.update("Completed", "4.21.3", "2026-11-15T12:00:00Z");
    world.settle(&shut(), later(60));
    assert_eq!(world.record()["release"], "4.21.3", "nobody knows that they have arrived");
}

/// CV-1: the masters have arrived when they have all that the release brings, and not with the first of it.
#[test]
fn part_of_what_the_release_brings_is_no_arrival() {
    let mut world = updating();
    world.put(&generated("01-more", "4.20"));
    world.settle(&open(), later(10));
    finish_all(&mut world, &open(), 20);
    world.version["metadata"]["annotations"] = Value::Null;
    world.settle(&shut(), later(30));
    assert_eq!(world.record()["generated"].as_object().unwrap().len(), 2);
    // Its second part comes together with an edit, which waits.
    world.put(&generated("00-release", "4.21.3"));
    world.settle(&shut(), later(40));
    world.put(&generated("01-more", "4.21.3"));
    world.put(&file_source("50-user", "/etc/user", "2"));
    finish_all(&mut world, &shut(), 50);
    assert_eq!(world.moving(), [""; 0]);
    assert_eq!(world.record()["converged"], Value::Null);
    assert!(world.nodes.iter().all(|node| node.begun_release.is_some()));
    // Taken back, the rest arrives too.
    world.put(&file_source("50-user", "/etc/user", "1"));
    world.settle(&shut(), later(60));
    finish_all(&mut world, &shut(), 70);
    assert_eq!(world.record()["converged"], true);
    assert_eq!(at(&world), [&*world.newest(); 3]);
    assert_eq!(world.version["metadata"]["annotations"].as_object().unwrap().len(), 1);
    assert!(world.version["metadata"]["annotations"].get(names::BEGUN_RELEASE).is_some());
}

/// Plays until nobody is told to go anywhere, and tells every order: who, where.
fn orders(world: &mut World, from: i64) -> Vec<(String, String)> {
    let mut orders = Vec::new();
    for round in 0..20 {
        let before: Vec<String> = at(world).into_iter().map(str::to_owned).collect();
        world.settle(&shut(), later(from + round));
        let moved = world.nodes.iter().zip(&before).filter(|(node, was)| node.desired != **was);
        let told: Vec<_> =
            moved.map(|(node, _)| (node.name.clone(), node.desired.clone())).collect();
        if told.is_empty() {
            return orders;
        }
        orders.extend(told);
        world.finish();
    }
    panic!("masters go to and fro: {orders:?}");
}

/// GATE-10, CV-2: a change that the gate let begin during an update, and the update itself, send no master to and fro: first all masters
/// finish the change, then the release takes them on.
#[test]
fn two_changes_that_have_begun_agree_on_one_place() {
    let mut world = updating();
    world.set("/spec/maxUnavailable", &json!(2));
    world.put(&file_source("50-user", "/etc/user", "2"));
    world.settle(&open(), later(60));
    let permitted = world.newest();
    world.finish();
    // The edit is taken back behind the gate, and the release brings what it has.
    world.put(&file_source("50-user", "/etc/user", "1"));
    world.put(&generated("00-release", "4.21.3"));
    let told = orders(&mut world, 70);
    let release = world.newest();
    let to = |node: &str, config: &str| (node.to_owned(), config.to_owned());
    // With the order of n2 the change is over, and in the same moment the release takes n0 on.
    let expected =
        [to("n0", &release), to("n2", &permitted), to("n1", &release), to("n2", &release)];
    assert_eq!(told, expected);
    assert_eq!(world.record()["converged"], true);
    assert_eq!(world.seen().ledger.text(), "[]");
}

/// GATE-10: a master that has the release is not taken back behind the gate, however many may go at once and whoever still lacks it.
#[test]
fn only_masters_that_lack_the_release_go_with_it() {
    let mut world = updating();
    world.set("/spec/maxUnavailable", &json!(3));
    world.put(&file_source("50-user", "/etc/user", "2"));
    world.put(&generated("00-release", "4.21.3"));
    world.settle(&shut(), later(60));
    let permitted = world.newest();
    let node = world.node("n0");
    (node.desired, node.current) = (permitted.clone(), permitted.clone());
    world.put(&file_source("50-user", "/etc/user", "1"));
    world.settle(&shut(), later(70));
    let taken_back = world.newest();
    finish_all(&mut world, &shut(), 80);
    assert_eq!(at(&world), [&*permitted, &*taken_back, &*taken_back]);
    assert_eq!(world.record()["converged"], true);
}

/// CV-2: a change is over when it has nobody left to take: a master that its administrator sent elsewhere holds up no release.
#[test]
fn master_that_went_elsewhere_keeps_no_change_open() {
    let mut world = updating();
    world.put(&file_source("50-user", "/etc/user", "2"));
    world.settle(&open(), later(60));
    world.finish();
    world.put(&file_source("50-user", "/etc/user", "3"));
    world.settle(&shut(), later(61));
    world.finish();
    assert!(world.seen().ledger.change().is_some(), "n2 is left");
    let newest = world.newest();
    let node = world.node("n2");
    (node.desired, node.current) = (newest.clone(), newest.clone());
    node.permit_change = Some(newest);
    node.permit_basis = Some("consent for Node/n2".into());
    node.permit_until = Some(later(300));
    touch(node);
    world.settle(&shut(), later(62));
    assert_eq!(world.seen().ledger.change(), None);
    world.put(&generated("00-release", "4.21.3"));
    world.put(&file_source("50-user", "/etc/user", "1"));
    orders(&mut world, 70);
    assert_eq!(at(&world), [&*world.newest(); 3]);
}

/// CV-1, NODE-3: a master whose agent never spoke holds up no release: nobody knows where it is, and nothing is begun there.
#[test]
fn master_whose_agent_never_spoke_keeps_no_change_open() {
    let mut world = updating();
    world.put(&file_source("50-user", "/etc/user", "2"));
    silence(&mut world, "n2");
    for second in [60, 61] {
        world.settle(&open(), later(second));
        world.finish();
    }
    world.settle(&shut(), later(62));
    assert_eq!(world.seen().ledger.change(), None, "those who can be told are there");
    world.put(&generated("00-release", "4.21.3"));
    world.put(&file_source("50-user", "/etc/user", "1"));
    for second in [70, 71, 72] {
        world.settle(&shut(), later(second));
        world.finish();
    }
    let newest = world.newest();
    assert_eq!(at(&world), [&*newest, &*newest, ""]);
}

/// An agent that has never said a word.
fn silence(world: &mut World, name: &str) {
    let silent = world.node(name);
    (silent.current, silent.desired) = (String::new(), String::new());
    (silent.order, silent.state) = (Order::NotGiven, NodeState::Unknown);
}

/// GATE-10, NODE-3: the masters that can be told have converged, and from then on what is generated for them waits for the gate, whatever
/// one whose agent never spoke may do. While none of them has spoken nobody has converged.
#[test]
fn master_whose_agent_never_spoke_keeps_no_record_open() {
    let mut world = updating();
    world.put(&generated("00-release", "4.21.3"));
    silence(&mut world, "n2");
    world.settle(&shut(), later(60));
    assert_eq!(world.record()["converged"], Value::Null, "somebody is still on the way");
    finish_all(&mut world, &shut(), 61);
    let newest = world.newest();
    assert_eq!(at(&world), [&*newest, &*newest, ""]);
    assert_eq!(world.record()["converged"], true);
    world.put(&generated("99-kubelet", "1"));
    world.settle(&shut(), later(70));
    assert_eq!(marked(&world, 71), [""; 0]);

    let mut mute = updating();
    mute.put(&generated("00-release", "4.21.3"));
    for name in ["n0", "n1", "n2"] {
        silence(&mut mute, name);
    }
    mute.settle(&shut(), later(60));
    assert_eq!(mute.record()["converged"], Value::Null);
}

/// GATE-10: a pool whose selector somebody broke has no nodes for a while, which proves nothing: what has begun goes on afterwards.
#[test]
fn record_outlives_a_pool_that_lost_its_nodes_by_mistake() {
    let mut world = updating();
    world.put(&generated("00-release", "4.21.3"));
    let nodes = std::mem::take(&mut world.nodes);
    let selector = std::mem::replace(&mut world.pool["spec"]["nodeSelector"], json!({}));
    world.settle(&shut(), later(60));
    assert_eq!(world.record()["converged"], Value::Null);
    (world.nodes, world.pool["spec"]["nodeSelector"]) = (nodes, selector);
    finish_all(&mut world, &shut(), 61);
    let newest = world.newest();
    assert_eq!(at(&world), [&*newest; 3]);
    assert_eq!(world.record()["converged"], true);
}
