use serde_json::{Value, json};

use super::*;
use crate::{
    cluster::{
        kinds::{self, Row},
        snapshot::Snapshot,
    },
    gate::{Basis, Gate},
    policy::verdict::Verdict,
};

fn at(text: &str) -> Instant {
    Instant::parse(text).unwrap()
}

const NOW: &str = "2026-11-16T12:00:00Z";
const CREATED: &str = "2026-11-16T11:00:00Z";
const UNTIL: &str = "2026-11-16T14:00:00Z";

fn object(row: &Row, namespace: Option<&str>, name: &str, spec: &Value) -> Value {
    json!({"apiVersion": row.api_version, "kind": row.name, "spec": spec,
        "metadata": {"name": name, "namespace": namespace, "generation": 1, "creationTimestamp": CREATED}})
}

/// An override of the cluster, or of a namespace.
fn opened(namespace: Option<&str>, target: &Value, more: Value) -> (&'static Row, Value) {
    let mut spec = json!({"target": target, "until": UNTIL, "reason": "CVE-2026-1"});
    if let (Some(spec), Value::Object(more)) = (spec.as_object_mut(), more) {
        spec.extend(more);
    }
    let row = match namespace {
        Some(_) => &kinds::CHANGE_OVERRIDE,
        None => &kinds::CLUSTER_CHANGE_OVERRIDE,
    };
    (row, object(row, namespace, "now", &spec))
}

fn freeze(namespace: Option<&str>) -> (&'static Row, Value) {
    let row = match namespace {
        Some(_) => &kinds::CHANGE_FREEZE,
        None => &kinds::CLUSTER_CHANGE_FREEZE,
    };
    (row, object(row, namespace, "stop", &json!({"reason": "a storm"})))
}

/// Everything that can be opened, all shut but the last: version, master, worker, hosted in `a`, gate in `a`, hosted in `b`, gate of the
/// cluster, and a pool without a stanza.
const OBJECTS: [(&Row, Option<&str>, &str); 8] = [
    (&kinds::CLUSTER_VERSION, None, "version"),
    (&kinds::MACHINE_CONFIG_POOL, None, "master"),
    (&kinds::MACHINE_CONFIG_POOL, None, "worker"),
    (&kinds::HOSTED_CLUSTER, Some("a"), "hosted"),
    (&kinds::CHANGE_GATE, Some("a"), "gate"),
    (&kinds::HOSTED_CLUSTER, Some("b"), "hosted"),
    (&kinds::CLUSTER_CHANGE_GATE, None, "gate"),
    (&kinds::MACHINE_CONFIG_POOL, None, "plain"),
];

fn cluster(stanza: &Value) -> Snapshot {
    let mut cluster = Snapshot::default();
    for (row, namespace, name) in OBJECTS {
        let mut spec = json!({"changeManagement": stanza});
        match row.name {
            "MachineConfigPool" => spec["configuration"] = json!({"name": "rendered-x"}),
            "ClusterVersion" => spec["desiredUpdate"] = json!({"version": "4.21.3"}),
            "ChangeGate" | "ClusterChangeGate" => spec["holds"] = json!([{"what": "Deployments"}]),
            _ => {}
        }
        if name == "plain" {
            spec["changeManagement"] = Value::Null;
        }
        cluster.add(row, &object(row, namespace, name, &spec));
    }
    cluster
}

fn gate(cluster: &Snapshot, kind: &'static Row, namespace: Option<&str>, name: &str) -> Gate {
    cluster.gate(cluster.resource(&Key::new(kind, namespace, name)).unwrap())
}

fn worker(cluster: &Snapshot) -> Gate {
    gate(cluster, &kinds::MACHINE_CONFIG_POOL, None, "worker")
}

/// What each of the objects says then: `x` is held, `.` is open, `?` is that nobody can tell.
fn verdicts(cluster: &Snapshot, at: Instant) -> String {
    let each = OBJECTS.iter().map(|(row, namespace, name)| {
        match gate(cluster, row, *namespace, name).verdict(at) {
            Verdict::Held => 'x',
            Verdict::Permitted => '.',
            Verdict::CannotTell => '?',
        }
    });
    each.collect()
}

/// GATE-11: who deletes an override ends it, even if a finalizer keeps the object there.
#[test]
fn an_override_that_was_deleted_opens_nothing() {
    let target = json!({"kind": "MachineConfigPool", "name": "worker"});
    for (deleted, expected) in [
        ("2026-11-16T11:30:00Z", "xxxxxxx."),
        (NOW, "xxxxxxx."),
        ("2026-11-16T12:00:01Z", "xx.xxxx."),
        ("2026-11-17T12:00:00Z", "xx.xxxx."),
    ] {
        let mut cluster = cluster(&json!({"strategy": "Restrictive"}));
        let (row, mut object) = opened(None, &target, json!({}));
        object["metadata"]["deletionTimestamp"] = json!(deleted);
        cluster.add(row, &object);
        assert_eq!(verdicts(&cluster, at(NOW)), expected, "{deleted}");
        assert_eq!(verdicts(&cluster, at(UNTIL)), "xxxxxxx.", "{deleted}");
    }
}

/// GATE-15: freeze, override, layer and stanza, in rows.
#[test]
fn what_an_override_opens() {
    #[track_caller]
    fn check(above: &[(&'static Row, Value)], expected: &str) {
        let mut cluster = cluster(&json!({"strategy": "Restrictive"}));
        for (row, object) in above {
            cluster.add(row, object);
        }
        assert_eq!(verdicts(&cluster, at(NOW)), expected, "{above:?}");
        for instant in ["2026-11-16T10:59:59Z", UNTIL] {
            let frozen = above.iter().any(|(row, _)| row.role == api::schema::Role::Freeze);
            let shut = verdicts(&cluster, at(instant));
            assert!(frozen || shut == "xxxxxxx.", "{instant}: {shut}");
        }
    }
    let named = |kind: &str, name: &str| json!({"kind": kind, "name": name});
    let inside = |kind: &str, namespace: &str, name: &str| json!({"kind": kind, "namespace": namespace, "name": name});
    let none = || json!({});
    check(&[], "xxxxxxx.");
    let version = named("ClusterVersion", "version");
    let pool = named("MachineConfigPool", "worker");
    // CV-2: what opens the control plane opens its nodes, and the masters by themselves are opened by nobody.
    check(&[opened(None, &version, none())], "..xxxxx.");
    check(&[opened(None, &named("MachineConfigPool", "master"), none())], "xxxxxxx.");
    check(&[opened(None, &pool, none())], "xx.xxxx.");
    check(&[opened(None, &inside("HostedCluster", "a", "hosted"), none())], "xxx.xxx.");
    check(&[opened(None, &inside("ChangeGate", "a", "gate"), none())], "xxxx.xx.");
    check(&[opened(None, &named("ClusterChangeGate", "gate"), none())], "xxxxxx..");
    // A team opens what is in its namespace, and nothing else.
    let hosted = named("HostedCluster", "hosted");
    check(&[opened(Some("a"), &hosted, none())], "xxx.xxx.");
    check(&[opened(Some("a"), &named("ChangeGate", "gate"), none())], "xxxx.xx.");
    check(&[opened(Some("b"), &hosted, none())], "xxxxx.x.");
    check(&[opened(Some("a"), &inside("HostedCluster", "b", "hosted"), none())], "xxxxxxx.");
    check(&[opened(Some("a"), &pool, none())], "xxxxxxx.");
    check(&[opened(Some("a"), &named("ClusterChangeGate", "gate"), none())], "xxxxxxx.");
    // Nothing passes a freeze of the platform; the platform passes one of a team, but where the server keeps it.
    check(&[freeze(None), opened(None, &pool, none())], "xxxxxxxx");
    check(&[freeze(Some("a")), opened(Some("a"), &hosted, none())], "xxxxxxx.");
    let platform = opened(None, &inside("HostedCluster", "a", "hosted"), none());
    check(&[freeze(Some("a")), platform.clone()], "xxx.xxx.");
    check(&[freeze(None), freeze(Some("a")), platform], "xxxxxxxx");
    let held = opened(None, &inside("ChangeGate", "a", "gate"), none());
    check(&[freeze(Some("a")), held], "xxxxxxx.");
    // One change alone.
    let only = |only: Value| json!({"only": only});
    check(&[opened(None, &pool, only(json!({"renderedConfig": "rendered-x"})))], "xx.xxxx.");
    check(&[opened(None, &pool, only(json!({"renderedConfig": "rendered-y"})))], "xxxxxxx.");
    check(&[opened(None, &version, only(json!({"release": "4.21.3"})))], ".xxxxxx.");
    check(&[opened(None, &version, only(json!({"release": "4.21.4"})))], "xxxxxxx.");
    check(&[opened(None, &version, only(json!({"renderedConfig": "rendered-x"})))], "x.xxxxx.");
    // GATE-14, POL-8: what cannot be used opens nothing.
    for wrong in [
        json!({"onyl": {"renderedConfig": "rendered-y"}}),
        json!({"until": "soon"}),
        json!({"until": "2026-12-17T11:00:01Z"}),
        json!({"reason": " "}),
        json!({"only": {}}),
        json!({"only": {"release": "4.21.3"}}),
        json!({"approvedBy": "alice"}),
        json!({"by": "alice", "approvedBy": "alice"}),
    ] {
        check(&[opened(None, &pool, wrong)], "xxxxxxx.");
    }
    let elsewhere = inside("MachineConfigPool", "a", "worker");
    check(&[opened(None, &elsewhere, none())], "xxxxxxx.");
}

/// It only opens: whatever is open stays so, and reads as it did.
#[test]
fn an_override_never_shuts_anything() {
    let pool = json!({"kind": "MachineConfigPool", "name": "worker"});
    for stanza in [Value::Null, json!({"strategy": "Permissive"})] {
        let mut cluster = cluster(&stanza);
        let before = worker(&cluster);
        let (row, over) = opened(None, &pool, json!({}));
        cluster.add(row, &over);
        let after = worker(&cluster);
        assert!(after.set().is_always());
        assert_eq!(after.reason(at(NOW)), before.reason(at(NOW)));
        assert_eq!(after.permit(at(NOW)), before.permit(at(NOW)));
    }
}

/// OVR-2, GATE-12: the permit names the override and ends with it, and everybody says the same.
#[test]
fn an_override_is_named_by_whatever_rests_on_it() {
    let mut cluster = cluster(&json!({"strategy": "Restrictive"}));
    let pool = json!({"kind": "MachineConfigPool", "name": "worker"});
    let signed = json!({"by": "alice", "approvedBy": "bob", "ticket": "OPS-7"});
    let (row, over) = opened(None, &pool, signed);
    cluster.add(row, &over);
    let gate = worker(&cluster);
    let permit = gate.permit(at(NOW)).unwrap();
    assert_eq!(permit.basis(), &Basis::Override("ClusterChangeOverride/now".into()));
    assert_eq!(Basis::read(&permit.basis().to_string()), Some(permit.basis().clone()));
    assert_eq!((permit.opened(), permit.expires()), (Some(at(CREATED)), Some(at(UNTIL))));
    let last = gate.permit(at("2026-11-16T13:59:59Z")).unwrap();
    assert_eq!(last.write_by(), at(UNTIL));
    assert!(gate.permit(at(UNTIL)).is_err());
    assert_eq!(gate.reason(at(NOW)), "Overridden");
    assert_eq!(gate.reason(at(UNTIL)), "Restrictive");
    assert_eq!(gate.next_edge_above(at(NOW)), Some(at(UNTIL)));
    let said = crate::gate::explain::sentence(&gate, at(NOW));
    assert_eq!(
        said,
        "opened by ClusterChangeOverride/now until 2026-11-16T14:00:00Z, by alice, approved by bob: CVE-2026-1 (OPS-7)"
    );
    let key = Key::new(&kinds::MACHINE_CONFIG_POOL, None, "worker");
    let tree = cluster.explain(cluster.resource(&key).unwrap(), at(NOW));
    assert_eq!(tree.verdict, Verdict::Permitted);
    let below: Vec<Verdict> = tree.because.iter().map(|reason| reason.verdict).collect();
    assert_eq!(below, [Verdict::Permitted, Verdict::Held]);
    assert_eq!(tree.because[0].text(&schedule::Zone::utc()), said);
}

/// A window that begins before the override ends takes over; until then the permit ends with the override.
#[test]
fn a_permit_ends_with_its_override_although_a_window_follows() {
    let stanza =
        json!({"strategy": "RestrictiveUntil", "restrictiveUntil": "2026-11-16T13:00:00Z"});
    let mut cluster = cluster(&stanza);
    let (row, over) =
        opened(None, &json!({"kind": "MachineConfigPool", "name": "worker"}), json!({}));
    cluster.add(row, &over);
    let gate = worker(&cluster);
    assert_eq!(gate.permit(at(NOW)).unwrap().expires(), Some(at(UNTIL)));
    let after = gate.permit(at("2026-11-16T13:00:00Z")).unwrap();
    assert_eq!((after.basis(), after.expires()), (&Basis::Window, None));
}

/// GATE-2: a policy that is missing is doubt, and an override leaves none; once it is over there is doubt again.
#[test]
fn an_override_opens_what_nobody_can_tell_of() {
    let stanza = json!({"strategy": "ByPolicy", "byPolicy": {"name": "gone"}});
    let mut cluster = cluster(&stanza);
    let (row, over) =
        opened(None, &json!({"kind": "MachineConfigPool", "name": "worker"}), json!({}));
    cluster.add(row, &over);
    let gate = worker(&cluster);
    assert_eq!(gate.verdict(at(NOW)), Verdict::Permitted);
    assert_eq!(gate.verdict(at(UNTIL)), Verdict::CannotTell);
    // GATE-14: what a stanza that cannot be read would hold nobody knows.
    let unreadable = json!({"strategy": "ByPolicy", "byPolicy": {"name": "x"}, "onyl": 1});
    let mut odd = super::tests::cluster(&unreadable);
    odd.add(row, &over);
    assert_eq!(worker(&odd).verdict(at(NOW)), Verdict::CannotTell);
}

/// OVR-2: the permit is for what the override is for, whatever was wanted when it was folded in.
#[test]
fn an_override_for_one_change_lets_no_other_start() {
    use crate::gate::change::ChangeId;
    let mut cluster = cluster(&json!({"strategy": "Restrictive"}));
    let only = json!({"only": {"renderedConfig": "rendered-x"}});
    let (row, over) = opened(None, &json!({"kind": "MachineConfigPool", "name": "worker"}), only);
    cluster.add(row, &over);
    let to = |name: &str| worker(&cluster).going_to(&ChangeId::rendered(name)).permit(at(NOW));
    assert!(to("rendered-x").is_ok());
    assert!(to("rendered-y").is_err());
}
