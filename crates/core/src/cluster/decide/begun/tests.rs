//! When does a node of a stock control plane carry the record of an update? (GATE-10, CV-1)

use api::machine::names::{CURRENT_CONFIG, DESIRED_CONFIG, GENERATED_BY, ROLE, STATE};

use super::*;
use crate::{
    cluster::kinds::{MACHINE_CONFIG_POOL, NODE, STOCK_CLUSTER_VERSION, STOCK_MACHINE_CONFIG},
    pool::update::Stage,
    release::tests::{cluster, image},
};

const BEFORE: &str = "2026-11-01T00:00:00Z";
const BEGAN: &str = "2026-11-21T12:00:09Z";
const SINCE: &str = "2026-11-21T12:30:00Z";

/// A control plane of two masters beside a worker, with an update in some state.
struct World {
    version: Value,
    pool: Value,
    nodes: Vec<Value>,
    configs: Vec<Value>,
}

/// A configuration that somebody wrote at an instant.
fn config(name: &str, role: &str, argument: &str, at: &str) -> Value {
    json!({"metadata": {"name": name, "labels": {ROLE: role}, "creationTimestamp": at},
        "spec": {"kernelArguments": [argument]}})
}

/// One that a controller generated.
fn generated(name: &str, argument: &str, at: &str) -> Value {
    let mut made = config(name, "master", argument, at);
    made["metadata"]["annotations"] = json!({GENERATED_BY: "4.20"});
    made
}

fn node(name: &str, role: &str, (current, desired): (&str, &str)) -> Value {
    json!({"metadata": {"name": name, "uid": name, "resourceVersion": "5",
        "labels": {format!("node-role.kubernetes.io/{role}"): ""},
        "annotations": {CURRENT_CONFIG: current, DESIRED_CONFIG: desired, STATE: "Done"}}})
}

fn pool(name: &str, newest: &str) -> Value {
    json!({"metadata": {"name": name}, "spec": {
        "machineConfigSelector": {"matchLabels": {ROLE: name}},
        "nodeSelector": {"matchLabels": {format!("node-role.kubernetes.io/{name}"): ""}},
        "configuration": {"name": newest}}})
}

impl World {
    fn resting() -> Self {
        let old = ("rendered-master-1", "rendered-master-1");
        Self {
            version: cluster(Value::Null),
            pool: pool("master", "rendered-master-1"),
            nodes: vec![
                node("m1", "master", old),
                node("m2", "master", old),
                node("w1", "worker", ("rendered-worker-1", "rendered-worker-1")),
            ],
            configs: vec![
                generated("00-master", "a", BEFORE),
                config("50-ours", "master", "a", BEFORE),
                config("50-workers", "worker", "a", BEFORE),
            ],
        }
    }

    /// The cluster version operator began this release, and says that it is so far.
    fn is(&mut self, release: &str, state: &str) {
        let entry = json!({"state": state, "version": release, "image": image(release), "startedTime": BEGAN});
        let history = self.version["status"]["history"].as_array_mut().unwrap();
        history.retain(|one| one["version"] != release);
        history.insert(0, entry);
        self.version["status"]["desired"] = json!({"version": release, "image": image(release)});
    }

    fn told(&mut self, name: &str, current: &str, desired: &str) {
        let node = self.nodes.iter_mut().find(|node| node["metadata"]["name"] == name).unwrap();
        node["metadata"]["annotations"][CURRENT_CONFIG] = json!(current);
        node["metadata"]["annotations"][DESIRED_CONFIG] = json!(desired);
    }

    fn kept(&self) -> Kept {
        let mut snapshot = Snapshot::default();
        snapshot.add(&MACHINE_CONFIG_POOL, &self.pool);
        snapshot.add(&MACHINE_CONFIG_POOL, &pool("worker", "rendered-worker-1"));
        for node in &self.nodes {
            snapshot.add(&NODE, node);
        }
        for config in &self.configs {
            snapshot.add(&STOCK_MACHINE_CONFIG, config);
        }
        snapshot.add(&STOCK_CLUSTER_VERSION, &self.version);
        kept(snapshot.control_plane().unwrap(), &snapshot)
    }

    /// Writes a configuration, or another in its place.
    fn put(&mut self, config: Value) {
        self.configs.retain(|other| other["metadata"]["name"] != config["metadata"]["name"]);
        self.configs.push(config);
    }

    /// What the record lists, and what people are told when it is written.
    fn rides(&mut self) -> (String, Option<String>) {
        let Kept { version, .. } = self.kept();
        let told = version.and_then(|(_, note)| note);
        self.step();
        let record = crate::pool::update::SeenUpdate::stock(&self.version).record.unwrap();
        (listed(&record), told.map(|note| format!("{}: {}", note.reason, note.message)))
    }

    /// Does what has to be done, and tells what it was.
    fn step(&mut self) -> Vec<String> {
        let Kept { version, nodes } = self.kept();
        let mut told = Vec::new();
        for action in version.into_iter().map(|(action, _)| action).chain(nodes) {
            let Write::MergePatch(change) = &action.write else { panic!("{action:?}") };
            assert_eq!(action.initiation(), None, "it is upkeep");
            let text = change["metadata"]["annotations"][BEGUN_RELEASE].clone();
            let name = action.target.name.to_string();
            let object = if name == "version" {
                &mut self.version
            } else {
                self.nodes.iter_mut().find(|node| node["metadata"]["name"] == *name).unwrap()
            };
            assert_eq!(change["metadata"]["uid"], object["metadata"]["uid"]);
            assert_eq!(
                change["metadata"]["resourceVersion"],
                object["metadata"]["resourceVersion"]
            );
            object["metadata"]["annotations"][BEGUN_RELEASE] = text.clone();
            let said = match text.as_str() {
                Some(text) if name == "version" => {
                    serde_json::from_str::<Value>(text).unwrap()["release"].as_str().unwrap().into()
                }
                Some(text) => text.to_owned(),
                None => "nothing".to_owned(),
            };
            told.push(format!("{name}: {said}"));
        }
        told
    }
}

#[test]
fn what_began_is_copied_once_and_goes_when_the_masters_have_converged() {
    let mut world = World::resting();
    assert_eq!(world.step(), [""; 0], "nothing began");
    world.is("4.20.7", "Partial");
    assert_eq!(world.step(), ["version: 4.20.7", "m1: 4.20.7", "m2: 4.20.7"]);
    assert_eq!(world.step(), [""; 0], "once");
    // Masters that rest where they were have not converged on the release.
    world.pool["spec"]["configuration"]["name"] = json!("rendered-master-2");
    world.told("m1", "rendered-master-1", "rendered-master-2");
    assert_eq!(world.step(), [""; 0]);
    world.told("m1", "rendered-master-2", "rendered-master-2");
    world.told("m2", "rendered-master-2", "rendered-master-2");
    assert_eq!(world.step(), [""; 0], "its owner does not say that it is complete");
    world.is("4.20.7", "Completed");
    assert_eq!(world.step(), ["version: nothing", "m1: nothing", "m2: nothing"]);
    assert_eq!(world.step(), [""; 0], "and is not copied again");
}

#[test]
fn what_is_complete_stays_begun_until_every_master_rests() {
    let mut world = World::resting();
    world.is("4.20.7", "Partial");
    world.step();
    world.is("4.20.7", "Completed");
    world.pool["spec"]["configuration"]["name"] = json!("rendered-master-2");
    assert_eq!(world.step(), [""; 0], "nobody was told yet");
    world.told("m1", "rendered-master-2", "rendered-master-2");
    world.told("m2", "rendered-master-1", "rendered-master-2");
    assert_eq!(world.step(), [""; 0], "one is on its way");
    world.told("m2", "rendered-master-2", "rendered-master-2");
    assert_eq!(world.step().len(), 3);
}

/// GATE-10: a machine that joins, a label that moves and a record that nobody can read prove nothing.
#[test]
fn only_masters_carry_it_and_only_while_it_lasts() {
    let mut world = World::resting();
    world.nodes[2]["metadata"]["annotations"][BEGUN_RELEASE] = json!("4.20.7");
    assert_eq!(world.step(), ["w1: nothing"], "somebody else wrote it");
    world.is("4.20.7", "Partial");
    world.step();
    let old = ("rendered-master-1", "rendered-master-1");
    world.nodes.push(node("m3", "master", old));
    assert_eq!(world.step(), ["m3: 4.20.7"], "a master that joins has to get there too");
    world.nodes[1]["metadata"]["labels"] = json!({"node-role.kubernetes.io/worker": ""});
    assert_eq!(world.step(), ["m2: nothing"], "it is a master no more");
    // Another release takes the place of the first.
    world.is("4.20.8", "Partial");
    assert_eq!(world.step(), ["version: 4.20.8", "m1: 4.20.8", "m3: 4.20.8"]);
    // What nobody can read is no record, and is written anew, or goes.
    world.version["metadata"]["annotations"][BEGUN_RELEASE] = json!("{");
    assert_eq!(world.step(), ["version: 4.20.8"]);
    world.is("4.20.8", "Completed");
    world.version["metadata"]["annotations"][BEGUN_RELEASE] = json!("{");
    assert_eq!(world.step(), ["version: nothing", "m1: nothing", "m3: nothing"]);
}

/// While nobody can tell who is a master, nobody loses what it has, and nothing has converged.
#[test]
fn doubt_about_who_is_a_master_takes_nothing_away() {
    let mut world = World::resting();
    world.is("4.20.7", "Partial");
    world.step();
    world.is("4.20.7", "Completed");
    world.pool["spec"]["nodeSelector"] =
        json!({"matchExpressions": [{"key": "x", "operator": "exists"}]});
    assert_eq!(world.step(), [""; 0]);
}

#[test]
fn the_record_reads_as_one_that_is_under_way() {
    let mut world = World::resting();
    world.is("4.20.7", "Partial");
    world.step();
    let update = crate::pool::update::SeenUpdate::stock(&world.version);
    assert_eq!(update.problem, None);
    let record = update.record.unwrap();
    assert_eq!(record.release, "4.20.7");
    assert!(matches!(record.stage, Stage::UnderWay { .. }));
}

/// GATE-10: where others render, what people wrote since the update began cannot be kept apart: it is listed, and told once.
#[test]
fn what_people_wrote_for_masters_since_it_began_is_listed_and_told_once() {
    let mut world = World::resting();
    world.is("4.20.7", "Partial");
    assert_eq!(world.rides().0, "", "what was there when it began is no rider");
    // What the release brings, and what others get, is nobody's business here.
    world.put(generated("00-master", "b", SINCE));
    world.put(generated("01-new", "b", SINCE));
    world.put(config("60-workers", "worker", "b", SINCE));
    // What is older than the update only came to be seen later.
    world.put(config("55-unseen", "master", "b", BEFORE));
    assert_eq!(world.step(), [""; 0]);
    world.put(config("99-late", "master", "b", SINCE));
    let said = "RidesAlong: what people wrote for the nodes of the control plane since release 4.20.7 began rides along with it, and waits for no gate: 99-late";
    assert_eq!(world.rides(), ("99-late".into(), Some(said.into())));
    assert_eq!(world.step(), [""; 0], "once");
    // In the very second, edited, and taken away.
    world.put(config("98-then", "master", "b", BEGAN));
    world.put(config("50-ours", "master", "b", SINCE));
    let (listed, told) = world.rides();
    assert_eq!(listed, "50-ours, 98-then, 99-late");
    assert!(told.is_some_and(|told| told.ends_with(": 50-ours, 98-then, 99-late")));
    world.configs.retain(|config| config["metadata"]["name"] != "50-ours");
    let (listed, told) = world.rides();
    assert_eq!(listed, "50-ours (taken away), 98-then, 99-late");
    assert!(told.is_some());
    // What goes back to how it was rides no more, and nobody is told of that.
    world.put(config("50-ours", "master", "a", SINCE));
    assert_eq!(world.rides(), ("98-then, 99-late".into(), None));
    // Where no configuration was seen nobody can tell what was taken away.
    world.configs.clear();
    assert_eq!(world.rides(), ("98-then, 99-late".into(), None));
}

/// Whoever was away when it began leaves out what was written since, and lists it then.
#[test]
fn what_was_written_before_anybody_looked_is_listed_too() {
    let mut world = World::resting();
    world.put(config("99-late", "master", "b", SINCE));
    world.is("4.20.7", "Partial");
    assert_eq!(world.rides().0, "", "first it is recorded");
    assert_eq!(world.rides().0, "99-late");
    // The next release begins anew.
    world.is("4.20.8", "Partial");
    assert_eq!(world.rides().0, "");
}
