//! When is a wish pinned, held, stopped, marked? (CV-1, CV-4, GATE-7, GATE-10)

use std::collections::BTreeMap;

use api::machine::names::{PERMIT_BASIS, PERMIT_CHANGE, PERMIT_FROM, PERMIT_UNTIL};
use serde_json::Value;

use super::*;
use crate::{
    cluster::{
        kinds::{
            CHANGE_MANAGEMENT_POLICY, CLUSTER_CHANGE_FREEZE, CLUSTER_VERSION, MACHINE_CONFIG,
            MACHINE_CONFIG_POOL, NODE,
        },
        seen::SeenGated,
    },
    document::key::Key,
    gate::action::{Owner, Reserved, Right},
    release::tests::{cluster, image},
};

mod hosted;

/// A Wednesday, and the Saturday after it.
const WEDNESDAY: &str = "2026-11-18T12:00:00Z";
const SATURDAY: &str = "2026-11-21T12:00:00Z";

fn at(text: &str) -> Instant {
    Instant::parse(text).unwrap()
}

struct World {
    version: Value,
    others: Vec<(&'static crate::cluster::kinds::Row, Value)>,
    held_back: Option<&'static str>,
    refusals: Refusals,
    foresight: Foresight,
}

impl World {
    /// A cluster that permits Saturdays and is asked for this.
    fn asked(wish: Value) -> Self {
        let mut version = cluster(wish);
        version["spec"]["changeManagement"] =
            json!({"strategy": "ByPolicy", "byPolicy": {"name": "weekend"}});
        let policy = json!({"apiVersion": names::API_VERSION, "kind": names::CHANGE_MANAGEMENT_POLICY,
            "metadata": {"name": "weekend", "generation": 1}, "spec": {
            "strategy": "MaintenanceSchedule", "maintenanceSchedule": {"permit": {
                "recurrence": {"frequency": "Weekly", "weekly": {"daysOfWeek": ["Saturday"]}}}}}});
        let role = api::machine::names::ROLE;
        let pool = json!({"metadata": {"name": "master"}, "spec": {
            "machineConfigSelector": {"matchLabels": {role: "master"}}}});
        let config = |name: &str, role_of: &str, generated: Value| {
            json!({"metadata": {"name": name,
            "labels": {role: role_of}, "annotations": generated}, "spec": {}})
        };
        let by = json!({api::machine::names::GENERATED_BY: "1"});
        Self {
            version,
            others: vec![
                (&CHANGE_MANAGEMENT_POLICY, policy),
                (&MACHINE_CONFIG_POOL, pool),
                (&MACHINE_CONFIG, config("00-master", "master", by)),
                (&MACHINE_CONFIG, config("50-motd", "master", Value::Null)),
                (&MACHINE_CONFIG, config("50-other", "worker", Value::Null)),
            ],
            held_back: None,
            refusals: BTreeMap::new(),
            foresight: Foresight::default(),
        }
    }

    fn snapshot(&self, now: &str) -> Snapshot {
        let mut snapshot = Snapshot::default();
        for (row, document) in &self.others {
            snapshot.add_written(row, document, at(now));
        }
        snapshot.add(&CLUSTER_VERSION, &self.version);
        snapshot
    }

    fn plan(&self, now: &str) -> Plan {
        let snapshot = self.snapshot(now);
        let version: &SeenGated = snapshot.control_plane().unwrap();
        let around = Around {
            snapshot: &snapshot,
            refusals: &self.refusals,
            held_back: self.held_back,
            enforcement: None,
            foresight: self.foresight.clone(),
        };
        decided(version, &snapshot.gate(version), &around, at(now))
    }

    /// Does what is upkeep, and gives what is left to do.
    fn settled(&mut self, now: &str) -> Plan {
        for _ in 0..3 {
            let plan = self.plan(now);
            let [Action { write: Write::MergePatch(change), right: Right::Upkeep, .. }] =
                plan.actions.as_slice()
            else {
                return plan;
            };
            let pin = &change["metadata"]["annotations"][names::WANTED_IMAGE];
            self.version["metadata"]["annotations"][names::WANTED_IMAGE] = pin.clone();
        }
        panic!("it never settles")
    }

    fn pending(&mut self, now: &str) -> String {
        let plan = self.settled(now);
        assert_eq!(plan.actions, [], "{now}");
        let status = plan.status.expect("it is told");
        let told = status.operations.iter().map(|one| &one["value"]);
        let told = told.filter(|value| value["type"] == names::CHANGES_PENDING);
        let text =
            |value: &Value, field: &str| value[field].as_str().unwrap_or_default().to_owned();
        let told =
            told.map(|value| format!("{}: {}", text(value, "reason"), text(value, "message")));
        told.collect::<Vec<_>>().join("; ")
    }
}

fn annotations(action: &Action) -> &Value {
    match &action.write {
        Write::Apply(Owner::Initiator, document) => &document["metadata"]["annotations"],
        other => panic!("no mark: {other:?}"),
    }
}

/// A wish that nobody can pin is told of, and tried again: a status that says nothing of it would promise a start.
#[test]
fn a_pin_that_the_server_refuses_is_told_and_tried_again() {
    let mut world = World::asked(json!({"version": "4.20.7"}));
    let key = Key::new(&CLUSTER_VERSION.kind, None, names::THE_CLUSTER);
    world.refusals.insert(key, Refusal { change: None, said: "no annotations here".into() });
    let told = world.plan(SATURDAY);
    assert!(told.actions.is_empty());
    let said = format!("{:?}", told.status.expect("it is told").operations);
    assert!(said.contains("the server refuses to let the wish be pinned: no annotations here"));
}

/// CV-3: kubelets that the next minor version would leave behind stop it, with their pool; a patch release goes, and `force` sets them aside.
#[test]
fn kubelets_that_are_too_old_stop_a_minor_update_and_no_other() {
    let asked = |wish: Value, kubelet: &str| {
        let mut world = World::asked(wish);
        let worker = json!({"metadata": {"name": "worker"}, "spec": {
            "nodeSelector": {"matchLabels": {"node-role.kubernetes.io/worker": ""}}}});
        let node = json!({
            "metadata": {"name": "w1", "labels": {"node-role.kubernetes.io/worker": ""}},
            "status": {"nodeInfo": {"kubeletVersion": kubelet}},
        });
        world.others.extend([(&MACHINE_CONFIG_POOL, worker), (&NODE, node)]);
        world
    };
    let minor = || json!({"version": "4.21.2"});
    // 4.20 brings 1.33, and 4.21 supports what is one behind it.
    let told = asked(minor(), "v1.32.6").pending(WEDNESDAY);
    assert!(told.starts_with("Held: held until 2026-11-21T00:00:00Z"), "{told}");
    for part in ["and it would not start then", "Node/w1 (v1.32.6)", "first: worker"] {
        assert!(told.contains(part), "{part}: {told}");
    }
    let told = asked(minor(), "v1.32.6").pending(SATURDAY);
    assert!(told.contains("Node/w1 (v1.32.6)"), "{told}");
    for (wish, kubelet) in [
        (minor(), "v1.33.4"),
        (json!({"version": "4.20.7"}), "v1.32.6"),
        (json!({"version": "4.21.2", "force": true}), "v1.32.6"),
    ] {
        let plan = asked(wish.clone(), kubelet).settled(SATURDAY);
        assert!(plan.actions[0].initiation().is_some(), "{wish} {kubelet}");
    }
}

/// Scenario 1 of the design: asked for on Wednesday, told at once, begun on Saturday.
#[test]
fn a_wish_is_pinned_then_held_and_marked_when_its_window_opens() {
    let mut world = World::asked(json!({"version": "4.20.7"}));
    let first = world.plan(WEDNESDAY);
    assert_eq!(first.actions.len(), 1);
    assert!(first.actions[0].initiation().is_none(), "a pin starts nothing");
    assert_eq!(
        world.pending(WEDNESDAY),
        "Held: held until 2026-11-21T00:00:00Z: release 4.20.7 (now 4.20.6) (ChangeManagementPolicy/weekend: no maintenance window is open: every Saturday, all day, UTC)"
    );
    let plan = world.settled(SATURDAY);
    let [mark] = plan.actions.as_slice() else { panic!("{plan:?}") };
    assert_eq!(plan.status, None, "one write at a time: the status would only conflict");
    let noted = annotations(mark);
    let accepted: Value =
        serde_json::from_str(noted[names::ACCEPTED_RELEASE].as_str().unwrap()).unwrap();
    assert_eq!(
        accepted,
        json!({"version": "4.20.7", "image": image("4.20.7"), "uid": "u1",
            "after": "2025-01-02T00:00:00Z", "at": SATURDAY, "until": "2026-11-21T13:00:00Z"})
    );
    assert_eq!(noted[PERMIT_CHANGE], noted[names::ACCEPTED_RELEASE]);
    assert_eq!(noted[PERMIT_BASIS], "window");
    assert_eq!(noted[PERMIT_FROM], "2026-11-21T00:00:00Z");
    assert_eq!(noted[PERMIT_UNTIL], "2026-11-21T12:05:00Z");
    // GATE-10: what the masters are made of now, by name.
    let record: Value = serde_json::from_str(noted[BEGUN_RELEASE].as_str().unwrap()).unwrap();
    let listed = |key: &str| record[key].as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(record["release"], "4.20.7");
    assert_eq!(
        (listed("sources"), listed("generated")),
        (vec!["50-motd".into()], vec!["00-master".into()])
    );
    let started = mark.initiation().unwrap();
    assert_eq!((&*started.uid, started.reserved), ("u1", Reserved::Written));
    assert!(
        started.permit.is_live(at(SATURDAY)) && !started.permit.is_live(at("2026-11-22T00:00:00Z"))
    );
}

/// Laws: nothing is ever marked without a live permit, and what has begun is never asked about again.
#[test]
fn nothing_is_marked_while_the_gate_is_shut_and_what_began_is_left_alone() {
    let wish = json!({"version": "4.20.7"});
    for hour in 0..24 * 9 {
        let now = at("2026-11-15T00:30:00Z").saturating_add(hour * 3600).to_string();
        let mut world = World::asked(wish.clone());
        let marks = world.settled(&now).actions.len();
        let saturday = now.starts_with("2026-11-21");
        assert_eq!(marks, usize::from(saturday), "{now}");
        if saturday {
            let plan = world.settled(&now);
            let noted = annotations(&plan.actions[0]).clone();
            for (key, value) in noted.as_object().unwrap() {
                world.version["metadata"]["annotations"][key] = value.clone();
            }
            let after = world.settled(&now);
            assert_eq!(after.actions, [], "the mark is there: {now}");
            assert!(
                world
                    .pending(&at(&now).saturating_add(1800).to_string())
                    .starts_with("UnderWay: nothing waits; under way: release 4.20.7")
            );
        }
    }
}

/// Scenario 9, and everything else that stands in the way: told on Wednesday, and not begun on Saturday.
#[test]
fn what_stands_in_the_way_is_told_before_the_window_and_marks_nothing_in_it() {
    let check = |wish: Value, told: &str| {
        let mut world = World::asked(wish.clone());
        world.version["status"]["conditions"] =
            json!([{"type": "Upgradeable", "status": "False", "reason": "DegradedPool"}]);
        let wednesday = world.pending(WEDNESDAY);
        assert!(
            wednesday.starts_with("Held: held until 2026-11-21T00:00:00Z: release"),
            "{wednesday}"
        );
        assert!(
            wednesday.contains("; and it would not start then: spec.desiredUpdate."),
            "{wednesday}"
        );
        assert!(wednesday.contains(told) && wednesday.contains("(hint: "), "{wednesday}");
        let saturday = world.pending(SATURDAY);
        assert!(
            saturday.starts_with("Stopped: changes are permitted, but spec.desiredUpdate."),
            "{saturday}"
        );
        assert!(saturday.contains(told), "{saturday}");
    };
    check(json!({"version": "4.21.2"}), "the cluster is not upgradeable to 4.21.2 (DegradedPool)");
    check(json!({"version": "4.20.99"}), "4.20.99 is none of the updates that the cluster knows");
    check(json!({"version": "4.22.0", "image": image("b")}), "4.22.0 skips 4.21");
    check(json!({"version": "4.19.1", "image": image("c")}), "4.19.1 is older than 4.20.6");
    check(json!({"version": "4.20.7", "image": "r:latest"}), "\"r:latest\" has no digest");
}

/// GATE-11: whatever holds everything back holds this too, and a refusal of the server is told.
#[test]
fn whoever_cannot_rely_on_what_is_known_marks_nothing_and_says_so() {
    let mut world = World::asked(json!({"version": "4.20.7"}));
    world.settled(WEDNESDAY);
    world.held_back = Some("");
    assert!(world.pending(SATURDAY).starts_with("Initiating: may start now"), "over in a moment");
    world.held_back = Some("the clock of the operator is off, so nothing is initiated");
    assert!(
        world
            .pending(SATURDAY)
            .starts_with("Stopped: changes are permitted, but the clock of the operator is off"),
    );
    world.held_back = None;
    let key = world.snapshot(SATURDAY).control_plane().unwrap().identity.key.clone();
    let refusal = Refusal { change: Some(ChangeId::release("4.20.7")), said: "no".into() };
    world.refusals.insert(key, refusal);
    let plan = world.settled(SATURDAY);
    assert_eq!(plan.actions.len(), 1, "it is tried again");
    let told = serde_json::to_string(&plan.status.unwrap().operations).unwrap();
    assert!(told.contains("the server refuses to let it begin: no"), "{told}");
}

/// OVR-1: one write stops it, whatever the policy says.
#[test]
fn a_freeze_holds_a_wish_on_a_saturday() {
    let mut world = World::asked(json!({"version": "4.20.7"}));
    world.others.push((
        &CLUSTER_CHANGE_FREEZE,
        json!({"metadata": {"name": "stop", "uid": "f"}, "spec": {"reason": "incident"}}),
    ));
    assert!(world.pending(SATURDAY).starts_with("Held: "));
}

/// CV-4: what is taken back before its mark never began; another wish has its own pin.
#[test]
fn a_wish_that_goes_leaves_nothing_behind() {
    let mut world = World::asked(json!({"version": "4.20.7"}));
    world.settled(WEDNESDAY);
    world.version["spec"]["desiredUpdate"] = json!({"version": "4.20.8"});
    world.settled(WEDNESDAY);
    let pin = world.version["metadata"]["annotations"][names::WANTED_IMAGE].clone();
    assert!(pin.as_str().unwrap().contains("4.20.8"), "{pin}");
    world.version["spec"]["desiredUpdate"] = Value::Null;
    let plan = world.settled(SATURDAY);
    assert_eq!(plan.actions, []);
    assert_eq!(world.version["metadata"]["annotations"][names::WANTED_IMAGE], Value::Null);
}

/// GATE-1: without a stanza a wish begins at once; what cannot begin is told all the same.
#[test]
fn without_a_stanza_a_wish_begins_at_once() {
    let mut world = World::asked(json!({"version": "4.20.7"}));
    world.version["spec"]["changeManagement"] = Value::Null;
    let plan = world.settled(WEDNESDAY);
    assert_eq!(annotations(&plan.actions[0])[PERMIT_BASIS], "no stanza");
    world.version["spec"]["desiredUpdate"] = json!({"version": "4.20.99"});
    assert!(world.pending(WEDNESDAY).starts_with("Stopped: changes are permitted, but "));
}

/// A second `ClusterVersion` that somebody made marks nothing.
#[test]
fn only_the_one_object_is_the_control_plane() {
    let mut world = World::asked(json!({"version": "4.20.7"}));
    world.version["metadata"]["name"] = json!("other");
    let mut snapshot = world.snapshot(SATURDAY);
    snapshot.add(&CLUSTER_VERSION, &world.version);
    let version = snapshot.gated().find(|seen| &*seen.identity.key.name == "other").unwrap();
    let around = Around {
        snapshot: &snapshot,
        refusals: &world.refusals,
        held_back: None,
        enforcement: None,
        foresight: Foresight::default(),
    };
    assert_eq!(decided(version, &snapshot.gate(version), &around, at(SATURDAY)).actions, []);
}

/// GATE-13: who installs under our eyes and asks nobody is kept by nothing; what was there before tells nothing of them.
#[test]
fn an_update_that_nobody_marked_says_that_nothing_keeps_the_gate() {
    let check = |told_since: Option<&str>, before: Option<&str>, expected: Enforcement| {
        let mut world = World::asked(Value::Null);
        if let Some(since) = told_since {
            world.version["status"]["changeManagement"] = json!({"behavior": {"current":
                {"state": "ChangesPaused", "startTime": since, "reason": "r"}, "history": []}});
        }
        if let Some(reason) = before {
            let known =
                json!([{"type": "Enforced", "status": "False", "reason": reason, "message": ""}]);
            world.version["status"]["conditions"] = known;
        }
        let snapshot = world.snapshot(WEDNESDAY);
        let version: &SeenGated = snapshot.control_plane().unwrap();
        let plane = version.plane().unwrap();
        let found = kept(version, plane, Some(Enforcement::Proven));
        assert_eq!(found, expected, "{told_since:?} {before:?}");
    };
    // The newest began on 2025-01-02.
    check(None, None, Enforcement::Proven);
    check(Some("2025-06-01T00:00:00Z"), None, Enforcement::Proven);
    check(Some("2024-12-01T00:00:00Z"), None, Enforcement::Advisory);
    // It stays told when the stretch in which it began is forgotten.
    check(Some("2025-06-01T00:00:00Z"), Some("Advisory"), Enforcement::Advisory);
}

impl World {
    /// What an apply of ours leaves of the annotations: those that it names, and what others wrote.
    fn apply(&mut self, action: &Action) {
        let mut noted = annotations(action).clone();
        let pin = self.version["metadata"]["annotations"][names::WANTED_IMAGE].take();
        if !pin.is_null() {
            noted[names::WANTED_IMAGE] = pin;
        }
        self.version["metadata"]["annotations"] = noted;
    }

    fn accepted(&self) -> Value {
        let text = self.version["metadata"]["annotations"][names::ACCEPTED_RELEASE].as_str();
        serde_json::from_str(text.unwrap_or("null")).unwrap()
    }
}

/// CV-4: whoever comes back after hours follows nothing that the gate would hold by then. A mark that nobody has followed in an hour is
/// withdrawn, and gate, freezes and wish are asked again.
#[test]
fn a_mark_that_nobody_followed_is_withdrawn_and_asked_about_again() {
    let mut world = World::asked(json!({"version": "4.20.7"}));
    let marked = world.settled("2026-11-21T23:30:00Z");
    world.apply(&marked.actions[0]);
    let waits = world.settled("2026-11-22T00:29:59Z");
    assert_eq!(waits.actions, [], "the window has closed, and the mark is good for an hour");
    assert_eq!(waits.wake, Some(at("2026-11-22T00:30:05Z")));
    // The server compares the end with its own clock, so nobody is in a hurry.
    assert_eq!(world.settled("2026-11-22T00:30:04Z").actions, []);
    let over = world.settled("2026-11-22T00:30:05Z");
    let [withdraw] = over.actions.as_slice() else { panic!("{over:?}") };
    assert!(withdraw.initiation().is_none(), "it starts nothing");
    assert_eq!(over.notes[0].reason, "ReleaseNotFollowed");
    world.apply(withdraw);
    let left =
        json!({"uid": "u1", "after": "2025-01-02T00:00:00Z", "withdrawn": "2026-11-22T00:30:05Z"});
    assert_eq!(world.accepted(), left);
    let noted = world.version["metadata"]["annotations"].as_object().unwrap();
    assert!(!noted.contains_key(BEGUN_RELEASE) && !noted.contains_key(PERMIT_CHANGE), "{noted:?}");
    let told = world.pending("2026-11-22T00:30:06Z");
    assert!(told.starts_with("Held: held until 2026-11-28T00:00:00Z: release 4.20.7"), "{told}");
    let next = world.settled("2026-11-28T00:00:00Z");
    assert!(next.actions[0].initiation().is_some(), "the next window lets it begin");
    // A wish that was taken back meanwhile is not asked about.
    world.version["spec"]["desiredUpdate"] = Value::Null;
    assert_eq!(world.settled("2026-11-28T00:00:00Z").actions, []);
}

/// OVR-5: while a freeze lasts the server takes no write of a mark, a withdrawal neither; followers honour its end without it.
#[test]
fn a_mark_that_has_ended_stays_while_a_freeze_lasts() {
    let mut world = World::asked(json!({"version": "4.20.7"}));
    let marked = world.settled(SATURDAY);
    world.apply(&marked.actions[0]);
    let freeze = json!({"metadata": {"name": "audit"}, "spec": {"reason": "audit",
        "from": "2026-11-21T12:10:00Z", "until": "2026-11-21T20:00:00Z"}});
    world.others.push((&CLUSTER_CHANGE_FREEZE, freeze));
    assert_eq!(world.settled("2026-11-21T15:00:00Z").actions, []);
    let over = world.settled("2026-11-21T20:00:00Z");
    assert!(over.actions[0].initiation().is_none(), "{over:?}");
    world.apply(&over.actions[0]);
    assert_eq!(world.accepted()["withdrawn"], "2026-11-21T20:00:00Z");
}

/// GATE-13: the mark of the next update takes the place of the one before, and still tells that there was one. It also tells whether whoever
/// wished set checks aside: its followers read nothing else.
#[test]
fn a_mark_tells_whether_the_update_before_was_marked_and_whether_it_is_forced() {
    let mut world = World::asked(json!({"version": "4.20.7"}));
    let first = world.settled(SATURDAY);
    world.apply(&first.actions[0]);
    assert_eq!(world.accepted().get("afterMarked"), None, "nobody marked what was installed");
    let begun = json!({"state": "Partial", "version": "4.20.7", "image": image("4.20.7"),
        "startedTime": "2026-11-21T12:00:03Z"});
    world.version["status"]["history"].as_array_mut().unwrap().insert(0, begun);
    world.version["status"]["desired"] = json!({"version": "4.20.7", "image": image("4.20.7")});
    world.version["status"]["availableUpdates"] =
        json!([{"version": "4.20.8", "image": image("4.20.8")}]);
    world.version["spec"]["desiredUpdate"] = json!({"version": "4.20.8", "force": true});
    let second = world.settled("2026-11-21T14:00:00Z");
    world.apply(&second.actions[0]);
    assert_eq!(world.accepted()["afterMarked"], true);
    assert_eq!(world.accepted()["force"], true);
    let plane = |world: &World| SeenPlane::new(&world.version);
    assert!(!plane(&world).began_unmarked(), "everybody asked");
    assert_eq!(plane(&world).open_mark().unwrap().checks, Checks::SetAside);
    // So does what is left of it when nobody follows.
    let over = world.settled("2026-11-21T15:00:05Z");
    world.apply(&over.actions[0]);
    assert_eq!(world.accepted()["afterMarked"], true);
    assert!(plane(&world).open_mark().is_none() && !plane(&world).began_unmarked());
}
