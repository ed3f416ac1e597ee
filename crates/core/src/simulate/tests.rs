//! Small clusters, whole periods.

use std::sync::Arc;

use api::machine::names::{self, NodeState};
use serde_json::{Value, json};

use super::{verdict::Obstacle, *};
use crate::{
    cluster::{
        kinds,
        seen::{Part, Seen, SeenPart},
    },
    document::key::Key,
    pool::seen::{Cordon, SeenNode},
};

mod lines;
mod updates;

fn instant(text: &str) -> Instant {
    Instant::parse(text).unwrap()
}

/// A Sunday at noon.
fn noon() -> Instant {
    instant("2026-11-15T12:00:00Z")
}

fn days(days: i64) -> Settings {
    Settings {
        range: noon()..noon().saturating_add(days * 86_400),
        seed: 1,
        lengths: Lengths { drain: 300, reboot: 480, payload: 3600 },
        machines: BTreeMap::new(),
        arrivals: Vec::new(),
        pools: BTreeSet::new(),
        updates: Vec::new(),
    }
}

/// The same, with a change every so many days.
fn every(interval: i64, period: i64) -> Settings {
    let at = |place: i64| noon().saturating_add(place * interval * 86_400);
    let arrivals = (0..period / interval).map(at).collect();
    Settings { arrivals, ..days(period) }
}

/// A policy `nights` that is open from 22:00 for so long, and nothing else.
fn cluster(duration: &str) -> Snapshot {
    let mut cluster = Snapshot::default();
    let policy = json!({
        "apiVersion": api::names::API_VERSION, "kind": "ChangeManagementPolicy", "metadata": {"name": "nights"},
        "spec": {"strategy": "MaintenanceSchedule",
            "maintenanceSchedule": {"permit": {"startTime": "22:00", "duration": duration}}},
    });
    cluster.add_written(&kinds::CHANGE_MANAGEMENT_POLICY, &policy, noon());
    cluster
}

fn nights() -> Value {
    json!({"strategy": "ByPolicy", "byPolicy": {"name": "nights"}})
}

/// A pool of so many nodes, with `rendered-NAME-b` pending on all of them.
fn add_pool(cluster: &mut Snapshot, name: &str, machines: usize, spec: &Value) {
    let role = format!("node-role.kubernetes.io/{name}");
    let (old, new) = (format!("rendered-{name}-a"), format!("rendered-{name}-b"));
    let mut pool = json!({
        "metadata": {"name": name},
        "spec": {"nodeSelector": {"matchLabels": {&role: ""}}, "configuration": {"name": new},
            "changeManagement": nights()},
        "status": {"configuration": {"name": old}},
    });
    for (key, value) in spec.as_object().unwrap() {
        pool["spec"][key] = value.clone();
    }
    cluster.add_written(&kinds::MACHINE_CONFIG_POOL, &pool, noon());
    for place in 0..machines {
        let node = json!({"metadata": {"name": format!("{name}-{place}"), "labels": {&role: ""},
            "annotations": {names::CURRENT_CONFIG: old, names::DESIRED_CONFIG: old, names::STATE: "Done"}}});
        cluster.add(&kinds::NODE, &node);
    }
}

/// Something else is seen of a node.
fn change(cluster: &mut Snapshot, name: &str, change: impl FnOnce(&mut SeenNode)) {
    let key = Key::new(&kinds::NODE, None, name);
    let Some(Seen::Part(part)) = cluster.get(&key) else { panic!("{key}") };
    let mut part = SeenPart::clone(part);
    let Part::Node(machine) = &mut part.part else { panic!("{key}") };
    change(&mut machine.node);
    cluster.put(Seen::Part(Arc::new(part)));
}

fn worker(duration: &str, machines: usize, spec: &Value) -> Snapshot {
    let mut cluster = cluster(duration);
    add_pool(&mut cluster, "worker", machines, spec);
    cluster
}

fn course(cluster: &Snapshot, settings: &Settings) -> Course {
    simulate(cluster, settings).pools.remove(0)
}

/// LIVE-2, POOL-1, POOL-2: one node after the other, only begun while the window is open, and finished after it.
#[test]
fn machines_begin_in_windows_one_after_the_other_and_finish_after_them() {
    let cluster = worker("1h", 12, &json!({}));
    let course = course(&cluster, &days(30));
    let [change] = course.changes.as_slice() else { panic!("{:?}", course.changes) };
    assert_eq!(change.arrival, Arrival::Pending);
    assert_eq!(change.started, Some(instant("2026-11-15T22:00:00Z")));
    assert_eq!(change.runs.len(), 12);
    let mut before = noon();
    for run in &change.runs {
        assert!(course.gate.set().contains(run.start), "{run:?}");
        assert!(before <= run.start && run.start < run.drained && run.drained < run.end, "{run:?}");
        assert!((390..=1170).contains(&(run.end.unix() - run.start.unix())), "{run:?}");
        assert_eq!(run.basis.as_deref(), Some("window"));
        before = run.end;
    }
    let beyond = change.runs.iter().filter(|run| !course.gate.set().contains(run.end)).count();
    assert!(beyond > 0, "the window is no multiple of a node");
    assert_eq!(change.windows(&course.gate), 3);
    assert_eq!(course.verdict, Outlook::Converges(before));
    assert_eq!(change.finished, Some(before));
}

/// DET-1
#[test]
fn same_seed_gives_the_same_forecast_and_another_seed_another() {
    let cluster = worker("1h", 12, &json!({}));
    let told = |seed: u64| format!("{:?}", simulate(&cluster, &Settings { seed, ..days(30) }));
    assert_eq!(told(1), told(1));
    assert_ne!(told(1), told(2));
}

/// POOL-3: changes come faster than windows let them finish, and still nobody starves.
#[test]
fn changes_that_come_too_fast_starve_nobody_and_are_told() {
    let cluster = worker("30m", 12, &json!({}));
    let settings = every(1, 60);
    let course = course(&cluster, &settings);
    assert!(course.changes.iter().all(|change| change.finished.is_none()));
    assert!(course.changes.iter().rev().skip(1).all(|change| change.superseded.is_some()));
    for (node, _) in &course.machines {
        let runs = course.changes.iter().flat_map(|change| &change.runs);
        let begun: Vec<Instant> =
            runs.filter(|run| run.node == *node).map(|run| run.start).collect();
        assert!(begun.len() > 10, "{node} moved {} times", begun.len());
        let gaps = begun.windows(2).map(|pair| pair[1].unix() - pair[0].unix());
        assert!(gaps.max() < Some(7 * 86_400), "{node} waited longer than a round takes");
    }
    let Outlook::Never { waiting, obstacle: Obstacle::Time { at_once } } = &course.verdict else {
        panic!("{:?}", course.verdict)
    };
    assert!(!waiting.is_empty());
    // Two in half an hour, if begun one by one: with four at once they all fit.
    assert_eq!(*at_once, Some(4));
    assert!(course.open_a_month(&settings) < course.need_a_month(&settings));
    let larger = worker("30m", 12, &json!({"maxUnavailable": 4}));
    let larger = simulate(&larger, &settings).pools.remove(0);
    assert!(matches!(larger.verdict, Outlook::Converges(_)), "{:?}", larger.verdict);
}

/// A change that comes right before the end is no sign of falling behind, and a budget is no worse for it.
#[test]
fn the_end_of_the_period_is_no_obstacle() {
    let cluster = worker("30m", 12, &json!({"maxUnavailable": 4}));
    // The last change comes ten minutes before the last window closes.
    let last = instant("2026-12-14T22:20:00Z");
    let mut settings = every(1, 29);
    settings.arrivals.push(last);
    settings.range.end = instant("2026-12-14T22:30:00Z");
    let fine = course(&cluster, &settings);
    let Outlook::Unfinished { waiting } = &fine.verdict else { panic!("{:?}", fine.verdict) };
    assert!(waiting.len() < 12, "some were begun, and finish");
    let slow = course(&worker("30m", 12, &json!({})), &settings);
    let Outlook::Never { obstacle, .. } = &slow.verdict else { panic!("{:?}", slow.verdict) };
    assert_eq!(*obstacle, Obstacle::Time { at_once: Some(4) });
}

/// What the forecast says is enough is enough.
#[test]
fn a_window_of_the_needed_length_suffices() {
    let settings = every(1, 20);
    let short = course(&worker("1h", 12, &json!({})), &settings);
    assert!(matches!(short.verdict, Outlook::Never { .. }), "{:?}", short.verdict);
    let enough = format!("{}m", short.need / 60 + 1);
    let enough = course(&worker(&enough, 12, &json!({})), &settings);
    assert!(matches!(enough.verdict, Outlook::Converges(_)), "{:?}", enough.verdict);
}

#[test]
fn what_is_in_the_way_is_told() {
    let check = |spec: Value, expected: &str| {
        let course = course(&worker("8h", 3, &spec), &days(30));
        let Outlook::Never { obstacle, .. } = &course.verdict else { panic!("{spec}") };
        let found = format!("{obstacle:?}");
        assert!(found.starts_with(expected), "{spec}: {found}");
    };
    check(json!({"paused": true}), "Paused");
    check(json!({"machineConfig": {"name": "gone"}}), "Blocked(\"spec.machineConfig.name: ");
    check(json!({"maxUnavailable": "half"}), "Blocked(\"spec.maxUnavailable: ");
    check(
        json!({"changeManagement": {"strategy": "Restrictive"}}),
        "Shut { reason: \"spec.changeManagement is Restrictive\", opens: None }",
    );
    check(
        json!({"changeManagement": {"strategy": "ByPolicy", "byPolicy": {"name": "gone"}}}),
        "Shut { reason: \"ChangeManagementPolicy/gone does not exist",
    );
    check(
        json!({"changeManagement": {"strategy": "RestrictiveUntil", "restrictiveUntil": "2027-11-15T12:00:00Z"}}),
        "Shut { reason: \"spec.changeManagement is RestrictiveUntil 2027",
    );
}

/// POOL-2: a node that somebody took away takes its place in the budget for ever.
#[test]
fn cordoned_machine_is_named_as_the_obstacle() {
    let mut cluster = worker("8h", 3, &json!({}));
    change(&mut cluster, "worker-1", |node| node.cordon = Cordon::Cordoned);
    let course = course(&cluster, &days(30));
    let Outlook::Never { waiting, obstacle } = course.verdict else { panic!() };
    assert_eq!(waiting.len(), 3);
    assert_eq!(obstacle, Obstacle::Machines(vec![("worker-1".into(), "is cordoned".into())]));
}

/// CV-2: masters wait for the gate of `ClusterVersion`; CV-1: of its own update the start is told.
#[test]
fn masters_follow_the_cluster_version() {
    let mut cluster = cluster("2h");
    add_pool(&mut cluster, "master", 3, &json!({"changeManagement": {"strategy": "Permissive"}}));
    let version = json!({"metadata": {"name": "version"},
        "spec": {"desiredUpdate": {"version": "4.21.3"}, "changeManagement": nights()},
        "status": {"desired": {"version": "4.20.8"}}});
    cluster.add_written(&kinds::CLUSTER_VERSION, &version, noon());
    let forecast = simulate(&cluster, &days(30));
    let tonight = Some(instant("2026-11-15T22:00:00Z"));
    assert_eq!(forecast.pools[0].changes[0].started, tonight);
    let [update] = forecast.others.as_slice() else { panic!("{:?}", forecast.others) };
    assert_eq!(
        (update.object.to_string().as_str(), update.starts),
        ("ClusterVersion/version", tonight)
    );
    // What has begun goes on whatever the window does (CV-1).
    let begun = json!({"metadata": {"name": "version"}, "spec": {"changeManagement": nights()},
        "status": {"desired": {"version": "4.21.3"}, "history": [{"state": "Partial", "version": "4.21.3"}]}});
    cluster.add_written(&kinds::CLUSTER_VERSION, &begun, noon());
    let forecast = simulate(&cluster, &days(30));
    assert_eq!(forecast.pools[0].changes[0].started, Some(noon()));
    assert!(forecast.others.is_empty());
}

/// HOST-1: hosted nodes ask a policy of their own namespace; only their start is told.
#[test]
fn hosted_machines_start_when_their_gate_opens() {
    let mut cluster = Snapshot::default();
    let policy = json!({"apiVersion": api::names::API_VERSION, "kind": "HostedChangeManagementPolicy",
        "metadata": {"name": "nights", "namespace": "clusters"},
        "spec": {"strategy": "MaintenanceSchedule",
            "maintenanceSchedule": {"permit": {"startTime": "22:00", "duration": "1h"}}}});
    cluster.add_written(&kinds::HOSTED_CHANGE_MANAGEMENT_POLICY, &policy, noon());
    for (name, status) in [("due", "True"), ("quiet", "False")] {
        let pool = json!({"metadata": {"name": name, "namespace": "clusters"}, "spec": {"changeManagement": nights()},
            "status": {"conditions": [{"type": "UpdatingVersion", "status": status}]}});
        cluster.add_written(&kinds::NODE_POOL, &pool, noon());
    }
    let forecast = simulate(&cluster, &days(30));
    let [single] = forecast.others.as_slice() else { panic!("{:?}", forecast.others) };
    assert_eq!(single.object.to_string(), "NodePool/clusters/due");
    assert_eq!(single.starts, Some(instant("2026-11-15T22:00:00Z")));
    assert!(simulate(&cluster, &days(0)).others[0].starts.is_none());
}

/// A hosted cluster at 4.20.6 that is asked for a release, with a pool at another that is asked for one too.
fn hosting(wanted: &str, nodes: &str, nodes_wanted: &str, noted: &Value) -> Snapshot {
    let image = |version: &str| {
        let digest = format!("{:0<64}", version.replace('.', ""));
        format!("registry/release:{version}-x86_64@sha256:{digest}")
    };
    let mut cluster = Snapshot::default();
    let policy = json!({"apiVersion": api::names::API_VERSION, "kind": "HostedChangeManagementPolicy",
        "metadata": {"name": "nights", "namespace": "clusters"},
        "spec": {"strategy": "MaintenanceSchedule",
            "maintenanceSchedule": {"permit": {"startTime": "22:00", "duration": "1h"}}}});
    cluster.add_written(&kinds::HOSTED_CHANGE_MANAGEMENT_POLICY, &policy, noon());
    let plane = json!({"metadata": {"name": "shop", "namespace": "clusters", "annotations": noted},
        "spec": {"release": {"image": image(wanted)}, "changeManagement": nights()},
        "status": {"version": {"desired": {"image": image("4.20.6"), "version": "4.20.6"}, "availableUpdates": [],
            "history": [{"state": "Completed", "version": "4.20.6", "image": image("4.20.6"), "startedTime": "2026-01-01T00:00:00Z"}]}}});
    cluster.add_written(&kinds::HOSTED_CLUSTER, &plane, noon());
    let due = if nodes == nodes_wanted { "False" } else { "True" };
    let pool = json!({"metadata": {"name": "workers", "namespace": "clusters"},
        "spec": {"clusterName": "shop", "release": {"image": image(nodes_wanted)}, "changeManagement": nights()},
        "status": {"version": nodes, "conditions": [{"type": "UpdatingVersion", "status": due}]}});
    cluster.add_written(&kinds::NODE_POOL, &pool, noon());
    cluster
}

/// HOST-1, CV-3: at most three minor versions behind and never ahead, told with the pool before `HyperShift` would let it through.
#[test]
fn hosted_control_planes_wait_for_nodes_that_they_would_leave_behind() {
    let told = |cluster: &Snapshot, kind: &str| {
        let forecast = simulate(cluster, &days(30));
        let mut of_kind = forecast.others.into_iter().filter(|it| it.object.kind == kind);
        let single = of_kind.next().unwrap_or_else(|| panic!("{kind}"));
        assert_eq!(single.is_stopped, single.starts.is_none(), "{single:?}");
        (single.starts, single.reason)
    };
    let tonight = instant("2026-11-15T22:00:00Z");
    let none = json!({});
    // Three behind are supported, and so is a patch.
    for (wanted, nodes) in [("4.21.2", "4.18.9"), ("4.20.7", "4.20.6")] {
        let (starts, _) = told(&hosting(wanted, nodes, nodes, &none), "HostedCluster");
        assert_eq!(starts, Some(tonight), "{wanted} {nodes}");
    }
    let (starts, why) = told(&hosting("4.21.2", "4.17.3", "4.17.3", &none), "HostedCluster");
    assert_eq!(starts, None);
    assert_eq!(
        why,
        "its gate opens at 2026-11-15T22:00:00Z, and it does not start then: NodePool/clusters/workers is at 4.17.3, 4 minor versions behind 4.21.2 \
         (update the node pool first: at most three minor versions behind are supported); nothing is asked of it that would help"
    );
    // The pool is asked for more, and may have it from tonight on; how long that takes nobody knows.
    let helped = hosting("4.21.2", "4.17.3", "4.18.1", &none);
    let (starts, why) = told(&helped, "HostedCluster");
    assert_eq!(starts, None);
    assert!(why.ends_with("; it may go to 4.18.1 from 2026-11-15T22:00:00Z on, and nobody can tell how long that takes"), "{why}");
    assert_eq!(told(&helped, "NodePool").0, Some(tonight));
    // Never ahead: neither by a control plane that goes back, nor by nodes that go first.
    let (starts, why) = told(&hosting("4.20.3", "4.20.6", "4.20.6", &none), "HostedCluster");
    assert_eq!(starts, None);
    assert!(why.contains("NodePool/clusters/workers is at 4.20.6, ahead of 4.20.3"), "{why}");
    let (starts, why) = told(&hosting("4.20.6", "4.20.6", "4.21.2", &none), "NodePool");
    assert_eq!(starts, None);
    assert!(why.ends_with("4.21.2 is ahead of 4.20.6, which HostedCluster/clusters/shop has (update the control plane first: nodes are never ahead of it)"), "{why}");
    let (starts, why) = told(&hosting("4.21.2", "4.20.6", "4.21.2", &none), "NodePool");
    assert_eq!(starts, None);
    assert!(why.ends_with("; HostedCluster/clusters/shop may go to 4.21.2 from 2026-11-15T22:00:00Z on, and nobody can tell how long that takes"), "{why}");
    // What somebody set aside stops nothing.
    let cluster = hosting("4.21.2", "4.17.3", "4.17.3", &none);
    let image = cluster.gated().find_map(|one| one.plane()?.wish.clone()).unwrap().release.image;
    let forced = image.replace('@', ":4.21.2-x86_64@");
    let noted = json!({"hypershift.openshift.io/force-upgrade-to": forced});
    let (starts, _) = told(&hosting("4.21.2", "4.17.3", "4.17.3", &noted), "HostedCluster");
    assert_eq!(starts, Some(tonight));
}

/// Nodes that only vote wait until the masters are through.
#[test]
fn voters_take_turns() {
    let mut cluster = Snapshot::default();
    for name in ["arbiter", "master"] {
        add_pool(&mut cluster, name, 2, &json!({"changeManagement": null}));
    }
    let forecast = simulate(&cluster, &days(1));
    let [arbiters, masters] = forecast.pools.as_slice() else { panic!() };
    let done = masters.changes[0].finished.unwrap();
    assert!(arbiters.changes[0].runs.iter().all(|run| run.start >= done));
    assert!(matches!(arbiters.verdict, Outlook::Converges(_)));
}

#[test]
fn machines_can_be_made_up_and_changes_too() {
    let mut cluster = cluster("8h");
    let pool = json!({"metadata": {"name": "infra"}, "spec": {"changeManagement": nights(), "maxUnavailable": "50%"}});
    cluster.add_written(&kinds::MACHINE_CONFIG_POOL, &pool, noon());
    let machines = BTreeMap::from([("infra".to_owned(), 4)]);
    let quiet = Settings { machines, ..days(3) };
    assert_eq!(course(&cluster, &quiet).verdict, Outlook::Idle);
    let settings = Settings { arrivals: vec![noon()], ..quiet };
    let infra = course(&cluster, &settings);
    assert_eq!((infra.machines.len(), infra.at_once), (4, 2));
    let [change] = infra.changes.as_slice() else { panic!("{:?}", infra.changes) };
    assert_eq!(change.config, "rendered-infra-change-1");
    assert_eq!(change.arrival, Arrival::At(noon()));
    assert!(change.finished.is_some());
    let elsewhere = Settings { pools: BTreeSet::from(["worker".to_owned()]), ..settings };
    assert_eq!(course(&cluster, &elsewhere).verdict, Outlook::Idle);
}

/// POOL-1: sources that were edited since are rendered at once, and pend.
#[test]
fn an_edited_source_is_a_pending_change() {
    let mut cluster = cluster("8h");
    let pool = json!({"metadata": {"name": "worker", "uid": "u"}, "spec": {
        "changeManagement": nights(),
        "machineConfigSelector": {"matchLabels": {names::ROLE: "worker"}},
        "nodeSelector": {"matchLabels": {"node-role.kubernetes.io/worker": ""}}}});
    let source = |arguments: Value| json!({"metadata": {"name": "50-x", "labels": {names::ROLE: "worker"}}, "spec": {"kernelArguments": arguments}});
    let with = |cluster: &Snapshot, arguments: Value| {
        let mut cluster = cluster.clone();
        cluster.add(&kinds::MACHINE_CONFIG, &source(arguments));
        cluster
    };
    cluster.add_written(&kinds::MACHINE_CONFIG_POOL, &pool, noon());
    let machines = BTreeMap::from([("worker".to_owned(), 2)]);
    let settings = Settings { machines, ..days(3) };
    let first = with(&cluster, json!(["quiet"]));
    assert_eq!(course(&first, &settings).verdict, Outlook::Idle);
    let begun = start::pools(&first, &settings).remove(0);
    let stored = begun.rendering.config.unwrap().document(&begun.seen, &begun.base);
    let mut named = pool.clone();
    named["spec"]["configuration"] = json!({"name": stored["metadata"]["name"]});
    cluster.add_written(&kinds::MACHINE_CONFIG_POOL, &named, noon());
    cluster.add(&kinds::MACHINE_CONFIG, &stored);
    assert_eq!(course(&with(&cluster, json!(["quiet"])), &settings).verdict, Outlook::Idle);
    let edited = course(&with(&cluster, json!(["quiet", "nosmt"])), &settings);
    let [change] = edited.changes.as_slice() else { panic!("{:?}", edited.changes) };
    assert_eq!(change.arrival, Arrival::Pending);
    assert_eq!((change.runs.len(), change.finished.is_some()), (2, true));
}

/// A node that was on its way when the period began finishes first.
#[test]
fn machine_under_way_finishes_outside_of_windows() {
    let mut cluster = worker("8h", 2, &json!({}));
    change(&mut cluster, "worker-0", |node| {
        node.desired = "rendered-worker-b".into();
        node.state = NodeState::Working;
    });
    let course = course(&cluster, &days(3));
    let runs = &course.changes[0].runs;
    assert_eq!((runs[0].start, runs[0].basis.as_deref()), (noon(), None));
    assert_eq!(runs[1].start, instant("2026-11-15T22:00:00Z"));
    assert_eq!(course.changes[0].windows(&course.gate), 1);
}

/// What changes may disrupt is no configuration of nodes, whatever its kind is called.
#[test]
fn only_machine_configs_are_sources() {
    let mut cluster = Snapshot::default();
    let document = json!({"metadata": {"name": "cluster"}});
    for kind in [&kinds::MACHINE_CONFIG, &kinds::NODE, &kinds::MACHINE_CONFIGURATION] {
        cluster.add(kind, &document);
    }
    let sources: Vec<&str> = cluster.sources().map(|source| source.name.as_str()).collect();
    assert_eq!((sources, cluster.machines().count()), (vec!["cluster"], 1));
}
