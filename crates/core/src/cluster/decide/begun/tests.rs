//! When does a node of a stock control plane carry the record of an update? (GATE-10, CV-1)

use api::machine::names::{CURRENT_CONFIG, DESIRED_CONFIG, ROLE, STATE};

use super::*;
use crate::{
    cluster::kinds::{MACHINE_CONFIG_POOL, NODE, STOCK_CLUSTER_VERSION},
    pool::update::Stage,
    release::tests::{cluster, image},
};

/// A control plane of two masters beside a worker, with an update in some state.
struct World {
    version: Value,
    pool: Value,
    nodes: Vec<Value>,
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
        }
    }

    /// The cluster version operator began this release, and says that it is so far.
    fn is(&mut self, release: &str, state: &str) {
        let entry = json!({"state": state, "version": release, "image": image(release), "startedTime": "2026-11-21T12:00:09Z"});
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
        snapshot.add(&STOCK_CLUSTER_VERSION, &self.version);
        kept(snapshot.control_plane().unwrap(), &snapshot)
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
