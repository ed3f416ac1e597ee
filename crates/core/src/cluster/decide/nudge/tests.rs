use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::*;
use crate::{
    cluster::{kinds, seen::Seen},
    document::key::Key,
};

const HELD: &str = "denied request: held by ChangeGate shop/rollouts, which opens at";

fn at(text: &str) -> Instant {
    Instant::parse(&format!("2026-11-{text}Z")).unwrap()
}

fn deployment(image: &str, nudged: Option<&str>, said: &str) -> Value {
    let mut document = json!({
        "metadata": {"name": "web", "namespace": "shop", "uid": "u", "resourceVersion": "7"},
        "spec": {"template": {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "app", "image": image}]}}},
        "status": {"conditions": [{"type": "Progressing", "status": "False", "reason": "ReplicaSetCreateError",
            "message": said, "lastTransitionTime": "2026-11-13T21:00:00Z"}]},
    });
    if said.is_empty() {
        document["status"] = json!({});
    }
    if let Some(nudged) = nudged {
        document["metadata"]["annotations"] = json!({names::NUDGED_AT: at(nudged).to_string()});
    }
    document
}

fn set(image: &str) -> Value {
    json!({
        "metadata": {"name": "web-1", "namespace": "shop", "annotations": {"deployment.kubernetes.io/revision": "1"},
            "ownerReferences": [{"kind": "Deployment", "name": "web", "uid": "u", "controller": true}]},
        "spec": {"template": {"metadata": {"labels": {"app": "web", "pod-template-hash": "x"}}, "spec": {"containers": [{"name": "app", "image": image}]}}},
    })
}

/// A gate that is open from midnight to four, as the server reads it.
fn gate(name: &str, spec: &Value) -> Value {
    let mut whole = json!({"changeManagement": {"strategy": "Restrictive"}, "holds": [{"what": "Deployments"}]});
    whole.as_object_mut().unwrap().extend(spec.as_object().unwrap().clone());
    json!({
        "metadata": {"name": name, "namespace": "shop", "generation": 1},
        "spec": whole,
        "status": {"observedGeneration": 1, "conditions": [{"type": "Ready", "status": "True", "reason": "AsExpected"}],
            "windows": [{"startTime": "2026-11-14T00:00:00Z", "endTime": "2026-11-14T04:00:00Z"}],
            "computedUntil": "2027-11-14T00:00:00Z"},
    })
}

/// That something is touched, or when it is looked at again.
type Expected = Result<(), Option<&'static str>>;

struct World(Snapshot);

impl World {
    fn new() -> Self {
        let mut world = Self(Snapshot::default());
        world.0.add(&kinds::DEPLOYMENT, &deployment("app:2", None, HELD));
        world.0.add(&kinds::REPLICA_SET, &set("app:1"));
        world.0.add(&kinds::CHANGE_GATE, &gate("rollouts", &json!({})));
        world
    }

    fn plan(&self, now: &str, seconds_ahead: i64) -> Plan {
        let key = Key::new(&api::kinds::DEPLOYMENT, Some("shop"), "web");
        let Some(Seen::Part(part)) = self.0.get(&key) else { panic!("{key} is gone") };
        let around = Surroundings { seconds_ahead, ..Surroundings::of(&self.0) };
        nudge(part, &around, at(now))
    }

    /// What is decided: that it is touched, or when to look again.
    #[track_caller]
    fn check(&self, now: &str, expected: Result<(), Option<&str>>) {
        let plan = self.plan(now, 0);
        match expected {
            Ok(()) => assert_eq!(plan.actions.len(), 1, "touched at {now}: {plan:?}"),
            Err(wake) => {
                assert_eq!((plan.actions.len(), plan.wake), (0, wake.map(at)), "at {now}");
            }
        }
    }
}

/// RCH-4: at the opening, not before, once, and again after pauses that grow.
#[test]
fn what_waits_is_touched_at_the_opening_and_again_after_growing_pauses() {
    let mut world = World::new();
    world.check("13T23:00:00", Err(Some("14T00:00:00")));
    world.check("14T00:00:00", Ok(()));
    world.check("14T03:59:59", Ok(()));
    world.check("14T04:00:00", Err(None));
    for (nudged, now, expected) in [
        ("14T00:00:01", "14T00:00:02", Err(Some("14T00:03:01"))),
        ("14T00:00:01", "14T00:03:01", Ok(())),
        ("14T00:03:01", "14T00:03:02", Err(Some("14T00:06:02"))),
        ("14T00:06:02", "14T00:06:03", Err(Some("14T00:12:04"))),
        ("14T02:30:00", "14T02:30:01", Err(Some("14T03:30:00"))),
        // In another window, or by somebody who writes what will be: that is no touch of this one.
        ("07T00:00:01", "14T00:00:02", Ok(())),
        ("14T03:00:00", "14T00:00:02", Ok(())),
    ] {
        world.0.add(&kinds::DEPLOYMENT, &deployment("app:2", Some(nudged), HELD));
        world.check(now, expected);
    }
}

/// Without a deadline for its progress a Deployment says nothing of a refusal, and its controller gives up all the same.
#[test]
fn what_waits_in_silence_is_touched_a_minute_later() {
    let mut world = World::new();
    world.0.add(&kinds::DEPLOYMENT, &deployment("app:2", None, ""));
    world.check("13T23:00:00", Err(Some("14T00:00:00")));
    world.check("14T00:00:00", Ok(()));
    assert!(world.plan("14T00:00:00", 0).spread >= Some(SILENT));
    world.0.add(&kinds::DEPLOYMENT, &deployment("app:2", Some("14T00:01:00"), ""));
    world.check("14T00:01:01", Err(Some("14T00:04:00")));
    // Nobody holds it, and nobody ever did: whoever rolls it out is late, and that is theirs to mend.
    let mut never = World(Snapshot::default());
    never.0.add(&kinds::DEPLOYMENT, &deployment("app:2", None, ""));
    never.0.add(&kinds::REPLICA_SET, &set("app:1"));
    never.check("14T00:10:00", Err(None));
}

/// Who tells of no refusal is touched when the last gate or freeze over it goes, or lets everything pass: once, because nobody knows since when.
#[test]
fn what_waits_in_silence_is_touched_when_the_last_hold_goes() {
    let silent = |nudged: Option<&str>| deployment("app:2", nudged, "");
    let held = |spec: &Value| {
        let mut world = World::new();
        world.0.add(&kinds::DEPLOYMENT, &silent(None));
        world.0.add(&kinds::CHANGE_GATE, &gate("rollouts", spec));
        world
    };
    let gone = Key::new(&api::kinds::CHANGE_GATE, Some("shop"), "rollouts");
    let now = "14T12:00:00";

    let mut world = held(&json!({}));
    world.check(now, Err(None));
    world.0.remove(&gone);
    world.check(now, Ok(()));
    assert!(world.plan(now, 0).spread >= Some(SILENT), "its controller may come first");
    assert!(world.0.kinds_held().contains(&api::kinds::DEPLOYMENT), "it is still looked at");
    world.0.add(&kinds::DEPLOYMENT, &silent(Some("14T12:01:00")));
    world.check("14T12:30:00", Err(None));
    assert!(world.0.kinds_held().is_empty());

    // The gate stays, and lets everything pass.
    let mut world = held(&json!({}));
    let mut open = gate("rollouts", &json!({"changeManagement": {"strategy": "Permissive"}}));
    open["status"]["windows"] = json!([{}]);
    open["status"]["computedUntil"] = Value::Null;
    world.0.add(&kinds::CHANGE_GATE, &open);
    world.check(now, Ok(()));

    // So does a freeze that goes.
    let mut world = World(Snapshot::default());
    world.0.add(&kinds::DEPLOYMENT, &silent(None));
    world.0.add(&kinds::REPLICA_SET, &set("app:1"));
    let freeze = json!({"metadata": {"name": "f", "creationTimestamp": "2026-11-13T00:00:00Z"}, "spec": {"reason": "a storm"}});
    world.0.add(&kinds::CLUSTER_CHANGE_FREEZE, &freeze);
    world.check(now, Err(None));
    world.0.remove(&Key::new(&api::kinds::CLUSTER_CHANGE_FREEZE, None, "f"));
    world.check(now, Ok(()));
    // What begins meanwhile, and waits again later, was let go by nobody.
    world.0.add(&kinds::DEPLOYMENT, &deployment("app:1", None, ""));
    world.0.add(&kinds::DEPLOYMENT, &silent(None));
    world.check(now, Err(None));

    // Neither who only watched, nor who wanted it left alone, nor who held something else let it go.
    for spec in [
        json!({"mode": "Audit"}),
        json!({"nudge": false}),
        json!({"holds": [{"what": "Deployments", "names": ["db"]}]}),
        json!({"holds": [{"what": "Deployments", "how": "Refuse"}]}),
    ] {
        let mut world = held(&spec);
        // What came with the world held it, and was written over: that is not what is asked here.
        world.0.remove(&Key::new(&api::kinds::DEPLOYMENT, Some("shop"), "web"));
        world.0.add(&kinds::DEPLOYMENT, &silent(None));
        world.0.remove(&gone);
        eprintln!("{spec}");
        world.check(now, Err(None));
    }
}

#[test]
fn a_touch_carries_the_version_and_writes_nothing_but_annotations() {
    let plan = World::new().plan("14T00:00:00", 0);
    let touch = plan.actions.first().unwrap();
    assert_eq!((&touch.right, touch.refused), (&Right::Upkeep, Refused::ConcernsTheTargetAlone));
    let written = json!({"metadata": {"resourceVersion": "7",
        "annotations": {names::NUDGED_AT: "2026-11-14T00:00:00Z"}}});
    assert_eq!(touch.write, Write::MergePatch(written));
    assert_eq!(plan.spread, Some(Duration::ZERO), "who waits alone does not wait for others");
}

/// By the clock of the server: one that is behind ours has not opened yet.
#[test]
fn a_gate_opens_by_the_clock_of_the_server() {
    let world = World::new();
    let early = world.plan("14T00:00:01", 3);
    assert_eq!((early.actions.len(), early.wake), (0, Some(at("14T00:00:03"))));
    assert_eq!(world.plan("14T00:00:03", 3).actions.len(), 1);
    assert_eq!(world.plan("14T00:00:00", -3).actions.len(), 1, "who is behind is not early");
}

/// RCH-1, OVR-1, RCH-15: every gate and every freeze that selects it must permit, and no owner may want it left alone.
#[test]
fn only_what_everybody_permits_is_touched() {
    let noon = "14T01:00:00";
    let freeze = |spec: Value| {
        let mut spec = spec;
        spec["reason"] = json!("a storm");
        json!({"metadata": {"name": "f", "creationTimestamp": "2026-11-13T00:00:00Z"}, "spec": spec})
    };
    let rows: [(&'static kinds::Row, Value, Expected); 11] = [
        (&kinds::CHANGE_GATE, gate("more", &json!({"nudge": false})), Err(None)),
        (&kinds::CHANGE_GATE, gate("more", &json!({"nudge": false, "mode": "Audit"})), Ok(())),
        (
            &kinds::CHANGE_GATE,
            gate("more", &json!({"holds": [{"what": "StatefulSets"}], "nudge": false})),
            Ok(()),
        ),
        (&kinds::CHANGE_GATE, shut(gate("more", &json!({}))), Err(Some("14T02:00:00"))),
        (&kinds::CHANGE_GATE, shut(gate("more", &json!({"mode": "Warn"}))), Ok(())),
        (
            &kinds::CHANGE_GATE,
            shut(gate("more", &json!({"holds": [{"what": "Deployments", "names": ["db"]}]}))),
            Ok(()),
        ),
        (&kinds::CLUSTER_CHANGE_FREEZE, freeze(json!({})), Err(None)),
        (
            &kinds::CLUSTER_CHANGE_FREEZE,
            freeze(json!({"until": "2026-11-14T01:30:00Z"})),
            Err(Some("14T01:30:00")),
        ),
        (
            &kinds::CLUSTER_CHANGE_FREEZE,
            freeze(json!({"holds": [{"what": "Deployments", "names": ["db"]}]})),
            Ok(()),
        ),
        (&kinds::CLUSTER_CHANGE_FREEZE, freeze(json!({"from": "2026-11-14T02:00:00Z"})), Ok(())),
        // Of namespaces that nobody saw nobody can tell.
        (
            &kinds::CLUSTER_CHANGE_FREEZE,
            freeze(json!({"namespaceSelector": {"matchLabels": {"env": "prod"}}})),
            Err(None),
        ),
    ];
    for (row, object, expected) in rows {
        let mut world = World::new();
        world.0.add(row, &object);
        eprintln!("{object}");
        world.check(noon, expected);
    }
    // RCH-2: what the server does not go by opens nothing.
    for broken in
        [json!({"observedGeneration": 0}), json!({"conditions": []}), json!({"windows": []})]
    {
        let mut world = World::new();
        let mut lagging = gate("rollouts", &json!({}));
        lagging["status"].as_object_mut().unwrap().extend(broken.as_object().unwrap().clone());
        world.0.add(&kinds::CHANGE_GATE, &lagging);
        assert!(world.plan(noon, 0).actions.is_empty(), "{broken}");
    }
}

/// A window of its own, later.
fn shut(mut gate: Value) -> Value {
    gate["status"]["windows"] =
        json!([{"startTime": "2026-11-14T02:00:00Z", "endTime": "2026-11-14T03:00:00Z"}]);
    gate
}

/// What no gate and no freeze held is not our business, and what has begun needs no touch.
#[test]
fn only_what_a_gate_held_is_touched() {
    let now = "14T01:00:00";
    let mut world = World::new();
    world.0.add(&kinds::DEPLOYMENT, &deployment("app:2", None, "exceeded quota"));
    world.check(now, Err(None));
    world.0.add(&kinds::DEPLOYMENT, &deployment("app:1", None, HELD));
    world.check(now, Err(None));
    world.0.add(&kinds::DEPLOYMENT, &deployment("app:2", None, HELD));
    world.check(now, Ok(()));
    // The gate that held it is gone: it would wait for ever.
    world.0.remove(&Key::new(&api::kinds::CHANGE_GATE, Some("shop"), "rollouts"));
    world.check(now, Ok(()));
    world.0.add(&kinds::REPLICA_SET, &set("app:2"));
    world.check(now, Err(None));
}

/// A set that somebody writes in a namespace of their own, in the name of another team's Deployment, hides nothing that waits there.
#[test]
fn a_stranger_elsewhere_hides_nothing_that_waits() {
    let mut world = World::new();
    let mut forged = set("app:2");
    forged["metadata"]["namespace"] = json!("elsewhere");
    world.0.add(&kinds::REPLICA_SET, &forged);
    world.check("14T01:00:00", Ok(()));
}

/// RCH-4: a thousand within half a minute, the first of them within a second, each always in the same place.
#[test]
fn many_are_spread_over_half_a_minute_by_their_identity() {
    let all: Vec<Duration> = (0..1_000).map(|uid| spread(&format!("uid-{uid}"), 1_000)).collect();
    assert!(*all.iter().max().unwrap() < Duration::from_secs(27));
    assert!(*all.iter().max().unwrap() > Duration::from_secs(24), "they use the time there is");
    assert!(*all.iter().min().unwrap() < Duration::from_secs(1));
    assert!(all.iter().collect::<BTreeSet<_>>().len() > 900);
    assert_eq!(spread("uid-1", 1_000), spread("uid-1", 1_000));
    assert!(spread("uid-1", 10) < Duration::from_millis(260));
}
