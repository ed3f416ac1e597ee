//! When is what was queued pinned, held, stopped, begun, done? (CV-4, CV-5, CV-6, GATE-7)

use std::collections::BTreeMap;

use api::{
    machine::names::{PERMIT_BASIS, PERMIT_CHANGE, PERMIT_FROM, PERMIT_UNTIL},
    names,
};

use super::*;
use crate::{
    cluster::{
        kinds::{CLUSTER_CHANGE_FREEZE, CLUSTER_CHANGE_GATE, Row, STOCK_CLUSTER_VERSION},
        snapshot::Snapshot,
    },
    document::key::Key,
    gate::{
        Basis,
        action::{Reserved, Right},
        refusal::{Refusal, Refusals},
    },
    policy::verdict::Verdict,
    release::tests::{cluster, image},
};

const WEDNESDAY: &str = "2026-11-18T12:00:00Z";
const OPENS: &str = "2026-11-21T00:00:00Z";
const SATURDAY: &str = "2026-11-21T12:00:00Z";
const CLOSES: &str = "2026-11-22T00:00:00Z";

fn at(text: &str) -> Instant {
    Instant::parse(text).unwrap()
}

/// A stock cluster at 4.20.6, with gates and freezes.
struct World {
    version: Value,
    others: Vec<(&'static Row, Value)>,
    held_back: Option<&'static str>,
    refusals: Refusals,
}

/// A gate on updates, with what the server reads of it.
#[expect(clippy::needless_pass_by_value, reason = "rows are written without borrows")]
fn gate(name: &str, hold: Value, windows: Value) -> (&'static Row, Value) {
    let gate = json!({"apiVersion": names::API_VERSION, "kind": names::CLUSTER_CHANGE_GATE,
        "metadata": {"name": name, "generation": 2, "uid": name, "resourceVersion": "3"},
        "spec": {"changeManagement": {"strategy": "Restrictive"}, "holds": [hold]},
        "status": {"observedGeneration": 2, "windows": windows,
            "conditions": [{"type": "Ready", "status": "True", "reason": "AsExpected", "message": ""}]}});
    (&CLUSTER_CHANGE_GATE, gate)
}

fn saturday() -> Value {
    json!([{"startTime": OPENS, "endTime": CLOSES}])
}

fn freeze() -> (&'static Row, Value) {
    let freeze = json!({"apiVersion": names::API_VERSION, "kind": "ClusterChangeFreeze",
        "metadata": {"name": "stop", "creationTimestamp": "2026-11-18T00:00:00Z"},
        "spec": {"reason": "a storm", "holds": [{"what": "ClusterVersion"}]}});
    (&CLUSTER_CHANGE_FREEZE, freeze)
}

impl World {
    /// One whose updates may begin on Saturdays, and of which somebody wants this.
    fn asked(wish: &str) -> Self {
        let mut version = cluster(Value::Null);
        version["metadata"]["annotations"] = json!({names::WANTED_RELEASE: wish});
        Self {
            version,
            others: vec![gate("plane", json!({"what": "ClusterVersion"}), saturday())],
            held_back: None,
            refusals: BTreeMap::new(),
        }
    }

    fn snapshot(&self, now: &str) -> Snapshot {
        let mut snapshot = Snapshot::default();
        for (row, document) in &self.others {
            snapshot.add_written(row, document, at(now));
        }
        snapshot.add(&STOCK_CLUSTER_VERSION, &self.version);
        snapshot
    }

    fn plan(&self, now: &str) -> Plan {
        let snapshot = self.snapshot(now);
        let around = Surroundings {
            refusals: &self.refusals,
            held_back: self.held_back,
            ..Surroundings::of(&snapshot)
        };
        let version = snapshot.control_plane().unwrap();
        decided(version, &snapshot.gate(version), &around, at(now))
    }

    /// Takes in what a merge patch of ours changes.
    fn take(&mut self, change: &Value) {
        fn merge(into: &mut Value, change: &Value) {
            let Value::Object(fields) = change else {
                *into = change.clone();
                return;
            };
            if !into.is_object() {
                *into = json!({});
            }
            let object = into.as_object_mut().unwrap();
            for (field, value) in fields {
                if value.is_null() {
                    object.remove(field);
                } else {
                    merge(object.entry(field.clone()).or_insert(Value::Null), value);
                }
            }
        }
        merge(&mut self.version, change);
    }

    /// Does what is upkeep, and gives what is left to do, with what was told by the way.
    fn settled(&mut self, now: &str) -> (Plan, Vec<String>) {
        let mut told = Vec::new();
        for _ in 0..4 {
            let plan = self.plan(now);
            told.extend(plan.notes.iter().map(|note| format!("{}: {}", note.reason, note.message)));
            let [Action { write: Write::MergePatch(change), right: Right::Upkeep, .. }] =
                plan.actions.as_slice()
            else {
                return (plan, told);
            };
            self.take(&change.clone());
        }
        panic!("it never settles")
    }

    /// The write by which it begins; none if it does not.
    fn begins(&mut self, now: &str) -> Option<Value> {
        let (plan, _) = self.settled(now);
        assert_eq!(plan.status, None, "stock definitions would drop it");
        match plan.actions.as_slice() {
            [] => None,
            [Action { write: Write::MergePatchBy(Owner::Initiator, change), .. }] => {
                Some(change.clone())
            }
            other => panic!("{other:?}"),
        }
    }

    fn noted(&self, key: &str) -> Value {
        self.version["metadata"]["annotations"][key].clone()
    }
}

#[test]
fn what_was_queued_is_pinned_held_and_begun_in_its_window() {
    let mut world = World::asked(r#"{"version":"4.20.7"}"#);
    let (held, told) = world.settled(WEDNESDAY);
    assert_eq!((held.actions, held.wake), (vec![], Some(at(OPENS))));
    let pin: Value =
        serde_json::from_str(world.noted(names::WANTED_IMAGE).as_str().unwrap()).unwrap();
    let expected =
        json!({"version": "4.20.7", "image": image("4.20.7"), "wish": {"version": "4.20.7"}});
    assert_eq!(pin, expected);
    assert_eq!(
        told,
        [format!(
            "ReleaseQueued: release 4.20.7 is queued, and held until {OPENS} (ClusterChangeGate/plane holds it)"
        )]
    );
    // The list of updates forgets it meanwhile.
    world.version["status"]["availableUpdates"] = json!([]);
    let (plan, _) = world.settled(SATURDAY);
    let [begin] = plan.actions.as_slice() else { panic!("{plan:?}") };
    let Right::Initiates(started) = &begin.right else { panic!("no permit") };
    assert_eq!(started.change, ChangeId::release("4.20.7"));
    assert_eq!((started.uid.as_str(), started.reserved), ("u1", Reserved::Written));
    assert_eq!(started.permit.basis(), &Basis::Window);
    assert_eq!(started.permit.opened(), Some(at(OPENS)));
    assert_eq!(started.permit.expires(), Some(at(CLOSES)));
    let Write::MergePatchBy(Owner::Initiator, change) = &begin.write else { panic!("{begin:?}") };
    assert_eq!(change["metadata"]["resourceVersion"], "7");
    assert_eq!(change["metadata"]["uid"], "u1");
    let noted = &change["metadata"]["annotations"];
    assert!(noted.as_object().unwrap().contains_key(names::WANTED_RELEASE));
    assert_eq!(
        (&noted[names::WANTED_RELEASE], &noted[names::WANTED_IMAGE]),
        (&Value::Null, &Value::Null)
    );
    assert_eq!((&noted[PERMIT_BASIS], &noted[PERMIT_FROM]), (&json!("window"), &json!(OPENS)));
    assert_eq!(noted[PERMIT_UNTIL], "2026-11-21T12:05:00Z");
    let record: Value = serde_json::from_str(noted[PERMIT_CHANGE].as_str().unwrap()).unwrap();
    let expected = json!({"version": "4.20.7", "image": image("4.20.7"), "uid": "u1",
        "after": "2025-01-02T00:00:00Z", "at": SATURDAY});
    assert_eq!(record, expected);
    world.take(&change.clone());
    let update = json!({"version": "4.20.7", "image": image("4.20.7")});
    assert_eq!(world.version["spec"]["desiredUpdate"], update);
    assert_eq!(world.begins(SATURDAY), None, "and nothing more");
}

/// GATE-15, RCH-1, RCH-2: every gate on it has to permit, as the server reads it, and no freeze may hold it.
#[test]
fn every_gate_that_selects_it_has_to_permit() {
    let room = || json!({"what": "ClusterVersion"});
    let plane = || gate("plane", room(), saturday());
    let never = || gate("other", room(), json!([]));
    let with = |(row, mut document): (&'static Row, Value), path: &str, value: Value| {
        *document.pointer_mut(path).unwrap() = value;
        (row, document)
    };
    for (others, expected, why) in [
        (vec![], true, "no gate holds it"),
        (vec![plane()], true, "open"),
        (vec![gate("plane", room(), json!([{}]))], true, "always open"),
        (vec![plane(), never()], false, "the other is shut"),
        (
            vec![plane(), gate("other", json!({"what": "Deployments"}), json!([]))],
            true,
            "another room",
        ),
        (
            vec![
                plane(),
                gate("other", json!({"what": "ClusterVersion", "names": ["x"]}), json!([])),
            ],
            true,
            "another name",
        ),
        (
            vec![gate("plane", json!({"what": "ClusterVersion", "how": "Refuse"}), saturday())],
            true,
            "what is refused can be queued by hand",
        ),
        (vec![with(plane(), "/status/observedGeneration", json!(1))], false, "its status lags"),
        (
            vec![with(plane(), "/status/conditions/0/status", json!("False"))],
            false,
            "it is not ready",
        ),
        (vec![with(plane(), "/status", json!({}))], false, "its windows are not known"),
        (
            vec![with(plane(), "/status/windows", json!([{"startTime": "soon"}]))],
            false,
            "its windows cannot be read",
        ),
        (
            vec![plane(), with(never(), "/spec/holds", json!([{"what": "Teapots"}]))],
            false,
            "nobody knows what it holds",
        ),
        (
            vec![plane(), with(never(), "/spec", json!({"mode": "Audit", "holds": [room()]}))],
            true,
            "it audits",
        ),
        (
            vec![plane(), with(never(), "/spec", json!({"mode": "Warn", "holds": [room()]}))],
            true,
            "it warns",
        ),
        (
            vec![
                plane(),
                with(never(), "/spec", json!({"namespaceSelector": {}, "holds": [room()]})),
            ],
            true,
            "it chooses namespaces",
        ),
        (vec![plane(), freeze()], false, "a freeze"),
    ] {
        let mut world = World { others, ..World::asked(r#"{"version":"4.20.7"}"#) };
        assert_eq!(world.begins(SATURDAY).is_some(), expected, "{why}");
    }
    // What is known ends before the instant.
    let mut world = World::asked(r#"{"version":"4.20.7"}"#);
    world.others[0].1["status"]["computedUntil"] = json!("2026-11-21T06:00:00Z");
    assert_eq!(world.begins(SATURDAY), None);
    for (now, expected) in [
        ("2026-11-20T23:59:59Z", false),
        (OPENS, true),
        ("2026-11-21T23:59:59Z", true),
        (CLOSES, false),
    ] {
        assert_eq!(
            World::asked(r#"{"version":"4.20.7"}"#).begins(now).is_some(),
            expected,
            "{now}"
        );
    }
}

/// CV-4: each with object, field and what to do, told before the window, and nothing begins.
#[test]
fn what_stands_in_the_way_is_told_and_begins_nothing() {
    let field = format!(r#"metadata.annotations["{}"]"#, names::WANTED_RELEASE);
    let check = |wish: &str, expected: &str| {
        let mut world = World::asked(wish);
        let (plan, told) = world.settled(WEDNESDAY);
        assert_eq!(plan.actions, [], "{wish}");
        let said = format!(
            "ReleaseStopped: ClusterVersion/version: the release that is wanted cannot begin: {field}{expected}"
        );
        assert_eq!(told, [said], "{wish}");
        let (again, more) = world.settled(SATURDAY);
        assert_eq!((again.actions, more), (vec![], vec![]), "{wish}");
    };
    check(
        "4.20.7",
        ": the wish cannot be read: it is not JSON: trailing characters at line 1 column 5",
    );
    check("\"4.20.7\"", ": the wish cannot be read: it is not a JSON object");
    check(
        "{version: 4.20.7}",
        ": the wish cannot be read: it is not JSON: key must be a string at line 1 column 2",
    );
    check("[]", ": the wish cannot be read: it is not a JSON object");
    check("{}", ": the wish cannot be read: it names neither version nor image");
    check(r#"{"version":4}"#, ": the wish cannot be read: version must be a text");
    check(
        r#"{"version":"4.20.7","force":"yes"}"#,
        ": the wish cannot be read: force must be true or false",
    );
    check(
        r#"{"version":"4.20.7","acceptRisks":[]}"#,
        r#": the wish cannot be read: "acceptRisks" is no field that a wish can have"#,
    );
    check(r#"{"version":"4.20"}"#, r#".version: "4.20" is not a version"#);
    check(
        r#"{"version":"4.20.99"}"#,
        ".version: 4.20.99 is none of the updates that the cluster knows: 4.20.7, 4.20.8, 4.21.2",
    );
    check(
        r#"{"image":"registry/release:4.20.7","version":"4.20.7"}"#,
        r#".image: "registry/release:4.20.7" has no digest, so nobody can tell what it will be when the window opens"#,
    );
    let older = format!(r#"{{"version":"4.19.9","image":"{}"}}"#, image("4.19.9"));
    check(&older, ".version: 4.19.9 is older than 4.20.6, which the cluster has");
}

#[test]
fn a_wish_that_is_there_already_is_done_and_a_cleared_one_starts_nothing() {
    for wish in ["", " ", r#"{"version":"4.20.7","mode":"Preflight"}"#] {
        let mut world = World::asked(wish);
        let (plan, told) = world.settled(SATURDAY);
        assert_eq!((plan.actions, told), (vec![], vec![]), "{wish}");
    }
    let mut world = World::asked(r#"{"version":"4.20.6"}"#);
    let (plan, told) = world.settled(SATURDAY);
    assert_eq!(plan.actions, []);
    assert!(told[0].starts_with("ReleaseDone: release 4.20.6 is what the cluster has"), "{told:?}");
    assert_eq!(world.noted(names::WANTED_RELEASE), Value::Null);
    // Taken back while it waits.
    let mut world = World::asked(r#"{"version":"4.20.7"}"#);
    world.settled(WEDNESDAY);
    world.version["metadata"]["annotations"][names::WANTED_RELEASE] = Value::Null;
    let (plan, told) = world.settled(SATURDAY);
    assert_eq!(plan.actions, []);
    assert_eq!(
        told,
        ["ReleaseWithdrawn: release 4.20.7 is not asked for any more, and never began"]
    );
    assert_eq!(world.noted(names::WANTED_IMAGE), Value::Null);
}

/// CV-4: whoever applies the same again and again starts nothing twice, before the cluster version operator took it up and after.
#[test]
fn what_is_asked_for_again_does_not_start_twice() {
    let wish = r#"{"version":"4.20.7"}"#;
    let mut world = World::asked(wish);
    let change = world.begins(SATURDAY).expect("it begins");
    world.take(&change);
    let again = |world: &mut World, expected: bool, why: &str| {
        world.version["metadata"]["annotations"][names::WANTED_RELEASE] = json!(wish);
        assert_eq!(world.begins(SATURDAY).is_some(), expected, "{why}");
        if !expected {
            assert_eq!(world.noted(names::WANTED_RELEASE), Value::Null, "{why}");
        }
    };
    again(&mut world, false, "nobody has taken it up yet");
    let newest = json!({"state": "Partial", "version": "4.20.7", "image": image("4.20.7"), "startedTime": "2026-11-21T12:00:09Z"});
    let history = world.version["status"]["history"].as_array_mut().unwrap();
    history.insert(0, newest);
    world.version["status"]["desired"] = json!({"version": "4.20.7", "image": image("4.20.7")});
    again(&mut world, false, "it is under way");
    // Another wish during an update is asked about for itself.
    world.version["metadata"]["annotations"][names::WANTED_RELEASE] =
        json!(r#"{"version":"4.20.8"}"#);
    assert_eq!(world.begins(WEDNESDAY), None);
    let other = world.begins(SATURDAY).expect("in the window");
    assert_eq!(other["spec"]["desiredUpdate"]["version"], "4.20.8");
    // What somebody cleared before it was taken up never began.
    let mut world = World::asked(wish);
    let change = world.begins(SATURDAY).expect("it begins");
    world.take(&change);
    world.version["spec"] = json!({});
    again(&mut world, true, "somebody cleared it");
}

/// GATE-11: what is in the way of all changes is in the way of this one; and what is refused is told by the gate.
#[test]
fn what_is_in_the_way_holds_it_and_the_gate_tells_what_waits() {
    let mut world = World::asked(r#"{"version":"4.20.7","force":true}"#);
    world.held_back = Some("the clock is off");
    assert_eq!(world.begins(SATURDAY), None);
    world.held_back = None;
    let change = world.begins(SATURDAY).expect("nothing is in the way");
    assert_eq!(change["spec"]["desiredUpdate"]["force"], true);
    let told = |world: &World, now: &str| {
        let snapshot = world.snapshot(now);
        let (_, seen) = snapshot.of_kind(&CLUSTER_CHANGE_GATE).next().unwrap();
        let listed = |_: &api::schema::Kind| crate::cluster::kinds::Listed::Known;
        let around = Surroundings {
            refusals: &world.refusals,
            listed: Some(&listed),
            ..Surroundings::of(&snapshot)
        };
        let crate::cluster::seen::Seen::Gated(gate) = seen else { panic!() };
        super::super::holding::found(gate, &snapshot.gate(gate), &around, at(now)).unwrap()
    };
    let found = told(&world, WEDNESDAY);
    assert_eq!((found.targets, found.pending_count), (Some(1), Some(1)));
    assert_eq!(found.pending[0].name, "version");
    assert!(found.pending[0].change.as_deref().unwrap().contains("4.20.7"), "{found:?}");
    assert_eq!(found.holds[0].message, None);
    let key = Key::new(&STOCK_CLUSTER_VERSION.kind, None, names::THE_CLUSTER);
    let change = Some(ChangeId::release("4.20.7"));
    world.refusals.insert(key, Refusal { change, said: "no updates here".into() });
    let found = told(&world, WEDNESDAY);
    let said = "ClusterVersion/version would not start in a window: the API server refuses it: no updates here";
    assert_eq!(found.holds[0].message.as_deref(), Some(said));
    let mut world = World::asked("4.20.7");
    world.settled(WEDNESDAY);
    let found = told(&world, WEDNESDAY);
    let said = found.holds[0].message.clone().unwrap();
    let expected = r#"ClusterVersion/version would not start in a window: metadata.annotations["changemanagement.openshift.io/wanted-release"]: the wish cannot be read"#;
    assert!(said.starts_with(expected), "{said}");
}

/// GATE-9: the reasons name the gate that holds, and what rests on doubt is not shown as for ever (GATE-12).
#[test]
fn reasons_name_the_gate_that_holds() {
    let world = World::asked(r#"{"version":"4.20.7"}"#);
    let explained = |world: &World, now: &str| {
        let snapshot = world.snapshot(now);
        let version = snapshot.control_plane().unwrap();
        let reason = snapshot.explain(version, at(now));
        (reason.verdict, reason.until, reason.because.len())
    };
    assert_eq!(explained(&world, WEDNESDAY), (Verdict::Held, Some(at(OPENS)), 2));
    assert_eq!(explained(&world, SATURDAY), (Verdict::Permitted, Some(at(CLOSES)), 2));
    let mut unknown = World::asked(r#"{"version":"4.20.7"}"#);
    unknown.others[0].1["status"] = json!({});
    assert_eq!(explained(&unknown, WEDNESDAY).0, Verdict::CannotTell);
}
